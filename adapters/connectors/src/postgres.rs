//! `connector: postgres`: PostgreSQL over TCP, with or without a pooler such as pgbouncer between.
//!
//! In go a statement in PostgreSQL's placeholder style (`$1`, `$2`) and its values; out come rows, or the number of rows that it
//! changed. A call is one statement, and nothing of it is left on the connection: transactions, `SET`, temporary tables, cursors, `LISTEN`
//! and `COPY` are refused.
//!
//! # One round trip
//!
//! A call is one batch of messages that ends with `Sync`: the deadline (`set_config('statement_timeout', …, true)`, which holds for the
//! batch only), then the statement, unnamed. So nothing has to be kept between two calls, which a pooler would not allow; and a statement
//! ends at its deadline on the server, too, whoever waits for it. For a read-only adapter the batch stands between `BEGIN READ ONLY` and
//! `COMMIT`.
//!
//! # Sessions
//!
//! What an adapter's `session` sets goes along with the deadline, in the same message and for the same transaction, and its values are bound.
//! The batch stands between `BEGIN` and `COMMIT` then: a procedure that commits would go on without role and settings, and PostgreSQL refuses
//! that within a transaction block. What a statement could set for longer than the transaction, or in place of the session, is not sent.
//!
//! # Why not tokio-postgres
//!
//! It asks for results in the binary form. That form is different for every type, so a type that a driver does not know (an interval, an
//! address, a range, one of an extension) cannot even be shown; as text, every type can. Messages and SCRAM are those of the same project's
//! crate `postgres-protocol`; the connection is polled together with its query, so no task runs beside it.
//!
//! # Values
//!
//! A number or a truth value has the type that PostgreSQL gives to the same when it is written out in the statement: `integer`, `bigint` or
//! `numeric`, and `boolean`. Everything else is what a literal in quotes would be: its type comes from its place, and without one it is
//! text. A list becomes an array or a document, whichever the server says that its place takes (module `lists`), `Bytes` a `bytea`. The module `postgres_text` has both directions.
//!
//! # Time
//!
//! What was not executed (no connection, one too many, a deadlock) is sent again up to five times within about three seconds, never past
//! the deadline. A statement that only reads is sent once more where the connection broke under it. A write whose answer got lost is never
//! sent again, and its error says that the outcome is not known. A write with a record is sent again: module `once` has the reason.
//!
//! Protocol: <https://www.postgresql.org/docs/current/protocol.html>.

mod address;
#[cfg(feature = "describe")]
mod describe;
mod lists;
mod login;
mod login_token;
mod message_stream;
mod once;
mod server_error;
mod session;
mod transaction;

use std::{cell::Cell, rc::Rc};

use millrace_catalogue::POSTGRES;
use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::{
        BoundTransaction, CallRecord, Clock, Command, Connection, Connector, Dialer, LocalFuture, LoginTokens, Query, Random, RecordedWrite,
    },
    value::Rows,
};

use crate::{
    postgres_text::{call_records::must_write, check, lists::has_lists},
    shared::{Effect, Pool, ReadOnly, Retry, StatementFailure, check_roots, own_query, timed_out, within},
    sockets::{Lifetime, Sockets},
};
pub(crate) use address::PostgresAddress;
use lists::{KnownLists, Listed, Lists};
use once::Write;
use session::{Batch, Session, Transaction};

/// A PostgreSQL database.
pub struct Postgres {
    address: PostgresAddress,
    read_only: bool,
    lifetime: Lifetime,
    dialer: Rc<dyn Dialer>,
    tokens: Option<Rc<dyn LoginTokens>>,
    clock: Rc<dyn Clock>,
    retry: Retry,
    pool: Pool<Session>,
    lists: KnownLists,
}

/// What a call is doing, for the message of a deadline.
#[derive(Clone, Copy)]
enum Phase {
    Waiting,
    Connecting,
    Running,
}

impl Postgres {
    /// Reads the settings of an adapter; connects to nothing. `tokens` are for one with `aws_iam`.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is none of PostgreSQL's, an unknown option or a wrong value
    /// of one, and for `aws_iam` without `tokens` or beside settings that no token fits.
    pub fn open(
        connection: &Connection,
        lifetime: Lifetime,
        dialer: Rc<dyn Dialer>,
        clock: Rc<dyn Clock>,
        random: Rc<dyn Random>,
        tokens: Option<Rc<dyn LoginTokens>>,
    ) -> Result<Self> {
        let address = PostgresAddress::parse(connection.connection_string.expose().trim(), &connection.options)?;
        login_token::check(&address, &connection.adapter, tokens.is_some())?;
        Ok(Self {
            pool: Pool::of(address.max_connections),
            lists: KnownLists::default(),
            address,
            read_only: connection.read_only,
            lifetime,
            dialer,
            tokens,
            retry: Retry::new(clock.clone(), random),
            clock,
        })
    }

