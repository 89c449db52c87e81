//! The connector `postgres` on real servers, and on a pooler in front of one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

mod callers;
mod hostile;
mod iam;
mod life;
mod login;
mod once;
mod pooler;
mod results;
mod sessions;
mod values;
