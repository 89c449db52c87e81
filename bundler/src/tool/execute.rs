//! What stage *execute* does: `use` and `statement`, or `handler`.

use millrace_catalogue::Language;
use millrace_core::app::{Access, Auth, Execute, Input, Piece as StatementPiece};

use super::reader::ToolReader;
use crate::{
    Problem, Severity,
    adapter::{Adapters, UsedAdapter},
    compiler::Compiler,
    link::by_convention,
    placeholder::{self, Piece},
    root::substitution,
    scope::{ContextShape, PathScope, ToolScope},
    statement::{self, Compiled, Dialect, Substitution, Tables},
    yaml::{Data, Document, Node},
};

/// What stage *execute* does, and the tables of its statement.
type Work = (Execute, Option<Tables>);

/// Reads `use` and `statement`, or `handler`. `None` where that is wrong, which has been said.
pub(super) fn read(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    inputs: &[Input],
    adapters: &mut Adapters,
    crosses_tenants: bool,
) -> Option<Work> {
    let document = reading.document;
    let root = &document.root;
    match (root.entry("use"), root.entry("handler")) {
        (Some(_), Some(handler)) => {
            let help = "A tool is one of them: remove `use` and `statement`, or `handler`.";
            compiler.error(document, handler.key_range.clone(), "the tool has both `use` and `handler`", help);
            None
        }
        (Some(adapter), None) => statement(compiler, reading, (document, &adapter.value), inputs, adapters, crosses_tenants),
        (None, handler) => {
            if let Some(own) = root.entry("statement") {
                if let Some((folder, adapter)) = reading.outer.adapter.as_ref().filter(|_| handler.is_none()) {
                    return statement(compiler, reading, (folder, adapter), inputs, adapters, crosses_tenants);
                }
                let statement = own;
                let help = "Name the adapter that runs it: `use: …`.";
                compiler.error(document, statement.key_range.clone(), "`statement` has no adapter", help);
                return None;
            }
            script(compiler, reading, handler.map(|entry| &entry.value)).map(|execute| (execute, None))
        }
    }
}

fn statement(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    (named_in, adapter): (&Document, &Node),
    inputs: &[Input],
    adapters: &mut Adapters,
    crosses_tenants: bool,
) -> Option<Work> {
    let document = reading.document;
    let used = adapters.find(compiler, named_in, adapter);
    compiler.origin(reading.name, "use", adapter.text().unwrap_or_default(), named_in.source.place(adapter.range.start));
    let node = document.root.at("statement");
    let is_document = node.is_some_and(|node| matches!(node.data, Data::Map(_)));
    let text = match node.and_then(Node::text) {
        Some(text) => text,
        None if is_document => "",
        // It was wrong, which has been said.
        None if document.root.entry("statement").is_some() => return None,
        // What Hyperterse runs where nothing is said.
        None if compiler.imported => "SELECT 1",
        None => {
            let help = "Write the statement that the adapter runs.";
            compiler.error(named_in, adapter.range.clone(), "the tool has `use`, but no `statement`", help);
            return None;
        }
    };
    let Some(used) = used else {
        let scope = ToolScope { inputs, schema: None, auth: None, env: &[], context: &ContextShape::default(), execute: None };
        check_paths(compiler, reading, &scope.of_statement(), &["inputs"]);
        return None;
    };
    let substitution = substitution(document, &document.root, reading.root.substitution.clone());
    let word = if substitution.value == Substitution::Textual { "textual" } else { "bind" };
    compiler.origin(reading.name, "substitution", word, substitution.place);
    let nothing = Node::nothing();
    let node = node.unwrap_or(&nothing);
    let language = used.language?;
    if is_document != (language == Language::Documents) {
        let (message, help) = other_form(adapter.text().unwrap_or_default(), is_document);
        compiler.error(document, node.range.clone(), message, help);
        return None;
    }
    if matches!(language, Language::Arguments | Language::Documents) {
        if substitution.value == Substitution::Textual {
            let message = match language {
                Language::Documents => "`substitution: textual` is for statements of SQL: the values of a document are always values",
                _ => "`substitution: textual` is for statements of SQL: the values of a command are always arguments",
            };
            let range = document.root.at("substitution").unwrap_or(node).range.clone();
            compiler.error(document, range, message, "Remove `substitution: textual`.");
            return None;
        }
        let allow = adapters.allowed_commands(used);
        if language == Language::Documents {
            return match statement::compile_document(&document.source, node, inputs, allow) {
                Ok(compiled) => finish(compiler, (named_in, adapter), (document, node), used, Ok(compiled)),
                Err(problems) => {
                    for Problem { severity, range, message, help } in problems {
                        compiler.findings.report(severity, &document.source, range, message, help.unwrap_or_default());
                    }
                    None
                }
            };
        }
        let compiled = statement::compile_command(text, inputs, allow);
        return finish(compiler, (named_in, adapter), (document, node), used, compiled);
    }
    let Some(dialect) = Dialect::of(language) else {
        let (message, help) = not_statements(adapter.text().unwrap_or_default(), language);
        compiler.error(document, node.range.clone(), message, help);
        return None;
    };
    let tenant = adapters.tenant(used).filter(|_| !crosses_tenants);
    if tenant.is_some() && substitution.value == Substitution::Textual {
        let message = format!(
            "with `substitution: textual` nothing keeps a statement to the tenant, which the adapter `{}` demands",
            adapter.text().unwrap_or_default()
        );
        let help = "Remove `substitution: textual`; values are then bound.";
        compiler.error(document, document.root.at("substitution").unwrap_or(node).range.clone(), message, help);
        return None;
    }
    let compiled = match tenant {
        Some(rule) => statement::compile_for_tenant(text, dialect, inputs, rule),
        None => statement::compile(text, dialect, substitution.value, inputs),
    };
    finish(compiler, (named_in, adapter), (document, node), used, compiled)
}

