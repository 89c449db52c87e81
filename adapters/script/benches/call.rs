//! One call of the smallest script, end to end through the port, isolation included.
#![allow(missing_docs, clippy::result_large_err, reason = "made by a macro; the port's own fault")]

#[path = "../tests/support/mod.rs"]
mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;
use support::{Setup, block_on, program};

fn calls(criterion: &mut Criterion) {
    let cases = [
        ("sum", "({ inputs }) => ({ sum: inputs.a + inputs.b })"),
        ("await", "async ({ inputs }) => { await null; return { sum: inputs.a + inputs.b } }"),
        ("polyfill", "({ inputs }) => { Array.prototype.mine = 1; globalThis.mine = 2; return inputs }"),
        ("loop-1000", "() => { let n = 0; for (let i = 0; i < 1000; i++) n += i; return n }"),
    ];
    for (name, function) in cases {
        let setup = Setup::new(&[&program(function)]);
        let payload = json!({"inputs": {"a": 1, "b": 2}});
        criterion.bench_function(name, |bencher| bencher.iter(|| block_on(setup.start(0, &payload))));
    }
    let setup = Setup::new(&[&program("() => 1")]);
    criterion.bench_function("first-call", |bencher| {
        bencher.iter_batched(
            || Setup::new(&[&setup.scripts[0].program]),
            |fresh| block_on(fresh.start(0, &serde_json::Value::Null)),
            criterion::BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, calls);
criterion_main!(benches);
