//! What went wrong in a script, as a [`ScriptFault`].

use boa_engine::{
    Context, JsError, JsObject, JsValue,
    error::{EngineError, RuntimeLimitError},
    js_string,
};
use millrace_core::{
    app::ScriptLimits,
    ports::{ScriptFault, Thrown},
};

use crate::{convert::Stop, limit, reply, state::CallState};

/// An error of the interpreter: a limit, or something thrown.
pub(crate) fn of_error(error: JsError, limits: &ScriptLimits, state: &CallState, context: &mut Context) -> ScriptFault {
    if let Some(fault) = state.fault.take() {
        return fault;
    }
    match error.as_engine() {
        Some(EngineError::RuntimeLimit(RuntimeLimitError::LoopIteration)) => return limit::loops(limits),
        Some(EngineError::RuntimeLimit(RuntimeLimitError::Recursion)) => {
            return limit::recursion(limits.recursion as usize);
        }
        Some(EngineError::RuntimeLimit(RuntimeLimitError::StackSize)) => {
            return limit::stack();
        }
        Some(other) => {
            return ScriptFault::Thrown(Thrown {
                message: format!("the script engine failed: {other}"),
                stack: None,
                cause: None,
                reply: None,
            });
        }
        None => {}
    }
    let trace = error.to_string();
    match error.into_opaque(context) {
        Ok(value) => thrown(&value, Some(trace), limits, state, context),
        Err(_) => ScriptFault::Thrown(Thrown { message: trace, stack: None, cause: None, reply: None }),
    }
}

/// How the interpreter words a refused write to a frozen object.
const REFUSED: [&str; 4] =
    ["cannot set non-writable property", "cannot redefine property", "cannot delete non-configurable property", "Cannot delete property"];

/// What an author is told whose script changes a built-in object in a way that the build does not see.
const FROZEN: &str = "built-in objects are frozen here: to change one, name it where it is changed (`Array.prototype.x = …`)";

/// Something thrown, or the reason of a rejected promise.
pub(crate) fn thrown(
    value: &JsValue,
    trace: Option<String>,
    limits: &ScriptLimits,
    state: &CallState,
    context: &mut Context,
) -> ScriptFault {
    let built = reply::build(value, context);
    let value = built.as_ref().unwrap_or(value);
    if let Some(tagged) = state.reply(value) {
        return match reply::finish(tagged, limits.output_bytes as usize, context) {
            Ok(reply) => ScriptFault::Thrown(Thrown { message: reply.told(), stack: None, cause: None, reply: Some(reply) }),
            Err(stop) => of_stop(stop, limits, state, context),
        };
    }
    let mut message = describe(value, context);
    if REFUSED.iter().any(|start| message.starts_with(start)) {
        message = format!("{message} ({FROZEN})");
    }
    // A getter of the thrown object may have run into the deadline.
    if let Some(fault) = state.fault.take() {
        return fault;
    }
    let cause = value.as_object().and_then(|object| {
        let causes = state.causes.borrow();
        causes.iter().find(|(known, _)| JsObject::equals(known, &object)).map(|(_, cause)| cause.clone())
    });
    // An error of the host was made where no script ran.
    let (asked, cause) = cause.map_or((None, None), |cause| (Some(cause.stack), cause.source));
    let stack = trace.or(asked).or_else(|| text_member(value, "stack", context));
    ScriptFault::Thrown(Thrown { message, stack, cause: cause.map(String::into_boxed_str), reply: None })
}

/// What a promise was rejected with that nothing waits for.
pub(crate) fn unhandled(reason: &JsValue, limits: &ScriptLimits, state: &CallState, context: &mut Context) -> ScriptFault {
    match thrown(reason, None, limits, state, context) {
        ScriptFault::Thrown(thrown) => ScriptFault::LeftBehind(Thrown {
            message: format!("a promise was rejected, and nothing awaits it or catches that: {}", thrown.message),
            reply: None,
            ..thrown
        }),
        other => other,
    }
}

/// A result that could not be converted.
pub(crate) fn of_stop(stop: Stop, limits: &ScriptLimits, state: &CallState, context: &mut Context) -> ScriptFault {
    match stop {
        Stop::NotJson(text) => ScriptFault::NotJson(text),
        Stop::TooLong => {
            ScriptFault::Limit(format!("the result is longer than {} bytes as JSON (`limits.script.output`)", limits.output_bytes))
        }
        Stop::Threw(error) => of_error(error, limits, state, context),
    }
}

fn describe(value: &JsValue, context: &mut Context) -> String {
    if let Some(text) = value.as_string() {
        return text.to_std_string_lossy();
    }
    if value.is_object() {
        let message = text_member(value, "message", context).filter(|message| !message.is_empty());
        if let Some(message) = message.or_else(|| text_member(value, "name", context)) {
            return message;
        }
        return String::from(if value.is_callable() {
            "the script threw a function"
        } else {
            "the script threw an object without `message`"
        });
    }
    format!("the script threw `{}`", value.display())
}

fn text_member(value: &JsValue, name: &str, context: &mut Context) -> Option<String> {
    let member = value.as_object()?.get(js_string!(name), context).ok()?;
    member.as_string().map(|text| text.to_std_string_lossy())
}
