//! The worlds of an isolate: those at rest, and how many are in use.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, VecDeque},
    future::poll_fn,
    rc::Rc,
    task::{Poll, Waker},
};

use millrace_core::ports::ScriptFault;

use crate::{baseline::BuiltIns, plan::Plan, realm::World};

/// The most calls that are inside the engine at a time; more wait in line.
pub const MAX_ACTIVE: usize = 64;

/// The most worlds that are kept while nobody uses them.
pub const MAX_IDLE: usize = 8;

/// The pool of an engine.
#[derive(Default)]
pub(crate) struct Pool {
    idle: RefCell<Vec<World>>,
    plans: RefCell<HashMap<usize, Rc<Plan>>>,
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

    /// How a script runs. Found out at its first call.
    pub(crate) fn plan(&self, index: usize, program: &str) -> Rc<Plan> {
        self.plans.borrow_mut().entry(index).or_insert_with(|| Rc::new(Plan::new(program))).clone()
    }

    /// A world at rest, or a new one.
    pub(crate) fn take(&self, built_ins: BuiltIns) -> Result<World, Box<ScriptFault>> {
        let at_rest = {
            let mut idle = self.idle.borrow_mut();
            let place = idle.iter().rposition(|world| world.built_ins == built_ins);
            place.map(|place| idle.remove(place))
        };
        if let Some(world) = at_rest {
            return Ok(world);
        }
        self.made.set(self.made.get() + 1);
        tracing::debug!(number = self.made.get(), ?built_ins, "making a script world");
        World::prepare(built_ins).map_err(|error| Box::new(ScriptFault::Broken(format!("the script engine does not start: {error}"))))
    }

    /// Keeps a restored world for the next call.
    pub(crate) fn keep(&self, world: World) {
        let mut idle = self.idle.borrow_mut();
        idle.push(world);
        if idle.len() > MAX_IDLE {
            // One of the kind that there is more of, so that neither ever goes without.
            let frozen = idle.iter().filter(|world| world.built_ins == BuiltIns::Frozen).count();
            let many = if 2 * frozen > idle.len() { BuiltIns::Frozen } else { BuiltIns::Watched };
            if let Some(place) = idle.iter().position(|world| world.built_ins == many) {
                idle.remove(place);
            }
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
