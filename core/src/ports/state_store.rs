use alloc::{boxed::Box, string::String, vec::Vec};
use core::future::ready;

use super::LocalFuture;
use crate::Result;

/// Counters and records that calls agree by: rate limits, idempotency. Unlike a
/// [`KvCache`](super::KvCache), it never forgets what is still to be kept: where it cannot keep
/// something, it says so by an error.
///
/// A counter and a record never have the same key; who uses the store sees to that by a prefix.
///
/// An *owner* is whoever had a counter or a record made: what tells a caller from others. A store
/// that is bounded gives each owner a share, so that nobody fills it for others; one that is not
/// ignores owners.
pub trait StateStore {
    /// Adds to a counter, in one step that nobody else can come between, unless its total would be
    /// above `most`: then nothing is added. A counter that is absent, or whose time is over, begins
    /// at 0 and lives for `ttl_s` seconds from its first addition. By 0, it reads.
    ///
    /// A store that lost the connection may send an addition twice: a total can be too high, never
    /// too low.
    ///
    /// # Errors
    /// Whatever the store reports, or [`Busy`](crate::ErrorKind::Busy) where the owner's share of
    /// it is full.
    fn add<'a>(&'a self, key: &'a str, owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>>;

    /// Keeps a record where there is none, in one step that nobody else can come between. `None`:
    /// it is kept; `Some`: the record that is there. A record that tells its writer from every
    /// other can be recognised where a store that lost the connection sent it twice.
    ///
    /// What was kept outlives the process that asked, wherever the store outlives it, and the
    /// machine's power where the store has a disk.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn put_if_absent<'a>(&'a self, key: &'a str, owner: &'a [u8], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<Option<Vec<u8>>>>;

    /// The record, unless it is absent or its time is over.
    ///
    /// # Errors
    /// Whatever the store reports.
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>>;

    /// Keeps a record in place of the one that may be there. One that is no longer than the other
    /// always fits.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>>;

    /// The records of several keys, in their order, in one exchange where the store can. The keys
    /// are alike up to their second `:`.
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

    /// Keeps the same record under several keys, likewise. It is not sent a second time where the
    /// connection is lost: a record that was replaced since does not come back.
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

    /// Asks the platform's own limiter whether a call is within `max` in `window_s` seconds.
    /// `None`, the default: the platform has none for this rate; count by [`add`](Self::add).
    ///
    /// # Errors
    /// Whatever the platform reports.
    fn rate<'a>(&'a self, _key: &'a str, _max: u32, _window_s: u32) -> LocalFuture<'a, Result<Option<bool>>> {
        Box::pin(ready(Ok(None)))
    }

    /// What tells the process of this isolate from every other that ever used the store; `None`,
    /// the default, where the store cannot tell later whether a process still runs.
    ///
    /// # Errors
    /// Whatever the store reports.
    fn holder(&self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Whether the process with this name may still run. `false`: it has ended, however it did.
    fn may_run(&self, _holder: &str) -> bool {
        true
    }

    /// Who agrees by this store on what is asked with each look into a cache. A store may say less
    /// than is true of it where asking it would cost more than a cached result saves.
    fn exactness(&self) -> Exactness;
}

/// Places that calls on all isolates of a machine take while they run, and queues for them. A place
/// of a process that has ended is free.
pub trait Places {
    /// Takes one of the `max` places of a gate, or a turn in its queue, which may have `queue`
    /// turns. `until_ms`, in milliseconds since the Unix epoch, is when the place or the turn is
    /// over, whatever becomes of it.
    ///
    /// # Errors
    /// Whatever the store reports.
    fn enter<'a>(&'a self, gate: &'a str, max: u32, queue: u32, until_ms: u64) -> LocalFuture<'a, Result<Entered>>;

    /// Looks whether it is a turn's turn: takes the place then.
    ///
    /// # Errors
    /// Whatever the store reports.
    fn advance<'a>(&'a self, gate: &'a str, max: u32, turn: i64) -> LocalFuture<'a, Result<Entered>>;

    /// Gives a place or a turn back.
    fn leave(&self, turn: i64);
}

/// What became of asking for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// It is taken. The number gives it back.
    Taken(i64),
    /// The call waits.
    Waits {
        /// Gives the turn back.
        turn: i64,
        /// How many come before it.
        ahead: u32,
    },
    /// The queue is full, or the turn is over.
    Full,
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
