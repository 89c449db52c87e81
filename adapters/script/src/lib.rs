//! The script engine: the [`ScriptEngine`] port on QuickJS-ng, which runs in WebAssembly instances
//! of its own (`millrace-engine`).
//!
//! # Isolation
//! The scripts of an app are evaluated once, and the memory in which they then stand is the image.
//! A call runs in an instance into whose memory the image is put before it begins, so nothing of
//! another call is there, whatever that did: built-ins may be changed, and code may be made from
//! texts. Its scripts run in it one after the other, and share what they do. Nothing but bytes
//! crosses (`wire`). A script that asks for the time, for randomness or for the outside while it is
//! evaluated is no part of the image, and evaluated in each call.
//!
//! # Limits
//! - *Work*: counted in the module, the same on every machine, whatever the script does, and what
//!   it makes the host do: [`UNITS_PER_LOOP`] for each round of `limits.script.loops`. What is left
//!   is carried across an `await`.
//! - *Memory*: what the instance's may grow to; and all instances of an isolate share what there
//!   is. *Depth*: counted in the module, too; its end is a `RangeError`. *Output*: bytes of the
//!   result.
//! - *Deadline, and the caller gone*: looked at whenever the script waits, and every few
//!   milliseconds while it runs.
//!
//! # Concurrency
//! Calls interleave at every `await` of the host, and every few milliseconds of work. Each has its
//! own instance; up to [`MAX_ACTIVE`] at a time, the others wait in line until their deadline.
//! [`MAX_IDLE`] instances are kept ready.
//!
//! # Determinism
//! Time and randomness are the host's: `Date`, `Math.random`, `crypto`. The time zone is UTC.

#![allow(clippy::result_large_err, reason = "the port's own fault")]

mod bridge;
mod call;
mod crypto;
mod limit;
mod parts;
mod pool;
mod program;
#[cfg(not(target_arch = "wasm32"))]
mod trial;
mod wire;

use std::rc::Rc;

use millrace_core::{
    app::Script,
    ports::{Invocation, LocalFuture, Returned, ScriptEngine, ScriptFault},
};

pub use limit::UNITS_PER_LOOP;
#[cfg(target_arch = "wasm32")]
pub use millrace_engine::set_module;
#[cfg(not(target_arch = "wasm32"))]
pub use millrace_engine::shared_memory;
pub use pool::{MAX_ACTIVE, MAX_IDLE, PlacesReading, places};

/// A [`ScriptEngine`] for the scripts of one app, on one isolate.
///
/// It keeps the image of [`Invocation::scripts`]: a new app takes a new engine. Making one costs
/// nothing; the engine starts at the first call.
#[derive(Default)]
pub struct Engine {
    pool: Rc<pool::Pool>,
}

impl Engine {
    /// An engine that has not started yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many instances were made so far: 0 for an app that never called a script.
    #[must_use]
    pub fn instances_made(&self) -> usize {
        self.pool.made()
    }
}

impl ScriptEngine for Engine {
    fn call<'a>(&'a self, invocation: Invocation<'a>) -> LocalFuture<'a, Result<Returned, ScriptFault>> {
        Box::pin(call::run(&self.pool, invocation))
    }

    fn prepare(&self, scripts: &[Script]) {
        self.pool.warm(scripts);
    }
}
