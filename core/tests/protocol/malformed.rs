//! Thousands of requests that went wrong somewhere: each gets an answer of the matrix, and the same
//! one twice.

use std::cell::RefCell;
use std::collections::BTreeSet;

use millrace_core::{Endpoint, protocol::Body};
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, TestCaseError, any},
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value as Json, json};

use super::{
    fakes::{Ask, endpoint, shop},
    rounds,
};

/// How many requests at least; `PROPTEST_CASES` says how many more.
const REQUESTS: u32 = 4000;

/// Every status and code that the matrix has.
const MATRIX: [(u16, Option<i64>); 23] = [
    (200, None),
    (200, Some(-32000)),
    (200, Some(-32002)),
    (200, Some(-32601)),
    (200, Some(-32602)),
    (202, None),
    (204, None),
    (400, Some(-32700)),
    (400, Some(-32600)),
    (400, Some(-32602)),
    (400, Some(-32020)),
    (400, Some(-32021)),
    (400, Some(-32022)),
    (401, Some(-32000)),
    (403, Some(-32600)),
    (404, Some(-32600)),
    (404, Some(-32601)),
    (405, Some(-32600)),
    (406, Some(-32600)),
    (413, Some(-32600)),
    (415, Some(-32600)),
    (431, Some(-32600)),
    (503, None),
];

/// What proptest chose for one spoilt place, used up from the front; afterwards the first of
/// everything.
struct Numbers(std::vec::IntoIter<u16>);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.0.next().unwrap_or(0)) % end
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

fn starts() -> Vec<Ask> {
    let call = json!({"name": "echo", "arguments": {"region": "eu", "count": 3, "to": {"zip": "1"}}});
    let complete = json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "tone", "value": "w"}});
    let list = [
        ("tools/list", json!({"cursor": ""})),
        ("tools/call", call),
        ("tools/call", json!({"name": "locked"})),
        ("prompts/get", json!({"name": "greet", "arguments": {"name": "x"}})),
        ("resources/read", json!({"uri": "docs://orders/1"})),
        ("completion/complete", complete),
        ("server/discover", json!({})),
        ("initialize", json!({"protocolVersion": "2025-11-25"})),
        ("ping", json!({})),
    ];
    let modern = list.iter().map(|(method, params)| {
        let ask = Ask::modern(method, params.clone());
        if params["arguments"]["region"].is_null() { ask } else { ask.with("mcp-param-region", "eu").with("mcp-param-count", "3") }
    });
    let legacy = list.iter().map(|(method, params)| Ask::legacy(method, params.clone()));
    let batch = Ask::post(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#);
    modern.chain(legacy).chain([batch, Ask::new("GET", "/readyz"), Ask::new("OPTIONS", "/mcp")]).collect()
}

/// Breaks a request in one place.
fn spoil(mut ask: Ask, numbers: &mut Numbers) -> Ask {
    let Body::Whole(mut body) = ask.0.body.clone() else { return ask };
    let place = numbers.below(body.len() + 1);
    match numbers.below(12) {
        0 => body.truncate(place),
        1 if place < body.len() => body[place] ^= 1 << numbers.below(8),
        2 => {
            let text = numbers.pick(&["{", "}", "[", "]", "\"", ",", ":", "\\", "null", "1e999", "-", "\u{0}", "é", " ", "0", "\\ud800"]);
            body.splice(place..place, text.bytes());
        }
        3 if place < body.len() => body[place] = 0x80 | u8::try_from(numbers.below(128)).unwrap(),
        4 => body = nest(body, numbers),
        5..=7 => body = replace_value(&body, numbers),
        8 => {
            let names: Vec<String> = ask.0.headers.iter().map(|(name, _)| name.into()).collect();
            if let Some(name) = names.get(numbers.below(names.len().max(1))) {
                ask = ask.without(name);
            }
        }
        9 => {
            let name = numbers.pick(&[
                "content-type",
                "accept",
                "origin",
                "mcp-method",
                "mcp-name",
                "mcp-protocol-version",
                "mcp-param-region",
                "host",
            ]);
            ask = ask.with(name, value(numbers));
        }
        10 => {
            let name = numbers.pick(&[
                "content-type",
                "accept",
                "mcp-method",
                "mcp-name",
                "mcp-protocol-version",
                "mcp-param-count",
                "traceparent",
            ]);
            ask = ask.set(name, value(numbers));
        }
        _ => match numbers.below(6) {
            0 => ask.0.method = numbers.pick(&["GET", "DELETE", "PUT", "", "post", "HEAD", "OPTIONS"]).into(),
            1 => ask.0.path = numbers.pick(&["", "/", "/mcp/", "//mcp", "/MCP", "/readyz", "/heartbeat", "/mcp%00"]).into(),
            2 => ask.0.checks_host = true,
            3 => body = body.repeat(1 + numbers.below(3)),
            4 => {
                return Ask({
                    ask.0.body = Body::TooLarge;
                    ask.0
                });
            }
            _ => ask = ask.with("x-long", &"y".repeat(70_000 * numbers.below(2))),
        },
    }
    ask.body(body)
}

