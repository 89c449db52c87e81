//! Who sends a request, where no tool is called yet.

use crate::{cancel::Cancel, headers::Headers};

/// Who sends a request, and how long it may take.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The method of MCP.
    pub method: &'a str,
    /// The id of the request in logs.
    pub request_id: &'a str,
    /// Header fields of the HTTP request.
    pub headers: &'a Headers,
    /// The revision of MCP.
    pub protocol: &'a str,
    /// When the host will end the request, in milliseconds since the Unix epoch.
    pub deadline_ms: Option<u64>,
    /// Tripped when the caller goes away.
    pub cancel: &'a Cancel,
}
