//! An instance: a memory in which one call runs at a time.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use wasmtime::{Global, Memory, Store, Trap, TypedFunc, Val, WasmParams, WasmResults};

use super::{
    image::Image,
    mapped,
    module::{self, State, TooMuch, with_host},
};
use crate::{
    WASM_PAGE,
    border::{Ask, DEPTH_START, DRAIN_FUEL, Fault, Host, Limits, SCRIPT_STACK_BYTES, SLICE_UNITS, Step, Ticket},
    frame::Frame,
};

/// An instance that a call has made larger than its image by so much is not used again: its memory
/// would stay.
const MAX_KEPT_GROWTH: usize = 4 << 20;

/// A copy of an image in which calls run, one at a time.
pub struct Instance {
    image: Option<Arc<Image>>,
    store: Store<State>,
    memory: Memory,
    stack_pointer: Global,
    fuel: Global,
    depth: Global,
    exports: Exports,
    places: Places,
    /// Whether a call was in it since it was restored.
    is_used: bool,
    /// How often the image was put back.
    restored: u32,
    /// The longest message.
    max_message: usize,
}

#[derive(Clone)]
struct Exports {
    init: TypedFunc<(i32, i32), ()>,
    alloc: TypedFunc<i32, i32>,
    eval: TypedFunc<(i32, i32, i32), i32>,
    call: TypedFunc<(i32, i32, i32), i32>,
    drain: TypedFunc<(), i32>,
    settle: TypedFunc<(i32, i32, i32, i32), i32>,
}

