//! Stage 9, *execute*: a statement (variables → inputs → cache lookup → connector → cache store), a
//! handler, or a search for tools.
//!
//! The codes of a connector's errors:
//!
//! | [`ErrorKind`] | code | a retry can help |
//! |---|---|---|
//! | `Configuration` | `CONFIGURATION` | no |
//! | `Syntax` | `QUERY_INVALID` | no |
//! | `Constraint` | `CONSTRAINT` | no |
//! | `Data` | `DATA_INVALID` | no |
//! | `Expectation` | `EXPECTATION_FAILED` | no |
//! | `Denied`, `Credentials` | `QUERY_REFUSED` | no |
//! | `TimedOut` | `TIMEOUT` | yes |
//! | `Unavailable` | `DATABASE_UNAVAILABLE` | yes |
//! | `Busy` | `DATABASE_BUSY` | yes |
//! | `TooLarge` | `RESULT_TOO_LARGE` | no |
//! | `Protocol` | `DATABASE_ERROR` | no |
//! | `Cancelled` | `CANCELLED` | no |
//!
//! Of an API, codes begin with `API_` in place of `DATABASE_`, and a `Constraint` with status 404
//! or 410 is `NOT_FOUND`.
//!
//! The error's message goes to the caller, its source only under `errors.expose: full`, and to the
//! log.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use crate::pipeline::{
    call::call_end::CallEnd,
    call::report::Subject,
    call::run::{Question, Run, SAFE_TO_REPEAT, TARGET, Work},
    content::output::ToolOutput,
    isolate::connections::MAX_CELL_BYTES,
    isolate::database,
    once, session,
    stages::map_output::fault_of_answer,
    stages::signal::cancelled,
    tenant,
};
use crate::{
    Error, ErrorKind, ErrorParts, Json, Result,
    app::{Access, Adapter, Execute, OnTooMany},
    fault::{Change, DATA_INVALID, Fault, FaultResult, Stage},
    ports::{Query, SessionSetting},
    value::Rows,
};

mod arguments;
mod attached;
mod bound;
mod cache;
pub(in crate::pipeline) mod change;
mod document;
mod rendered;
mod script;
mod search;
mod statement;

use attached::Attached;
use cache::Asked;

pub(in crate::pipeline) use script::rows;
pub(in crate::pipeline) use statement::problems;

/// Does what the tool is for.
///
/// # Errors
/// See the table of this module, and that of [`crate::pipeline::script`].
pub(in crate::pipeline) async fn execute(run: &Run<'_>, inputs: &mut Json) -> Result<ToolOutput, CallEnd> {
    match run.work {
        Work::Script(handler) => match &run.once {
            None => match &run.tool.cache {
                None => script::handle(run, handler, inputs).await,
                Some(settings) => script::handle_cached(run, handler, settings, inputs).await,
            },
            Some(key) => once::handle(run, key, script::handle(run, handler, inputs)).await,
        },
        // A string is sent as it is.
        Work::Search(index) => Ok(ToolOutput::Value(search::search(run, index, inputs).await.into())),
        Work::Database { adapter, place, execute } => {
            query(run, adapter, place, execute, inputs).await.map(ToolOutput::of_rows).map_err(CallEnd::from)
        }
    }
}

async fn query(run: &Run<'_>, adapter: &Adapter, place: usize, execute: &Execute, inputs: &Json) -> FaultResult<Rows> {
    let access = execute.access().unwrap_or(Access::Write);
    tenant::admit(run, adapter, execute).map_err(|error| fault_of(run, access, error))?;
    let rendered = statement::render(run, execute, inputs)?;
    // Before the cache is looked at: nothing is given to a caller that the session refuses, or that
    // has no database.
    let (session, database) = placed(run, adapter).map_err(|error| fault_of(run, access, error))?;
    let asked = Asked { statement: &rendered, session: &session, database };
    let lookup = async {
        let settings = run.tool.cache.as_ref().filter(|_| access.reads())?;
        let Ok(epochs) = cache::epochs(run).await else {
            run.report.looked_up(adapter, false);
            return None;
        };
        // A result that is cut is another one with another limit.
        let name = match run.tool.on_too_many {
            OnTooMany::Error => adapter.name.clone(),
            OnTooMany::Cut => format!("{}\0{}", adapter.name, adapter.max_rows),
        };
        let entry = cache::Entry::of(run, settings, &name, asked, epochs.as_deref());
        let found = entry.look_up(run, adapter).await;
        Some((entry, found))
    };
    let entry = match run.signal.race(lookup).await.map_err(|why| run.interrupted(why, Stage::Execute, false))? {
        Some((_, Some(rows))) => {
            run.truncated.set(rows.truncated.then(|| rows.count()));
            run.count_rows(&rows);
            return Ok(rows);
        }
        Some((entry, None)) => Some(entry),
        None => None,
    };
    let rows = ask(run, place, access, inputs, asked).await?;
    run.truncated.set(rows.truncated.then(|| rows.count()));
    if let Some(entry) = entry {
        entry.store(run, &rows);
    }
    Ok(rows)
}

/// What is set in the database for a call, and which of the adapter's databases it is.
fn placed<'a>(run: &Run<'_>, adapter: &'a Adapter) -> Result<(Vec<SessionSetting>, Option<&'a str>)> {
    let session = if adapter.session.is_empty() { Vec::new() } else { session::of(run, adapter)? };
    Ok((session, database::of(run, adapter)?))
}

