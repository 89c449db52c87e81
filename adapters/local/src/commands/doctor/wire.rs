//! Requests to the server, with limits, and what is wrong with any answer whatever was asked.
//!
//! In go messages, out come [`Reply`]s. What every answer must be (JSON or a stream with the
//! response, in time, with the same id) is looked at here; what an answer says is for the checks.

use std::time::{Duration, Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Json,
    redaction::{Reader, Secrets, Words, strike},
};
use millrace_native::probe::{BodyEnd, Probe, ProbeFailure, ProbeRequest, ProbeResponse, Url};
use serde_json::{Map, json};

use super::{
    finding::{Finding, Findings, Side},
    stream::EventReader,
};

/// The modern revision of MCP that is spoken.
pub(super) const MODERN: &str = "2026-07-28";
/// The one that handshakes ask for.
pub(super) const LEGACY: &str = "2025-11-25";
/// The first that sends its version in a field.
const FIRST_WITH_VERSION: &str = "2025-06-18";

/// The most requests, whatever the server answers.
const MOST_REQUESTS: usize = 40;
/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: usize = 4 << 20;
/// The shortest time for all requests together.
const SHORTEST_TOTAL: Duration = Duration::from_secs(60);
/// An answer that takes longer is slow.
const SLOW: Duration = Duration::from_secs(3);
/// How much of a text from a server is shown, in characters.
const SHOWN: usize = 200;

/// The id of what is found where the limits were not enough.
const UNFINISHED: &str = "unfinished";

/// What a message is sent as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Era {
    Modern,
    /// With the revision that the handshake came to; `None` before it.
    Legacy(Option<String>),
}

impl Era {
    pub(super) fn revision(&self) -> &str {
        match self {
            Self::Modern => MODERN,
            Self::Legacy(revision) => revision.as_deref().unwrap_or(LEGACY),
        }
    }
}

/// Which credentials a message is sent with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Auth {
    /// None.
    Nobody,
    /// What the user gave, if anything.
    Given,
    /// A token that nobody issued.
    Invalid,
}

/// The token that nobody issued.
const NOT_A_TOKEN: &str = "millrace-doctor-not-a-token";

/// One message to the server.
pub(super) struct Message<'a> {
    pub(super) era: &'a Era,
    pub(super) method: &'a str,
    pub(super) params: Json,
    pub(super) auth: Auth,
    /// More fields, which replace those of the same name.
    pub(super) fields: &'a [(&'a str, &'a str)],
}

impl<'a> Message<'a> {
    pub(super) fn new(era: &'a Era, method: &'a str, params: Json, auth: Auth) -> Self {
        Self { era, method, params, auth, fields: &[] }
    }
}

/// What became of a message.
#[derive(Default)]
pub(super) struct Reply {
    pub(super) status: Option<u16>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) result: Option<Json>,
    pub(super) error: Option<Json>,
    /// What was sent and what came, in short.
    pub(super) sent: String,
    pub(super) got: String,
    pub(super) failure: Option<ProbeFailure>,
    /// The length of the body, in bytes.
    pub(super) bytes: usize,
    pub(super) took: Duration,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn code(&self) -> Option<i64> {
        self.error.as_ref()?.get("code")?.as_i64()
    }

    /// Whether it is an answer of an MCP server to a message.
    pub(super) fn is_message(&self) -> bool {
        self.result.is_some() || self.error.is_some()
    }

    pub(super) fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    pub(super) fn is_redirect(&self) -> bool {
        matches!(self.status, Some(301 | 302 | 303 | 307 | 308))
    }

    /// Adds what was sent and got.
    pub(super) fn tell(&self, finding: Finding) -> Finding {
        finding.sent(self.sent.clone()).got(self.got.clone())
    }
}

/// One exchange, for the report.
pub(super) struct Exchange {
    pub(super) sent: String,
    pub(super) status: Option<u16>,
    pub(super) took: Duration,
    pub(super) bytes: usize,
}

impl Exchange {
    /// The status in words.
    pub(super) fn outcome(&self) -> String {
        self.status.map_or("no answer".to_owned(), |status| status.to_string())
    }
}

