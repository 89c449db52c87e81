//! How databases say that they would run a statement.

use alloc::{string::String, vec::Vec};

use millrace_core::{PlanQuestion, value::Rows};

/// How the databases of a language are asked for the plan of a statement, and what they answer.
#[derive(Debug)]
pub struct Plans {
    /// How they are asked.
    pub question: PlanQuestion,
    /// What the answer says of each table. `None` where it is not understood.
    pub read: fn(&Rows) -> Option<Vec<TableAccess>>,
    /// Asks for the indexes of all rows: the name of the table, of the index, and of a column, in
    /// the order of the columns.
    pub indexes: &'static str,
    /// Whether a plan depends on the rows that are there: tomorrow's may be another.
    pub depends_on_rows: bool,
}

/// How a table is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAccess {
    /// What the plan calls it: its alias in the statement, or its own name.
    pub name: String,
    /// Its own name, quoted, where the plan says it.
    pub table: Option<String>,
    /// Which of its rows are read.
    pub rows: RowsRead,
    /// The index that is used.
    pub index: Option<String>,
}

/// Which rows of a table are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsRead {
    /// Those that an index finds, or the first ones.
    Some,
    /// Those that a virtual table gives, which are its own affair.
    Unknown,
    /// All of them.
    All,
    /// All of them, unless the statement ends before: it has a limit, and neither a condition nor
    /// anything that needs all rows.
    UntilLimit,
    /// The first or the last one where the only column that is used is the key; else all.
    FirstOfKey,
}
