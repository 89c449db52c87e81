//! Calls whose client disconnected. They are cancelled, which ends them soon, but not dropped where
//! they are: whatever observes the end of a call is told of theirs, too. Each goes on as a task of
//! the isolate, which waits for it when it ends.

use std::{cell::Cell, future::Future, rc::Rc, time::Duration};

use tokio::time::timeout;

use crate::{connection_slot::ConnectionSlot, wait_until::Tasks};

/// The disconnected calls of an isolate.
pub(crate) struct DisconnectedCalls {
    /// How many have given their connection's slot back.
    running: Cell<usize>,
    /// How many may do so; further ones keep the slot until they end, so that nobody has more calls
    /// at work by disconnecting.
    most: usize,
    /// How long each may take.
    time: Duration,
    tasks: Tasks,
}

impl DisconnectedCalls {
    pub(crate) fn new(most: usize, time: Duration, tasks: Tasks) -> Rc<Self> {
        Rc::new(Self { running: Cell::new(0), most, time, tasks })
    }

    /// Runs what belongs to a connection's answer, also after the connection.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.tasks.spawn(task);
    }

    /// Runs a call to its end that has been cancelled.
    pub(crate) fn finish(self: &Rc<Self>, slot: &Rc<ConnectionSlot>, call: impl Future<Output = ()> + 'static) {
        let (place, time) = (Place::take(self, slot), self.time);
        self.tasks.spawn(async move {
            let _place = place;
            if timeout(time, call).await.is_err() {
                tracing::warn!(limit_ms = time.as_millis(), "a call whose client disconnected did not end in time and was aborted");
            }
        });
    }
}

/// What a disconnected call counts as.
enum Place {
    /// One of those that have given their slot back.
    Free(Rc<DisconnectedCalls>),
    /// What it was before.
    Slot(#[expect(dead_code, reason = "given back when it is dropped")] Rc<ConnectionSlot>),
}

impl Place {
    fn take(calls: &Rc<DisconnectedCalls>, slot: &Rc<ConnectionSlot>) -> Self {
        let running = calls.running.get();
        if running >= calls.most {
            return Self::Slot(slot.clone());
        }
        calls.running.set(running + 1);
        Self::Free(calls.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Self::Free(calls) = self {
            calls.running.set(calls.running.get() - 1);
        }
    }
}
