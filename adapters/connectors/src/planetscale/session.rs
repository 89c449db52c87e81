//! A session: one request for each statement, and an object that goes from each answer into the
//! next request.

use std::rc::Rc;

use millrace_catalogue::PLANETSCALE;
use millrace_core::{
    Error, ErrorKind, Json,
    headers::Headers,
    ports::{Clock, HttpClient, HttpRequest, LocalFuture, Query, WaitUntil},
    value::Rows,
};

use super::{
    address::PlanetscaleAddress,
    literal, names,
    reply::{self, Answer},
};
use crate::{
    mysql_text::{self, Transaction},
    shared::{
        self, Begin, Call, Execution, FailedEnd, OwnStatements, ReadOnly, Statement, StatementFailure, broken_off, max_response_bytes,
        own_query, own_steps, soon, timed_out, within,
    },
};

/// How long a call waits for its transaction to be rolled back, and how long that may take behind
/// its back, in milliseconds.
const ROLLBACK_MS: u64 = 1_000;
const LATE_ROLLBACK_MS: u64 = 5_000;

/// A database's API, and what it is reached through.
pub(super) struct Api {
    pub(super) address: PlanetscaleAddress,
    pub(super) http: Rc<dyn HttpClient>,
    pub(super) clock: Rc<dyn Clock>,
    pub(super) wait_until: Rc<dyn WaitUntil>,
}

impl Api {
    /// Sends one statement.
    async fn execute(&self, text: &str, session: &Json, query: &Query<'_>, read_only: ReadOnly) -> Result<Answer, StatementFailure> {
        let body = Json::Object([("query".to_owned(), text.into()), ("session".to_owned(), session.clone())].into_iter().collect());
        let mut headers = Headers::new();
        headers.append("content-type", "application/json");
        headers.append("authorization", self.address.authorization.expose().clone());
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: self.address.url.clone(),
            headers,
            body: body.to_string().into_bytes(),
            deadline_ms: query.deadline_ms,
            max_response_bytes: max_response_bytes(query),
            ..HttpRequest::default()
        };
        let response = self.http.send(request).await.map_err(|error| match error.kind {
            ErrorKind::TooLarge => broken_off(query),
            ErrorKind::Unavailable => {
                let error = Error::new(ErrorKind::Unavailable, "PlanetScale could not be reached").with_source(error.in_full());
                StatementFailure::not_executed(error)
            }
            _ => StatementFailure::of_client(error),
        })?;
        reply::answer(&response, read_only)
    }
}

/// A session of one call.
pub(super) struct Session {
    api: Rc<Api>,
    /// `null` before the first answer.
    state: Json,
    /// A transaction is open.
    is_open: bool,
    deadline_ms: u64,
    /// Who says that it must not write.
    read_only: ReadOnly,
    /// How long its statements may take, in milliseconds.
    limit_ms: u64,
    /// Its statement calls a procedure.
    calls: bool,
}

impl Session {
    /// For a call, whose statements may take so many milliseconds.
    pub(super) fn new(api: &Rc<Api>, call: &Call<'_>, is_read_only: bool, limit_ms: u64) -> Self {
        Self {
            api: api.clone(),
            state: Json::Null,
            is_open: false,
            deadline_ms: call.query.deadline_ms,
            read_only: ReadOnly::of(&call.query, is_read_only),
            limit_ms,
            calls: call.notes.calls,
        }
    }

    async fn execute(&mut self, text: &str, query: &Query<'_>) -> Result<Json, StatementFailure> {
        if self.api.clock.now_ms() >= query.deadline_ms {
            return Err(StatementFailure::last(timed_out()));
        }
        let Answer { session, result } = self.api.execute(text, &self.state, query, self.read_only).await?;
        // An error may come without one.
        if session.is_object() {
            self.state = session;
        }
        result
    }

    /// Sends a command of the driver's own, which has no rows.
    async fn command(&mut self, text: &str) -> Result<(), StatementFailure> {
        self.execute(text, &own_query("", self.deadline_ms)).await.map(drop)
    }

    async fn open(&mut self, command: &str) -> Result<(), StatementFailure> {
        self.command(command).await.map_err(StatementFailure::before_the_end)?;
        self.is_open = true;
        Ok(())
    }

