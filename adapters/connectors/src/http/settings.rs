//! Where an API is and what lets us in, from a connection string and the options.
//!
//! An option that is a list comes as several of the same name.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_catalogue::HTTP;
use millrace_core::{Error, ErrorKind, Result, fetch_url::FetchUrl, secret::Secret, url::Url};
use millrace_languages::http::{CLIENT_CREDENTIALS, MOST_REQUESTS, TOKEN_EXCHANGE, header_flaw, is_header_value, path_flaw};

use crate::shared::is_loopback;

/// How many requests of an isolate are under way at once, by default.
const MAX_REQUESTS: usize = 8;

/// An API, and what its adapter says of it.
pub(super) struct Settings {
    /// The base URL, without a slash at its end.
    pub(super) base: String,
    /// Its path, likewise.
    pub(super) base_path: String,
    /// The same, to compare with.
    pub(super) origin: FetchUrl,
    pub(super) credentials: Credentials,
    /// Fields of every request.
    pub(super) headers: Vec<(String, String)>,
    pub(super) idempotency_header: Option<String>,
    /// Where a redirect may lead to, beside the origin.
    pub(super) redirects: Vec<FetchUrl>,
    pub(super) max_requests: usize,
    /// Only public addresses are connected to.
    pub(super) public_only: bool,
}

/// What lets us in.
pub(super) enum Credentials {
    None,
    /// A header field, by its name and its value.
    Header(String, Secret<String>),
    /// A field of the query.
    Query(String, Secret<String>),
    /// A token that is fetched.
    Client(Client),
}

