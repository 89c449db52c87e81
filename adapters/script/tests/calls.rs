//! What a script gets, what it may return, and how it fails.
#![allow(clippy::result_large_err, reason = "tests")]

use millrace_core::{
    ports::{LogLevel, Reply, Returned, ScriptEngine as _, ScriptFault, Thrown, ToolErrorReply},
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::support::{Setup, block_on, call, poll_once, program, value};

#[test]
fn values_come_back_as_json_stringify_makes_them() {
    let cases = [
        ("({ inputs }) => ({ sum: inputs.a + inputs.b })", json!({"sum": 5})),
        ("async ({ inputs }) => inputs", json!({"a": 2, "b": 3})),
        ("() => 1.0", json!(1)),
        ("() => 9007199254740992", json!(9_007_199_254_740_992.0)),
        ("() => -9007199254740991", json!(-9_007_199_254_740_991_i64)),
        ("() => 1e300", json!(1e300)),
        ("() => 0.1 + 0.2", json!(0.300_000_000_000_000_04)),
        ("() => -0", json!(0)),
        ("() => 9007199254740991n", json!(9_007_199_254_740_991_i64)),
        ("() => [9007199254740992n, -12345678901234567890n, Object(5n)]", json!(["9007199254740992", "-12345678901234567890", 5])),
        ("() => ({ a: undefined, b: null, 2: 'two', 1: 'one' })", json!({"1": "one", "2": "two", "b": null})),
        ("() => new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("() => ({ d: new Date(1.5e12) })", json!({"d": "2017-07-14T02:40:00.000Z"})),
        ("() => ({ toJSON(key) { return { key } } })", json!({"key": ""})),
        ("() => ({ a: { toJSON(key) { return key } } })", json!({"a": "a"})),
        ("() => [new Number(3), new String('s'), new Boolean(false)]", json!([3, "s", false])),
        ("() => ({ get a() { return 1 } })", json!({"a": 1})),
        ("() => { class P { x = 1; #y = 2; m() {} } return new P() }", json!({"x": 1})),
        ("() => Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })", json!({"own": 2})),
        ("() => new Proxy({ a: 1 }, {})", json!({"a": 1})),
        ("() => new Proxy([1], {})", json!([1])),
        ("() => (function () { return [arguments, arguments.length] })(1)", json!([{"0": 1}, 1])),
        ("() => 'a'.match(/(?<x>a)/)", json!(["a", "a"])),
        ("() => new URL('http://x/y')", json!("http://x/y")),
        ("() => Object.create(null)", json!({})),
        ("() => { class E extends Error { toJSON() { return { m: this.message } } } return [new E('own')] }", json!([{"m": "own"}])),
        ("() => { const shared = { x: 1 }; return [shared, shared] }", json!([{"x": 1}, {"x": 1}])),
        ("() => ({ [Symbol('s')]: 1, a: 2 })", json!({"a": 2})),
        ("() => 'é𝒳\\u2028\\ud800'", json!("é𝒳\u{2028}\u{fffd}")),
        ("() => ({ then: r => r('thenable') })", json!("thenable")),
        ("() => ({ then: 1 })", json!({"then": 1})),
        ("() => new Proxy({}, { get: (_, key) => key === 'then' ? r => r('proxy') : undefined })", json!("proxy")),
        ("() => { class T { get then() { return r => r('getter') } } return new T() }", json!("getter")),
        ("async () => { await null; return await Promise.all([1, Promise.resolve(2)]) }", json!([1, 2])),
    ];
    for (function, expected) in cases {
        assert_eq!(call(function, json!({"inputs": {"a": 2, "b": 3}})), Ok(Returned::Value(expected)), "{function}");
    }
    assert_eq!(call("() => {}", Json::Null), Ok(Returned::Undefined));
    assert_eq!(call("async () => undefined", Json::Null), Ok(Returned::Undefined));
}

#[test]
fn what_is_no_json_is_named() {
    let cases = [
        ("() => () => 1", "`results` is a function"),
        ("() => ({ items: [1, 2, { fn() {} }] })", "`results.items[2].fn` is a function"),
        ("() => Symbol('x')", "`results` is a symbol"),
        ("() => { const o = { a: {} }; o.a.self = o; return o }", "`results.a.self` refers back to `results`"),
        ("() => { const a = [[]]; a[0].push(a[0]); return a }", "`results[0][0]` refers back to `results[0]`"),
        ("() => { let o = {}; for (let i = 0; i < 300; i++) o = { o }; return o }", "`results` is nested more than 256 levels deep"),
        ("() => ({ r: host.success(1) })", "`results.r` is a reply of `millrace`; return the reply itself"),
        ("() => host.success({ f() {} })", "`results.f` is a function"),
    ];
    for (function, expected) in cases {
        assert_eq!(call(function, Json::Null), Err(ScriptFault::NotJson(expected.into())), "{function}");
    }
}

fn thrown(message: &str) -> ScriptFault {
    ScriptFault::Thrown(Thrown { message: message.into(), stack: None, cause: None, reply: None })
}

#[test]
fn every_fault_is_told_and_the_next_call_works() {
    let loops = ScriptFault::Limit("the script did more work than `limits.script.loops` (2000000) allows".into());
    let recursion = ScriptFault::Limit("the script nested its calls too deep".into());
    let memory = ScriptFault::Limit("the script took more memory than `limits.script.memory` (67108864 bytes) allows".into());
    let output = ScriptFault::Limit("the result is longer than 100000 bytes as JSON (`limits.script.output`)".into());
    let cases = [
        ("() => { throw new Error('boom') }", thrown("boom")),
        ("async () => { throw new Error('boom') }", thrown("boom")),
        ("async () => { await null; throw new TypeError('later') }", thrown("later")),
        ("() => Promise.reject('text')", thrown("text")),
        ("() => { throw 'text' }", thrown("text")),
        ("() => { throw undefined }", thrown("the script threw `undefined`")),
        ("() => { throw null }", thrown("the script threw `null`")),
        ("() => { throw 42 }", thrown("the script threw `42`")),
        ("() => { throw { message: 'from an object' } }", thrown("from an object")),
        ("() => { throw {} }", thrown("the script threw an object without `message`")),
        ("() => { throw new Proxy({}, { get() { throw 1 } }) }", thrown("the script threw an object without `message`")),
        ("() => missing.x", thrown("missing is not defined")),
        ("() => new Promise(() => {})", ScriptFault::NeverSettles),
        ("async () => { await new Promise(() => {}) }", ScriptFault::NeverSettles),
        ("() => { while (true); }", loops.clone()),
        ("() => { for (;;); }", loops.clone()),
        ("() => { try { while (true); } catch { return 1 } finally { return 2 } }", loops.clone()),
        ("async () => { await null; while (true); }", loops.clone()),
        ("async () => { await null; for (let i = 0; i < 1e9; i++); }", loops.clone()),
        ("() => [1].map(() => { while (true); })", loops.clone()),
        ("() => { throw { get message() { while (true); } } }", loops.clone()),
        ("() => { const f = () => f(); f() }", recursion.clone()),
        ("async () => { await null; const f = () => [1].map(f); f() }", recursion.clone()),
        ("() => { const f = () => JSON.stringify({ toJSON: f }); f() }", recursion.clone()),
        ("() => { const o = { get x() { return this.x } }; return o.x }", recursion),
        ("() => 'x'.repeat(100000)", output.clone()),
        ("() => host.success(['x'.repeat(100000)])", output.clone()),
        ("() => new Array(4e9)", output.clone()),
        ("() => { const a = 'x'.repeat(60000); return [a, a] }", output),
        ("() => { let s = new ArrayBuffer(100 * 1024 * 1024) }", memory),
    ];
    for (function, expected) in cases {
        let setup = Setup::new(&[&program(function), &program("({ n }) => n + 1")]);
        let outcome = setup.call(0, Json::Null);
        match (outcome, &expected) {
            (Err(ScriptFault::Thrown(outcome)), ScriptFault::Thrown(expected)) => {
                assert_eq!(outcome.message, expected.message, "{function}");
            }
            (outcome, expected) => assert_eq!(outcome.as_ref(), Err(expected), "{function}"),
        }
        assert_eq!(setup.call(1, json!({"n": 1})), Ok(Returned::Value(json!(2))), "after {function}");
    }
}

#[test]
fn a_broken_program_says_what_is_broken() {
    let broken = |text: &str| match Setup::new(&[text]).call(0, Json::Null) {
        Err(ScriptFault::Broken(text)) => text,
        other => panic!("{text}: {other:?}"),
    };
    assert!(broken("(host) => {").starts_with("`app/tools/0.ts` does not compile: SyntaxError"), "{}", broken("(host) => {"));
    assert_eq!(broken("(host) => ({})"), "`app/tools/0.ts` has no export `default`");
    assert_eq!(broken("(host) => ({ default: 5 })"), "the export `default` of `app/tools/0.ts` is not a function");
    assert_eq!(broken("async (host) => undefined"), "`app/tools/0.ts` has no export `default`");
}

#[test]
fn modules_may_wait_and_fail() {
    let setup = Setup::new(&["async (host) => { await null; const x = await fetch('http://x/'); return { default: () => x.status } }"]);
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!(200))));
    let setup = Setup::new(&["async (host) => { throw new Error('module') }"]);
    assert!(matches!(setup.call(0, Json::Null), Err(ScriptFault::Thrown(thrown)) if thrown.message == "module"));
    let setup = Setup::new(&["(host) => { while (true); }"]);
    assert!(matches!(setup.call(0, Json::Null), Err(ScriptFault::Limit(_))));
}

