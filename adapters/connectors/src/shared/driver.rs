//! A driver whose databases are worked with in sessions: what is looked at before anything is sent,
//! what may be sent again, and what is done in each attempt.

#[cfg(feature = "describe")]
use millrace_core::ports::Column;
use millrace_core::{
    Result,
    app::{Access, OnTooMany},
    ports::{CallRecord, Command, Query, RecordedWrite},
    value::{Rows, Value},
};

use super::{Effect, ReadOnly, Records, Session, StatementFailure, own_query, records, transaction};

/// What may be sent again whatever became of it.
#[cfg(all(feature = "databases", feature = "describe"))]
pub(crate) const REPEATABLE: Effect = Effect { reads: true, returns: true };

/// Where a statement runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementPlace {
    /// By itself.
    Alone,
    /// By itself, in one transaction with its record.
    Recorded,
    /// As a step of a transaction, which may write.
    Step {
        /// It does, as far as the build knows.
        writes: bool,
    },
}

/// What is noted of a statement that may be sent.
#[derive(Clone, Copy, Default)]
pub(crate) struct StatementNotes {
    /// It may leave something on its connection, which is closed after it.
    pub(crate) leaves_traces: bool,
    /// It calls a procedure, whose statements may commit one by one.
    pub(crate) calls: bool,
}

/// What is done in an attempt, and again where that is safe.
enum Work<'a> {
    /// Runs the command of the query.
    Run,
    /// Runs it with its record.
    Once(CallRecord<'a>),
    /// Makes the table of records where it is missing.
    MakeRecords,
}

/// A call of a driver.
pub(crate) struct Call<'a> {
    /// What is asked, with the access that the command has.
    pub(crate) query: Query<'a>,
    /// What its statements may leave behind.
    pub(crate) notes: StatementNotes,
    /// The database refuses what writes.
    pub(crate) is_read_only: bool,
    work: Work<'a>,
}

impl Call<'_> {
    /// What an attempt may do. What the connector writes as a statement that reads is one: its
    /// author or the read-only transaction says so.
    pub(crate) fn effect(&self) -> Effect {
        Effect { reads: self.query.access.reads(), returns: true }
    }

    /// Whether it is the query's statement by itself that runs.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.work, Work::Run) && !matches!(self.query.command, Command::Transaction(_))
    }

    /// Whether it is about records.
    pub(crate) fn is_recorded(&self) -> bool {
        !matches!(self.work, Work::Run)
    }

    /// Does it in a session. One function for all of it: each is compiled with everything below it.
    ///
    /// # Errors
    /// What the server said, and what that means for another attempt.
    pub(crate) async fn on(&self, session: &mut impl Session, records: &Records) -> Result<RecordedWrite, StatementFailure> {
        match (&self.work, self.query.command) {
            (Work::Run, Command::Transaction(steps)) => {
                transaction::run(session, &steps, &self.query, self.is_read_only).await.map(RecordedWrite::Made)
            }
            (Work::Run, _) => session.run(&self.query).await.map(RecordedWrite::Made),
            (Work::Once(record), _) => records::write_once(session, records, &self.query, *record).await,
            (Work::MakeRecords, _) => records::prepare(session, records, &self.query).await.map(|()| RecordedWrite::Made(Rows::default())),
        }
    }
}

/// A driver over sessions.
pub(crate) trait SessionDriver {
    /// The connector's name.
    const NAME: &'static str;

    /// Whether its adapter is read-only.
    fn is_read_only(&self) -> bool;

