use millrace_core::{app::TokenAlgorithm, ports::LocalFuture};

use crate::jwk::Material;

/// The arithmetic of signatures, which every host has its own for.
pub trait Signatures {
    /// Whether a signature is the key's over these bytes, by this algorithm. The key fits the
    /// algorithm, and the signature has the length that it must have. A key that cannot be used
    /// verifies nothing.
    ///
    /// The signature of ECDSA is `r` and `s`, one after the other ([RFC 7518, section
    /// 3.4](https://www.rfc-editor.org/rfc/rfc7518#section-3.4)); the salt of RSASSA-PSS is as long
    /// as the digest.
    fn verify<'a>(&'a self, algorithm: TokenAlgorithm, key: &'a Material, message: &'a [u8], signature: &'a [u8]) -> LocalFuture<'a, bool>;
}
