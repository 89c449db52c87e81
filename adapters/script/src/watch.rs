//! Watches promises of the host for [`promises`](crate::promises), and knows where a script is.

use std::fmt::Write as _;

use boa_engine::{
    Context, JsObject, JsResult, JsValue, NativeFunction, js_error, js_string, object::FunctionObjectBuilder, property::PropertyDescriptor,
};

use crate::{promises::MAX_KEPT, state::state};

/// How many calls of a stack are kept.
const MAX_FRAMES: usize = 8;

/// Watches a promise until something looks at it.
pub(crate) fn watch(promise: &JsObject, what: String, stack: String, context: &mut Context) -> JsResult<()> {
    let Some(id) = state(context)?.promises.watch(promise.clone(), what, stack) else {
        return Err(js_error!(RangeError: "more than {} queries and requests that nothing waits for", MAX_KEPT));
    };
    let get = NativeFunction::from_copy_closure_with_captures(
        |_, _, id: &u32, context| {
            state(context)?.promises.looked_at(*id);
            Ok(JsValue::from(context.intrinsics().constructors().promise().constructor()))
        },
        id,
    );
    let get = FunctionObjectBuilder::new(context.realm(), get).build();
    let constructor = PropertyDescriptor::builder().get(get).enumerable(false).configurable(true);
    promise.define_property_or_throw(js_string!("constructor"), constructor, context)?;
    Ok(())
}

/// Where the script is now: lines as those of an error's `stack`.
pub(crate) fn stack(context: &Context) -> String {
    let mut lines = String::new();
    for frame in context.stack_trace().take(MAX_FRAMES) {
        let location = frame.position();
        if let Some(position) = location.position {
            let (name, line, column) = (location.function_name.to_std_string_lossy(), position.line_number(), position.column_number());
            // Writing to a string does not fail.
            let _ = writeln!(lines, "    at {name} ({}:{line}:{column})", location.path);
        }
    }
    lines
}
