//! Stage 8, *guard*: how often the tool may be called, whether the call was made before, whether
//! its user agrees, how many calls run at a time. In this order: a call that is refused asks
//! nobody, and one that waits for its user takes no place of others.

use crate::Json;
use crate::pipeline::{
    call::call_end::CallEnd,
    call::call_key::CallKey,
    call::run::{Run, Work},
    content::output::ToolOutput,
    once,
};

mod concurrency;
mod confirm;
mod rate;
mod store_warning;

use concurrency::Held;
pub(in crate::pipeline) use rate::rate;

/// What a call that was let through has, and holds until its end.
#[derive(Default)]
pub(in crate::pipeline) struct Passed<'a> {
    /// The key of a call that happens once.
    pub(in crate::pipeline) once: Option<CallKey>,
    /// The answer of the earlier call, where it is known already.
    pub(in crate::pipeline) kept: Option<ToolOutput>,
    _place: Option<Held<'a>>,
}

/// Lets the call through, or ends it.
///
/// # Errors
/// `RATE_LIMITED`, `DECLINED`, `SERVER_BUSY`, and those of the stores, of [`once`] and of
/// [`rounds`](crate::pipeline::rounds).
pub(in crate::pipeline) async fn guard<'a>(run: &Run<'a>, inputs: &Json) -> Result<Passed<'a>, CallEnd> {
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
