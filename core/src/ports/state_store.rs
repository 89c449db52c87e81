use alloc::{boxed::Box, string::String, vec::Vec};
use core::future::ready;

use super::LocalFuture;
use crate::Result;

/// Counters and records that calls agree by: rate limits, idempotency. Unlike a [`KvCache`](super::KvCache), it never forgets what is
/// still to be kept: where it cannot keep something, it says so by an error.
///
/// A counter and a record never have the same key; who uses the store sees to that by a prefix.
pub trait StateStore {
    /// Adds to a counter, in one step that nobody else can come between, unless its total would be above `most`: then nothing is added.
    /// A counter that is absent, or whose time is over, begins at 0 and lives for `ttl_s` seconds from its first addition. By 0, it reads.
    ///
    /// A store that lost the connection may send an addition twice: a total can be too high, never too low.
    ///
    /// # Errors
    /// Whatever the store reports, or [`Busy`](crate::ErrorKind::Busy) where it is full.
    fn add<'a>(&'a self, key: &'a str, by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>>;

    /// Keeps a record where there is none, in one step that nobody else can come between. `None`: it is kept; `Some`: the record that is
    /// there. A record that tells its writer from every other can be recognised where a store that lost the connection sent it twice.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn put_if_absent<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<Option<Vec<u8>>>>;

    /// The record, unless it is absent or its time is over.
    ///
    /// # Errors
    /// Whatever the store reports.
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>>;

    /// Keeps a record in place of the one that may be there.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>>;

    /// The records of several keys, in their order, in one exchange where the store can. The keys are alike up to their second `:`.
    ///
    /// # Errors
    /// Whatever the store reports; then none of them is known.
    fn get_all<'a>(&'a self, keys: &'a [String]) -> LocalFuture<'a, Result<Vec<Option<Vec<u8>>>>> {
        Box::pin(async move {
            let mut records = Vec::with_capacity(keys.len());
            for key in keys {
                records.push(self.get(key).await?);
            }
            Ok(records)
        })
    }

    /// Keeps the same record under several keys, likewise. It is not sent a second time where the connection is lost: a record that was
    /// replaced since does not come back.
    ///
    /// # Errors
    /// As [`add`](Self::add); some of the keys may have the record then.
    fn put_all<'a>(&'a self, keys: &'a [String], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            for key in keys {
                self.put(key, value, ttl_s).await?;
            }
            Ok(())
        })
    }

    /// Removes a record or a counter. One that is absent is no error.
    ///
    /// # Errors
    /// Whatever the store reports.
    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>>;

    /// Asks the platform's own limiter whether a call is within `max` in `window_s` seconds. `None`, the default: the platform has none for
    /// this rate; count by [`add`](Self::add).
    ///
    /// # Errors
    /// Whatever the platform reports.
    fn rate<'a>(&'a self, _key: &'a str, _max: u32, _window_s: u32) -> LocalFuture<'a, Result<Option<bool>>> {
        Box::pin(ready(Ok(None)))
    }

    /// Who agrees by this store.
    fn exactness(&self) -> Exactness;
}

/// What became of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Whether it was added.
    pub added: bool,
    /// The counter's total after it.
    pub total: i64,
}

/// Who agrees by a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Everyone who uses it: every step is seen by the next one, on whatever isolate and machine.
    Shared,
    /// Everyone, after a while: steps of several isolates at the same time may not see each other.
    Eventual,
    /// One isolate: others have a store of their own.
    Isolate,
}
