//! Limits of values and patterns, and how a message tells that one was met.

/// The longest text or blob that SQLite handles here, in bytes: one function call must not eat the
/// host's memory.
pub(super) const LONGEST_VALUE: i32 = 8 << 20;
/// The longest pattern of SQLite's own `LIKE` and `GLOB`, which take the longer the longer pattern
/// *and* text are.
pub(super) const LONGEST_INDEXED_PATTERN: i32 = 50;
/// What stands before a message that says which bound was met; see `sqlite_error.rs`.
pub(super) const BOUND: &str = "millrace: ";
