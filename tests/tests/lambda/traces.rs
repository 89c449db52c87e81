//! Traces of a function: at the collector before the environment can freeze, and never waited for
//! by a caller.

use std::{
    fs,
    sync::{Mutex, mpsc},
};

use millrace_core::Json;
use millrace_tests::{
    case::root,
    collector::Collector,
    docs::{blocks, shell, text},
    lambda::{Front, Function},
    scripted::{Reply, Scripted},
};

use super::{call, sample};

#[test]
fn traces_are_sent_before_the_next_invocation_is_asked_for() {
    let collector = Collector::start();
    let (_folder, package) = sample();
    let function = Function::start(&package, &collector.env());
    for turn in 1..=5 {
        let answer = function.send(Front::Url, &call("get-user", r#"{"id":42}"#));
        assert!(answer.contains("Alan Allen"), "{answer}");
        function.api().wait_for_next(turn + 1);
        // Now it could freeze. Nobody waits here: what is not there by now would be late or lost.
        let spans = collector.spans();
        let calls: Vec<&Json> = spans.iter().filter(|span| span["name"] == "tools/call get-user").collect();
        assert_eq!(calls.len(), turn, "{spans:#?}");
        assert_eq!(collector.total("mcp.server.operation.duration", &[("gen_ai.tool.name", "get-user")]), turn as i64);
        let mut stages: Vec<&str> =
            spans.iter().filter(|span| span["parent"] == calls[turn - 1]["id"]).filter_map(|span| span["name"].as_str()).collect();
        stages.sort_unstable();
        assert_eq!(stages, ["execute", "map_output", "resolve", "serialize", "validate"], "{spans:#?}");
    }
}

#[test]
fn metrics_are_lines_for_cloudwatch_where_it_is_asked_for() {
    let (folder, package) = sample();
    let output = folder.path().join("output");
    // As the page sets it.
    let page = fs::read_to_string(root().join("docs/telemetry.md")).unwrap();
    let (_, line) = blocks(&page).into_iter().find(|(_, body)| body.starts_with("export OTEL_METRICS_EXPORTER")).unwrap();
    let set = shell(folder.path(), &format!("{line}printf '%s' \"$OTEL_METRICS_EXPORTER\""));
    let env = [("OTEL_METRICS_EXPORTER".to_owned(), text(&set))];
    let function = Function::start_printing(&package, &env, fs::File::create(&output).unwrap().into());
    let answer = function.send(Front::Url, &call("get-user", r#"{"id":42}"#));
    assert!(answer.contains("Alan Allen"), "{answer}");
    function.api().wait_for_next(2);
    let text = fs::read_to_string(&output).unwrap();
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |metric: &str| lines.iter().filter(|line| line.get(metric).is_some()).collect::<Vec<_>>();
    let calls = of("mcp.server.operation.duration");
    assert_eq!(
        (calls.len(), &calls[0]["gen_ai.tool.name"], &calls[0]["millrace.outcome"]),
        (1, &"get-user".into(), &"ok".into()),
        "{text}"
    );
    assert_eq!((of("db.client.operation.duration").len(), of("http.server.request.duration").len()), (1, 1), "{text}");
    for line in &lines {
        let directive = &line["_aws"]["CloudWatchMetrics"][0];
        let metric = directive["Metrics"][0]["Name"].as_str().unwrap();
        assert!(directive["Namespace"] == "Millrace" && line[metric].is_number() && line["service.name"].is_string(), "{line}");
        let dimensions = directive["Dimensions"][0].as_array().unwrap();
        assert!(dimensions.iter().all(|name| line[name.as_str().unwrap()].is_string()), "{line}");
    }
}

#[test]
fn a_caller_does_not_wait_for_the_collector() {
    let (open, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    // It answers when the test lets it.
    let collector = Scripted::start(move |_, _| {
        gate.lock().unwrap().recv().unwrap();
        Reply::Whole(200, "application/json", "{}".to_owned())
    });
    let env = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", collector.address)),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "120000".to_owned()),
        ("OTEL_METRICS_EXPORTER", "none".to_owned()),
    ];
    let (_folder, package) = sample();
    let function = Function::start(&package, &env.map(|(name, value)| (name.to_owned(), value)));
    let event = Front::Url.event(&call("get-user", r#"{"id":42}"#));
    for turn in 1..=3 {
        let outcome = function.begin(&event, std::time::Duration::from_secs(600)).recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        let answer = Front::Url.answer(&call("get-user", r#"{"id":42}"#), outcome);
        assert!(answer.contains("Alan Allen"), "{answer}");
        assert_eq!(function.api().asked(), turn, "the environment could freeze with its traces unsent");
        open.send(()).unwrap();
        function.api().wait_for_next(turn + 1);
        assert_eq!(collector.received().len(), turn);
    }
}