/// The server under examination.
pub(super) struct Wire {
    probe: Probe,
    /// Where messages go; a redirect changes it.
    pub(super) endpoint: Url,
    /// Sent to the origin of the first endpoint only.
    credentials: Vec<(String, String)>,
    origin: String,
    secrets: Secrets,
    limit: Duration,
    started: Instant,
    ends: Instant,
    next_id: u64,
    /// What the server calls the session of the legacy handshake.
    pub(super) session: Option<String>,
    pub(super) findings: Findings,
    pub(super) exchanges: Vec<Exchange>,
}

impl Wire {
    pub(super) fn new(probe: Probe, endpoint: Url, credentials: Vec<(String, String)>, limit: Duration) -> Self {
        let started = Instant::now();
        let secrets = Secrets::of(credentials.iter().map(|(_, value)| value.as_str()));
        let total = SHORTEST_TOTAL.max(limit * 4);
        Self {
            probe,
            origin: origin(&endpoint),
            endpoint,
            credentials,
            secrets,
            limit,
            started,
            ends: started + total,
            next_id: 1,
            session: None,
            findings: Findings::default(),
            exchanges: Vec::new(),
        }
    }

    /// Adds a finding. What follows from a request that was not sent is none.
    pub(super) fn add(&mut self, finding: Finding) {
        if !self.findings.has(UNFINISHED) {
            self.findings.add(finding);
        }
    }

    /// Whether the limits were not enough.
    pub(super) fn is_unfinished(&self) -> bool {
        self.findings.has(UNFINISHED)
    }

    pub(super) fn has_credentials(&self) -> bool {
        !self.credentials.is_empty()
    }

    /// Whether the user's credentials reach the endpoint: not after a redirect to another origin.
    pub(super) fn sends_credentials(&self) -> bool {
        self.has_credentials() && origin(&self.endpoint) == self.origin
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// A text of the server's: without the credentials, and short.
    pub(super) fn shown(&self, text: &str) -> String {
        shown(text, &self.secrets)
    }

    /// Sends a message, and looks at what any answer must be.
    pub(super) async fn send(&mut self, message: Message<'_>) -> Reply {
        let id = self.next_id;
        self.next_id += 1;
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": message.method, "params": params(&message) });
        let mut events = EventReader::default();
        let mut enough = |response: &ProbeResponse, piece: &[u8]| {
            if is_stream(response) {
                events.push(piece);
            }
            events.response.is_some()
        };
        let (sent, outcome) = self.post(&message, &body, &mut enough).await;
        let mut reply = match outcome {
            Ok(response) => self.read(&message, id, sent, &response, events),
            Err(failure) => Reply { got: told(&failure), sent, failure: Some(failure), ..Reply::default() },
        };
        reply.got = self.shown(&reply.got);
        if reply.failure == Some(ProbeFailure::Late) {
            self.late(&reply.sent);
        } else if let Some(status @ 500..) = reply.status {
            let what = format!("the server answers a request with HTTP {status}: clients take that for an outage and do not fall back");
            let finding = Finding::fault(Side::Server, "server-error", what, "Look for the reason in the server's log.");
            self.add(reply.tell(finding).at(reply.sent.clone()));
        } else if reply.status == Some(429) {
            let finding = Finding::warning(
                Side::Server,
                "rate-limited",
                "the server limits how often it is asked, and did so here: what follows may be missing",
                "Wait, or raise the limit: a client that starts sends up to ten requests.",
            );
            self.add(reply.tell(finding).at(reply.sent.clone()));
        }
        reply
    }

    /// Sends a notification of the legacy era, or of the modern one.
    pub(super) async fn notify(&mut self, message: Message<'_>) -> Reply {
        let body = json!({ "jsonrpc": "2.0", "method": message.method, "params": params(&message) });
        // What follows a notification is not read to its end.
        let mut enough = |_: &ProbeResponse, piece: &[u8]| !piece.is_empty();
        let (sent, outcome) = self.post(&message, &body, &mut enough).await;
        match outcome {
            Ok(response) => Reply {
                status: Some(response.status),
                got: self.shown(&summary(&response)),
                headers: response.headers,
                sent,
                bytes: response.body.len(),
                took: response.whole,
                ..Reply::default()
            },
            Err(failure) => {
                if failure == ProbeFailure::Late {
                    self.late(&sent);
                }
                Reply { got: told(&failure), sent, failure: Some(failure), ..Reply::default() }
            }
        }
    }

    async fn post(
        &mut self,
        message: &Message<'_>,
        body: &Json,
        enough: &mut dyn FnMut(&ProbeResponse, &[u8]) -> bool,
    ) -> (String, Result<ProbeResponse, ProbeFailure>) {
        let mut headers: Vec<(String, String)> = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ];
        let mut sent = format!("{} ({})", message.method, message.era.revision());
        match message.era {
            Era::Modern => {
                headers.push(("mcp-protocol-version".to_owned(), MODERN.to_owned()));
                headers.push(("mcp-method".to_owned(), message.method.to_owned()));
                let named = ["name", "uri"].iter().find_map(|key| message.params.get(key)?.as_str());
                if let Some(name) = named.filter(|_| ["tools/call", "prompts/get", "resources/read"].contains(&message.method)) {
                    headers.push(("mcp-name".to_owned(), field_value(name)));
                }
            }
            Era::Legacy(revision) => {
                if let Some(revision) = revision.as_deref().filter(|revision| *revision >= FIRST_WITH_VERSION) {
                    headers.push(("mcp-protocol-version".to_owned(), revision.to_owned()));
                }
                if let Some(session) = self.session.as_ref().filter(|_| revision.is_some()) {
                    headers.push(("mcp-session-id".to_owned(), session.clone()));
                }
            }
        }
        self.add_credentials(message.auth, &mut headers);
        if message.auth == Auth::Invalid {
            sent += ", an invalid token";
        } else if message.auth == Auth::Nobody && self.has_credentials() {
            sent += ", no token";
        }
        for (name, value) in message.fields {
            headers.retain(|(field, _)| field != name);
            headers.push(((*name).to_owned(), (*value).to_owned()));
            if *name == "origin" {
                sent += &format!(", Origin: {value}");
            }
        }
        let url = self.endpoint.clone();
        let outcome = self.exchange(&sent, "POST", &url, &headers, Some(body.to_string()), enough).await;
        (sent, outcome)
    }

