//! A document → its members with the values of the call as leaves.
//!
//! A value never brings an operator: an object whose keys begin with `$` is refused, at any depth,
//! whoever made it. Where a value is stored, its keys name fields, so that a `.` in one, which
//! MongoDB takes for a path, is refused as well.
//!
//! In a request for PostgREST a value is text of the URL or a part of the body, and has no NUL
//! character, at which PostgreSQL would end it.
//!
//! In a request of HTTP a value is what its place takes, which the driver encodes. A member of the
//! body without a value is left out.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{
    bound::{bound, typed},
    rendered::{Rendered, listed},
};
use crate::{
    Json,
    app::{Bind, DocumentNode, InputKind, Leaf, Part, Piece, Root, Source, Statement},
    fault::{Fault, FaultResult, Issue, Stage},
    pipeline::{call::run::Run, call::scope::Scope},
    ports::Node,
    value::Value,
};

/// The most characters of a key that a message shows.
const SHOWN: usize = 40;
/// The wrapper of an `ObjectId`, in [Extended
/// JSON](https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/).
const OBJECT_ID: &str = "$oid";
/// What no value of a request for PostgREST can have.
const NUL: &str = "It has a NUL character, which PostgreSQL does not take.";
/// What a header field cannot have.
const NOT_OF_HEADERS: &str =
    "It has a character that a header field does not take: visible characters of ASCII, spaces and tabs are taken.";
/// What a segment of a path cannot be.
const NO_SEGMENT: &str = "It is one part of a path: it cannot be empty, nor have `.` or `..` between slashes.";

/// Fills in a document.
///
/// # Errors
/// `CONFIGURATION` for a variable that is not set, `QUERY_REFUSED` for a value of the call's
/// surroundings that has an operator.
pub(super) fn render<'a>(run: &Run<'_>, scope: Scope<'_>, statement: &'a Statement) -> FaultResult<Rendered<'a>> {
    let mut params = Vec::new();
    for part in &statement.parts {
        params.push(match part {
            Part::Bind(bind) => bound(run, scope, bind)?,
            Part::BindEach { source, kind, .. } => match scope.find(source) {
                None | Some(Json::Null) => Value::Null,
                some => Value::Array(listed(some).iter().map(|element| typed(element, *kind)).collect()),
            },
            _ => return Err(inconsistent().into()),
        });
    }
    let mut filling = Filling { scope, statement, params: &params, left_out: String::new() };
    let document = filling.members(&statement.document)?;
    let shown = statement.text.as_deref().unwrap_or_default();
    // The cache tells a member that is left out from one that is null.
    let text = match filling.left_out.as_str() {
        "" => Cow::Borrowed(shown),
        places => Cow::Owned(format!("{shown}\nwithout:{places}")),
    };
    Ok(Rendered::Document { text, values: params, members: document })
}

/// What of the inputs cannot be a leaf.
pub(super) fn problems(scope: Scope<'_>, statement: &Statement, issues: &mut Vec<Issue>) {
    for (key, node) in &statement.document {
        look(scope, statement, key, node, issues);
    }
}

fn look(scope: Scope<'_>, statement: &Statement, key: &str, node: &DocumentNode, issues: &mut Vec<Issue>) {
    match node {
        DocumentNode::Literal(_) => {}
        DocumentNode::Members(members) => members.iter().for_each(|(key, node)| look(scope, statement, key, node, issues)),
        DocumentNode::List(elements) => elements.iter().for_each(|node| look(scope, statement, "", node, issues)),
        DocumentNode::Place { part, leaf } => {
            let part = statement.parts.get(*part as usize);
            if let Some(Part::Bind(Bind::Composed(pieces))) = part
                && pieces.len() > 1
            {
                return composed(scope, pieces, *leaf, issues);
            }
            let Some((source, value)) = part.and_then(|part| whole(scope, part)) else { return };
            if source.root != Root::Inputs {
                return;
            }
            let is_id = |text: &str| text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            let message = match value {
                Json::String(text) if key == OBJECT_ID && !is_id(text) => {
                    Some("Invalid value. An identifier of MongoDB has 24 hexadecimal digits.".into())
                }
                _ => flaw_of(value, *leaf).map(|why| format!("Invalid value. {why}")),
            };
            let field = source.path.join(".");
            if let Some(message) = message
                && issues.iter().all(|issue| issue.field != field)
            {
                issues.push(Issue { field, message });
            }
        }
    }
}

