//! The cache: the isolate's memory, and Workers KV behind it.
//!
//! KV is one cache for all isolates of all places; it keeps an entry for 60 seconds at least, and other places see a change
//! within 60 seconds. So an entry of less than 60 seconds stays in the isolate's memory, where every entry goes, too. KV that is down is a
//! miss; one that is slow costs a call a second, and is left alone for ten.

use std::{cell::Cell, pin::pin, rc::Rc};

use futures_util::future::{Either, select};
use millrace_connectors::memory_cache::MemoryCache;
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, KvCache, LocalFuture},
};
use worker::{Env, kv::KvStore};

/// The binding of the KV namespace. Without it, the cache is the isolate's memory.
const BINDING: &str = "MILLRACE_CACHE";
/// The least time that KV keeps an entry, in seconds.
const LEAST_TTL_S: u32 = 60;
/// How long KV is waited for, in milliseconds.
const PATIENCE_MS: u64 = 1000;
/// How long KV is left alone after it gave no answer, in milliseconds.
const REST_MS: u64 = 10_000;
/// What an isolate keeps in memory, in bytes; it has 128 MB for everything.
const CAPACITY_BYTES: u64 = 8 << 20;
/// Keys of KV are shared with whatever else uses the namespace, and have at most 512 bytes.
const PREFIX: &str = "millrace:";

/// Memory first, then KV.
pub(crate) struct WorkerCache {
    memory: MemoryCache,
    kv: Option<KvStore>,
    /// Until when KV is left alone.
    rests_until_ms: Cell<u64>,
    clock: Rc<dyn Clock>,
}

impl WorkerCache {
    pub(crate) fn new(env: &Env, clock: Rc<dyn Clock>) -> Self {
        let memory = MemoryCache::new(CAPACITY_BYTES, clock.clone());
        Self { memory, kv: env.kv(BINDING).ok(), rests_until_ms: Cell::new(0), clock }
    }

    /// KV, unless there is none or it rests.
    fn kv(&self) -> Option<&KvStore> {
        self.kv.as_ref().filter(|_| self.clock.now_ms() >= self.rests_until_ms.get())
    }

    async fn patiently<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T>
    where
        worker::Error: From<E>,
    {
        match select(pin!(work), self.clock.sleep(PATIENCE_MS)).await {
            Either::Left((Ok(value), _)) => Ok(value),
            Either::Left((Err(error), _)) => {
                let source = worker::Error::from(error).to_string();
                Err(Error::new(ErrorKind::Unavailable, format!("the KV namespace `{BINDING}` does not work")).with_source(source))
            }
            Either::Right(_) => {
                self.rests_until_ms.set(self.clock.now_ms().saturating_add(REST_MS));
                let message = format!("the KV namespace `{BINDING}` gave no answer within {PATIENCE_MS} ms");
                Err(Error::new(ErrorKind::TimedOut, message))
            }
        }
    }
}

impl KvCache for WorkerCache {
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            if let Some(value) = self.memory.get(key).await? {
                return Ok(Some(value));
            }
            let Some(kv) = self.kv() else { return Ok(None) };
            let Some(entry) = self.patiently(kv.get(&format!("{PREFIX}{key}")).bytes()).await? else { return Ok(None) };
            let Some((expires_ms, value)) = entry.split_first_chunk::<8>() else { return Ok(None) };
            let left_s = u64::from_le_bytes(*expires_ms).saturating_sub(self.clock.now_ms()) / 1000;
            if left_s == 0 {
                return Ok(None);
            }
            self.memory.put(key, value.to_vec(), u32::try_from(left_s).unwrap_or(u32::MAX)).await?;
            Ok(Some(value.to_vec()))
        })
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let shared = self.kv().filter(|_| ttl_s >= LEAST_TTL_S);
            let Some(kv) = shared else { return self.memory.put(key, value, ttl_s).await };
            let expires_ms = self.clock.now_ms().saturating_add(u64::from(ttl_s) * 1000);
            let mut entry = expires_ms.to_le_bytes().to_vec();
            entry.extend_from_slice(&value);
            self.memory.put(key, value, ttl_s).await?;
            self.patiently(async { kv.put_bytes(&format!("{PREFIX}{key}"), &entry)?.expiration_ttl(u64::from(ttl_s)).execute().await })
                .await
        })
    }
}
