//! Connections that are kept, break, are too many, and come back; statements that nobody waits for.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use millrace_core::{
    ErrorKind::{Busy, Denied, Protocol, TimedOut, Unavailable},
    app::Access,
    ports::Query,
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query, text},
    mysql::Mysql,
    wait,
};

use crate::contract::{
    Site,
    life::{end, wait_for_running},
    mysql::SERVER,
};

const LONG: &str = "SELECT SLEEP(600)";
const LONG_WRITE: &str = "INSERT INTO t SELECT SLEEP(600)";

fn thread_of(database: &Database) -> Value {
    database.rows("SELECT CONNECTION_ID()").remove(0).remove(0)
}

/// Each statement of a procedure commits by itself, so that what the server undoes is the last one.
#[test]
fn a_procedure_that_met_a_lock_is_not_called_again() {
    let site = Site::of(&SERVER);
    let (database, admin) = (site.open(), site.open());
    for statement in [
        "CREATE TABLE t (v int) ENGINE = InnoDB",
        "CREATE TABLE locked (v int) ENGINE = InnoDB",
        "INSERT INTO locked VALUES (1)",
        "CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1); SET innodb_lock_wait_timeout = 0; SELECT v FROM locked FOR UPDATE; END",
    ] {
        database.run(statement, &[]).unwrap();
    }
    let connection = site.settings(&[]);
    let holder = thread::spawn(move || Database::open(connection).error("UPDATE locked SET v = SLEEP(600)"));
    let thread = wait_for_running(&SERVER, &admin, 1)[0];
    let error = database.error("CALL p()");
    let message = "what the statement needs is locked by another connection; it is not known whether the statement took effect";
    assert_eq!((error.kind, error.message.as_str()), (Protocol, message));
    assert_eq!(admin.rows("SELECT COUNT(*) FROM t"), [[Value::I64(1)]]);
    // A statement outside of a procedure was undone, and is sent again until the deadline.
    let waiting = Query { access: Access::Read, deadline_ms: 2_000, ..query("SELECT v FROM locked FOR UPDATE NOWAIT") };
    assert_eq!(database.run_with(&waiting).unwrap_err().kind, Busy);
    end(&site, &admin, &thread);
    holder.join().unwrap();
}

#[test]
fn a_server_that_prepares_no_more_is_given_back_what_it_had() {
    let server = Mysql::start(&["--max-prepared-stmt-count=2"]);
    let database = server.open();
    for number in 1..=6 {
        assert_eq!(database.rows(&format!("SELECT {number}")), [[Value::I64(number)]]);
    }
    // Both are that connection's.
    let other = server.open();
    let error = other.error("SELECT 1");
    assert_eq!((error.kind, error.message.as_str()), (Busy, "MySQL prepares no further statement (`max_prepared_stmt_count`)"));
    drop(database);
    assert_eq!(other.rows("SELECT 1"), [[Value::I64(1)]]);
}

/// The server's own limit is a minute away, and for the second statement of another kind: only
/// `KILL QUERY` ends them.
#[test]
fn a_statement_that_nobody_waits_for_is_ended() {
    let site = Site::of(&SERVER);
    let (database, admin) = (site.open(), site.open());
    admin.run("CREATE TABLE t (v int)", &[]).unwrap();
    for statement in [LONG, LONG_WRITE] {
        let runs = Arc::new(AtomicBool::new(false));
        let (told, connection) = (Arc::clone(&runs), site.settings(&[]));
        let watcher = thread::spawn(move || {
            wait_for_running(&SERVER, &Database::open(connection), 1);
            told.store(true, SeqCst);
        });
        database.abandon(&query(statement), || runs.load(SeqCst));
        watcher.join().unwrap();
        wait_for_running(&SERVER, &admin, 0);
        assert_eq!(database.rows("SELECT COUNT(*) FROM t"), [[Value::I64(0)]], "{statement}");
    }
    for access in [Access::Read, Access::Write] {
        let late = database.run_with(&Query { access, deadline_ms: 1_100, ..query(LONG) }).unwrap_err();
        assert_eq!((late.kind, late.message.as_str()), (TimedOut, "the statement ran past its deadline"));
        wait_for_running(&SERVER, &admin, 0);
    }
    let past = database.run_with(&Query { deadline_ms: 0, ..query("CREATE TABLE late (v int)") }).unwrap_err();
    assert_eq!(past.kind, TimedOut);
    assert!(admin.rows("SHOW TABLES LIKE 'late'").is_empty());
}

