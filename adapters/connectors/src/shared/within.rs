//! Waiting that ends.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use millrace_core::ports::Clock;

/// The time in so many milliseconds, or in half of what is left until a deadline: for what comes
/// after an answer, and must not cost it.
pub(crate) fn soon(clock: &dyn Clock, deadline_ms: u64, most_ms: u64) -> u64 {
    let now_ms = clock.now_ms();
    now_ms + most_ms.min(deadline_ms.saturating_sub(now_ms) / 2)
}

/// Waits for a future until a time; `None` past it.
pub(crate) async fn within<T>(clock: &dyn Clock, until_ms: u64, future: impl Future<Output = T>) -> Option<T> {
    let mut sleep = clock.sleep(until_ms.saturating_sub(clock.now_ms()));
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => sleep.as_mut().poll(context).map(|()| None),
    })
    .await
}