    async fn statement(&mut self, statement: Statement<'_>, query: &Query<'_>, transaction: Transaction) -> Result<Rows, StatementFailure> {
        let Statement { text, values } = statement;
        let written = literal::write(text, values).map_err(StatementFailure::last)?;
        if transaction == Transaction::ReadOnly {
            self.open("START TRANSACTION READ ONLY").await?;
        }
        let hint = literal::with_limit(&written.text, self.limit_ms);
        let outcome = match &hint {
            Some((at, hint)) => {
                let (before, after) = written.text.split_at(*at);
                let text = [before, hint, after].concat();
                self.execute(&text, query).await
            }
            None => self.execute(&written.text, query).await,
        };
        if transaction == Transaction::ReadOnly {
            shared::Session::roll_back(self).await;
        }
        let result = outcome.map_err(|failure| match failure.outcome {
            // What came before it in the procedure is committed.
            Execution::NotExecuted if transaction == Transaction::Several => StatementFailure::unknown(failure.error),
            _ => failure,
        })?;
        reply::rows_of(result, query, |found| names::of_author(text, &written, found.into_iter()))
    }
}

impl OwnStatements for Session {
    fn run_own<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(async move { self.statement(own, query, Transaction::Implied).await })
    }
}

impl shared::Session for Session {
    const UNDOES_ALL: bool = false;

    fn asks_for_inserted(text: &str) -> bool {
        mysql_text::asks_for_inserted(text)
    }

    fn clock(&self) -> Rc<dyn Clock> {
        self.api.clock.clone()
    }

    async fn run(&mut self, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let transaction = Transaction::alone(self.read_only.is_demanded(), self.calls);
        self.statement(Statement::of(query, PLANETSCALE.name)?, query, transaction).await
    }

    fn has_begun(&self) -> bool {
        self.is_open
    }

    async fn begin(&mut self, begin: Begin, own: &[Statement<'_>], query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let limit_ms = begin.wait_ms.map_or(self.limit_ms, mysql_text::lock_wait_ms);
        // Where it is as long as the call, the call's own end is enough.
        if self.api.clock.now_ms().saturating_add(limit_ms) < self.deadline_ms {
            let seconds = limit_ms.div_ceil(1000).max(1);
            let set = format!("SET SESSION innodb_lock_wait_timeout = {seconds}");
            self.command(&set).await.map_err(StatementFailure::before_the_end)?;
        }
        self.open(if begin.is_read_only { "START TRANSACTION READ ONLY" } else { "START TRANSACTION" }).await?;
        let mut rows = Rows::default();
        for own in own {
            rows = self.own_step(*own, query).await?;
        }
        Ok(rows)
    }

    async fn step(&mut self, query: &Query<'_>, _is_first: bool) -> Result<Rows, StatementFailure> {
        self.statement(Statement::of(query, PLANETSCALE.name)?, query, Transaction::Open).await
    }

    async fn own_step(&mut self, own: Statement<'_>, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        self.statement(own, query, Transaction::Open).await
    }

    async fn commit(&mut self, own: &[Statement<'_>], query: &Query<'_>) -> Result<(), FailedEnd> {
        own_steps(self, own, query).await?;
        self.command("COMMIT").await.map_err(|failure| FailedEnd { place: own.len(), failure })?;
        self.is_open = false;
        Ok(())
    }

    async fn roll_back(&mut self) {
        if !self.is_open {
            return;
        }
        let clock = self.api.clock.clone();
        let until_ms = soon(&*clock, self.deadline_ms, ROLLBACK_MS);
        // Where it does not come about, it is tried once more when the session is dropped.
        if let Some(Ok(())) = within(&*clock, until_ms, self.command("ROLLBACK")).await {
            self.is_open = false;
        }
    }
}

/// A transaction that nobody waits for holds its locks until PlanetScale ends it.
impl Drop for Session {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let (api, state) = (self.api.clone(), std::mem::take(&mut self.state));
        self.api.wait_until.wait_until(Box::pin(async move {
            let until_ms = api.clock.now_ms() + LATE_ROLLBACK_MS;
            let ended = api
                .execute("ROLLBACK", &state, &own_query("", until_ms), ReadOnly::Database)
                .await
                .is_ok_and(|answer| answer.result.is_ok());
            tracing::debug!(ended, "a transaction of PlanetScale that nobody waits for");
        }));
    }
}