/// MariaDB describes the columns of a prepared statement's result once, and again where they
/// changed.
#[test]
fn columns_are_described_again_where_they_changed() {
    let site = Site::of(&SERVER);
    let database = site.open();
    let names: Vec<String> = (0..40).map(|number| format!("a_rather_long_name_of_a_column_{number:02}")).collect();
    let columns: Vec<String> = names.iter().map(|name| format!("{name} int NOT NULL DEFAULT 7")).collect();
    database.run(&format!("CREATE TABLE wide ({})", columns.join(", ")), &[]).unwrap();
    database.run("INSERT INTO wide () VALUES ()", &[]).unwrap();
    let sent = || match database.rows("SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'BYTES_SENT'")[0]
        [0]
    .clone()
    {
        Value::Text(bytes) => bytes.parse::<u64>().unwrap(),
        other => panic!("{other:?}"),
    };
    sent();
    let all = || database.run("SELECT * FROM wide", &[]).unwrap();
    let mut before = sent();
    let lengths: Vec<u64> = (0..3)
        .map(|_| {
            let rows = all();
            assert!(rows.columns[..] == names[..] && rows.rows == [vec![Value::I64(7); 40]], "{rows:?}");
            let after = sent();
            after - std::mem::replace(&mut before, after)
        })
        .collect();
    // With the first, the statement is prepared.
    assert!(lengths[1] < 1_000 && lengths[1] == lengths[2] && lengths[0] > 3_000, "{lengths:?}");

    // Another name, another type, one more, one less; on the connection that has prepared the
    // statement.
    let thread = thread_of(&database);
    site.run(&format!("ALTER TABLE wide RENAME COLUMN {} TO renamed", names[0]));
    let rows = all();
    assert!(rows.columns[0] == "renamed" && rows.columns[1..] == names[1..], "{rows:?}");
    site.run(&format!("ALTER TABLE wide MODIFY {} varchar(9) NOT NULL", names[1]));
    assert_eq!(all().rows[0][..3], [Value::I64(7), text("7"), Value::I64(7)]);
    site.run("ALTER TABLE wide ADD more date NOT NULL DEFAULT '2026-01-02'");
    assert_eq!(all().rows[0][39..], [Value::I64(7), Value::Timestamp("2026-01-02".into())]);
    site.run(&format!("ALTER TABLE wide DROP {}", names[2]));
    assert_eq!((all().columns.len(), all().rows[0].len()), (40, 40));
    // What is made of a value has its type, call by call.
    for value in [Value::I64(1), text("x"), Value::F64(0.5), Value::Null, Value::Bytes(vec![0, 255]), Value::I64(2)] {
        let found = database.run("SELECT ? AS v, 1 AS one", std::slice::from_ref(&value)).unwrap();
        let expected = if value == Value::F64(0.5) { Value::Decimal("0.5".into()) } else { value };
        assert_eq!(found.rows, [[expected, Value::I64(1)]]);
    }
    assert_eq!(thread_of(&database), thread);
    // A procedure describes what it returns, whatever it returned before.
    let either = "CREATE PROCEDURE either(which int) BEGIN IF which = 1 THEN SELECT 1 AS a; ELSE SELECT 'x' AS b, 2 AS c; END IF; END";
    site.run(&format!("DELIMITER //\n{either} //"));
    for _ in 0..2 {
        assert_eq!(database.run("CALL either(?)", &[Value::I64(1)]).unwrap().rows, [[Value::I64(1)]]);
        let other = database.run("CALL either(?)", &[Value::I64(2)]).unwrap();
        assert!(other.columns[..] == ["b", "c"] && other.rows == [[text("x"), Value::I64(2)]], "{other:?}");
    }
}

/// The limit is the server's, too: it ends what a host cannot end any more.
#[test]
fn the_server_knows_the_deadline() {
    let site = Site::of(&SERVER);
    let database = site.open();
    let limits = "SELECT @@max_statement_time, @@innodb_lock_wait_timeout";
    let found = database.run_with(&Query { deadline_ms: 29_500, ..query(limits) }).unwrap();
    assert_eq!(found.rows, [[Value::F64(30.0), Value::I64(30)]]);
    let found = database.run_with(&Query { deadline_ms: 500, ..query(limits) }).unwrap();
    assert_eq!(found.rows, [[Value::F64(1.0), Value::I64(1)]]);
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    let server = Mysql::start(&[]);
    let database = server.open();
    database.ping().unwrap();
    server.pause();
    let error = database.run_with(&Query { deadline_ms: 500, ..query("SELECT 1") }).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TimedOut, "the statement ran past its deadline"));
    // A new connection: the machine accepts it, the server does not.
    let fresh = Database::open(server.connection(&[("connect_timeout", "300ms")]));
    let error = fresh.run_with(&Query { deadline_ms: 2_000, ..query("SELECT 1") }).unwrap_err();
    let expected = "MySQL did not accept the connection in time".to_owned();
    assert_eq!((error.kind, error.message.clone()), (Unavailable, expected));
    server.go_on();
    assert_eq!(database.rows("SELECT 1"), [[Value::I64(1)]]);
}

#[test]
fn a_server_without_a_free_connection_is_asked_again() {
    let server = Mysql::start(&["--max-connections=10"]);
    server.run("shop", "CREATE USER clerk@'127.0.0.1' IDENTIFIED BY 'clerk'; GRANT ALL ON shop.* TO clerk@'127.0.0.1';");
    let url = format!("mysql://clerk:clerk@127.0.0.1:{}/shop", server.port);
    let clerk = || Database::open(connection("mysql", &url, &[]));
    let mut others: Vec<Database> = (0..10).map(|_| clerk()).collect();
    // What a user with less than all rights has is one connection less.
    let taken = others.iter().filter(|other| other.ping().is_ok()).count();
    assert!(taken >= 9, "{taken}");
    let full = clerk().error("SELECT 1");
    assert_eq!((full.kind, full.message.clone()), (Busy, "MySQL has no connection left".to_owned()));
    others.clear();
    assert_eq!(clerk().rows("SELECT 1"), [[Value::I64(1)]]);
}

