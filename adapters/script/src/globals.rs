//! What a script finds beside the built-ins of the language: the globals of the web platform, and the functions of `ctx`.

use boa_engine::{
    Context, JsArgs, JsError, JsObject, JsResult, JsString, JsValue, NativeFunction, js_error, js_string,
    object::{FunctionObjectBuilder, IntegrityLevel},
    property::{Attribute, PropertyDescriptor},
};
use millrace_core::{
    Json,
    ports::{LogLevel, LogReader},
};

use crate::{
    convert,
    freeze::BuiltIns,
    native::{Native, function},
    state::{host, state},
};

mod console;
mod crypto;
mod fetch;
mod query;
mod text;
mod timers;
mod url;
mod web;

pub(crate) use fetch::response_to_script;

/// Puts the globals into a new context. Gives what scripts do not find by looking, but must not be able to change either.
pub(crate) fn install(built_ins: BuiltIns, context: &mut Context) -> JsResult<Vec<JsObject>> {
    boa_runtime::base64::register(None, context)?;
    console::install(context)?;
    crypto::install(context)?;
    timers::install(context)?;
    let natives: [(&str, Native); 12] = [
        ("look", look),
        ("fetch", fetch::fetch),
        ("watch", fetch::watch),
        ("urlParse", url::parse),
        ("urlSet", url::set),
        ("formParse", url::form_parse),
        ("formSerialize", url::form_serialize),
        ("utf8Encode", text::encode),
        ("utf8Decode", text::decode),
        ("utf8Tail", text::tail),
        ("random", crypto::random),
        ("digest", crypto::digest),
    ];
    for name in [js_string!("self"), js_string!("global")] {
        context.register_global_property(name, context.global_object(), Attribute::WRITABLE | Attribute::CONFIGURABLE)?;
    }
    let table = JsObject::with_null_proto();
    for (name, native) in natives {
        table.create_data_property_or_throw(js_string!(name), function(name, native, context), context)?;
    }
    match built_ins {
        BuiltIns::Frozen => Ok(vec![table.clone(), web::install(&table, context)?]),
        BuiltIns::Changeable => {
            web::defer(&table, context)?;
            Ok(Vec::new())
        }
    }
}

/// The parts of `ctx` that are the same for every call: they keep nothing, and look at the running call.
pub(crate) struct ContextFunctions {
    parts: Vec<(JsString, JsObject)>,
}

impl ContextFunctions {
    /// Makes them. The caller freezes what [`objects`](Self::objects) leads to.
    pub(crate) fn new(context: &mut Context) -> JsResult<Self> {
        let log = JsObject::with_object_proto(context.intrinsics());
        let levels: [(&str, Native); 4] = [("debug", debug), ("info", info), ("warn", warn), ("error", error)];
        for (name, native) in levels {
            log.create_data_property_or_throw(js_string!(name), function(name, native, context), context)?;
        }
        let parts = vec![
            (js_string!("log"), log),
            (js_string!("progress"), function("progress", progress, context).into()),
            (js_string!("db"), function("db", query::db, context).into()),
            (js_string!("signal"), signal(context)?),
        ];
        Ok(Self { parts })
    }

    /// The objects to freeze.
    pub(crate) fn objects(&self) -> impl Iterator<Item = JsObject> {
        self.parts.iter().map(|(_, object)| object.clone())
    }
}

/// The second argument of a script: the call's data, deeply frozen, and the functions. In `env`, each of the `required` variables that is not
/// there throws when it is read.
pub(crate) fn make_ctx(data: &Json, required: &[String], functions: &ContextFunctions, context: &mut Context) -> JsResult<JsValue> {
    let ctx = JsObject::with_object_proto(context.intrinsics());
    let constant = |value: JsValue| PropertyDescriptor::builder().value(value).writable(false).enumerable(true).configurable(false);
    for (key, value) in data.as_object().into_iter().flatten() {
        let value = match (key.as_str(), value) {
            ("env", Json::Object(env)) if required.iter().any(|name| !env.contains_key(name)) => {
                let unset = required.iter().filter(|name| !env.contains_key(*name));
                env_with_unset(value, unset, context)?
            }
            _ => convert::to_script(value, true, context)?,
        };
        ctx.insert_property(JsString::from(key.as_str()), constant(value));
    }
    for (name, object) in &functions.parts {
        ctx.insert_property(name.clone(), constant(object.clone().into()));
    }
    ctx.set_integrity_level(IntegrityLevel::Frozen, context)?;
    Ok(ctx.into())
}

