//! Instances that the platform runs, for a Worker: the same as [`Instance`](crate::Instance) elsewhere, by `machine.js`.

use std::sync::Arc;

use js_sys::{Array, Uint8Array};
use scoped_tls_hkt::scoped_thread_local;
use wasm_bindgen::prelude::*;

use crate::{
    WASM_PAGE,
    border::{Ask, DRAIN_FUEL, Fault, Host, Limits, SCRIPT_STACK_BYTES, Step, Ticket},
    frame::{Frame, Message},
};

#[wasm_bindgen(module = "/src/worker/machine.js")]
extern "C" {
    fn install(module: &JsValue);
    fn make(say: &Say, clock: &Clock, random: &Random) -> JsValue;
    fn init(machine: &JsValue, heap_end: u32, stack_bytes: i32) -> i32;
    #[wasm_bindgen(js_name = setFuel)]
    fn set_fuel(machine: &JsValue, fuel: i32);
    fn evaluate(machine: &JsValue, frame: &[u8], heap_end: u32) -> i32;
    fn call(machine: &JsValue, frame: &[u8], heap_end: u32) -> i32;
    fn drain(machine: &JsValue) -> i32;
    fn settle(machine: &JsValue, id: i32, is_answer: bool, frame: &[u8]) -> i32;
    fn text(machine: &JsValue) -> Vec<u8>;
    fn why(machine: &JsValue) -> String;
    fn asks(machine: &JsValue) -> Array;
    #[wasm_bindgen(js_name = forgetAsks)]
    fn forget_asks(machine: &JsValue);
    fn fuel(machine: &JsValue) -> i32;
    fn image(machine: &JsValue) -> JsValue;
    fn size(image: &JsValue) -> u32;
    fn restore(machine: &JsValue, image: &JsValue);
}

/// The state of a call that waits.
const WAITS: i32 = 2;

type Say = Closure<dyn Fn(i32, Vec<u8>) -> Option<Vec<u8>>>;
type Clock = Closure<dyn Fn() -> f64>;
type Random = Closure<dyn Fn(Uint8Array)>;

