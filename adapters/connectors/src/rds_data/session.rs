//! A transaction of the API at work on a call, one request for each statement.

use std::rc::Rc;

use millrace_catalogue::RDS_DATA;
use millrace_core::{
    ErrorKind, Json,
    ports::{Clock, LocalFuture, Query},
    value::{Rows, Value},
};

use super::{
    Failed, RdsData, Refusal, Statement, Unclear, oids, reply,
    transaction::{Holds, Open},
};
use crate::{
    postgres_text::lists::has_lists,
    shared::{self, Begin, FailedEnd, OwnStatements, StatementFailure, own_steps, records::for_record},
};

/// The author's statement waits as long as its user does elsewhere, and runs until the deadline.
const OWN_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout TO DEFAULT";
const OWN_TIMEOUT: &str = "SELECT set_config('statement_timeout', $1, true)";

/// A transaction at work on a call.
pub(super) struct Session<'a> {
    rds: &'a RdsData,
    open: Option<Open>,
    begin: Begin,
    /// What was refused in an earlier transaction for the types of its values: they are found out
    /// in this one, before it is run.
    unclear: Option<Unclear>,
    /// What was refused in this one for the types of its values.
    pub(super) refused: Option<Unclear>,
}

impl<'a> Session<'a> {
    pub(super) fn new(rds: &'a RdsData, unclear: Option<Unclear>) -> Self {
        Self { rds, open: None, begin: Begin::default(), unclear, refused: None }
    }

    /// The transaction that is open.
    fn open(&self) -> Result<&Open, StatementFailure> {
        self.open.as_ref().ok_or_else(|| StatementFailure::unknown(reply::broken("no transaction is open").error))
    }

    /// A failure, of which it is noted whether types can be found out.
    fn note(&mut self, Failed { refusal, unclear }: Failed) -> StatementFailure {
        self.refused = unclear;
        refusal.failure
    }

    /// What is to be found out about this statement, the first time that it is run.
    fn unclear_for(&mut self, statement: &Statement<'_>) -> Option<Unclear> {
        if self.unclear.as_ref()?.is_of(statement) { self.unclear.take() } else { None }
    }

    /// Runs a statement of the author's in the transaction that is open, after its types were found
    /// out where it was refused before.
    async fn execute(&mut self, query: &Query<'_>, statement: &Statement<'_>) -> Result<Json, Failed> {
        let is_known = self.rds.types.of(statement.text, oids(&statement.params), self.rds.api.server.clock.now_ms()).is_some();
        let unclear = self.unclear_for(statement).filter(|unclear| unclear.error.is_some());
        let unclear = unclear.or_else(|| if is_known || !has_lists(statement.values) { None } else { Failed::unsent(statement).unclear });
        let open = self.open()?;
        if let Some(unclear) = &unclear
            && !self.rds.find_out(query, open, unclear).await?
        {
            // Begun again, it is not asked about.
            return Err(Failed::unsent(statement));
        }
        self.rds.execute(query, Some(open.id()), statement, unclear.is_some()).await
    }

    /// Sets what holds for the author's statements.
    async fn hand_over(&mut self, query: &Query<'_>) -> Result<(), StatementFailure> {
        if self.begin.wait_ms.is_some() {
            let left_ms = query.deadline_ms.saturating_sub(self.rds.api.server.clock.now_ms()).max(1);
            let timeout = [Value::Text(left_ms.min(i32::MAX as u64).to_string())];
            self.own_rows(query, OWN_LOCK_TIMEOUT, &[]).await?;
            self.own_rows(query, OWN_TIMEOUT, &timeout).await?;
        }
        self.rds.set_session(query, self.open()?).await
    }

    /// The rows of a statement of the connector's own.
    ///
    /// # Errors
    /// Nothing has taken effect.
    async fn own_rows(&self, query: &Query<'_>, text: &str, values: &[Value]) -> Result<Rows, StatementFailure> {
        let reply = self.rds.own(query, self.open()?, text, values).await.map_err(|Refusal { failure, .. }| failure.before_the_end())?;
        reply::rows_of(reply, query).map_err(StatementFailure::before_the_end)
    }