fn value(numbers: &mut Numbers) -> &'static str {
    numbers.pick(&[
        "",
        "null",
        "2026-07-28",
        "2025-06-18",
        "9999-99-99",
        "tools/call",
        "=?base64?",
        "=?base64?!?=",
        "=?base64??=",
        "*/*;q=0",
        "x, y",
        "é",
        "[::1",
        "http://[",
        "eu",
    ])
}

fn nest(body: Vec<u8>, numbers: &mut Numbers) -> Vec<u8> {
    let depth = 1 + numbers.below(300);
    [b"[".repeat(depth), body, b"]".repeat(depth)].concat()
}

/// Puts something else where some member's value was.
fn replace_value(body: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let Ok(mut message) = serde_json::from_slice::<Json>(body) else { return body.into() };
    let others = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("é".repeat(600)),
        json!([]),
        json!({}),
        json!([[{}]]),
        json!({"_meta": {}}),
        json!("2025-11-25"),
    ];
    let other = others[numbers.below(others.len())].clone();
    replace_in(&mut message, other, numbers);
    serde_json::to_vec(&message).unwrap()
}

fn replace_in(target: &mut Json, other: Json, numbers: &mut Numbers) {
    let names: Vec<String> = target.as_object().into_iter().flat_map(|members| members.keys().cloned()).collect();
    if names.is_empty() {
        *target = other;
        return;
    }
    let name = names[numbers.below(names.len())].clone();
    match numbers.below(6) {
        0 => drop(target.as_object_mut().map(|members| members.remove(&name))),
        1 => target[&name] = other,
        2 => target[format!("{name}_")] = other,
        _ => replace_in(&mut target[&name], other, numbers),
    }
}

/// Sends spoilt requests, and gives what came of them.
fn outcomes(endpoint: &Endpoint, starts: &[Ask]) -> BTreeSet<(u16, Option<i64>)> {
    let cases = ProptestConfig::default().cases.max(REQUESTS);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    // The same requests in every run: what fails in CI fails here.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcomes = RefCell::new(BTreeSet::new());
    let spoilt = (0..starts.len(), vec(vec(any::<u16>(), 24), 1..4));
    let run = runner.run(&spoilt, |(start, places)| {
        let ask = places.into_iter().fold(starts[start].clone(), |ask, choices| spoil(ask, &mut Numbers(choices.into_iter())));
        let outcome = look(endpoint, &ask).map_err(|problem| TestCaseError::fail(format!("{problem}\n{}", shown(&ask))))?;
        outcomes.borrow_mut().extend(MATRIX.contains(&outcome).then_some(outcome));
        Ok(())
    });
    run.unwrap_or_else(|problem| panic!("{problem}"));
    outcomes.into_inner()
}

fn shown(ask: &Ask) -> String {
    let headers: Vec<_> = ask.0.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let body = match &ask.0.body {
        Body::Whole(body) => String::from_utf8_lossy(body).into_owned(),
        _ => String::from("(not whole)"),
    };
    format!("{} {}\n{}\n\n{body}", ask.0.method, ask.0.path, headers.join("\n"))
}

/// Sends a request twice: it gets an answer of the matrix, and the same one again.
fn look(endpoint: &Endpoint, ask: &Ask) -> Result<(u16, Option<i64>), String> {
    let seen = ask.send(endpoint);
    let outcome = (seen.status, seen.code());
    // The answer to HEAD has no body, and so no code.
    let is_head = ask.0.method == "HEAD";
    if !MATRIX.iter().any(|(status, code)| *status == outcome.0 && (is_head || *code == outcome.1)) {
        return Err(format!("{outcome:?} is not of the matrix: {}", seen.text));
    }
    if seen.status == 200 && !is_head && !seen.text.contains("jsonrpc") && !seen.text.contains("status") {
        return Err(format!("no answer of JSON-RPC: {}", seen.text));
    }
    if seen.text != ask.send(endpoint).text {
        return Err(format!("not the same answer twice: {}", seen.text));
    }
    Ok(outcome)
}

#[test]
fn malformed_requests_get_an_answer_of_the_matrix() {
    let outcomes = outcomes(&endpoint(shop()), &starts());
    // The generator is worth nothing where it reaches only a few of them.
    assert!(outcomes.len() >= 18, "only {outcomes:?}");
}

#[test]
fn malformed_rounds_get_an_answer_of_the_matrix() {
    let outcomes = outcomes(&rounds::asking(), &rounds::starts());
    let reached = [(200, None), (200, Some(-32602)), (400, Some(-32021)), (400, Some(-32602))];
    assert!(reached.iter().all(|outcome| outcomes.contains(outcome)), "only {outcomes:?}");
}