    fn add_credentials(&self, auth: Auth, headers: &mut Vec<(String, String)>) {
        match auth {
            Auth::Given if self.sends_credentials() => headers.extend(self.credentials.iter().cloned()),
            Auth::Given | Auth::Nobody => {}
            Auth::Invalid => headers.push(("authorization".to_owned(), format!("Bearer {NOT_A_TOKEN}"))),
        }
    }

    /// Asks the endpoint with another method than POST; of an answer that is a stream, only the
    /// head is read.
    pub(super) async fn ask_endpoint(
        &mut self,
        method: &str,
        auth: Auth,
        fields: &[(&str, &str)],
    ) -> (String, Result<ProbeResponse, ProbeFailure>) {
        let mut headers: Vec<(String, String)> = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        if method != "OPTIONS" {
            self.add_credentials(auth, &mut headers);
            headers.extend(self.session.iter().map(|session| ("mcp-session-id".to_owned(), session.clone())));
        }
        let url = self.endpoint.clone();
        let sent = format!("{method} {}", url.path());
        let mut enough = |response: &ProbeResponse, _: &[u8]| is_stream(response);
        let outcome = self.exchange(&sent, method, &url, &headers, None, &mut enough).await;
        (sent, outcome)
    }

    /// Gets a document from anywhere, without credentials. Redirects are followed within HTTP and
    /// HTTPS, and not into the user's own network.
    pub(super) async fn document(&mut self, url: &Url) -> Document {
        let mut url = url.clone();
        let headers = [("accept".to_owned(), "application/json".to_owned())];
        for _ in 0..MOST_REDIRECTS {
            let sent = format!("GET {}", self.shown(url.as_str()));
            let response = match self.exchange(&sent, "GET", &url, &headers, None, &mut |_, _| false).await {
                Ok(response) => response,
                Err(failure) => return Document { json: None, status: None, got: told(&failure), sent, failure: Some(failure) },
            };
            if matches!(response.status, 301..=303 | 307 | 308)
                && let Some(next) = response.header("location").and_then(|location| url.join(location).ok()).filter(is_http)
            {
                if leads_inside(&self.endpoint, &next) {
                    let what = "a document redirects to an address in a private network or on this machine: it was not asked";
                    let got = self.shown(next.as_str());
                    let finding = Finding::fault(Side::Server, "redirect-private", what, "Redirect to an address that clients can reach.");
                    self.add(finding.sent(sent.clone()).got(got.clone()));
                    let got = format!("{} to {got}", response.status);
                    return Document { json: None, status: Some(response.status), got, sent, failure: None };
                }
                url = next;
                continue;
            }
            let json = if response.status == 200 { serde_json::from_slice(&response.body).ok().filter(Json::is_object) } else { None };
            return Document { json, status: Some(response.status), got: self.shown(&summary(&response)), sent, failure: None };
        }
        let got = format!("more than {MOST_REDIRECTS} redirects");
        Document { json: None, status: None, got, sent: format!("GET {}", self.shown(url.as_str())), failure: None }
    }

