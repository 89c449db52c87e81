//! What may cross between a script and the core, whatever the engine.
//!
//! An engine walks a value in its own way and asks here what becomes of each part. JSON would turn
//! much of what a script can return into `{}` or `null`, or drop it: all of that is refused, by its
//! type. The engine adds the place.
//!
//! | out of a script | becomes |
//! |---|---|
//! | a bigint | a number up to ±(2^53 − 1), beyond that the text of its digits: [`integer`] |
//! | `NaN`, an infinity | refused: [`number`] |
//! | an object | refused where [`refused`] says so |
//! | `undefined` as an element, a hole | refused: [`UNDEFINED`] |
//! | a function, a symbol | refused: [`FUNCTION`], [`SYMBOL`] |
//!
//! Into a script, an integer beyond ±(2^53 − 1) is a bigint: [`entering`].

use alloc::{
    format,
    string::{String, ToString as _},
};

use serde_json::Number;

use crate::{Json, value::MAX_SAFE_INTEGER};

/// An element that is `undefined`, or none at all.
pub const UNDEFINED: &str = "is undefined, which JSON would turn into null; return null";
/// A function.
pub const FUNCTION: &str = "is a function";
/// A symbol.
pub const SYMBOL: &str = "is a symbol";
/// An object whose `toJSON` gave null or nothing.
pub const TO_NOTHING: &str = "has a `toJSON` that returned nothing";

/// The largest number that is an integer: beyond it, a script that gets one gets a bigint.
#[expect(clippy::cast_precision_loss, reason = "a double has it exactly")]
const MAX_WHOLE: f64 = MAX_SAFE_INTEGER as f64;

/// An object as an engine sees it, which is neither a list, nor a function, nor a reply, nor has a
/// `toJSON`.
#[derive(Clone, Copy, Debug)]
pub struct ObjectLook<'a> {
    /// What `Object.prototype.toString` puts after `object`: `Object`, `Map`, `Promise`. Of a
    /// primitive in an object, its type.
    pub tag: &'a str,
    /// The name of its class, where that is known.
    pub class: &'a str,
    /// Whether it is an error: made by `Error` or a class below it, or with a prototype that is.
    pub is_error: bool,
    /// Whether its prototype is `Object.prototype`, or it has none.
    pub is_plain: bool,
    /// Whether it has no enumerable member of its own that a text names.
    pub is_empty: bool,
}

/// Why an object cannot be a part of a result, as what follows its place; `None` where it can.
#[must_use]
pub fn refused(look: &ObjectLook<'_>) -> Option<String> {
    if look.is_error {
        return Some("is an error; throw it, or return its `message`".into());
    }
    let instead = match look.tag {
        "Promise" => "`await` it",
        "Map" | "URLSearchParams" | "Headers" | "FormData" => "return `Object.fromEntries(…)` of it",
        "Set" => "return a list of its values: `[...set]`",
        "Response" | "Request" => "return what it contains: `await response.json()`",
        "ResponseBuilder" => "return it by itself, or what its `build()` returns",
        "UiBlock" => "pass it to `ui()` of a `response()`",
        "WeakMap"
        | "WeakSet"
        | "WeakRef"
        | "FinalizationRegistry"
        | "Symbol"
        | "AbortSignal"
        | "AbortController"
        | "TextEncoder"
        | "TextDecoder"
        | "ReadableStream"
        | "WritableStream"
        | "TransformStream"
        | "Event"
        | "EventTarget" => "JSON has nothing for it",
        "RegExp" => "return its `source`",
        "ArrayBuffer" | "SharedArrayBuffer" | "DataView" | "Blob" | "File" => "return base64, or a list of numbers",
        tag if is_typed_array(tag) => "return base64, or a list of numbers: `[...bytes]`",
        tag if tag.ends_with("Generator") || tag == "Iterator" || tag.ends_with(" Iterator") || tag == "Iterator Helper" => {
            "return a list: `[...iterator]`"
        }
        "Date" => return Some("is an invalid Date".into()),
        "Object" | "Arguments" if look.is_plain || !look.is_empty => return None,
        // Whatever else has members of its own is data.
        _ if !look.is_empty => return None,
        _ => "it has no members of its own, so JSON would turn it into `{}`; return a plain object",
    };
    let name = if look.tag == "Object" { look.class } else { look.tag };
    if name.is_empty() {
        return Some(format!("is an object without a class; {instead}"));
    }
    let article = if name.starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" };
    Some(format!("is {article} `{name}`; {instead}"))
}

