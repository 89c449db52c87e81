//! A query → a command of MongoDB.
//!
//! A tool's command comes as a document with its values as leaves. A script writes it as text:
//! module `script`. Either way it is judged before anything is sent, and no value becomes an
//! operator.

use millrace_core::{
    Error, ErrorKind, Json, Result,
    app::Access,
    ports::{Command, Node, Query, Random},
    value::Value,
};
use millrace_languages::mongodb::{Judged, Kind, is_wrapper};

use super::{
    bson::{Bson, Members, find},
    extended::{self, syntax, unfit},
    script,
    server_error::Doing,
};
use crate::{
    documents::Draft,
    shared::{Effect, StatementFailure},
};

/// The most characters of a key that a message shows.
const SHOWN: usize = 40;
const TOO_GREAT: &str = "a whole number in a value is greater than 2^63 - 1";

/// A command that may be run.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) members: Members,
    pub(super) kind: Kind,
    pub(super) reads: bool,
    /// It may insert what it does not find, and says what it inserted.
    pub(super) upserts: bool,
    /// The identifiers of the documents that it inserts.
    pub(super) ids: Vec<Bson>,
}

/// For judging: what a document of a tool is, once its values are in. One form for tools and
/// scripts, so that there is one judge in a Worker.
fn draft(node: &Node) -> Draft {
    // An object that the call brings has no operators, as its keys show when it is sent.
    let brought = |count: usize| Draft::List((0..count).map(|_| Draft::Members(Vec::new())).collect());
    match node {
        Node::Value(Value::Text(text)) => Draft::Literal(Json::String(text.clone())),
        Node::Value(Value::Bool(truth)) => Draft::Literal(Json::Bool(*truth)),
        Node::Value(Value::I64(number)) => Draft::Literal((*number).into()),
        Node::Value(Value::Json(Json::Object(_))) => Draft::Members(Vec::new()),
        Node::Value(Value::Array(elements)) => brought(elements.len()),
        Node::Value(Value::Json(Json::Array(elements))) => brought(elements.len()),
        Node::Value(_) => Draft::Literal(Json::Null),
        Node::Members(members) => Draft::Members(drafts(members)),
        Node::List(elements) => Draft::List(elements.iter().map(draft).collect()),
    }
}

fn drafts(members: &[(String, Node)]) -> Vec<(String, Draft)> {
    members.iter().map(|(key, node)| (key.clone(), draft(node))).collect()
}

impl Prepared {
    /// Makes the command of a query. `allow` is the adapter's option.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is no document,
    /// [`Syntax`](ErrorKind::Syntax) for a text that is none, [`Data`](ErrorKind::Data) for a value
    /// that cannot stand where it does, [`Denied`](ErrorKind::Denied) for a command that the
    /// adapter may not run.
    pub(super) fn of(query: &Query<'_>, connector: &str, allow: &str, read_only: bool, random: &dyn Random, now_ms: u64) -> Result<Self> {
        query.without_session(connector)?;
        let (members, judged) = match query.command {
            Command::Document(members) => (members.to_vec(), script::judged(&drafts(members), allow)?),
            Command::Statement { text, values } => script::document(text, values, allow)?,
            other => {
                let message = format!("connector `{connector}` takes documents, and the tool has {}", other.form());
                return Err(Error::new(ErrorKind::Configuration, message));
            }
        };
        let Judged { kind, reads, upserts, .. } = judged;
        if read_only && !(reads && query.access == Access::Read) {
            return Err(Error::new(ErrorKind::Denied, "the command writes, and the adapter is read-only"));
        }
        let mut prepared = Self { members: Vec::new(), kind, reads, upserts, ids: Vec::new() };
        for (key, node) in &members {
            let value = match (kind, key.as_str(), node) {
                (Kind::Insert, "documents", node) => prepared.documents(bson(node, true)?, random, now_ms)?,
                (Kind::Update, "updates", Node::List(elements)) => Bson::Array(elements.iter().map(update).collect::<Result<_>>()?),
                _ => bson(node, false)?,
            };
            prepared.members.push((key.clone(), value));
        }
        Ok(prepared)
    }

    /// Gives each document that has none an identifier, as drivers do: the server would not say
    /// which it made.
    fn documents(&mut self, documents: Bson, random: &dyn Random, now_ms: u64) -> Result<Bson> {
        let Bson::Array(documents) = documents else { return Err(syntax("`documents` must be a list of objects")) };
        if documents.is_empty() {
            return Err(syntax("`documents` must have at least 1 element"));
        }
        let mut written = Vec::new();
        for document in documents {
            let Bson::Document(mut members) = document else { return Err(syntax("`documents` must be a list of objects")) };
            let id = match find(&members, "_id") {
                Some(id) => id.clone(),
                None => {
                    let mut bytes = [0; 12];
                    random.fill(&mut bytes);
                    let seconds = u32::try_from((now_ms / 1_000) & u64::from(u32::MAX)).unwrap_or_default();
                    bytes[..4].copy_from_slice(&seconds.to_be_bytes());
                    members.insert(0, ("_id".to_owned(), Bson::ObjectId(bytes)));
                    Bson::ObjectId(bytes)
                }
            };
            self.ids.push(id);
            written.push(Bson::Document(members));
        }
        Ok(Bson::Array(written))
    }