#[test]
fn a_script_that_never_ends_stops_at_its_deadline() {
    let cases = [
        "() => { while (true); }",
        "() => { const f = n => n < 2 ? n : f(n - 1) + f(n - 2); return f(50) }",
        "() => { for (;;) [1, 2, 3].map(x => x + 1) }",
        "async () => { await null; while (true); }",
        "async () => { await null; const f = n => n < 2 ? n : f(n - 1) + f(n - 2); return f(50) }",
        "() => [3, 2, 1].sort(() => { while (true); })",
        "() => { const o = { get x() { while (true); } }; return o }",
        "() => ({ toJSON() { while (true); } })",
        "async () => { while (true) await null }",
        "() => new Promise(() => { setInterval(() => {}, 0) })",
        "() => new Promise(() => { setInterval(() => {}, 100) })",
        "() => new Promise(r => setTimeout(r, 1e9))",
        "() => fetch('http://never/')",
        "() => { function* g() { while (true) yield 1 } for (const x of g()); }",
        "() => { class A { static { while (true); } } }",
        "() => { throw { get message() { while (true); } } }",
        "() => new Proxy({}, { ownKeys() { while (true); } })",
    ];
    for function in cases {
        let mut setup = Setup::new(&[&program(function), &program("() => 'fine'")]);
        setup.limits.loops = u64::MAX;
        setup.host.tick_ms.set(50);
        let outcome = block_on(setup.start_until(0, &Json::Null, setup.host.now_ms.get() + 400));
        assert_eq!(outcome, Err(ScriptFault::TimedOut), "{function}");
        setup.host.tick_ms.set(0);
        assert_eq!(setup.call(1, Json::Null), Ok(Returned::Value(json!("fine"))), "after {function}");
    }
    let setup = Setup::new(&[&program("() => 1")]);
    assert_eq!(block_on(setup.start_until(0, &Json::Null, 0)), Err(ScriptFault::TimedOut), "the deadline has passed before");
    assert_eq!(setup.engine.instances_made(), 0);
}

