//! `connector: planetscale`: a MySQL database of PlanetScale, over its HTTP API, which is Vitess'.
//!
//! In go a statement with `?` for its values, and the values; out come the rows that connector `mysql` has for the same statement. Which
//! statements are refused, what a value is, what cells are made of and what an error means is decided in one place for both.
//!
//! # Values
//!
//! The API takes a text and nothing beside it. So each value is written where its `?` stands, in a form that is nothing but a literal, and ends
//! nothing that it might stand in: digits, or hexadecimal digits. Module `literal` has the rules.
//!
//! # Sessions
//!
//! What must hold for several statements, a transaction, is in a session: an object that each answer brings, and that the next request takes along.
//! It is kept as long as the call, and not looked into. A statement of its own is one request without a session.
//!
//! # Time
//!
//! A `SELECT` tells the server when to end it, by an optimizer hint. What nobody waits for any more, a transaction among them, is ended by the
//! server when its own limit passes, and is asked to roll back before. Sending again is as in connector `mysql`.
//!
//! Protocol: <https://github.com/planetscale/database-js>. Types and errors are those of <https://github.com/vitessio/vitess>.

mod address;
mod cell;
mod literal;
mod names;
mod reply;
mod server_error;
mod session;

use std::rc::Rc;

use millrace_catalogue::PLANETSCALE;
use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::{CallRecord, Clock, Command, Connection, Connector, HttpClient, LocalFuture, Query, Random, RecordedWrite, WaitUntil},
    value::Rows,
};

use crate::{
    mysql_text::{
        Checked, Session as _, Transaction, check,
        once::{self, Write},
        transaction,
    },
    shared::{Effect, ReadOnly, Retry, StatementFailure, own_query, timed_out},
};
use address::PlanetscaleAddress;
use session::{Api, Session};

/// What the server's limit is rounded up to, in milliseconds: a text of its own for each call would be planned anew.
const LIMIT_STEP_MS: u64 = 1000;

/// What may be sent again whatever became of it.
const REPEATABLE: Effect = Effect { reads: true, returns: true };

/// A database of PlanetScale.
pub struct Planetscale {
    api: Rc<Api>,
    read_only: bool,
    retry: Retry,
}

