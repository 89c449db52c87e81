//! Timers and `queueMicrotask`. The call runs them, at the latest until its deadline.

use boa_engine::{
    Context, JsArgs, JsResult, JsValue,
    job::{Job, PromiseJob},
    js_error, js_string,
    object::builtins::JsFunction,
    property::Attribute,
    value::Numeric,
};

use crate::{
    native::{Native, method},
    state::{Timer, host, state},
};

/// Longer than any deadline.
const MAX_DELAY_MS: f64 = 2_147_483_647.0;

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let functions: [(&str, Native); 5] = [
        ("setTimeout", |_, arguments, context| set("setTimeout", false, arguments, context)),
        ("setInterval", |_, arguments, context| set("setInterval", true, arguments, context)),
        ("clearTimeout", clear),
        ("clearInterval", clear),
        ("queueMicrotask", microtask),
    ];
    for (name, native) in functions {
        let function = method(name, 1, native, context);
        context.register_global_property(js_string!(name), function, Attribute::WRITABLE | Attribute::CONFIGURABLE)?;
    }
    Ok(())
}

/// `(callback, ms, ...values) => id`
fn set(name: &str, repeats: bool, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let callback = callback(name, arguments)?;
    let state = state(context)?;
    if state.is_full() {
        return Err(js_error!(RangeError: "too many timers at a time"));
    }
    let delay = number(arguments.get_or_undefined(1), context)?;
    // Not a number, below zero or too long is as good as no delay, as on the web.
    let delay = if delay > 0.0 && delay <= MAX_DELAY_MS { delay } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and 2^31")]
    let delay_ms = delay as u64;
    let now_ms = host(|host| host.now_ms()).unwrap_or_default();
    let id = state.last_timer.get() + 1;
    state.last_timer.set(id);
    let arguments = arguments.get(2..).unwrap_or_default().to_vec();
    let timer = Timer { id, callback, arguments, interval_ms: repeats.then_some(delay_ms) };
    state.timers.borrow_mut().insert((now_ms + delay_ms, id), timer);
    Ok(id.into())
}

/// `(id)`
fn clear(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = number(arguments.get_or_undefined(0), context)?;
    state(context)?.timers.borrow_mut().retain(|_, timer| f64::from(timer.id) != id);
    Ok(JsValue::undefined())
}

/// `(callback)`
fn microtask(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let callback = callback("queueMicrotask", arguments)?;
    context.enqueue_job(Job::PromiseJob(PromiseJob::new(move |context| callback.call(&JsValue::undefined(), &[], context))));
    Ok(JsValue::undefined())
}

fn callback(name: &str, arguments: &[JsValue]) -> JsResult<JsFunction> {
    arguments.get_or_undefined(0).as_function().ok_or_else(|| js_error!(TypeError: "`{}` takes a function", name))
}

/// `Number(value)`
fn number(value: &JsValue, context: &mut Context) -> JsResult<f64> {
    Ok(match value.to_numeric(context)? {
        Numeric::Number(number) => number,
        Numeric::BigInt(bigint) => bigint.to_f64(),
    })
}
