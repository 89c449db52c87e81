//! `ctx.api`: the document that a request becomes, what comes back, and how it fails.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use millrace_core::{
    ports::{Returned, ScriptFault},
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::support::{Setup, program};

fn setup(function: &str, document: Json) -> Setup {
    let setup = Setup::new(&[&program(function)]);
    *setup.host.rows.borrow_mut() = Rows { document: Some(document), ..Rows::default() };
    setup
}

/// The document and the values of the request that `call` sends.
fn sent(call: &str) -> (Json, Vec<Value>) {
    let setup = setup(&format!("async ({{ inputs }}, ctx) => {{ await ctx.api('shop').{call}; return 1 }}"), Json::Null);
    let outcome = setup.call(0, json!({"inputs": {"id": "a/b", "body": {"$1": ["$2"]}}}));
    assert_eq!(outcome, Ok(Returned::Value(json!(1))), "{call}");
    let mut requests = setup.host.api_requests.borrow_mut();
    let (adapter, document, values) = requests.pop().unwrap();
    assert!(adapter == "shop" && requests.is_empty(), "{call}");
    (serde_json::from_str(&document).unwrap(), values)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn a_request_is_the_document_of_a_tool_and_its_values() {
    for (call, document, values) in [
        ("get('/orders')", json!({"method": "GET", "path": ["/orders"]}), vec![]),
        (
            "get('/orders/{id}/items/{no}.json', { params: { id: inputs.id, no: 7n, other: 1 } })",
            json!({"method": "GET", "path": ["/orders/", "$1", "/items/", "$2", ".json"]}),
            vec![text("a/b"), Value::I64(7)],
        ),
        (
            "get('/{a}{b}', { params: { a: 'x', b: true } })",
            json!({"method": "GET", "path": ["/", "$1", "", "$2", ""]}),
            vec![text("x"), Value::Bool(true)],
        ),
        (
            "get('/o', { query: { status: ['open', 'paid'], page: undefined, none: null, at: new Date(0) }, headers: { 'X-Reason': 'r' } })",
            json!({"method": "GET", "path": ["/o"], "query": [["status", "$1"], ["at", "$2"]], "headers": [["X-Reason", "$3"]]}),
            vec![Value::Array(vec![text("open"), text("paid")]), Value::Timestamp("1970-01-01T00:00:00.000Z".into()), text("r")],
        ),
        (
            "get('/o', { result: '/data', page: { cursor: '/next', query: 'after', max: 5 } })",
            json!({"method": "GET", "path": ["/o"], "result": "/data", "page": {"cursor": "/next", "query": "after", "max": 5}}),
            vec![],
        ),
        (
            "post('/find', { body: { q: 'x', at: [1n, null], gone: undefined }, reads: true, page: { link: true } })",
            json!({"method": "POST", "path": ["/find"], "body": "$1", "reads": true, "page": {"link": true}}),
            vec![Value::Json(json!({"q": "x", "at": [1, null]}))],
        ),
        // What looks like a place in a value is a value.
        (
            "put('/o', { body: inputs.body })",
            json!({"method": "PUT", "path": ["/o"], "body": "$1"}),
            vec![Value::Json(json!({"$1": ["$2"]}))],
        ),
        ("post('/o', { body: '$1' })", json!({"method": "POST", "path": ["/o"], "body": "$1"}), vec![text("$1")]),
        ("patch('/o', { body: null })", json!({"method": "PATCH", "path": ["/o"], "body": "$1"}), vec![Value::Null]),
        (
            "post('/o', { form: { name: 'n', tags: [1, 2] } })",
            json!({"method": "POST", "path": ["/o"], "form": [["name", "$1"], ["tags", "$2"]]}),
            vec![text("n"), Value::Array(vec![Value::I64(1), Value::I64(2)])],
        ),
        ("delete('/o/{id}', { params: { id: 1.5 } })", json!({"method": "DELETE", "path": ["/o/", "$1", ""]}), vec![Value::F64(1.5)]),
        ("head('/o', { query: { a: '' } })", json!({"method": "HEAD", "path": ["/o"], "query": [["a", "$1"]]}), vec![text("")]),
        // What no path has is for the connector to refuse.
        ("get('/o/{id')", json!({"method": "GET", "path": ["/o/{id"]}), vec![]),
    ] {
        assert_eq!(sent(call), (document, values), "{call}");
    }
}

#[test]
fn what_is_no_request_is_not_sent() {
    for (call, expected) in [
        ("get('/o/{id}')", "`ctx.api(\"shop\").get(…)`: `params.id` has no value"),
        ("get('/o/{id}', { params: { id: null } })", "`ctx.api(\"shop\").get(…)`: `params.id` has no value"),
        ("get('/o/{toString}', { params: {} })", "`ctx.api(\"shop\").get(…)`: `params.toString` has no value"),
        ("get(7)", "`ctx.api(\"shop\").get(…)`: the path must be a text"),
        ("get('/o', { querry: {} })", "`ctx.api(\"shop\").get(…)`: `querry` is not an option"),
        ("get('/o', { body: {} })", "`ctx.api(\"shop\").get(…)`: `body` is not an option"),
        ("put('/o', { reads: true })", "`ctx.api(\"shop\").put(…)`: `reads` is not an option"),
        ("head('/o', { result: '/a' })", "`ctx.api(\"shop\").head(…)`: `result` is not an option"),
        ("post('/o', { page: { link: true } })", "`ctx.api(\"shop\").post(…)`: `page` is for a request that only reads"),
        ("post('/o', { body: {}, form: {} })", "`ctx.api(\"shop\").post(…)`: a request has either `body` or `form`"),
        ("get('/o', { result() {} })", "`ctx.api(\"shop\").get(…)`: `result` is a function"),
        ("get('/o', null)", "`ctx.api(\"shop\").get(…)`: `options` must be a plain object"),
        ("get('/o', { query: new URLSearchParams('a=1') })", "`ctx.api(\"shop\").get(…)`: `query` must be a plain object"),
        ("get('/o', { headers: new Headers() })", "`ctx.api(\"shop\").get(…)`: `headers` must be a plain object"),
        ("get('/o', { query: [['a', 1]] })", "`ctx.api(\"shop\").get(…)`: `query` must be a plain object"),
        ("get('/o', { query: { a: [undefined] } })", "a parameter of `ctx.api(\"shop\").get(…)`: `query.a[0]` is undefined; write null"),
        (
            "post('/o', { body: { a: NaN } })",
            "a parameter of `ctx.api(\"shop\").post(…)`: `body.a` is NaN, which JSON would turn into null",
        ),
        ("get('/o', { page: { max() {} } })", "`ctx.api(\"shop\").get(…)`: `page.max` is a function"),
    ] {
        let setup = setup(&format!("async (_, ctx) => {{ await ctx.api('shop').{call} }}"), Json::Null);
        match setup.call(0, Json::Null) {
            Err(ScriptFault::Thrown(thrown)) => assert_eq!(thrown.message, expected, "{call}"),
            other => panic!("{call}: {other:?}"),
        }
        assert!(setup.host.api_requests.borrow().is_empty(), "{call}");
    }
    let setup = setup("(_, ctx) => ctx.api(7)", Json::Null);
    assert!(
        matches!(setup.call(0, Json::Null), Err(ScriptFault::Thrown(thrown)) if thrown.message == "`ctx.api` takes the name of an adapter")
    );
}

#[test]
fn an_answer_is_a_value_with_exact_integers() {
    let big = json!({"id": 9_007_199_254_740_993_i64, "list": [u64::MAX, 1.5, "x", null]});
    let function = "async (_, ctx) => { const a = await ctx.api('shop').get('/o'); \
        return [typeof a.id, a.id + 1n, typeof a.list[0], a.list[1] + 1, a.list[2], a.list[3], a.truncated] }";
    let told = setup(function, big).call(0, Json::Null);
    let expected = Err(ScriptFault::NotJson("`results[6]` is undefined, which JSON would turn into null; return null".into()));
    assert_eq!(told, expected);
    let function = function.replace(", a.truncated", "");
    let big = json!({"id": 9_007_199_254_740_993_i64, "list": [u64::MAX, 1.5, "x", null]});
    let told = setup(&function, big).call(0, Json::Null);
    assert_eq!(told, Ok(Returned::Value(json!(["bigint", "9007199254740994", "bigint", 2.5, "x", null]))));
    for (document, expected) in [(json!(null), json!("null")), (json!("text"), json!("\"text\"")), (json!([]), json!("[]"))] {
        let told = setup("async (_, ctx) => JSON.stringify(await ctx.api('shop').head('/o'))", document).call(0, Json::Null);
        assert_eq!(told, Ok(Returned::Value(expected)));
    }
}

#[test]
fn a_list_says_where_there_is_more() {
    let function =
        "async (_, ctx) => { const a = await ctx.api('shop').get('/o', { page: { link: true } }); return [a, a.truncated === true] }";
    for truncated in [true, false] {
        let setup = setup(function, json!([1, 2]));
        setup.host.rows.borrow_mut().truncated = truncated;
        assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(json!([[1, 2], truncated]))));
    }
}

