//! Servers that are killed, paused and silent, answers that are none, and writes whose answer is
//! lost.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use millrace_core::{
    ErrorKind::{Configuration, Constraint, Credentials, Denied, TimedOut, Unavailable},
    app::Access,
    ports::{BoundStep, BoundTransaction, CallRecord, Command, Connection, Parameter, Query, RecordedWrite, StepValue},
    value::{Rows, Value},
};
use millrace_tests::{
    database::{Database, connection, query, text},
    failures::{PLANETSCALE as GOOD, json as answer},
    mysql::Mysql,
    planetscale::{self, Api},
    scripted::{Reply, Scripted},
};

/// The adapter's settings for an API that a test plays.
fn settings(api: &Scripted) -> Connection {
    connection("planetscale", &format!("http://me:hunter2@{}/x", api.address), &[])
}

fn shop() -> (Mysql, Database) {
    let server = Mysql::start(&[]);
    server.run("shop", "CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, k varchar(99) UNIQUE) ENGINE = InnoDB");
    let database = planetscale::open(&server);
    (server, database)
}

const COUNT: &str = "SELECT COUNT(*) FROM t";

#[test]
fn a_call_is_one_request() {
    let api = Scripted::with(vec![answer(200, GOOD)]);
    let database = Database::open(settings(&api));
    let command = Command::Statement { text: "SELECT ?, '?'", values: &[text("o'n")] };
    let rows = database.run_with(&Query { command, access: Access::Read, deadline_ms: 60_000, ..query("") }).unwrap();
    assert_eq!(rows.rows, [[Value::I64(7)]]);
    let [request] = &api.received()[..] else { panic!("several requests") };
    assert_eq!(request.line, "POST /psdb.v1alpha1.Database/Execute HTTP/1.1");
    assert!(request.head.to_ascii_lowercase().contains("authorization: basic bwu6ahvudgvymg==\r\n"), "{}", request.head);
    let body = r#"{"query":"SELECT /*+ MAX_EXECUTION_TIME(60000) */ _utf8mb4 0x6f276e, '?'","session":null}"#;
    assert_eq!(request.body, body);
}

#[test]
fn errors_name_what_is_wrong_and_show_no_secret() {
    let (server, database) = shop();
    database.run("INSERT INTO t (k) VALUES (?)", &[text("secret")]).unwrap();
    let error = database.run("INSERT INTO t (k) VALUES (?)", &[text("secret")]).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Constraint, "a UNIQUE constraint refused the change: `k`"));
    let api = planetscale::start(server.port, "shop");
    let nobody = Database::open(settings(&api));
    let error = nobody.error("SELECT 1");
    assert_eq!((error.kind, error.message.as_str()), (Credentials, "PlanetScale does not accept the user or the password"));
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    let absent = Database::open(connection("planetscale", "http://me:hunter2@127.0.0.1:9", &[]));
    let error = absent.run_with(&Query { deadline_ms: 2_000, ..query("SELECT 1") }).unwrap_err();
    assert!(error.kind == Unavailable && !format!("{error:?}").contains("hunter2"), "{error:?}");
    let error = database.error("SELECT GET_LOCK('x', 1)");
    assert_eq!((error.kind, database.error("BEGIN").kind), (Denied, Denied), "{error:?}");
    let elsewhere = Scripted::with(vec![answer(404, "")]);
    assert_eq!(Database::open(settings(&elsewhere)).error("SELECT 1").kind, Configuration);
}

#[test]
fn an_adapter_that_only_reads_writes_nothing() {
    let (server, database) = shop();
    let api = planetscale::start(server.port, "shop");
    let reader = Database::open(Connection { read_only: true, ..planetscale::settings(&api) });
    assert_eq!(reader.rows(COUNT), [[Value::I64(0)]]);
    let sent: Vec<bool> = api.received().iter().map(|request| request.body.contains("START TRANSACTION READ ONLY")).collect();
    assert_eq!(sent, [true, false, false]);
    assert_eq!(reader.error("INSERT INTO t (k) VALUES ('x')").kind, Denied);
    assert_eq!(database.rows(COUNT), [[Value::I64(0)]]);
}

/// A stand-in that swallows answers to statements with a word: how many more of them.
fn swallowing(server: &Mysql, word: &'static str) -> (Scripted, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(0));
    let swallows = Arc::clone(&left);
    let service = Api::over(server.port, "shop");
    let api = Scripted::start(move |_, request| {
        let reply = service.reply(request);
        let swallowed = request.body.contains(word) && swallows.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
        if swallowed { Reply::Raw(b"") } else { reply }
    });
    (api, left)
}

