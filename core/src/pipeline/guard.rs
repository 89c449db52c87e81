//! Stage 8, *guard*: how often the tool may be called, whether the call was made before, whether its user agrees, how many calls run at a
//! time. In this order: a call that is refused asks nobody, and one that waits for its user takes no place of others.

use super::{
    call_end::CallEnd,
    call_key::CallKey,
    once,
    output::ToolOutput,
    record::Subject,
    run::{Run, TARGET, Work},
};
use crate::{Error, Json};

mod concurrency;
mod confirm;
mod rate;

use concurrency::Held;
pub(super) use rate::rate;

/// What a call that was let through has, and holds until its end.
#[derive(Default)]
pub(super) struct Passed<'a> {
    /// The key of a call that happens once.
    pub(super) once: Option<CallKey>,
    /// The answer of the earlier call, where it is known already.
    pub(super) kept: Option<ToolOutput>,
    _place: Option<Held<'a>>,
}

/// Lets the call through, or ends it.
///
/// # Errors
/// `RATE_LIMITED`, `DECLINED`, `SERVER_BUSY`, and those of the stores, of [`once`] and of [`rounds`](super::rounds).
pub(super) async fn guard<'a>(run: &Run<'a>, inputs: &Json) -> Result<Passed<'a>, CallEnd> {
    let tool = run.tool;
    if let Some(limit) = &tool.limits.rate {
        rate::limit(run, limit, inputs).await?;
    }
    let once = match &tool.idempotency {
        Some(settings) => Some(once::key(run, settings, inputs)?),
        None => None,
    };
    // A question that was answered is not asked again.
    if let (Some(_), Some(key), Work::Script(_)) = (&tool.confirm, &once, run.work)
        && let Some(kept) = once::look_up(run, key).await?
    {
        return Ok(Passed { once, kept: Some(kept), ..Passed::default() });
    }
    if let Some(message) = &tool.confirm {
        confirm::confirm(run, message, inputs)?;
    }
    let place = match &tool.limits.concurrency {
        Some(limit) => Some(concurrency::enter(run, limit).await?),
        None => None,
    };
    Ok(Passed { once, kept: None, _place: place })
}

/// How long what a store fails at is not mentioned again, in milliseconds.
const QUIET_MS: u64 = 10_000;

/// What isolates share in a store.
#[derive(Clone, Copy)]
enum Shared {
    /// How often calls came.
    Counts,
    /// The places of calls that run.
    Places,
}

/// Says what the store fails at; not with every call, and each for itself: one does not silence the other.
fn warn(run: &Run<'_>, what: Shared, error: Error) {
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