    async fn exchange(
        &mut self,
        sent: &str,
        method: &str,
        url: &Url,
        headers: &[(String, String)],
        body: Option<String>,
        enough: &mut dyn FnMut(&ProbeResponse, &[u8]) -> bool,
    ) -> Result<ProbeResponse, ProbeFailure> {
        let left = self.ends.saturating_duration_since(Instant::now());
        if self.exchanges.len() >= MOST_REQUESTS || left.is_zero() {
            let what = format!("not everything was looked at: {MOST_REQUESTS} requests or the time for all of them were not enough");
            self.add(Finding::warning(Side::Server, UNFINISHED, what, "Correct what is found so far, and look again."));
            return Err(ProbeFailure::NotHttp("not sent: the limit of this examination is reached".to_owned()));
        }
        let limit = self.limit.min(left);
        let started = Instant::now();
        let request = ProbeRequest { method, url, headers, body, limit, max_bytes: LONGEST_ANSWER };
        let outcome = self.probe.send(&request, enough).await;
        let took = started.elapsed();
        let (status, bytes) = outcome.as_ref().map_or((None, 0), |response| (Some(response.status), response.body.len()));
        self.exchanges.push(Exchange { sent: sent.to_owned(), status, took, bytes });
        if let Ok(response) = &outcome {
            self.judge_exchange(sent, url, response, took);
        }
        outcome
    }

    fn judge_exchange(&mut self, sent: &str, url: &Url, response: &ProbeResponse, took: Duration) {
        if took > SLOW && response.end != BodyEnd::Late {
            let what = format!("an answer took longer than {} s: people and clients wait for each of them", SLOW.as_secs());
            let finding = Finding::warning(Side::Server, "slow", what, "Look where the server spends its time, cold starts included.");
            self.add(finding.at(format!("{sent}: {} ms", took.as_millis())));
        }
        if let Some(left) = response.expires_in {
            let days = left.as_secs() / (24 * 60 * 60);
            let what = format!("the certificate of `{}` expires in {days} days", url.host_str().unwrap_or_default());
            let remedy = "Renew it, and find out why that did not happen by itself.";
            self.add(Finding::warning(Side::Network, "certificate-expires", what, remedy));
        }
        if let Some(encoding) = response.header("content-encoding").filter(|encoding| *encoding != "identity") {
            let what = "an answer is compressed though the request does not accept that";
            let finding =
                Finding::fault(Side::Server, "content-encoding", what, "Compress only what `Accept-Encoding` of the request allows.");
            let got = self.shown(&format!("Content-Encoding: {encoding}"));
            self.add(finding.sent(sent).got(got));
        }
    }

    fn late(&mut self, sent: &str) {
        let what = format!("a request was not answered within {} s", self.limit.as_secs());
        let remedy = "Look where the server waits; `--timeout` lets this command wait longer, clients have their own limits.";
        self.add(Finding::fault(Side::Server, "time-out", what, remedy).at(sent));
    }