/// Where in the memory the module keeps what is read there.
struct Places {
    heap_top: usize,
    out: usize,
    out_length: usize,
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
        let instance = block(module.instantiate_async(&mut store)).map_err(broken)?;
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
        };
        let memory = instance.get_memory(&mut store, "memory").ok_or_else(|| missing("memory"))?;
        let mut global = |name: &str| instance.get_global(&mut store, name).ok_or_else(|| missing(name));
        let (stack_pointer, fuel, depth) = (global("__stack_pointer")?, global("fuel")?, global("depth")?);
        let (heap_top, out, out_length) = (global("heap_top")?, global("out")?, global("out_length")?);
        let mut place = |global: Global| global.get(&mut store).i32().unwrap_or_default().cast_unsigned() as usize;
        let places = Places { heap_top: place(heap_top), out: place(out), out_length: place(out_length) };
        let state = store.data_mut();
        (state.memory, state.fuel) = (Some(memory), Some(fuel));
        Ok(Self {
            image: None,
            store,
            memory,
            stack_pointer,
            fuel,
            depth,
            exports,
            places,
            is_used: false,
            restored: 0,
            max_message: usize::MAX,
        })
    }

    /// Starts the engine. Its heap may end at `heap_end`.
    pub(crate) fn start(&mut self, heap_end: usize, host: &dyn Host) -> Result<(), Fault> {
        self.set_fuel(i64::MAX)?;
        let init = self.exports.init.clone();
        block(self.enter(&init, (pointer(heap_end), SCRIPT_STACK_BYTES), host))
    }

    /// Puts the image back: after it nothing of an earlier call is there, and questions that were
    /// not answered are forgotten.
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
            self.restored = self.restored.wrapping_add(1);
            let stack_pointer = image.stack_pointer() as usize;
            mapped::restore(&self.memory, &mut self.store, image.held(), stack_pointer, self.restored).map_err(broken)?;
            let stack_pointer = image.stack_pointer().cast_signed();
            self.stack_pointer.set(&mut self.store, Val::I32(stack_pointer)).map_err(broken)?;
            self.depth.set(&mut self.store, Val::I32(DEPTH_START)).map_err(broken)?;
        }
        let state = self.store.data_mut();
        state.shrink();
        state.image_bytes = image.size();
        state.generation = generation;
        self.forget_questions();
        self.is_used = false;
        Ok(())
    }

    /// Begins a call. The instance is restored where it was not.
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub async fn call(&mut self, message: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        self.restore()?;
        self.begin(limits)?;
        self.go_on(message, limits, host).await
    }

    /// Makes it ready for a script of a call, in what the one before it has left: the image, or
    /// another script of the same call. What that one has asked for is answered to nobody.
    ///
    /// # Errors
    /// None that is known.
    pub fn begin(&mut self, limits: Limits) -> Result<(), Fault> {
        self.is_used = true;
        self.max_message = limits.memory_bytes;
        self.forget_questions();
        let state = self.store.data_mut();
        state.pauses = true;
        state.is_short = false;
        self.set_fuel(i64::try_from(limits.fuel).unwrap_or(i64::MAX))
    }

    fn forget_questions(&mut self) {
        let state = self.store.data_mut();
        state.generation += 1;
        state.asks.clear();
        state.asked_bytes = 0;
    }

    /// Runs what a script that failed has left to be done, with nobody to answer it. Says whether
    /// all of it is done, within a small budget; else the instance has to be restored.
    pub async fn drain(&mut self, host: &dyn Host) -> bool {
        if self.set_fuel(DRAIN_FUEL).is_err() {
            return false;
        }
        let drain = self.exports.drain.clone();
        self.enter(&drain, (), host).await == Ok(1)
    }

    /// Evaluates a script that is not part of the image, for the call that follows by
    /// [`go_on`](Self::go_on).
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub async fn evaluate(&mut self, script: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let heap_end = self.heap_end(limits);
        self.eval(script, heap_end, host).await
    }

    fn heap_end(&self, limits: Limits) -> i32 {
        pointer(self.image.as_ref().map_or(0, |image| image.size()).saturating_add(limits.memory_bytes))
    }

    /// Calls a script, with what is left of the fuel.
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub async fn go_on(&mut self, message: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let heap_end = self.heap_end(limits);
        let (place, length) = self.put(message, host).await?;
        let call = self.exports.call.clone();
        let state = self.enter(&call, (place, length, heap_end), host).await?;
        self.step(state)
    }

    /// Answers a question of the running call: with what was asked for, or where `is_answer` is not
    /// set with why there is none. What the call has left of its fuel is what it goes on with.
    ///
    /// # Errors
    /// A [`Fault`] that ended the call.
    pub async fn settle(&mut self, ticket: Ticket, is_answer: bool, message: Frame<'_>, host: &dyn Host) -> Result<Step, Fault> {
        if ticket.generation != self.store.data().generation || !self.is_used {
            return Ok(Step::Late);
        }
        let (place, length) = self.put(message, host).await?;
        let settle = self.exports.settle.clone();
        let state = self.enter(&settle, (ticket.id, i32::from(is_answer), place, length), host).await?;
        self.step(state)
    }

    /// Evaluates a script.
    pub(crate) async fn eval(&mut self, script: Frame<'_>, heap_end: i32, host: &dyn Host) -> Result<Step, Fault> {
        let (place, length) = self.put(script, host).await?;
        let eval = self.exports.eval.clone();
        let state = self.enter(&eval, (place, length, heap_end), host).await?;
        self.step(state)
    }

    /// Takes no pauses: for work outside of a call.
    pub(crate) fn never_pauses(&mut self) {
        self.store.data_mut().pauses = false;
    }

    /// Whether the call was refused memory because that which all calls share is used up.
    pub fn is_short(&self) -> bool {
        self.store.data().is_short
    }

    /// How much memory the call has taken beyond the image, in bytes. It gives none back before it
    /// ends, so this is the most that it had.
    pub fn taken_bytes(&self) -> Option<usize> {
        Some(self.store.data().shared)
    }

    /// What the call has asked for since this was called last.
    pub fn asks(&mut self) -> Vec<Ask> {
        let state = self.store.data_mut();
        state.asked_bytes = 0;
        std::mem::take(&mut state.asks)
    }

    /// What the call has left of its fuel; less than nothing after [`Fault::Fuel`].
    pub fn fuel(&mut self) -> i64 {
        i64::from(self.tank()) + self.store.data().left
    }

    /// Takes units for what the host does.
    ///
    /// # Errors
    /// [`Fault::Fuel`] where there are fewer.
    pub fn spend(&mut self, units: u64) -> Result<(), Fault> {
        let left = self.fuel().saturating_sub(i64::try_from(units).unwrap_or(i64::MAX));
        self.set_fuel(left.max(i64::from(i32::MIN)))?;
        if left < 0 { Err(Fault::Fuel) } else { Ok(()) }
    }

    fn tank(&mut self) -> i32 {
        self.fuel.get(&mut self.store).i32().unwrap_or_default()
    }

    /// Where the heap ends now.
    ///
    /// # Errors
    /// None that is known.
    pub fn top(&self) -> Result<usize, Fault> {
        self.word(self.places.heap_top)
    }

    fn word(&self, place: usize) -> Result<usize, Fault> {
        let bytes = self.memory.data(&self.store).get(place..).and_then(|rest| rest.first_chunk());
        let bytes = bytes.ok_or_else(|| Fault::Broken(String::from("a place outside of the memory")))?;
        Ok(u32::from_le_bytes(*bytes) as usize)
    }

    pub(crate) fn stack_pointer(&mut self) -> u32 {
        self.stack_pointer.get(&mut self.store).i32().unwrap_or_default().cast_unsigned()
    }

    /// The memory up to where the heap ends, rounded up.
    pub(crate) fn memory(&mut self) -> Result<&[u8], Fault> {
        let top = self.top()?.next_multiple_of(WASM_PAGE);
        self.memory.data(&self.store).get(..top).ok_or_else(|| Fault::Broken(String::from("the heap ends outside of the memory")))
    }

    fn set_fuel(&mut self, fuel: i64) -> Result<(), Fault> {
        let tank = fuel.min(SLICE_UNITS);
        self.store.data_mut().left = fuel - tank;
        self.fuel.set(&mut self.store, Val::I32(i32::try_from(tank).unwrap_or(i32::MAX))).map_err(broken)
    }

    async fn put(&mut self, frame: Frame<'_>, host: &dyn Host) -> Result<(i32, i32), Fault> {
        let length = frame.length().filter(|length| *length <= self.max_message).ok_or(Fault::Memory)?;
        let length_i32 = i32::try_from(length).map_err(broken)?;
        let alloc = self.exports.alloc.clone();
        let place = self.enter(&alloc, length_i32, host).await?;
        if place == 0 {
            return Err(Fault::Memory);
        }
        let start = place.cast_unsigned() as usize;
        let bytes = self.memory.data_mut(&mut self.store).get_mut(start..start + length);
        frame.write(bytes.ok_or_else(|| Fault::Broken(String::from("a place outside of the memory")))?);
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
        let (start, length) = (self.word(self.places.out)?, self.word(self.places.out_length)?);
        let bytes = self.memory.data(&self.store).get(start..).and_then(|rest| rest.get(..length));
        let bytes = bytes.ok_or_else(|| Fault::Broken(String::from("what it left is outside of the memory")))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Runs an export, with the host in reach. Where this is dropped before it is done the instance
    /// has to be restored.
    async fn enter<P: WasmParams + Sync, R: WasmResults + Sync>(
        &mut self,
        export: &TypedFunc<P, R>,
        parameters: P,
        host: &dyn Host,
    ) -> Result<R, Fault> {
        let result = {
            let mut running = pin!(export.call_async(&mut self.store, parameters));
            loop {
                let turn = poll_fn(|context| Poll::Ready(with_host(host, || running.as_mut().poll(context)))).await;
                match turn {
                    Poll::Ready(result) => break result,
                    Poll::Pending if host.pause().await => {}
                    Poll::Pending => return Err(Fault::Stopped),
                }
            }
        };
        result.map_err(|error| self.fault(error))
    }

    fn fault(&mut self, error: wasmtime::Error) -> Fault {
        if error.is::<TooMuch>() {
            return Fault::Memory;
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => Fault::Stack,
            Some(Trap::UnreachableCodeReached) if self.tank() < 0 => Fault::Fuel,
            _ => broken(error),
        }
    }
}

/// Runs what does not wait.
pub(crate) fn block<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}

/// A place in the memory, or its end where it is not as large.
pub(crate) fn pointer(place: usize) -> i32 {
    u32::try_from(place).unwrap_or(u32::MAX).min(u32::MAX / WASM_PAGE as u32 * WASM_PAGE as u32).cast_signed()
}

pub(crate) fn broken(error: impl std::fmt::Debug) -> Fault {
    Fault::Broken(format!("{error:?}"))
}
