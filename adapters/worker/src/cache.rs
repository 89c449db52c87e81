//! The cache: the isolate's memory, and Workers KV behind it.
//!
//! KV is one cache for all isolates of all places; it keeps an entry for 60 seconds at least, and
//! other places see a change within 60 seconds. So an entry of less than 60 seconds stays in the
//! isolate's memory, where every entry goes, too.

use std::rc::Rc;

use millrace_caches::{memory::MemoryCache, tiered::TieredCache};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, KvCache, LocalFuture},
};
use worker::{Env, kv::KvStore};

/// The binding of the KV namespace. Without it, the cache is the isolate's memory.
const BINDING: &str = "MILLRACE_CACHE";
/// The least time that KV keeps an entry, in seconds.
const LEAST_TTL_S: u32 = 60;
/// What an isolate keeps in memory, in bytes; it has 128 MB for everything.
const CAPACITY_BYTES: u64 = 8 << 20;
/// Keys of KV are shared with whatever else uses the namespace, and have at most 512 bytes.
const PREFIX: &str = "millrace:";

/// Memory first, then KV.
pub(crate) fn open(env: &Env, clock: Rc<dyn Clock>) -> Rc<dyn KvCache> {
    let memory = MemoryCache::new(CAPACITY_BYTES, clock.clone());
    match namespace(env) {
        Some(kv) => Rc::new(TieredCache::new(memory, Rc::new(Kv(kv)), format!("the KV namespace `{BINDING}`"), clock)),
        None => Rc::new(memory),
    }
}

/// The KV namespace, where there is one.
pub(crate) fn namespace(env: &Env) -> Option<KvStore> {
    env.kv(BINDING).ok()
}

/// A key as KV has it.
pub(crate) fn key(key: &str) -> String {
    format!("{PREFIX}{key}")
}

/// A namespace of KV.
struct Kv(KvStore);

impl KvCache for Kv {
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move { self.0.get(&self::key(key)).bytes().await.map_err(broken) })
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if ttl_s < LEAST_TTL_S {
                return Ok(());
            }
            let put = self.0.put_bytes(&self::key(key), &value).map_err(broken)?;
            put.expiration_ttl(u64::from(ttl_s)).execute().await.map_err(broken)
        })
    }
}

pub(crate) fn broken(error: impl Into<worker::Error>) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the KV namespace `{BINDING}` does not work")).with_source(error.into().to_string())
}
