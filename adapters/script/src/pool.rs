//! The instances of an isolate: those at rest, and how many are in use.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use millrace_core::{app::Script, ports::ScriptFault};
use millrace_engine::{Image, Instance};

use crate::program::{self, Program};

/// The most calls that are inside the engine at a time; more wait in line.
pub const MAX_ACTIVE: usize = 64;

/// The most instances that are kept while nobody uses them.
pub const MAX_IDLE: usize = 8;

/// The pool of an engine.
#[derive(Default)]
pub(crate) struct Pool {
    base: RefCell<Option<Arc<Image>>>,
    programs: RefCell<BTreeMap<usize, Program>>,
    /// The one that was used last is the last.
    idle: RefCell<Vec<(usize, Instance)>>,
    active: Cell<usize>,
    /// Who waits, in the order in which they came.
    line: RefCell<BTreeMap<u64, Waker>>,
    /// How many waited so far.
    waited: Cell<u64>,
    made: Cell<usize>,
}

/// A place inside the engine; given back when dropped.
pub(crate) struct PoolSlot<'a>(&'a Pool);

impl Pool {
    /// A place, if one is free.
    pub(crate) fn try_enter(&self) -> Option<PoolSlot<'_>> {
        if self.active.get() >= MAX_ACTIVE {
            return None;
        }
        self.active.set(self.active.get() + 1);
        Some(PoolSlot(self))
    }

    /// Waits for a place.
    pub(crate) fn enter(&self) -> EnterPool<'_> {
        let number = self.waited.get();
        self.waited.set(number + 1);
        EnterPool { pool: self, number, is_inside: false }
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

    /// The script of a number, evaluated.
    pub(crate) fn program(&self, index: usize, script: &Script) -> Result<Program, ScriptFault> {
        if let Some(program) = self.programs.borrow().get(&index) {
            return Ok(program.clone());
        }
        let program = program::load(&self.base()?, script)?;
        tracing::debug!(path = script.path, bytes = program.image.size(), program.is_in_image, "a script was evaluated");
        self.programs.borrow_mut().insert(index, program.clone());
        Ok(program)
    }

    fn base(&self) -> Result<Arc<Image>, ScriptFault> {
        if let Some(base) = &*self.base.borrow() {
            return Ok(Arc::clone(base));
        }
        let base = program::base().map_err(|fault| ScriptFault::Broken(format!("the script engine does not start: {fault:?}")))?;
        *self.base.borrow_mut() = Some(Arc::clone(&base));
        Ok(base)
    }

    /// An instance of the script of a number, at rest or new.
    pub(crate) fn take(&self, index: usize, program: &Program) -> Result<Instance, ScriptFault> {
        let mut idle = self.idle.borrow_mut();
        if let Some(place) = idle.iter().rposition(|(known, _)| *known == index) {
            return Ok(idle.remove(place).1);
        }
        self.made.set(self.made.get() + 1);
        Instance::new(&program.image).map_err(|fault| ScriptFault::Broken(format!("the script engine does not start: {fault:?}")))
    }

    /// Keeps an instance for the next call.
    pub(crate) fn keep(&self, index: usize, mut instance: Instance) {
        // What a call has left there is not for the next one, nor for whoever reads the memory of this process.
        if instance.restore().is_err() {
            return;
        }
        let mut idle = self.idle.borrow_mut();
        if idle.len() >= MAX_IDLE {
            idle.remove(0);
        }
        idle.push((index, instance));
    }

    /// Makes what the first call takes. It fails where the call would fail, which says so then.
    pub(crate) fn warm(&self) {
        let _ = self.base();
    }

    /// How many instances were made.
    pub(crate) fn made(&self) -> usize {
        self.made.get()
    }
}

impl Drop for PoolSlot<'_> {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get() - 1);
        self.0.call_next();
    }
}

/// Waits for a place.
pub(crate) struct EnterPool<'a> {
    pool: &'a Pool,
    number: u64,
    is_inside: bool,
}

impl<'a> Future for EnterPool<'a> {
    type Output = PoolSlot<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<PoolSlot<'a>> {
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

impl Drop for EnterPool<'_> {
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
        let poll = |enter: Pin<&mut EnterPool<'_>>, waker| enter.poll(&mut Context::from_waker(waker)).is_ready();
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