/// What of the inputs cannot be a piece of a text.
fn composed(scope: Scope<'_>, pieces: &[Piece], leaf: Leaf, issues: &mut Vec<Issue>) {
    for piece in pieces {
        if let Piece::Source(source) = piece
            && source.root == Root::Inputs
            && let Some(Json::String(text)) = scope.find(source)
            && let Some(why) = flaw_of_text(text, leaf)
            && issues.iter().all(|issue| issue.field != source.path.join("."))
        {
            issues.push(Issue { field: source.path.join("."), message: format!("Invalid value. {why}") });
        }
    }
}

/// Why a text cannot be in its place of a request, or be a piece of what is there.
fn flaw_of_text(text: &str, leaf: Leaf) -> Option<&'static str> {
    match leaf {
        Leaf::HeaderField if !text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) => Some(NOT_OF_HEADERS),
        leaf if leaf.is_of_postgrest() && text.contains('\0') => Some(NUL),
        _ => None,
    }
}

/// The value of a place that is not a text which its author wrote a part of.
fn whole<'s, 'v>(scope: Scope<'v>, part: &'s Part) -> Option<(&'s Source, &'v Json)> {
    let source = match part {
        // A number is one of any size then, and nothing else can be wrong with it.
        Part::Bind(Bind::Value { kind: Some(InputKind::Float), .. }) | Part::BindEach { kind: Some(InputKind::Float), .. } => return None,
        Part::Bind(Bind::Value { source, .. }) | Part::BindEach { source, .. } => source,
        Part::Bind(Bind::Composed(pieces)) => match pieces.as_slice() {
            [Piece::Source(source)] => source,
            _ => return None,
        },
        _ => return None,
    };
    scope.find(source).map(|value| (source, value))
}

/// Why a value is none that can stand in its place.
fn flaw_of(value: &Json, leaf: Leaf) -> Option<String> {
    let is_one = |value: &Json| !matches!(value, Json::Array(_) | Json::Object(_));
    let is_list = |value: &Json, is_element: fn(&Json) -> bool| value.as_array().is_some_and(|elements| elements.iter().all(is_element));
    match (leaf, value) {
        (Leaf::Parameter, value) if !is_one(value) => return Some("It is an object or a list, which cannot stand here.".into()),
        (Leaf::Parameters, value) if !is_one(value) && !is_list(value, is_one) => {
            return Some("It has an object or a list, which cannot stand here.".into());
        }
        (Leaf::Rows, value) if !value.is_object() && !is_list(value, Json::is_object) => {
            return Some("It must be an object, or a list of objects.".into());
        }
        (Leaf::Scalar | Leaf::Segment | Leaf::SegmentPart | Leaf::HeaderField, value) if !is_one(value) => {
            return Some("It is an object or a list, which cannot stand here.".into());
        }
        (Leaf::Field, value) if !is_one(value) && !is_list(value, is_one) => {
            return Some("It has an object or a list, which cannot stand here.".into());
        }
        (Leaf::Segment, Json::String(text)) if text.is_empty() || steps(text).any(is_step) => return Some(NO_SEGMENT.into()),
        // What is around it is the author's.
        (Leaf::SegmentPart, Json::String(text)) if inner_steps(text).any(is_step) => return Some(NO_SEGMENT.into()),
        (Leaf::Segment | Leaf::SegmentPart, Json::Null) => return Some("It is a part of a path, which needs a value.".into()),
        (leaf, Json::String(text)) if let Some(why) = flaw_of_text(text, leaf) => return Some(why.into()),
        (Leaf::Scalars, Json::Array(elements)) if elements.iter().all(is_one) => {}
        (Leaf::Scalars, value) if !is_one(value) => return Some("It has an object or a list, which cannot stand here.".into()),
        _ => {}
    }
    match leaf {
        leaf if leaf.is_of_postgrest() => has_nul(value).then(|| NUL.into()),
        // It is encoded, or written as JSON, as it is.
        leaf if leaf.is_of_http() => None,
        leaf => wrong_part(value, leaf == Leaf::Stored),
    }
}

/// What stands between slashes: a server may decode their codes before it looks for routes.
fn steps(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(['/', '\\'])
}

