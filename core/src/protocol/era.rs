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
}

impl Selected {
    /// The messages of a batch.
    pub(super) const BATCH: Self = Self { era: Era::Legacy, version: BATCHING };
}

/// Selects the era of a request, and refuses what is wrong with it before its method is looked at.
pub(super) fn select(call: &Call, headers: &Headers) -> Result<Selected, RpcError> {
    let claims = call.params.meta().and_then(|meta| meta.get(META_VERSION)).is_some();
    if claims || names_modern(headers) {
        return modern(call, headers);
    }
    if call.method == "initialize" {
        return Ok(Selected { era: Era::Legacy, version: LEGACY[0] });
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
    Ok(Selected { era: Era::Legacy, version })
}

/// Step 8: the requests of a batch, its notifications and responses left out.
pub(super) fn batch(messages: Vec<Message>, headers: &Headers, limit: usize) -> Result<Vec<Call>, RpcError> {
    let refuse = |problem: &str| Err(RpcError::http(400, INVALID_REQUEST, format!("Invalid request: {problem}")));
    if !matches!(headers.only(VERSION_FIELD), Ok(None | Some(BATCHING))) || messages.iter().any(Message::claims_modern) {
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

/// Steps 11a to 11e.
fn modern(call: &Call, headers: &Headers) -> Result<Selected, RpcError> {
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
        _ => return Ok(Selected { era: Era::Modern, version: MODERN }),
    };
    let name = call.params.object().and_then(|params| params.get(member)).and_then(Json::as_str);
    mirror(headers, "Mcp-Name", name, true)?;
    Ok(Selected { era: Era::Modern, version: MODERN })
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
