//! Whether the server can be reached, and both eras of MCP: `server/discover` and `initialize`.

use millrace_core::Json;
use millrace_native::probe::{BodyEnd, CertificateFault, ProbeFailure};
use serde_json::json;

use super::{
    finding::{Finding, Side},
    wire::{Auth, Era, LEGACY, MODERN, Message, Reply, Wire, client_info, is_http, is_private, leads_inside, origin, told},
};

/// The revisions with a handshake.
const LEGACY_REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The most redirects of the endpoint.
const MOST_REDIRECTS: usize = 3;
/// A web page that has nothing to do with the server.
const FOREIGN_ORIGIN: &str = "https://doctor.invalid";

/// What the handshakes came to.
#[derive(Default)]
pub(super) struct Handshakes {
    /// The result of `server/discover`.
    pub(super) modern: Option<Json>,
    /// The result of `initialize`.
    pub(super) legacy: Option<Json>,
    /// The revision that `initialize` came to.
    pub(super) legacy_revision: Option<String>,
    /// The first 401 to a message without a token.
    pub(super) challenge: Option<Reply>,
    /// A handshake without a token succeeded.
    pub(super) is_open: bool,
}

impl Handshakes {
    /// The era to go on with.
    pub(super) fn era(&self) -> Option<Era> {
        if self.modern.is_some() {
            return Some(Era::Modern);
        }
        self.legacy.is_some().then(|| Era::Legacy(self.legacy_revision.clone()))
    }

    /// What the server says of itself.
    pub(super) fn server_info(&self) -> Option<&Json> {
        let modern = self.modern.as_ref().and_then(|result| result.get("_meta")?.get("io.modelcontextprotocol/serverInfo"));
        modern.or_else(|| self.legacy.as_ref()?.get("serverInfo"))
    }

    /// What the server offers, in the era to go on with.
    pub(super) fn offers(&self, capability: &str) -> bool {
        let result = self.modern.as_ref().or(self.legacy.as_ref());
        result.and_then(|result| result.get("capabilities")?.get(capability)).is_some_and(|value| !value.is_null())
    }
}

/// Nobody answered: there was nothing to look at.
pub(super) struct Unreachable;

/// Does both handshakes, without a token and with what the user gave.
///
/// # Errors
/// There is no connection.
pub(super) async fn look(wire: &mut Wire) -> Result<Handshakes, Unreachable> {
    let mut seen = Handshakes::default();
    let mut discovered = discover(wire, Auth::Nobody).await;
    for _ in 0..MOST_REDIRECTS {
        if !discovered.is_redirect() || !follow(wire, &discovered) {
            break;
        }
        discovered = discover(wire, Auth::Nobody).await;
    }
    if let Some(failure) = &discovered.failure {
        let is_final = no_connection(wire, failure);
        if is_final {
            return Err(Unreachable);
        }
    }
    plain_http(wire).await;
    let mut initialized = initialize(wire, Auth::Nobody).await;
    if misses_endpoint(wire, &discovered, &initialized).await {
        return Ok(seen);
    }
    seen.is_open = [&discovered, &initialized].iter().any(|reply| reply.result.is_some());
    let is_challenged = [&discovered, &initialized].iter().any(|reply| reply.status == Some(401));
    if is_challenged && wire.sends_credentials() {
        let again = discover(wire, Auth::Given).await;
        let and_again = initialize(wire, Auth::Given).await;
        for reply in [&again, &and_again] {
            if reply.status == Some(401) {
                let what = "the server does not accept the credentials that it was sent";
                let remedy = "Get a new token for exactly this URL (its audience), or look for the right field of the key.";
                wire.add(reply.tell(Finding::fault(Side::Client, "credentials-rejected", what, remedy)));
            }
        }
        keep_challenge(&mut seen, std::mem::replace(&mut discovered, again));
        keep_challenge(&mut seen, std::mem::replace(&mut initialized, and_again));
    }
    judge_discover(wire, &mut seen, &discovered);
    judge_initialize(wire, &mut seen, &initialized);
    keep_challenge(&mut seen, discovered);
    keep_challenge(&mut seen, initialized);
    if seen.era().is_none() && seen.challenge.is_none() && !wire.findings.has("time-out") {
        let what = format!("neither `server/discover` ({MODERN}) nor `initialize` ({LEGACY}) succeeds: no client can connect");
        let remedy = "Serve at least one of them at this URL; the server's log may say why it refuses them.";
        let got: Vec<String> = wire.exchanges.iter().map(|exchange| format!("{}: {}", exchange.sent, exchange.outcome())).collect();
        let got = wire.shown(&got.join("; "));
        wire.add(Finding::fault(Side::Server, "no-handshake", what, remedy).got(got));
    }
    Ok(seen)
}

