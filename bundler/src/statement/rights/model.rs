//! What rights are made of.

use std::collections::{BTreeMap, BTreeSet};

use crate::statement::{
    Dialect,
    resolved::{Named, Use, UsedColumns},
};

/// What may be done with something of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Privilege {
    /// `SELECT`
    Select,
    /// `INSERT`
    Insert,
    /// `UPDATE`
    Update,
    /// `DELETE`
    Delete,
    /// `TRUNCATE`, which is `DROP` in MySQL
    Truncate,
    /// `USAGE` of a sequence
    Usage,
    /// `EXECUTE` of a function
    Execute,
    /// `EXECUTE` of a procedure
    Call,
    /// Another one of ClickHouse, as `GRANT` has it
    Other(&'static str),
}

impl Privilege {
    /// The word of `GRANT`.
    #[must_use]
    pub const fn word(self, dialect: Dialect) -> &'static str {
        let [update, delete, truncate] = dialect.facts().resolution.words_of_grant;
        match self {
            Self::Select => "SELECT",
            Self::Insert => "INSERT",
            Self::Update => update,
            Self::Delete => delete,
            Self::Truncate => truncate,
            Self::Usage => "USAGE",
            Self::Execute | Self::Call => "EXECUTE",
            Self::Other(word) => word,
        }
    }
}

impl From<Use> for Privilege {
    fn from(usage: Use) -> Self {
        match usage {
            Use::Read => Self::Select,
            Use::Update => Self::Update,
            Use::Delete => Self::Delete,
            Use::Truncate => Self::Truncate,
            Use::Other(word) => Self::Other(word),
        }
    }
}

/// The columns that a right is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// All of them: the right is for the table.
    pub all: bool,
    /// These. Without any, and without `all`, one column of whatever name is enough, as for
    /// `count(*)`.
    pub names: BTreeSet<String>,
}

impl Columns {
    pub(super) fn add(&mut self, used: UsedColumns) {
        match used {
            UsedColumns::All => self.all = true,
            UsedColumns::Any => {}
            UsedColumns::Named(name) => drop(self.names.insert(name)),
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.all |= other.all;
        self.names.extend(other.names);
    }
}

/// What a statement needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Of tables and views.
    pub tables: BTreeMap<(Named, Privilege), Columns>,
    /// Of sequences that the statement names.
    pub sequences: BTreeSet<(Named, Privilege)>,
    /// Functions that are not known as the database's own.
    pub functions: BTreeSet<Named>,
    /// Procedures.
    pub procedures: BTreeSet<Named>,
    /// What ClickHouse grants for no table: the right, and what it is on.
    pub server: BTreeSet<(&'static str, &'static str)>,
    /// Tables into which rows are inserted, and the columns whose values the statement gives: the
    /// others have their defaults, which can be a sequence's.
    pub filled: BTreeSet<(Named, BTreeSet<String>)>,
    /// Why more is needed than the statement seems to need, as a sentence.
    pub widened: BTreeSet<String>,
    /// What was not understood, as a clause: rights can be missing.
    pub unclear: BTreeSet<String>,
}

impl Rights {
    /// Adds a need.
    pub(super) fn need(&mut self, table: &Named, privilege: Privilege) -> &mut Columns {
        self.tables.entry((table.clone(), privilege)).or_default()
    }

    /// Adds those of another statement.
    pub fn extend(&mut self, other: Self) {
        for ((table, privilege), columns) in other.tables {
            self.need(&table, privilege).extend(columns);
        }
        self.sequences.extend(other.sequences);
        self.functions.extend(other.functions);
        self.procedures.extend(other.procedures);
        self.server.extend(other.server);
        self.filled.extend(other.filled);
        self.widened.extend(other.widened);
        self.unclear.extend(other.unclear);
    }

    /// Those of a statement that was not understood, and why.
    pub(super) fn unclear(why: impl Into<String>) -> Self {
        Self { unclear: BTreeSet::from([why.into()]), ..Self::default() }
    }
}
