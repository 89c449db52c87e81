//! The operating system's randomness.

use millrace_core::ports::Random;

/// Bytes of the operating system's cryptographic source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, buffer: &mut [u8]) {
        if let Err(error) = getrandom::fill(buffer) {
            // Going on without randomness would make tokens that can be guessed, and no caller
            // could tell.
            tracing::error!(%error, "the operating system provides no randomness; the process ends");
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_fills_differ() {
        let (mut first, mut second) = ([0; 32], [0; 32]);
        SystemRandom.fill(&mut first);
        SystemRandom.fill(&mut second);
        assert_ne!(first, second);
    }
}
