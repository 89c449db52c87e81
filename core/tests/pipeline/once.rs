//! Calls that happen once.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind,
    app::{Access, Execute, Idempotency, ParamStyle, Part, Root, Source, Template, TemplatePart, Tool},
    pipeline::{Pipeline, ToolResult},
    ports::{HttpRequest, RecordedWrite, Redirect, Returned, ScriptFault, Thrown},
    value::Rows,
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

const RECORDED: &str = "The change was made. Calling the tool again with the same inputs does not make it a second time.";
const SAFE: &str = "Calling the tool again with the same inputs is safe: a change that was made is not made a second time.";

fn placeholder(root: Root, name: &str) -> TemplatePart {
    TemplatePart::Source(Source { root, path: vec![name.into()] })
}

fn once(mut tool: Tool) -> Tool {
    let key = Template(vec![placeholder(Root::Inputs, "a"), TemplatePart::Text("-".into()), placeholder(Root::Inputs, "b")]);
    tool.idempotency = Some(Idempotency { key, ttl_s: 60 });
    tool.input_schema = Some("{}".into());
    tool
}

fn writes() -> Tool {
    let statement = statement(vec![Part::Text("UPDATE t SET a = 1".into())], ParamStyle::Question, Access::Write);
    once(tool("t", Execute::Statement { adapter: 0, statement }))
}

fn scripted() -> Tool {
    once(script_tool())
}

fn calls(world: &Rc<World>, tool: Tool) -> impl Fn(Json) -> ToolResult {
    let pipeline = pipeline(world, tool);
    move |arguments| call_named(&pipeline, &pipeline.app().tools[0].name, arguments, &With::default()).unwrap()
}

/// The typed fields of a failed result, replayed or not.
fn fault(result: &ToolResult) -> Json {
    assert!(result.is_error, "{result:?}");
    result.meta.iter().find(|(name, _)| name == "millrace/error").unwrap().1.clone()
}

fn thrown() -> Thrown {
    Thrown { message: "no".into(), stack: None, reply: None, cause: None }
}

fn is_replayed(result: &ToolResult) -> bool {
    result.meta.iter().any(|(name, value)| name == "millrace/replayed" && *value == true)
}

fn changed(affected: u64) -> Rows {
    Rows { affected, ..Rows::default() }
}

#[test]
fn a_key_is_the_same_for_the_same_values_and_never_empty() {
    let world = World::new();
    let ask = calls(&world, writes());
    for inputs in [json!({"a": "1", "b": "2"}), json!({"a": 1, "b": 2, "c": "not in the key"}), json!({"b": 2, "a": "1"})] {
        ask(inputs);
        assert_eq!(world.written.borrow().len(), 1);
    }
    for inputs in [json!({"a": "1-", "b": "2"}), json!({"a": "1", "b": "-2"}), json!({"a": "12", "b": "2"})] {
        assert!(!is_replayed(&ask(inputs)));
    }
    assert_eq!(world.asked.borrow().len(), 4);
    for (inputs, field, sent) in [
        (json!({"a": 1}), "b", "(missing)"),
        (json!({"a": null, "b": 1}), "a", "null"),
        (json!({"a": 1, "b": ""}), "b", "an empty string"),
        (json!({"a": 1, "b": " \n"}), "b", "an empty string"),
    ] {
        let result = ask(inputs);
        let message = format!("The idempotency key is empty without it. You sent: {sent}.");
        assert_eq!(fault(&result)["issues"], json!([{ "field": field, "message": message }]));
    }
    assert_eq!(world.asked.borrow().len(), 4);
    let mut tool = writes();
    tool.idempotency = Some(Idempotency { key: Template(vec![placeholder(Root::Ctx, "tenant")]), ttl_s: 60 });
    assert_eq!(fault(&calls(&world, tool)(json!({})))["code"], "IDEMPOTENCY_KEY");
}

#[test]
fn callers_and_tools_have_records_of_their_own() {
    let world = World::new();
    world.answer_script(Ok(Returned::Value(json!({"subject": "1", "jti": 1}))));
    let authenticated = |name: &str| {
        let mut tool = writes();
        tool.name = name.into();
        tool.auth = Some(millrace_core::app::Auth::Script { script: script(PLUGIN), policy: Default::default() });
        tool
    };
    let same = json!({"a": 1, "b": 2});
    calls(&world, writes())(same.clone());
    calls(&world, Tool { name: "u".into(), ..writes() })(same.clone());
    calls(&world, authenticated("t"))(same.clone());
    calls(&world, authenticated("t"))(same.clone());
    assert_eq!(world.written.borrow().len(), 3);
    world.answer_script(Ok(Returned::Value(json!({"subject": "1", "jti": 2}))));
    calls(&world, authenticated("t"))(same);
    assert_eq!(world.written.borrow().len(), 4);
}

