//! One image for all scripts of an app, and one instance for the scripts of a call.
#![allow(clippy::result_large_err, reason = "tests")]

use millrace_core::{
    Json,
    app::Script,
    ports::{Ambient, CallStore, Returned, ScriptEngine as _, ScriptFault, ScriptLoad, ScriptLoader as _},
};
use millrace_script::Engine;
use serde_json::json;

use crate::support::{Setup, block_on, poll_once, program};

const LATE: u64 = 1_000_000;

fn in_call(setup: &Setup, store: &CallStore, index: usize) -> Result<Returned, ScriptFault> {
    block_on(setup.start_in(store, index, &Json::Null, LATE))
}

fn value(value: Json) -> Result<Returned, ScriptFault> {
    Ok(Returned::Value(value))
}

#[test]
fn the_scripts_of_a_call_share_what_they_do_and_no_other_call_sees_it() {
    let counting = "(host) => { let n = 0; globalThis.all ??= 0; return { default: () => [++n, ++globalThis.all, [].mine ?? 0] } }";
    let patching = "(host) => ({ default: () => { Array.prototype.mine = 7; globalThis.all += 10; return null } })";
    let setup = Setup::new(&[counting, patching, counting]);
    for _ in 0..3 {
        let store = CallStore::default();
        assert_eq!(in_call(&setup, &store, 0), value(json!([1, 1, 0])));
        assert_eq!(in_call(&setup, &store, 0), value(json!([2, 2, 0])));
        assert_eq!(in_call(&setup, &store, 1), value(Json::Null));
        assert_eq!(in_call(&setup, &store, 2), value(json!([1, 13, 7])));
        assert_eq!(in_call(&setup, &store, 0), value(json!([3, 14, 7])));
    }
    assert_eq!(setup.engine.instances_made(), 1);
}

#[test]
fn scripts_that_run_at_the_same_time_have_an_instance_each() {
    let setup = Setup::new(&["(host) => { let n = 0; return { default: async () => { n++; await fetch('http://a/'); return n } } }"]);
    let store = CallStore::default();
    let null = Json::Null;
    let mut first = Box::pin(setup.start_in(&store, 0, &null, LATE));
    assert!(poll_once(first.as_mut()).is_pending());
    assert_eq!(in_call(&setup, &store, 0), value(json!(1)));
    assert_eq!(block_on(first), value(json!(1)));
    assert_eq!(setup.engine.instances_made(), 2);
    drop(store);
    assert_eq!(setup.call(0, Json::Null), value(json!(1)));
    assert_eq!(setup.engine.instances_made(), 2);
}

#[test]
fn each_script_of_a_call_has_all_of_the_work() {
    let setup = Setup::new(&[&program("() => { let n = 0; for (let i = 0; i < 1_500_000; i++) n += i; return 'done' }")]);
    let store = CallStore::default();
    for _ in 0..4 {
        assert_eq!(in_call(&setup, &store, 0), value(json!("done")));
    }
}

#[test]
fn what_a_script_has_left_does_not_disturb_the_next_one() {
    let left = [
        "ctx.db('db').query('SELECT 1').then(() => console.log('late')); throw new Error('no')",
        "Promise.reject(new Error('nobody')); throw new Error('no')",
        "(async () => { for (;;) await null })(); throw new Error('no')",
        "(async () => { for (let i = 0; i < 100; i++) await null; fetch('http://a/'); console.log('late') })(); throw new Error('no')",
        "setTimeout(() => console.log('late'), 1); return 1",
        "setInterval(() => { throw new Error('late') }, 1); throw new Error('no')",
        "return new Promise(() => {})",
        "fetch('http://never/'); return 1",
        "queueMicrotask(() => { for (;;); }); throw new Error('no')",
        "for (;;);",
        "const f = () => f(); f()",
        "const all = []; for (;;) all.push(new Uint8Array(1e6))",
    ];
    for body in left {
        let first = program(&format!("(payload, ctx) => {{ {body} }}"));
        let next = program("async (payload, ctx) => (await ctx.db('db').query('SELECT 2')).length");
        let setup = Setup::new(&[&first, &next]);
        let store = CallStore::default();
        drop(in_call(&setup, &store, 0));
        let (requests, queries) = (setup.host.requests.borrow().len(), setup.host.queries.borrow().len());
        setup.host.log.borrow_mut().clear();
        for _ in 0..2 {
            assert_eq!(in_call(&setup, &store, 1), value(json!(0)), "after {body}");
        }
        assert_eq!(setup.host.requests.borrow().len(), requests, "after {body}");
        assert_eq!(setup.host.queries.borrow().len(), queries + 2, "after {body}");
        assert!(setup.host.log.borrow().is_empty(), "after {body}: {:?}", setup.host.log);
    }
}

