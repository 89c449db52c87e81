//! The rules of HTTP: who may ask, how, and in what form. Steps 0 to 6 of the ladder.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    encode::{self, MessageReply},
    request::{Body, Request},
    response::Response,
    rpc_error::{INVALID_REQUEST, RpcError},
    sse::is_refusal,
};
use crate::{
    headers::{Headers, Repeated},
    url::{self, UrlParts},
};

/// The most header fields of a request.
const MAX_FIELDS: usize = 128;
/// The most bytes of header fields of a request, names and values.
const MAX_FIELD_BYTES: usize = 64 * 1024;
/// The header fields that a browser's script may send.
const SHARED_FIELDS: [&str; 8] =
    ["content-type", "accept", "authorization", "x-api-key", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"];

/// A web origin: scheme, host and port.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    authority: Authority,
}

/// A host and its port.
#[derive(Debug, PartialEq, Eq)]
struct Authority {
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// Reads `scheme://host[:port]`; `None` for anything else, `null` among it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let url = UrlParts::of(text).filter(|url| url.has_scheme() && url.rest.is_empty())?;
        let scheme = url.scheme.to_ascii_lowercase();
        let mut authority = Authority::parse(url.authority)?;
        let default_port = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        authority.port = authority.port.or(default_port);
        Some(Self { scheme, authority })
    }
}

impl Authority {
    /// Reads `host`, `host:port` or `[v6]:port`, without user, path or blanks.
    fn parse(text: &str) -> Option<Self> {
        let server = url::Authority::parse(text).ok().filter(|server| server.user.is_none() && server.is_plain())?;
        Some(Self { host: server.written_host.to_ascii_lowercase(), port: server.port })
    }

    /// Whether it is a known name. One without a port stands for all ports.
    fn is(&self, known: &Self) -> bool {
        self.host == known.host && (known.port.is_none() || self.port == known.port)
    }

    fn is_loopback(&self) -> bool {
        matches!(self.host.as_str(), "localhost" | "127.0.0.1" | "[::1]")
    }
}

/// Lets a request in, or not: the size of its header, `Host` and `Origin`. Gives back the allowed
/// origin, as it was sent.
pub(super) fn admit<'r>(request: &'r Request, origins: &[Origin], hosts: &[String]) -> Result<Option<&'r str>, RpcError> {
    let headers = &request.headers;
    let host = admit_host(request, hosts)?;
    let sent = headers.only("origin").map_err(|Repeated| refusal(403, "Forbidden: `Origin` appears more than once"))?;
    let Some(sent) = sent else { return Ok(None) };
    let Some(origin) = Origin::parse(sent) else {
        return Err(refusal(403, "Forbidden: `Origin` is not a web origin"));
    };
    if origins.contains(&origin) || host.is_some_and(|host| is_same_origin(&origin, &host, request.is_tls)) {
        return Ok(Some(sent));
    }
    Err(refusal(403, "Forbidden: this `Origin` may not call; `server.cors.origins` lists those that may"))
}

/// The same, whatever its `Origin`, for what everybody may read.
pub(super) fn admit_any_origin(request: &Request, hosts: &[String]) -> Result<(), RpcError> {
    admit_host(request, hosts).map(drop)
}

fn admit_host(request: &Request, hosts: &[String]) -> Result<Option<Authority>, RpcError> {
    let headers = &request.headers;
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if headers.len() > MAX_FIELDS || bytes > MAX_FIELD_BYTES {
        return Err(refusal(431, "Too many or too long header fields"));
    }
    request.checks_host.then(|| known_host(headers, hosts)).transpose()
}

/// `Host` as a public name of the server: one of `hosts`, or the loopback where a machine serves
/// itself. As a URL's host and port, in lower case, with whether it is the loopback.
pub(super) fn public_host(request: &Request, hosts: &[String]) -> Option<(String, bool)> {
    let host = request.headers.only("host").ok().flatten().and_then(Authority::parse)?;
    let is_listed = hosts.iter().filter_map(|known| Authority::parse(known)).any(|known| host.is(&known));
    let is_own = request.checks_host && host.is_loopback();
    let port = host.port.map_or_else(String::new, |port| format!(":{port}"));
    (is_listed || is_own).then(|| (format!("{}{port}", host.host), host.is_loopback()))
}

/// Whether a program of this machine asks for itself, and not for another that a proxy serves.
pub(super) fn is_of_this_machine(request: &Request) -> bool {
    let headers = &request.headers;
    let is_passed_on = ["forwarded", "x-forwarded-for", "via"].iter().any(|field| headers.first(field).is_some());
    let host = headers.only("host").ok().flatten().and_then(Authority::parse);
    request.is_local && !is_passed_on && host.is_some_and(|host| host.is_loopback())
}

/// The authority in `Host`, which must be the loopback or one of the public names of the server.
fn known_host(headers: &Headers, hosts: &[String]) -> Result<Authority, RpcError> {
    let is_known =
        |host: &Authority| host.is_loopback() || hosts.iter().filter_map(|known| Authority::parse(known)).any(|known| host.is(&known));
    let host = headers.only("host").ok().flatten().and_then(Authority::parse);
    host.filter(is_known).ok_or_else(|| {
        refusal(403, "Forbidden: `Host` must be localhost, 127.0.0.1, [::1] or a name that `server.hosts` or `--allow-host` lists")
    })
}

/// Whether a page of this very server asks.
fn is_same_origin(origin: &Origin, host: &Authority, is_tls: bool) -> bool {
    let default = match origin.scheme.as_str() {
        "http" if !is_tls => 80,
        // Before a server with a public name stands a proxy, which speaks TLS.
        "https" if is_tls || !host.is_loopback() => 443,
        _ => return false,
    };
    origin.authority.host == host.host && origin.authority.port.unwrap_or(default) == host.port.unwrap_or(default)
}

