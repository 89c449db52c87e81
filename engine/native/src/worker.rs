//! Instances that the platform runs, for a Worker: the same as [`Instance`](crate::Instance) elsewhere, by `machine.js`.

use std::sync::Arc;

use js_sys::{Array, Uint8Array};
use scoped_tls_hkt::scoped_thread_local;
use wasm_bindgen::prelude::*;

use crate::{
    WASM_PAGE,
    border::{Ask, Fault, Host, Limits, Loaded, SCRIPT_STACK_BYTES, Step, Ticket},
    frame::{Frame, Message},
};

#[wasm_bindgen(module = "/src/worker/machine.js")]
extern "C" {
    fn install(module: &JsValue);
    fn make(say: &Say, clock: &Clock, random: &Random) -> JsValue;
    fn init(machine: &JsValue, heap_end: u32, stack_bytes: i32) -> i32;
    #[wasm_bindgen(js_name = setFuel)]
    fn set_fuel(machine: &JsValue, fuel: i32);
    fn evaluate(machine: &JsValue, frame: &[u8]) -> i32;
    fn call(machine: &JsValue, frame: &[u8], heap_end: u32) -> i32;
    fn settle(machine: &JsValue, id: i32, is_answer: bool, frame: &[u8]) -> i32;
    fn text(machine: &JsValue) -> Vec<u8>;
    fn why(machine: &JsValue) -> String;
    fn asks(machine: &JsValue) -> Array;
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
        self.begin(limits)?;
        self.go_on(message, limits, host)
    }

    /// Evaluates a script that is not part of the image, for the call that follows by [`go_on`](Self::go_on).
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub fn evaluate(&mut self, script: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        self.begin(limits)?;
        self.eval(script, host)
    }

    fn begin(&mut self, limits: Limits) -> Result<(), Fault> {
        self.restore()?;
        self.is_used = true;
        self.max_message = limits.memory_bytes;
        set_fuel(&self.machine, limits.fuel);
        Ok(())
    }

    /// Begins a call after [`evaluate`](Self::evaluate), with what that has left of its fuel.
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub fn go_on(&mut self, message: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let base = self.image.as_ref().map_or(0, |image| image.size());
        let heap_end = base.saturating_add(limits.memory_bytes).min(u32::MAX as usize / WASM_PAGE * WASM_PAGE);
        let heap_end = u32::try_from(heap_end).unwrap_or(u32::MAX);
        let frame = self.written(message)?;
        let state = HOST.set(host, || call(&self.machine, &frame, heap_end));
        self.step(state)
    }

    fn eval(&mut self, script: Frame<'_>, host: &dyn Host) -> Result<Step, Fault> {
        self.is_used = true;
        let frame = self.written(script)?;
        let state = HOST.set(host, || evaluate(&self.machine, &frame));
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

/// Makes an image, script by script.
pub struct Loader {
    instance: Instance,
    image: Arc<Image>,
    limits: Limits,
}

impl Loader {
    /// Evaluates the prelude: a script that comes to a function, which is called with what the module offers, and returns the functions
    /// `load`, `enter`, `settle` and `poll`. See engine/glue.c.
    ///
    /// # Errors
    /// A [`Fault`], or [`Fault::Broken`] with what the prelude threw.
    pub fn new(prelude: &str, limits: Limits, host: &dyn Host) -> Result<Self, Fault> {
        let mut instance = Instance::empty();
        let heap_end = u32::try_from(limits.memory_bytes).unwrap_or(u32::MAX);
        let state = HOST.set(host, || init(&instance.machine, heap_end, SCRIPT_STACK_BYTES));
        // It gives nothing: what is not below zero is well.
        instance.step(if state < 0 { state } else { WAITS })?;
        let script = Frame { head: "{\"path\":\"<millrace>\"}", tail: Some(prelude.as_bytes()) };
        set_fuel(&instance.machine, limits.fuel);
        match instance.eval(script, host)? {
            Step::Done(_) => {}
            other => return Err(Fault::Broken(format!("the prelude: {other:?}"))),
        }
        Self::on(&Image::of(&instance), limits)
    }

    /// One that goes on where an image ends.
    ///
    /// # Errors
    /// None on this platform.
    pub fn on(image: &Arc<Image>, limits: Limits) -> Result<Self, Fault> {
        Ok(Self { instance: Instance::new(image)?, image: Arc::clone(image), limits })
    }

    /// Evaluates a script, and hands what it comes to to the prelude's `load`, with `meta`: JSON with a `path`, by which stacks name it. `keep`
    /// says afterwards whether it is to be part of the image.
    ///
    /// # Errors
    /// A [`Fault`] that ended it. What was loaded before stays.
    pub fn script(&mut self, meta: &str, source: &str, host: &dyn Host, keep: impl FnOnce(&str) -> bool) -> Result<Loaded, Fault> {
        let step = self.instance.evaluate(Frame { head: meta, tail: Some(source.as_bytes()) }, self.limits, host)?;
        let has_asked = !self.instance.asks().is_empty();
        match step {
            Step::Threw(text) => Ok(Loaded::Threw(text)),
            Step::Done(text) if has_asked || !keep(&text) => Ok(Loaded::Refused(text)),
            Step::Done(text) => {
                self.image = Image::of(&self.instance);
                self.instance = Instance::new(&self.image)?;
                Ok(Loaded::Kept(text))
            }
            Step::Waits | Step::Late => Ok(Loaded::Waits),
        }
    }

    /// The image as it is now.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }
}
