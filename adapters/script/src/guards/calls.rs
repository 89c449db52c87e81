//! Functions that call functions: `apply`, iterator helpers; and functions of objects and bigints that loop by a size.

use boa_engine::{Context, JsArgs, JsResult, JsValue, object::builtins::JsFunction};

use super::table::{ITERATOR_HELPERS, Table, WRAPPED_ITERATORS, length_of};
use crate::{checks, limit::STACK_VALUES};

/// What a property takes, with its name.
const PROPERTY_BYTES: u64 = 64;

pub(super) const TABLE: Table = &[
    ("Function.prototype", &["apply"], apply_arguments::<1>),
    ("Reflect", &["apply"], apply_arguments::<2>),
    ("Reflect", &["construct"], apply_arguments::<1>),
    ("Function.prototype", &["call"], nested),
    // These call another function of the same object, which may be themselves.
    ("Array.prototype", &["toString"], nested),
    ("Date.prototype", &["toJSON"], nested),
    ("Error.prototype", &["toString"], nested),
    ("Object.prototype", &["toLocaleString"], nested),
    ("Promise.prototype", &["catch", "finally"], nested),
    ("RegExp.prototype", &["toString"], nested),
    (ITERATOR_HELPERS, &["next", "return"], nested),
    (WRAPPED_ITERATORS, &["next", "return"], nested),
    ("Object", &["keys", "values", "entries", "getOwnPropertyNames", "getOwnPropertyDescriptors"], copies_properties),
    ("Object", &["assign"], copies_properties),
    ("Reflect", &["ownKeys"], copies_properties),
];

/// A call of a function whose arguments stand in a list.
fn apply_arguments<const PLACE: usize>(
    original: &JsFunction,
    this: &JsValue,
    arguments: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    let length = length_of(arguments.get_or_undefined(PLACE), context)?;
    if length > STACK_VALUES as u64 {
        return Err(boa_engine::error::RuntimeLimitError::StackSize.into());
    }
    nested(original, this, arguments, context)
}

/// A function that may call another built-in one.
fn nested(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let _nested = checks::Nested::enter(context)?;
    checks::look(context)?;
    original.call(this, arguments, context)
}

fn copies_properties(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    for argument in arguments {
        // Only what can have very many properties: others were made one by one.
        let is_long = argument.is_string() || argument.as_object().is_some_and(|object| object.is_array() || !object.is_ordinary());
        if is_long {
            let length = length_of(argument, context)?;
            checks::list(length, PROPERTY_BYTES, "a function of `Object`", context)?;
        }
    }
    original.call(this, arguments, context)
}
