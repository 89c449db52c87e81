//! `connector: clickhouse`: a ClickHouse server, ClickHouse Cloud among them, over its HTTP
//! interface.
//!
//! In go a statement with typed places for values, `{p1:Int64}`, and its values; out come rows, or
//! the number of rows that an `INSERT` wrote. A value is a parameter of the request, which the
//! server reads by the type and never as text of the statement.
//!
//! # One request
//!
//! Statement and values are fields of a form in the body, so that no value is in a URL, which
//! proxies and servers log. What is set for the statement (its limits, the form of its answer) is
//! in the URL. The server sends nothing before the statement has ended (`wait_end_of_query`), so
//! that its failure has a status of its own. A statement that only reads is sent with `readonly`:
//! nothing that it calls can write.
//!
//! # Values
//!
//! Answers are lines of JSON (`JSONCompactEachRowWithNamesAndTypes`), which have integers of any
//! size and the bytes of texts as they are; moments are asked for as RFC 3339 has them, in UTC:
//! module `rows`. Going in, ClickHouse takes a number that is too large for its type modulo the
//! type's size, so numbers are compared with the type before they are sent: module `parameters`.
//!
//! # Time
//!
//! As in connector [`libsql`](crate::libsql). The server is told the deadline
//! (`max_execution_time`), and ends a statement that reads when nobody waits for it any more. There
//! are no transactions: a write that fails in its middle may have written a part.
//!
//! Protocol: <https://clickhouse.com/docs/interfaces/http>.

mod address;
mod form;
mod parameters;
mod rows;
mod server_error;

use std::{borrow::Cow, rc::Rc};

use millrace_catalogue::CLICKHOUSE;
use millrace_core::{
    Error, ErrorKind, Result,
    headers::Headers,
    ports::{Clock, Connection, Connector, HttpClient, HttpRequest, LocalFuture, Query, Random},
    value::Rows,
};
use millrace_languages::clickhouse::judge;

use crate::shared::{Effect, Retry, StatementFailure, broken_off, max_response_bytes, only_reads, own_query, timed_out, within_limits};
use address::ClickHouseAddress;
use parameters::Parameters;

/// What every statement is sent with, so that its answer has one form whatever a user's profile
/// says.
const SETTINGS: &str = "default_format=JSONCompactEachRowWithNamesAndTypes&wait_end_of_query=1&http_write_exception_in_output_format=0\
    &cancel_http_readonly_queries_on_client_close=1&timeout_overflow_mode=throw&date_time_output_format=iso\
    &output_format_json_quote_64bit_integers=0&output_format_json_quote_64bit_floats=0&output_format_json_quote_decimals=1\
    &output_format_json_quote_denormals=0&output_format_decimal_trailing_zeros=1&output_format_json_named_tuples_as_objects=1\
    &output_format_json_map_as_array_of_tuples=0&output_format_json_validate_utf8=0";
/// A result takes more room in the server than in an answer: that many times the query's limit, and
/// this much more. What is sent is counted again.
const MEMORY_BYTES: usize = 4;
const MORE_MEMORY_BYTES: usize = 1 << 20;
/// The rows of a block, as ClickHouse has them where nothing is said.
const MOST_BLOCK_ROWS: usize = 65_409;

/// A database of a ClickHouse server.
pub struct ClickHouse {
    address: ClickHouseAddress,
    read_only: bool,
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    retry: Retry,
}

/// A statement that may be sent.
struct Prepared<'a> {
    text: Cow<'a, str>,
    parameters: Parameters,
    effect: Effect,
    inserts: bool,
}

