//! Which era a request belongs to, and whether its version is one that is served: steps 8 and 11 of
//! the ladder.
//!
//! The message decides; header fields are compared with it. What several clients do otherwise, and
//! what can mean one thing only, is served:
//!
//! | request | is served as |
//! |---|---|
//! | `_meta` and `MCP-Protocol-Version` name two revisions that are served | that of `_meta` |
//! | `MCP-Protocol-Version` names the modern revision, and the message is one of the legacy era | 2025-11-25 |
//! | a header field appears twice with the same value, or has it twice | as if it were there once |
//!
//! `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` may never say something else than the message, and
//! are required where `MCP-Protocol-Version` says that the client knows them; see [`Mirrors`]. So
//! whoever decides by a field before this server decides about the same call, and whoever relies on
//! a field being there has to refuse the legacy era, which has none.

use alloc::{format, string::String, vec::Vec};

use serde_json::json;

use super::{
    json_rpc::{Call, Message, Params},
    mcp_headers::{self, VERSION_FIELD, mirror, versions},
    meta::{META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_VERSION},
    quirks::{self, Deviation},
    rpc_error::{HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, RpcError, UNSUPPORTED_VERSION},
};
use crate::{Json, headers::Headers};

/// The revision of the modern era.
pub(super) const MODERN: &str = "2026-07-28";
/// The revisions of the legacy era, newest first. The last one had another transport; clients still
/// send its name over this one.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", BATCHING, "2024-11-05"];
/// The revision with batches, and the one to assume for a legacy request that names none.
const BATCHING: &str = "2025-03-26";
/// What `server/discover` lists: every revision that is served, newest first.
pub(super) const LISTED: [&str; 5] = [MODERN, LEGACY[0], LEGACY[1], LEGACY[2], LEGACY[3]];

/// The two ways to speak MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Each request says what it needs, in `params._meta`.
    Modern,
    /// `initialize` first.
    Legacy,
}

/// What has to be said of the header fields that mirror a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mirrors {
    /// They mean nothing: there are none, or the revision has none.
    Unread,
    /// Those that are there have to equal the message. The client's transport is of a revision that
    /// has none, or it is known for leaving them out.
    Sent,
    /// They have to be there and equal the message.
    All,
}

/// An era and the revision within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selected {
    pub(super) era: Era,
    pub(super) version: &'static str,
    pub(super) mirrors: Mirrors,
    /// What the request did other than the specification says.
    pub(super) deviation: Option<Deviation>,
}

impl Selected {
    /// The messages of a batch.
    pub(super) const BATCH: Self = Self::legacy(BATCHING);

    const fn legacy(version: &'static str) -> Self {
        Self { era: Era::Legacy, version, mirrors: Mirrors::Unread, deviation: None }
    }

    const fn modern(mirrors: Mirrors) -> Self {
        Self { era: Era::Modern, version: MODERN, mirrors, deviation: None }
    }
}

/// What `MCP-Protocol-Version` says, written once or several times.
enum Named<'h> {
    Nothing,
    One(&'h str),
    /// Different versions.
    Several,
}

impl<'h> Named<'h> {
    fn of(headers: &'h Headers) -> Self {
        let mut versions = versions(headers);
        let Some(first) = versions.next() else { return Self::Nothing };
        if versions.all(|other| other == first) { Self::One(first) } else { Self::Several }
    }
}

fn legacy_version(named: &str) -> Option<&'static str> {
    LEGACY.into_iter().find(|version| *version == named)
}

/// Selects the era of a request, and refuses what is wrong with it before its method is looked at.
pub(super) fn select(call: &Call, headers: &Headers) -> Result<Selected, RpcError> {
    if claims_version(call) {
        return by_message(call, Some(headers));
    }
    let named = Named::of(headers);
    if matches!(named, Named::One(MODERN)) {
        return in_modern_field(call, headers);
    }
    if call.method == "initialize" {
        return Ok(Selected::legacy(LEGACY[0]));
    }
    match named {
        Named::Nothing => Ok(Selected::legacy(BATCHING)),
        Named::One(named) => legacy_version(named).map(Selected::legacy).ok_or_else(|| unsupported(named)),
        Named::Several => Err(unsupported(&versions(headers).collect::<Vec<_>>().join(", "))),
    }
}

/// The same for a message of a connection, which has no header fields: `negotiated` is what
/// `initialize` gave.
pub(super) fn select_on_connection(call: &Call, negotiated: Option<&'static str>) -> Result<Selected, RpcError> {
    if claims_version(call) {
        return by_message(call, None);
    }
    let version = if call.method == "initialize" { LEGACY[0] } else { negotiated.unwrap_or(BATCHING) };
    Ok(Selected::legacy(version))
}

/// Whether the message itself names a revision, as only modern ones do.
fn claims_version(call: &Call) -> bool {
    call.params.meta().and_then(|meta| meta.get(META_VERSION)).is_some()
}

/// A message that names no revision, sent as one of the modern era. What the legacy era has as well
/// is served as its newest revision: there are clients that agree on one with `initialize`, and
/// then name the newest that they know themselves.
fn in_modern_field(call: &Call, headers: &Headers) -> Result<Selected, RpcError> {
    let is_modern = match (&call.params, call.params.meta()) {
        (Params::Wrong, _) => true,
        (_, Some(Json::Object(meta))) => [META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL].iter().any(|name| meta.contains_key(*name)),
        (_, Some(_)) => true,
        (_, None) => false,
    };
    if is_modern || call.method == "server/discover" {
        check_meta(call)?;
    }
    mirrored(call, headers, Mirrors::Sent)?;
    Ok(Selected { mirrors: Mirrors::Sent, deviation: Some(Deviation::OtherEra), ..Selected::legacy(LEGACY[0]) })
}

