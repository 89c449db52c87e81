//! What is known of the tables of a database, where it was asked.

use std::collections::{BTreeMap, BTreeSet};

use super::Named;

/// What is known of a database. Without anything, the walk goes by the statement alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The tables and views that were asked about, by the name that statements have for them.
    pub tables: BTreeMap<Named, KnownTable>,
    /// The server is MariaDB, which lets whoever may read rows lock them.
    pub is_mariadb: bool,
}

/// A table or a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownTable {
    /// The schema that it is in, for MySQL the database.
    pub schema: String,
    /// Its columns.
    pub columns: BTreeSet<String>,
    /// A column that is of its key, or its first one: the one to grant where any is enough.
    pub any: Option<String>,
    /// The columns of each of its constraints that are unique, by the constraint's name.
    pub constraints: BTreeMap<String, BTreeSet<String>>,
    /// The types of its columns, where they decide anything: in ClickHouse.
    pub kinds: BTreeMap<String, String>,
}
