//! Counters and records in the isolate's memory, bounded in bytes.
//!
//! What is still to be kept is never dropped to make room: a store refuses whatever is new where
//! its owner's share is full. What has expired makes room at the next write.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    future::ready,
    rc::Rc,
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Counted, Exactness, LocalFuture, StateStore},
};

use crate::share;

/// How many bytes one isolate keeps at the most, unless it is told otherwise: some 40,000 counters.
pub const DEFAULT_STATE_BYTES: usize = 8 << 20;

/// Counters and records of one isolate: another isolate of the same process does not see them.
pub struct MemoryState {
    entries: RefCell<Entries>,
    clock: Rc<dyn Clock>,
}

struct Entries {
    by_key: BTreeMap<Rc<str>, Entry>,
    by_expiry: BTreeSet<(u64, Rc<str>)>,
    by_owner: BTreeMap<Rc<[u8]>, usize>,
    bytes: usize,
    capacity_bytes: usize,
}

struct Entry {
    content: Content,
    owner: Rc<[u8]>,
    expires_ms: u64,
}

enum Content {
    Counter(i64),
    Record(Vec<u8>),
}

impl MemoryState {
    /// An empty store that keeps at most `capacity_bytes`, keys and bookkeeping included. Takes
    /// memory only as it fills.
    #[must_use]
    pub fn new(capacity_bytes: usize, clock: Rc<dyn Clock>) -> Self {
        let entries = Entries { by_key: BTreeMap::new(), by_expiry: BTreeSet::new(), by_owner: BTreeMap::new(), bytes: 0, capacity_bytes };
        Self { entries: RefCell::new(entries), clock }
    }

    /// Works on the entries that have not expired.
    fn on_live<T: 'static>(&self, work: impl FnOnce(&mut Entries, u64) -> Result<T>) -> LocalFuture<'static, Result<T>> {
        let now_ms = self.clock.now_ms();
        let mut entries = self.entries.borrow_mut();
        entries.expire(now_ms);
        Box::pin(ready(work(&mut entries, now_ms)))
    }
}

impl Entries {
    fn expire(&mut self, now_ms: u64) {
        while let Some((expires_ms, key)) = self.by_expiry.first()
            && *expires_ms <= now_ms
        {
            let key = key.clone();
            self.remove(&key);
        }
    }

    fn remove(&mut self, key: &str) {
        let Some((key, entry)) = self.by_key.remove_entry(key) else { return };
        let cost = cost(&key, &entry.content);
        self.bytes -= cost;
        if let Some(owned) = self.by_owner.get_mut(&entry.owner) {
            *owned -= cost;
            if *owned == 0 {
                self.by_owner.remove(&entry.owner);
            }
        }
        self.by_expiry.remove(&(entry.expires_ms, key));
    }

    /// `owner`: whose it is, where there is none in its place.
    fn insert(&mut self, key: &str, owner: &[u8], content: Content, expires_ms: u64) -> Result<()> {
        let (owner, replaced) = match self.by_key.get(key) {
            Some(there) => (there.owner.clone(), Some(cost(key, &there.content))),
            None => (Rc::from(owner), None),
        };
        let cost = cost(key, &content);
        let before = replaced.unwrap_or(0);
        let owned = self.by_owner.get(&owner).copied().unwrap_or(0) - before + cost;
        let bytes = self.bytes - before + cost;
        let grows = if replaced.is_some() { share::Kind::Answer } else { share::Kind::New };
        if cost > before && !share::fits(grows, owned as u64, bytes as u64, self.capacity_bytes as u64) {
            let message = format!("the caller's share of the isolate's memory for counters and records is full ({owned} bytes)");
            return Err(Error::new(ErrorKind::Busy, message));
        }
        self.remove(key);
        let key: Rc<str> = Rc::from(key);
        self.by_expiry.insert((expires_ms, key.clone()));
        *self.by_owner.entry(owner.clone()).or_default() += cost;
        self.by_key.insert(key, Entry { content, owner, expires_ms });
        self.bytes = bytes;
        Ok(())
    }

    fn record(&self, key: &str) -> Option<Vec<u8>> {
        match self.by_key.get(key) {
            Some(Entry { content: Content::Record(value), .. }) => Some(value.clone()),
            _ => None,
        }
    }
}

fn cost(key: &str, content: &Content) -> usize {
    let value = if let Content::Record(value) = content { value.len() } else { 0 };
    share::OVERHEAD + key.len() + value
}

fn expiry(now_ms: u64, ttl_s: u32) -> u64 {
    now_ms.saturating_add(u64::from(ttl_s) * 1000)
}

