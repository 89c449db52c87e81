//! Outgoing HTTP on the crate `reqwest`.
//!
//! No redirect is followed, no proxy is taken from the environment, and no cookie is kept. What a
//! server encoded is decoded; the client itself asks for no encoding. TLS is rustls with the
//! certificates that the operating system trusts.
//!
//! Requests for public addresses alone have a client of their own, so that they use no connection
//! of other requests.

use std::{cell::OnceCell, net::IpAddr, rc::Rc, sync::Arc, time::Duration};

use millrace_core::{
    Error, ErrorKind, Result,
    headers::Headers,
    ports::{Clock, HttpClient, HttpRequest, HttpResponse, LocalFuture},
    public_address,
};
use reqwest::{Client, ClientBuilder, Method, Url, redirect::Policy};

use crate::{
    decoding::{self, Undecodable},
    names::{self, Lookup, Names, NotPublic},
    tls,
};

/// Fields that are the client's own business.
const OWN_FIELDS: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "upgrade"];

/// Outgoing HTTP of one isolate. Starts at the first request; keeps connections open for the next
/// ones.
pub struct NativeHttpClient {
    /// Reaches whatever is asked for.
    client: OnceCell<Client>,
    /// Reaches public addresses alone.
    public_client: OnceCell<Client>,
    lookup: Lookup,
    clock: Rc<dyn Clock>,
}

impl NativeHttpClient {
    /// Makes a client. Takes no memory to speak of before its first request.
    #[must_use]
    pub fn new(clock: Rc<dyn Clock>) -> Self {
        Self::with_lookup(clock, names::system())
    }

    /// Makes a client that asks for the addresses of names elsewhere than at the operating system.
    #[must_use]
    pub fn with_lookup(clock: Rc<dyn Clock>, lookup: Lookup) -> Self {
        Self { client: OnceCell::new(), public_client: OnceCell::new(), lookup, clock }
    }

    fn client(&self, public_only: bool) -> Result<&Client> {
        let kept = if public_only { &self.public_client } else { &self.client };
        if let Some(client) = kept.get() {
            return Ok(client);
        }
        let names = Names::new(self.lookup.clone(), public_only);
        let client = builder().dns_resolver(Arc::new(names)).build().map_err(|error| unusable(&error))?;
        Ok(kept.get_or_init(|| client))
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse> {
        let url = Url::parse(&request.url).map_err(|_| Error::new(ErrorKind::Configuration, "the URL of a request is malformed"))?;
        // The URL as it is sent, so that nobody reads its host otherwise.
        if request.public_only {
            public_address::judge(url.as_str())?;
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| Error::new(ErrorKind::Configuration, format!("a request to `{host}` has a method that HTTP does not allow")))?;
        let mut builder = self.client(request.public_only)?.request(method, url).body(request.body);
        for (name, value) in request.headers.iter().filter(|(name, _)| !OWN_FIELDS.contains(name)) {
            builder = builder.header(name, value);
        }
        let mut response = builder.send().await.map_err(|error| classify(error, &host))?;
        let too_large = || {
            let message = format!("the response of `{host}` is longer than {} bytes", request.max_response_bytes);
            Error::new(ErrorKind::TooLarge, message)
        };
        if response.content_length().is_some_and(|length| length > request.max_response_bytes as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| classify(error, &host))? {
            if body.len() + chunk.len() > request.max_response_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        let headers: Headers =
            response.headers().iter().map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()))).collect();
        let body = decoding::decoded(&headers, body, request.max_response_bytes).map_err(|error| match error {
            Undecodable::TooLarge => too_large(),
            Undecodable::Damaged(error) => {
                let message = format!("the response of `{host}` is not what its `content-encoding` says");
                Error::new(ErrorKind::Protocol, message).with_source(error.to_string())
            }
        })?;
        Ok(HttpResponse { status: response.status().as_u16(), headers, body })
    }
}

impl HttpClient for NativeHttpClient {
    fn send(&self, request: HttpRequest) -> LocalFuture<'_, Result<HttpResponse>> {
        Box::pin(async move {
            let left = Duration::from_millis(request.deadline_ms.saturating_sub(self.clock.now_ms()));
            match tokio::time::timeout(left, self.exchange(request)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(Error::new(ErrorKind::TimedOut, "an HTTP request was not answered before its deadline")),
            }
        })
    }
}

/// A client that does what it is asked, and no more.
pub(crate) fn builder() -> ClientBuilder {
    // Another isolate may have been first; the provider is the same.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().redirect(Policy::none()).no_proxy().referer(false)
}

/// The longest answer of a server about itself that is read, in bytes.
const LONGEST_STATUS: usize = 4 << 10;

/// Gets a URL of a server that says how it is: the status, and the beginning of the body. The
/// certificate of a server on this machine's loopback is not verified: what goes there leaves the
/// machine nowhere, and the certificate names the public host.
///
/// Has to be called on an isolate.
///
/// # Errors
/// There is no response, or none in time.
pub async fn status(url: &str, limit: Duration) -> Result<(u16, String)> {
    let url = Url::parse(url).map_err(|error| Error::new(ErrorKind::Configuration, format!("`{url}` is not a URL: {error}")))?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let client = builder().tls_danger_accept_invalid_certs(is_loopback).build();
    let client = client.map_err(|error| unusable(&error))?;
    let exchange = async {
        let mut response = client.get(url).send().await.map_err(|error| classify(error, &host))?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| classify(error, &host))? {
            body.extend_from_slice(&chunk);
            if body.len() >= LONGEST_STATUS {
                body.truncate(LONGEST_STATUS);
                break;
            }
        }
        Ok((response.status().as_u16(), String::from_utf8_lossy(&body).into_owned()))
    };
    let late = |_| Err(Error::new(ErrorKind::TimedOut, format!("`{host}` did not answer within {} s", limit.as_secs())));
    tokio::time::timeout(limit, exchange).await.unwrap_or_else(late)
}

pub(crate) fn unusable(error: &reqwest::Error) -> Error {
    Error::new(ErrorKind::Configuration, format!("the HTTP client cannot start{}", tls::remedy(&words(error)))).with_source(words(error))
}

pub(crate) fn classify(error: reqwest::Error, host: &str) -> Error {
    if NotPublic::caused(&error) {
        return public_address::refusal(host);
    }
    let (kind, message) = if error.is_timeout() {
        (ErrorKind::TimedOut, format!("`{host}` did not answer in time"))
    } else if error.is_connect() {
        (ErrorKind::Unavailable, format!("could not connect to `{host}`"))
    } else if error.is_builder() {
        (ErrorKind::Configuration, format!("a request to `{host}` is malformed"))
    } else {
        (ErrorKind::Protocol, format!("`{host}` closed the connection, or its response is not HTTP"))
    };
    Error::new(kind, message).with_source(words(&error.without_url()))
}

/// An error and what caused it, outermost first.
pub(crate) fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
