//! A query → a request.
//!
//! A tool's request comes as a document with its values as leaves. A script writes it as text, with
//! `$1` for its values. Host, path, names and form are the author's; a value is one segment of the
//! path or a part of one, one value of the query or of a form, one header field, or one node of the
//! body, and is encoded as its place demands.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_catalogue::HTTP;
use millrace_core::{
    Error, ErrorKind, Json, Result,
    fetch_url::FetchUrl,
    headers::Headers,
    ports::{Command, Node, Query},
    url::{percent_coded, percent_decoded_strictly},
    value::Value,
};
use millrace_languages::http::{Selection, has_step, header_flaw, is_header_value, is_safe, method, path_flaw};

use super::{failure::damaged, page::Page};
use crate::documents::{self, Draft, filled, json_text, plain_text, text, unfit};

/// The longest path and query, in bytes.
const MAX_TARGET: usize = 48_000;
/// The members of a request.
const MEMBERS: [&str; 9] = ["method", "path", "query", "form", "headers", "body", "result", "page", "reads"];

/// A request that may be sent.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) method: &'static str,
    /// Path and query, which follow the base URL.
    pub(super) target: String,
    /// Fields of this request; the content type among them.
    pub(super) headers: Headers,
    pub(super) body: Vec<u8>,
    /// It changes nothing, as far as the author says.
    pub(super) reads: bool,
    /// The part of the answer that is the result.
    pub(super) result: Option<Selection>,
    pub(super) page: Option<Page>,
}

impl Prepared {
    /// A request that only reads.
    pub(super) fn reading(target: &str) -> Self {
        Self { method: "GET", target: target.to_owned(), headers: Headers::new(), body: Vec::new(), reads: true, result: None, page: None }
    }

    /// Makes the request of a query.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is not a request,
    /// [`Syntax`](ErrorKind::Syntax) for a text that is none, [`Data`](ErrorKind::Data) for a value
    /// that cannot stand where it does, [`Denied`](ErrorKind::Denied) for a request that the
    /// adapter may not send.
    pub(super) fn of(query: &Query<'_>, read_only: bool) -> Result<Self> {
        let prepared = match query.command {
            Command::Document(members) => Self::of_members(members, query.access.reads())?,
            Command::Statement { text, values } => {
                let drafts = documents::parsed(text, values.len())?;
                judge(&drafts)?;
                let members: Vec<_> = drafts.into_iter().map(|(key, draft)| (key, filled(draft, values))).collect();
                let says_reads = matches!(member(&members, "reads"), Some(Node::Value(Value::Bool(true))));
                Self::of_members(&members, says_reads)?
            }
            other => {
                let message = format!("connector `{}` takes requests of HTTP, and the tool has {}", HTTP.name, other.form());
                return Err(Error::new(ErrorKind::Configuration, message));
            }
        };
        if read_only && !prepared.reads {
            return Err(Error::new(ErrorKind::Denied, "the request writes, and the adapter is read-only"));
        }
        Ok(prepared)
    }

    /// Whatever of the request its answer can depend on, beside the adapter.
    pub(super) fn known_as(&self, url: &FetchUrl) -> String {
        let mut known = url.to_url();
        for (name, value) in self.headers.iter() {
            known.push_str(&format!("\n{name}: {value}"));
        }
        known
    }

