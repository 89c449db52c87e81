//! Spans from the pipeline to the collector, with ports that stand still until a test moves them.

use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    task::{Context, Waker},
};

use crate::{
    Abilities, TelemetrySettings,
    deltas::Deltas,
    exporter::{MOST_SPANS, REST_MS, TracerState},
    metrics::{Meter, Metric},
    span::Span,
    tracer::{SpanSink as _, Tracer},
};
use millrace_core::{
    Error, ErrorKind, Result,
    app::Adapter,
    fault::{Fault, RATE_LIMITED, Severity},
    pipeline::{Stage, Trace},
    ports::{
        CallEvent, CallObserver, CallOutcome, CallStart, Clock, Env, HttpClient, HttpRequest, HttpResponse, LocalFuture, Observer as _,
        Random, WaitUntil,
    },
    secret::Secret,
};

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
    /// A host that collects.
    fn start() -> (Rc<Self>, Rc<TracerState>) {
        let host = Rc::new(Self { now_ms: Cell::new(1_000_000), ..Self::default() });
        let settings = TelemetrySettings::of(&*host, "shop", "1", Abilities::Fetch).unwrap().unwrap().traces.unwrap();
        let kept = TracerState::new(settings, &[], host.clone(), host.clone(), host.clone(), host.clone(), || 7);
        (host, kept)
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
fn finish(kept: &Rc<TracerState>, stages: usize) {
    for left in (0..=stages).rev() {
        kept.keep(Span { is_call: left == 0, ..Span::default() });
    }
}

#[test]
fn a_turn_takes_what_is_there_in_batches_and_then_makes_place() {
    let (host, kept) = Host::start();
    finish(&kept, 600);
    finish(&kept, 0);
    assert_eq!(host.waiting(), 1, "one turn at a time");
    host.run();
    assert_eq!(*host.sent.borrow(), [512, 90]);
    host.sent.take();
    // Calls that never stop: the turn ends, and another one has begun before its last request.
    let busy = kept.clone();
    *host.meanwhile.borrow_mut() = Some(Box::new(move || finish(&busy, 0)));
    finish(&kept, 0);
    host.run();
    assert_eq!((host.sent.take(), host.waiting()), (vec![1; 4], 1));
    // A collector that takes its time.
    let (slow, busy) = (Rc::downgrade(&host), kept.clone());
    *host.meanwhile.borrow_mut() = Some(Box::new(move || {
        slow.upgrade().unwrap().advance(3000);
        finish(&busy, 0);
    }));
    host.run();
    assert_eq!((host.sent.take(), host.waiting()), (vec![1; 2], 1));
}

#[test]
fn a_turn_that_is_lost_stands_in_nobodys_way_for_long() {
    let (host, kept) = Host::start();
    finish(&kept, 0);
    let _lost = host.tasks.borrow_mut().remove(0);
    host.advance(12_000);
    finish(&kept, 0);
    assert_eq!(host.waiting(), 0, "it may still come");
    host.advance(1_000);
    finish(&kept, 0);
    host.run();
    assert_eq!(*host.sent.borrow(), [3]);
}

#[test]
fn a_collector_that_fails_rests_and_what_waits_is_dropped() {
    let (host, kept) = Host::start();
    host.refuses.set(true);
    finish(&kept, MOST_SPANS + 10);
    host.run();
    assert!(kept.finished.borrow().is_empty());
    host.advance(REST_MS - 1);
    finish(&kept, 1);
    assert_eq!(host.waiting(), 0);
    host.advance(1);
    host.refuses.set(false);
    finish(&kept, 1);
    host.run();
    assert_eq!(host.sent.borrow().last(), Some(&2));
}

/// Measures a call, and has what is measured sent.
fn measure(kept: &Rc<Deltas>) {
    kept.add(Metric::Failure, 1, &[]);
    kept.settled();
}

#[test]
fn what_is_measured_while_a_batch_is_sent_is_sent_too() {
    let (host, _) = Host::start();
    let settings = TelemetrySettings::of(&*host, "shop", "1", Abilities::Fetch).unwrap().unwrap().metrics.unwrap();
    let kept = Deltas::new(&settings, &[], host.clone(), host.clone(), host.clone(), || 7).unwrap();
    let (busy, left) = (kept.clone(), Cell::new(1));
    *host.meanwhile.borrow_mut() = Some(Box::new(move || {
        if left.replace(0) == 1 {
            measure(&busy);
        }
    }));
    measure(&kept);
    host.run();
    assert_eq!((host.sent.borrow().len(), host.waiting()), (2, 0), "nobody has to call for that");
    // A collector that takes its time: another turn has begun before the last request of this one.
    let (slow, busy, left) = (Rc::downgrade(&host), kept.clone(), Cell::new(3));
    *host.meanwhile.borrow_mut() = Some(Box::new(move || {
        slow.upgrade().unwrap().advance(9_000);
        if left.get() > 0 {
            left.set(left.get() - 1);
            measure(&busy);
        }
    }));
    measure(&kept);
    host.run();
    assert_eq!((host.sent.borrow().len(), host.waiting()), (4, 1));
    host.run();
    assert_eq!(host.waiting(), 0);
}

fn span_names(kept: &TracerState) -> Vec<String> {
    kept.finished.borrow().iter().map(|span| span.name.clone()).collect()
}

fn begin(tracer: &Tracer, tool: &str, request_id: &str, parent: Option<&str>) -> Option<Box<dyn CallObserver>> {
    let trace = Trace { parent, state: Some("a=b") };
    tracer.began(&CallStart { method: "prompts/get", tool, protocol: "2025-06-18", request_id, trace })
}

fn adapter(name: &str, connector: &str) -> Adapter {
    Adapter {
        name: name.to_owned(),
        connector: connector.to_owned(),
        connection_string: Default::default(),
        options: Vec::new(),
        timeout_ms: 1,
        max_rows: 1,
        read_only: false,
        seed: None,
        session: Vec::new(),
        tenant: None,
        databases: None,
    }
}

#[test]
fn calls_that_take_turns_are_trees_of_their_own() {
    let (_host, kept) = Host::start();
    let tracer = Tracer(kept.clone());
    let one = begin(&tracer, "execute", TRACE, Some("00-0-00000000000000ff-01")).unwrap();
    let other = begin(&tracer, "other", &"1".repeat(32), None).unwrap();
    assert!(begin(&tracer, "unsampled", &"2".repeat(32), Some("00-0-00000000000000ff-00")).is_none());
    assert!(begin(&tracer, "no-id", "short", None).is_none());
    one.observe(CallEvent::Forwarded("one"));
    one.observe(CallEvent::StageBegan(Stage::Execute));
    other.observe(CallEvent::StageBegan(Stage::Validate));
    for (name, connector) in [("main", "postgres"), ("main", "postgres"), ("other", "d1")] {
        one.observe(CallEvent::ConnectorAnswered {
            adapter: &adapter(name, connector),
            took_ns: 0,
            error: None,
            request: None,
            status: None,
        });
    }
    other.observe(CallEvent::Failed(&Fault::new(Stage::Validate, "VALIDATION_ERROR", "hidden").logging("hidden")));
    other.observe(CallEvent::StageEnded(Stage::Validate));
    other.observe(CallEvent::Ended(CallOutcome::Failed));
    one.observe(CallEvent::CacheLookedUp { adapter: &adapter("main", "sqlite"), hit: true });
    // It is given up in the middle of a stage.
    drop(one);
    drop(other);
    assert_eq!(span_names(&kept), ["validate", "execute", "prompts/get one", "prompts/get other"]);
    let spans = kept.finished.take();
    assert!(!format!("{spans:?}").contains("hidden"));
    let [validate, execute, one, other] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!([validate.parent_id, execute.parent_id, one.parent_id, other.parent_id], [Some(other.id), Some(one.id), Some(255), None]);
    assert_eq!((one.state.as_str(), one.is_call, execute.is_call, execute.trace_id.as_str()), ("a=b", true, false, TRACE));
    let attributes = |span: &Span| span.attributes.iter().map(|(name, value)| format!("{name}={value:?}")).collect::<Vec<_>>().join(" ");
    assert_eq!(
        attributes(execute),
        r#"db.system.name=Text("postgresql") millrace.adapter=Text("main,other") millrace.cache.hit=Truth(true)"#
    );
    assert_eq!(
        attributes(one),
        r#"mcp.method.name=Text("prompts/get") gen_ai.operation.name=Text("execute_tool") mcp.protocol.version=Text("2025-06-18") gen_ai.tool.name=Text("one")"#
    );
    assert!(attributes(other).ends_with(r#"millrace.stage=Text("validate") error.type=Text("VALIDATION_ERROR")"#), "{other:?}");
}

#[test]
fn the_status_says_who_can_mend_it() {
    let fault = || Fault::new(Stage::Execute, "CODE", "message");
    let warning = Fault { severity: Severity::Warning, ..fault() };
    let table = [
        (fault(), false, true),
        (fault().logging("upstream words"), false, true),
        (fault().by_operator(), true, true),
        (fault().by_author(), true, true),
        (fault().later(), true, true),
        (Fault::new(Stage::Guard, RATE_LIMITED, "message").later(), false, true),
        (warning, false, false),
    ];
    for (fault, failed, typed) in table {
        let (_host, kept) = Host::start();
        let call = begin(&Tracer(kept.clone()), "t", TRACE, None).unwrap();
        call.observe(CallEvent::Failed(&fault));
        drop(call);
        let span = kept.finished.borrow()[0].clone();
        let error = span.attributes.iter().any(|(name, _)| *name == "error.type");
        assert_eq!((span.failed, error), (failed, typed), "{fault:?}");
    }
    // The name of a tool that does not exist is its caller's.
    let (_host, kept) = Host::start();
    let call = begin(&Tracer(kept.clone()), "hidden", TRACE, None).unwrap();
    call.observe(CallEvent::Failed(&Fault::new(Stage::Resolve, "TOOL_NOT_FOUND", "hidden")));
    drop(call);
    assert!(span_names(&kept) == ["prompts/get"] && !format!("{:?}", kept.finished.borrow()).contains("hidden"));
}
