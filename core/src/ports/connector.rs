use alloc::{rc::Rc, string::String, vec::Vec};

use super::LocalFuture;
use crate::{
    Result,
    app::Access,
    secret::Secret,
    value::{Rows, Value},
};

/// What an adapter of the app says about its connection, variables filled in.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The adapter's name, for messages.
    pub adapter: String,
    /// The connector's name: `sqlite`, `postgres`, …
    pub connector: String,
    /// Where to connect, credentials included.
    pub connection_string: Secret<String>,
    /// The connection string with the names of variables in place of their values, `file:{{ env.SHOP_DB }}`: what messages and logs may show.
    pub shown: String,
    /// The connector's own options, as text. `timeout`, `max_rows` and `read_only` are read by the core or the bundler and are
    /// fields of their own.
    pub options: Vec<(String, Secret<String>)>,
    /// Refuse every statement that writes.
    pub read_only: bool,
    /// The SQL that fills a database which does not exist yet.
    pub seed: Option<String>,
}

/// One statement with its values.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// The statement in the connector's placeholder style. Contains no value.
    pub text: &'a str,
    /// The values in the order of the placeholders.
    pub params: &'a [Value],
    /// Whether the statement only reads: only such a statement may be sent twice.
    pub access: Access,
    /// When to give up, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
    /// The most rows to read; one more is [`TooLarge`](crate::ErrorKind::TooLarge).
    pub max_rows: usize,
    /// The most bytes of cells to read; one more is [`TooLarge`](crate::ErrorKind::TooLarge).
    pub max_bytes: usize,
}

/// Opens connections: the map from connector names to drivers of a host.
pub trait Connectors {
    /// Makes a connector for an adapter. Called once per adapter and isolate, at its first use; opening may still be
    /// put off to the first query.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) where the host has no such connector or an option is wrong.
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>>;
}

/// A connection to one database, good for one isolate.
pub trait Connector {
    /// Runs one statement. Values are bound, never written into the text.
    ///
    /// A connection that broke is replaced at the next call. A statement whose outcome is unknown is never sent again unless it
    /// only reads.
    ///
    /// # Errors
    /// Any [`ErrorKind`](crate::ErrorKind); the database's own words are the error's `source`.
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>>;

    /// Checks that the database answers, for `/readyz` and `millrace check --connect`.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>>;
}
