//! The platform's clock. It stands still between input and output.

use std::time::Duration;

use millrace_core::ports::{Clock, LocalFuture};
use worker::{Date, Delay};

/// `Date.now()` and `setTimeout`.
pub(crate) struct WorkerClock;

impl Clock for WorkerClock {
    fn now_ms(&self) -> u64 {
        Date::now().as_millis()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        // A timer's range is that of a signed 32-bit number; beyond, it would fire at once.
        Box::pin(Delay::from(Duration::from_millis(duration_ms.min(i32::MAX as u64))))
    }
}