/// `ctx.env` without all that it has to have.
fn env_with_unset<'n>(env: &Json, unset: impl Iterator<Item = &'n String>, context: &mut Context) -> JsResult<JsValue> {
    let value = convert::to_script(env, false, context)?;
    let Some(object) = value.as_object() else { return Ok(value) };
    for name in unset {
        let message =
            js_string!(format!("the environment variable `{name}` is not set (`{name}?` under `env` lists one that may be missing)"));
        let get = NativeFunction::from_copy_closure_with_captures(
            |_, _, message: &JsString, _| Err(js_error!(Error: "{}", message.to_std_string_lossy())),
            message,
        );
        let get = FunctionObjectBuilder::new(context.realm(), get).build();
        // Not enumerable: whoever copies what there is does not read what is not.
        let accessor = PropertyDescriptor::builder().get(get).enumerable(false).configurable(false);
        object.define_property_or_throw(JsString::from(name.as_str()), accessor, context)?;
    }
    object.set_integrity_level(IntegrityLevel::Frozen, context)?;
    Ok(value)
}

/// `ctx.signal`: what an `AbortSignal` offers. The caller's going ends the call, so that nobody is told.
fn signal(context: &mut Context) -> JsResult<JsObject> {
    let signal = JsObject::with_object_proto(context.intrinsics());
    let getters: [(&str, Native); 2] = [("aborted", aborted), ("reason", reason)];
    for (name, native) in getters {
        let getter = function(name, native, context);
        let property = PropertyDescriptor::builder().get(getter).enumerable(true).configurable(false);
        signal.define_property_or_throw(js_string!(name), property, context)?;
    }
    let methods: [(&str, Native); 3] =
        [("throwIfAborted", throw_if_aborted), ("addEventListener", nothing), ("removeEventListener", nothing)];
    for (name, native) in methods {
        signal.create_data_property_or_throw(js_string!(name), function(name, native, context), context)?;
    }
    Ok(signal)
}

fn is_aborted(context: &Context) -> JsResult<bool> {
    let state = state(context)?;
    Ok(host(|host| state.must_stop(host.now_ms()).is_some()).unwrap_or(false))
}

fn aborted(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(is_aborted(context)?.into())
}

fn reason(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if !is_aborted(context)? {
        return Ok(JsValue::undefined());
    }
    abort_error().into_opaque(context)
}

fn throw_if_aborted(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if is_aborted(context)? { Err(abort_error()) } else { Ok(JsValue::undefined()) }
}

fn abort_error() -> JsError {
    js_error!(Error: "the call was aborted")
}

fn nothing(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::undefined())
}

fn level(name: &str) -> LogLevel {
    match name {
        "debug" => LogLevel::Debug,
        "warn" => LogLevel::Warn,
        "error" => LogLevel::Error,
        _ => LogLevel::Info,
    }
}

/// Looks at the limits: functions that are written in script here have no checkpoints.
fn look(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    crate::checks::look(context)?;
    Ok(JsValue::undefined())
}

fn log_all(name: &str, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut text = String::new();
    for argument in arguments {
        if !text.is_empty() {
            text.push(' ');
        }
        match argument.as_string() {
            Some(plain) => text.push_str(&plain.to_std_string_lossy()),
            None => text.push_str(&shown(argument, context)?),
        }
    }
    host(|host| host.log(LogReader::Caller, level(name), &text));
    Ok(JsValue::undefined())
}

/// A value in a log line: JSON where it is JSON.
fn shown(value: &JsValue, context: &mut Context) -> JsResult<String> {
    if let Some(digits) = value.as_bigint() {
        return Ok(digits.to_string());
    }
    if let Some(object) = value.as_object()
        && let Some(message) = object.get(js_string!("message"), context)?.as_string()
    {
        return Ok(message.to_std_string_lossy());
    }
    Ok(match convert::to_json(value, convert::budget(&*state(context)?), "value", context) {
        Ok(Some(json)) => json.to_string(),
        _ => value.display().to_string(),
    })
}

fn debug(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    log_all("debug", arguments, context)
}

fn info(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    log_all("info", arguments, context)
}

fn warn(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    log_all("warn", arguments, context)
}

fn error(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    log_all("error", arguments, context)
}

/// `ctx.progress(done, total?, message?)`
fn progress(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let done = arguments.get_or_undefined(0).to_number(context)?;
    if !done.is_finite() {
        return Err(js_error!(TypeError: "`progress` takes a number"));
    }
    let total = match arguments.get_or_undefined(1) {
        total if total.is_null_or_undefined() => None,
        total => Some(total.to_number(context)?).filter(|total| total.is_finite()),
    };
    let message = match arguments.get_or_undefined(2) {
        message if message.is_null_or_undefined() => None,
        message => Some(message.to_string(context)?.to_std_string_lossy()),
    };
    host(|host| host.progress(done, total, message.as_deref()));
    Ok(JsValue::undefined())
}
