//! Stage 9, *execute*: a statement (variables → inputs → cache lookup → connector → cache store), a handler, or a search for tools.
//!
//! The codes of a connector's errors:
//!
//! | [`ErrorKind`] | code | a retry can help |
//! |---|---|---|
//! | `Configuration` | `CONFIGURATION` | no |
//! | `Syntax` | `QUERY_INVALID` | no |
//! | `Constraint` | `CONSTRAINT` | no |
//! | `Denied` | `QUERY_REFUSED` | no |
//! | `TimedOut` | `TIMEOUT` | yes |
//! | `Unavailable` | `DATABASE_UNAVAILABLE` | yes |
//! | `Busy` | `DATABASE_BUSY` | yes |
//! | `TooLarge` | `RESULT_TOO_LARGE` | no |
//! | `Protocol` | `DATABASE_ERROR` | no |
//! | `Cancelled` | `CANCELLED` | no |
//!
//! The error's message goes to the caller, its source only under `errors.expose: full`, and to the log.

use alloc::{boxed::Box, format, string::String};

use super::{
    content::Content,
    run::{CHECK_FIRST, End, Run, TARGET, Work, missing_variable},
    signal::cancelled,
};
use crate::{
    Error, ErrorKind, Json,
    app::{Access, Statement},
    fault::{Fault, Faulty, Stage},
    ports::Query,
    value::Rows,
};

mod cache;
mod script;
mod search;
mod statement;

pub(super) use script::rows;
pub(super) use statement::problems;

/// The most bytes of cells that one statement may read.
pub(super) const MAX_CELL_BYTES: usize = 16 << 20;

/// What the tool did, before and after stage *map output*.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Rows as the connector gave them: written without a detour where nobody looks at them.
    Rows(Rows),
    /// Any other value.
    Value(Json),
    /// A result that a script built.
    Content(Box<Content>),
}

/// Does what the tool is for.
///
/// # Errors
/// See the table of this module, and that of [`super::script`].
pub(super) async fn execute(run: &Run<'_>, inputs: &mut Json) -> Result<Outcome, End> {
    match run.work {
        Work::Script(handler) => script::handle(run, handler, inputs).await,
        // A string is sent as it is.
        Work::Search(index) => Ok(Outcome::Value(search::search(run, index, inputs).into())),
        Work::Statement { adapter, statement } => query(run, adapter, statement, inputs).await.map(Outcome::Rows).map_err(End::from),
    }
}

async fn query(run: &Run<'_>, adapter: usize, statement: &Statement, inputs: &Json) -> Faulty<Rows> {
    let rendered = statement::render(run, statement, inputs)?;
    let lookup = async {
        let settings = run.tool.cache.filter(|_| statement.access == Access::Read)?;
        let name = run.pipeline.app.adapters.get(adapter).map_or("", |adapter| adapter.name.as_str());
        let entry = cache::Entry::of(run, settings, name, &rendered);
        let found = entry.look_up(run).await;
        Some((entry, found))
    };
    let entry = match run.signal.race(lookup).await.map_err(|why| run.interrupted(why, Stage::Execute, false))? {
        Some((_, Some(rows))) => return Ok(rows),
        Some((entry, None)) => Some(entry),
        None => None,
    };
    let rows = ask(run, adapter, statement.access, &rendered).await?;
    if let Some(entry) = entry {
        entry.store(run, &rows);
    }
    Ok(rows)
}

async fn ask(run: &Run<'_>, adapter: usize, access: Access, rendered: &statement::Rendered<'_>) -> Faulty<Rows> {
    let fault = |error| fault_of(run, access, error);
    let (adapter, connector) = run.pipeline.connections.open(run.pipeline, adapter).map_err(fault)?;
    tracing::debug!(target: TARGET, connector = adapter.connector, adapter = adapter.name, "query");
    let query = Query {
        text: &rendered.text,
        params: &rendered.params,
        access,
        deadline_ms: run.signal.deadline_within(adapter.timeout_ms),
        max_rows: adapter.max_rows as usize,
        max_bytes: MAX_CELL_BYTES,
    };
    run.signal
        .race(connector.query(query))
        .await
        .map_err(|why| run.interrupted(why, Stage::Execute, access == Access::Write))?
        .map_err(|error| fault(error).into())
}

fn fault_of(run: &Run<'_>, access: Access, error: Error) -> Fault {
    const LATER: &str = "Calling the tool again later can help.";
    const OPERATOR: &str = "Only the operator of this server can mend this: calling the tool again does not help.";
    let Error { kind, message, source } = error;
    let (code, suggestion) = match kind {
        ErrorKind::Cancelled => return cancelled(Stage::Execute),
        ErrorKind::Configuration => ("CONFIGURATION", OPERATOR),
        ErrorKind::Syntax => ("QUERY_INVALID", "This is a defect of the tool: calling it again does not help."),
        ErrorKind::Constraint => ("CONSTRAINT", "Calling the tool again with the same inputs does not help."),
        ErrorKind::Denied => ("QUERY_REFUSED", OPERATOR),
        // A statement that writes may have done so before its time was over.
        ErrorKind::TimedOut if access == Access::Write => ("TIMEOUT", CHECK_FIRST),
        ErrorKind::TimedOut => ("TIMEOUT", LATER),
        ErrorKind::Unavailable => ("DATABASE_UNAVAILABLE", LATER),
        ErrorKind::Busy => ("DATABASE_BUSY", LATER),
        ErrorKind::TooLarge => ("RESULT_TOO_LARGE", "Ask for less: the same call gives the same result."),
        ErrorKind::Protocol => ("DATABASE_ERROR", OPERATOR),
    };
    let operator = suggestion == OPERATOR;
    let message = match &source {
        Some(source) if run.tool.errors.expose => format!("{}: {source}", sentence(&message).trim_end_matches('.')),
        _ => sentence(&message),
    };
    let mut fault = Fault::new(Stage::Execute, code, message).suggesting(suggestion);
    fault.retryable = kind.is_retryable();
    fault.log = source.or_else(|| operator.then(|| fault.message.clone()));
    fault
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let mut characters = clause.chars();
    let mut sentence: String = characters.next().map(char::to_uppercase).into_iter().flatten().collect();
    sentence.push_str(characters.as_str());
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// The value of a variable of a statement.
fn variable(run: &Run<'_>, name: &str) -> Faulty<crate::secret::Secret<String>> {
    run.pipeline.ports.env.var(name).ok_or_else(|| missing_variable(name, Stage::Execute).into())
}
