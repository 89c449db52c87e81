//! Instances that the platform runs, for a Worker: the same as [`Instance`](crate::Instance)
//! elsewhere, by `machine.js`.

use std::sync::Arc;

use js_sys::{Array, Promise, Uint8Array, futures::JsFuture};
use scoped_tls_hkt::scoped_thread_local;
use wasm_bindgen::prelude::*;

use crate::{
    WASM_PAGE,
    border::{Ask, DEPTH_START, DRAIN_FUEL, Fault, Host, Limits, SCRIPT_STACK_BYTES, SLICE_UNITS, Step, Ticket},
    frame::{Frame, Message},
};

#[wasm_bindgen(module = "/src/worker/machine.js")]
extern "C" {
    fn install(module: &JsValue);
    fn make(is_here: &IsHere, say: &Say, clock: &Clock, random: &Random, suspends: bool, slice: f64, depth: i32) -> JsValue;
    #[wasm_bindgen(js_name = drop)]
    fn release(machine: &JsValue);
    fn init(machine: &JsValue, heap_end: u32, stack_bytes: i32) -> JsValue;
    #[wasm_bindgen(js_name = setFuel)]
    fn set_fuel(machine: &JsValue, fuel: f64);
    fn evaluate(machine: &JsValue, frame: &[u8], heap_end: u32) -> JsValue;
    fn call(machine: &JsValue, frame: &[u8], heap_end: u32) -> JsValue;
    fn drain(machine: &JsValue) -> JsValue;
    fn settle(machine: &JsValue, id: i32, is_answer: bool, frame: &[u8]) -> JsValue;
    fn resume(machine: &JsValue, value: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = isRunning)]
    fn is_running(machine: &JsValue) -> bool;
    #[wasm_bindgen(js_name = wantedKind)]
    fn wanted_kind(machine: &JsValue) -> i32;
    #[wasm_bindgen(js_name = wantedFrame)]
    fn wanted_frame(machine: &JsValue) -> Vec<u8>;
    #[wasm_bindgen(js_name = wantedLength)]
    fn wanted_length(machine: &JsValue) -> u32;
    fn text(machine: &JsValue) -> Vec<u8>;
    fn why(machine: &JsValue) -> String;
    #[wasm_bindgen(js_name = isShort)]
    fn is_short(machine: &JsValue) -> bool;
    fn asks(machine: &JsValue) -> Array;
    fn begin(machine: &JsValue);
    fn fuel(machine: &JsValue) -> f64;
    fn image(machine: &JsValue) -> JsValue;
    fn size(image: &JsValue) -> u32;
    #[wasm_bindgen(catch)]
    fn restore(machine: &JsValue, image: &JsValue) -> Result<bool, JsValue>;
}

/// The state of a call that waits.
const WAITS: i32 = 2;

// The states in which it stops: see machine.js.
const PAUSE: i32 = -5;
const SAY: i32 = -6;
const CLOCK: i32 = -7;
const RANDOM: i32 = -8;

type IsHere = Closure<dyn Fn() -> bool>;
type Say = Closure<dyn Fn(i32, Vec<u8>) -> Option<Vec<u8>>>;
type Clock = Closure<dyn Fn() -> f64>;
type Random = Closure<dyn Fn(Uint8Array)>;

