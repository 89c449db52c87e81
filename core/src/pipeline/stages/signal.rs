//! Stage 4, *signal*: is the caller still there, is there still time? Asked before every stage, and
//! while one waits for the outside.

use alloc::format;
use core::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
};

use crate::{
    cancel::Cancel,
    fault::{Fault, Stage},
    ports::{Clock, LocalFuture},
};

/// The deadline and the cancellation of one call.
pub(in crate::pipeline) struct Signal<'a> {
    clock: &'a dyn Clock,
    cancel: &'a Cancel,
    deadline_ms: u64,
    /// What the tool allows; `None` where the request must end before.
    allowed_ms: Option<u64>,
    /// When the request has to end, in milliseconds since the Unix epoch; `None` where nobody says.
    host_deadline_ms: Option<u64>,
}

/// A connector that waits until the same deadline says more of it than the call can; clocks of
/// milliseconds cut off what is below one.
const OTHERS_FIRST_MS: u64 = 2;

/// Why a call must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) enum Interruption {
    /// The caller went away.
    Cancelled,
    /// The time is over. The tool allows so many milliseconds; `None` where the request had to end
    /// before.
    TimedOut(Option<u64>),
}

impl<'a> Signal<'a> {
    /// The earlier of the host's deadline and the tool's `limits.timeout`, from now.
    pub(in crate::pipeline) fn new(clock: &'a dyn Clock, cancel: &'a Cancel, host_deadline_ms: Option<u64>, timeout_ms: u32) -> Self {
        Self::since(clock.now_ms(), clock, cancel, host_deadline_ms, timeout_ms)
    }

    /// The same, from a time that is known.
    pub(in crate::pipeline) fn since(
        now_ms: u64,
        clock: &'a dyn Clock,
        cancel: &'a Cancel,
        host_deadline_ms: Option<u64>,
        timeout_ms: u32,
    ) -> Self {
        let own_ms = now_ms.saturating_add(timeout_ms.into());
        match host_deadline_ms.filter(|host_ms| *host_ms < own_ms) {
            Some(deadline_ms) => Self { clock, cancel, deadline_ms, allowed_ms: None, host_deadline_ms },
            None => Self { clock, cancel, deadline_ms: own_ms, allowed_ms: Some(timeout_ms.into()), host_deadline_ms },
        }
    }

    /// When the call must end, in milliseconds since the Unix epoch.
    pub(in crate::pipeline) const fn deadline_ms(&self) -> u64 {
        self.deadline_ms
    }

    /// When what comes after the call has to end: `timeout_ms` from now, but not past the end of
    /// the request, and in any case so much later than now that something can be done.
    pub(in crate::pipeline) fn after(&self, timeout_ms: u32, least_ms: u64) -> u64 {
        let now_ms = self.clock.now_ms();
        let own_ms = now_ms.saturating_add(timeout_ms.into());
        self.host_deadline_ms.map_or(own_ms, |host_ms| host_ms.min(own_ms)).max(now_ms.saturating_add(least_ms))
    }

    /// The earlier of the call's deadline and `timeout_ms` from now.
    pub(in crate::pipeline) fn deadline_within(&self, timeout_ms: u32) -> u64 {
        self.deadline_ms.min(self.clock.now_ms().saturating_add(timeout_ms.into()))
    }

    /// What [`check`](Self::check) says when the time is over.
    pub(in crate::pipeline) const fn timed_out(&self) -> Interruption {
        Interruption::TimedOut(self.allowed_ms)
    }

    pub(in crate::pipeline) const fn cancel(&self) -> &'a Cancel {
        self.cancel
    }

    /// Says whether the call may go on.
    pub(in crate::pipeline) fn check(&self) -> Result<(), Interruption> {
        if self.cancel.is_tripped() {
            return Err(Interruption::Cancelled);
        }
        if self.clock.now_ms() >= self.deadline_ms {
            return Err(self.timed_out());
        }
        Ok(())
    }

    /// Waits for work, but not past the deadline and not for a caller that went away. Work that is
    /// ready at once never starts a timer.
    pub(in crate::pipeline) async fn race<T>(&self, work: impl Future<Output = T>) -> Result<T, Interruption> {
        let mut work = pin!(work);
        let mut tripped = self.cancel.tripped();
        let mut timer: Option<LocalFuture<'static, ()>> = None;
        poll_fn(|context| {
            if let Poll::Ready(value) = work.as_mut().poll(context) {
                return Poll::Ready(Ok(value));
            }
            if Pin::new(&mut tripped).poll(context).is_ready() {
                return Poll::Ready(Err(Interruption::Cancelled));
            }
            let timer = timer.get_or_insert_with(|| {
                self.clock.sleep(self.deadline_ms.saturating_sub(self.clock.now_ms()).saturating_add(OTHERS_FIRST_MS))
            });
            timer.as_mut().poll(context).map(|()| Err(self.timed_out()))
        })
        .await
    }
}

impl Interruption {
    /// The fault of a stage that was interrupted.
    pub(in crate::pipeline) fn fault(self, stage: Stage) -> Fault {
        match self {
            Self::Cancelled => cancelled(stage),
            Self::TimedOut(Some(allowed_ms)) => timed_out(stage, format!("The call did not finish within {allowed_ms} ms.")),
            // How much time was left is chance, and no setting.
            Self::TimedOut(None) => timed_out(stage, "The call did not finish in the time that the request had left."),
        }
    }
}

pub(in crate::pipeline) fn cancelled(stage: Stage) -> Fault {
    Fault::new(stage, "CANCELLED", "Request cancelled.")
}

pub(in crate::pipeline) fn timed_out(stage: Stage, message: impl Into<alloc::string::String>) -> Fault {
    Fault::new(stage, "TIMEOUT", message).later()
}
