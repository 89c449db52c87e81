//! Built-in functions that loop or allocate by a number that a script gives them, and those that call each other without end.
//!
//! The interpreter cannot be stopped while one of its own functions is at work. So each of these is replaced by a function that asks the
//! [`checks`](crate::checks) first, with the same name, length and meaning, and then calls the original; where asking is not enough (one
//! call could allocate or loop without bound in between, or takes quadratic time), it does the work itself.
//!
//! What is left, and named in docs/scripts.md, takes a script that is written for it: such as a getter that is a built-in function and
//! reads the same property, or a list that grows under an iterator of the interpreter's own.

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsSymbol, JsValue, NativeFunction, js_error, js_string,
    object::{
        FunctionObjectBuilder,
        builtins::{JsArray, JsFunction},
    },
    property::{PropertyDescriptor, PropertyKey},
};

mod bigints;
mod calls;
mod json;
mod lists;
mod proxy;
mod symbols;
mod table;
mod texts;

pub(crate) use table::Guard;

use crate::native;
use table::{ITERATOR_HELPERS, TYPED_ARRAYS, Table, WRAPPED_ITERATORS};

const TABLES: [Table; 6] = [lists::TABLE, texts::TABLE, json::TABLE, calls::TABLE, symbols::TABLE, bigints::TABLE];

/// Guards the built-in functions of a new context. Has to come before anything keeps one of them.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    for (path, names, guard) in TABLES.into_iter().flatten() {
        let holder = holder(path, context)?.ok_or_else(|| js_error!(Error: "`{}` is missing", *path))?;
        for name in *names {
            replace(&holder, path, name, *guard, context)?;
        }
    }
    // One function under several names stays one.
    let constructors = context.intrinsics().constructors();
    let arrays = constructors.array().prototype();
    let typed_arrays = constructors.typed_array().prototype();
    let iterator = JsSymbol::iterator().into();
    for (object, key, of) in [(&arrays, iterator, "values"), (&typed_arrays, js_string!("toString").into(), "toString")] {
        let function = arrays.get(js_string!(of), context)?;
        object.define_property_or_throw::<PropertyKey, _>(key, hidden_member(function), context)?;
    }
    bigints::install(context)?;
    proxy::install(context)
}

/// The object that a path leads to, such as `Array.prototype`, or one of those that nothing but a call gives.
fn holder(path: &str, context: &mut Context) -> JsResult<Option<JsObject>> {
    let from = match path {
        TYPED_ARRAYS => return Ok(Some(context.intrinsics().constructors().typed_array().prototype())),
        ITERATOR_HELPERS => {
            let values = call(&JsArray::new(context)?.into(), "values", &[], context)?;
            let map = native::function("", |_, _, _| Ok(JsValue::undefined()), context);
            call(&values, "map", &[map.into()], context)?
        }
        WRAPPED_ITERATORS => {
            let iterator = JsObject::with_object_proto(context.intrinsics());
            let next = native::function("next", |_, _, _| Ok(JsValue::undefined()), context);
            iterator.create_data_property_or_throw(js_string!("next"), next, context)?;
            let class = context.global_object().get(js_string!("Iterator"), context)?;
            call(&class, "from", &[iterator.into()], context)?
        }
        _ => {
            let mut value = JsValue::from(context.global_object());
            for name in path.split('.') {
                let Some(object) = value.as_object() else { return Ok(None) };
                value = object.get(js_string!(name), context)?;
            }
            return Ok(value.as_object());
        }
    };
    Ok(from.as_object().and_then(|object| object.prototype()))
}

fn call(of: &JsValue, method: &str, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let function = of.as_object().map(|object| object.get(js_string!(method), context)).transpose()?;
    let function = function.and_then(|function| function.as_function());
    function.ok_or_else(|| js_error!(Error: "`{}` is missing", method))?.call(of, arguments, context)
}

fn hidden_member(value: impl Into<JsValue>) -> PropertyDescriptor {
    PropertyDescriptor::builder().value(value).writable(true).enumerable(false).configurable(true).build()
}

fn replace(holder: &JsObject, path: &str, name: &str, guard: Guard, context: &mut Context) -> JsResult<()> {
    let key: PropertyKey = match name.strip_prefix('@') {
        Some(symbol) => {
            let symbols = context.intrinsics().constructors().symbol().constructor();
            symbols.get(js_string!(symbol), context)?.as_symbol().ok_or_else(|| js_error!(Error: "a symbol is missing"))?.into()
        }
        None => js_string!(name).into(),
    };
    let Some(original) = holder.get(key.clone(), context)?.as_function() else {
        return Err(js_error!(Error: "`{}.{}` is missing", path, name));
    };
    let label = original.get(js_string!("name"), context)?.to_string(context)?;
    let length = original.get(js_string!("length"), context)?.to_u32(context)?;
    let guarded = guarded(original, label, length as usize, guard, context);
    holder.define_property_or_throw(key, hidden_member(guarded), context)?;
    Ok(())
}

fn guarded(original: JsFunction, name: JsString, length: usize, guard: Guard, context: &mut Context) -> JsFunction {
    let native = NativeFunction::from_copy_closure_with_captures(
        move |this, arguments, original, context| guard(original, this, arguments, context),
        original,
    );
    FunctionObjectBuilder::new(context.realm(), native).name(name).length(length).build()
}
