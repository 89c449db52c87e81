//! Counters and records: in the Durable Object that is bound as `MILLRACE_STATE`; without it, in
//! the isolate's memory, with what the platform offers besides.
//!
//! | bound | rates | records |
//! |---|---|---|
//! | `MILLRACE_STATE`, a Durable Object | exactly, by all isolates | kept once, by all isolates |
//! | `MILLRACE_RATE_<max>_<seconds>`, a rate limiter | by the isolates of one place, roughly | as below |
//! | `MILLRACE_CACHE`, a KV namespace | by the isolate, and as far as KV has heard of the others | by the isolate, and as far as KV has heard |
//! | nothing | by the isolate | by the isolate |

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use futures_util::future::try_join_all;
use js_sys::{Array, ArrayBuffer, Reflect, Uint8Array, futures::JsFuture};
use millrace_caches::{
    memory_state::{DEFAULT_STATE_BYTES, MemoryState},
    patient_state::PatientState,
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Counted, Exactness, LocalFuture, StateStore},
};
use wasm_bindgen::{JsCast as _, prelude::*};
use worker::{Env, kv::KvStore};

use crate::{cache, glue};

/// The binding of the Durable Object.
const BINDING: &str = "MILLRACE_STATE";
/// The least time that KV keeps a value, in seconds.
const LEAST_TTL_S: u32 = 60;
/// How often KV takes a value under one key, in milliseconds.
const KV_PAUSE_MS: u64 = 1000;
/// Of how many keys an isolate remembers when it told KV.
const MOST_TOLD: usize = 1000;

/// What the Worker has.
pub(crate) fn open(env: &Env, clock: Rc<dyn Clock>) -> Rc<dyn StateStore> {
    let namespace = found(env, BINDING, "idFromName");
    let (store, name): (Rc<dyn StateStore>, _) = match (namespace, cache::namespace(env)) {
        (Some(namespace), _) => (Rc::new(Durable(namespace)), format!("the Durable Object `{BINDING}`")),
        (None, kv) => {
            let name = kv.as_ref().map_or("the isolate's memory", |_| "the KV namespace `MILLRACE_CACHE`").to_owned();
            (
                Rc::new(Nearby {
                    env: env.clone(),
                    memory: MemoryState::new(DEFAULT_STATE_BYTES, clock.clone()),
                    kv: kv.map(|kv| Told::new(kv, clock.clone())),
                }),
                name,
            )
        }
    };
    Rc::new(PatientState::new(store, name, clock))
}

/// A binding that has a function of that name.
fn found(env: &Env, binding: &str, function: &str) -> Option<JsValue> {
    let value = Reflect::get(env, &JsValue::from_str(binding)).ok()?;
    Reflect::get(&value, &JsValue::from_str(function)).is_ok_and(|function| function.is_function()).then_some(value)
}

/// The Durable Object.
struct Durable(JsValue);

impl Durable {
    async fn step(&self, name: &str, key: &str, rest: &[JsValue]) -> Result<JsValue> {
        self.step_at(key, name, &key.into(), rest).await
    }

    /// A step of several keys, which are in one object.
    async fn step_of_all(&self, name: &str, keys: &[String], rest: &[JsValue]) -> Result<JsValue> {
        let all: Array = keys.iter().map(|key| JsValue::from_str(key)).collect();
        self.step_at(keys.first().map_or("", String::as_str), name, &all, rest).await
    }

    async fn step_at(&self, place: &str, name: &str, key: &JsValue, rest: &[JsValue]) -> Result<JsValue> {
        let rest: Array = [key].into_iter().chain(rest).collect();
        JsFuture::from(glue::step(&self.0, name, place, rest)).await.map_err(|thrown| {
            let error = Error::new(ErrorKind::Unavailable, format!("the Durable Object `{BINDING}` does not work"));
            error.with_source(glue::message(&thrown))
        })
    }
}

fn bytes(value: &JsValue) -> Option<Vec<u8>> {
    value.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec)
}

