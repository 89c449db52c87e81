//! What a batch may use up: bytes, time, and the share of all batches of an isolate.

use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    task::{Context, Waker},
};

use millrace_core::{
    Endpoint, Json,
    app::{App, BatchLimits},
    ports::{Clock, LocalFuture, Ports},
    protocol::Response,
};

use super::fakes::{Ask, Seen, empty_app, endpoint, ports, tool};

const PING: &str = r#""method":"ping""#;

fn app(limits: BatchLimits) -> App {
    let mut app = empty_app();
    app.batch = limits;
    app.server.body_limit = 1 << 20;
    app.tools = ["base64", "rows", "stall"].into_iter().map(|name| tool(name, name)).collect();
    app
}

fn call(tool: &str) -> String {
    format!(r#""method":"tools/call","params":{{"name":"{tool}"}}"#)
}

fn batch(requests: &[&str]) -> Ask {
    let messages = requests.iter().enumerate().map(|(id, request)| format!(r#"{{"jsonrpc":"2.0","id":{id},{request}}}"#));
    Ask::post(format!("[{}]", messages.collect::<Vec<_>>().join(",")))
}

/// Of each answer: `ok`, or the failure's code and whether the request was carried out.
fn outcomes(seen: &Seen) -> Vec<String> {
    let outcome = |answer: &Json| match answer["error"]["data"]["code"].as_str() {
        Some(code) => format!("{code} {}", answer["error"]["data"]["carried_out"]),
        None => String::from(if answer["result"].is_object() { "ok" } else { "error" }),
    };
    seen.body.as_array().unwrap().iter().map(outcome).collect()
}

#[test]
fn answers_that_do_not_fit_are_left_out_and_nothing_after_them_is_begun() {
    let alone =
        Ask::post(format!(r#"{{"jsonrpc":"2.0","id":0,{}}}"#, call("rows"))).send(&endpoint(app(BatchLimits::default()))).text.len();
    let (rows, base64) = (call("rows"), call("base64"));
    let ask = batch(&[PING, &rows, &rows, PING, &base64]);
    let output_bytes = u32::try_from(2 * alone).unwrap();
    let seen = ask.send(&endpoint(app(BatchLimits { output_bytes, ..BatchLimits::default() })));
    assert_eq!(seen.status, 200);
    assert_eq!(outcomes(&seen), ["ok", "ok", "BATCH_TOO_LARGE true", "BATCH_TOO_LARGE false", "BATCH_TOO_LARGE false"]);
    for (place, answer) in seen.body.as_array().unwrap().iter().enumerate() {
        assert_eq!(answer["id"], place);
    }
    let message = seen.body[2]["error"]["message"].as_str().unwrap();
    assert!(message.contains("was carried out") && message.contains("limits.batch.output"), "{message}");
    assert_eq!(seen.body[3]["error"]["code"], -32000);
    assert!(seen.text.len() < output_bytes as usize + 2000);

    // With room for all, all is there; one answer that is longer than the whole says so, too.
    let output_bytes = u32::try_from(3 * alone).unwrap();
    assert_eq!(outcomes(&ask.send(&endpoint(app(BatchLimits { output_bytes, ..BatchLimits::default() })))), ["ok"; 5]);
    let small = endpoint(app(BatchLimits { output_bytes: 1024, ..BatchLimits::default() }));
    assert_eq!(outcomes(&batch(&[&rows]).send(&small)), ["BATCH_TOO_LARGE true"]);
}

#[test]
fn the_number_of_messages_is_a_setting() {
    let three = endpoint(app(BatchLimits { messages: 3, ..BatchLimits::default() }));
    assert_eq!(batch(&[PING; 3]).send(&three).status, 200);
    let seen = batch(&[PING; 4]).send(&three);
    assert_eq!((seen.status, seen.code()), (400, Some(-32600)));
    let many = endpoint(app(BatchLimits { messages: 1000, ..BatchLimits::default() }));
    assert_eq!(batch(&[PING; 1000]).send(&many).status, 200);
    assert_eq!(batch(&[PING; 1001]).send(&many).status, 400);
}

/// A clock that moves by some milliseconds whenever it is looked at.
struct Ticking {
    now_ms: Cell<u64>,
    step_ms: u64,
    sleeps: RefCell<Vec<u64>>,
}

impl Clock for Ticking {
    fn now_ms(&self) -> u64 {
        self.now_ms.set(self.now_ms.get() + self.step_ms);
        self.now_ms.get()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        self.sleeps.borrow_mut().push(duration_ms);
        Box::pin(std::future::ready(()))
    }
}

#[test]
fn a_batch_has_one_deadline_and_lets_others_have_their_turn() {
    let run = |step_ms: u64, requests: &[&str], host_ms: Option<u64>| {
        let clock = Rc::new(Ticking { now_ms: Cell::new(1_000_000), step_ms, sleeps: RefCell::default() });
        let app = app(BatchLimits { timeout_ms: 100, ..BatchLimits::default() });
        let endpoint = Endpoint::new(app, Ports { clock: clock.clone(), ..ports() });
        let mut ask = batch(requests);
        ask.0.deadline_ms = host_ms.map(|left_ms| 1_000_000 + left_ms);
        let seen = ask.send(&endpoint);
        let turns = clock.sleeps.borrow().clone();
        (outcomes(&seen), turns, seen.text)
    };
    // Each request takes one look at the clock, and a second one after others had their turn.
    let (outcomes, turns, text) = run(10, &[PING; 20], None);
    let expected = |ok: usize| [vec!["ok"; ok], vec!["BATCH_TIMEOUT false"; 20 - ok]].concat();
    assert_eq!(outcomes, expected(4));
    assert!(turns.len() >= 4 && turns.iter().all(|turn| *turn == 0), "{turns:?}");
    assert!(text.contains("The batch did not finish within 100 ms"), "{text}");
    assert_eq!(run(10, &[PING; 20], Some(60)).0, expected(2), "the host's deadline is earlier");
    // A clock that stands still, as a Worker's does, costs no turn.
    let (outcomes, turns, _) = run(0, &[PING; 20], None);
    assert_eq!(outcomes, expected(20));
    assert!(turns.is_empty(), "{turns:?}");
    // A call gets what is left of the batch's time, and not its own.
    let (outcomes, _, text) = run(40, &[&call("rows"), PING], None);
    assert_eq!(outcomes, ["ok", "BATCH_TIMEOUT false"]);
    assert!(text.contains("The call did not finish in the time that the request had left."), "{text}");
}

#[test]
fn the_unfinished_batches_of_an_isolate_share_their_bytes() {
    let alone = batch(&[&call("rows")]).send(&endpoint(app(BatchLimits::default()))).text.len();
    let output_bytes = u32::try_from(alone + 400).unwrap();
    let endpoint = endpoint(app(BatchLimits { output_bytes, ..BatchLimits::default() }));
    let waiting = |count: usize| -> Vec<Pin<Box<dyn Future<Output = Response> + '_>>> {
        let begin = || {
            let mut answer: Pin<Box<dyn Future<Output = Response>>> = Box::pin(endpoint.handle(batch(&[&call("rows"), &call("stall")]).0));
            assert!(answer.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            answer
        };
        (0..count).map(|_| begin()).collect()
    };
    let ask = batch(&[PING, &call("rows"), PING]);
    let first = waiting(1);
    assert_eq!(outcomes(&ask.send(&endpoint)), ["ok"; 3]);
    let second = waiting(1);
    let seen = ask.send(&endpoint);
    assert_eq!(outcomes(&seen), ["ok", "BATCH_BUSY true", "BATCH_BUSY false"]);
    // A request on its own is not a batch.
    assert_eq!(Ask::legacy("ping", serde_json::json!({})).send(&endpoint).status, 200);
    drop((first, second));
    assert_eq!(outcomes(&ask.send(&endpoint)), ["ok"; 3]);
}

/// What a call needs on the stack while it is made, and on the heap while it waits. A future that
/// grows without a reason is usually one that is handed on: each function that takes it stores it
/// once more.
#[test]
fn a_request_in_flight_is_small() {
    let endpoint = endpoint(empty_app());
    let bytes = size_of_val(&endpoint.handle(Ask::new("POST", "/mcp").0));
    assert!(bytes < 25 << 10, "the future of a request has {bytes} bytes");
}
