//! `connector: d1`: Cloudflare D1, by its REST API or by a Worker's binding.
//!
//! In go a statement in SQLite's placeholder style (`?1`, `?2`) and its values; out come rows, or
//! the number of rows that it changed. A query is exactly one statement, and as in connector
//! `sqlite`, `ATTACH`, transactions, temporary objects and every `PRAGMA` that is not a mere
//! question are refused, before anything is sent.
//!
//! # Ways
//!
//! A [`Transport`] sends a statement and reads the answer; all the rest is done here, so that both
//! ways judge and answer alike.
//!
//! | connection string | transport |
//! |---|---|
//! | `d1://ACCOUNT_ID/DATABASE_ID`, with the API token in option `api_token` | [`Rest`]; option `base_url` names another server than `https://api.cloudflare.com/client/v4` |
//! | `d1:BINDING` | the Worker's binding, which is that host's |
//!
//! # Values
//!
//! D1 is SQLite behind JSON, and JSON's numbers are doubles. Going in, a number would be bound as
//! `REAL`: `5 / 2` would be `2.5`, and text compared with it would be compared with `'5.0'`. So a
//! text goes in as it is, and every other value as text that SQL turns back: a parameter `?2`
//! becomes `json_extract(?2, '$')`; for bytes it is `unhex(?2)`, where the transport takes none.
//! Going in, integers are exact. An infinity is refused, a NaN is `NULL`; `Decimal`, `Timestamp`
//! and a `U64` beyond `i64` are text; `Json` and `Array` are JSON text. A column that is a bare
//! parameter keeps its name, `?2`.
//!
//! Coming out, values are JSON as JavaScript writes it: an integer beyond ±2^53 was rounded by D1
//! and is refused, with the column's name (select `CAST(id AS TEXT)`); a real without a fraction is
//! an integer; an infinity is `NULL`; text that is not UTF-8 has replacement characters. Bytes come
//! as lists of numbers and are bytes again here. A result without rows may have no column names.
//!
//! # Time
//!
//! As in connector [`libsql`](crate::libsql). The binding cannot stop a statement: at the deadline
//! only the waiting ends.

mod address;
mod batch;
mod database;
#[cfg(feature = "describe")]
mod describe;
mod error_text;
mod reply;
mod rest;
mod statement;

use std::rc::Rc;

use millrace_catalogue as catalogue;
use millrace_core::{
    Result,
    ports::{CallRecord, Clock, Command, Connector, LocalFuture, Query, Random, RecordedWrite},
    value::{Rows, Value},
};

use crate::{
    shared::{
        Effect, OwnStatements as _, Retry, Statement, batch::write_once, kept, only_reads, own_query, records::prepare, within_limits,
    },
    sqlite_text::records::RECORDS,
};
use batch::{Steps, Written};

pub use address::binding;
pub use database::{D1, Transport};
pub use error_text::of_message as failure_of_message;
pub use reply::Reply;
pub use rest::Rest;
pub use statement::{Parameter, Prepared};

impl D1 {
    /// A database behind a transport.
    #[must_use]
    pub fn new(transport: impl Transport + 'static, read_only: bool, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Self {
        Self { transport: Box::new(transport), read_only, retry: Retry::new(clock, random) }
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let written = async |written: &Written<'_>| {
            let effect = self.admit(query, written)?;
            let rows = self.retry.run(query, effect, async || self.attempt(query, written).await).await?;
            within_limits(rows, query, effect)
        };
        self.with_written(query, written).await
    }

    /// Does work with what the author wrote.
    async fn with_written<T>(&self, query: &Query<'_>, work: impl AsyncFnOnce(&Written<'_>) -> Result<T>) -> Result<T> {
        query.without_session(catalogue::D1.name)?;
        let takes_bytes = self.transport.takes_bytes();
        if let Command::Transaction(bound) = query.command {
            let steps = Steps::of(&bound)?;
            return work(&Written::Steps(bound, steps.prepare(&bound, takes_bytes)?)).await;
        }
        let (text, values) = query.statement(catalogue::D1.name)?;
        work(&Written::Statement(Prepared::of(text, values, takes_bytes)?, text)).await
    }

    /// What is to be done, unless it writes and the adapter only reads.
    fn admit(&self, query: &Query<'_>, written: &Written<'_>) -> Result<Effect> {
        let effect = written.effect();
        if self.read_only {
            only_reads(query, effect)?;
        }
        Ok(effect)
    }

    async fn write_once(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        let written = async |written: &Written<'_>| {
            let effect = self.admit(query, written)?;
            let attempt = async || write_once(&mut { self }, &self.retry, query, written, record).await;
            let write = self.retry.run_safe(query, attempt).await?;
            let RecordedWrite::Made(rows) = write else { return Ok(write) };
            if !effect.returns {
                return Ok(RecordedWrite::Made(rows));
            }
            if let Some(kept) = kept(&rows) {
                let values = RECORDS.keep.values(record, &Value::Bytes(kept));
                // The change is made: where this fails, its rows are not known to later calls.
                drop((&mut { self }).run_own(Statement { text: RECORDS.keep.text, values: &values }, query).await);
            }
            within_limits(rows, query, effect).map(RecordedWrite::Made)
        };
        self.with_written(query, written).await
    }

    async fn make_records(&self, deadline_ms: u64) -> Result<()> {
        let query = own_query("SELECT 1", deadline_ms);
        self.retry.run_safe(&query, async || prepare(&mut { self }, &RECORDS, &query).await).await
    }
}

impl Connector for D1 {
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
        Box::pin(self.make_records(deadline_ms))
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        let query = own_query("SELECT 1", deadline_ms);
        Box::pin(async move { self.run(&query).await.map(|_| ()) })
    }
}
