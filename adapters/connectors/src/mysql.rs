//! `connector: mysql`: MySQL, MariaDB and what speaks their protocol, over TCP.
//!
//! In go a statement with `?` for its values, and the values; out come rows, or the number of rows that it found to change. A call is one
//! statement, and nothing of it is left on the connection: transactions, `SET`, temporary tables, locks and `LOAD` are refused; after a
//! procedure, a user's variable or `GET_LOCK`, the connection is closed.
//!
//! # Prepared statements
//!
//! A value never is text: every statement of an app is prepared, and its values are sent in the binary form. The most recent statements stay
//! prepared on a connection, so that a call is one round trip.
//!
//! # What holds for every statement
//!
//! After the login, the session gets the character set `utf8mb4`, the time zone UTC, autocommit and one `sql_mode`, so that a statement
//! means the same on every server: what a quote is, the statement compiler has decided before. Several statements in one are off.
//!
//! # Time
//!
//! The server knows the deadline, rounded up to a second: `max_statement_time` of MariaDB, `max_execution_time` of MySQL, which is for `SELECT`
//! only, and how long it waits for a lock. Whoever stops waiting for a statement has it ended: module `kill`.
//!
//! What was not executed (no connection, one too many, a deadlock) is sent again up to five times within about three seconds, never past
//! the deadline. A statement that only reads is sent once more where the connection broke under it. A write whose answer got lost is never
//! sent again, and its error says that the outcome is not known. A write with a record is sent again: module `once` has the reason.
//!
//! Protocol: <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>. MariaDB's: <https://mariadb.com/kb/en/clientserver-protocol/>.

mod address;
mod auth;
mod bind;
mod cell;
#[cfg(feature = "describe")]
mod describe;
mod kill;
mod login;
mod mode;
mod packet;
mod results;
mod server_error;
mod session;

use std::{cell::Cell, rc::Rc};

use millrace_catalogue::MYSQL;
use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::{CallRecord, Clock, Command, Connection, Connector, Dialer, LocalFuture, Query, Random, RecordedWrite, WaitUntil},
    value::Rows,
};

use crate::{
    mysql_text::{
        Checked, Transaction, check,
        once::{self, Write},
        transaction,
    },
    shared::{Effect, Pool, ReadOnly, Retry, StatementFailure, check_roots, own_query, soon, timed_out, within},
    sockets::{Lifetime, Sockets},
};
pub(crate) use address::MysqlAddress;
use kill::{Killer, Watched};
use session::Session;

/// What a server's limit is rounded up to, in milliseconds: it is told once for calls of the same adapter, and not before each.
const LIMIT_STEP_MS: u64 = 1000;

/// How long a goodbye may take, in milliseconds.
const GOODBYE_MS: u64 = 100;

/// A MySQL database.
pub struct Mysql {
    address: Rc<MysqlAddress>,
    read_only: bool,
    lifetime: Lifetime,
    dialer: Rc<dyn Dialer>,
    clock: Rc<dyn Clock>,
    retry: Retry,
    pool: Pool<Session>,
    killer: Killer,
}

/// What a call is doing, for the message of a deadline.
#[derive(Clone, Copy)]
enum Phase {
    Waiting,
    Connecting,
    Running,
}

/// What is done on a connection.
enum Work<'a> {
    /// The statement, looked at; or the steps of a transaction.
    Run(Option<Checked<'a>>),
    /// The statement with its record.
    Once(CallRecord<'a>),
    /// The table of records is made.
    Prepare,
}

/// What became of it.
enum Done {
    Rows(Rows),
    Recorded(RecordedWrite),
    Prepared,
}

/// What may be sent again whatever became of it.
const REPEATABLE: Effect = Effect { reads: true, returns: true };

fn repeatable<'a>(query: &Query<'a>) -> Query<'a> {
    Query { access: Access::Read, ..query.clone() }
}

/// What a driver of this connector is made with.
#[derive(Clone)]
pub struct MysqlPorts {
    /// Opens sockets.
    pub dialer: Rc<dyn Dialer>,
    /// How long they may live.
    pub lifetime: Lifetime,
    /// Wall time and sleep.
    pub clock: Rc<dyn Clock>,
    /// Randomness.
    pub random: Rc<dyn Random>,
    /// Work that outlives a call.
    pub wait_until: Rc<dyn WaitUntil>,
}