#[test]
fn a_caller_that_goes_away_ends_the_call() {
    for function in ["() => fetch('http://never/')", "async () => { await fetch('http://x/'); while (true); }"] {
        let setup = Setup::new(&[&program(function)]);
        *setup.host.cancel_at_fetch.borrow_mut() = Some(setup.cancel.clone());
        assert_eq!(setup.call(0, Json::Null), Err(ScriptFault::Cancelled), "{function}");
    }
}

#[test]
fn a_call_that_is_dropped_takes_its_world_with_it() {
    let setup = Setup::new(&[&program("() => { globalThis.x = 1; return fetch('http://never/') }"), &program("() => typeof x")]);
    {
        let mut call = std::pin::pin!(setup.start(0, &Json::Null));
        for _ in 0..5 {
            assert!(poll_once(call.as_mut()).is_pending());
        }
    }
    assert_eq!(setup.call(1, Json::Null), Ok(Returned::Value(json!("undefined"))));
    assert_eq!(setup.engine.instances_made(), 2);
}

#[test]
fn calls_beyond_the_bound_wait_in_line() {
    let setup = Setup::new(&[&program("async ({ url }) => { await fetch(url); return 1 }")]);
    let payloads = |url: &str| vec![json!({"url": url}); millrace_script::MAX_ACTIVE + 20];
    {
        let payloads = payloads("http://never/");
        let mut stuck: Vec<_> = payloads.iter().map(|payload| Box::pin(setup.start(0, payload))).collect();
        for call in &mut stuck {
            assert!(poll_once(call.as_mut()).is_pending());
        }
        assert_eq!(setup.engine.instances_made(), millrace_script::MAX_ACTIVE);
    }
    // Those are gone, and their places free.
    let payloads = payloads("http://x/");
    let results = block_on(futures_util::future::join_all(payloads.iter().map(|payload| setup.start(0, payload))));
    assert!(results.iter().all(|result| *result == Ok(Returned::Value(json!(1)))));
}

