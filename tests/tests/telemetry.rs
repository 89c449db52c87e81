//! Traces of the real process and of the Worker, read by OpenTelemetry's own definitions, and
//! collectors that misbehave.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use millrace_core::Json;
use millrace_tests::{
    Group,
    case::Exchange,
    collector::Collector,
    groups,
    local::{Host, binary},
    scripted::{Reply, Scripted},
};

pub(crate) mod exported;
mod levels;
mod metrics;
mod prometheus;
mod worker;

/// How long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_secs(60);
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
/// The stages of a database tool.
const STAGES: [&str; 4] = ["resolve", "validate", "execute", "serialize"];
/// The stages of a tool with a handler.
const OF_HANDLER: [&str; 5] = ["resolve", "context", "validate", "execute", "serialize"];

fn at(endpoint: &str) -> Vec<(String, String)> {
    env(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)])
}

fn env(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn group(name: &str) -> Group {
    groups().into_iter().find(|group| group.name == name).unwrap()
}

/// A group's app, served with more variables; its log is in the folder's `stderr.log`.
fn served(group: &Group, more: &[(String, String)]) -> (Host, tempfile::TempDir) {
    let folder = group.install();
    let variables: Vec<(String, String)> = group.env.iter().chain(more).cloned().collect();
    let log = folder.path().join("stderr.log");
    (Host::dev_logging(folder.path(), &variables, "warn", &log), folder)
}

/// The call's span of that name.
fn call<'a>(spans: &'a [Json], name: &str) -> &'a Json {
    let found: Vec<&Json> = spans.iter().filter(|span| span["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name} in {spans:#?}");
    found[0]
}

fn children<'a>(spans: &'a [Json], parent: &Json) -> Vec<&'a Json> {
    spans.iter().filter(|span| span["parent"] == parent["id"]).collect()
}

#[test]
fn a_call_is_a_tree_of_spans_below_its_callers() {
    let collector = Collector::start();
    let (host, _folder) = served(&group("cache"), &described(&collector));
    is_a_tree(&collector, "sqlite", |request| host.send(request));
}

/// The variables for a collector that has a key, and hears where the app runs.
fn described(collector: &Collector) -> Vec<(String, String)> {
    let mut variables = collector.env();
    variables.extend(env(&[
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=collector%20key"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
    ]));
    variables
}

/// Calls the app of the group `cache`, which was served with variables that [`described`] gives,
/// and looks at the traces.
fn is_a_tree(collector: &Collector, system: &str, send: impl Fn(&Exchange) -> String) {
    let header = format!("traceparent: 00-{TRACE}-b7ad6b7169203331-01\ntracestate: vendor=value,other=1");
    let _ = send(&Exchange::parse(&format!("CALL read {{\"id\": 2}}\n{header}")));
    let spans = collector.after(1);
    let root = call(&spans, "tools/call read");
    assert_eq!((&root["trace"], &root["parent"]), (&Json::from(TRACE), &Json::from("b7ad6b7169203331")));
    assert_eq!((&root["kind"], &root["status"], &root["state"]), (&2.into(), &0.into(), &"vendor=value,other=1".into()));
    let attributes = serde_json::json!({
        "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "mcp.protocol.version": "2025-06-18",
    });
    assert_eq!(root["attributes"], attributes);
    assert_eq!(root["resource"]["service.name"], "cache");
    assert_eq!(root["resource"]["deployment.environment.name"], "test");
    assert_eq!(root["headers"]["api-key"], "collector key");
    let stages = children(&spans, root);
    let mut names: Vec<&str> = stages.iter().filter_map(|span| span["name"].as_str()).collect();
    names.sort_by_key(|name| STAGES.iter().position(|stage| stage == name));
    assert_eq!(names, STAGES);
    for stage in &stages {
        assert_eq!((&stage["trace"], &stage["kind"], &stage["status"]), (&Json::from(TRACE), &1.into(), &0.into()));
        let [start, end] = ["start", "end"].map(|name| stage[name].as_u64().unwrap());
        let [first, last] = ["start", "end"].map(|name| root[name].as_u64().unwrap());
        assert!(first <= start && start <= end && end <= last && first > 1_700_000_000_000_000_000, "{stage} in {root}");
    }
    let execute = stages.iter().find(|span| span["name"] == "execute").unwrap();
    assert_eq!(
        execute["attributes"],
        serde_json::json!({ "millrace.cache.hit": false, "db.system.name": system, "millrace.adapter": "main" })
    );

    // `_meta` wins over the header field; what its caller does not sample is not exported.
    let mut modern = Exchange::parse(&format!("MODERN read {{\"id\": 2}}\n{header}"));
    modern.body =
        modern.body.replace("\"_meta\":{", "\"_meta\":{\"traceparent\":\"00-11111111111111111111111111111111-2222222222222222-01\",");
    let _ = send(&modern);
    let _ = send(&Exchange::parse(&format!("CALL read-fresh\ntraceparent: 00-{TRACE}-b7ad6b7169203331-00")));
    let _ = send(&Exchange::parse("CALL bump"));
    let spans = collector.after(3);
    let joined: Vec<&Json> = spans.iter().filter(|span| span["trace"] == "1".repeat(32) && span["kind"] == 2).collect();
    assert_eq!((joined.len(), &joined[0]["parent"], &joined[0]["state"]), (1, &Json::from("2".repeat(16)), &"".into()));
    let execute = children(&spans, joined[0]).into_iter().find(|span| span["name"] == "execute").unwrap();
    let hit = serde_json::json!({ "millrace.cache.hit": true, "db.system.name": system, "millrace.adapter": "main" });
    assert_eq!(execute["attributes"], hit, "a hit says what was asked for, too");
    assert!(spans.iter().all(|span| span["name"] != "tools/call read-fresh"), "{spans:#?}");
    assert_eq!(call(&spans, "tools/call bump")["parent"], "");
}