fn keep_challenge(seen: &mut Handshakes, reply: Reply) {
    if reply.status == Some(401) && seen.challenge.is_none() {
        seen.challenge = Some(reply);
    }
}

pub(super) async fn discover(wire: &mut Wire, auth: Auth) -> Reply {
    wire.send(Message::new(&Era::Modern, "server/discover", json!({}), auth)).await
}

pub(super) async fn initialize(wire: &mut Wire, auth: Auth) -> Reply {
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client_info() });
    let reply = wire.send(Message::new(&Era::Legacy(None), "initialize", params, auth)).await;
    if reply.result.is_some() {
        wire.session = reply.header("mcp-session-id").filter(|session| session.len() <= 1_024).map(str::to_owned);
    }
    reply
}

/// Goes where a redirect of the endpoint leads. Whether it does: to HTTP and HTTPS only, and not
/// into the user's own network.
fn follow(wire: &mut Wire, reply: &Reply) -> bool {
    let status = reply.status.unwrap_or_default();
    let next = reply.header("location").and_then(|location| wire.endpoint.join(location).ok()).filter(is_http);
    let Some(next) = next else {
        let what = format!("the server answers with HTTP {status} and no `Location` that a client could follow");
        wire.add(reply.tell(Finding::fault(Side::Server, "redirect", what, "Serve the endpoint at this URL itself.")));
        return false;
    };
    let target = wire.shown(next.as_str());
    if leads_inside(&wire.endpoint, &next) {
        let what = "the URL redirects to an address in a private network or on this machine: it was not asked";
        let remedy = "Redirect to an address that clients can reach.";
        wire.add(Finding::fault(Side::Server, "redirect-private", what, remedy).sent(reply.sent.clone()).got(target));
        return false;
    }
    let remedy = format!("Give clients the URL `{target}`, or serve the endpoint at both.");
    let is_other = origin(&next) != origin(&wire.endpoint);
    let finding = if is_other {
        let what = "the URL redirects to another origin: clients do not send their token there";
        Finding::fault(Side::Client, "redirect", what, remedy)
    } else if matches!(status, 307 | 308) {
        Finding::warning(Side::Client, "redirect", "the URL redirects: some clients do not follow, or lose the token", remedy)
    } else {
        let what = format!("the URL redirects with HTTP {status}, after which clients send GET without the message");
        Finding::fault(Side::Client, "redirect", what, remedy)
    };
    wire.add(reply.tell(finding));
    wire.endpoint = next;
    true
}

/// Tells why there is no connection. Whether that is the end.
fn no_connection(wire: &mut Wire, failure: &ProbeFailure) -> bool {
    let url = wire.endpoint.clone();
    let host = url.host_str().unwrap_or_default().to_owned();
    let finding = match failure {
        ProbeFailure::UnknownHost(_) => Finding::fault(
            Side::Network,
            "dns",
            format!("the name `{host}` has no address"),
            "Check the spelling of the URL, and the DNS records of the name.",
        ),
        ProbeFailure::Unreachable(_) => Finding::fault(
            Side::Network,
            "unreachable",
            format!("could not connect to `{host}` at port {}", url.port_or_known_default().unwrap_or_default()),
            "Check that the server runs and listens at this address, and that firewalls on the way let it through.",
        ),
        ProbeFailure::Certificate(fault) => certificate(&host, fault),
        ProbeFailure::Tls(_) => Finding::fault(
            Side::Network,
            "tls",
            format!("the TLS handshake with `{host}` fails"),
            "Check that the port speaks TLS 1.2 or 1.3, and that the scheme of the URL is right.",
        ),
        ProbeFailure::Late => return false,
        ProbeFailure::NotHttp(_) => Finding::fault(
            Side::Network,
            "not-http",
            format!("`{host}` does not answer in HTTP, or closes the connection"),
            "Check the port and the scheme of the URL, and the size of the header fields of the answer.",
        ),
    };
    let got = wire.shown(&told(failure));
    wire.add(finding.sent(format!("POST {}", url.path())).got(got));
    true
}

