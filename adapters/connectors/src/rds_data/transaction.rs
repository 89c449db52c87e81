//! A transaction of the API: begun, told what holds in it, and committed, or undone by whatever
//! drops it.

use std::{cell::Cell, rc::Rc};

use millrace_core::{
    ErrorKind, Json, Result,
    ports::{Query, SessionSetting},
    value::Value,
};
use serde_json::Map;

use super::{Api, RdsData, Refusal, Statement, known_types::Types, reply};
use crate::{
    postgres_text::{blame_session, is_of_statement},
    shared::{Execution, ReadOnly, StatementFailure, own_query, timed_out},
};

/// How long the end of a transaction that is undone is waited for, in milliseconds.
const UNDOING_MS: u64 = 5_000;
/// What the API allows a statement, in milliseconds: the database gives up then, too.
const MOST_MS: u64 = 45_000;

/// A transaction that is open. Dropped before it was committed, it is undone.
pub(super) struct Open {
    api: Rc<Api>,
    id: String,
    has_ended: Cell<bool>,
}

impl Open {
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    fn body(id: &str) -> Map<String, Json> {
        Map::from_iter([("transactionId".to_owned(), id.into())])
    }

    /// Makes the changes last.
    ///
    /// # Errors
    /// Where the answer is missing, nobody knows whether they do.
    pub(super) async fn commit(self, query: &Query<'_>) -> Result<(), StatementFailure> {
        if self.api.server.clock.now_ms() >= query.deadline_ms {
            return Err(StatementFailure::last(timed_out()));
        }
        match self.api.exchange("CommitTransaction", Self::body(&self.id), query).await {
            Ok(_) => {
                self.has_ended.set(true);
                Ok(())
            }
            Err(Refusal { failure, .. }) => {
                // It was sent, and may have arrived.
                let is_unknown = matches!(failure.error.kind, ErrorKind::TimedOut | ErrorKind::TooLarge);
                Err(if is_unknown { StatementFailure::unknown(failure.error) } else { failure })
            }
        }
    }

    /// Undoes what was done, and waits for that.
    pub(super) async fn undo(self) {
        self.has_ended.set(true);
        undo(&self.api, &self.id).await;
    }
}

async fn undo(api: &Api, id: &str) {
    let query = own_query("", api.server.clock.now_ms().saturating_add(UNDOING_MS));
    // Where this fails, the API undoes it after three minutes.
    drop(api.exchange("RollbackTransaction", Open::body(id), &query).await);
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.has_ended.get() {
            let (api, id) = (Rc::clone(&self.api), std::mem::take(&mut self.id));
            let wait_until = Rc::clone(&self.api.wait_until);
            wait_until.wait_until(Box::pin(async move { undo(&api, &id).await }));
        }
    }
}

/// What holds in a transaction.
#[derive(Default)]
pub(super) struct Holds {
    /// How long a statement waits for a lock, in milliseconds, and runs.
    pub(super) lock_ms: Option<u64>,
    /// Every statement sees the same state.
    pub(super) is_one_state: bool,
}

impl RdsData {
    /// Begins a transaction, and sets what holds in it.
    ///
    /// # Errors
    /// Nothing has taken effect.
    pub(super) async fn begin(&self, query: &Query<'_>, holds: &Holds) -> Result<Open, StatementFailure> {
        let before = StatementFailure::before_the_end;
        let database = self.api.database.as_ref().map(|database| ("database".to_owned(), database.as_str().into()));
        let body = Map::from_iter(database);
        let answer = self.api.exchange("BeginTransaction", body, query).await.map_err(|refusal| before(refusal.failure))?;
        let Some(id) = answer.get("transactionId").and_then(Json::as_str).filter(|id| !id.is_empty()) else {
            return Err(before(reply::broken("a transaction has no number")));
        };
        let open = Open { api: Rc::clone(&self.api), id: id.to_owned(), has_ended: Cell::new(false) };
        if holds.is_one_state {
            self.own(query, &open, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", &[])
                .await
                .map_err(|refusal| before(refusal.failure))?;
        }
        let settings = self.settings(query, holds)?;
        self.set(query, &open, &settings).await.map_err(|refusal| before(refusal.failure))?;
        Ok(open)
    }

    /// What is set for every transaction: when the server gives up, and what makes its answers the
    /// same everywhere.
    fn settings(&self, query: &Query<'_>, holds: &Holds) -> Result<Vec<(String, String)>, StatementFailure> {
        let left_ms = query.deadline_ms.saturating_sub(self.api.server.clock.now_ms());
        if left_ms == 0 {
            return Err(StatementFailure::last(timed_out()));
        }
        let mut settings = vec![
            ("statement_timeout", holds.lock_ms.unwrap_or(left_ms).clamp(1, MOST_MS).to_string()),
            ("TimeZone", "UTC".to_owned()),
            ("DateStyle", "ISO".to_owned()),
            // As the build reads literals.
            ("standard_conforming_strings", "on".to_owned()),
            ("application_name", "millrace".to_owned()),
        ];
        settings.extend(holds.lock_ms.map(|ms| ("lock_timeout", ms.clamp(1, MOST_MS).to_string())));
        // After this statement PostgreSQL refuses to unset it.
        settings.extend(ReadOnly::of(query, self.read_only).is_demanded().then(|| ("transaction_read_only", "on".to_owned())));
        Ok(settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    async fn set(&self, query: &Query<'_>, open: &Open, settings: &[(String, String)]) -> Result<(), Refusal> {
        let set = |at: usize| format!("set_config(${}, ${}, true)", 2 * at + 1, 2 * at + 2);
        let text = format!("SELECT {}", (0..settings.len()).map(set).collect::<Vec<_>>().join(", "));
        let values: Vec<Value> = settings.iter().flat_map(|(name, value)| [name, value]).map(|text| Value::Text(text.clone())).collect();
        self.own(query, open, &text, &values).await.map(drop)
    }

    /// Sets what the adapter's session says.
    ///
    /// # Errors
    /// PostgreSQL refuses it.
    pub(super) async fn set_session(&self, query: &Query<'_>, open: &Open) -> Result<(), StatementFailure> {
        if query.session.is_empty() {
            return Ok(());
        }
        let settings: Vec<_> = query.session.iter().map(|SessionSetting { name, value }| (name.clone(), value.clone())).collect();
        self.set(query, open, &settings).await.map_err(|Refusal { failure, said }| {
            let failure = failure.before_the_end();
            let is_its_fault = said.is_some() && failure.outcome == Execution::Final && is_of_statement(&failure.error);
            if is_its_fault { StatementFailure::last(blame_session(failure.error)) } else { failure }
        })
    }

    /// Runs a statement of the connector's own in a transaction.
    pub(super) async fn own(&self, query: &Query<'_>, open: &Open, text: &str, values: &[Value]) -> Result<Json, Refusal> {
        let mut body = Statement::own(text, values).body(&Types::default()).map_err(StatementFailure::last)?;
        body.insert("transactionId".to_owned(), open.id().into());
        self.api.execute(body, query).await
    }
}