impl ClickHouse {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is no address of a
    /// server, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        Ok(Self {
            address: ClickHouseAddress::parse(connection.connection_string.expose().trim(), &connection.options)?,
            read_only: connection.read_only,
            http,
            retry: Retry::new(clock.clone(), random.clone()),
            clock,
            random,
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let prepared = self.prepare(query)?;
        let rows = self.retry.run(query, prepared.effect, async || self.attempt(query, &prepared).await).await?;
        within_limits(rows, query, prepared.effect)
    }

    fn prepare<'a>(&self, query: &Query<'a>) -> Result<Prepared<'a>> {
        let (text, values) = query.statement(CLICKHOUSE.name)?;
        if text.contains('\0') {
            return Err(Error::new(ErrorKind::Syntax, "the statement contains a NUL character"));
        }
        let judged = judge(text).map_err(|flaw| {
            let what = &flaw.what;
            match what.is_of_form() {
                true => Error::new(ErrorKind::Syntax, what.to_string()),
                false => Error::new(ErrorKind::Denied, format!("{what}; {}", what.help())),
            }
        })?;
        let effect = Effect { reads: judged.reads, returns: judged.reads };
        if self.read_only {
            only_reads(query, effect)?;
        }
        let (text, parameters) = parameters::of(text, &judged, values)?;
        Ok(Prepared { text, parameters, effect, inserts: judged.inserts })
    }

    async fn attempt(&self, query: &Query<'_>, prepared: &Prepared<'_>) -> Result<Rows, StatementFailure> {
        let left_ms = query.deadline_ms.saturating_sub(self.clock.now_ms());
        if left_ms == 0 {
            return Err(StatementFailure::last(timed_out()));
        }
        let (content_type, body) = form::write(&prepared.text, &prepared.parameters, &*self.random);
        let mut headers = Headers::new();
        headers.append("content-type", content_type);
        for (name, value) in &self.address.login {
            headers.append(name, value.expose().clone());
        }
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: self.url(query, prepared.effect, left_ms),
            headers,
            body,
            deadline_ms: query.deadline_ms,
            max_response_bytes: max_response_bytes(query),
            ..HttpRequest::default()
        };
        let response = self.http.send(request).await.map_err(|error| match error.kind {
            ErrorKind::TooLarge => broken_off(query),
            _ => StatementFailure::of_client(error),
        })?;
        let told = server_error::Told {
            host: &self.address.host,
            query,
            read_only: self.read_only,
            has_values: !prepared.parameters.is_empty(),
            reads: prepared.effect.reads,
            selects: prepared.text.to_ascii_uppercase().contains("SELECT"),
        };
        server_error::check(&response, &told)?;
        if response.body.is_empty() && !prepared.effect.reads {
            // A proxy's nothing is no answer.
            if ["x-clickhouse-query-id", "x-clickhouse-summary"].iter().all(|name| response.headers.first(name).is_none()) {
                return Err(server_error::broken("an empty answer without a field of ClickHouse"));
            }
            let affected = if prepared.inserts { rows::written(&response.headers) } else { 0 };
            return Ok(Rows { affected, ..Rows::default() });
        }
        rows::of(&response.body).map_err(|wrong| match wrong {
            rows::Wrong::Form(what) => server_error::broken(what),
            rows::Wrong::TooLarge => {
                let effect = if prepared.effect.reads { "" } else { "; the statement took effect" };
                let message = format!("the result has more than {} values{effect}", rows::MAX_VALUES);
                StatementFailure::last(Error::new(ErrorKind::TooLarge, message))
            }
            rows::Wrong::Failed(text) => server_error::of_text(&text, &told),
        })
    }

    fn url(&self, query: &Query<'_>, effect: Effect, left_ms: u64) -> String {
        let readonly = if self.read_only || effect.reads { "&readonly=2" } else { "" };
        // Of both limits, 0 is none.
        let rows = query.max_rows.max(1);
        let bytes = query.max_bytes.saturating_mul(MEMORY_BYTES).saturating_add(MORE_MEMORY_BYTES);
        let (seconds, ms) = (left_ms / 1000, left_ms % 1000);
        let limits = match query.cuts() {
            // The server then stops after the block that has a row too many. Bytes it must not stop
            // at: nobody could tell what is missing.
            true => format!("result_overflow_mode=break&max_result_bytes=0&max_block_size={}", rows.saturating_add(1).min(MOST_BLOCK_ROWS)),
            false => format!("result_overflow_mode=throw&max_result_bytes={bytes}"),
        };
        format!("{}{SETTINGS}&max_execution_time={seconds}.{ms:03}&max_result_rows={rows}&{limits}{readonly}", self.address.url)
    }
}

impl Connector for ClickHouse {
    /// Of an `INSERT` only: an `ALTER TABLE … DELETE`, a `DELETE` and an `UPDATE` say 0.
    fn counts_changes(&self) -> bool {
        false
    }

    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { self.run(&own_query("SELECT 1", deadline_ms)).await.map(|_| ()) })
    }
}
