//! `console`: what a script says to its operator.

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, js_error, js_str, js_string, object::builtins::JsFunction, property::Attribute,
};
use millrace_core::ports::{LogLevel, LogReader};

use crate::{
    checks,
    native::{Native, function},
    state::host,
};

/// The intrinsic `JSON.stringify`, whatever a script puts in its place.
#[derive(Clone)]
struct Stringify(JsFunction);

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let json = context.global_object().get(js_string!("JSON"), context)?;
    let stringify = json.as_object().map(|json| json.get(js_string!("stringify"), context)).transpose()?;
    let stringify = stringify.and_then(|stringify| stringify.as_function());
    context.insert_data(Stringify(stringify.ok_or_else(|| js_error!(Error: "`JSON.stringify` is missing"))?));

    let console = JsObject::with_object_proto(context.intrinsics());
    let methods: [(&str, Native); 9] = [
        ("debug", |_, values, context| say(LogLevel::Debug, values, context)),
        ("trace", |_, values, context| say(LogLevel::Debug, values, context)),
        ("log", |_, values, context| say(LogLevel::Info, values, context)),
        ("info", |_, values, context| say(LogLevel::Info, values, context)),
        ("table", |_, values, context| say(LogLevel::Info, values, context)),
        ("dir", |_, values, context| say(LogLevel::Info, values.get(..1).unwrap_or_default(), context)),
        ("warn", |_, values, context| say(LogLevel::Warn, values, context)),
        ("error", |_, values, context| say(LogLevel::Error, values, context)),
        ("assert", assert),
    ];
    for (name, native) in methods {
        console.create_data_property_or_throw(js_string!(name), function(name, native, context), context)?;
    }
    context.register_global_property(js_string!("console"), console, Attribute::WRITABLE | Attribute::CONFIGURABLE)
}

fn say(level: LogLevel, values: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut text = String::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(&shown(value, context)?.to_std_string_lossy());
        checks::text(text.len() as u64, context)?;
    }
    host(|host| host.log(LogReader::Operator, level, &text));
    Ok(JsValue::undefined())
}

/// `(condition, ...values)`
fn assert(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if arguments.get_or_undefined(0).to_boolean() {
        return Ok(JsValue::undefined());
    }
    let said = JsValue::from(js_string!("assertion failed"));
    let values: Vec<JsValue> = std::iter::once(said).chain(arguments.iter().skip(1).cloned()).collect();
    say(LogLevel::Error, &values, context)
}

/// A value in a line: text as it is, an object as JSON.
fn shown(value: &JsValue, context: &mut Context) -> JsResult<JsString> {
    if let Some(symbol) = value.as_symbol() {
        return Ok(symbol.descriptive_string());
    }
    let Some(object) = value.as_object() else {
        let text = value.to_string(context)?;
        return Ok(if value.is_bigint() { js_string!(&text, js_str!("n")) } else { text });
    };
    if object.is_callable() {
        let name = object.get(js_string!("name"), context)?.to_string(context)?;
        return Ok(js_string!(js_str!("[function "), &name, js_str!("]")));
    }
    if is_error(&object, context) {
        let name = object.get(js_string!("name"), context)?.to_string(context)?;
        let message = object.get(js_string!("message"), context)?.to_string(context)?;
        return Ok(js_string!(&name, js_str!(": "), &message));
    }
    let Some(Stringify(stringify)) = context.get_data::<Stringify>().cloned() else { return value.to_string(context) };
    match stringify.call(&JsValue::undefined(), std::slice::from_ref(value), context) {
        Ok(text) if text.is_string() => text.to_string(context),
        Ok(_) => value.to_string(context),
        // A limit ends the call.
        Err(error) if error.as_engine().is_some() => Err(error),
        Err(_) => Ok(js_string!("[object that JSON cannot represent]")),
    }
}

/// `value instanceof Error`, whatever a script makes of `instanceof`.
fn is_error(object: &JsObject, context: &Context) -> bool {
    let errors = context.intrinsics().constructors().error().prototype();
    std::iter::successors(object.prototype(), JsObject::prototype).any(|prototype| JsObject::equals(&prototype, &errors))
}
