//! The module `"millrace"`: replies that are recognised by identity, never by shape.
//!
//! A reply is an empty frozen object; what it stands for is kept beside it in the state of the call. An object that looks the same, or
//! a reply of another call, is not one.

use std::{cell::OnceCell, rc::Rc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use boa_engine::{
    Context, JsArgs, JsError, JsObject, JsResult, JsString, JsValue, NativeFunction, Source, js_error, js_string,
    object::{
        FunctionObjectBuilder, IntegrityLevel,
        builtins::{JsArray, JsFunction},
    },
    property::PropertyDescriptor,
};
use millrace_core::ports::{Reply, ToolErrorReply};

use crate::{
    convert::{self, RESULTS, Stop},
    freeze::BuiltIns,
    native::{self, Native},
    state::{MAX_PENDING, Tagged, host, state},
    watch,
};

/// The longest argument of `requireInput`, as JSON in bytes.
const MAX_QUESTION_BYTES: usize = 64 << 10;

/// Makes a reply into data.
pub(crate) fn finish(tagged: Tagged, limit_bytes: usize, context: &mut Context) -> Result<Reply, Stop> {
    match tagged {
        Tagged::Success(value) => Ok(Reply::Success(convert::to_json(&value, limit_bytes, RESULTS, context)?.unwrap_or_default())),
        Tagged::Content(value) => Ok(Reply::Content(convert::to_json(&value, limit_bytes, RESULTS, context)?.unwrap_or_default())),
        Tagged::Done(reply) => Ok(reply),
    }
}

/// What a script returned or threw is built where it is a `response()` that was not.
pub(crate) fn build(value: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let build = match context.get_data::<Builder>() {
        Some(Builder(build)) if value.is_object() => build.get().cloned(),
        _ => None,
    };
    match build {
        Some(build) => build.call(&JsValue::undefined(), std::slice::from_ref(value), context),
        None => Ok(value.clone()),
    }
}

/// The function of `millrace.js` that knows what `response()` returned, once it was read.
#[derive(Clone)]
struct Builder(Rc<OnceCell<JsFunction>>);

/// What of the module is written in script.
const WRITTEN: [&str; 12] =
    ["response", "elicit", "sample", "listRoots", "code", "echarts", "json", "list", "markdown", "mermaid", "summary", "table"];

/// The exports of `"millrace"`, frozen; and what scripts do not find by looking, but must not be able to change either.
pub(crate) fn module(built_ins: BuiltIns, context: &mut Context) -> JsResult<(JsObject, Option<JsObject>)> {
    let module = JsObject::with_null_proto();
    context.insert_data(Builder(Rc::default()));
    let exports: [(&str, usize, Native); 6] = [
        ("success", 1, success),
        ("error", 2, error),
        ("required", 1, required),
        ("toolError", 2, tool_error),
        ("anonymous", 1, anonymous),
        ("requireInput", 1, require_input),
    ];
    for (name, length, native) in exports {
        let function = native::method(name, length, native, context);
        module.create_data_property_or_throw(js_string!(name), function, context)?;
    }
    let inner = match built_ins {
        BuiltIns::Frozen => {
            let (exports, inner) = written(context)?;
            for name in WRITTEN {
                let export = exports.get(js_string!(name), context)?;
                module.create_data_property_or_throw(js_string!(name), export, context)?;
            }
            Some(inner)
        }
        // Most scripts import none of these, and a world for one call is made while its caller waits.
        BuiltIns::Changeable => {
            let read: Rc<OnceCell<JsObject>> = Rc::default();
            context.insert_data(WrittenExports(read));
            for name in WRITTEN {
                let get =
                    NativeFunction::from_copy_closure_with_captures(|_, _, name, context| read_export(name, context), js_string!(name));
                let get = FunctionObjectBuilder::new(context.realm(), get).build();
                let accessor = PropertyDescriptor::builder().get(get).enumerable(true).configurable(false);
                module.define_property_or_throw(js_string!(name), accessor, context)?;
            }
            None
        }
    };
    module.set_integrity_level(IntegrityLevel::Frozen, context)?;
    Ok((module, inner))
}

/// Those exports, once one was asked for.
#[derive(Clone)]
struct WrittenExports(Rc<OnceCell<JsObject>>);

fn read_export(name: &JsString, context: &mut Context) -> JsResult<JsValue> {
    let Some(WrittenExports(read)) = context.get_data::<WrittenExports>().cloned() else { return Ok(JsValue::undefined()) };
    let exports = match read.get() {
        Some(exports) => exports.clone(),
        None => {
            let (exports, _) = written(context)?;
            read.get_or_init(|| exports).clone()
        }
    };
    exports.get(name.clone(), context)
}

/// The exports that are written in script, and what they use.
fn written(context: &mut Context) -> JsResult<(JsObject, JsObject)> {
    let natives = JsObject::with_null_proto();
    let table: [(&str, usize, Native); 2] = [("content", 1, content), ("base64", 1, base64)];
    for (name, length, native) in table {
        let function = native::method(name, length, native, context);
        natives.create_data_property_or_throw(js_string!(name), function, context)?;
    }
    let written = context.eval(Source::from_bytes(include_str!("globals/millrace.js")))?;
    let Some(written) = written.as_callable() else { return Err(js_error!(Error: "the module is not a function")) };
    let made = written.call(&JsValue::undefined(), &[natives.into()], context)?;
    let Some(made) = made.as_object() else { return Err(js_error!(Error: "the module gives no list")) };
    let (exports, inner, build) = (made.get(0, context)?, made.get(1, context)?, made.get(2, context)?);
    if let (Some(build), Some(Builder(known))) = (build.as_function(), context.get_data::<Builder>()) {
        // Once for each world.
        known.get_or_init(|| build);
    }
    match (exports.as_object(), inner.as_object()) {
        (Some(exports), Some(inner)) => Ok((exports, inner)),
        _ => Err(js_error!(Error: "the module gives no exports")),
    }
}

fn tag(tagged: Tagged, context: &mut Context) -> JsResult<JsValue> {
    let object = JsObject::with_object_proto(context.intrinsics());
    object.set_integrity_level(IntegrityLevel::Frozen, context)?;
    let state = state(context)?;
    let mut replies = state.replies.borrow_mut();
    if replies.len() >= MAX_PENDING {
        return Err(js_error!(RangeError: "more than {} replies in one call", MAX_PENDING));
    }
    replies.push((object.clone(), tagged));
    Ok(object.into())
}

fn success(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    tag(Tagged::Success(arguments.get_or_undefined(0).clone()), context)
}

/// What `response()` built.
fn content(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    tag(Tagged::Content(arguments.get_or_undefined(0).clone()), context)
}

/// `(bytes) => text`
fn base64(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let bytes = native::bytes(arguments, 0, context)?;
    Ok(JsString::from(STANDARD.encode(bytes)).into())
}

/// `requireInput(requests)`: the answers, or the end of the call.
fn require_input(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let requests = convert::to_json(arguments.get_or_undefined(0), MAX_QUESTION_BYTES, "requests", context)
        .map_err(|stop| stop.into_error(&JsString::from("the argument of `requireInput`")))?;
    match host(|host| host.require_input(requests.unwrap_or(serde_json::Value::Null))) {
        Some(Ok(Some(answers))) => convert::to_script(&answers, false, context),
        Some(Ok(None)) => Err(JsError::from_opaque(tag(Tagged::Done(Reply::InputRequired), context)?)),
        Some(Err(error)) => {
            let stack = watch::stack(context);
            Err(native::host_error(&error, "TypeError", &stack, context))
        }
        None => Err(js_error!(Error: "`requireInput` works in a call only")),
    }
}

/// `anonymous({ scopes, roles })`
fn anonymous(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let members = convert::to_json(arguments.get_or_undefined(0), MAX_QUESTION_BYTES, "options", context)
        .map_err(|stop| stop.into_error(&JsString::from("the argument of `anonymous`")))?;
    tag(Tagged::Done(Reply::Anonymous(members.unwrap_or_default())), context)
}

fn error(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let message = text_of(arguments.get_or_undefined(0), context)?;
    let code = arguments.get_or_undefined(1);
    if code.is_null_or_undefined() {
        return tag(Tagged::Done(Reply::Error(message)), context);
    }
    let code = text_of(code, context)?;
    tag(Tagged::Done(Reply::ToolError(ToolErrorReply { code, message: Some(message), ..ToolErrorReply::default() })), context)
}

fn required(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let field = text_of(arguments.get_or_undefined(0), context)?;
    tag(Tagged::Done(Reply::Required(field)), context)
}

fn tool_error(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut reply = ToolErrorReply { code: text_of(arguments.get_or_undefined(0), context)?, ..ToolErrorReply::default() };
    if let Some(options) = arguments.get_or_undefined(1).as_object() {
        reply.message = optional_text(&options, "message", context)?;
        reply.suggestion = optional_text(&options, "suggestion", context)?;
        reply.severity = severity(&options, context)?;
        reply.available_actions = actions(&options, context)?;
        reply.details = details(&options, context)?;
        reply.retry_after_s = retry_after(&options, context)?;
    } else if !arguments.get_or_undefined(1).is_null_or_undefined() {
        return Err(js_error!(TypeError: "the second argument of `toolError` must be an object"));
    }
    tag(Tagged::Done(Reply::ToolError(reply)), context)
}

/// A text argument; of an error, its message.
fn text_of(value: &JsValue, context: &mut Context) -> JsResult<String> {
    if let Some(object) = value.as_object() {
        let message = object.get(js_string!("message"), context)?;
        if let Some(message) = message.as_string() {
            return Ok(message.to_std_string_lossy());
        }
    }
    Ok(value.to_string(context)?.to_std_string_lossy())
}

fn option(options: &JsObject, names: &[&str], context: &mut Context) -> JsResult<Option<JsValue>> {
    for name in names {
        let value = options.get(js_string!(*name), context)?;
        if !value.is_null_or_undefined() {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

fn optional_text(options: &JsObject, name: &str, context: &mut Context) -> JsResult<Option<String>> {
    let value = option(options, &[name], context)?;
    value.map(|value| Ok(value.to_string(context)?.to_std_string_lossy())).transpose()
}

fn severity(options: &JsObject, context: &mut Context) -> JsResult<Option<String>> {
    let Some(severity) = optional_text(options, "severity", context)? else { return Ok(None) };
    if ["warning", "error", "critical"].contains(&severity.as_str()) {
        return Ok(Some(severity));
    }
    Err(js_error!(TypeError: "`severity` of `toolError` must be `warning`, `error` or `critical`"))
}

fn actions(options: &JsObject, context: &mut Context) -> JsResult<Vec<String>> {
    let Some(value) = option(options, &["available_actions", "availableActions"], context)? else { return Ok(Vec::new()) };
    let list = value.as_object().and_then(|object| JsArray::from_object(object).ok());
    let Some(list) = list else {
        return Err(js_error!(TypeError: "`available_actions` of `toolError` must be an array of tool names"));
    };
    let length = list.length(context)?;
    if length > MAX_PENDING as u64 {
        return Err(js_error!(RangeError: "`available_actions` of `toolError` must have at most {} names", MAX_PENDING));
    }
    let mut actions = Vec::new();
    for index in 0..length {
        actions.push(list.get(index, context)?.to_string(context)?.to_std_string_lossy());
    }
    Ok(actions)
}

fn details(options: &JsObject, context: &mut Context) -> JsResult<Vec<(String, String)>> {
    let Some(value) = option(options, &["details"], context)? else { return Ok(Vec::new()) };
    let budget = convert::budget(&*state(context)?);
    let json = convert::to_json(&value, budget, "details", context).map_err(|stop| stop.into_error(&JsString::from("`toolError`")))?;
    let Some(serde_json::Value::Object(members)) = json else {
        return Err(js_error!(TypeError: "`details` of `toolError` must be an object"));
    };
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(members.into_iter().map(|(key, value)| (key, text(value))).collect())
}

fn retry_after(options: &JsObject, context: &mut Context) -> JsResult<Option<u64>> {
    let Some(value) = option(options, &["retry_after", "retryAfter"], context)? else { return Ok(None) };
    let seconds = value.to_number(context)?;
    if !(0.0..=1e9).contains(&seconds) {
        return Err(js_error!(RangeError: "`retry_after` of `toolError` must be a number of seconds, zero or more"));
    }
    // In range, hence without loss.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(Some(seconds.ceil() as u64))
}
