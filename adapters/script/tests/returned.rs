//! What a script may return: understood whole, or refused with its type and its place. And what
//! integers beyond 2^53 are.
#![allow(clippy::result_large_err, reason = "tests")]

use millrace_core::{
    ports::{Reply, Returned, ScriptFault},
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::support::{Setup, call, program, value};

/// Expressions of what JSON would turn into `{}` or `null`, and how the refusal begins.
const REFUSED: [(&str, &str); 52] = [
    ("NaN", "is NaN"),
    ("-Infinity", "is an infinite number"),
    ("new Number(NaN)", "is NaN"),
    ("new Date(NaN)", "is an invalid Date"),
    ("Symbol('s')", "is a symbol"),
    ("Object(Symbol('s'))", "is a `Symbol`"),
    ("(() => 1)", "is a function"),
    ("class {}", "is a function"),
    ("new Map([['a', 1]])", "is a `Map`"),
    ("new Set([1])", "is a `Set`"),
    ("new WeakMap()", "is a `WeakMap`"),
    ("new WeakSet()", "is a `WeakSet`"),
    ("new WeakRef({})", "is a `WeakRef`"),
    ("[1].values()", "is an `Array Iterator`"),
    ("new Map().keys()", "is a `Map Iterator`"),
    ("'a'[Symbol.iterator]()", "is a `String Iterator`"),
    ("[1].values().map(x => x)", "is an `Iterator Helper`"),
    ("(function* () { yield 1 })()", "is a `Generator`"),
    ("(async function* () { yield 1 })()", "is an `AsyncGenerator`"),
    ("Promise.resolve(1)", "is a `Promise`"),
    ("/x/", "is a `RegExp`"),
    ("new Error('e')", "is an error"),
    ("new (class Mine extends TypeError { extra = 1 })('e')", "is an error"),
    ("new DOMException('e')", "is an error"),
    ("Object.create(Error.prototype, { message: { value: 'e', enumerable: true } })", "is an error"),
    ("new Proxy(new Error('e'), {})", "is an error"),
    ("new Proxy(new Map(), {})", "is a `Map`"),
    ("new Uint8Array([1])", "is a `Uint8Array`"),
    ("new Float64Array(2)", "is a `Float64Array`"),
    ("new BigInt64Array(2)", "is a `BigInt64Array`"),
    ("new ArrayBuffer(2)", "is an `ArrayBuffer`"),
    ("new DataView(new ArrayBuffer(2))", "is a `DataView`"),
    ("new Response('x')", "is a `Response`"),
    ("new Request('http://x/')", "is a `Request`"),
    ("new Headers({ a: 'b' })", "is a `Headers`"),
    ("new URLSearchParams('a=b')", "is a `URLSearchParams`"),
    ("new AbortController()", "is an `AbortController`"),
    ("new AbortController().signal", "is an `AbortSignal`"),
    ("new TextEncoder()", "is a `TextEncoder`"),
    ("new (class Hidden { #x = 1; get x() { return this.#x } })()", "is a `Hidden`"),
    ("Object.create({ inherited: 1 })", "is an `Object`"),
    ("Math", "is a `Math`"),
    ("({ toJSON() { return null } })", "has a `toJSON` that returned nothing"),
    ("({ toJSON() {} })", "has a `toJSON` that returned nothing"),
    ("({ toJSON() { return NaN } })", "is NaN"),
    ("({ toJSON() { return new Map() } })", "is a `Map`"),
    ("host.response(1)", "is a `ResponseBuilder`"),
    ("host.json(1)", "is a `UiBlock`"),
    ("Object.setPrototypeOf(new Map([[1, 2]]), null)", "is a `Map`"),
    ("Object.assign(Object.setPrototypeOf(new Set([1]), Object.prototype), { a: 1 })", "is a `Set`"),
    ("Object.setPrototypeOf(/x/, {})", "is a `RegExp`"),
    ("Object.setPrototypeOf(new ArrayBuffer(1), null)", "is an `ArrayBuffer`"),
];

#[test]
fn what_json_would_empty_is_refused_wherever_it_is() {
    for (expression, problem) in REFUSED {
        let places = [
            (format!("() => ({{ a: {{ 'b c': [0, {expression}] }} }})"), "`results.a[\"b c\"][1]`"),
            (format!("() => host.success({{ x: {expression} }})"), "`results.x`"),
            (format!("() => host.response({{ x: {expression} }}).build()"), "`results.data.x`"),
            (format!("() => host.response(1).structured([{expression}])"), "`results.structured[0]`"),
        ];
        for (function, place) in places {
            match call(&function, Json::Null) {
                Err(ScriptFault::NotJson(text)) => assert!(text.starts_with(&format!("{place} {problem}")), "{function}: {text}"),
                other => panic!("{function}: {other:?}"),
            }
        }
    }
    for (function, place) in [
        ("() => [1, , 3]", "`results[1]` is undefined"),
        ("() => [undefined]", "`results[0]` is undefined"),
        ("() => new Array(3)", "`results[0]` is undefined"),
        ("() => ({ list: [[], [void 0]] })", "`results.list[1][0]` is undefined"),
        ("() => new Map()", "`results` is a `Map`"),
        ("() => new Response('x')", "`results` is a `Response`"),
        ("async () => NaN", "`results` is NaN"),
    ] {
        match call(function, Json::Null) {
            Err(ScriptFault::NotJson(text)) => assert!(text.starts_with(place), "{function}: {text}"),
            other => panic!("{function}: {other:?}"),
        }
    }
}

#[test]
fn an_error_that_is_returned_counts_as_thrown() {
    for function in [
        "() => new Error('no')",
        "async () => new TypeError('no')",
        "() => { try { throw new Error('no') } catch (error) { return error } }",
        "() => new (class Mine extends Error { code = 5 })('no')",
        "() => new DOMException('no')",
        "() => { function Old() { this.message = 'no' } Old.prototype = Object.create(Error.prototype); return new Old() }",
        "() => new Proxy(new Error('no'), {})",
        "() => ({ then(resolve) { resolve(new Error('no')) } })",
    ] {
        match call(function, Json::Null) {
            Err(ScriptFault::Thrown(thrown)) => assert_eq!((thrown.message.as_str(), thrown.reply), ("no", None), "{function}"),
            other => panic!("{function}: {other:?}"),
        }
    }
}

#[test]
fn a_response_is_built_where_its_script_does_not() {
    let built = |function: &str| match call(function, Json::Null) {
        Ok(Returned::Reply(Reply::Content(built))) => built,
        other => panic!("{function}: {other:?}"),
    };
    let expected = built("() => host.response({ id: 1 }).hint('x').build()");
    assert_eq!(expected["data"], json!({"id": 1}));
    for function in [
        "() => host.response({ id: 1 }).hint('x')",
        "async () => host.response({ id: 1 }).hint('x')",
        "async () => { Array.prototype.mine = 1; return host.response({ id: 1 }).hint('x') }",
    ] {
        assert_eq!(built(function), expected, "{function}");
    }
    // What only looks the same is data; and what was thrown was not returned.
    assert_eq!(value("() => ({ build() { return 1 } }).build()"), json!(1));
    for function in ["() => { throw host.response(1) }", "() => { throw host.success(1) }", "() => { throw host.anonymous() }"] {
        match call(function, Json::Null) {
            Err(ScriptFault::Thrown(thrown)) => assert_eq!(thrown.message, "a result was thrown; return it instead", "{function}"),
            other => panic!("{function}: {other:?}"),
        }
    }
}

#[test]
fn a_thrown_failure_says_why() {
    let cases = [
        ("host.error('closed')", "closed"),
        ("host.required('id')", "`id` is required"),
        ("host.toolError('FORBIDDEN', { message: 'not yours' })", "FORBIDDEN: not yours"),
        ("host.toolError('GONE')", "GONE"),
    ];
    for (reply, message) in cases {
        match call(&format!("async () => {{ throw {reply} }}"), Json::Null) {
            Err(ScriptFault::Thrown(thrown)) => assert_eq!(thrown.message, message, "{reply}"),
            other => panic!("{reply}: {other:?}"),
        }
    }
}

#[test]
fn anonymous_is_a_reply_of_its_own() {
    let table = [("host.anonymous()", Json::Null), ("host.anonymous({ scopes: ['a'] })", json!({"scopes": ["a"]}))];
    for (expression, members) in table {
        assert_eq!(call(&format!("() => {expression}"), Json::Null), Ok(Returned::Reply(Reply::Anonymous(members))), "{expression}");
    }
}

#[test]
fn large_integers_arrive_exactly_and_leave_exactly() {
    let function = "async ({ inputs }, ctx) => {
        const rows = await ctx.db('db').query('SELECT 1', [inputs.id, inputs.list, inputs.small, rows_id(inputs.id)]);
        function rows_id(id) { return id + 1n }
        return {
            types: [typeof inputs.id, typeof inputs.list[0], typeof inputs.small, typeof inputs.edge, typeof rows[0].id, typeof rows[0].doc.n, typeof rows[0].ids[0]],
            text: String(inputs.id), template: `${inputs.list[0]}`, json: JSON.stringify({ id: inputs.id, small: 5n }), rows, same: inputs.id === rows[0].id,
            back: inputs, sum: inputs.id + 1n, log: ctx.log.info(inputs.id, { id: inputs.id }),
        };
    }";
    const ID: i64 = 2_047_948_614_742_839_297;
    let setup = Setup::new(&[&program(function)]);
    *setup.host.rows.borrow_mut() = Rows {
        columns: ["id", "unsigned", "doc", "ids"].map(String::from).into(),
        rows: vec![vec![Value::I64(ID), Value::U64(u64::MAX), Value::Json(json!({"n": ID})), Value::Array(vec![Value::I64(-ID)])]],
        ..Rows::default()
    };
    let inputs = json!({"id": ID, "list": [u64::MAX], "small": 9_007_199_254_740_991_i64, "edge": 9_007_199_254_740_992_i64});
    let text = ID.to_string();
    let expected = json!({
        "types": ["bigint", "bigint", "number", "bigint", "bigint", "bigint", "bigint"],
        "text": text, "template": "18446744073709551615", "json": format!("{{\"id\":\"{text}\",\"small\":5}}"),
        "rows": [{"id": text, "unsigned": "18446744073709551615", "doc": {"n": text}, "ids": [format!("-{text}")]}], "same": true,
        "back": {"id": text, "list": ["18446744073709551615"], "small": 9_007_199_254_740_991_i64, "edge": "9007199254740992"},
        "sum": (ID + 1).to_string(),
    });
    assert_eq!(setup.call(0, json!({"inputs": inputs})), Ok(Returned::Value(expected)));
    let queries = setup.host.queries.borrow();
    let bound = [
        Value::I64(ID),
        Value::Array(vec![Value::Decimal("18446744073709551615".into())]),
        Value::I64(9_007_199_254_740_991),
        Value::I64(ID + 1),
    ];
    assert_eq!(queries[0].2, bound);
    assert_eq!(setup.host.log.borrow()[0].1, format!("{text} {{\"id\":\"{text}\"}}"));
    // A number and a bigint are not mixed in silence.
    assert!(matches!(call("({ n }) => n * 2", json!({"n": ID})), Err(ScriptFault::Thrown(_))));
}

