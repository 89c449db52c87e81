//! A cache, and counters and records, in an Amazon DynamoDB table, for hosts whose memory does not
//! last: Lambda, and several machines behind one address.
//!
//! In goes a key and a value, out comes the value while its time is not over. One call is one
//! signed HTTP request, `GetItem` or `PutItem`; nothing is sent twice. Reads of the cache are
//! eventually consistent, which costs half, and is what a cache can live with.
//!
//! # The table
//!
//! | attribute | type | |
//! |---|---|---|
//! | `id` | S | partition key, no sort key: `millrace:` and the key |
//! | `value` | B | the value |
//! | `expires_at` | N | when its time is over, in seconds since the Unix epoch: the table's attribute for time to live |
//!
//! DynamoDB deletes late, up to days; so the time is looked at when an item is read. It is kept in
//! whole seconds, rounded down.
//!
//! # What it refuses
//!
//! A value that makes the item larger than DynamoDB's 400 KB is not stored, and a line at level
//! `debug` says so. Credentials come from variables only: no profile files, no container or
//! instance metadata.
//!
//! Protocol: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html>.

mod api;
mod dynamodb_error;
mod settings;
mod state;

use std::rc::Rc;

use millrace_core::{
    Error, Json, Result,
    ports::{Clock, HttpClient, HttpResponse, KvCache, LocalFuture},
};

pub use settings::DynamoDbSettings;

/// A table as a cache, and as a store of counters and records.
pub struct DynamoDbStore {
    settings: DynamoDbSettings,
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
}

impl DynamoDbStore {
    /// Makes a cache; sends nothing.
    #[must_use]
    pub fn new(settings: DynamoDbSettings, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>) -> Self {
        Self { settings, http, clock }
    }

    /// Sends a request; gives the answer, whatever it is.
    async fn exchange(&self, operation: &str, body: &Json) -> Result<HttpResponse> {
        self.http.send(api::request(&self.settings, operation, body, self.clock.now_ms())?).await
    }

    async fn send(&self, operation: &str, body: &Json) -> Result<HttpResponse> {
        let response = self.exchange(operation, body).await?;
        if response.status == 200 { Ok(response) } else { Err(self.refused(&response)) }
    }

    /// The error of an answer that is not a success.
    fn refused(&self, response: &HttpResponse) -> Error {
        dynamodb_error::of(&self.settings, response)
    }
}

impl KvCache for DynamoDbStore {
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            let response = self.send("GetItem", &api::get_item(&self.settings.table, key)).await?;
            let Some((value, expires_s)) = api::item(&self.settings.table, &response.body)? else { return Ok(None) };
            Ok((self.clock.now_ms() < expires_s.saturating_mul(1000)).then_some(value))
        })
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let bytes = api::item_bytes(key, &value);
            if bytes > api::LARGEST_ITEM_BYTES {
                tracing::debug!(
                    bytes,
                    limit = api::LARGEST_ITEM_BYTES,
                    "a result is too large for an item of DynamoDB and is not stored there"
                );
                return Ok(());
            }
            let expires_s = (self.clock.now_ms() / 1000).saturating_add(u64::from(ttl_s));
            self.send("PutItem", &api::put_item(&self.settings.table, key, &value, expires_s)).await.map(|_| ())
        })
    }
}
