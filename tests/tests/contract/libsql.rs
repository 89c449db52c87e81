//! The connector `libsql` on a real sqld, of which each test has its own: it has one database.

use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};

use millrace_core::{
    ErrorKind::{Busy, Constraint, Data, Denied, Syntax, Unavailable},
    ports::RecordedWrite,
    value::Value,
};
use millrace_tests::{
    cutting::cutting_libsql,
    database::{Database, connection, text},
    sqld::Sqld,
    tries,
};

use super::{
    ServerUnderTest, keeps,
    limits::Limits,
    once::{Once, counted, made_before, once, shop},
    results::Results,
};

const UNCLEAR: &str = "SQLite does not understand the statement";
const UNIQUE: &str = "a UNIQUE constraint refused the change: `t.k`";

pub(crate) static SERVER: ServerUnderTest = ServerUnderTest {
    connector: "libsql",
    product: "the libSQL server",
    start: || Box::new(Sqld::start(None)),
    shared: None,
    settings: |_, url, options| connection("libsql", url, options),
    sign: "?1",
    once: Once {
        tables: &["CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT UNIQUE)"],
        returning: "INSERT INTO t (k) VALUES (?1) RETURNING id, k",
        plain: "INSERT INTO t (k) VALUES (?1)",
        typed: None,
        changes: &[("UPDATE t SET k = k || '!'", 2), ("CREATE TABLE u (v)", 0)],
        keys: "SELECT group_concat(k, ' ') FROM (SELECT k FROM t ORDER BY id)",
        left: None,
        failing: &[
            ("INSERT INTO t (k) VALUES (?1) RETURNING id, k", Constraint, UNIQUE),
            ("INSERT INTO t (k) VALUES (?1)", Constraint, UNIQUE),
            ("INSERT INTO nowhere VALUES (1)", Syntax, UNCLEAR),
            ("BEGIN", Denied, ""),
            ("COMMIT", Denied, ""),
            ("ATTACH 'x' AS y", Denied, ""),
            ("CREATE TEMP TABLE x (y)", Denied, ""),
        ],
        too_large: &[("UPDATE t SET k = k || '!' RETURNING id", "the result has more than `max_rows`, 1 rows")],
        endless: None,
        long: |count| format!("INSERT INTO t (k) VALUES ('a') RETURNING printf('%.*c', {count}, 'x')"),
        lengths: [2_000_000, 900_000],
        user: None,
        slow: None,
        committed: None,
        may_be_unknown: false,
        is_asked_again: true,
        writes: 8,
    },
    results: Results {
        changes: &[
            ("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE)", 0),
            ("INSERT INTO t (name) VALUES (1), (2), (3)", 3),
            ("UPDATE t SET name = name + 10 WHERE name > 1", 2),
            ("UPDATE t SET name = 0 WHERE name = 99", 0),
            ("INSERT OR IGNORE INTO t (name) VALUES (1), (4)", 1),
            ("WITH gone AS (SELECT 4 AS v) DELETE FROM t WHERE name IN (SELECT CAST(v AS TEXT) FROM gone)", 1),
            ("CREATE TABLE v (w)", 0),
            ("ALTER TABLE v ADD COLUMN x", 0),
            ("CREATE TRIGGER keep AFTER INSERT ON v BEGIN UPDATE v SET x = 1; SELECT CASE WHEN 1 THEN 2 END; END", 0),
        ],
        cells: &[],
        single: &[],
        tables: &[
            "CREATE TABLE parent (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT NOT NULL, age INT CONSTRAINT grown_up CHECK (age >= 18))",
            "CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INT REFERENCES parent (id)) STRICT",
            "CREATE TRIGGER no_secret BEFORE INSERT ON parent WHEN new.name = 'secret' BEGIN SELECT RAISE(ABORT, 'the value secret is taken'); END",
            "INSERT INTO parent VALUES (1, 'a@example.com', 'Ada', 36)",
        ],
        errors: |_| {
            let value = |why: &str| format!("SQLite refused a value or the result of a computation: {why}");
            let constraint = |what: &str| format!("a {what} constraint refused the change");
            let mistyped = || "a value does not have the type of its column".to_owned();
            vec![
                ("SELEC 1", Syntax, UNCLEAR.to_owned()),
                ("SELECT * FROM nowhere", Syntax, UNCLEAR.to_owned()),
                ("SELECT absent FROM parent", Syntax, format!("{UNCLEAR} at byte 7")),
                ("SELECT abs(-9223372036854775807 - 1)", Data, value("a number is out of range")),
                ("SELECT json_extract('{secret', '$')", Data, value("a JSON document, or a path into one, is not valid")),
                ("INSERT INTO parent (email, name) VALUES ('a@example.com', 'B')", Constraint, constraint("UNIQUE") + ": `parent.email`"),
                ("INSERT INTO parent (name) VALUES (NULL)", Constraint, constraint("NOT NULL") + ": `parent.name`"),
                ("INSERT INTO parent (name, age) VALUES ('b', 17)", Constraint, constraint("CHECK") + ": `grown_up`"),
                ("INSERT INTO child VALUES (1, 99)", Constraint, constraint("FOREIGN KEY")),
                ("INSERT INTO child VALUES (1, 'secret')", Data, mistyped()),
                ("INSERT INTO parent (id, name) VALUES ('x', 'B')", Data, mistyped()),
                ("INSERT INTO parent (name) VALUES ('secret')", Constraint, "a constraint of the database refused the change".to_owned()),
                ("SELECT zeroblob(20000000)", Data, "a text or blob is longer than the server allows".to_owned()),
            ]
        },
        hidden: None,
        connections: None,
    },
    limits: Limits {
        three: ("SELECT 'four' UNION ALL SELECT 'more' UNION ALL SELECT 1", 16),
        endless: Some((
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i, 'abcdefghijklmnopqrstuvwxyz' FROM n",
            "the result is larger than the libSQL server allows",
        )),
        stops: false,
        says_written: false,
        long: ("SELECT hex(randomblob(2000000))", ["the response of the database is longer than the result may be", ""]),
        read_only: None,
    },
    life: None,
};

