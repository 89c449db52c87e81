//! Event streams: what a call says while it runs reaches the caller before the call is over, where
//! the deployment streams; else with the answer.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};

use millrace_tests::{
    Exchange,
    lambda::{self, Front, Function, Outcome},
};
use serde_json::Value;

use super::app;

const PATIENCE: Duration = Duration::from_secs(60);

/// An app whose one tool says something, and then waits for an upstream.
fn waits(upstream: u16) -> tempfile::TempDir {
    let handler = format!(
        "export default async function (_, ctx) {{\n  ctx.progress(1, 2, \"asking\");\n  ctx.log.warn(\"far away\");\n  \
         const answer = await fetch(\"http://127.0.0.1:{upstream}/\");\n  ctx.progress(2, 2);\n  return answer.text();\n}}\n"
    );
    app(&[
        ("millrace.yaml", &format!("name: waits\nfetch: {{ allow: [\"127.0.0.1:{upstream}\"] }}\n")),
        ("app/tools/ask/config.yaml", "description: Asks far away.\nkind: query\nhandler: ./handler.ts\nlimits: { timeout: 120s }\n"),
        ("app/tools/ask/handler.ts", &handler),
    ])
}

fn ask() -> Exchange {
    let headers =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-11-25")];
    Exchange {
        method: "POST".into(),
        path: "/mcp".into(),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"progressToken":"t"}}}"#
            .into(),
    }
}

/// The upstream's connection, once its request has come.
fn asked(listener: &TcpListener, outcome: &Receiver<Outcome>) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let started = Instant::now();
    let (mut upstream, _) = loop {
        match listener.accept() {
            Ok(accepted) => break accepted,
            Err(error) => assert!(error.kind() == ErrorKind::WouldBlock && started.elapsed() < PATIENCE, "nobody asks: {error}"),
        }
        if let Ok(outcome) = outcome.try_recv() {
            panic!("the call has ended and asked nobody: {outcome:?}");
        }
        millrace_tests::wait::moment();
    };
    upstream.set_nonblocking(false).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        upstream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    upstream
}

fn answer(upstream: &mut TcpStream) {
    upstream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nhere").unwrap();
}

const PARTS: [&str; 4] = ["\"progress\":1", "far away", "\"progress\":2", "\"text\":\"here\""];

fn is_in_order(text: &str) -> bool {
    PARTS.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part} is missing: {text}"))).is_sorted()
}

#[test]
fn what_a_call_says_comes_before_its_end() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let folder = waits(listener.local_addr().unwrap().port());
    let package = lambda::build(folder.path());
    let function = Function::start(&package, &[("MILLRACE_RESPONSE".to_owned(), "stream".to_owned())]);
    // The second time on what the first has left behind.
    for turn in 1..=2 {
        let chunks = function.api().chunks();
        let outcome = function.begin(&Front::Url.event(&ask()), Duration::from_secs(120));
        let mut upstream = asked(&listener, &outcome);
        let mut bytes = Vec::new();
        while !PARTS[..2].iter().all(|part| String::from_utf8_lossy(&bytes).contains(part)) {
            bytes.extend(chunks.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes))));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains("\"result\""), "{text}");
        let end = bytes.windows(8).position(|eight| eight == [0; 8]).unwrap();
        let prelude: Value = serde_json::from_slice(&bytes[..end]).unwrap();
        assert_eq!((&prelude["statusCode"], &prelude["headers"]["content-type"]), (&200.into(), &"text/event-stream".into()));
        assert!(outcome.try_recv().is_err() && function.api().asked() == turn, "the call is over");
        // Only now the upstream answers.
        answer(&mut upstream);
        let Outcome::Stream(chunks, kind) = outcome.recv_timeout(PATIENCE).unwrap() else { panic!("no stream") };
        assert_eq!(kind, "application/vnd.awslambda.http-integration-response");
        let text = String::from_utf8_lossy(&chunks.concat()).into_owned();
        assert!(is_in_order(&text) && text.ends_with("\n\n"), "{text}");
    }
}

#[test]
fn where_nothing_is_streamed_everything_comes_with_the_answer() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let folder = waits(listener.local_addr().unwrap().port());
    let function = Function::start(&lambda::build(folder.path()), &[]);
    let chunks = function.api().chunks();
    let outcome = function.begin(&Front::Url.event(&ask()), Duration::from_secs(120));
    answer(&mut asked(&listener, &outcome));
    let Outcome::Response(bytes) = outcome.recv_timeout(PATIENCE).unwrap() else { panic!("a stream") };
    let payload: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((&payload["statusCode"], &payload["headers"]["content-type"]), (&200.into(), &"text/event-stream".into()));
    assert!(is_in_order(payload["body"].as_str().unwrap()), "{payload}");
    assert!(chunks.try_recv().is_err());
}

#[test]
fn an_answer_that_is_whole_goes_out_in_one_part() {
    let folder = super::scripts(&[("short", "return 'short';"), ("long", "return 'x'.repeat(900_000);")]);
    let function = Function::start(&lambda::build(folder.path()), &[("MILLRACE_RESPONSE".to_owned(), "stream".to_owned())]);
    for (tool, least) in [("short", 10), ("long", 900_000), ("short", 10)] {
        // The head, what separates it, and the body: a second part would wait for the first to be
        // acknowledged.
        let Outcome::Stream(chunks, kind) = function.invoke(&Front::Url.event(&super::call(tool, "{}"))) else { panic!("no stream") };
        assert_eq!((chunks.len(), kind.as_str()), (1, "application/vnd.awslambda.http-integration-response"));
        let end = chunks[0].windows(8).position(|eight| eight == [0; 8]).unwrap();
        let prelude: Value = serde_json::from_slice(&chunks[0][..end]).unwrap();
        assert_eq!((&prelude["statusCode"], &prelude["headers"]["content-type"]), (&200.into(), &"application/json".into()));
        let answer: Value = serde_json::from_slice(&chunks[0][end + 8..]).unwrap();
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().len() >= least.min(5), "{tool}");
        assert!(chunks[0].len() > least, "{tool}");
    }
    // An event that is not a request is an error here, too.
    assert!(matches!(function.invoke(&serde_json::json!({ "Records": [] })), Outcome::Error(why) if why.contains("Millrace.Event")));
}
