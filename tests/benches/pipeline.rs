//! The core alone: parse, thirteen stages, serialize a ten-row result. No connector, no script, no HTTP.

use criterion::{Criterion, criterion_group, criterion_main};
use millrace_tests::bare::{endpoint, now, request};

fn pipeline(criterion: &mut Criterion) {
    let endpoint = endpoint();
    let request = request();
    let response = now(endpoint.handle(request.clone()));
    assert_eq!(response.status, 200);
    let body = now(response.body.collect());
    assert!(body.len() > 900, "ten rows: {}", String::from_utf8_lossy(&body));
    criterion.bench_function("tools/call, ten rows, core only", |bencher| bencher.iter(|| now(endpoint.handle(request.clone()))));
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
