//! Documents of scripts as text, a document as its judge sees it, and documents as rows: what the
//! connectors `mongodb`, `postgrest` and `http` share.
//!
//! In a script's document, a text that is `$1` and nothing else is the first value. The text is
//! read before a value is put in, so that no value can be a key or an operator.

use std::{collections::BTreeMap, rc::Rc};

use millrace_core::{
    Error, ErrorKind, Json, Result,
    ports::Node,
    value::{Rows, Value},
};
use millrace_languages::{Flaw, Tree, View};

use crate::shared::is_json_number;

/// The most cells of a result: documents that all have other fields would be a row each of the
/// fields of all.
const MAX_CELLS: usize = 1 << 20;

/// The most flaws of a document that one message has.
const MOST_FLAWS: usize = 5;

/// A part of a document.
#[derive(Debug)]
pub(crate) enum Draft {
    Literal(Json),
    /// The value of this number, from 0.
    Place(usize),
    Members(Vec<(String, Self)>),
    List(Vec<Self>),
}

impl Tree for Draft {
    fn view(&self) -> View<'_, Self> {
        match self {
            Self::Literal(Json::String(text)) => View::Text(text),
            Self::Literal(Json::Bool(truth)) => View::Bool(*truth),
            Self::Literal(Json::Number(number)) => number.as_i64().map_or(View::Other, View::Integer),
            Self::Literal(Json::Null) => View::Null,
            Self::Literal(_) => View::Other,
            Self::Place(_) => View::Value,
            Self::Members(members) => View::Members(members),
            Self::List(elements) => View::List(elements),
        }
    }
}

/// Reads a script's text, which takes so many values.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a text that is no document, or takes other values.
pub(crate) fn parsed(text: &str, values: usize) -> Result<Vec<(String, Draft)>> {
    let parsed: Json = serde_json::from_str(text)
        .map_err(|error| syntax(&format!("the text is not a document in JSON (line {}, column {})", error.line(), error.column())))?;
    let Json::Object(members) = parsed else { return Err(syntax("the text is not a document in JSON: it must be an object")) };
    let mut used = vec![false; values];
    let drafts = drafts(members, &mut used)?;
    if used.contains(&false) {
        return Err(wrong_count());
    }
    Ok(drafts)
}

fn drafts(members: serde_json::Map<String, Json>, used: &mut [bool]) -> Result<Vec<(String, Draft)>> {
    members.into_iter().map(|(key, value)| Ok((key, draft(value, used)?))).collect()
}

fn draft(value: Json, used: &mut [bool]) -> Result<Draft> {
    Ok(match value {
        Json::Object(members) => Draft::Members(drafts(members, used)?),
        Json::Array(elements) => Draft::List(elements.into_iter().map(|element| draft(element, used)).collect::<Result<_>>()?),
        Json::String(text) => match parameter(&text) {
            Some(number) => {
                let place = number.checked_sub(1).ok_or_else(wrong_count)?;
                *used.get_mut(place).ok_or_else(wrong_count)? = true;
                Draft::Place(place)
            }
            None => Draft::Literal(Json::String(text)),
        },
        other => Draft::Literal(other),
    })
}

/// The number of a parameter, from 1.
fn parameter(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('$').filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(digits.parse().unwrap_or(usize::MAX))
}

/// Puts a script's values in.
pub(crate) fn filled(draft: Draft, values: &[Value]) -> Node {
    match draft {
        Draft::Literal(value) => Node::Value(literal(value)),
        Draft::Place(place) => Node::Value(values.get(place).cloned().unwrap_or(Value::Null)),
        Draft::Members(members) => Node::Members(members.into_iter().map(|(key, draft)| (key, filled(draft, values))).collect()),
        Draft::List(elements) => Node::List(elements.into_iter().map(|draft| filled(draft, values)).collect()),
    }
}

/// The author's text.
pub(crate) fn text(node: &Node) -> Option<&str> {
    if let Node::Value(Value::Text(text)) = node { Some(text) } else { None }
}

/// A value as plain text; nothing for null. `bytes` writes bytes.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for a list and an object.
pub(crate) fn plain_text(value: &Value, bytes: fn(&[u8]) -> String) -> Result<Option<String>> {
    Ok(Some(match value {
        Value::Null | Value::Json(Json::Null) => return Ok(None),
        Value::Bool(truth) => truth.to_string(),
        Value::I64(number) => number.to_string(),
        Value::U64(number) => number.to_string(),
        Value::F64(number) => float(*number),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) | Value::Json(Json::String(text)) => text.clone(),
        Value::Bytes(value) => bytes(value),
        Value::Json(Json::Array(_) | Json::Object(_)) | Value::Array(_) => {
            return Err(unfit("a value is an object or a list, which cannot stand where it does"));
        }
        Value::Json(scalar) => scalar.to_string(),
    }))
}

