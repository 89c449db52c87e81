//! What the build makes of a statement, beside what the real servers make of it: where quotes, comments and names end, and what only reads.

mod declared;
mod reads;
mod texts;

use millrace_tests::database::{Database, connection};

/// An embedded database, empty.
fn sqlite() -> Database {
    Database::open(connection("sqlite", ":memory:", &[]))
}

/// Whether the full number of texts is asked for.
fn is_full() -> bool {
    std::env::var_os("MILLRACE_DIALECTS").is_some_and(|value| value == "full")
}
