//! What a database says of a tool's statement before anybody calls it. The statement is explained,
//! which runs nothing.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::pipeline::{isolate::database, isolate::deployment, isolate::runtime::Pipeline, session, stages::signal::Signal};
use crate::{
    Error, ErrorKind, Result,
    app::{Access, Adapter, Bind, Execute, Part, Piece, Statement, Tool},
    cancel::Cancel,
    ports::{BoundStep, BoundTransaction, Command, Connector, LocalFuture, Parameter, Query, SessionSetting},
    value::{Rows, Value},
};

/// The most of a plan that is read.
const PLAN_ROWS: usize = 100_000;
/// Likewise, in bytes.
const PLAN_BYTES: usize = 16 << 20;

/// Lets the database look at the statement of a tool. `None` where there is nothing that it could
/// look at.
pub(in crate::pipeline) async fn rehearse(pipeline: &Pipeline, tool: &Tool) -> Option<Result<()>> {
    let index = tool.execute.adapter()? as usize;
    let adapter = pipeline.app.adapters.get(index)?;
    let mut answer = None;
    for database in database::all(adapter) {
        let place = DatabasePlace { adapter: index, database };
        let mut explained = explain_all(pipeline, place, &tool.execute).await;
        if tool.idempotency.is_some() && !matches!(explained, Some(Err(_))) {
            explained = Some(prepare_records(pipeline, place).await);
        }
        match explained {
            Some(Err(error)) => return Some(Err(database::named(error, database))),
            explained => answer = explained,
        }
    }
    answer
}

/// Makes the table of the records of calls where it is missing.
async fn prepare_records(pipeline: &Pipeline, place: DatabasePlace<'_>) -> Result<()> {
    let (adapter, connector) = pipeline.connections.open(place.adapter, place.database)?;
    let cancel = Cancel::new();
    let signal = Signal::new(&*pipeline.ports.clock, &cancel, None, adapter.timeout_ms);
    signal.race(connector.prepare_records(signal.deadline_ms())).await.unwrap_or_else(|_| Err(silent(adapter)))
}

/// Explains the statements of a tool; the first one that is wrong is the answer.
async fn explain_all(pipeline: &Pipeline, place: DatabasePlace<'_>, execute: &Execute) -> Option<Result<()>> {
    let transaction = match execute {
        Execute::Transaction { transaction, .. } => transaction,
        execute => return explain(pipeline, place, execute.statements().next()?, None).await,
    };
    let mut answer = None;
    // What is not explained, such as `CREATE TABLE`, may make what a later step uses.
    let mut is_sure = true;
    for step in &transaction.steps {
        match explain(pipeline, place, &step.statement, Some(&step.name)).await {
            Some(Err(error)) if is_sure || error.kind != ErrorKind::Syntax => return Some(Err(error)),
            Some(Ok(())) => answer = Some(Ok(())),
            None | Some(Err(_)) => is_sure = false,
        }
    }
    answer
}

/// Explains a statement, which is that of the `step` with this name.
async fn explain(pipeline: &Pipeline, place: DatabasePlace<'_>, statement: &Statement, step: Option<&str>) -> Option<Result<()>> {
    // Nothing explains a command, or a statement of DynamoDB. A document was judged when the app
    // was built.
    let explain = statement.style.explains(statement.access == Access::Write)?;
    let (text, params) = match written(pipeline, statement, explain, |_| 0, |_| Value::Null) {
        Ok((text, _)) if !statement.style.is_explained(&text[explain.len()..]) => return None,
        Ok(written) => written,
        Err(error) => return error.map(Err),
    };
    let adapter = pipeline.app.adapters.get(place.adapter)?;
    let (session, has_role) = match session::without_caller(&*pipeline.ports.env, adapter) {
        Ok(settings) => settings,
        Err(error) => return Some(Err(error)),
    };
    let in_transaction;
    let command = match step {
        // A step may ask MySQL for the number that an earlier one was given, which a statement by
        // itself may not.
        Some(name) if statement.style.has_numbers_of_transactions() => {
            let parameters = params.into_iter().map(Parameter::Value).collect();
            in_transaction = [BoundStep { name, text: Cow::Borrowed(&text), parameters, access: Access::Read, expect: None }];
            Command::Transaction(BoundTransaction { steps: &in_transaction, result: None })
        }
        _ => Command::Statement { text: &text, values: &params },
    };
    match ask(pipeline, place, Question { command, session: &session }, |connector, query| connector.query(query)).await {
        // What a constraint refuses, such as a domain's `NOT NULL`, are the values here, and not
        // the statement.
        Err(error) if matches!(error.kind, ErrorKind::Constraint | ErrorKind::Data) => Some(Ok(())),
        // A caller's role may do what the user of the adapter may not.
        Err(error) if error.kind == ErrorKind::Denied && !has_role => None,
        Err(error) => Some(Err(match step {
            Some(name) if matches!(command, Command::Statement { .. }) => {
                let message = format!("the step `{name}` failed: {}", error.message);
                error.with_message(message)
            }
            _ => error,
        })),
        Ok(_) => Some(Ok(())),
    }
}

