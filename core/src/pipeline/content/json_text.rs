//! JSON values in text: as a placeholder writes them, and by their kind.

use alloc::string::String;
use core::fmt::Write as _;

use crate::Json;

/// Appends the plain text of a value: a string is itself, null is nothing, a list or an object is
/// its JSON.
pub(in crate::pipeline) fn push_text(out: &mut String, value: &Json) {
    match value {
        Json::Null => {}
        Json::String(text) => out.push_str(text),
        // Writing to a string cannot fail.
        other => drop(write!(out, "{other}")),
    }
}

/// The plain text of a value.
pub(in crate::pipeline) fn text_of(value: &Json) -> String {
    let mut text = String::new();
    push_text(&mut text, value);
    text
}

/// What a value is, with its article.
pub(in crate::pipeline) const fn word(value: Option<&Json>) -> &'static str {
    match value {
        None => "nothing",
        Some(Json::Null) => "null",
        Some(Json::Bool(_)) => "a boolean",
        Some(Json::Number(_)) => "a number",
        Some(Json::String(_)) => "a string",
        Some(Json::Array(_)) => "an array",
        Some(Json::Object(_)) => "an object",
    }
}
