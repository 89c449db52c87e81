//! What is printed: the rights of those who log in alike.

use std::collections::{BTreeMap, BTreeSet};

use super::acl::Acl;
use millrace_bundler::statement::{Dialect, Named, Privilege, Rights};

/// Adapters that log in alike, and what their user needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Their names.
    pub adapters: Vec<String>,
    /// The place of the first in the app's.
    pub index: usize,
    /// Their connector.
    pub connector: String,
    /// Its language, where it has rights that are granted by statements.
    pub dialect: Option<Dialect>,
    /// The databases, where the caller decides which it is.
    pub databases: Vec<String>,
    /// The database of tables for which a statement names none, where it is known and has to be
    /// said.
    pub database: Option<String>,
    /// Who logs in.
    pub role: String,
    /// As whom statements are carried out, where that is another role.
    pub session: Option<SessionRole>,
    /// What makes the table of the records of calls, and the tools that need it.
    pub makes: Option<(&'static [&'static str], BTreeSet<String>)>,
    /// What is needed, by whom.
    pub(super) needs: Vec<Need>,
    /// The rights, in order.
    pub grants: Vec<Grant>,
    /// The rights, where the server has an access control list in place of statements that grant.
    pub acl: Option<Acl>,
    /// Of connector `http`: the methods and paths that tools and their scripts send,
    /// `GET /orders/{}`, and who sends each.
    pub requests: BTreeMap<String, BTreeSet<String>>,
    /// Of connector `http`: where requests go, and the scope of OAuth 2 that is asked for.
    pub api: Option<(String, Option<String>)>,
    /// Variables whose values are text of statements.
    pub variables: BTreeSet<String>,
    /// What is not known, or wider than it has to be.
    pub notes: BTreeSet<Note>,
}

/// As whom the statements of a section are carried out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionRole {
    /// This role.
    Named(String),
    /// One that the caller decides, as the adapter's file has it.
    Callers(String),
    /// One that a variable has, which is not set.
    Unset(String),
}

/// What one statement needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) user: String,
    pub(super) place: String,
    pub(super) rights: Rights,
    /// Whoever logs in needs it, whatever the session's role is.
    pub(super) is_own: bool,
}

/// A right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What it is about.
    pub object: Object,
    /// What may be done with it.
    pub privilege: Privilege,
    /// The columns, and who needs each; `None` for all of it.
    pub columns: Option<BTreeMap<String, BTreeSet<String>>>,
    /// Who needs it.
    pub users: BTreeSet<String>,
    /// Who gets it: `None` is whoever logs in, and else the session's role.
    pub of_session: bool,
}

/// What a right is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// The role of a session: whoever logs in becomes a member.
    Role(String),
    /// A schema.
    Schema(String),
    /// A table or a view.
    Table(Named),
    /// A sequence.
    Sequence(Named),
    /// A function; the types of its arguments in parentheses, where the database has them.
    Function(Named, Option<String>),
    /// A procedure, likewise.
    Procedure(Named, Option<String>),
    /// What ClickHouse has beside tables: `*.*`, `URL`.
    Server(&'static str),
}

/// Something to know about the rights of a section.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// Where: `app/tools/x/config.yaml:3:12`.
    pub place: String,
    /// Who needs something.
    pub user: String,
    /// What there is to know, as a sentence without its full stop.
    pub text: String,
    /// Whether rights can be missing; else there are only more than have to be.
    pub is_missing: bool,
}
