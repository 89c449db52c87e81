use alloc::{string::String, vec::Vec};

use super::LocalFuture;
use crate::{Result, headers::Headers};

/// One outgoing request.
#[derive(Clone, Debug)]
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
    /// Refuse an address that is not public.
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
pub trait HttpClient {
    /// Sends the request.
    ///
    /// # Errors
    /// [`TimedOut`](crate::ErrorKind::TimedOut) at the deadline,
    /// [`TooLarge`](crate::ErrorKind::TooLarge) past `max_response_bytes`,
    /// [`Unavailable`](crate::ErrorKind::Unavailable) where no connection could be opened,
    /// [`Protocol`](crate::ErrorKind::Protocol) for anything that is not HTTP.
    fn send(&self, request: HttpRequest) -> LocalFuture<'_, Result<HttpResponse>>;
}
