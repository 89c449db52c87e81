//! What the build makes of a statement, beside what the real servers make of it: where quotes,
//! comments and names end, and what only reads.

mod declared;
mod reads;
mod texts;
mod words;

use millrace_tests::{
    database::{Database, connection},
    is_everything_run,
};

/// An embedded database, empty.
fn sqlite() -> Database {
    Database::open(connection("sqlite", ":memory:", &[]))
}

/// How many of 20,000 texts are compared: all with `MILLRACE_DIALECTS=full`, `many` with
/// `scripts/test --all`, else `few`.
fn count(many: usize, few: usize) -> usize {
    match std::env::var_os("MILLRACE_DIALECTS") {
        Some(value) if value == "full" => 20_000,
        _ if is_everything_run() => many,
        _ => few,
    }
}