/// What is done in an attempt, and again where that is safe.
enum Work<'a> {
    /// The statement, looked at; or the steps of a transaction.
    Run(Option<Checked<'a>>),
    /// The statement or the steps, with a record.
    Once(CallRecord<'a>),
    /// The table of records is made.
    Prepare,
}

/// What became of it.
enum Done {
    Rows(Rows),
    Recorded(RecordedWrite),
}

/// What a driver of this connector is made with.
#[derive(Clone)]
pub struct PlanetscalePorts {
    /// Outgoing HTTP.
    pub http: Rc<dyn HttpClient>,
    /// Wall time and sleep.
    pub clock: Rc<dyn Clock>,
    /// Randomness.
    pub random: Rc<dyn Random>,
    /// Work that outlives a call.
    pub wait_until: Rc<dyn WaitUntil>,
}

impl Planetscale {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is none of PlanetScale's, an unknown option or a wrong value
    /// of one.
    pub fn open(connection: &Connection, ports: PlanetscalePorts) -> Result<Self> {
        let address = PlanetscaleAddress::parse(connection.connection_string.expose().trim(), &connection.options)?;
        let PlanetscalePorts { http, clock, random, wait_until } = ports;
        Ok(Self {
            read_only: connection.read_only,
            retry: Retry::new(clock.clone(), random),
            api: Rc::new(Api { address, http, clock, wait_until }),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let checked = match query.command {
            Command::Transaction(steps) => {
                query.without_session(PLANETSCALE.name)?;
                transaction::check(PLANETSCALE.name, &steps, self.read_only(query))?;
                steps.steps.iter().try_for_each(|step| keeps_no_lock(&step.text))?;
                None
            }
            _ => Some(self.check(query)?),
        };
        // What the connector writes as a statement that reads is one: its author or the read-only transaction says so.
        let effect = Effect { reads: query.access.reads(), returns: true };
        match self.work(query, effect, &Work::Run(checked)).await? {
            Done::Rows(rows) => Ok(rows),
            Done::Recorded(_) => Ok(Rows::default()),
        }
    }

    /// Who says that a query must not write.
    fn read_only(&self, query: &Query<'_>) -> ReadOnly {
        ReadOnly::of(query, self.read_only)
    }

    async fn write_once(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        once::check(PLANETSCALE.name, self.read_only, query)?;
        match query.command {
            Command::Transaction(steps) => {
                transaction::check(PLANETSCALE.name, &steps, ReadOnly::Database)?;
                steps.steps.iter().try_for_each(|step| keeps_no_lock(&step.text))?;
            }
            _ => drop(self.check(query)?.in_transaction("with `idempotency`")?),
        }
        let query = Query { access: Access::Read, ..query.clone() };
        match self.work(&query, REPEATABLE, &Work::Once(record)).await? {
            Done::Recorded(outcome) => Ok(outcome),
            Done::Rows(_) => Ok(RecordedWrite::MadeBeforeUnknown),
        }
    }

    fn check<'a>(&self, query: &Query<'a>) -> Result<Checked<'a>> {
        let (text, _) = query.statement(PLANETSCALE.name)?;
        let checked = check(PLANETSCALE.name, text, self.read_only(query))?;
        keeps_no_lock(text)?;
        Ok(checked)
    }

    /// Does what a call is for, again where that is safe. One function for all of it: each is compiled with everything below it.
    async fn work(&self, query: &Query<'_>, effect: Effect, work: &Work<'_>) -> Result<Done> {
        self.retry.run(query, effect, async || self.attempt(query, work).await).await
    }

    async fn attempt(&self, query: &Query<'_>, work: &Work<'_>) -> Result<Done, StatementFailure> {
        let left_ms = query.deadline_ms.saturating_sub(self.api.clock.now_ms());
        if left_ms == 0 {
            return Err(StatementFailure::last(timed_out()));
        }
        let limit_ms = left_ms.next_multiple_of(LIMIT_STEP_MS);
        let mut session = Session::new(&self.api, query.deadline_ms, self.read_only(query));
        match (work, query.command) {
            (Work::Run(_), Command::Transaction(steps)) => {
                transaction::run(&mut session, &steps, query, (self.read_only(query).is_demanded(), limit_ms)).await.map(Done::Rows)
            }
            (Work::Run(checked), command) => {
                let (text, values) = command.statement(PLANETSCALE.name).map_err(StatementFailure::last)?;
                let transaction = match checked {
                    _ if self.read_only(query).is_demanded() => Transaction::ReadOnly,
                    Some(checked) if checked.calls() => Transaction::Several,
                    _ => Transaction::Implied,
                };
                session.run(text, values, query, transaction, limit_ms).await.map(Done::Rows)
            }
            (Work::Once(record), Command::Transaction(steps)) => {
                once::write_once(&mut session, &*self.api.clock, Write::Steps(steps), query, *record).await.map(Done::Recorded)
            }
            (Work::Once(record), command) => {
                let (text, values) = command.statement(PLANETSCALE.name).map_err(StatementFailure::last)?;
                once::write_once(&mut session, &*self.api.clock, Write::Statement(text, values), query, *record).await.map(Done::Recorded)
            }
            (Work::Prepare, _) => once::prepare(&mut session, query, left_ms).await.map(|()| Done::Rows(Rows::default())),
        }
    }
}

/// Refuses a lock that lasts as long as a session: nobody has that session after the call.
fn keeps_no_lock(text: &str) -> Result<()> {
    if !crate::mysql_text::calls_function(text, "GET_LOCK") {
        return Ok(());
    }
    let message = format!("connector `{}` does not run `GET_LOCK()`: nothing could release the lock after the call", PLANETSCALE.name);
    Err(Error::new(ErrorKind::Denied, message))
}

impl Connector for Planetscale {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn write_once<'a>(&'a self, query: Query<'a>, record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(async move { self.write_once(&query, record).await })
    }

    fn prepare_records(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { self.work(&own_query("SELECT 1", deadline_ms), REPEATABLE, &Work::Prepare).await.map(drop) })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { self.run(&own_query("SELECT 1", deadline_ms)).await.map(drop) })
    }
}
