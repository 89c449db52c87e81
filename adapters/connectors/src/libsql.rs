//! `connector: libsql`: a libSQL server, Turso among them, over HTTP.
//!
//! In go a statement in SQLite's placeholder style (`?1`, `?2`) and its values; out come rows, or
//! the number of rows that it changed. One request holds one statement and closes its stream, so
//! nothing is left on the server between two calls. A query is exactly one statement, and as in
//! connector `sqlite`, `ATTACH`, transactions, temporary objects and every `PRAGMA` that is not a
//! mere question are refused, before anything is sent.
//!
//! # Address
//!
//! `libsql://host` and `https://host` use TLS; `http://host:port` and `libsql://host:port?tls=0` do
//! not. The token is option `auth_token` (also written `authToken` or `jwt`), or `?authToken=` of
//! the connection string; it travels in a header only.
//!
//! The request goes to `/v3/pipeline`, and to `/v2/pipeline` of a server that answers 404; the
//! isolate remembers which.
//!
//! # Values
//!
//! As in connector `sqlite`. Integers are exact. An infinity has no form in the protocol: going in
//! it is refused, coming out it is `NULL`. Text that is not UTF-8 makes the server fail.
//!
//! # Time
//!
//! What was not executed (no connection, a locked database, a server that says that it could not
//! open its database) is sent again up to five times within about three seconds, never past the
//! deadline. A statement that only reads is sent once more after a broken answer or a status such
//! as 503, which a gateway may say of a request that was carried out. A write whose answer got lost
//! is never sent again, and its error says that the outcome is not known.
//!
//! # Limits
//!
//! The whole answer is read before its rows are counted. A write with `RETURNING` whose rows are
//! too many has taken effect.
//!
//! Protocol: <https://github.com/tursodatabase/libsql/blob/main/docs/HRANA_3_SPEC.md>.

mod address;
#[cfg(feature = "describe")]
mod describe;
mod hrana;
mod hrana_error;
mod records;
mod transaction;

use std::{cell::Cell, rc::Rc};

use millrace_catalogue::LIBSQL;
use millrace_core::{
    Result,
    ports::{
        CallRecord, Clock, Command, Connection, Connector, HttpClient, HttpRequest, HttpResponse, LocalFuture, Query, Random, RecordedWrite,
    },
    value::Rows,
};

use crate::{
    shared::{Retry, StatementFailure, only_reads, own_query, within_limits},
    sqlite_text::check,
};
use address::LibsqlAddress;
use hrana::Version;

/// A database on a libSQL server.
pub struct Libsql {
    address: LibsqlAddress,
    read_only: bool,
    http: Rc<dyn HttpClient>,
    retry: Retry,
    version: Cell<Version>,
}

impl Libsql {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](millrace_core::ErrorKind::Configuration) for a connection string that is
    /// no address of a server, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        Ok(Self {
            address: LibsqlAddress::parse(connection.connection_string.expose().trim(), &connection.options)?,
            read_only: connection.read_only,
            http,
            retry: Retry::new(clock, random),
            version: Cell::new(Version::V3),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        if let Command::Transaction(steps) = query.command {
            return self.transact(query, steps).await;
        }
        let effect = check(query.statement(LIBSQL.name)?.0, LIBSQL.name)?;
        if self.read_only {
            only_reads(query, effect)?;
        }
        let rows = self.retry.run(query, effect, async || self.attempt(query).await).await?;
        within_limits(rows, query, effect)
    }

    async fn attempt(&self, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let prepare = |version| hrana::prepare(&self.address.base, self.address.token.as_ref(), version, query);
        let (text, _) = query.statement(LIBSQL.name).map_err(StatementFailure::last)?;
        hrana::parse(&self.request(prepare).await?, text)
    }

    /// Sends a request in the version of the protocol that the server speaks.
    async fn request(&self, prepare: impl Fn(Version) -> Result<HttpRequest>) -> Result<HttpResponse, StatementFailure> {
        let version = self.version.get();
        let response = self.send(prepare(version)).await?;
        if response.status != 404 || version == Version::V2 {
            return Ok(response);
        }
        // A server of the older protocol, which executed nothing.
        let older = self.send(prepare(Version::V2)).await?;
        if older.status != 404 {
            self.version.set(Version::V2);
        }
        Ok(older)
    }

    async fn send(&self, request: Result<HttpRequest>) -> Result<HttpResponse, StatementFailure> {
        self.http.send(request.map_err(StatementFailure::last)?).await.map_err(StatementFailure::of_client)
    }
}

impl Connector for Libsql {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn write_once<'a>(&'a self, query: Query<'a>, record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(async move { self.write_recorded(&query, record).await })
    }

    #[cfg(feature = "describe")]
    fn describe<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Option<Vec<millrace_core::ports::Column>>>> {
        Box::pin(async move { self.describe(&query).await.map(Some) })
    }

    fn prepare_records(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(self.make_records(deadline_ms))
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        let query = own_query("SELECT 1", deadline_ms);
        Box::pin(async move { self.run(&query).await.map(|_| ()) })
    }
}
