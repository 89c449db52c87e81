//! Metrics and log lines of real processes, as a collector's own definitions read them, compared
//! with what was called.

use std::{collections::BTreeSet, fs, process::Command, thread};

use millrace_core::Json;
use millrace_telemetry::metrics::METRICS;
use millrace_tests::{
    Exchange, Group,
    collector::Collector,
    is_everything_selected, lambda,
    lambda::{Front, Function},
    local,
    local::Host,
    sample, selected_groups, wait, worker,
};

use super::{env, group, served};

/// What is called of the group `faults`, and what each call comes to: tool, outcome, code.
const CALLS: [(&str, &str, &str, &str); 7] = [
    ("wants-int {\"n\": \"hidden-input\"}", "wants-int", "error", "VALIDATION_ERROR"),
    ("bad-query", "bad-query", "error", "QUERY_INVALID"),
    ("locked\nx-api-key: hidden-key", "locked", "error", "UNAUTHORIZED"),
    ("no-such-hidden-tool", "_OTHER", "error", "TOOL_NOT_FOUND"),
    ("r-bad", "r-bad", "error", "ERROR"),
    ("r-warning", "r-warning", "warning", ""),
    ("throws", "throws", "error", "SCRIPT_ERROR"),
];
const OPERATIONS: &str = "mcp.server.operation.duration";

/// Calls all of [`CALLS`], and waits until the collector has heard of them.
fn call_all(collector: &Collector, send: impl Fn(&Exchange) -> String) {
    for (request, ..) in CALLS {
        let _ = send(&Exchange::parse(&format!("CALL {request}")));
    }
    wait::until("the calls are not measured", || collector.total(OPERATIONS, &[]) >= CALLS.len() as i64);
    wait::until("not all that began has ended", || collector.total("millrace.calls.active", &[]) == 0);
}

/// What is counted of [`CALLS`], whatever the host: metric, labels and number, in order.
fn counted(collector: &Collector) -> Vec<String> {
    let name = |point: &Json| point["metric"].as_str().unwrap().to_owned();
    let everywhere = |point: &&Json| METRICS.iter().any(|about| about.name == name(point) && about.metric.is_everywhere());
    let mut series: Vec<(String, String)> =
        collector.metrics().iter().filter(everywhere).map(|point| (name(point), point["attributes"].to_string())).collect();
    series.sort();
    series.dedup();
    let total = |(metric, attributes): &(String, String)| {
        let labels: Json = serde_json::from_str(attributes).unwrap();
        let labels: Vec<(String, String)> = labels
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().map_or(value.to_string(), str::to_owned)))
            .collect();
        let points = collector.metrics();
        let attributes: Json = serde_json::from_str(attributes).unwrap();
        let has = |point: &&Json| point["metric"] == metric.as_str() && point["attributes"] == attributes;
        let last = points.iter().rfind(has).unwrap();
        let is_delta = last["temporality"] == 1;
        let value = |point: &Json| if point["count"].is_null() { point["value"].as_i64() } else { point["count"].as_i64() }.unwrap();
        let number: i64 = if is_delta { points.iter().filter(has).map(value).sum() } else { value(last) };
        format!("{metric} {labels:?} {number}")
    };
    // A database's name is the host's: D1 in a Worker.
    series.iter().map(total).map(|line| line.replace("cloudflare.d1", "sqlite")).collect()
}

/// The labels are as the calls were, and no value of a caller is among them.
fn looks_right(collector: &Collector) {
    for (_, tool, outcome, code) in CALLS {
        let mut labels = vec![("mcp.method.name", "tools/call"), ("gen_ai.tool.name", tool), ("millrace.outcome", outcome)];
        labels.extend((!code.is_empty()).then_some(("error.type", code)));
        assert_eq!(collector.total(OPERATIONS, &labels), 1, "{tool} in {:#?}", collector.metrics());
    }
    assert_eq!(collector.total("millrace.failures", &[("millrace.stage", "authenticate"), ("error.type", "UNAUTHORIZED")]), 1);
    assert_eq!(collector.total("millrace.stage.duration", &[("millrace.stage", "resolve")]), CALLS.len() as i64);
    let text: String = collector.metrics().iter().map(|point| format!("{point}\n")).collect();
    assert!(!text.contains("hidden"), "{text}");
    // What is true at a moment has no time before.
    for point in collector.metrics().into_iter().filter(|point| point["kind"] != "gauge") {
        assert!(point["start"].as_u64() <= point["end"].as_u64() && point["start"].as_u64() > Some(1_700_000_000_000_000_000), "{point}");
        assert_eq!(point["resource"]["service.name"], "faults");
    }
}

#[test]
fn every_host_counts_the_same() {
    let faults = group("faults");
    let often = |collector: &Collector| -> Vec<(String, String)> { faults.env.iter().cloned().chain(collector.env()).collect() };
    let local = Collector::start();
    let folder = faults.install();
    let host = Host::dev(folder.path(), &often(&local));
    call_all(&local, |request| host.send(request));
    looks_right(&local);

    let collector = Collector::start();
    let package = lambda::build(folder.path());
    let function = Function::start(&package, &often(&collector));
    call_all(&collector, |request| function.send(Front::Url, request));
    looks_right(&collector);
    assert_eq!(counted(&collector), counted(&local), "on Lambda");

    let collector = Collector::start();
    let (worker, _folder) = worker::served(&faults, &collector.env());
    call_all(&collector, |request| worker.send(request));
    looks_right(&collector);
    assert_eq!(counted(&collector), counted(&local), "in a Worker");
    let exemplars = |point: &Json| point["exemplars"].as_array().map_or(0, Vec::len);
    assert!(collector.metrics().iter().any(|point| exemplars(point) == 1), "no point names a trace");
}

