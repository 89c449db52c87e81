//! The platform's clock. It stands still between input and output.

use std::time::Duration;

use millrace_core::ports::{Clock, LocalFuture};
use worker::Delay;

/// `Date.now()` and `setTimeout`.
pub(crate) struct WorkerClock;

impl Clock for WorkerClock {
    fn now_ms(&self) -> u64 {
        js_sys::Date::now() as u64
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        // Even one of no time comes back through the platform's loop, which moves the clock.
        // A timer's range is that of a signed 32-bit number; beyond, it would fire at once.
        Box::pin(Delay::from(Duration::from_millis(duration_ms.min(i32::MAX as u64))))
    }
}
