//! What is logged where the store that isolates share cannot be used.

use crate::{
    Error,
    pipeline::{
        call::report::Subject,
        call::run::{Run, TARGET},
    },
};

/// How long what a store fails at is not mentioned again, in milliseconds.
const QUIET_MS: u64 = 10_000;

/// What isolates share in a store.
#[derive(Clone, Copy)]
pub(super) enum Shared {
    /// How often calls came.
    Counts,
    /// The places of calls that run.
    Places,
}

/// Says what the store fails at; not with every call, and each for itself: one does not silence the
/// other.
pub(super) fn warn(run: &Run<'_>, what: Shared, error: Error) {
    let quiet = &run.pipeline.counts.quiet;
    let (quiet_until_ms, message) = match what {
        Shared::Counts => {
            (&quiet.counts_until_ms, "calls cannot be counted in the store; until it works, each isolate limits by its own count")
        }
        Shared::Places => {
            (&quiet.places_until_ms, "calls cannot take places in the store; until it works, each isolate limits how many it runs itself")
        }
    };
    let now_ms = run.pipeline.ports.clock.now_ms();
    if now_ms < quiet_until_ms.get() {
        return;
    }
    quiet_until_ms.set(now_ms.saturating_add(QUIET_MS));
    let Subject { tool, request_id, .. } = run.subject();
    let error = run.pipeline.secrets.strike_error(error);
    tracing::warn!(target: TARGET, tool, request_id, %error, detail = error.source, "{message}");
}
