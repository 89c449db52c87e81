//! The connector `libsql` on a real server, and on one that misbehaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

mod broken;
mod real;
mod server;
