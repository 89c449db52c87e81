//! Who sends a request, where no tool is called yet.

use crate::{cancel::Cancel, headers::Headers, platform_caller::PlatformCaller};

/// Where a request came to, and where it came from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Route<'a> {
    /// The path; empty for a client on standard input and output.
    pub path: &'a str,
    /// The address of whoever is connected to the host.
    pub peer: Option<&'a str>,
}

/// Who sends a request, and how long it may take.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The method of MCP.
    pub method: &'a str,
    /// The id of the request in logs.
    pub request_id: &'a str,
    /// Where it came to.
    pub route: Route<'a>,
    /// Header fields of the HTTP request.
    pub headers: &'a Headers,
    /// Whom the platform has let in.
    pub platform_caller: Option<&'a PlatformCaller>,
    /// The revision of MCP.
    pub protocol: &'a str,
    /// When the host will end the request, in milliseconds since the Unix epoch.
    pub deadline_ms: Option<u64>,
    /// Tripped when the caller goes away.
    pub cancel: &'a Cancel,
}
