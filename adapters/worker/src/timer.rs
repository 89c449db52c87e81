//! Timers of the platform: one for all pauses of a request, since starting one and taking it back
//! cost more than a small tool.
//!
//! A [`Pause`] only says when it is due. Whoever polls a request starts an alarm for the soonest of
//! them when the poll is over, unless one rings before that anyway.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    rc::{Rc, Weak},
    task::{Context, Poll, Waker},
};

use wasm_bindgen::prelude::*;

use crate::glue;

thread_local! {
    /// What the request that is being polled waits for.
    static CURRENT: RefCell<Option<Rc<Timers>>> = const { RefCell::new(None) };
    /// The time of its poll, once somebody asked for it.
    static NOW_MS: Cell<Option<u64>> = const { Cell::new(None) };
    /// Whose alarms there are, by their numbers, for the one function that the platform calls.
    static ALARMS: RefCell<BTreeMap<u32, Weak<Timers>>> = const { RefCell::new(BTreeMap::new()) };
    static LAST: Cell<u32> = const { Cell::new(0) };
    static RING: Closure<dyn FnMut(u32)> = Closure::new(ring);
}

/// Waits until a time.
pub(crate) struct Pause {
    due: Rc<Due>,
    /// Where nobody else starts an alarm for it: outside of a request's poll.
    own: Option<Rc<Timers>>,
}

/// A time that somebody waits for.
struct Due {
    at_ms: u64,
    is_over: Cell<bool>,
    /// Who looked last: a call whose answer is a stream goes on in another task.
    waker: RefCell<Option<Waker>>,
}

/// What a request waits for.
#[derive(Default)]
pub(crate) struct Timers {
    waiting: RefCell<Vec<Weak<Due>>>,
    alarm: RefCell<Option<Alarm>>,
}

/// A timer of the platform; taken back when dropped.
struct Alarm {
    number: u32,
    at_ms: u64,
    handle: JsValue,
    rang: bool,
}

impl Pause {
    /// Until that time, in milliseconds since 1970.
    pub(crate) fn until(at_ms: u64) -> Self {
        Self { due: Rc::new(Due { at_ms, is_over: Cell::new(false), waker: RefCell::default() }), own: None }
    }
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.due.is_over.get() {
            return Poll::Ready(());
        }
        self.due.waker.replace(Some(context.waker().clone()));
        match CURRENT.with_borrow(Clone::clone) {
            Some(timers) => timers.add(&self.due),
            None => {
                let Self { due, own } = &mut *self;
                let own = own.get_or_insert_default();
                own.add(due);
                own.arm();
            }
        }
        Poll::Pending
    }
}

impl Timers {
    /// Polls the request that waits for these, and starts an alarm where it has not ended.
    pub(crate) fn poll<T>(self: &Rc<Self>, poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
        CURRENT.set(Some(self.clone()));
        let outcome = poll();
        CURRENT.set(None);
        if outcome.is_pending() {
            self.arm();
        }
        NOW_MS.set(None);
        outcome
    }

    /// Knows of a time from now on.
    fn add(&self, due: &Rc<Due>) {
        let mut waiting = self.waiting.borrow_mut();
        waiting.retain(|known| known.strong_count() > 0);
        if !waiting.iter().any(|known| known.as_ptr() == Rc::as_ptr(due)) {
            waiting.push(Rc::downgrade(due));
        }
    }

    /// Starts an alarm for the soonest of its times, unless one rings until then.
    fn arm(self: &Rc<Self>) {
        let soonest = self.waiting.borrow().iter().filter_map(Weak::upgrade).filter(|due| !due.is_over.get()).map(|due| due.at_ms).min();
        let Some(at_ms) = soonest else { return };
        if self.alarm.borrow().as_ref().is_some_and(|alarm| alarm.at_ms <= at_ms) {
            return;
        }
        let number = LAST.get().wrapping_add(1);
        LAST.set(number);
        // A timer's range is that of a signed 32-bit number; beyond, it would fire at once.
        let duration_ms = at_ms.saturating_sub(now_ms()).min(i32::MAX as u64) as f64;
        let handle = RING.with(|ring| glue::pause(duration_ms, ring, number));
        ALARMS.with_borrow_mut(|alarms| alarms.insert(number, Rc::downgrade(self)));
        self.alarm.replace(Some(Alarm { number, at_ms, handle, rang: false }));
    }

    /// Its alarm rang: all that is due is over, and what is due later gets another.
    fn ring(self: &Rc<Self>) {
        let Some(mut alarm) = self.alarm.take() else { return };
        alarm.rang = true;
        let all: Vec<Rc<Due>> = self.waiting.borrow().iter().filter_map(Weak::upgrade).collect();
        for due in all.iter().filter(|due| due.at_ms <= alarm.at_ms) {
            due.is_over.set(true);
            if let Some(waker) = due.waker.take() {
                waker.wake();
            }
        }
        self.arm();
    }
}

/// The time, in milliseconds since 1970: asked for once a poll, since it stands still within one.
pub(crate) fn now_ms() -> u64 {
    if let Some(now_ms) = NOW_MS.get() {
        return now_ms;
    }
    let now_ms = js_sys::Date::now() as u64;
    if CURRENT.with_borrow(Option::is_some) {
        NOW_MS.set(Some(now_ms));
    }
    now_ms
}

impl Drop for Alarm {
    fn drop(&mut self) {
        ALARMS.with_borrow_mut(|alarms| alarms.remove(&self.number));
        if !self.rang {
            glue::end_pause(&self.handle);
        }
    }
}

fn ring(number: u32) {
    let timers = ALARMS.with_borrow(|alarms| alarms.get(&number).and_then(Weak::upgrade));
    if let Some(timers) = timers {
        timers.ring();
    }
}
