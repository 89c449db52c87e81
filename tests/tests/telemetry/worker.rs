//! The Worker's traces, in real workerd.

use std::{
    io::Write as _,
    net::TcpStream,
    path::{Path, PathBuf},
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use millrace_core::Json;
use millrace_tests::{
    case::Exchange,
    collector::Collector,
    scripted::{Reply, Scripted},
    worker,
    workerd::{Surroundings, Workerd},
};

use super::{OF_HANDLER, TRACE, children, described, failures_are_told, group, is_a_tree};

/// How long an isolate leaves a collector alone that failed, less what may pass before a test sees
/// the failure.
const REST: Duration = Duration::from_millis(4000);
/// The variable that every test here sets.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

#[test]
fn a_call_is_a_tree_of_spans_below_its_callers() {
    let collector = Collector::start();
    let (worker, _folder) = worker::served(&group("cache"), &described(&collector));
    is_a_tree(&collector, "cloudflare.d1", |request| worker.send(request));
}

#[test]
fn a_failure_has_its_code_and_is_an_error_where_its_caller_cannot_mend_it() {
    let collector = Collector::start();
    let (worker, _folder) = worker::served(&group("faults"), &collector.env());
    failures_are_told(&collector, |request| worker.send(request));
}

/// An app that needs no binding: `add` answers at once, `ask` fetches two URLs, one after the
/// other.
fn built(settings: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("millrace.yaml", format!("name: traced\n{settings}\n")),
        ("app/tools/add/config.yaml", "description: Adds\nhandler: ./handler.ts\ninputs: { a: { type: int } }\n".to_owned()),
        ("app/tools/add/handler.ts", "export default ({ inputs }) => inputs.a + 1;\n".to_owned()),
        ("app/tools/ask/config.yaml", "description: Asks\nhandler: ./handler.ts\ninputs: { url: { type: string } }\n".to_owned()),
        (
            "app/tools/ask/handler.ts",
            "export default async ({ inputs }) => {
  await (await fetch(inputs.url)).text();
  return (await fetch(inputs.url)).status;
};
"
            .to_owned(),
        ),
    ];
    for (path, text) in files {
        millrace_tests::files::write(folder.path(), path, &text);
    }
    let dist = worker::build(folder.path());
    (folder, dist)
}

/// The Worker with these variables, and without metrics.
fn started(dist: &Path, variables: &[(&str, &str)]) -> Workerd {
    let variables: Vec<(&str, &str)> = variables.iter().copied().chain([("OTEL_METRICS_EXPORTER", "none")]).collect();
    Workerd::start(dist, &variables).unwrap_or_else(|said| panic!("{said}"))
}

/// Calls `add`, and sees that it answers, and soon.
fn adds(workerd: &Workerd) {
    let asked = Instant::now();
    let answer = workerd.send(&Exchange::parse("CALL add {\"a\": 41}"));
    assert!(answer.starts_with("HTTP 200") && answer.contains("\"text\":\"42\""), "{answer}\n{}", workerd.log());
    assert!(asked.elapsed() < Duration::from_secs(5), "a call waits for the collector");
}

#[track_caller]
fn wait_for(what: impl FnMut() -> bool) {
    millrace_tests::wait::until("it does not come", what);
}

/// How many calls a request to a collector tells of.
fn calls(body: &str) -> usize {
    body.matches("\"name\":\"tools/call").count()
}

#[test]
fn calls_that_take_turns_keep_their_traces() {
    let collector = Collector::start();
    // Nobody is answered before both have asked: so each call waits while the other one goes on,
    // twice.
    let both = Arc::new(Barrier::new(2));
    let server = Scripted::start(move |_, _| {
        both.wait();
        Reply::Whole(200, "text/plain", "yes".to_owned())
    });
    let (_folder, dist) = built(&format!("fetch: {{ allow: [\"{}\"] }}", server.address));
    let workerd = started(&dist, &[(ENDPOINT, &collector.env()[0].1)]);
    let traces = [TRACE.to_owned(), "1".repeat(32)];
    thread::scope(|scope| {
        for (trace, parent) in traces.iter().zip(["b7ad6b7169203331", "2222222222222222"]) {
            let (workerd, address) = (&workerd, server.address);
            scope.spawn(move || {
                let call = format!("CALL ask {{\"url\": \"http://{address}/\"}}\ntraceparent: 00-{trace}-{parent}-01");
                let answer = workerd.send(&Exchange::parse(&call));
                assert!(answer.contains("\"text\":\"200\""), "{answer}");
            });
        }
    });
    let spans = collector.after(2);
    for (trace, parent) in traces.iter().zip(["b7ad6b7169203331", "2222222222222222"]) {
        let of_trace: Vec<Json> = spans.iter().filter(|span| span["trace"] == trace.as_str()).cloned().collect();
        assert_eq!(of_trace.len(), 1 + OF_HANDLER.len(), "{spans:#?}");
        let root = of_trace.iter().find(|span| span["kind"] == 2).unwrap();
        assert_eq!((&root["name"], &root["parent"]), (&Json::from("tools/call ask"), &Json::from(parent)));
        assert_eq!(children(&of_trace, root).len(), OF_HANDLER.len());
        let [start, end] = ["start", "end"].map(|name| root[name].as_u64().unwrap());
        assert!(start < end, "the clock moves while a call waits: {root}");
    }
}

