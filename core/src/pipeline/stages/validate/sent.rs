//! How a problem shows what was sent.

use alloc::{borrow::Cow, format, string::String};

use crate::{Json, hidden::repeated};

/// The most characters of a value or a name that a problem repeats.
const SHOWN_CHARACTERS: usize = 60;

/// A value: strings quoted and cut, a list as its length, an object as cut JSON. Before it is cut
/// it passes `strike`, which takes out what an input mapper may have put in: half of a secret would
/// not be found any more.
pub(super) fn sent(value: &Json, strike: &dyn Fn(&str) -> String) -> String {
    shown(value, &|text| repeated(&strike(text), SHOWN_CHARACTERS).into_owned())
}

/// A value that the app allows, as it can be sent.
pub(super) fn allowed(value: &Json) -> String {
    shown(value, &|text| cut(text).into_owned())
}

/// A name that the caller made up.
pub(super) fn name(name: &str) -> Cow<'_, str> {
    repeated(name, SHOWN_CHARACTERS)
}

fn shown(value: &Json, cut: &dyn Fn(&str) -> String) -> String {
    match value {
        Json::String(text) => format!("'{}'", cut(text)),
        Json::Array(elements) => format!("array({})", elements.len()),
        Json::Object(_) => cut(&format!("{value}")),
        Json::Null | Json::Bool(_) | Json::Number(_) => format!("{value}"),
    }
}

fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_as_sent() {
        let long = "é".repeat(100);
        let table = [
            (json!(null), "null".into()),
            (json!("it's"), "'it's'".into()),
            (json!("a\nb"), "'a\u{fffd}b'".into()),
            (json!(long), format!("'{}…'", "é".repeat(60))),
            (json!([1, 2]), "array(2)".into()),
            (json!({"a": "b"}), r#"{"a":"b"}"#.into()),
            (json!({ "a": "x".repeat(80) }), format!("{{\"a\":\"{}…", "x".repeat(54))),
            (json!(1.5), "1.5".into()),
        ];
        for (value, expected) in table {
            assert_eq!(sent(&value, &|text| text.into()), expected);
        }
        let mark_up = json!("<b>R&D</b>\u{200b}");
        assert_eq!(sent(&mark_up, &|text| text.into()), "'\\u003cb\\u003eR&D\\u003c/b\\u003e[U+200B]'");
        // What the app allows is told as it has to be sent.
        assert_eq!(allowed(&json!("<b>R&D</b>")), "'<b>R&D</b>'");
    }
}