#[test]
fn a_failure_has_what_the_api_answered() {
    let function = "async (_, ctx) => { try { await ctx.api('other').get('/o') } catch (e) { \
        return [e instanceof Error, e.message, e.code, e.status, e.body, typeof e.body.id, Object.keys(e)] } }";
    let told = setup(function, Json::Null).call(0, Json::Null);
    let body = json!({"reason": "locked", "id": "9007199254740993"});
    let expected = json!([true, "the API answered 409 (Conflict)", "constraint", 409, body, "bigint", ["code", "status"]]);
    assert_eq!(told, Ok(Returned::Value(expected)));
    // What a database says has neither.
    let function = "async (_, ctx) => { try { await ctx.db('other').query('x') } catch (e) { return ['status' in e, 'body' in e] } }";
    assert_eq!(setup(function, Json::Null).call(0, Json::Null), Ok(Returned::Value(json!([false, false]))));
    // Nobody caught it: its message is told, the upstream's own words are the cause.
    let Err(ScriptFault::Thrown(thrown)) = setup("(_, ctx) => ctx.api('other').get('/o')", Json::Null).call(0, Json::Null) else {
        panic!("it did not throw")
    };
    assert_eq!((thrown.message.as_str(), thrown.cause.as_deref()), ("the API answered 409 (Conflict)", Some("secret")));
}