#[test]
fn parameters_arrive_whole_or_the_query_fails() {
    let setup = Setup::new(&[&program(
        "async ({ n }, ctx) => { await ctx.db('db').query('x', [Array.from({ length: n }, (_, i) => i), [[Array.from({ length: n }, () => 'a')]]]); return n }",
    )]);
    assert_eq!(setup.call(0, json!({"n": 12_500})), Ok(Returned::Value(json!(12_500))));
    let expected: Vec<Value> = (0..12_500).map(Value::I64).collect();
    let letters = Value::Array(vec![Value::Text("a".into()); 12_500]);
    assert_eq!(setup.host.queries.borrow()[0].2, [Value::Array(expected), Value::Array(vec![Value::Array(vec![letters])])]);

    let nested = "let deep = []; for (let i = 0; i < 100000; i++) deep = [deep];";
    let cases = [
        (nested, "deep", "a parameter of `query` is nested more than 256 levels deep"),
        ("const loop = []; loop.push(loop);", "loop", "a parameter of `query` is nested more than 256 levels deep"),
        ("", "new Array(4e9)", "the parameters of `query` are too long"),
        ("", "[new Array(4e9)]", "the parameters of `query` are too long"),
        ("", "{ a: new Array(4e9) }", "a parameter of `query` is too long"),
        ("", "[1, , 3]", "a parameter of `query`: `params[0][1]` is undefined; write null"),
        ("", "NaN", "a parameter of `query`: `params[0]` is NaN, which JSON would turn into null"),
        ("", "[[1 / 0]]", "a parameter of `query`: `params[0][0][0]` is an infinite number, which JSON would turn into null"),
        ("", "{ a: new Map() }", "a parameter of `query`: `params[0].a` is a `Map`; pass `Object.fromEntries(…)` of it"),
        ("", "Promise.resolve(1)", "a parameter of `query`: `params[0]` is a `Promise`; `await` it"),
    ];
    for (before, parameter, message) in cases {
        let setup = Setup::new(&[&program(&format!("async (p, ctx) => {{ {before} await ctx.db('db').query('x', [{parameter}]) }}"))]);
        match setup.call(0, Json::Null) {
            Err(ScriptFault::Thrown(thrown)) => assert_eq!(thrown.message, message, "{parameter}"),
            other => panic!("{parameter}: {other:?}"),
        }
        assert!(setup.host.queries.borrow().is_empty(), "{parameter}");
    }
    let actions = |length: usize| format!("() => host.toolError('X', {{ available_actions: new Array({length}).fill('a') }})");
    match call(&actions(10_000), Json::Null) {
        Ok(Returned::Reply(Reply::ToolError(reply))) => assert_eq!(reply.available_actions.len(), 10_000),
        other => panic!("{other:?}"),
    }
    assert!(matches!(call(&actions(10_001), Json::Null), Err(ScriptFault::Thrown(_))));
}

