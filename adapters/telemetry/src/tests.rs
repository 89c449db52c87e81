//! Spans from `tracing` to the collector, with ports that stand still until a test moves them.

use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    task::{Context, Waker},
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Env, HttpClient, HttpRequest, HttpResponse, LocalFuture, Random, WaitUntil},
    secret::Secret,
};
use tracing::{
    Event, Metadata, Subscriber, debug_span, info_span,
    span::{Attributes, Id, Record},
    subscriber::with_default,
};

use crate::{
    Settings,
    exporter::{Kept, MOST_SPANS, REST_MS},
    handles,
    span::Span,
};

const TARGET: &str = "millrace::pipeline";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// The variables, and whatever else a host is.
#[derive(Default)]
struct Host {
    now_ms: Cell<u64>,
    last_id: Cell<u64>,
    tasks: RefCell<Vec<LocalFuture<'static, ()>>>,
    /// How many spans went with each request.
    sent: RefCell<Vec<usize>>,
    refuses: Cell<bool>,
    /// What happens while a request is under way.
    meanwhile: RefCell<Option<Box<dyn Fn()>>>,
}

impl Clock for Host {
    fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    fn sleep(&self, _: u64) -> LocalFuture<'static, ()> {
        Box::pin(async {})
    }
}

impl Random for Host {
    fn fill(&self, buffer: &mut [u8]) {
        self.last_id.set(self.last_id.get() + 1);
        buffer.copy_from_slice(&self.last_id.get().to_le_bytes()[..buffer.len()]);
    }
}

impl WaitUntil for Host {
    fn wait_until(&self, task: LocalFuture<'static, ()>) {
        self.tasks.borrow_mut().push(task);
    }
}

impl HttpClient for Host {
    fn send(&self, request: HttpRequest) -> LocalFuture<'_, Result<HttpResponse>> {
        let body = String::from_utf8(request.body).unwrap();
        self.sent.borrow_mut().push(body.matches("\"traceId\"").count());
        if let Some(meanwhile) = &*self.meanwhile.borrow() {
            meanwhile();
        }
        let answer = match self.refuses.get() {
            true => Err(Error::new(ErrorKind::Protocol, "nobody is there")),
            false => Ok(HttpResponse { status: 200, headers: Default::default(), body: Vec::new() }),
        };
        Box::pin(async { answer })
    }
}

impl Env for Host {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| Secret::new("http://localhost".to_owned()))
    }
}

impl Host {
    /// A host whose thread collects.
    fn start() -> Rc<Self> {
        let host = Rc::new(Self { now_ms: Cell::new(1_000_000), ..Self::default() });
        let settings = Settings::of(&*host, "shop", "1").unwrap().unwrap();
        Kept::start(settings, host.clone(), host.clone(), host.clone(), host.clone(), || 7);
        host
    }

    fn advance(&self, ms: u64) {
        self.now_ms.set(self.now_ms.get() + ms);
    }

    /// Runs the task that came first.
    fn run(&self) {
        let mut task: Pin<Box<_>> = self.tasks.borrow_mut().remove(0);
        assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }

    fn waiting(&self) -> usize {
        self.tasks.borrow().len()
    }
}

/// Finishes a call, and so many spans before it.
fn finish(stages: usize) {
    Kept::with(|kept| {
        for left in (0..=stages).rev() {
            kept.keep(Span { is_call: left == 0, ..Span::default() });
        }
    });
}

#[test]
fn a_turn_takes_what_is_there_in_batches_and_then_makes_place() {
    let host = Host::start();
    finish(600);
    finish(0);
    assert_eq!(host.waiting(), 1, "one turn at a time");
    host.run();
    assert_eq!(*host.sent.borrow(), [512, 90]);
    host.sent.take();
    // Calls that never stop: the turn ends, and another one has begun before its last request.
    *host.meanwhile.borrow_mut() = Some(Box::new(|| finish(0)));
    finish(0);
    host.run();
    assert_eq!((host.sent.take(), host.waiting()), (vec![1; 4], 1));
    // A collector that takes its time.
    let slow = Rc::downgrade(&host);
    *host.meanwhile.borrow_mut() = Some(Box::new(move || {
        slow.upgrade().unwrap().advance(3000);
        finish(0);
    }));
    host.run();
    assert_eq!((host.sent.take(), host.waiting()), (vec![1; 2], 1));
}

#[test]
fn a_turn_that_is_lost_stands_in_nobodys_way_for_long() {
    let host = Host::start();
    finish(0);
    let _lost = host.tasks.borrow_mut().remove(0);
    host.advance(12_000);
    finish(0);
    assert_eq!(host.waiting(), 0, "it may still come");
    host.advance(1_000);
    finish(0);
    host.run();
    assert_eq!(*host.sent.borrow(), [3]);
}

#[test]
fn a_collector_that_fails_rests_and_what_waits_is_dropped() {
    let host = Host::start();
    host.refuses.set(true);
    finish(MOST_SPANS + 10);
    host.run();
    assert!(Kept::with(|kept| kept.finished.borrow().is_empty()).unwrap());
    host.advance(REST_MS - 1);
    finish(1);
    assert_eq!(host.waiting(), 0);
    host.advance(1);
    host.refuses.set(false);
    finish(1);
    host.run();
    assert_eq!(host.sent.borrow().last(), Some(&2));
}

