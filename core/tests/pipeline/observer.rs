//! What an observer is told of a call.

use std::{
    cell::RefCell,
    rc::Rc,
    task::{Context, Waker},
};

use millrace_core::{
    Error, ErrorKind,
    app::{Cache, CacheScope, Middleware, MiddlewareAction, Template, TemplatePart, Tool},
    cancel::Cancel,
    pipeline::Pipeline,
    ports::{CallEvent, CallObserver, CallStart, Observer, Ports, Reply, Returned, RunningCall, ToolErrorReply, observers},
    value::Value,
};
use serde_json::json;

use crate::fakes::*;

#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Observer for Told {
    fn entered(&self, call: &RunningCall<'_>) {
        self.0.borrow_mut().push(format!("in {} {} {}", call.tool, call.request_id, call.deadline_ms));
    }

    fn left(&self, call: &RunningCall<'_>) {
        self.0.borrow_mut().push(format!("out {}", call.tool));
    }
}

#[test]
fn an_observer_sees_each_time_that_a_call_goes_on() {
    let run = |answers: bool| {
        let (world, told) = (World::new(), Rc::new(Told::default()));
        if !answers {
            *world.on_query.borrow_mut() = Some(Box::new(|_| None));
        }
        let with = With { deadline_ms: Some(NOW_MS + 100), ..With::default() };
        let tool = select_tool();
        let ports = Ports { observer: Some(told.clone()), ..world.ports() };
        let pipeline = Pipeline::new(Rc::new(app(vec![tool])), ports);
        call(&pipeline, json!({}), &with).unwrap();
        told.0.take()
    };
    let entered = format!("in t req-1 {}", NOW_MS + 100);
    assert_eq!(run(true), [entered.as_str(), "out t"]);
    // One that waits is left, and entered again.
    let waited = run(false);
    assert!(waited.len() > 2 && waited.len().is_multiple_of(2), "{waited:?}");
    assert!(waited.chunks(2).all(|pair| pair == [entered.as_str(), "out t"]), "{waited:?}");
}

#[test]
fn a_call_is_still_worked_on_while_its_middleware_observes_the_end() {
    let (world, told) = (World::new(), Rc::new(Told::default()));
    let ports = Ports { observer: Some(told.clone()), ..world.ports() };
    let entry = |after| Middleware { place: String::new(), action: MiddlewareAction::Script { before: None, after } };
    for (after, host_ms, until_ms) in
        [(None, 100, None), (Some(script(HANDLER)), 100, Some(250)), (Some(script(HANDLER)), 60_000, Some(5_000))]
    {
        let tool = Tool { middleware: vec![entry(after)], ..select_tool() };
        let pipeline = Pipeline::new(Rc::new(app(vec![tool])), ports.clone());
        call(&pipeline, json!({}), &With { deadline_ms: Some(NOW_MS + host_ms), ..With::default() }).unwrap();
        let entered = |ms: u64| [format!("in t req-1 {}", NOW_MS + ms), "out t".into()];
        let expected: Vec<String> = [Some(host_ms.min(5_000)), until_ms].into_iter().flatten().flat_map(entered).collect();
        assert_eq!(told.0.take(), expected);
    }
}

#[test]
fn a_call_that_panics_is_left() {
    let (world, told) = (World::new(), Rc::new(Told::default()));
    *world.on_query.borrow_mut() = Some(Box::new(|_| panic!("on purpose")));
    let ports = Ports { observer: Some(told.clone()), ..world.ports() };
    let pipeline = Pipeline::new(Rc::new(app(vec![select_tool()])), ports);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| call(&pipeline, json!({}), &With::default())));
    assert!(outcome.is_err());
    assert_eq!(told.0.take().last().map(String::as_str), Some("out t"));
}

/// Writes down what happens in calls.
#[derive(Clone, Default)]
struct Events(Rc<RefCell<Vec<String>>>);

impl Observer for Events {
    fn began(&self, call: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let CallStart { method, tool, protocol, request_id, .. } = call;
        self.0.borrow_mut().push(format!("{method} {tool} {protocol} {request_id}"));
        Some(Box::new(self.clone()))
    }
}

