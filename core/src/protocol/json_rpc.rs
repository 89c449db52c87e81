//! Reads JSON-RPC messages: bytes in, [`Payload`] out, in one pass and without copying a value
//! twice.
//!
//! A message is read leniently first and judged after (`Message::into_call`): text that is not JSON
//! and JSON that is not a message have different answers, and the second should echo the id.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{cell::RefCell, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Map;

use super::rpc_error::{INVALID_REQUEST, PARSE_ERROR, RpcError};
use crate::{Json, strict::Strict};

mod raw_id;

/// The most messages of a batch that any app can allow (`limits.batch.messages`).
const MOST_MESSAGES: usize = 1000;

/// The members of a message that mean something.
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The content of a body.
pub(super) enum Payload {
    One(Box<Message>),
    /// At most one more than [`MOST_MESSAGES`]; the rest is not kept.
    Batch(Vec<Message>),
}

/// A message as it came.
#[derive(Default)]
pub(super) struct Message {
    is_object: bool,
    version: bool,
    method: Member<String>,
    id: Member<Id>,
    /// The id is a number that no integer type holds, or a fraction: `raw_id` tells them apart.
    inexact_id: bool,
    params: Member<Map<String, Json>>,
    answers: bool,
    repeated: Option<&'static str>,
    /// A member that appears more than once within `params`, and where.
    repeated_in_params: Option<(String, String)>,
}

/// A member of a message.
#[derive(Default)]
enum Member<T> {
    #[default]
    Absent,
    Present(T),
    /// Of a type that is not allowed.
    Wrong,
}

/// The id of a request, as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Id(String);

impl Id {
    /// In place of an id, where none is known; it is written into no reply.
    pub(super) const fn none() -> Self {
        Self(String::new())
    }

    /// The text to write into a reply.
    pub(super) fn json(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(super) fn number(id: u32) -> Self {
        Self(id.to_string())
    }
}

/// A request: a well-formed message that wants an answer.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) params: Params,
}

/// `params`
#[derive(Clone)]
pub(super) enum Params {
    Absent,
    Object(Map<String, Json>),
    /// Neither an object nor absent.
    Wrong,
}

impl Params {
    /// The object, where it is one.
    pub(super) fn object(&self) -> Option<&Map<String, Json>> {
        match self {
            Self::Object(object) => Some(object),
            Self::Absent | Self::Wrong => None,
        }
    }

    /// `params._meta`
    pub(super) fn meta(&self) -> Option<&Json> {
        self.object()?.get("_meta")
    }
}

/// A message that cannot be answered, with its id where that was readable.
pub(super) struct InvalidMessage {
    pub(super) id: Option<Id>,
    pub(super) failure: RpcError,
}

/// Puts back the ids that the parser could not hold. The text is valid JSON, and the messages are
/// what it says.
fn restore_ids<'m>(text: &str, messages: impl Iterator<Item = &'m mut Message>) {
    let mut numbers: Option<Vec<(usize, &str)>> = None;
    for (index, message) in messages.enumerate().filter(|(_, message)| message.inexact_id) {
        let numbers = numbers.get_or_insert_with(|| raw_id::numbers(text));
        let Some((_, digits)) = numbers.iter().find(|(place, _)| *place == index) else { continue };
        if !digits.contains(['.', 'e', 'E']) {
            message.id = Member::Present(Id((*digits).into()));
        }
    }
}

/// Reads a body: step 7 of the ladder.
pub(super) fn parse(body: &[u8]) -> Result<Payload, RpcError> {
    let Ok(text) = core::str::from_utf8(body) else {
        return Err(RpcError::http(400, PARSE_ERROR, "Parse error: the body is not UTF-8"));
    };
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return Err(RpcError::http(400, PARSE_ERROR, "Parse error: the body is empty"));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = Document::deserialize(&mut deserializer).and_then(|document| deserializer.end().map(|()| document));
    match parsed {
        Ok(Document::One(mut message)) => {
            restore_ids(text, core::iter::once(&mut *message));
            Ok(Payload::One(message))
        }
        Ok(Document::Batch(mut messages)) => {
            restore_ids(text, messages.iter_mut());
            Ok(Payload::Batch(messages))
        }
        Ok(Document::Scalar) => Err(RpcError::http(400, INVALID_REQUEST, "Invalid request: the body is not a JSON object")),
        Err(error) => Err(RpcError::http(400, PARSE_ERROR, format!("Parse error: {error}"))),
    }
}