keeps! { SERVER:
    once {
        a_server_that_is_killed_again_and_again_makes_no_write_twice
        a_table_of_somebody_else_is_the_operators_affair
        a_write_happens_once_for_a_key
        a_write_that_fails_leaves_no_record
        expired_records_are_removed_by_later_writes
        two_that_ask_at_once_write_once
    }
    results { errors_say_what_they_are_and_show_no_value rows_and_changes }
    limits { a_result_that_is_too_large_is_refused }
    life { a_server_that_comes_back_is_waited_for }
}

const CALLERS: usize = 5;

#[test]
fn answers_get_lost_after_the_commit_and_no_write_is_made_twice() {
    let Once { returning, plain, .. } = SERVER.once;
    let calls = tries(200, 20);
    let (site, database) = shop(&SERVER);
    database.prepare_records().unwrap();
    let unheard = AtomicUsize::new(0);
    let call = |caller: usize| {
        let (proxy, cuts) = cutting_libsql(site.port());
        let database = Database::open(connection("libsql", &format!("http://{}", proxy.address), &[]));
        for number in 0..calls {
            let key = format!("{caller}-{number}");
            let statement = if number % 2 == 0 { returning } else { plain };
            cuts.store(true, SeqCst);
            // Neither it nor the attempt after it hears anything.
            let lost = once(&database, statement, &[text(&key)], &key, 0).unwrap_err();
            assert!(matches!(lost.kind, Unavailable | Busy), "{lost:?}");
            cuts.store(false, SeqCst);
            let was_there = lost.kind != Busy || !database.run("SELECT id FROM t WHERE k = ?1", &[text(&key)]).unwrap().rows.is_empty();
            match once(&database, statement, &[text(&key)], &key, 0) {
                Ok(RecordedWrite::MadeBefore(rows)) if number % 2 == 0 => {
                    let found = database.run("SELECT id, k FROM t WHERE k = ?1", &[text(&key)]).unwrap();
                    assert_eq!(rows, found, "{key}");
                }
                // The database was locked until the deadline.
                Ok(RecordedWrite::Made(_)) if !was_there => drop(unheard.fetch_add(1, SeqCst)),
                other => assert_eq!(other, made_before(1), "{key}"),
            }
        }
    };
    thread::scope(|scope| (0..CALLERS).for_each(|caller| drop(scope.spawn(move || call(caller)))));
    assert!(unheard.load(SeqCst) * 10 < CALLERS * calls, "{} were never sent to an end", unheard.load(SeqCst));
    let all = i64::try_from(CALLERS * calls).unwrap();
    assert_eq!(counted(&database), [all, all]);
    assert_eq!(database.rows("SELECT count(*) FROM millrace_calls"), [[Value::I64(all)]]);
}
