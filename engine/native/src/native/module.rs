//! The module's machine code, and what it imports.

use std::sync::OnceLock;

use scoped_tls_hkt::scoped_thread_local;
use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    task::{Context, Poll},
};

use wasmtime::{Caller, Engine, Global, InstancePre, Linker, Memory, Module, Result, Store, Val};

use super::{config, mapped};
use crate::{
    border::{Ask, Host, SLICE_UNITS},
    frame::Message,
};

/// The most questions that wait for an answer at a time, and their bytes. A prelude has limits of
/// its own: these hold whatever it does.
const MAX_ASKS: usize = 200_000;
const MAX_ASKED_BYTES: usize = 256 << 20;

/// The stack of a call, which is its own: no thread needs more for it than for other work. What is
/// not touched takes no memory.
const STACK_BYTES: usize = 3 << 20;

/// How much of it code of the module may take. The rest is for the host's functions that it calls.
const WASM_STACK_BYTES: usize = 2 << 20;

/// The most that the calls of a process may have of memory beyond their images, together.
const SHARED_BYTES: usize = 1 << 30;

/// What of that they have.
static SHARED: AtomicUsize = AtomicUsize::new(0);

/// What `build.rs` made.
static CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm"));

scoped_thread_local!(static HOST: for<'a> &'a (dyn Host + 'a));

/// Does work during which the module reaches `host`.
pub(crate) fn with_host<R>(host: &dyn Host, work: impl FnOnce() -> R) -> R {
    HOST.set(host, work)
}

/// What the calls of this process have of memory beyond their images, together, and the most that
/// they may have, in bytes.
#[must_use]
pub fn shared_memory() -> (usize, usize) {
    (SHARED.load(Relaxed), SHARED_BYTES)
}

/// What an instance's store holds.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) memory: Option<Memory>,
    pub(crate) fuel: Option<Global>,
    /// Units of fuel beyond those in the tank.
    pub(crate) left: i64,
    /// Whether the host is asked for a pause now and then.
    pub(crate) pauses: bool,
    pub(crate) asks: Vec<Ask>,
    pub(crate) asked_bytes: usize,
    pub(crate) generation: u64,
    /// How many bytes the image has.
    pub(crate) image_bytes: usize,
    /// What it has of the memory that all share.
    pub(crate) shared: usize,
    /// Whether it was refused more of it.
    pub(crate) is_short: bool,
    /// The answer to what was said last.
    answer: Vec<u8>,
}

impl State {
    /// Takes memory of what all share, so that the heap may end there.
    fn grow(&mut self, end: usize) -> bool {
        let more = end.saturating_sub(self.image_bytes).saturating_sub(self.shared);
        let taken = SHARED.fetch_update(Relaxed, Relaxed, |all| all.checked_add(more).filter(|all| *all <= SHARED_BYTES)).is_ok();
        if taken {
            self.shared += more
        } else {
            self.is_short = true
        }
        taken
    }

    /// Gives back what it has of the memory that all share.
    pub(crate) fn shrink(&mut self) {
        SHARED.fetch_sub(std::mem::take(&mut self.shared), Relaxed);
        self.is_short = false;
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.shrink();
    }
}

/// The module, ready to be instantiated. It is read at the first use in a process.
pub(crate) fn module() -> Result<&'static InstancePre<State>> {
    static MODULE: OnceLock<std::result::Result<InstancePre<State>, String>> = OnceLock::new();
    let module = MODULE.get_or_init(|| read().map_err(|error| format!("{error:?}")));
    module.as_ref().map_err(|error| wasmtime::Error::msg(error.clone()))
}

#[allow(unsafe_code)]
fn read() -> Result<InstancePre<State>> {
    let mut config = config::of(std::env::consts::OS);
    config.max_wasm_stack(WASM_STACK_BYTES).async_stack_size(STACK_BYTES);
    mapped::configure(&mut config);
    let engine = Engine::new(&config)?;
    // SAFETY: the bytes are what `precompile_module` of the same version returned in our build
    // script, compiled into this program.
    let module = unsafe { Module::deserialize(&engine, CODE) }?;
    let mut linker = Linker::new(&engine);
    linker.func_wrap("host", "ask", ask)?;
    linker.func_wrap("host", "say", say)?;
    linker.func_wrap("host", "reply", reply)?;
    linker.func_wrap("host", "clock", clock)?;
    linker.func_wrap("host", "random", random)?;
    linker.func_wrap("host", "grow", grow)?;
    linker.func_wrap_async("host", "more", |caller, (): ()| Box::new(more(caller)))?;
    linker.instantiate_pre(&module)
}

