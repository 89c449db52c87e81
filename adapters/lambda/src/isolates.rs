//! The isolates, and who gets which call.
//!
//! A Lambda works on one invocation at a time, so it has one isolate. With managed concurrency it
//! has one for each processor, and a call goes to the one with the fewest. In goes a
//! [`SendRequest`] with a deadline, out comes an [`BufferedResponse`], always: an isolate that does
//! not answer in time is answered for. What the core wants done after a response goes on in the
//! isolate; [`Reply::settled`] says when it is done.

use std::{
    io,
    panic::AssertUnwindSafe,
    pin::pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt as _;
use lambda_runtime::Error;
use millrace_core::{
    Endpoint,
    app::App,
    cancel::Cancel,
    protocol::{Body, EventStream, Request, ResponseBody},
};
use millrace_native::{
    cache::CacheChoice,
    env::Variables,
    isolate::Isolate,
    ports,
    telemetry::{self, TelemetrySettings},
    wait_until::Tasks,
};
use tokio::sync::{mpsc, oneshot};

use crate::{
    answer::BufferedResponse,
    databases::{Databases, Places},
    event::SendRequest,
    stuck::{CallWatch, HeldCall},
};

/// What an isolate needs to start.
#[derive(Clone)]
pub(crate) struct Seed {
    pub(crate) app: App,
    pub(crate) variables: Variables,
    pub(crate) cache: CacheChoice,
    pub(crate) telemetry: Option<TelemetrySettings>,
    pub(crate) places: Places,
    /// Whether answers that are event streams go out as they come.
    pub(crate) streams: bool,
}

/// What comes back for a call.
pub(crate) struct Reply {
    pub(crate) answer: BufferedResponse,
    /// Where the body is a stream: its parts, as they come. Dropped, it ends the call.
    pub(crate) events: Option<Events>,
    /// Where work goes on after the answer: resolves when that is done.
    pub(crate) settled: Option<oneshot::Receiver<()>>,
    /// The isolate of a call whose body is a stream: it may get stuck before the end.
    pub(crate) watched: CallWatch,
}

/// What becomes of a call.
pub(crate) enum CallResult {
    /// Its answer.
    Reply(Reply),
    /// Its isolate is stuck, in this call or in another one.
    Stuck(HeldCall),
    /// Its isolate panicked as a whole.
    Lost,
    /// It is not over in time. It is cancelled; resolves when it is over.
    Late(oneshot::Receiver<()>),
}

/// The events of a call; an error where it panicked.
pub(crate) type Events = mpsc::UnboundedReceiver<Result<Vec<u8>, Error>>;

struct Job {
    call: SendRequest,
    deadline_ms: u64,
    reply: oneshot::Sender<Reply>,
    /// Dropped when the call is over.
    over: oneshot::Sender<()>,
}

struct Member {
    isolate: Isolate<Job>,
    watched: CallWatch,
    calls: Arc<AtomicUsize>,
}

/// The isolates of this process.
pub(crate) struct Isolates(Vec<Member>);

impl Isolates {
    /// Starts as many isolates as the seed is asked for.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub(crate) fn start(seed: &Seed, count: usize) -> io::Result<Self> {
        let start = |index: usize| {
            let seed = seed.clone();
            let watched = CallWatch::default();
            let of_isolate = watched.clone();
            let isolate = Isolate::spawn(&format!("isolate-{index}"), move |jobs| live(seed, of_isolate, jobs))?;
            Ok(Member { isolate, watched, calls: Arc::default() })
        };
        (0..count.max(1)).map(start).collect::<io::Result<_>>().map(Self)
    }

    /// Has a call answered by the isolate with the fewest, within a time. Where that is over and
    /// the isolate is not free, it is stuck; where it is free, the call is late.
    pub(crate) async fn answer(&self, call: SendRequest, deadline_ms: u64, within: Duration) -> CallResult {
        // One that is stuck gets calls only where there is no other: they are answered for.
        let burden = |member: &&Member| (member.watched.is_stuck(), member.calls.load(Ordering::Relaxed));
        let Some(member) = self.0.iter().min_by_key(burden) else { return CallResult::Lost };
        let _seat = CallSlot::take(&member.calls);
        let (reply, received) = oneshot::channel();
        let (over, is_over) = oneshot::channel();
        if member.isolate.jobs().send(Job { call, deadline_ms, reply, over }).is_err() {
            return CallResult::Lost;
        }
        tokio::select! {
            biased;
            reply = received => reply.map_or(CallResult::Lost, CallResult::Reply),
            held = member.watched.stuck() => CallResult::Stuck(held),
            // What held it since its deadline until now does so still.
            () = tokio::time::sleep(within) => member.watched.overdue(SHORTLY_MS).map_or(CallResult::Late(is_over), CallResult::Stuck),
        }
    }
}

