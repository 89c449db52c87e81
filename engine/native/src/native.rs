//! Instances on machines: machine code of the module, run by wasmtime.

mod config;
#[cfg_attr(any(target_os = "linux", target_os = "android"), allow(dead_code, reason = "what stands in where nothing is mapped"))]
mod copied;
mod image;
mod instance;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod mapped;
mod module;
mod stack;

pub use image::{Image, Loader};
pub use instance::Instance;
pub use stack::{STACK_BYTES, has_room};

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use copied as mapped;