#[test]
fn what_finishes_while_somebody_sends_goes_with_the_next() {
    let may_answer = Arc::new(AtomicBool::new(false));
    let may = may_answer.clone();
    let slow = Scripted::start(move |_, _| {
        wait_for(|| may.load(Ordering::SeqCst));
        Reply::Whole(200, "application/json", "{}".to_owned())
    });
    let (_folder, dist) = built("");
    let workerd = started(&dist, &[(ENDPOINT, &format!("http://{}", slow.address))]);
    adds(&workerd);
    wait_for(|| slow.received().len() == 1);
    (0..20).for_each(|_| adds(&workerd));
    assert_eq!(slow.received().len(), 1, "one request is under way at a time");
    may_answer.store(true, Ordering::SeqCst);
    wait_for(|| slow.received().len() == 2);
    let told: Vec<usize> = slow.received().iter().map(|request| calls(&request.body)).collect();
    assert_eq!(told, [1, 20]);
}

#[test]
fn a_collector_that_is_down_slow_or_refuses_costs_no_call_anything() {
    let refusing = Scripted::with(vec![Reply::Whole(503, "text/plain", "later".to_owned())]);
    let broken = Scripted::with(vec![Reply::Raw(b"")]);
    let stalled = Scripted::with(vec![Reply::Stalled("{}".to_owned(), 1)]);
    let silent = Scripted::with(vec![Reply::Silence]);
    let table = [
        (refusing.address.port(), "the collector of traces answered with status 503"),
        (broken.address.port(), "could not connect to `127.0.0.1`, or it closed the connection"),
        (1, "could not connect to `127.0.0.1`, or it closed the connection"),
        (stalled.address.port(), "not answered before its deadline"),
        (silent.address.port(), "not answered before its deadline"),
    ];
    let (_folder, dist) = built("");
    for (port, warning) in table {
        let endpoint = format!("http://127.0.0.1:{port}");
        let workerd = started(&dist, &[(ENDPOINT, &endpoint), ("OTEL_EXPORTER_OTLP_TIMEOUT", "3000")]);
        (0..50).for_each(|_| adds(&workerd));
        wait_for(|| workerd.log().contains("traces cannot be exported"));
        assert!(workerd.log().contains(warning), "{}", workerd.log());
        (0..10).for_each(|_| adds(&workerd));
    }
    assert_eq!((silent.received().len(), silent.left()), (1, 1), "one request is under way at a time, and ended");
}

#[test]
fn a_collector_that_failed_is_asked_again_after_a_while() {
    let ok = || Reply::Whole(200, "application/json", "{}".to_owned());
    let lame = Scripted::with(vec![Reply::Raw(b""), ok(), Reply::Silence, ok()]);
    let (_folder, dist) = built("");
    let endpoint = format!("http://{}", lame.address);
    let workerd = started(&dist, &[(ENDPOINT, &endpoint), ("OTEL_EXPORTER_OTLP_TIMEOUT", "3000")]);
    for failures in 1..=2 {
        adds(&workerd);
        wait_for(|| workerd.log().matches("traces cannot be exported").count() == failures);
        let (failed, asked) = (Instant::now(), lame.received().len());
        // What falls into the rest is dropped; the first call after it is told.
        let mut made = 0;
        wait_for(|| {
            adds(&workerd);
            made += 1;
            lame.received().len() > asked
        });
        assert!(failed.elapsed() >= REST, "it is left alone, and not only for {:?}", failed.elapsed());
        let told = calls(&lame.received()[asked].body);
        assert!(told >= 1 && told * 2 < made, "{told} of {made} calls were told");
    }
}

#[test]
fn a_caller_that_goes_away_leaves_a_trace_and_nothing_else() {
    let collector = Collector::start();
    let silent = Scripted::with(vec![Reply::Silence]);
    let (_folder, dist) = built(&format!("fetch: {{ allow: [\"{}\"] }}", silent.address));
    let workerd = started(&dist, &[(ENDPOINT, &collector.env()[0].1)]);
    let request = Exchange::parse(&format!("CALL ask {{\"url\": \"http://{}/\"}}", silent.address));
    let fields: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!("POST /mcp HTTP/1.1\r\nhost: x\r\n{fields}content-length: {}\r\n\r\n{}", request.body.len(), request.body);
    let mut connection = TcpStream::connect(("127.0.0.1", workerd.port)).unwrap();
    connection.write_all(head.as_bytes()).unwrap();
    wait_for(|| silent.received().len() == 1);
    // Closed without a good-bye, which is what workerd sees.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        connection.set_nonblocking(true).unwrap();
        tokio::net::TcpStream::from_std(connection).unwrap().set_zero_linger().unwrap();
    });
    let spans = collector.after(1);
    let root = spans.iter().find(|span| span["kind"] == 2).unwrap();
    assert_eq!(root["attributes"]["error.type"], "CANCELLED", "{spans:#?}");
    adds(&workerd);
    assert_eq!(collector.after(2).iter().filter(|span| span["name"] == "tools/call add").count(), 1);
}