#[test]
fn a_statement_answers_again_from_its_record() {
    let world = World::new();
    world.answer_rows(changed(3));
    world.answer_script(Ok(Returned::Value(json!("mapped"))));
    let ask = calls(&world, Tool { map_output: Some(script(MAP_OUTPUT)), ..writes() });
    let first = ask(json!({"a": 1, "b": 2}));
    world.answer_rows(changed(9));
    let second = ask(json!({"a": 1, "b": 2, "c": 3}));
    assert_eq!((is_replayed(&first), is_replayed(&second)), (false, true));
    assert_eq!(first.content, second.content);
    assert_eq!(world.asked.borrow().len(), 1);
    let mapped: Vec<Json> = world.seen.borrow().iter().map(|seen| seen.payload["results"].clone()).collect();
    assert_eq!(mapped, [json!({"affected_rows": 3}), json!({"affected_rows": 3})]);
}

#[test]
fn a_failure_after_the_change_invites_to_the_same_call() {
    let world = World::new();
    world.answer_rows(changed(1));
    world.answer_script(Err(ScriptFault::Thrown(thrown())));
    let ask = calls(&world, Tool { map_output: Some(script(MAP_OUTPUT)), ..writes() });
    for replayed in [false, true] {
        let result = ask(json!({"a": 1, "b": 2}));
        assert_eq!(fault(&result)["change_made"], true);
        assert!(fault(&result)["suggestion"].as_str().unwrap().starts_with(RECORDED), "{}", fault(&result));
        assert_eq!(is_replayed(&result), replayed);
    }
    world.answer_script(Ok(Returned::Value(json!("mapped"))));
    assert!(!ask(json!({"a": 1, "b": 2})).is_error);
    assert_eq!(world.asked.borrow().len(), 1);
    // What is not known is safe to try again, too.
    for (kind, code) in [(ErrorKind::TimedOut, "TIMEOUT"), (ErrorKind::Unavailable, "DATABASE_UNAVAILABLE")] {
        world.answer_error(Error::new(kind, "it broke"));
        let fault = fault(&calls(&world, writes())(json!({"a": 7, "b": 2})));
        assert_eq!((&fault["code"], &fault["suggestion"], &fault["retryable"]), (&json!(code), &json!(SAFE), &json!(true)));
    }
    *world.on_query.borrow_mut() = Some(Box::new(|_| None));
    assert_eq!(fault(&calls(&world, writes())(json!({"a": 8, "b": 2})))["suggestion"], SAFE);
}

#[test]
fn a_record_without_an_answer_makes_no_change() {
    let world = World::new();
    let ask = calls(&world, writes());
    ask(json!({"a": 1, "b": 2}));
    for (known, code, retryable) in
        [(RecordedWrite::MadeBeforeUnknown, "ANSWER_UNKNOWN", false), (RecordedWrite::Running, "CONFLICT", true)]
    {
        world.written.borrow_mut().values_mut().for_each(|value| *value = known.clone());
        let result = ask(json!({"a": 1, "b": 2}));
        assert_eq!((&fault(&result)["code"], &fault(&result)["retryable"]), (&json!(code), &json!(retryable)));
        assert_eq!(is_replayed(&result), code == "ANSWER_UNKNOWN");
    }
    assert_eq!(world.asked.borrow().len(), 1);
}

#[test]
fn a_script_answers_again_until_its_record_expires() {
    let world = World::new();
    let ask = calls(&world, scripted());
    world.answer_script(Ok(Returned::Value(json!({"n": 1}))));
    let first = ask(json!({"a": 1, "b": 2}));
    world.answer_script(Ok(Returned::Value(json!({"n": 2}))));
    let second = ask(json!({"a": 1, "b": 2}));
    assert_eq!((&first.content, is_replayed(&first), is_replayed(&second)), (&second.content, false, true));
    assert_eq!(world.seen.borrow().len(), 1);
    world.now_ms.set(NOW_MS + 60_000);
    assert!(!is_replayed(&ask(json!({"a": 1, "b": 2}))));
    assert_eq!(world.seen.borrow().len(), 2);
}

