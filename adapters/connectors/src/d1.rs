//! `connector: d1`: Cloudflare D1 through its REST API, for hosts that are no Worker.
//!
//! In go a statement in SQLite's placeholder style (`?1`, `?2`) and its values; out come rows, or the number of rows that it
//! changed. A query is exactly one statement, and as in connector `sqlite`, `ATTACH`, transactions, temporary objects and every
//! `PRAGMA` that is not a mere question are refused, before anything is sent.
//!
//! # Address
//!
//! `d1://ACCOUNT_ID/DATABASE_ID`, with the API token in option `api_token`. Option `base_url` names another server than
//! `https://api.cloudflare.com/client/v4`. `d1:BINDING` is for a Worker, which reaches its database without this API.
//!
//! # Values
//!
//! The API takes texts only. So a text goes in as it is, and every other value as text that SQL turns back: a parameter `?2` becomes
//! `json_extract(?2, '$')`, or `unhex(?2)` for bytes. Going in, integers are exact. An infinity is refused, a NaN is `NULL`; `Decimal`,
//! `Timestamp` and a `U64` beyond `i64` are text; `Json` and `Array` are JSON text.
//!
//! Coming out, values are JSON as JavaScript writes it: an integer beyond ±2^53 was rounded by D1 and is refused, with the column's name
//! (select `CAST(id AS TEXT)`); a real without a fraction is an integer; an infinity is `NULL`; text that is not UTF-8 has replacement
//! characters. Bytes come as lists of numbers and are bytes again here. A result without rows has no column names.
//!
//! # Time
//!
//! As in connector [`libsql`](crate::libsql).
//!
//! API: <https://developers.cloudflare.com/api/resources/d1/subresources/database/methods/raw/>.

mod address;
mod failure;
mod wire;

use std::rc::Rc;

use millrace_core::{
    Result,
    app::Access,
    ports::{Clock, Connection, Connector, HttpClient, LocalFuture, Query, Random},
    value::Rows,
};

use crate::remote::{Effect, Failure, Retry, check, only_reads, within_limits};
use address::Address;

/// A D1 database, reached through the REST API.
pub struct D1 {
    address: Address,
    read_only: bool,
    http: Rc<dyn HttpClient>,
    retry: Retry,
}

impl D1 {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](millrace_core::ErrorKind::Configuration) for a connection string that does not name an account and a database, a
    /// missing token, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        Ok(Self {
            address: Address::parse(connection.connection_string.expose().trim(), &connection.options)?,
            read_only: connection.read_only,
            http,
            retry: Retry::new(clock, random),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let effect = check(query.text, "d1")?;
        if self.read_only {
            only_reads(query, effect)?;
        }
        let rows = self.retry.run(query, effect, async || self.attempt(query, effect).await).await?;
        within_limits(rows, query, effect)
    }

    async fn attempt(&self, query: &Query<'_>, effect: Effect) -> Result<Rows, Failure> {
        let request = wire::prepare(&self.address, query).map_err(Failure::last)?;
        let response = self.http.send(request).await.map_err(Failure::of_client)?;
        wire::parse(&response, effect)
    }
}

impl Connector for D1 {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        let query = Query { text: "SELECT 1", params: &[], access: Access::Read, deadline_ms, max_rows: 1, max_bytes: 64 };
        Box::pin(async move { self.run(&query).await.map(|_| ()) })
    }
}
