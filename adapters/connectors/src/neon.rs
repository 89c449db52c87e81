//! `connector: neon`: a PostgreSQL database of Neon, over its SQL API, which is HTTP.
//!
//! In go a statement in PostgreSQL's placeholder style and its values; out come the rows that
//! connector `postgres` has for the same statement. Which statements are refused, what a value is,
//! how a cell is read and what an error means is decided in one place for both.
//!
//! # One request
//!
//! A call is one batch, which the API runs as one transaction: what is set for the call (the
//! deadline, `statement_timeout`; what an adapter's `session` says), then the statement. A
//! read-only adapter asks for a transaction that only reads by a header and, so that nothing rests
//! on what stands between, again by the first statement.
//!
//! # Types
//!
//! The API takes every value as text and declares no types. So a `WITH` before the statement
//! declares those that connector `postgres` would: module `typed`.
//!
//! # Time
//!
//! As in connector `postgres`. The API does not say which statement of a batch failed: where it may
//! have been one of the connector's own, it is asked again without the author's.
//!
//! # A transaction
//!
//! Its steps are further statements of the batch: module `transaction`.
//!
//! Protocol: <https://github.com/neondatabase/serverless>, `proxy/src/serverless` of <https://github.com/neondatabase/neon>.

mod address;
mod kept;
mod lists;
mod records;
mod reply;
mod step;
mod transaction;
mod typed;

use std::rc::Rc;

use millrace_catalogue::NEON;
use millrace_core::{
    Error, ErrorKind, Json, Result,
    app::Access,
    headers::Headers,
    ports::{CallRecord, Clock, Command, Connection, Connector, HttpClient, HttpRequest, LocalFuture, Query, Random, RecordedWrite},
    value::{Rows, Value},
};

use crate::{
    postgres_text::{
        blame_session, check, is_of_statement,
        lists::{Known, ListForm},
        types::{ELEMENTS_OF_TYPES, KnownTypes, MAX_ANSWER, MOST_ASKED, UnclearColumns},
    },
    shared::{
        Effect, Execution, ReadOnly, Retry, StatementFailure,
        batch::{self, Batches},
        broken_off, max_response_bytes, own_query,
        records::prepare,
        timed_out,
    },
};
use address::NeonAddress;
use kept::Kept;
use reply::Refusal;
use step::{Step, timeout_ms};
use transaction::Steps;

/// A database of Neon.
pub struct Neon {
    address: NeonAddress,
    read_only: bool,
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    retry: Retry,
    lists: Known<Option<Vec<ListForm>>>,
    types: KnownTypes,
}

/// What the author wrote.
pub(crate) enum Written<'a> {
    Statement(Step),
    Transaction(Steps<'a>),
}

