//! The limits of a call, as the engine counts them, and as faults.

use millrace_core::{app::ScriptLimits, ports::ScriptFault};
use millrace_engine::Limits;

/// What a round of an ordinary loop costs, and a little more.
pub const UNITS_PER_LOOP: u64 = 32;

/// What a call may use up.
pub(crate) fn engine_limits(limits: &ScriptLimits) -> Limits {
    Limits { fuel: limits.loops.saturating_mul(UNITS_PER_LOOP), memory_bytes: usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX) }
}

/// The fault of work.
pub(crate) fn work(limits: &ScriptLimits) -> ScriptFault {
    ScriptFault::Limit(format!("the script did more work than `limits.script.loops` ({}) allows", limits.loops))
}

/// The memory limit's fault.
pub(crate) fn memory(limits: &ScriptLimits) -> ScriptFault {
    ScriptFault::Limit(format!("the script took more memory than `limits.script.memory` ({} bytes) allows", limits.memory_bytes))
}

/// The fault of the stack.
pub(crate) fn stack() -> ScriptFault {
    ScriptFault::Limit(String::from("the script nested its calls too deep"))
}

/// The fault of a result.
pub(crate) fn output(limits: &ScriptLimits) -> ScriptFault {
    ScriptFault::Limit(format!("the result is longer than {} bytes as JSON (`limits.script.output`)", limits.output_bytes))
}
