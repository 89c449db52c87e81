//! The natives of `TextEncoder` and `TextDecoder`.

use boa_engine::{Context, JsArgs, JsResult, JsString, JsValue, js_error};

use crate::native::{bytes, new_bytes, text};

/// `(text) => Uint8Array`
pub(super) fn encode(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = text(arguments, 0, context)?;
    new_bytes(text.as_bytes(), context)
}

/// `(bytes, fatal, ignoreBOM) => text`
pub(super) fn decode(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let bytes = bytes(arguments, 0, context)?;
    let keep_mark = arguments.get_or_undefined(2).to_boolean();
    let bytes = if keep_mark { &bytes[..] } else { bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes) };
    if arguments.get_or_undefined(1).to_boolean() {
        let text = std::str::from_utf8(bytes).map_err(|_| js_error!(TypeError: "the bytes are not valid UTF-8"))?;
        return Ok(JsString::from(text).into());
    }
    Ok(JsString::from(String::from_utf8_lossy(bytes).as_ref()).into())
}

/// `(bytes) => number`: how many bytes at the end begin a character that is not complete.
pub(super) fn tail(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let bytes = bytes(arguments, 0, context)?;
    let tail = match std::str::from_utf8(bytes.rchunks(4).next().unwrap_or_default()) {
        Ok(_) => 0,
        Err(_) => incomplete(&bytes),
    };
    Ok(JsValue::from(tail))
}

fn incomplete(bytes: &[u8]) -> i32 {
    for length in 1..=bytes.len().min(3) {
        let needed = match bytes[bytes.len() - length] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if length < needed { i32::try_from(length).unwrap_or(0) } else { 0 };
    }
    0
}