/// A subscriber without a registry.
struct Bare;

impl Subscriber for Bare {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        handles::enabled(metadata)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        handles::new_span(span)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        handles::event(event);
    }

    fn enter(&self, span: &Id) {
        handles::enter(span);
    }

    fn exit(&self, span: &Id) {
        handles::exit(span);
    }

    fn clone_span(&self, span: &Id) -> Id {
        handles::clone_span(span)
    }

    fn try_close(&self, span: Id) -> bool {
        handles::try_close(&span)
    }
}

fn call(tool: &str, request_id: &str, traceparent: Option<&str>) -> tracing::Span {
    let tracestate = "a=b";
    info_span!(target: TARGET, "tools/call", tool = %tool, protocol = "2025-06-18", request_id, traceparent, tracestate, secret = "hidden")
}

/// Calls that take turns, one in another, some that are not traced, and whatever else may happen.
fn scenario() {
    let (one, other) = (call("one", TRACE, Some("00-0-00000000000000ff-01")), call("other", &"1".repeat(32), None));
    let unsampled = call("unsampled", &"2".repeat(32), Some("00-0-00000000000000ff-00"));
    let no_id = call("no-id", "short", None);
    drop(debug_span!(target: TARGET, "resolve"));
    let execute = one.in_scope(|| debug_span!(target: TARGET, "execute"));
    let again = execute.clone();
    other.in_scope(|| {
        let stage = debug_span!(target: TARGET, "validate");
        stage.in_scope(|| tracing::debug!(target: TARGET, stage = "validate", code = "VALIDATION_ERROR", detail = "hidden"));
        drop(stage);
        one.in_scope(|| tracing::warn!(target: TARGET, stage = "execute", code = "QUERY_INVALID", "failed"));
        drop(debug_span!(target: TARGET, "serialize"));
    });
    execute.in_scope(|| {
        tracing::debug!(target: TARGET, connector = "sqlite", adapter = "main", "query");
        tracing::debug!(target: "other", connector = "hidden");
        tracing::debug!(target: TARGET, parent: &other, hit = true);
        let inner = call("inner", TRACE, None);
        let stage = debug_span!(target: TARGET, parent: &inner, "resolve");
        tracing::debug!(target: TARGET, parent: &stage, code = "TOOL_NOT_FOUND");
        drop((stage, inner));
        drop(debug_span!(target: TARGET, parent: None, "resolve"));
    });
    for untraced in [unsampled, no_id] {
        untraced.in_scope(|| {
            drop(debug_span!(target: TARGET, "execute"));
            drop(call("below", TRACE, None));
            tracing::warn!(target: TARGET, code = "QUERY_INVALID");
        });
    }
    drop(execute);
    drop(other);
    drop(again);
    drop(one);
}

/// What the scenario leaves to be sent.
fn finished(run: impl FnOnce()) -> Vec<Span> {
    let _host = Host::start();
    run();
    Kept::with(|kept| kept.finished.take()).unwrap()
}

#[test]
fn with_and_without_a_registry_spans_are_the_same() {
    let bare = finished(|| with_default(Bare, scenario));
    let names: Vec<&str> = bare.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["validate", "serialize", "resolve", "tools/call", "tools/call other", "execute", "tools/call one"]);
    assert!(!format!("{bare:?}").contains("hidden"));
    let parents: Vec<Option<u64>> = bare.iter().map(|span| span.parent_id).collect();
    let [inner, other, execute, one] = [3, 4, 5, 6].map(|place: usize| Some(bare[place].id));
    assert_eq!(parents, [other, other, inner, execute, None, one, Some(255)]);
    assert_eq!(bare.iter().filter(|span| span.failed).map(|span| span.name.as_str()).collect::<Vec<_>>(), ["tools/call one"]);
    #[cfg(feature = "layer")]
    {
        use tracing_subscriber::layer::SubscriberExt as _;
        let registered = finished(|| with_default(tracing_subscriber::registry().with(crate::Spans), scenario));
        assert_eq!(registered, bare);
    }
}

#[test]
fn spans_that_never_close_make_room() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NOW_NS: AtomicU64 = AtomicU64::new(0);
    let host = Host::start();
    let settings = Settings::of(&*host, "shop", "1").unwrap().unwrap();
    Kept::start(settings, host.clone(), host.clone(), host.clone(), host.clone(), || NOW_NS.load(Ordering::Relaxed));
    with_default(Bare, || {
        let lost: Vec<_> = (0..MOST_SPANS + 5).map(|_| call("lost", TRACE, None)).collect();
        drop(call("no-room", TRACE, None));
        NOW_NS.store(600_000_000_001, Ordering::Relaxed);
        drop(call("later", TRACE, None));
        drop(lost);
    });
    let names: Vec<String> = Kept::with(|kept| kept.finished.take()).unwrap().into_iter().map(|span| span.name).collect();
    assert_eq!(names, ["tools/call later"]);
}
