use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt::Write as _;

use crate::{
    Error, ErrorKind, Result,
    app::Access,
    value::{Rows, Value},
};

/// Statements that are carried out in order, and take effect together or not at all.
///
/// A connector that can look at results in between asks for the [`values`](Self::values) of each
/// step when those before it are done, [`takes`](Self::take) its result, and undoes everything
/// where either fails. One that sends all steps at once is only given steps whose values are known,
/// and lets the database check what is [expected](BoundStep::expect).
#[derive(Clone, Copy, Debug)]
pub struct BoundTransaction<'a> {
    /// The steps; at least one.
    pub steps: &'a [BoundStep<'a>],
    /// The place of the step whose result is that of all. `None`: the last one that returns rows.
    pub result: Option<usize>,
}

/// One statement of a [`BoundTransaction`].
#[derive(Clone, Debug)]
pub struct BoundStep<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// The text in the connector's placeholder style. Contains no value.
    pub text: Cow<'a, str>,
    /// The values in the order of the placeholders.
    pub parameters: Vec<Parameter>,
    /// Whether it only reads.
    pub access: Access,
    /// How many rows it must return, or change where it returns none.
    pub expect: Option<u64>,
}

/// A value of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// One that the call brings along.
    Value(Value),
    /// One of an earlier step's result.
    Earlier(StepValue),
    /// A text in which there is one.
    Composed(Vec<TextPiece>),
}

impl Parameter {
    /// What it takes of earlier results.
    pub fn earlier(&self) -> impl Iterator<Item = &StepValue> {
        let (one, pieces) = match self {
            Self::Value(_) => (None, [].as_slice()),
            Self::Earlier(value) => (Some(value), [].as_slice()),
            Self::Composed(pieces) => (None, pieces.as_slice()),
        };
        one.into_iter().chain(pieces.iter().filter_map(|piece| if let TextPiece::Earlier(value) = piece { Some(value) } else { None }))
    }
}

/// A cell of the only row that an earlier step returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepValue {
    /// The place of the step.
    pub step: usize,
    /// The column.
    pub column: String,
}

/// A piece of a composed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPiece {
    /// What is known.
    Text(String),
    /// A value, as text; `NULL` is nothing.
    Earlier(StepValue),
}