impl CallObserver for Events {
    fn observe(&self, event: CallEvent<'_>) {
        self.0.borrow_mut().push(match event {
            CallEvent::Forwarded(tool) => format!("forwarded {tool}"),
            CallEvent::StageBegan(stage) => format!("+{}", stage.as_str()),
            CallEvent::StageEnded(stage) => format!("-{}", stage.as_str()),
            CallEvent::MiddlewareBegan(entry) => format!("+{}", entry.place),
            CallEvent::MiddlewareEnded(entry) => format!("-{}", entry.place),
            CallEvent::CacheLookedUp { adapter, hit } => format!("cache {} {} {hit}", adapter.connector, adapter.name),
            CallEvent::ConnectorAnswered { adapter, error, .. } => format!("connector {} {} {error:?}", adapter.connector, adapter.name),
            CallEvent::Failed(fault) => format!("failed {} {} {:?}", fault.stage.as_str(), fault.code, fault.remedy),
            CallEvent::ScriptEnded { script, .. } => format!("script {script}"),
            CallEvent::Ended(outcome) => format!("ended {}", outcome.as_str()),
        });
    }
}

/// What is told of one call of a tool.
fn told(world: &Rc<World>, tool: Tool) -> String {
    let events = Events::default();
    let ports = Ports { observer: Some(Rc::new(events.clone())), ..world.ports() };
    let _ = call(&Pipeline::new(Rc::new(app(vec![tool])), ports), json!({}), &With::default());
    events.0.take().join(", ")
}

const BEGIN: &str = "tools/call t 2026-07-28 req-1, +resolve, -resolve";

#[test]
fn what_happens_in_a_call_is_told_in_order() {
    let world = World::new();
    let cached = Tool { cache: Some(Cache { ttl_s: 9, scope: CacheScope::Public, key: None }), ..select_tool() };
    world.answer_rows(rows(&["c"], vec![vec![Value::Null]]));
    let ends = "-execute, +serialize, -serialize, ended ok";
    let start = format!("{BEGIN}, +validate, -validate, +execute");
    assert_eq!(told(&world, cached.clone()), format!("{start}, cache fake main false, connector fake main None, {ends}"));
    world.finish_later();
    assert_eq!(told(&world, cached), format!("{start}, cache fake main true, {ends}"));
    world.answer_error(Error::new(ErrorKind::Busy, "the database is locked"));
    let failed = "connector fake main Some(Busy), -execute, failed execute DATABASE_BUSY Later, ended error";
    assert_eq!(told(&world, select_tool()), format!("{start}, {failed}"));
}

