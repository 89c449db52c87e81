//! `connector: rds-data`: a cluster of Amazon Aurora PostgreSQL, over the RDS Data API, which is
//! HTTP.
//!
//! In go a statement in PostgreSQL's placeholder style and its values; out come the rows that
//! connector `postgres` has for the same statement. Which statements are refused, what a value is,
//! how a cell is read and what an error means is decided in one place for both.
//!
//! # Requests
//!
//! A statement that reads is one request. All else is a transaction, which is one request to begin
//! it, one that sets what holds for the call (the deadline, `statement_timeout`; that a read-only
//! adapter only reads; what an adapter's `session` says), one for each statement and one to commit
//! it: until that is sent nothing has taken effect, whatever got lost.
//!
//! # Types
//!
//! Parameters are named, and the API gives each a type by the form of its value: a text is a text,
//! and no date. Module `named` writes the statement, and where PostgreSQL refuses it because a text
//! is no date, module `types` finds out what it should be.
//!
//! # Time
//!
//! A cluster that is asleep is waited for: nothing was carried out. A read is sent once more after
//! a broken answer. A write is, too, where the answer that is missing is not that to the commit.
//!
//! Protocol: <https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/Welcome.html>.

mod address;
mod failure;
mod known_types;
mod named;
mod parameter;
mod reply;
mod session;
mod transaction;
mod types;

use std::{borrow::Cow, rc::Rc};

use millrace_catalogue::RDS_DATA;
use millrace_core::{
    Error, ErrorKind, Json, Result,
    app::Access,
    ports::{Connection, LocalFuture, Query, RecordedWrite, WaitUntil},
    secret::Secret,
    value::{Rows, Value},
};
use serde_json::{Map, json};

use crate::{
    aws_server::{Asked, AwsError, AwsPorts, AwsServer, ServiceNames, configuration},
    postgres_text::{
        self, Oid, Parameter, check,
        lists::{self, Known},
        word,
    },
    shared::{
        Call, KnownOptions, ReadOnly, Records, Retry, ServerOptions, SessionDriver, StatementFailure, StatementNotes, StatementPlace,
        broken_off, connector_over_sessions, max_response_bytes,
    },
};
use address::Cluster;
use failure::Refusal;
use known_types::{Types, is_unclear};
use named::Placeholders;
use session::Session;

const KNOWN: KnownOptions = KnownOptions {
    connector: "rds-data",
    names: "`access_key_id`, `database`, `endpoint`, `secret_access_key`, `secret_arn`, `session_token`",
    harmless: &[],
};
const CONTENT_TYPE: &str = "application/json";
/// More than the API answers: 1 MB of cells, and what JSON puts around them.
const LONGEST_ANSWER_BYTES: usize = 8 << 20;
/// The most values that a statement can have.
const MAX_VALUES: usize = 65_535;
/// How long a cluster that wakes up is left alone before it is asked again, in milliseconds.
const WAKING_MS: u64 = 1_000;

/// The table of the records of calls. Of rows, 700 KB are kept: the API sends 1 MB, and bytes as
/// base64.
const RECORDS: Records = Records { largest: 700_000, ..postgres_text::RECORDS };

/// A cluster of Aurora.
pub struct RdsData {
    api: Rc<Api>,
    read_only: bool,
    retry: Retry,
    types: Known<Types>,
}

/// The API, and what each of its requests names.
struct Api {
    server: AwsServer,
    cluster: Cluster,
    secret: Secret<String>,
    database: Option<String>,
    read_only: bool,
    wait_until: Rc<dyn WaitUntil>,
}

/// A statement and its values.
struct Statement<'a> {
    text: &'a str,
    values: &'a [Value],
    params: Vec<Parameter>,
}

/// Why an attempt failed.
struct Failed {
    refusal: Refusal,
    /// The statement that PostgreSQL refused because of the types of its values, where these can be
    /// found out.
    unclear: Option<Unclear>,
}

/// A statement, the types of whose places are not known, or not any more.
struct Unclear {
    text: String,
    params: Vec<Parameter>,
    /// Those that it was sent with.
    known: Option<Types>,
    /// What was said of it; nothing of a statement that was not sent yet, because it is given a
    /// list.
    error: Option<Error>,
}

