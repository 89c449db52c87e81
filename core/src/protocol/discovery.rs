//! How clients find out where to sign in: the metadata of the endpoint as a protected resource of
//! OAuth ([RFC 9728](https://www.rfc-editor.org/rfc/rfc9728)), and the challenges that lead there
//! ([RFC 6750, section 3](https://www.rfc-editor.org/rfc/rfc6750#section-3)).
//!
//! The metadata is public: every web page may read it. It is at the root of the server, and below
//! it at the path of the endpoint and at that of its public URL, which a proxy may have made
//! longer. An app without `server.resource` has none.

use alloc::{format, string::String, vec::Vec};

use serde_json::{Map, json};

use super::{http, request::Request, response::Response, rpc_error::RpcError};
use crate::{
    Json,
    app::{App, EnvPart, EnvTemplate, ProtectedResource, ResourceUrl, is_scope},
    fault::Refusal,
    pipeline::Pipeline,
    ports::Env,
    url::{Url, UrlParts},
};

/// Where the metadata of a resource without a path is.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
const METHODS: &str = "GET, HEAD, OPTIONS";
/// How long a client may keep the metadata.
const CACHE_CONTROL: &str = "public, max-age=300";
/// The most bytes of scopes in one challenge, so that the field stays shorter than what common
/// clients read.
const MOST_SCOPE_BYTES: usize = 4096;
/// The scope that asks for a refresh token: a client's own business, and never a requirement of a
/// resource.
const OFFLINE_ACCESS: &str = "offline_access";

/// The answer to a request for the metadata; `None` for any other request, and where the app has
/// none.
pub(super) fn answer(pipeline: &Pipeline, request: &Request) -> Option<Response> {
    // The endpoint is found with a slash at the end, and so is what is said of it.
    let below = request.path.strip_prefix(WELL_KNOWN)?;
    let below = below.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(below);
    let app = pipeline.app();
    let resource = app.authorization.resource.as_ref()?;
    if let Err(failure) = http::admit_any_origin(request, &app.server.hosts) {
        return Some(http::refuse(&failure));
    }
    let url = url_of(app, resource, &*pipeline.ports().env, request);
    let is_path = |url: &String| path_of(url) == below;
    if !below.is_empty() && !app.server.is_endpoint(below) && !url.as_ref().is_ok_and(is_path) {
        return None;
    }
    let mut response = match (request.method.as_str(), http::read_only_with(request, METHODS)) {
        ("OPTIONS", _) => http::preflight(request, METHODS),
        (_, Some(refused)) => refused,
        (_, None) => match url.and_then(|url| document(app, resource, &*pipeline.ports().env, &url)) {
            Ok(document) => {
                let mut response = http::json(200, serde_json::to_vec(&document).unwrap_or_default());
                response.headers.append("cache-control", CACHE_CONTROL);
                response
            }
            Err(Unavailable::Elsewhere) => return None,
            Err(Unavailable::Wrong(problem)) => {
                tracing::warn!(target: "millrace::protocol", problem, "clients cannot find out where to sign in");
                http::refuse(&RpcError::http(
                    500,
                    super::rpc_error::INTERNAL_ERROR,
                    "Only the operator of this server can fix this: its settings for sign-in are wrong",
                ))
            }
        },
    };
    http::share_with_all(&mut response);
    Some(response)
}

/// Why there is no metadata.
enum Unavailable {
    /// The resource is the name in `Host`, and this one is not the server's.
    Elsewhere,
    /// A variable is not set, or is wrong.
    Wrong(String),
}

fn document(app: &App, resource: &ProtectedResource, env: &dyn Env, url: &str) -> Result<Json, Unavailable> {
    let servers = resource.authorization_servers.iter().map(|server| filled("server.authorization_servers", server, env, check_issuer));
    let servers: Vec<String> = servers.collect::<Result<_, _>>().map_err(Unavailable::Wrong)?;
    let scopes: Vec<&String> = resource.scopes.iter().filter(|scope| *scope != OFFLINE_ACCESS).collect();
    let mut members = Map::new();
    members.insert("resource".into(), url.into());
    members.insert("authorization_servers".into(), json!(servers));
    // A member without elements has to be left out.
    if !scopes.is_empty() {
        members.insert("scopes_supported".into(), json!(scopes));
    }
    members.insert("bearer_methods_supported".into(), json!(["header"]));
    members.insert("resource_name".into(), app.name.as_str().into());
    Ok(Json::Object(members))
}

