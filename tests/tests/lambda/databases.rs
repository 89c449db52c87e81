//! Databases on Lambda: files that are packed, files that are written, and a server that dies and
//! comes back.

use std::{
    fs,
    time::{Duration, Instant},
};

use millrace_tests::{
    lambda::{self, Front, Function},
    postgres::Postgres,
    sqld::Sqld,
    tries,
};

use super::{app, call};

/// How long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many calls find the server dead. Each tries again, for two seconds.
const DEAD: usize = 4;

#[test]
fn a_packed_database_is_read_where_it_lies_and_written_in_a_copy() {
    let folder = app(&[
        ("millrace.yaml", "name: notes\n"),
        ("app/adapters/kept.yaml", "connector: sqlite\nconnection_string: data/kept.db\noptions: { seed: ./kept.sql, read_only: true }\n"),
        ("app/adapters/kept.sql", "CREATE TABLE n (t TEXT); INSERT INTO n VALUES ('packed');"),
        ("app/adapters/notes.yaml", "connector: sqlite\nconnection_string: notes.db\noptions: { seed: ./notes.sql }\n"),
        ("app/adapters/notes.sql", "CREATE TABLE n (t TEXT);"),
        ("app/tools/kept/config.yaml", "description: Reads\nuse: kept\nstatement: SELECT t FROM n\n"),
        ("app/tools/count/config.yaml", "description: Reads\nuse: notes\nstatement: SELECT count(*) AS c FROM n\n"),
        ("app/tools/add/config.yaml", "description: Writes\nuse: notes\nstatement: INSERT INTO n VALUES ('new')\n"),
    ]);
    let package = lambda::build(folder.path());
    let files = ["data/data/kept.db", "data/notes.db"].map(|file| package.join(file));
    let before = files.each_ref().map(|file| fs::read(file).unwrap());
    let function = Function::start(&package, &[]);
    let ask = |tool: &str| function.send(Front::Url, &call(tool, "{}"));
    assert!(ask("kept").contains("packed"));
    assert!(ask("add").contains("affected_rows"));
    assert!(ask("add").contains("affected_rows"));
    assert!(ask("count").contains("{\\\"c\\\":2}"), "{}", ask("count"));
    assert_eq!(files.each_ref().map(|file| fs::read(file).unwrap()), before);
    // Another environment has a copy of its own.
    let other = Function::start(&package, &[]);
    assert!(other.send(Front::Url, &call("count", "{}")).contains("{\\\"c\\\":0}"));
}

#[test]
fn invocations_outlive_their_database() {
    let turns = tries(1000, 100);
    let (killed, restarted) = (turns * 2 / 5, turns * 2 / 5 + tries(20, DEAD));
    let mut server = Sqld::start(None);
    let adapter = format!("connector: libsql\nconnection_string: http://127.0.0.1:{}\noptions: {{ timeout: 20s }}\n", server.port);
    let folder = app(&[
        ("millrace.yaml", "name: far\n"),
        ("app/adapters/far.yaml", &adapter),
        ("app/tools/make/config.yaml", "description: Makes\nuse: far\nstatement: CREATE TABLE t (n INTEGER)\n"),
        ("app/tools/fill/config.yaml", "description: Fills\nuse: far\nstatement: INSERT INTO t VALUES (7)\n"),
        ("app/tools/read/config.yaml", "description: Reads\nuse: far\nstatement: SELECT n FROM t\n"),
    ]);
    let function = Function::start(&lambda::build(folder.path()), &[]);
    let ask = |tool: &str| function.send(Front::Url, &call(tool, "{}"));
    for tool in ["make", "fill"] {
        let made = ask(tool);
        assert!(made.contains("\"isError\":false"), "{made}");
    }
    let is_right = |answer: &str| answer.starts_with("HTTP 200\n") && answer.contains("{\\\"n\\\":7}");
    let is_clear =
        |answer: &str| answer.starts_with("HTTP 200\n") && answer.contains("\"isError\":true") && answer.contains("DATABASE_UNAVAILABLE");
    for turn in 0..turns {
        if turn == killed {
            server.kill();
        } else if turn == restarted {
            server.restart();
        }
        let answer = ask("read");
        // The first one may find the connection that broke.
        let is_good = if (killed..restarted).contains(&turn) { is_clear(&answer) } else { is_right(&answer) };
        assert!(is_good, "invocation {turn}: {answer}");
    }
    let resident_kb = resident_kb(function.pid());
    println!("memory after {turns} invocations: {resident_kb} KB");
    assert!(resident_kb < 64 << 10, "{resident_kb} KB");
}

