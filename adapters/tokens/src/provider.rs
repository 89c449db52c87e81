//! An issuer's server: its metadata ([OpenID Connect
//! Discovery](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig), [RFC
//! 8414](https://www.rfc-editor.org/rfc/rfc8414#section-3)) and its key set.

use millrace_core::{
    Error, ErrorKind, Json,
    headers::Headers,
    ports::{HttpClient, HttpRequest, HttpResponse},
    url::{Url, scheme_and_rest},
};

use crate::{
    compact::shown,
    jwk::{KeySet, LONGEST_SET},
    strict_json,
};

/// The longest metadata, in bytes.
const LONGEST_METADATA: usize = 64 << 10;
/// How many redirects are followed, all on one server.
const MOST_REDIRECTS: usize = 3;
/// How long a key set is good, in seconds: without a word of its server, and at least and at most
/// whatever that says.
const LIFETIME_S: u64 = 600;
const LEAST_LIFETIME_S: u64 = 300;
const MOST_LIFETIME_S: u64 = 24 * 3600;

/// Checks the URL of an issuer or of its keys: `https`, or `http` to this machine.
///
/// # Errors
/// A clause about the URL, which shows nothing of it.
pub fn check_url(text: &str) -> Result<(), &'static str> {
    let url = Url::parse(text)?;
    let is_here = url.server.host == "localhost" || url.server.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match url.scheme.as_str() {
        "https" => Ok(()),
        "http" if is_here => Ok(()),
        "http" => Err("is an `http` URL: whoever is on the way could change what it says; use `https`"),
        _ => Err("is neither an `https` nor an `http` URL"),
    }
}

/// Where a key set comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// Where the metadata of this issuer says.
    Issuer(&'a str),
    /// This URL.
    Url(&'a str),
}

/// Why there is no key set. The text is for the log, and has no URL of the policy in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It can pass by itself.
    Passing(String),
    /// The operator has to act.
    Lasting(String),
}

impl Failure {
    pub(crate) fn reason(&self) -> &str {
        let (Self::Passing(reason) | Self::Lasting(reason)) = self;
        reason
    }
}

/// A key set from its server.
pub(crate) struct Fetched {
    pub(crate) text: Vec<u8>,
    pub(crate) keys: KeySet,
    /// How long it is good, in seconds.
    pub(crate) lifetime_s: u64,
}

/// Fetches a key set.
///
/// # Errors
/// The server does not answer, or what it answers is not what it must be.
pub(crate) async fn fetch(http: &dyn HttpClient, origin: Origin<'_>, deadline_ms: u64) -> Result<Fetched, Failure> {
    let url = match origin {
        Origin::Url(url) => url.to_owned(),
        Origin::Issuer(issuer) => key_set_url(http, issuer, deadline_ms).await?,
    };
    check_url(&url).map_err(|why| Failure::Lasting(format!("the URL of the key set {why}")))?;
    let response = get(http, url, LONGEST_SET, deadline_ms).await?;
    check_status(&response, "the URL of the key set")?;
    let keys = KeySet::parse(&response.body).map_err(|why| Failure::Lasting(format!("what is at the URL of the key set {why}")))?;
    Ok(Fetched { keys, lifetime_s: lifetime_s(&response.headers), text: response.body })
}

/// `jwks_uri` of the issuer's metadata.
async fn key_set_url(http: &dyn HttpClient, issuer: &str, deadline_ms: u64) -> Result<String, Failure> {
    let lasting = |why: String| Err(Failure::Lasting(why));
    if let Err(why) = check_url(issuer) {
        return lasting(format!("the issuer {why}, so its metadata cannot be found; set `jwks`, `keys` or `secret`"));
    }
    let base = issuer.trim_end_matches('/');
    let (scheme, rest) = scheme_and_rest(base).unwrap_or(("https", base));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let places = [
        format!("{base}/.well-known/openid-configuration"),
        format!("{scheme}://{authority}/.well-known/oauth-authorization-server{path}"),
    ];
    let mut status = 0;
    for place in places {
        let response = get(http, place, LONGEST_METADATA, deadline_ms).await?;
        if response.status != 200 {
            check_status(&response, "the issuer's metadata").or_else(|failure| match failure {
                Failure::Passing(_) => Err(failure),
                Failure::Lasting(_) => Ok(()),
            })?;
            status = response.status;
            continue;
        }
        let metadata = match strict_json::object(&response.body) {
            Ok(metadata) => metadata,
            Err(why) => return lasting(format!("the issuer's metadata {why}")),
        };
        let text = |name: &str| metadata.get(name).and_then(Json::as_str);
        return match (text("issuer"), text("jwks_uri")) {
            (Some(found), _) if found != issuer => {
                lasting(format!("its metadata is of the issuer `{}`, which must be the policy's to the letter", shown(found)))
            }
            (Some(_), Some(url)) => Ok(url.to_owned()),
            (None, _) => lasting("the issuer's metadata has no `issuer`".to_owned()),
            (_, None) => lasting("the issuer's metadata has no `jwks_uri`".to_owned()),
        };
    }
    lasting(format!("the issuer has no metadata (status {status}); set `jwks` to the URL of its key set"))
}

