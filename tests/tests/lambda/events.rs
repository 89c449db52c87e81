//! What comes in wrong, and what Lambda decides: time, concurrency, streams, a start that fails.

use std::{path::Path, time::Duration};

use millrace_tests::lambda::{self, Front, Function, Outcome};
use serde_json::{Value, json};

use super::{app, call, scripts};

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn error(outcome: Outcome) -> String {
    match outcome {
        Outcome::Error(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_front_end_is_answered_in_its_form() {
    let folder = scripts(&[("ok", "return 42;")]);
    let function = Function::start(&lambda::build(folder.path()), &[]);
    let answers = Front::ALL.map(|front| function.send(front, &call("ok", "{}")));
    assert!(answers[0].starts_with("HTTP 200\n") && answers[0].contains("\"text\":\"42\""), "{}", answers[0]);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[test]
fn what_is_no_request_is_an_error_and_the_function_goes_on() {
    let folder = scripts(&[("ok", "return 42;")]);
    let mut function = Function::start(&lambda::build(folder.path()), &[]);
    let not_http = [
        json!({}),
        json!(null),
        json!([1, 2]),
        json!({ "Records": [{ "eventSource": "aws:sqs", "body": "x" }] }),
        json!({ "version": "2.0", "rawPath": 7, "requestContext": { "http": { "method": "POST" } } }),
    ];
    for event in not_http {
        let told = error(function.invoke(&event));
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["errorType"], "Millrace.Event", "{event}");
        assert!(told["errorMessage"].as_str().unwrap().starts_with("the event is not from a function URL"), "{event}: {told}");
    }
    let ask = |change: &dyn Fn(&mut Value)| {
        let request = call("ok", "{}");
        let mut event = Front::Url.event(&request);
        change(&mut event);
        Front::Url.answer(&request, function.invoke(&event))
    };
    let broken = ask(&|event| event["isBase64Encoded"] = true.into());
    assert!(broken.starts_with("HTTP 400\n") && broken.contains("is not the base64 that its event says it is"), "{broken}");
    let empty = ask(&|event| event["body"] = Value::Null);
    assert!(empty.starts_with("HTTP 400\n") && empty.contains("-32700"), "{empty}");
    let binary = ask(&|event| {
        event["body"] = "/+8=".into();
        event["isBase64Encoded"] = true.into();
    });
    assert!(binary.starts_with("HTTP 400\n") && binary.contains("-32700"), "{binary}");
    let long = ask(&|event| event["body"] = "x".repeat(7 << 20).into());
    assert!(long.starts_with("HTTP 413\n") && long.contains("Content too large"), "{long}");
    let odd = ask(&|event| event["rawPath"] = "/a b\u{0}ü%zz".into());
    assert!(odd.starts_with("HTTP 404\n"), "{odd}");
    let staged = ask(&|event| {
        event["rawPath"] = "/prod/mcp".into();
        event["requestContext"]["stage"] = "prod".into();
    });
    assert!(staged.contains("\"text\":\"42\""), "{staged}");
    assert!(function.runs());
}

#[test]
fn a_call_ends_before_its_invocation_does() {
    let folder = scripts(&[("ok", "return 42;"), ("waits", "await new Promise((resolve) => setTimeout(resolve, 3_600_000)); return 1;")]);
    let function = Function::start(&lambda::build(folder.path()), &[]);
    let within = |tool: &str, seconds: u64| {
        let request = call(tool, "{}");
        Front::Url.answer(&request, function.invoke_within(&Front::Url.event(&request), Duration::from_secs(seconds)))
    };
    let waited = within("waits", 2);
    assert!(waited.contains("TIMEOUT") || waited.contains("deadline") || waited.contains("time"), "{waited}");
    assert!(within("ok", 60).contains("\"text\":\"42\""));
}

#[test]
fn with_managed_concurrency_several_invocations_run_at_once() {
    let folder = scripts(&[("ok", "return 42;"), ("waits", "await new Promise((resolve) => setTimeout(resolve, 300)); return 1;")]);
    let function = Function::start(&lambda::build(folder.path()), &variables(&[("AWS_LAMBDA_MAX_CONCURRENCY", "4")]));
    // Four ask at once, before any has got one.
    function.api().wait_for_next(4);
    let (slow, fast) = (call("waits", "{}"), call("ok", "{}"));
    let begun: Vec<_> = (0..3).map(|_| function.begin(&Front::Url.event(&slow), Duration::from_secs(30))).collect();
    for _ in 0..50 {
        assert!(function.send(Front::Url, &fast).contains("\"text\":\"42\""));
    }
    for outcome in begun {
        let outcome = outcome.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(Front::Url.answer(&slow, outcome).contains("\"text\":\"1\""));
    }
}

#[test]
fn answers_are_streamed_where_the_deployment_asks_for_it() {
    let folder = scripts(&[("ok", "return 42;")]);
    let package = lambda::build(folder.path());
    let function = Function::start(&package, &variables(&[("MILLRACE_RESPONSE", "stream")]));
    let outcome = function.invoke(&Front::Url.event(&call("ok", "{}")));
    let Outcome::Stream(chunks, kind) = outcome else { panic!("{outcome:?}") };
    assert_eq!(kind, "application/vnd.awslambda.http-integration-response");
    let bytes = chunks.concat();
    let end = bytes.windows(8).position(|eight| eight == [0; 8]).unwrap();
    let prelude: Value = serde_json::from_slice(&bytes[..end]).unwrap();
    assert_eq!((&prelude["statusCode"], &prelude["headers"]["content-type"]), (&json!(200), &json!("application/json")));
    assert!(String::from_utf8_lossy(&bytes[end + 8..]).contains("\"text\":\"42\""));
}

#[test]
fn an_answer_that_is_too_long_for_lambda_says_so_unless_it_is_streamed() {
    let folder = app(&[
        ("millrace.yaml", "name: long\n"),
        ("app/adapters/none.yaml", "connector: sqlite\nconnection_string: \":memory:\"\n"),
        (
            "app/tools/long/config.yaml",
            "description: x\nuse: none\nstatement: SELECT hex(zeroblob(3600000)) AS zeros\nlimits: { output: 9000000 }\n",
        ),
        ("app/tools/ok/config.yaml", "description: x\nuse: none\nstatement: SELECT 42 AS n\n"),
    ]);
    let package = lambda::build(folder.path());
    let function = Function::start(&package, &[]);
    let long = function.send(Front::Url, &call("long", "{}"));
    assert!(long.starts_with("HTTP 500\n") && long.contains("the answer is longer than the 6291556 bytes"), "{:.400}", long);
    assert!(function.send(Front::Url, &call("ok", "{}")).contains("{\\\"n\\\":42}"));
    let function = Function::start(&package, &variables(&[("MILLRACE_RESPONSE", "stream")]));
    let outcome = function.invoke(&Front::Url.event(&call("long", "{}")));
    let Outcome::Stream(chunks, _) = outcome else { panic!("no stream") };
    assert!(chunks.iter().map(Vec::len).sum::<usize>() > 7_200_000);
}

#[test]
fn what_cannot_start_says_why() {
    let folder = scripts(&[("ok", "return 42;")]);
    let package = lambda::build(folder.path());
    let why = |package: &Path, pairs: &[(&str, &str)]| {
        let mut function = Function::start(package, &variables(pairs));
        let told: Value = serde_json::from_str(&function.api().init_error()).unwrap();
        assert_eq!(told["errorType"], "Millrace.Start");
        while function.runs() {
            std::thread::yield_now();
        }
        told["errorMessage"].as_str().unwrap().to_owned()
    };
    let wrong = why(&package, &[("MILLRACE_RESPONSE", "maybe")]);
    assert_eq!(wrong, "`MILLRACE_RESPONSE` is `maybe`; it may be `buffer` or `stream`");
    assert!(why(&package, &[("MILLRACE_LOG", "loud")]).contains("`MILLRACE_LOG`: `loud` is not a log level"));
    assert!(why(&package, &[("MILLRACE_BASE_PATH", "v1")]).contains("it must begin with `/`"));
    std::fs::write(package.join("app.bundle"), "no bundle").unwrap();
    assert!(why(&package, &[]).contains("app.bundle`: "));
    std::fs::remove_file(package.join("app.bundle")).unwrap();
    assert!(why(&package, &[]).contains("`millrace build --target lambda` puts it beside `bootstrap`"));
}
