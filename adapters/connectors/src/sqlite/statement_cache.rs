//! Which prepared statements are kept: by their number and by their bytes.
//!
//! A statement with a list of values has another text for each length, and one of thousands of
//! values takes megabytes. rusqlite keeps statements by their number only; so this says which of
//! them it gives back.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use millrace_core::value::unique_names;
use rusqlite::{Connection, Statement, StatementStatus};

/// How many bytes all kept statements may take.
const MOST_BYTES: usize = 8 << 20;
/// How many bytes one of them may take: some two thousand values.
const LARGEST: usize = 512 << 10;

/// The statements that are kept, with the names of their columns.
pub(super) struct StatementCache {
    entries: RefCell<HashMap<Box<str>, Entry>>,
    bytes: Cell<usize>,
    capacity: usize,
    uses: Cell<u64>,
}

struct Entry {
    /// Unique and shared with the results; empty before the first result.
    names: Rc<[String]>,
    bytes: usize,
    used: u64,
    /// Whether it has `MATCH`.
    searches: bool,
}

impl StatementCache {
    pub(super) fn new(capacity: usize) -> Self {
        Self { entries: RefCell::default(), bytes: Cell::new(0), capacity, uses: Cell::new(0) }
    }

    /// What rusqlite must have room for: what is kept, the one that is new, the `ping`, and the
    /// driver's own, which are not counted here: the five of the records of calls.
    pub(super) const fn capacity(capacity: usize) -> usize {
        if capacity == 0 { 0 } else { capacity + 7 }
    }

    /// Notes the use of a statement, and makes room for a new one, of which `searches` tells
    /// whether it has `MATCH`. Whether the statement has it; `None` where it is not to be kept.
    pub(super) fn keep(&self, connection: &Connection, text: &str, statement: &Statement<'_>, searches: bool) -> Option<bool> {
        let now = self.uses.get() + 1;
        self.uses.set(now);
        let mut entries = self.entries.borrow_mut();
        if let Some(entry) = entries.get_mut(text) {
            entry.used = now;
            return Some(entry.searches);
        }
        // A text that holds no statement has no status, and nothing else tells it from one.
        if self.capacity == 0 || statement.expanded_sql().is_none() {
            return None;
        }
        // The text is kept three times: here, by rusqlite and by SQLite, which counts its own.
        let own = usize::try_from(statement.get_status(StatementStatus::MemUsed)).unwrap_or(usize::MAX);
        let bytes = own.saturating_add(2 * text.len());
        if bytes > LARGEST {
            return None;
        }
        while entries.len() >= self.capacity || self.bytes.get() + bytes > MOST_BYTES {
            let Some(oldest) = entries.iter().min_by_key(|(_, entry)| entry.used).map(|(text, _)| text.clone()) else { break };
            if let Ok(statement) = connection.prepare_cached(&oldest) {
                statement.discard();
            }
            let freed = entries.remove(&oldest).map_or(0, |entry| entry.bytes);
            self.bytes.set(self.bytes.get().saturating_sub(freed));
        }
        self.bytes.set(self.bytes.get() + bytes);
        entries.insert(text.into(), Entry { names: Rc::new([]), bytes, used: now, searches });
        Some(searches)
    }

    /// The statement's column names as they are now: those of the last time, where they are the
    /// same.
    pub(super) fn names(&self, text: &str, statement: &Statement<'_>) -> Rc<[String]> {
        let mut entries = self.entries.borrow_mut();
        let Some(entry) = entries.get_mut(text) else { return unique_names(statement.column_names()).into() };
        let is_same = entry.names.len() == statement.column_count() && statement.column_names().eq(entry.names.iter().map(String::as_str));
        if !is_same {
            entry.names = unique_names(statement.column_names()).into();
        }
        Rc::clone(&entry.names)
    }
}
