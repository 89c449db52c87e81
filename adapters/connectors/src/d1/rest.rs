//! The way to D1 for hosts that are no Worker: its REST API.
//!
//! API: <https://developers.cloudflare.com/api/resources/d1/subresources/database/methods/raw/>.

mod api_error;

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind, Result,
    headers::Headers,
    ports::{Connection, HttpClient, HttpRequest, HttpResponse, LocalFuture, Query},
};
use serde::{Deserialize, Serialize};

use super::{
    Transport,
    address::D1Address,
    reply::{Reply, not_understood, place_of},
    statement::{Parameter, Prepared},
};
use crate::shared::{StatementFailure, max_response_bytes};

/// A database at the API.
pub struct Rest {
    address: D1Address,
    http: Rc<dyn HttpClient>,
}

impl Rest {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that does not name an
    /// account and a database, a missing token, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, http: Rc<dyn HttpClient>) -> Result<Self> {
        Ok(Self { address: D1Address::parse(connection.connection_string.expose().trim(), &connection.options)?, http })
    }
}

impl Transport for Rest {
    // The API takes texts only.
    fn takes_bytes(&self) -> bool {
        false
    }

    fn send<'a>(&'a self, prepared: &'a Prepared<'_>, query: &'a Query<'_>) -> LocalFuture<'a, Result<Reply, StatementFailure>> {
        Box::pin(async move {
            let request = request(&self.address, prepared, query).map_err(StatementFailure::last)?;
            let response = self.http.send(request).await.map_err(StatementFailure::of_client)?;
            parse(&response, prepared)
        })
    }

    fn send_batch<'a>(
        &'a self,
        batch: &'a [Prepared<'_>],
        author: usize,
        query: &'a Query<'_>,
    ) -> LocalFuture<'a, Result<Vec<Reply>, StatementFailure>> {
        Box::pin(async move {
            let statements = batch.iter().map(Statement::of).collect::<Result<_>>();
            let request = statements.and_then(|batch| post(&self.address, &Batch { batch }, query)).map_err(StatementFailure::last)?;
            let response = self.http.send(request).await.map_err(StatementFailure::of_client)?;
            let subject = batch.get(author).or(batch.first()).ok_or_else(|| StatementFailure::last(not_understood()))?;
            parse_all(&response, subject, batch.len())
        })
    }
}

fn request(address: &D1Address, prepared: &Prepared<'_>, query: &Query<'_>) -> Result<HttpRequest> {
    post(address, &Statement::of(prepared)?, query)
}

fn post(address: &D1Address, body: &impl Serialize, query: &Query<'_>) -> Result<HttpRequest> {
    let body = serde_json::to_vec(body)
        .map_err(|error| Error::new(ErrorKind::Protocol, "a request for D1 cannot be written").with_source(error.to_string()))?;
    let mut headers = Headers::new();
    headers.append("content-type", "application/json");
    headers.append("accept", "application/json");
    headers.append("authorization", format!("Bearer {}", address.token.expose()));
    Ok(HttpRequest {
        method: "POST".to_owned(),
        url: address.url.clone(),
        headers,
        body,
        deadline_ms: query.deadline_ms,
        max_response_bytes: max_response_bytes(query),
        ..HttpRequest::default()
    })
}

fn parse(response: &HttpResponse, prepared: &Prepared<'_>) -> Result<Reply, StatementFailure> {
    let reply = parse_all(response, prepared, 1)?.pop();
    reply.ok_or_else(|| StatementFailure::unknown(not_understood()))
}

/// The answers to so many statements; places in errors are those of `prepared`.
fn parse_all(response: &HttpResponse, prepared: &Prepared<'_>, count: usize) -> Result<Vec<Reply>, StatementFailure> {
    if response.status != 200 {
        return Err(api_error::of_answer(response.status, &response.body, prepared));
    }
    // A failure has another shape than a result.
    let failed = |broken: Error| api_error::inside(&response.body, prepared).unwrap_or_else(|| StatementFailure::unknown(broken));
    let envelope: Envelope =
        serde_json::from_slice(&response.body).map_err(|error| failed(not_understood().with_source(place_of(&error))))?;
    let results = envelope.result.unwrap_or_default();
    if !envelope.success || results.len() != count {
        return Err(failed(not_understood()));
    }
    let reply = |StatementResult { results: mut reply, meta }| {
        reply.changes = meta.and_then(|meta: Meta| meta.changes).unwrap_or_default();
        reply
    };
    Ok(results.into_iter().map(reply).collect())
}

#[derive(Serialize)]
struct Statement<'a> {
    sql: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    params: Vec<&'a str>,
}

#[derive(Serialize)]
struct Batch<'a> {
    batch: Vec<Statement<'a>>,
}

impl<'a> Statement<'a> {
    fn of(prepared: &'a Prepared<'_>) -> Result<Self> {
        let texts = prepared.parameters.iter().map(|parameter| match parameter {
            Parameter::Text(text) => Ok(&**text),
            Parameter::Bytes(_) => Err(Error::new(ErrorKind::Protocol, "bytes have no form in a request for D1")),
        });
        Ok(Self { sql: &prepared.text, params: texts.collect::<Result<_>>()? })
    }
}

#[derive(Deserialize)]
struct Envelope {
    success: bool,
    result: Option<Vec<StatementResult>>,
}

#[derive(Deserialize)]
struct StatementResult {
    results: Reply,
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    changes: Option<u64>,
}

#[cfg(test)]
mod tests;
