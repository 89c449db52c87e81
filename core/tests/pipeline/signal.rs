//! Deadlines and callers that go away.

use std::rc::Rc;

use millrace_core::{
    app::{Access, Auth, Cache, CacheScope, ErrorStyle, Execute, ParamStyle, Part, Policy, Tool},
    cancel::Cancel,
    ports::{Returned, ScriptFault},
    value::{Rows, Value},
};
use serde_json::json;

use crate::fakes::*;

/// A tool that passes every stage that waits for something.
fn long_tool() -> Tool {
    Tool {
        auth: Some(Auth::Script { script: script(PLUGIN), policy: Policy::default() }),
        map_input: Some(script(MAP_INPUT)),
        map_output: Some(script(MAP_OUTPUT)),
        ..select_tool()
    }
}

#[test]
fn a_signal_ends_the_call_at_the_next_boundary() {
    // Trips the signal while the given thing runs; says what has run in the end.
    let run = |when: &'static str, trip: fn(&World, &Cancel)| {
        let world = World::new();
        let cancel = Cancel::new();
        let trips = {
            move |what: &str, world: &World, cancel: &Cancel| {
                if what == when {
                    trip(world, cancel)
                }
            }
        };
        let (script_world, script_cancel) = (Rc::downgrade(&world), cancel.clone());
        *world.on_script.borrow_mut() = Some(Box::new(move |seen| {
            trips(&seen.path, &script_world.upgrade().unwrap(), &script_cancel);
            Some(Ok(if seen.path == "auth.ts" { Returned::Undefined } else { Returned::Value(json!({})) }))
        }));
        let (query_world, query_cancel) = (Rc::downgrade(&world), cancel.clone());
        *world.on_query.borrow_mut() = Some(Box::new(move |_| {
            trips("query", &query_world.upgrade().unwrap(), &query_cancel);
            Some(Ok(rows(&["id"], vec![vec![Value::Null]])))
        }));
        trips("before", &world, &cancel);
        let with = With { cancel, deadline_ms: Some(NOW_MS + 100), ..With::default() };
        let result = call(&pipeline(&world, long_tool()), json!({}), &with).unwrap();
        assert_eq!(meta(&result)["stage"], json!("signal"), "{when}");
        let ran: Vec<_> = world.seen.borrow().iter().map(|seen| seen.path.trim_end_matches(".ts").to_owned()).collect();
        (format!("{} {}", ran.join(" "), world.asked.borrow().len()), meta(&result)["code"].as_str().unwrap().to_owned())
    };
    let stages = [("auth.ts", "auth 0"), ("input.ts", "auth input 0"), ("query", "auth input 1"), ("output.ts", "auth input output 1")];
    for (when, ran) in stages {
        assert_eq!(run(when, |_, cancel| cancel.trip()), (ran.into(), "CANCELLED".into()));
        assert_eq!(run(when, |world, _| world.now_ms.set(NOW_MS + 100)), (ran.into(), "TIMEOUT".into()));
    }
    assert_eq!(run("before", |_, cancel| cancel.trip()), (" 0".into(), "CANCELLED".into()));
    assert_eq!(run("before", |world, _| world.now_ms.set(NOW_MS + 5_000)), (" 0".into(), "TIMEOUT".into()));
}

#[test]
fn work_that_never_ends_is_left_at_the_deadline() {
    let never_scripts = || {
        let world = World::new();
        *world.on_script.borrow_mut() = Some(Box::new(|_| None));
        world
    };
    let world = World::new();
    *world.on_query.borrow_mut() = Some(Box::new(|_| None));
    for (world, tool, stage) in [
        (world, select_tool(), "execute"),
        (never_scripts(), script_tool(), "execute"),
        (never_scripts(), Tool { map_input: Some(script(MAP_INPUT)), ..select_tool() }, "map_input"),
        (never_scripts(), Tool { map_output: Some(script(MAP_OUTPUT)), ..select_tool() }, "map_output"),
    ] {
        let with = With { deadline_ms: Some(NOW_MS + 300), ..With::default() };
        let result = call(&pipeline(&world, tool), json!({}), &with).unwrap();
        let meta = meta(&result);
        assert_eq!((&meta["stage"], &meta["code"], &meta["retryable"]), (&json!(stage), &json!("TIMEOUT"), &json!(true)));
        assert_eq!(meta["message"], json!("The call did not finish in the time that the request had left."));
        assert_eq!(*world.sleeps.borrow(), [302]);
    }
}

