//! The record of a script, in the store that the host has: written before the handler runs, and
//! again once it has ended.
//!
//! Between the two the handler runs at most once. An isolate that ends there leaves the first one.
//! Whether the handler changed anything is not known then, so nothing runs because of it: a call
//! that finds it is told that the other one was interrupted, at once where the store knows that the
//! other one's process has ended, else a while after its deadline.

use alloc::{format, string::String, vec::Vec};
use core::future::Future;

use super::{
    answer::{Running, Said},
    endings::{conflict, interrupted, unknown},
};
use crate::{
    Error, ErrorKind, ErrorParts,
    fault::{Change, Fault, Stage},
    hex,
    pipeline::{
        call::call_end::CallEnd,
        call::call_key::CallKey,
        call::report::Subject,
        call::run::{Run, TARGET},
        content::output::ToolOutput,
    },
};

/// What the keys of records begin with, in a store that others use, too.
const PREFIX: &str = "once:";
/// How long after its deadline a call may still run, in milliseconds: the writing of its record has
/// to end before.
const MARGIN_MS: u64 = 30_000;
/// The longest answer that a record keeps, in bytes: every store takes that much.
const LONGEST: usize = 256 << 10;

/// Runs a handler, unless there is a record of the same call.
///
/// # Errors
/// Those of the handler, again where the record has them; `CONFLICT` where another call with the
/// key runs; `STATE_UNAVAILABLE` where the store does not answer: nothing runs without a record.
pub(in crate::pipeline) async fn handle(
    run: &Run<'_>,
    key: &CallKey,
    handler: impl Future<Output = Result<ToolOutput, CallEnd>>,
) -> Result<ToolOutput, CallEnd> {
    let ports = &run.pipeline.ports;
    let place = place(key);
    let until_ms = run.signal.deadline_ms().saturating_add(MARGIN_MS);
    let holder = ports.state.holder().map_err(|error| unavailable(run, error))?;
    let running = Said::Running(Running { writer: writer(run), holder, until_ms }).encode();
    // Where the call is interrupted, its record stands for as long as its answer would have.
    let left_s = until_ms.saturating_sub(ports.clock.now_ms()).div_ceil(1000);
    let ttl_s = key.ttl_s.max(u32::try_from(left_s).unwrap_or(u32::MAX));
    let owner = run.identity();
    let put = run.signal.race(ports.state.put_if_absent(&place, owner.as_bytes(), &running, ttl_s)).await;
    let there = match put {
        Ok(there) => there.map_err(|error| unavailable(run, error))?,
        Err(why) => {
            // Nothing ran. The record may have been made all the same, and nobody could tell it
            // from one of a call that was killed.
            if matches!(ports.state.get(&place).await, Ok(Some(there)) if there == running) {
                drop(ports.state.remove(&place).await);
            }
            return Err(run.interrupted(why, Stage::Execute, false).into());
        }
    };
    // A store that lost the connection may have been asked twice.
    if let Some(there) = there.filter(|there| *there != running) {
        return replay(run, &place, there, Stage::Execute).await;
    }
    let begun = || run.unanswered_writes.get() + run.unsafe_requests.get();
    // What the middleware changed is not the handler's.
    let (before, begun_before) = (run.change.replace(Change::None), begun());
    let mut end = handler.await;
    let changed = run.change.get() != Change::None;
    if !changed {
        run.change.set(before);
    }
    let has_effect = changed || begun() > begun_before;
    if let Err(CallEnd::Failed(why)) = end {
        // What is kept must hold no secret.
        end = Err(CallEnd::Failed(run.secrets().strike_failed(why)));
    }
    let said = match &end {
        Ok(output) => {
            if changed {
                run.change.set(Change::Recorded);
            }
            Some(Said::of(output, changed))
        }
        Err(CallEnd::Failed(why)) if has_effect => Some(Said::failed(why)),
        // Nothing was done, or the caller is asked something: the same call sent again begins anew.
        Err(CallEnd::Failed(_) | CallEnd::Asks) => None,
    };
    keep(run, key, &place, said).await;
    if has_effect && end.is_err() {
        run.change.set(Change::Kept);
    }
    end
}

