//! Tables of guards, and what guards share.

use boa_engine::{Context, JsResult, JsValue, js_string, object::builtins::JsFunction};

/// What stands in front of a built-in function: the original, `this`, and the arguments.
pub(crate) type Guard = fn(&JsFunction, &JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>;

/// Objects by their paths, their functions by name (`@name` is a symbol's), and what guards them.
pub(super) type Table = &'static [(&'static str, &'static [&'static str], Guard)];

/// In the place of a path: the prototype of what `map` and the like of an iterator give.
pub(super) const ITERATOR_HELPERS: &str = "%IteratorHelperPrototype%";
/// In the place of a path: the prototype of what `Iterator.from` gives.
pub(super) const WRAPPED_ITERATORS: &str = "%WrapForValidIteratorPrototype%";
/// In the place of a path: the prototype that the typed arrays have in common.
pub(super) const TYPED_ARRAYS: &str = "%TypedArray.prototype%";

/// The length of a list, or of a text; 0 for what has none. The original says what it thinks of that.
pub(super) fn length_of(value: &JsValue, context: &mut Context) -> JsResult<u64> {
    if let Some(text) = value.as_string() {
        return Ok(text.len() as u64);
    }
    let Some(object) = value.as_object() else { return Ok(0) };
    let length = object.get(js_string!("length"), context)?;
    if length.is_undefined() { Ok(0) } else { length.to_length(context) }
}