#[test]
fn replies_are_known_by_identity() {
    let reply = |function: &str| match call(function, Json::Null) {
        Ok(Returned::Reply(reply)) => reply,
        other => panic!("{function}: {other:?}"),
    };
    assert_eq!(reply("() => host.success({ a: [1, null], b: undefined })"), Reply::Success(json!({"a": [1, null]})));
    assert_eq!(reply("async () => host.success()"), Reply::Success(Json::Null));
    assert_eq!(reply("() => host.error('no')"), Reply::Error("no".into()));
    assert_eq!(reply("() => host.error(new Error('from an error'))"), Reply::Error("from an error".into()));
    assert_eq!(reply("() => host.required('user_id')"), Reply::Required("user_id".into()));
    assert_eq!(
        reply("() => host.toolError('GONE')"),
        Reply::ToolError(ToolErrorReply { code: "GONE".into(), ..ToolErrorReply::default() })
    );
    let full = ToolErrorReply {
        code: "NOT_FOUND".into(),
        message: Some("no such invoice".into()),
        suggestion: Some("list them".into()),
        available_actions: vec!["list-invoices".into()],
        details: vec![("id".into(), "9".into()), ("tags".into(), "[\"a\"]".into())],
        severity: Some("warning".into()),
        retry_after_s: Some(30),
    };
    let text = "() => host.toolError('NOT_FOUND', { message: 'no such invoice', suggestion: 'list them', available_actions: ['list-invoices'], details: { id: 9, tags: ['a'] }, severity: 'warning', retry_after: 29.5 })";
    assert_eq!(reply(text), Reply::ToolError(full.clone()));
    assert_eq!(reply(&text.replace("available_actions", "availableActions").replace("retry_after", "retryAfter")), Reply::ToolError(full));
    // What only looks the same is data.
    assert_eq!(value("() => Object.freeze({})"), json!({}));
    assert_eq!(value("() => ({ code: 'NOT_FOUND', message: 'm' })"), json!({"code": "NOT_FOUND", "message": "m"}));
    for wrong in ["{ severity: 'bad' }", "{ available_actions: 'x' }", "{ retry_after: -1 }", "{ details: 5 }", "5"] {
        let function = format!("() => host.toolError('X', {wrong})");
        assert!(matches!(call(&function, Json::Null), Err(ScriptFault::Thrown(_))), "{function}");
    }
    // Thrown, they count as well.
    for function in ["() => { throw host.error('no') }", "async () => { await null; throw host.error('no') }"] {
        match call(function, Json::Null) {
            Err(ScriptFault::Thrown(thrown)) => assert_eq!(thrown.reply, Some(Reply::Error("no".into())), "{function}"),
            other => panic!("{function}: {other:?}"),
        }
    }
}