/// A record within a list: what an object sends is an `ArrayBuffer`.
fn buffer(value: &JsValue) -> Result<Vec<u8>> {
    match value.dyn_ref::<ArrayBuffer>() {
        Some(buffer) => Ok(Uint8Array::new(buffer).to_vec()),
        None => bytes(value).ok_or_else(unexpected),
    }
}

fn unexpected() -> Error {
    Error::new(ErrorKind::Protocol, format!("the Durable Object `{BINDING}` is not the class `MillraceState` of `entry.mjs`"))
}

impl StateStore for Durable {
    fn add<'a>(&'a self, key: &'a str, _owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        Box::pin(async move {
            // Totals are far below the greatest integer of JavaScript; `most` may be beyond, where
            // nobody cares which.
            let answer = self.step("add", key, &[(by as f64).into(), (most as f64).into(), ttl_s.into()]).await?;
            let answer: &Array = answer.dyn_ref().ok_or_else(unexpected)?;
            let (added, total) = (answer.get(0).as_bool(), answer.get(1).as_f64());
            Ok(Counted { added: added.ok_or_else(unexpected)?, total: total.ok_or_else(unexpected)? as i64 })
        })
    }

    fn put_if_absent<'a>(
        &'a self,
        key: &'a str,
        _owner: &'a [u8],
        value: &'a [u8],
        ttl_s: u32,
    ) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move { Ok(bytes(&self.step("putIfAbsent", key, &[Uint8Array::from(value).into(), ttl_s.into()]).await?)) })
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move { Ok(bytes(&self.step("read", key, &[]).await?)) })
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.step("put", key, &[Uint8Array::from(value).into(), ttl_s.into()]).await.map(|_| ()) })
    }

    fn get_all<'a>(&'a self, keys: &'a [String]) -> LocalFuture<'a, Result<Vec<Option<Vec<u8>>>>> {
        Box::pin(async move {
            let found = self.step_of_all("readAll", keys, &[]).await?;
            let found: &Array = found.dyn_ref().filter(|found: &&Array| found.length() as usize == keys.len()).ok_or_else(unexpected)?;
            found.iter().map(|value| if value.is_null() { Ok(None) } else { buffer(&value).map(Some) }).collect()
        })
    }

    fn put_all<'a>(&'a self, keys: &'a [String], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.step_of_all("putAll", keys, &[Uint8Array::from(value).into(), ttl_s.into()]).await.map(|_| ()) })
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.step("remove", key, &[]).await.map(|_| ()) })
    }

    fn exactness(&self) -> Exactness {
        Exactness::Shared
    }
}

/// The isolate's memory, a limiter of the platform, and KV.
struct Nearby {
    env: Env,
    memory: MemoryState,
    kv: Option<Told>,
}