/// The URL of the resource, as its author wrote it: clients and tokens name the same bytes.
fn url_of(app: &App, resource: &ProtectedResource, env: &dyn Env, request: &Request) -> Result<String, Unavailable> {
    match &resource.url {
        ResourceUrl::Url(template) => filled("server.resource", template, env, check_resource).map_err(Unavailable::Wrong),
        ResourceUrl::Host => {
            let (host, is_loopback) = http::public_host(request, &app.server.hosts).ok_or(Unavailable::Elsewhere)?;
            let (scheme, default) = if is_loopback && !request.is_tls { ("http", ":80") } else { ("https", ":443") };
            let host = host.strip_suffix(default).unwrap_or(&host);
            let path = app.server.path.trim_end_matches('/');
            Ok(format!("{scheme}://{host}{path}"))
        }
    }
}

/// A setting with its variables filled in.
///
/// # Errors
/// What is wrong, for the operator: the setting and the variable, never a value.
fn filled(setting: &str, template: &EnvTemplate, env: &dyn Env, check: fn(&str) -> Result<(), &'static str>) -> Result<String, String> {
    let mut text = String::new();
    let mut variables = Vec::new();
    for part in &template.0 {
        match part {
            EnvPart::Text(literal) => text.push_str(literal),
            EnvPart::Env(name) => {
                variables.push(name.as_str());
                let value = env.var(name).ok_or_else(|| format!("`{setting}` needs the variable `{name}`, which is not set"))?;
                text.push_str(value.expose());
            }
            // The bundler lets none pass: the URL is public.
            EnvPart::Secret(secret) => return Err(format!("`{setting}` names `{secret}`, and is shown to everybody")),
            EnvPart::Caller(source) => return Err(format!("`{setting}` names `{source}`, and is the same for everybody")),
        }
    }
    match check(&text) {
        Ok(()) => Ok(text),
        Err(problem) => Err(format!("`{setting}`, from the variable `{}`, {problem}", variables.join("`, `"))),
    }
}

/// What is wrong with a URL of `server.resource`.
///
/// # Errors
/// A clause: it is not the canonical URL of a resource ([RFC 8707, section
/// 2](https://www.rfc-editor.org/rfc/rfc8707#section-2)).
pub fn check_resource(text: &str) -> Result<(), &'static str> {
    check_issuer(text)?;
    if text.ends_with('/') { Err("ends with a slash") } else { Ok(()) }
}

/// What is wrong with a URL of `server.authorization_servers`.
///
/// # Errors
/// A clause: it is not the identifier of an issuer ([RFC 8414, section
/// 2](https://www.rfc-editor.org/rfc/rfc8414#section-2)).
pub fn check_issuer(text: &str) -> Result<(), &'static str> {
    if text.contains('?') {
        return Err("has a `?`");
    }
    let url = Url::parse(text)?;
    let is_loopback = matches!(url.server.host, "localhost" | "127.0.0.1" | "::1");
    if url.scheme != "https" && !(url.scheme == "http" && is_loopback) {
        return Err("does not begin with `https://`");
    }
    let place = text.split("://").nth(1).unwrap_or_default();
    let place = place.split('/').next().unwrap_or_default();
    if !text.starts_with(&url.scheme) || place.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err("has a capital letter in its scheme or host");
    }
    if text.bytes().any(|byte| b"\"<>\\^`{|}".contains(&byte)) {
        return Err("contains a character that a URL cannot have");
    }
    match (url.scheme.as_str(), url.server.port) {
        ("https", Some(443)) | ("http", Some(80)) => Err("names the port that it has anyway"),
        _ => Ok(()),
    }
}

impl App {
    /// What to tell the operator of a host where a variable of `server.resource` or
    /// `server.authorization_servers` is missing or wrong.
    #[must_use]
    pub fn sign_in_problem(&self, env: &dyn Env) -> Option<String> {
        let resource = self.authorization.resource.as_ref()?;
        let url = match &resource.url {
            ResourceUrl::Url(template) => filled("server.resource", template, env, check_resource).err(),
            ResourceUrl::Host => None,
        };
        let servers = || {
            let mut servers = resource.authorization_servers.iter();
            servers.find_map(|server| filled("server.authorization_servers", server, env, check_issuer).err())
        };
        url.or_else(servers).map(|problem| format!("clients cannot find out where to sign in: {problem}"))
    }
}

/// The path of a URL.
fn path_of(url: &str) -> &str {
    UrlParts::of(url).map_or("", |url| url.rest)
}

/// Where the metadata of a resource is: between its host and its path.
fn metadata_url(resource: &str) -> String {
    let path = path_of(resource);
    let origin = &resource[..resource.len() - path.len()];
    format!("{origin}{WELL_KNOWN}{path}")
}

