//! The keys of issuers, kept: in memory, and in the cache that isolates share.
//!
//! | when | a server is asked |
//! |---|---|
//! | a set is missing, or its lifetime is over | once, by one call; others wait, or take the old set |
//! | a token names a key that the set does not have | once in [`REFRESH_MS`], whatever is sent |
//! | the server does not answer | again after [`RETRY_MS`] without a set; after [`REFRESH_MS`] with one, which stays good for [`KEPT_MS`] |

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    hex,
    ports::{Clock, HttpClient, KvCache, TokenRefusal},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    jwk::KeySet,
    provider::{self, Failure, Origin},
};

/// How long a server may take for a key set, in milliseconds.
const FETCH_MS: u64 = 5_000;
/// The least time between two requests for newer keys, in milliseconds.
const REFRESH_MS: u64 = 30_000;
/// The least time between two requests where there are no keys at all, in milliseconds.
const RETRY_MS: u64 = 2_000;
/// How long a set is used whose server does not answer, from when it was fetched, in milliseconds.
const KEPT_MS: u64 = 24 * 3_600_000;
/// How often a call looks whether another one has fetched the keys, in milliseconds.
const LOOK_MS: u64 = 20;
/// How many sources are known at a time. An app has a few; what its variables say may change.
const MOST_SOURCES: usize = 256;

/// A key set that can be used.
#[derive(Debug)]
pub(crate) struct HeldSet {
    /// Tells it from every other set of this isolate; the same keys have the same number.
    pub(crate) number: u64,
    /// The keys.
    pub(crate) keys: KeySet,
    digest: [u8; 32],
}

/// What is known of the keys of one source.
#[derive(Debug, Default)]
struct Source {
    held: RefCell<Option<Held>>,
    /// When somebody began to fetch what was missing or old, the last time.
    attempted_ms: Cell<Option<u64>>,
    /// When somebody began to fetch because of a token whose key the set does not have, the last
    /// time.
    refreshed_ms: Cell<Option<u64>>,
    /// Until when somebody is at it.
    busy_until_ms: Cell<u64>,
    /// Why the last time failed.
    failure: RefCell<Option<Failure>>,
}

#[derive(Clone, Debug)]
struct Held {
    set: Rc<HeldSet>,
    fetched_ms: u64,
    fresh_until_ms: u64,
}

impl Source {
    fn held(&self) -> Option<Held> {
        self.held.borrow().clone()
    }

    fn is_busy(&self, now_ms: u64) -> bool {
        let until_ms = self.busy_until_ms.get();
        now_ms < until_ms && until_ms - now_ms <= FETCH_MS
    }
}

/// Whether so much time has passed since a moment.
fn has_passed(since_ms: &Cell<Option<u64>>, now_ms: u64, interval_ms: u64) -> bool {
    // A clock that was set back must not stop it.
    since_ms.get().is_none_or(|since_ms| now_ms.abs_diff(since_ms) >= interval_ms)
}

/// Ends being busy, even where the call is given up.
struct Busy<'s>(&'s Source);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy_until_ms.set(0);
    }
}

/// A set in the shared cache.
#[derive(Serialize, Deserialize)]
struct Entry {
    fetched_ms: u64,
    fresh_until_ms: u64,
    /// The set's text, in base64.
    text: String,
}

/// The keys of all issuers of an isolate.
pub(crate) struct IssuerKeys {
    http: Rc<dyn HttpClient>,
    cache: Rc<dyn KvCache>,
    clock: Rc<dyn Clock>,
    sources: RefCell<BTreeMap<String, Rc<Source>>>,
    /// Sets that the app has itself, by their text.
    own: RefCell<BTreeMap<String, Rc<HeldSet>>>,
    numbers: Cell<u64>,
}

impl IssuerKeys {
    pub(crate) fn new(http: Rc<dyn HttpClient>, cache: Rc<dyn KvCache>, clock: Rc<dyn Clock>) -> Self {
        Self { http, cache, clock, sources: RefCell::default(), own: RefCell::default(), numbers: Cell::new(0) }
    }