#[test]
fn a_question_that_is_given_up_is_told_with_its_adapter() {
    let (world, events, cancel) = (World::new(), Events::default(), Cancel::new());
    let trips = cancel.clone();
    *world.on_query.borrow_mut() = Some(Box::new(move |_| {
        trips.trip();
        None
    }));
    let ports = Ports { observer: Some(Rc::new(events.clone())), ..world.ports() };
    let pipeline = Pipeline::new(Rc::new(app(vec![select_tool()])), ports);
    let ends = |error: &str, code: &str, remedy: &str| {
        format!(
            "{BEGIN}, +validate, -validate, +execute, connector fake main Some({error}), -execute, failed execute {code} {remedy}, ended error"
        )
    };
    let _ = call(&pipeline, json!({}), &With { cancel, ..With::default() });
    assert_eq!(events.0.take().join(", "), ends("Cancelled", "CANCELLED", "Caller"));
    let _ = call(&pipeline, json!({}), &With { deadline_ms: Some(world.now_ms.get() + 100), ..With::default() });
    assert_eq!(events.0.take().join(", "), ends("TimedOut", "TIMEOUT", "Later"));
    // A statement of a script, which is given up with its script.
    *world.on_host.borrow_mut() = Some(Rc::new(|host| {
        Box::pin(async move {
            drop(host.query("main", "SELECT 1", vec![]).await);
            json!(null)
        })
    }));
    let pipeline = Pipeline::new(Rc::new(app(vec![script_tool()])), Ports { observer: Some(Rc::new(events.clone())), ..world.ports() });
    let _ = call(&pipeline, json!({}), &With { deadline_ms: Some(world.now_ms.get() + 100), ..With::default() });
    let told = events.0.take().join(", ");
    assert!(told.contains("+execute, connector fake main Some(TimedOut), script handler.ts, -execute"), "{told}");
    // One that lost a race: the script goes on.
    *world.on_host.borrow_mut() = Some(Rc::new(|host| {
        Box::pin(async move {
            let mut query = host.query("main", "SELECT 1", vec![]);
            assert!(query.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            drop(query);
            json!("first")
        })
    }));
    let pipeline = Pipeline::new(Rc::new(app(vec![script_tool()])), Ports { observer: Some(Rc::new(events.clone())), ..world.ports() });
    assert!(!call(&pipeline, json!({}), &With::default()).unwrap().is_error);
    let told = events.0.take().join(", ");
    assert!(
        told.contains("+execute, connector fake main Some(Cancelled), script handler.ts, -execute") && told.ends_with("ended ok"),
        "{told}"
    );
}

#[test]
fn scripts_that_ask_a_database_and_failures_that_they_return_are_told() {
    let world = World::new();
    *world.on_host.borrow_mut() = Some(Rc::new(|host| {
        Box::pin(async move {
            host.query("main", "SELECT 1", vec![]).await.unwrap();
            json!(null)
        })
    }));
    let start = format!("{BEGIN}, +context, -context, +validate, -validate, +execute");
    for _ in 0..2 {
        let expected = format!("{start}, connector fake main None, script handler.ts, -execute, +serialize, -serialize, ended ok");
        assert_eq!(told(&world, script_tool()), expected, "at every call, not at the first alone");
    }
    world.on_host.take();
    world.answer_script(Ok(Returned::Reply(Reply::Error("no".into()))));
    assert_eq!(told(&world, script_tool()), format!("{start}, script handler.ts, -execute, failed execute ERROR Caller, ended error"));
    let asks = Tool { confirm: Some(Template(vec![TemplatePart::Text("Sure?".into())])), ..select_tool() };
    let refused = "+validate, -validate, +guard, -guard, failed guard INPUT_NOT_SUPPORTED Caller, ended error";
    assert_eq!(told(&world, asks), format!("{BEGIN}, {refused}"));
}

#[test]
fn several_observers_are_all_told() {
    let (world, first, second, told) = (World::new(), Events::default(), Events::default(), Rc::new(Told::default()));
    assert!(observers([None, None]).is_none());
    let all: [Option<Rc<dyn Observer>>; 4] = [Some(Rc::new(first.clone())), None, Some(told.clone()), Some(Rc::new(second.clone()))];
    let ports = Ports { observer: observers(all), ..world.ports() };
    call(&Pipeline::new(Rc::new(app(vec![select_tool()])), ports), json!({}), &With::default()).unwrap();
    let (first, second) = (first.0.take(), second.0.take());
    assert_eq!((first.len(), &first), (11, &second));
    assert_eq!(told.0.take().len(), 2);
}

/// Writes down the codes that a trace would have.
#[derive(Clone, Default)]
struct KnownCodes(Rc<RefCell<Vec<String>>>);

impl Observer for KnownCodes {
    fn began(&self, _: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        Some(Box::new(self.clone()))
    }
}

impl CallObserver for KnownCodes {
    fn observe(&self, event: CallEvent<'_>) {
        if let CallEvent::Failed(fault) = event {
            self.0.borrow_mut().push(fault.known_code().to_owned());
        }
    }
}

#[test]
fn a_code_that_a_script_put_together_is_not_for_traces() {
    let program = "toolError(\"USER_\" + inputs.email); const codes = ['NOT_FOUND', `GONE`]; f(NAKED, \"a@b\")";
    let table = [
        ("NOT_FOUND", "NOT_FOUND"),
        ("GONE", "GONE"),
        ("USER_jane@example.com", "_OTHER"),
        ("jane", "_OTHER"),
        ("NAKED", "_OTHER"),
        ("FOUND", "_OTHER"),
        ("a@b", "_OTHER"),
        ("", "_OTHER"),
    ];
    for (code, expected) in table {
        let (world, codes) = (World::new(), KnownCodes::default());
        let reply = ToolErrorReply { code: code.into(), ..ToolErrorReply::default() };
        world.answer_script(Ok(Returned::Reply(Reply::ToolError(reply))));
        let mut app = app(vec![script_tool()]);
        app.scripts[HANDLER as usize].program = program.into();
        let pipeline = Pipeline::new(Rc::new(app), Ports { observer: Some(Rc::new(codes.clone())), ..world.ports() });
        for _ in 0..2 {
            call(&pipeline, json!({}), &With::default()).unwrap();
        }
        assert_eq!(*codes.0.borrow(), [expected, expected], "{code}");
    }
    // What is not a script's is known.
    let (world, codes) = (World::new(), KnownCodes::default());
    world.answer_script(Ok(Returned::Reply(Reply::Error("no".into()))));
    let pipeline = Pipeline::new(Rc::new(app(vec![script_tool()])), Ports { observer: Some(Rc::new(codes.clone())), ..world.ports() });
    call(&pipeline, json!({}), &With::default()).unwrap();
    assert_eq!(*codes.0.borrow(), ["ERROR"]);
}
