//! What an isolate works on, and whether it is stuck in it.
//!
//! An isolate is a thread of its own, so the thread that talks with Lambda goes on whatever an
//! isolate does. A call that is past its deadline, and that has held its isolate all the while
//! since, will not end: one function of SQLite, or one built-in of the script engine, cannot be
//! stopped. It is answered for, and the environment is given up after that.

use std::{
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use millrace_core::ports::{Observer, RunningCall};

use crate::now::now_ms;

/// How long a call may hold its isolate after its deadline, in milliseconds.
const OVERDUE_MS: u64 = 500;

/// How often a call that takes long is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The call that one isolate works on. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct CallWatch(Arc<Mutex<Option<HeldCall>>>);

/// A call that holds its isolate.
#[derive(Clone, Debug)]
pub(crate) struct HeldCall {
    pub(crate) tool: String,
    pub(crate) request_id: String,
    deadline_ms: u64,
    since_ms: u64,
}

impl CallWatch {
    /// What tells of the calls; to be used on the isolate's thread.
    pub(crate) fn observer(&self) -> Rc<dyn Observer> {
        Rc::new(self.clone())
    }

    /// Whether the isolate is stuck in a call.
    pub(crate) fn is_stuck(&self) -> bool {
        self.overdue(OVERDUE_MS).is_some()
    }

    /// Resolves when the isolate is stuck in a call.
    pub(crate) async fn stuck(&self) -> HeldCall {
        loop {
            tokio::time::sleep(LOOK).await;
            if let Some(held) = self.overdue(OVERDUE_MS) {
                return held;
            }
        }
    }

    /// The call that has been past its deadline, and has held the isolate, for so many
    /// milliseconds.
    pub(crate) fn overdue(&self, limit_ms: u64) -> Option<HeldCall> {
        let now_ms = now_ms();
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_overdue =
            |held: &&HeldCall| now_ms.checked_sub(held.deadline_ms.max(held.since_ms)).is_some_and(|late_ms| late_ms >= limit_ms);
        held.as_ref().filter(is_overdue).cloned()
    }

    fn set(&self, held: Option<HeldCall>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }
}

impl Observer for CallWatch {
    fn entered(&self, call: &RunningCall<'_>) {
        let RunningCall { tool, request_id, deadline_ms } = *call;
        self.set(Some(HeldCall { tool: tool.to_owned(), request_id: request_id.to_owned(), deadline_ms, since_ms: now_ms() }));
    }

    fn left(&self, _: &RunningCall<'_>) {
        self.set(None);
    }
}

impl HeldCall {
    /// What the caller is told, and the log with it.
    pub(crate) fn told(&self) -> String {
        tracing::error!(
            tool = self.tool,
            request_id = self.request_id,
            late_ms = now_ms().saturating_sub(self.deadline_ms),
            "a call did not end at its deadline and cannot be stopped; this environment ends"
        );
        format!("the call of the tool `{}` did not end at its deadline and cannot be stopped; ask for less", self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_stuck_that_holds_its_isolate_past_its_deadline() {
        let watched = CallWatch::default();
        let call = |deadline_ms| RunningCall { tool: "t", request_id: "r", deadline_ms };
        assert!(watched.overdue(0).is_none());
        watched.entered(&call(u64::MAX));
        assert!(watched.overdue(0).is_none());
        watched.entered(&call(0));
        assert!(watched.overdue(0).is_some_and(|held| held.tool == "t" && held.request_id == "r"));
        // It goes on for the first time since its deadline: to say that it is over.
        assert!(watched.overdue(60_000).is_none());
        watched.left(&call(0));
        assert!(watched.overdue(0).is_none());
    }
}
