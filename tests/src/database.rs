//! An adapter's connection as a native host opens it, called from a test that is not asynchronous.

use std::{
    fs,
    future::{Future, poll_fn},
    path::{Path, PathBuf},
    rc::Rc,
    task::Poll,
};

use millrace_core::{
    Error, Result,
    app::{Access, OnTooMany},
    ports::{CallRecord, Clock, Command, Connection, Connector, Connectors, Query, RecordedWrite},
    secret::Secret,
    value::{Rows, Value},
};
use millrace_native::{clock::SystemClock, connectors::NativeConnectors, wait_until::Tasks};

use crate::{
    failures::{Outcome, READ, SAID, WRITE},
    scripted::{Reply, Scripted},
};

/// How long a statement may take where a test says nothing else, in milliseconds. Far beyond what
/// any needs.
pub const PATIENCE_MS: u64 = 60_000;

/// A connection and the runtime that drives it.
pub struct Database {
    connector: Rc<dyn Connector>,
    runtime: tokio::runtime::Runtime,
    local: tokio::task::LocalSet,
    tasks: Tasks,
}

impl Database {
    /// Opens a connection.
    ///
    /// # Panics
    /// Where the settings are refused.
    #[must_use]
    pub fn open(connection: Connection) -> Self {
        let tasks = Tasks::new();
        let connectors = NativeConnectors::new(PathBuf::from("/"), Rc::new(SystemClock), &tasks);
        let connector = connectors.open(connection).unwrap_or_else(|error| panic!("{error:?}"));
        Self { connector, runtime: runtime(), local: tokio::task::LocalSet::new(), tasks }
    }

    /// Runs a statement that may write.
    ///
    /// # Errors
    /// The connector's.
    pub fn run(&self, text: &str, params: &[Value]) -> Result<Rows> {
        self.run_with(&Query { command: Command::Statement { text, values: params }, ..query(text) })
    }

    /// Runs a query that only reads, of whose result it takes the first rows: how many they are,
    /// and whether there were more.
    ///
    /// # Errors
    /// The connector's.
    pub fn cut(&self, query: &Query<'_>, max_rows: usize) -> Result<(usize, bool)> {
        let query = Query { max_rows, on_too_many: OnTooMany::Cut, access: Access::Read, ..query.clone() };
        self.run_with(&query).map(|rows| (rows.rows.len(), rows.truncated))
    }

    /// Runs a query; its deadline counts from the call.
    ///
    /// # Errors
    /// The connector's.
    pub fn run_with(&self, query: &Query<'_>) -> Result<Rows> {
        let deadline_ms = SystemClock.now_ms() + query.deadline_ms;
        self.wait(self.connector.query(Query { deadline_ms, ..query.clone() }))
    }

    /// Runs a write that happens once for a key; its deadline counts from the call.
    ///
    /// # Errors
    /// The connector's.
    pub fn write_once(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        let deadline_ms = SystemClock.now_ms() + query.deadline_ms;
        self.wait(self.connector.write_once(Query { deadline_ms, ..query.clone() }, record))
    }

    /// Makes the table of the records of calls.
    ///
    /// # Errors
    /// The connector's.
    pub fn prepare_records(&self) -> Result<()> {
        self.wait(self.connector.prepare_records(SystemClock.now_ms() + PATIENCE_MS))
    }

    /// Begins a query and stops waiting for it as soon as a condition is met, as a call that is
    /// cancelled does.
    ///
    /// # Panics
    /// Where it ends before.
    pub fn abandon(&self, query: &Query<'_>, when: impl Fn() -> bool) {
        let deadline_ms = SystemClock.now_ms() + query.deadline_ms;
        let mut running = Some(self.connector.query(Query { deadline_ms, ..query.clone() }));
        self.wait(async {
            while !when() {
                let pause = SystemClock.sleep(10);
                let mut pause = std::pin::pin!(pause);
                poll_fn(|context| {
                    if let Some(query) = &mut running {
                        assert!(query.as_mut().poll(context).is_pending(), "it has ended");
                    }
                    pause.as_mut().poll(context)
                })
                .await;
            }
            running = None;
        });
    }

