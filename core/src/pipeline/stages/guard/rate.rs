//! `limits.rate` and `rate_limit`: how often calls with the same key may come, counted in the store
//! that the host has.
//!
//! Time is cut into windows. A call is let through where the calls of this window, and the part of
//! those of the window before that is not longer ago than one window, leave room for it: two
//! counters for a key. A refused call adds to neither, so whoever keeps trying is let through no
//! later than who waits. The addition is one step of the store: calls at the same time cannot all
//! take the last place.
//!
//! Where the store fails, calls are counted by the isolate alone, and a line at level `warn` says
//! so: nobody is let through uncounted. A caller whose share of the store is full, because its
//! calls have so many keys, has one count for all further ones.
//!
//! The second round of a call that asked its caller something is the same call and is not counted
//! again. A state counts for one round only, and only where it brings an answer to what was asked.

use alloc::{format, vec::Vec};
use sha2::{Digest as _, Sha256};

use super::store_warning::{Shared, warn};
use crate::{
    ErrorKind, Json, Result,
    app::RateLimit,
    fault::{Fault, FaultResult, RATE_LIMITED, Stage},
    hex,
    pipeline::{
        call::identity::canonical,
        call::run::Run,
        call::scope::Scope,
        isolate::window::{Digest, Verdict, Window},
    },
};

/// Begins the text of every key: another meaning of the counters is another version.
const VERSION: &str = "millrace-rate-1";
/// How long a state of a call that asked something is remembered, in seconds: as long as it opens.
const STATE_S: u32 = 3600;

/// Checks `limits.rate` of the tool.
///
/// # Errors
/// `RATE_LIMITED`, and those of [`rate`].
pub(super) async fn limit(run: &Run<'_>, limit: &RateLimit, inputs: &Json) -> FaultResult<()> {
    rate(Stage::Guard, limit, &format!("tool {}", run.tool.name), &run.scope(inputs)).await
}

/// Counts the call under `owner`, which has a count of its own, or refuses it.
///
/// # Errors
/// `RATE_LIMITED`; `CONFIGURATION` for a variable of the key that is not set; those of
/// [`Run::interrupted`].
pub(in crate::pipeline) async fn rate(stage: Stage, limit: &RateLimit, owner: &str, scope: &Scope<'_>) -> FaultResult<()> {
    let run = scope.run;
    let key = key(stage, limit, owner, scope)?;
    let window = Window::at(run.pipeline.ports.clock.now_ms(), key, limit);
    let verdict = run.signal.race(async { if is_next_round(run).await { Ok(()) } else { pass(&window, run).await } });
    let wait_ms = match verdict.await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(wait_ms)) => wait_ms,
        Err(why) => return Err(run.interrupted(why, stage, false).into()),
    };
    let calls = if limit.max == 1 { "call is" } else { "calls are" };
    let message = format!("Too many calls: at most {} {calls} allowed in {} s.", limit.max, limit.window_s);
    let mut fault = Fault::new(stage, RATE_LIMITED, message).later();
    fault.retry_after_s = Some(wait_ms.div_ceil(1000).max(1));
    Err(fault.into())
}

/// The digest of app, owner and key: no store sees what the key is.
fn key(stage: Stage, limit: &RateLimit, owner: &str, scope: &Scope<'_>) -> FaultResult<Digest> {
    let mut text = Vec::new();
    for part in [VERSION, scope.run.pipeline.app.name.as_str(), owner] {
        text.extend((part.len() as u64).to_le_bytes());
        text.extend(part.as_bytes());
    }
    match &limit.key {
        Some(template) => canonical(&scope.fill(template, stage)?, &mut text),
        None => text.extend(scope.run.identity().as_bytes()),
    }
    Ok(Sha256::digest(&text).into())
}

/// Whether the call is a further round of one that was counted.
async fn is_next_round(run: &Run<'_>) -> bool {
    let Some(state) = &run.dialogue.answered else { return false };
    if let Some(known) = run.dialogue.is_next_round.get() {
        return known;
    }
    let key = format!("round:{}", hex::encode(state));
    let is_first = match run.pipeline.ports.state.put_if_absent(&key, run.identity().as_bytes(), b"used", STATE_S).await {
        Ok(there) => there.is_none(),
        Err(error) => {
            warn(run, Shared::Counts, error);
            false
        }
    };
    run.dialogue.is_next_round.set(Some(is_first));
    is_first
}

/// Counts in the store, or by the isolate alone.
async fn pass(window: &Window, run: &Run<'_>) -> Verdict {
    let owner = run.identity();
    match counted(window, run, owner.as_bytes()).await {
        Ok(verdict) => verdict,
        Err(error) => {
            let window = if error.kind == ErrorKind::Busy { &window.of_others(owner.as_bytes()) } else { window };
            warn(run, Shared::Counts, error);
            run.pipeline.counts.pass(window, owner.as_bytes(), run.pipeline.ports.clock.now_ms())
        }
    }
}

async fn counted(window: &Window, run: &Run<'_>, owner: &[u8]) -> Result<Verdict> {
    let state = &run.pipeline.ports.state;
    let key = hex::encode(&window.key);
    let window_s = u32::try_from(window.length_ms / 1000).unwrap_or(u32::MAX);
    if let Some(passes) = state.rate(&key, window.max, window_s).await? {
        return Ok(if passes { Ok(()) } else { Err(window.length_ms) });
    }
    let counter = |number: u64| format!("rate:{key}:{number}");
    // Until the end of the next window, whenever in this one it begins; stores cut off what is
    // below a second.
    let lives_s = window_s.saturating_mul(2).saturating_add(1);
    let before = match window.number.checked_sub(1) {
        Some(number) => total(state.add(&counter(number), owner, 0, i64::MAX, lives_s).await?.total),
        None => 0,
    };
    let Some(most) = window.most(before) else { return Ok(Err(window.wait_ms(before, 0))) };
    let counted = state.add(&counter(window.number), owner, 1, most.into(), lives_s).await?;
    Ok(if counted.added { Ok(()) } else { Err(window.wait_ms(before, total(counted.total))) })
}

fn total(total: i64) -> u32 {
    u32::try_from(total.max(0)).unwrap_or(u32::MAX)
}