/// A new store for an instance.
pub(crate) fn store(module: &InstancePre<State>) -> Store<State> {
    Store::new(module.module().engine(), State::default())
}

fn bytes<'a>(caller: &'a mut Caller<'_, State>, from: i32, length: i32) -> Result<(&'a mut [u8], &'a mut State)> {
    let memory = caller.data().memory.ok_or_else(|| wasmtime::Error::msg("no memory"))?;
    let (all, state) = memory.data_and_store_mut(caller);
    let (from, length) = (from.cast_unsigned() as usize, length.cast_unsigned() as usize);
    let bytes = all.get_mut(from..).and_then(|rest| rest.get_mut(..length));
    Ok((bytes.ok_or_else(|| wasmtime::Error::msg("a place outside of the memory"))?, state))
}

fn read_message(caller: &mut Caller<'_, State>, from: i32, length: i32) -> Result<Message> {
    let (bytes, _) = bytes(caller, from, length)?;
    Message::read(bytes).ok_or_else(|| wasmtime::Error::msg("a message that is not a frame"))
}

fn ask(mut caller: Caller<'_, State>, id: i32, kind: i32, from: i32, length: i32) -> Result<()> {
    let message = read_message(&mut caller, from, length)?;
    let state = caller.data_mut();
    state.asked_bytes += message.head.len() + message.tail.as_ref().map_or(0, Vec::len);
    if state.asks.len() >= MAX_ASKS || state.asked_bytes > MAX_ASKED_BYTES {
        return Err(TooMuch.into());
    }
    let generation = state.generation;
    state.asks.push(Ask::new(generation, id, kind, message));
    Ok(())
}

/// More is asked for at a time than is held.
#[derive(Debug)]
pub(crate) struct TooMuch;

impl std::fmt::Display for TooMuch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("too much is asked for at a time")
    }
}

impl std::error::Error for TooMuch {}

/// Fills the tank, after a pause.
async fn more(mut caller: Caller<'_, State>) -> Result<i32> {
    if caller.data().pauses {
        Pause(false).await;
    }
    let fuel = caller.data().fuel.ok_or_else(|| wasmtime::Error::msg("no fuel"))?;
    let tank = i64::from(fuel.get(&mut caller).i32().unwrap_or_default());
    let state = caller.data_mut();
    // What the tank is below zero is of the next filling: a call ends at the same unit however
    // large the fillings are.
    let wanted = SLICE_UNITS.max(-tank);
    let given = wanted.min(state.left);
    state.left -= given;
    let filled = i32::try_from(tank + given).unwrap_or(i32::MAX);
    fuel.set(&mut caller, Val::I32(filled))?;
    Ok(i32::from(filled >= 0))
}

/// Pending once: whoever runs the instance then lets the host pause.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

fn grow(mut caller: Caller<'_, State>, end: i32) -> i32 {
    i32::from(caller.data_mut().grow(end.cast_unsigned() as usize))
}

fn say(mut caller: Caller<'_, State>, kind: i32, from: i32, length: i32) -> Result<i32> {
    let message = read_message(&mut caller, from, length)?;
    let answer = if HOST.is_set() { HOST.with(|host| host.say(kind, message)) } else { None };
    let Some(answer) = answer else { return Ok(-1) };
    let length = answer.frame().length().ok_or_else(|| wasmtime::Error::msg("an answer that is too long"))?;
    let state = caller.data_mut();
    state.answer.clear();
    state.answer.resize(length, 0);
    answer.frame().write(&mut state.answer);
    Ok(i32::try_from(length)?)
}

fn reply(mut caller: Caller<'_, State>, into: i32) -> Result<()> {
    let answer = std::mem::take(&mut caller.data_mut().answer);
    let (place, _) = bytes(&mut caller, into, i32::try_from(answer.len())?)?;
    place.copy_from_slice(&answer);
    Ok(())
}

fn clock(_: Caller<'_, State>) -> f64 {
    if HOST.is_set() { HOST.with(|host| host.clock_ms()) } else { 0.0 }
}

fn random(mut caller: Caller<'_, State>, into: i32, length: i32) -> Result<()> {
    let (place, _) = bytes(&mut caller, into, length)?;
    if HOST.is_set() {
        HOST.with(|host| host.random(place));
    }
    Ok(())
}
