//! Caches that outlive an isolate, on real servers and on ones that misbehave.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

mod dynamodb;
mod freshness;
mod redis;
mod state;
mod support;
