//! What native functions have in common: how they are made, what they take and give back.

use boa_engine::{
    Context, JsArgs, JsError, JsObject, JsResult, JsString, JsValue, NativeFunction, js_error, js_string,
    object::{
        FunctionObjectBuilder,
        builtins::{JsArray, JsArrayBuffer, JsFunction, JsTypedArray, JsUint8Array},
    },
    property::PropertyDescriptor,
};
use millrace_core::{Error, ErrorKind};

use crate::state::{HostCause, state};

/// How many errors of the host are remembered with what the outside said, in one call.
const MAX_CAUSES: usize = 100;

/// The signature of native functions.
pub(crate) type Native = fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>;

/// Makes one.
pub(crate) fn function(name: &str, native: Native, context: &mut Context) -> JsFunction {
    method(name, 0, native, context)
}

/// Makes one with a `length`.
pub(crate) fn method(name: &str, length: usize, native: Native, context: &mut Context) -> JsFunction {
    FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(native)).name(js_string!(name)).length(length).build()
}

/// A failure of the host, as an exception: its message and, as `code`, its kind. The upstream's own words stay out.
///
/// `stack` is where the script asked.
pub(crate) fn host_error(error: &Error, class: &str, stack: &str, context: &mut Context) -> JsError {
    let code = match error.kind {
        ErrorKind::Configuration => "configuration",
        ErrorKind::Syntax => "syntax",
        ErrorKind::Constraint => "constraint",
        ErrorKind::Data => "data",
        ErrorKind::Denied => "denied",
        ErrorKind::Credentials => "credentials",
        ErrorKind::TimedOut => "timed_out",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Busy => "busy",
        ErrorKind::TooLarge => "too_large",
        ErrorKind::Protocol => "protocol",
        ErrorKind::Expectation => "expectation",
        ErrorKind::Cancelled => "cancelled",
    };
    let plain = match class {
        "TypeError" => js_error!(TypeError: "{}", error.message),
        _ => js_error!(Error: "{}", error.message),
    };
    let Ok(value) = plain.clone().into_opaque(context) else { return plain };
    if let Some(object) = value.as_object() {
        if let Ok(state) = state(context) {
            let mut causes = state.causes.borrow_mut();
            if causes.len() < MAX_CAUSES {
                causes.push((object.clone(), HostCause { source: error.source.clone(), stack: stack.to_owned() }));
            }
        }
        object.insert_property(
            js_string!("code"),
            PropertyDescriptor::builder().value(js_string!(code)).writable(true).enumerable(true).configurable(true),
        );
    }
    JsError::from_opaque(value)
}

/// The bytes of an `ArrayBuffer` or of a typed array; `None` of anything else.
pub(crate) fn bytes_of(object: &JsObject, context: &mut Context) -> JsResult<Option<Vec<u8>>> {
    if let Ok(buffer) = JsArrayBuffer::from_object(object.clone()) {
        return Ok(buffer.to_vec());
    }
    let Ok(array) = JsTypedArray::from_object(object.clone()) else { return Ok(None) };
    let (start, length) = (array.byte_offset(context)?, array.byte_length(context)?);
    let buffer = array.buffer(context)?.as_object().and_then(|buffer| JsArrayBuffer::from_object(buffer).ok());
    let Some(buffer) = buffer else { return Ok(None) };
    let data = buffer.data();
    Ok(data.and_then(|data| data.get(start..start + length).map(<[u8]>::to_vec)))
}

/// A new `Uint8Array`.
pub(crate) fn new_bytes(bytes: &[u8], context: &mut Context) -> JsResult<JsValue> {
    let buffer = JsArrayBuffer::new(bytes.len(), context)?;
    if let Some(mut data) = buffer.data_mut() {
        data.copy_from_slice(bytes);
    }
    Ok(JsUint8Array::from_array_buffer(buffer, context)?.into())
}

/// An array of strings.
pub(crate) fn new_strings<'a>(texts: impl IntoIterator<Item = &'a str>, context: &mut Context) -> JsValue {
    JsArray::from_iter(texts.into_iter().map(|text| JsString::from(text).into()), context).into()
}

/// The strings of an array.
pub(crate) fn strings(value: &JsValue, context: &mut Context) -> JsResult<Vec<String>> {
    let list = value.as_object().and_then(|object| JsArray::from_object(object).ok());
    let Some(list) = list else { return Ok(Vec::new()) };
    let length = list.length(context)?;
    (0..length).map(|index| Ok(list.get(index, context)?.to_string(context)?.to_std_string_lossy())).collect()
}

/// A string argument.
pub(crate) fn text(arguments: &[JsValue], index: usize, context: &mut Context) -> JsResult<String> {
    Ok(arguments.get_or_undefined(index).to_string(context)?.to_std_string_lossy())
}

/// A bytes argument.
pub(crate) fn bytes(arguments: &[JsValue], index: usize, context: &mut Context) -> JsResult<Vec<u8>> {
    let object = arguments.get_or_undefined(index).as_object();
    let bytes = object.map(|object| bytes_of(&object, context)).transpose()?.flatten();
    bytes.ok_or_else(|| js_error!(TypeError: "bytes are expected"))
}