impl Failed {
    /// A statement is given a list, and what that is in its place is not known.
    fn unsent(statement: &Statement<'_>) -> Self {
        let unclear = Unclear { text: statement.text.to_owned(), params: statement.params.clone(), known: None, error: None };
        let error = Error::new(ErrorKind::Protocol, "the types of the statement's values could not be found out");
        Self { refusal: StatementFailure::last(error).into(), unclear: Some(unclear) }
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, unclear: None }
    }
}

impl From<StatementFailure> for Failed {
    fn from(failure: StatementFailure) -> Self {
        Self { refusal: failure.into(), unclear: None }
    }
}

impl<'a> Statement<'a> {
    /// The author's statement.
    ///
    /// # Errors
    /// What is refused; and [`Syntax`](ErrorKind::Syntax) for a text without a statement, and for
    /// too many values.
    fn of_author(text: &'a str, values: &'a [Value], has_session: bool) -> Result<Self> {
        check(RDS_DATA.name, text, has_session)?;
        let mut rest = text;
        if word(&mut rest).is_empty() && rest.is_empty() {
            return Err(Error::new(ErrorKind::Syntax, "the query contains no statement"));
        }
        if values.len() > MAX_VALUES {
            return Err(Error::new(ErrorKind::Syntax, "the statement or its values are larger than PostgreSQL accepts"));
        }
        Ok(Self::own(text, values))
    }

    /// A statement of the connector's own.
    fn own(text: &'a str, values: &'a [Value]) -> Self {
        Self { text, values, params: values.iter().map(Parameter::of).collect() }
    }

    /// As the API takes it.
    ///
    /// # Errors
    /// [`Syntax`](ErrorKind::Syntax): it has another number of values. [`Data`](ErrorKind::Data)
    /// for a list that its place does not take.
    fn body(&self, types: &Types) -> Result<Map<String, Json>> {
        let values = lists::placed(self.values, types.forms.as_deref())?;
        let params: Cow<'_, [Parameter]> = match &values {
            Cow::Borrowed(_) => Cow::Borrowed(&self.params),
            Cow::Owned(values) => values.iter().map(Parameter::of).collect(),
        };
        let sql = named::written(self.text, &Placeholders::Named(&params, &types.names))?;
        let params = values.iter().zip(&*params).enumerate();
        let parameters: Vec<Json> = params.map(|(at, (value, param))| parameter::written(at + 1, value, param)).collect();
        Ok(Map::from_iter([("sql".to_owned(), sql.into()), ("parameters".to_owned(), parameters.into())]))
    }
}

impl RdsData {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is not the ARN of a
    /// cluster, an unknown option, a wrong value of one, or missing credentials.
    pub fn open(connection: &Connection, ports: AwsPorts, wait_until: Rc<dyn WaitUntil>) -> Result<Self> {
        let mut options = ServerOptions::gather(&KNOWN, Vec::new(), &connection.options)?;
        let cluster = Cluster::parse(connection.connection_string.expose().trim())?;
        let secret = options.take("secret_arn").ok_or_else(|| {
            let message = "connector `rds-data` needs the option `secret_arn`, the ARN of the secret in Secrets Manager with the database's user and password";
            configuration(message.to_owned())
        })?;
        let database = options.take("database");
        let server = AwsServer::open(
            ServiceNames { for_aws: "rds-data", for_people: "the RDS Data API" },
            Some(cluster.region.clone()),
            &mut options,
            ports,
        )?;
        let retry = Retry::new(server.clock.clone(), server.random.clone());
        let read_only = connection.read_only;
        let api = Rc::new(Api { server, cluster, secret: Secret::new(secret), database, read_only, wait_until });
        Ok(Self { api, read_only, retry, types: Known::default() })
    }

    /// Attempts a call, and once more for each statement whose types have to be found out.
    async fn attempt_typed(&self, call: &Call<'_>) -> Result<RecordedWrite, StatementFailure> {
        let mut unclear = None;
        loop {
            let mut session = Session::new(self, unclear.take());
            let failure = match call.on(&mut session, &RECORDS).await {
                Ok(done) => return Ok(done),
                Err(failure) => failure,
            };
            match session.refused.take() {
                None => return Err(failure),
                Some(statement) if call.is_alone() && self.is_alone(&call.query) => self.learn(&call.query, &statement).await?,
                statement => unclear = statement,
            }
        }
    }

    /// Whether a statement needs no transaction: nothing is set for it, and it writes nothing.
    fn is_alone(&self, query: &Query<'_>) -> bool {
        query.access == Access::Read && query.session.is_empty() && !self.read_only
    }

