//! The core alone: no connector, no script, no HTTP.
//!
//! A `tools/call` is parsed, runs through thirteen stages, and its result of ten rows is
//! serialized. A `tools/list` of a thousand tools stands beside what nobody can do without:
//! allocating a body of that size and writing its bytes. Middleware stands beside the same call
//! without, and its scripts beside a call that is a script; a thousand rows that are presented
//! beside the same rows as they are. The verification of a token stands alone.

use std::{hint::black_box, rc::Rc};

use criterion::{Criterion, criterion_group, criterion_main};
use millrace_core::{
    Endpoint,
    app::TokenAlgorithm,
    ports::{TokenKeys, TokenPolicy, TokenVerifier as _},
    protocol::Request,
};
use millrace_native::signatures::RingSignatures;
use millrace_test_kit::Inert;
use millrace_tests::{
    bare::{
        Entries, endpoint, endpoint_with_a_thousand_rows, endpoint_with_entries, endpoint_with_script, endpoint_with_tools, list_request,
        now, request,
    },
    tokens::issuer,
};
use millrace_tokens::JwtVerifier;
use serde_json::json;

const TOOLS: usize = 1000;

fn body(endpoint: &Endpoint, request: &Request) -> Vec<u8> {
    let response = now(endpoint.handle(request.clone()));
    assert_eq!(response.status, 200);
    now(response.body.collect())
}

fn pipeline(criterion: &mut Criterion) {
    let endpoint = endpoint();
    let request = request();
    let body = body(&endpoint, &request);
    assert!(body.len() > 900, "ten rows: {}", String::from_utf8_lossy(&body));
    criterion.bench_function("tools/call, ten rows, core only", |bencher| bencher.iter(|| now(endpoint.handle(request.clone()))));
}

fn lists(criterion: &mut Criterion) {
    let endpoint = endpoint_with_tools(TOOLS);
    let request = list_request();
    let bytes = body(&endpoint, &request);
    let names = String::from_utf8_lossy(&bytes).matches("\"name\":\"get-user-").count();
    assert_eq!(names, TOOLS, "all on one page");
    let mut group = criterion.benchmark_group(format!("tools/list, {TOOLS} tools, {} bytes", bytes.len()));
    group.bench_function("writing the bytes", |bencher| bencher.iter(|| black_box(&bytes).clone()));
    group.bench_function("core only", |bencher| bencher.iter(|| body(&endpoint, &request)));
    group.finish();
}

fn middleware(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("middleware");
    let request = request();
    let apps = [
        ("no entry", endpoint_with_entries(Entries::None)),
        ("three declarative entries", endpoint_with_entries(Entries::Declarative)),
        ("three scripts", endpoint_with_entries(Entries::Scripts)),
        ("no entry, a handler in script", endpoint_with_script()),
    ];
    for (name, endpoint) in apps {
        body(&endpoint, &request);
        group.bench_function(name, |bencher| bencher.iter(|| now(endpoint.handle(request.clone()))));
    }
    group.finish();
}

fn present(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a thousand rows of ten columns");
    let request = request();
    for (name, presented) in [("as they are", false), ("with rules, redaction and two UI blocks", true)] {
        let endpoint = endpoint_with_a_thousand_rows(presented);
        assert!(body(&endpoint, &request).len() > 100_000);
        group.bench_function(name, |bencher| bencher.iter(|| now(endpoint.handle(request.clone()))));
    }
    group.finish();
}

/// The bar is 60 µs for a token that was never seen, with keys that are known.
fn tokens(criterion: &mut Criterion) {
    let ports = Inert { now_ms: 1_795_000_000_000, ..Inert::default() }.ports();
    let verifier = JwtVerifier::new(ports.http, ports.cache, ports.clock, Rc::new(RingSignatures));
    let keys = json!({ "keys": [issuer().jwk_with("p256", json!({ "kid": "ec" }))] }).to_string();
    let audiences = ["https://mcp.example.com/mcp".to_owned()];
    let policy = TokenPolicy {
        issuer: "https://login.example.com",
        audience_claim: "aud",
        audiences: &audiences,
        keys: TokenKeys::Set(&keys),
        algorithms: &[TokenAlgorithm::Es256],
        leeway_s: 30,
    };
    let token = |number: usize| {
        let payload = json!({
            "iss": policy.issuer, "aud": policy.audiences[0], "sub": format!("user-{number}"), "iat": 1_794_999_900, "exp": 1_795_003_600,
            "scope": "openid orders:read orders:write", "jti": format!("{number:032}"), "org": "acme", "roles": ["clerk", "auditor"],
        });
        issuer().token("ES256", r#"{"alg":"ES256","kid":"ec","typ":"at+jwt"}"#, &payload.to_string())
    };
    // More than are remembered.
    let all: Vec<String> = (0..512).map(token).collect();
    let check = |token: &str| assert!(now(verifier.verify(token, policy, u64::MAX)).is_ok());
    let mut group = criterion.benchmark_group("a token of ES256");
    let mut next = all.iter().cycle();
    group.bench_function("never seen", |bencher| bencher.iter(|| next.next().map(|token| check(token))));
    group.bench_function("seen before", |bencher| bencher.iter(|| check(&all[0])));
    group.finish();
}

criterion_group!(benches, pipeline, lists, middleware, present, tokens);
criterion_main!(benches);