fn inner_steps(text: &str) -> impl Iterator<Item = &str> {
    let mut parts = steps(text);
    parts.next();
    parts.next_back();
    parts
}

fn is_step(part: &str) -> bool {
    matches!(part, "." | "..")
}

/// Whether a NUL character is in a value, at whatever depth.
fn has_nul(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains('\0'),
        Json::Array(elements) => elements.iter().any(has_nul),
        Json::Object(members) => members.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

/// Why a part of a value is none that a document may have.
fn wrong_part(value: &Json, is_stored: bool) -> Option<String> {
    match value {
        Json::Number(number) if number.is_u64() && !number.is_i64() => Some("A whole number is greater than 2^63 - 1.".into()),
        Json::Array(elements) => elements.iter().find_map(|element| wrong_part(element, is_stored)),
        Json::Object(members) => members.iter().find_map(|(key, value)| {
            let shown = || key.chars().take(SHOWN).collect::<String>();
            if key.starts_with('$') {
                return Some(format!("An object has the key `{}`, and no key may begin with `$`.", shown()));
            }
            if key.contains('\0') {
                return Some("An object has a key with a NUL character.".into());
            }
            if is_stored && key.contains('.') {
                return Some(format!("An object has the key `{}`, and no key of what is stored may contain a `.`.", shown()));
            }
            wrong_part(value, is_stored)
        }),
        _ => None,
    }
}

struct Filling<'a> {
    scope: Scope<'a>,
    statement: &'a Statement,
    params: &'a [Value],
    /// The places of members that have no value, `<2>`.
    left_out: String,
}

impl Filling<'_> {
    fn members(&mut self, members: &[(String, DocumentNode)]) -> FaultResult<Vec<(String, Node)>> {
        let mut filled = Vec::with_capacity(members.len());
        for (key, node) in members {
            if !self.is_left_out(node) {
                filled.push((key.clone(), self.node(node)?));
            }
        }
        Ok(filled)
    }

    /// Whether a member of a JSON body has no value: null is one.
    fn is_left_out(&mut self, node: &DocumentNode) -> bool {
        let DocumentNode::Place { part, leaf: Leaf::Json } = node else { return false };
        let source = match self.statement.parts.get(*part as usize) {
            Some(Part::Bind(Bind::Value { source, .. }) | Part::BindEach { source, .. }) => source,
            _ => return false,
        };
        let is_left_out = self.scope.find(source).is_none();
        if is_left_out {
            self.left_out.push_str(&format!(" <{}>", part.saturating_add(1)));
        }
        is_left_out
    }

    fn node(&mut self, node: &DocumentNode) -> FaultResult<Node> {
        Ok(match node {
            DocumentNode::Literal(literal) => Node::Value(typed(&literal.0, None)),
            DocumentNode::Members(members) => Node::Members(self.members(members)?),
            DocumentNode::List(elements) => Node::List(elements.iter().map(|node| self.node(node)).collect::<FaultResult<_>>()?),
            DocumentNode::Place { part, leaf } => {
                let place = *part as usize;
                let (Some(value), Some(part)) = (self.params.get(place), self.statement.parts.get(place)) else {
                    return Err(inconsistent().into());
                };
                if let Some((source, found)) = whole(self.scope, part)
                    && let Some(why) = flaw_of(found, *leaf)
                {
                    let message = format!("The value of `{source}` is refused. {why}");
                    return Err(Fault::new(Stage::Execute, "QUERY_REFUSED", message).by_operator().into());
                }
                Node::Value(value.clone())
            }
        })
    }
}

