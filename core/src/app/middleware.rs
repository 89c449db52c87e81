//! `middleware`: what has to hold, and what is added to `ctx`, before a tool does anything.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{EpochWrites, RateLimit, RequiredScopes, ScriptRef, Template, ValueTemplate};
use crate::expression::Expression;

/// One entry of a tool's middleware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Middleware {
    /// Where its author wrote it: `app/tools/_folder.yaml:3:5`.
    pub place: String,
    /// What it does.
    pub action: MiddlewareAction,
}

/// What an entry of the middleware does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MiddlewareAction {
    /// A script.
    Script {
        /// The default export, or the one after `#`; what it returns is merged into `ctx`. `None`
        /// for a script with nothing but `after`.
        before: Option<ScriptRef>,
        /// The export `after`, which is told how the call ended.
        after: Option<ScriptRef>,
    },
    /// `derive`: values that are merged into `ctx`.
    Derive(Vec<(String, ValueTemplate)>),
    /// `require`: a condition.
    Require {
        /// `when`, over `inputs`, `ctx` and `auth`.
        when: Expression,
        /// `code`
        code: String,
        /// `message`
        message: Template,
    },
    /// `require_scope`: the scopes that the caller must have.
    RequireScope(RequiredScopes),
    /// `audit`: a line about each call that gets this far.
    Audit(Audit),
    /// `rate_limit`: how often calls may come this far, those of all tools that have the entry
    /// together.
    RateLimit(RateLimit),
}

/// `audit`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// `subject`: who calls.
    pub subject: ValueTemplate,
    /// `inputs`: what the line says of the inputs.
    pub inputs: AuditInputs,
    /// `to` and `table`: where a row is written, beside the line in the log.
    pub table: Option<AuditTable>,
    /// `tenant`: whose the call is. `None`: what the `tenant` of the tool's adapter names, where it
    /// has one.
    #[serde(skip)]
    pub tenant: Option<ValueTemplate>,
    /// `required`: a call whose row cannot be written is refused. Only with a table.
    #[serde(skip)]
    pub required: bool,
}

/// What an audit line says of the inputs of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuditInputs {
    /// Nothing.
    None,
    /// Their names.
    Names,
    /// Their names, and of each value an HMAC-SHA256 with the key in [`HASH_KEY`](super::HASH_KEY).
    Hashes,
}

/// Where audit rows are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditTable {
    /// Index into [`App::adapters`](super::App::adapters).
    pub adapter: u32,
    /// The `INSERT` with one parameter for each of [`AUDIT_COLUMNS`], in their order, and then of
    /// [`MORE_AUDIT_COLUMNS`] where it has them.
    pub statement: String,
    /// What cached results depend on the table.
    pub writes: EpochWrites,
    /// `columns: all`: the table has [`MORE_AUDIT_COLUMNS`], too.
    #[serde(skip)]
    pub has_all_columns: bool,
    /// Whether the first row of a call is written in the transaction of the tool's statement: it is
    /// required, and both are in one database that has transactions.
    #[serde(skip)]
    pub in_transaction: bool,
}

/// The columns of every audit table.
pub const AUDIT_COLUMNS: [&str; 11] =
    ["at", "request_id", "tool", "subject", "decision", "decided_by", "outcome", "code", "duration_ms", "inputs", "change_made"];
/// The further columns of an audit table with `columns: all`.
pub const MORE_AUDIT_COLUMNS: [&str; 5] = ["tenant", "row_count", "chain", "seq", "mac"];

impl Audit {
    /// Whether it has digests of inputs, for which it needs the key in
    /// [`HASH_KEY`](super::HASH_KEY).
    #[must_use]
    pub fn hashes(&self) -> bool {
        self.inputs == AuditInputs::Hashes
    }
}

impl Middleware {
    /// The scripts of the entry.
    pub fn scripts(&self) -> impl Iterator<Item = &ScriptRef> {
        let (before, after) = match &self.action {
            MiddlewareAction::Script { before, after } => (before.as_ref(), after.as_ref()),
            _ => (None, None),
        };
        before.into_iter().chain(after)
    }

    /// Whether it wants to know how the call ended.
    #[must_use]
    pub const fn observes(&self) -> bool {
        self.has_after() || matches!(&self.action, MiddlewareAction::Audit(_))
    }

    /// Whether a script of it is shown the result.
    #[must_use]
    pub const fn has_after(&self) -> bool {
        matches!(&self.action, MiddlewareAction::Script { after: Some(_), .. })
    }
}
