//! Ends a statement on its server when nobody waits for it any more: MySQL does not notice that a connection is gone while it works, and its
//! own limit is for `SELECT` only.
//!
//! `KILL QUERY` goes over a second connection, which may end at another server: behind one name there may be several. So the statement has
//! to be found first, by the number of its thread, by its user and by the text it begins with.

use std::{cell::Cell, rc::Rc};

use millrace_core::{
    app::{Access, OnTooMany},
    ports::{Clock, Command, Dialer, Query, WaitUntil},
    value::{Rows, Value},
};

use super::{address::MysqlAddress, login, session::Session};
use crate::{
    mysql_text::{self, Transaction},
    shared::{ReadOnly, StatementFailure, within},
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

/// A session whose statements are watched.
pub(super) struct Watched<'a> {
    pub(super) session: &'a mut Session,
    pub(super) killer: &'a Killer,
}

impl mysql_text::Session for Watched<'_> {
    async fn run(
        &mut self,
        text: &str,
        values: &[Value],
        query: &Query<'_>,
        transaction: Transaction,
        limit_ms: u64,
    ) -> Result<Rows, StatementFailure> {
        self.session.run(text, values, query, transaction, limit_ms).await
    }

    async fn run_step(&mut self, text: &str, values: &[Value], query: &Query<'_>, limit_ms: u64) -> Result<Rows, StatementFailure> {
        let watch = self.killer.watch(self.session, text);
        let outcome = self.session.run(text, values, query, Transaction::Open, limit_ms).await;
        watch.ended();
        outcome
    }

    async fn begin(&mut self, limit_ms: u64, read_only: bool) -> Result<(), StatementFailure> {
        self.session.begin(limit_ms, read_only).await
    }

    async fn forget_inserted(&mut self) -> Result<(), StatementFailure> {
        self.session.forget_inserted().await
    }

    async fn commit(&mut self) -> Result<(), StatementFailure> {
        self.session.commit().await
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
    let query = Query {
        command: Command::Statement { text: FIND, values: &values },
        session: &[],
        access: Access::Read,
        deadline_ms: until_ms,
        max_rows: 1,
        on_too_many: OnTooMany::Error,
        max_bytes: 64,
        caller: None,
    };
    let found = session.run(FIND, &values, &query, Transaction::Implied, PATIENCE_MS).await.ok()?;
    let killed = match found.rows.is_empty() {
        true => None,
        false => session.command(&format!("KILL QUERY {thread}")).await.ok(),
    };
    session.close().await;
    killed
}

/// What a statement begins with, up to its first placeholder, behind which the server may show a value.
fn beginning(text: &str) -> String {
    let text = text.trim_start();
    let text = text.split_once('?').map_or(text, |(start, _)| start).trim_end();
    let end = (0..=COMPARED.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text[..end].to_owned()
}