impl Mysql {
    /// Reads the settings of an adapter; connects to nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is none of MySQL's, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, ports: MysqlPorts) -> Result<Self> {
        let address = MysqlAddress::parse(connection.connection_string.expose().trim(), &connection.options)?;
        let MysqlPorts { dialer, lifetime, clock, random, wait_until } = ports;
        let address = Rc::new(address);
        Ok(Self {
            pool: Pool::of(address.max_connections),
            killer: Killer { address: address.clone(), dialer: dialer.clone(), clock: clock.clone(), wait_until },
            address,
            read_only: connection.read_only,
            lifetime,
            dialer,
            retry: Retry::new(clock.clone(), random),
            clock,
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let (checked, leaves_traces) = match query.command {
            Command::Transaction(steps) => {
                query.without_session(MYSQL.name)?;
                (None, transaction::check(MYSQL.name, &steps, self.read_only(query))?)
            }
            _ => {
                let checked = check(MYSQL.name, query.statement(MYSQL.name)?.0, self.read_only(query))?;
                (Some(checked), checked.leaves_traces)
            }
        };
        // What the connector writes as a statement that reads is one: its author or the read-only transaction says so.
        let effect = Effect { reads: query.access.reads(), returns: true };
        match self.work(query, effect, leaves_traces, &Work::Run(checked)).await? {
            Done::Rows(rows) => Ok(rows),
            Done::Recorded(_) | Done::Prepared => Ok(Rows::default()),
        }
    }

    /// Who says that a query must not write.
    fn read_only(&self, query: &Query<'_>) -> ReadOnly {
        ReadOnly::of(query, self.read_only)
    }

    async fn write_once(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        once::check(MYSQL.name, self.read_only, query)?;
        let leaves_traces = match query.command {
            Command::Transaction(steps) => transaction::check(MYSQL.name, &steps, ReadOnly::Database)?,
            _ => check(MYSQL.name, query.statement(MYSQL.name)?.0, ReadOnly::Database)?.in_transaction("with `idempotency`")?.leaves_traces,
        };
        match self.work(&repeatable(query), REPEATABLE, leaves_traces, &Work::Once(record)).await? {
            Done::Recorded(outcome) => Ok(outcome),
            Done::Rows(_) | Done::Prepared => Ok(RecordedWrite::MadeBeforeUnknown),
        }
    }

    async fn prepare_records(&self, deadline_ms: u64) -> Result<()> {
        self.work(&own_query("SELECT 1", deadline_ms), REPEATABLE, false, &Work::Prepare).await.map(drop)
    }

    /// Does what a call is for, again where that is safe. One function for all of it: each is compiled with everything below it.
    async fn work(&self, query: &Query<'_>, effect: Effect, leaves_traces: bool, work: &Work<'_>) -> Result<Done> {
        let phase = Cell::new(Phase::Waiting);
        let attempts = self.retry.run(query, effect, async || self.attempt(query, &phase, leaves_traces, work).await);
        within(&*self.clock, query.deadline_ms, attempts).await.unwrap_or_else(|| Err(self.too_late(phase.get())))
    }

    async fn attempt(
        &self,
        query: &Query<'_>,
        phase: &Cell<Phase>,
        leaves_traces: bool,
        work: &Work<'_>,
    ) -> Result<Done, StatementFailure> {
        phase.set(Phase::Waiting);
        let slot = match self.lifetime {
            Lifetime::Isolate => Some(self.pool.slot().await),
            Lifetime::Call => None,
        };
        phase.set(Phase::Connecting);
        let idle = match &slot {
            Some(slot) => slot.idle(&*self.clock, query.deadline_ms).await,
            None => None,
        };
        let mut session = match idle {
            Some(session) => session,
            None => self.connect(query.deadline_ms).await?,
        };
        session.guard(self.read_only(query));
        phase.set(Phase::Running);
        let left_ms = query.deadline_ms.saturating_sub(self.clock.now_ms());
        if left_ms == 0 {
            return Err(StatementFailure::last(timed_out()));
        }
        let limit_ms = left_ms.next_multiple_of(LIMIT_STEP_MS);
        let outcome = match (work, query.command) {
            (Work::Run(_), Command::Transaction(steps)) => transaction::run(
                &mut Watched { session: &mut session, killer: &self.killer },
                &steps,
                query,
                (self.read_only(query).is_demanded(), limit_ms),
            )
            .await
            .map(Done::Rows),
            (Work::Run(checked), command) => {
                let (text, values) = command.statement(MYSQL.name).map_err(StatementFailure::last)?;
                let transaction = match checked {
                    _ if self.read_only(query).is_demanded() => Transaction::ReadOnly,
                    Some(checked) if checked.calls() => Transaction::Several,
                    _ => Transaction::Implied,
                };
                let watch = self.killer.watch(&session, text);
                let outcome = session.run(text, values, query, transaction, limit_ms).await.map(Done::Rows);
                watch.ended();
                outcome
            }
            (Work::Once(record), Command::Transaction(steps)) => {
                let mut watched = Watched { session: &mut session, killer: &self.killer };
                once::write_once(&mut watched, &*self.clock, Write::Steps(steps), query, *record).await.map(Done::Recorded)
            }
            (Work::Once(record), command) => {
                let (text, values) = command.statement(MYSQL.name).map_err(StatementFailure::last)?;
                let mut watched = Watched { session: &mut session, killer: &self.killer };
                once::write_once(&mut watched, &*self.clock, Write::Statement(text, values), query, *record).await.map(Done::Recorded)
            }
            (Work::Prepare, _) => {
                once::prepare(&mut Watched { session: &mut session, killer: &self.killer }, query, left_ms).await.map(|()| Done::Prepared)
            }
        };
        match slot {
            Some(slot) if session.is_usable() && !leaves_traces => slot.keep(session, self.clock.now_ms()),
            _ => {
                // The answer is there: it does not wait for a server that does not take a goodbye.
                let until_ms = soon(&*self.clock, query.deadline_ms, GOODBYE_MS);
                within(&*self.clock, until_ms, session.close()).await;
            }
        }
        outcome
    }

    async fn connect(&self, deadline_ms: u64) -> Result<Session, StatementFailure> {
        let until_ms = deadline_ms.min(self.clock.now_ms().saturating_add(self.address.connect_timeout_ms));
        let connecting = login::connect(&self.address, &*self.dialer, ReadOnly::of_adapter(self.read_only), until_ms);
        match within(&*self.clock, until_ms, connecting).await {
            Some(outcome) => outcome,
            None => Err(StatementFailure::not_executed(self.too_late(Phase::Connecting))),
        }
    }

    fn too_late(&self, phase: Phase) -> Error {
        match phase {
            Phase::Waiting => {
                let message = format!("all {} connections to MySQL were in use until the deadline", self.address.max_connections);
                Error::new(ErrorKind::Busy, message)
            }
            Phase::Connecting => {
                Error::new(ErrorKind::Unavailable, "MySQL did not accept the connection in time").at(&self.address.place())
            }
            Phase::Running => timed_out(),
        }
    }
}

/// Opens a database over the sockets of a host.
///
/// # Errors
/// As [`Mysql::open`]; and for an adapter that names certificates to trust, where the host trusts its own list only.
pub(crate) fn open(connection: &Connection, sockets: &Sockets, ports: MysqlPorts) -> Result<Mysql> {
    let mysql = Mysql::open(connection, ports)?;
    check_roots(connection, sockets, &mysql.address.roots)?;
    Ok(mysql)
}

impl Connector for Mysql {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn write_once<'a>(&'a self, query: Query<'a>, record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(async move { self.write_once(&query, record).await })
    }

    #[cfg(feature = "describe")]
    fn describe<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Option<Vec<millrace_core::ports::Column>>>> {
        Box::pin(async move { self.describe(&query).await })
    }

    fn prepare_records(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(self.prepare_records(deadline_ms))
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { self.run(&own_query("SELECT 1", deadline_ms)).await.map(|_| ()) })
    }
}