fn is_typed_array(tag: &str) -> bool {
    let element = tag.strip_suffix("Array").map(|rest| rest.trim_end_matches("Clamped").trim_end_matches(|c: char| c.is_ascii_digit()));
    matches!(element, Some("Int" | "Uint" | "Float" | "BigInt" | "BigUint"))
}

/// A number that leaves a script. Whole ones up to ±(2^53 − 1) are integers: what is larger enters
/// a script again as the number it was.
///
/// # Errors
/// What follows its place, of one that is not finite.
pub fn number(value: f64) -> Result<Json, &'static str> {
    if value % 1.0 == 0.0 && value.abs() <= MAX_WHOLE {
        // In range and whole, hence without loss.
        #[expect(clippy::cast_possible_truncation)]
        return Ok(Json::from(value as i64));
    }
    match Number::from_f64(value) {
        Some(number) => Ok(Json::Number(number)),
        None if value.is_nan() => Err("is NaN, which JSON would turn into null"),
        None => Err("is an infinite number, which JSON would turn into null"),
    }
}

/// A bigint that leaves a script, of which these are the digits: as
/// [answers](crate::value::Value::json) have it.
#[must_use]
pub fn integer(digits: &str) -> Json {
    match digits.parse::<i64>() {
        Ok(value) if value.unsigned_abs() <= MAX_SAFE_INTEGER => Json::from(value),
        _ => Json::String(digits.to_string()),
    }
}

/// A bigint within an object that a database gets.
///
/// # Errors
/// What follows its place, of one that does not fit.
pub fn exact_integer(digits: &str) -> Result<Json, &'static str> {
    let signed = digits.parse::<i64>().map(Json::from);
    signed.or_else(|_| digits.parse::<u64>().map(Json::from)).map_err(|_| "is an integer of more than 64 bits; pass the text of its digits")
}

/// What is wrong with an argument, as [`refused`] and the others say it of a result: one does not
/// return it.
#[must_use]
pub fn in_an_argument(problem: &str) -> String {
    problem.replace("throw it, or return ", "pass ").replace("; return ", "; pass ")
}

/// A number of JSON, or of a row, as a script gets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entering {
    /// A number.
    Number(f64),
    /// A bigint.
    Integer(i128),
}