impl Message {
    /// Steps 9 and 10 of the ladder: a request, or `None` for a notification.
    pub(super) fn into_call(self) -> Result<Option<Call>, InvalidMessage> {
        if let Some(problem) = self.problem() {
            // A posted response has the id of some other request; an ambiguous id is none.
            let echo = !self.answers && self.repeated != Some("id");
            let id = match self.id {
                Member::Present(id) if echo => Some(id),
                _ => None,
            };
            return Err(InvalidMessage { id, failure: RpcError::http(400, INVALID_REQUEST, format!("Invalid request: {problem}")) });
        }
        let Member::Present(method) = self.method else { return Ok(None) };
        let Member::Present(id) = self.id else { return Ok(None) };
        let params = match self.params {
            Member::Absent => Params::Absent,
            Member::Present(object) => Params::Object(object),
            Member::Wrong => Params::Wrong,
        };
        Ok(Some(Call { id, method, params }))
    }

    /// Whether `params._meta` names a protocol version, as only modern requests do.
    pub(super) fn claims_modern(&self) -> bool {
        match &self.params {
            Member::Present(params) => params.get("_meta").and_then(|meta| meta.get(super::meta::META_VERSION)).is_some(),
            Member::Absent | Member::Wrong => false,
        }
    }

    /// The request that it cancels, where it is `notifications/cancelled`.
    pub(super) fn cancels(&self) -> Option<Id> {
        if self.method() != Some("notifications/cancelled") || !matches!(self.id, Member::Absent) || self.problem().is_some() {
            return None;
        }
        let Member::Present(params) = &self.params else { return None };
        match params.get("requestId")? {
            id @ Json::String(_) => Some(Id(id.to_string())),
            Json::Number(id) if !id.is_f64() => Some(Id(id.to_string())),
            _ => None,
        }
    }

    /// Whether it is a response to a request, which nobody sent.
    pub(super) fn is_answer(&self) -> bool {
        self.answers && matches!(self.method, Member::Absent)
    }

    pub(super) fn method(&self) -> Option<&str> {
        match &self.method {
            Member::Present(method) => Some(method),
            Member::Absent | Member::Wrong => None,
        }
    }

    fn problem(&self) -> Option<String> {
        if !self.is_object {
            return Some("a message must be a JSON object".into());
        }
        if let Some(name) = self.repeated {
            return Some(format!("the member `{name}` appears twice"));
        }
        if let Some((name, place)) = &self.repeated_in_params {
            return Some(format!("the member `{name}` appears more than once in `{place}`"));
        }
        if !self.version {
            return Some("`jsonrpc` must be \"2.0\"".into());
        }
        if self.answers {
            return Some("this server sends no requests, so it takes no `result` or `error`".into());
        }
        if !matches!(self.method, Member::Present(_)) {
            return Some("`method` must be a string".into());
        }
        matches!(self.id, Member::Wrong).then(|| "`id` must be a string or an integer".into())
    }
}

/// A JSON value, as far as it can be messages. The elements of an array are read the same way.
enum Document {
    One(Box<Message>),
    Batch(Vec<Message>),
    Scalar,
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Document, A::Error> {
        let mut message = Message { is_object: true, ..Message::default() };
        let mut seen = 0_u8;
        while let Some(name) = members.next_key::<Name>()? {
            let Name::Known(place) = name else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            if seen & (1 << place) != 0 {
                message.repeated = Some(MEMBERS[place]);
            }
            seen |= 1 << place;
            match MEMBERS[place] {
                "result" | "error" => {
                    members.next_value::<IgnoredAny>()?;
                    message.answers = true;
                }
                "params" => {
                    let repeated = RefCell::new(None);
                    let params = members.next_value_seed(Strict::member("params", &repeated))?;
                    message.repeated_in_params = repeated.into_inner();
                    message.take("params", params);
                }
                known => message.take(known, members.next_value()?),
            }
        }
        Ok(Document::One(Box::new(message)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Document, A::Error> {
        let mut messages = Vec::new();
        while messages.len() <= MOST_MESSAGES {
            match elements.next_element()? {
                Some(Document::One(message)) => messages.push(*message),
                Some(Document::Batch(_) | Document::Scalar) => messages.push(Message::default()),
                None => return Ok(Document::Batch(messages)),
            }
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Document::Batch(messages))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Scalar)
    }
}

/// The name of a member: its place in [`MEMBERS`], found without keeping the text.
enum Name {
    Known(usize),
    Other,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Name, E> {
        Ok(MEMBERS.iter().position(|known| *known == name).map_or(Name::Other, Name::Known))
    }
}

impl Message {
    fn take(&mut self, name: &str, value: Json) {
        match (name, value) {
            ("jsonrpc", value) => self.version = value == "2.0",
            ("method", Json::String(method)) => self.method = Member::Present(method),
            ("method", _) => self.method = Member::Wrong,
            ("params", Json::Object(params)) => self.params = Member::Present(params),
            ("params", Json::Null) => self.params = Member::Absent,
            ("params", _) => self.params = Member::Wrong,
            (_, Json::String(id)) => self.id = Member::Present(Id(Json::String(id).to_string())),
            (_, Json::Number(id)) if !id.is_f64() => self.id = Member::Present(Id(id.to_string())),
            (_, id) => {
                self.inexact_id = id.is_f64();
                self.id = Member::Wrong;
            }
        }
    }
}
