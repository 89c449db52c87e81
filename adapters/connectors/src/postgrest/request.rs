//! A query → a request of PostgREST.
//!
//! A tool's request comes as a document with its values as leaves. A script writes it as text, with
//! `$1` for its values. Either way it is judged before anything is sent. Values are percent-encoded
//! parts of conditions in the URL, or JSON in the body; what PostgREST takes as a name or an
//! operator is the author's.

use millrace_core::{
    Error, ErrorKind, Json, Result,
    app::Access,
    ports::{Command, Node, Query},
    url::percent_coded,
    value::Value,
};
use millrace_languages::postgrest::{Judged, Verb, begins_like_condition, judge, list, order, select};

use super::{
    conditions::{self, damaged},
    value::{json, text_of},
};
use crate::{
    documents::{self, Draft, filled, unfit},
    shared::Effect,
};

/// The longest path and query, in bytes: PostgREST itself takes 50 KB of a request without its
/// body.
const MAX_URL: usize = 48_000;

/// A request that may be sent.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) verb: Verb,
    pub(super) method: &'static str,
    /// What follows the connection string: path and query.
    pub(super) url: String,
    pub(super) body: String,
    pub(super) prefer: String,
    pub(super) reads: bool,
    /// It has to find exactly one row.
    pub(super) is_single: bool,
    /// Its answer has rows, and not a number of rows.
    pub(super) returns: bool,
    /// The most rows that were asked for.
    pub(super) limit: Option<u64>,
    /// Those of the query, without percent codes.
    pub(super) parameters: Vec<(String, String)>,
}

impl Prepared {
    /// A request that only reads.
    pub(super) fn reading(url: &str) -> Self {
        Self {
            verb: Verb::From,
            method: "GET",
            url: url.to_owned(),
            body: String::new(),
            prefer: String::new(),
            reads: true,
            is_single: false,
            returns: true,
            limit: None,
            parameters: Vec::new(),
        }
    }

    /// Makes the request of a query.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is no request,
    /// [`Syntax`](ErrorKind::Syntax) for a text that is none, [`Data`](ErrorKind::Data) for a value
    /// that cannot stand where it does, [`Denied`](ErrorKind::Denied) for a request that the
    /// adapter may not send.
    pub(super) fn of(query: &Query<'_>, connector: &str, read_only: bool) -> Result<Self> {
        query.without_session(connector)?;
        let written;
        let (members, judged) = match query.command {
            Command::Document(members) => {
                let seen: Vec<(String, Draft)> = members.iter().map(|(key, node)| (key.clone(), seen(node))).collect();
                (members, judged(&seen)?)
            }
            Command::Statement { text, values } => {
                let drafts = documents::parsed(text, values.len())?;
                let judged = judged(&drafts)?;
                written = drafts.into_iter().map(|(key, draft)| (key, filled(draft, values))).collect::<Vec<_>>();
                (written.as_slice(), judged)
            }
            other => {
                let message = format!("connector `{connector}` takes requests, and the tool has {}", other.form());
                return Err(Error::new(ErrorKind::Configuration, message));
            }
        };
        if read_only && !(judged.reads && query.access == Access::Read) {
            return Err(Error::new(ErrorKind::Denied, "the request writes, and the adapter is read-only"));
        }
        let mut prepared = Self { verb: judged.verb, reads: judged.reads, ..Self::reading("") };
        let most = u64::try_from(query.max_rows).unwrap_or(u64::MAX);
        prepared.write(members, most)?;
        let path = if judged.verb == Verb::Rpc { "/rpc/" } else { "/" };
        prepared.url = format!("{path}{}", percent_coded(&judged.target));
        for (place, (name, value)) in prepared.parameters.iter().enumerate() {
            prepared.url.push(if place == 0 { '?' } else { '&' });
            prepared.url.push_str(&percent_coded(name));
            prepared.url.push('=');
            prepared.url.push_str(&percent_coded(value));
        }
        if prepared.url.len() > MAX_URL {
            let message = format!(
                "the values of the request make a URL of {} bytes, and connector `{connector}` sends at most {MAX_URL}; a function, `rpc`, takes more in its body",
                prepared.url.len()
            );
            return Err(unfit(&message));
        }
        Ok(prepared)
    }

    /// What it does. It always has an answer.
    pub(super) const fn effect(&self) -> Effect {
        Effect { reads: self.reads, returns: true }
    }