    /// A set that the app has itself.
    ///
    /// # Errors
    /// The text is no key set.
    pub(crate) fn own(&self, text: &str) -> Result<Rc<HeldSet>, TokenRefusal> {
        if let Some(set) = self.own.borrow().get(text) {
            return Ok(Rc::clone(set));
        }
        let keys = KeySet::parse(text.as_bytes()).map_err(|why| TokenRefusal::Operator(format!("`keys` of the policy {why}")))?;
        let set = self.numbered(keys, Sha256::digest(text).into());
        let mut own = self.own.borrow_mut();
        if own.len() >= MOST_SOURCES {
            own.clear();
        }
        own.insert(text.to_owned(), Rc::clone(&set));
        Ok(set)
    }

    /// The keys of a source: those that are held, or fetched now.
    ///
    /// # Errors
    /// There are none, and the server does not say which.
    pub(crate) async fn current(&self, origin: Origin<'_>, deadline_ms: u64) -> Result<Rc<HeldSet>, TokenRefusal> {
        let source = self.source(origin);
        loop {
            let now_ms = self.clock.now_ms();
            let held = source.held();
            if let Some(held) = &held
                && now_ms < held.fresh_until_ms
            {
                return Ok(Rc::clone(&held.set));
            }
            let old = held.filter(|held| now_ms.saturating_sub(held.fetched_ms) < KEPT_MS);
            match old {
                Some(old) if source.is_busy(now_ms) || !has_passed(&source.attempted_ms, now_ms, REFRESH_MS) => return Ok(old.set),
                None if source.is_busy(now_ms) => {
                    if now_ms >= deadline_ms {
                        return Err(TokenRefusal::Unavailable("the keys of the issuer did not come in time".to_owned()));
                    }
                    self.clock.sleep(LOOK_MS.min(deadline_ms - now_ms)).await;
                    continue;
                }
                None if !has_passed(&source.attempted_ms, now_ms, RETRY_MS) => return Err(refusal(source.failure.borrow().as_ref())),
                _ => {}
            }
            source.attempted_ms.set(Some(now_ms));
            self.load(&source, origin, None, deadline_ms).await;
            let now_ms = self.clock.now_ms();
            let held = source.held().filter(|held| now_ms.saturating_sub(held.fetched_ms) < KEPT_MS);
            return held.map(|held| held.set).ok_or_else(|| refusal(source.failure.borrow().as_ref()));
        }
    }

    /// The keys of a source after `known`, which does not have the key of a token: fetched, unless
    /// that was done a moment ago.
    pub(crate) async fn after(&self, known: &HeldSet, origin: Origin<'_>, deadline_ms: u64) -> Option<Rc<HeldSet>> {
        let source = self.source(origin);
        let other = || source.held().map(|held| held.set).filter(|set| set.number != known.number);
        loop {
            if let Some(other) = other() {
                return Some(other);
            }
            let now_ms = self.clock.now_ms();
            if source.is_busy(now_ms) && now_ms < deadline_ms {
                self.clock.sleep(LOOK_MS.min(deadline_ms - now_ms)).await;
                continue;
            }
            if !has_passed(&source.refreshed_ms, now_ms, REFRESH_MS) {
                return None;
            }
            source.refreshed_ms.set(Some(now_ms));
            self.load(&source, origin, Some(known.number), deadline_ms).await;
            return other();
        }
    }