#[test]
fn answers_get_lost_after_the_commit_and_no_write_is_made_twice() {
    const CALLS: i64 = 10;
    let (server, _) = shop();
    let (api, left) = swallowing(&server, "COMMIT");
    let database = Database::open(planetscale::settings(&api));
    for number in 1..=CALLS {
        let key = format!("k{number}");
        let values = [text(&key)];
        let command = Command::Statement { text: "INSERT INTO t (k) VALUES (?) RETURNING k", values: &values };
        let once = || database.write_once(&Query { command, ..query("") }, CallRecord { key: &key, now_s: 0, expires_s: 60 });
        let row = Rows { columns: ["k".to_owned()].into(), rows: vec![values.to_vec()], ..Rows::default() };
        left.store(1, SeqCst);
        assert_eq!(once(), Ok(RecordedWrite::MadeBefore(row.clone())), "{key}");
        assert_eq!(left.load(SeqCst), 0, "{key}: no answer was lost");
        assert_eq!(once(), Ok(RecordedWrite::MadeBefore(row)), "{key}");
    }
    assert_eq!(database.rows(COUNT), [[Value::I64(CALLS)]]);
    // Without a record it is not known what became of it, and it is not sent again.
    let (api, left) = swallowing(&server, "plain");
    let database = Database::open(planetscale::settings(&api));
    left.store(1, SeqCst);
    let error = database.run("INSERT INTO t (k) VALUES ('plain')", &[]).unwrap_err();
    assert!(error.message.ends_with("; it is not known whether the statement took effect"), "{error:?}");
    assert_eq!((api.received().len(), database.rows(COUNT)), (1, vec![vec![Value::I64(CALLS + 1)]]));
}

fn step<'a>(name: &'a str, text: &'a str, parameters: Vec<Parameter>) -> BoundStep<'a> {
    let access = if text.starts_with("SELECT") { Access::Read } else { Access::Write };
    BoundStep { name, text: Cow::Borrowed(text), parameters, access, expect: None }
}

#[test]
fn steps_take_effect_together_or_not_at_all() {
    let (_server, database) = shop();
    let run = |steps: &[BoundStep<'_>]| {
        let command = Command::Transaction(BoundTransaction { steps, result: None });
        database.run_with(&Query { command, ..query("") })
    };
    let inserted = StepValue { step: 1, column: "id".to_owned() };
    let good = [
        step("put", "INSERT INTO t (k) VALUES (?)", vec![Parameter::Value(text("a"))]),
        step("number", "SELECT LAST_INSERT_ID() AS id", vec![]),
        step("copy", "INSERT INTO t (k) VALUES (CONCAT('of ', ?))", vec![Parameter::Earlier(inserted)]),
        step("read", "SELECT k FROM t ORDER BY id", vec![]),
    ];
    assert_eq!(run(&good).unwrap().rows, [[text("a")], [text("of 1")]]);
    let wrong = [step("put", "INSERT INTO t (k) VALUES ('b')", vec![]), step("again", "INSERT INTO t (k) VALUES ('a')", vec![])];
    let error = run(&wrong).unwrap_err();
    assert!(error.kind == Constraint && error.message.contains("`again`"), "{error:?}");
    assert_eq!(database.rows(COUNT), [[Value::I64(2)]]);
}

#[test]
fn a_server_that_dies_is_paused_and_comes_back_gets_no_write_twice() {
    let (mut server, database) = shop();
    server.pause();
    let late = database.run_with(&Query { deadline_ms: 500, ..query("INSERT INTO t (k) VALUES ('x')") }).unwrap_err();
    assert_eq!(late.kind, TimedOut);
    server.kill();
    let gone = database.run_with(&Query { deadline_ms: 500, ..query("INSERT INTO t (k) VALUES ('y')") }).unwrap_err();
    assert!(gone.message.ends_with("; it is not known whether the statement took effect"), "{gone:?}");
    server.restart();
    database.run("INSERT INTO t (k) VALUES ('z')", &[]).unwrap();
    assert_eq!(database.rows("SELECT COUNT(*) FROM t WHERE k IN ('y', 'z')"), [[Value::I64(1)]]);
    let query = Query { deadline_ms: 1_500, access: Access::Read, ..query("SELECT SLEEP(600)") };
    assert_eq!(database.run_with(&query).unwrap_err().kind, TimedOut);
}