    fn write(&mut self, members: &[(String, Node)], most: u64) -> Result<()> {
        let field = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, node)| node);
        let is = |name: &str| matches!(field(name), Some(Node::Value(Value::Bool(true))));
        self.is_single = is("single");
        let selected = field("select").or(field("returning"));
        if let Some(node) = selected {
            let selection = select(&words(node)?).map_err(|_| damaged())?;
            self.parameter("select", selection.text);
        }
        if let Some(node) = field("where") {
            self.parameters.extend(conditions::parameters(node)?);
        }
        if let Some(node) = field("order") {
            self.parameter("order", order(&words(node)?).map_err(|_| damaged())?);
        }
        if matches!(self.verb, Verb::From | Verb::Rpc) {
            let own = field("limit").map(number).transpose()?.flatten();
            // One more than there may be shows that there are more.
            let least = if self.is_single { 2 } else { most.saturating_add(1) };
            let limit = own.map_or(least, |own| own.min(least));
            self.limit = Some(limit);
            self.parameter("limit", limit.to_string());
            if let Some(offset) = field("offset").map(number).transpose()?.flatten() {
                self.parameter("offset", offset.to_string());
            }
        }
        let mut prefer: Vec<&str> = Vec::new();
        match self.verb {
            Verb::From => {}
            Verb::Count => {
                self.returns = false;
                self.parameter("limit", "0".to_owned());
                prefer.push("count=exact");
            }
            Verb::Rpc if is("get") => self.arguments(field("arguments").map(members_of).transpose()?.unwrap_or_default())?,
            Verb::Rpc => {
                self.method = "POST";
                self.body = field("arguments").map_or_else(|| Ok("{}".to_owned()), json)?;
            }
            Verb::Insert | Verb::Upsert | Verb::Update | Verb::Delete => {
                self.method = match self.verb {
                    Verb::Update => "PATCH",
                    Verb::Delete => "DELETE",
                    _ => "POST",
                };
                if let Some(rows) = field("rows").or(field("set")) {
                    self.rows(rows, field("columns"))?;
                    if field("columns").is_some() {
                        prefer.push("missing=default");
                    }
                }
                if let Some(columns) = field("on_conflict") {
                    self.parameter("on_conflict", names(columns)?);
                }
                if self.verb == Verb::Upsert {
                    prefer.push(if is("ignore_duplicates") { "resolution=ignore-duplicates" } else { "resolution=merge-duplicates" });
                }
                self.returns = selected.is_some();
                prefer.extend(if self.returns { ["return=representation", ""] } else { ["return=minimal", "count=exact"] });
            }
        }
        prefer.retain(|word| !word.is_empty());
        self.prefer = prefer.join(", ");
        Ok(())
    }

    /// The arguments of a function that is called by `GET`.
    fn arguments(&mut self, arguments: &[(String, Node)]) -> Result<()> {
        for (name, node) in arguments {
            let Node::Value(value) = node else { return Err(damaged()) };
            // Without a value it has its default.
            let Some(text) = text_of(value)? else { continue };
            if begins_like_condition(&text) {
                return Err(unfit(
                    "with `get`, PostgREST takes an argument that begins like a condition, such as `eq.`, for one; remove `get`",
                ));
            }
            self.parameter(name, text);
        }
        Ok(())
    }

    fn parameter(&mut self, name: &str, value: String) {
        self.parameters.push((name.to_owned(), value));
    }

    /// What is written to a table. Only the columns that are named are looked at, whatever keys an
    /// object of a caller has.
    fn rows(&mut self, rows: &Node, columns: Option<&Node>) -> Result<()> {
        let is_one = matches!(rows, Node::Members(_) | Node::Value(Value::Json(Json::Object(_))));
        let is_row = |value: &Value| matches!(value, Value::Json(Json::Object(_)));
        let are_rows = match rows {
            Node::List(nodes) => nodes.iter().all(|node| match node {
                Node::Members(_) => true,
                Node::Value(value) => is_row(value),
                Node::List(_) => false,
            }),
            Node::Value(Value::Array(values)) => values.iter().all(is_row),
            Node::Value(Value::Json(Json::Array(values))) => values.iter().all(Json::is_object),
            _ => false,
        };
        if !is_one && (!are_rows || self.verb == Verb::Update) {
            return Err(unfit("a value is not a row: it must be an object with columns"));
        }
        let first = match rows {
            Node::Members(members) => Some(members),
            Node::List(nodes) => nodes.iter().find_map(|node| if let Node::Members(members) = node { Some(members) } else { None }),
            Node::Value(_) => None,
        };
        let columns = match (columns, first) {
            (Some(columns), _) => names(columns)?,
            (None, Some(members)) => members.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(","),
            (None, None) => return Err(damaged()),
        };
        self.parameter("columns", columns);
        self.body = json(rows)?;
        Ok(())
    }
}

