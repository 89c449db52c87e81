//! What a statement may do: asked by SQLite for every step of a statement while it is prepared.
//!
//! Allowed is what reads and writes this one database. Refused is what reaches out of it (`ATTACH`, `VACUUM`, extensions), what
//! would outlive the call on the shared connection (transactions, temporary objects), and every `PRAGMA` that is not a mere question.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization, TransactionOperation};

/// Pragmas that only tell, whatever their argument.
const QUESTIONS: &[&str] = &[
    "collation_list",
    "compile_options",
    "data_version",
    "foreign_key_check",
    "foreign_key_list",
    "freelist_count",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "module_list",
    "page_count",
    "pragma_list",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Pragmas that only tell when they have no argument.
const SETTINGS: &[&str] = &[
    "application_id",
    "auto_vacuum",
    "encoding",
    "foreign_keys",
    "journal_mode",
    "page_size",
    "query_only",
    "schema_version",
    "user_version",
];

/// The rules of one connection. It remembers what it refused last, because SQLite's own message names nothing.
#[derive(Default)]
pub(super) struct Authorizer {
    own_transaction: AtomicBool,
    refused: Mutex<Option<String>>,
}

impl Authorizer {
    /// The answer for one step of a statement.
    pub(super) fn judge(&self, context: AuthContext<'_>) -> Authorization {
        let Some(refused) = self.refusal(context) else { return Authorization::Allow };
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
        Authorization::Deny
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
                (!is_question(pragma_name, pragma_value)).then(|| format!("PRAGMA {pragma_name}"))
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

fn is_question(name: &str, value: Option<&str>) -> bool {
    let is_in = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(name));
    is_in(QUESTIONS) || (value.is_none() && is_in(SETTINGS))
}

const fn transaction_word(operation: TransactionOperation) -> &'static str {
    match operation {
        TransactionOperation::Begin => "BEGIN",
        TransactionOperation::Rollback => "ROLLBACK",
        _ => "COMMIT",
    }
}
