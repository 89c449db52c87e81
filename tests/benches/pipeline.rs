//! The core alone: no connector, no script, no HTTP.
//!
//! A `tools/call` is parsed, runs through thirteen stages, and its result of ten rows is serialized. A `tools/list` of a thousand tools
//! stands beside what nobody can do without: allocating a body of that size and writing its bytes. Middleware stands beside the same call
//! without, and its scripts beside a call that is a script; a thousand rows that are presented beside the same rows as they are.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use millrace_core::{Endpoint, protocol::Request};
use millrace_tests::bare::{
    Entries, endpoint, endpoint_with_a_thousand_rows, endpoint_with_entries, endpoint_with_script, endpoint_with_tools, list_request, now,
    request,
};

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

criterion_group!(benches, pipeline, lists, middleware, present);
criterion_main!(benches);
