//! The memory that one call takes.
//!
//! It is counted by the allocator of the whole program, for each thread, and an isolate is one thread. What a call takes is what is
//! allocated while it runs and not given back; other calls of the isolate run in between, and their share is their own. Garbage counts until
//! it is collected, so that a call that seems to have too much first makes the collector run.

#[cfg(not(target_env = "musl"))]
use std::alloc::System;
use std::cell::Cell;

use alloc_metrics::MetricAlloc;
use millrace_core::app::ScriptLimits;
#[cfg(target_env = "musl")]
use mimalloc::MiMalloc as System;

/// Counts the bytes of each thread. It is here, so that no host can forget it.
#[global_allocator]
static ALLOCATOR: MetricAlloc<System> = MetricAlloc::new(System);

/// A call that took so much makes the collector run when it ends, so that the memory is free for others.
const COLLECT_AFTER_BYTES: isize = 8 << 20;

/// What is counted of a call.
pub(crate) struct Meter {
    pub(crate) memory_limit: Cell<isize>,
    pub(crate) recursion_limit: Cell<usize>,
    /// Bytes that the call had when it last gave up the thread.
    taken: Cell<isize>,
    /// The thread's bytes when the call last got it.
    before: Cell<isize>,
    /// Built-in functions that called each other, with no function of the script between them.
    pub(crate) nested: Cell<usize>,
}

fn thread_bytes() -> isize {
    alloc_metrics::thread_metrics().allocated_bytes
}

impl Default for Meter {
    /// Without limits: a world is being made.
    fn default() -> Self {
        Self {
            memory_limit: Cell::new(isize::MAX),
            recursion_limit: Cell::new(usize::MAX),
            taken: Cell::default(),
            before: Cell::default(),
            nested: Cell::default(),
        }
    }
}

impl Meter {
    /// A call begins.
    pub(crate) fn begin(&self, limits: &ScriptLimits) {
        self.memory_limit.set(isize::try_from(limits.memory_bytes).unwrap_or(isize::MAX));
        self.recursion_limit.set(limits.recursion as usize);
        self.taken.set(0);
        self.nested.set(0);
    }

    /// The call gets the thread.
    pub(crate) fn resume(&self) {
        self.before.set(thread_bytes());
    }

    /// The call gives up the thread.
    pub(crate) fn pause(&self) {
        self.taken.set(self.in_use());
    }

    fn in_use(&self) -> isize {
        self.taken.get() + thread_bytes() - self.before.get()
    }

    /// Bytes that are left.
    pub(crate) fn room(&self) -> u64 {
        u64::try_from(self.memory_limit.get() - self.in_use()).unwrap_or(0)
    }

    /// Whether so many further bytes fit.
    pub(crate) fn has_room(&self, bytes: isize) -> bool {
        let fits = || self.in_use().saturating_add(bytes) <= self.memory_limit.get();
        if fits() {
            return true;
        }
        boa_gc::force_collect();
        fits()
    }

    /// The call is over: what it left is collected where that is worth it.
    pub(crate) fn end(&self) {
        if self.taken.replace(0) > COLLECT_AFTER_BYTES {
            boa_gc::force_collect();
        }
    }
}