#[test]
fn a_script_that_runs_is_a_conflict_and_a_store_that_fails_runs_nothing() {
    let world = World::new();
    let ask = calls(&world, scripted());
    ask(json!({"a": 1, "b": 2}));
    world.records.borrow_mut().values_mut().for_each(|(value, _)| *value = br#"{"running":"somebody else"}"#.to_vec());
    let conflict = fault(&ask(json!({"a": 1, "b": 2})));
    assert_eq!((&conflict["code"], &conflict["retryable"], &conflict["retry_after"]), (&json!("CONFLICT"), &json!(true), &json!(1)));
    // Another version of Millrace wrote it.
    world.records.borrow_mut().values_mut().for_each(|(value, _)| *value = b"?".to_vec());
    assert_eq!(fault(&ask(json!({"a": 1, "b": 2})))["code"], "ANSWER_UNKNOWN");
    world.state_fails.set(true);
    let away = fault(&ask(json!({"a": 3, "b": 2})));
    assert_eq!((&away["code"], &away["retryable"]), (&json!("STATE_UNAVAILABLE"), &json!(true)));
    assert_eq!(world.seen.borrow().len(), 1);
}

#[test]
fn the_record_of_a_script_stands_for_as_long_as_its_answer_and_longer_than_it_can_run() {
    for (ttl_s, running_ms) in [(60, 60_000), (1, 5_000 + 30_000)] {
        let world = World::new();
        let at_work = Rc::clone(&world);
        *world.on_script.borrow_mut() = Some(Box::new(move |_| {
            let expires: Vec<u64> = at_work.records.borrow().values().map(|(_, expires_ms)| *expires_ms).collect();
            assert_eq!(expires, [NOW_MS + running_ms]);
            Some(Ok(Returned::Value(json!(1))))
        }));
        let mut tool = scripted();
        tool.idempotency.as_mut().unwrap().ttl_s = ttl_s;
        calls(&world, tool)(json!({"a": 1, "b": 2}));
        let expires = world.records.borrow().values().map(|(_, expires_ms)| *expires_ms).collect::<Vec<_>>();
        assert_eq!(expires, [NOW_MS + u64::from(ttl_s) * 1000]);
    }
}

/// Has a script begin whose record then stays as it is.
fn begun(world: &Rc<World>, ask: &impl Fn(Json) -> ToolResult) -> Vec<u8> {
    let at_work = Rc::clone(world);
    let running = Rc::new(std::cell::RefCell::default());
    let seen = Rc::clone(&running);
    *world.on_script.borrow_mut() = Some(Box::new(move |_| {
        *seen.borrow_mut() = at_work.records.borrow().values().next().unwrap().0.clone();
        Some(Ok(Returned::Value(json!(1))))
    }));
    ask(json!({"a": 1, "b": 2}));
    *world.on_script.borrow_mut() = None;
    world.records.borrow_mut().values_mut().for_each(|(value, _)| value.clone_from(&running.borrow()));
    running.take()
}

#[test]
fn a_call_whose_process_has_ended_is_never_run_again() {
    let world = World::new();
    *world.holder.borrow_mut() = Some("p1".into());
    let ask = calls(&world, scripted());
    let running = begun(&world, &ask);
    assert!(String::from_utf8_lossy(&running).contains(r#""holder":"p1""#));
    // Randomness stands still here: the time tells the writers apart.
    world.now_ms.set(NOW_MS + 1);
    assert_eq!(fault(&ask(json!({"a": 1, "b": 2})))["code"], "CONFLICT", "it may still run");
    *world.holder.borrow_mut() = Some("p2".into());
    for _ in 0..2 {
        let result = ask(json!({"a": 1, "b": 2}));
        let fault = fault(&result);
        assert_eq!((&fault["code"], &fault["retryable"]), (&json!("INTERRUPTED"), &json!(false)), "{fault}");
        assert!(is_replayed(&result));
    }
    assert_eq!(world.seen.borrow().len(), 1);
    // Its time is over: a new call.
    world.now_ms.set(NOW_MS + 60_000);
    assert!(!is_replayed(&ask(json!({"a": 1, "b": 2}))));
}

#[test]
fn a_call_that_nobody_can_ask_about_is_interrupted_after_its_deadline() {
    let world = World::new();
    let ask = calls(&world, scripted());
    begun(&world, &ask);
    world.now_ms.set(NOW_MS + 5_000 + 29_999);
    assert_eq!(fault(&ask(json!({"a": 1, "b": 2})))["code"], "CONFLICT");
    world.now_ms.set(NOW_MS + 5_000 + 30_000);
    assert_eq!(fault(&ask(json!({"a": 1, "b": 2})))["code"], "INTERRUPTED");
    assert_eq!(world.seen.borrow().len(), 1);
}

#[test]
fn an_answer_that_does_not_fit_leaves_the_end_of_its_call() {
    let world = World::new();
    let ask = calls(&world, scripted());
    world.longest_record.set(Some(40));
    world.answer_script(Ok(Returned::Value(json!("a text that is longer than the store can keep"))));
    assert!(!ask(json!({"a": 1, "b": 2})).is_error);
    assert_eq!(world.records.borrow().values().next().unwrap().0, b"\"ended\"");
    let again = ask(json!({"a": 1, "b": 2}));
    assert_eq!(fault(&again)["code"], "ANSWER_UNKNOWN");
    assert_eq!(world.seen.borrow().len(), 1);
}

#[test]
fn a_script_that_fails_runs_again_unless_it_changed_something() {
    let write = "UPDATE t SET a = 1";
    for (text, outcome, runs) in [
        ("SELECT 1", Ok(Rows::default()), 2),
        (write, Ok(changed(0)), 2),
        (write, Err(Error::new(ErrorKind::Constraint, "no")), 2),
        (write, Ok(changed(1)), 1),
        (write, Err(Error::new(ErrorKind::Protocol, "lost")), 1),
    ] {
        let world = World::new();
        *world.on_query.borrow_mut() = Some(Box::new(move |_| Some(outcome.clone())));
        *world.on_host.borrow_mut() = Some(Rc::new(move |host| {
            Box::pin(async move {
                let _ = host.query("main", text, vec![]).await;
                json!(null)
            })
        }));
        world.set_env("SHOP_TOKEN", "hunter2hunter2");
        world.answer_script(Err(ScriptFault::Thrown(Thrown { message: "no hunter2hunter2".into(), ..thrown() })));
        let mut app = app(vec![scripted()]);
        app.env = vec!["SHOP_TOKEN".into()];
        let pipeline = Pipeline::new(Rc::new(app), world.ports());
        let ask = || call(&pipeline, json!({"a": 1, "b": 2}), &With::default()).unwrap();
        let (first, second) = (ask(), ask());
        assert_eq!(world.seen.borrow().len(), runs, "{text}");
        assert_eq!((first.content, is_replayed(&second)), (second.content.clone(), runs == 1));
        let fault = fault(&second);
        let kept = "Before this failed, a change was made, or may have been. Calling the tool again with the same inputs gives this failure \
                    again and does nothing";
        assert_eq!(fault["suggestion"].as_str().unwrap().starts_with(kept), runs == 1, "{fault}");
        assert_eq!((&fault["code"], &fault["retryable"]), (&json!("SCRIPT_ERROR"), &json!(false)));
        for (record, _) in world.records.borrow().values() {
            assert!(!String::from_utf8_lossy(record).contains("hunter2"));
        }
    }
}

#[test]
fn a_request_that_may_change_something_counts_as_a_change() {
    for (method, runs) in [("GET", 2), ("POST", 1)] {
        let world = World::new();
        *world.on_http.borrow_mut() = Some(Box::new(|_| Some(Err(Error::new(ErrorKind::Protocol, "lost")))));
        *world.on_host.borrow_mut() = Some(Rc::new(move |host| {
            Box::pin(async move {
                let request = HttpRequest {
                    method: method.into(),
                    url: "https://api.example.com/".into(),
                    headers: Default::default(),
                    body: vec![],
                    deadline_ms: u64::MAX,
                    max_response_bytes: 1,
                    ..HttpRequest::default()
                };
                let _ = host.fetch(request, Redirect::Follow).await;
                json!(null)
            })
        }));
        world.answer_script(Err(ScriptFault::Thrown(thrown())));
        let mut app = app(vec![scripted()]);
        app.fetch_allow = vec!["api.example.com".into()];
        let pipeline = Pipeline::new(Rc::new(app), world.ports());
        for _ in 0..2 {
            let _ = call(&pipeline, json!({"a": 1, "b": 2}), &With::default());
        }
        assert_eq!(world.seen.borrow().len(), runs, "{method}");
    }
}

#[test]
fn an_answer_too_large_for_a_record_is_not_given_twice() {
    let world = World::new();
    world.answer_script(Ok(Returned::Value(json!("x".repeat(256 << 10)))));
    let mut tool = scripted();
    tool.limits.output_bytes = 1 << 20;
    let ask = calls(&world, tool);
    assert!(!ask(json!({"a": 1, "b": 2})).is_error);
    assert_eq!(fault(&ask(json!({"a": 1, "b": 2})))["code"], "ANSWER_UNKNOWN");
    assert_eq!(world.seen.borrow().len(), 1);
}

#[test]
fn a_call_that_was_made_is_not_asked_about_again() {
    let world = World::new();
    let ask = calls(&world, scripted());
    ask(json!({"a": 1, "b": 2}));
    let mut confirmed = scripted();
    confirmed.confirm = Some(Template(vec![TemplatePart::Text("Sure?".into())]));
    let ask = calls(&world, confirmed);
    assert!(is_replayed(&ask(json!({"a": 1, "b": 2}))));
    assert_eq!(fault(&ask(json!({"a": 1, "b": 3})))["code"], "INPUT_NOT_SUPPORTED");
    assert_eq!(world.records.borrow().len(), 1);
}
