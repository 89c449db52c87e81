//! The connector `mysql` on real servers of MariaDB, and on servers that answer by a script.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

pub mod hostile;
mod life;
mod login;
mod once;
mod results;
mod scripted;
pub mod values;
