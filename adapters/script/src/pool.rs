//! The instances of an isolate: those at rest, and how many are in use.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, Waker},
};

use millrace_core::{app::Script, ports::ScriptFault};
use millrace_engine::{Fault, Image, Instance};

use crate::program::{self, Program};

/// The most calls that are inside the engine at a time; more wait in line. Each has a memory, and a
/// Worker's isolate has no room for as many.
pub const MAX_ACTIVE: usize = if cfg!(target_arch = "wasm32") { 24 } else { 64 };

/// The most instances that are kept while nobody uses them.
pub const MAX_IDLE: usize = 8;

/// What they may take in a Worker, where each is a copy of the image.
const IDLE_BYTES: usize = 24 << 20;

/// How full the pools of this process are: read when somebody looks.
static USED: AtomicUsize = AtomicUsize::new(0);
static WAITING: AtomicUsize = AtomicUsize::new(0);
/// How many pools have evaluated their scripts.
static POOLS: AtomicUsize = AtomicUsize::new(0);

/// The places of the engines of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacesReading {
    /// Calls that are inside.
    pub used: usize,
    /// Calls that wait.
    pub waiting: usize,
    /// How many may be inside.
    pub max: usize,
}

/// How many calls are in the script engines of this process. `None` where none has started.
#[must_use]
pub fn places() -> Option<PlacesReading> {
    let pools = POOLS.load(Relaxed);
    let reading = PlacesReading { used: USED.load(Relaxed), waiting: WAITING.load(Relaxed), max: pools * MAX_ACTIVE };
    (pools > 0).then_some(reading)
}

/// The pool of an engine.
#[derive(Default)]
pub(crate) struct Pool {
    base: RefCell<Option<Arc<Image>>>,
    program: RefCell<Option<Rc<Program>>>,
    /// The one that was used last is the last.
    idle: RefCell<Vec<Instance>>,
    active: Cell<usize>,
    /// Who waits, in the order in which they came.
    line: RefCell<BTreeMap<u64, Waker>>,
    /// How many waited so far.
    waited: Cell<u64>,
    made: Cell<usize>,
}

/// A place inside the engine; given back when dropped.
pub(crate) struct PoolSlot(Rc<Pool>);

/// What a call has between two of its scripts: its place, and the instance as the scripts have left
/// it. It goes back when the call ends.
pub(crate) struct CallInstance {
    slot: PoolSlot,
    instance: Option<Instance>,
    /// Whether a script of the call has run in it.
    pub(crate) is_used: bool,
    /// Whether there may be something left to be done.
    pub(crate) has_left: bool,
    /// The scripts that are no part of the image, and were evaluated for this call.
    pub(crate) evaluated: Vec<usize>,
}

impl CallInstance {
    /// In a place.
    pub(crate) fn new(slot: PoolSlot) -> Self {
        Self { slot, instance: None, is_used: false, has_left: false, evaluated: Vec::new() }
    }

    /// The instance: as the call's last script has left it, or a new one. Whoever takes it puts it
    /// back, or it is given up.
    pub(crate) fn take(&mut self, program: &Program) -> Result<Instance, ScriptFault> {
        match self.instance.take() {
            Some(instance) => Ok(instance),
            None => {
                self.forget();
                self.slot.0.take(program)
            }
        }
    }

    /// Notes that the instance is as the image has it.
    pub(crate) fn forget(&mut self) {
        self.is_used = false;
        self.has_left = false;
        self.evaluated.clear();
    }

    /// Keeps the instance for the call's next script.
    pub(crate) fn put(&mut self, instance: Instance) {
        self.instance = Some(instance);
    }
}

impl Drop for CallInstance {
    fn drop(&mut self) {
        if let Some(instance) = self.instance.take() {
            self.slot.0.keep(instance);
        }
    }
}

