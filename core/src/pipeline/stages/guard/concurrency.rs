//! `limits.concurrency`: how many calls of a tool run at a time, on all isolates of the machine
//! where the host has places that they share, else on this one. Who comes when all places are taken
//! waits in a queue, first come first served, until a place is free, its time to wait is over, or
//! the call ends.

use alloc::format;
use core::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use super::store_warning::{Shared, warn};
use crate::{
    app::Concurrency,
    fault::{Fault, FaultResult, Stage},
    pipeline::{
        call::run::Run,
        isolate::gates::{Gate, Place, SharedPlace, Turn},
    },
    ports::{Entered, LocalFuture, Places},
};

/// How long after its deadline a call may hold its place, in milliseconds. Then the place is free,
/// whatever became of the call.
const MARGIN_MS: u64 = 30_000;
/// How long the first of an isolate's calls that wait looks away from the store, in milliseconds:
/// for each that comes before it, and at most.
const LOOK_MS: u64 = 5;
const LONGEST_LOOK_MS: u64 = 200;

/// What a call holds while it runs.
pub(super) enum Held<'a> {
    /// A place of the isolate.
    Own { _place: Place<'a> },
    /// A place of the machine.
    Shared { _place: SharedPlace<'a> },
}

/// A place for the call.
///
/// # Errors
/// `SERVER_BUSY` where the queue is full, or the time to wait is over; those of
/// [`Run::interrupted`].
pub(super) async fn enter<'a>(run: &Run<'a>, limit: &Concurrency) -> FaultResult<Held<'a>> {
    let Some(gate) = run.pipeline.gates.get(run.place) else { return Err(busy(limit).into()) };
    if let Some(places) = run.pipeline.ports.places.as_deref()
        && let Some(place) = shared(run, limit, gate, places).await?
    {
        return Ok(Held::Shared { _place: place });
    }
    own(run, limit, gate).await.map(|place| Held::Own { _place: place })
}

/// A place that all isolates of the machine share. `None` where the store fails: the isolate counts
/// by itself then.
async fn shared<'a>(run: &Run<'a>, limit: &Concurrency, gate: &'a Gate, places: &'a dyn Places) -> FaultResult<Option<SharedPlace<'a>>> {
    let clock = &*run.pipeline.ports.clock;
    let name = format!("{} {}", run.pipeline.app.name, run.tool.name);
    let until_ms = run.signal.deadline_ms().saturating_add(MARGIN_MS);
    let entered = run.signal.race(places.enter(&name, limit.max, limit.queue, until_ms)).await;
    let (place, mut ahead) = match entered.map_err(|why| run.interrupted(why, Stage::Guard, false))? {
        Ok(Entered::Taken(turn)) => return Ok(Some(SharedPlace::of(places, gate, turn))),
        Ok(Entered::Waits { turn, ahead }) => (SharedPlace::of(places, gate, turn), ahead),
        Ok(Entered::Full) => return Err(busy(limit).into()),
        Err(error) => {
            warn(run, Shared::Places, error);
            return Ok(None);
        }
    };
    let bell = place.bell();
    let mut over = clock.sleep(limit.wait_ms.into());
    loop {
        let mut time = clock.sleep(LOOK_MS.saturating_mul(u64::from(ahead) + 1).min(LONGEST_LOOK_MS));
        let looked = run.signal.race(async {
            let is_over = poll_fn(|context| match bell.poll(context, &mut time) {
                Poll::Ready(()) => Poll::Ready(false),
                Poll::Pending => Pin::new(&mut over).poll(context).map(|()| true),
            });
            if is_over.await { Ok(Entered::Full) } else { places.advance(&name, limit.max, place.turn()).await }
        });
        match looked.await.map_err(|why| run.interrupted(why, Stage::Guard, false))? {
            Ok(Entered::Taken(_)) => break,
            Ok(Entered::Waits { ahead: now, .. }) => ahead = now,
            Ok(Entered::Full) => return Err(busy(limit).into()),
            // Its turn stands: it looks again.
            Err(error) => warn(run, Shared::Places, error),
        }
    }
    drop(bell);
    Ok(Some(place))
}

/// A place of the isolate.
async fn own<'a>(run: &Run<'a>, limit: &Concurrency, gate: &'a Gate) -> FaultResult<Place<'a>> {
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