    /// Looks for a set in the shared cache, then at the server. `known` is the number of a set that
    /// is not good enough.
    async fn load(&self, source: &Source, origin: Origin<'_>, known: Option<u64>, deadline_ms: u64) {
        let now_ms = self.clock.now_ms();
        let deadline_ms = deadline_ms.min(now_ms + FETCH_MS);
        source.busy_until_ms.set(deadline_ms);
        let busy = Busy(source);
        let key = cache_key(origin);
        match self.cache.get(&key).await {
            Ok(Some(bytes)) => self.adopt(source, &bytes, now_ms),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the shared cache does not say which keys an issuer has"),
        }
        let found = source.held().filter(|held| now_ms < held.fresh_until_ms && Some(held.set.number) != known);
        if found.is_some() {
            return;
        }
        match provider::fetch(&*self.http, origin, deadline_ms).await {
            Ok(fetched) => {
                let now_ms = self.clock.now_ms();
                let fresh_until_ms = now_ms + fetched.lifetime_s * 1_000;
                self.hold(source, fetched.keys, &fetched.text, now_ms, fresh_until_ms);
                source.failure.replace(None);
                // Whoever waits for the keys need not wait for the cache.
                drop(busy);
                let entry = Entry { fetched_ms: now_ms, fresh_until_ms, text: STANDARD.encode(&fetched.text) };
                if let Ok(bytes) = serde_json::to_vec(&entry)
                    && let Err(error) = self.cache.put(&key, bytes, (KEPT_MS / 1_000) as u32).await
                {
                    tracing::warn!(%error, "the shared cache does not keep the keys of an issuer");
                }
            }
            Err(failure) => {
                if source.held.borrow().is_some() {
                    tracing::warn!("the keys of an issuer cannot be fetched, and those that are known stay: {}", failure.reason());
                }
                source.failure.replace(Some(failure));
            }
        }
    }

    /// Takes over what another isolate fetched, where it is newer than what this one has. What is
    /// not understood is not there.
    fn adopt(&self, source: &Source, bytes: &[u8], now_ms: u64) {
        let Ok(entry) = serde_json::from_slice::<Entry>(bytes) else { return };
        let known_ms = source.held().map_or(0, |held| held.fetched_ms);
        let is_new =
            entry.fetched_ms > known_ms && entry.fetched_ms <= now_ms + REFRESH_MS && now_ms.saturating_sub(entry.fetched_ms) < KEPT_MS;
        if is_new
            && let Ok(text) = STANDARD.decode(&entry.text)
            && let Ok(keys) = KeySet::parse(&text)
        {
            self.hold(source, keys, &text, entry.fetched_ms, entry.fresh_until_ms.min(entry.fetched_ms + KEPT_MS));
        }
    }

    fn hold(&self, source: &Source, keys: KeySet, text: &[u8], fetched_ms: u64, fresh_until_ms: u64) {
        let digest: [u8; 32] = Sha256::digest(text).into();
        let same = source.held().map(|held| held.set).filter(|set| set.digest == digest);
        let set = same.unwrap_or_else(|| self.numbered(keys, digest));
        source.held.replace(Some(Held { set, fetched_ms, fresh_until_ms }));
    }

    fn numbered(&self, keys: KeySet, digest: [u8; 32]) -> Rc<HeldSet> {
        self.numbers.set(self.numbers.get() + 1);
        Rc::new(HeldSet { number: self.numbers.get(), keys, digest })
    }

    fn source(&self, origin: Origin<'_>) -> Rc<Source> {
        let name = name(origin);
        let mut sources = self.sources.borrow_mut();
        if let Some(source) = sources.get(&name) {
            return Rc::clone(source);
        }
        if sources.len() >= MOST_SOURCES {
            sources.clear();
        }
        let source = Rc::<Source>::default();
        sources.insert(name, Rc::clone(&source));
        source
    }
}

/// A secret as a set, which is not kept.
pub(crate) fn of_secret(secret: &[u8]) -> Rc<HeldSet> {
    Rc::new(HeldSet { number: 0, keys: KeySet::of_secret(secret), digest: [0; 32] })
}

fn name(origin: Origin<'_>) -> String {
    match origin {
        Origin::Issuer(issuer) => format!("issuer {issuer}"),
        Origin::Url(url) => format!("url {url}"),
    }
}

/// The key in the shared cache.
fn cache_key(origin: Origin<'_>) -> String {
    format!("jwks:{}", hex::encode(&Sha256::digest(name(origin))))
}

fn refusal(failure: Option<&Failure>) -> TokenRefusal {
    let said = |reason: &str| format!("the keys of the issuer cannot be fetched: {reason}");
    match failure {
        Some(Failure::Lasting(reason)) => TokenRefusal::Operator(said(reason)),
        Some(Failure::Passing(reason)) => TokenRefusal::Unavailable(said(reason)),
        None => TokenRefusal::Unavailable("the keys of the issuer did not come in time".to_owned()),
    }
}