/// Waits until what a host has measured of so many requests was exported, and gives it.
fn settled(collector: &Collector, requests: usize) -> Vec<String> {
    let ends = || collector.metrics().iter().map(|point| point["end"].as_u64().unwrap_or_default()).collect::<BTreeSet<u64>>();
    wait::until("the requests are not measured", || collector.total("http.server.request.duration", &[]) >= requests as i64);
    wait::until("not all that began has ended", || collector.total("millrace.calls.active", &[]) == 0);
    // What ended after the answer is in one of the next two exports.
    let last = ends().into_iter().next_back();
    wait::until("nothing more is exported", || ends().into_iter().filter(|end| Some(*end) > last).count() > 2);
    counted(collector)
}

#[test]
fn the_corpus_is_counted_the_same_on_every_host() {
    // Where answers differ, so may what is counted.
    let is_alike = |group: &Group| group.cases.iter().all(|case| case.is_alike_on("lambda") && case.is_alike_on("worker"));
    let groups: Vec<Group> = selected_groups().into_iter().filter(is_alike).collect();
    let mut series = 0;
    for group in sample(groups, 20) {
        let requests = group.cases.iter().map(|case| case.requests.len()).sum();
        let mut expected = Vec::new();
        let collector = Collector::start();
        let _ = local::run_logging(&group, &collector.env(), |_, _| expected = settled(&collector, requests));
        series += expected.len();
        let same = |host: &str, collector: &Collector| {
            let only = |some: &[String], others: &[String]| some.iter().filter(|line| !others.contains(line)).cloned().collect::<Vec<_>>();
            let differs = || {
                let found = counted(collector);
                format!("`{}` {host}: {:#?} in place of {:#?}", group.name, only(&found, &expected), only(&expected, &found))
            };
            wait::until_else(differs, || counted(collector) == expected);
        };
        let send =
            |send: &dyn Fn(&Exchange) -> String| group.cases.iter().flat_map(|case| &case.requests).for_each(|request| drop(send(request)));

        let collector = Collector::start();
        let folder = group.install();
        let env: Vec<(String, String)> = group.env.iter().cloned().chain(collector.env()).collect();
        let function = Function::start(&lambda::build_with(folder.path(), &group.env), &env);
        send(&|request| function.send(Front::Url, request));
        same("on Lambda", &collector);

        let collector = Collector::start();
        let (worker, _folder) = worker::served(&group, &collector.env());
        send(&|request| worker.send(request));
        same("in a Worker", &collector);
    }
    assert!(series > 20 || !is_everything_selected(), "only {series} series");
}

#[test]
fn every_protocol_brings_all_three_signals() {
    let ways: [&[(&str, &str)]; 3] = [
        &[("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")],
        &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"), ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta")],
        &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=collector%20key")],
    ];
    for more in ways {
        let is_grpc = more[0].1 == "grpc";
        let collector = if is_grpc { Collector::grpc() } else { Collector::start() };
        let variables: Vec<(String, String)> = collector.env().into_iter().chain(env(more)).collect();
        let (host, _folder) = served(&group("faults"), &variables);
        call_all(&collector, |request| host.send(request));
        looks_right(&collector);
        let spans = collector.after(CALLS.len());
        assert_eq!(spans.iter().filter(|span| span["kind"] == 2).count(), CALLS.len());
        // The log is at level `warn` here.
        wait::until("no line is exported", || collector.logs().len() >= 2);
        let logs = collector.logs();
        let line = logs.iter().find(|line| line["attributes"]["code"] == "SCRIPT_ERROR").unwrap();
        assert_eq!((&line["body"], &line["severity"]), (&"call failed".into(), &"WARN".into()), "{line}");
        let span = spans.iter().find(|span| span["name"] == "tools/call throws").unwrap();
        assert_eq!(line["trace"], span["trace"], "a line belongs to the trace of its call");
        if is_grpc {
            assert_eq!(span["headers"]["api-key"], "collector key", "{span}");
        }
    }
}

#[test]
fn nothing_is_lost_while_a_collector_is_down_nor_at_the_end() {
    let collector = Collector::start();
    let folder = group("cache").install();
    let log = folder.path().join("stderr.log");
    let variables: Vec<(String, String)> = group("cache").env.iter().cloned().chain(collector.env()).collect();
    let host = Host::dev_logging(folder.path(), &variables, "warn", &log);
    let all = if is_all() { 100_000 } else { 2_000 };
    let call = |calls: usize| {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..calls / 4).for_each(|_| assert!(host.send(&Exchange::parse("CALL read")).starts_with("HTTP 200"))));
            }
        });
    };
    call(all / 2);
    collector.be_down(true);
    call(all / 4);
    let said = || fs::read_to_string(&log).unwrap();
    wait::until("nobody says that the collector is down", || said().contains("metrics cannot be exported now"));
    collector.be_down(false);
    call(all / 4);
    // Told to end, and not after the time that a batch waits.
    assert!(Command::new("kill").args(["-TERM", &host.pid().to_string()]).status().unwrap().success());
    wait::until("not all calls are counted", || collector.total(OPERATIONS, &[]) == all as i64);
    assert_eq!(collector.total("millrace.cache.lookups", &[]), all as i64);
}

fn is_all() -> bool {
    std::env::var("MILLRACE_TESTS").is_ok_and(|tests| tests == "all") && is_everything_selected()
}
