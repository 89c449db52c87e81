//! The script engine: the [`ScriptEngine`] port on the interpreter Boa, for native hosts and `wasm32`.
//!
//! # Isolation
//! A call sees nothing of any other. It runs in a *world*, an interpreter of its own that is in no other call's hands at the same time; the
//! program's modules are instantiated anew, and everything that outlives the call is frozen (`freeze`). A script that changes built-in
//! objects gets a world that nobody used before and nobody uses after. Jobs, timers, and requests that are pending when a call ends never
//! run. Code cannot be made from strings. A call that hit a limit or its deadline, or was dropped, takes its world with it.
//!
//! # Limits
//! - *Deadline, and the caller gone*: looked at between jobs, in every slice of code that runs directly, and at the entry of every function
//!   and in every round of a loop elsewhere, by calls that the bundler puts there. Between two slices the host sleeps for no time, so that
//!   even a clock moves that stands still between input and output; behind an `await` there are no slices, and on such a host what only
//!   computes there ends at the loop limit.
//! - *Memory, texts, lists, bigints*: counted (`meter`) and looked at where time is (`checks`), and asked for by built-in functions (`guards`) before they begin.
//! - *Loops*: rounds of all loops of one function's call. *Recursion*: nested calls, those of built-in functions included. *Stack*: 262,144
//!   values. *Output*: bytes of the result as JSON.
//! - *Not stopped*: what docs/scripts.md lists, which takes a script that is written for it.
//!
//! # Concurrency
//! Calls interleave at every `await` of the host and at slices of long computations. Each has its own world; up to [`MAX_ACTIVE`] at a
//! time, the others wait in line until their deadline. [`MAX_IDLE`] worlds are kept ready (about 2 MB each).
//!
//! # Determinism
//! Time and randomness are the host's: `Date`, `Math.random`, `crypto`. The time zone is UTC.

mod call;
mod checks;
mod convert;
mod fault;
mod freeze;
mod globals;
mod guards;
mod keys;
mod limit;
mod meter;
mod native;
mod pool;
mod promises;
mod regex;
mod reply;
mod state;
mod watch;
mod world;

use millrace_core::ports::{Invocation, LocalFuture, Returned, ScriptEngine, ScriptFault};

pub use pool::{MAX_ACTIVE, MAX_IDLE};

/// A [`ScriptEngine`] for the scripts of one app, on one isolate.
///
/// It keeps compiled code under [`Invocation::index`]: a new app takes a new engine. Making one costs nothing; the interpreter starts
/// at the first call.
#[derive(Default)]
pub struct Engine {
    pool: pool::Pool,
}

impl Engine {
    /// An engine that has not started yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many worlds were made so far: 0 for an app that never called a script.
    #[must_use]
    pub fn worlds_made(&self) -> usize {
        self.pool.made()
    }
}

impl ScriptEngine for Engine {
    fn call<'a>(&'a self, invocation: Invocation<'a>) -> LocalFuture<'a, Result<Returned, ScriptFault>> {
        Box::pin(call::run(&self.pool, invocation))
    }

    fn prepare(&self) {
        self.pool.warm(freeze::BuiltIns::Frozen);
    }
}