impl BoundTransaction<'_> {
    /// Whether any step writes.
    #[must_use]
    pub fn access(&self) -> Access {
        if self.steps.iter().all(|step| step.access.reads()) { Access::Read } else { Access::Write }
    }

    /// The values of a step, after `results` of all those before it.
    ///
    /// # Errors
    /// [`Expectation`](ErrorKind::Expectation) where an earlier step did not return exactly one
    /// row, [`Syntax`](ErrorKind::Syntax) where it returned no such column.
    pub fn values(&self, place: usize, results: &[Rows]) -> Result<Vec<Value>> {
        let Some(step) = self.steps.get(place) else { return Ok(Vec::new()) };
        let value = |parameter: &Parameter| match parameter {
            Parameter::Value(value) => Ok(value.clone()),
            Parameter::Earlier(wanted) => self.earlier(step, wanted, results).cloned(),
            // As where the value is one of the call: alone it is a text, or NULL.
            Parameter::Composed(pieces) => {
                if let [TextPiece::Earlier(wanted)] = pieces.as_slice()
                    && *self.earlier(step, wanted, results)? == Value::Null
                {
                    return Ok(Value::Null);
                }
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        TextPiece::Text(own) => text.push_str(own),
                        TextPiece::Earlier(wanted) => push_text(&mut text, self.earlier(step, wanted, results)?),
                    }
                }
                Ok(Value::Text(text))
            }
        };
        step.parameters.iter().map(value).collect()
    }

    fn earlier<'r>(&self, step: &BoundStep<'_>, wanted: &StepValue, results: &'r [Rows]) -> Result<&'r Value> {
        let StepValue { step: place, column } = wanted;
        let source = self.steps.get(*place).map_or("?", |source| source.name);
        let refused = |kind, why: &str| {
            Error::new(kind, format!("the step `{}` needs `steps.{source}.{column}`, and the step `{source}` returned {why}", step.name))
        };
        let rows = results.get(*place).ok_or_else(|| refused(ErrorKind::Configuration, "nothing that can be looked at here"))?;
        let [row] = rows.rows.as_slice() else {
            return Err(refused(ErrorKind::Expectation, &format!("{} rows instead of 1; nothing was changed", rows.rows.len())));
        };
        let found = rows.columns.iter().position(|name| name == column).and_then(|at| row.get(at));
        found.ok_or_else(|| refused(ErrorKind::Syntax, "no such column"))
    }

    /// Holds the result of a step to what is expected of it.
    ///
    /// # Errors
    /// [`Expectation`](ErrorKind::Expectation), and then everything must be undone.
    pub fn check(&self, place: usize, rows: &Rows) -> Result<()> {
        let found = if rows.columns.is_empty() { rows.affected } else { rows.rows.len() as u64 };
        match self.steps.get(place).and_then(|step| step.expect) {
            Some(expected) if expected != found => Err(self.unexpected(place, found, !rows.columns.is_empty())),
            _ => Ok(()),
        }
    }

    /// Takes the result of the next step, and keeps of it what a later step or the result of all
    /// needs.
    ///
    /// # Errors
    /// [`Expectation`](ErrorKind::Expectation) where it is not as expected, or a later step needs
    /// its only row and it has another number of rows. Everything must be undone then.
    pub fn take(&self, results: &mut Vec<Rows>, mut rows: Rows) -> Result<()> {
        let place = results.len();
        self.check(place, &rows)?;
        if let Some((later, wanted)) = self.needed_by(place) {
            results.push(rows);
            return self.earlier(later, wanted, results).map(drop);
        }
        if self.result.is_some_and(|result| result != place) {
            rows.rows = Vec::new();
        }
        if self.result.is_none() && !rows.columns.is_empty() {
            // It is the last one that returns rows so far.
            for (before, result) in results.iter_mut().enumerate() {
                if self.needed_by(before).is_none() {
                    result.rows = Vec::new();
                }
            }
        }
        results.push(rows);
        Ok(())
    }

    /// The first step that takes a value of an earlier one's result.
    fn needed_by(&self, place: usize) -> Option<(&BoundStep<'_>, &StepValue)> {
        self.steps.iter().skip(place + 1).find_map(|later| {
            let wanted = later.parameters.iter().flat_map(Parameter::earlier).find(|wanted| wanted.step == place)?;
            Some((later, wanted))
        })
    }

    /// How many bytes the cells of kept results have: the results of all steps together are held to
    /// one limit.
    #[must_use]
    pub fn kept_bytes(results: &[Rows]) -> usize {
        results.iter().flat_map(|rows| rows.rows.iter().flatten()).map(Value::size).fold(0, usize::saturating_add)
    }

    /// The error of a step that `returned`, or changed, another number of rows than is expected.
    #[must_use]
    pub fn unexpected(&self, place: usize, found: u64, returned: bool) -> Error {
        let (name, expected) = self.steps.get(place).map_or(("?", 0), |step| (step.name, step.expect.unwrap_or_default()));
        let verb = if returned { "returned" } else { "changed" };
        let rows = if found == 1 { "row" } else { "rows" };
        let was = if expected == 1 { "was" } else { "were" };
        let message = format!("the step `{name}` {verb} {found} {rows}, and {expected} {was} expected; nothing was changed");
        Error::new(ErrorKind::Expectation, message)
    }

    /// An error of a step, with its name where it has one: a tool's only statement has none.
    #[must_use]
    pub fn of_step(&self, place: usize, error: Error) -> Error {
        match self.steps.get(place) {
            Some(step) if error.kind != ErrorKind::Expectation && !step.name.is_empty() => {
                let message = format!("the step `{}` failed: {}", step.name, error.message);
                error.with_message(message)
            }
            _ => error,
        }
    }

    /// The result of all steps, of the results of each. Where none returns rows, it is how many all
    /// of them changed.
    #[must_use]
    pub fn answer(&self, mut results: Vec<Rows>) -> Rows {
        let place = self.result.or_else(|| results.iter().rposition(|rows| !rows.columns.is_empty()));
        match place {
            Some(place) if place < results.len() => results.swap_remove(place),
            _ => Rows { affected: results.iter().fold(0, |sum, rows| sum.saturating_add(rows.affected)), ..Rows::default() },
        }
    }
}

/// Appends the plain text of a value, as a placeholder in a text writes it.
fn push_text(out: &mut String, value: &Value) {
    // Writing to a string cannot fail.
    let _ = match value {
        Value::Null => Ok(()),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => out.write_str(text),
        Value::Bool(truth) => write!(out, "{truth}"),
        Value::I64(number) => write!(out, "{number}"),
        Value::U64(number) => write!(out, "{number}"),
        other => match serde_json::to_value(other.json()) {
            Ok(crate::Json::String(text)) => out.write_str(&text),
            Ok(json) => write!(out, "{json}"),
            Err(_) => Ok(()),
        },
    };
}

#[cfg(test)]
mod tests;
