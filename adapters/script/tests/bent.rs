//! Built-ins that a script or a package of it has changed, requests that are taken back, and bytes
//! that are on their way.

use millrace_core::{
    ports::{Returned, ScriptFault},
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::support::{Setup, program};

#[test]
fn changed_built_ins_do_not_change_what_crosses() {
    let cases = [
        (
            "() => { Array.prototype.toJSON = function () { return Array.from(this, x => x + 1) }; return { a: [1, 2] } }",
            json!({"a": [2, 3]}),
        ),
        ("() => { Object.prototype.toJSON = () => ({ v: 1 }); return { a: [1] } }", json!({"v": 1})),
        (
            "() => { String.prototype.isWellFormed = () => false; String.prototype.toWellFormed = () => 'gone'; return { k: 'v' } }",
            json!({"k": "v"}),
        ),
        ("() => { Array.prototype[Symbol.iterator] = function* () {}; return { k: 'v', l: [1] } }", json!({"k": "v", "l": [1]})),
        (
            "() => { Object.defineProperty(Array.prototype, '0', { set() {}, get: () => 9 }); return { k: [1, [2]] } }",
            json!({"k": [1, [2]]}),
        ),
        (
            "() => { for (const m of ['get', 'set', 'delete', 'has', 'forEach']) Map.prototype[m] = WeakMap.prototype[m] = () => { throw 1 }; return new Promise(r => setTimeout(() => r([1]), 1)) }",
            json!([1]),
        ),
        (
            "() => { globalThis.Number = globalThis.String = globalThis.Object = globalThis.Array = globalThis.Promise = undefined; return [1, new Date(0)] }",
            json!([1, "1970-01-01T00:00:00.000Z"]),
        ),
        (
            "() => { Object.assign(Object.prototype, { threw: 1, broken: 'x', value: 7, reply: { kind: 'success' }, isFinal: true, left: 1, error: {} }); return [2] }",
            json!([2]),
        ),
        (
            "(p, { db }) => { Object.assign(Object.prototype, { get: () => 1, set: () => 1, writable: false, enumerable: false }); return db('db').query('s', [1, ['a'], { b: [1] }]) }",
            json!([{"name": "n", "toString": 1}]),
        ),
        ("(p, { db }) => { Object.freeze(Object.prototype); return db('db').query('s') }", json!([{"name": "n", "toString": 1}])),
        (
            "(p, { db }) => { Object.defineProperty(Object.prototype, 'name', { set() {}, get: () => 'g' }); return db('db').query('s') }",
            json!([{"name": "n", "toString": 1}]),
        ),
    ];
    for (function, expected) in cases {
        let setup = Setup::new(&[&program(function)]);
        *setup.host.rows.borrow_mut() = Rows {
            columns: ["name".into(), "toString".into()].into(),
            rows: vec![vec![Value::Text("n".into()), Value::I64(1)]],
            ..Rows::default()
        };
        assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(expected)), "{function}");
    }
    let setup = Setup::new(&[&program("() => { Object.prototype.threw = Object.prototype.value = 1 }")]);
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Undefined));
}

#[test]
fn changed_lists_do_not_change_what_is_asked() {
    let function = "async (p, { db }) => {
        Array.prototype.toJSON = () => ['evil'];
        Object.prototype.toJSON = () => 'evil';
        console.log('line');
        await db('db').query('text', [['a', 'b'], 1]);
        return (await fetch('http://x/', { method: 'POST', body: 'q', headers: { a: 'b' } })).status;
    }";
    let setup = Setup::new(&[&program(function)]);
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!(200))));
    let texts = Value::Array(vec![Value::Text("a".into()), Value::Text("b".into())]);
    assert_eq!(*setup.host.queries.borrow(), [("db".into(), "text".into(), vec![texts, Value::I64(1)])]);
    let requests = setup.host.requests.borrow();
    assert_eq!((requests[0].url.as_str(), requests[0].method.as_str(), requests[0].headers.first("a")), ("http://x/", "POST", Some("b")));
    assert_eq!(setup.host.log.borrow()[0].1, "line");
}

#[test]
fn an_aborted_request_is_taken_back() {
    let before = "async () => { const c = new AbortController(); const p = fetch('http://x/', { signal: c.signal }); c.abort(); try { await p } catch (e) { return e.name } }";
    let setup = Setup::new(&[&program(before)]);
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!("AbortError"))));
    assert!(setup.host.requests.borrow().is_empty(), "it was not sent");
    let later = [
        (
            "async () => { const c = new AbortController(); setTimeout(() => c.abort('why'), 5); try { await fetch('http://never/', { signal: c.signal }) } catch (e) { return e } }",
            json!("why"),
        ),
        (
            "async () => { try { await fetch('http://never/', { signal: AbortSignal.timeout(5) }) } catch (e) { return e.name } }",
            json!("TimeoutError"),
        ),
        (
            "async () => { const c = new AbortController(); setTimeout(() => c.abort(), 5); const all = await Promise.allSettled([fetch('http://never/', { signal: c.signal }), new Promise(r => setTimeout(r, 10))]); return all.map(x => x.status) }",
            json!(["rejected", "fulfilled"]),
        ),
        ("async () => { const r = await fetch('http://x/', { signal: AbortSignal.timeout(5000) }); return r.status }", json!(200)),
        ("() => { AbortSignal.timeout(5000); return 1 }", json!(1)),
    ];
    for (function, expected) in later {
        let setup = Setup::new(&[&program(function)]);
        assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(expected)), "{function}");
        assert!(setup.host.log.borrow().is_empty(), "{function}: {:?}", setup.host.log.borrow());
    }
}

#[test]
fn what_is_on_its_way_is_bounded_by_the_memory() {
    const MESSAGE: &str = "`ctx.db(\"db\").query(…)` was not sent: more than 67108864 bytes were on their way (`limits.script.memory`)";
    let together = "async (p, { db }) => { const b = new Uint8Array(8 << 20); const all = await Promise.allSettled(Array.from({ length: 40 }, () => db('db').query('s', [b]))); const refused = all.filter(x => x.status === 'rejected').map(x => x.reason); return [all.length - refused.length, refused[0].name, refused[0].message] }";
    let mut setup = Setup::new(&[&program(together)]);
    setup.limits.loops = 60_000_000;
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!([7, "RangeError", MESSAGE]))));
    let after =
        "async (p, { db }) => { const b = new Uint8Array(8 << 20); for (let n = 0; n < 20; n++) await db('db').query('s', [b]); return 1 }";
    let mut setup = Setup::new(&[&program(after)]);
    setup.limits.loops = 60_000_000;
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!(1))));
    let requests = "async () => { const body = new Uint8Array(20 << 20); return await Promise.all([1, 2, 3, 4].map(() => fetch('http://x/', { method: 'POST', body }))) }";
    let mut setup = Setup::new(&[&program(requests)]);
    setup.limits.loops = 60_000_000;
    setup.limits.memory_bytes = 256 << 20;
    let sent = setup.call(0, Json::Null);
    assert!(matches!(&sent, Err(ScriptFault::NotJson(_))), "{sent:?}");
}