impl StateStore for MemoryState {
    fn add<'a>(&'a self, key: &'a str, owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        self.on_live(|entries, now_ms| {
            let counter = match entries.by_key.get_mut(key) {
                Some(Entry { content: Content::Counter(total), .. }) => Some(total),
                _ => None,
            };
            let before = counter.as_deref().copied().unwrap_or(0);
            let total = before.saturating_add(by);
            if total > most {
                return Ok(Counted { added: false, total: before });
            }
            match counter {
                Some(counter) => *counter = total,
                None if by == 0 => {}
                None => entries.insert(key, owner, Content::Counter(total), expiry(now_ms, ttl_s))?,
            }
            Ok(Counted { added: true, total })
        })
    }

    fn put_if_absent<'a>(&'a self, key: &'a str, owner: &'a [u8], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        self.on_live(|entries, now_ms| match entries.record(key) {
            Some(there) => Ok(Some(there)),
            None => entries.insert(key, owner, Content::Record(value.to_vec()), expiry(now_ms, ttl_s)).map(|()| None),
        })
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        self.on_live(|entries, _| Ok(entries.record(key)))
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        self.on_live(|entries, now_ms| entries.insert(key, &[], Content::Record(value.to_vec()), expiry(now_ms, ttl_s)))
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        self.on_live(|entries, _| {
            entries.remove(key);
            Ok(())
        })
    }

    fn exactness(&self) -> Exactness {
        Exactness::Isolate
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
            Box::pin(ready(()))
        }
    }

    fn now<T>(future: LocalFuture<'_, T>) -> T {
        future.now_or_never().unwrap()
    }

    fn store(bytes: usize) -> (Rc<FixedClock>, MemoryState) {
        let clock = Rc::new(FixedClock(Cell::new(1000)));
        (clock.clone(), MemoryState::new(bytes, clock))
    }

    #[test]
    fn a_counter_stops_at_its_most_and_lives_from_its_first_addition() {
        let (clock, store) = store(1 << 20);
        let add = |by, most| now(store.add("c", b"me", by, most, 10)).map(|counted| (counted.added, counted.total)).unwrap();
        assert_eq!(add(0, 2), (true, 0), "what is absent is 0, and reading makes nothing");
        assert_eq!(store.entries.borrow().by_key.len(), 0);
        assert_eq!([add(1, 2), add(1, 2), add(1, 2), add(0, 2)], [(true, 1), (true, 2), (false, 2), (true, 2)]);
        clock.0.set(10_999);
        assert_eq!([add(-1, 2), add(5, 6)], [(true, 1), (true, 6)]);
        clock.0.set(11_000);
        assert_eq!(add(1, 2), (true, 1), "its time was over, however recent the last addition");
    }

    #[test]
    fn a_record_is_kept_once_replaced_removed_and_forgotten() {
        let (clock, store) = store(1 << 20);
        assert_eq!(now(store.put_if_absent("k", b"me", b"one", 5)).unwrap(), None);
        assert_eq!(now(store.put_if_absent("k", b"me", b"two", 5)).unwrap().as_deref(), Some(&b"one"[..]));
        now(store.put("k", b"three", 2)).unwrap();
        assert_eq!(now(store.get("k")).unwrap().as_deref(), Some(&b"three"[..]));
        clock.0.set(3000);
        assert_eq!(now(store.get("k")).unwrap(), None);
        assert_eq!(now(store.put_if_absent("k", b"me", b"four", 5)).unwrap(), None);
        now(store.remove("k")).unwrap();
        now(store.remove("k")).unwrap();
        assert_eq!(now(store.get("k")).unwrap(), None);
        assert_eq!((store.entries.borrow().bytes, store.entries.borrow().by_owner.len()), (0, 0));
    }

    #[test]
    fn a_full_share_refuses_what_is_new_and_forgets_nothing() {
        let (clock, store) = store(300_000);
        let put = |number: u32| now(store.put_if_absent(&format!("key {number}"), b"me", &[7; 1000], 1 + number % 2));
        let kept = (0..1000).take_while(|number| put(*number).is_ok()).count() as u32;
        assert!((80..=100).contains(&kept), "{kept} records of 1 kB in a third of 300 kB");
        let refused = put(kept).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Busy);
        assert!(refused.message.starts_with("the caller's share of the isolate's memory for counters and records is full"), "{refused}");
        assert!(now(store.add("counter", b"me", 1, 9, 60)).is_ok(), "a counter is small");
        assert_eq!(now(store.put("key 1", &[7; 1001], 1)).unwrap_err().kind, ErrorKind::Busy, "an answer leaves room for what is new");
        assert!(now(store.put_if_absent("other", b"somebody else", &[7; 1000], 1)).is_ok(), "another caller has a share of its own");
        assert!((0..kept).all(|number| now(store.get(&format!("key {number}"))).unwrap().is_some()), "none was dropped");
        now(store.put("key 0", &[8; 1000], 1)).unwrap();
        clock.0.set(2000);
        assert!(put(kept).is_ok(), "what has expired makes room");
        assert!(now(store.get("key 1")).unwrap().is_some(), "and the rest is still there");
        assert_eq!(now(store.add("counter", b"me", 1, 9, 60)).unwrap().total, 2);
    }
}
