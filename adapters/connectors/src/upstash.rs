//! `connector: upstash`: a Redis database of Upstash, or of a server with its REST API, over HTTP.
//!
//! In go the arguments of one command, as a JSON array in the body of a `POST`; out come the rows
//! that connector `redis` has for the same command. What a command may do, and what its reply
//! means, is decided in one place for both.
//!
//! # Values
//!
//! Replies are asked for in base64 (`Upstash-Encoding`), so that bytes that are not UTF-8 arrive
//! whole; only the word `OK` and numbers come as they are. A server that ignores the header cannot
//! be understood, and is an error. Arguments are JSON, which has no bytes: an argument that is not
//! UTF-8 is refused.
//!
//! # Time
//!
//! As in connector [`libsql`](crate::libsql).
//!
//! Protocol: <https://upstash.com/docs/redis/features/restapi>.

mod address;
mod reply;

use std::rc::Rc;

use millrace_catalogue::UPSTASH;
use millrace_core::{
    Error, ErrorKind, Result,
    headers::Headers,
    ports::{Clock, Command, Connection, Connector, HttpClient, HttpRequest, LocalFuture, Query, Random},
    value::{Rows, Value},
};

use crate::{
    redis_commands::{ErrorPlace, PING, Prepared, failure_of, rows_of},
    shared::{Retry, StatementFailure, own_query, within_limits},
};
use address::UpstashAddress;

/// Room for what surrounds the reply in a response, in bytes.
const ENVELOPE_BYTES: usize = 1 << 16;

/// A Redis database behind its REST API.
pub struct Upstash {
    address: UpstashAddress,
    read_only: bool,
    http: Rc<dyn HttpClient>,
    retry: Retry,
}

impl Upstash {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is no URL, a
    /// missing token, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        Ok(Self {
            address: UpstashAddress::parse(connection.connection_string.expose().trim(), &connection.options)?,
            read_only: connection.read_only,
            http,
            retry: Retry::new(clock, random),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let prepared = Prepared::of(query, UPSTASH.name, &self.address.allow, self.read_only)?;
        let body = body_of(&prepared)?;
        let rows = self.retry.run(query, prepared.effect(), async || self.attempt(&prepared, &body, query).await).await?;
        within_limits(rows, query, prepared.effect())
    }

    async fn attempt(&self, prepared: &Prepared, body: &[u8], query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let mut headers = Headers::new();
        headers.append("content-type", "application/json");
        headers.append("authorization", format!("Bearer {}", self.address.token.expose()));
        headers.append("upstash-encoding", "base64");
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: self.address.url.clone(),
            headers,
            body: body.to_vec(),
            deadline_ms: query.deadline_ms,
            // Four characters for three bytes, and quotes and a comma.
            max_response_bytes: query.max_bytes.saturating_mul(2).saturating_add(ENVELOPE_BYTES),
            ..HttpRequest::default()
        };
        let response = self.http.send(request).await.map_err(|error| match error.kind {
            ErrorKind::TooLarge => StatementFailure::last(prepared.after_reply(error)),
            _ => StatementFailure::of_client(error),
        })?;
        let reply = reply::of_response(&response, query.max_bytes).map_err(|failure| match failure.error.kind {
            ErrorKind::TooLarge if response.status == 200 => StatementFailure::last(prepared.after_reply(failure.error)),
            _ => failure,
        })?;
        let (place, words) = match reply {
            Ok(reply) => {
                match rows_of(prepared, reply, query.max_rows).map_err(|error| StatementFailure::last(prepared.after_reply(error)))? {
                    Ok(rows) => return Ok(rows),
                    Err(words) => (ErrorPlace::Element, words),
                }
            }
            Err(words) => (ErrorPlace::Reply, words),
        };
        Err(failure_of(prepared, place, "the Upstash server", &words))
    }
}

/// The arguments as JSON.
fn body_of(prepared: &Prepared) -> Result<Vec<u8>> {
    let texts: std::result::Result<Vec<&str>, _> = prepared.words.iter().map(|word| std::str::from_utf8(word)).collect();
    let no_text = || Error::new(ErrorKind::Syntax, "connector `upstash` sends arguments as JSON, and a value has bytes that are not UTF-8");
    serde_json::to_vec(&texts.map_err(|_| no_text())?).map_err(|_| no_text())
}

impl Connector for Upstash {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move {
            let words = [Value::Text(PING.to_owned())];
            self.run(&Query { command: Command::Arguments(&words), ..own_query("", deadline_ms) }).await.map(|_| ())
        })
    }
}
