//! What one call takes: time, memory, depth. Looked at wherever the program has a checkpoint, and by built-in functions that loop or
//! allocate by a number that a script gives them.
//!
//! Memory is counted by the allocator of the whole program, for each thread, and an isolate is one thread. What a call takes is what is
//! allocated while it runs and not given back; other calls of the isolate run in between, and their share is their own. Garbage counts until
//! it is collected, so that a call that seems to have too much first makes the collector run.

use std::{alloc::System, cell::Cell, rc::Rc};

use alloc_metrics::MetricAlloc;
use boa_engine::{Context, JsError, JsResult, error::RuntimeLimitError};
use millrace_core::{app::ScriptLimits, ports::ScriptFault};

use crate::{
    fault,
    state::{CallState, host, state},
};

/// Counts the bytes of each thread. It is here, so that no host can forget it.
#[global_allocator]
static ALLOCATOR: MetricAlloc<System> = MetricAlloc::new(System);

/// How often a checkpoint looks at the clock.
const CLOCK_EVERY: u64 = 32;

/// A list or a text from this length on takes long enough for a look at the clock of its own.
const LONG: u64 = 10_000;

/// A call that took so much makes the collector run when it ends, so that the memory is free for others.
const COLLECT_AFTER_BYTES: isize = 8 << 20;

/// The most elements of a list that a built-in function walks over without calling the script.
pub(crate) const MAX_LIST: u64 = 4_000_000;

/// The most code units of a text, for each byte of the limit of memory: two such texts and the one they are joined to fit.
const TEXT_SHARE: usize = 4;

/// The most bits of a bigint.
pub(crate) const MAX_BIGINT_BITS: u64 = 1 << 20;

/// What is counted of a call.
pub(crate) struct Meter {
    memory_limit: Cell<isize>,
    recursion_limit: Cell<usize>,
    /// Bytes that the call had when it last gave up the thread.
    taken: Cell<isize>,
    /// The thread's bytes when the call last got it.
    before: Cell<isize>,
    /// Built-in functions that called each other, with no function of the script between them.
    nested: Cell<usize>,
}

fn thread_bytes() -> isize {
    alloc_metrics::thread_metrics().allocated_bytes
}

impl Default for Meter {
    /// Without limits: a world is being made.
    fn default() -> Self {
        Self {
            memory_limit: Cell::new(isize::MAX),
            recursion_limit: Cell::new(usize::MAX),
            taken: Cell::default(),
            before: Cell::default(),
            nested: Cell::default(),
        }
    }
}

impl Meter {
    /// A call begins.
    pub(crate) fn begin(&self, limits: &ScriptLimits) {
        self.memory_limit.set(isize::try_from(limits.memory_bytes).unwrap_or(isize::MAX));
        self.recursion_limit.set(limits.recursion as usize);
        self.taken.set(0);
        self.nested.set(0);
    }

    /// The call gets the thread.
    pub(crate) fn resume(&self) {
        self.before.set(thread_bytes());
    }

    /// The call gives up the thread.
    pub(crate) fn pause(&self) {
        self.taken.set(self.in_use());
    }

    fn in_use(&self) -> isize {
        self.taken.get() + thread_bytes() - self.before.get()
    }

    /// Bytes that are left.
    pub(crate) fn room(&self) -> u64 {
        u64::try_from(self.memory_limit.get() - self.in_use()).unwrap_or(0)
    }

    /// Whether so many further bytes fit.
    fn has_room(&self, bytes: isize) -> bool {
        let fits = || self.in_use().saturating_add(bytes) <= self.memory_limit.get();
        if fits() {
            return true;
        }
        boa_gc::force_collect();
        fits()
    }

    /// The call is over: what it left is collected where that is worth it.
    pub(crate) fn end(&self) {
        if self.taken.replace(0) > COLLECT_AFTER_BYTES {
            boa_gc::force_collect();
        }
    }
}