fn certificate(host: &str, fault: &CertificateFault) -> Finding {
    let (id, what, remedy) = match fault {
        CertificateFault::Expired => ("certificate-expired", "has expired".to_owned(), "Renew it, and have that done automatically."),
        CertificateFault::NotYetValid => {
            ("certificate-not-yet-valid", "is not valid yet".to_owned(), "Check the clocks of the server and of this machine.")
        }
        CertificateFault::WrongName => {
            ("certificate-name", "is for another name".to_owned(), "Get a certificate for this name, or use a name that it has.")
        }
        CertificateFault::Untrusted => (
            "certificate-untrusted",
            "is signed by nobody whom this machine trusts".to_owned(),
            "Get one from a public authority, and have the server send the intermediate certificates. For an authority of your own, set SSL_CERT_FILE, for clients as well.",
        ),
        CertificateFault::Other(why) => ("certificate-invalid", format!("is not accepted: {why}"), "Replace the certificate."),
    };
    Finding::fault(Side::Network, id, format!("the certificate of `{host}` {what}: clients refuse to connect"), remedy)
}

/// HTTP without TLS, and HTTP beside TLS.
async fn plain_http(wire: &mut Wire) {
    let url = wire.endpoint.clone();
    if is_private(&url) {
        return;
    }
    if url.scheme() == "http" {
        let what = "the URL is not HTTPS: tokens and data cross the network unencrypted, and hosted clients refuse it";
        wire.add(Finding::fault(Side::Network, "plain-http", what, "Serve it with TLS, and give clients the URL with https://."));
        return;
    }
    let mut plain = url.clone();
    if url.port().is_some() || plain.set_scheme("http").is_err() {
        return;
    }
    let document = wire.document(&plain).await;
    // `document` follows redirects: what ends at HTTPS is another status than the page itself.
    if document.status == Some(200) && document.sent.starts_with("GET http://") {
        let what = "the same host answers without TLS and does not redirect to HTTPS";
        let finding = Finding::warning(Side::Network, "http-not-redirected", what, "Redirect http:// to https://, or close port 80.");
        wire.add(finding.sent(document.sent).got(document.got));
    }
}

/// Whether nothing answers for MCP at this path.
async fn misses_endpoint(wire: &mut Wire, discovered: &Reply, initialized: &Reply) -> bool {
    // A server of the modern era that knows no method of this name is there.
    let refused = |reply: &Reply| matches!(reply.status, Some(404 | 405 | 410)) && reply.code() != Some(-32601);
    if !(refused(discovered) && refused(initialized)) {
        return false;
    }
    let mut remedy = "Check the path of the URL: it must be that of the MCP endpoint, often `/mcp`.".to_owned();
    let given = wire.endpoint.clone();
    let other = given.join("/mcp").unwrap_or_else(|_| given.clone());
    if given.path() != "/mcp" {
        wire.endpoint = other.clone();
        let there = initialize(wire, Auth::Nobody).await;
        wire.endpoint = given;
        wire.session = None;
        if there.result.is_some() || there.status == Some(401) {
            remedy = format!("The endpoint is at `{}`: use that URL.", wire.shown(other.as_str()));
        }
    }
    let (id, what) = match initialized.status {
        Some(405) => {
            ("post-refused", "nothing at this path takes POST: it is not an MCP endpoint, or serves only the transport of 2024-11-05")
        }
        _ => ("endpoint-not-found", "no MCP endpoint is at this path"),
    };
    wire.add(initialized.tell(Finding::fault(Side::Client, id, what, remedy)));
    true
}

