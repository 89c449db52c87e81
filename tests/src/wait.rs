//! Waiting for what has to come: the one place where tests sleep.

use std::{
    thread,
    time::{Duration, Instant},
};

/// How long a test waits for what takes moments: far beyond what a busy machine needs.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until a condition holds.
///
/// # Panics
/// Where it does not hold in time; says this.
#[track_caller]
pub fn until(failure: &str, holds: impl FnMut() -> bool) {
    until_else(|| failure.to_owned(), holds);
}

/// The same, where what is said has to be looked up.
///
/// # Panics
/// Where it does not hold in time.
#[track_caller]
pub fn until_else(failure: impl FnOnce() -> String, holds: impl FnMut() -> bool) {
    if !comes(holds) {
        panic!("{}", failure());
    }
}

/// Waits until a condition holds; gives whether it does so in time.
#[must_use]
pub fn comes(mut holds: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !holds() {
        if started.elapsed() > PATIENCE {
            return false;
        }
        moment();
    }
    true
}

/// Waits until a count is so much more than it is now.
///
/// # Panics
/// Where it does not grow in time; says this.
#[track_caller]
pub fn until_more(failure: &str, more: usize, count: impl Fn() -> usize) {
    let first = count();
    until(failure, || count() >= first + more);
}

/// Lets others go first, before something is tried again.
pub fn moment() {
    thread::sleep(PAUSE);
}
