//! Why no connector sends a statement: what would outlive its call on the connection, reaches out
//! of the database, or says something of another call.

use core::ops::Range;

use alloc::string::String;

use crate::lex::Unread;

/// A statement that no connector of its language sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: Why,
    /// What of the text is refused, in bytes.
    pub range: Range<usize>,
}

/// Why a statement is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It cannot be cut into tokens.
    Unread(Unread),
    /// It has no statement in it.
    Nothing,
    /// It has more than one.
    Second,
    /// It has something that is not run, as messages name it: `` `SET` ``.
    NotRun(String),
}

/// Words that begin and end a transaction.
const OF_TRANSACTIONS: [&str; 10] =
    ["`ABORT`", "`BEGIN`", "`COMMIT`", "`END`", "`RELEASE`", "`ROLLBACK`", "`SAVEPOINT`", "`START`", "`XA`", "labels"];
/// Words that change settings of a session.
const OF_SETTINGS: [&str; 2] = ["`RESET`", "`SET`"];
/// What another call's statement is needed for.
const OF_ANOTHER_CALL: &str = "another call's";

impl Refusal {
    pub(crate) const fn new(why: Why, range: Range<usize>) -> Self {
        Self { why, range }
    }

    /// What of it is not run, as messages name it; `None` where the text is not one statement.
    #[must_use]
    pub fn not_run(&self) -> Option<&str> {
        match &self.why {
            Why::NotRun(what) => Some(what),
            Why::Unread(_) | Why::Nothing | Why::Second => None,
        }
    }

    /// What an author does instead.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.not_run() {
            Some(what) if OF_TRANSACTIONS.contains(&what) => {
                "write the statements that belong together under `transaction`, all or none of which take effect"
            }
            Some(what) if OF_SETTINGS.contains(&what) => {
                "use `session` of the adapter, where its connector has one: calls share their connections"
            }
            Some(what) if what.ends_with(OF_ANOTHER_CALL) => {
                "use `RETURNING`, or several statements under `transaction`: calls share their connections"
            }
            _ => "write a `SELECT`, or a change of rows: calls share their connections, and nothing of one may be left to the next",
        }
    }
}

/// Where a part of a text is in it, in bytes.
pub(crate) fn place(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    if part.is_empty() { 0..text.len() } else { start..start + part.len() }
}

impl From<Unread> for Refusal {
    fn from(unread: Unread) -> Self {
        let range = unread.range();
        Self::new(Why::Unread(unread), range)
    }
}
