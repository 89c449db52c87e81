use alloc::{string::String, vec::Vec};

use super::LocalFuture;
use crate::{Result, headers::Headers};

/// One outgoing request. A field that is not named has a default by `..HttpRequest::default()`,
/// with which no request succeeds: its deadline is over.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest {
    /// `GET`, `POST`, …
    pub method: String,
    /// Absolute URL, `http` or `https`.
    pub url: String,
    /// Header fields as sent; `host` and `content-length` are the client's.
    pub headers: Headers,
    /// The whole body.
    pub body: Vec<u8>,
    /// When to give up, in milliseconds since the Unix epoch; covers the body of the response, too.
    pub deadline_ms: u64,
    /// The longest body to read, in bytes.
    pub max_response_bytes: usize,
    /// Whether to reach [public addresses](crate::public_address) alone. `false`, the default,
    /// reaches whatever the URL names.
    pub public_only: bool,
}

/// A whole response.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Header fields as received.
    pub headers: Headers,
    /// The whole body, content encodings undone.
    pub body: Vec<u8>,
}

/// Sends one HTTP request and reads the whole response.
///
/// An implementation does not retry, follows no redirect (a 302 is an [`HttpResponse`]: who may go
/// where is decided by the core), and does not turn a status into an error: a 500 is an
/// [`HttpResponse`].
///
/// Where a request is [`public_only`](HttpRequest::public_only), the implementation refuses what
/// [`judge`](crate::public_address::judge) refuses of the URL as it reads it, and connects to no
/// address that [`is_public`](crate::public_address::is_public) refuses, if it resolves names
/// itself.
pub trait HttpClient {
    /// Sends the request.
    ///
    /// # Errors
    /// [`TimedOut`](crate::ErrorKind::TimedOut) at the deadline,
    /// [`TooLarge`](crate::ErrorKind::TooLarge) past `max_response_bytes`,
    /// [`Denied`](crate::ErrorKind::Denied) where `public_only` forbids the address: nothing was
    /// sent,
    /// [`Unavailable`](crate::ErrorKind::Unavailable) where no connection could be opened,
    /// [`Protocol`](crate::ErrorKind::Protocol) for anything that is not HTTP.
    fn send(&self, request: HttpRequest) -> LocalFuture<'_, Result<HttpResponse>>;
}
