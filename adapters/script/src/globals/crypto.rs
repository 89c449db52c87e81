//! `Math.random`, and the natives of `crypto`.

use boa_engine::{Context, JsArgs, JsResult, JsValue, js_error, js_string, property::PropertyDescriptor};
use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::{
    native::{bytes, function, new_bytes, text},
    state::host,
};

/// The most bytes of one request.
const MAX_RANDOM_BYTES: u32 = 65_536;

/// The bits of a double's fraction.
const FRACTION_BITS: u32 = 53;

/// Puts `Math.random` into its place.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let math = context.global_object().get(js_string!("Math"), context)?;
    let Some(math) = math.as_object() else { return Err(js_error!(Error: "`Math` is missing")) };
    let random = function("random", math_random, context);
    let property = PropertyDescriptor::builder().value(random).writable(true).enumerable(false).configurable(true);
    math.define_property_or_throw(js_string!("random"), property, context)?;
    Ok(())
}

/// `() => number`
fn math_random(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let mut buffer = [0; 8];
    fill(&mut buffer[..7])?;
    #[expect(clippy::cast_precision_loss, reason = "a double has these bits")]
    let fraction = (u64::from_le_bytes(buffer) & ((1 << FRACTION_BITS) - 1)) as f64;
    Ok((fraction / (1_u64 << FRACTION_BITS) as f64).into())
}

fn fill(buffer: &mut [u8]) -> JsResult<()> {
    host(|host| host.random(buffer)).ok_or_else(|| js_error!(Error: "random values are available only during a call"))
}

/// `(length) => Uint8Array`
pub(super) fn random(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let length = arguments.get_or_undefined(0).to_u32(context)?.min(MAX_RANDOM_BYTES);
    let mut buffer = vec![0; length as usize];
    fill(&mut buffer)?;
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