async fn ask(run: &Run<'_>, place: usize, access: Access, inputs: &Json, asked: Asked<'_>) -> FaultResult<Rows> {
    let Asked { statement, session, database } = asked;
    let fault = |error| failure_of(run, access, inputs, error);
    let (adapter, connector) = run.pipeline.connections.open(place, database).map_err(fault)?;
    if tracing::enabled!(target: TARGET, tracing::Level::DEBUG) {
        let Subject { tool, request_id, .. } = run.subject();
        tracing::debug!(target: TARGET, tool, request_id, connector = adapter.connector, adapter = adapter.name, "query");
    }
    let deadline_ms = run.signal.deadline_within(adapter.timeout_ms);
    let attached = Attached::of(run.chain.attached.take(), statement);
    let command = attached.as_ref().map_or_else(|| statement.command(), Attached::command);
    let query = Query {
        session,
        access,
        on_too_many: run.tool.on_too_many,
        caller: Some(run.signal.cancel()),
        ..Query::reading(command, deadline_ms, adapter.max_rows as usize, MAX_CELL_BYTES)
    };
    let question = run.asks(adapter).of_request(run.tool.execute.request());
    let writes = access == Access::Write;
    if writes {
        run.write_sent();
    }
    let interrupted = |why| run.interrupted(why, Stage::Execute, writes);
    let (mut rows, change) = match &run.once {
        None => {
            let answer = run.signal.race(connector.query(query)).await.map_err(interrupted)?;
            (answered(run, question, writes, answer).map_err(fault)?, Change::Made)
        }
        Some(key) => {
            let answer = run.signal.race(connector.write_once(query, key.record(&*run.pipeline.ports.clock))).await.map_err(interrupted)?;
            (once::rows(run, answered(run, question, writes, answer).map_err(fault)?)?, Change::Recorded)
        }
    };
    if let Some(attached) = &attached {
        attached.subtract(&mut rows);
    }
    run.count_rows(&rows);
    if writes && statement.took_effect(&rows, connector.counts_changes()) {
        run.change.set(change);
    }
    Ok(rows)
}

/// Notes an answer of a connector.
fn answered<T>(run: &Run<'_>, question: Question<'_>, writes: bool, answer: Result<T>) -> Result<T> {
    question.answered(&answer);
    if writes {
        run.write_answered(&answer);
    }
    answer
}

/// The fault of a failed request of HTTP is that of the first rule of `errors.on` that holds of its
/// answer; of anything else, that of the error.
fn failure_of(run: &Run<'_>, access: Access, inputs: &Json, error: Error) -> Box<Fault> {
    let ruled = error.answer.as_ref().map(|answer| fault_of_answer(run, inputs, answer)).transpose();
    match ruled.map(Option::flatten) {
        Ok(Some(fault)) => Box::new(Fault { log: error.into_parts().source, ..fault }),
        Ok(None) => Box::new(fault_of(run, access, error)),
        Err(fault) => fault,
    }
}

fn fault_of(run: &Run<'_>, access: Access, error: Error) -> Fault {
    let status = error.status();
    let ErrorParts { kind, message, source, answer: _ } = error.into_parts();
    let is_api = run.tool.execute.asks_api();
    // What does not answer is a database, or an API.
    let of = |database, api| if is_api { api } else { database };
    let message = match &source {
        Some(source) if run.tool.errors.expose => {
            format!("{}: {}", sentence(&message).trim_end_matches('.'), run.secrets().for_caller(source))
        }
        _ => sentence(&message),
    };
    let fault = |code| Fault::new(Stage::Execute, code, message);
    let mut fault = match kind {
        ErrorKind::Cancelled => return cancelled(Stage::Execute),
        ErrorKind::Configuration => fault("CONFIGURATION").by_operator(),
        ErrorKind::Syntax => fault("QUERY_INVALID").suggesting("This is a defect of the tool: calling it again does not help.").by_author(),
        ErrorKind::Constraint if matches!(status, Some(404 | 410)) => {
            fault("NOT_FOUND").suggesting("Change the inputs: what they name does not exist.")
        }
        ErrorKind::Constraint => fault("CONSTRAINT").suggesting("Calling the tool again with the same inputs does not help."),
        ErrorKind::Data => fault(DATA_INVALID).suggesting("Change the inputs: calling the tool again with the same ones does not help."),
        ErrorKind::Expectation => {
            fault("EXPECTATION_FAILED").suggesting("Calling the tool again with the same inputs will not help until the data changes.")
        }
        ErrorKind::Denied | ErrorKind::Credentials => fault("QUERY_REFUSED").by_operator(),
        // A statement that writes may have done so before its time was over.
        ErrorKind::TimedOut if access == Access::Write => fault("TIMEOUT").suggesting(run.after_unknown()).later(),
        ErrorKind::TimedOut => fault("TIMEOUT").later(),
        ErrorKind::Unavailable if run.once.is_some() => {
            fault(of("DATABASE_UNAVAILABLE", "API_UNAVAILABLE")).suggesting(SAFE_TO_REPEAT).later()
        }
        ErrorKind::Unavailable => fault(of("DATABASE_UNAVAILABLE", "API_UNAVAILABLE")).later(),
        ErrorKind::Busy => fault(of("DATABASE_BUSY", "API_BUSY")).later(),
        ErrorKind::TooLarge => fault("RESULT_TOO_LARGE").suggesting("Ask for less: the same call gives the same result."),
        ErrorKind::Protocol => fault(of("DATABASE_ERROR", "API_ERROR")).by_operator(),
    };
    fault.log = source;
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
