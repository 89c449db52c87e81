//! Signatures of tokens, by `ring`.

use std::future::ready;

use millrace_core::{app::TokenAlgorithm, ports::LocalFuture};
use millrace_tokens::{Signatures, jwk::Material};
use ring::{
    hmac,
    signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm},
};

/// `ring`, which does the arithmetic of TLS, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct RingSignatures;

impl Signatures for RingSignatures {
    fn verify<'a>(&'a self, algorithm: TokenAlgorithm, key: &'a Material, message: &'a [u8], signature: &'a [u8]) -> LocalFuture<'a, bool> {
        Box::pin(ready(is_valid(algorithm, key, message, signature)))
    }
}

fn is_valid(algorithm: TokenAlgorithm, key: &Material, message: &[u8], signature: &[u8]) -> bool {
    use TokenAlgorithm::{EdDsa, Es256, Es384, Hs256, Hs384, Hs512, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
    let rsa = |parameters: &RsaParameters| match key {
        Material::Rsa { modulus, exponent } => {
            RsaPublicKeyComponents { n: modulus, e: exponent }.verify(parameters, message, signature).is_ok()
        }
        _ => false,
    };
    let ec = |parameters: &'static dyn VerificationAlgorithm, point: &[u8]| {
        // SEC 1, section 2.3.4: a point that is not compressed.
        let point = [&[4], point].concat();
        UnparsedPublicKey::new(parameters, point).verify(message, signature).is_ok()
    };
    let mac = |parameters: hmac::Algorithm| match key {
        Material::Secret(secret) => hmac::verify(&hmac::Key::new(parameters, secret), message, signature).is_ok(),
        _ => false,
    };
    match (algorithm, key) {
        (Rs256, _) => rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
        (Rs384, _) => rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
        (Rs512, _) => rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
        (Ps256, _) => rsa(&signature::RSA_PSS_2048_8192_SHA256),
        (Ps384, _) => rsa(&signature::RSA_PSS_2048_8192_SHA384),
        (Ps512, _) => rsa(&signature::RSA_PSS_2048_8192_SHA512),
        (Es256, Material::P256(point)) => ec(&signature::ECDSA_P256_SHA256_FIXED, point),
        (Es384, Material::P384(point)) => ec(&signature::ECDSA_P384_SHA384_FIXED, point),
        (EdDsa, Material::Ed25519(key)) => UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signature).is_ok(),
        (Hs256, _) => mac(hmac::HMAC_SHA256),
        (Hs384, _) => mac(hmac::HMAC_SHA384),
        (Hs512, _) => mac(hmac::HMAC_SHA512),
        (Es256 | Es384 | EdDsa, _) => false,
    }
}