#[test]
fn ctx_has_data_and_functions_and_is_frozen() {
    let function = "async (p, ctx) => {
        ctx.log.info('hello', { a: 1 }, 5); ctx.log.debug(new Error('e')); ctx.log.warn('w'); ctx.log.error('x');
        ctx.progress(1, 2, 'half'); ctx.progress(3);
        const rows = await ctx.db('db').query('SELECT 1', [1, 1.5, 'a', null, undefined, true, 12345678901234567890n, 7n, new Uint8Array([1]), new Date(0), [1, 2], { a: 1 }]);
        let missing; try { await ctx.db('nope').query('x') } catch (e) { missing = [e instanceof Error, e.message, e.code] }
        const frozen = []; for (const o of [ctx, ctx.auth, ctx.request, ctx.request.headers, ctx.env, ctx.log, ctx.log.info, ctx.db, ctx.db('db'), ctx.signal]) frozen.push(Object.isFrozen(o));
        ctx.signal.throwIfAborted();
        return { rows, missing, frozen, subject: ctx.auth.subject, env: ctx.env, aborted: ctx.signal.aborted, keys: Object.keys(ctx) };
    }";
    let setup = Setup::new(&[&program(function)]);
    *setup.host.rows.borrow_mut() = Rows {
        columns: ["id", "big", "price", "blob", "nan", "at", "doc"].map(String::from).into(),
        rows: vec![vec![
            Value::I64(1),
            Value::I64(i64::MAX),
            Value::Decimal("1.10".into()),
            Value::Bytes(vec![1, 2, 3]),
            Value::F64(f64::NAN),
            Value::Timestamp("2024-01-01".into()),
            Value::Json(json!({"k": [1]})),
        ]],
        ..Rows::default()
    };
    let Ok(Returned::Value(result)) = setup.call(0, json!({})) else { panic!("no value") };
    // A bigint within the script.
    assert_eq!(
        result["rows"],
        json!([{"id": 1, "big": "9223372036854775807", "price": "1.10", "blob": "AQID", "nan": null, "at": "2024-01-01", "doc": {"k": [1]}}])
    );
    assert_eq!(result["missing"], json!([true, "the adapter `nope` does not exist", "configuration"]));
    assert_eq!(result["frozen"], json!([true, true, true, true, true, true, true, true, true, true]));
    assert_eq!(result["keys"], json!(["auth", "request", "env", "log", "progress", "db", "api", "cache", "signal"]));
    assert_eq!((&result["subject"], &result["aborted"]), (&json!("u1"), &json!(false)));
    let log = setup.host.log.borrow();
    assert_eq!(
        *log,
        [
            (LogLevel::Info, "hello {\"a\":1} 5".to_owned()),
            (LogLevel::Debug, "e".to_owned()),
            (LogLevel::Warn, "w".to_owned()),
            (LogLevel::Error, "x".to_owned())
        ]
    );
    assert_eq!(*setup.host.progress.borrow(), [(1.0, Some(2.0), Some("half".to_owned())), (3.0, None, None)]);
    let queries = setup.host.queries.borrow();
    assert_eq!(
        queries[0].2,
        [
            Value::I64(1),
            Value::F64(1.5),
            Value::Text("a".into()),
            Value::Null,
            Value::Null,
            Value::Bool(true),
            Value::Decimal("12345678901234567890".into()),
            Value::I64(7),
            Value::Bytes(vec![1]),
            Value::Timestamp("1970-01-01T00:00:00.000Z".into()),
            Value::Array(vec![Value::I64(1), Value::I64(2)]),
            Value::Json(json!({"a": 1})),
        ]
    );
}

#[test]
fn fetch_goes_through_the_host() {
    let function = "async () => {
        const r = await fetch('http://x/a?b=c', { method: 'post', headers: { 'X-One': 'v' }, body: JSON.stringify({ q: 1 }) });
        const copy = r.clone();
        const found = { status: r.status, ok: r.ok, type: r.headers.get('Content-Type'), two: r.headers.get('x-two'), body: await r.json(), url: r.url };
        let again; try { await r.text() } catch (e) { again = e.name }
        let denied; try { await fetch('http://denied/') } catch (e) { denied = [e.name, e.message, e.code] }
        let invalid; try { await fetch('/relative') } catch (e) { invalid = e.name }
        let get; try { await fetch('http://x/', { body: 'x' }) } catch (e) { get = e.name }
        const form = await fetch(new Request('http://x/', { method: 'PUT', body: new URLSearchParams({ a: '1 2' }) }));
        const bytes = await fetch('http://x/', { method: 'POST', body: new Uint8Array([1, 2, 255]) });
        const controller = new AbortController(); const pending = fetch('http://never/', { signal: controller.signal });
        setTimeout(() => controller.abort(), 5);
        let aborted; try { await pending } catch (e) { aborted = e.name }
        let timeout; try { await fetch('http://never/', { signal: AbortSignal.timeout(5) }) } catch (e) { timeout = e.name }
        return { ...found, copy: await copy.text(), again, denied, invalid, get, form: await form.text(), bytes: [...new Uint8Array(await bytes.arrayBuffer())], aborted, timeout, missing: (await fetch('http://x/404')).ok };
    }";
    let setup = Setup::new(&[&program(function)]);
    let result = setup.call(0, Json::Null);
    assert_eq!(
        result,
        Ok(Returned::Value(json!({
            "status": 200, "ok": true, "type": "application/json", "two": "a, b", "body": {"q": 1}, "url": "http://x/a?b=c", "copy": "{\"q\":1}",
            "again": "TypeError", "denied": ["TypeError", "`denied` is not in `fetch.allow`", "denied"], "invalid": "TypeError", "get": "TypeError",
            "form": "a=1+2", "bytes": [1, 2, 255], "aborted": "AbortError", "timeout": "TimeoutError", "missing": false,
        })))
    );
    let requests = setup.host.requests.borrow();
    assert_eq!((requests[0].method.as_str(), requests[0].url.as_str()), ("POST", "http://x/a?b=c"));
    assert_eq!(requests[0].headers.first("x-one"), Some("v"));
    assert_eq!(requests[0].headers.first("content-type"), Some("text/plain;charset=UTF-8"));
    assert_eq!(requests[0].deadline_ms, 5_000);
    assert_eq!(requests[2].headers.first("content-type"), Some("application/x-www-form-urlencoded;charset=UTF-8"));
}

