//! The document of a script:
//! `ctx.db("shop").query('{"find": "users", "filter": {"email": "$1"}}', [email])`. A text that is
//! `$1` and nothing else is the first value. The text is read before a value is put in, so that no
//! value can be a key or an operator.

use millrace_core::{Error, ErrorKind, Json, Result, ports::Node, value::Value};
use millrace_languages::mongodb::{Judged, Role, judge};

use crate::documents::{self, Draft};

/// Reads a script's text, and puts its values in.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a text that is no document, or takes other values;
/// [`Denied`](ErrorKind::Denied) for one that may not be run; [`Data`](ErrorKind::Data) for a value
/// that cannot stand where it does.
pub(super) fn document(text: &str, values: &[Value], allow: &str) -> Result<(Vec<(String, Node)>, Judged)> {
    let drafts = documents::parsed(text, values.len())?;
    let judged = judged(&drafts, allow)?;
    let mut roles = judged.values.iter().map(|(_, role)| *role);
    let members = filled(drafts, values, &mut roles)?;
    Ok((members, judged))
}

/// Judges a document. What is wrong with it is one error.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied).
pub(super) fn judged(members: &[(String, Draft)], allow: &str) -> Result<Judged> {
    judge(members, allow).map_err(|flaws| documents::refused(&flaws))
}

fn filled(members: Vec<(String, Draft)>, values: &[Value], roles: &mut impl Iterator<Item = Role>) -> Result<Vec<(String, Node)>> {
    members.into_iter().map(|(key, draft)| Ok((key, node(draft, values, roles)?))).collect()
}

/// Puts values in; their roles come in the order of the document.
fn node(draft: Draft, values: &[Value], roles: &mut impl Iterator<Item = Role>) -> Result<Node> {
    Ok(match draft {
        Draft::Literal(value) => Node::Value(documents::literal(value)),
        Draft::Members(members) => Node::Members(filled(members, values, roles)?),
        Draft::List(elements) => Node::List(elements.into_iter().map(|draft| node(draft, values, roles)).collect::<Result<_>>()?),
        Draft::Place(place) => {
            let value = values.get(place).cloned().unwrap_or(Value::Null);
            let role = roles.next();
            let fits = match role {
                Some(Role::Scalar) => is_one(&value),
                Some(Role::Scalars) => match &value {
                    Value::Array(elements) => elements.iter().all(is_one),
                    Value::Json(Json::Array(elements)) => !elements.iter().any(|value| value.is_array() || value.is_object()),
                    value => is_one(value),
                },
                _ => true,
            };
            if !fits {
                let message = format!("the value `${}` is an object or a list, which cannot stand where it does", place + 1);
                return Err(Error::new(ErrorKind::Data, message));
            }
            let value = Node::Value(value);
            match role {
                Some(Role::Plain | Role::Stored | Role::Scalar | Role::Scalars) => value,
                Some(Role::Number) if matches!(value, Node::Value(Value::I64(_) | Value::F64(_) | Value::Null)) => value,
                // Also where nobody said so: a value that is not evaluated does no harm.
                Some(Role::Expression | Role::StoredExpression | Role::Number) | None => {
                    Node::Members(vec![("$literal".to_owned(), value)])
                }
            }
        }
    })
}

/// Whether a value is neither an object nor a list.
fn is_one(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Json(Json::Array(_) | Json::Object(_)))
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
    fn no_value_is_code_whatever_is_allowed() {
        let allow = "$function, $accumulator, $where";
        for written in [
            r#"{"find": "u", "filter": {"$where": "$1"}}"#,
            r#"{"find": "u", "filter": {"$expr": {"$function": {"body": "$1", "args": [], "lang": "js"}}}}"#,
            r#"{"aggregate": "u", "pipeline": [{"$group": {"_id": 1, "x": {"$accumulator": {"init": "$1", "lang": "js"}}}}]}"#,
            r#"{"aggregate": "u", "let": {"b": "$1"}, "pipeline": [{"$set": {"x": {"$function": {"body": "$$b", "args": [], "lang": "js"}}}}]}"#,
            r#"{"find": "u", "let": {"b": "$1"}, "projection": {"x": {"$function": {"body": "$$b", "args": [], "lang": "js"}}}}"#,
        ] {
            let error = document(written, &[text("function() { return 1 }")], allow).unwrap_err();
            assert!(error.kind == ErrorKind::Denied && error.message.contains("must be written out"), "{written}: {error:?}");
        }
        let argument = r#"{"aggregate": "u", "pipeline": [{"$set": {"x": {"$function": {"body": "function(a) { return a }", "args": ["$1"], "lang": "js"}}}}]}"#;
        let (members, _) = document(argument, &[text("$secret")], allow).unwrap();
        assert!(format!("{members:?}").contains(r#"("$literal", Value(Text("$secret")))"#), "{members:?}");
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
            (
                r#"{"find": "u", "sort": {"a": "$1"}}"#,
                &[Value::Json(serde_json::json!({"b": 1}))],
                ErrorKind::Data,
                "the value `$1` is an object",
            ),
            (r#"{"find": "u", "sort": "$1"}"#, &[Value::Null], ErrorKind::Denied, "the fields must be written out"),
            (r#"{"find": "u", "filter": {"$or": ["$1"]}}"#, &[Value::Null], ErrorKind::Denied, "the conditions must be written out"),
        ] {
            let error = document(written, values, "").unwrap_err();
            assert!(error.kind == kind && error.message.contains(expected), "{written}: {error:?}");
        }
    }
}