/// Members that every result of the modern era has.
pub(super) fn modern_result(wire: &mut Wire, reply: &Reply, is_cacheable: bool) {
    let Some(result) = &reply.result else { return };
    if !result.get("resultType").is_some_and(Json::is_string) {
        let what = "a result has no `resultType`: the SDKs for TypeScript and Python refuse it";
        let finding = Finding::fault(Side::Server, "result-type-missing", what, "Send `\"resultType\": \"complete\"` in every result.");
        wire.add(finding.at(reply.sent.clone()));
    }
    let has_hints = result.get("ttlMs").is_some_and(Json::is_u64)
        && result.get("cacheScope").is_some_and(|scope| scope == "public" || scope == "private");
    if is_cacheable && !has_hints {
        let what = "a result that can be cached has no `ttlMs` or no `cacheScope`: strict SDKs refuse it";
        let remedy = "Send `\"ttlMs\": 0, \"cacheScope\": \"private\"`, or more where the result may be kept.";
        wire.add(Finding::fault(Side::Server, "cache-hints-missing", what, remedy).at(reply.sent.clone()));
    }
}

fn judge_discover(wire: &mut Wire, seen: &mut Handshakes, reply: &Reply) {
    let Some(result) = &reply.result else {
        let is_refused = matches!(reply.status, Some(401 | 403));
        let is_refusal = !is_refused && (reply.is_message() || matches!(reply.status, Some(400 | 404 | 405 | 406 | 415 | 422)));
        if is_refusal {
            let what = format!("the server does not serve {MODERN}: clients fall back to `initialize`");
            let finding =
                Finding::note(Side::Server, "modern-missing", what, "Update its SDK for clients that speak the newest revision only.");
            wire.add(reply.tell(finding));
        }
        return;
    };
    modern_result(wire, reply, true);
    let versions: Vec<&str> = result["supportedVersions"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    if !versions.contains(&MODERN) {
        let what = format!("`server/discover` is answered in {MODERN}, and its `supportedVersions` do not name it");
        let got = wire.shown(&result["supportedVersions"].to_string());
        let finding = Finding::fault(Side::Server, "protocol-version", what, "List every revision that is served in `supportedVersions`.");
        wire.add(finding.sent(reply.sent.clone()).got(got));
    }
    capabilities(wire, reply, result);
    if result.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo")).is_none() {
        let what = "results do not say which server sent them";
        let remedy = "Send `io.modelcontextprotocol/serverInfo` in `_meta`.";
        wire.add(Finding::note(Side::Server, "server-info-missing", what, remedy).at(reply.sent.clone()));
    }
    seen.modern = Some(result.clone());
}

fn capabilities(wire: &mut Wire, reply: &Reply, result: &Json) {
    if !result.get("capabilities").is_some_and(Json::is_object) {
        let what = "a handshake has no `capabilities`: clients fail, or take the server for empty";
        let finding =
            Finding::fault(Side::Server, "capabilities-missing", what, "Send an object with what the server offers, such as `tools`.");
        wire.add(finding.at(reply.sent.clone()));
    }
}

fn judge_initialize(wire: &mut Wire, seen: &mut Handshakes, reply: &Reply) {
    let Some(result) = &reply.result else {
        if seen.modern.is_some() && reply.status != Some(401) && reply.failure.is_none() {
            let what = "the server does not serve `initialize`, which most clients begin with";
            let remedy = format!("Serve {LEGACY} as well, until clients have moved to {MODERN}.");
            wire.add(reply.tell(Finding::warning(Side::Server, "legacy-missing", what, remedy)));
        }
        return;
    };
    let version = result.get("protocolVersion").and_then(Json::as_str).unwrap_or_default();
    if !LEGACY_REVISIONS.contains(&version) {
        let what = "`initialize` is answered with a revision that has no handshake or does not exist: clients disconnect";
        let got = wire.shown(&format!("protocolVersion {}", result.get("protocolVersion").unwrap_or(&Json::Null)));
        let remedy =
            format!("Answer with the revision that was asked for, here {LEGACY}, or the newest of {LEGACY_REVISIONS:?} that is served.");
        wire.add(Finding::fault(Side::Server, "protocol-version", what, remedy).sent(reply.sent.clone()).got(got));
    }
    capabilities(wire, reply, result);
    if !result.get("serverInfo").is_some_and(|info| info["name"].is_string() && info["version"].is_string()) {
        let what = "`initialize` is answered without `serverInfo` with `name` and `version`: clients refuse it";
        wire.add(reply.tell(Finding::fault(Side::Server, "server-info-missing", what, "Send both.")));
    }
    seen.legacy_revision = Some(if LEGACY_REVISIONS.contains(&version) { version } else { LEGACY }.to_owned());
    seen.legacy = Some(result.clone());
}

