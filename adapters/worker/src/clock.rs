//! The platform's clock. It stands still between input and output.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use js_sys::{Array, Promise, futures::JsFuture};
use millrace_core::ports::{Clock, LocalFuture};
use wasm_bindgen::{JsCast as _, JsValue};

use crate::glue;

/// `Date.now()` and `setTimeout`.
pub(crate) struct WorkerClock;

impl Clock for WorkerClock {
    fn now_ms(&self) -> u64 {
        js_sys::Date::now() as u64
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        // Even one of no time comes back through the platform's loop, which moves the clock.
        // A timer's range is that of a signed 32-bit number; beyond, it would fire at once.
        let parts: Array = glue::pause(duration_ms.min(i32::MAX as u64) as f64).unchecked_into();
        Box::pin(Pause { over: JsFuture::from(parts.get(0).unchecked_into::<Promise>()), timer: parts.get(1) })
    }
}

/// A timer; it is taken back when dropped.
///
/// `worker::Delay` would not do: it wakes the task that looked at it first, and a call whose answer is a stream goes on in another.
struct Pause {
    over: JsFuture,
    timer: JsValue,
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.over).poll(context).map(drop)
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        glue::end_pause(&self.timer);
    }
}