impl Neon {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is none of
    /// PostgreSQL's, an unknown option or a wrong value of one.
    pub fn open(connection: &Connection, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        Ok(Self {
            address: NeonAddress::parse(connection.connection_string.expose().trim(), &connection.options)?,
            read_only: connection.read_only,
            http,
            retry: Retry::new(clock.clone(), random.clone()),
            clock,
            random,
            lists: Known::default(),
            types: KnownTypes::default(),
        })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let run = async |written: &Written<'_>| {
            // What the connector writes as a statement that reads is one: its author or the
            // read-only transaction says so.
            let access = match written {
                Written::Transaction(steps) if steps.writes() => Access::Write,
                _ => query.access,
            };
            let effect = Effect { reads: access.reads(), returns: true };
            self.retry.run(&Query { access, ..query.clone() }, effect, async || self.attempt(query, written).await).await
        };
        self.with_written(query, run).await
    }

    async fn write_once(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        if self.read_only {
            return Err(ReadOnly::Adapter.refuse());
        }
        // What has a record may be sent again whatever became of it.
        let write = async |written: &Written<'_>| {
            self.retry.run_safe(query, async || batch::write_once(&mut { self }, &self.retry, query, written, record).await).await
        };
        let write = self.with_written(query, write).await?;
        if let RecordedWrite::Made(rows) = &write {
            self.store(query, record, rows).await;
        }
        Ok(write)
    }

    async fn make_records(&self, deadline_ms: u64) -> Result<()> {
        let query = own_query("SELECT 1", deadline_ms);
        self.retry.run_safe(&query, async || prepare(&mut { self }, &<&Self as Batches>::RECORDS, &query).await).await
    }

    /// Does work with what the author wrote, and once more where a list was written for a type that
    /// its place does not have any more: a batch that PostgreSQL refuses has changed nothing.
    async fn with_written<T>(&self, query: &Query<'_>, work: impl AsyncFn(&Written<'_>) -> Result<T>) -> Result<T> {
        let mut kept = Vec::new();
        let outcome = work(&self.written(query, &mut kept).await?).await;
        let is_doubtful = |error: &Error| matches!(error.kind, ErrorKind::Data | ErrorKind::Syntax);
        // What is told is the statement's own error.
        if outcome.as_ref().is_err_and(is_doubtful) && self.look_again(query, &kept).await.unwrap_or_default() {
            return work(&self.written(query, &mut kept).await?).await;
        }
        outcome
    }

    /// Reads the command of a query. Only where that is given a list is anything asked.
    ///
    /// # Errors
    /// Those of a statement, with the name of the step; and
    /// [`Configuration`](ErrorKind::Configuration) for a step that takes a value of an earlier one.
    async fn written<'a>(&self, query: &Query<'a>, kept: &mut Vec<Kept>) -> Result<Written<'a>> {
        let has_session = !query.session.is_empty();
        if let Command::Transaction(steps) = query.command {
            let mut mark = [0; 16];
            self.random.fill(&mut mark);
            let mut values = Vec::with_capacity(steps.steps.len());
            for (place, step) in steps.steps.iter().enumerate() {
                // No result is known: a step that takes a value of another one is refused.
                let own = steps.values(place, &[])?;
                check(NEON.name, &step.text, has_session).map_err(|error| steps.of_step(place, error))?;
                // Tables that an earlier step makes are not there yet: then its lists stay what
                // they are.
                values.push(self.with_lists(query, &step.text, &own, kept).await?.into_owned());
            }
            return Steps::read(steps, &values, mark, has_session).map(Written::Transaction);
        }
        let (text, values) = query.command.statement(NEON.name)?;
        check(NEON.name, text, has_session)?;
        let values = self.with_lists(query, text, values, kept).await?;
        Step::of_author(text, &values, has_session).map(Written::Statement)
    }

    async fn attempt(&self, query: &Query<'_>, written: &Written<'_>) -> Result<Rows, StatementFailure> {
        let before = vec![self.deadline(query, None)?];
        match self.run_written(query, before, written).await {
            Err(refusal) => Err(self.blame_settings(query, refusal).await),
            Ok(rows) => Ok(rows),
        }
    }

    /// Sends a batch that ends with what the author wrote, in the session of the call.
    async fn run_written(&self, query: &Query<'_>, mut before: Vec<Step>, written: &Written<'_>) -> Result<Rows, Refusal> {
        before.extend(Step::session(query.session));
        match written {
            Written::Statement(step) => {
                before.push(step.clone());
                self.batch(query, before).await
            }
            Written::Transaction(steps) => {
                let left_ms = query.deadline_ms.saturating_sub(self.clock.now_ms());
                let replies = self.send(query, steps.batch(before, left_ms)).await.map_err(|refusal| steps.told(refusal))?;
                let mut unclear = UnclearColumns::default();
                let rows = steps.answer(replies, query, &mut unclear)?;
                Ok(self.read_arrays(query, &unclear, rows).await?)
            }
        }
    }

    /// Sends a batch, for the rows of its last statement.
    async fn batch(&self, query: &Query<'_>, steps: Vec<Step>) -> Result<Rows, Refusal> {
        let last = self.send(query, steps).await?.pop().unwrap_or_default();
        let mut unclear = UnclearColumns::default();
        let rows = reply::rows_of(last, query, &mut unclear)?;
        Ok(self.read_arrays(query, &unclear, rows).await?)
    }

    /// Makes lists of the texts that are arrays. PostgreSQL is asked about types that are not known
    /// yet; where it does not answer, what has been written stays so, with texts as they are.
    ///
    /// # Errors
    /// It does not answer, and the statement only read.
    async fn read_arrays(&self, query: &Query<'_>, unclear: &UnclearColumns, mut rows: Rows) -> Result<Rows, StatementFailure> {
        if let Some(numbers) = unclear.question(&self.types) {
            match self.elements_of(numbers, query).await {
                Ok(answer) => self.types.learn(&answer),
                Err(refusal) if query.access.reads() => return Err(refusal.failure),
                Err(_) => {}
            }
        }
        unclear.read(&self.types, &mut rows);
        Ok(rows)
    }

    async fn elements_of(&self, numbers: Value, query: &Query<'_>) -> Result<Rows, Refusal> {
        let own = Query { max_rows: MOST_ASKED, max_bytes: MAX_ANSWER, ..own_query(ELEMENTS_OF_TYPES, query.deadline_ms) };
        let steps = vec![self.deadline(&own, None)?, Step::own(ELEMENTS_OF_TYPES, &[numbers])];
        let last = self.send(&own, steps).await?.pop().unwrap_or_default();
        Ok(reply::rows_of(last, &own, &mut UnclearColumns::default())?)
    }

    /// Sends a batch, for the answers of its statements.
    async fn send(&self, query: &Query<'_>, steps: Vec<Step>) -> Result<Vec<Json>, Refusal> {
        let count = steps.len();
        let queries: Json = steps.into_iter().map(|Step(step)| step).collect();
        let body = Json::Object([("queries".to_owned(), queries)].into_iter().collect()).to_string().into_bytes();
        let mut headers = Headers::new();
        headers.append("content-type", "application/json");
        headers.append("neon-connection-string", self.address.connection_string.expose().clone());
        headers.append("neon-raw-text-output", "true");
        headers.append("neon-array-mode", "true");
        let read_only = ReadOnly::of(query, self.read_only);
        if read_only.is_demanded() {
            headers.append("neon-batch-read-only", "true");
        }
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: self.address.url.clone(),
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
        reply::all(&response, count, &self.address.host, read_only)
    }

    /// What is set for every batch: when the server gives up, and what makes its answers the same
    /// everywhere. `lock_ms`: how long it waits for a lock.
    fn deadline(&self, query: &Query<'_>, lock_ms: Option<fn(u64) -> u64>) -> Result<Step, StatementFailure> {
        let left_ms = query.deadline_ms.saturating_sub(self.clock.now_ms());
        if left_ms == 0 {
            return Err(StatementFailure::last(timed_out()));
        }
        let timeout = |ms: u64| timeout_ms(ms).to_string();
        let mut settings = vec![("statement_timeout", timeout(left_ms))];
        // After this statement PostgreSQL refuses to unset it.
        settings.extend(ReadOnly::of(query, self.read_only).is_demanded().then(|| ("transaction_read_only", "on".to_owned())));
        settings.extend(self.address.settings.iter().map(|(name, value)| (name.as_str(), value.clone())));
        settings.extend(lock_ms.map(|of| ("lock_timeout", timeout(of(left_ms)))));
        Ok(Step::setting(&settings))
    }

    /// Finds out whether it was what is set for the call that PostgreSQL refused, and not the
    /// statement. What PostgreSQL did not say is nobody's fault, and where it is not known what was
    /// executed, that remains.
    async fn blame_settings(&self, query: &Query<'_>, refusal: Refusal) -> StatementFailure {
        let Refusal { failure, said: Some(_), .. } = refusal else { return refusal.failure };
        if failure.outcome != Execution::Final || !is_of_statement(&failure.error) {
            return failure;
        }
        let Ok(deadline) = self.deadline(query, None) else { return failure };
        let probes = [
            self.address.has_own_settings.then(|| vec![deadline.clone()]),
            Step::session(query.session).map(|session| vec![deadline, session]),
        ];
        for (is_session, steps) in [false, true].into_iter().zip(probes) {
            let Some(steps) = steps else { continue };
            let Err(Refusal { failure: StatementFailure { error, .. }, said: Some(_), .. }) = self.batch(query, steps).await else {
                continue;
            };
            if !is_of_statement(&error) {
                continue;
            }
            let message = "PostgreSQL does not know a setting of the connection string or of the options";
            let configuration = |error: Error| error.with_kind(ErrorKind::Configuration).with_message(message);
            return StatementFailure::last(if is_session { blame_session(error) } else { configuration(error) });
        }
        failure
    }
}

impl Connector for Neon {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn write_once<'a>(&'a self, query: Query<'a>, record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(async move { self.write_once(&query, record).await })
    }

    fn prepare_records(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(self.make_records(deadline_ms))
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { self.run(&own_query("SELECT 1", deadline_ms)).await.map(|_| ()) })
    }
}
