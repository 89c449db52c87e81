//! The script engine, QuickJS-ng, in WebAssembly instances with their own memory each.
//!
//! A [`Loader`] evaluates an app's scripts once and keeps the memory in which they stand: the
//! [`Image`]. An [`Instance`] is a copy of it in which one call runs. Before each call the pages
//! that the call before has touched are put back ([`Instance::restore`]), so nothing that a call
//! does is seen by another one, whatever it did.
//!
//! What runs in an instance reaches nothing but its own memory and the three functions of a
//! [`Host`]. It ends by itself when its fuel is used up, which is counted in the module and comes
//! to the same on every machine, when its memory is full, or when its stack is. A trap is a value,
//! [`Fault`]; the instance survives it.
//!
//! # Unsafe code
//! This crate alone may have any. It is in two places: the machine code, which the build script
//! made of `engine.wasm`, is taken as such (`native::module`), and on Linux the memory of an
//! instance is a mapping of the image (`native::mapped`).
//!
//! # Processors
//! The code is for the oldest of their kind: x86-64 without extensions, and ARMv8.0.

#![warn(clippy::undocumented_unsafe_blocks)]

mod border;
mod frame;
#[cfg(all(not(target_arch = "wasm32"), feature = "wasmtime"))]
mod native;
#[cfg(target_arch = "wasm32")]
mod worker;

pub use border::{Ask, Fault, Host, Limits, Step, Ticket};
pub use frame::{Frame, Message};
#[cfg(all(not(target_arch = "wasm32"), feature = "wasmtime"))]
pub use native::{Image, Instance, Loader, shared_memory};
#[cfg(target_arch = "wasm32")]
pub use worker::{Image, Instance, Loader, set_module};

/// A page of a linear memory.
const WASM_PAGE: usize = 64 << 10;