fn float(number: f64) -> String {
    match serde_json::Number::from_f64(number) {
        Some(number) => number.to_string(),
        None if number.is_nan() => "NaN".to_owned(),
        None => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
    }
}

/// A part of a document as JSON, with its numbers as they are. `bytes` writes bytes.
pub(crate) fn json_text(node: &Node, bytes: fn(&[u8]) -> String) -> String {
    let mut text = String::new();
    write_node(node, bytes, &mut text);
    text
}

fn write_node(node: &Node, bytes: fn(&[u8]) -> String, out: &mut String) {
    match node {
        Node::Value(value) => write_value(value, bytes, out),
        Node::Members(members) => {
            out.push('{');
            for (place, (key, node)) in members.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                write_text(key, out);
                out.push(':');
                write_node(node, bytes, out);
            }
            out.push('}');
        }
        Node::List(elements) => write_list(elements, out, |node, out| write_node(node, bytes, out)),
    }
}

fn write_list<T>(elements: &[T], out: &mut String, write: impl Fn(&T, &mut String)) {
    out.push('[');
    for (place, element) in elements.iter().enumerate() {
        out.push_str(if place > 0 { "," } else { "" });
        write(element, out);
    }
    out.push(']');
}

fn write_value(value: &Value, bytes: fn(&[u8]) -> String, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::I64(number) => out.push_str(&number.to_string()),
        Value::U64(number) => out.push_str(&number.to_string()),
        Value::F64(number) if number.is_finite() => out.push_str(&float(*number)),
        Value::Decimal(digits) if is_json_number(digits.as_bytes()) => out.push_str(digits),
        Value::F64(number) => write_text(&float(*number), out),
        Value::Bytes(value) => write_text(&bytes(value), out),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => write_text(text, out),
        Value::Array(elements) => write_list(elements, out, |value, out| write_value(value, bytes, out)),
        Value::Json(document) => out.push_str(&document.to_string()),
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push_str(&Json::String(text.to_owned()).to_string());
}

/// A value that cannot be what it has to be.
pub(crate) fn unfit(message: &str) -> Error {
    Error::new(ErrorKind::Data, message)
}

/// What is wrong with a document, as one error.
pub(crate) fn refused(flaws: &[Flaw]) -> Error {
    let messages: Vec<String> = flaws.iter().take(MOST_FLAWS).map(|Flaw { message, help, .. }| format!("{message}; {help}")).collect();
    Error::new(ErrorKind::Denied, messages.join(". "))
}

/// The author's value.
pub(crate) fn literal(value: Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::I64(number),
            (None, Some(number)) => Value::U64(number),
            (None, None) => number.as_f64().map_or(Value::Null, Value::F64),
        },
        Json::String(text) => Value::Text(text),
        other => Value::Json(other),
    }
}

fn syntax(message: &str) -> Error {
    Error::new(ErrorKind::Syntax, message)
}

fn wrong_count() -> Error {
    syntax("the document expects a different number of values")
}

/// Documents as rows: their fields are columns, in the order in which they first appear. `empty` is
/// the column where there is none; `help` says how to get fewer fields.
///
/// # Errors
/// [`TooLarge`](ErrorKind::TooLarge) for documents with too many different fields.
pub(crate) fn table<T>(documents: Vec<Vec<(String, T)>>, empty: &str, help: &str, cell: impl Fn(T) -> Value) -> Result<Rows> {
    let mut columns: Vec<String> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for key in documents.iter().flatten().map(|(key, _)| key) {
        if !places.contains_key(key) {
            places.insert(key.clone(), columns.len());
            columns.push(key.clone());
        }
    }
    // A result without documents has a column all the same: without one, it would be a count of
    // changes.
    if columns.is_empty() {
        columns.push(empty.to_owned());
    }
    if columns.len().saturating_mul(documents.len()) > MAX_CELLS {
        let message = format!("the documents have {} different fields, too many for rows; {help}", columns.len());
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    let rows = documents.into_iter().map(|document| {
        let mut row = vec![Value::Null; columns.len()];
        let mut seen = vec![false; columns.len()];
        for (key, value) in document {
            // Of a field twice, the first counts.
            if let Some(place) = places.get(&key)
                && !std::mem::replace(&mut seen[*place], true)
            {
                row[*place] = cell(value);
            }
        }
        row
    });
    Ok(Rows { rows: rows.collect(), columns: Rc::from(columns), ..Rows::default() })
}
