//! Signatures of tokens, by the platform's WebCrypto: the arithmetic of RSA and of curves stays out
//! of the Worker.

use js_sys::{Uint8Array, futures::JsFuture};
use millrace_core::{app::TokenAlgorithm, ports::LocalFuture};
use millrace_tokens::{Signatures, jwk::Material};

use crate::glue;

/// `crypto.subtle`.
pub(crate) struct WebCryptoSignatures;

impl Signatures for WebCryptoSignatures {
    fn verify<'a>(&'a self, algorithm: TokenAlgorithm, key: &'a Material, message: &'a [u8], signature: &'a [u8]) -> LocalFuture<'a, bool> {
        Box::pin(async move {
            // What is signed is base64url and a dot.
            let Ok(message) = str::from_utf8(message) else { return false };
            let answer = glue::is_signed(algorithm.as_str(), &key.to_jwk(), message, Uint8Array::from(signature));
            JsFuture::from(answer).await.is_ok_and(|answer| answer.as_bool() == Some(true))
        })
    }
}
