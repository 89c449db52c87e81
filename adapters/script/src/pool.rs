//! The worlds of an isolate: those at rest, and how many are in use.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    task::{Poll, Waker},
};

use millrace_core::ports::ScriptFault;

use crate::realm::World;

/// The most calls that are inside the engine at a time; more wait in line.
pub const MAX_ACTIVE: usize = 64;

/// The most worlds that are kept while nobody uses them.
pub const MAX_IDLE: usize = 8;

/// The pool of an engine.
#[derive(Default)]
pub(crate) struct Pool {
    idle: RefCell<Vec<World>>,
    active: Cell<usize>,
    waiting: RefCell<VecDeque<Waker>>,
    made: Cell<usize>,
}

/// A place inside the engine; given back when dropped.
pub(crate) struct Place<'a>(&'a Pool);

impl Pool {
    /// A place, if one is free.
    pub(crate) fn try_enter(&self) -> Option<Place<'_>> {
        if self.active.get() >= MAX_ACTIVE {
            return None;
        }
        self.active.set(self.active.get() + 1);
        Some(Place(self))
    }

    /// Waits for a place.
    pub(crate) async fn enter(&self) -> Place<'_> {
        poll_fn(|context| {
            if let Some(place) = self.try_enter() {
                return Poll::Ready(place);
            }
            self.waiting.borrow_mut().push_back(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// A world at rest, or a new one.
    pub(crate) fn take(&self) -> Result<World, Box<ScriptFault>> {
        if let Some(world) = self.idle.borrow_mut().pop() {
            return Ok(world);
        }
        self.made.set(self.made.get() + 1);
        tracing::debug!(number = self.made.get(), "making a script world");
        World::prepare().map_err(|error| Box::new(ScriptFault::Broken(format!("the script engine does not start: {error}"))))
    }

    /// Keeps a restored world for the next call.
    pub(crate) fn keep(&self, world: World) {
        let mut idle = self.idle.borrow_mut();
        if idle.len() < MAX_IDLE {
            idle.push(world);
        }
    }

    /// How many worlds were made.
    pub(crate) fn made(&self) -> usize {
        self.made.get()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get() - 1);
        // Everyone looks again: one that stopped waiting must not swallow the turn of another.
        for waker in self.0.waiting.take() {
            waker.wake();
        }
    }
}
