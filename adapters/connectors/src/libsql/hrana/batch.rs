//! Several statements of one stream, each of which may depend on what became of those before it.

use millrace_core::{
    Error, Result,
    ports::{HttpRequest, HttpResponse, Query},
    secret::Secret,
    value::{Rows, Value},
};
use serde::{Deserialize, Serialize};

use super::{
    super::hrana_error::{self, HranaError},
    Pipeline, Statement, StatementResult, Version, broken, first, request, rows_of,
};
use crate::shared::StatementFailure;

/// A statement of a batch.
pub(in crate::libsql) struct Step<'a> {
    pub(in crate::libsql) condition: Option<Condition>,
    pub(in crate::libsql) text: &'a str,
    pub(in crate::libsql) values: &'a [Value],
}

/// A batch on a stream.
pub(in crate::libsql) struct Sent<'a> {
    /// That of the stream; a new one without it.
    pub(in crate::libsql) baton: Option<&'a str>,
    pub(in crate::libsql) steps: &'a [Step<'a>],
    /// The stream is closed after it.
    pub(in crate::libsql) close: bool,
}

/// What must have become of steps before, which are numbered from 0.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::libsql) enum Condition {
    /// The step was executed and did not fail.
    Ok { step: u8 },
    /// Not that.
    Not { cond: Box<Self> },
    /// All of these.
    And { conds: Vec<Self> },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BatchRequest<'a> {
    Batch { batch: &'a Batch<'a> },
    Close,
}

#[derive(Serialize)]
struct Batch<'a> {
    steps: Vec<BatchStep<'a>>,
}

#[derive(Serialize)]
struct BatchStep<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Condition>,
    stmt: Statement<'a>,
}

impl<'a> BatchStep<'a> {
    fn of(step: &Step<'a>) -> Result<Self> {
        Ok(Self { condition: step.condition.clone(), stmt: Statement::of(step.text, step.values)? })
    }
}

impl Condition {
    pub(in crate::libsql) const fn ok(step: u8) -> Self {
        Self::Ok { step }
    }

    /// One step was executed and did not fail, and another one failed or was not executed.
    pub(in crate::libsql) fn ok_but_not(step: u8, other: u8) -> Self {
        Self::And { conds: vec![Self::ok(step), Self::Not { cond: Box::new(Self::ok(other)) }] }
    }
}

/// The request for a batch on a stream.
///
/// # Errors
/// As [`prepare`](super::prepare).
pub(in crate::libsql) fn prepare_batch(
    base: &str,
    token: Option<&Secret<String>>,
    version: Version,
    sent: &Sent<'_>,
    query: &Query<'_>,
) -> Result<HttpRequest> {
    let Sent { baton, steps, close } = *sent;
    let batch = Batch { steps: steps.iter().map(BatchStep::of).collect::<Result<_>>()? };
    let requests = [BatchRequest::Batch { batch: &batch }, BatchRequest::Close];
    let requests = match (steps.is_empty(), close) {
        (true, _) => &requests[1..],
        (false, true) => &requests,
        (false, false) => &requests[..1],
    };
    request(base, token, version, &Pipeline { baton, requests }, query)
}

/// What became of the steps of a batch.
#[derive(Debug)]
pub(in crate::libsql) struct BatchReply {
    /// For each step its rows or its error; `None` for one that was not executed.
    pub(in crate::libsql) steps: Vec<Option<Result<Rows, StatementFailure>>>,
    /// The open stream.
    pub(in crate::libsql) baton: Option<String>,
}

#[derive(Deserialize)]
struct BatchResult<'a> {
    #[serde(borrow)]
    step_results: Vec<Option<StatementResult<'a>>>,
    #[serde(borrow)]
    step_errors: Vec<Option<HranaError<'a>>>,
}

/// Reads the answer to a batch of these steps.
///
/// # Errors
/// The batch as a whole failed. What its steps did is not known, unless the failure says so.
pub(in crate::libsql) fn parse_batch(response: &HttpResponse, steps: &[Step<'_>]) -> Result<BatchReply, StatementFailure> {
    let (BatchResult { step_results, step_errors }, baton) = first(response, "")?;
    if step_results.len() != steps.len() || step_errors.len() != steps.len() {
        return Err(broken().into());
    }
    let step = |((result, error), step): ((Option<StatementResult<'_>>, Option<HranaError<'_>>), &Step<'_>)| match (result, error) {
        (_, Some(said)) => Some(Err(hrana_error::of_statement(&said.code.unwrap_or_default(), &said.message, step.text))),
        (Some(result), None) => Some(rows_of(result)),
        (None, None) => None,
    };
    Ok(BatchReply { steps: step_results.into_iter().zip(step_errors).zip(steps).map(step).collect(), baton })
}

impl BatchReply {
    /// Takes what became of a step.
    ///
    /// # Errors
    /// The step's own.
    pub(in crate::libsql) fn take(&mut self, step: u8) -> Result<Option<Rows>, StatementFailure> {
        self.steps.get_mut(usize::from(step)).and_then(Option::take).transpose()
    }
}

/// A step that must have been executed, and was not.
pub(in crate::libsql) fn absent() -> Error {
    broken().0
}
