//! Traces of a function: at the collector before the environment can freeze, and never waited for
//! by a caller.

use std::sync::{Mutex, mpsc};

use millrace_core::Json;
use millrace_tests::{
    collector::Collector,
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
