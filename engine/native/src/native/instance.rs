//! An instance: a memory in which one call runs at a time.

use std::sync::Arc;

use wasmtime::{Global, Memory, Store, Trap, TypedFunc, Val};

use super::{
    image::Image,
    mapped,
    module::{self, State, with_host},
    stack::with_room,
};
use crate::{
    WASM_PAGE,
    border::{Ask, DRAIN_FUEL, Fault, Host, Limits, SCRIPT_STACK_BYTES, Step, Ticket},
    frame::Frame,
};

/// An instance that a call has made larger than its image by so much is not used again: its memory would stay.
const MAX_KEPT_GROWTH: usize = 16 << 20;

/// What [`Instance::alloc`] takes of fuel, and [`Instance::text`], so that an empty tank does not hide what was said last.
const SPARE_FUEL: i32 = 100_000;

/// A copy of an image in which calls run, one at a time.
pub struct Instance {
    image: Option<Arc<Image>>,
    store: Store<State>,
    memory: Memory,
    stack_pointer: Global,
    fuel: Global,
    exports: Exports,
    /// Whether a call was in it since it was restored.
    is_used: bool,
    /// The longest message.
    max_message: usize,
}

struct Exports {
    init: TypedFunc<(i32, i32), ()>,
    alloc: TypedFunc<i32, i32>,
    eval: TypedFunc<(i32, i32, i32), i32>,
    call: TypedFunc<(i32, i32, i32), i32>,
    drain: TypedFunc<(), i32>,
    settle: TypedFunc<(i32, i32, i32, i32), i32>,
    out: TypedFunc<(), i32>,
    out_len: TypedFunc<(), i32>,
    top: TypedFunc<(), i32>,
}

impl Instance {
    /// A new one.
    ///
    /// # Errors
    /// [`Fault::Broken`] where the operating system gives no memory.
    pub fn new(image: &Arc<Image>) -> Result<Self, Fault> {
        let mut instance = Self::empty()?;
        mapped::attach(&instance.memory, &mut instance.store, image.held()).map_err(broken)?;
        instance.image = Some(Arc::clone(image));
        instance.is_used = true;
        instance.restore()?;
        Ok(instance)
    }

    /// One without an image, in which the engine has not started.
    pub(crate) fn empty() -> Result<Self, Fault> {
        let module = module::module().map_err(broken)?;
        let mut store = module::store(module);
        let instance = module.instantiate(&mut store).map_err(broken)?;
        macro_rules! function {
            ($name:literal) => {
                instance.get_typed_func(&mut store, $name).map_err(broken)?
            };
        }
        let missing = |name: &str| Fault::Broken(format!("the module has no `{name}`"));
        let exports = Exports {
            init: function!("init"),
            alloc: function!("alloc"),
            eval: function!("eval"),
            call: function!("call"),
            drain: function!("drain"),
            settle: function!("settle"),
            out: function!("out"),
            out_len: function!("out_len"),
            top: function!("top"),
        };
        let memory = instance.get_memory(&mut store, "memory").ok_or_else(|| missing("memory"))?;
        let stack_pointer = instance.get_global(&mut store, "__stack_pointer").ok_or_else(|| missing("__stack_pointer"))?;
        let fuel = instance.get_global(&mut store, "fuel").ok_or_else(|| missing("fuel"))?;
        store.data_mut().memory = Some(memory);
        Ok(Self { image: None, store, memory, stack_pointer, fuel, exports, is_used: false, max_message: usize::MAX })
    }

    /// Starts the engine. Its heap may end at `heap_end`.
    pub(crate) fn start(&mut self, heap_end: usize, host: &dyn Host) -> Result<(), Fault> {
        self.set_fuel(i32::MAX)?;
        let arguments = (pointer(heap_end), SCRIPT_STACK_BYTES);
        self.enter(host, |instance| instance.exports.init.call(&mut instance.store, arguments))
    }