fn judged(members: &[(String, Draft)]) -> Result<Judged> {
    judge(members).map_err(|flaws| documents::refused(&flaws))
}

/// For judging: what a request of a tool is, once its values are in. One form for tools and
/// scripts, so that there is one judge in a Worker.
fn seen(node: &Node) -> Draft {
    match node {
        // What has to be written out is text, or true or false.
        Node::Value(Value::Text(text)) => Draft::Literal(Json::String(text.clone())),
        Node::Value(Value::Bool(truth)) => Draft::Literal(Json::Bool(*truth)),
        Node::Value(_) => Draft::Place(0),
        Node::Members(members) => Draft::Members(members.iter().map(|(key, node)| (key.clone(), seen(node))).collect()),
        Node::List(elements) => Draft::List(elements.iter().map(seen).collect()),
    }
}

fn members_of(node: &Node) -> Result<&[(String, Node)]> {
    if let Node::Members(members) = node { Ok(members) } else { Err(damaged()) }
}

/// A whole number from 0; nothing for null.
fn number(node: &Node) -> Result<Option<u64>> {
    let number = match node {
        Node::Value(Value::Null | Value::Json(Json::Null)) => return Ok(None),
        Node::Value(Value::I64(number)) => u64::try_from(*number).ok(),
        Node::Value(Value::U64(number)) => Some(*number),
        Node::Value(Value::Json(number)) => number.as_u64(),
        _ => None,
    };
    let number = number.filter(|number| i64::try_from(*number).is_ok());
    number.map(Some).ok_or_else(|| unfit("`limit` and `offset` must be whole numbers from 0"))
}

/// A text, or a list of texts with commas between them.
fn words(node: &Node) -> Result<String> {
    let text = |node: &Node| if let Node::Value(Value::Text(text)) = node { Ok(text.clone()) } else { Err(damaged()) };
    match node {
        Node::List(elements) => Ok(elements.iter().map(text).collect::<Result<Vec<_>>>()?.join(",")),
        node => text(node),
    }
}

fn names(node: &Node) -> Result<String> {
    Ok(list(&words(node)?).map_err(|_| damaged())?.join(","))
}

#[cfg(test)]
mod tests {

    use super::*;

    fn prepared(text: &str, values: &[Value]) -> Result<Prepared> {
        let query = Query { access: Access::Write, ..Query::reading(Command::Statement { text, values }, 1, 100, 1) };
        Prepared::of(&query, "postgrest", false)
    }