impl StateStore for Nearby {
    fn add<'a>(&'a self, key: &'a str, owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        Box::pin(async move {
            let Some(kv) = &self.kv else { return self.memory.add(key, owner, by, most, ttl_s).await };
            let elsewhere = kv.heard(key).await?;
            let own = self.memory.add(key, owner, 0, i64::MAX, ttl_s).await?.total;
            let known = elsewhere.max(own);
            if own < known {
                // Counted on by this isolate from there: what others have used is not free here.
                self.memory.add(key, owner, known - own, i64::MAX, ttl_s).await?;
            }
            if by == 0 || known.saturating_add(by) > most {
                return Ok(Counted { added: by == 0 && known <= most, total: known });
            }
            let counted = self.memory.add(key, owner, by, most, ttl_s).await?;
            if counted.added {
                kv.tell(key, known.saturating_add(by), ttl_s).await?;
            }
            Ok(Counted { added: counted.added, total: counted.total.max(known) })
        })
    }

    fn put_if_absent<'a>(&'a self, key: &'a str, owner: &'a [u8], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            if let Some(there) = self.memory.put_if_absent(key, owner, value, ttl_s).await? {
                return Ok(Some(there));
            }
            let Some(kv) = &self.kv else { return Ok(None) };
            match kv.read(key).await {
                Ok(Some(there)) => {
                    self.memory.put(key, &there, ttl_s).await?;
                    Ok(Some(there))
                }
                Ok(None) => kv.write(key, value, ttl_s).await.map(|()| None),
                Err(error) => {
                    self.memory.remove(key).await?;
                    Err(error)
                }
            }
        })
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            match (self.memory.get(key).await?, &self.kv) {
                (None, Some(kv)) => kv.read(key).await,
                (there, _) => Ok(there),
            }
        })
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.memory.put(key, value, ttl_s).await?;
            match &self.kv {
                Some(kv) => kv.write(key, value, ttl_s).await,
                None => Ok(()),
            }
        })
    }

    fn get_all<'a>(&'a self, keys: &'a [String]) -> LocalFuture<'a, Result<Vec<Option<Vec<u8>>>>> {
        Box::pin(async move {
            match &self.kv {
                // What the isolate's memory has may be older than what KV has heard.
                Some(kv) => try_join_all(keys.iter().map(|key| kv.read(key))).await,
                None => try_join_all(keys.iter().map(|key| self.memory.get(key))).await,
            }
        })
    }

    fn put_all<'a>(&'a self, keys: &'a [String], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            match &self.kv {
                Some(kv) => try_join_all(keys.iter().map(|key| kv.write(key, value, ttl_s))).await.map(|_| ()),
                None => try_join_all(keys.iter().map(|key| self.memory.put(key, value, ttl_s))).await.map(|_| ()),
            }
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.memory.remove(key).await?;
            match &self.kv {
                Some(Told { kv, .. }) => kv.delete(&cache::key(key)).await.map_err(cache::broken),
                None => Ok(()),
            }
        })
    }

    fn rate<'a>(&'a self, key: &'a str, max: u32, window_s: u32) -> LocalFuture<'a, Result<Option<bool>>> {
        let binding = format!("MILLRACE_RATE_{max}_{window_s}");
        Box::pin(async move {
            let Some(limiter) = found(&self.env, &binding, "limit") else { return Ok(None) };
            let answer = JsFuture::from(glue::is_within(&limiter, key)).await.map_err(|thrown| {
                Error::new(ErrorKind::Unavailable, format!("the rate limiter `{binding}` does not work"))
                    .with_source(glue::message(&thrown))
            })?;
            Ok(answer.as_bool())
        })
    }

    fn exactness(&self) -> Exactness {
        if self.kv.is_some() { Exactness::Eventual } else { Exactness::Isolate }
    }
}

/// KV, which takes a value once a second under one key.
struct Told {
    kv: KvStore,
    clock: Rc<dyn Clock>,
    /// When what was told under each key, in milliseconds since the Unix epoch.
    at_ms: RefCell<BTreeMap<String, u64>>,
}

impl Told {
    fn new(kv: KvStore, clock: Rc<dyn Clock>) -> Self {
        Self { kv, clock, at_ms: RefCell::default() }
    }

    async fn read(&self, key: &str) -> Result<Option<Vec<u8>>> {
        self.kv.get(&cache::key(key)).bytes().await.map_err(cache::broken)
    }

    async fn write(&self, key: &str, value: &[u8], ttl_s: u32) -> Result<()> {
        let put = self.kv.put_bytes(&cache::key(key), value).map_err(cache::broken)?;
        put.expiration_ttl(ttl_s.max(LEAST_TTL_S).into()).execute().await.map_err(cache::broken)
    }

    async fn heard(&self, key: &str) -> Result<i64> {
        let digits = self.read(key).await?.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(digits.and_then(|digits| digits.parse().ok()).unwrap_or(0))
    }

    async fn tell(&self, key: &str, total: i64, ttl_s: u32) -> Result<()> {
        let now_ms = self.clock.now_ms();
        {
            let mut at_ms = self.at_ms.borrow_mut();
            if at_ms.get(key).is_some_and(|told_ms| now_ms < told_ms + KV_PAUSE_MS) {
                return Ok(());
            }
            if at_ms.len() >= MOST_TOLD {
                at_ms.clear();
            }
            at_ms.insert(key.to_owned(), now_ms);
        }
        self.write(key, total.to_string().as_bytes(), ttl_s).await
    }
}