    /// Puts the image back: after it nothing of an earlier call is there, and questions that were not answered are forgotten.
    ///
    /// # Errors
    /// [`Fault::Broken`] where the operating system gives no memory.
    pub fn restore(&mut self) -> Result<(), Fault> {
        let Some(image) = self.image.clone() else { return Ok(()) };
        if !self.is_used {
            return Ok(());
        }
        let generation = self.store.data().generation;
        if self.memory.data_size(&self.store) > image.bytes().len() + MAX_KEPT_GROWTH {
            *self = Self::new(&image)?;
        } else {
            mapped::restore(&self.memory, &mut self.store, image.held(), image.stack_pointer() as usize).map_err(broken)?;
            let stack_pointer = image.stack_pointer().cast_signed();
            self.stack_pointer.set(&mut self.store, Val::I32(stack_pointer)).map_err(broken)?;
        }
        self.store.data_mut().generation = generation;
        self.forget_questions();
        self.is_used = false;
        Ok(())
    }

    /// Begins a call. The instance is restored where it was not.
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub fn call(&mut self, message: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        self.restore()?;
        self.begin(limits)?;
        self.go_on(message, limits, host)
    }

    /// Makes it ready for a script of a call, in what the one before it has left: the image, or another script of the same call. What that one
    /// has asked for is answered to nobody.
    ///
    /// # Errors
    /// None that is known.
    pub fn begin(&mut self, limits: Limits) -> Result<(), Fault> {
        self.is_used = true;
        self.max_message = limits.memory_bytes;
        self.forget_questions();
        self.set_fuel(limits.fuel)
    }

    fn forget_questions(&mut self) {
        let state = self.store.data_mut();
        state.generation += 1;
        state.asks.clear();
        state.asked_bytes = 0;
    }

    /// Runs what a script that failed has left to be done, with nobody to answer it. Says whether all of it is done, within a small budget;
    /// else the instance has to be restored.
    pub fn drain(&mut self, host: &dyn Host) -> bool {
        let done =
            self.set_fuel(DRAIN_FUEL).and_then(|()| self.enter(host, |instance| instance.exports.drain.call(&mut instance.store, ())));
        done == Ok(1)
    }

    /// Evaluates a script that is not part of the image, for the call that follows by [`go_on`](Self::go_on).
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub fn evaluate(&mut self, script: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let heap_end = self.heap_end(limits);
        self.eval(script, heap_end, host)
    }

    fn heap_end(&self, limits: Limits) -> i32 {
        pointer(self.image.as_ref().map_or(0, |image| image.size()).saturating_add(limits.memory_bytes))
    }

    /// Calls a script, with what is left of the fuel.
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub fn go_on(&mut self, message: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let heap_end = self.heap_end(limits);
        self.enter(host, |instance| {
            let (place, length) = instance.put(message)?;
            instance.exports.call.call(&mut instance.store, (place, length, heap_end))
        })
        .and_then(|state| self.step(state))
    }

    /// Answers a question of the running call: with what was asked for, or where `is_answer` is not set with why there is none. What the call
    /// has left of its fuel is what it goes on with.
    ///
    /// # Errors
    /// A [`Fault`] that ended the call.
    pub fn settle(&mut self, ticket: Ticket, is_answer: bool, message: Frame<'_>, host: &dyn Host) -> Result<Step, Fault> {
        if ticket.generation != self.store.data().generation || !self.is_used {
            return Ok(Step::Late);
        }
        self.enter(host, |instance| {
            let (place, length) = instance.put(message)?;
            instance.exports.settle.call(&mut instance.store, (ticket.id, i32::from(is_answer), place, length))
        })
        .and_then(|state| self.step(state))
    }

    /// Evaluates a script.
    pub(crate) fn eval(&mut self, script: Frame<'_>, heap_end: i32, host: &dyn Host) -> Result<Step, Fault> {
        self.enter(host, |instance| {
            let (place, length) = instance.put(script)?;
            instance.exports.eval.call(&mut instance.store, (place, length, heap_end))
        })
        .and_then(|state| self.step(state))
    }

    /// What the call has asked for since this was called last.
    pub fn asks(&mut self) -> Vec<Ask> {
        let state = self.store.data_mut();
        state.asked_bytes = 0;
        std::mem::take(&mut state.asks)
    }

    /// What the call has left of its fuel; less than nothing after [`Fault::Fuel`].
    pub fn fuel(&mut self) -> i32 {
        self.fuel.get(&mut self.store).i32().unwrap_or_default()
    }

