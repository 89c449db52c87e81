//! How a Worker sends something to a collector.

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{HttpClient, HttpRequest},
};

use crate::settings::Destination;

/// The longest answer of a collector that is read.
const LONGEST_ANSWER: usize = 64 << 10;

/// Sends a body to a collector.
///
/// # Errors
/// Nobody is there, or refuses it.
pub(crate) async fn post(http: &dyn HttpClient, to: &Destination, now_ms: u64, body: Vec<u8>, of: &str) -> Result<()> {
    let mut headers = to.headers.clone();
    headers.append("content-type", "application/json");
    let request = HttpRequest {
        method: "POST".to_owned(),
        url: to.url.clone(),
        headers,
        body,
        deadline_ms: now_ms.saturating_add(to.timeout_ms),
        max_response_bytes: LONGEST_ANSWER,
        ..HttpRequest::default()
    };
    match http.send(request).await?.status {
        200..300 => Ok(()),
        status => Err(Error::new(ErrorKind::Unavailable, format!("the collector of {of} answered with status {status}"))),
    }
}
