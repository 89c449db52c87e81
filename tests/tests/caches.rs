//! Caches that outlive an isolate, on real servers and on ones that misbehave.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

#[path = "caches/dynamodb.rs"]
mod dynamodb;
#[path = "caches/redis.rs"]
mod redis;
#[path = "caches/support.rs"]
mod support;