    /// Where the heap ends now.
    pub fn top(&mut self) -> Result<usize, Fault> {
        self.with_spare_fuel(|instance| instance.exports.top.call(&mut instance.store, ())).map(|top| top.cast_unsigned() as usize)
    }

    pub(crate) fn stack_pointer(&mut self) -> u32 {
        self.stack_pointer.get(&mut self.store).i32().unwrap_or_default().cast_unsigned()
    }

    /// The memory up to where the heap ends, rounded up.
    pub(crate) fn memory(&mut self) -> Result<&[u8], Fault> {
        let top = self.top()?.next_multiple_of(WASM_PAGE);
        self.memory.data(&self.store).get(..top).ok_or_else(|| Fault::Broken(String::from("the heap ends outside of the memory")))
    }

    fn set_fuel(&mut self, fuel: i32) -> Result<(), Fault> {
        self.fuel.set(&mut self.store, Val::I32(fuel)).map_err(broken)
    }

    fn put(&mut self, frame: Frame<'_>) -> wasmtime::Result<(i32, i32)> {
        let length = frame.length().filter(|length| *length <= self.max_message).ok_or(NoMemory)?;
        let length_i32 = i32::try_from(length)?;
        let place = self.exports.alloc.call(&mut self.store, length_i32)?;
        if place == 0 {
            return Err(NoMemory.into());
        }
        let start = place.cast_unsigned() as usize;
        let bytes = self.memory.data_mut(&mut self.store).get_mut(start..start + length);
        frame.write(bytes.ok_or_else(|| wasmtime::Error::msg("a place outside of the memory"))?);
        Ok((place, length_i32))
    }

    /// What a state that an export gave means.
    fn step(&mut self, state: i32) -> Result<Step, Fault> {
        match state {
            0 => self.text().map(Step::Done),
            1 => self.text().map(Step::Threw),
            2 => Ok(Step::Waits),
            _ => Err(Fault::Broken(format!("the module is in a state {state}"))),
        }
    }

    fn text(&mut self) -> Result<String, Fault> {
        let (start, length) = self.with_spare_fuel(|instance| {
            let start = instance.exports.out.call(&mut instance.store, ())?;
            Ok((start, instance.exports.out_len.call(&mut instance.store, ())?))
        })?;
        let (start, length) = (start.cast_unsigned() as usize, length.cast_unsigned() as usize);
        let bytes = self.memory.data(&self.store).get(start..).and_then(|rest| rest.get(..length));
        let bytes = bytes.ok_or_else(|| Fault::Broken(String::from("what it left is outside of the memory")))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn with_spare_fuel<R>(&mut self, work: impl FnOnce(&mut Self) -> wasmtime::Result<R>) -> Result<R, Fault> {
        let left = self.fuel();
        self.set_fuel(left.max(0).saturating_add(SPARE_FUEL))?;
        let result = work(self).map_err(broken);
        self.set_fuel(left)?;
        result
    }

    /// Runs an export, with the host in reach.
    fn enter<R: Send>(&mut self, host: &dyn Host, work: impl FnOnce(&mut Self) -> wasmtime::Result<R> + Send) -> Result<R, Fault> {
        let result = with_room(host, |host| with_host(host, || work(self)));
        result.map_err(|error| self.fault(error))
    }

    fn fault(&mut self, error: wasmtime::Error) -> Fault {
        if error.is::<NoMemory>() {
            return Fault::Memory;
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => Fault::Stack,
            Some(Trap::UnreachableCodeReached) if self.fuel() < 0 => Fault::Fuel,
            _ => broken(error),
        }
    }
}

/// A place in the memory, or its end where it is not as large.
pub(crate) fn pointer(place: usize) -> i32 {
    u32::try_from(place).unwrap_or(u32::MAX).min(u32::MAX / WASM_PAGE as u32 * WASM_PAGE as u32).cast_signed()
}

/// The engine has no room for a message.
#[derive(Debug)]
struct NoMemory;

impl std::fmt::Display for NoMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no memory for a message")
    }
}

impl std::error::Error for NoMemory {}

pub(crate) fn broken(error: impl std::fmt::Debug) -> Fault {
    Fault::Broken(format!("{error:?}"))
}