    /// The way to the server is one that nobody else is on, so that a password needs no TLS.
    #[must_use]
    pub fn on_a_private_way(mut self) -> Self {
        self.address.is_private = true;
        self
    }

    /// Runs the steps of a transaction. Whatever fails before its end has changed nothing.
    async fn transact(&self, query: &Query<'_>, steps: BoundTransaction<'_>) -> Result<Rows> {
        transaction::check(&steps, !query.session.is_empty())?;
        let phase = Cell::new(Phase::Waiting);
        let effect = Effect { reads: steps.access() == Access::Read, returns: true };
        let lists = Lists::of(&*self.clock, &self.lists);
        let work = async |session: &mut Session, _| {
            transaction::run(session, &lists, &steps, query, ReadOnly::of(query, self.read_only).is_demanded()).await
        };
        let attempts = self.retry.run(query, effect, async || self.attempt_listed(query, &phase, &lists, work).await);
        within(&*self.clock, query.deadline_ms, attempts).await.unwrap_or_else(|| Err(self.too_late(phase.get())))
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        if let Command::Transaction(steps) = query.command {
            return self.transact(query, steps).await;
        }
        let (text, values) = query.command.statement(POSTGRES.name)?;
        check(POSTGRES.name, text, !query.session.is_empty())?;
        let transaction = match (ReadOnly::of(query, self.read_only).is_demanded(), query.session) {
            (true, _) => Transaction::ReadOnly,
            (false, []) => Transaction::Implied,
            (false, _) => Transaction::Own,
        };
        // What answers between here and the server by text and values alone, as a Hyperdrive may, must not take one session for another.
        let marked = query.session_digest().map(|digest| format!("/* session {digest} */ {text}"));
        let (text, unmarked) = (marked.as_deref().unwrap_or(text), text);
        if has_lists(values) {
            return self.run_listed(query, Listed { text, unmarked, values, settings: query.session, is_within: false }, transaction).await;
        }
        let batch = Batch::of(text, values, transaction, query)?.with_settings(query.session);
        let phase = Cell::new(Phase::Waiting);
        // What the connector writes as a statement that reads is one: its author or the read-only transaction says so.
        let effect = Effect { reads: query.access.reads(), returns: true };
        let attempt =
            async || self.attempt(query, &phase, async |session: &mut Session, left_ms| session.run(&batch, query, left_ms).await).await;
        let attempts = self.retry.run(query, effect, attempt);
        within(&*self.clock, query.deadline_ms, attempts).await.unwrap_or_else(|| Err(self.too_late(phase.get())))
    }

    /// Runs a statement that is given lists: they are written as the server takes them in their places.
    async fn run_listed(&self, query: &Query<'_>, listed: Listed<'_>, transaction: Transaction) -> Result<Rows> {
        let phase = Cell::new(Phase::Waiting);
        let effect = Effect { reads: query.access.reads(), returns: true };
        let lists = Lists::of(&*self.clock, &self.lists);
        let work = async |session: &mut Session, _| listed.run(session, &lists, query, transaction).await;
        let attempts = self.retry.run(query, effect, async || self.attempt_listed(query, &phase, &lists, work).await);
        within(&*self.clock, query.deadline_ms, attempts).await.unwrap_or_else(|| Err(self.too_late(phase.get())))
    }

    async fn write_once(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        must_write(self.read_only)?;
        let write = match query.command {
            Command::Transaction(steps) => {
                transaction::check(&steps, !query.session.is_empty())?;
                Write::Steps(steps)
            }
            command => {
                let (text, values) = command.statement(POSTGRES.name)?;
                check(POSTGRES.name, text, !query.session.is_empty())?;
                match has_lists(values) {
                    true => Write::Listed(Listed { text, unmarked: text, values, settings: query.session, is_within: true }),
                    false => Write::Statement(Batch::of(text, values, Transaction::Implied, query)?.with_settings(query.session)),
                }
            }
        };
        let lists = Lists::of(&*self.clock, &self.lists);
        let work = async |session: &mut Session, left_ms| once::write_once(session, (&write, &lists), query, record, left_ms).await;
        self.repeatedly_listed(query, &lists, work).await
    }

