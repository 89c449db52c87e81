//! Reading: one connection that refuses to write, and the cells of its answers.

use std::{rc::Rc, time::Duration};

use millrace_core::{
    Error,
    ports::{Clock, Column, Command, Connection, Connector, Connectors as _, Query},
    value::{Rows, Value},
};
use millrace_native::{clock::SystemClock, connectors::NativeConnectors, env::Variables, wait_until::Tasks};

use super::source::Source;
use crate::output::{CommandError, CommandResult, in_full};

/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most rows and bytes of an answer. A schema that has more is not one to make an app of at
/// once.
const MAX_ROWS: usize = 100_000;
const MAX_BYTES: usize = 64 << 20;

/// A connection to the database that tools are made from.
pub(super) struct Reader {
    connector: Rc<dyn Connector>,
    clock: Rc<dyn Clock>,
}

impl Reader {
    /// Opens a connection that only reads; connects to nothing yet.
    ///
    /// # Errors
    /// The address is wrong.
    pub(super) fn open(source: &Source) -> CommandResult<Self> {
        let clock: Rc<dyn Clock> = Rc::new(SystemClock);
        let here = std::env::current_dir().unwrap_or_default();
        let connection = Connection {
            adapter: "--from".to_owned(),
            connector: source.connector.name.to_owned(),
            connection_string: source.address.clone(),
            shown: "--from".to_owned(),
            options: Vec::new(),
            read_only: true,
            seed: None,
        };
        let connector = NativeConnectors::new(here, clock.clone(), &Tasks::new())
            .with_variables(Rc::new(Variables::of_process()))
            .open(connection)
            .map_err(|error| CommandError::Wrong(error.into_parts().message))?;
        Ok(Self { connector, clock })
    }

    /// The columns that a statement returns, as the connector gives them; none where it cannot say.
    ///
    /// # Errors
    /// The database does not take the statement.
    pub(super) async fn columns(&self, text: &str) -> CommandResult<Vec<Column>> {
        let command = Command::Statement { text, values: &[] };
        let described = self.connector.describe(Query::reading(command, self.deadline_ms(), MAX_ROWS, MAX_BYTES)).await;
        described.map(Option::unwrap_or_default).map_err(unreadable)
    }

    fn deadline_ms(&self) -> u64 {
        self.clock.now_ms() + u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX)
    }

    /// The rows of a question.
    ///
    /// # Errors
    /// The database does not answer it.
    pub(super) async fn rows(&self, text: &str, values: &[&str]) -> CommandResult<Vec<Row>> {
        let values: Vec<Value> = values.iter().map(|value| Value::Text((*value).to_owned())).collect();
        let command = Command::Statement { text, values: &values };
        let query = Query::reading(command, self.deadline_ms(), MAX_ROWS, MAX_BYTES);
        let Rows { rows, .. } = self.connector.query(query).await.map_err(unreadable)?;
        Ok(rows.into_iter().map(Row).collect())
    }
}

fn unreadable(error: Error) -> CommandError {
    CommandError::Wrong(format!("the database of `--from` cannot be read: {}", in_full(error)))
}

/// The cells of a row. A cell that is not there, or of another type, is nothing.
pub(super) struct Row(Vec<Value>);

impl Row {
    pub(super) fn text(&self, at: usize) -> Option<String> {
        match self.0.get(at)? {
            Value::Text(text) | Value::Decimal(text) | Value::Timestamp(text) => Some(text.clone()),
            _ => None,
        }
    }

    pub(super) fn int(&self, at: usize) -> Option<i64> {
        match self.0.get(at)? {
            Value::I64(number) => Some(*number),
            Value::U64(number) => i64::try_from(*number).ok(),
            Value::Bool(truth) => Some(i64::from(*truth)),
            Value::Text(text) | Value::Decimal(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(super) fn is(&self, at: usize) -> bool {
        self.int(at).is_some_and(|number| number != 0)
    }

    /// All texts, from one cell on.
    pub(super) fn texts(&self) -> impl Iterator<Item = Option<String>> + '_ {
        (0..self.0.len()).map(|at| self.text(at))
    }
}