    /// Looks at a statement before anything is sent.
    ///
    /// # Errors
    /// What is refused.
    fn check(&self, text: &str, values: &[Value], query: &Query<'_>, place: StatementPlace) -> Result<StatementNotes>;

    /// Attempts a call, and attempts it again where that is safe.
    ///
    /// # Errors
    /// Any [`ErrorKind`](millrace_core::ErrorKind).
    async fn attempt(&self, call: Call<'_>) -> Result<RecordedWrite>;

    /// The columns that a statement returns, which does not run.
    ///
    /// # Errors
    /// As [`attempt`](Self::attempt).
    #[cfg(feature = "describe")]
    async fn describe_columns(&self, _query: &Query<'_>) -> Result<Option<Vec<Column>>> {
        Ok(None)
    }

    /// Runs the command of a query.
    ///
    /// # Errors
    /// As [`check`](Self::check) and [`attempt`](Self::attempt).
    async fn run(&self, query: Query<'_>) -> Result<Rows> {
        let notes = self.check_all(&query, false)?;
        let is_read_only = self.is_read_only() || query.is_guarded();
        let access = match query.command {
            Command::Transaction(steps) if !query.is_guarded() => steps.access(),
            _ => query.access,
        };
        let call = Call { query: Query { access, ..query }, notes, is_read_only, work: Work::Run };
        match self.attempt(call).await? {
            RecordedWrite::Made(rows) | RecordedWrite::MadeBefore(rows) => Ok(rows),
            // Said of records only.
            RecordedWrite::MadeBeforeUnknown | RecordedWrite::Running => Ok(Rows::default()),
        }
    }

    /// Runs the command of a query that writes, unless there is a record of the call.
    ///
    /// # Errors
    /// As [`run`](Self::run); and [`Denied`](millrace_core::ErrorKind::Denied) for an adapter that
    /// only reads.
    async fn run_once(&self, query: Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        if self.is_read_only() {
            return Err(ReadOnly::Adapter.refuse());
        }
        let notes = self.check_all(&query, true)?;
        // Whatever became of it, it may be sent again, as if it only read.
        // It writes all the same: nothing of what it returns is left out.
        let query = Query { access: Access::Read, on_too_many: OnTooMany::Error, ..query };
        self.attempt(Call { query, notes, is_read_only: false, work: Work::Once(record) }).await
    }

    /// Makes the table of records where it is missing.
    ///
    /// # Errors
    /// As [`attempt`](Self::attempt).
    async fn make_records(&self, deadline_ms: u64) -> Result<()> {
        let query = own_query("SELECT 1", deadline_ms);
        let call = Call { query, notes: StatementNotes::default(), is_read_only: self.is_read_only(), work: Work::MakeRecords };
        self.attempt(call).await.map(drop)
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    async fn ask(&self, deadline_ms: u64) -> Result<()> {
        self.run(own_query("SELECT 1", deadline_ms)).await.map(drop)
    }

    /// Looks at every statement of a query.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), with the name of the step.
    fn check_all(&self, query: &Query<'_>, is_recorded: bool) -> Result<StatementNotes> {
        match query.command {
            Command::Transaction(steps) => {
                let mut notes = StatementNotes::default();
                for (place, step) in steps.steps.iter().enumerate() {
                    let writes = step.access == Access::Write;
                    let checked = self.check(&step.text, &[], query, StatementPlace::Step { writes });
                    notes.leaves_traces |= checked.map_err(|error| steps.of_step(place, error))?.leaves_traces;
                }
                Ok(notes)
            }
            _ => {
                let (text, values) = query.command.statement(Self::NAME)?;
                let place = if is_recorded { StatementPlace::Recorded } else { StatementPlace::Alone };
                self.check(text, values, query, place)
            }
        }
    }
}

/// Makes a [`SessionDriver`] a [`Connector`](millrace_core::ports::Connector).
macro_rules! connector_over_sessions {
    ($driver:ty) => {
        impl millrace_core::ports::Connector for $driver {
            fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
                Box::pin($crate::shared::SessionDriver::run(self, query))
            }

            fn write_once<'a>(
                &'a self,
                query: Query<'a>,
                record: millrace_core::ports::CallRecord<'a>,
            ) -> LocalFuture<'a, Result<millrace_core::ports::RecordedWrite>> {
                Box::pin($crate::shared::SessionDriver::run_once(self, query, record))
            }

            #[cfg(feature = "describe")]
            fn describe<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Option<Vec<millrace_core::ports::Column>>>> {
                Box::pin(async move { $crate::shared::SessionDriver::describe_columns(self, &query).await })
            }

            fn prepare_records(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
                Box::pin($crate::shared::SessionDriver::make_records(self, deadline_ms))
            }

            fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
                Box::pin($crate::shared::SessionDriver::ask(self, deadline_ms))
            }
        }
    };
}
pub(crate) use connector_over_sessions;
