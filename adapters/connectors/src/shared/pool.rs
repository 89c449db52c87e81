//! The connections of an isolate: a few, looked at before they are used again.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    task::{Poll, Waker},
};

use millrace_core::ports::Clock;

use super::within;

/// A connection that was idle for longer is asked whether the server still answers, in milliseconds. What is between the two may forget a
/// connection without telling.
const ASKED_AFTER_MS: u64 = 30_000;
/// How long it may take to answer.
const ANSWER_MS: u64 = 2_000;

/// A connection that may be kept for another call.
pub(crate) trait Pooled {
    /// Whether the server has left the connection alone since the last statement.
    async fn is_quiet(&mut self) -> bool;

    /// Whether the server answers.
    async fn answers(&mut self) -> bool;
}

/// Connections that wait for a call, and calls that wait for a connection.
pub(crate) struct Pool<S> {
    most: usize,
    used: Cell<usize>,
    idle: RefCell<Vec<(S, u64)>>,
    waiting: RefCell<Vec<Waker>>,
}

impl<S: Pooled> Pool<S> {
    /// A pool of at most so many connections.
    pub(crate) const fn of(most: usize) -> Self {
        Self { most, used: Cell::new(0), idle: RefCell::new(Vec::new()), waiting: RefCell::new(Vec::new()) }
    }

    /// Waits for the right to use a connection.
    pub(crate) async fn slot(&self) -> Slot<'_, S> {
        poll_fn(|context| {
            if self.used.get() < self.most {
                self.used.set(self.used.get() + 1);
                return Poll::Ready(Slot(self));
            }
            let mut waiting = self.waiting.borrow_mut();
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

/// The right to use a connection.
pub(crate) struct Slot<'a, S>(&'a Pool<S>);

impl<S: Pooled> Slot<'_, S> {
    /// A connection that still works; those that do not are closed.
    pub(crate) async fn idle(&self, clock: &dyn Clock, deadline_ms: u64) -> Option<S> {
        loop {
            let (mut session, since_ms) = self.0.idle.borrow_mut().pop()?;
            if !session.is_quiet().await {
                continue;
            }
            let now_ms = clock.now_ms();
            if now_ms.saturating_sub(since_ms) < ASKED_AFTER_MS {
                return Some(session);
            }
            if within(clock, deadline_ms.min(now_ms + ANSWER_MS), session.answers()).await == Some(true) {
                return Some(session);
            }
        }
    }

    /// Gives a connection back.
    pub(crate) fn keep(&self, session: S, now_ms: u64) {
        self.0.idle.borrow_mut().push((session, now_ms));
    }
}

impl<S> Drop for Slot<'_, S> {
    fn drop(&mut self) {
        self.0.used.set(self.0.used.get() - 1);
        for waker in self.0.waiting.take() {
            waker.wake();
        }
    }
}