    /// What it does. It always has a reply.
    pub(super) const fn effect(&self) -> Effect {
        Effect { reads: self.reads, returns: true }
    }

    /// What a reply is to.
    pub(super) fn doing(&self) -> Doing<'_> {
        let is = |key: &str, members: &[(String, Bson)]| find(members, key).cloned();
        let elements = |name: &str| find(&self.members, name).map(Bson::elements).unwrap_or_default().iter().filter_map(Bson::document);
        let updates_many = elements("updates").any(|update| is("multi", update) == Some(Bson::Bool(true)));
        let deletes_many = elements("deletes").any(|delete| find(delete, "limit").and_then(Bson::integer) != Some(1));
        Doing {
            command: self.kind.name(),
            reads: self.reads,
            is_ordered: is("ordered", &self.members) != Some(Bson::Bool(false)),
            // A stage that writes does so with many documents.
            changes_many: updates_many || deletes_many || (self.kind == Kind::Aggregate && !self.reads),
        }
    }

    /// An error about a reply that came: a command that writes has done so.
    pub(super) fn after_reply(&self, error: Error) -> Error {
        if self.reads {
            return error;
        }
        // Nobody is told to repeat it.
        let kind = if error.kind.is_retryable() { ErrorKind::Protocol } else { error.kind };
        let message = format!("{}; the command took effect", error.message);
        error.with_kind(kind).with_message(message)
    }

    /// The same of a failure: a command that writes is not sent again.
    pub(super) fn failed_after_reply(&self, failure: StatementFailure) -> StatementFailure {
        if self.reads { failure } else { StatementFailure::last(self.after_reply(failure.error)) }
    }
}

/// An element of `updates`: what is in `u` is stored.
fn update(element: &Node) -> Result<Bson> {
    let Node::Members(members) = element else { return bson(element, true) };
    let members = members.iter().map(|(key, node)| Ok((key.clone(), bson(node, key == "u")?)));
    Ok(Bson::Document(members.collect::<Result<_>>()?))
}

/// A part of a document. `is_stored`: keys of objects name fields.
fn bson(node: &Node, is_stored: bool) -> Result<Bson> {
    Ok(match node {
        Node::Value(value) => of_value(value, is_stored)?,
        Node::Members(members) if is_wrapper(members) => extended::value(members)?,
        Node::Members(members) => {
            let members = members.iter().map(|(key, node)| Ok((key.clone(), bson(node, is_stored)?)));
            Bson::Document(members.collect::<Result<_>>()?)
        }
        Node::List(elements) => Bson::Array(elements.iter().map(|node| bson(node, is_stored)).collect::<Result<_>>()?),
    })
}

fn of_value(value: &Value, is_stored: bool) -> Result<Bson> {
    Ok(match value {
        Value::Null => Bson::Null,
        Value::Bool(truth) => Bson::Bool(*truth),
        Value::I64(number) => Bson::Int64(*number),
        Value::U64(number) => Bson::Int64(i64::try_from(*number).map_err(|_| unfit(TOO_GREAT))?),
        Value::F64(number) => Bson::Double(*number),
        Value::Decimal(text) => Bson::Decimal(extended::decimal(text)?),
        Value::Text(text) => Bson::Text(text.clone()),
        Value::Bytes(bytes) => Bson::Binary(0, bytes.clone()),
        Value::Timestamp(text) => Bson::Date(extended::date(text)?),
        Value::Json(document) => of_json(document, is_stored)?,
        Value::Array(elements) => Bson::Array(elements.iter().map(|element| of_value(element, is_stored)).collect::<Result<_>>()?),
    })
}

/// A value of JSON, whose objects have no operators.
fn of_json(value: &Json, is_stored: bool) -> Result<Bson> {
    Ok(match value {
        Json::Null => Bson::Null,
        Json::Bool(truth) => Bson::Bool(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Bson::Int64(number),
            (None, Some(_)) => return Err(unfit(TOO_GREAT)),
            (None, None) => Bson::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Bson::Text(text.clone()),
        Json::Array(elements) => Bson::Array(elements.iter().map(|element| of_json(element, is_stored)).collect::<Result<_>>()?),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| {
                let shown = || key.chars().take(SHOWN).collect::<String>();
                if key.contains('\0') {
                    return Err(unfit("a key of an object in a value has a NUL character"));
                }
                if key.starts_with('$') {
                    return Err(unfit(&format!("an object in a value has the key `{}`, and no key may begin with `$`", shown())));
                }
                if is_stored && key.contains('.') {
                    let message = format!("an object in a value has the key `{}`, and no key of what is stored may contain a `.`", shown());
                    return Err(unfit(&message));
                }
                Ok((key.clone(), of_json(value, is_stored)?))
            });
            Bson::Document(members.collect::<Result<_>>()?)
        }
    })
}
