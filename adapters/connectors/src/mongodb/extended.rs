//! The values of [Extended
//! JSON](https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/): an object of one
//! key, such as `{ $oid: "…" }`. The key is the author's; what is in it may be a value of the call.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Error, ErrorKind, Json, Result, hex, ports::Node, value::Value};

use super::{bson::Bson, decimal, time};

/// What members of one key are, which the catalogue says are a value. What is null in them is null.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for what the key cannot hold.
pub(super) fn value(members: &[(String, Node)]) -> Result<Bson> {
    let Some((key, node)) = members.first() else { return Ok(Bson::Document(Vec::new())) };
    if matches!(node, Node::Value(Value::Null | Value::Json(Json::Null))) {
        return Ok(Bson::Null);
    }
    let wrong = |what: &str| Error::new(ErrorKind::Data, format!("`{key}` must hold {what}"));
    let text = text_of(node);
    let text = text.as_deref();
    Ok(match key.as_str() {
        "$oid" => {
            let bytes = text.filter(|text| text.len() == 24).and_then(|text| hex::decode(text.as_bytes()));
            Bson::ObjectId(bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| wrong("24 hexadecimal digits"))?)
        }
        "$date" => match node {
            Node::Value(Value::I64(ms)) => Bson::Date(*ms),
            Node::Members(inner) => match value(inner)? {
                Bson::Int64(ms) => Bson::Date(ms),
                _ => return Err(wrong("a date")),
            },
            _ => Bson::Date(text.and_then(time::parse).ok_or_else(|| wrong("a date, such as `2026-01-02T03:04:05Z`"))?),
        },
        "$numberLong" => Bson::Int64(text.and_then(|text| text.parse().ok()).ok_or_else(|| wrong("a 64-bit integer"))?),
        "$numberInt" => Bson::Int32(text.and_then(|text| text.parse().ok()).ok_or_else(|| wrong("a 32-bit integer"))?),
        "$numberDouble" => Bson::Double(match text {
            Some("Infinity") => f64::INFINITY,
            Some("-Infinity") => f64::NEG_INFINITY,
            Some("NaN") => f64::NAN,
            text => text.and_then(|text| text.parse().ok()).filter(|number: &f64| number.is_finite()).ok_or_else(|| wrong("a number"))?,
        }),
        "$numberDecimal" => {
            let what = "a decimal of at most 34 digits";
            Bson::Decimal(text.and_then(decimal::parse).ok_or_else(|| wrong(what))?)
        }
        "$binary" => {
            let (text, kind) = match node {
                Node::Members(inner) => (member(inner, "base64"), member(inner, "subType").unwrap_or_else(|| "00".to_owned())),
                _ => (text.map(str::to_owned), "00".to_owned()),
            };
            let bytes = text.and_then(|text| STANDARD.decode(text).ok()).ok_or_else(|| wrong("`base64` and `subType`"))?;
            let kind = u8::from_str_radix(&kind, 16).map_err(|_| wrong("`base64` and `subType`, two hexadecimal digits"))?;
            Bson::Binary(kind, bytes)
        }
        "$uuid" => {
            let digits = text.filter(|text| text.len() == 36).map(|text| text.replace('-', "")).filter(|digits| digits.len() == 32);
            let bytes = digits.and_then(|digits| hex::decode(digits.as_bytes())).ok_or_else(|| wrong("a UUID"))?;
            Bson::Binary(4, bytes)
        }
        "$regularExpression" => match node {
            Node::Members(inner) => Bson::Regex(
                member(inner, "pattern").ok_or_else(|| wrong("`pattern` and `options`"))?,
                member(inner, "options").unwrap_or_default(),
            ),
            _ => return Err(wrong("`pattern` and `options`")),
        },
        "$timestamp" => {
            let number = |name: &str| match node {
                Node::Members(inner) => member(inner, name).and_then(|text| text.parse::<u32>().ok()),
                _ => None,
            };
            Bson::Timestamp(number("t").ok_or_else(|| wrong("`t` and `i`"))?, number("i").ok_or_else(|| wrong("`t` and `i`"))?)
        }
        "$minKey" => Bson::MinKey,
        "$maxKey" => Bson::MaxKey,
        _ => return Err(wrong("nothing that is known here")),
    })
}

/// The digits of a decimal.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for what is none.
pub(super) fn decimal(text: &str) -> Result<[u8; 16]> {
    decimal::parse(text).ok_or_else(|| Error::new(ErrorKind::Data, "a value is not a decimal of at most 34 digits"))
}

/// The time of a date.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for what is none.
pub(super) fn date(text: &str) -> Result<i64> {
    time::parse(text).ok_or_else(|| Error::new(ErrorKind::Data, "a value is not a date"))
}

/// A value that cannot be what it has to be.
pub(super) fn unfit(message: &str) -> Error {
    Error::new(ErrorKind::Data, message)
}

/// A text that cannot be what it has to be.
pub(super) fn syntax(message: &str) -> Error {
    Error::new(ErrorKind::Syntax, message)
}

fn member(members: &[(String, Node)], key: &str) -> Option<String> {
    members.iter().find(|(known, _)| known == key).and_then(|(_, node)| text_of(node))
}

/// A text, or a number as text.
fn text_of(node: &Node) -> Option<String> {
    let Node::Value(value) = node else { return None };
    Some(match value {
        Value::Text(text) | Value::Decimal(text) | Value::Timestamp(text) => text.clone(),
        Value::Json(Json::String(text)) => text.clone(),
        Value::Json(number @ Json::Number(_)) => number.to_string(),
        Value::I64(number) => number.to_string(),
        Value::U64(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        _ => return None,
    })
}
