//! Stage *guard*: what the stores are asked, what happens where they fail, and how places are
//! handed on.

use std::{
    cell::{Cell, RefCell},
    future::{Future, ready},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use millrace_core::{
    Error, ErrorKind, Json,
    app::{ApiKey, ApiKeys, Auth, Concurrency, EnvPart, EnvTemplate, ExpectedKey, InputKind, RateLimit, Root, Tool, ValueTemplate},
    cancel::Cancel,
    fault::FaultResult,
    headers::Headers,
    pipeline::{Call, Pipeline, ToolResult},
    ports::{Entered, LocalFuture, Places, Ports},
};
use serde_json::{Map, json};

use crate::fakes::*;

fn limited(limit: RateLimit) -> Tool {
    let mut tool = script_tool();
    tool.limits.rate = Some(limit);
    tool
}

fn code(outcome: FaultResult<ToolResult>) -> Json {
    let result = outcome.unwrap();
    if result.is_error { meta(&result)["code"].clone() } else { Json::Null }
}

#[test]
fn calls_are_counted_by_caller_and_no_store_sees_who_it_is() {
    let world = World::new();
    let mut tool = limited(RateLimit { max: 2, window_s: 60, key: None });
    let key = |name: &str| {
        let expected = ExpectedKey::Value(EnvTemplate(vec![EnvPart::Text(format!("key of {name}"))]));
        ApiKey { name: name.into(), expected, scopes: vec![], roles: vec![] }
    };
    tool.auth = Some(Auth::ApiKey(ApiKeys { keys: vec![key("ada"), key("bob")], scopes: vec![] }));
    let pipeline = pipeline(&world, tool);
    let call = |name: &str| {
        let mut headers = Headers::new();
        headers.append("x-api-key", format!("key of {name}"));
        code(call(&pipeline, json!({}), &With { headers, ..With::default() }))
    };
    let refused = json!("RATE_LIMITED");
    assert_eq!(
        [call("ada"), call("ada"), call("ada"), call("bob"), call("ada")],
        [json!(null), json!(null), refused.clone(), json!(null), refused]
    );
    assert_eq!(world.seen.borrow().len(), 3, "a refused call runs nothing");
    let counters = world.counters.borrow();
    assert_eq!(counters.len(), 2 + 2, "this window and the one before, for each caller");
    let totals: Vec<i64> = counters.values().map(|(total, _)| *total).filter(|total| *total > 0).collect();
    assert_eq!(totals.iter().sum::<i64>(), 3, "refused calls are not counted: {totals:?}");
    assert!(counters.keys().all(|key| !key.contains("ada") && !key.contains("bob") && key.starts_with("rate:")), "{counters:?}");
}

#[test]
fn a_call_passes_again_after_the_time_that_it_was_told() {
    let world = World::new();
    let pipeline = pipeline(&world, limited(RateLimit { max: 3, window_s: 10, key: None }));
    let call = || call(&pipeline, json!({}), &With::default());
    for _ in 0..3 {
        assert!(!call().unwrap().is_error);
    }
    for _ in 0..5 {
        let refused = call().unwrap();
        let wait_s = meta(&refused)["retry_after"].as_u64().unwrap();
        assert!(text(&refused).contains(&format!("<retry_after>{wait_s} seconds</retry_after>")));
        world.now_ms.set(world.now_ms.get() + 1000 * (wait_s - 1) - 1);
        assert!(call().unwrap().is_error, "not earlier");
        world.now_ms.set(world.now_ms.get() + 1001);
        assert!(!call().unwrap().is_error, "it was told {wait_s} s");
    }
}

#[test]
fn values_of_a_key_have_their_own_counts_and_types() {
    let world = World::new();
    let key = Some(ValueTemplate::of(source(Root::Inputs, "id")));
    let mut tool = limited(RateLimit { max: 1, window_s: 60, key });
    let mut id = input("id", InputKind::Json);
    id.optional = true;
    tool.inputs = vec![id];
    let pipeline = pipeline(&world, tool);
    for id in [json!({"id": 1}), json!({"id": "1"}), json!({"id": true}), json!({"id": [1]}), json!({})] {
        assert_eq!(
            [code(call(&pipeline, id.clone(), &With::default())), code(call(&pipeline, id, &With::default()))],
            [json!(null), json!("RATE_LIMITED")]
        );
    }
    assert_eq!(code(call(&pipeline, json!({"other": 1}), &With::default())), "VALIDATION_ERROR");
}

#[test]
fn a_store_that_fails_leaves_the_limit_to_the_isolate() {
    let world = World::new();
    let pipeline = pipeline(&world, limited(RateLimit { max: 2, window_s: 60, key: None }));
    let call = || code(call(&pipeline, json!({}), &With::default()));
    world.state_fails.set(true);
    assert_eq!([call(), call(), call()], [json!(null), json!(null), json!("RATE_LIMITED")]);
    world.state_fails.set(false);
    assert_eq!([call(), call(), call()], [json!(null), json!(null), json!("RATE_LIMITED")]);
    world.state_fails.set(true);
    assert_eq!(call(), "RATE_LIMITED");
}

/// A call that is polled by hand.
struct Polled<'a>(Pin<Box<dyn Future<Output = FaultResult<ToolResult>> + 'a>>);

