//! Looks at the limits of the running call: time, memory, depth. Wherever the program has a checkpoint, and in built-in functions that
//! loop or allocate by a number that a script gives them.

use std::rc::Rc;

use boa_engine::{Context, JsError, JsResult, error::RuntimeLimitError};
use millrace_core::ports::ScriptFault;

use crate::{
    limit,
    state::{CallState, host, state},
};

/// How often a checkpoint looks at the clock.
const CLOCK_EVERY: u64 = 32;

/// A list or a text from this length on takes long enough for a look at the clock of its own.
const LONG: u64 = 10_000;

/// The most elements of a list that a built-in function walks over without calling the script.
pub(crate) const MAX_LIST: u64 = 4_000_000;

/// The most code units of a text, for each byte of the limit of memory: two such texts and the one they are joined to fit.
const TEXT_SHARE: usize = 4;

/// The most bits of a bigint.
pub(crate) const MAX_BIGINT_BITS: u64 = 1 << 20;

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
    Err(stop(state, limit::memory(state.meter.memory_limit.get())))
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
            return Err(stop(&state, limit::recursion(state.meter.recursion_limit.get())));
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
