//! Metrics and log lines of real processes, as a collector's own definitions read them, compared
//! with what was called.

use std::{cell::RefCell, fs, process::Command, thread, time::Instant};

use millrace_core::Json;
use millrace_telemetry::metrics::METRICS;
use millrace_tests::{
    Exchange, Group,
    collector::{Collector, Series, word},
    is_everything_selected, lambda,
    lambda::{Front, Function},
    local,
    local::Host,
    process::children,
    sample, selected_groups, wait, worker, workers,
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
/// What may wait to be sent, in KB.
const MOST_WAITING_KB: u64 = 24_000;
const OPERATIONS: &str = "mcp.server.operation.duration";

/// Calls all of [`CALLS`], and waits until the collector has heard of them.
fn call_all(collector: &Collector, send: impl Fn(&Exchange) -> String) {
    for (request, ..) in CALLS {
        let _ = send(&Exchange::parse(&format!("CALL {request}")));
    }
    wait::until("the calls are not measured", || collector.total(OPERATIONS, &[]) >= CALLS.len() as i64);
    wait::until("not all that began has ended", || collector.total("millrace.calls.active", &[]) == 0);
}

/// What is counted of a service, whatever the host: metric, labels and number, in order.
fn counted(collector: &Collector, service: &str) -> Vec<String> {
    let is_everywhere = |name: &str| METRICS.iter().any(|about| about.name == name && about.metric.is_everywhere());
    let line = |series: &Series| {
        let labels = series.labels.as_object().unwrap().iter().map(|(name, value)| (name, word(value)));
        let labels: Vec<(&String, String)> = labels.collect();
        // A database's name is the host's: D1 in a Worker.
        format!("{} {labels:?} {}", series.metric, series.number).replace("cloudflare.d1", "sqlite")
    };
    let mut lines: Vec<String> =
        collector.series().iter().filter(|series| series.service == service && is_everywhere(&series.metric)).map(line).collect();
    lines.sort();
    lines
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
    assert_eq!(counted(&collector, "faults"), counted(&local, "faults"), "on Lambda");

    let collector = Collector::start();
    let (worker, _folder) = worker::served(&faults, &collector.env());
    call_all(&collector, |request| worker.send(request));
    looks_right(&collector);
    assert_eq!(counted(&collector, "faults"), counted(&local, "faults"), "in a Worker");
    let exemplars = |point: &Json| point["exemplars"].as_array().map_or(0, Vec::len);
    assert!(collector.metrics().iter().any(|point| exemplars(point) == 1), "no point names a trace");
}

/// The variables that have the metrics of a group sent to a collector, under the group's name.
fn measured(collector: &Collector, group: &Group) -> Vec<(String, String)> {
    let more = env(&[("OTEL_SERVICE_NAME", group.name.as_str()), ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_LOGS_EXPORTER", "none")]);
    collector.env().into_iter().chain(more).collect()
}

/// A group, and what every host has to count of it.
struct Measured {
    group: Group,
    lines: Vec<String>,
}

/// What this machine counts of groups.
fn on_this_machine(groups: Vec<Group>) -> Vec<Measured> {
    let collector = Collector::start();
    let lines = workers::at_a_time(&groups, |group| {
        let requests: usize = group.cases.iter().map(|case| case.requests.len()).sum();
        // All of it comes at the end, once.
        let seldom = env(&[("OTEL_METRIC_EXPORT_INTERVAL", "3600000")]);
        let variables: Vec<_> = measured(&collector, group).into_iter().chain(seldom).collect();
        let _ = local::run_logging(group, &variables, |host, _| {
            assert!(Command::new("kill").args(["-TERM", &host.pid().to_string()]).status().unwrap().success());
            let is_of_requests = |series: &Series| series.service == group.name && series.metric == "http.server.request.duration";
            let count = || collector.series().iter().filter(|series| is_of_requests(series)).map(|series| series.number).sum::<i64>();
            wait::until_else(
                || format!("{} of {requests} requests of `{}` are measured", count(), group.name),
                || count() >= requests as i64,
            );
        });
        counted(&collector, &group.name)
    });
    groups.into_iter().zip(lines).map(|(group, lines)| Measured { group, lines }).collect()
}

/// What is counted in a Worker alone, by the group. Of two queries in `Promise.race`, the one that
/// loses is on its way to D1; in the embedded SQLite it has not begun.
const IN_WORKERS_ALONE: [(&str, &str); 1] = [(
    "returned",
    "db.client.operation.duration [(\"db.system.name\", \"sqlite\"), (\"error.type\", \"cancelled\"), (\"millrace.adapter\", \"main\")] 1",
)];

/// How what a host counts of groups differs from what this machine did, once it does not any more
/// or has had its time.
fn differences(host: &str, collector: &Collector, groups: &[&Measured]) -> Vec<String> {
    let _ = wait::comes(|| groups.iter().all(|expected| counted(collector, &expected.group.name) == expected.lines));
    let difference = |expected: &&Measured| {
        let found = counted(collector, &expected.group.name);
        let only = |some: &[String], others: &[String]| some.iter().filter(|line| !others.contains(line)).cloned().collect::<Vec<_>>();
        let (more, less) = (only(&found, &expected.lines), only(&expected.lines, &found));
        (found != expected.lines).then(|| format!("`{}` {host}: {more:#?} in place of {less:#?}", expected.group.name))
    };
    groups.iter().filter_map(difference).collect()
}

fn on_lambda(groups: &[Measured]) -> Vec<String> {
    let collector = Collector::start();
    let found = workers::at_a_time(groups, |expected| {
        let group = &expected.group;
        let folder = group.install();
        let only_new = env(&[("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta")]);
        let variables: Vec<_> = group.env.iter().cloned().chain(measured(&collector, group)).chain(only_new).collect();
        let function = Function::start(&lambda::build_with(folder.path(), &group.env), &variables);
        group.cases.iter().flat_map(|case| &case.requests).for_each(|request| drop(function.send(Front::Url, request)));
        differences("on Lambda", &collector, &[expected])
    });
    found.concat()
}

fn in_workers(mut groups: Vec<Measured>) -> Vec<String> {
    let collector = Collector::start();
    for expected in &mut groups {
        let alone = IN_WORKERS_ALONE.iter().filter(|(group, _)| *group == expected.group.name);
        expected.lines.extend(alone.map(|(_, line)| (*line).to_owned()));
        expected.lines.sort();
    }
    let (apps, all): (Vec<&Group>, Vec<&Measured>) = groups.iter().map(|expected| (&expected.group, expected)).unzip();
    let found = RefCell::new(Vec::new());
    let more = |group: &Group| measured(&collector, group);
    let _ = workers::run_with("worker", &apps, more, |_| {
        found.replace(differences("in a Worker", &collector, &all));
        true
    });
    found.into_inner()
}

#[test]
fn the_corpus_is_counted_the_same_on_every_host() {
    // Where answers differ, so may what is counted.
    let is_alike = |group: &Group| group.cases.iter().all(|case| case.is_alike_on("lambda") && case.is_alike_on("worker"));
    let groups: Vec<Group> = sample(selected_groups().into_iter().filter(is_alike).collect(), 20);
    let began = Instant::now();
    let expected = on_this_machine(groups);
    let here = began.elapsed();
    let (count, series) = (expected.len(), expected.iter().map(|expected| expected.lines.len()).sum::<usize>());
    let mut differences = on_lambda(&expected);
    let there = began.elapsed();
    differences.extend(in_workers(expected));
    let workers = began.elapsed();
    println!("{count} groups, {series} series: after {here:?} here, {there:?} on Lambda, {workers:?} in Workers");
    assert!(differences.is_empty(), "{} of {count} groups differ\n{}", differences.len(), differences.join("\n"));
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

/// What the isolates of a server have in memory, in KB: heap and stacks, no files.
fn memory_kb(host: &Host) -> u64 {
    let of = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    children(host.pid()).iter().map(of).sum()
}

#[test]
fn nothing_is_lost_while_a_collector_is_slow_or_down_nor_at_the_end() {
    let collector = Collector::start();
    let folder = group("cache").install();
    let log = folder.path().join("stderr.log");
    let variables: Vec<(String, String)> = group("cache").env.iter().cloned().chain(collector.env()).collect();
    let host = Host::dev_logging(folder.path(), &variables, "warn", &log);
    let all = if is_all() { 100_000 } else { 2_000 };
    let mut memory = Vec::new();
    let mut call = |calls: usize| {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..calls / 4).for_each(|_| assert!(host.send(&Exchange::parse("CALL read")).starts_with("HTTP 200"))));
            }
        });
        memory.push(memory_kb(&host));
    };
    call(all / 4);
    collector.be_slow(true);
    call(all / 4);
    collector.be_slow(false);
    collector.be_down(true);
    call(all / 4);
    let said = || fs::read_to_string(&log).unwrap();
    wait::until("nobody says that the collector is down", || said().contains("metrics cannot be exported now"));
    collector.be_down(false);
    call(all / 4);
    println!("memory in KB after each quarter of {all} calls: {memory:?}");
    // What waits for a collector that is slow or down has a limit: 8,192 spans and 2,048 lines.
    let most = memory[0] + MOST_WAITING_KB;
    assert!(memory.iter().all(|kb| *kb <= most), "{memory:?}");
    // Told to end, and not after the time that a batch waits.
    assert!(Command::new("kill").args(["-TERM", &host.pid().to_string()]).status().unwrap().success());
    wait::until("not all calls are counted", || collector.total(OPERATIONS, &[]) == all as i64);
    assert_eq!(collector.total("millrace.cache.lookups", &[]), all as i64);
}

fn is_all() -> bool {
    std::env::var("MILLRACE_TESTS").is_ok_and(|tests| tests == "all") && is_everything_selected()
}
