//! What stage *execute* does: `use` and `statement`, `transaction` or `request`, or `handler`.

use millrace_core::app::{Auth, Execute, Input, Piece as StatementPiece, SESSION_TOKEN};
use millrace_languages::{Form, Language};

use super::{
    convention::HANDLER,
    prepare::{NamedAdapter, Preparation, Work, finish, prepare},
    reader::ToolReader,
    transaction,
};
use crate::{
    Problem, Severity,
    adapter::{Adapters, UsedAdapter},
    compiler::Compiler,
    placeholder::{self, Piece},
    scope::{ContextShape, PathScope, ToolScope},
    statement,
    yaml::{Data, Document, Node},
};

/// What an adapter can run, by its key.
const COMMANDS: [&str; 3] = ["statement", "transaction", "request"];
/// What belongs to `request`.
const OF_REQUEST: [&str; 5] = ["headers", "body", "form", "page", "reads"];

/// Reads `use` and what it runs, or `handler`. `None` where that is wrong, which has been said.
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
            let help = "A tool is one of them: remove `use` and what it runs, or `handler`.";
            compiler.error(document, handler.key_range.clone(), "the tool has both `use` and `handler`", help);
            None
        }
        (Some(adapter), None) => database(compiler, reading, NamedIn { document, node: &adapter.value }, inputs, adapters, crosses_tenants),
        (None, handler) => {
            if let Some(own) = COMMANDS.into_iter().find_map(|key| root.entry(key)) {
                if let Some((document, node)) = reading.outer.adapter.as_ref().filter(|_| handler.is_none()) {
                    return database(compiler, reading, NamedIn { document, node }, inputs, adapters, crosses_tenants);
                }
                let help = "Name the adapter that runs it: `use: …`.";
                compiler.error(document, own.key_range.clone(), format!("`{}` has no adapter", own.key), help);
                return None;
            }
            check_result(compiler, document);
            check_of_request(compiler, document);
            script(compiler, reading, handler.map(|entry| &entry.value)).map(|execute| (execute, None))
        }
    }
}

/// Where the adapter of a tool is named.
#[derive(Clone, Copy)]
struct NamedIn<'a> {
    document: &'a Document,
    node: &'a Node,
}

fn database(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    adapter: NamedIn<'_>,
    inputs: &[Input],
    adapters: &mut Adapters,
    crosses_tenants: bool,
) -> Option<Work> {
    let document = reading.document;
    let used = adapters.find(compiler, adapter.document, adapter.node);
    let name = adapter.node.text().unwrap_or_default();
    compiler.origin(reading.name, "use", name, adapter.document.source.place(adapter.node.range.start));
    let transaction = document.root.entry("transaction");
    let command = COMMANDS.into_iter().find(|key| document.root.entry(key).is_some()).unwrap_or("statement");
    HANDLER.reject(compiler, reading, command);
    check_keys(compiler, document)?;
    if command == "request" {
        return request(compiler, reading, adapter, used, inputs);
    }
    // Hyperterse has the documents of MongoDB as text.
    let is_json = compiler.imported && used.is_some_and(|used| used.language.map(|language| language.form()) == Some(Form::Document));
    let written = document.root.at("statement");
    let of_json = match written.filter(|node| is_json && node.text().is_some()) {
        Some(node) => Some(told(compiler, document, statement::document_of_json(&document.source, node))?),
        None => None,
    };
    let node = of_json.as_ref().or(written);
    let is_document = node.is_some_and(|node| matches!(node.data, Data::Map(_)));
    let text = match node.and_then(Node::text) {
        Some(text) if transaction.is_none() => text,
        None if transaction.is_none() && !is_document => {
            without_statement(compiler, document, adapter, used.and_then(|used| used.language))?
        }
        _ => "",
    };
    let Some(used) = used else {
        let scope = ToolScope { inputs, schema: None, auth: None, env: &[], context: &ContextShape::default(), execute: None };
        check_paths(compiler, reading, &scope.of_statement(), &["inputs"]);
        return None;
    };
    let named = NamedAdapter { used, name, document: adapter.document, node: adapter.node };
    let nothing = Node::nothing();
    let node = node.or(transaction.map(|entry| &entry.value)).unwrap_or(&nothing);
    if let (None, Some(language)) = (transaction, used.language)
        && language.form() != Form::Api
        && is_document != language.form().is_map()
    {
        let (message, help) = other_form(named.name, language);
        compiler.error(document, node.range.clone(), message, help);
        return None;
    }
    let prepared = prepare(compiler, reading, node, named, adapters, crosses_tenants)?;
    if let Some(entry) = transaction {
        return transaction::read(compiler, reading, entry, inputs, named, &prepared, adapters);
    }
    let compiled = match prepared {
        Preparation::Document(allowed) => {
            Ok(told(compiler, document, statement::compile_document(&document.source, node, inputs, allowed, is_json))?)
        }
        Preparation::Request => Ok(told(compiler, document, statement::compile_request(&document.source, node, inputs))?),
        _ => prepared.compile(text, inputs.into()),
    };
    let compiled = finish(compiler, named, document, node, compiled)?;
    compiler.places.insert(reading.name.to_owned(), vec![document.source.place(node.range.start)]);
    Some((Execute::Statement { adapter: used.index, statement: compiled.statement }, Some(compiled.tables)))
}

