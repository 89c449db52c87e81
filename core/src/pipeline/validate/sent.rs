//! How a problem shows what was sent.

use alloc::{borrow::Cow, format, string::String};

use crate::Json;

/// The most characters of a value or a name that a problem repeats.
const SHOWN_CHARACTERS: usize = 60;

/// A value: strings quoted and cut, a list as its length, an object as cut JSON. Before it is cut it passes `strike`, which takes out what an
/// input mapper may have put in: half of a secret would not be found any more.
pub(super) fn sent(value: &Json, strike: &dyn Fn(&str) -> String) -> String {
    match value {
        Json::String(text) => format!("'{}'", cut(&strike(text))),
        Json::Array(elements) => format!("array({})", elements.len()),
        Json::Object(_) => cut(&strike(&format!("{value}"))).into_owned(),
        Json::Null | Json::Bool(_) | Json::Number(_) => format!("{value}"),
    }
}

/// A value that the app allows.
pub(super) fn allowed(value: &Json) -> String {
    sent(value, &|text| text.into())
}

/// A name that the caller made up.
pub(super) fn name(name: &str) -> Cow<'_, str> {
    cut(name)
}

fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= SHOWN_CHARACTERS && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = text.chars().take(SHOWN_CHARACTERS).map(printable).collect();
    if text.chars().nth(SHOWN_CHARACTERS).is_some() {
        shown.push('…');
    }
    Cow::Owned(shown)
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
            assert_eq!(allowed(&value), expected);
        }
    }
}
