//! What a failure has to say, whatever stage it is of.

use alloc::vec::Vec;

use crate::fault::Refusal;
use crate::pipeline::{call::call_end::CallFailure, call::run::Run, call::scopes, stage::Stage};

/// A failure with what its caller and its operator must know of it: whether a change was made
/// before, and what the log says.
pub(in crate::pipeline) fn told(run: &Run<'_>, mut why: CallFailure) -> CallFailure {
    let is_reply = matches!(why, CallFailure::Reply(_));
    let fault = why.fault_mut();
    // A handler that returns a failure knows what it did.
    if !(is_reply && fault.stage <= Stage::Execute) {
        fault.after(run.change.get());
    }
    // Where something else than a scope is missing, none is asked for.
    fault.scopes = match &fault.refusal {
        Some(Refusal::Unauthorized) => scopes::advised(&run.pipeline.app, Some(run.tool), run.operation, None),
        Some(Refusal::Forbidden(missing)) if !missing.is_empty() => {
            let mut needed = scopes::advised(&run.pipeline.app, Some(run.tool), run.operation, run.auth.as_ref());
            let others: Vec<_> = missing.iter().filter(|scope| !needed.contains(scope)).cloned().collect();
            needed.extend(others);
            needed
        }
        _ => Vec::new(),
    };
    if fault.is_for_operator() && fault.log.is_none() {
        fault.log = Some(fault.message.clone());
    }
    why
}