/// Ends the running call. The error is of the one kind that a script cannot catch.
pub(crate) fn stop(state: &CallState, fault: ScriptFault) -> JsError {
    state.fault.borrow_mut().get_or_insert(fault);
    RuntimeLimitError::LoopIteration.into()
}

/// Looks at everything.
pub(crate) fn look(context: &Context) -> JsResult<()> {
    let state = state(context)?;
    // The interpreter's own frames are a slice: this does not walk them.
    let depth = context.stack_trace().size_hint().0;
    state.deepest.set(state.deepest.get().max(depth));
    let count = state.checkpoints.get() + 1;
    state.checkpoints.set(count);
    if count.is_multiple_of(CLOCK_EVERY) {
        clock(&state)?;
    }
    room_for(&state, 0)
}

/// Looks at the clock, and whether the caller is still there.
fn clock(state: &CallState) -> JsResult<()> {
    match host(|host| state.must_stop(host.now_ms())).flatten() {
        Some(fault) => Err(stop(state, fault)),
        None => Ok(()),
    }
}

/// Asks for so many bytes, before they are allocated.
pub(crate) fn ask(bytes: u64, context: &Context) -> JsResult<()> {
    let state = state(context)?;
    room_for(&state, isize::try_from(bytes).unwrap_or(isize::MAX))
}

fn room_for(state: &CallState, bytes: isize) -> JsResult<()> {
    if state.meter.has_room(bytes) {
        return Ok(());
    }
    Err(stop(state, fault::memory(state.meter.memory_limit.get())))
}

/// Looks at the clock and at what a list of so many elements takes, before a built-in function walks over it.
pub(crate) fn list(length: u64, bytes_each: u64, what: &str, context: &Context) -> JsResult<()> {
    list_up_to(MAX_LIST, length, bytes_each, what, context)
}

/// The same, for what is faster or slower than most.
pub(crate) fn list_up_to(most: u64, length: u64, bytes_each: u64, what: &str, context: &Context) -> JsResult<()> {
    if length > most {
        let state = state(context)?;
        let message = format!("{what} was given a list of {length} elements; it takes at most {most}");
        return Err(stop(&state, ScriptFault::Limit(message)));
    }
    look(context)?;
    if length >= LONG {
        clock(&*state(context)?)?;
    }
    ask(length.saturating_mul(bytes_each), context)
}

/// A text of so many code units is about to be made.
pub(crate) fn text(units: u64, context: &Context) -> JsResult<()> {
    let state = state(context)?;
    let most = state.meter.memory_limit.get() as u64 / TEXT_SHARE as u64;
    if units > most {
        let message = format!("a text of {units} characters is too long; with `limits.script.memory` as it is, {most} are allowed");
        return Err(stop(&state, ScriptFault::Limit(message)));
    }
    if units >= LONG {
        clock(&state)?;
    }
    room_for(&state, isize::try_from(units.saturating_mul(2)).unwrap_or(isize::MAX))
}

/// A bigint of so many bits is about to be made.
pub(crate) fn bigint(bits: u64, context: &Context) -> JsResult<()> {
    if bits <= MAX_BIGINT_BITS {
        return Ok(());
    }
    let state = state(context)?;
    Err(stop(&state, ScriptFault::Limit(format!("a bigint has at most {MAX_BIGINT_BITS} bits"))))
}

/// Held by a built-in function that may call another one.
pub(crate) struct Nested(Rc<CallState>);

impl Nested {
    /// Enters such a function.
    pub(crate) fn enter(context: &Context) -> JsResult<Self> {
        let state = state(context)?;
        let nested = state.meter.nested.get() + 1;
        let depth = nested + context.stack_trace().size_hint().0;
        if depth > state.meter.recursion_limit.get() {
            return Err(stop(&state, fault::recursion(state.meter.recursion_limit.get())));
        }
        state.meter.nested.set(nested);
        Ok(Self(state))
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        self.0.meter.nested.set(self.0.meter.nested.get().saturating_sub(1));
    }
}