#[test]
fn a_rest_has_nothing_that_a_nested_pattern_took() {
    let cases = [
        (
            "({ p }) => {
                const inner = { get user() { try { const { ['x' + n]: { name }, ...rest } = { x1: null }; } catch { n++ } return { name: 'outer' } }, y: 1 };
                let n = 1; const k = 'user';
                const { [k]: { name }, ...rest } = inner;
                let a, more;
                ({ [k]: { name: a }, ...more } = inner);
                return [name, rest, a, more, n];
            }",
            json!(["outer", {"y": 1}, "outer", {"y": 1}, 3]),
        ),
        (
            "({ p }) => {
                let reads = 0, name, rest;
                const of = () => ({ get user() { reads++; return { name: 'n' } }, get none() { reads++; }, y: 1 });
                const { user: { name: a }, none: { b } = { b: 'd' }, ...c } = of();
                ({ user: { name }, none: [rest] = [0], ...rest } = of());
                const f = ({ user: { name = 1 } = {}, none: { x } = { x: name }, ...rest }) => [name, x, rest];
                const g = []; for (const { user: { name }, ...rest } of [of()]) g.push(name, rest);
                for ({ user: { name: g[0] }, ...g[2] } of [of()]);
                return [reads, a, b, c, name, rest, f(of()), g];
            }",
            json!([8, "n", "d", {"y": 1}, "n", {"y": 1}, ["n", "n", {"y": 1}], ["n", {"y": 1}, {"y": 1}]]),
        ),
        (
            "({ p }) => {
                let last;
                for (let i = 0; i < 10100; i++) { try { const { ['k' + i]: { x }, ...rest } = {}; } catch {} }
                const key = 'user', { [key]: { name }, ...rest } = p;
                return [name, Object.keys(rest)];
            }",
            json!(["n", ["token", "x", "list"]]),
        ),
        (
            "({ p }) => { const { user: { password, ...safe }, token, ...rest } = p; return [safe, rest] }",
            json!([{"name": "n"}, {"x": 1, "list": [7, 8]}]),
        ),
        ("({ p }) => { const { list: [first], ...rest } = p; return [first, Object.keys(rest)] }", json!([7, ["user", "token", "x"]])),
        (
            "({ p }) => { const { missing: { a } = { a: 1 }, user: {}, ...rest } = p; return [a, Object.keys(rest)] }",
            json!([1, ["token", "x", "list"]]),
        ),
        (
            "({ p }) => { let n = 0; const key = () => { n++; return 'user' }; const { [key()]: { name }, ...rest } = p; return [n, name, Object.keys(rest)] }",
            json!([1, "n", ["token", "x", "list"]]),
        ),
        (
            "({ p }) => { let a, rest; ({ user: { name: a }, ...rest } = p); return [a, Object.keys(rest)] }",
            json!(["n", ["token", "x", "list"]]),
        ),
        (
            "({ p }) => { let a, rest; ({ ['us' + 'er']: [a] = [], token: { length: a }, ...rest } = { ...p, user: ['u'] }); return [a, Object.keys(rest)] }",
            json!([1, ["x", "list"]]),
        ),
        ("({ p }) => (({ user: { name }, ...rest }) => Object.keys(rest))(p)", json!(["token", "x", "list"])),
        (
            "({ p }) => (({ user: { password, ...user }, token: [first], ...rest }) => [user, first, rest.x])(p)",
            json!([{"name": "n"}, "t", 1]),
        ),
        (
            "({ p }) => { let name, length, rest; ({ ['us' + 'er']: { name }, token: { length }, ...rest } = p); return [name, length, Object.keys(rest)] }",
            json!(["n", 1, ["x", "list"]]),
        ),
        (
            "({ p }) => { const [{ user: { name: again }, token: gone, ...last }] = [p]; return [again, gone, Object.keys(last)] }",
            json!(["n", "t", ["x", "list"]]),
        ),
        ("({ p }) => { for (const { user: { name }, ...rest } of [p]) return Object.keys(rest) }", json!(["token", "x", "list"])),
        ("({ p }) => { const [{ user: { name }, ...rest }] = [p]; return Object.keys(rest) }", json!(["token", "x", "list"])),
    ];
    let payload = json!({"p": {"user": {"password": "p", "name": "n"}, "token": "t", "x": 1, "list": [7, 8]}});
    for (function, expected) in cases {
        assert_eq!(call(function, payload.clone()), Ok(Returned::Value(expected)), "{function}");
    }
}

