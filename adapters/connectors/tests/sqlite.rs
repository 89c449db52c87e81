//! The connector `sqlite` on real files.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails says so by a panic")]

#[path = "sqlite/support.rs"]
mod support;

#[path = "sqlite/results.rs"]
mod results;

#[path = "sqlite/files.rs"]
mod files;
