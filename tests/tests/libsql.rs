//! The connector `libsql` on a real server, and on one that misbehaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

#[path = "libsql/broken.rs"]
mod broken;
#[path = "libsql/real.rs"]
mod real;
#[path = "libsql/server.rs"]
mod server;