fn inconsistent() -> Fault {
    let message = "The bundle has a document with a place that has no value; build the app again.";
    Fault::new(Stage::Execute, "CONFIGURATION", message).by_operator()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_key_of_a_value_is_an_operator() {
        for value in [json!({"$ne": null}), json!([1, {"a": {"b": [{"$where": "1"}]}}]), json!({"a": {"$": 1}})] {
            assert!(flaw_of(&value, Leaf::Any).unwrap().contains("no key may begin with `$`"), "{value}");
        }
        for value in [json!({"a": "$ne"}), json!("$ne"), json!([["$ne"]]), json!({"a$": 1, "": 2}), json!({"a.b": 1})] {
            assert_eq!(flaw_of(&value, Leaf::Any), None, "{value}");
        }
        assert!(flaw_of(&json!({"a": [{"b.c": 1}]}), Leaf::Stored).unwrap().contains("may contain a `.`"));
        assert!(flaw_of(&json!({"a\0": 1}), Leaf::Any).unwrap().contains("a NUL character"));
    }

    #[test]
    fn a_value_fits_its_place_in_a_request() {
        let big = json!([u64::MAX, "$ne"]);
        assert_eq!(flaw_of(&big, Leaf::Parameters), None);
        assert_eq!(flaw_of(&json!({"$ne": u64::MAX}), Leaf::Body), None);
        assert_eq!(flaw_of(&json!([{"a": 1}]), Leaf::Rows), None);
        for (value, leaf) in [
            (json!([1]), Leaf::Parameter),
            (json!({}), Leaf::Parameter),
            (json!({}), Leaf::Parameters),
            (json!([[1]]), Leaf::Parameters),
            (json!([1]), Leaf::Rows),
            (json!("a"), Leaf::Rows),
        ] {
            assert!(flaw_of(&value, leaf).is_some(), "{value} {leaf:?}");
        }
        for leaf in [Leaf::Parameter, Leaf::Parameters, Leaf::Elements, Leaf::Body] {
            assert_eq!(flaw_of(&json!("a\0b"), leaf).as_deref(), Some(NUL), "{leaf:?}");
        }
        assert_eq!(flaw_of(&json!([{"a": {"b\0": 1}}]), Leaf::Rows).as_deref(), Some(NUL));
    }

    #[test]
    fn a_value_fits_its_place_in_a_request_of_http() {
        for text in ["", ".", "..", "../a", "a/..", "..\\a"] {
            assert_eq!(flaw_of(&json!(text), Leaf::Segment).as_deref(), Some(NO_SEGMENT), "{text:?}");
            assert_eq!(flaw_of(&json!(text), Leaf::SegmentPart), None, "{text:?}");
        }
        for leaf in [Leaf::Segment, Leaf::SegmentPart] {
            assert_eq!(flaw_of(&json!("a/../b"), leaf).as_deref(), Some(NO_SEGMENT), "{leaf:?}");
            assert_eq!(flaw_of(&json!("a/b..c/...d"), leaf), None, "{leaf:?}");
        }
        for (value, leaf) in [
            (json!(null), Leaf::Segment),
            (json!(null), Leaf::SegmentPart),
            (json!([1]), Leaf::Segment),
            (json!({}), Leaf::SegmentPart),
            (json!([[1]]), Leaf::Field),
            (json!({}), Leaf::Field),
            (json!(["a"]), Leaf::HeaderField),
            (json!("a\r\nX: 1"), Leaf::HeaderField),
            (json!("ä"), Leaf::HeaderField),
        ] {
            assert!(flaw_of(&value, leaf).is_some(), "{value} {leaf:?}");
        }
        for (value, leaf) in [
            (json!("a/%2e\0"), Leaf::Segment),
            (json!(true), Leaf::Segment),
            (json!(["a", null, 1.5]), Leaf::Field),
            (json!("a \t~"), Leaf::HeaderField),
            (json!({"$where": u64::MAX, "a.b": "\0"}), Leaf::Json),
        ] {
            assert_eq!(flaw_of(&value, leaf), None, "{value} {leaf:?}");
        }
    }

    #[test]
    fn a_value_fits_its_place() {
        let big = json!([{"a": 9_223_372_036_854_775_808_u64}]);
        assert!(flaw_of(&big, Leaf::Any).unwrap().contains("greater than 2^63 - 1"));
        assert_eq!(flaw_of(&json!([i64::MIN, i64::MAX, 1e300]), Leaf::Any), None);
        for value in [json!({}), json!({"a": 1}), json!([[]]), json!([{}])] {
            assert!(flaw_of(&value, Leaf::Scalar).is_some() && flaw_of(&value, Leaf::Scalars).is_some(), "{value}");
        }
        for value in [json!("a"), json!(1), json!(null)] {
            assert!(flaw_of(&value, Leaf::Scalar).is_none() && flaw_of(&value, Leaf::Scalars).is_none(), "{value}");
        }
        assert!(flaw_of(&json!([1, "a"]), Leaf::Scalars).is_none() && flaw_of(&json!([1, "a"]), Leaf::Scalar).is_some());
    }
}