#[test]
fn a_redirect_is_as_the_script_asked_and_told_truly() {
    let function = "async () => {
        const say = async (url, init) => { const r = await fetch(url, init); return [r.headers.get('x-redirect'), r.url, r.redirected, r.clone().redirected] };
        const refused = [];
        for (const redirect of ['zz', '', null, 'Manual']) try { new Request('http://x/', { redirect }) } catch (e) { refused.push(e.name + ': ' + e.message) }
        let later; try { await fetch('http://x/', { redirect: 'zz' }) } catch (e) { later = e.name }
        const manual = new Request('http://x/a', { redirect: 'manual' });
        return [await say('http://x/a#f'), await say('http://x/moved'), await say('http://x/a', { redirect: 'error' }), await say(manual), await say(manual.clone()),
            await say(manual, { redirect: 'follow' }), manual.redirect, refused, later, new Response().redirected, new Response().url];
    }";
    let refused = "TypeError: `redirect` must be `follow`, `error` or `manual`";
    let expected = json!([
        ["Follow", "http://x/a#f", false, false],
        ["Follow", "http://x/here", true, true],
        ["Error", "http://x/a", false, false],
        ["Manual", "http://x/a", false, false],
        ["Manual", "http://x/a", false, false],
        ["Follow", "http://x/a", false, false],
        "manual",
        [refused, refused, refused, refused],
        "TypeError",
        false,
        ""
    ]);
    let setup = Setup::new(&[&program(function)]);
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(expected)));
    assert_eq!(setup.host.requests.borrow().len(), 6);
}

#[test]
fn no_message_repeats_a_url() {
    let function = "async () => {
        const said = [];
        const keep = async work => { try { await work() } catch (e) { said.push(e.name + ': ' + e.message) } };
        await keep(() => fetch('https://a b.example/?key=k'));
        await keep(() => new URL('/x?key=k'));
        await keep(() => { new URL('https://a.example').href = 'nothing?key=k' });
        await keep(() => new Request('//k'));
        return said;
    }";
    let message = "TypeError: the text is not a valid URL";
    assert_eq!(value(function), json!([message, message, message, message]));
}