impl Pool {
    /// A place, if one is free.
    pub(crate) fn try_enter(self: &Rc<Self>) -> Option<PoolSlot> {
        if self.active.get() >= MAX_ACTIVE {
            return None;
        }
        self.active.set(self.active.get() + 1);
        USED.fetch_add(1, Relaxed);
        Some(PoolSlot(Rc::clone(self)))
    }

    /// Waits for a place.
    pub(crate) fn enter(self: &Rc<Self>) -> EnterPool<'_> {
        let number = self.waited.get();
        self.waited.set(number + 1);
        WAITING.fetch_add(1, Relaxed);
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

    /// The scripts, evaluated.
    pub(crate) fn program(&self, scripts: &[Script]) -> Result<Rc<Program>, ScriptFault> {
        if let Some(program) = &*self.program.borrow() {
            return Ok(Rc::clone(program));
        }
        let program = Rc::new(program::load(&self.base()?, scripts).map_err(|fault| does_not_start(&fault))?);
        tracing::debug!(scripts = scripts.len(), bytes = program.image.size(), "the scripts were evaluated");
        *self.program.borrow_mut() = Some(Rc::clone(&program));
        POOLS.fetch_add(1, Relaxed);
        Ok(program)
    }

    pub(crate) fn base(&self) -> Result<Arc<Image>, ScriptFault> {
        if let Some(base) = &*self.base.borrow() {
            return Ok(Arc::clone(base));
        }
        let base = program::base().map_err(|fault| does_not_start(&fault))?;
        *self.base.borrow_mut() = Some(Arc::clone(&base));
        Ok(base)
    }

    /// An instance, at rest or new.
    fn take(&self, program: &Program) -> Result<Instance, ScriptFault> {
        if let Some(instance) = self.idle.borrow_mut().pop() {
            return Ok(instance);
        }
        self.made.set(self.made.get() + 1);
        Instance::new(&program.image).map_err(|fault| if fault == Fault::Memory { ScriptFault::Busy } else { does_not_start(&fault) })
    }

    /// Keeps an instance for the next call.
    fn keep(&self, mut instance: Instance) {
        // What a call has left there is not for the next one, nor for whoever reads the memory of
        // this process.
        if instance.restore().is_err() {
            return;
        }
        let mut idle = self.idle.borrow_mut();
        if idle.len() < most_idle(&self.program.borrow()) {
            idle.push(instance);
        }
    }

    /// Makes what the first call takes. It fails where the call would fail, which says so then.
    pub(crate) fn warm(&self, scripts: &[Script]) {
        let Ok(program) = self.program(scripts) else { return };
        let instance = if self.idle.borrow().is_empty() { self.take(&program) } else { return };
        if let Ok(instance) = instance {
            self.idle.borrow_mut().push(instance);
        }
    }

    /// How many instances were made.
    pub(crate) fn made(&self) -> usize {
        self.made.get()
    }
}

/// How many instances are kept: as many as there is room for, where each takes the memory of the
/// image.
fn most_idle(program: &Option<Rc<Program>>) -> usize {
    let size = program.as_ref().map_or(1, |program| program.image.size().max(1));
    if cfg!(target_arch = "wasm32") { (IDLE_BYTES / size).clamp(1, MAX_IDLE) } else { MAX_IDLE }
}

pub(crate) fn does_not_start(fault: &Fault) -> ScriptFault {
    ScriptFault::Broken(format!("the script engine does not start: {fault:?}"))
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.program.get_mut().is_some() {
            POOLS.fetch_sub(1, Relaxed);
        }
    }
}

impl Drop for PoolSlot {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get() - 1);
        USED.fetch_sub(1, Relaxed);
        self.0.call_next();
    }
}

/// Waits for a place.
pub(crate) struct EnterPool<'a> {
    pool: &'a Rc<Pool>,
    number: u64,
    is_inside: bool,
}

impl Future for EnterPool<'_> {
    type Output = PoolSlot;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<PoolSlot> {
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
        WAITING.fetch_sub(1, Relaxed);
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
        let pool = Rc::new(Pool::default());
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
