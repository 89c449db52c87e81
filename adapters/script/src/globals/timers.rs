//! The natives of timers and `queueMicrotask`. The call runs them, at the latest until its deadline.

use boa_engine::{
    Context, JsArgs, JsResult, JsValue,
    job::{Job, PromiseJob},
    js_error,
    object::builtins::{JsArray, JsFunction},
};

use crate::state::{Timer, host, state};

/// Longer than any deadline.
const MAX_DELAY_MS: f64 = 2_147_483_647.0;

/// `(callback, ms, repeat, values) => id`
pub(super) fn set(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let state = state(context)?;
    if state.is_full() {
        return Err(js_error!(RangeError: "too many timers at a time"));
    }
    let callback = callback(arguments)?;
    let delay = arguments.get_or_undefined(1).to_number(context)?;
    // Not a number, below zero or too long is as good as no delay, as on the web.
    let delay = if delay > 0.0 && delay <= MAX_DELAY_MS { delay } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and 2^31")]
    let delay_ms = delay as u64;
    let mut values = Vec::new();
    if let Some(list) = arguments.get_or_undefined(3).as_object().and_then(|object| JsArray::from_object(object).ok()) {
        for index in 0..list.length(context)? {
            values.push(list.get(index, context)?);
        }
    }
    let now_ms = host(|host| host.now_ms()).unwrap_or_default();
    let id = state.last_timer.get() + 1;
    state.last_timer.set(id);
    let interval_ms = arguments.get_or_undefined(2).to_boolean().then_some(delay_ms);
    state.timers.borrow_mut().insert((now_ms + delay_ms, id), Timer { id, callback, arguments: values, interval_ms });
    Ok(id.into())
}

/// `(id)`
pub(super) fn clear(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = arguments.get_or_undefined(0).to_u32(context)?;
    state(context)?.timers.borrow_mut().retain(|_, timer| timer.id != id);
    Ok(JsValue::undefined())
}

/// `(callback)`
pub(super) fn microtask(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let callback = callback(arguments)?;
    context.enqueue_job(Job::PromiseJob(PromiseJob::new(move |context| callback.call(&JsValue::undefined(), &[], context))));
    Ok(JsValue::undefined())
}

fn callback(arguments: &[JsValue]) -> JsResult<JsFunction> {
    arguments.get_or_undefined(0).as_function().ok_or_else(|| js_error!(TypeError: "a function is expected"))
}
