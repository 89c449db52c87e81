//! A session at work on a call.
//!
//! What the driver sends beside the author's statement goes along with it: a transaction's
//! beginning and its end are one round trip each, whatever runs in them.

use std::rc::Rc;

use millrace_catalogue::POSTGRES;
use millrace_core::{
    app::Access,
    ports::{Clock, LocalFuture, Query},
    value::{Rows, Value},
};

use super::{
    lists::{Listed, Lists},
    session::{Batch, IN_TRANSACTION, Session, Transaction, commands},
};
use crate::{
    postgres_text::lists::has_lists,
    shared::{self, Begin, FailedEnd, OwnStatements, Statement, StatementFailure},
};

/// Sets for how long a statement may run in the transaction that is open, and for how long that may
/// be idle.
const TIMEOUT: &str = "SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)";
/// What an idle transaction may outlive the deadline by, in milliseconds.
const IDLE_MARGIN_MS: u64 = 1000;

/// A session at work.
pub(super) struct Work<'a> {
    pub(super) session: &'a mut Session,
    pub(super) lists: &'a Lists<'a>,
    pub(super) clock: &'a Rc<dyn Clock>,
    pub(super) is_read_only: bool,
}

impl OwnStatements for Work<'_> {
    fn run_own<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(async move {
            let batch = Batch::of(own.text, own.values, Transaction::Implied, query).map_err(StatementFailure::last)?;
            self.session.run(&batch, query, self.lists.left_ms(query)).await
        })
    }
}

impl shared::Session for Work<'_> {
    fn clock(&self) -> Rc<dyn Clock> {
        self.clock.clone()
    }

    async fn run(&mut self, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let Statement { text: unmarked, values } = Statement::of(query, POSTGRES.name)?;
        let transaction = match (self.is_read_only, query.session) {
            (true, _) => Transaction::ReadOnly,
            (false, []) => Transaction::Implied,
            (false, _) => Transaction::Own,
        };
        let marked = marked(unmarked, query);
        let text = marked.as_deref().unwrap_or(unmarked);
        if has_lists(values) {
            let listed = Listed { text, unmarked, values, settings: query.session, is_within: false };
            return listed.run(self.session, self.lists, query, transaction).await;
        }
        let batch = Batch::of(text, values, transaction, query).map_err(StatementFailure::last)?.with_settings(query.session);
        self.session.run(&batch, query, self.lists.left_ms(query)).await
    }

    async fn begin(&mut self, begin: Begin, own: &[Statement<'_>], query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let text = match (begin.reads, begin.is_read_only) {
            // Statements that only read see one state of the data.
            (true, true) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            (true, false) => "BEGIN ISOLATION LEVEL REPEATABLE READ",
            (false, true) => "BEGIN READ ONLY",
            (false, false) => "BEGIN",
        };
        let left_ms = self.lists.left_ms(query);
        let timeouts = [begin.wait_ms.unwrap_or(left_ms).max(1), left_ms.saturating_add(IDLE_MARGIN_MS)]
            .map(|ms| Value::Text(ms.min(i32::MAX as u64).to_string()));
        let before = [Statement { text, values: &[] }, Statement { text: TIMEOUT, values: &timeouts }];
        let all = [&before, own].concat();
        let bytes = commands(&all).map_err(StatementFailure::last)?;
        // What the driver's own statements return is asked for, and not that of the settings.
        let place = if own.is_empty() { 0 } else { all.len() - 1 };
        // Until the end is asked for, nothing has been written for good.
        let undone = &Query { access: Access::Read, ..query.clone() };
        self.session.step(&bytes, place, undone, IN_TRANSACTION).await
    }

    async fn step(&mut self, query: &Query<'_>, is_first: bool) -> Result<Rows, StatementFailure> {
        let Statement { text: unmarked, values } = Statement::of(query, POSTGRES.name)?;
        // What the session sets holds until the transaction ends.
        let settings = if is_first { query.session } else { &[] };
        let marked = marked(unmarked, query);
        let text = marked.as_deref().unwrap_or(unmarked);
        if has_lists(values) {
            let listed = Listed { text, unmarked, values, settings: query.session, is_within: true };
            return listed.run_within(self.session, self.lists, query, settings).await;
        }
        let batch = Batch::of(text, values, Transaction::Implied, query).map_err(StatementFailure::last)?.with_settings(settings);
        self.session.run_within(&batch, query, self.lists.left_ms(query)).await
    }

    async fn own_step(&mut self, own: Statement<'_>, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let batch = Batch::of(own.text, own.values, Transaction::Implied, query).map_err(StatementFailure::last)?;
        self.session.run_within(&batch, query, self.lists.left_ms(query)).await
    }

    async fn commit(&mut self, own: &[Statement<'_>], query: &Query<'_>) -> Result<(), FailedEnd> {
        let all = [own, &[Statement { text: "COMMIT", values: &[] }]].concat();
        let bytes = commands(&all).map_err(|error| FailedEnd { place: 0, failure: StatementFailure::last(error) })?;
        self.session.end(&bytes, own.len(), query).await
    }

    async fn roll_back(&mut self) {
        // Where the connection broke, the server does it by itself.
        drop(self.session.give_up().await);
    }
}

/// A statement that says which session it is for: what answers between here and the server by text
/// and values alone, as a Hyperdrive may, must not take one session for another.
fn marked(text: &str, query: &Query<'_>) -> Option<String> {
    query.session_digest().map(|digest| format!("/* session {digest} */ {text}"))
}
