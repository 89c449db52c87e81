//! The limits of a call that the interpreter or a check runs into, as faults.

use millrace_core::{app::ScriptLimits, ports::ScriptFault};

/// The most values on the interpreter's stack.
pub(crate) const STACK_VALUES: usize = 262_144;

/// The loop limit's fault.
pub(crate) fn loops(limits: &ScriptLimits) -> ScriptFault {
    ScriptFault::Limit(format!("a function of the script looped more than {} times (`limits.script.loops`)", limits.loops))
}

/// The recursion limit's fault.
pub(crate) fn recursion(limit: usize) -> ScriptFault {
    ScriptFault::Limit(format!("the script nested more than {limit} calls (`limits.script.recursion`)"))
}

/// The memory limit's fault.
pub(crate) fn memory(limit_bytes: isize) -> ScriptFault {
    ScriptFault::Limit(format!("the script took more than {limit_bytes} bytes of memory (`limits.script.memory`)"))
}

/// The fault of the interpreter's stack.
pub(crate) fn stack() -> ScriptFault {
    ScriptFault::Limit(format!("the script put more than {STACK_VALUES} values on the stack (fixed; pass fewer arguments)"))
}
