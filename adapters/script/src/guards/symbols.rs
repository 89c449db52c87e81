//! `Symbol.for`: the interpreter's registry is the process's and never forgets. This one is the call's.

use boa_engine::{Context, JsArgs, JsResult, JsSymbol, JsValue, js_error, object::builtins::JsFunction};

use super::table::Table;
use crate::{checks, state::state};

pub(super) const TABLE: Table = &[("Symbol", &["for"], symbol_for), ("Symbol", &["keyFor"], key_for)];

fn symbol_for(_: &JsFunction, _: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let key = arguments.get_or_undefined(0).to_string(context)?;
    checks::look(context)?;
    let state = state(context)?;
    let mut symbols = state.symbols.borrow_mut();
    if let Some(symbol) = symbols.get(&key) {
        return Ok(symbol.clone().into());
    }
    let Some(symbol) = JsSymbol::new(Some(key.clone())) else { return Err(js_error!(RangeError: "too many symbols")) };
    symbols.insert(key, symbol.clone());
    Ok(symbol.into())
}

fn key_for(_: &JsFunction, _: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(symbol) = arguments.get_or_undefined(0).as_symbol() else {
        return Err(js_error!(TypeError: "`Symbol.keyFor` takes a symbol"));
    };
    let state = state(context)?;
    // The description is the key.
    let known = symbol.description().filter(|key| state.symbols.borrow().get(key).is_some_and(|known| *known == symbol));
    Ok(known.map_or_else(JsValue::undefined, Into::into))
}
