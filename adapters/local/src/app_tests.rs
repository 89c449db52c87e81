//! The tests of an app: each is a request to an endpoint of its own, and an answer that is judged.
//!
//! [`runner`] runs them on isolates, each test in a [`world`] of its own; [`exchange`] makes the
//! request and reads the answer, as a client does; [`judge`] compares. What comes of a test is an
//! [`Outcome`](outcome::Outcome), which [`report`] writes.

pub(crate) mod chosen;
mod compare;
mod credentials;
mod exchange;
mod judge;
pub(crate) mod outcome;
mod outside;
pub(crate) mod report;
pub(crate) mod runner;
pub(crate) mod snapshots;
mod world;