/// Steps 2 to 6: the body of a `POST` that has and wants JSON.
pub(super) fn body_of_post(request: &Request, limit: usize) -> Result<&[u8], RpcError> {
    if request.method != "POST" {
        return Err(refusal(405, "Method not allowed: the MCP endpoint takes `POST`").with_field("allow", "POST, OPTIONS".into()));
    }
    if !is_json(&request.headers) {
        return Err(refusal(415, "Unsupported media type: `Content-Type` must be application/json"));
    }
    if !accepts_json(&request.headers) {
        return Err(refusal(406, "Not acceptable: `Accept` must allow application/json"));
    }
    within_limit(&request.body, limit)
}

/// Step 6.
pub(super) fn within_limit(body: &Body, limit: usize) -> Result<&[u8], RpcError> {
    match body {
        Body::Whole(body) if body.len() <= limit => Ok(body),
        Body::Whole(_) | Body::TooLarge => Err(refusal(413, format!("Content too large: the body may have {limit} bytes"))),
    }
}

/// Whether the body is said to be JSON, in UTF-8 and not compressed.
fn is_json(headers: &Headers) -> bool {
    let says_json = |kind: &str| {
        let mut parts = kind.split(';').map(str::trim);
        let is_json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
        let is_utf8 = parts.all(|part| match part.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("charset") => value.trim_matches('"').eq_ignore_ascii_case("utf-8"),
            _ => true,
        });
        is_json && is_utf8
    };
    // A proxy on the way may have written the field once more, or joined two to one.
    let mut kinds = headers.all("content-type").flat_map(|value| value.split(','));
    kinds.next().is_some_and(says_json)
        && kinds.all(says_json)
        && headers.all("content-encoding").all(|coding| coding.trim().eq_ignore_ascii_case("identity"))
}

/// Whether the most specific range of `Accept` that covers JSON has a weight. No field, or an empty
/// one, accepts all.
fn accepts_json(headers: &Headers) -> bool {
    let mut best: Option<(usize, bool)> = None;
    let mut ranges = 0;
    for range in headers.all("accept").flat_map(|value| value.split(',')).map(str::trim).filter(|range| !range.is_empty()) {
        ranges += 1;
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let ranks = ["*/*", "application/*", "application/json"];
        let Some(rank) = ranks.iter().position(|known| known.eq_ignore_ascii_case(kind)) else { continue };
        let refused = parts.any(is_refusal);
        if best.is_none_or(|(known, _)| rank >= known) {
            best = Some((rank, !refused));
        }
    }
    ranges == 0 || best.is_some_and(|(_, accepted)| accepted)
}

/// Answers `OPTIONS`. Which origin may do it is added by [`share`].
pub(super) fn preflight(request: &Request, methods: &str) -> Response {
    let mut headers = Headers::new();
    headers.append("allow", methods);
    if request.headers.first("origin").is_some() {
        let asked = request.headers.all("access-control-request-headers").flat_map(|value| value.split(',')).map(str::trim);
        let shared: Vec<String> = asked.map(str::to_ascii_lowercase).filter(|name| is_shared(name)).collect();
        headers.append("access-control-allow-methods", methods);
        if !shared.is_empty() {
            headers.append("access-control-allow-headers", shared.join(", "));
        }
        headers.append("access-control-max-age", "600");
    }
    Response { status: 204, headers, body: Vec::new().into() }
}

fn is_shared(name: &str) -> bool {
    let is_param = name.starts_with("mcp-param-") && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    SHARED_FIELDS.contains(&name) || name == "last-event-id" || is_param
}

/// Lets the scripts of an allowed origin read a response.
pub(super) fn share(response: &mut Response, origin: &str) {
    response.headers.append("access-control-allow-origin", origin);
    response.headers.append("access-control-expose-headers", "WWW-Authenticate");
    response.headers.append("vary", "Origin");
}

/// Lets the scripts of every origin read a response.
pub(super) fn share_with_all(response: &mut Response) {
    response.headers.append("access-control-allow-origin", "*");
}

/// A response with a JSON body.
pub(super) fn json(status: u16, body: Vec<u8>) -> Response {
    let mut headers = Headers::new();
    headers.append("content-type", "application/json");
    Response { status, headers, body: body.into() }
}

/// The response of a JSON-RPC reply.
pub(super) fn reply(answer: MessageReply) -> Response {
    let mut response = json(answer.status, answer.body);
    if let Some(field) = answer.field {
        response.headers.append(field.0, field.1);
    }
    response
}

/// The response of an error that belongs to no message.
pub(super) fn refuse(failure: &RpcError) -> Response {
    reply(MessageReply::failure(None, failure))
}

/// The response to notifications.
pub(super) fn accepted() -> Response {
    Response { status: 202, headers: Headers::new(), body: Vec::new().into() }
}

pub(super) fn not_found(endpoint: &str) -> Response {
    refuse(&refusal(404, format!("Not found: the MCP endpoint of this server is `{endpoint}`")))
}

fn refusal(status: u16, message: impl ToString) -> RpcError {
    RpcError::http(status, INVALID_REQUEST, message.to_string())
}

/// Refuses everything but `GET` and `HEAD`.
pub(super) fn read_only(request: &Request) -> Option<Response> {
    read_only_with(request, "GET, HEAD")
}

/// The same; `methods` are all that the path takes.
pub(super) fn read_only_with(request: &Request, methods: &str) -> Option<Response> {
    if matches!(request.method.as_str(), "GET" | "HEAD") {
        return None;
    }
    let failure = refusal(405, "Method not allowed: this path takes `GET`").with_field("allow", methods.into());
    Some(reply(encode::MessageReply::failure(None, &failure)))
}
