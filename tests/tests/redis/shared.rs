//! Commands that read share a connection: each gets its own reply, and what happens to one of them
//! is nobody else's error.

use millrace_core::{
    ErrorKind::{TimedOut, TooLarge},
    Result,
    app::Access,
    ports::{Command, Query},
    value::{Rows, Value},
};
use millrace_tests::{
    database::{Database, connection, query, text},
    redis,
};

use super::support::{json, open, run};

fn read(words: &[Value]) -> Query<'_> {
    Query { command: Command::Arguments(words), access: Access::Read, ..query("") }
}

fn get(key: &str) -> [Value; 2] {
    [text("GET"), text(key)]
}

fn is(outcome: &Result<Rows>, expected: &str) -> bool {
    outcome.as_ref().is_ok_and(|rows| rows.rows == [[text(expected)]])
}

/// How many connections the server has, the one that asks among them.
fn connections(port: u16) -> usize {
    let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{port}"), &[("allow", "CLIENT")]));
    let rows = run(&database, "CLIENT LIST").unwrap().rows;
    let [Value::Text(lines)] = rows[0].as_slice() else { panic!("{rows:?}") };
    lines.lines().count()
}

#[test]
fn many_reads_at_once_are_sent_over_one_connection() {
    for version in ["2", "3"] {
        let server = redis::start(&[]);
        let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", server.port), &[("protocol", version)]));
        let values: Vec<(String, String)> = (0..100).map(|number| (format!("k{number}"), "v".repeat(number * 400))).collect();
        for (key, value) in &values {
            run(&database, &format!("SET {key} {value}")).unwrap();
        }
        let keys: Vec<[Value; 2]> = values.iter().map(|(key, _)| get(key)).collect();
        let queries: Vec<Query<'_>> = keys.iter().map(|words| read(words)).collect();
        assert!(is(&database.run_with(&queries[1]), &values[1].1));
        let before = connections(server.port);
        for _ in 0..20 {
            let outcomes = database.run_all(&queries);
            assert!(outcomes.iter().zip(&values).all(|(outcome, (_, value))| is(outcome, value)));
        }
        assert_eq!(connections(server.port), before, "those for writes and for reads are there, and the one that asks");
    }
}

#[test]
fn who_leaves_takes_nobody_elses_reply_along() {
    let server = redis::start(&[]);
    let database = open(server.port);
    let values: Vec<(String, String)> =
        (0..40).map(|number| (format!("k{number}"), format!("{number}-").repeat(1 + number * 97))).collect();
    for (key, value) in &values {
        run(&database, &format!("SET {key} {value}")).unwrap();
    }
    let keys: Vec<[Value; 2]> = values.iter().map(|(key, _)| get(key)).collect();
    for round in 0..200 {
        // In another order each time.
        let order: Vec<usize> = (0..keys.len()).map(|place| (place * 7 + round * 11) % keys.len()).collect();
        let queries: Vec<Query<'_>> = order.iter().map(|number| read(&keys[*number])).collect();
        let leaves = |place: usize| round % 2 == 0 && (place + round).is_multiple_of(5);
        for (place, outcome) in database.run_some(&queries, leaves).into_iter().enumerate() {
            let Some(outcome) = outcome else { continue };
            assert!(is(&outcome, &values[order[place]].1), "{round}: {place}: {outcome:?}");
        }
    }
    // Nothing is open but what the options allow, and the connection that asks.
    assert!(connections(server.port) <= 4 + 1);
}

#[test]
fn a_reply_that_is_too_large_is_the_error_of_one_call() {
    let server = redis::start(&[]);
    let database = open(server.port);
    run(&database, &format!("SET large {}", "x".repeat(100_000))).unwrap();
    run(&database, "SET counted 0").unwrap();
    let (large, counted, incr) = (get("large"), get("counted"), [text("INCR"), text("counted")]);
    assert!(is(&database.run_with(&read(&counted)), "0"));
    for round in 1..=20 {
        let mut queries = vec![read(&counted); 12];
        queries[round % 12] = Query { max_bytes: 1_000, ..read(&large) };
        queries.push(Query { access: Access::Write, ..read(&incr) });
        for (place, outcome) in database.run_all(&queries).into_iter().enumerate() {
            match outcome {
                Err(error) => assert!(place == round % 12 && error.kind == TooLarge, "{place}: {error:?}"),
                Ok(rows) => assert!(place != round % 12 && rows.rows.len() == 1, "{place}: {rows:?}"),
            }
        }
    }
    assert_eq!(json(&database, "GET counted"), r#"[{"value":"20"}]"#);
}

#[test]
fn a_server_that_is_killed_or_stands_still_answers_each_read_or_none() {
    let mut server = redis::start(&[]);
    let database = open(server.port);
    let keys: Vec<[Value; 2]> = (0..30).map(|number| get(&format!("k{number}"))).collect();
    let fill = |database: &Database| (0..30).for_each(|number| drop(run(database, &format!("SET k{number} {number}")).unwrap()));
    fill(&database);
    let all = |deadline_ms| {
        let queries: Vec<Query<'_>> = keys.iter().map(|words| Query { deadline_ms, ..read(words) }).collect();
        database.run_all(&queries)
    };
    let are_right = |outcomes: &[Result<Rows>]| outcomes.iter().enumerate().all(|(number, outcome)| is(outcome, &number.to_string()));
    assert!(are_right(&all(20_000)));
    server.signal("STOP");
    // The connection that they share was there; for others there was time to connect only.
    let late = all(700);
    assert!(
        late.iter().all(Result::is_err) && late.iter().any(|outcome| outcome.as_ref().is_err_and(|error| error.kind == TimedOut)),
        "{late:?}"
    );
    server.signal("CONT");
    for _ in 0..5 {
        assert!(are_right(&all(20_000)));
    }
    server.kill();
    server.restart();
    fill(&database);
    assert!(are_right(&all(20_000)));
}
