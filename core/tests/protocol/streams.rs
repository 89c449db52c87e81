//! Progress and log lines: when a reply becomes an event stream, and what is in it.

use std::task::{Context, Poll, Waker};

use millrace_core::{
    Endpoint, Json,
    protocol::{Response, ResponseBody},
};
use serde_json::json;

use super::fakes::{Ask, empty_app, endpoint, tool};

const BOTH: &str = "application/json, text/event-stream";

fn speaking() -> Endpoint {
    let mut app = empty_app();
    app.tools = ["echo", "flood", "speak", "stall"].into_iter().map(|name| tool(name, name)).collect();
    endpoint(app)
}

fn ask(modern: bool, tool: &str, meta: Json) -> Ask {
    let params = json!({"name": tool, "arguments": {}, "_meta": meta});
    let ask = if modern { Ask::modern("tools/call", params) } else { Ask::legacy("tools/call", params) };
    ask.set("accept", BOTH)
}

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Polls until the response is there: these calls wait for nothing but their turn.
fn respond(endpoint: &Endpoint, ask: &Ask) -> Response {
    let mut answer = Box::pin(endpoint.handle(ask.0.clone()));
    for _ in 0..10 {
        if let Poll::Ready(response) = answer.as_mut().poll(&mut context()) {
            return response;
        }
    }
    panic!("no response")
}

/// The messages of a response, and whether they came as a stream.
fn messages(endpoint: &Endpoint, ask: &Ask) -> (bool, Vec<Json>) {
    let response = respond(endpoint, ask);
    let kind = response.headers.first("content-type").map(String::from);
    let mut stream = match response.body {
        ResponseBody::Whole(body) => {
            assert_eq!(kind.as_deref(), Some("application/json"));
            return (false, Vec::from([serde_json::from_slice(&body).unwrap()]));
        }
        ResponseBody::Events(stream) => stream,
    };
    assert_eq!((response.status, kind.as_deref()), (200, Some("text/event-stream")));
    assert_eq!(response.headers.first("x-accel-buffering"), Some("no"));
    let mut messages = Vec::new();
    for _ in 0..5000 {
        match stream.poll_next(&mut context()) {
            Poll::Ready(Some(event)) => {
                let event = String::from_utf8(event).unwrap();
                let data = event.strip_prefix("event: message\ndata: ").and_then(|rest| rest.strip_suffix("\n\n")).unwrap();
                assert!(!data.contains('\n'), "{data}");
                messages.push(serde_json::from_str(data).unwrap());
            }
            Poll::Ready(None) => {
                assert!(matches!(stream.poll_next(&mut context()), Poll::Ready(None)), "nothing comes after the end");
                return (true, messages);
            }
            Poll::Pending => {}
        }
    }
    panic!("the stream never ends")
}

fn methods(messages: &[Json]) -> Vec<&str> {
    messages.iter().map(|message| message["method"].as_str().unwrap_or("result")).collect()
}

#[test]
fn a_reply_is_a_stream_only_where_something_is_said_to_someone_who_listens() {
    let endpoint = speaking();
    let token = json!({"progressToken": "t"});
    let debug = json!({"io.modelcontextprotocol/logLevel": "debug"});
    let table = [
        (ask(true, "speak", token.clone()), true),
        (ask(true, "speak", debug.clone()), true),
        (ask(true, "speak", json!({})), false),
        (ask(true, "echo", token.clone()), false),
        (ask(true, "speak", token.clone()).without("accept"), false),
        (ask(true, "speak", token.clone()).set("accept", "*/*"), false),
        (ask(true, "speak", token.clone()).set("accept", "application/json"), false),
        (ask(true, "speak", token.clone()).set("accept", "application/json, text/event-stream;q=0"), false),
        (ask(false, "speak", json!({})), true),
        (ask(false, "speak", json!({})).without("accept"), false),
        (ask(false, "echo", token), false),
    ];
    for (index, (ask, streams)) in table.iter().enumerate() {
        let (streamed, messages) = messages(&endpoint, ask);
        assert_eq!(streamed, *streams, "row {index}");
        assert_eq!(messages.last().unwrap()["result"]["isError"], false, "row {index}: {messages:?}");
        assert_eq!(messages.len() > 1, *streams, "row {index}");
    }
}

