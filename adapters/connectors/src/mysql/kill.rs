//! Ends a statement on its server when nobody waits for it any more: MySQL does not notice that a
//! connection is gone while it works, and its own limit is for `SELECT` only.
//!
//! `KILL QUERY` goes over a second connection, which may end at another server: behind one name
//! there may be several. So the statement has to be found first, by the number of its thread, by
//! its user and by the text it begins with.

use std::{cell::Cell, rc::Rc};

use millrace_catalogue::MYSQL;
use millrace_core::{
    ports::{Clock, Dialer, LocalFuture, Query, WaitUntil},
    value::{Rows, Value},
};

use super::{address::MysqlAddress, login, session::Session};
use crate::{
    mysql_text::{self, Transaction},
    shared::{
        self, Begin, Call, FailedEnd, OwnStatements, Pooled as _, ReadOnly, Statement, StatementFailure, own_query, own_steps, within,
    },
};

/// How long all of it may take, in milliseconds.
const PATIENCE_MS: u64 = 5_000;
/// How much of a statement is compared, in bytes.
const COMPARED: usize = 200;
/// `CURRENT_USER()` has a pattern of a host behind its `@`.
const FIND: &str = "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = ? AND COMMAND IN ('Execute', 'Query') \
                    AND USER = SUBSTRING_INDEX(USER(), '@', 1) AND LEFT(INFO, CHAR_LENGTH(?)) = ?";

/// What ends statements.
pub(super) struct Killer {
    pub(super) address: Rc<MysqlAddress>,
    pub(super) dialer: Rc<dyn Dialer>,
    pub(super) clock: Rc<dyn Clock>,
    pub(super) wait_until: Rc<dyn WaitUntil>,
}

/// A statement that runs. Dropped before it has ended, it is ended.
pub(super) struct Watch<'a> {
    killer: &'a Killer,
    thread: u32,
    text: &'a str,
    runs: Cell<bool>,
}

impl Killer {
    /// Watches over a statement on a connection.
    pub(super) fn watch<'a>(&'a self, session: &Session, text: &'a str) -> Watch<'a> {
        Watch { killer: self, thread: session.server.thread, text, runs: Cell::new(true) }
    }
}

/// A session at work on a call, whose statements are watched.
pub(super) struct Watched<'a> {
    pub(super) session: &'a mut Session,
    pub(super) killer: &'a Killer,
    /// How long its statements may take, in milliseconds.
    pub(super) limit_ms: u64,
    /// How long those may take that come before the author's.
    own_limit_ms: u64,
    /// Its statement calls a procedure.
    calls: bool,
    is_read_only: bool,
    has_begun: bool,
}

impl<'a> Watched<'a> {
    /// For a call, whose statements may take so many milliseconds.
    pub(super) fn new(session: &'a mut Session, killer: &'a Killer, call: &Call<'_>, limit_ms: u64) -> Self {
        Self {
            session,
            killer,
            limit_ms,
            own_limit_ms: limit_ms,
            calls: call.notes.calls,
            is_read_only: call.is_read_only,
            has_begun: false,
        }
    }

    async fn watched(&mut self, query: &Query<'_>, transaction: Transaction) -> Result<Rows, StatementFailure> {
        let Statement { text, values } = Statement::of(query, MYSQL.name)?;
        let watch = self.killer.watch(self.session, text);
        let outcome = self.session.run(text, values, query, transaction, self.limit_ms).await;
        watch.ended();
        outcome
    }
}

impl OwnStatements for Watched<'_> {
    fn run_own<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(async move { self.session.run(own.text, own.values, query, Transaction::Implied, self.limit_ms).await })
    }
}

impl shared::Session for Watched<'_> {
    const UNDOES_ALL: bool = false;

    fn asks_for_inserted(text: &str) -> bool {
        mysql_text::asks_for_inserted(text)
    }

    fn clock(&self) -> Rc<dyn Clock> {
        self.killer.clock.clone()
    }

    async fn run(&mut self, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        self.watched(query, Transaction::alone(self.is_read_only, self.calls)).await
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    async fn begin(&mut self, begin: Begin, own: &[Statement<'_>], query: &Query<'_>) -> Result<Rows, StatementFailure> {
        self.own_limit_ms = begin.wait_ms.map_or(self.limit_ms, mysql_text::lock_wait_ms);
        self.session.begin(self.own_limit_ms, begin.is_read_only).await?;
        self.has_begun = true;
        let mut rows = Rows::default();
        for own in own {
            rows = self.own_step(*own, query).await?;
        }
        Ok(rows)
    }

    async fn forget_inserted(&mut self) -> Result<(), StatementFailure> {
        self.session.forget_inserted().await
    }

    async fn step(&mut self, query: &Query<'_>, _is_first: bool) -> Result<Rows, StatementFailure> {
        self.own_limit_ms = self.limit_ms;
        self.watched(query, Transaction::Open).await
    }

    async fn own_step(&mut self, own: Statement<'_>, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        self.session.run(own.text, own.values, query, Transaction::Open, self.own_limit_ms).await
    }

    async fn commit(&mut self, own: &[Statement<'_>], query: &Query<'_>) -> Result<(), FailedEnd> {
        own_steps(self, own, query).await?;
        self.session.commit().await.map_err(|failure| FailedEnd { place: own.len(), failure })
    }

    async fn roll_back(&mut self) {
        self.session.roll_back().await;
    }

    async fn undo(&mut self, failure: StatementFailure) -> StatementFailure {
        self.session.undo(failure).await
    }
}

impl Watch<'_> {
    /// The statement has ended, or its connection has.
    pub(super) fn ended(&self) {
        self.runs.set(false);
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.runs.get() {
            return;
        }
        let Killer { address, dialer, clock, wait_until } = self.killer;
        let (address, dialer, clock) = (address.clone(), dialer.clone(), clock.clone());
        let (thread, text) = (self.thread, beginning(self.text));
        wait_until.wait_until(Box::pin(async move {
            let until_ms = clock.now_ms() + PATIENCE_MS;
            // Where it fails, the server's own limit is left.
            let killed = within(&*clock, until_ms, kill(&address, &*dialer, thread, text, until_ms)).await;
            tracing::debug!(thread, killed = killed.flatten().is_some(), "a statement of MySQL that nobody waits for");
        }));
    }
}

/// `None`: it was not found, or something failed.
async fn kill(address: &MysqlAddress, dialer: &dyn Dialer, thread: u32, text: String, until_ms: u64) -> Option<()> {
    let mut session = login::connect(address, dialer, ReadOnly::Database, until_ms).await.ok()?;
    let values = [Value::U64(thread.into()), Value::Text(text.clone()), Value::Text(text)];
    let found = session.run(FIND, &values, &own_query(FIND, until_ms), Transaction::Implied, PATIENCE_MS).await.ok()?;
    let killed = match found.rows.is_empty() {
        true => None,
        false => session.command(&format!("KILL QUERY {thread}")).await.ok(),
    };
    session.close().await;
    killed
}

/// What a statement begins with, up to its first placeholder, behind which the server may show a
/// value.
fn beginning(text: &str) -> String {
    let text = text.trim_start();
    let text = text.split_once('?').map_or(text, |(start, _)| start).trim_end();
    let end = (0..=COMPARED.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text[..end].to_owned()
}