#[test]
fn a_failure_has_its_code_and_is_an_error_where_its_caller_cannot_mend_it() {
    let collector = Collector::start();
    let (host, _folder) = served(&group("faults"), &collector.env());
    failures_are_told(&collector, |request| host.send(request));
}

/// Calls the app of the group `faults`, and looks at the traces.
fn failures_are_told(collector: &Collector, send: impl Fn(&Exchange) -> String) {
    let calls = [
        "wants-int {\"n\": \"hidden-input\"}",
        "bad-query",
        "locked\nx-api-key: hidden-key",
        "no-such-hidden-tool",
        "r-bad",
        "r-warning",
        "throws",
        "s-pending",
    ];
    for request in calls {
        let _ = send(&Exchange::parse(&format!("CALL {request}")));
    }
    let spans = collector.after(calls.len());
    let expected = [
        ("tools/call wants-int", "VALIDATION_ERROR", "validate", 0),
        ("tools/call bad-query", "QUERY_INVALID", "execute", 2),
        ("tools/call locked", "UNAUTHORIZED", "authenticate", 0),
        ("tools/call", "TOOL_NOT_FOUND", "resolve", 0),
        ("tools/call r-bad", "ERROR", "execute", 0),
        ("tools/call throws", "SCRIPT_ERROR", "execute", 2),
        ("tools/call s-pending", "SCRIPT_NEVER_SETTLES", "execute", 2),
    ];
    for (name, code, stage, status) in expected {
        let span = call(&spans, name);
        assert_eq!((&span["attributes"]["error.type"], &span["status"]), (&Json::from(code), &status.into()), "{span}");
        assert_eq!(span["attributes"].get("millrace.stage").and_then(Json::as_str).unwrap_or_default(), stage, "{span}");
        assert_eq!(span["message"], "");
    }
    let text = collector.written_since(0);
    assert!(!text.contains("hidden"), "{text}");
}

#[test]
fn a_script_that_asks_a_database_says_which_at_every_call() {
    let collector = Collector::start();
    let (host, _folder) = served(&group("scripts"), &collector.env());
    for _ in 0..2 {
        let _ = host.send(&Exchange::parse("CALL db {\"s\": \"a\"}"));
    }
    let spans = collector.after(2);
    let asked: Vec<&Json> = spans.iter().filter(|span| span["name"] == "execute").map(|span| &span["attributes"]).collect();
    assert_eq!(asked.len(), 2, "{spans:#?}");
    for attributes in asked {
        assert_eq!((&attributes["db.system.name"], &attributes["millrace.adapter"]), (&"sqlite".into(), &"main".into()), "{attributes}");
    }
}

