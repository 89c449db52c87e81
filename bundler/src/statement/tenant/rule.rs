//! What `tenant` of an adapter says, with names as the database tells them apart.

use std::collections::BTreeSet;

use crate::statement::{
    dialect::Dialect,
    resolved::{fold, last, parsed},
};
use millrace_core::app::Source;

/// What an author may do where nothing else helps.
pub(super) const OPT_OUT: &str = "or opt the tool out with `tenant: { none: \"REASON\" }`: nothing of it is checked then";

/// `tenant` of an adapter: which rows belong to a tenant, and what of the caller says which tenant
/// that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantRule {
    /// The claim: `auth.claims.org`.
    pub claim: Source,
    /// The column that has the tenant, a [`name`](Self::name).
    pub column: String,
    /// The tables that have the column.
    pub tables: TenantTables,
    /// Functions of one's own that return nothing of another tenant, each a [`name`](Self::name).
    pub functions: BTreeSet<String>,
}

/// The tables that have the tenant's column, each a [`name`](TenantRule::name).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantTables {
    /// These.
    Listed(BTreeSet<String>),
    /// All but these.
    AllBut(BTreeSet<String>),
}

impl TenantTables {
    pub(super) fn contains(&self, table: &str) -> bool {
        match self {
            Self::Listed(tables) => tables.contains(table),
            Self::AllBut(shared) => !shared.contains(table),
        }
    }

    /// Whether the author has not named a table.
    pub(super) fn is_not_named(&self, table: &str) -> bool {
        match self {
            Self::Listed(tables) | Self::AllBut(tables) => !tables.contains(table),
        }
    }
}

impl TenantRule {
    /// Whether a table that an author names by hand has the column, as far as is known.
    pub(crate) fn has(&self, table: &str, dialect: Dialect) -> bool {
        Self::name(table, dialect).is_none_or(|table| self.tables.contains(&table))
    }

    /// What of the tables that have the column in a database the rule does not say, and what it
    /// says that is not so; each a clause. `found` are the names of the tables and views that have
    /// it, as the database has them.
    #[must_use]
    pub fn differences(&self, found: &[String], dialect: Dialect) -> Vec<String> {
        let column = &self.column;
        let found: BTreeSet<String> = found
            .iter()
            .map(|name| if dialect.facts().resolution.quotes_keep_case { name.clone() } else { name.to_ascii_lowercase() })
            .collect();
        match &self.tables {
            TenantTables::Listed(listed) => {
                let unlisted =
                    found.difference(listed).map(|table| format!("`{table}` has the column `{column}`, and `tables` does not list it"));
                let without = listed.difference(&found).map(|table| format!("`tables` lists `{table}`, which has no column `{column}`"));
                unlisted.chain(without).collect()
            }
            TenantTables::AllBut(shared) => {
                found.intersection(shared).map(|table| format!("`shared` lists `{table}`, which has the column `{column}`")).collect()
            }
        }
    }

    /// A name that an author writes by hand, without its schema, as the database tells names apart.
    /// `None` where it is not a name.
    #[must_use]
    pub fn name(text: &str, dialect: Dialect) -> Option<String> {
        fold(last(&parsed(text, dialect)?)?, dialect)
    }
}