/// A request of HTTP.
fn request(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    adapter: NamedIn<'_>,
    used: Option<UsedAdapter>,
    inputs: &[Input],
) -> Option<Work> {
    let document = reading.document;
    let name = adapter.node.text().unwrap_or_default();
    // What is wrong with the request is said whatever the adapter is.
    let compiled = told(compiler, document, statement::compile_http(&document.source, &document.root, inputs));
    let used = used?;
    let named = NamedAdapter { used, name, document: adapter.document, node: adapter.node };
    let entry = document.root.entry("request")?;
    let language = used.language?;
    if language.form() != Form::Api {
        let message = format!("the adapter `{name}` takes {}, and this is a request of HTTP", language.command());
        let help = "Write a `statement`, or `use` an adapter of connector `http`.";
        compiler.error(document, entry.key_range.clone(), message, help);
        return None;
    }
    let node = &entry.value;
    if let Some(textual) = document.root.at("substitution").filter(|node| node.text() == Some("textual")) {
        let message = "`substitution: textual` is for statements of SQL: the values of a request are always values";
        compiler.error(document, textual.range.clone(), message, "Remove `substitution: textual`.");
        return None;
    }
    let compiled = finish(compiler, named, document, node, Ok(compiled?))?;
    compiler.places.insert(reading.name.to_owned(), vec![document.source.place(node.range.start)]);
    Some((Execute::Statement { adapter: used.index, statement: compiled.statement }, Some(compiled.tables)))
}

/// Says which of the keys of what a tool runs do not go together. `None` where it is not known what
/// the tool runs.
fn check_keys(compiler: &mut Compiler<'_>, document: &Document) -> Option<()> {
    let root = &document.root;
    if let (Some(statement), Some(_)) = (root.entry("statement"), root.entry("transaction")) {
        let help = "A tool has one of them: make the statement a step of the transaction, or remove `transaction`.";
        compiler.error(document, statement.key_range.clone(), "the tool has both `statement` and `transaction`", help);
        return None;
    }
    if let (Some(request), Some(other)) = (root.entry("request"), root.entry("statement").or_else(|| root.entry("transaction"))) {
        let message = format!("the tool has both `request` and `{}`", other.key);
        compiler.error(document, request.key_range.clone(), message, "A tool has one of them: make another tool of one.");
        return None;
    }
    check_result(compiler, document);
    check_of_request(compiler, document);
    Some(())
}

/// Refuses a `result` that selects nothing.
fn check_result(compiler: &mut Compiler<'_>, document: &Document) {
    let root = &document.root;
    if let (Some(result), None) = (root.entry("result"), root.entry("transaction").or_else(|| root.entry("request"))) {
        let help = "Remove `result`: it names a step of a `transaction`, or a part of the answer to a `request`.";
        compiler.error(document, result.key_range.clone(), "`result` has no `transaction` and no `request`", help);
    }
}

/// Refuses what belongs to a request where there is none.
fn check_of_request(compiler: &mut Compiler<'_>, document: &Document) {
    let root = &document.root;
    if root.entry("request").is_some() {
        return;
    }
    for entry in OF_REQUEST.into_iter().filter_map(|key| root.entry(key)) {
        let help = "Write the method and the path as `request: GET /orders`, or remove it.";
        compiler.error(document, entry.key_range.clone(), format!("`{}` has no `request`", entry.key), help);
    }
}

/// What a tool runs that has an adapter and no statement.
fn without_statement(
    compiler: &mut Compiler<'_>,
    document: &Document,
    adapter: NamedIn<'_>,
    language: Option<Language>,
) -> Option<&'static str> {
    // It was wrong, which has been said.
    if document.root.entry("statement").is_some() {
        return None;
    }
    // What Hyperterse runs where nothing is said.
    if compiler.imported {
        return Some("SELECT 1");
    }
    let (missing, help) = match language.map(Language::form) {
        Some(Form::Api) => ("request", "Write the request that the adapter sends: `request: GET /orders`."),
        _ => ("statement", "Write the statement that the adapter runs."),
    };
    compiler.error(adapter.document, adapter.node.range.clone(), format!("the tool has `use`, but no `{missing}`"), help);
    None
}