#[test]
fn a_script_that_failed_keeps_its_variables_and_one_that_was_stopped_does_not() {
    let script =
        |ends: &str| format!("(host) => {{ let n = 0; return {{ default: () => {{ n++; if (n === 1) {{ {ends} }} return n }} }} }}");
    for (ends, expected) in [("throw new Error('no')", 2), ("Promise.reject(1); return 1", 2), ("for (;;);", 1)] {
        let setup = Setup::new(&[&script(ends)]);
        let store = CallStore::default();
        assert!(in_call(&setup, &store, 0).is_err(), "{ends}");
        match expected {
            2 => assert_eq!(in_call(&setup, &store, 0), value(json!(2)), "{ends}"),
            // It begins anew.
            _ => assert!(in_call(&setup, &store, 0).is_err(), "{ends}"),
        }
    }
}

#[test]
fn a_script_that_takes_what_is_real_is_evaluated_in_each_call_that_uses_it() {
    let clock = "(host) => { const at = Date.now(); let n = 0; return { default: () => [at, ++n, globalThis.seen ?? 0] } }";
    let broken = "(host) => { globalThis.seen = 'left'; throw new Error('no') }";
    let rejected = "(host) => { Promise.reject(new Error('nobody')); return { default: () => 1 } }";
    let waits = "async (host) => { const answer = await fetch('http://a/'); const { hello } = await answer.json(); return { default: () => hello } }";
    let setup = Setup::new(&[clock, broken, rejected, waits, &program("() => typeof seen")]);
    for _ in 0..2 {
        let now = setup.host.now_ms.get();
        setup.host.now_ms.set(now + 5);
        let store = CallStore::default();
        let Ok(Returned::Value(first)) = in_call(&setup, &store, 0) else { panic!("no value") };
        assert_eq!((&first[0], &first[1]), (&json!(now + 5), &json!(1)));
        let Ok(Returned::Value(second)) = in_call(&setup, &store, 0) else { panic!("no value") };
        assert_eq!((&second[0], &second[1]), (&json!(now + 5), &json!(2)), "once in a call");
        assert_eq!(in_call(&setup, &store, 3), value(json!("world")));
        assert_eq!(in_call(&setup, &store, 4), value(json!("undefined")), "nothing of what threw is in the image");
        let Err(ScriptFault::Thrown(thrown)) = in_call(&setup, &store, 1) else { panic!("it does not throw") };
        assert_eq!(thrown.message, "no");
        let Err(ScriptFault::LeftBehind(left)) = in_call(&setup, &CallStore::default(), 2) else { panic!("nothing is left") };
        assert!(left.message.ends_with("nobody"), "{left:?}");
    }
}

#[test]
fn a_script_that_loads_without_the_clock_finds_0_there_and_the_time_in_a_call() {
    let mut setup =
        Setup::new(&["(host) => { const made = Date.now(); return { default: () => [made, Date.now() > 0, performance.now() < 1e6] } }"]);
    setup.scripts[0].loads_without_clock = true;
    setup.host.now_ms.set(5_000);
    for _ in 0..2 {
        assert_eq!(setup.call(0, Json::Null), value(json!([0, true, true])));
    }
}

#[test]
fn what_others_need_is_loaded_first_and_stays_where_there_is_no_more_room() {
    let big = "(host) => { const big = new Uint8Array(125 << 20).fill(1); return { default: () => big.length } }";
    let shared = "(host) => { globalThis.shared = new Uint8Array(8 << 20).fill(1); return { __proto__: null } }";
    let mut setup = Setup::new(&[big, shared, &program("() => shared.length")]);
    setup.scripts[1].path = Script::SHARED_PATH.to_owned();
    assert_eq!(setup.call(2, Json::Null), value(json!(8 << 20)));
    let faults: Vec<bool> = setup.engine.load(&setup.scripts).iter().map(|load| load.fault.is_some()).collect();
    assert_eq!(faults, [true, false, false]);
}

#[test]
fn modules_that_are_evaluated_in_a_call_have_work_of_their_own() {
    let rounds = |count: u32| format!("for (let i = 0; i < {count}; i++) n += i");
    let script = |loading: u32, call: u32| {
        let (loading, call) = (rounds(loading), rounds(call));
        format!("(host) => {{ let n = Date.now(); {loading}; return {{ default: () => {{ {call}; return 'done' }} }} }}")
    };
    // A round of such a loop takes less than half of what is counted for one.
    for (loading, call, ends) in
        [(6_000_000, 1_000, false), (6_000_000, 1_500_000, false), (1_000, 6_000_000, true), (40_000_000, 1_000, true)]
    {
        let setup = Setup::new(&[&script(loading, call)]);
        let store = CallStore::default();
        match in_call(&setup, &store, 0) {
            Ok(done) => assert!(!ends && Ok(done) == value(json!("done")), "{loading} {call}"),
            Err(fault) => assert!(ends && matches!(fault, ScriptFault::Limit(_)), "{loading} {call}: {fault:?}"),
        }
    }
}

