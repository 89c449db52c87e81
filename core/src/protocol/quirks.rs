//! What clients do other than the specification says, and what is made of it.
//!
//! What every client is forgiven is in `era.rs`. What only a known client is forgiven is
//! [`QUIRKS`]: the official conformance suite demands that these requests are refused. A client
//! says who it is in its messages, so anybody can say so: nothing may be forgiven that would let a
//! caller do what it could not do as a client of an earlier revision, which has none of these
//! header fields.

use alloc::{string::String, vec::Vec};
use core::cell::RefCell;

use super::{
    json_rpc::{Call, Params},
    mcp_headers,
    meta::{META_CLIENT, META_VERSION},
};
use crate::{Json, headers::Headers};

/// The most clients whose deviations are logged, for each isolate. A name is a caller's own, so the
/// list may not grow without end.
const MOST_LOGGED: usize = 32;
/// The most characters of a client's name that are kept.
const MOST_NAME: usize = 64;

/// Header fields that a client leaves out though revision 2026-07-28 requires them.
#[derive(Debug)]
pub struct Quirk {
    /// The name in `clientInfo`, or the product in `User-Agent`.
    pub client: &'static str,
    /// Header fields, in lower case. One that ends with `-` stands for all that begin with it.
    pub omits: &'static [&'static str],
    /// Where it is reported: repository and number.
    pub source: &'static str,
    /// The day of the report.
    pub since: &'static str,
}

/// The clients that are known for a quirk. Each has a case in `tests/cases/handshakes`, which a
/// test looks for.
pub const QUIRKS: &[Quirk] = &[
    Quirk { client: "claude-code", omits: FIELDS, source: "zoedsoupe/anubis-mcp#295", since: "2026-09-04" },
    Quirk { client: "claude-ai", omits: FIELDS, source: "anthropics/claude-code#93290", since: "2026-09-10" },
    Quirk { client: "Anthropic/ClaudeAI", omits: FIELDS, source: "anthropics/claude-code#93290", since: "2026-09-10" },
    Quirk { client: "Claude-User", omits: FIELDS, source: "anthropics/claude-ai-mcp#70", since: "2026-02-27" },
    // A session that has not listed a tool does not know which of its arguments are header fields,
    // too.
    Quirk { client: "mcp", omits: &["mcp-param-"], source: "modelcontextprotocol/python-sdk#3483", since: "2026-09-09" },
];

/// The fields of a client whose transport is one of 2025-11-25.
const FIELDS: &[&str] = &["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-"];

/// Whether the client of a request is known for leaving out a header field.
pub(super) fn omits(params: &Params, headers: &Headers, field: &str) -> bool {
    let is_of = |name: &str, quirk: &Quirk| {
        quirk.client == name
            && quirk.omits.iter().any(|known| if known.ends_with('-') { field.starts_with(known) } else { field == *known })
    };
    let names = [name(params), product(headers)];
    names.into_iter().flatten().any(|name| QUIRKS.iter().any(|quirk| is_of(name, quirk)))
}

/// Clients that sign in by what a result says, and take any other status for a failure of the
/// server: the product in `User-Agent`, and where that is said.
const READ_RESULTS_ONLY: &[(&str, &str)] = &[("openai-mcp", "developers.openai.com/apps-sdk/build/auth")];

/// Whether the client of a request is known for reading nothing but results.
pub(super) fn reads_results_only(headers: &Headers) -> bool {
    product(headers).is_some_and(|product| READ_RESULTS_ONLY.iter().any(|(known, _)| *known == product))
}

/// The name of the client, as its message has it.
fn name(params: &Params) -> Option<&str> {
    let in_meta = params.meta().and_then(|meta| meta.get(META_CLIENT));
    let info = in_meta.or_else(|| params.object()?.get("clientInfo"));
    info?.get("name")?.as_str()
}

/// The first product of `User-Agent`, without its version.
fn product(headers: &Headers) -> Option<&str> {
    headers.first("user-agent")?.split(['/', ' ']).next()
}

/// What a request did other than the specification says, and was served all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deviation {
    /// `MCP-Protocol-Version` names another revision than the message.
    OtherVersion,
    /// `MCP-Protocol-Version` names a revision of which the message is none.
    OtherEra,
    /// A header field is missing.
    Omission,
}

/// The clients whose deviations were logged.
#[derive(Default)]
pub(super) struct LoggedClients(RefCell<Vec<String>>);

impl LoggedClients {
    /// Logs a deviation, once for each client.
    pub(super) fn log(&self, deviation: Deviation, call: &Call, headers: &Headers) {
        let client = name(&call.params).or_else(|| product(headers)).unwrap_or_default();
        let client = client.char_indices().nth(MOST_NAME).map_or(client, |(end, _)| &client[..end]);
        let mut logged = self.0.borrow_mut();
        if logged.len() >= MOST_LOGGED || logged.iter().any(|known| known == client) {
            return;
        }
        logged.push(client.into());
        drop(logged);
        let in_message = call.params.meta().and_then(|meta| meta.get(META_VERSION)).and_then(Json::as_str);
        let in_header =
            mcp_headers::versions(headers).find(|version| Some(*version) != in_message).or_else(|| mcp_headers::versions(headers).next());
        let what = match deviation {
            Deviation::OtherVersion => {
                "a client names one revision of MCP in `MCP-Protocol-Version` and another in its messages; the messages decide"
            }
            Deviation::OtherEra => {
                "a client names a revision of MCP in `MCP-Protocol-Version` that its messages do not have; it is served as one of 2025-11-25"
            }
            Deviation::Omission => {
                "a client leaves out header fields that its revision of MCP requires; it is known for that, and is served"
            }
        };
        tracing::info!(target: "millrace::protocol", client, in_header, in_message, "{what}");
    }
}
