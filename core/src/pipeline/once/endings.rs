//! How a call ends that another one with the same key came before, where it has no answer of that
//! one.

use crate::{
    fault::{Change, Fault, Stage},
    pipeline::call::run::Run,
};

/// After how many seconds a call that met another one may look again.
const RETRY_AFTER_S: u64 = 1;

/// The other call still runs.
pub(super) fn conflict() -> Fault {
    let mut fault = Fault::new(Stage::Execute, "CONFLICT", "An earlier call with the same idempotency key has not ended yet.")
        .suggesting("Call the tool again with the same inputs: it then gives the answer of that call.")
        .later();
    fault.retry_after_s = Some(RETRY_AFTER_S);
    fault
}

/// The other call was ended while it ran, and with it whatever could say what it did.
pub(super) fn interrupted(run: &Run<'_>) -> Fault {
    run.replayed.set(true);
    run.change.set(Change::Kept);
    let message =
        "An earlier call with the same idempotency key was interrupted while it ran. Nobody knows whether it did what the tool is for.";
    Fault::new(Stage::Execute, "INTERRUPTED", message)
        .suggesting("Look at the result with another tool. To have it done, call the tool with another idempotency key.")
}

/// The other call did what it is for, and nobody knows its answer.
pub(super) fn unknown(run: &Run<'_>) -> Fault {
    run.replayed.set(true);
    run.change.set(Change::Recorded);
    let message = "An earlier call with the same idempotency key did what the tool is for, and its answer is not known any more.";
    Fault::new(Stage::Execute, "ANSWER_UNKNOWN", message).suggesting("Look at the result with another tool.")
}
