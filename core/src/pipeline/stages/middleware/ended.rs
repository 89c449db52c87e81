//! How a call ended, for those that observe it.

use crate::{
    fault::Fault,
    pipeline::{call::call_end::CallFailure, call::run::Run},
    ports::CallOutcome,
};

/// How a call ended, for those that observe it.
pub(in crate::pipeline) struct Ended<'a> {
    pub(super) outcome: CallOutcome,
    pub(super) fault: Option<&'a Fault>,
    /// What the call itself did, without those that observe it.
    pub(super) change_made: Option<&'static str>,
}

impl<'a> Ended<'a> {
    pub(in crate::pipeline) fn well(run: &Run<'_>, outcome: CallOutcome) -> Self {
        Self { outcome, fault: None, change_made: run.change_made() }
    }

    pub(in crate::pipeline) fn failed(run: &Run<'_>, failed: &'a CallFailure) -> Self {
        let (CallFailure::Fault(fault) | CallFailure::Reply(fault)) = failed;
        Self { outcome: CallOutcome::of(fault), fault: Some(fault), change_made: run.change_made() }
    }
}
