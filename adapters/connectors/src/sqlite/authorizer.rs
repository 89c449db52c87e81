//! What a statement may do: asked by SQLite for every step of a statement while it is prepared.
//!
//! Allowed is what reads and writes this one database. Refused is what reaches out of it (`ATTACH`,
//! `VACUUM`, extensions), what would outlive the call on the shared connection (transactions,
//! temporary objects), and every `PRAGMA` that is not a mere question.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization, TransactionOperation};

use millrace_languages::sqlite::pragma;

/// The rules of one connection. It remembers what it refused last, because SQLite's own message
/// names nothing.
#[derive(Default)]
pub(super) struct Authorizer {
    own_transaction: AtomicBool,
    searches: AtomicBool,
    refused: Mutex<Option<String>>,
}

impl Authorizer {
    /// The answer for one step of a statement.
    pub(super) fn judge(&self, context: AuthContext<'_>) -> Authorization {
        let Some(refused) = self.refusal(context) else { return Authorization::Allow };
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
        Authorization::Deny
    }

    /// Forgets the statement before.
    pub(super) fn start(&self) {
        self.searches.store(false, Ordering::Relaxed);
        self.take_refused();
    }

    /// Whether a statement with `MATCH` was prepared since [`start`](Self::start).
    pub(super) fn searches(&self) -> bool {
        self.searches.load(Ordering::Relaxed)
    }

    /// What was refused since the last call of this.
    pub(super) fn take_refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Does `work`, in which the driver itself may begin and end a transaction.
    pub(super) fn with_own_transaction<T>(&self, work: impl FnOnce() -> T) -> T {
        self.own_transaction.store(true, Ordering::Relaxed);
        let _reset = Reset(&self.own_transaction);
        work()
    }

    fn refusal(&self, context: AuthContext<'_>) -> Option<String> {
        let is_temporary = context.database_name == Some("temp");
        match context.action {
            AuthAction::Attach { .. } => Some("ATTACH` or `VACUUM".into()),
            AuthAction::Detach { .. } => Some("DETACH".into()),
            AuthAction::Transaction { .. } if self.own_transaction.load(Ordering::Relaxed) => None,
            AuthAction::Transaction { operation } => Some(transaction_word(operation).into()),
            AuthAction::Savepoint { .. } => Some("SAVEPOINT".into()),
            AuthAction::CreateTempIndex { .. }
            | AuthAction::CreateTempTable { .. }
            | AuthAction::CreateTempTrigger { .. }
            | AuthAction::CreateTempView { .. } => Some("CREATE TEMP".into()),
            AuthAction::CreateIndex { .. }
            | AuthAction::CreateTable { .. }
            | AuthAction::CreateTrigger { .. }
            | AuthAction::CreateView { .. }
            | AuthAction::CreateVtable { .. }
                if is_temporary =>
            {
                Some("CREATE TEMP".into())
            }
            AuthAction::Pragma { pragma_name, pragma_value } => {
                (!pragma::is_question(pragma_name, pragma_value.is_some())).then(|| format!("PRAGMA {pragma_name}"))
            }
            AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("match") => {
                self.searches.store(true, Ordering::Relaxed);
                None
            }
            AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("load_extension") => Some("load_extension".into()),
            AuthAction::Unknown { code, .. } => Some(format!("action {code}")),
            _ => None,
        }
    }
}

/// Takes the permission back, also when `work` panics.
struct Reset<'a>(&'a AtomicBool);

impl Drop for Reset<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

const fn transaction_word(operation: TransactionOperation) -> &'static str {
    match operation {
        TransactionOperation::Begin => "BEGIN",
        TransactionOperation::Rollback => "ROLLBACK",
        _ => "COMMIT",
    }
}