#[test]
fn a_tool_behind_a_prompt_is_traced_under_the_method_that_was_asked() {
    let collector = Collector::start();
    let features = group("features");
    let (host, _folder) = served(&features, &collector.env());
    let case = features.cases.iter().find(|case| case.name == "prompts").unwrap();
    let request = case.requests.iter().find(|request| request.body.contains("\"prompts/get\"")).unwrap();
    let _ = host.send(request);
    let spans = collector.after(1);
    let root = spans.iter().find(|span| span["kind"] == 2).unwrap();
    let tool = root["attributes"]["gen_ai.tool.name"].as_str().unwrap();
    assert_eq!((&root["name"], &root["attributes"]["mcp.method.name"]), (&format!("prompts/get {tool}").into(), &"prompts/get".into()));
}

#[test]
fn a_collector_that_is_down_slow_or_refuses_costs_no_call_anything() {
    let refusing = Scripted::with(vec![Reply::Whole(503, "text/plain", "later".to_owned())]);
    let broken = Scripted::with(vec![Reply::Raw(b"")]);
    let silent = Scripted::with(vec![Reply::Silence]);
    let table = [
        (refusing.address.port(), "the collector answered with status 503"),
        (broken.address.port(), "closed the connection"),
        (1, "could not connect to"),
        (silent.address.port(), "not answered before its deadline"),
    ];
    for (port, warning) in table {
        let mut variables = at(&format!("http://127.0.0.1:{port}"));
        variables.extend(env(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "1000")]));
        let (host, folder) = served(&group("cache"), &variables);
        for _ in 0..50 {
            let answer = host.send(&Exchange::parse("CALL read-fresh"));
            assert!(answer.starts_with("HTTP 200") && answer.contains(r#"[{\"v\":0}]"#), "{answer}");
        }
        let started = Instant::now();
        loop {
            let log = fs::read_to_string(folder.path().join("stderr.log")).unwrap();
            if log.contains("traces cannot be exported") {
                assert!(log.contains(warning), "{log}");
                break;
            }
            assert!(started.elapsed() < PATIENCE, "{warning} is not logged");
            millrace_tests::wait::moment();
        }
    }
}

#[test]
fn nothing_is_sent_where_nobody_asks_and_a_wrong_variable_stops_the_start() {
    let collector = Scripted::with(vec![Reply::Whole(200, "application/json", "{}".to_owned())]);
    let endpoint = format!("http://{}", collector.address);
    let off = env(&[("OTEL_SDK_DISABLED", "true")]);
    let never = env(&[("OTEL_TRACES_SAMPLER", "always_off"), ("OTEL_METRICS_EXPORTER", "none"), ("OTEL_LOGS_EXPORTER", "none")]);
    for more in [off, never] {
        let variables: Vec<_> = at(&endpoint).into_iter().chain(more).collect();
        let (host, _folder) = served(&group("cache"), &variables);
        let _ = host.send(&Exchange::parse("CALL read"));
    }
    let folder = group("cache").install();
    let settings = folder.path().join("millrace.yaml");
    fs::write(&settings, fs::read_to_string(&settings).unwrap() + "\ntelemetry: { enabled: false }\n").unwrap();
    let host = Host::dev(folder.path(), &at(&endpoint));
    let _ = host.send(&Exchange::parse("CALL read"));
    drop(host);
    assert!(collector.received().is_empty());

    let cases = [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "thrift", "asks for a protocol that Millrace does not speak here; it speaks `http/protobuf`"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2", "is not a list"),
        ("MILLRACE_CACHE", "redis://:hunter2@a/b", "does not work: the address of a Redis server has a database that is not a number"),
        ("MILLRACE_CACHE", "hunter2", "does not work: use `memory`"),
    ];
    let folder = group("cache").install();
    for (name, value, expected) in cases {
        let mut command = Command::new(binary());
        command.arg("dev").arg(folder.path()).args(["--port", "0"]).env_clear().envs(at(&endpoint)).env(name, value);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(&format!("the variable `{name}` {expected}")), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}