#[test]
fn nothing_is_left_on_a_connection() {
    let site = Site::of(&SERVER);
    let database = site.open();
    for statement in [
        "CREATE TABLE t (v int)",
        "CREATE PROCEDURE opens() BEGIN START TRANSACTION; INSERT INTO t VALUES (1); END",
        "CREATE PROCEDURE lists() BEGIN SELECT 1 AS a; END",
        "CREATE PROCEDURE lists_twice() BEGIN SELECT 1 AS a; SELECT 2 AS b; END",
    ] {
        database.run(statement, &[]).unwrap();
    }
    let first = thread_of(&database);
    // An error costs no connection.
    assert!(database.error("SELECT 1 FROM nowhere").message.ends_with("a table is missing"));
    assert_eq!(thread_of(&database), first);
    assert_eq!(database.rows("SELECT @secret := 7"), [[Value::I64(7)]]);
    assert_eq!(database.rows("SELECT @secret"), [[Value::Null]]);
    assert_eq!(database.rows("SELECT GET_LOCK('x', 1)"), [[Value::I64(1)]]);
    wait::until("the lock is held", || database.rows("SELECT IS_FREE_LOCK('x')") == [[Value::I64(1)]]);
    let open = database.error("CALL opens()");
    assert_eq!((open.kind, open.message.as_str()), (Denied, "the statement leaves a transaction open, which was rolled back"));
    assert_eq!(database.rows("SELECT COUNT(*) FROM t"), [[Value::I64(0)]]);
    let listed = database.run("CALL lists()", &[]).unwrap();
    assert_eq!((&*listed.columns, listed.rows), (&["a".to_owned()][..], vec![vec![Value::I64(1)]]));
    let twice = database.error("CALL lists_twice()");
    assert_eq!(twice.message, "the procedure returns more than one list of rows; the statement took effect");
    let reader = site.reader();
    assert_eq!(reader.error("CALL lists()").kind, Denied);
}

#[test]
fn the_most_recent_statements_stay_prepared() {
    let server = Mysql::start(&[]);
    let database = server.open();
    let count = |database: &Database| {
        let rows = database.rows(
            "SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'PREPARED_STMT_COUNT'",
        );
        let Value::I64(count) = rows[0][0] else { panic!("{rows:?}") };
        count
    };
    let prepared = |database: &Database| {
        let rows = database
            .rows("SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'COM_STMT_PREPARE'");
        let Value::I64(count) = rows[0][0] else { panic!("{rows:?}") };
        count
    };
    for number in 0..100 {
        assert_eq!(database.rows(&format!("SELECT {number}")), [[Value::I64(number)]]);
    }
    assert_eq!(count(&database), 32);
    prepared(&database);
    let before = prepared(&database);
    for _ in 0..10 {
        assert_eq!(database.rows("SELECT 99"), [[Value::I64(99)]]);
    }
    assert_eq!(prepared(&database), before, "it was prepared already");
    // A table that changes changes what is prepared.
    database.run("CREATE TABLE t (a int)", &[]).unwrap();
    database.run("INSERT INTO t VALUES (1)", &[]).unwrap();
    assert_eq!(database.rows("SELECT * FROM t"), [[Value::I64(1)]]);
    database.run("ALTER TABLE t ADD b varchar(5) DEFAULT 'x' FIRST", &[]).unwrap();
    assert_eq!(database.rows("SELECT * FROM t"), [[text("x"), Value::I64(1)]]);
}

#[test]
fn a_lock_is_waited_for() {
    let site = Site::of(&SERVER);
    let database = site.open();
    database.run("CREATE TABLE t (id int PRIMARY KEY, v int) ENGINE = InnoDB", &[]).unwrap();
    database.run("INSERT INTO t VALUES (1, 1)", &[]).unwrap();
    let held = "START TRANSACTION; UPDATE t SET v = 2; SELECT SLEEP(3); COMMIT;";
    thread::scope(|scope| {
        let holder = scope.spawn(|| site.run(held));
        wait::until("nothing holds it", || {
            !database.rows("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(3)' AND DB = DATABASE()").is_empty()
        });
        // The server gives up by itself, and the call is sent again until its deadline.
        let short = Query { deadline_ms: 1_000, ..query("UPDATE t SET v = 3") };
        let locked = database.run_with(&short).unwrap_err();
        assert!(locked.kind == Busy || locked.kind == millrace_core::ErrorKind::TimedOut, "{locked:?}");
        assert_eq!(database.run("UPDATE t SET v = 4", &[]).unwrap().affected, 1, "the lock is given back in time");
        holder.join().unwrap();
    });
    assert_eq!(database.rows("SELECT v FROM t"), [[Value::I64(4)]]);
}