fn check_status(response: &HttpResponse, what: &str) -> Result<(), Failure> {
    match response.status {
        200 => Ok(()),
        status @ (408 | 425 | 429 | 500..) => Err(Failure::Passing(format!("{what} answers with status {status}"))),
        status => Err(Failure::Lasting(format!("{what} answers with status {status}"))),
    }
}

/// Gets a URL. Redirects are followed where they stay on the server.
async fn get(http: &dyn HttpClient, mut url: String, most: usize, deadline_ms: u64) -> Result<HttpResponse, Failure> {
    for _ in 0..=MOST_REDIRECTS {
        let mut headers = Headers::new();
        headers.append("accept", "application/json");
        // Some servers answer nobody without one.
        headers.append("user-agent", "millrace");
        let request = HttpRequest {
            method: "GET".into(),
            url: url.clone(),
            headers,
            deadline_ms,
            max_response_bytes: most,
            ..HttpRequest::default()
        };
        let response = http.send(request).await.map_err(|error| of_error(&error))?;
        if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
            return Ok(response);
        }
        let location = response.headers.first("location").unwrap_or_default();
        url = next(&url, location).ok_or_else(|| {
            Failure::Lasting("the issuer's server redirects to another one, which is not followed; name that one in `jwks`".to_owned())
        })?;
    }
    Err(Failure::Lasting(format!("the issuer's server redirects more than {MOST_REDIRECTS} times")))
}

/// Where a redirect leads, unless that is another server.
fn next(url: &str, location: &str) -> Option<String> {
    let start = |url: &str| {
        let (scheme, rest) = scheme_and_rest(url)?;
        let authority = rest.split(['/', '?', '#']).next()?;
        Some(format!("{scheme}://{authority}").to_ascii_lowercase())
    };
    let here = start(url)?;
    let is_path = location.starts_with('/') && !location.starts_with("//") && !location.starts_with("/\\");
    let next = if is_path { format!("{here}{location}") } else { location.to_owned() };
    (start(&next)? == here && Url::parse(&next).is_ok()).then_some(next)
}

fn of_error(error: &Error) -> Failure {
    let mut reason = error.message.clone();
    if let Some(source) = &error.source {
        reason = format!("{reason}: {}", shown(source));
    }
    match error.kind {
        ErrorKind::TooLarge | ErrorKind::Configuration => Failure::Lasting(reason),
        _ => Failure::Passing(reason),
    }
}

/// How long a response says that it is good, within limits.
fn lifetime_s(headers: &Headers) -> u64 {
    let said = headers.all("cache-control").flat_map(|value| value.split(',')).find_map(|part| {
        let (name, value) = part.trim().split_once('=')?;
        name.eq_ignore_ascii_case("max-age").then(|| value.trim().trim_matches('"').parse::<u64>().ok())?
    });
    said.unwrap_or(LIFETIME_S).clamp(LEAST_LIFETIME_S, MOST_LIFETIME_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_on_their_server() {
        let from = "https://Issuer.example:8443/a/keys?x=1";
        let stays = |location: &str| next(from, location);
        assert_eq!(stays("/b"), Some("https://issuer.example:8443/b".to_owned()));
        assert_eq!(stays("https://issuer.example:8443/b"), Some("https://issuer.example:8443/b".to_owned()));
        for elsewhere in [
            "",
            "b",
            "//evil.example/b",
            "/\\evil.example/b",
            "http://issuer.example:8443/b",
            "https://issuer.example/b",
            "https://issuer.example:8443@evil.example/b",
            "https://issuer.example:8443.evil.example/b",
            "https://evil.example/b",
            "javascript:1",
        ] {
            assert_eq!(stays(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn lifetimes_have_limits() {
        for (said, lifetime) in [
            ("", 600),
            ("public, max-age=3600", 3600),
            ("Max-Age=\"900\"", 900),
            ("max-age=1", 300),
            ("no-store", 600),
            ("max-age=99999999", 86_400),
            ("max-age=x", 600),
        ] {
            let mut headers = Headers::new();
            headers.append("cache-control", said);
            assert_eq!(lifetime_s(&headers), lifetime, "{said}");
        }
    }

    #[test]
    fn keys_come_over_tls_or_from_this_machine() {
        for good in ["https://a.example/x?y=1", "http://127.0.0.1:80/x", "http://localhost/x", "http://[::1]:8080"] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        for bad in
            ["http://a.example", "http://127.0.0.1.example/", "http://10.0.0.1/", "ftp://a.example", "a.example", "https://u:p@a/x", ""]
        {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