/// Asks the database of an adapter, or all of its databases, as nobody's caller.
pub(in crate::pipeline) async fn look_up(pipeline: &Pipeline, adapter: usize, text: &str, values: &[Value]) -> Result<Rows> {
    let databases = pipeline.app.adapters.get(adapter).map_or_else(|| [None].to_vec(), database::all);
    let mut all: Option<Rows> = None;
    for database in databases {
        let found = look_up_in(pipeline, DatabasePlace { adapter, database }, text, values)
            .await
            .map_err(|error| database::named(error, database))?;
        match &mut all {
            // What several databases have alike is said once.
            Some(all) => all.rows.extend(found.rows.into_iter().filter(|row| !all.rows.contains(row)).collect::<Vec<_>>()),
            None => all = Some(found),
        }
    }
    Ok(all.unwrap_or_default())
}

async fn look_up_in(pipeline: &Pipeline, place: DatabasePlace<'_>, text: &str, values: &[Value]) -> Result<Rows> {
    let question = Question { command: Command::Statement { text, values }, session: &[] };
    ask(pipeline, place, question, |connector, query| connector.query(query)).await
}

/// One of the databases of an adapter.
#[derive(Clone, Copy)]
pub(in crate::pipeline) struct DatabasePlace<'a> {
    /// The adapter's place in the app.
    pub(in crate::pipeline) adapter: usize,
    /// The database, where the adapter has several.
    pub(in crate::pipeline) database: Option<&'a str>,
}

/// What a database is asked by nobody's caller.
pub(in crate::pipeline) struct Question<'a> {
    pub(in crate::pipeline) command: Command<'a>,
    pub(in crate::pipeline) session: &'a [SessionSetting],
}

/// Asks a database something that only reads, with the timeout of its adapter.
pub(in crate::pipeline) async fn ask<T>(
    pipeline: &Pipeline,
    place: DatabasePlace<'_>,
    Question { command, session }: Question<'_>,
    how: impl for<'q> FnOnce(&'q dyn Connector, Query<'q>) -> LocalFuture<'q, Result<T>>,
) -> Result<T> {
    let (adapter, connector) = pipeline.connections.open(place.adapter, place.database)?;
    let cancel = Cancel::new();
    let signal = Signal::new(&*pipeline.ports.clock, &cancel, None, adapter.timeout_ms);
    let query = Query { session, ..Query::reading(command, signal.deadline_ms(), PLAN_ROWS, PLAN_BYTES) };
    signal.race(how(&*connector, query)).await.unwrap_or_else(|_| Err(silent(adapter)))
}

fn silent(adapter: &Adapter) -> Error {
    let message = format!("the adapter `{}` did not answer within {} ms", adapter.name, adapter.timeout_ms);
    Error::new(ErrorKind::TimedOut, message)
}

/// A statement behind `head`, with one value for each place. `option` says which text a choice is,
/// by the place of the part.
///
/// # Errors
/// `None` where the statement has no text before a call; else
/// [`Configuration`](ErrorKind::Configuration).
pub(in crate::pipeline) fn written(
    pipeline: &Pipeline,
    statement: &Statement,
    head: &str,
    option: impl Fn(usize) -> usize,
    value: impl Fn(&Part) -> Value,
) -> core::result::Result<(String, Vec<Value>), Option<Error>> {
    let variable = |name: &str| {
        let value = pipeline.ports.env.var(name);
        value.ok_or_else(|| deployment::Unfilled::Variable(name).needed_by("the statement"))
    };
    let mut text = String::from(head);
    let mut params = Vec::new();
    for (place, part) in statement.parts.iter().enumerate() {
        match part {
            Part::Text(own) => text.push_str(own),
            Part::Env(name) => text.push_str(variable(name)?.expose()),
            Part::EnvIdent(name) => {
                let value = variable(name)?;
                let quoted = statement.style.identifier(value.expose()).ok_or_else(|| {
                    Error::new(
                        ErrorKind::Configuration,
                        format!("the environment variable `{name}` is not a name, and the statement needs one"),
                    )
                })?;
                text.push_str(&quoted);
            }
            Part::Bind(_) | Part::BindEach { .. } => {
                if let Part::Bind(Bind::Composed(pieces)) = part {
                    for piece in pieces {
                        if let Piece::Env(name) = piece {
                            variable(name)?;
                        }
                    }
                }
                params.push(value(part));
                let number = params.len();
                statement.style.push_placeholder(&mut text, number);
            }
            Part::Choice { options, .. } => text.push_str(options.get(option(place)).map_or("", |(_, written)| written)),
            // All of them first, then each alone.
            Part::ChoiceEach { options, .. } => match option(place).checked_sub(1) {
                None => {
                    let all: Vec<&str> = options.iter().map(|(_, written)| written.as_str()).collect();
                    text.push_str(&all.join(", "));
                }
                Some(one) => text.push_str(options.get(one).map_or("", |(_, written)| written)),
            },
            Part::Textual(_) => return Err(None),
        }
    }
    Ok((text, params))
}
