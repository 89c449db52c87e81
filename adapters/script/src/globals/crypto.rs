//! The natives of `crypto` and `Math.random`.

use boa_engine::{Context, JsArgs, JsResult, JsValue, js_error};
use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::native::{bytes, new_bytes, text};
use crate::state::host;

/// The most bytes of one request.
const MAX_RANDOM_BYTES: u32 = 65_536;

/// `(length) => Uint8Array`
pub(super) fn random(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let length = arguments.get_or_undefined(0).to_u32(context)?.min(MAX_RANDOM_BYTES);
    let mut buffer = vec![0; length as usize];
    host(|host| host.random(&mut buffer)).ok_or_else(|| js_error!(Error: "there is no randomness outside of a call"))?;
    new_bytes(&buffer, context)
}

/// `(algorithm, bytes) => Uint8Array`
pub(super) fn digest(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let algorithm = text(arguments, 0, context)?;
    let data = bytes(arguments, 1, context)?;
    match algorithm.as_str() {
        "SHA-256" => new_bytes(&Sha256::digest(&data), context),
        "SHA-384" => new_bytes(&Sha384::digest(&data), context),
        "SHA-512" => new_bytes(&Sha512::digest(&data), context),
        _ => Err(js_error!(Error: "`{}` is not supported by `digest`; use `SHA-256`, `SHA-384` or `SHA-512`", algorithm)),
    }
}
