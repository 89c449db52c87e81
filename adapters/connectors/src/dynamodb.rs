//! `connector: dynamodb`: tables of Amazon DynamoDB, in PartiQL.
//!
//! In go a statement with `?` and its values, out come the items as rows. A statement that reads is
//! asked for page by page, up to `max_rows`.
//!
//! # Values
//!
//! Each value is a parameter of its type (module `attribute`). A number is a decimal text on the
//! wire, so that none is rounded.
//!
//! # Changes
//!
//! DynamoDB changes one item by a statement, and says nothing of how many it changed: an `INSERT`
//! of a key that exists and an `UPDATE` of one that does not fail, and a `DELETE` succeeds. A
//! `DELETE` is asked for the old item, so that the number of changes is known.
//!
//! # Time
//!
//! What was throttled was not executed, and is sent again. A read is sent once more after a broken
//! answer, a write never; but a transaction has a token by which DynamoDB knows it for ten minutes,
//! so that it is.
//!
//! Protocol: <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExecuteStatement.html>.

mod attribute;
mod failure;
mod items;
mod statement;
mod transaction;

use millrace_catalogue::DYNAMODB;
use millrace_core::{
    ErrorKind, Json, Result,
    app::Access,
    ports::{Command, Connection, Connector, LocalFuture, Query},
    url::scheme_and_rest,
    value::Rows,
};
use serde_json::json;

use crate::{
    aws_server::{Asked, AwsError, AwsPorts, AwsServer, ServiceNames, configuration},
    shared::{Effect, KnownOptions, Retry, ServerOptions, StatementFailure, broken_off, max_response_bytes, only_reads, own_query},
};
use statement::Prepared;

const KNOWN: KnownOptions = KnownOptions {
    connector: "dynamodb",
    names: "`access_key_id`, `consistent_read`, `endpoint`, `region`, `secret_access_key`, `session_token`",
    harmless: &[],
};
/// The API and its version, as `x-amz-target` has it.
const API: &str = "DynamoDB_20120810";
const CONTENT_TYPE: &str = "application/x-amz-json-1.0";
/// The longest answer: 4 MB of items, as DynamoDB counts them, to a transaction that reads.
const LONGEST_ANSWER_BYTES: usize = 24 << 20;
/// A table that need not exist: whoever may ask for it is answered.
const PING: &str = "SELECT \"id\" FROM \"millrace_ping\" WHERE \"id\" = 'x'";

/// The tables of an account in a region.
pub struct DynamoDb {
    server: AwsServer,
    consistent: bool,
    read_only: bool,
    retry: Retry,
}

/// A request that failed.
struct Refusal {
    failure: StatementFailure,
    /// The step of the transaction that it failed at.
    step: Option<usize>,
}

impl From<StatementFailure> for Refusal {
    fn from(failure: StatementFailure) -> Self {
        Self { failure, step: None }
    }
}

impl From<Refusal> for StatementFailure {
    fn from(refusal: Refusal) -> Self {
        refusal.failure
    }
}