/// A number that enters a script.
#[must_use]
pub fn entering(number: &Number) -> Entering {
    match number.as_i128() {
        Some(value) if value.unsigned_abs() > u128::from(MAX_SAFE_INTEGER) => Entering::Integer(value),
        _ => Entering::Number(number.as_f64().unwrap_or(f64::NAN)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PLAIN: ObjectLook<'_> = ObjectLook { tag: "Object", class: "Object", is_error: false, is_plain: true, is_empty: false };

    #[test]
    fn data_passes() {
        let table = [
            PLAIN,
            ObjectLook { is_empty: true, ..PLAIN },
            ObjectLook { class: "", ..PLAIN },
            ObjectLook { class: "Point", is_plain: false, ..PLAIN },
            ObjectLook { tag: "Decimal", class: "Decimal", is_plain: false, ..PLAIN },
            ObjectLook { tag: "Arguments", is_empty: true, ..PLAIN },
        ];
        for look in table {
            assert_eq!(refused(&look), None, "{look:?}");
        }
    }

    #[test]
    fn what_json_would_empty_is_refused_by_name() {
        let tags = [
            "AbortController",
            "AbortSignal",
            "Array Iterator",
            "ArrayBuffer",
            "AsyncGenerator",
            "BigInt64Array",
            "BigUint64Array",
            "DataView",
            "Float16Array",
            "Float64Array",
            "Generator",
            "Headers",
            "Int8Array",
            "Iterator Helper",
            "Map",
            "Promise",
            "RegExp",
            "RegExp String Iterator",
            "Request",
            "Response",
            "ResponseBuilder",
            "Set",
            "Set Iterator",
            "SharedArrayBuffer",
            "String Iterator",
            "Symbol",
            "TextDecoder",
            "URLSearchParams",
            "UiBlock",
            "Uint8Array",
            "Uint8ClampedArray",
            "WeakMap",
            "WeakRef",
            "WeakSet",
        ];
        for tag in tags {
            for is_empty in [true, false] {
                let refusal = refused(&ObjectLook { tag, class: tag, is_error: false, is_plain: false, is_empty }).unwrap_or_default();
                assert!(refusal.starts_with("is a") && refusal.contains(&format!(" `{tag}`; ")), "{tag}: {refusal}");
            }
        }
        for tag in ["Math", "JSON", "Intl.NumberFormat", "Temporal.Now", "Object"] {
            let look = ObjectLook { tag, class: "Mine", is_error: false, is_plain: false, is_empty: true };
            assert!(refused(&look).is_some(), "{tag}");
        }
        let look = ObjectLook { class: "Mine", is_plain: false, is_empty: true, ..PLAIN };
        assert!(refused(&look).unwrap_or_default().starts_with("is a `Mine`; "));
        assert!(refused(&ObjectLook { is_error: true, ..PLAIN }).is_some());
        assert!(refused(&ObjectLook { tag: "Date", ..PLAIN }).is_some());
    }

    #[test]
    fn an_argument_is_passed_and_a_result_is_returned() {
        let table = [
            (UNDEFINED, "is undefined, which JSON would turn into null; pass null"),
            ("is an error; throw it, or return its `message`", "is an error; pass its `message`"),
            ("is a `Map`; return `Object.fromEntries(…)` of it", "is a `Map`; pass `Object.fromEntries(…)` of it"),
            (FUNCTION, FUNCTION),
        ];
        for (problem, expected) in table {
            assert_eq!(in_an_argument(problem), expected);
        }
        assert_eq!(exact_integer("9223372036854775808"), Ok(json!(9_223_372_036_854_775_808_u64)));
        assert_eq!(exact_integer("-9223372036854775808"), Ok(json!(i64::MIN)));
        assert!(exact_integer("18446744073709551616").is_err());
    }

    #[test]
    fn numbers_lose_nothing() {
        for (value, expected) in [
            (0.5, json!(0.5)),
            (-0.0, json!(0)),
            (MAX_WHOLE, json!(9_007_199_254_740_991_i64)),
            (-9_007_199_254_740_992.0, json!(-9_007_199_254_740_992.0)),
            (1e300, json!(1e300)),
        ] {
            assert_eq!(number(value), Ok(expected));
        }
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(number(value).is_err(), "{value}");
        }
        let texts = ["9007199254740992", "-9007199254740992", "9223372036854775808", "123456789012345678901234567890"];
        for text in texts {
            assert_eq!(integer(text), json!(text));
        }
        assert_eq!((integer("9007199254740991"), integer("-7")), (json!(9_007_199_254_740_991_i64), json!(-7)));
        let table = [
            (json!(9_007_199_254_740_991_i64), Entering::Number(9_007_199_254_740_991.0)),
            (json!(9_007_199_254_740_992_i64), Entering::Integer(9_007_199_254_740_992)),
            (json!(i64::MIN), Entering::Integer(i128::from(i64::MIN))),
            (json!(u64::MAX), Entering::Integer(i128::from(u64::MAX))),
            (json!(1e300), Entering::Number(1e300)),
        ];
        for (sent, expected) in table {
            let Json::Number(sent) = sent else { panic!("a number") };
            assert_eq!(entering(&sent), expected);
        }
    }
}
