//! The connector `planetscale`, over a stand-in for PlanetScale's API in front of real servers of
//! MariaDB, and on servers that answer by a script.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

mod api;
mod faults;
mod values;