#[test]
fn the_globals_work() {
    let cases = [
        (
            "() => { const u = new URL('../b?x=1#h', 'https://u:p@example.com:8443/a/c'); u.searchParams.append('y', 'é'); return [u.href, u.host, u.origin, u.port, u.hash] }",
            json!(["https://u:p@example.com:8443/b?x=1&y=%C3%A9#h", "example.com:8443", "https://example.com:8443", "8443", "#h"]),
        ),
        (
            "() => { const u = new URL('http://a/'); u.pathname = '/x y'; u.search = 'q=1'; u.hostname = 'b'; u.port = '81'; return [`${u}`, u.searchParams.get('q')] }",
            json!(["http://b:81/x%20y?q=1", "1"]),
        ),
        (
            "() => [URL.canParse('nope'), URL.parse('nope'), (() => { try { new URL('nope') } catch (e) { return e.name } })()]",
            json!([false, null, "TypeError"]),
        ),
        (
            "() => { const p = new URLSearchParams('a=1&b=2&a=3'); p.delete('b'); p.set('c', 'x y'); return [p.toString(), p.getAll('a'), p.size, [...p.keys()], p.has('a', '3')] }",
            json!(["a=1&a=3&c=x+y", ["1", "3"], 3, ["a", "a", "c"], true]),
        ),
        ("() => [...new TextEncoder().encode('é€')]", json!([195, 169, 226, 130, 172])),
        ("() => new TextDecoder().decode(new Uint8Array([0xEF, 0xBB, 0xBF, 104, 105, 255]))", json!("hi\u{fffd}")),
        (
            "() => { const d = new TextDecoder(); return d.decode(new Uint8Array([226, 130]), { stream: true }) + d.decode(new Uint8Array([172])) }",
            json!("€"),
        ),
        (
            "() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } }",
            json!("TypeError"),
        ),
        ("() => [btoa('hello'), atob('aGVsbG8=')]", json!(["aGVsbG8=", "hello"])),
        (
            "() => { const a = { d: new Date(5), m: new Map([[1, { x: 1 }]]), s: new Set([1]) }; const b = structuredClone(a); return [b !== a, b.d.getTime(), b.m.get(1).x, b.s.has(1)] }",
            json!([true, 5, 1, true]),
        ),
        ("() => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())", json!(true)),
        ("() => crypto.getRandomValues(new Uint32Array(4)).some(x => x > 255)", json!(true)),
        (
            "async () => [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc')))].map(b => b.toString(16).padStart(2, '0')).join('')",
            json!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ),
        ("async () => (await crypto.subtle.digest({ name: 'sha-512' }, new ArrayBuffer(0))).byteLength", json!(64)),
        (
            "async () => { const order = []; setTimeout(() => order.push('t2'), 2); setTimeout(v => order.push(v), 1, 't1'); queueMicrotask(() => order.push('m')); order.push('s'); await new Promise(r => setTimeout(r, 3)); return order }",
            json!(["s", "m", "t1", "t2"]),
        ),
        (
            "async () => { let n = 0; const id = setInterval(() => { if (++n === 3) clearInterval(id) }, 10); await new Promise(r => setTimeout(r, 100)); return n }",
            json!(3),
        ),
        (
            "async () => { const id = setTimeout(() => { throw 1 }, 1); clearTimeout(id); await new Promise(r => setTimeout(r, 5)); return 'ok' }",
            json!("ok"),
        ),
        (
            "() => { const c = new AbortController(); let n = 0; c.signal.addEventListener('abort', () => n++); c.abort('why'); c.abort('again'); return [c.signal.aborted, c.signal.reason, n] }",
            json!([true, "why", 1]),
        ),
        ("() => AbortSignal.any([AbortSignal.abort(5)]).reason", json!(5)),
        (
            "async () => { const r = Response.json({ a: 1 }, { status: 201 }); return [r.status, r.headers.get('content-type'), await r.json()] }",
            json!([201, "application/json", {"a": 1}]),
        ),
        (
            "() => { const h = new Headers([['B', '2'], ['a', '1']]); h.append('b', '3'); return [...h] }",
            json!([["a", "1"], ["b", "2, 3"]]),
        ),
        ("() => { try { new Headers({ 'a b': 'x' }) } catch (e) { return e.name } }", json!("TypeError")),
        ("() => { try { new Headers({ a: 'x\\r\\ny' }) } catch (e) { return e.name } }", json!("TypeError")),
        (
            "() => [typeof WebAssembly, typeof require, typeof process, typeof Deno, typeof XMLHttpRequest]",
            json!(["undefined", "undefined", "undefined", "undefined", "undefined"]),
        ),
        ("() => [new Date(1e12).getTimezoneOffset(), new Date(2020, 0, 1).toISOString()]", json!([0, "2020-01-01T00:00:00.000Z"])),
    ];
    for (function, expected) in cases {
        assert_eq!(call(function, Json::Null), Ok(Returned::Value(expected)), "{function}");
    }
}

#[test]
fn time_and_randomness_are_the_hosts() {
    let function = "async () => { const a = Date.now(); await new Promise(r => setTimeout(r, 250)); return [a, Date.now() - a, new Date().toISOString(), Math.random(), crypto.randomUUID()] }";
    let run = || {
        let setup = Setup::new(&[&program(function)]);
        setup.host.now_ms.set(1_700_000_000_000);
        setup.call(0, Json::Null)
    };
    let Ok(Returned::Value(first)) = run() else { panic!("no value") };
    assert_eq!((&first[0], &first[1], &first[2]), (&json!(1_700_000_000_000_i64), &json!(250), &json!("2023-11-14T22:13:20.250Z")));
    assert_eq!(Ok(Returned::Value(first)), run(), "the same input gives the same bytes");
}

