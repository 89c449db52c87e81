//! The memory of one isolate with the connector `sqlite`: a process of its own, because that is
//! what is measured.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails says so by a panic")]
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "sqlite/support.rs"]
mod support;

use millrace_core::ports::{Command, Query};
use millrace_core::value::Value;
use support::{Isolate, query};

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn statements_of_many_lengths_do_not_stay_in_memory() {
    let isolate = Isolate::memory("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    let run = |length: usize| {
        let places: Vec<String> = (1..=length).map(|number| format!("?{number}")).collect();
        let text = format!("SELECT count(*) FROM t WHERE id IN ({})", places.join(", "));
        let params = vec![Value::I64(1); length];
        isolate.run_with(&Query { command: Command::Statement { text: &text, values: &params }, ..query("") }).unwrap();
    };
    run(8000);
    let before = resident_bytes();
    (0..200).for_each(|shorter| run(8000 - shorter));
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 48 << 20, "{} MB stay", grown >> 20);
}
