//! `BigInt`: the conversion of long texts.

use boa_engine::{
    Context, JsArgs, JsBigInt, JsNativeError, JsResult, JsValue, NativeFunction, js_error, js_string,
    object::FunctionObjectBuilder,
    property::{Attribute, PropertyDescriptor, PropertyKey},
    value::PreferredType,
};

use millrace_core::ports::script_value;

use super::table::Table;
use crate::{checks, convert, native};

/// The bits of a digit, rounded up for decimal ones.
const DIGIT_BITS: u64 = 4;

pub(super) const TABLE: Table = &[("BigInt", &["asIntN", "asUintN"], as_n)];

/// `asIntN(bits, value)`
fn as_n(
    original: &boa_engine::object::builtins::JsFunction,
    this: &JsValue,
    arguments: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    let bits = arguments.get_or_undefined(0).to_index(context)?;
    checks::bigint(bits, context)?;
    original.call(this, arguments, context)
}

/// `BigInt.prototype.toJSON()`: what a result has in its place.
fn to_json(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let boxed = this.as_object().and_then(|object| object.downcast_ref::<JsBigInt>().map(|value| value.clone()));
    let Some(value) = this.as_bigint().or(boxed) else { return Err(js_error!(TypeError: "`toJSON` of `BigInt` takes a bigint")) };
    checks::bigint(value.as_inner().bits(), context)?;
    convert::to_script(&script_value::integer(&value.to_string()), false, context)
}

/// Puts a function before the constructor. It is not a constructor either: `new` refuses it in both cases.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let original = context.global_object().get(js_string!("BigInt"), context)?;
    let Some(original) = original.as_function() else { return Err(js_error!(Error: "`BigInt` is missing")) };
    let native = NativeFunction::from_copy_closure_with_captures(
        |_, arguments, original, context| {
            let primitive = arguments.get_or_undefined(0).to_primitive(context, PreferredType::Number)?;
            if let Some(text) = primitive.as_string() {
                checks::bigint((text.len() as u64).saturating_mul(DIGIT_BITS), context)?;
            }
            original.call(&JsValue::undefined(), &[primitive], context)
        },
        original.clone(),
    );
    let guarded = FunctionObjectBuilder::new(context.realm(), native).name(js_string!("BigInt")).length(1).build();
    for key in original.own_property_keys(context)? {
        let Some(property) = original.borrow().properties().get(&key) else { continue };
        if property.configurable() == Some(true) || key == PropertyKey::from(js_string!("prototype")) {
            guarded.define_property_or_throw(key, property, context)?;
        }
    }
    let prototype = original.get(js_string!("prototype"), context)?;
    let Some(prototype) = prototype.as_object() else {
        return Err(JsNativeError::error().with_message("`BigInt.prototype` is missing").into());
    };
    // As in a result: `JSON.stringify` would throw where a row has a large integer.
    let to_json = PropertyDescriptor::builder().value(native::function("toJSON", to_json, context));
    prototype.define_property_or_throw(js_string!("toJSON"), to_json.writable(true).enumerable(false).configurable(true), context)?;
    let constructor = PropertyDescriptor::builder().value(guarded.clone()).writable(true).enumerable(false).configurable(true);
    prototype.define_property_or_throw(js_string!("constructor"), constructor, context)?;
    context.register_global_property(js_string!("BigInt"), guarded, Attribute::WRITABLE | Attribute::CONFIGURABLE)
}