    /// Runs a statement, in the transaction of this name or alone. `is_clear`: its types were found
    /// out just before, and stay as they are.
    async fn execute(
        &self,
        query: &Query<'_>,
        transaction: Option<&str>,
        statement: &Statement<'_>,
        is_clear: bool,
    ) -> Result<Json, Failed> {
        let known = self.types.of(statement.text, oids(&statement.params), self.api.server.clock.now_ms());
        if known.is_none() && lists::has_lists(statement.values) {
            // A text that is an array, or JSON, need not fail where it should have been the other
            // one.
            return Err(Failed::unsent(statement));
        }
        let unclear = |error: &Error| Unclear {
            text: statement.text.to_owned(),
            params: statement.params.clone(),
            known: known.clone(),
            error: Some(error.clone()),
        };
        let mut body = statement.body(known.as_ref().unwrap_or(&Types::default())).map_err(|error| {
            // A list may have been too deep for an array that is none any more.
            let is_unclear = !is_clear && known.is_some() && error.kind == ErrorKind::Data;
            let unclear = is_unclear.then(|| unclear(&error));
            Failed { refusal: StatementFailure::last(error).into(), unclear }
        })?;
        body.extend(transaction.map(|id| ("transactionId".to_owned(), id.into())));
        self.api.execute(body, query).await.map_err(|refusal| {
            let is_unclear = !is_clear && is_unclear(&refusal, &statement.params, known.is_some());
            let unclear = is_unclear.then(|| unclear(&refusal.failure.error));
            Failed { refusal, unclear }
        })
    }
}

/// The types that values are declared with.
fn oids(params: &[Parameter]) -> impl Iterator<Item = Oid> + Clone {
    params.iter().map(|param| param.oid)
}

impl Api {
    /// Sends a statement.
    async fn execute(&self, mut body: Map<String, Json>, query: &Query<'_>) -> Result<Json, Refusal> {
        body.extend(self.database.as_ref().map(|database| ("database".to_owned(), database.as_str().into())));
        body.insert("includeResultMetadata".to_owned(), true.into());
        body.insert("resultSetOptions".to_owned(), json!({ "decimalReturnType": "STRING", "longReturnType": "STRING" }));
        self.exchange("Execute", body, query).await
    }

    /// Sends a request; the answer to a success. A cluster that wakes up is waited for.
    async fn exchange(&self, path: &str, mut body: Map<String, Json>, query: &Query<'_>) -> Result<Json, Refusal> {
        body.insert("resourceArn".to_owned(), self.cluster.arn.as_str().into());
        body.insert("secretArn".to_owned(), self.secret.expose().as_str().into());
        let body = Json::Object(body);
        loop {
            let asked = Asked {
                path,
                target: None,
                content_type: CONTENT_TYPE,
                body: &body,
                max_response_bytes: max_response_bytes(query).max(LONGEST_ANSWER_BYTES),
            };
            let response = self.server.send(asked, query).await.map_err(|failure| match failure.error.kind {
                // What became of the statement, the commit decides.
                ErrorKind::TooLarge => broken_off(&Query { access: Access::Read, ..query.clone() }),
                _ => failure,
            })?;
            if response.status == 200 {
                return match serde_json::from_slice(&response.body) {
                    Ok(answer @ Json::Object(_)) => Ok(answer),
                    _ => Err(reply::broken("it is not an object of JSON").into()),
                };
            }
            let error = AwsError::of(&response);
            if failure::is_resuming(&error) && self.server.clock.now_ms().saturating_add(WAKING_MS) < query.deadline_ms {
                self.server.clock.sleep(WAKING_MS).await;
                continue;
            }
            return Err(failure::of(&self.server, &error, &self.cluster.name, ReadOnly::of(query, self.read_only)));
        }
    }
}

impl SessionDriver for RdsData {
    const NAME: &'static str = RDS_DATA.name;

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn check(&self, text: &str, values: &[Value], query: &Query<'_>, _place: StatementPlace) -> Result<StatementNotes> {
        Statement::of_author(text, values, !query.session.is_empty())?;
        Ok(StatementNotes::default())
    }

    async fn attempt(&self, call: Call<'_>) -> Result<RecordedWrite> {
        self.retry.run(&call.query, call.effect(), async || self.attempt_typed(&call).await).await
    }
}

connector_over_sessions!(RdsData);