#[test]
fn a_script_that_promises_to_read_leaves_nothing_to_check() {
    for (descriptor, expected) in [
        ("", "Check first whether the change was made"),
        (r#"{"annotations":{"readOnlyHint":false}}"#, "Check first whether the change was made"),
        (r#"{"annotations":{"readOnlyHint":true}}"#, "Calling the tool again later"),
    ] {
        let world = World::new();
        let late = Rc::downgrade(&world);
        *world.on_script.borrow_mut() = Some(Box::new(move |_| {
            late.upgrade().unwrap().now_ms.set(NOW_MS + 30_000);
            Some(Err(ScriptFault::TimedOut))
        }));
        let result = run(&world, Tool { descriptor: descriptor.to_owned(), ..script_tool() }, json!({})).unwrap();
        let meta = meta(&result);
        assert!(meta["code"] == "TIMEOUT" && meta["suggestion"].as_str().unwrap().starts_with(expected), "{descriptor}: {meta}");
    }
}

#[test]
fn a_change_that_was_made_too_late_is_not_called_undone() {
    for (access, affected, expected) in [
        (Access::Read, 1, "Calling the tool again later"),
        (Access::Write, 1, "The change was made: calling the tool again would make it a second time."),
        (Access::Write, 0, "Check first whether the change was made"),
    ] {
        let world = World::new();
        let late = Rc::downgrade(&world);
        *world.on_query.borrow_mut() = Some(Box::new(move |_| {
            late.upgrade().unwrap().now_ms.set(NOW_MS + 5_000);
            Some(Ok(Rows { affected, ..rows(&[], vec![]) }))
        }));
        let parts = vec![Part::Text("UPDATE t SET a = 1".into())];
        let execute = Execute::Statement { adapter: 0, statement: statement(parts, ParamStyle::Question, access) };
        let result = run(&world, tool("t", execute), json!({})).unwrap();
        let meta = meta(&result);
        assert!(meta["suggestion"].as_str().unwrap().starts_with(expected), "{meta}");
        let made = expected.contains("was made:");
        assert_eq!((&meta["retryable"], meta.get("change_made")), (&json!(!made), made.then_some(&json!(true))), "{meta}");
    }
}

#[test]
fn a_caller_that_goes_away_ends_the_wait() {
    let world = World::new();
    let cancel = Cancel::new();
    let tripped = cancel.clone();
    *world.on_query.borrow_mut() = Some(Box::new(move |_| {
        tripped.trip();
        None
    }));
    let mut tool = select_tool();
    tool.errors.style = ErrorStyle::Protocol;
    let fault = call(&pipeline(&world, tool), json!({}), &With { cancel, ..With::default() }).unwrap_err();
    assert_eq!((fault.code.as_str(), fault.message.as_str(), fault.is_retryable()), ("CANCELLED", "Request cancelled.", false));
    assert!(world.sleeps.borrow().is_empty(), "no timer was needed");
}

#[test]
fn work_that_is_ready_starts_no_timer() {
    let world = World::new();
    let tool = Tool { cache: Some(Cache { ttl_s: 1, scope: CacheScope::Public, key: None }), ..long_tool() };
    *world.on_script.borrow_mut() =
        Some(Box::new(|seen| Some(Ok(if seen.path == "auth.ts" { Returned::Undefined } else { Returned::Value(json!({})) }))));
    assert!(!run(&world, tool, json!({})).unwrap().is_error);
    assert!(world.sleeps.borrow().is_empty());
}