#[test]
fn every_invocation_is_answered_while_postgres_dies_and_returns() {
    let mut server = Postgres::start(&[]);
    server.create("shop", "CREATE TABLE t (n bigint);\nINSERT INTO t VALUES (7);\n");
    let folder = app(&[
        ("millrace.yaml", "name: far\nenv: [DATABASE_URL]\n"),
        ("app/adapters/far.yaml", "connector: postgres\nconnection_string: \"{{ env.DATABASE_URL }}\"\noptions: { timeout: 60s }\n"),
        ("app/tools/read/config.yaml", "description: Reads\nuse: far\nstatement: SELECT n FROM t\n"),
        (
            "app/tools/waits/config.yaml",
            "description: Waits\nuse: far\nstatement: SELECT n FROM t, pg_sleep(600)\nlimits: { timeout: 60s }\n",
        ),
    ]);
    let url = server.url("shop");
    let function = Function::start(&lambda::build(folder.path()), &[("DATABASE_URL".to_owned(), url)]);
    let ask = |tool: &str| function.send(Front::Url, &call(tool, "{}"));
    let is_right = |answer: &str| answer.starts_with("HTTP 200\n") && answer.contains("{\\\"n\\\":7}");
    let is_clear =
        |answer: &str| answer.starts_with("HTTP 200\n") && answer.contains("\"isError\":true") && answer.contains("DATABASE_UNAVAILABLE");
    let check = |turn: usize, is_good: &dyn Fn(&str) -> bool| {
        let answer = ask("read");
        assert!(is_good(&answer), "invocation {turn}: {answer}");
    };
    (0..100).for_each(|turn| check(turn, &is_right));
    server.kill();
    (100..100 + tries(20, DEAD)).for_each(|turn| check(turn, &is_clear));
    server.restart();
    (120..200).for_each(|turn| check(turn, &is_right));

    // Dead in the middle of a statement: that call is answered, too, and the next one waits for
    // nothing.
    let request = call("waits", "{}");
    let outcome = function.begin(&Front::Url.event(&request), Duration::from_secs(120));
    let observer = server.open();
    let started = Instant::now();
    while observer
        .rows("SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(600)%' AND datname = 'shop'")
        .is_empty()
    {
        assert!(started.elapsed() < PATIENCE, "the statement does not run");
        millrace_tests::wait::moment();
    }
    server.kill();
    let answer = Front::Url.answer(&request, outcome.recv_timeout(PATIENCE).unwrap());
    assert!(is_clear(&answer), "{answer}");
    check(200, &is_clear);
    server.restart();
    (201..300).for_each(|turn| check(turn, &is_right));
}

#[test]
fn a_postgres_that_lets_nobody_in_fails_calls_and_no_invocation() {
    let server = Postgres::start(&["max_connections = 6", "superuser_reserved_connections = 0"]);
    server.create("shop", "CREATE TABLE t (n bigint);\nINSERT INTO t VALUES (7);\n");
    let folder = app(&[
        ("millrace.yaml", "name: far\nenv: [DATABASE_URL]\n"),
        ("app/adapters/far.yaml", "connector: postgres\nconnection_string: \"{{ env.DATABASE_URL }}\"\noptions: { timeout: 60s }\n"),
        ("app/tools/read/config.yaml", "description: Reads\nuse: far\nstatement: SELECT n FROM t\n"),
    ]);
    let package = lambda::build(folder.path());
    let started = |url: String| Function::start(&package, &[("DATABASE_URL".to_owned(), url)]);
    let ask = |function: &Function| {
        let answer = function.send(Front::Url, &call("read", "{}"));
        assert!(answer.starts_with("HTTP 200\n") && !answer.contains("hunter2"), "{answer}");
        answer
    };
    let fails = |answer: &str, why: &str| answer.contains("\"isError\":true") && answer.contains(why);
    let wrong = started(format!("postgres://postgres:hunter2@127.0.0.1:{}/shop", server.port));
    for turn in 0..5 {
        let answer = ask(&wrong);
        assert!(fails(&answer, "does not accept the password"), "invocation {turn}: {answer}");
    }
    // All seats are taken, and one is given back.
    let function = started(server.url("shop"));
    let mut taken: Vec<_> = (0..6)
        .map(|_| {
            let database = server.open();
            assert_eq!(database.rows("SELECT 1").len(), 1);
            database
        })
        .collect();
    let answer = ask(&function);
    assert!(fails(&answer, "has no connection left"), "{answer}");
    taken.pop();
    let begun = Instant::now();
    loop {
        let answer = ask(&function);
        if answer.contains("{\\\"n\\\":7}") {
            break;
        }
        // The server takes a moment to see that somebody went.
        assert!(fails(&answer, "has no connection left") && begun.elapsed() < PATIENCE, "{answer}");
        millrace_tests::wait::moment();
    }
}

/// The memory that a process has, in kilobytes.
fn resident_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