/// Tells what there is to say about a statement.
fn finish(
    compiler: &mut Compiler<'_>,
    (named_in, adapter): (&Document, &Node),
    (document, node): (&Document, &Node),
    used: UsedAdapter,
    compiled: Result<Compiled, Vec<Problem>>,
) -> Option<Work> {
    let mut compiled = match compiled {
        Ok(compiled) => compiled,
        Err(problems) => {
            for problem in problems {
                compiler.findings.problem(document, node, problem);
            }
            return None;
        }
    };
    if let Some(most) = used.max_values {
        compiled.statement.max_values = most;
    }
    for mut warning in compiled.warnings {
        warning.severity = Severity::Warning;
        compiler.findings.problem(document, node, warning);
    }
    if used.read_only && compiled.statement.access == Access::Write {
        let message = format!("the statement writes, or may write, but the adapter `{}` is read only", adapter.text().unwrap_or_default());
        compiler.warning(named_in, adapter.range.clone(), message, "Use another adapter, or drop `options.read_only` from its file.");
    }
    Some((Execute::Statement { adapter: used.index, statement: compiled.statement }, Some(compiled.tables)))
}

/// Looks whether the callers of a tool can have what the `session` and the `databases` of its adapter are made of, and whether its statement leaves that alone.
pub(super) fn check_session(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    execute: &Execute,
    auth: Option<&Auth>,
    adapters: &Adapters,
) {
    let Execute::Statement { adapter, .. } = execute else { return };
    let Some(adapter) = adapters.list.get(*adapter as usize) else { return };
    let document = reading.document;
    let scope = PathScope::of_auth(auth);
    let sources = adapter.session.iter().flat_map(|setting| {
        setting
            .value
            .iter()
            .filter_map(move |piece| if let StatementPiece::Source(source) = piece { Some((&setting.name, source)) } else { None })
    });
    let sources = sources.map(|(name, source)| (format!("sets `{name}` to `{source}` for each call"), source));
    let database = adapter.databases.iter().map(|databases| (format!("has a database for each `{}`", databases.choice), &databases.choice));
    for (what, source) in sources.chain(database) {
        if let Some(Err(dead_end)) = scope.named(&source.to_string()) {
            let used = document.root.entry("use").or_else(|| document.root.entry("statement"));
            let range = used.map_or(0..0, |entry| entry.value.range.clone());
            let message = format!("the adapter `{}` {what}, but {}", adapter.name, dead_end.message);
            compiler.error(document, range, message, &dead_end.help);
            break;
        }
    }
    if adapter.session.is_empty() {
        return;
    }
    let Some(node) = document.root.at("statement") else { return };
    let Some(text) = node.text() else { return };
    let is_block = text.trim_start().get(..3).is_some_and(|start| start.eq_ignore_ascii_case("do ") || start.eq_ignore_ascii_case("do$"));
    let found = text.to_ascii_lowercase().find("set_config").map(|at| (at..at + 10, "`set_config`"));
    if let Some((range, what)) = found.or_else(|| is_block.then_some((0..2, "`DO`"))) {
        let message = format!("{what} could change what the `session` of the adapter `{}` sets", adapter.name);
        let help = Some("Set it under `session`, or use an adapter without one.".to_owned());
        compiler.findings.problem(document, node, Problem { severity: Severity::Error, range, message, help });
    }
}