impl<'a> Polled<'a> {
    fn new(pipeline: &'a Pipeline, tool: &'a str, headers: &'a Headers, cancel: &'a Cancel) -> Self {
        let call = Call {
            method: "tools/call",
            tool,
            arguments: Map::new(),
            request_id: "req-1",
            trace: Default::default(),
            route: Default::default(),
            headers,
            platform_caller: None,
            protocol: "2026-07-28",
            deadline_ms: None,
            cancel,
            listener: None,
            rounds: Default::default(),
            operation: Default::default(),
        };
        Self(Box::pin(pipeline.call(call)))
    }

    /// The code of its end: null where it went well, absent where it is under way.
    fn poll(&mut self) -> Option<Json> {
        match self.0.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(code(outcome)),
            Poll::Pending => None,
        }
    }
}

/// A pipeline with a tool that never ends by itself, `t`.
fn stuck(world: &Rc<World>, max: u32, queue: u32) -> Pipeline {
    *world.on_script.borrow_mut() = Some(Box::new(|_| None));
    let mut tool = script_tool();
    tool.limits.concurrency = Some(Concurrency { max, queue, wait_ms: if queue > 0 { 1500 } else { 0 } });
    pipeline(world, tool)
}

#[test]
fn a_tool_runs_as_many_calls_as_it_may_and_the_first_in_the_queue_is_next() {
    let world = World::new();
    let pipeline = stuck(&world, 1, 2);
    let headers = Headers::new();
    let cancels: Vec<Cancel> = (0..5).map(|_| Cancel::new()).collect();
    let mut calls: Vec<Polled<'_>> = cancels.iter().map(|cancel| Polled::new(&pipeline, "t", &headers, cancel)).collect();
    let started = || world.seen.borrow().len();
    assert!(calls[0].poll().is_none() && calls[1].poll().is_none() && calls[2].poll().is_none());
    assert_eq!(started(), 1);
    let mut busy = calls.remove(3);
    assert_eq!(busy.poll(), Some(json!("SERVER_BUSY")), "two wait already");
    cancels[1].trip();
    assert_eq!(calls[1].poll(), Some(json!("CANCELLED")), "one that waits can be cancelled");
    assert!(calls[3].poll().is_none(), "which leaves a place in the queue");
    drop(calls.remove(0));
    assert!(calls[2].poll().is_none());
    assert_eq!(started(), 1, "it is not its turn");
    assert!(calls[1].poll().is_none());
    assert_eq!(started(), 2, "the first in the queue runs");
    drop(calls.remove(1));
    assert!(calls[1].poll().is_none());
    assert_eq!(started(), 3, "whoever was dropped in between gave its place back");
}

#[test]
fn the_time_to_wait_ends_and_says_when_to_come_again() {
    let world = World::new();
    let pipeline = stuck(&world, 1, 1);
    let (headers, cancel) = (Headers::new(), Cancel::new());
    let mut runs = Polled::new(&pipeline, "t", &headers, &cancel);
    assert!(runs.poll().is_none());
    let waits = call(&pipeline, json!({}), &With::default()).unwrap();
    assert_eq!((&meta(&waits)["code"], &meta(&waits)["retry_after"]), (&json!("SERVER_BUSY"), &json!(2)));
    assert_eq!(world.seen.borrow().len(), 1);
    drop(runs);
    let mut next = Polled::new(&pipeline, "t", &headers, &cancel);
    assert!(next.poll().is_none());
    assert_eq!(world.seen.borrow().len(), 2, "the place is free again");
}

