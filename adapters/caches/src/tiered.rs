//! Two caches as one: the isolate's memory in front of a store that outlives it.
//!
//! Everything goes to both. A value is kept with the moment at which its time is over, so what the
//! memory takes over from the store ends with the store's copy: nobody sees a result that is older
//! than its `ttl`.
//!
//! A store that is slow or down never holds up a call for long: after a second it counts as failed,
//! and after a failure it is left alone for [`REST_MS`], during which the memory serves. So a dead
//! store costs one call a second every five, not each call.

use std::{cell::Cell, rc::Rc};

use futures_util::future::{Either, select};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, KvCache, LocalFuture},
};

use crate::memory::MemoryCache;

/// How long a store is waited for, in milliseconds.
pub const PATIENCE_MS: u64 = 1000;
/// How long a store that failed is left alone, in milliseconds.
pub const REST_MS: u64 = 5000;
/// In front of every value in the store: when its time is over, in milliseconds since the Unix
/// epoch, least byte first.
pub const STAMP_BYTES: usize = 8;

/// Memory first, then a store.
pub struct TieredCache {
    memory: MemoryCache,
    store: Rc<dyn KvCache>,
    /// What the store is called in messages: ``the DynamoDB table `x` ``.
    name: String,
    clock: Rc<dyn Clock>,
    rests_until_ms: Cell<u64>,
}

impl TieredCache {
    /// `store` must keep what it is given byte by byte; `name` is what messages call it and holds
    /// no secret.
    #[must_use]
    pub fn new(memory: MemoryCache, store: Rc<dyn KvCache>, name: String, clock: Rc<dyn Clock>) -> Self {
        Self { memory, store, name, clock, rests_until_ms: Cell::new(0) }
    }

    /// Asks the store. `None` where it rests.
    async fn ask<'a, T>(&'a self, question: impl FnOnce() -> LocalFuture<'a, Result<T>>) -> Result<Option<T>> {
        if self.clock.now_ms() < self.rests_until_ms.get() {
            return Ok(None);
        }
        let error = match select(question(), self.clock.sleep(PATIENCE_MS)).await {
            Either::Left((Ok(value), _)) => return Ok(Some(value)),
            Either::Left((Err(error), _)) => error,
            Either::Right(_) => Error::new(ErrorKind::TimedOut, format!("{} did not answer within {PATIENCE_MS} ms", self.name)),
        };
        self.rests_until_ms.set(self.clock.now_ms().saturating_add(REST_MS));
        Err(error)
    }
}

impl KvCache for TieredCache {
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            if let Some(value) = self.memory.get(key).await? {
                return Ok(Some(value));
            }
            let Some(entry) = self.ask(|| self.store.get(key)).await?.flatten() else { return Ok(None) };
            let Some((expires_ms, value)) = entry.split_first_chunk::<STAMP_BYTES>() else {
                let message = format!("{} contains a value that Millrace has not written", self.name);
                return Err(Error::new(ErrorKind::Protocol, message));
            };
            let left_ms = u64::from_le_bytes(*expires_ms).saturating_sub(self.clock.now_ms());
            if left_ms == 0 {
                return Ok(None);
            }
            // Rounded down: the copy may end earlier, never later.
            if let Ok(left_s @ 1..) = u32::try_from(left_ms / 1000) {
                self.memory.put(key, value.to_vec(), left_s).await?;
            }
            Ok(Some(value.to_vec()))
        })
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let expires_ms = self.clock.now_ms().saturating_add(u64::from(ttl_s) * 1000);
            let mut entry = Vec::with_capacity(STAMP_BYTES + value.len());
            entry.extend_from_slice(&expires_ms.to_le_bytes());
            entry.extend_from_slice(&value);
            self.memory.put(key, value, ttl_s).await?;
            self.ask(|| self.store.put(key, entry, ttl_s)).await.map(|_| ())
        })
    }
}

#[cfg(test)]
mod tests;
