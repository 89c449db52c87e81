//! `limits.concurrency`: how many calls of a tool one isolate runs at a time. Who comes when all places are taken waits in a queue, first
//! come first served, until a place is handed on, its time to wait is over, or the call ends.

use alloc::format;
use core::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use crate::{
    app::Concurrency,
    fault::{Fault, FaultResult, Stage},
    pipeline::{
        gates::{Place, Turn},
        run::Run,
    },
    ports::LocalFuture,
};

/// A place for the call.
///
/// # Errors
/// `SERVER_BUSY` where the queue is full, or the time to wait is over; those of [`Run::interrupted`].
pub(super) async fn enter<'a>(run: &Run<'a>, limit: &Concurrency) -> FaultResult<Place<'a>> {
    let Some(gate) = run.pipeline.gates.get(run.place) else { return Err(busy(limit).into()) };
    if let Some(place) = gate.try_enter(limit.max) {
        return Ok(place);
    }
    if gate.is_full(limit.queue) {
        return Err(busy(limit).into());
    }
    let mut turn = Turn::of(gate);
    let mut time: Option<LocalFuture<'static, ()>> = None;
    let clock = &*run.pipeline.ports.clock;
    let waited = run.signal.race(poll_fn(|context| {
        if let Poll::Ready(place) = turn.poll(context) {
            return Poll::Ready(Some(place));
        }
        let time = time.get_or_insert_with(|| clock.sleep(limit.wait_ms.into()));
        Pin::new(time).poll(context).map(|()| None)
    }));
    match waited.await {
        Ok(Some(place)) => Ok(place),
        Ok(None) => Err(busy(limit).into()),
        Err(why) => Err(run.interrupted(why, Stage::Guard, false).into()),
    }
}

fn busy(limit: &Concurrency) -> Fault {
    let calls = if limit.max == 1 { "call" } else { "calls" };
    let message = match limit.queue {
        0 => format!("The tool is busy: it runs at most {} {calls} at a time.", limit.max),
        _ => format!("The tool is busy: it runs at most {} {calls} at a time, and the queue did not move in time or is full.", limit.max),
    };
    let mut fault = Fault::new(Stage::Guard, "SERVER_BUSY", message).later();
    fault.retry_after_s = Some(u64::from(limit.wait_ms.div_ceil(1000)).max(1));
    fault
}
