//! Instances on machines: machine code of the module, run by wasmtime.

mod config;
#[cfg_attr(
    any(target_os = "linux", target_os = "android"),
    allow(dead_code, reason = "the other way to hold memory, which is tested here")
)]
mod copied;
mod image;
mod instance;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod mapped;
mod module;

pub use image::{Image, Loader};
pub use instance::Instance;
pub use module::shared_memory;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use copied as mapped;