#[test]
fn names_of_older_programs_are_there() {
    let cases = [
        (
            "() => ['abc'.substr(-2, 1), ' a'.trimLeft(), 'a '.trimRight(), escape('é x'), unescape('%E9'), 'x'.anchor('\"')]",
            json!(["b", "a", "a", "%E9%20x", "é", "<a name=\"&quot;\">x</a>"]),
        ),
        ("() => [self === globalThis, global === self, typeof self.Object]", json!([true, true, "function"])),
        ("() => typeof /x/.compile", json!("function")),
    ];
    for (function, expected) in cases {
        assert_eq!(value(function), expected, "{function}");
    }
}

#[test]
fn bigints_in_parameters_are_exact() {
    let setup = Setup::new(&[&program(
        "async ({ inputs }, ctx) => { await ctx.db('db').query('x', of(inputs)); function of(i) { return [{ x: 9007199254740993n, y: [1, 18446744073709551615n] }, [{ z: -9223372036854775808n }], Object(18446744073709551615n)] } }",
    )]);
    assert_eq!(setup.call(0, json!({"inputs": 1})), Ok(Returned::Undefined));
    let expected = [
        Value::Json(json!({"x": 9_007_199_254_740_993_i64, "y": [1, u64::MAX]})),
        Value::Array(vec![Value::Json(json!({"z": i64::MIN}))]),
        Value::Decimal("18446744073709551615".into()),
    ];
    assert_eq!(setup.host.queries.borrow()[0].2, expected);
    let cases = [
        ("{ a: [2n ** 64n] }", "`params[0].a[0]` is an integer of more than 64 bits; pass the text of its digits"),
        ("new Map()", "`params[0]` is a `Map`; pass `Object.fromEntries(…)` of it"),
        ("new Error('e')", "`params[0]` is an error; pass its `message`"),
        ("{ a: [undefined] }", "`params[0].a[0]` is undefined, which JSON would turn into null; pass null"),
    ];
    for (value, problem) in cases {
        match call(&format!("async (p, ctx) => {{ await ctx.db('db').query('x', [{value}]) }}"), Json::Null) {
            Err(ScriptFault::Thrown(thrown)) => assert_eq!(thrown.message, format!("a parameter of `query`: {problem}"), "{value}"),
            other => panic!("{value}: {other:?}"),
        }
    }
}
