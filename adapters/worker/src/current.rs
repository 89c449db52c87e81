//! The request that is being polled.
//!
//! The endpoint is shared by all requests of the isolate, while work after the response, timers and the time belong to one request each.
//! So a request's future carries what is its own along, and shows it while it is polled.

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::pin,
    rc::{Rc, Weak},
};

use worker::worker_sys::Context;

use crate::clock::Timer;

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
    /// The time of this poll, once somebody asked for it.
    static NOW_MS: Cell<Option<u64>> = const { Cell::new(None) };
}

/// What belongs to a request.
struct Current {
    context: Context,
    timers: Vec<Weak<Timer>>,
}

/// Runs a request's future with what belongs to the request at hand.
pub(crate) async fn within<T>(context: Context, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut current = Some(Current { context, timers: Vec::new() });
    poll_fn(move |task| {
        CURRENT.set(current.take());
        let outcome = future.as_mut().poll(task);
        current = CURRENT.take();
        NOW_MS.set(None);
        outcome
    })
    .await
}

/// Gives the platform's context of the current request, if there is one.
pub(crate) fn with_context<T>(look: impl FnOnce(Option<&Context>) -> T) -> T {
    CURRENT.with_borrow(|current| look(current.as_ref().map(|current| &current.context)))
}

/// The time: asked for once a poll, since it stands still within one.
pub(crate) fn now_ms(ask: impl FnOnce() -> u64) -> u64 {
    if let Some(now_ms) = NOW_MS.get() {
        return now_ms;
    }
    let now_ms = ask();
    if CURRENT.with_borrow(Option::is_some) {
        NOW_MS.set(Some(now_ms));
    }
    now_ms
}

/// A timer of the current request that is due at that time: one for all who wait for the same.
pub(crate) fn timer(due_ms: u64, make: impl FnOnce() -> Rc<Timer>) -> Rc<Timer> {
    CURRENT.with_borrow_mut(|current| {
        let Some(Current { timers, .. }) = current else { return make() };
        timers.retain(|timer| timer.strong_count() > 0);
        if let Some(timer) = timers.iter().filter_map(Weak::upgrade).find(|timer| timer.is_pending(due_ms)) {
            return timer;
        }
        let timer = make();
        timers.push(Rc::downgrade(&timer));
        timer
    })
}
