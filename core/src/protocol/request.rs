//! A request of HTTP, apart from its transport.

use alloc::{string::String, vec::Vec};

use crate::{cancel::Cancel, headers::Headers, platform_caller::PlatformCaller};

/// One HTTP request, as a host received it.
#[derive(Clone)]
pub struct Request {
    /// `POST`, `GET`, …
    pub method: String,
    /// The path, without the query: `/mcp`.
    pub path: String,
    /// The query, without the question mark and as received; empty where there is none.
    pub query: String,
    /// The address of whoever is connected to the host: of the client, or of a proxy before it.
    /// `None` where the host does not know it.
    pub peer: Option<String>,
    /// Header fields as received.
    pub headers: Headers,
    /// The body.
    pub body: Body,
    /// When the host will end the request, in milliseconds since the Unix epoch; `None` where it
    /// sets no limit.
    pub deadline_ms: Option<u64>,
    /// Tripped when the client goes away.
    pub cancel: Cancel,
    /// Whom the platform has let in, as it says; `None` where nothing before this host looks at
    /// callers.
    pub platform_caller: Option<PlatformCaller>,
    /// Whether the `Host` field must name the loopback or one of `server.hosts` (DNS rebinding).
    pub checks_host: bool,
    /// Whether the host itself did TLS for this request. A page of this server then has an origin
    /// with `https`, on the loopback, too.
    pub is_tls: bool,
    /// Whether the other end of the connection is on this machine: a program, or a proxy.
    pub is_local: bool,
}

/// The body of a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// Longer than [`Endpoint::body_limit`](crate::Endpoint::body_limit); the host stopped reading.
    TooLarge,
}