#[test]
fn a_call_that_fails_gives_its_place_back() {
    let world = World::new();
    let pipeline = stuck(&world, 1, 0);
    for _ in 0..3 {
        assert_eq!(code(call(&pipeline, json!({}), &With::default())), "TIMEOUT");
    }
    *world.on_script.borrow_mut() = None;
    assert_eq!(code(call(&pipeline, json!({}), &With::default())), Json::Null);
}

/// One place of the whole machine.
#[derive(Default)]
struct OnePlace {
    /// Whose it is.
    taken: Cell<Option<i64>>,
    turns: Cell<i64>,
    /// Who looked whether it is free, and who gave something back.
    looks: RefCell<Vec<i64>>,
    left: RefCell<Vec<i64>>,
    fails: Cell<bool>,
}

impl OnePlace {
    fn ask(&self, turn: i64) -> LocalFuture<'static, millrace_core::Result<Entered>> {
        let answer = match (self.fails.get(), self.taken.get()) {
            (true, _) => Err(Error::new(ErrorKind::Unavailable, "the store is away")),
            (false, Some(_)) => Ok(Entered::Waits { turn, ahead: 0 }),
            (false, None) => {
                self.taken.set(Some(turn));
                Ok(Entered::Taken(turn))
            }
        };
        Box::pin(ready(answer))
    }
}

impl Places for OnePlace {
    fn enter<'a>(&'a self, gate: &'a str, max: u32, queue: u32, until_ms: u64) -> LocalFuture<'a, millrace_core::Result<Entered>> {
        assert_eq!((gate, max, queue), ("shop t", 1, 2));
        assert!((NOW_MS + 35_000..NOW_MS + 40_000).contains(&until_ms), "its deadline and 30 s: {until_ms}");
        self.turns.set(self.turns.get() + 1);
        self.ask(self.turns.get())
    }

    fn advance<'a>(&'a self, _: &'a str, _: u32, turn: i64) -> LocalFuture<'a, millrace_core::Result<Entered>> {
        self.looks.borrow_mut().push(turn);
        self.ask(turn)
    }

    fn leave(&self, turn: i64) {
        self.left.borrow_mut().push(turn);
        if self.taken.get() == Some(turn) {
            self.taken.set(None);
        }
    }
}

#[test]
fn places_of_the_machine_are_taken_in_order_and_only_the_first_of_an_isolate_looks() {
    let world = World::new();
    *world.on_script.borrow_mut() = Some(Box::new(|_| None));
    let mut tool = script_tool();
    tool.limits.concurrency = Some(Concurrency { max: 1, queue: 2, wait_ms: 1500 });
    let places = Rc::new(OnePlace::default());
    let pipeline = Pipeline::new(Rc::new(app(vec![tool])), Ports { places: Some(places.clone()), ..world.ports() });
    let (headers, cancel) = (Headers::new(), Cancel::new());
    let mut calls: Vec<Polled<'_>> = (0..3).map(|_| Polled::new(&pipeline, "t", &headers, &cancel)).collect();
    assert!(calls.iter_mut().all(|call| call.poll().is_none()));
    assert_eq!((world.seen.borrow().len(), &*places.looks.borrow()), (1, &vec![]));
    drop(calls.remove(0));
    assert!(calls[1].poll().is_none());
    assert!(places.looks.borrow().is_empty(), "the last one need not look");
    assert!(calls[0].poll().is_none());
    assert_eq!((world.seen.borrow().len(), &*places.looks.borrow()), (2, &vec![2]), "a place that became free here is seen at once");
    assert_eq!(calls[1].poll(), Some(json!("SERVER_BUSY")), "its time to wait is over");
    assert_eq!(
        (&*places.looks.borrow(), &*places.left.borrow()),
        (&vec![2, 3], &vec![1, 3]),
        "it is the first now, and gave its turn back"
    );
    drop(calls.remove(0));
    assert_eq!(places.left.borrow().last(), Some(&2));
    // Where the store fails, the isolate counts by itself.
    places.fails.set(true);
    let mut own: Vec<Polled<'_>> = (0..2).map(|_| Polled::new(&pipeline, "t", &headers, &cancel)).collect();
    assert!(own.iter_mut().all(|call| call.poll().is_none()));
    assert_eq!(world.seen.borrow().len(), 3);
}
