//! What a script starts and does not wait for fails its call, with the place.
#![allow(clippy::result_large_err, reason = "tests")]

use millrace_core::ports::{LogLevel, Returned, ScriptFault};
use serde_json::{Value as Json, json};

use crate::support::{Setup, program};

fn outcome(function: &str) -> Result<Returned, ScriptFault> {
    let setup = Setup::new(&[&program(function), &program("() => 'fine'")]);
    let outcome = setup.call(0, Json::Null);
    assert_eq!(setup.call(1, Json::Null), Ok(Returned::Value(json!("fine"))), "after {function}");
    outcome
}

#[test]
fn what_nothing_awaits_fails_the_call() {
    const QUERY: &str = "nothing awaits `ctx.db(\"db\").query(…)`";
    const NO_ADAPTER: &str = "nothing awaits `ctx.db(\"no\").query(…)`; it failed: the adapter `no` does not exist";
    const BEFORE: &str = "the script returned before `ctx.db(\"db\").query(…)` was sent: `await` it, and whatever waits for it";
    const REJECTED: &str = "a promise was rejected, and nothing awaits it or catches that: ";
    let cases = [
        ("(p, { db }) => { db('db').query('INSERT'); return 'done' }", QUERY.to_owned()),
        ("(p, { db }) => { void db('db').query('INSERT'); return host.success('done') }", QUERY.to_owned()),
        ("(p, { db }) => { db('db').query('INSERT'); return host.toolError('X') }", QUERY.to_owned()),
        ("(p, { db }) => { db('db').query('INSERT'); throw host.toolError('X') }", QUERY.to_owned()),
        ("async (p, { db }) => { db('db').query('INSERT'); await null; return 1 }", QUERY.to_owned()),
        ("async (p, { db }) => { db('db').query('INSERT'); await db('db').query('SELECT'); return 1 }", QUERY.to_owned()),
        ("async (p, { db }) => { const lost = db('db').query('INSERT'); return await db('db').query('SELECT') }", QUERY.to_owned()),
        ("async (p, { db }) => { db('no').query('INSERT'); await db('db').query('SELECT'); return 1 }", NO_ADAPTER.to_owned()),
        ("async (p, { db }) => { const save = async () => { await db('db').query('INSERT') }; save(); return 1 }", BEFORE.to_owned()),
        (
            "async (p, { db }) => { const save = async () => { await null; await null; await db('db').query('INSERT') }; save(); return 1 }",
            BEFORE.to_owned(),
        ),
        ("(p, { db }) => { db('db').query('INSERT').then(() => 1); return 1 }", BEFORE.to_owned()),
        ("(p, { db }) => { [1, 2].forEach(async () => { await db('db').query('INSERT') }); return 1 }", BEFORE.to_owned()),
        (
            "async (p, { db }) => { const save = async () => { try { await db('db').query('INSERT') } catch {} }; save(); return 1 }",
            BEFORE.to_owned(),
        ),
        (
            "async (p, { db }) => { const ask = async () => { await fetch('http://never/') }; ask(); await db('db').query('SELECT'); return 1 }",
            format!("{REJECTED}the script returned before `fetch(…)` was answered: `await` it, and whatever waits for it"),
        ),
        ("() => { fetch('http://x/', { method: 'POST' }); return 1 }", "nothing awaits `fetch(…)`".to_owned()),
        ("async () => { fetch('http://x/'); await new Promise(r => setTimeout(r, 50)); return 1 }", "nothing awaits `fetch(…)`".to_owned()),
        ("() => { Promise.reject(new Error('lost')); return 1 }", format!("{REJECTED}lost")),
        ("async () => { const f = async () => { throw new Error('lost') }; f(); return 1 }", format!("{REJECTED}lost")),
        ("async () => { new Promise((_, reject) => reject('text')); await null; return 1 }", format!("{REJECTED}text")),
        ("() => { Promise.resolve().then(() => { throw host.error('why') }); return 1 }", format!("{REJECTED}why")),
        (
            "async () => { const list = Array.from({ length: 20000 }, (_, n) => Promise.reject(n)); await Promise.allSettled(list.slice(0, -1)); return 1 }",
            "more promises were rejected at a time than are kept, before anything awaited them or caught that".to_owned(),
        ),
        (
            "() => { (async () => { for (;;) await null })(); return 1 }",
            "a function that nothing awaits was still running when the script returned".to_owned(),
        ),
    ];
    for (function, message) in cases {
        match outcome(function) {
            Err(ScriptFault::LeftBehind(thrown)) => assert_eq!(thrown.message, message, "{function}"),
            other => panic!("{function}: {other:?}"),
        }
    }
}