#[test]
fn what_is_prepared_is_not_made_again() {
    let setup = Setup::new(&[&program("() => 1")]);
    setup.engine.prepare(&setup.scripts);
    assert_eq!(setup.engine.instances_made(), 1);
    assert_eq!(setup.call(0, Json::Null), value(json!(1)));
    assert_eq!(setup.engine.instances_made(), 1);
}

fn load(programs: &[&str]) -> (Vec<Script>, Vec<ScriptLoad>) {
    let scripts = Setup::new(programs).scripts;
    let loads = Engine::new().load(&scripts);
    assert_eq!(loads.len(), scripts.len());
    (scripts, loads)
}

#[test]
fn the_loader_says_what_came_of_each_script() {
    let (scripts, loads) = load(&[
        "(host) => ({ default: () => Date.now() })",
        "(host) => {\n  const more = x => x.a.b;\n  more(1);\n}",
        "(host) => (a b)",
        "(host) => { for (;;); }",
        "(host) => { throw 'text' }",
        "async (host) => { await fetch('http://a/'); return {} }",
        "async (host) => { await new Promise(() => {}) }",
        "(host) => { Promise.reject(new TypeError('nobody')); return {} }",
        "(host) => { host.requireInput({}); return {} }",
        "(host) => { queueMicrotask(() => { throw new Error('later') }); return {} }",
        "(host) => ({ default: 1 })",
    ]);
    let faults: Vec<Option<&str>> = loads.iter().map(|load| load.fault.as_ref().map(|fault| fault.message.as_str())).collect();
    assert_eq!(
        faults,
        [
            None,
            Some("TypeError: Cannot read properties of undefined (reading 'b')"),
            Some("SyntaxError: Unexpected identifier 'b'"),
            Some("its modules do more work than 6250000 rounds of a loop are"),
            Some("text"),
            None,
            Some("a module waits for a promise that nothing can settle"),
            Some("TypeError: nobody"),
            Some("Error: `requireInput` works in a call only"),
            Some("Error: later"),
            None,
        ]
    );
    assert_eq!(
        loads.iter().map(|load| load.awaits).collect::<Vec<_>>(),
        [false, false, false, false, false, true, false, false, false, false, false]
    );
    let place = |index: usize| {
        let stack = loads[index].fault.as_ref()?.stack.as_deref()?;
        scripts[index].calls(stack).next().map(|call| (call.line, call.column))
    };
    assert_eq!((place(1), place(2)), (Some((2, 21)), Some((1, 14))));
}

#[test]
fn the_loader_says_what_modules_take_and_where() {
    let (scripts, loads) = load(&[
        "(host) => {\n  const a = Date.now();\n  const b = new Date();\n  return {}\n}",
        "(host) => {\n  const pick = () => Math.random();\n  pick();\n  return {}\n}",
        "(host) => { crypto.randomUUID(); return {} }",
        "(host) => { const rates = fetch('http://a/'); return { default: () => rates } }",
        "(host) => { setTimeout(() => {}, 1); return {} }",
        "(host) => { console.log('up'); return {} }",
        "(host) => { performance.now(); return {} }",
        "(host) => { new Date(0); return { default: () => [Date.now(), Math.random()] } }",
        "(host) => { for (let i = 0; i < 1000; i++) Date.now(); return {} }",
    ]);
    let took = |index: usize| {
        let script: &Script = &scripts[index];
        let place = |stack: &Option<String>| script.calls(stack.as_deref().unwrap_or_default()).next().map(|call| (call.line, call.column));
        loads[index].took.iter().map(|taken| (taken.what, place(&taken.stack))).collect::<Vec<_>>()
    };
    assert!(loads.iter().all(|load| load.fault.is_none() && !load.awaits), "{loads:?}");
    let whats = |index: usize| took(index).into_iter().map(|(what, _)| what).collect::<Vec<_>>();
    assert_eq!(whats(0), [Ambient::Clock; 2]);
    assert_eq!(took(0).iter().map(|(_, place)| place.map(|(line, _)| line)).collect::<Vec<_>>(), [Some(2), Some(3)]);
    assert_eq!(took(1).iter().map(|(what, place)| (*what, place.map(|(line, _)| line))).collect::<Vec<_>>(), [(Ambient::Random, Some(2))]);
    assert_eq!(whats(2), [Ambient::Random]);
    assert_eq!(whats(3), [Ambient::Outside]);
    assert_eq!(whats(4), [Ambient::Timer]);
    assert_eq!(whats(5), [Ambient::Log]);
    assert_eq!(whats(6), [Ambient::Clock]);
    assert_eq!(whats(7), []);
    assert_eq!(whats(8), [Ambient::Clock], "each place once");
}

#[test]
fn five_hundred_scripts_are_one_image() {
    let programs: Vec<String> = (0..500).map(|n| program(&format!("() => {n}"))).collect();
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    let setup = Setup::new(&programs);
    for n in [0, 250, 499] {
        assert_eq!(setup.call(n, Json::Null), value(json!(n)));
    }
    assert_eq!(setup.engine.instances_made(), 1);
}
