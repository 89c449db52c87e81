//! Which era a request belongs to, and whether its version is one that is served: steps 8 and 11 of the ladder.

use alloc::{format, string::String, vec::Vec};

use serde_json::json;

use super::{
    json_rpc::{Call, Message},
    mcp_headers::mirror,
    meta::{META_CAPABILITIES, META_VERSION},
    rpc_error::{HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, RpcError, UNSUPPORTED_VERSION},
};
use crate::{
    Json,
    headers::{Headers, Repeated},
};

/// The revision of the modern era.
pub(super) const MODERN: &str = "2026-07-28";
/// The revisions of the legacy era, newest first. The last one had another transport; clients still send its name over this one.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", BATCHING, "2024-11-05"];
/// The revision with batches, and the one to assume for a legacy request that names none.
const BATCHING: &str = "2025-03-26";
/// What `server/discover` lists: every revision of this transport, newest first.
pub(super) const LISTED: [&str; 4] = [MODERN, LEGACY[0], LEGACY[1], LEGACY[2]];
const VERSION_FIELD: &str = "mcp-protocol-version";

/// The two ways to speak MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Each request says what it needs, in `params._meta`.
    Modern,
    /// `initialize` first.
    Legacy,
}

/// An era and the revision within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selected {
    pub(super) era: Era,
    pub(super) version: &'static str,
    /// Whether header fields came with the request that have to equal its body: over HTTP, in the modern era.
    pub(super) has_fields: bool,
}

impl Selected {
    /// The messages of a batch.
    pub(super) const BATCH: Self = Self { era: Era::Legacy, version: BATCHING, has_fields: false };

    fn legacy(version: &'static str) -> Self {
        Self { era: Era::Legacy, version, has_fields: false }
    }

    fn modern(has_fields: bool) -> Self {
        Self { era: Era::Modern, version: MODERN, has_fields }
    }
}

/// Selects the era of a request, and refuses what is wrong with it before its method is looked at.
pub(super) fn select(call: &Call, headers: &Headers) -> Result<Selected, RpcError> {
    if claims_modern(call) || names_modern(headers) {
        return modern(call, Some(headers));
    }
    if call.method == "initialize" {
        return Ok(Selected::legacy(LEGACY[0]));
    }
    let version = match headers.only(VERSION_FIELD) {
        Ok(None) => BATCHING,
        Ok(Some(named)) => match LEGACY.into_iter().find(|version| *version == named) {
            Some(version) => version,
            None => return Err(unsupported(named)),
        },
        Err(Repeated) => {
            let named: Vec<&str> = headers.all(VERSION_FIELD).collect();
            return Err(unsupported(&named.join(", ")));
        }
    };
    Ok(Selected::legacy(version))
}

/// The same for a message of a connection, which has no header fields: `negotiated` is what `initialize` gave.
pub(super) fn select_on_connection(call: &Call, negotiated: Option<&'static str>) -> Result<Selected, RpcError> {
    if claims_modern(call) {
        return modern(call, None);
    }
    let version = if call.method == "initialize" { LEGACY[0] } else { negotiated.unwrap_or(BATCHING) };
    Ok(Selected::legacy(version))
}

fn claims_modern(call: &Call) -> bool {
    call.params.meta().and_then(|meta| meta.get(META_VERSION)).is_some()
}

/// Whether a request with these header fields may be a batch.
pub(super) fn may_batch(headers: &Headers) -> bool {
    matches!(headers.only(VERSION_FIELD), Ok(None | Some(BATCHING)))
}

/// Whether a connection may send batches: its revision is the one that has them, or none is agreed on.
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

/// Steps 11a to 11e; without header fields 11a and 11c.
fn modern(call: &Call, headers: Option<&Headers>) -> Result<Selected, RpcError> {
    let incomplete = |problem: String| RpcError::http(400, INVALID_PARAMS, problem);
    let meta = match call.params.meta() {
        Some(Json::Object(meta)) => meta,
        Some(_) => return Err(incomplete("Invalid params: `_meta` must be an object".into())),
        None => return Err(incomplete(format!("Invalid params: `_meta` is missing, and `{META_VERSION}` in it"))),
    };
    let Some(Json::String(version)) = meta.get(META_VERSION) else {
        return Err(incomplete(format!("Invalid params: `{META_VERSION}` in `_meta` must be a string")));
    };
    if !matches!(meta.get(META_CAPABILITIES), Some(Json::Object(_))) {
        return Err(incomplete(format!("Invalid params: `{META_CAPABILITIES}` in `_meta` must be an object")));
    }

    let Some(headers) = headers else {
        return if version == MODERN { Ok(Selected::modern(false)) } else { Err(unsupported(version)) };
    };
    let named = headers
        .only(VERSION_FIELD)
        .map_err(|Repeated| RpcError::http(400, HEADER_MISMATCH, "Header mismatch: `MCP-Protocol-Version` appears more than once"))?;
    if named.is_some_and(|named| named != version) {
        return Err(RpcError::http(400, HEADER_MISMATCH, "Header mismatch: `MCP-Protocol-Version` differs from `_meta`"));
    }
    if version != MODERN {
        return Err(unsupported(version));
    }
    if named.is_none() {
        return Err(RpcError::http(400, HEADER_MISMATCH, "Header mismatch: `MCP-Protocol-Version` is missing"));
    }

    mirror(headers, "Mcp-Method", Some(&call.method), false)?;
    let member = match call.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(Selected::modern(true)),
    };
    let name = call.params.object().and_then(|params| params.get(member)).and_then(Json::as_str);
    mirror(headers, "Mcp-Name", name, true)?;
    Ok(Selected::modern(true))
}

/// The versions to try instead. One that is served, only not in this way, is not offered again.
fn unsupported(requested: &str) -> RpcError {
    let supported: Vec<&str> = LISTED.into_iter().filter(|version| *version != requested).collect();
    RpcError::http(400, UNSUPPORTED_VERSION, "Unsupported protocol version")
        .with_data(json!({ "supported": supported, "requested": requested }))
}

/// Whether the header names the modern revision or a later one.
fn names_modern(headers: &Headers) -> bool {
    headers.all(VERSION_FIELD).any(|value| {
        let value = value.trim_matches([' ', '\t']);
        is_date(value) && value >= MODERN
    })
}

fn is_date(value: &str) -> bool {
    value.len() == 10
        && value.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
