//! Outgoing HTTP on the platform's `fetch`.
//!
//! No redirect is followed, nothing is kept by the platform's cache, the deadline covers the body,
//! and reading stops at the limit. A request that nobody waits for any more is ended.
//!
//! The platform does not tell a connection that could not be opened from one that broke off after
//! the request was sent. So both are [`Protocol`](ErrorKind::Protocol): whoever takes the one for
//! the other would send a change twice.
//!
//! Names are resolved by the platform, which tells no address. So a request for public addresses
//! alone is judged by its URL.

use futures_util::future::{Either, select};
use js_sys::{Array, Uint8Array, futures::JsFuture};
use millrace_core::{
    Error, ErrorKind, Result,
    headers::Headers,
    ports::{Clock as _, HttpClient, HttpRequest, HttpResponse, LocalFuture},
    url::{Authority, UrlParts},
};
use wasm_bindgen::{JsCast as _, JsValue};

use crate::{
    clock::WorkerClock,
    glue::{self, Sending},
};

/// Fields that are the platform's own business.
const OWN_FIELDS: [&str; 6] = ["host", "content-length", "transfer-encoding", "connection", "accept-encoding", "upgrade"];

/// `fetch`.
pub(crate) struct FetchClient;

impl HttpClient for FetchClient {
    fn send(&self, request: HttpRequest) -> LocalFuture<'_, Result<HttpResponse>> {
        Box::pin(async move {
            let left_ms = request.deadline_ms.saturating_sub(WorkerClock.now_ms());
            if left_ms == 0 {
                return Err(timed_out());
            }
            let fields = glue::lines(request.headers.iter().filter(|(name, _)| !OWN_FIELDS.contains(name)));
            let body = Uint8Array::from(request.body.as_slice());
            let limit = request.max_response_bytes;
            let url = if request.public_only { public_url(&request.url)? } else { request.url };
            let sending = Sending::begin();
            let answer = glue::send(&request.method, &url, &fields, body, limit as f64, sending.controller());
            match select(JsFuture::from(answer), WorkerClock.sleep(left_ms)).await {
                Either::Left((Ok(answer), _)) => response(&answer.unchecked_into()),
                Either::Left((Err(thrown), _)) => Err(failure(&thrown.unchecked_into(), &host(&url), limit)),
                Either::Right(_) => Err(timed_out()),
            }
        })
    }
}

/// A URL that may lead to a public address, as the platform reads it: nobody reads its host
/// otherwise.
#[cfg(feature = "databases")]
fn public_url(url: &str) -> Result<String> {
    let url = glue::PlatformUrl::new(url).map_err(|_| Error::new(ErrorKind::Configuration, "the URL of a request is malformed"))?;
    let url = url.href();
    millrace_core::public_address::judge(&url)?;
    Ok(url)
}

/// The drivers that send such requests are in runtimes with the feature.
#[cfg(not(feature = "databases"))]
fn public_url(_: &str) -> Result<String> {
    Err(Error::new(ErrorKind::Denied, "this runtime cannot tell public addresses from others"))
}

fn response(answer: &Array) -> Result<HttpResponse> {
    let status = answer.get(0).as_f64().unwrap_or_default() as u16;
    let text = answer.get(1).as_string().unwrap_or_default();
    let mut lines = text.split('\n');
    let mut headers = Headers::new();
    while let (Some(name), Some(value)) = (lines.next(), lines.next()) {
        headers.append(name, value);
    }
    let body: Uint8Array = answer.get(2).unchecked_into();
    Ok(HttpResponse { status, headers, body: body.to_vec() })
}

fn failure(thrown: &Array, host: &str, limit: usize) -> Error {
    let text = |value: JsValue| value.as_string().unwrap_or_default();
    let (kind, message) = match text(thrown.get(0)).as_str() {
        "large" => return Error::new(ErrorKind::TooLarge, format!("the response of `{host}` is longer than {limit} bytes")),
        "request" => (ErrorKind::Configuration, format!("a request to `{host}` is malformed")),
        "connect" => (ErrorKind::Protocol, format!("could not connect to `{host}`, or it closed the connection before it answered")),
        _ => (ErrorKind::Protocol, format!("`{host}` closed the connection, or its response is not HTTP")),
    };
    Error::new(kind, message).with_source(text(thrown.get(1)))
}

fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "an HTTP request was not answered before its deadline")
}

/// The host in a URL, for messages: no user, no port, no path.
fn host(url: &str) -> String {
    let server = UrlParts::of(url).and_then(|url| Authority::parse(url.authority).ok());
    server.map_or_else(String::new, |server| server.written_host.to_owned())
}
