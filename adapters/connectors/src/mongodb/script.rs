//! The document of a script: `ctx.db("shop").query('{"find": "users", "filter": {"email": "$1"}}', [email])`. A text that is `$1` and nothing else is the
//! first value. The text is read before a value is put in, so that no value can be a key or an operator.

use millrace_catalogue::mongodb::{Flaw, Judged, Role, Tree, View, judge};
use millrace_core::{Error, ErrorKind, Json, Result, ports::Node, value::Value};

use super::extended::syntax;

/// A part of the text.
pub(super) enum Draft {
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
            Self::Literal(_) => View::Other,
            Self::Place(_) => View::Value,
            Self::Members(members) => View::Members(members),
            Self::List(elements) => View::List(elements),
        }
    }
}

/// Reads a script's text, and puts its values in.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a text that is no document, or takes other values; [`Denied`](ErrorKind::Denied) for one that may not be run.
pub(super) fn document(text: &str, values: &[Value], allow: &str) -> Result<(Vec<(String, Node)>, Judged)> {
    let parsed: Json = serde_json::from_str(text).map_err(|error| {
        let message = format!("the text is not a document in JSON (line {}, column {})", error.line(), error.column());
        syntax(&message)
    })?;
    let Json::Object(members) = parsed else { return Err(syntax("the text is not a document in JSON: it must be an object")) };
    let mut used = vec![false; values.len()];
    let drafts = drafts(members, &mut used)?;
    if used.contains(&false) {
        return Err(wrong_count());
    }
    let judged = judged(&drafts, allow)?;
    let mut roles = judged.values.iter().map(|(_, role)| *role);
    let members = drafts.into_iter().map(|(key, draft)| (key, node(draft, values, &mut roles))).collect();
    Ok((members, judged))
}

/// Judges a document. What is wrong with it is one error.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied).
pub(super) fn judged(members: &[(String, Draft)], allow: &str) -> Result<Judged> {
    judge(members, allow).map_err(|flaws| {
        let messages: Vec<String> = flaws.iter().take(5).map(|Flaw { message, help, .. }| format!("{message}; {help}")).collect();
        Error::new(ErrorKind::Denied, messages.join(". "))
    })
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

/// Puts values in; their roles come in the order of the document.
fn node(draft: Draft, values: &[Value], roles: &mut impl Iterator<Item = Role>) -> Node {
    match draft {
        Draft::Literal(value) => Node::Value(literal(value)),
        Draft::Members(members) => Node::Members(members.into_iter().map(|(key, draft)| (key, node(draft, values, roles))).collect()),
        Draft::List(elements) => Node::List(elements.into_iter().map(|draft| node(draft, values, roles)).collect()),
        Draft::Place(place) => {
            let value = Node::Value(values.get(place).cloned().unwrap_or(Value::Null));
            match roles.next() {
                Some(Role::Plain | Role::Stored) => value,
                Some(Role::Number) if matches!(value, Node::Value(Value::I64(_) | Value::F64(_) | Value::Null)) => value,
                // Also where nobody said so: a value that is not evaluated does no harm.
                Some(Role::Expression | Role::Number) | None => Node::Members(vec![("$literal".to_owned(), value)]),
            }
        }
    }
}

fn literal(value: Json) -> Value {
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

fn wrong_count() -> Error {
    syntax("the document expects a different number of values")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn values_are_leaves() {
        let (members, judged) = document(
            r#"{"find": "users", "filter": {"email": "$1", "n": {"$gt": "$2"}, "s": "$x", "t": "$1x"}}"#,
            &[text("$1"), Value::I64(7)],
            "",
        )
        .unwrap();
        assert!(judged.reads);
        let Node::Members(filter) = &members[1].1 else { panic!("{members:?}") };
        assert_eq!(filter[0], ("email".to_owned(), Node::Value(text("$1"))));
        assert_eq!(filter[1].1, Node::Members(vec![("$gt".to_owned(), Node::Value(Value::I64(7)))]));
        assert_eq!((&filter[2].1, &filter[3].1), (&Node::Value(text("$x")), &Node::Value(text("$1x"))));
        // What would be evaluated is not.
        let (members, _) = document(r#"{"aggregate": "u", "pipeline": [{"$project": {"x": "$1"}}]}"#, &[text("$password")], "").unwrap();
        let shown = format!("{members:?}");
        assert!(shown.contains(r#"("$literal", Value(Text("$password")))"#), "{shown}");
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for (written, values, kind, expected) in [
            ("find users", &[][..], ErrorKind::Syntax, "is not a document in JSON (line 1"),
            ("[]", &[], ErrorKind::Syntax, "it must be an object"),
            (r#"{"find": "u", "filter": {"a": "$2"}}"#, &[Value::Null], ErrorKind::Syntax, "a different number of values"),
            (r#"{"find": "u", "filter": {"a": "$0"}}"#, &[Value::Null], ErrorKind::Syntax, "a different number of values"),
            (r#"{"find": "u", "filter": {}}"#, &[Value::Null], ErrorKind::Syntax, "a different number of values"),
            (r#"{"find": "u", "filter": "$1"}"#, &[Value::Null], ErrorKind::Denied, "the conditions must be written out"),
            (r#"{"find": "$1"}"#, &[Value::Null], ErrorKind::Denied, "the collection must be written out"),
            (r#"{"find": "u", "filter": {"$where": "1"}}"#, &[], ErrorKind::Denied, "runs code on the server"),
            (r#"{"dropDatabase": 1}"#, &[], ErrorKind::Denied, "is not a command"),
            ("{}", &[], ErrorKind::Denied, "the document is empty"),
        ] {
            let error = document(written, values, "").unwrap_err();
            assert!(error.kind == kind && error.message.contains(expected), "{written}: {error:?}");
        }
    }
}
