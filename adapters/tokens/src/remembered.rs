//! Signatures that were verified a moment ago: a caller sends the same token with every call.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use millrace_core::{app::TokenAlgorithm, ports::Claims};
use sha2::{Digest as _, Sha256};

/// How many are remembered.
const MOST: usize = 256;
/// The longest token that is, in bytes: what it says is kept as values, which are larger.
const LONGEST: usize = 4 << 10;

/// The SHA-256 of a token.
pub(crate) type TokenDigest = [u8; 32];

/// A token whose signature was verified. Everything else about it is looked at each time.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    /// What it says.
    pub(crate) claims: Rc<Claims>,
    /// Its algorithm.
    pub(crate) algorithm: TokenAlgorithm,
    /// The key set that has its key; another one may not have it.
    pub(crate) key_set: u64,
}

/// The last ones.
#[derive(Debug, Default)]
pub(crate) struct Remembered(RefCell<VecDeque<(TokenDigest, Verified)>>);

impl Remembered {
    /// The name of a token here; `None` for one that is not remembered.
    pub(crate) fn digest(token: &str) -> Option<TokenDigest> {
        (token.len() <= LONGEST).then(|| Sha256::digest(token.as_bytes()).into())
    }

    pub(crate) fn get(&self, digest: &TokenDigest) -> Option<Verified> {
        // The newest first: who calls now called just before.
        self.0.borrow().iter().rev().find(|(known, _)| known == digest).map(|(_, verified)| verified.clone())
    }

    pub(crate) fn put(&self, digest: TokenDigest, verified: Verified) {
        let mut all = self.0.borrow_mut();
        all.retain(|(known, _)| *known != digest);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back((digest, verified));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_remembered_and_no_more() {
        let remembered = Remembered::default();
        let verified = |key_set| Verified { claims: Rc::default(), algorithm: TokenAlgorithm::Es256, key_set };
        let digest = |number: u64| Remembered::digest(&number.to_string()).unwrap();
        for number in 0..300 {
            remembered.put(digest(number), verified(number));
        }
        remembered.put(digest(299), verified(1));
        assert_eq!(remembered.0.borrow().len(), MOST);
        assert!(remembered.get(&digest(43)).is_none());
        assert_eq!(remembered.get(&digest(44)).map(|found| found.key_set), Some(44));
        assert_eq!(remembered.get(&digest(299)).map(|found| found.key_set), Some(1));
        assert_eq!(Remembered::digest(&"x".repeat(LONGEST + 1)), None);
    }
}
