//! The MCP endpoint: bytes ↔ typed requests and results.
//!
//! [`Request`] and [`Response`] are all that crosses the border between a host and the core.

use alloc::{string::String, vec::Vec};

use crate::{cancel::Cancel, headers::Headers};

/// One HTTP request, as a host received it.
#[derive(Clone)]
pub struct Request {
    /// `POST`, `GET`, …
    pub method: String,
    /// The path, without the query: `/mcp`.
    pub path: String,
    /// Header fields as received.
    pub headers: Headers,
    /// The body.
    pub body: Body,
    /// When the host will end the request, in milliseconds since the Unix epoch; `None` where it sets no limit.
    pub deadline_ms: Option<u64>,
    /// Tripped when the client goes away.
    pub cancel: Cancel,
    /// The host is reached by its own machine only: then the `Host` field has to name the loopback (DNS rebinding).
    pub loopback_only: bool,
}

/// The body of a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// Longer than [`Endpoint::body_limit`](crate::Endpoint::body_limit); the host stopped reading.
    TooLarge,
}

/// One HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header fields to send; `content-length` is the host's.
    pub headers: Headers,
    /// The whole body.
    pub body: Vec<u8>,
}
