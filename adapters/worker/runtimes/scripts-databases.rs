//! The module of the runtime `scripts-databases`: cargo names it as this file, so that no set of features
//! throws away what another has made.
#![cfg(target_arch = "wasm32")]
pub use millrace_worker::*;
