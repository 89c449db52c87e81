//! How a Worker sends something to a collector.

use std::{cell::Cell, rc::Rc};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{HttpClient, HttpRequest},
};

use crate::settings::Destination;

/// The longest answer of a collector that is read.
const LONGEST_ANSWER: usize = 64 << 10;
/// How late a turn of sending may be before it counts as lost, in milliseconds.
const SLACK_MS: u64 = 1000;

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

/// The turn of a sender, as the time by which it is over; over, by whatever way, when it is
/// dropped.
pub(crate) struct SendTurn(Rc<Cell<u64>>);

impl SendTurn {
    pub(crate) fn of(until_ms: &Rc<Cell<u64>>) -> Self {
        Self(until_ms.clone())
    }

    /// Goes on until then, and as much longer as may be late.
    pub(crate) fn goes_on_until(&self, until_ms: u64) {
        self.0.set(until_ms.saturating_add(SLACK_MS));
    }
}

impl Drop for SendTurn {
    fn drop(&mut self) {
        self.0.set(0);
    }
}
