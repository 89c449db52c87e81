//! The connector `sqlite` on real files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

#[path = "sqlite/bounds.rs"]
mod bounds;
#[path = "sqlite/files.rs"]
mod files;
#[path = "sqlite/records.rs"]
mod records;
#[path = "sqlite/refusals.rs"]
mod refusals;
#[path = "sqlite/results.rs"]
mod results;
#[path = "sqlite/support.rs"]
mod support;
