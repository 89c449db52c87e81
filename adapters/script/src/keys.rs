//! The own keys of an object and its prototype, by the intrinsic functions: proxies answer them, too.

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, js_error, js_string,
    object::builtins::{JsArray, JsFunction},
};

/// The intrinsic functions, whatever a script puts in their place.
#[derive(Clone)]
struct Keys {
    keys: JsFunction,
    prototype_of: JsFunction,
    is_array: JsFunction,
}

/// Keeps them, before any script runs.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let constructors = context.intrinsics().constructors();
    let (object, array) = (constructors.object().constructor(), constructors.array().constructor());
    let mut function = |holder: &JsObject, name: JsString| {
        let function = holder.get(name, context)?.as_function();
        function.ok_or_else(|| js_error!(Error: "a built-in function is missing"))
    };
    let keys = function(&object, js_string!("keys"))?;
    let prototype_of = function(&object, js_string!("getPrototypeOf"))?;
    let is_array = function(&array, js_string!("isArray"))?;
    context.insert_data(Keys { keys, prototype_of, is_array });
    Ok(())
}

/// The prototype of an object.
pub(crate) fn prototype_of(object: &JsObject, context: &mut Context) -> JsResult<Option<JsObject>> {
    let Some(Keys { prototype_of, .. }) = context.get_data::<Keys>().cloned() else {
        return Err(js_error!(Error: "the script engine was not set up"));
    };
    Ok(prototype_of.call(&JsValue::undefined(), &[object.clone().into()], context)?.as_object())
}

/// Whether an object is an array, or a proxy of one.
pub(crate) fn is_array(object: &JsObject, context: &mut Context) -> JsResult<bool> {
    if object.is_array() || object.is_ordinary() {
        return Ok(object.is_array());
    }
    let Some(Keys { is_array, .. }) = context.get_data::<Keys>().cloned() else {
        return Err(js_error!(Error: "the script engine was not set up"));
    };
    Ok(is_array.call(&JsValue::undefined(), &[object.clone().into()], context)?.to_boolean())
}

/// The own enumerable string keys of an object, in order.
pub(crate) fn object_keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    let Some(Keys { keys, .. }) = context.get_data::<Keys>().cloned() else {
        return Err(js_error!(Error: "the script engine was not set up"));
    };
    let list = keys.call(&JsValue::undefined(), &[object.clone().into()], context)?;
    let Some(list) = list.as_object().and_then(|list| JsArray::from_object(list).ok()) else { return Ok(Vec::new()) };
    let length = list.length(context)?;
    let mut names = Vec::new();
    for index in 0..length {
        names.extend(list.get(index, context)?.as_string());
    }
    Ok(names)
}
