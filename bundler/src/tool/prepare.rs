//! How the statements of a tool are compiled: by the language of its adapter.

use millrace_core::app::{Access, Execute};
use millrace_languages::Form;

use super::reader::ToolReader;
use crate::{
    Problem, Severity,
    adapter::{Adapters, UsedAdapter},
    compiler::Compiler,
    root::substitution,
    statement::{self, Compiled, Dialect, Names, Substitution, TableSet, Tables, TenantRule},
    yaml::{Document, Node},
};

/// What stage *execute* does, and the tables of its statements.
pub(super) type Work = (Execute, Option<Tables>);

/// The adapter of a tool's statements, and where it is named.
#[derive(Clone, Copy)]
pub(super) struct NamedAdapter<'a> {
    pub(super) used: UsedAdapter,
    pub(super) name: &'a str,
    pub(super) document: &'a Document,
    pub(super) node: &'a Node,
}

/// How the statements of a tool are compiled.
pub(super) enum Preparation<'a> {
    /// As a command, of which the adapter allows some that are refused otherwise.
    Command(&'a str),
    /// As a document, in which the adapter allows some commands that are refused otherwise.
    Document(&'a str),
    /// As a request.
    Request,
    /// As SQL, or as PartiQL.
    Sql(Dialect, Substitution, Option<&'a TenantRule>),
}

impl Preparation<'_> {
    /// Compiles a statement.
    ///
    /// # Errors
    /// Every problem of it.
    pub(super) fn compile(&self, text: &str, names: Names<'_>) -> Result<Compiled, Vec<Problem>> {
        match *self {
            Self::Command(allowed) => statement::compile_command(text, names.inputs, allowed),
            Self::Document(_) | Self::Request => {
                let message = "the adapter takes maps, and this is text".to_owned();
                Err(vec![Problem { severity: Severity::Error, range: 0..text.len(), message, help: None }])
            }
            Self::Sql(dialect, _, Some(rule)) => statement::compile_for_tenant(text, dialect, names, rule),
            Self::Sql(dialect, substitution, None) => statement::compile(text, dialect, substitution, names),
        }
    }
}

/// Finds out how the statements of a tool are compiled. `node` is what a problem points at.
pub(super) fn prepare<'a>(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    node: &Node,
    named: NamedAdapter<'_>,
    adapters: &'a Adapters,
    crosses_tenants: bool,
) -> Option<Preparation<'a>> {
    let document = reading.document;
    let substitution = substitution(document, &document.root, reading.root.substitution.clone());
    let word = if substitution.value == Substitution::Textual { "textual" } else { "bind" };
    compiler.origin(reading.name, "substitution", word, substitution.place);
    let language = named.used.language?;
    if let (Some(why), Substitution::Textual) = (language.form().why_not_textual(), substitution.value) {
        let message = format!("`substitution: textual` is for statements of SQL: {why}");
        let range = document.root.at("substitution").unwrap_or(node).range.clone();
        compiler.error(document, range, message, "Remove `substitution: textual`.");
        return None;
    }
    let dialect = match language.form() {
        Form::Statement(dialect) => dialect,
        Form::Document => return Some(Preparation::Document(adapters.allowed_commands(named.used))),
        Form::Request => return Some(Preparation::Request),
        Form::Api => {
            let message = format!("the adapter `{}` takes a request of HTTP, and this is a statement", named.name);
            compiler.error(document, node.range.clone(), message, "Write `request: GET /path` in place of `statement:`.");
            return None;
        }
        Form::Command => return Some(Preparation::Command(adapters.allowed_commands(named.used))),
    };
    let tenant = adapters.tenant(named.used).filter(|_| !crosses_tenants);
    if tenant.is_some() && substitution.value == Substitution::Textual {
        let message =
            format!("with `substitution: textual` nothing keeps a statement to the tenant, which the adapter `{}` demands", named.name);
        let help = "Remove `substitution: textual`; values are then bound.";
        compiler.error(document, document.root.at("substitution").unwrap_or(node).range.clone(), message, help);
        return None;
    }
    Some(Preparation::Sql(dialect, substitution.value, tenant))
}

/// Tells what there is to say about a statement.
pub(super) fn finish(
    compiler: &mut Compiler<'_>,
    named: NamedAdapter<'_>,
    document: &Document,
    node: &Node,
    compiled: Result<Compiled, Vec<Problem>>,
) -> Option<Compiled> {
    let mut compiled = match compiled {
        Ok(compiled) => compiled,
        Err(problems) => {
            for problem in problems {
                compiler.findings.problem(document, node, problem);
            }
            return None;
        }
    };
    if let Some(most) = named.used.max_values {
        compiled.statement.max_values = most;
    }
    for mut warning in std::mem::take(&mut compiled.warnings) {
        warning.severity = Severity::Warning;
        compiler.findings.problem(document, node, warning);
    }
    let doubt = compiled.doubt.take();
    let is_doubtful = doubt.is_some();
    if let Some(doubt) = doubt {
        // Either way the database refuses it if it writes.
        if doubt.is_settled_by_kind && (named.used.read_only || says_query(document)) {
            compiled.statement.access = Access::Declared;
            compiled.tables.writes = TableSet::default();
        } else {
            compiler.findings.problem(document, node, doubt.warning);
        }
    }
    // What a function of the author's own does is not known. Its author says that it only reads: so
    // the database holds it to that.
    let is_unknown = compiled.statement.access == Access::Read && compiled.tables.writes == TableSet::All;
    let is_held = compiled.statement.style.is_held_to_reading();
    if is_unknown && is_held && says_query(document) {
        compiled.statement.access = Access::Declared;
        compiled.tables.writes = TableSet::default();
    }
    if named.used.read_only && compiled.statement.access == Access::Write && !is_doubtful {
        let message = format!("the statement writes, or may write, but the adapter `{}` is read only", named.name);
        let range = named.node.range.clone();
        compiler.warning(named.document, range, message, "Use another adapter, or drop `options.read_only` from its file.");
    }
    Some(compiled)
}

/// Whether a tool says that it only reads.
fn says_query(document: &Document) -> bool {
    document.root.text_at("kind") == Some("query")
}