scoped_thread_local!(static HOST: for<'a> &'a (dyn Host + 'a));

thread_local! {
    static FUNCTIONS: (IsHere, Say, Clock, Random) =
        (Closure::new(|| HOST.is_set()), Closure::new(say), Closure::new(clock), Closure::new(random));
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
    fn of(instance: &Instance) -> Arc<Self> {
        Arc::new(Self { held: image(&instance.machine) })
    }

    /// Evaluates the prelude: a script that comes to a function, which is called with what the
    /// module offers, and returns the functions `load`, `enter`, `settle` and `poll`. See
    /// engine/glue.c.
    ///
    /// # Errors
    /// A [`Fault`], or [`Fault::Broken`] with what the prelude threw.
    pub fn base(prelude: &str, limits: Limits, host: &dyn Host) -> Result<Arc<Self>, Fault> {
        let mut instance = Instance::empty(false)?;
        let heap_end = pointer(limits.memory_bytes);
        let started = settled(HOST.set(host, || init(&instance.machine, heap_end, SCRIPT_STACK_BYTES)))?;
        // It gives nothing: what is not below zero is well.
        instance.step(if started < 0 { started } else { WAITS })?;
        instance.begin(Limits { memory_bytes: usize::MAX, ..limits })?;
        let script = Frame { head: "{\"path\":\"<millrace>\"}", tail: Some(prelude.as_bytes()) };
        match instance.eval_at_once(script, heap_end, host)? {
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
    suspends: bool,
    generation: u64,
    is_used: bool,
    /// The longest message.
    max_message: usize,
}

impl Instance {
    /// A new one.
    ///
    /// # Errors
    /// [`Fault::Memory`] where the isolate has no memory for it.
    pub fn new(image: &Arc<Image>) -> Result<Self, Fault> {
        Self::on(image, true)
    }

    fn on(image: &Arc<Image>, suspends: bool) -> Result<Self, Fault> {
        let mut instance = Self::empty(suspends)?;
        instance.image = Some(Arc::clone(image));
        instance.is_used = true;
        instance.restore()?;
        Ok(instance)
    }

    #[expect(clippy::unnecessary_wraps, reason = "as on machines")]
    fn empty(suspends: bool) -> Result<Self, Fault> {
        Ok(Self { image: None, machine: made(suspends), suspends, generation: 0, is_used: false, max_message: usize::MAX })
    }

    /// Puts the image back: after it nothing of an earlier call is there, and questions that were
    /// not answered are forgotten.
    ///
    /// # Errors
    /// [`Fault::Memory`] where the isolate has no memory for it.
    pub fn restore(&mut self) -> Result<(), Fault> {
        let (Some(image), true) = (&self.image, self.is_used) else { return Ok(()) };
        if is_running(&self.machine) {
            // What runs there touches nothing but that machine.
            release(&self.machine);
            self.machine = made(self.suspends);
        }
        if restore(&self.machine, &image.held) != Ok(true) {
            return Err(Fault::Memory);
        }
        self.generation += 1;
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
    /// None on this platform.
    pub fn begin(&mut self, limits: Limits) -> Result<(), Fault> {
        self.is_used = true;
        self.max_message = limits.memory_bytes;
        self.generation += 1;
        begin(&self.machine);
        set_fuel(&self.machine, units(limits.fuel));
        Ok(())
    }

    /// Runs what a script that failed has left to be done, with nobody to answer it. Says whether
    /// all of it is done, within a small budget; else the instance has to be restored.
    pub async fn drain(&mut self, host: &dyn Host) -> bool {
        set_fuel(&self.machine, units(DRAIN_FUEL.unsigned_abs()));
        let started = HOST.set(host, || drain(&self.machine));
        self.follow(started, host).await == Ok(1)
    }

    /// Evaluates a script that is not part of the image, for the call that follows by
    /// [`go_on`](Self::go_on).
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub async fn evaluate(&mut self, script: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let frame = self.written(script)?;
        let started = HOST.set(host, || evaluate(&self.machine, &frame, self.heap_end(limits)));
        let state = self.follow(started, host).await?;
        self.step(state)
    }

    /// Whether the call was refused memory because that which all calls share is used up.
    pub fn is_short(&self) -> bool {
        is_short(&self.machine)
    }

    fn heap_end(&self, limits: Limits) -> u32 {
        pointer(self.image.as_ref().map_or(0, |image| image.size()).saturating_add(limits.memory_bytes))
    }

    /// Calls a script, with what is left of the fuel.
    ///
    /// # Errors
    /// A [`Fault`] that ended it.
    pub async fn go_on(&mut self, message: Frame<'_>, limits: Limits, host: &dyn Host) -> Result<Step, Fault> {
        let frame = self.written(message)?;
        let started = HOST.set(host, || call(&self.machine, &frame, self.heap_end(limits)));
        let state = self.follow(started, host).await?;
        self.step(state)
    }

    /// Evaluates a script in a machine that never stops.
    fn eval_at_once(&mut self, script: Frame<'_>, heap_end: u32, host: &dyn Host) -> Result<Step, Fault> {
        let frame = self.written(script)?;
        let state = settled(HOST.set(host, || evaluate(&self.machine, &frame, heap_end)))?;
        self.step(state)
    }

    /// Waits for what the machine comes to, and does what it wants on the way.
    async fn follow(&self, started: JsValue, host: &dyn Host) -> Result<i32, Fault> {
        let mut state = arrived(started).await?;
        loop {
            let answer = match state {
                PAUSE => {
                    if !host.pause().await {
                        return Err(Fault::Stopped);
                    }
                    JsValue::UNDEFINED
                }
                SAY => {
                    let message = Message::read(&wanted_frame(&self.machine));
                    let answer = message.and_then(|message| host.say(wanted_kind(&self.machine), message));
                    answer.and_then(|answer| written(answer.frame())).map_or(JsValue::UNDEFINED, |frame| Uint8Array::from(&*frame).into())
                }
                CLOCK => host.clock_ms().into(),
                RANDOM => {
                    let mut bytes = vec![0; wanted_length(&self.machine) as usize];
                    host.random(&mut bytes);
                    Uint8Array::from(&*bytes).into()
                }
                state => return Ok(state),
            };
            let resumed = HOST.set(host, || resume(&self.machine, &answer));
            state = arrived(resumed).await?;
        }
    }

    fn written(&self, message: Frame<'_>) -> Result<Vec<u8>, Fault> {
        written(message).filter(|frame| frame.len() <= self.max_message).ok_or(Fault::Memory)
    }

    /// Answers a question of the running call: with what was asked for, or where `is_answer` is not
    /// set with why there is none. What the call has left of its fuel is what it goes on with.
    ///
    /// # Errors
    /// A [`Fault`] that ended the call.
    pub async fn settle(&mut self, ticket: Ticket, is_answer: bool, message: Frame<'_>, host: &dyn Host) -> Result<Step, Fault> {
        if ticket.generation != self.generation || !self.is_used {
            return Ok(Step::Late);
        }
        let frame = self.written(message)?;
        let started = HOST.set(host, || settle(&self.machine, ticket.id, is_answer, &frame));
        let state = self.follow(started, host).await?;
        self.step(state)
    }

    /// How much memory the call has taken beyond the image; it is not looked at there.
    pub fn taken_bytes(&self) -> Option<usize> {
        None
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
    pub fn fuel(&mut self) -> i64 {
        fuel(&self.machine) as i64
    }

    /// Takes units for what the host does.
    ///
    /// # Errors
    /// [`Fault::Fuel`] where there are fewer.
    pub fn spend(&mut self, units: u64) -> Result<(), Fault> {
        let left = self.fuel().saturating_sub(i64::try_from(units).unwrap_or(i64::MAX));
        set_fuel(&self.machine, left as f64);
        if left < 0 { Err(Fault::Fuel) } else { Ok(()) }
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

impl Drop for Instance {
    fn drop(&mut self) {
        release(&self.machine);
    }
}

/// A machine, which stops where the platform can do that if it `suspends`.
fn made(suspends: bool) -> JsValue {
    FUNCTIONS.with(|(is_here, say, clock, random)| make(is_here, say, clock, random, suspends, SLICE_UNITS as f64, DEPTH_START))
}

/// As many units as a number of JavaScript counts.
fn units(fuel: u64) -> f64 {
    fuel.min(1 << 52) as f64
}

/// What an export came to that does not stop. One without a result comes to nothing.
fn settled(state: JsValue) -> Result<i32, Fault> {
    number(if state.is_undefined() { JsValue::from(0) } else { state })
}

async fn arrived(state: JsValue) -> Result<i32, Fault> {
    if !state.is_instance_of::<Promise>() {
        return number(state);
    }
    match JsFuture::from(Promise::from(state)).await {
        Ok(state) => number(state),
        // What a function of the host threw is not the script's.
        Err(error) => wasm_bindgen::throw_val(error),
    }
}

fn number(state: JsValue) -> Result<i32, Fault> {
    state.as_f64().map(|state| state as i32).ok_or_else(|| Fault::Broken(String::from("a state that is not a number")))
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
    /// One that goes on where an image ends. The limits are those of each script; the memory is
    /// that of all of them together.
    ///
    /// # Errors
    /// None on this platform.
    pub fn on(image: &Arc<Image>, limits: Limits) -> Result<Self, Fault> {
        Ok(Self { instance: Instance::on(image, false)?, limits })
    }

    /// Evaluates a script, and hands what it comes to to the prelude's `load`, with `meta`: JSON
    /// with a `path`, by which stacks name it. The step has what the prelude's `poll` says of it.
    ///
    /// # Errors
    /// A [`Fault`] that ended it. Then nothing can be done but to [`discard`](Self::discard).
    pub fn script(&mut self, meta: &str, source: &str, host: &dyn Host) -> Result<Step, Fault> {
        self.instance.begin(Limits { memory_bytes: usize::MAX, ..self.limits })?;
        let heap_end = self.instance.heap_end(self.limits);
        self.instance.eval_at_once(Frame { head: meta, tail: Some(source.as_bytes()) }, heap_end, host)
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
