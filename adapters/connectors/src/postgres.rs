//! `connector: postgres`: PostgreSQL over TCP, with or without a pooler such as pgbouncer between.
//!
//! In go a statement in PostgreSQL's placeholder style (`$1`, `$2`) and its values; out come rows,
//! or the number of rows that it changed. A call is one statement, and nothing of it is left on the
//! connection: transactions, `SET`, temporary tables, cursors, `LISTEN` and `COPY` are refused.
//!
//! # One round trip
//!
//! A call is one batch of messages that ends with `Sync`: the deadline
//! (`set_config('statement_timeout', …, true)`, which holds for the batch only), then the
//! statement, unnamed. So nothing has to be kept between two calls, which a pooler would not allow;
//! and a statement ends at its deadline on the server, too, whoever waits for it. For a read-only
//! adapter the batch stands between `BEGIN READ ONLY` and `COMMIT`.
//!
//! # Sessions
//!
//! What an adapter's `session` sets goes along with the deadline, in the same message and for the
//! same transaction, and its values are bound. The batch stands between `BEGIN` and `COMMIT` then:
//! a procedure that commits would go on without role and settings, and PostgreSQL refuses that
//! within a transaction block. What a statement could set for longer than the transaction, or in
//! place of the session, is not sent.
//!
//! # Why not tokio-postgres
//!
//! It asks for results in the binary form. That form is different for every type, so a type that a
//! driver does not know (an interval, an address, a range, one of an extension) cannot even be
//! shown; as text, every type can. Messages and SCRAM are those of the same project's crate
//! `postgres-protocol`; the connection is polled together with its query, so no task runs beside
//! it.
//!
//! # Values
//!
//! A number or a truth value has the type that PostgreSQL gives to the same when it is written out
//! in the statement: `integer`, `bigint` or `numeric`, and `boolean`. Everything else is what a
//! literal in quotes would be: its type comes from its place, and without one it is text. A list
//! becomes an array or a document, whichever the server says that its place takes (module `lists`),
//! `Bytes` a `bytea`. The module `postgres_text` has both directions.
//!
//! # Time
//!
//! What was not executed (no connection, one too many, a deadlock) is sent again up to five times
//! within about three seconds, never past the deadline. A statement that only reads is sent once
//! more where the connection broke under it. A write whose answer got lost is never sent again, and
//! its error says that the outcome is not known. A write with a record is sent again.
//!
//! Protocol: <https://www.postgresql.org/docs/current/protocol.html>.

mod address;
#[cfg(feature = "describe")]
mod describe;
mod lists;
mod login;
mod login_token;
mod message_stream;
mod server_error;
mod session;
mod work;

use std::rc::Rc;

use millrace_catalogue::POSTGRES;
use millrace_core::{
    Result,
    ports::{Clock, Connection, Dialer, LocalFuture, LoginTokens, Query, Random, RecordedWrite},
    value::{Rows, Value},
};

use crate::{
    postgres_text::{RECORDS, check},
    shared::{
        Call, Connections, Progress, ReadOnly, Server, SessionDriver, StatementFailure, StatementNotes, StatementPlace, check_roots,
        connector_over_sessions,
    },
    sockets::{Lifetime, Sockets},
};
pub(crate) use address::PostgresAddress;
use lists::{KnownLists, Lists};
use session::Session;
use work::Work;

/// A PostgreSQL database.
pub struct Postgres {
    address: PostgresAddress,
    read_only: bool,
    dialer: Rc<dyn Dialer>,
    tokens: Option<Rc<dyn LoginTokens>>,
    clock: Rc<dyn Clock>,
    connections: Connections<Session>,
    lists: KnownLists,
}

impl Postgres {
    /// Reads the settings of an adapter; connects to nothing. `tokens` are for one with `aws_iam`.
    ///
    /// # Errors
    /// [`Configuration`](millrace_core::ErrorKind::Configuration) for a connection string that is
    /// none of PostgreSQL's, an unknown option or a wrong value of one, and for `aws_iam` without
    /// `tokens` or beside settings that no token fits.
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
        let server = Server {
            adapter: connection.adapter.clone(),
            name: "PostgreSQL",
            place: Some(address.place()),
            max_connections: address.max_connections,
            shared_connections: 0,
            connect_timeout_ms: address.connect_timeout_ms,
        };
        Ok(Self {
            connections: Connections::new(server, lifetime, clock.clone(), random),
            lists: KnownLists::default(),
            address,
            read_only: connection.read_only,
            dialer,
            tokens,
            clock,
        })
    }

    /// The way to the server is one that nobody else is on, so that a password needs no TLS.
    #[must_use]
    pub fn on_a_private_way(mut self) -> Self {
        self.address.is_private = true;
        self
    }

    /// Does work on a connection, and again where it failed because a list was written for a type
    /// that its place does not have any more. The work gets the milliseconds that are left.
    async fn attempt_listed<T>(
        &self,
        query: &Query<'_>,
        progress: &Progress,
        lists: &Lists<'_>,
        work: impl AsyncFn(&mut Session, u64) -> Result<T, StatementFailure>,
    ) -> Result<T, StatementFailure> {
        loop {
            let work = async |session: &mut Session, left_ms| {
                session.guard(ReadOnly::of(query, self.read_only));
                work(session, left_ms).await
            };
            let connect = async |until_ms| login::connect(&self.address, &*self.dialer, self.tokens.as_deref(), until_ms).await;
            let outcome = self.connections.with_one(query, progress, connect, work).await;
            if !lists.take_stale() {
                return outcome;
            }
        }
    }
}

impl SessionDriver for Postgres {
    const NAME: &'static str = POSTGRES.name;

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn check(&self, text: &str, _values: &[Value], query: &Query<'_>, _place: StatementPlace) -> Result<StatementNotes> {
        check(POSTGRES.name, text, !query.session.is_empty())?;
        Ok(StatementNotes::default())
    }

    async fn attempt(&self, call: Call<'_>) -> Result<RecordedWrite> {
        let lists = Lists::of(&*self.clock, &self.lists);
        let work = async |session: &mut Session, _| {
            let mut work = Work { session, lists: &lists, clock: &self.clock, is_read_only: call.is_read_only };
            call.on(&mut work, &RECORDS).await
        };
        let attempt = async |progress: &Progress| self.attempt_listed(&call.query, progress, &lists, &work).await;
        self.connections.run(&call.query, call.effect(), attempt).await
    }

    #[cfg(feature = "describe")]
    async fn describe_columns(&self, query: &Query<'_>) -> Result<Option<Vec<millrace_core::ports::Column>>> {
        self.describe(query).await.map(Some)
    }
}

connector_over_sessions!(Postgres);

/// Opens a database over the sockets of a host.
///
/// # Errors
/// As [`Postgres::open`]; and for an adapter that names certificates to trust, where the host
/// trusts its own list only.
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
