use std::{cell::RefCell, collections::BTreeMap};

use futures_util::FutureExt as _;

use super::*;

/// Time that passes only while somebody sleeps, or where a test says so.
#[derive(Default)]
struct Time(Rc<Cell<u64>>);

impl Clock for Time {
    fn now_ms(&self) -> u64 {
        self.0.get()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        let now_ms = self.0.clone();
        Box::pin(async move { now_ms.set(now_ms.get() + duration_ms) })
    }
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Mood {
    #[default]
    Well,
    Failing,
    Silent,
}

#[derive(Default)]
struct Store {
    entries: RefCell<BTreeMap<String, Vec<u8>>>,
    mood: Cell<Mood>,
    asked: Cell<u32>,
}

impl Store {
    fn answer<T: 'static>(&self, value: T) -> LocalFuture<'_, Result<T>> {
        self.asked.set(self.asked.get() + 1);
        match self.mood.get() {
            Mood::Well => Box::pin(std::future::ready(Ok(value))),
            Mood::Failing => Box::pin(std::future::ready(Err(Error::new(ErrorKind::Unavailable, "the store is down")))),
            Mood::Silent => Box::pin(std::future::pending()),
        }
    }
}

impl KvCache for Store {
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        self.answer(self.entries.borrow().get(key).cloned())
    }

    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, _ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        if self.mood.get() == Mood::Well {
            self.entries.borrow_mut().insert(key.to_owned(), value);
        }
        self.answer(())
    }
}

struct World {
    time: Rc<Time>,
    store: Rc<Store>,
}

impl World {
    fn new() -> Self {
        Self { time: Rc::default(), store: Rc::default() }
    }

    /// An isolate with a memory of its own, and the store that all share.
    fn isolate(&self) -> TieredCache {
        TieredCache::new(MemoryCache::new(1 << 20, self.time.clone()), self.store.clone(), "the store".to_owned(), self.time.clone())
    }
}

fn get(cache: &TieredCache, key: &str) -> Result<Option<Vec<u8>>> {
    cache.get(key).now_or_never().unwrap()
}

fn put(cache: &TieredCache, key: &str, ttl_s: u32) -> Result<()> {
    cache.put(key, b"v".to_vec(), ttl_s).now_or_never().unwrap()
}

#[test]
fn another_isolate_finds_a_value_and_keeps_it_no_longer_than_its_time() {
    let world = World::new();
    put(&world.isolate(), "k", 10).unwrap();
    let second = world.isolate();
    world.time.0.set(world.time.0.get() + 7500);
    let asked = world.store.asked.get();
    assert_eq!(get(&second, "k").unwrap().as_deref(), Some(&b"v"[..]));
    assert_eq!(get(&second, "k").unwrap().as_deref(), Some(&b"v"[..]));
    assert_eq!(world.store.asked.get(), asked + 1, "the second time it is in the memory");
    world.time.0.set(10_000);
    assert_eq!(get(&second, "k").unwrap(), None, "the store still holds it, and its time is over");
    assert_eq!(get(&world.isolate(), "k").unwrap(), None);
}

#[test]
fn a_store_that_fails_is_told_once_and_left_alone_for_a_while() {
    for mood in [Mood::Failing, Mood::Silent] {
        let world = World::new();
        let cache = world.isolate();
        world.store.mood.set(mood);
        let error = put(&cache, "k", 60).unwrap_err();
        let expected = if mood == Mood::Silent { "the store did not answer within 1000 ms" } else { "the store is down" };
        assert_eq!(error.message, expected);
        assert_eq!(get(&cache, "k").unwrap().as_deref(), Some(&b"v"[..]), "the memory serves");
        assert_eq!(get(&cache, "other").unwrap(), None);
        put(&cache, "other", 60).unwrap();
        assert_eq!(world.store.asked.get(), 1, "nobody asks a store that rests");
        world.time.0.set(world.time.0.get() + REST_MS);
        world.store.mood.set(Mood::Well);
        put(&cache, "k", 60).unwrap();
        assert_eq!(get(&world.isolate(), "k").unwrap().as_deref(), Some(&b"v"[..]));
    }
}

#[test]
fn what_others_wrote_is_an_error_and_not_a_value() {
    let world = World::new();
    world.store.entries.borrow_mut().insert("k".to_owned(), b"short".to_vec());
    assert_eq!(get(&world.isolate(), "k").unwrap_err().message, "the store contains a value that Millrace has not written");
}