scoped_thread_local!(static HOST: for<'a> &'a (dyn Host + 'a));

thread_local! {
    static FUNCTIONS: (Say, Clock, Random) = (Closure::new(say), Closure::new(clock), Closure::new(random));
}

fn say(kind: i32, frame: Vec<u8>) -> Option<Vec<u8>> {
    let message = Message::read(&frame)?;
    let answer = if HOST.is_set() { HOST.with(|host| host.say(kind, message)) } else { None }?;
    written(answer.frame())
}

fn clock() -> f64 {
    if HOST.is_set() { HOST.with(|host| host.clock_ms()) } else { 0.0 }
}

#[expect(clippy::needless_pass_by_value, reason = "of a closure of JavaScript")]
fn random(into: Uint8Array) {
    let mut bytes = vec![0; into.length() as usize];
    if HOST.is_set() {
        HOST.with(|host| host.random(&mut bytes));
    }
    into.copy_from(&bytes);
}

fn written(frame: Frame<'_>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; frame.length()?];
    frame.write(&mut bytes);
    Some(bytes)
}

/// The compiled module: a `WebAssembly.Module`. Said once for each isolate, before anything else.
pub fn set_module(module: &JsValue) {
    install(module);
}

/// The memory of an engine in which scripts were evaluated.
pub struct Image {
    held: JsValue,
}

impl Image {
    #[expect(clippy::arc_with_non_send_sync, reason = "as on machines, where images are shared by threads")]
    fn of(instance: &Instance) -> Arc<Self> {
        Arc::new(Self { held: image(&instance.machine) })
    }

    /// Evaluates the prelude: a script that comes to a function, which is called with what the module offers, and returns the functions
    /// `load`, `enter`, `settle` and `poll`. See engine/glue.c.
    ///
    /// # Errors
    /// A [`Fault`], or [`Fault::Broken`] with what the prelude threw.
    pub fn base(prelude: &str, limits: Limits, host: &dyn Host) -> Result<Arc<Self>, Fault> {
        let mut instance = Instance::empty();
        let heap_end = pointer(limits.memory_bytes);
        let state = HOST.set(host, || init(&instance.machine, heap_end, SCRIPT_STACK_BYTES));
        // It gives nothing: what is not below zero is well.
        instance.step(if state < 0 { state } else { WAITS })?;
        instance.begin(Limits { memory_bytes: usize::MAX, ..limits })?;
        let script = Frame { head: "{\"path\":\"<millrace>\"}", tail: Some(prelude.as_bytes()) };
        match instance.eval(script, heap_end, host)? {
            Step::Done(_) => Ok(Self::of(&instance)),
            other => Err(Fault::Broken(format!("the prelude: {other:?}"))),
        }
    }

    /// How many bytes an instance takes.
    #[must_use]
    pub fn size(&self) -> usize {
        size(&self.held) as usize
    }
}

/// A copy of an image in which calls run, one at a time.
pub struct Instance {
    image: Option<Arc<Image>>,
    machine: JsValue,
    generation: u64,
    is_used: bool,
    /// The longest message.
    max_message: usize,
}

impl Instance {
    /// A new one.
    ///
    /// # Errors
    /// None: the platform ends the isolate where it has no memory.
    pub fn new(image: &Arc<Image>) -> Result<Self, Fault> {
        let mut instance = Self::empty();
        instance.image = Some(Arc::clone(image));
        instance.is_used = true;
        instance.restore()?;
        Ok(instance)
    }

    fn empty() -> Self {
        let machine = FUNCTIONS.with(|(say, clock, random)| make(say, clock, random));
        Self { image: None, machine, generation: 0, is_used: false, max_message: usize::MAX }
    }

    /// Puts the image back: after it nothing of an earlier call is there, and questions that were not answered are forgotten.
    ///
    /// # Errors
    /// None on this platform.
    pub fn restore(&mut self) -> Result<(), Fault> {
        if let (Some(image), true) = (&self.image, self.is_used) {
            restore(&self.machine, &image.held);
            self.generation += 1;
            self.is_used = false;
        }
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
    /// None on this platform.
    pub fn begin(&mut self, limits: Limits) -> Result<(), Fault> {
        self.is_used = true;
        self.max_message = limits.memory_bytes;
        self.generation += 1;
        forget_asks(&self.machine);
        set_fuel(&self.machine, limits.fuel);
        Ok(())
    }

    /// Runs what a script that failed has left to be done, with nobody to answer it. Says whether all of it is done, within a small budget;
    /// else the instance has to be restored.
    pub fn drain(&mut self, host: &dyn Host) -> bool {
        set_fuel(&self.machine, DRAIN_FUEL);
        HOST.set(host, || drain(&self.machine)) == 1
    }

    /// Evaluates a script that is not part of the image, for the call that follows by [`go_on`](Self::go_on).
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub fn evaluate(&mut self, script: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let heap_end = self.heap_end(limits);
        self.eval(script, heap_end, host)
    }

    fn heap_end(&self, limits: Limits) -> u32 {
        pointer(self.image.as_ref().map_or(0, |image| image.size()).saturating_add(limits.memory_bytes))
    }

    /// Calls a script, with what is left of the fuel.
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub fn go_on(&mut self, message: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let heap_end = self.heap_end(limits);
        let frame = self.written(message)?;
        let state = HOST.set(host, || call(&self.machine, &frame, heap_end));
        self.step(state)
    }

    fn eval(&mut self, script: Frame<'_>, heap_end: u32, host: &dyn Host) -> Result<Step, Fault> {
        let frame = self.written(script)?;
        let state = HOST.set(host, || evaluate(&self.machine, &frame, heap_end));
        self.step(state)
    }

    fn written(&self, message: Frame<'_>) -> Result<Vec<u8>, Fault> {
        written(message).filter(|frame| frame.len() <= self.max_message).ok_or(Fault::Memory)
    }

    /// Answers a question of the running call: with what was asked for, or where `is_answer` is not set with why there is none. What the call
    /// has left of its fuel is what it goes on with.
    ///
    /// # Errors
    /// A [`Fault`] that ended the call.
    pub fn settle(&mut self, ticket: Ticket, is_answer: bool, message: Frame<'_>, host: &dyn Host) -> Result<Step, Fault> {
        if ticket.generation != self.generation || !self.is_used {
            return Ok(Step::Late);
        }
        let frame = self.written(message)?;
        let state = HOST.set(host, || settle(&self.machine, ticket.id, is_answer, &frame));
        self.step(state)
    }

    /// What the call has asked for since this was called last.
    pub fn asks(&mut self) -> Vec<Ask> {
        let parts = asks(&self.machine).to_vec();
        let number = |part: &JsValue| part.as_f64().unwrap_or_default() as i32;
        let ask = |parts: &[JsValue]| {
            let [id, kind, frame] = parts else { return None };
            let message = Message::read(&Uint8Array::from(frame.clone()).to_vec())?;
            Some(Ask::new(self.generation, number(id), number(kind), message))
        };
        parts.chunks(3).filter_map(ask).collect()
    }

    /// What the call has left of its fuel; less than nothing after [`Fault::Fuel`].
    pub fn fuel(&mut self) -> i32 {
        fuel(&self.machine)
    }

    fn step(&mut self, state: i32) -> Result<Step, Fault> {
        let text = || String::from_utf8_lossy(&text(&self.machine)).into_owned();
        match state {
            0 => Ok(Step::Done(text())),
            1 => Ok(Step::Threw(text())),
            WAITS => Ok(Step::Waits),
            -1 => Err(Fault::Fuel),
            -2 => Err(Fault::Stack),
            -3 => Err(Fault::Memory),
            _ => Err(Fault::Broken(why(&self.machine))),
        }
    }
}

/// A place in the memory, or its end where it is not as large.
fn pointer(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX).min(u32::MAX / WASM_PAGE as u32 * WASM_PAGE as u32)
}

/// Evaluates scripts, one after the other in one instance, for an image.
pub struct Loader {
    instance: Instance,
    limits: Limits,
}

impl Loader {
    /// One that goes on where an image ends. The limits are those of each script; the memory is that of all of them together.
    ///
    /// # Errors
    /// None on this platform.
    pub fn on(image: &Arc<Image>, limits: Limits) -> Result<Self, Fault> {
        Ok(Self { instance: Instance::new(image)?, limits })
    }

    /// Evaluates a script, and hands what it comes to to the prelude's `load`, with `meta`: JSON with a `path`, by which stacks name it. The step
    /// has what the prelude's `poll` says of it.
    ///
    /// # Errors
    /// A [`Fault`] that ended it. Then nothing can be done but to [`discard`](Self::discard).
    pub fn script(&mut self, meta: &str, source: &str, host: &dyn Host) -> Result<Step, Fault> {
        self.instance.begin(Limits { memory_bytes: usize::MAX, ..self.limits })?;
        self.instance.evaluate(Frame { head: meta, tail: Some(source.as_bytes()) }, self.limits, host)
    }

    /// What scripts have asked for since this was called last: what takes time.
    pub fn asks(&mut self) -> Vec<Ask> {
        self.instance.asks()
    }

    /// Forgets all that was evaluated.
    ///
    /// # Errors
    /// None on this platform.
    pub fn discard(&mut self) -> Result<(), Fault> {
        self.instance.restore()
    }

    /// The image with all that was evaluated.
    ///
    /// # Errors
    /// None on this platform.
    pub fn into_image(self) -> Result<Arc<Image>, Fault> {
        Ok(Image::of(&self.instance))
    }
}
