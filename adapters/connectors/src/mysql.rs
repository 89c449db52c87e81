//! `connector: mysql`: MySQL, MariaDB and what speaks their protocol, over TCP.
//!
//! In go a statement with `?` for its values, and the values; out come rows, or the number of rows
//! that it found to change. A call is one statement, and nothing of it is left on the connection:
//! transactions, `SET`, temporary tables, locks and `LOAD` are refused; after a procedure, a user's
//! variable or `GET_LOCK`, the connection is closed.
//!
//! # Prepared statements
//!
//! A value never is text: every statement of an app is prepared, and its values are sent in the
//! binary form. The most recent statements stay prepared on a connection, so that a call is one
//! round trip.
//!
//! # What holds for every statement
//!
//! After the login, the session gets the character set `utf8mb4`, the time zone UTC, autocommit and
//! one `sql_mode`, so that a statement means the same on every server: what a quote is, the
//! statement compiler has decided before. Several statements in one are off.
//!
//! # Time
//!
//! The server knows the deadline, rounded up to a second: `max_statement_time` of MariaDB,
//! `max_execution_time` of MySQL, which is for `SELECT` only, and how long it waits for a lock.
//! Whoever stops waiting for a statement has it ended: module `kill`.
//!
//! What was not executed (no connection, one too many, a deadlock) is sent again up to five times
//! within about three seconds, never past the deadline. A statement that only reads is sent once
//! more where the connection broke under it. A write whose answer got lost is never sent again, and
//! its error says that the outcome is not known. A write with a record is sent again.
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

use std::rc::Rc;

use millrace_catalogue::MYSQL;
use millrace_core::{
    Result,
    ports::{Clock, Connection, Dialer, LocalFuture, Query, Random, RecordedWrite, WaitUntil},
    value::{Rows, Value},
};

use crate::{
    mysql_text::{RECORDS, check_in},
    shared::{
        Call, Connections, Progress, ReadOnly, Server, SessionDriver, StatementFailure, StatementNotes, StatementPlace, check_roots,
        connector_over_sessions,
    },
    sockets::{Lifetime, Sockets},
};
pub(crate) use address::MysqlAddress;
use kill::{Killer, Watched};
use session::Session;

/// What a server's limit is rounded up to, in milliseconds: it is told once for calls of the same
/// adapter, and not before each.
const LIMIT_STEP_MS: u64 = 1000;

/// A MySQL database.
pub struct Mysql {
    address: Rc<MysqlAddress>,
    read_only: bool,
    dialer: Rc<dyn Dialer>,
    connections: Connections<Session>,
    killer: Killer,
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
    /// [`Configuration`](millrace_core::ErrorKind::Configuration) for a connection string that is
    /// none of MySQL's, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, ports: MysqlPorts) -> Result<Self> {
        let address = MysqlAddress::parse(connection.connection_string.expose().trim(), &connection.options)?;
        let MysqlPorts { dialer, lifetime, clock, random, wait_until } = ports;
        let address = Rc::new(address);
        let server = Server {
            adapter: connection.adapter.clone(),
            name: "MySQL",
            place: Some(address.place()),
            max_connections: address.max_connections,
            shared_connections: 0,
            connect_timeout_ms: address.connect_timeout_ms,
        };
        Ok(Self {
            connections: Connections::new(server, lifetime, clock.clone(), random),
            killer: Killer { address: address.clone(), dialer: dialer.clone(), clock, wait_until },
            address,
            read_only: connection.read_only,
            dialer,
        })
    }

    async fn connect(&self, until_ms: u64) -> Result<Session, StatementFailure> {
        login::connect(&self.address, &*self.dialer, ReadOnly::of_adapter(self.read_only), until_ms).await
    }
}

impl SessionDriver for Mysql {
    const NAME: &'static str = MYSQL.name;

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn check(&self, text: &str, _values: &[Value], query: &Query<'_>, place: StatementPlace) -> Result<StatementNotes> {
        check_in(MYSQL.name, text, ReadOnly::of(query, self.read_only), query, place)
    }

    async fn attempt(&self, call: Call<'_>) -> Result<RecordedWrite> {
        let query = &call.query;
        let attempt = async |progress: &Progress| {
            let work = async |session: &mut Session, left_ms: u64| {
                session.guard(ReadOnly::of(query, self.read_only), call.notes.leaves_traces);
                // A statement with a record ends at the deadline, so that it is told in time.
                let limit_ms = if call.is_recorded() { left_ms } else { left_ms.next_multiple_of(LIMIT_STEP_MS) };
                call.on(&mut Watched::new(session, &self.killer, &call, limit_ms), &RECORDS).await
            };
            self.connections.with_one(query, progress, async |until_ms| self.connect(until_ms).await, work).await
        };
        self.connections.run(query, call.effect(), attempt).await
    }

    #[cfg(feature = "describe")]
    async fn describe_columns(&self, query: &Query<'_>) -> Result<Option<Vec<millrace_core::ports::Column>>> {
        self.describe(query).await
    }
}

connector_over_sessions!(Mysql);

/// Opens a database over the sockets of a host.
///
/// # Errors
/// As [`Mysql::open`]; and for an adapter that names certificates to trust, where the host trusts
/// its own list only.
pub(crate) fn open(connection: &Connection, sockets: &Sockets, ports: MysqlPorts) -> Result<Mysql> {
    let mysql = Mysql::open(connection, ports)?;
    check_roots(connection, sockets, &mysql.address.roots)?;
    Ok(mysql)
}