#[test]
fn the_place_is_that_of_the_query() {
    let function = "async (p, { db }) => {
        const save = () => {
            db('db').query('INSERT');
        };
        save();
        return 1;
    }";
    let Err(ScriptFault::LeftBehind(thrown)) = outcome(function) else { panic!("no fault") };
    let stack = thrown.stack.unwrap_or_default();
    let lines: Vec<&str> = stack.lines().collect();
    assert!(lines[0].starts_with("    at save (app/tools/0.ts:3:"), "{stack}");
    assert!(lines[1].contains("(app/tools/0.ts:5:"), "{stack}");
    let function = "async (p, { db }) => {
        const save = async () => {
            await db('no').query('INSERT');
        };
        save();
        await db('db').query('SELECT');
        return 1;
    }";
    let Err(ScriptFault::LeftBehind(thrown)) = outcome(function) else { panic!("no fault") };
    assert!(thrown.stack.clone().unwrap_or_default().contains("(app/tools/0.ts:3:"), "{thrown:?}");
}

#[test]
fn what_something_waits_for_is_fine() {
    let cases = [
        ("(p, { db }) => db('db').query('SELECT')", json!([])),
        ("async (p, { db }) => db('db').query('SELECT')", json!([])),
        ("async (p, { db }) => { const rows = db('db').query('SELECT'); await null; return rows }", json!([])),
        ("async (p, { db }) => (await Promise.all([db('db').query('a'), db('db').query('b')])).length", json!(2)),
        (
            "async (p, { db }) => (await Promise.allSettled([db('no').query('a'), db('db').query('b')])).map(x => x.status)",
            json!(["rejected", "fulfilled"]),
        ),
        ("async (p, { db }) => { const lost = db('db').query('a'); await db('db').query('b'); return (await lost).length }", json!(0)),
        (
            "async (p, { db }) => { const a = db('db').query('a').catch(() => 1); const b = db('no').query('b').catch(() => 2); return [await b, (await a).length] }",
            json!([2, 0]),
        ),
        ("async (p, { db }) => await Promise.race([db('db').query('a'), db('db').query('b')])", json!([])),
        ("async () => await Promise.race([fetch('http://never/'), new Promise(r => setTimeout(r, 5, 'late'))])", json!("late")),
        (
            "async () => await Promise.race([fetch('http://never/').then(r => r.json()), new Promise(r => setTimeout(r, 5, 'late'))])",
            json!("late"),
        ),
        (
            "async () => { try { await Promise.all([fetch('http://denied/'), fetch('http://never/')]) } catch { return 'caught' } }",
            json!("caught"),
        ),
        ("async () => { setTimeout(() => { throw new Error('never') }, 1e6); return 1 }", json!(1)),
        (
            "async () => { const p = Promise.reject(new Error('later')); await null; try { await p } catch (e) { return e.message } }",
            json!("later"),
        ),
        ("async () => { const p = Promise.reject(1); p.catch(() => {}); return 1 }", json!(1)),
        ("async () => { const list = [1, 2, 3].map(n => Promise.reject(n)); return (await Promise.allSettled(list)).length }", json!(3)),
        (
            "async () => { const list = Array.from({ length: 11000 }, (_, n) => Promise.reject(n)); return (await Promise.allSettled(list)).length }",
            json!(11_000),
        ),
        ("async () => { const r = await fetch('http://x/'); return r.status }", json!(200)),
        ("() => { const p = (async () => 1)(); return 2 }", json!(2)),
        (
            "async () => { const p = fetch('http://x/'); return [p instanceof Promise, p.constructor === Promise, (await p).status] }",
            json!([true, true, 200]),
        ),
    ];
    for (function, expected) in cases {
        assert_eq!(outcome(function), Ok(Returned::Value(expected)), "{function}");
    }
}

#[test]
fn the_log_tells_of_timers_that_are_left() {
    let text = |timers: &str| {
        format!(
            "{timers} left when `app/tools/0.ts` returned, and what was to be done then is not done: `await` it, or call `clearTimeout`"
        )
    };
    let cases = [
        (
            "(p, { db }) => { (async () => { await new Promise(r => setTimeout(r, 5)); await db('db').query('INSERT') })(); return 1 }",
            Some(text("a timer was")),
        ),
        ("() => { setInterval(() => {}, 5); setTimeout(() => {}, 5); return 1 }", Some(text("2 timers were"))),
        ("async () => { await new Promise(r => setTimeout(r, 5)); clearTimeout(setTimeout(() => {}, 5)); return 1 }", None),
    ];
    for (function, expected) in cases {
        let setup = Setup::new(&[&program(function)]);
        assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!(1))), "{function}");
        let expected: Vec<_> = expected.map(|text| (LogLevel::Warn, text)).into_iter().collect();
        assert_eq!(*setup.host.log.borrow(), expected, "{function}");
        assert!(setup.host.queries.borrow().is_empty());
    }
}
