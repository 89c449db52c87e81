//! The platform's randomness.

use millrace_core::ports::Random;
use wasm_bindgen::throw_str;

/// `crypto.getRandomValues`.
pub(crate) struct WorkerRandom;

impl Random for WorkerRandom {
    fn fill(&self, buffer: &mut [u8]) {
        if getrandom::fill(buffer).is_err() {
            // Going on without randomness would make tokens that can be guessed, and no caller could tell.
            throw_str("the platform gives no randomness");
        }
    }
}