#[test]
fn a_request_that_nothing_awaits_is_told() {
    let told = setup("async (_, ctx) => { ctx.api('shop').post('/o'); return 1 }", Json::Null).call(0, Json::Null);
    let Err(ScriptFault::LeftBehind(thrown)) = told else { panic!("{told:?}") };
    assert!(thrown.message.contains("`ctx.api(\"shop\").post(…)`"), "{}", thrown.message);
}

#[test]
fn bent_built_ins_change_no_request() {
    let bend = "Object.prototype.toJSON = () => 'bent'; Array.prototype.push = () => { throw 1 }; String.prototype.toUpperCase = () => 'TRACE'; \
        Array.prototype[Symbol.iterator] = () => { throw 2 }; Object.prototype.query = { bent: 1 };";
    let setup = setup(
        &format!("async (_, ctx) => {{ {bend} await ctx.api('shop').get('/o/{{id}}', {{ params: {{ id: 'a' }} }}); return null }}"),
        Json::Null,
    );
    assert_eq!(setup.call(0, Json::Null), Ok(Returned::Value(Json::Null)));
    let requests = setup.host.api_requests.borrow();
    assert_eq!(requests.len(), 1);
    let (_, document, values) = &requests[0];
    assert_eq!((document.as_str(), values.as_slice()), (r#"{"method":"GET","path":["/o/","$1",""]}"#, [text("a")].as_slice()));
}