    /// Does what may be done again where it is not known how it ended.
    async fn repeatedly<T>(&self, query: &Query<'_>, work: impl AsyncFn(&mut Session, u64) -> Result<T, StatementFailure>) -> Result<T> {
        self.repeatedly_listed(query, &Lists::of(&*self.clock, &self.lists), work).await
    }

    async fn repeatedly_listed<T>(
        &self,
        query: &Query<'_>,
        lists: &Lists<'_>,
        work: impl AsyncFn(&mut Session, u64) -> Result<T, StatementFailure>,
    ) -> Result<T> {
        let phase = Cell::new(Phase::Waiting);
        let query = Query { access: Access::Read, ..query.clone() };
        let attempt = async || self.attempt_listed(&query, &phase, lists, &work).await;
        let attempts = self.retry.run(&query, Effect { reads: true, returns: true }, attempt);
        within(&*self.clock, query.deadline_ms, attempts).await.unwrap_or_else(|| Err(self.too_late(phase.get())))
    }

    /// Does work on a connection, and again where it failed because a list was written for a type that its place does not have any more.
    async fn attempt_listed<T>(
        &self,
        query: &Query<'_>,
        phase: &Cell<Phase>,
        lists: &Lists<'_>,
        work: impl AsyncFn(&mut Session, u64) -> Result<T, StatementFailure>,
    ) -> Result<T, StatementFailure> {
        loop {
            let outcome = self.attempt(query, phase, &work).await;
            if !lists.take_stale() {
                return outcome;
            }
        }
    }

    /// Does work on a connection. It gets the milliseconds that are left.
    async fn attempt<T>(
        &self,
        query: &Query<'_>,
        phase: &Cell<Phase>,
        work: impl AsyncFnOnce(&mut Session, u64) -> Result<T, StatementFailure>,
    ) -> Result<T, StatementFailure> {
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
        session.guard(ReadOnly::of(query, self.read_only));
        phase.set(Phase::Running);
        let left_ms = query.deadline_ms.saturating_sub(self.clock.now_ms());
        if left_ms == 0 {
            return Err(StatementFailure::last(timed_out()));
        }
        let outcome = work(&mut session, left_ms).await;
        match slot {
            Some(slot) if session.is_usable() => slot.keep(session, self.clock.now_ms()),
            _ => session.close().await,
        }
        outcome
    }

    async fn connect(&self, deadline_ms: u64) -> Result<Session, StatementFailure> {
        let until_ms = deadline_ms.min(self.clock.now_ms().saturating_add(self.address.connect_timeout_ms));
        match within(&*self.clock, until_ms, login::connect(&self.address, &*self.dialer, self.tokens.as_deref(), until_ms)).await {
            Some(outcome) => outcome,
            None => Err(StatementFailure::not_executed(self.too_late(Phase::Connecting))),
        }
    }

    fn too_late(&self, phase: Phase) -> Error {
        match phase {
            Phase::Waiting => {
                let max_connections = self.address.max_connections;
                let message = format!("all {max_connections} connections to PostgreSQL were in use until the deadline");
                Error::new(ErrorKind::Busy, message)
            }
            Phase::Connecting => {
                Error::new(ErrorKind::Unavailable, "PostgreSQL did not accept the connection in time").at(&self.address.place())
            }
            Phase::Running => timed_out(),
        }
    }
}

/// Opens a database over the sockets of a host.
///
/// # Errors
/// As [`Postgres::open`]; and for an adapter that names certificates to trust, where the host trusts its own list only.
pub(crate) fn open(
    connection: &Connection,
    sockets: &Sockets,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    tokens: Option<Rc<dyn LoginTokens>>,
) -> Result<Postgres> {
    let postgres = Postgres::open(connection, sockets.lifetime, sockets.dialer.clone(), clock, random, tokens)?;
    check_roots(connection, sockets, &postgres.address.roots)?;
    Ok(postgres)
}

impl Connector for Postgres {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn write_once<'a>(&'a self, query: Query<'a>, record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(async move { self.write_once(&query, record).await })
    }

    #[cfg(feature = "describe")]
    fn describe<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Option<Vec<millrace_core::ports::Column>>>> {
        Box::pin(async move { self.describe(&query).await.map(Some) })
    }

    fn prepare_records(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move {
            let query = &own_query("SELECT 1", deadline_ms);
            self.repeatedly(query, async |session: &mut Session, left_ms| once::prepare(session, query, left_ms).await).await
        })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { self.run(&own_query("SELECT 1", deadline_ms)).await.map(|_| ()) })
    }
}
