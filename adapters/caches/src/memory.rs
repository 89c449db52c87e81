//! The cache of an isolate: byte strings in memory, bounded in bytes.

use std::{cell::RefCell, rc::Rc};

use millrace_core::{
    Result,
    ports::{Clock, KvCache, LocalFuture},
};
use quick_cache::{Weighter, unsync::Cache};

/// How many bytes one isolate keeps at the most, unless it is told otherwise.
pub const DEFAULT_CAPACITY_BYTES: u64 = 16 << 20;

/// What an entry costs beside its key and value, roughly.
const ENTRY_OVERHEAD: u64 = 96;

/// A cache that forgets what is little used when it is full, and everything when its time is over.
///
/// It belongs to one isolate: another isolate of the same process does not see what is in it.
pub struct MemoryCache {
    entries: RefCell<Cache<String, Entry, Bytes>>,
    clock: Rc<dyn Clock>,
}

#[derive(Clone)]
struct Entry {
    value: Vec<u8>,
    expires_ms: u64,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<String, Entry> for Bytes {
    fn weight(&self, key: &String, entry: &Entry) -> u64 {
        ENTRY_OVERHEAD + key.len() as u64 + entry.value.len() as u64
    }
}

impl MemoryCache {
    /// An empty cache that keeps at most `capacity_bytes`, keys and bookkeeping included. Takes
    /// memory only as it fills.
    #[must_use]
    pub fn new(capacity_bytes: u64, clock: Rc<dyn Clock>) -> Self {
        Self { entries: RefCell::new(Cache::with_weighter(0, capacity_bytes, Bytes)), clock }
    }
}

impl KvCache for MemoryCache {
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        let mut entries = self.entries.borrow_mut();
        let now_ms = self.clock.now_ms();
        let value = match entries.get(key) {
            Some(entry) if now_ms < entry.expires_ms => Some(entry.value.clone()),
            Some(_) => {
                entries.remove(key);
                None
            }
            None => None,
        };
        Box::pin(std::future::ready(Ok(value)))
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        let expires_ms = self.clock.now_ms().saturating_add(u64::from(ttl_s) * 1000);
        self.entries.borrow_mut().insert(key.to_owned(), Entry { value, expires_ms });
        Box::pin(std::future::ready(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::FutureExt as _;

    use super::*;

    struct FixedClock(Cell<u64>);

    impl Clock for FixedClock {
        fn now_ms(&self) -> u64 {
            self.0.get()
        }

        fn sleep(&self, _duration_ms: u64) -> LocalFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    fn get(cache: &MemoryCache, key: &str) -> Option<Vec<u8>> {
        cache.get(key).now_or_never().unwrap().unwrap()
    }

    fn put(cache: &MemoryCache, key: &str, value: &[u8], ttl_s: u32) {
        cache.put(key, value.to_vec(), ttl_s).now_or_never().unwrap().unwrap();
    }

    #[test]
    fn a_value_lives_for_its_time() {
        let clock = Rc::new(FixedClock(Cell::new(1000)));
        let cache = MemoryCache::new(1 << 20, clock.clone());
        put(&cache, "k", b"v", 2);
        assert_eq!(get(&cache, "k").as_deref(), Some(&b"v"[..]));
        assert_eq!(get(&cache, "other"), None);
        clock.0.set(2999);
        assert!(get(&cache, "k").is_some());
        clock.0.set(3000);
        assert_eq!(get(&cache, "k"), None);
        put(&cache, "k", b"w", 1);
        assert_eq!(get(&cache, "k").as_deref(), Some(&b"w"[..]));
    }

    #[test]
    fn it_stays_within_its_bytes() {
        let cache = MemoryCache::new(100_000, Rc::new(FixedClock(Cell::new(0))));
        for number in 0..1000 {
            put(&cache, &format!("key {number}"), &[7; 1000], 60);
        }
        let kept = (0..1000).filter(|number| get(&cache, &format!("key {number}")).is_some()).count();
        assert!((50..=100).contains(&kept), "{kept} entries of 1 kB in 100 kB");
        put(&cache, "too big", &[7; 200_000], 60);
        assert_eq!(get(&cache, "too big"), None);
    }
}
