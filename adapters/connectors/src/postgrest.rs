//! `connector: postgrest`: a PostgreSQL database behind PostgREST, such as Supabase's REST API.
//!
//! In goes one request as a document, with its values as leaves; out come rows. Which requests
//! there are for a tool is in the crate `millrace-catalogue`, and looked at when the app is built
//! and before anything is sent. What becomes of values is in module `request`, what an error means,
//! in module `failure`; SQLSTATEs mean what they mean in connector [`postgres`](crate::postgres).
//!
//! # Limits
//!
//! One row more than `max_rows` is asked for, so that a larger result is found. A server sends no
//! more rows than its `db-max-rows`, and does not say so: a result of just so many is refused where
//! more were asked for.
//!
//! # Time
//!
//! As in connector [`libsql`](crate::libsql). PostgREST does not know the deadline, and goes on
//! when nobody waits any more.
//!
//! Protocol: <https://docs.postgrest.org/en/v12/references/api.html>.

mod address;
mod answer;
mod conditions;
mod failure;
mod request;
mod value;

use std::rc::Rc;

use millrace_catalogue::POSTGREST;
use millrace_core::{
    ErrorKind, Result,
    headers::Headers,
    ports::{Clock, Connection, Connector, HttpClient, HttpRequest, HttpResponse, LocalFuture, Query, Random},
    value::Rows,
};

use crate::shared::{Effect, Retry, StatementFailure, broken_off, max_response_bytes, own_query, too_large, within_limits};
use address::PostgrestAddress;
use request::Prepared;

/// What is asked for to see whether the server answers. That there is no such table is an answer,
/// too, which needs no right to any table.
const NO_TABLE: &str = "/millrace_ping?limit=0";
const ONE_ROW: &str = "application/vnd.pgrst.object+json";

/// A database behind PostgREST.
pub struct Postgrest {
    address: PostgrestAddress,
    read_only: bool,
    http: Rc<dyn HttpClient>,
    retry: Retry,
}

impl Postgrest {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is no URL, an
    /// unknown option or a wrong value of one.
    pub fn open(connection: &Connection, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        Ok(Self {
            address: PostgrestAddress::parse(connection.connection_string.expose().trim(), &connection.options)?,
            read_only: connection.read_only,
            http,
            retry: Retry::new(clock, random),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let prepared = Prepared::of(query, POSTGREST.name, self.read_only)?;
        let rows = self.retry.run(query, prepared.effect(), async || self.attempt(&prepared, query).await).await?;
        within_limits(rows, query, prepared.effect())
    }

    async fn attempt(&self, prepared: &Prepared, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let response = self.send(prepared, query).await.map_err(|error| match error.kind {
            ErrorKind::TooLarge if prepared.reads => broken_off(query),
            // It is sent when the transaction has ended.
            ErrorKind::TooLarge => too_large(format!("the result has more than {} bytes", query.max_bytes), query),
            _ => StatementFailure::of_client(error),
        })?;
        if matches!(response.status, 200..=299) {
            answer::rows_of(&response, prepared, self.address.server_max_rows, query.cuts())
        } else {
            Err(failure::of(&response, prepared, self.read_only))
        }
    }

    async fn send(&self, prepared: &Prepared, query: &Query<'_>) -> Result<HttpResponse> {
        let address = &self.address;
        let mut headers = Headers::new();
        headers.append("accept", if prepared.is_single { ONE_ROW } else { "application/json" });
        if !prepared.body.is_empty() {
            headers.append("content-type", "application/json");
        }
        if !prepared.prefer.is_empty() {
            headers.append("prefer", prepared.prefer.clone());
        }
        if let Some(schema) = &address.schema {
            headers.append(if prepared.method == "GET" { "accept-profile" } else { "content-profile" }, schema.clone());
        }
        if let Some(key) = &address.api_key {
            headers.append("apikey", key.expose().clone());
        }
        if let Some(token) = &address.token {
            headers.append("authorization", format!("Bearer {}", token.expose()));
        }
        let request = HttpRequest {
            method: prepared.method.to_owned(),
            url: format!("{}{}", address.url, prepared.url),
            headers,
            body: prepared.body.clone().into_bytes(),
            deadline_ms: query.deadline_ms,
            max_response_bytes: max_response_bytes(query),
            ..HttpRequest::default()
        };
        self.http.send(request).await
    }
}

impl Connector for Postgrest {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move {
            let (query, prepared) = (own_query("", deadline_ms), Prepared::reading(NO_TABLE));
            let attempt = async || {
                let response = self.send(&prepared, &query).await.map_err(StatementFailure::of_client)?;
                if matches!(response.status, 200..=299) || failure::is_of_no_table(&response) {
                    return Ok(());
                }
                Err(failure::of(&response, &prepared, self.read_only))
            };
            self.retry.run(&query, Effect { reads: true, returns: true }, attempt).await
        })
    }
}