/// Looks whether the callers of a tool can have what the `session` and the `databases` of its
/// adapter are made of, and whether its statement leaves that alone.
pub(super) fn check_session(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    execute: &Execute,
    auth: Option<&Auth>,
    adapters: &Adapters,
) {
    let Some(adapter) = execute.adapter().and_then(|adapter| adapters.list.get(adapter as usize)) else { return };
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
            let used = ["use"].into_iter().chain(COMMANDS).find_map(|key| document.root.entry(key));
            let range = used.map_or(0..0, |entry| entry.value.range.clone());
            let message = format!("the adapter `{}` {what}, but {}", adapter.name, dead_end.message);
            compiler.error(document, range, message, &dead_end.help);
            break;
        }
    }
    if adapter.session.is_empty() {
        return;
    }
    if adapter.session.iter().any(|setting| setting.name == SESSION_TOKEN) && !auth.is_some_and(Auth::verifies_tokens) {
        let range = document.root.entry("use").map_or(0..0, |entry| entry.value.range.clone());
        let message = format!("the adapter `{}` exchanges the token of the caller, and the tool lets callers in without one", adapter.name);
        let help = "Let them sign in by `auth: { plugin: jwt }` or `introspection`, or remove `oauth_grant` from the adapter.";
        compiler.error(document, range, message, help);
    }
    for node in statements(document) {
        let Some(text) = node.text() else { continue };
        let is_block =
            text.trim_start().get(..3).is_some_and(|start| start.eq_ignore_ascii_case("do ") || start.eq_ignore_ascii_case("do$"));
        let found = text.to_ascii_lowercase().find("set_config").map(|at| (at..at + 10, "`set_config`"));
        if let Some((range, what)) = found.or_else(|| is_block.then_some((0..2, "`DO`"))) {
            let message = format!("{what} could change what the `session` of the adapter `{}` sets", adapter.name);
            let help = Some("Set it under `session`, or use an adapter without one.".to_owned());
            compiler.findings.problem(document, node, Problem { severity: Severity::Error, range, message, help });
        }
    }
}

/// The statements of a tool, or the parts of its request, as they are written.
fn statements(document: &Document) -> impl Iterator<Item = &Node> {
    let steps = document.root.at("transaction").map(Node::items).unwrap_or_default();
    let whole = ["statement", "request", "headers", "body", "form"].into_iter().filter_map(|key| document.root.at(key));
    whole.chain(steps.iter().filter_map(|step| step.at("statement")))
}

/// Looks whether the placeholders of the statements that begin with one of `roots` can have a
/// value.
pub(super) fn check_paths(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, scope: &PathScope, roots: &[&str]) {
    let document = reading.document;
    for node in statements(document) {
        check_paths_of(compiler, document, node, scope, roots);
    }
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
            let Some((path, script)) = HANDLER.script(compiler, reading) else {
                let help = "Add `use` and `statement`, or put a `handler.ts` beside this file.";
                compiler.error(document, 0..0, format!("the tool `{}` does nothing", reading.name), help);
                return None;
            };
            compiler.origin(reading.name, "handler", path.as_str(), format!("{path}:1:1"));
            script?
        }
    };
    if compiler.imported && document.root.at("inputs").is_none() {
        let message = format!("the tool `{}` declares no inputs, so it takes none", reading.name);
        let help = "Millrace checks the inputs of scripts, too: declare under `inputs` what the handler reads.";
        compiler.warning(document, 0..0, message, help);
    }
    Some(Execute::Script(script))
}

/// Tells the problems of a document, whose places are in the file; `None` where there were some.
fn told<T>(compiler: &mut Compiler<'_>, document: &Document, read: Result<T, Vec<Problem>>) -> Option<T> {
    let problems = match read {
        Ok(read) => return Some(read),
        Err(problems) => problems,
    };
    for Problem { severity, range, message, help } in problems {
        compiler.findings.report(severity, &document.source, range, message, help.unwrap_or_default());
    }
    None
}

/// What is wrong about a document for an adapter that takes text, or the other way round, and what
/// helps.
fn other_form(adapter: &str, language: Language) -> (String, &'static str) {
    match language.form() {
        Form::Document => (
            format!("the adapter `{adapter}` takes a document, and this is text"),
            "Write it as a map below `statement:`, its first key the command: `find: users`.",
        ),
        Form::Request => (
            format!("the adapter `{adapter}` takes a request, and this is text"),
            "Write it as a map below `statement:`, its first key what it does: `from: items`.",
        ),
        _ => (
            format!("the adapter `{adapter}` takes a statement as text, and this is a map"),
            "Write the statement as text, or `use` an adapter on MongoDB or PostgREST.",
        ),
    }
}