/// What the transport must do beside answering: versions, notifications, GET, origins.
pub(super) async fn transport(wire: &mut Wire, seen: &Handshakes, own_origin: Option<&str>) {
    if let Some(legacy) = seen.legacy.is_some().then(|| Era::Legacy(seen.legacy_revision.clone())) {
        notification(wire, &legacy).await;
    } else if seen.modern.is_some() {
        notification(wire, &Era::Modern).await;
    }
    if seen.modern.is_some() {
        unknown_version(wire).await;
    }
    get(wire).await;
    origins(wire, seen, own_origin).await;
}

async fn notification(wire: &mut Wire, era: &Era) {
    let (method, params) = match era {
        Era::Legacy(_) => ("notifications/initialized", json!({})),
        Era::Modern => ("notifications/cancelled", json!({ "requestId": "millrace-doctor" })),
    };
    let reply = wire.notify(Message::new(era, method, params, Auth::Given)).await;
    let finding = match reply.status {
        Some(202) if reply.bytes == 0 => return,
        Some(200..=299) if reply.bytes > 0 => Finding::fault(
            Side::Server,
            "notification-answered",
            "a notification is answered with a body: nobody waits for it, and clients report an error",
            "Answer with HTTP 202 and nothing else.",
        ),
        Some(200..=299) => Finding::warning(
            Side::Server,
            "notification-status",
            "a notification is not answered with HTTP 202",
            "Answer with HTTP 202 and nothing else.",
        ),
        Some(401 | 403) | None => return,
        Some(status) => Finding::fault(
            Side::Server,
            "notification-rejected",
            format!("a notification that every client sends is refused with HTTP {status}"),
            "Accept notifications, also unknown ones, with HTTP 202.",
        ),
    };
    wire.add(reply.tell(finding));
}

async fn unknown_version(wire: &mut Wire) {
    const UNKNOWN: &str = "2099-01-01";
    let params = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": UNKNOWN } });
    let fields = [("mcp-protocol-version", UNKNOWN)];
    let message = Message { era: &Era::Modern, method: "server/discover", params, auth: Auth::Given, fields: &fields };
    let reply = wire.send(message).await;
    let names_supported = || reply.error.as_ref().is_some_and(|error| error["data"]["supported"].is_array());
    let finding = if reply.result.is_some() {
        let what = format!("a request in the revision {UNKNOWN}, which does not exist, is answered as if it were served");
        Finding::fault(Side::Server, "version-not-refused", what, "Answer with HTTP 400, error -32022 and `data.supported`.")
    } else if reply.status == Some(401) || reply.failure.is_some() || (reply.code() == Some(-32022) && names_supported()) {
        return;
    } else {
        let what = "a request in an unknown revision is refused in a way from which clients do not learn what is served";
        Finding::warning(
            Side::Server,
            "version-refusal",
            what,
            "Answer with HTTP 400, error -32022 and `data.supported`, a list of revisions.",
        )
    };
    let sent = format!("{} as {UNKNOWN}", reply.sent);
    wire.add(finding.sent(sent).got(reply.got));
}

/// Clients of the legacy era open a stream by GET after the handshake.
async fn get(wire: &mut Wire) {
    let fields = [("accept", "text/event-stream"), ("mcp-protocol-version", LEGACY)];
    let (sent, outcome) = wire.ask_endpoint("GET", Auth::Given, &fields).await;
    let finding = match outcome {
        Ok(response) if response.status == 405 || matches!(response.status, 400 | 401 | 403 | 406) => return,
        Ok(response) if response.status == 200 && response.end == BodyEnd::Enough => return,
        Ok(response) => {
            let what = format!("GET is answered with HTTP {} and no stream: clients that open one report an error", response.status);
            let finding = Finding::warning(Side::Server, "get-answer", what, "Answer GET with HTTP 405, or with `text/event-stream`.");
            finding.got(format!("{} {}", response.status, response.header("content-type").unwrap_or("no Content-Type")))
        }
        Err(ProbeFailure::Late) => {
            let what = "GET is not answered: clients that open a stream after the handshake wait for it";
            Finding::fault(Side::Server, "get-hangs", what, "Answer GET at once: with HTTP 405, or with the head of a stream.")
        }
        Err(failure) => {
            let what = "GET closes the connection without an answer";
            let finding = Finding::warning(Side::Server, "get-answer", what, "Answer GET with HTTP 405, or with `text/event-stream`.");
            finding.got(told(&failure))
        }
    };
    let got = finding.got.clone().map(|got| wire.shown(&got));
    let mut finding = finding.sent(sent);
    finding.got = got;
    wire.add(finding);
}

