//! The operating system's clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millrace_core::ports::{Clock, LocalFuture};

/// Wall time of the operating system, sleep of the isolate's runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        // A clock before 1970 counts as 1970.
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        // A timer of the runtime takes a millisecond at least.
        if duration_ms == 0 {
            return Box::pin(tokio::task::yield_now());
        }
        Box::pin(tokio::time::sleep(Duration::from_millis(duration_ms)))
    }
}