/// Writes what a handler left over the record of the call that runs, or removes that.
async fn keep(run: &Run<'_>, key: &CallKey, place: &str, said: Option<Said>) {
    let state = &run.pipeline.ports.state;
    let ended = || async { state.put(place, &Said::Ended.encode(), key.ttl_s).await };
    let written = match said.map(|said| said.encode()) {
        None => state.remove(place).await,
        // It fits where the record of the call that runs is.
        Some(bytes) if bytes.len() > LONGEST => ended().await,
        Some(bytes) => match state.put(place, &bytes, key.ttl_s).await {
            Ok(()) => Ok(()),
            Err(error) => ended().await.map_err(|_| error),
        },
    };
    if let Err(error) = written {
        let Subject { tool, request_id, .. } = run.subject();
        let error = run.pipeline.secrets.strike_error(error);
        tracing::warn!(target: TARGET, tool, request_id, %error, detail = error.source, "the record of the call cannot be written: the same call, sent again, is told that it was interrupted");
    }
}

/// What an earlier call of a script left, for whoever wants to know before stage *execute*; `None`
/// where there is nothing.
///
/// # Errors
/// As [`handle`].
pub(in crate::pipeline) async fn look_up(run: &Run<'_>, key: &CallKey) -> Result<Option<ToolOutput>, CallEnd> {
    let place = place(key);
    let got = run.signal.race(run.pipeline.ports.state.get(&place)).await;
    match got.map_err(|why| run.interrupted(why, Stage::Guard, false))?.map_err(|error| unavailable(run, error))? {
        None => Ok(None),
        Some(there) => replay(run, &place, there, Stage::Guard).await.map(Some),
    }
}

/// Whether the call of a record may still run.
fn may_run(run: &Run<'_>, running: &Running) -> bool {
    let ports = &run.pipeline.ports;
    ports.clock.now_ms() < running.until_ms && running.holder.as_deref().is_none_or(|holder| ports.state.may_run(holder))
}

async fn replay(run: &Run<'_>, place: &str, there: Vec<u8>, stage: Stage) -> Result<ToolOutput, CallEnd> {
    let mut said = Said::decode(&there);
    if matches!(&said, Said::Running(running) if !may_run(run, running)) {
        // It may have ended well between the two looks.
        let got = run.signal.race(run.pipeline.ports.state.get(place)).await;
        match got.map_err(|why| run.interrupted(why, stage, false))?.map_err(|error| unavailable(run, error))? {
            Some(now) if now != there => said = Said::decode(&now),
            Some(_) => return Err(interrupted(run).into()),
            // It did nothing: the same call, sent once more, begins anew.
            None => return Err(conflict().into()),
        }
    }
    let (output, changed) = match said {
        Said::Running(_) => return Err(conflict().into()),
        Said::Ended => return Err(unknown(run).into()),
        Said::Failed(failure) => {
            run.replayed.set(true);
            run.change.set(Change::Kept);
            return Err(CallEnd::Failed(failure.again()));
        }
        Said::Value { value, changed } => (ToolOutput::Value(value), changed),
        Said::Content { content, changed } => (ToolOutput::Content(content), changed),
    };
    run.replayed.set(true);
    if changed {
        run.change.set(Change::Recorded);
    }
    Ok(output)
}

fn place(key: &CallKey) -> String {
    format!("{PREFIX}{}", key.text)
}

/// A text that no other call has.
fn writer(run: &Run<'_>) -> String {
    let mut bytes = [0; 16];
    run.pipeline.ports.random.fill(&mut bytes);
    format!("{} {}", run.request_id, hex::encode(&bytes))
}

fn unavailable(run: &Run<'_>, error: Error) -> Fault {
    let ErrorParts { kind, message, source, .. } = run.pipeline.secrets.strike_error(error).into_parts();
    let detail = source.map_or_else(|| message.clone(), |source| format!("{message}: {source}"));
    let said = match kind {
        ErrorKind::Busy => {
            "The record that keeps this call from happening twice cannot be kept now: there are too many records of earlier calls. Nothing was done."
        }
        _ => "The record that keeps this call from happening twice cannot be kept. Nothing was done.",
    };
    Fault::new(Stage::Execute, "STATE_UNAVAILABLE", said).later().logging(detail)
}
