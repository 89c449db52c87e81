//! Values as texts of a URL and as JSON of a body. A NUL character, at which PostgreSQL would end a
//! text, is refused.

use millrace_core::{Json, Result, hex, ports::Node, value::Value};

use crate::documents::{json_text, plain_text, unfit};

/// A value as PostgreSQL reads it; nothing for null.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for a list, an object, and a text with a NUL character.
pub(super) fn text_of(value: &Value) -> Result<Option<String>> {
    let text = plain_text(value, bytea)?;
    text.as_deref().map_or(Ok(()), without_nul)?;
    Ok(text)
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
    check_node(node)?;
    Ok(json_text(node, bytea))
}

/// Bytes as PostgreSQL writes and reads them.
fn bytea(bytes: &[u8]) -> String {
    format!("\\x{}", hex::encode(bytes))
}

/// Looks for a NUL character in a part of a request.
fn check_node(node: &Node) -> Result<()> {
    match node {
        Node::Value(value) => check_value(value),
        Node::Members(members) => members.iter().try_for_each(|(key, node)| {
            without_nul(key)?;
            check_node(node)
        }),
        Node::List(elements) => elements.iter().try_for_each(check_node),
    }
}

fn check_value(value: &Value) -> Result<()> {
    match value {
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => without_nul(text),
        Value::Array(elements) => elements.iter().try_for_each(check_value),
        Value::Json(document) => check(document),
        _ => Ok(()),
    }
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

fn without_nul(text: &str) -> Result<()> {
    if text.contains('\0') { Err(unfit("a value has a NUL character, which PostgreSQL does not take")) } else { Ok(()) }
}
