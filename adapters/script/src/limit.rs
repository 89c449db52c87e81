//! The limits of a call, as the engine counts them, and as faults.

use millrace_core::{app::ScriptLimits, ports::ScriptFault};
use millrace_engine::Limits;

/// What a round of an ordinary loop costs, and a little more.
pub const UNITS_PER_LOOP: u64 = 32;

/// The most that a processor does in a millisecond. A call that has this for each millisecond of its time is late before it has used it up.
const UNITS_PER_MS: u64 = 700_000;

/// What a call may use up.
pub(crate) struct Budget {
    pub(crate) limits: Limits,
    /// Whether it is its time that is short, and not the limit of its work.
    pub(crate) is_of_time: bool,
}

impl Budget {
    pub(crate) fn new(limits: &ScriptLimits, left_ms: u64) -> Self {
        let work = limits.loops.saturating_mul(UNITS_PER_LOOP);
        let time = left_ms.saturating_mul(UNITS_PER_MS).min(i32::MAX as u64);
        let fuel = i32::try_from(work.min(time)).unwrap_or(i32::MAX);
        let memory_bytes = usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX);
        Self { limits: Limits { fuel, memory_bytes }, is_of_time: time < work }
    }
}

/// The fault of work.
pub(crate) fn work(limits: &ScriptLimits) -> ScriptFault {
    ScriptFault::Limit(format!("the script did more work than {} rounds of a loop are (`limits.script.loops`)", limits.loops))
}

/// The memory limit's fault.
pub(crate) fn memory(limits: &ScriptLimits) -> ScriptFault {
    ScriptFault::Limit(format!("the script took more than {} bytes of memory (`limits.script.memory`)", limits.memory_bytes))
}

/// The fault of the stack.
pub(crate) fn stack() -> ScriptFault {
    ScriptFault::Limit(String::from("the script nested its calls too deep"))
}

/// The fault of a result.
pub(crate) fn output(limits: &ScriptLimits) -> ScriptFault {
    ScriptFault::Limit(format!("the result is longer than {} bytes as JSON (`limits.script.output`)", limits.output_bytes))
}