/// The value of `WWW-Authenticate`. A caller that sent no token is told of no error.
pub(super) fn challenge(pipeline: &Pipeline, request: &Request, refusal: &Refusal, scopes: &[String]) -> String {
    let app = pipeline.app();
    let mut challenge = format!(r#"Bearer realm="{}""#, app.name.replace(['"', '\\'], ""));
    let is_forbidden = matches!(refusal, Refusal::Forbidden(_));
    if is_forbidden {
        challenge.push_str(r#", error="insufficient_scope""#);
    } else if request.headers.first("authorization").is_some() {
        challenge.push_str(r#", error="invalid_token""#);
    }
    let resource = app.authorization.resource.as_ref();
    if is_forbidden || resource.is_some() {
        let scopes = listed(scopes);
        if !scopes.is_empty() {
            challenge.push_str(&format!(r#", scope="{scopes}""#));
        }
    }
    if let Some(url) = resource.and_then(|resource| url_of(app, resource, &*pipeline.ports().env, request).ok()) {
        challenge.push_str(&format!(r#", resource_metadata="{}""#, metadata_url(&url)));
    }
    challenge
}

/// The member of `_meta` in which OpenAI's clients look for challenges.
pub(super) const META_CHALLENGES: &str = "mcp/www_authenticate";

/// A challenge as it is in a result, for clients that do not see HTTP: they sign in where it names
/// an error, with a sentence for their user.
pub(super) fn challenge_in_result(challenge: &str, refusal: &Refusal) -> String {
    let said = if matches!(refusal, Refusal::Forbidden(_)) { "This needs more rights than you granted." } else { "Sign in to use this." };
    let error = if challenge.contains(", error=\"") { "" } else { ", error=\"invalid_token\"" };
    format!("{challenge}{error}, error_description=\"{said}\"")
}

/// Scopes with blanks between, those left out that cannot stand in a quoted string.
fn listed(scopes: &[String]) -> String {
    let mut text = String::new();
    for scope in scopes.iter().filter(|scope| is_scope(scope) && *scope != OFFLINE_ACCESS) {
        if text.len() + scope.len() >= MOST_SCOPE_BYTES {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(scope);
    }
    text
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;

    use super::*;

    #[test]
    fn metadata_is_between_host_and_path() {
        let cases = [
            ("https://mcp.example.com/mcp", "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"),
            ("https://mcp.example.com", "https://mcp.example.com/.well-known/oauth-protected-resource"),
            ("https://example.com:8443/v1/mcp", "https://example.com:8443/.well-known/oauth-protected-resource/v1/mcp"),
            ("http://[::1]:8080/mcp", "http://[::1]:8080/.well-known/oauth-protected-resource/mcp"),
        ];
        for (resource, expected) in cases {
            assert_eq!(check_resource(resource), Ok(()), "{resource}");
            assert_eq!(metadata_url(resource), expected);
        }
    }

    #[test]
    fn urls_are_canonical() {
        let cases = [
            ("", "is not a URL"),
            ("mcp.example.com/mcp", "is not a URL"),
            ("https://", "names no host"),
            ("http://mcp.example.com/mcp", "does not begin with `https://`"),
            ("http://localhost.example.com/mcp", "does not begin with `https://`"),
            ("ftp://localhost/mcp", "does not begin with `https://`"),
            ("HTTPS://mcp.example.com/mcp", "has a capital letter in its scheme or host"),
            ("https://MCP.example.com/mcp", "has a capital letter in its scheme or host"),
            ("https://mcp.example.com:443/mcp", "names the port that it has anyway"),
            ("http://localhost:80/mcp", "names the port that it has anyway"),
            ("https://mcp.example.com/mcp#x", "has a `#`"),
            ("https://mcp.example.com/mcp?x=1", "has a `?`"),
            ("https://user@mcp.example.com/mcp", "has a user name"),
            ("https://mcp.example.com/m\"cp", "contains a character that a URL cannot have"),
            ("https://mcp.example.com/m\\cp", "contains a character that a URL cannot have"),
            ("https://mcp.example.com/m cp", "contains a space or another character that a URL cannot have"),
            ("https://mcp.example.com/m\r\nx: y", "contains a space or another character that a URL cannot have"),
            ("https://mcp.example.com/é", "contains a space or another character that a URL cannot have"),
        ];
        for (text, problem) in cases {
            assert_eq!(check_issuer(text), Err(problem), "{text}");
            assert_eq!(check_resource(text), Err(problem), "{text}");
        }
        assert_eq!(check_resource("https://login.example.com/"), Err("ends with a slash"));
        assert_eq!(check_issuer("https://login.example.com/"), Ok(()));
        assert_eq!(check_issuer("https://login.example.com/Realms/One"), Ok(()));
    }

    #[test]
    fn scopes_of_a_challenge_stay_within_their_quotes() {
        let scopes = ["orders:read", "a\", x=\"", "", "b c", "offline_access", "ä", "b"].map(ToOwned::to_owned);
        assert_eq!(listed(&scopes), "orders:read b");
        let many: Vec<String> = (0..2000).map(|number| format!("scope-{number}")).collect();
        let text = listed(&many);
        assert!(text.len() <= MOST_SCOPE_BYTES && text.len() > MOST_SCOPE_BYTES - 16);
    }
}
