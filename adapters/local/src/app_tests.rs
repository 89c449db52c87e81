//! The tests of an app: each is a request to an endpoint of its own, and an answer that is judged.
//!
//! [`runner`] runs them on isolates, each test in a [`world`] of its own; [`exchange`] makes the
//! request and reads the answer, as a client does; [`seen`] has what else is known of the call;
//! [`judge`] compares. [`coverage`] says which parts of the app ran. [`calls`] makes calls that
//! a program asks for, and judges nothing. What comes of a test is an
//! [`Outcome`](outcome::Outcome), which [`report`] writes.

pub(crate) mod affected;
pub(crate) mod calls;
pub(crate) mod chosen;
mod compare;
pub(crate) mod coverage;
mod credentials;
pub(crate) mod exchange;
mod judge;
pub(crate) mod outcome;
mod outside;
pub(crate) mod report;
pub(crate) mod runner;
pub(crate) mod seen;
pub(crate) mod snapshots;
mod world;