    fn of_members(members: &[(String, Node)], says_reads: bool) -> Result<Self> {
        let named = member(members, "method").and_then(text).and_then(method).ok_or_else(damaged)?;
        let selection = |node: &Node| Selection::parse(text(node).ok_or_else(damaged)?).map_err(|_| damaged());
        let mut prepared = Self {
            method: named,
            target: path(member(members, "path").ok_or_else(damaged)?)?,
            reads: is_safe(named) || named == "POST" && says_reads,
            result: member(members, "result").map(selection).transpose()?,
            page: member(members, "page").map(Page::of).transpose()?,
            ..Self::reading("")
        };
        let (has_body, has_form) = (member(members, "body").is_some(), member(members, "form").is_some());
        if has_body && has_form || (has_body || has_form) && is_safe(named) || prepared.page.is_some() && !prepared.reads {
            let message = "a request has one of `body` and `form`, and neither with `GET` and `HEAD`; `page` is for one that only reads";
            return Err(Error::new(ErrorKind::Syntax, message));
        }
        for (place, field) in fields(member(members, "query"))?.into_iter().enumerate() {
            prepared.target.push(if place == 0 { '?' } else { '&' });
            prepared.target.push_str(&field);
        }
        if prepared.target.len() > MAX_TARGET {
            let message = format!(
                "the values of the request make a path and a query of {} bytes, and connector `{}` sends at most {MAX_TARGET}",
                prepared.target.len(),
                HTTP.name
            );
            return Err(unfit(&message));
        }
        prepared.fields(member(members, "headers"))?;
        if let Some(body) = member(members, "body") {
            prepared.body = json_text(body, |bytes| STANDARD.encode(bytes)).into_bytes();
            prepared.typed("application/json");
        } else if let Some(form) = member(members, "form") {
            prepared.body = fields(Some(form))?.join("&").into_bytes();
            prepared.typed("application/x-www-form-urlencoded");
        }
        Ok(prepared)
    }

    /// Sets the content type, where the author did not.
    fn typed(&mut self, content_type: &str) {
        if self.headers.first("content-type").is_none() {
            self.headers.append("content-type", content_type);
        }
    }

    fn fields(&mut self, node: Option<&Node>) -> Result<()> {
        for Entry { name, value, .. } in entries(node)? {
            if let Some(flaw) = header_flaw(name) {
                return Err(Error::new(ErrorKind::Syntax, format!("`{name}` {flaw}")));
            }
            let Some(value) = plain(value)? else { continue };
            if !is_header_value(&value) {
                let what = "has a character that a header field does not take: visible characters of ASCII, spaces and tabs are taken";
                return Err(unfit(&format!("the value of the header field `{name}` {what}")));
            }
            self.headers.append(&name.to_ascii_lowercase(), value);
        }
        Ok(())
    }
}

/// Looks at a script's request before its values are put in: a value stands where a tool's could.
fn judge(drafts: &[(String, Draft)]) -> Result<()> {
    let is_text = |draft: &Draft| matches!(draft, Draft::Literal(Json::String(_)));
    for (name, draft) in drafts {
        let is_good = match (name.as_str(), draft) {
            ("method" | "result", draft) => is_text(draft),
            ("path", Draft::List(parts)) => parts.iter().step_by(2).all(is_text) && parts.len() % 2 == 1,
            ("query" | "form" | "headers", Draft::List(entries)) => entries.iter().all(|entry| match entry {
                Draft::List(entry) => match entry.as_slice() {
                    [name, _] => is_text(name),
                    [name, _, csv] => is_text(name) && is_text(csv),
                    _ => false,
                },
                _ => false,
            }),
            ("page", Draft::Members(members)) => members.iter().all(|(_, draft)| matches!(draft, Draft::Literal(_))),
            ("reads", Draft::Literal(Json::Bool(_))) | ("body", _) => true,
            _ => false,
        };
        if !is_good {
            let known = MEMBERS.map(|name| format!("`{name}`")).join(", ");
            let message = if MEMBERS.contains(&name.as_str()) {
                format!("`{name}` of the request is not what it must be, or has a value where its author's text stands")
            } else {
                format!("a request has no `{name}`; it has {known}")
            };
            return Err(Error::new(ErrorKind::Syntax, message));
        }
    }
    Ok(())
}

fn member<'a>(members: &'a [(String, Node)], name: &str) -> Option<&'a Node> {
    members.iter().find(|(key, _)| key == name).map(|(_, node)| node)
}

