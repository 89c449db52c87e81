//! Functions of lists.

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string,
    object::{
        FunctionObjectBuilder,
        builtins::{JsArray, JsFunction, JsProxy},
    },
};

use super::table::{TYPED_ARRAYS, Table, length_of};
use crate::checks;

/// What an element takes in a new list.
const ELEMENT_BYTES: u64 = 16;
/// What a character takes as an element.
const CHARACTER_BYTES: u64 = 48;
/// How many elements are done before the limits are looked at.
const LOOK_EVERY: usize = 1024;
/// The most elements of a typed array that a function walks over.
const MAX_TYPED: u64 = 16_000_000;

pub(super) const TABLE: Table = &[
    (
        "Array.prototype",
        &[
            "copyWithin",
            "entries",
            "every",
            "find",
            "findIndex",
            "findLast",
            "findLastIndex",
            "forEach",
            "includes",
            "indexOf",
            "keys",
            "lastIndexOf",
            "reduce",
            "reduceRight",
            "reverse",
            "shift",
            "some",
            "unshift",
            "values",
        ],
        walks,
    ),
    ("Array.prototype", &["fill", "filter", "flatMap", "map", "slice", "splice", "toReversed", "toSpliced", "with"], copies),
    ("Array.prototype", &["concat"], concat),
    ("Array.prototype", &["flat"], flat),
    ("Array.prototype", &["join"], join),
    ("Array.prototype", &["toLocaleString"], to_locale_string),
    ("Array.prototype", &["sort", "toSorted"], sort),
    ("Array", &["from"], from),
    (
        TYPED_ARRAYS,
        &[
            "copyWithin",
            "every",
            "fill",
            "filter",
            "find",
            "findIndex",
            "findLast",
            "findLastIndex",
            "forEach",
            "includes",
            "indexOf",
            "lastIndexOf",
            "map",
            "reduce",
            "reduceRight",
            "reverse",
            "slice",
            "some",
            "toReversed",
            "with",
        ],
        walks_typed,
    ),
    (TYPED_ARRAYS, &["sort", "toSorted"], sort_typed),
    (TYPED_ARRAYS, &["join"], join),
    (TYPED_ARRAYS, &["toLocaleString"], to_locale_string),
];

fn walks(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let length = length_of(this, context)?;
    checks::list(length, 0, "a function of `Array.prototype`", context)?;
    original.call(this, arguments, context)
}

fn copies(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let length = length_of(this, context)?;
    checks::list(length, ELEMENT_BYTES, "a function of `Array.prototype`", context)?;
    original.call(this, arguments, context)
}

fn walks_typed(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    checks::list_up_to(MAX_TYPED, length_of(this, context)?, 0, "a function of a typed array", context)?;
    original.call(this, arguments, context)
}

fn sort_typed(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    checks::list(length_of(this, context)?, ELEMENT_BYTES, "`sort` of a typed array", context)?;
    original.call(this, arguments, context)
}

fn concat(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut length = 0_u64;
    for list in std::iter::once(this).chain(arguments) {
        if list.is_object() {
            length = length.saturating_add(length_of(list, context)?);
        }
    }
    checks::list(length, ELEMENT_BYTES, "`concat`", context)?;
    original.call(this, arguments, context)
}

fn from(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let source = arguments.get_or_undefined(0);
    let each = if source.is_string() { CHARACTER_BYTES } else { ELEMENT_BYTES };
    let length = length_of(source, context)?;
    checks::list(length, each, "`Array.from`", context)?;
    original.call(this, arguments, context)
}

