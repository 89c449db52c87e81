//! Built-in functions that loop or allocate by a number that a script gives them, and those that call each other without end.
//!
//! The interpreter cannot be stopped while one of its own functions is at work. So each of these is replaced by a function that asks the
//! [`checks`](crate::checks) first, with the same name, length and meaning, and then calls the original; where asking is not enough (one
//! call could allocate or loop without bound in between, or takes quadratic time), it does the work itself.
//!
//! What is left, and named in docs/scripts.md, takes a script that is written for it: such as a getter that is a built-in function and
//! reads the same property, or a list that grows under an iterator of the interpreter's own.

use boa_engine::{
    Context, JsObject, JsResult, JsString, NativeFunction, Source, js_error, js_string,
    object::{FunctionObjectBuilder, builtins::JsFunction},
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

use table::Table;

const TABLES: [Table; 6] = [lists::TABLE, texts::TABLE, json::TABLE, calls::TABLE, symbols::TABLE, bigints::TABLE];

/// Guards the built-in functions of a new context. Has to come before anything keeps one of them.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    // One evaluation for all: each has its price.
    let paths: Vec<&str> = TABLES.into_iter().flatten().map(|(path, ..)| *path).collect();
    let holders = context.eval(Source::from_bytes(&format!("[{}]", paths.join(","))))?;
    let holders = holders.as_object().ok_or_else(|| js_error!(Error: "the built-in objects are missing"))?;
    for (index, (path, names, guard)) in TABLES.into_iter().flatten().enumerate() {
        let Some(holder) = holders.get(index, context)?.as_object() else { return Err(js_error!(Error: "`{}` is missing", *path)) };
        for name in *names {
            replace(&holder, path, name, *guard, context)?;
        }
    }
    // One function under several names stays one.
    context.eval(Source::from_bytes(
        "Object.defineProperty(Array.prototype, Symbol.iterator, { value: Array.prototype.values, writable: true, configurable: true });
         Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), 'toString', { value: Array.prototype.toString, writable: true, configurable: true });",
    ))?;
    bigints::install(context)?;
    proxy::install(context)
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
    let property = PropertyDescriptor::builder().value(guarded).writable(true).enumerable(false).configurable(true);
    holder.define_property_or_throw(key, property, context)?;
    Ok(())
}

fn guarded(original: JsFunction, name: JsString, length: usize, guard: Guard, context: &mut Context) -> JsFunction {
    let native = NativeFunction::from_copy_closure_with_captures(
        move |this, arguments, original, context| guard(original, this, arguments, context),
        original,
    );
    FunctionObjectBuilder::new(context.realm(), native).name(name).length(length).build()
}