/// The path: texts as they are, and between them values, each encoded.
fn path(node: &Node) -> Result<String> {
    let Node::List(parts) = node else { return Err(damaged()) };
    let mut path = String::new();
    let mut places = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        if place % 2 == 0 {
            let text = text(part).ok_or_else(damaged)?;
            if let Some(flaw) = path_flaw(text) {
                return Err(Error::new(ErrorKind::Syntax, format!("the path of the request {flaw}")));
            }
            path.push_str(text);
        } else {
            let Node::Value(value) = part else { return Err(damaged()) };
            let value = plain(value)?.ok_or_else(|| unfit("a value in the path of the request is absent, and the path needs it"))?;
            places.push(path.len());
            path.push_str(&percent_coded(&value));
        }
    }
    if !path.starts_with('/') {
        return Err(Error::new(ErrorKind::Syntax, "the path of the request does not begin with `/`"));
    }
    for at in places {
        // A value has no slash of its own any more.
        let start = path.get(..at).and_then(|before| before.rfind('/')).map_or(0, |slash| slash + 1);
        let segment = path.get(start..).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        if segment.is_empty() || percent_decoded_strictly(segment).is_none_or(|segment| has_step(&segment)) {
            return Err(unfit("a value makes a part of the path empty, or has `.` or `..` between slashes, which would name another path"));
        }
    }
    Ok(path)
}

/// An entry of a query, a form or the header fields.
struct Entry<'a> {
    name: &'a str,
    value: &'a Value,
    /// The elements of a list are joined by commas.
    is_joined: bool,
}

impl<'a> Entry<'a> {
    fn of(node: &'a Node) -> Result<Self> {
        match node {
            Node::List(entry) => match entry.as_slice() {
                [name, Node::Value(value), joined @ ..] => {
                    Ok(Self { name: text(name).ok_or_else(damaged)?, value, is_joined: !joined.is_empty() })
                }
                _ => Err(damaged()),
            },
            _ => Err(damaged()),
        }
    }
}

fn entries(node: Option<&Node>) -> Result<Vec<Entry<'_>>> {
    match node {
        None => Ok(Vec::new()),
        Some(Node::List(entries)) => entries.iter().map(Entry::of).collect(),
        Some(_) => Err(damaged()),
    }
}

/// The fields of a query or a form, encoded. One without a value is left out, and a list is the
/// field again for each element.
fn fields(node: Option<&Node>) -> Result<Vec<String>> {
    let mut fields = Vec::new();
    for Entry { name, value, is_joined } in entries(node)? {
        let texts = match value {
            Value::Array(values) => values.iter().map(plain).collect::<Result<Vec<_>>>()?,
            Value::Json(Json::Array(values)) => {
                values.iter().map(|value| plain(&Value::Json(value.clone()))).collect::<Result<Vec<_>>>()?
            }
            value => vec![plain(value)?],
        };
        let texts: Vec<String> = texts.into_iter().flatten().map(|text| percent_coded(&text)).collect();
        let name = percent_coded(name);
        if is_joined && !texts.is_empty() {
            fields.push(format!("{name}={}", texts.join(",")));
        } else {
            fields.extend(texts.into_iter().map(|text| format!("{name}={text}")));
        }
    }
    Ok(fields)
}

/// A value as a text of a URL or a header field: what JavaScript makes of a number, `10` of 10.0.
fn plain(value: &Value) -> Result<Option<String>> {
    /// From here on a double has an exponent in JavaScript.
    const MOST: f64 = 1e15;
    let number = match value {
        Value::F64(number) => Some(*number),
        Value::Json(Json::Number(number)) if number.is_f64() => number.as_f64(),
        _ => None,
    };
    match number {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small")]
        Some(number) if number.fract() == 0.0 && number.abs() < MOST => Ok(Some((number as i64).to_string())),
        _ => plain_text(value, |bytes| STANDARD.encode(bytes)),
    }
}
