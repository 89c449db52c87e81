//! The platform's randomness.

use std::cell::RefCell;

use millrace_core::ports::Random;
use wasm_bindgen::throw_str;

/// How many bytes are asked for at a time: the way to the platform costs as much for one as for
/// many.
const AT_A_TIME: usize = 512;

thread_local! {
    /// Bytes that nobody had yet.
    static UNUSED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// `crypto.getRandomValues`. Each byte is given out once.
pub(crate) struct WorkerRandom;

impl Random for WorkerRandom {
    fn fill(&self, buffer: &mut [u8]) {
        if buffer.len() > AT_A_TIME {
            return ask(buffer);
        }
        UNUSED.with_borrow_mut(|unused| {
            if unused.len() < buffer.len() {
                unused.resize(AT_A_TIME, 0);
                ask(unused);
            }
            let left = unused.len() - buffer.len();
            buffer.copy_from_slice(&unused[left..]);
            unused.truncate(left);
        });
    }
}

fn ask(buffer: &mut [u8]) {
    if getrandom::fill(buffer).is_err() {
        // Going on without randomness would make tokens that can be guessed, and no caller could
        // tell.
        throw_str("the platform provides no randomness");
    }
}