/// Looks whether the placeholders of the statement that begin with one of `roots` can have a value.
pub(super) fn check_paths(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, scope: &PathScope, roots: &[&str]) {
    let document = reading.document;
    let Some(node) = document.root.at("statement") else { return };
    check_paths_of(compiler, document, node, scope, roots);
}

fn check_paths_of(compiler: &mut Compiler<'_>, document: &Document, node: &Node, scope: &PathScope, roots: &[&str]) {
    node.items().iter().chain(node.entries().iter().map(|entry| &entry.value)).for_each(|node| {
        check_paths_of(compiler, document, node, scope, roots);
    });
    let Some(text) = node.text() else { return };
    for piece in placeholder::scan(text).0 {
        if let Piece::Placeholder(placeholder) = piece
            && let [root, _, ..] = placeholder.path.as_slice()
            && roots.contains(root)
        {
            compiler.leads_somewhere(document, node, &placeholder, scope);
        }
    }
}

fn script(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, handler: Option<&Node>) -> Option<Execute> {
    let document = reading.document;
    let script = match handler {
        Some(node) => {
            compiler.origin(reading.name, "handler", node.text().unwrap_or_default(), document.source.place(node.range.start));
            compiler.script(document, node, reading.folder)?
        }
        None => {
            let Some(file) = by_convention(reading.files, "handler", |stem| stem.contains("handler")) else {
                let help = "Add `use` and `statement`, or put a `handler.ts` beside this file.";
                compiler.error(document, 0..0, format!("the tool `{}` does nothing", reading.name), help);
                return None;
            };
            let path = format!("{}/{file}", reading.folder);
            compiler.origin(reading.name, "handler", path.as_str(), format!("{path}:1:1"));
            compiler.conventional_script(&path)?
        }
    };
    if compiler.imported && document.root.at("inputs").is_none() {
        let message = format!("the tool `{}` declares no inputs, so it takes none", reading.name);
        let help = "Millrace checks the inputs of scripts, too: declare under `inputs` what the handler reads.";
        compiler.warning(document, 0..0, message, help);
    }
    Some(Execute::Script(script))
}

/// What is wrong about a document for an adapter that takes text, or the other way round, and what helps.
fn other_form(adapter: &str, is_document: bool) -> (String, &'static str) {
    match is_document {
        true => (
            format!("the adapter `{adapter}` takes a statement as text, and this is a map"),
            "Write the statement as text, or `use` an adapter on MongoDB.",
        ),
        false => (
            format!("the adapter `{adapter}` takes a document, and this is text"),
            "Write it as a map below `statement:`, its first key the command: `find: users`.",
        ),
    }
}

/// What is wrong about a statement for an adapter whose connector takes no statements, and what helps.
fn not_statements(adapter: &str, language: Language) -> (String, String) {
    let taken = language.command();
    (
        format!("`{adapter}` takes {taken}, and the tool has a `statement`"),
        "Call it from a `handler`, or `use` an adapter on a database of SQL.".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connector_without_statements_is_no_place_for_one() {
        for language in [Language::Arguments, Language::Documents, Language::Requests] {
            assert_eq!(Dialect::of(language), None);
            let (message, _) = not_statements("cache", language);
            assert_eq!(message, format!("`cache` takes {}, and the tool has a `statement`", language.command()));
        }
        assert!(Dialect::of(Language::Sqlite).is_some() && Dialect::of(Language::Postgres).is_some());
    }
}