#[test]
fn progress_carries_the_token_and_rises() {
    let endpoint = speaking();
    for (modern, token) in [(true, json!("a\n\"b")), (true, json!(7)), (false, json!(0)), (false, json!("x"))] {
        let (_, messages) = messages(&endpoint, &ask(modern, "speak", json!({"progressToken": token})));
        let progress: Vec<&Json> = messages.iter().filter(|message| message["method"] == "notifications/progress").collect();
        assert!(progress.iter().all(|message| message["params"]["progressToken"] == token && message.get("id").is_none()));
        // The script says 1, 2, 2, 1.5, 2.5; what does not rise is left out.
        let done: Vec<&Json> = progress.iter().map(|message| &message["params"]["progress"]).collect();
        assert_eq!(done, [&json!(1), &json!(2), &json!(2.5)]);
        assert_eq!(progress[0]["params"]["total"], 3);
        assert_eq!(progress[0]["params"]["message"], "line\none");
        assert_eq!(methods(&messages).last(), Some(&"result"));
    }
}

#[test]
fn log_lines_keep_to_the_level() {
    let endpoint = speaking();
    let said = |ask: &Ask| -> Vec<String> {
        let (_, messages) = messages(&endpoint, ask);
        let lines = messages.iter().filter(|message| message["method"] == "notifications/message");
        lines.map(|line| std::format!("{} {} {}", line["params"]["level"], line["params"]["logger"], line["params"]["data"])).collect()
    };
    let all = [r#""debug" "speak" "a""#, r#""info" "speak" "b""#, r#""warning" "speak" "c""#, r#""error" "speak" "d""#];
    let levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    for (level, first) in levels.into_iter().zip([0, 1, 2, 2, 3, 4, 4, 4]) {
        assert_eq!(said(&ask(true, "speak", json!({"io.modelcontextprotocol/logLevel": level}))), all[first..], "{level}");
    }
    // Modern: none without a level, be there a token or not. Legacy: from `info` on.
    assert_eq!(said(&ask(true, "speak", json!({"progressToken": 1}))), [""; 0]);
    assert_eq!(said(&ask(false, "speak", json!({}))), all[1..]);
    let wrong = ask(true, "speak", json!({"io.modelcontextprotocol/logLevel": "loud"}));
    assert_eq!(messages(&endpoint, &wrong).1[0]["error"]["code"], -32602);
}

#[test]
fn tokens_of_other_types_are_refused() {
    let endpoint = speaking();
    for token in [json!(1.5), json!(true), json!({}), json!([1])] {
        for modern in [true, false] {
            let (streamed, messages) = messages(&endpoint, &ask(modern, "speak", json!({"progressToken": token})));
            assert_eq!((streamed, messages[0]["error"]["code"].as_i64()), (false, Some(-32602)), "{token}");
        }
    }
    assert!(!messages(&endpoint, &ask(true, "speak", json!({"progressToken": null}))).0);
}

#[test]
fn a_flood_is_bounded_and_the_answer_comes_all_the_same() {
    let endpoint = speaking();
    let meta = json!({"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"});
    let (streamed, messages) = messages(&endpoint, &ask(true, "flood", meta));
    let sizes: usize = messages[..messages.len() - 1].iter().map(|message| serde_json::to_string(message).unwrap().len()).sum();
    assert!(streamed && messages.len() <= 1001 && sizes <= 256 << 10, "{} messages, {sizes} bytes", messages.len());
    assert!(messages.len() > 30, "{}", messages.len());
    assert_eq!(messages.last().unwrap()["result"]["isError"], false);
}

#[test]
fn closing_a_stream_cancels_its_call() {
    let endpoint = speaking();
    let ask = ask(true, "stall", json!({"progressToken": 1}));
    let ResponseBody::Events(mut stream) = respond(&endpoint, &ask).body else { panic!("no stream") };
    assert!(matches!(stream.poll_next(&mut context()), Poll::Ready(Some(_))));
    assert!(stream.poll_next(&mut context()).is_pending());
    assert!(!ask.0.cancel.is_tripped());
    drop(stream);
    assert!(ask.0.cancel.is_tripped());
    // A call that is cancelled while it streams ends by itself.
    let ask = self::ask(true, "stall", json!({"progressToken": 1}));
    let ask = Ask(millrace_core::protocol::Request { cancel: millrace_core::cancel::Cancel::new(), ..ask.0 });
    let ResponseBody::Events(mut stream) = respond(&endpoint, &ask).body else { panic!("no stream") };
    assert!(matches!(stream.poll_next(&mut context()), Poll::Ready(Some(_))));
    ask.0.cancel.trip();
    let Poll::Ready(Some(last)) = stream.poll_next(&mut context()) else { panic!("still waiting") };
    assert!(String::from_utf8(last).unwrap().contains("CANCELLED"));
}
