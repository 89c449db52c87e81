//! Sign-in as clients discover it: 401 and its challenge, metadata of the resource and of its
//! authorization servers.

use millrace_core::Json;
use millrace_native::probe::Url;
use serde_json::json;

use super::{
    finding::{Finding, Side},
    handshake::{self, Handshakes},
    wire::{Auth, Document, Era, Message, Reply, Wire, is_http, is_private, leads_inside, origin},
};

/// The most authorization servers that are asked.
const MOST_SERVERS: usize = 2;

/// What is known of sign-in.
#[derive(Default)]
pub(super) struct SignIn {
    /// A handshake without a token is answered with 401.
    pub(super) is_required: bool,
    /// There is metadata about it.
    pub(super) is_offered: bool,
    pub(super) authorization_servers: Vec<String>,
}

/// A parameter of a challenge.
fn parameter(challenge: &str, wanted: &str) -> Option<String> {
    let mut rest = challenge.split_once(' ').map_or("", |(_, rest)| rest);
    loop {
        let (name, value) = rest.split_once('=')?;
        let name = name.rsplit([',', ' ']).next().unwrap_or(name).trim();
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => {
                let (mut text, mut end, mut is_escaped) = (String::new(), quoted.len(), false);
                for (at, character) in quoted.char_indices() {
                    match character {
                        _ if is_escaped => {
                            text.push(character);
                            is_escaped = false;
                        }
                        '\\' => is_escaped = true,
                        '"' => {
                            end = at + 1;
                            break;
                        }
                        other => text.push(other),
                    }
                }
                (text, &quoted[end..])
            }
            None => {
                let end = value.find([',', ' ']).unwrap_or(value.len());
                (value[..end].to_owned(), &value[end..])
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after;
    }
}

fn bearer(reply: &Reply) -> Option<&str> {
    let mut values = reply.headers.iter().filter(|(name, _)| name == "www-authenticate").map(|(_, value)| value.as_str());
    values.find(|value| value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer")))
}

/// Looks at everything that sign-in needs.
pub(super) async fn look(wire: &mut Wire, seen: &Handshakes) -> SignIn {
    let mut found = SignIn { is_required: seen.challenge.is_some(), ..SignIn::default() };
    let mut named = None;
    if let Some(reply) = &seen.challenge {
        named = challenge(wire, reply);
    }
    let metadata = metadata(wire, named, found.is_required).await;
    found.is_offered = metadata.is_some();
    if let Some(metadata) = &metadata {
        found.authorization_servers = resource(wire, metadata);
        for server in found.authorization_servers.iter().take(MOST_SERVERS) {
            authorization_server(wire, server, metadata).await;
        }
    }
    if found.is_required || found.is_offered {
        invalid_token(wire, seen).await;
    }
    found
}

/// Looks at a 401, and gives the URL of the metadata that it names.
fn challenge(wire: &mut Wire, reply: &Reply) -> Option<Url> {
    let Some(challenge) = bearer(reply) else {
        let renamed = reply.header("x-amzn-remapped-www-authenticate").is_some();
        let what = match reply.header("www-authenticate") {
            Some(_) => "a 401 has a `WWW-Authenticate` for another scheme than Bearer: clients do not find out where to sign in",
            None => "a 401 has no `WWW-Authenticate`: many clients do not find out where to sign in",
        };
        let remedy = if renamed {
            "A REST API of API Gateway renames the field: use an HTTP API or a function URL."
        } else {
            "Send `WWW-Authenticate: Bearer resource_metadata=\"…\"` with every 401."
        };
        wire.add(reply.tell(Finding::fault(Side::Server, "challenge-missing", what, remedy)));
        return None;
    };
    let Some(named) = parameter(challenge, "resource_metadata") else {
        let what = "the `WWW-Authenticate` of a 401 does not name the metadata of the resource";
        let remedy = "Add `resource_metadata=\"https://…/.well-known/oauth-protected-resource…\"`.";
        wire.add(reply.tell(Finding::warning(Side::Server, "challenge-metadata", what, remedy)));
        return None;
    };
    let url = Url::parse(&named).ok().filter(is_http);
    if url.is_none() {
        let what = "the `resource_metadata` of a 401 is not a URL of HTTP or HTTPS: it must be absolute";
        wire.add(reply.tell(Finding::fault(Side::Server, "challenge-metadata", what, "Send the whole URL of the metadata.")));
    }
    url
}

fn well_known(endpoint: &Url, path: &str) -> Option<Url> {
    let path = path.trim_end_matches('/');
    Url::parse(&format!("{}/.well-known/oauth-protected-resource{path}", origin(endpoint))).ok()
}

/// The metadata of [RFC 9728](https://www.rfc-editor.org/rfc/rfc9728): where the challenge says,
/// behind the path of the URL, and at the root.
async fn metadata(wire: &mut Wire, named: Option<Url>, is_required: bool) -> Option<Json> {
    let endpoint = wire.endpoint.clone();
    let with_path = well_known(&endpoint, endpoint.path())?;
    let by_path = wire.document(&with_path).await;
    let mut found = by_path.json.clone();
    if let Some(named) = named.filter(|named| *named != with_path) {
        let document = fetch(wire, &named, "challenge-metadata").await;
        match document.json {
            // What the challenge names counts.
            Some(json) => found = Some(json),
            None => {
                let what = "the metadata that a 401 names cannot be fetched as JSON";
                let finding = Finding::fault(Side::Server, "challenge-metadata", what, "Serve it there, or correct `resource_metadata`.");
                wire.add(finding.sent(document.sent).got(document.got));
            }
        }
    }
    if found.is_some() && by_path.json.is_none() {
        let what = "the metadata is not at the path that is derived from the URL, where some clients look only";
        let remedy = format!("Serve it at `{with_path}` as well.");
        wire.add(Finding::warning(Side::Server, "metadata-path", what, remedy).sent(by_path.sent.clone()).got(by_path.got.clone()));
    }
    if found.is_none() && is_required {
        let root = well_known(&endpoint, "")?;
        let document = if root == with_path { None } else { wire.document(&root).await.json };
        if document.is_none() {
            let what = "the server demands a token, and has no metadata that says where clients get one";
            let remedy = format!("Serve `{with_path}` as RFC 9728 describes, with `resource` and `authorization_servers`.");
            wire.add(Finding::fault(Side::Server, "metadata-missing", what, remedy).sent(by_path.sent).got(by_path.got));
        } else {
            let what = "the metadata is only at the root, not at the path that is derived from the URL, where some clients look only";
            wire.add(Finding::warning(Side::Server, "metadata-path", what, format!("Serve it at `{with_path}` as well.")));
        }
        found = document;
    }
    found
}

/// Fetches what the server names. A server that everybody reaches has no business with addresses of
/// the user's own network.
async fn fetch(wire: &mut Wire, url: &Url, id: &'static str) -> Document {
    if leads_inside(&wire.endpoint, url) {
        let what = "the metadata names an address in a private network or on this machine: it was not asked";
        let shown = wire.shown(url.as_str());
        wire.add(Finding::fault(Side::Server, id, what, "Name an address that clients can reach.").got(shown.clone()));
        return Document { json: None, status: None, sent: format!("GET {shown}"), got: "not sent".to_owned(), failure: None };
    }
    wire.document(url).await
}

/// Looks at the metadata of the resource, and gives its authorization servers.
fn resource(wire: &mut Wire, metadata: &Json) -> Vec<String> {
    let endpoint = wire.endpoint.as_str().to_owned();
    let named = metadata.get("resource").and_then(Json::as_str).unwrap_or_default();
    if named != endpoint {
        let is_near = named.trim_end_matches('/') == endpoint.trim_end_matches('/') || {
            let covers = Url::parse(named).ok().filter(|url| origin(url) == origin(&wire.endpoint));
            covers.is_some_and(|url| wire.endpoint.path().starts_with(url.path()))
        };
        let got = wire.shown(&format!("resource {named:?} instead of {endpoint:?}"));
        let remedy =
            "Set `resource` to the URL as clients have it: scheme, host, port and path. Behind a proxy, tell the server its public URL.";
        let finding = if is_near {
            let what = "`resource` of the metadata is not exactly the URL: strict clients refuse it";
            Finding::warning(Side::Server, "metadata-resource", what, remedy)
        } else {
            let what = "`resource` of the metadata is another URL than that of the server: clients refuse to sign in";
            Finding::fault(Side::Server, "metadata-resource", what, remedy)
        };
        wire.add(finding.got(got));
    }
    let servers: Vec<String> = strings(metadata, "authorization_servers");
    if servers.is_empty() {
        let what = "the metadata names no authorization server: clients cannot sign in";
        wire.add(Finding::fault(Side::Server, "authorization-servers-missing", what, "List the issuers in `authorization_servers`."));
    }
    servers
}

fn strings(document: &Json, key: &str) -> Vec<String> {
    document.get(key).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// The metadata of an issuer, by [RFC 8414](https://www.rfc-editor.org/rfc/rfc8414) or OpenID
/// Connect.
async fn authorization_server(wire: &mut Wire, issuer: &str, resource: &Json) {
    let shown = wire.shown(issuer);
    let Some(url) = Url::parse(issuer).ok().filter(is_http) else {
        let what = "`authorization_servers` has an entry that is not a URL of HTTP or HTTPS";
        wire.add(
            Finding::fault(Side::Server, "authorization-server-url", what, "Write the issuer as its own metadata spells it.").got(shown),
        );
        return;
    };
    if url.scheme() == "http" && !is_private(&url) {
        let what = "the authorization server is not reached by HTTPS: clients refuse it";
        wire.add(Finding::fault(Side::Server, "authorization-server-url", what, "Use https://.").got(shown.clone()));
    }
    let (origin, path) = (origin(&url), url.path().trim_end_matches('/'));
    let mut places =
        vec![format!("{origin}/.well-known/oauth-authorization-server{path}"), format!("{origin}/.well-known/openid-configuration{path}")];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    let (mut last, mut metadata) = (None, None);
    for place in places.iter().filter_map(|place| Url::parse(place).ok()) {
        let document = fetch(wire, &place, "authorization-server-url").await;
        metadata = document.json.clone();
        let is_gone = document.failure.is_some();
        last = Some(document);
        if metadata.is_some() || is_gone {
            break;
        }
    }
    let Some(metadata) = metadata else {
        let is_gone = last.as_ref().is_some_and(|last| last.failure.is_some());
        let (id, what) = if is_gone {
            ("authorization-server-unreachable", format!("the authorization server `{shown}` cannot be reached"))
        } else {
            ("authorization-server-metadata", format!("the authorization server `{shown}` has no metadata where clients look"))
        };
        let remedy = format!("Check `authorization_servers` of the MCP server, and that the issuer serves one of {}.", places.join(", "));
        let finding = Finding::fault(Side::AuthorizationServer, id, what, wire.shown(&remedy));
        wire.add(match last {
            Some(last) => finding.sent(last.sent).got(last.got),
            None => finding,
        });
        return;
    };
    judge_issuer(wire, issuer, &metadata, resource);
}

fn judge_issuer(wire: &mut Wire, issuer: &str, metadata: &Json, resource: &Json) {
    let side = Side::AuthorizationServer;
    let text = |key: &str| metadata.get(key).and_then(Json::as_str).unwrap_or_default();
    let named = text("issuer");
    if named != issuer {
        let got = wire.shown(&format!("issuer {named:?} instead of {issuer:?}"));
        let remedy = "Write the issuer in `authorization_servers` of the MCP server exactly as it names itself.";
        let finding = if named.trim_end_matches('/') == issuer.trim_end_matches('/') {
            Finding::warning(
                Side::Server,
                "issuer",
                "an issuer is spelled differently in its own metadata: strict clients refuse it",
                remedy,
            )
        } else {
            Finding::fault(side, "issuer", "the metadata of the authorization server is of another issuer: clients refuse it", remedy)
        };
        wire.add(finding.got(got));
    }
    for key in ["authorization_endpoint", "token_endpoint"] {
        if !Url::parse(text(key)).is_ok_and(|url| is_http(&url)) {
            let what = "the metadata of the authorization server lacks an endpoint: clients cannot sign in";
            wire.add(Finding::fault(side, "authorization-endpoints", what, "Publish it as an absolute URL.").at(key));
        }
    }
    if !strings(metadata, "code_challenge_methods_supported").iter().any(|method| method == "S256") {
        let what = "the authorization server does not say that it takes PKCE with S256: clients refuse to go on";
        let remedy = "Add `\"code_challenge_methods_supported\": [\"S256\"]` to its metadata, and support it.";
        let got = metadata.get("code_challenge_methods_supported").map_or("nothing".to_owned(), Json::to_string);
        let got = wire.shown(&got);
        wire.add(Finding::fault(side, "pkce", what, remedy).got(got));
    }
    let takes_documents = metadata.get("client_id_metadata_document_supported") == Some(&Json::Bool(true));
    if metadata.get("registration_endpoint").is_none() && !takes_documents {
        let what =
            "clients can neither register themselves nor present a metadata document: each needs a client id that is entered by hand";
        let remedy = "Turn on client id metadata documents or dynamic registration, or tell your users which client id to enter.";
        wire.add(Finding::warning(side, "registration", what, remedy));
    }
    let offered = strings(metadata, "scopes_supported");
    let missing: Vec<String> = strings(resource, "scopes_supported").into_iter().filter(|scope| !offered.contains(scope)).collect();
    if !offered.is_empty() && !missing.is_empty() {
        let what = "the MCP server names scopes that its authorization server does not: signing in fails with `invalid_scope`";
        let got = wire.shown(&missing.join(" "));
        wire.add(Finding::warning(side, "scopes", what, "Create them at the authorization server.").got(got));
    }
}

/// A token that nobody issued must be refused so that clients get a new one.
async fn invalid_token(wire: &mut Wire, seen: &Handshakes) {
    let session = wire.session.take();
    let is_modern = match &seen.challenge {
        Some(reply) => reply.sent.starts_with("server/discover"),
        None => seen.modern.is_some(),
    };
    let reply = if !is_modern { handshake::initialize(wire, Auth::Invalid).await } else { handshake::discover(wire, Auth::Invalid).await };
    wire.session = session;
    if reply.failure.is_some() {
        return;
    }
    if reply.is_success() {
        let what = "a token that nobody issued is accepted: a client whose token has expired never signs in again";
        let remedy = "Verify every token that is sent, at the handshake as well, and answer with HTTP 401 and `error=\"invalid_token\"`.";
        wire.add(reply.tell(Finding::fault(Side::Server, "invalid-token-accepted", what, remedy)));
    } else if reply.status != Some(401) {
        let what = "a token that nobody issued is not answered with HTTP 401: clients do not get a new one";
        let remedy = "Answer with HTTP 401 and `error=\"invalid_token\"`.";
        wire.add(reply.tell(Finding::fault(Side::Server, "invalid-token-status", what, remedy)));
    } else if bearer(&reply).and_then(|challenge| parameter(challenge, "error")).as_deref() != Some("invalid_token") {
        let what = "the 401 to a token that nobody issued does not say `invalid_token`: some clients do not refresh theirs";
        let remedy = "Send `WWW-Authenticate: Bearer error=\"invalid_token\", resource_metadata=\"…\"`.";
        wire.add(reply.tell(Finding::warning(Side::Server, "invalid-token-error", what, remedy)));
    }
}

/// The name of a tool that no server has.
const NO_TOOL: &str = "millrace-doctor-no-such-tool";

/// Looks whether what follows an open handshake needs a token: many clients never sign in then.
///
/// `list` and `call` are what was refused. A tool that alone needs a key is no fault where nobody
/// can sign in.
pub(super) async fn begins_late(wire: &mut Wire, era: &Era, list: Option<Reply>, call: Option<Reply>, sign_in: &SignIn, has_schemes: bool) {
    if let Some(reply) = list {
        return late(wire, &reply, has_schemes);
    }
    if call.is_none() && !sign_in.is_offered {
        return;
    }
    let reply = wire.send(Message::new(era, "tools/call", json!({ "name": NO_TOOL, "arguments": {} }), Auth::Nobody)).await;
    if reply.status == Some(401) {
        return late(wire, &reply, has_schemes);
    }
    let Some(reply) = call else { return };
    if sign_in.is_offered || bearer(&reply).is_some_and(|challenge| parameter(challenge, "resource_metadata").is_some()) {
        return late(wire, &reply, has_schemes);
    }
    let what = "the tool that was called needs credentials";
    let remedy = "Give a token by the variable MILLRACE_TOKEN, or a field by `--header`; or name another tool by `--call`.";
    wire.add(reply.tell(Finding::note(Side::Client, "token-needed", what, remedy)));
}

fn late(wire: &mut Wire, reply: &Reply, has_schemes: bool) {
    let what = "the handshake needs no token, and what follows does: clients that decide at the handshake never sign in";
    let finding = if has_schemes {
        Finding::note(Side::Server, "sign-in-late", what, "Nothing, where some tools are open on purpose: the list says which are not.")
    } else {
        let remedy =
            "Answer `initialize`, `server/discover` and the lists with HTTP 401 and `WWW-Authenticate` unless a valid token is sent.";
        Finding::fault(Side::Server, "sign-in-late", what, remedy)
    };
    wire.add(reply.tell(finding));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_challenge_are_read() {
        let challenge = r#"Bearer realm="a, b=\"c\"", error=invalid_token, resource_metadata="https://h/x?y=1,2""#;
        for (name, value) in [
            ("realm", Some("a, b=\"c\"")),
            ("ERROR", Some("invalid_token")),
            ("resource_metadata", Some("https://h/x?y=1,2")),
            ("scope", None),
        ] {
            assert_eq!(parameter(challenge, name).as_deref(), value);
        }
        for broken in ["Bearer", "Bearer realm", "Bearer realm=", "Bearer =", "Bearer realm=\"x", "Bearer realm=\"\\"] {
            assert_eq!(parameter(broken, "scope"), None, "{broken}");
        }
    }
}