/// How long a call holds its isolate past its deadline, in milliseconds, where the invocation's
/// time is over.
const SHORTLY_MS: u64 = 50;

/// A call's place, given back when it is dropped.
struct CallSlot(Arc<AtomicUsize>);

impl CallSlot {
    fn take(calls: &Arc<AtomicUsize>) -> Self {
        calls.fetch_add(1, Ordering::Relaxed);
        Self(calls.clone())
    }
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The life of an isolate.
async fn live(seed: Seed, watched: CallWatch, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let tasks = Tasks::new();
    let streams = seed.streams;
    let endpoint = Rc::new(endpoint(seed, &watched, &tasks));
    while let Some(job) = jobs.recv().await {
        tokio::task::spawn_local(work(endpoint.clone(), tasks.clone(), watched.clone(), streams, job));
    }
}

fn endpoint(Seed { app, variables, cache, telemetry, places, .. }: Seed, watched: &CallWatch, tasks: &Tasks) -> Endpoint {
    let mut ports = ports::native(places.package.clone(), variables.clone(), &cache, tasks);
    let copies = ports::native(places.copies.clone(), variables, &CacheChoice::default(), tasks).connectors;
    ports.connectors = Rc::new(Databases::new(places, ports.connectors, copies));
    ports.observer = Some(watched.observer());
    telemetry::observe_and_flush(telemetry, &mut ports);
    Endpoint::new(app, ports)
}

async fn work(endpoint: Rc<Endpoint>, tasks: Tasks, watched: CallWatch, streams: bool, job: Job) {
    let Job { call, deadline_ms, mut reply, over: _over } = job;
    let cancel = Cancel::new();
    let request = Request {
        method: call.method,
        path: call.path,
        query: call.query,
        peer: call.peer,
        headers: call.headers,
        body: call.body.unwrap_or(Body::Whole(Vec::new())),
        deadline_ms: Some(deadline_ms),
        cancel: cancel.clone(),
        platform_caller: call.platform_caller,
        checks_host: false,
        is_tls: false,
        is_local: false,
    };
    let answered = async {
        let response = endpoint.handle(request).await;
        let (body, events) = match response.body {
            ResponseBody::Events(events) if streams => (Vec::new(), Some(events)),
            body => (body.collect().await, None),
        };
        (BufferedResponse { status: response.status, headers: response.headers, body }, events)
    };
    let mut answered = pin!(AssertUnwindSafe(answered).catch_unwind());
    let outcome = tokio::select! {
        outcome = answered.as_mut() => outcome,
        // Somebody else has answered; whatever observes the end of the call is told of it all the
        // same.
        () = reply.closed() => {
            cancel.trip();
            return finish(answered.map(drop)).await;
        }
    };
    // What panicked is in the log: the panic hook has the place.
    let (answer, events) = outcome.unwrap_or_else(|_| (BufferedResponse::failure(500, -32603, "internal error"), None));
    let is_done = events.is_none() && tasks.running() == 0;
    let (mut settled, told) = oneshot::channel();
    let (sender, receiver) = mpsc::unbounded_channel();
    let received = events.as_ref().map(|_| receiver);
    drop(reply.send(Reply { answer, events: received, settled: (!is_done).then_some(told), watched }));
    if let Some(events) = events {
        if let Some(unread) = drive(events, &sender).await {
            finish(unread.finish()).await;
        }
        drop(sender);
    }
    if !is_done {
        tokio::select! {
            () = tasks.drained() => drop(settled.send(())),
            () = settled.closed() => {}
        }
    }
}

/// How long a call may take that is cancelled because nobody waits for its answer. Whatever
/// observes the end of a call has five seconds.
const CANCELLED_TIME: Duration = Duration::from_secs(6);

/// Waits for the end of a call that is cancelled.
async fn finish(call: impl Future<Output = ()>) {
    if tokio::time::timeout(CANCELLED_TIME, call).await.is_err() {
        tracing::warn!(limit_ms = CANCELLED_TIME.as_millis(), "a cancelled call did not end in time and was aborted");
    }
}

/// Sends events as they come, until there are no more. Gives them back where nobody takes the rest.
async fn drive(mut events: EventStream, sender: &mpsc::UnboundedSender<Result<Vec<u8>, Error>>) -> Option<EventStream> {
    let all = async {
        while let Some(event) = events.next().await {
            drop(sender.send(Ok(event)));
        }
    };
    let is_whole = tokio::select! {
        outcome = AssertUnwindSafe(all).catch_unwind() => {
            if outcome.is_err() {
                drop(sender.send(Err("internal error".into())));
            }
            true
        }
        () = sender.closed() => false,
    };
    (!is_whole).then_some(events)
}
