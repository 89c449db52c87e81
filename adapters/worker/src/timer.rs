//! Timers of the platform.

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
    /// Timers by number, for the one function that the platform calls.
    static TIMERS: RefCell<BTreeMap<u32, Weak<Timer>>> = const { RefCell::new(BTreeMap::new()) };
    static LAST: Cell<u32> = const { Cell::new(0) };
    static RING: Closure<dyn FnMut(u32)> = Closure::new(ring);
}

/// A timer of the platform; taken back when nobody waits for it any more.
pub(crate) struct Timer {
    number: u32,
    due_ms: u64,
    rang: Cell<bool>,
    /// All who look, not the first one: a call whose answer is a stream goes on in another task.
    wakers: RefCell<Vec<Waker>>,
    handle: JsValue,
}

/// Waits for a timer.
pub(crate) struct Pause(pub(crate) Rc<Timer>);

impl Timer {
    /// Starts one.
    pub(crate) fn start(due_ms: u64, duration_ms: u64) -> Rc<Self> {
        let number = LAST.get().wrapping_add(1);
        LAST.set(number);
        // A timer's range is that of a signed 32-bit number; beyond, it would fire at once.
        let duration_ms = duration_ms.min(i32::MAX as u64) as f64;
        let handle = RING.with(|ring| glue::pause(duration_ms, ring, number));
        let timer = Rc::new(Self { number, due_ms, rang: Cell::new(false), wakers: RefCell::default(), handle });
        TIMERS.with_borrow_mut(|timers| timers.insert(number, Rc::downgrade(&timer)));
        timer
    }

    /// Whether it is due then and did not ring yet.
    pub(crate) fn is_pending(&self, due_ms: u64) -> bool {
        self.due_ms == due_ms && !self.rang.get()
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        TIMERS.with_borrow_mut(|timers| timers.remove(&self.number));
        if !self.rang.get() {
            glue::end_pause(&self.handle);
        }
    }
}

impl Future for Pause {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0.rang.get() {
            return Poll::Ready(());
        }
        let mut wakers = self.0.wakers.borrow_mut();
        if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}

fn ring(number: u32) {
    let timer = TIMERS.with_borrow(|timers| timers.get(&number).and_then(Weak::upgrade));
    let Some(timer) = timer else { return };
    timer.rang.set(true);
    for waker in timer.wakers.take() {
        waker.wake();
    }
}
