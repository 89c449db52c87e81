//! `ctx.db(adapter).query(sql, params)`.

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, NativeFunction, js_error, js_string,
    object::{
        FunctionObjectBuilder, IntegrityLevel,
        builtins::{JsArray, JsPromise},
    },
};

use crate::native::text;
use crate::{
    convert,
    state::{RequestKind, state},
    watch,
};

/// `(adapter) => { query }`
pub(super) fn db(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(adapter) = arguments.get_or_undefined(0).as_string() else {
        return Err(js_error!(TypeError: "`ctx.db` takes the name of an adapter"));
    };
    let function = FunctionObjectBuilder::new(
        context.realm(),
        NativeFunction::from_copy_closure_with_captures(|_, arguments, adapter, context| query(adapter, arguments, context), adapter),
    )
    .name(js_string!("query"))
    .length(2)
    .build();
    let database = JsObject::with_object_proto(context.intrinsics());
    database.create_data_property_or_throw(js_string!("query"), function, context)?;
    database.set_integrity_level(IntegrityLevel::Frozen, context)?;
    Ok(database.into())
}

fn query(adapter: &JsString, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let state = state(context)?;
    if state.is_full() {
        return Err(js_error!(RangeError: "too many queries at a time"));
    }
    if arguments.get_or_undefined(0).as_string().is_none() {
        return Err(js_error!(TypeError: "`query` takes a statement and an array of values"));
    }
    let statement = text(arguments, 0, context)?;
    let mut params = Vec::new();
    let given = arguments.get_or_undefined(1);
    if !given.is_undefined() {
        let list = given.as_object().and_then(|object| JsArray::from_object(object).ok());
        let Some(list) = list else { return Err(js_error!(TypeError: "the values of `query` must be an array")) };
        let length = list.length(context)?;
        if length > crate::state::MAX_PENDING as u64 {
            return Err(js_error!(RangeError: "too many values for one `query`"));
        }
        let mut parameters = convert::Parameters::new(&state);
        for index in 0..length {
            let value = list.get(index, context)?;
            params.push(parameters.convert(&value, index, context)?);
        }
    }
    let (promise, resolvers) = JsPromise::new_pending(context);
    let kind = RequestKind::Query { adapter: adapter.to_std_string_lossy(), text: statement, params };
    let stack = watch::stack(context);
    watch::watch(&promise.clone().into(), kind.name(), stack.clone(), context)?;
    state.request(kind, resolvers, stack);
    Ok(promise.into())
}
