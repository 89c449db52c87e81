//! The script engine: the [`ScriptEngine`] port on the interpreter Boa, for native hosts and `wasm32`.
//!
//! # Isolation
//! A call sees nothing of any other. It runs in a *world*, an interpreter of its own that was made ready beforehand and is in no other
//! call's hands at the same time; the program's modules are instantiated anew, and everything the script can reach that outlives the call
//! is frozen, or checked and put back afterwards; a world that cannot be put back exactly is thrown away. Jobs, timers, and requests that
//! are pending when a call ends never run. Code cannot be made from strings. A call that hit a limit or its deadline, or was dropped,
//! takes its world with it.
//!
//! # Limits
//! - *Deadline, and the caller gone*: looked at between jobs, in every slice of code that runs directly, and at the entry of every function
//!   and the rounds of `while`, `do` and `for (;condition;)` elsewhere. Between two slices the host sleeps for no time, so that even
//!   a clock moves that stands still between input and output. A `for (;;)` or `for … of` without a call of a function, behind an `await`,
//!   ends at the loop limit.
//! - *Loops*: rounds of all loops of one function's call. *Recursion*: nested calls. *Stack*: 262,144 values.
//! - *Output*: bytes of the result as JSON.
//! - *Memory*: the interpreter has no limit of its own. What holds: an `ArrayBuffer` has at most 64 MiB; a string at most 2^32 units;
//!   10,000 timers, host promises and replies; loops bound how much a script can pile up. Names given to `Symbol.for` stay until the
//!   process ends. A host that needs a hard bound sets it from
//!   outside (128 MB in a Worker, the memory size of a Lambda function, a cgroup), where it ends the process.
//! - *Not interruptible*: one built-in function at work, such as `'a'.repeat(2 ** 28)` or a sort of a huge array. The deadline is
//!   seen after it. Regular expressions look at it: see [`regex`].
//!
//! # Concurrency
//! Calls interleave at every `await` of the host and at slices of long computations. Each has its own world; up to [`MAX_ACTIVE`] at a
//! time, the others wait in line until their deadline. [`MAX_IDLE`] worlds are kept ready (about 2 MB each).
//!
//! # Determinism
//! Time and randomness are the host's: `Date`, `Math.random`, `crypto`. The time zone is UTC.

mod call;
mod convert;
mod fault;
mod freeze;
mod globals;
mod guards;
mod meter;
mod pool;
mod regex;
mod reply;
mod state;
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
        self.pool.warm(world::BuiltIns::Frozen);
    }
}