    /// The message of an answer.
    fn read(&mut self, message: &Message<'_>, id: u64, sent: String, response: &ProbeResponse, events: EventReader) -> Reply {
        let mut reply = Reply {
            status: Some(response.status),
            headers: response.headers.clone(),
            sent,
            got: summary(response),
            bytes: response.body.len(),
            took: response.whole,
            ..Reply::default()
        };
        let is_success = (200..300).contains(&response.status);
        let kind = response.header("content-type").unwrap_or_default().to_ascii_lowercase();
        let mut found = None;
        let parsed: Option<Json> = if is_stream(response) {
            if events.requests > 0 && *message.era == Era::Modern {
                let what = "the server sends requests of its own within an answer, which 2026-07-28 does not have";
                let remedy = "Answer with `resultType: input_required` instead.";
                found = Some(Finding::fault(Side::Server, "server-request", what, remedy));
            }
            if events.response.is_none() && is_success {
                found = Some(self.no_response(response, &events));
            }
            events.response
        } else {
            serde_json::from_slice(&response.body).ok()
        };
        match parsed {
            Some(Json::Object(mut answer)) if answer.contains_key("result") || answer.contains_key("error") => {
                if is_success && answer.get("id").is_none_or(|echoed| *echoed != id) {
                    let what = "the id of a response is not that of its request: the client never finds its answer";
                    let remedy = "Send back `id` as it came, with its type.";
                    let got = format!("id {} instead of {id}", answer.get("id").map_or("none".to_owned(), Json::to_string));
                    found = Some(Finding::fault(Side::Server, "id-not-echoed", what, remedy).got(got));
                }
                if is_success && !is_stream(response) && !kind.starts_with("application/json") {
                    let what = "an answer is JSON, and its `Content-Type` is not: clients refuse it";
                    found = Some(Finding::fault(Side::Server, "content-type", what, "Send `Content-Type: application/json`."));
                }
                reply.result = answer.remove("result");
                reply.error = answer.remove("error");
            }
            _ if found.is_some() || !is_success || is_stream(response) => {}
            _ => found = Some(self.no_message(response, &kind)),
        }
        if let Some(finding) = found {
            let got = finding.got.clone().map(|got| self.shown(&got));
            let mut finding = reply.tell(finding).at(reply.sent.clone());
            finding.got = Some(got.unwrap_or_else(|| self.shown(&reply.got)));
            self.add(finding);
        }
        reply
    }

    /// Why a stream has no response.
    fn no_response(&self, response: &ProbeResponse, events: &EventReader) -> Finding {
        match response.end {
            BodyEnd::TooLong => too_long(),
            BodyEnd::Late => Finding::fault(
                Side::Server,
                "stream-without-response",
                format!("a stream had no response within {} s", self.limit.as_secs()),
                "Send the response, and end the stream.",
            ),
            _ if events.is_broken => Finding::fault(
                Side::Server,
                "body-not-json",
                "an event of a stream is not JSON",
                "Send one message of JSON-RPC as the data of each event.",
            ),
            _ => Finding::fault(
                Side::Server,
                "stream-cut-off",
                "a stream ended before the response: the client waits or fails",
                "Send the response as the last event. A proxy that buffers or cuts long answers does this, too: look at its time-outs.",
            ),
        }
    }

    /// Why the body of a successful answer is not a response.
    fn no_message(&self, response: &ProbeResponse, kind: &str) -> Finding {
        if response.end == BodyEnd::TooLong {
            return too_long();
        }
        if response.end == BodyEnd::Late {
            let what = format!("the body of an answer did not end within {} s", self.limit.as_secs());
            return Finding::fault(Side::Server, "time-out", what, "Look where the server waits.");
        }
        if response.end == BodyEnd::Broken {
            let what = "the connection ended within the body of an answer";
            return Finding::fault(
                Side::Network,
                "body-cut-off",
                what,
                "Look at the server's log, and at the time-outs of proxies before it.",
            );
        }
        if response.body.is_empty() {
            let what = format!("a request was answered with HTTP {} and nothing else", response.status);
            return Finding::fault(Side::Server, "no-response", what, "Answer every request that has an id with a response.");
        }
        let is_html = kind.starts_with("text/html") || response.body.trim_ascii_start().starts_with(b"<");
        let (what, remedy) = if is_html {
            (
                "the answer is a web page instead of JSON",
                "Check that the URL is that of the MCP endpoint, and that no sign-in page, error page or app of a proxy answers for it.",
            )
        } else {
            ("the answer is not a response of JSON-RPC", "Answer with one object that has `jsonrpc`, `id`, and `result` or `error`.")
        };
        Finding::fault(Side::Server, "body-not-json", what, remedy)
    }
}

fn too_long() -> Finding {
    let what = format!("an answer is longer than {LONGEST_ANSWER} bytes, or does not end");
    Finding::fault(Side::Server, "answer-endless", what, "Page lists, cut results, and end streams.")
}

/// The most redirects of a document.
const MOST_REDIRECTS: usize = 4;

/// A document that was fetched.
pub(super) struct Document {
    pub(super) json: Option<Json>,
    pub(super) status: Option<u16>,
    pub(super) sent: String,
    pub(super) got: String,
    pub(super) failure: Option<ProbeFailure>,
}