/// A client of an authorization server.
pub(super) struct Client {
    pub(super) token_url: String,
    pub(super) id: String,
    pub(super) secret: Secret<String>,
    /// The token is the caller's, in exchange for its own.
    pub(super) exchanges: bool,
    /// What else is asked for, by the names of the fields.
    pub(super) asks: Vec<(&'static str, String)>,
}

/// The options that are set, by their names.
struct Options(Vec<(&'static str, String)>);

impl Options {
    fn read(options: &[(String, Secret<String>)]) -> Result<Self> {
        let mut read = Vec::new();
        for (name, value) in options {
            let Some(name) = HTTP.options.iter().copied().find(|known| known == name) else {
                let names: Vec<String> = HTTP.options.iter().map(|name| format!("`{name}`")).collect();
                let names = names.join(", ");
                return Err(configuration(format!("connector `http` has no option `{name}`; it has {names}")));
            };
            let value = value.expose().trim();
            // An empty variable means that there is no such setting.
            if !value.is_empty() {
                read.push((name, value.to_owned()));
            }
        }
        Ok(Self(read))
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Those of a list, in their order.
    fn take_all(&mut self, name: &str) -> Vec<String> {
        let (taken, kept) = std::mem::take(&mut self.0).into_iter().partition(|(known, _)| *known == name);
        self.0 = kept;
        let taken: Vec<(&str, String)> = taken;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// One that is the value of a header field.
    fn field(&mut self, name: &str) -> Result<Option<String>> {
        let value = self.take(name);
        match value.as_deref().map(is_header_value) {
            Some(false) => Err(wrong(name, "contains a character that a header field cannot have")),
            _ => Ok(value),
        }
    }

    fn header_name(&mut self, name: &str) -> Result<Option<String>> {
        let value = self.take(name);
        match value.as_deref().and_then(header_flaw) {
            Some(flaw) => Err(wrong(name, flaw)),
            None => Ok(value),
        }
    }
}

impl Settings {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(text: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let mut options = Options::read(options)?;
        let public_only = options.take("allow_private").is_none();
        let of_string = |what: &str| {
            configuration(format!(
                "the connection string of connector `http` {what}; write the URL of the API with its base path, `https://api.example.com/v1`"
            ))
        };
        let url = Url::parse(text).map_err(of_string)?;
        check_scheme(&url, public_only).map_err(of_string)?;
        if !url.settings.is_empty() || text.contains('?') {
            return Err(of_string("has a query after `?`"));
        }
        if let Some(flaw) = path_flaw(url.path) {
            return Err(of_string(&format!("has a path that {flaw}")));
        }
        let base = format!("{}://{}{}", url.scheme, url.authority, url.path);
        let origin = FetchUrl::parse(&base).map_err(|_| of_string("is not a URL that can be asked for"))?;
        let credentials = credentials(&mut options, public_only)?;
        let max_requests = match options.take("max_requests").map(|number| number.parse()) {
            None => MAX_REQUESTS,
            Some(Ok(number @ 1..=MOST_REQUESTS)) => number,
            Some(_) => return Err(wrong("max_requests", &format!("must be a whole number from 1 to {MOST_REQUESTS}"))),
        };
        Ok(Self {
            base_path: url.path.to_owned(),
            base,
            origin,
            credentials,
            headers: headers(&options.take_all("headers"))?,
            idempotency_header: options.header_name("idempotency_header")?,
            redirects: origins(&options.take_all("redirects"), public_only)?,
            max_requests,
            public_only,
        })
    }

    /// Whether each caller has credentials of its own at the API.
    pub(super) fn is_for_callers(&self) -> bool {
        matches!(&self.credentials, Credentials::Client(client) if client.exchanges)
    }

    /// Whether a URL is on the origin of the API and below its base path.
    pub(super) fn has_below(&self, url: &FetchUrl) -> bool {
        let path = url.target().split('?').next().unwrap_or_default();
        let below = path.strip_prefix(self.base_path.as_str());
        url.same_origin(&self.origin) && path_flaw(path).is_none() && below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }
}

/// What is not encrypted goes to this machine, or where the adapter says that the address is
/// private.
fn check_scheme(url: &Url<'_>, public_only: bool) -> Result<(), &'static str> {
    match url.scheme.as_str() {
        "https" => Ok(()),
        "http" if is_loopback(url.server.host) || !public_only => Ok(()),
        "http" => Err("has no TLS, which only a server on this machine, or one that `allow_private` opens, may do without"),
        _ => Err("is of another scheme"),
    }
}

fn credentials(options: &mut Options, public_only: bool) -> Result<Credentials> {
    const AUTHORIZATION: &str = "authorization";
    let mut found = Vec::new();
    if let Some(token) = options.field("bearer")? {
        found.push(Credentials::Header(AUTHORIZATION.to_owned(), Secret::new(format!("Bearer {token}"))));
    }
    if let Some(login) = options.take("basic") {
        if !login.contains(':') {
            return Err(wrong("basic", "must be a user and a password with a colon between them"));
        }
        found.push(Credentials::Header(AUTHORIZATION.to_owned(), Secret::new(format!("Basic {}", STANDARD.encode(login)))));
    }
    let place = (options.header_name("api_key_header")?, options.take("api_key_query"));
    match (options.field("api_key")?, place) {
        (Some(key), (Some(name), None)) => found.push(Credentials::Header(name.to_ascii_lowercase(), Secret::new(key))),
        (Some(key), (None, Some(name))) => found.push(Credentials::Query(name, Secret::new(key))),
        (None, (None, None)) => {}
        _ => return Err(wrong("api_key", "needs one of `api_key_header` and `api_key_query`, and they need it")),
    }
    let mut oauth = |name: &str| options.take(name);
    let named = [oauth("oauth_token_url"), oauth("oauth_client_id"), oauth("oauth_client_secret")];
    let asks = [("scope", oauth("oauth_scope")), ("audience", oauth("oauth_audience")), ("resource", oauth("oauth_resource"))];
    let asks: Vec<_> = asks.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let exchanges = match oauth("oauth_grant").as_deref() {
        None | Some(CLIENT_CREDENTIALS) => false,
        Some(TOKEN_EXCHANGE) => true,
        Some(_) => return Err(wrong("oauth_grant", "must be `client_credentials` or `token_exchange`")),
    };
    match named {
        [None, None, None] if asks.is_empty() && !exchanges => {}
        [Some(token_url), Some(id), Some(secret)] => {
            let url = Url::parse(&token_url).map_err(|what| wrong("oauth_token_url", what))?;
            check_scheme(&url, public_only).map_err(|what| wrong("oauth_token_url", what))?;
            found.push(Credentials::Client(Client { token_url, id, secret: Secret::new(secret), exchanges, asks }));
        }
        _ => return Err(wrong("oauth_token_url", "needs `oauth_client_id` and `oauth_client_secret`, and they need it")),
    }
    match found.len() {
        0 => Ok(Credentials::None),
        1 => Ok(found.swap_remove(0)),
        _ => Err(configuration("connector `http` takes one of `bearer`, `basic`, `api_key` and `oauth_token_url`".to_owned())),
    }
}

/// Texts such as `Accept-Language: de`.
fn headers(texts: &[String]) -> Result<Vec<(String, String)>> {
    let field = |text: &String| {
        let (name, value) = text.split_once(':').ok_or_else(|| wrong("headers", "takes texts such as `Accept-Language: de`"))?;
        let (name, value) = (name.trim(), value.trim());
        match header_flaw(name) {
            Some(_) => Err(wrong("headers", "has a name that a header field cannot have, or that is set by the connector")),
            None if !is_header_value(value) => Err(wrong("headers", "has a character that a header field cannot have")),
            None => Ok((name.to_ascii_lowercase(), value.to_owned())),
        }
    };
    texts.iter().map(field).collect()
}

fn origins(texts: &[String], public_only: bool) -> Result<Vec<FetchUrl>> {
    let origin = |text: &String| {
        let url = Url::parse(text).map_err(|what| wrong("redirects", &format!("names an origin that {what}")))?;
        check_scheme(&url, public_only).map_err(|what| wrong("redirects", &format!("names an origin that {what}")))?;
        if !url.path.is_empty() || text.contains('?') {
            return Err(wrong("redirects", "names origins, without a path: `https://cdn.example.com`"));
        }
        FetchUrl::parse(text).map_err(|_| wrong("redirects", "names an origin that is not a URL"))
    };
    texts.iter().map(origin).collect()
}

fn wrong(name: &str, what: &str) -> Error {
    configuration(format!("`{name}` of connector `http` {what}"))
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, options: &[(&str, &str)]) -> Result<Settings> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        Settings::parse(text, &options)
    }

    #[test]
    fn settings_are_read() {
        let options =
            [("headers", "Accept-Language: de, en"), ("headers", "X-A:b"), ("redirects", "https://cdn.example.com"), ("bearer", " t ")];
        let settings = parse("HTTPS://API.example.com:8443/v1/", &options).unwrap();
        assert_eq!((settings.base.as_str(), settings.base_path.as_str()), ("https://API.example.com:8443/v1", "/v1"));
        let fields: Vec<_> = settings.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(fields, ["accept-language=de, en", "x-a=b"]);
        assert!(settings.public_only && settings.redirects.len() == 1 && settings.max_requests == 8);
        assert!(
            matches!(&settings.credentials, Credentials::Header(name, value) if name == "authorization" && value.expose() == "Bearer t")
        );
        let basic = parse("http://127.0.0.1:1", &[("basic", "me:a:b"), ("allow_private", "own")]).unwrap();
        assert!(matches!(&basic.credentials, Credentials::Header(_, value) if value.expose() == "Basic bWU6YTpi") && !basic.public_only);
        let below = |url: &str| settings.has_below(&FetchUrl::parse(url).unwrap());
        assert!(below("https://api.example.com:8443/v1/x?y") && below("https://api.example.com:8443/v1"));
        for outside in ["/v2/x", "/v1x", "/v1/../v2", "/v1/%2e%2e/v2", "/"] {
            assert!(!below(&format!("https://api.example.com:8443{outside}")), "{outside}");
        }
        assert!(!below("http://api.example.com:8443/v1/x") && !below("https://api.example.com/v1/x"));
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let good = "https://a.example";
        for (text, options, expected) in [
            ("hunter2", &[][..], "is not a URL"),
            ("http://a.example/hunter2", &[], "has no TLS"),
            ("https://me:hunter2@a.example", &[], "has a user name"),
            ("https://a.example?key=hunter2", &[], "has a query"),
            ("https://a.example/v1/../hunter2", &[], "has a segment `.` or `..`"),
            ("ftp://a.example/hunter2", &[], "is of another scheme"),
            (good, &[("token", "hunter2")], "has no option `token`; it has `allow_private`"),
            (good, &[("bearer", "hunter2\r\nx: y")], "`bearer` of connector `http` contains a character"),
            (good, &[("basic", "hunter2")], "a colon between them"),
            (good, &[("api_key", "hunter2")], "needs one of `api_key_header` and `api_key_query`"),
            (good, &[("api_key_query", "hunter2")], "needs one of"),
            (good, &[("api_key", "hunter2"), ("api_key_header", "Host")], "is a header field that is set by the connector"),
            (good, &[("bearer", "hunter2"), ("basic", "a:hunter2")], "takes one of"),
            (good, &[("oauth_client_secret", "hunter2")], "needs `oauth_client_id`"),
            (
                good,
                &[("oauth_token_url", "http://b.example/hunter2"), ("oauth_client_id", "a"), ("oauth_client_secret", "hunter2")],
                "`oauth_token_url` of connector `http` has no TLS",
            ),
            (
                good,
                &[("oauth_token_url", good), ("oauth_client_id", "a"), ("oauth_client_secret", "b"), ("oauth_grant", "hunter2")],
                "must be `client_credentials`",
            ),
            (good, &[("headers", "hunter2")], "takes texts such as"),
            (good, &[("headers", "Authorization: hunter2")], "is set by the connector"),
            (good, &[("redirects", "https://b.example/hunter2")], "without a path"),
            (good, &[("redirects", "http://b.example")], "has no TLS"),
            (good, &[("max_requests", "hunter2")], "from 1 to 256"),
        ] {
            let Err(error) = parse(text, options) else { panic!("{text} {options:?}") };
            assert!(error.kind == ErrorKind::Configuration && error.message.contains(expected), "{text}: {}", error.message);
            assert!(!error.message.contains("hunter2"), "{}", error.message);
        }
    }
}
