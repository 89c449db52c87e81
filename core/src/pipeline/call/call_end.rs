//! Why a call ends before its last stage.

use alloc::boxed::Box;

use crate::fault::Fault;

/// Why a call ended before its last stage.
pub(in crate::pipeline) enum CallEnd {
    /// It failed.
    Failed(CallFailure),
    /// It asks its caller something: `Run::asked`.
    Asks,
}

/// How a call failed.
pub(in crate::pipeline) enum CallFailure {
    /// By a fault.
    Fault(Box<Fault>),
    /// A script returned `error()`, `required()` or `toolError()`, or the user declined: a value,
    /// hence a result in both styles.
    Reply(Box<Fault>),
}

impl CallFailure {
    /// Whichever way it failed.
    pub(in crate::pipeline) const fn fault_mut(&mut self) -> &mut Fault {
        let (Self::Fault(fault) | Self::Reply(fault)) = self;
        fault
    }
}

impl From<Fault> for CallFailure {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<Box<Fault>> for CallFailure {
    fn from(fault: Box<Fault>) -> Self {
        Self::Fault(fault)
    }
}

impl<F: Into<CallFailure>> From<F> for CallEnd {
    fn from(failed: F) -> Self {
        Self::Failed(failed.into())
    }
}
