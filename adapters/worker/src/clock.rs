//! The platform's clock. It stands still between input and output.

use millrace_core::ports::{Clock, LocalFuture};

use crate::timer::{self, Pause};

/// `Date.now()` and `setTimeout`.
pub(crate) struct WorkerClock;

impl Clock for WorkerClock {
    fn now_ms(&self) -> u64 {
        timer::now_ms()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        // Even one of no time comes back through the platform's loop, which moves the clock.
        Box::pin(Pause::until(self.now_ms().saturating_add(duration_ms)))
    }
}
