//! The steps of a transaction, as statements of one batch, which the API carries out as one
//! transaction or not at all.
//!
//! The result of a statement is known when all are done, so no step can take a value of another
//! one. What is expected of a step is checked by PostgreSQL: the statement, as it is, becomes a
//! part of a `WITH`, of which all rows are selected, with a `LIMIT` that cannot be computed where
//! they are not as many as expected. It runs once, whatever it does, and its rows, columns and
//! types are what they would be on their own. So they can be counted of what returns rows; the
//! build refuses `expect` of what does not.
//!
//! The API does not say which statement of a batch failed, and nobody guesses. The words of a
//! `LIMIT` that fails have a mark which is drawn by lot for each call, so that no value can pass
//! for them.
//!
//! Between two steps the server's deadline is set to what is left of it.

use millrace_core::{
    ErrorKind, Json, Result,
    app::{Access, OnTooMany},
    hex,
    ports::{BoundTransaction, Query},
    value::{Rows, Value},
};

use super::{
    reply::{self, Refusal},
    step::{Step, timeout_ms},
};
use crate::{
    postgres_text::{is_of_statement, types::UnclearColumns, word},
    shared::{Execution, StatementFailure},
};

/// Statements that only read see one state of the data. Nothing may come before it.
const ONE_STATE: &str = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
/// Lets the next statement run for as long as is left of the time, in milliseconds, that the
/// transaction had at its beginning.
const LEFT: &str = "SELECT set_config('statement_timeout', greatest($1::pg_catalog.int8 \
                    - (extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000)::pg_catalog.int8, 1)::text, true)";
/// The name of a step whose rows are counted, within its own statement.
const STEP: &str = "millrace_step";
/// What PostgreSQL says of a text that is no number.
const NO_NUMBER: &str = "22P02";

/// The steps of a transaction, ready to be sent.
pub(crate) struct Steps<'a> {
    bound: BoundTransaction<'a>,
    statements: Vec<Step>,
    /// What the words of a step begin with that has another number of rows than is expected.
    mark: String,
}

impl<'a> Steps<'a> {
    /// Reads the steps, with the values of each; sends nothing. `lot` is drawn for each call.
    ///
    /// # Errors
    /// Those of a statement, with the name of the step.
    pub(super) fn read(bound: BoundTransaction<'a>, values: &[Vec<Value>], lot: [u8; 16], has_session: bool) -> Result<Self> {
        let mark = format!("millrace {}", hex::encode(&lot));
        let mut statements = Vec::new();
        for ((place, step), values) in bound.steps.iter().enumerate().zip(values) {
            let counted = step.expect.map(|expected| counted(&step.text, expected, &format!("{mark} step {place} rows ")));
            let text = counted.as_deref().unwrap_or(&step.text);
            statements.push(Step::of_author(text, values, has_session).map_err(|error| bound.of_step(place, error))?);
        }
        Ok(Self { bound, statements, mark })
    }
}

impl Steps<'_> {
    /// Whether any of them writes.
    pub(super) fn writes(&self) -> bool {
        self.bound.access() == Access::Write
    }

    /// The batch that begins with these statements. `left_ms`: how long it may take.
    pub(super) fn batch(&self, before: Vec<Step>, left_ms: u64) -> Vec<Step> {
        let mut batch: Vec<Step> = (!self.writes()).then(|| Step::own(ONE_STATE, &[])).into_iter().chain(before).collect();
        let left = Step::own(LEFT, &[Value::Text(timeout_ms(left_ms).to_string())]);
        for (place, statement) in self.statements.iter().enumerate() {
            batch.extend((place > 0).then(|| left.clone()));
            batch.push(statement.clone());
        }
        batch
    }

    /// What the failure of the batch says of the steps.
    pub(super) fn told(&self, refusal: Refusal) -> Refusal {
        let Some(said) = &refusal.said else { return refusal };
        if said.code == NO_NUMBER
            && let Some((_, numbers)) = said.words.split_once(&self.mark)
        {
            let mut numbers = numbers.split(|character: char| !character.is_ascii_digit()).filter(|digits| !digits.is_empty());
            if let (Some(Ok(place)), Some(Ok(found))) = (numbers.next().map(str::parse), numbers.next().map(str::parse)) {
                return StatementFailure::last(self.bound.unexpected(place, found, true)).into();
            }
        }
        if refusal.failure.outcome != Execution::Final || !is_of_statement(&refusal.failure.error) {
            return refusal;
        }
        // One of the steps, or a constraint that is checked at the end.
        let StatementFailure { error, outcome } = refusal.failure;
        let message = format!("the transaction failed: {}", error.message);
        Refusal { failure: StatementFailure { error: error.with_message(message), outcome }, ..refusal }
    }

    /// The result of the steps, of the answers to the batch, and those of its columns that may be
    /// arrays of types that only the server knows.
    ///
    /// # Errors
    /// There are too many rows, or the answer has another form. The steps have taken effect.
    pub(super) fn answer(&self, mut replies: Vec<Json>, query: &Query<'_>, unclear: &mut UnclearColumns) -> Result<Rows, StatementFailure> {
        // Each second one of the last is a step's.
        let mut replies: Vec<Json> = replies.drain(..).rev().step_by(2).take(self.statements.len()).collect();
        replies.reverse();
        // What the other results hold is nobody's affair: everything is committed by now.
        let Some(reply) = self.bound.result.or_else(|| replies.iter().rposition(returns)).and_then(|place| replies.get_mut(place)) else {
            let mut changed = Rows::default();
            for reply in replies {
                changed.affected = changed.affected.saturating_add(reply::rows_of(reply, query, unclear)?.affected);
            }
            return Ok(changed);
        };
        if !self.writes() {
            return reply::rows_of(reply.take(), query, unclear);
        }
        let query = Query { access: Access::Read, on_too_many: OnTooMany::Error, ..query.clone() };
        reply::rows_of(reply.take(), &query, unclear).map_err(|StatementFailure { mut error, outcome }| {
            if error.kind == ErrorKind::TooLarge {
                error.message.push_str("; the transaction took effect");
            }
            StatementFailure { error, outcome }
        })
    }
}

/// A statement that fails unless this one returns so many rows, and otherwise returns what it does.
/// The words of the failure begin with `mark`.
fn counted(text: &str, expected: u64, mark: &str) -> String {
    let mut rest = text;
    let first = word(&mut rest);
    let statement = text.get(text.len() - rest.len() - first.len()..).unwrap_or(text);
    let statement = statement.trim_end_matches(|character: char| character.is_ascii_whitespace() || character == ';');
    format!(
        "WITH {STEP} AS (\n{statement}\n) SELECT * FROM {STEP} LIMIT (SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) {expected} THEN NULL \
         ELSE pg_catalog.concat('{mark}', pg_catalog.count(*))::pg_catalog.int8 END FROM {STEP})"
    )
}

/// Whether a statement returned rows, or could have.
fn returns(reply: &Json) -> bool {
    reply["fields"].as_array().is_some_and(|fields| !fields.is_empty())
}