#[test]
fn console_goes_to_the_log() {
    let setup = Setup::new(&[&program(
        "() => { console.log('a', 1, { b: [2] }, null, undefined, 3n, () => 1); console.warn(new TypeError('t')); console.error('e'); console.debug(Symbol('s')); const c = {}; c.c = c; console.info(c); console.assert(false, 'why'); console.assert(true); console.log('%s is %d%%, %j', 'x', 5, { a: 1 }, 'rest'); console.log('%s'); console.group('g'); console.warn('in'); console.groupEnd(); console.count(); console.count(); console.table([{ a: 1, b: 'x' }, { a: 22 }]); console.table(['q']) }",
    )]);
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Undefined));
    let log = setup.host.log.borrow();
    let lines: Vec<(LogLevel, &str)> = log.iter().map(|(level, text)| (*level, text.as_str())).collect();
    assert_eq!(
        lines,
        [
            (LogLevel::Info, "a 1 {\"b\":[2]} null undefined 3n [function ]"),
            (LogLevel::Warn, "TypeError: t"),
            (LogLevel::Error, "e"),
            (LogLevel::Debug, "Symbol(s)"),
            (LogLevel::Info, "[object that JSON cannot represent]"),
            (LogLevel::Error, "assertion failed: why"),
            (LogLevel::Info, "x is 5%, {\"a\":1} rest"),
            (LogLevel::Info, "%s"),
            (LogLevel::Info, "g"),
            (LogLevel::Warn, "  in"),
            (LogLevel::Info, "default: 1"),
            (LogLevel::Info, "default: 2"),
            (LogLevel::Info, "| (index) | a  | b |\n| 0       | 1  | x |\n| 1       | 22 |   |"),
            (LogLevel::Info, "| (index) | Values |\n| 0       | q      |"),
        ]
    );
}

#[test]
fn an_app_without_scripts_never_starts_the_engine() {
    assert_eq!(millrace_script::Engine::new().instances_made(), 0);
}

#[test]
fn an_export_can_be_named() {
    let setup = Setup::new(&["async (host) => ({ after: ({ n }) => n * 2 })"]);
    let payload = json!({"n": 4});
    let invocation = millrace_core::ports::Invocation {
        scripts: &setup.scripts,
        index: 0,
        script: &setup.scripts[0],
        export: "after",
        payload: &payload,
        ctx: &setup.ctx,
        store: &millrace_core::ports::CallStore::default(),
        limits: setup.limits,
        deadline_ms: 1_000,
        cancel: &setup.cancel,
        host: &setup.host,
    };
    assert_eq!(block_on(setup.engine.call(invocation)), Ok(Returned::Value(json!(8))));
}

#[test]
fn the_bundler_knows_the_globals() {
    let Ok(Returned::Value(found)) =
        call("() => Object.getOwnPropertyNames(globalThis).filter(name => !name.startsWith('$')).sort()", Json::Null)
    else {
        panic!("no list")
    };
    assert_eq!(found, Json::from(millrace_bundler::script::GLOBALS.to_vec()));
}

#[test]
fn a_variable_that_is_not_set_throws_wherever_a_script_reads_it() {
    let setup = {
        let mut setup = Setup::new(&[
            &program("({ env }) => 'tenant-' + env.UNSET"),
            &program("(payload, ctx) => 'tenant-' + ctx.env.UNSET"),
            &program("({ env }, ctx) => [env === ctx.env, env.KEY, 'OTHER' in env]"),
        ]);
        setup.host.required = vec!["KEY".into(), "UNSET".into()];
        setup
    };
    let payload = json!({"auth": null, "env": {"KEY": "k"}});
    for index in [0, 1] {
        match setup.call(index, payload.clone()) {
            Err(ScriptFault::Thrown(thrown)) => {
                assert!(thrown.message.starts_with("the environment variable `UNSET` is not set"), "{thrown:?}");
            }
            other => panic!("{index}: {other:?}"),
        }
    }
    assert_eq!(setup.call(2, payload), Ok(Returned::Value(json!([true, "k", false]))));
}
