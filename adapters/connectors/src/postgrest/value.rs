//! Values as texts of a URL and as JSON of a body. A NUL character, at which PostgreSQL would end a
//! text, is refused.

use millrace_core::{Error, ErrorKind, Json, Result, hex, ports::Node, value::Value};

use crate::documents::{write_json, write_list};

/// A value as PostgreSQL reads it; nothing for null.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for a list, an object, and a text with a NUL character.
pub(super) fn text_of(value: &Value) -> Result<Option<String>> {
    let text = match value {
        Value::Null | Value::Json(Json::Null) => return Ok(None),
        Value::Bool(truth) => truth.to_string(),
        Value::I64(number) => number.to_string(),
        Value::U64(number) => number.to_string(),
        Value::F64(number) => float(*number),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => text.clone(),
        Value::Bytes(bytes) => format!("\\x{}", hex::encode(bytes)),
        Value::Json(Json::String(text)) => text.clone(),
        Value::Json(Json::Array(_) | Json::Object(_)) | Value::Array(_) => {
            return Err(unfit("a value is an object or a list, which cannot stand where it does"));
        }
        Value::Json(scalar) => scalar.to_string(),
    };
    without_nul(&text)?;
    Ok(Some(text))
}

/// The elements of a list, null as nothing; `None` where the list itself is null.
///
/// # Errors
/// As [`text_of`].
pub(super) fn elements_of(node: &Node) -> Result<Option<Vec<Option<String>>>> {
    let texts: Result<_> = match node {
        Node::List(nodes) => nodes
            .iter()
            .map(|node| match node {
                Node::Value(value) => text_of(value),
                Node::Members(_) | Node::List(_) => Err(unfit("an element is an object or a list, which cannot stand where it does")),
            })
            .collect(),
        Node::Value(Value::Array(values)) => values.iter().map(text_of).collect(),
        Node::Value(Value::Json(Json::Array(values))) => values.iter().map(|value| text_of(&Value::Json(value.clone()))).collect(),
        // A single value is a list of one, as in a statement.
        Node::Value(value) => return Ok(text_of(value)?.map(|text| vec![Some(text)])),
        Node::Members(_) => return Err(unfit("an object cannot stand where a list does")),
    };
    texts.map(Some)
}

/// What stands beside an operator of arrays: an array of PostgreSQL, JSON, or a text as it is.
///
/// # Errors
/// As [`text_of`].
pub(super) fn array_of(node: &Node) -> Result<Option<String>> {
    match node {
        Node::Members(_) => json(node).map(Some),
        Node::Value(Value::Json(Json::Array(_) | Json::Object(_))) => json(node).map(Some),
        Node::Value(Value::Array(_)) | Node::List(_) => {
            let elements = elements_of(node)?.unwrap_or_default();
            let elements: Vec<String> =
                elements.into_iter().map(|element| element.map_or_else(|| "NULL".to_owned(), |text| quoted(&text))).collect();
            Ok(Some(format!("{{{}}}", elements.join(","))))
        }
        Node::Value(value) => text_of(value),
    }
}

/// A text in quotes, as PostgREST reads it in conditions and PostgreSQL in arrays.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// A part of a document as JSON, with its numbers as they are.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for a text with a NUL character.
pub(super) fn json(node: &Node) -> Result<String> {
    let mut text = String::new();
    write_json(node, &mut text, &write_value)?;
    Ok(text)
}

fn write_value(value: &Value, out: &mut String) -> Result<()> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::I64(number) => out.push_str(&number.to_string()),
        Value::U64(number) => out.push_str(&number.to_string()),
        Value::F64(number) if number.is_finite() => out.push_str(&float(*number)),
        Value::Decimal(digits) if crate::shared::is_json_number(digits.as_bytes()) => out.push_str(digits),
        Value::F64(number) => return write_text(&float(*number), out),
        Value::Bytes(bytes) => return write_text(&format!("\\x{}", hex::encode(bytes)), out),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => return write_text(text, out),
        Value::Array(elements) => return write_list(elements, out, write_value),
        Value::Json(document) => {
            check(document)?;
            out.push_str(&document.to_string());
        }
    }
    Ok(())
}

fn write_text(text: &str, out: &mut String) -> Result<()> {
    without_nul(text)?;
    out.push_str(&Json::String(text.to_owned()).to_string());
    Ok(())
}

/// Looks for a NUL character in a document.
fn check(document: &Json) -> Result<()> {
    match document {
        Json::String(text) => without_nul(text),
        Json::Array(elements) => elements.iter().try_for_each(check),
        Json::Object(members) => members.iter().try_for_each(|(key, value)| {
            without_nul(key)?;
            check(value)
        }),
        _ => Ok(()),
    }
}

fn float(number: f64) -> String {
    match serde_json::Number::from_f64(number) {
        Some(number) => number.to_string(),
        None if number.is_nan() => "NaN".to_owned(),
        None => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
    }
}

fn without_nul(text: &str) -> Result<()> {
    if text.contains('\0') { Err(unfit("a value has a NUL character, which PostgreSQL does not take")) } else { Ok(()) }
}

/// A value that cannot be what it has to be.
pub(super) fn unfit(message: &str) -> Error {
    Error::new(ErrorKind::Data, message)
}