    /// Runs the statement of a query in a transaction that is open. What is too large about the
    /// result of a statement that took effect is inside.
    async fn run_in_open(&mut self, query: &Query<'_>, statement: &Statement<'_>) -> Result<Result<Rows, StatementFailure>, Failed> {
        self.hand_over(query).await?;
        let reply = self.execute(query, statement).await?;
        match reply::rows_of(reply, query) {
            Err(failure) if failure.error.kind != ErrorKind::TooLarge => Err(failure.into()),
            found => Ok(found),
        }
    }

    async fn end(&mut self, query: &Query<'_>) -> Result<(), StatementFailure> {
        match self.open.take() {
            // There is nothing to commit. It is ended while the answer is on its way.
            Some(_) if self.begin.reads => Ok(()),
            Some(open) => open.commit(query).await,
            None => Ok(()),
        }
    }
}

impl OwnStatements for Session<'_> {
    fn run_own<'a>(&'a mut self, own: shared::Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(async move {
            self.open = Some(self.rds.begin(query, &Holds::default()).await?);
            self.begin = Begin::default();
            match self.own_rows(query, own.text, own.values).await {
                Ok(rows) => {
                    self.end(query).await?;
                    Ok(rows)
                }
                Err(failure) => {
                    shared::Session::roll_back(self).await;
                    Err(failure)
                }
            }
        })
    }
}

impl shared::Session for Session<'_> {
    fn clock(&self) -> Rc<dyn Clock> {
        self.rds.api.server.clock.clone()
    }

    async fn run(&mut self, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let (text, values) = query.command.statement(RDS_DATA.name).map_err(StatementFailure::last)?;
        let statement = Statement::own(text, values);
        if self.rds.is_alone(query) {
            let outcome = self.rds.execute(query, None, &statement, false).await;
            return reply::rows_of(outcome.map_err(|failed| self.note(failed))?, query);
        }
        let begin = Begin { reads: query.access.reads(), ..Begin::default() };
        self.open = Some(self.rds.begin(query, &Holds::default()).await?);
        self.begin = begin;
        match self.run_in_open(query, &statement).await {
            Ok(found) => {
                self.end(query).await?;
                found
            }
            Err(failed) => {
                let failure = self.note(failed).before_the_end();
                self.roll_back().await;
                Err(failure)
            }
        }
    }

    async fn begin(&mut self, begin: Begin, own: &[shared::Statement<'_>], query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let holds = Holds { lock_ms: begin.wait_ms, is_one_state: begin.reads };
        self.begin = begin;
        self.open = Some(self.rds.begin(query, &holds).await?);
        let mut rows = Rows::default();
        for own in own {
            rows = self.own_rows(query, own.text, own.values).await?;
        }
        Ok(rows)
    }

    fn has_begun(&self) -> bool {
        self.open.is_some()
    }

    async fn step(&mut self, query: &Query<'_>, is_first: bool) -> Result<Rows, StatementFailure> {
        let (text, values) = query.command.statement(RDS_DATA.name).map_err(StatementFailure::last)?;
        if is_first {
            self.hand_over(query).await?;
        }
        let statement = Statement::of_author(text, values, !query.session.is_empty()).map_err(StatementFailure::last)?;
        match self.execute(query, &statement).await {
            Ok(reply) => reply::rows_of(reply, query),
            Err(failed) => Err(self.note(failed)),
        }
    }

    async fn own_step(&mut self, own: shared::Statement<'_>, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        self.own_rows(&for_record(query), own.text, own.values).await
    }

    async fn commit(&mut self, own: &[shared::Statement<'_>], query: &Query<'_>) -> Result<(), FailedEnd> {
        own_steps(self, own, query).await?;
        self.end(query).await.map_err(|failure| FailedEnd { place: own.len(), failure })
    }

    async fn roll_back(&mut self) {
        if let Some(open) = self.open.take() {
            open.undo().await;
        }
    }
}