async fn handshake_from(wire: &mut Wire, seen: &Handshakes, origin: &str) -> Reply {
    let fields = [("origin", origin)];
    if seen.modern.is_some() {
        return wire
            .send(Message { era: &Era::Modern, method: "server/discover", params: json!({}), auth: Auth::Given, fields: &fields })
            .await;
    }
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client_info() });
    wire.send(Message { era: &Era::Legacy(None), method: "initialize", params, auth: Auth::Given, fields: &fields }).await
}

async fn origins(wire: &mut Wire, seen: &Handshakes, own: Option<&str>) {
    if seen.era().is_none() {
        return;
    }
    let reply = handshake_from(wire, seen, FOREIGN_ORIGIN).await;
    if reply.is_success() {
        let remedy = "Answer with HTTP 403 where `Origin` is there and not one of your own pages.";
        let finding = if is_private(&wire.endpoint) {
            let what = "a foreign web page can use the server through its user's browser (DNS rebinding)";
            Finding::fault(Side::Server, "origin-accepted", what, remedy)
        } else {
            let what = "a request that comes from a foreign web page is answered, though the specification demands HTTP 403";
            Finding::warning(Side::Server, "origin-accepted", what, remedy)
        };
        wire.add(reply.tell(finding));
    }
    let Some(own) = own else { return };
    let reply = handshake_from(wire, seen, own).await;
    if reply.status == Some(403) {
        let what = format!("the web page at `{own}` is refused");
        wire.add(reply.tell(Finding::fault(Side::Server, "own-origin-refused", what, "Add it to the origins that the server accepts.")));
        return;
    }
    preflight(wire, own, &reply).await;
}

/// What a browser asks before it sends a message.
async fn preflight(wire: &mut Wire, own: &str, posted: &Reply) {
    const NEEDED: [&str; 5] = ["authorization", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version"];
    let asked = NEEDED.join(",");
    let fields = [("origin", own), ("access-control-request-method", "POST"), ("access-control-request-headers", asked.as_str())];
    let (sent, outcome) = wire.ask_endpoint("OPTIONS", Auth::Nobody, &fields).await;
    let Ok(response) = outcome else { return };
    let allows = |value: Option<&str>| value.is_some_and(|value| value == "*" || value == own);
    let listed = response.header("access-control-allow-headers").unwrap_or_default().to_ascii_lowercase();
    let listed: Vec<&str> = listed.split(',').map(str::trim).collect();
    let missing: Vec<&str> =
        NEEDED.into_iter().filter(|name| !(listed.contains(name) || listed == ["*"] && *name != "authorization")).collect();
    let problem = if !(200..300).contains(&response.status) {
        Some(format!("is answered with HTTP {}", response.status))
    } else if !allows(response.header("access-control-allow-origin")) {
        Some("does not allow the origin".to_owned())
    } else if !missing.is_empty() {
        Some(format!("does not allow the header fields {}", missing.join(", ")))
    } else if !allows(posted.header("access-control-allow-origin")) {
        Some("allows what the answer itself does not: it has no `Access-Control-Allow-Origin`".to_owned())
    } else {
        None
    };
    if let Some(problem) = problem {
        let what = format!("the preflight of a browser for `{own}` {problem}: the web page cannot call the server");
        let remedy = "Answer OPTIONS with `Access-Control-Allow-Origin`, `-Methods: POST` and `-Headers` of what was asked for, before authentication.";
        wire.add(Finding::fault(Side::Server, "cors-preflight", what, remedy).sent(sent).got(format!("{}", response.status)));
    }
}