/// As the original, but without recursion. A list that holds the same list over and over looks at the limits on the way.
fn flat(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(source) = this.as_object() else { return original.call(this, arguments, context) };
    let length = length_of(this, context)?;
    checks::list(length, ELEMENT_BYTES, "`flat`", context)?;
    let depth = match arguments.get_or_undefined(0) {
        depth if depth.is_undefined() => 1.0,
        depth => depth.to_number(context)?,
    };
    let mut elements: Vec<JsValue> = Vec::new();
    let mut open: Vec<(JsObject, u64, u64)> = vec![(source, 0, length)];
    let mut done = 0_usize;
    while let Some((list, next, length)) = open.last_mut() {
        if next == length {
            open.pop();
            continue;
        }
        let (list, index) = (list.clone(), *next);
        *next += 1;
        done += 1;
        if done.is_multiple_of(LOOK_EVERY) {
            checks::look(context)?;
        }
        let element = list.get(index, context)?;
        if element.is_undefined() && !list.has_property(index, context)? {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a depth")]
        let goes_deeper = depth >= open.len() as f64;
        let inner = match element.as_object().filter(|_| goes_deeper) {
            Some(inner) if is_array(&inner, context)? => Some(inner),
            _ => None,
        };
        match inner {
            Some(inner) => {
                let length = length_of(&element, context)?;
                checks::list(length, 0, "`flat`", context)?;
                open.push((inner, 0, length));
            }
            None => elements.push(element),
        }
    }
    // A class of lists makes its own kind.
    let is_plain =
        this.as_object().is_some_and(|source| source.prototype() == Some(context.intrinsics().constructors().array().prototype()));
    let flattened = JsArray::from_iter(elements, context);
    if is_plain {
        return Ok(flattened.into());
    }
    let depth = JsValue::from(1);
    let wrapped = JsArray::from_iter([JsValue::from(flattened)], context);
    let kind = this.as_object().and_then(|source| source.prototype());
    JsObject::from(wrapped.clone()).set_prototype(kind);
    original.call(&wrapped.into(), &[depth], context)
}

/// A list, or a proxy of one.
pub(super) fn is_array(object: &JsObject, context: &mut Context) -> JsResult<bool> {
    if object.is_array() || JsProxy::from_object(object.clone()).is_err() {
        return Ok(object.is_array());
    }
    let constructor = context.intrinsics().constructors().array().constructor();
    let Some(is_array) = constructor.get(js_string!("isArray"), context)?.as_callable() else { return Ok(false) };
    Ok(is_array.call(&JsValue::undefined(), &[object.clone().into()], context)?.to_boolean())
}

fn join(_: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let separator = match arguments.get_or_undefined(0) {
        separator if separator.is_undefined() => js_string!(","),
        separator => separator.to_string(context)?,
    };
    joined(this, &separator, false, context)
}

fn to_locale_string(_: &JsFunction, this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    joined(this, &js_string!(","), true, context)
}

/// The elements as one text, made at once.
fn joined(this: &JsValue, separator: &JsString, is_local: bool, context: &mut Context) -> JsResult<JsValue> {
    let _nested = checks::Nested::enter(context)?;
    let list = this.to_object(context)?;
    let length = length_of(&list.clone().into(), context)?;
    checks::list(length, ELEMENT_BYTES, "`join`", context)?;
    let mut parts: Vec<JsString> = Vec::new();
    let mut units = 0_u64;
    for index in 0..length {
        let element = list.get(index, context)?;
        let text = if element.is_null_or_undefined() || element.as_object().is_some_and(|element| JsObject::equals(&element, &list)) {
            js_string!()
        } else if is_local {
            let function = element.to_object(context)?.get(js_string!("toLocaleString"), context)?;
            let Some(function) = function.as_callable() else {
                return Err(boa_engine::js_error!(TypeError: "`toLocaleString` of an element is not a function"));
            };
            function.call(&element, &[], context)?.to_string(context)?
        } else {
            element.to_string(context)?
        };
        units = units.saturating_add((text.len() + separator.len()) as u64);
        parts.push(text);
        if parts.len().is_multiple_of(LOOK_EVERY) {
            checks::look(context)?;
            checks::text(units, context)?;
        }
    }
    checks::text(units, context)?;
    let mut pieces = Vec::with_capacity(parts.len() * 2);
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            pieces.push(separator.as_str());
        }
        pieces.push(part.as_str());
    }
    Ok(JsString::concat_array(&pieces).into())
}

/// Without a comparison of the script's own, one of ours looks at the limits.
fn sort(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    checks::list(length_of(this, context)?, 2 * ELEMENT_BYTES, "`sort`", context)?;
    if !arguments.get_or_undefined(0).is_undefined() {
        return original.call(this, arguments, context);
    }
    let compare = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(compare)).build();
    original.call(this, &[compare.into()], context)
}

fn compare(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    checks::look(context)?;
    let (one, other) = (arguments.get_or_undefined(0).to_string(context)?, arguments.get_or_undefined(1).to_string(context)?);
    Ok(JsValue::from(one.cmp(&other) as i32))
}