    fn shown(text: &str, values: &[Value]) -> String {
        let prepared = prepared(text, values).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let Prepared { method, url, prefer, body, .. } = prepared;
        [method, &url, &prefer, &body].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn requests_are_written() {
        for (text, values, expected) in [
            (r#"{"from": "items"}"#, &[][..], "GET | /items?limit=101"),
            (
                r#"{"from": "my items", "select": ["id", "n:name", "author(name", "born)"], "order": "name.desc", "limit": 5, "offset": "$1"}"#,
                &[Value::I64(7)],
                "GET | /my%20items?select=id%2Cn%3Aname%2Cauthor%28name%2Cborn%29&order=name.desc&limit=5&offset=7",
            ),
            (r#"{"from": "i", "limit": "$1", "single": true}"#, &[Value::Null], "GET | /i?limit=2"),
            (r#"{"from": "i", "where": {"a": {"eq": "$1"}}}"#, &[Value::Text("a&b=c;d".into())], "GET | /i?a=eq.a%26b%3Dc%3Bd&limit=101"),
            (r#"{"count": "i"}"#, &[], "GET | /i?limit=0 | count=exact"),
            (
                r#"{"insert": "i", "rows": [{"a": "$1", "b": [1, {"c": "$2"}]}]}"#,
                &[Value::U64(u64::MAX), Value::Decimal("1.50".into())],
                r#"POST | /i?columns=a%2Cb | return=minimal, count=exact | [{"a":18446744073709551615,"b":[1,{"c":1.50}]}]"#,
            ),
            (
                r#"{"upsert": "i", "rows": "$1", "columns": ["a", "b"], "on_conflict": "a", "ignore_duplicates": true, "returning": "*"}"#,
                &[Value::Json(serde_json::json!([{"a": 1, "is_admin": true}]))],
                r#"POST | /i?select=%2A&columns=a%2Cb&on_conflict=a | missing=default, resolution=ignore-duplicates, return=representation | [{"a":1,"is_admin":true}]"#,
            ),
            (
                r#"{"update": "i", "set": {"a": "$1"}, "where": {"id": {"eq": 1}}}"#,
                &[Value::Bytes(vec![0, 255])],
                r#"PATCH | /i?id=eq.1&columns=a | return=minimal, count=exact | {"a":"\\x00ff"}"#,
            ),
            (
                r#"{"delete": "i", "where": {"id": {"in": "$1"}}}"#,
                &[Value::Json(serde_json::json!([1, 2]))],
                "DELETE | /i?id=in.%28%221%22%2C%222%22%29 | return=minimal, count=exact",
            ),
            (r#"{"rpc": "f"}"#, &[], "POST | /rpc/f?limit=101 | {}"),
            (
                r#"{"rpc": "f", "get": true, "arguments": {"a": "$1", "b": "$2"}}"#,
                &[Value::Text("x y".into()), Value::Null],
                "GET | /rpc/f?limit=101&a=x%20y",
            ),
        ] {
            assert_eq!(shown(text, values), expected);
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let long = Value::Text("\u{fc}".repeat(10_000));
        for (text, values, kind, expected) in [
            ("from items", &[][..], ErrorKind::Syntax, "is not a document in JSON"),
            (r#"{"from": "i", "where": {"a": {"eq": "$2"}}}"#, &[Value::Null], ErrorKind::Syntax, "a different number of values"),
            (r#"{"from": "$1"}"#, &[Value::Text("i".into())], ErrorKind::Denied, "the table must be written out"),
            (r#"{"from": "i", "select": "$1"}"#, &[Value::Text("*".into())], ErrorKind::Denied, "it must be written out"),
            (r#"{"from": "i", "where": {"a": "$1"}}"#, &[Value::Null], ErrorKind::Denied, "has no operator"),
            (r#"{"from": "i", "where": {"a": {"eq": "$1"}}}"#, &[Value::Array(vec![])], ErrorKind::Data, "is an object or a list"),
            (r#"{"from": "i", "where": {"a": {"eq": "$1"}}}"#, &[Value::Text("a\0".into())], ErrorKind::Data, "a NUL character"),
            (r#"{"from": "i", "where": {"a": {"is": "$1"}}}"#, &[Value::I64(1)], ErrorKind::Data, "neither true, false nor null"),
            (r#"{"from": "i", "limit": "$1"}"#, &[Value::I64(-1)], ErrorKind::Data, "must be whole numbers from 0"),
            (r#"{"from": "i", "where": {"a": {"eq": "$1"}}}"#, &[long], ErrorKind::Data, "make a URL of 60"),
            (r#"{"insert": "i", "rows": "$1"}"#, &[Value::Null], ErrorKind::Denied, "the columns of `rows` would be the caller's"),
            (r#"{"insert": "i", "rows": "$1", "columns": "a"}"#, &[Value::I64(1)], ErrorKind::Data, "a value is not a row"),
            (
                r#"{"insert": "i", "rows": {"a": "$1"}}"#,
                &[Value::Json(serde_json::json!({"a": ["\0"]}))],
                ErrorKind::Data,
                "a NUL character",
            ),
            (
                r#"{"update": "i", "set": "$1", "columns": "a", "where": {"a": {"eq": 1}}}"#,
                &[Value::Json(serde_json::json!([{"a": 1}]))],
                ErrorKind::Data,
                "a value is not a row",
            ),
            (
                r#"{"rpc": "f", "get": true, "arguments": {"a": "$1"}}"#,
                &[Value::Text("not.eq.x".into())],
                ErrorKind::Data,
                "begins like a condition",
            ),
            (r#"{"delete": "i"}"#, &[], ErrorKind::Denied, "`delete` needs `where`"),
        ] {
            let error = prepared(text, values).unwrap_err();
            assert!(error.kind == kind && error.message.contains(expected), "{text}: {error:?}");
        }
    }
}
