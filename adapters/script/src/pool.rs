//! The worlds of an isolate: those at rest, and how many are in use.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    future::Future,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
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
    /// Who waits, in the order in which they came.
    line: RefCell<BTreeMap<u64, Waker>>,
    /// How many waited so far.
    waited: Cell<u64>,
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
    pub(crate) fn enter(&self) -> Enter<'_> {
        let number = self.waited.get();
        self.waited.set(number + 1);
        Enter { pool: self, number, is_inside: false }
    }

    /// Lets the next in line look, if there is a place.
    fn call_next(&self) {
        if self.active.get() >= MAX_ACTIVE {
            return;
        }
        // Whoever is called may look at the line at once.
        let next = self.line.borrow_mut().pop_first();
        if let Some((_, waker)) = next {
            waker.wake();
        }
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
        self.0.call_next();
    }
}

/// Waits for a place.
pub(crate) struct Enter<'a> {
    pool: &'a Pool,
    number: u64,
    is_inside: bool,
}

impl<'a> Future for Enter<'a> {
    type Output = Place<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Place<'a>> {
        let mut line = self.pool.line.borrow_mut();
        match self.pool.try_enter() {
            Some(place) => {
                line.remove(&self.number);
                drop(line);
                self.is_inside = true;
                Poll::Ready(place)
            }
            None => {
                line.insert(self.number, context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Enter<'_> {
    fn drop(&mut self) {
        // One that was called and stopped waiting must not swallow the turn of another.
        let was_called = !self.is_inside && self.pool.line.borrow_mut().remove(&self.number).is_none();
        if was_called {
            self.pool.call_next();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering::Relaxed},
        },
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Calls(AtomicUsize);

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn a_place_calls_one_and_one_that_left_passes_it_on() {
        let pool = Pool::default();
        let mut places: Vec<_> = (0..MAX_ACTIVE).map(|_| pool.try_enter().unwrap()).collect();
        assert!(pool.try_enter().is_none());
        let calls: [Arc<Calls>; 3] = Default::default();
        let called = || calls.each_ref().map(|calls| calls.0.load(Relaxed));
        let [first, second, third] = calls.each_ref().map(|calls| Waker::from(calls.clone()));
        let poll = |enter: Pin<&mut Enter<'_>>, waker| enter.poll(&mut Context::from_waker(waker)).is_ready();
        let mut left = Box::pin(pool.enter());
        let mut next = pin!(pool.enter());
        let mut last = pin!(pool.enter());
        assert!(!poll(left.as_mut(), &first) && !poll(next.as_mut(), &second) && !poll(last.as_mut(), &third));
        places.pop();
        assert_eq!(called(), [1, 0, 0]);
        drop(left);
        assert_eq!(called(), [1, 1, 0]);
        // Somebody who had not waited was quicker: whoever was called keeps its turn.
        places.push(pool.try_enter().unwrap());
        assert!(!poll(next.as_mut(), &second));
        places.pop();
        assert_eq!(called(), [1, 2, 0]);
        assert!(poll(next.as_mut(), &second));
        // The place was dropped at once.
        assert_eq!(called(), [1, 2, 1]);
        assert!(poll(last.as_mut(), &third));
        drop(places);
        assert!(pool.line.borrow().is_empty() && pool.active.get() == 0);
    }
}
