//! The module's machine code, and what it imports.

use std::sync::OnceLock;

use scoped_tls_hkt::scoped_thread_local;
use wasmtime::{Caller, Engine, InstancePre, Linker, Memory, Module, Result, Store};

use super::{config, mapped, stack::WASM_STACK_BYTES};
use crate::{
    border::{Ask, Host},
    frame::Message,
};

/// What `build.rs` made.
static CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm"));

scoped_thread_local!(static HOST: for<'a> &'a (dyn Host + 'a));

/// Does work during which the module reaches `host`.
pub(crate) fn with_host<R>(host: &dyn Host, work: impl FnOnce() -> R) -> R {
    HOST.set(host, work)
}

/// The most questions that wait for an answer at a time, and their bytes. A prelude has limits of its own: this one holds whatever it does.
const MAX_ASKS: usize = 100_000;
const MAX_ASKED_BYTES: usize = 256 << 20;

/// What an instance's store holds.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) memory: Option<Memory>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) asked_bytes: usize,
    pub(crate) generation: u64,
    /// The answer to what was said last.
    answer: Vec<u8>,
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
    config.max_wasm_stack(WASM_STACK_BYTES);
    mapped::configure(&mut config);
    let engine = Engine::new(&config)?;
    // SAFETY: the bytes are what `precompile_module` of the same version returned in our build script, compiled into this program.
    let module = unsafe { Module::deserialize(&engine, CODE) }?;
    let mut linker = Linker::new(&engine);
    linker.func_wrap("host", "ask", ask)?;
    linker.func_wrap("host", "say", say)?;
    linker.func_wrap("host", "reply", reply)?;
    linker.func_wrap("host", "clock", clock)?;
    linker.func_wrap("host", "random", random)?;
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
    Message::read(bytes).ok_or_else(|| wasmtime::Error::msg("a message that is none"))
}

fn ask(mut caller: Caller<'_, State>, id: i32, kind: i32, from: i32, length: i32) -> Result<()> {
    let message = read_message(&mut caller, from, length)?;
    let state = caller.data_mut();
    state.asked_bytes += message.head.len() + message.tail.as_ref().map_or(0, Vec::len);
    if state.asks.len() >= MAX_ASKS || state.asked_bytes > MAX_ASKED_BYTES {
        return Err(wasmtime::Error::msg("too many questions"));
    }
    let generation = state.generation;
    state.asks.push(Ask::new(generation, id, kind, message));
    Ok(())
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
