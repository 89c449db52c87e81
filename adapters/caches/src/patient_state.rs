//! A store of counters and records that is far away, and never holds up a call for long: after a
//! second it counts as failed, and after a failure it is not asked for five. Every answer of it is
//! an error then, and whoever asked decides what a call without it does.

use std::{cell::Cell, future::poll_fn, rc::Rc, task::Poll};

use futures_util::future::{Either, select};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Counted, Exactness, LocalFuture, StateStore},
};

use crate::tiered::{PATIENCE_MS, REST_MS};

/// A store behind limits of time.
pub struct PatientState {
    store: Rc<dyn StateStore>,
    /// What the store is called in messages: ``the DynamoDB table `x` ``.
    name: String,
    clock: Rc<dyn Clock>,
    rests_until_ms: Cell<u64>,
}

impl PatientState {
    /// `name` is what messages call the store and holds no secret.
    #[must_use]
    pub fn new(store: Rc<dyn StateStore>, name: String, clock: Rc<dyn Clock>) -> Self {
        Self { store, name, clock, rests_until_ms: Cell::new(0) }
    }

    async fn ask<'a, T>(&'a self, question: impl FnOnce() -> LocalFuture<'a, Result<T>>) -> Result<T> {
        if self.clock.now_ms() < self.rests_until_ms.get() {
            let message = format!("{} failed a moment ago and is not used for a while", self.name);
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        let mut question = question();
        // What is answered at once starts no timer.
        let at_once = poll_fn(|context| Poll::Ready(question.as_mut().poll(context))).await;
        let answer = match at_once {
            Poll::Ready(answer) => answer,
            Poll::Pending => match select(question, self.clock.sleep(PATIENCE_MS)).await {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => Err(Error::new(ErrorKind::TimedOut, format!("{} did not answer within {PATIENCE_MS} ms", self.name))),
            },
        };
        let error = match answer {
            Ok(value) => return Ok(value),
            // About this one key or value; the store works.
            Err(error) if matches!(error.kind, ErrorKind::Busy | ErrorKind::TooLarge) => return Err(error),
            Err(error) => error,
        };
        self.rests_until_ms.set(self.clock.now_ms().saturating_add(REST_MS));
        Err(error)
    }
}

impl StateStore for PatientState {
    fn add<'a>(&'a self, key: &'a str, owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        Box::pin(self.ask(move || self.store.add(key, owner, by, most, ttl_s)))
    }

    fn put_if_absent<'a>(&'a self, key: &'a str, owner: &'a [u8], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(self.ask(move || self.store.put_if_absent(key, owner, value, ttl_s)))
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(self.ask(move || self.store.get(key)))
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.ask(move || self.store.put(key, value, ttl_s)))
    }

    fn get_all<'a>(&'a self, keys: &'a [String]) -> LocalFuture<'a, Result<Vec<Option<Vec<u8>>>>> {
        Box::pin(self.ask(move || self.store.get_all(keys)))
    }

    fn put_all<'a>(&'a self, keys: &'a [String], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.ask(move || self.store.put_all(keys, value, ttl_s)))
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.ask(move || self.store.remove(key)))
    }

    fn rate<'a>(&'a self, key: &'a str, max: u32, window_s: u32) -> LocalFuture<'a, Result<Option<bool>>> {
        Box::pin(self.ask(move || self.store.rate(key, max, window_s)))
    }

    fn exactness(&self) -> Exactness {
        self.store.exactness()
    }
}