#[test]
fn nothing_is_sent_where_nobody_asks_and_a_wrong_variable_is_logged() {
    let collector = Scripted::with(vec![Reply::Whole(200, "application/json", "{}".to_owned())]);
    let endpoint = format!("http://{}", collector.address);
    let (_folder, dist) = built("");
    let (_other, disabled) = built("telemetry: { enabled: false }");
    let cases = [
        (&disabled, ("X", ""), ""),
        (&dist, ("OTEL_SDK_DISABLED", "true"), ""),
        (&dist, ("OTEL_TRACES_SAMPLER", "always_off"), ""),
        (
            &dist,
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            "the variable `OTEL_EXPORTER_OTLP_PROTOCOL` asks for a protocol that Millrace does not speak here; a Worker speaks `http/json`",
        ),
        (&dist, ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2"), "the variable `OTEL_EXPORTER_OTLP_HEADERS` is not a list"),
        (
            &dist,
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "hunter2"),
            "the variable `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is not the address of a collector",
        ),
    ];
    for (dist, variable, expected) in cases {
        let workerd = started(dist, &[(ENDPOINT, &endpoint), variable]);
        (0..3).for_each(|_| adds(&workerd));
        let log = workerd.log();
        assert_eq!(log.matches("neither traces nor metrics are sent").count(), usize::from(!expected.is_empty()), "{log}");
        assert!(log.contains(expected) && !log.contains("hunter2"), "{log}");
    }
    // Whoever collects after all of them is heard, so the others would have been heard before.
    let workerd = started(&dist, &[(ENDPOINT, &endpoint)]);
    adds(&workerd);
    wait_for(|| !collector.received().is_empty());
    assert_eq!(collector.received().len(), 1);
}

#[test]
fn a_dataset_takes_the_metrics_where_no_collector_is_named() {
    let ok = || Reply::Whole(200, "application/json", "{}".to_owned());
    let (dataset, collector) = (Scripted::with(vec![ok()]), Scripted::with(vec![ok()]));
    let (_folder, dist) = built(&format!("fetch: {{ allow: [\"{}\"] }}", collector.address));
    let often = ("OTEL_METRIC_EXPORT_INTERVAL", "100");
    let start = |variables: &[(&str, &str)]| {
        let surroundings = Surroundings { variables, dataset: Some(dataset.address.port()), ..Surroundings::default() };
        Workerd::start_with(&dist, &surroundings).unwrap_or_else(|said| panic!("{said}"))
    };
    let workerd = start(&[often]);
    adds(&workerd);
    // A point of workerd's own dataset is a request. Texts are lists of their bytes in it.
    let has = |body: &str, part: &str| body.contains(&format!(":{:?}", part.as_bytes()).replace(", ", ","));
    let points = |parts: &[&str]| dataset.received().iter().filter(|point| parts.iter().all(|part| has(&point.body, part))).count();
    let of_call = ["mcp.server.operation.duration", "mcp.method.name=tools/call", "gen_ai.tool.name=add", "millrace.outcome=ok"];
    wait_for(|| points(&of_call) == 1);
    wait_for(|| points(&["http.server.request.duration", "http.response.status_code=200"]) > 0);
    // What else the Worker fetches goes where it went.
    let answer = workerd.send(&Exchange::parse(&format!("CALL ask {{\"url\": \"http://{}/\"}}", collector.address)));
    assert!(answer.contains("\"text\":\"200\""), "{answer}");
    wait_for(|| points(&["mcp.server.operation.duration", "gen_ai.tool.name=ask"]) == 1);
    assert_eq!(points(&of_call), 1, "a point is written once");
    assert!(!workerd.log().contains("cannot be exported"), "{}", workerd.log());
    drop(workerd);
    // A collector that is named gets them instead.
    let (before, asked) = (dataset.received().len(), collector.received().len());
    let workerd = start(&[often, (ENDPOINT, &format!("http://{}", collector.address)), ("OTEL_TRACES_EXPORTER", "none")]);
    adds(&workerd);
    wait_for(|| collector.received().len() > asked);
    assert!(collector.received()[asked].body.contains("mcp.server.operation.duration"));
    assert_eq!(dataset.received().len(), before);
}
