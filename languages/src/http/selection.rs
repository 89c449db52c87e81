//! A part of a JSON document: a JSON Pointer, or an expression of JMESPath.

use alloc::{
    borrow::Cow,
    string::{String, ToString as _},
    vec::Vec,
};

use millrace_core::Json;

use super::{jmespath::Expression, syntax::InvalidSelection};

/// The longest text of a selection, in bytes.
const LONGEST: usize = 2_000;

/// What of a document is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// A JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)), its steps decoded.
    Pointer(Vec<String>),
    /// An expression of [JMESPath](https://jmespath.org/specification.html).
    Expression(Expression),
}

impl Selection {
    /// Reads a text: a pointer begins with `/`, or is empty; anything else is an expression.
    ///
    /// # Errors
    /// It is neither.
    pub fn parse(text: &str) -> Result<Self, InvalidSelection> {
        if text.len() > LONGEST {
            return Err(InvalidSelection { message: alloc::format!("is longer than {LONGEST} bytes"), at: LONGEST });
        }
        if !text.is_empty() && !text.starts_with('/') {
            return Expression::parse(text).map(Self::Expression);
        }
        let mut at = 0;
        let mut steps = Vec::new();
        for step in text.split('/').skip(1) {
            at += 1;
            let is_escape = |rest: &str| rest.starts_with(['0', '1']);
            if !step.split('~').skip(1).all(is_escape) {
                return Err(InvalidSelection { message: "has a `~` without `0` or `1` after it".to_string(), at });
            }
            steps.push(step.replace("~1", "/").replace("~0", "~"));
            at += step.len();
        }
        Ok(Self::Pointer(steps))
    }

    /// The part of a document; `None` where a pointer names what the document does not have. What
    /// an expression does not find is null.
    ///
    /// # Errors
    /// A function of the expression takes something else than what the document has.
    pub fn of<'a>(&'a self, document: &'a Json) -> Result<Option<Cow<'a, Json>>, String> {
        match self {
            Self::Expression(expression) => expression.search(document).map(Some),
            Self::Pointer(steps) => Ok(steps.iter().try_fold(document, |value, step| found(value, step)).map(Cow::Borrowed)),
        }
    }
}

fn found<'a>(value: &'a Json, step: &str) -> Option<&'a Json> {
    match value {
        Json::Object(members) => members.get(step),
        Json::Array(elements) => {
            // A number has no sign, and no zero before it.
            let is_index =
                !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) && (step.len() == 1 || !step.starts_with('0'));
            elements.get(step.parse::<usize>().ok().filter(|_| is_index)?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_are_those_of_the_standard() {
        let document = json!({"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "01": [1], "x": {"y": null}});
        for (text, expected) in [
            ("", Some(document.clone())),
            ("/foo", Some(json!(["bar", "baz"]))),
            ("/foo/0", Some(json!("bar"))),
            ("/foo/00", None),
            ("/foo/+1", None),
            ("/foo/-", None),
            ("/foo/2", None),
            ("/", Some(json!(0))),
            ("/a~1b", Some(json!(1))),
            ("/m~0n", Some(json!(8))),
            ("/01", Some(json!([1]))),
            ("/x/y", Some(Json::Null)),
            ("/x/y/z", None),
            ("/foo/0/b", None),
        ] {
            let selection = Selection::parse(text).unwrap();
            assert_eq!(selection.of(&document).unwrap().map(Cow::into_owned), expected, "{text}");
        }
        assert_eq!(Selection::parse("/a/b~2").unwrap_err().at, 3);
        assert!(Selection::parse("/a~").is_err());
        assert!(Selection::parse(&"a".repeat(3_000)).is_err());
    }
}
