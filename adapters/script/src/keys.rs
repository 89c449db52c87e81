//! The own keys of an object, by the intrinsic `Object.keys`.

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, js_error, js_string,
    object::builtins::{JsArray, JsFunction},
};

/// The intrinsic `Object.keys`, whatever a script puts in its place.
#[derive(Clone)]
struct Keys(JsFunction);

/// Keeps it for [`object_keys`], before any script runs.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let keys = context.intrinsics().constructors().object().constructor().get(js_string!("keys"), context)?;
    let keys = keys.as_function().ok_or_else(|| js_error!(Error: "`Object.keys` is missing"))?;
    context.insert_data(Keys(keys));
    Ok(())
}

/// The own enumerable string keys of an object, in order.
pub(crate) fn object_keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    let Some(Keys(keys)) = context.get_data::<Keys>().cloned() else {
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