impl DynamoDb {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that names no region, an
    /// unknown option, a wrong value of one, or missing credentials.
    pub fn open(connection: &Connection, ports: AwsPorts) -> Result<Self> {
        let mut options = ServerOptions::gather(&KNOWN, Vec::new(), &connection.options)?;
        let text = connection.connection_string.expose().trim();
        let region = match scheme_and_rest(text) {
            Some((scheme, region)) if scheme.eq_ignore_ascii_case("dynamodb") => region.trim_end_matches('/'),
            _ => return Err(configuration("the connection string of connector `dynamodb` is not `dynamodb://REGION`".to_owned())),
        };
        let consistent = match options.take("consistent_read").as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(options.wrong("consistent_read", "`true` or `false`")),
        };
        let region = Some(region.to_owned()).filter(|region| !region.is_empty());
        let server = AwsServer::open(ServiceNames { for_aws: "dynamodb", for_people: "DynamoDB" }, region, &mut options, ports)?;
        let retry = Retry::new(server.clock.clone(), server.random.clone());
        Ok(Self { server, consistent, read_only: connection.read_only, retry })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let (text, values) = query.command.statement(DYNAMODB.name)?;
        let prepared = Prepared::of(text, values)?;
        self.admit(query, prepared.effect)?;
        if prepared.effect.reads { self.read(query, &prepared).await } else { self.write(query, &prepared).await }
    }

    /// Refuses a write of an adapter that only reads.
    fn admit(&self, query: &Query<'_>, effect: Effect) -> Result<()> {
        if self.read_only { only_reads(&Query { access: Access::Read, ..query.clone() }, effect) } else { Ok(()) }
    }

    /// Asks for page after page.
    async fn read(&self, query: &Query<'_>, prepared: &Prepared) -> Result<Rows> {
        let mut body = prepared.body();
        if self.consistent {
            body["ConsistentRead"] = true.into();
        }
        let mut items = items::Items::of(query);
        loop {
            let attempt = async || items::page_of(self.exchange("ExecuteStatement", &body, query).await?);
            let page = self.retry.run(query, prepared.effect, attempt).await?;
            for item in page.items {
                if items.leave_out() {
                    return items.into_rows();
                }
                items.push(item).map_err(|failure| failure.error)?;
            }
            match page.next {
                None => return items.into_rows(),
                // It would never end.
                Some(token) if body.get("NextToken") == Some(&token) => {
                    return Err(self.server.broken("a page is followed by itself").error);
                }
                Some(token) => body["NextToken"] = token,
            }
        }
    }

    async fn write(&self, query: &Query<'_>, prepared: &Prepared) -> Result<Rows> {
        let body = prepared.body();
        let attempt = async || {
            let answer = self.exchange("ExecuteStatement", &body, query).await?;
            items::changed(answer, prepared, query)
        };
        self.retry.run(query, prepared.effect, attempt).await
    }

    /// Sends a request; the answer to a success.
    async fn exchange(&self, operation: &str, body: &Json, query: &Query<'_>) -> Result<Json, Refusal> {
        let asked = Asked {
            path: "",
            target: Some(&format!("{API}.{operation}")),
            content_type: CONTENT_TYPE,
            body,
            max_response_bytes: max_response_bytes(query).max(LONGEST_ANSWER_BYTES),
        };
        let response = self.server.send(asked, query).await.map_err(|failure| match failure.error.kind {
            ErrorKind::TooLarge => broken_off(query),
            _ => failure,
        })?;
        if response.status != 200 {
            let error = AwsError::of(&response);
            return Err(Refusal { failure: failure::of(&self.server, &error), step: failure::step_of(&error) });
        }
        match serde_json::from_slice(&response.body) {
            Ok(answer @ Json::Object(_)) => Ok(answer),
            _ => Err(self.server.broken("it is not an object of JSON").into()),
        }
    }

    /// Whether the service answers, and knows the credentials. What they may do depends on the
    /// statement.
    async fn ask(&self, deadline_ms: u64) -> Result<()> {
        let query = own_query(PING, deadline_ms);
        let body = json!({ "Statement": PING });
        let attempt = async || {
            let asked = Asked {
                path: "",
                target: Some(&format!("{API}.ExecuteStatement")),
                content_type: CONTENT_TYPE,
                body: &body,
                max_response_bytes: LONGEST_ANSWER_BYTES,
            };
            let response = self.server.send(asked, &query).await?;
            let error = AwsError::of(&response);
            match error.kind.as_str() {
                "ResourceNotFoundException" | "AccessDeniedException" => Ok(()),
                _ if response.status == 200 => Ok(()),
                _ => Err(failure::of(&self.server, &error)),
            }
        };
        self.retry.run(&query, Effect { reads: true, returns: true }, attempt).await
    }
}

impl Connector for DynamoDb {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move {
            query.without_session(DYNAMODB.name)?;
            match query.command {
                Command::Transaction(steps) => self.transact(&query, steps).await,
                _ => self.run(&query).await,
            }
        })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(self.ask(deadline_ms))
    }
}
