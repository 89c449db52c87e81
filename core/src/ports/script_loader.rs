use alloc::{string::String, vec::Vec};

use crate::app::Script;

/// What evaluating the modules of a script once came to, before anyone called it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptLoad {
    /// Why it cannot be loaded.
    pub fault: Option<LoadFault>,
    /// A module waits at its top level for something that only the outside can give. So its modules
    /// run in each call.
    pub awaits: bool,
    /// What modules took that is not the same at every time and place, each place once.
    pub took: Vec<TakenAtLoad>,
    /// What it took.
    pub cost: LoadCost,
}

/// What loading a script took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadCost {
    /// Microseconds of this machine.
    pub micros: u64,
    /// Bytes of memory that it added to the loaded app, which each call begins with.
    pub memory_bytes: u64,
}

/// What a module threw, or the limit that it used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFault {
    /// What was thrown, as the engine words it, or the limit.
    pub message: String,
    /// The engine's stack, see [`Script::calls`], where there is one.
    pub stack: Option<String>,
}

/// Something that a module took while it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenAtLoad {
    /// What it is.
    pub what: Ambient,
    /// The engine's stack, see [`Script::calls`], where there is one.
    pub stack: Option<String>,
}

/// What a module finds around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ambient {
    /// `Date`, `performance.now`
    Clock,
    /// `Math.random`, `crypto`
    Random,
    /// `fetch`: a request that was not sent.
    Outside,
    /// `setTimeout`, `setInterval`
    Timer,
    /// `console`
    Log,
}

/// Evaluates the modules of an app's scripts once, as the engine does that serves the app: without
/// input and output, and with a clock and randomness that are not real.
pub trait ScriptLoader {
    /// Loads scripts, in their order. There is an answer for each of them, in the same order, also
    /// behind one that failed.
    fn load(&self, scripts: &[Script]) -> Vec<ScriptLoad>;
}
