//! The connector `mysql` on real servers of MariaDB, and on servers that answer by a script.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

mod life;
mod login;
mod scripted;
pub mod values;
