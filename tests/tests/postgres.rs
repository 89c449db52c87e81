//! The connector `postgres` on real servers, and on a pooler in front of one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

#[path = "postgres/hostile.rs"]
mod hostile;
#[path = "postgres/life.rs"]
mod life;
#[path = "postgres/login.rs"]
mod login;
#[path = "postgres/pooler.rs"]
mod pooler;
#[path = "postgres/results.rs"]
mod results;
#[path = "postgres/values.rs"]
mod values;