/// Whether a request with these header fields may be a batch.
pub(super) fn may_batch(headers: &Headers) -> bool {
    matches!(Named::of(headers), Named::Nothing | Named::One(BATCHING))
}

/// Whether a connection may send batches: its revision is the one that has them, or none is agreed
/// on.
pub(super) fn may_batch_on_connection(negotiated: Option<&'static str>) -> bool {
    negotiated.is_none_or(|version| version == BATCHING)
}

/// Step 8: the requests of a batch, its notifications and responses left out.
pub(super) fn batch(messages: Vec<Message>, may_batch: bool, limit: usize) -> Result<Vec<Call>, RpcError> {
    let refuse = |problem: &str| Err(RpcError::http(400, INVALID_REQUEST, format!("Invalid request: {problem}")));
    if !may_batch || messages.iter().any(Message::claims_modern) {
        return refuse("only revision 2025-03-26 has batches; send one message a request");
    }
    if messages.is_empty() {
        return refuse("the batch is empty");
    }
    if messages.len() > limit {
        return refuse(&format!("the batch has more than {limit} messages; send fewer in one batch"));
    }
    if messages.iter().any(|message| message.method() == Some("initialize")) {
        return refuse("`initialize` cannot be part of a batch");
    }
    let mut calls = Vec::with_capacity(messages.len());
    for message in messages.into_iter().filter(|message| !message.is_answer()) {
        match message.into_call() {
            Ok(call) => calls.extend(call),
            Err(refused) => return Err(refused.failure),
        }
    }
    Ok(calls)
}

/// What `_meta` of a modern message says of its version.
fn check_meta(call: &Call) -> Result<&str, RpcError> {
    let incomplete = |problem: String| RpcError::http(400, INVALID_PARAMS, problem);
    let meta = match call.params.meta() {
        Some(Json::Object(meta)) => meta,
        Some(_) => return Err(incomplete("Invalid params: `_meta` must be an object".into())),
        None => return Err(incomplete(format!("Invalid params: `_meta` is missing, and `{META_VERSION}` in it"))),
    };
    let Some(Json::String(version)) = meta.get(META_VERSION) else {
        return Err(incomplete(format!("Invalid params: `{META_VERSION}` in `_meta` must be a string")));
    };
    if legacy_version(version).is_none() && !matches!(meta.get(META_CAPABILITIES), Some(Json::Object(_))) {
        return Err(incomplete(format!("Invalid params: `{META_CAPABILITIES}` in `_meta` must be an object")));
    }
    Ok(version)
}

/// A message that names its revision: steps 11a to 11e; without header fields 11a and 11c.
fn by_message(call: &Call, headers: Option<&Headers>) -> Result<Selected, RpcError> {
    let version = check_meta(call)?;
    // Only the modern era has it, so a message of another revision is none that can be answered.
    let served = if call.method == "server/discover" { None } else { legacy_version(version) };
    let selected = match served {
        Some(served) => Ok(Selected::legacy(served)),
        None if version == MODERN => Ok(Selected::modern(Mirrors::Unread)),
        None => Err(unsupported(version)),
    };
    let Some(headers) = headers else { return selected };
    let is_served = |named: &str| LISTED.contains(&named);
    if versions(headers).any(|named| named != version && !(is_served(named) && is_served(version))) {
        return Err(RpcError::http(400, HEADER_MISMATCH, "Header mismatch: `MCP-Protocol-Version` differs from `_meta`"));
    }
    let selected = selected?;
    // The field says of which revision the transport is; where it names several, the strictest
    // counts.
    let names_modern = versions(headers).any(|named| named == MODERN);
    let is_missing = versions(headers).next().is_none();
    if is_missing && selected.era == Era::Modern && !quirks::omits(&call.params, headers, VERSION_FIELD) {
        return Err(RpcError::http(400, HEADER_MISMATCH, "Header mismatch: `MCP-Protocol-Version` is missing"));
    }
    let required = if selected.era == Era::Modern && names_modern { Mirrors::All } else { Mirrors::Sent };
    let mirrors = mirrored(call, headers, required)?;
    let deviation = if versions(headers).any(|named| named != version) {
        Some(Deviation::OtherVersion)
    } else {
        ((is_missing && selected.era == Era::Modern) || mirrors != required).then_some(Deviation::Omission)
    };
    Ok(Selected { mirrors, deviation, ..selected })
}

/// Step 11e. Gives back what is required of the further fields: less where a known client has left
/// one of these out.
fn mirrored(call: &Call, headers: &Headers, required: Mirrors) -> Result<Mirrors, RpcError> {
    let member = match call.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => "",
    };
    let name = call.params.object().and_then(|params| params.get(member)).and_then(Json::as_str);
    let mut found = required;
    let fields = [("Mcp-Method", Some(call.method.as_str()), false), ("Mcp-Name", name, true)];
    for (field, value, is_encoded) in fields.into_iter().take(if member.is_empty() { 1 } else { 2 }) {
        let is_there = mirror(headers, field, value, is_encoded)?;
        if !is_there && value.is_some() && required == Mirrors::All {
            if !quirks::omits(&call.params, headers, &field.to_ascii_lowercase()) {
                return Err(mcp_headers::missing(field));
            }
            found = Mirrors::Sent;
        }
    }
    Ok(found)
}

/// The versions to try instead. One that is served, only not in this way, is not offered again.
fn unsupported(requested: &str) -> RpcError {
    let supported: Vec<&str> = LISTED.into_iter().filter(|version| *version != requested).collect();
    RpcError::http(400, UNSUPPORTED_VERSION, "Unsupported protocol version")
        .with_data(json!({ "supported": supported, "requested": requested }))
}