    /// Runs queries at the same time.
    ///
    /// # Errors
    /// The connector's, each in its place.
    pub fn run_all(&self, queries: &[Query<'_>]) -> Vec<Result<Rows>> {
        self.run_some(queries, |_| false).into_iter().flatten().collect()
    }

    /// Runs queries at the same time; some of them are given up as soon as all have begun. Of these
    /// there is no outcome.
    pub fn run_some(&self, queries: &[Query<'_>], is_given_up: impl Fn(usize) -> bool) -> Vec<Option<Result<Rows>>> {
        let mut running: Vec<_> = queries
            .iter()
            .map(|query| {
                let deadline_ms = SystemClock.now_ms() + query.deadline_ms;
                Some(self.connector.query(Query { deadline_ms, ..query.clone() }))
            })
            .collect();
        let mut done: Vec<Option<Result<Rows>>> = queries.iter().map(|_| None).collect();
        self.wait(poll_fn(|context| {
            for (running, place) in running.iter_mut().zip(&mut done) {
                if let Some(future) = running
                    && let Poll::Ready(outcome) = future.as_mut().poll(context)
                {
                    (*place, *running) = (Some(outcome), None);
                }
            }
            for (number, running) in running.iter_mut().enumerate() {
                if is_given_up(number) {
                    *running = None;
                }
            }
            if running.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
        }));
        done
    }

    /// The rows of a statement.
    ///
    /// # Panics
    /// Where it fails.
    #[must_use]
    pub fn rows(&self, text: &str) -> Vec<Vec<Value>> {
        self.run(text, &[]).unwrap_or_else(|error| panic!("{text}: {error:?}")).rows
    }

    /// The error of a statement.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn error(&self, text: &str) -> Error {
        self.run(text, &[]).err().unwrap_or_else(|| panic!("{text} works"))
    }

    /// Checks the connection.
    ///
    /// # Errors
    /// The connector's.
    pub fn ping(&self) -> Result<()> {
        self.wait(self.connector.ping(SystemClock.now_ms() + PATIENCE_MS))
    }

    /// Waits until a server that was started answers; `log` is what it wrote.
    pub(crate) fn wait_until_it_is_up(&self, name: &str, log: &Path) {
        let said = || format!("{name} does not come up: {:?}\n{}", self.ping(), fs::read_to_string(log).unwrap_or_default());
        crate::wait::until_else(said, || self.ping().is_ok());
    }

    /// Waits for an answer, and for what outlives it.
    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.local.block_on(&self.runtime, async {
            let answer = future.await;
            self.tasks.drained().await;
            answer
        })
    }
}

/// A runtime for what a test calls itself.
///
/// # Panics
/// Where there is none.
#[must_use]
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap_or_else(|error| panic!("{error}"))
}

/// What becomes of a read and of a write against these answers. `settings` are those of an adapter
/// on that server.
///
/// # Panics
/// As [`outcomes_of`].
pub fn outcomes(replies: &[Reply], settings: impl Fn(&Scripted) -> Connection) -> [Outcome; 2] {
    outcomes_of([READ, WRITE], replies, settings)
}

/// The same of these two.
///
/// # Panics
/// An error has a secret or the server's own words.
pub fn outcomes_of(texts: [&str; 2], replies: &[Reply], settings: impl Fn(&Scripted) -> Connection) -> [Outcome; 2] {
    let [read, write] = texts;
    [(Access::Read, read), (Access::Write, write)].map(|(access, text)| {
        let server = Scripted::with(replies.to_vec());
        let outcome = Database::open(settings(&server)).run_with(&Query { access, ..query(text) });
        if let Err(error) = &outcome {
            assert!(!error.message.contains("hunter2") && !error.message.contains(SAID), "{error:?}");
        }
        (outcome.map(|rows| rows.count()).map_err(|error| error.kind), server.received().len())
    })
}

/// A query without values, which may write; the deadline counts from the call.
#[must_use]
pub const fn query(text: &str) -> Query<'_> {
    let command = Command::Statement { text, values: &[] };
    Query { access: Access::Write, ..Query::reading(command, PATIENCE_MS, 10_000, 1 << 20) }
}

/// The settings of an adapter.
#[must_use]
pub fn connection(connector: &str, connection_string: &str, options: &[(&str, &str)]) -> Connection {
    Connection {
        adapter: "shop".to_owned(),
        connector: connector.to_owned(),
        connection_string: Secret::new(connection_string.to_owned()),
        shown: connection_string.to_owned(),
        options: options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect(),
        read_only: false,
        seed: None,
    }
}

/// A text as a value.
#[must_use]
pub fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}