/// `_meta` of the modern era belongs to every message.
fn params(message: &Message<'_>) -> Json {
    let mut params = message.params.as_object().cloned().unwrap_or_default();
    if *message.era == Era::Modern {
        let about = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": client_info(),
        });
        let meta = params.entry("_meta").or_insert_with(|| Json::Object(Map::new()));
        if let (Json::Object(meta), Json::Object(about)) = (meta, about) {
            // What a check sends on purpose stays.
            for (key, value) in about {
                meta.entry(key).or_insert(value);
            }
        }
    }
    Json::Object(params)
}

pub(super) fn client_info() -> Json {
    json!({ "name": "millrace-doctor", "version": env!("CARGO_PKG_VERSION") })
}

/// A value of a field,
/// [encoded](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http)
/// where HTTP needs it.
pub(super) fn field_value(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.trim() == text && !text.starts_with("=?");
    if is_plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

fn is_stream(response: &ProbeResponse) -> bool {
    response.header("content-type").is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
}

pub(super) fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.host_str().is_some()
}

/// Whether an address is this machine, or a network of the user's own.
pub(super) fn is_private(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_matches(['[', ']']);
    match literal.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(address)) => {
            address.is_loopback() || address.is_private() || address.is_link_local() || address.is_unspecified()
        }
        Ok(std::net::IpAddr::V6(address)) => {
            let mapped = address.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback() || v4.is_private() || v4.is_link_local());
            mapped || address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local() || address.is_unspecified()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Whether a server sends to an address of the user's own network with which it has no business,
/// because everybody reaches the server.
pub(super) fn leads_inside(endpoint: &Url, named: &Url) -> bool {
    is_private(named) && !is_private(endpoint)
}

pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// An answer in short.
fn summary(response: &ProbeResponse) -> String {
    let kind = response.header("content-type").unwrap_or("no Content-Type");
    let body = String::from_utf8_lossy(&response.body[..response.body.len().min(4 * SHOWN)]).into_owned();
    let body: String = body.split_whitespace().collect::<Vec<_>>().join(" ");
    let challenge = response.header("www-authenticate").map(|value| format!(", WWW-Authenticate: {value}")).unwrap_or_default();
    let location = response.header("location").map(|value| format!(", Location: {value}")).unwrap_or_default();
    format!("{} {kind}{location}{challenge}{}{body}", response.status, if body.is_empty() { "" } else { ": " })
}

/// A failure in words.
pub(super) fn told(failure: &ProbeFailure) -> String {
    match failure {
        ProbeFailure::UnknownHost(_) => "the name of the host has no address".to_owned(),
        ProbeFailure::Unreachable(said) | ProbeFailure::Tls(said) | ProbeFailure::NotHttp(said) => said.clone(),
        ProbeFailure::Certificate(fault) => format!("the certificate: {fault:?}"),
        ProbeFailure::Late => "no answer in time".to_owned(),
    }
}

fn shown(text: &str, secrets: &Secrets) -> String {
    let text = strike(text, Words::Foreign(&[]), &[secrets], Reader::Operator);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_secret_and_is_short() {
        let secrets = Secrets::of(["Bearer the-token-of-ada"]);
        let text = format!("{} the-token-of-ada", "x".repeat(150));
        assert!(shown(&text, &secrets).ends_with("x [secret]"), "{}", shown(&text, &secrets));
        assert_eq!(shown(&"ä".repeat(500), &secrets).chars().count(), SHOWN + 1);
    }

    #[test]
    fn only_servers_of_the_own_network_lead_into_it() {
        let leads = |endpoint: &str, named: &str| leads_inside(&Url::parse(endpoint).unwrap(), &Url::parse(named).unwrap());
        for named in ["http://127.0.0.1:9200/", "http://169.254.169.254/latest", "https://10.0.0.1/", "http://[::1]/", "http://localhost/"]
        {
            assert!(leads("https://mcp.example.com/mcp", named), "{named}");
            assert!(!leads("http://192.168.1.7:8080/mcp", named), "{named}");
        }
        assert!(!leads("https://mcp.example.com/mcp", "https://auth.example.com/"));
    }

    #[test]
    fn names_are_encoded_where_a_field_cannot_have_them() {
        assert_eq!(field_value("get-note"), "get-note");
        assert_eq!(field_value("größe"), "=?base64?Z3LDtsOfZQ==?=");
        assert_eq!(field_value(" x"), "=?base64?IHg=?=");
    }
}
