//! The connection that commands share which only read.
//!
//! There is one of an isolate. Where it cannot be used (it is made right now, it ends, or too much
//! is on its way) a command goes over a connection of its own, as one that writes does: a burst of
//! calls does not wait for one connection, and a server that is down is not asked in turns.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use millrace_core::ports::Clock;
use millrace_redis::{Limits, Link, Reply, SharedLink};

use crate::{
    redis_commands::PING,
    shared::{ANSWER_MS, ASKED_AFTER_MS, within},
};

/// The connection of an isolate that reads share.
#[derive(Default)]
pub(super) struct SharedReads {
    link: RefCell<Option<Rc<SharedLink>>>,
    /// When it was used last.
    used_ms: Cell<u64>,
    is_opening: Cell<bool>,
}

/// The right to make the connection.
pub(super) struct Opening<'a>(&'a SharedReads);

impl SharedReads {
    /// The connection, where it takes another command. One that nobody used for a while is asked
    /// whether it still works.
    pub(super) async fn link(&self, clock: &dyn Clock, deadline_ms: u64) -> Option<Rc<SharedLink>> {
        let link = self.link.borrow().clone().filter(|link| link.has_room())?;
        let now_ms = clock.now_ms();
        let since_ms = self.used_ms.replace(now_ms);
        if !link.is_idle() || now_ms.saturating_sub(since_ms) < ASKED_AFTER_MS {
            return Some(link);
        }
        let asked = async { link.exchange(&[PING.as_bytes()], Limits { bytes: 0, lists: false }).await };
        let answer = within(clock, deadline_ms.min(now_ms + ANSWER_MS), asked).await;
        if matches!(answer, Some(Ok(Reply::Status(word))) if word == "PONG") {
            return Some(link);
        }
        // Others may have sent commands after the question; those are repeated elsewhere.
        link.close();
        None
    }

    /// The right to make the connection. `None` where it is there, or made already; or where calls
    /// still use the one before, which counts as one of those that an isolate may have.
    pub(super) fn open(&self) -> Option<Opening<'_>> {
        let is_in_use = self.link.borrow().as_ref().is_some_and(|link| !link.is_over() || Rc::strong_count(link) > 1);
        (!is_in_use && !self.is_opening.replace(true)).then_some(Opening(self))
    }
}

impl Opening<'_> {
    /// It is made.
    pub(super) fn done(self, link: Link, now_ms: u64) -> Rc<SharedLink> {
        let link = Rc::new(SharedLink::new(link));
        self.0.link.replace(Some(link.clone()));
        self.0.used_ms.set(now_ms);
        link
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.is_opening.set(false);
    }
}
