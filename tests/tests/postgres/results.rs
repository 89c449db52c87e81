//! Rows, limits, deadlines and errors.

use millrace_core::{
    Error,
    ErrorKind::{Busy, Constraint, Data, Denied, Syntax, TimedOut, TooLarge},
    app::Access,
    ports::{Connection, Query},
    value::{Rows, Value},
};
use millrace_tests::{
    database::{Database, query, text},
    postgres::Postgres,
};

use super::Way;

for_each_way! {
    a_read_only_adapter_reads
    a_result_that_is_too_large_is_refused
    a_statement_ends_at_its_deadline_on_the_server_too
    errors_say_what_they_are_and_show_no_value
    rows_and_changes
}

const TOO_LARGE_THERE: &str = "the result is larger than the Data API sends, 1 MB; nothing was changed";
const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

fn rows_and_changes(way: Way) {
    let server = Postgres::start(&[]);
    let database = way.open(&server);
    let changed = |statement: &str| database.run(statement, &[]).unwrap();
    assert_eq!(changed("CREATE TABLE t (id int PRIMARY KEY, name text)"), Rows::default());
    assert_eq!(changed("INSERT INTO t SELECT i, 'n' || i FROM generate_series(1, 3) i"), Rows { affected: 3, ..Rows::default() });
    assert_eq!(changed("UPDATE t SET name = name WHERE id > 1").affected, 2);
    assert_eq!(changed("CREATE TABLE u AS SELECT * FROM t").affected, 3);
    assert_eq!(changed("DELETE FROM t WHERE id = 9").affected, 0);
    let returned = changed("INSERT INTO t VALUES (4, 'd') RETURNING id, name, id");
    assert_eq!(&*returned.columns, ["id", "name", "id_2"]);
    assert_eq!(returned.rows, [[Value::I64(4), text("d"), Value::I64(4)]]);
    let none = changed("SELECT id, name FROM t WHERE false;");
    assert_eq!((&*none.columns, none.rows.len()), (&["id".to_owned(), "name".to_owned()][..], 0));
    assert_eq!(changed("EXPLAIN (COSTS OFF) SELECT 1").rows, [[text("Result")]]);
    assert_eq!(changed("SELECT"), Rows { affected: 1, ..Rows::default() });
    assert_eq!(database.rows("SHOW standard_conforming_strings"), [[text("on")]]);
}

fn errors_say_what_they_are_and_show_no_value(way: Way) {
    let server = Postgres::start(&[]);
    let database = way.open(&server);
    for statement in [
        "CREATE TABLE parent (id int PRIMARY KEY, email text UNIQUE, name text NOT NULL, age int CONSTRAINT grown_up CHECK (age >= 18))",
        "CREATE TABLE child (id int PRIMARY KEY, parent_id int CONSTRAINT has_parent REFERENCES parent)",
        "CREATE TABLE room (during int4range, CONSTRAINT one_guest EXCLUDE USING gist (during WITH &&))",
        "CREATE FUNCTION no() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'secret'; END $$",
        "INSERT INTO parent VALUES (1, 'secret@example.com', 'Ada', 36)",
        "INSERT INTO room VALUES ('[1,5)')",
    ] {
        database.run(statement, &[]).unwrap();
    }
    let unclear = |why: &str| format!("PostgreSQL does not understand the statement: {why}");
    let plain = || "PostgreSQL does not understand the statement".to_owned();
    let value = |why: &str| format!("PostgreSQL refused a value or the result of a computation: {why}");
    let refused = |word: &str| format!("connector `{}` does not run `{word}`", way.name());
    let cases = [
        ("", Syntax, "the query contains no statement".to_owned()),
        ("-- nothing", Syntax, "the query contains no statement".to_owned()),
        ("SELECT 1; SELECT 2", Syntax, "the query contains more than one statement".to_owned()),
        ("SELECT 1\0", Syntax, "the statement contains a NUL character".to_owned()),
        ("SELEC 'secret'", Syntax, plain()),
        ("SELECT 'open", Syntax, plain()),
        ("SELECT * FROM nowhere", Syntax, unclear("a table is missing")),
        ("SELECT absent FROM parent", Syntax, unclear("a column is missing")),
        ("SELECT absent(1)", Syntax, unclear("a function or operator does not exist for values of these types")),
        ("SELECT email = 1 FROM parent", Syntax, unclear("a function or operator does not exist for values of these types")),
        ("SELECT $1", Syntax, "the statement expects a different number of values".to_owned()),
        ("SELECT 1 / 0", Data, value("a division by zero")),
        (
            "SELECT 'secret'::int",
            Data,
            value("a text does not have the form that its type requires, such as a number, a UUID, JSON or an array"),
        ),
        ("SELECT 9223372036854775807 + 1", Data, value("a number is out of the range of its type")),
        ("SELECT no()", Constraint, "a function of the database refused the statement".to_owned()),
        (
            "INSERT INTO parent VALUES (2, 'secret@example.com', 'B')",
            Constraint,
            "a UNIQUE constraint refused the change: `parent_email_key`".to_owned(),
        ),
        ("INSERT INTO parent VALUES (2, 'b', NULL)", Constraint, "a NOT NULL constraint refused the change: `parent.name`".to_owned()),
        ("INSERT INTO parent VALUES (2, 'b', 'b', 17)", Constraint, "a CHECK constraint refused the change: `grown_up`".to_owned()),
        ("INSERT INTO child VALUES (1, 99)", Constraint, "a FOREIGN KEY constraint refused the change: `has_parent`".to_owned()),
        ("INSERT INTO room VALUES ('[2,3)')", Constraint, "an EXCLUDE constraint refused the change: `one_guest`".to_owned()),
        ("SELECT pg_read_file('/etc/secret')", Denied, String::new()),
        ("BEGIN", Denied, refused("BEGIN")),
        ("/* */ COPY parent TO STDOUT", Denied, refused("COPY")),
        ("SET search_path = x", Denied, refused("SET")),
        ("CREATE TEMP TABLE x (v int)", Denied, refused("CREATE TEMP")),
        ("CREATE DATABASE other", Denied, "PostgreSQL does not run the statement inside a transaction, which every call is".to_owned()),
    ];
    for (statement, kind, message) in cases {
        let error = database.error(statement);
        if message.is_empty() {
            // The file is missing, which is an error of the server's machine.
            assert!(!error.message.contains("secret"), "{error:?}");
            continue;
        }
        assert_eq!((error.kind, error.message), (kind, message), "{statement}: {:?}", error.source);
    }
    let surplus = database.run("SELECT 1", &[Value::Null]).unwrap_err();
    assert_eq!(surplus.kind, Syntax, "{surplus:?}");
    assert_eq!(database.rows("SELECT count(*) FROM parent"), [[Value::I64(1)]]);
    // None of these errors cost the connection.
    assert_eq!(database.rows("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'millrace'"), [[Value::I64(1)]]);
}

fn a_result_that_is_too_large_is_refused(way: Way) {
    let server = Postgres::start(&[]);
    let database = way.open(&server);
    let limited = |max_rows, max_bytes, access| {
        let query = Query { max_rows, max_bytes, access, ..query("SELECT v FROM (VALUES ('four'), ('more'), ('1')) a (v)") };
        database.run_with(&query).map(|rows| rows.rows.len())
    };
    for access in [Access::Read, Access::Write] {
        let end = if access == Access::Write { "; the statement took effect" } else { "" };
        assert_eq!(limited(3, 9, access), Ok(3));
        assert_eq!(limited(2, 9, access), Err(Error::new(TooLarge, format!("the result has more than `max_rows`, 2 rows{end}"))));
        assert_eq!(limited(3, 8, access), Err(Error::new(TooLarge, format!("the result has more than 8 bytes{end}"))));
    }
    // Rows without an end, and one row that is longer than everything: neither is read to its end.
    let endless = Query {
        max_rows: 5,
        access: Access::Read,
        ..query("WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
    };
    let cut = |max_rows| database.cut(&query("SELECT v FROM (VALUES ('four'), ('more'), ('1')) a (v)"), max_rows);
    assert_eq!([cut(4), cut(3), cut(2), cut(1)], [Ok((3, false)), Ok((3, false)), Ok((2, true)), Ok((1, true))]);
    if way == Way::Postgres {
        let backend = || database.rows("SELECT pg_backend_pid()");
        let before = backend();
        assert_eq!(database.cut(&endless, 5), Ok((5, true)));
        // The connection is kept: the server stops by itself.
        assert_eq!(backend(), before);
    }
    let endless = database.run_with(&endless).unwrap_err();
    let message = match way {
        Way::Postgres => "the result has more than `max_rows`, 5 rows",
        // The whole result is collected there before anything of it is sent.
        Way::Neon => "the result is larger than Neon sends; nothing was changed",
        Way::RdsData => TOO_LARGE_THERE,
    };
    assert_eq!((endless.kind, endless.message.as_str()), (TooLarge, message));
    let long = |access| database.run_with(&Query { access, max_bytes: 9, ..query("SELECT repeat('x', 5000000)") }).unwrap_err();
    if way == Way::RdsData {
        assert_eq!([Access::Read, Access::Write].map(|access| long(access).message), [TOO_LARGE_THERE; 2]);
    } else {
        assert_eq!(long(Access::Read), Error::new(TooLarge, "the result has more than 9 bytes"));
        assert_eq!(long(Access::Write).message, "the result has more than 9 bytes; it is not known whether the statement took effect");
    }
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let written = Query { max_rows: 1, ..query("INSERT INTO t VALUES (1), (2) RETURNING v") };
    assert_eq!(database.run_with(&written).unwrap_err().message, "the result has more than `max_rows`, 1 rows; the statement took effect");
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);
}

fn a_read_only_adapter_reads(way: Way) {
    let server = Postgres::start(&[]);
    way.open(&server).run("CREATE TABLE t (v int)", &[]).unwrap();
    way.open(&server).run("CREATE FUNCTION put() RETURNS void LANGUAGE sql AS 'INSERT INTO t VALUES (1)'", &[]).unwrap();
    let reader = Database::open(Connection { read_only: true, ..way.settings(&server, &[]) });
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);
    for statement in [
        "INSERT INTO t VALUES (1)",
        "DROP TABLE t",
        "WITH a AS (INSERT INTO t VALUES (1) RETURNING v) SELECT v FROM a",
        "SELECT put()",
        "SELECT nextval('x')",
    ] {
        let error = reader.error(statement);
        if statement.contains("nextval") {
            continue;
        }
        assert_eq!((error.kind, error.message.as_str()), (Denied, "the statement writes, and the adapter is read-only"), "{statement}");
    }
    // Nothing that a statement can say lets the next one write.
    let said = reader
        .run("SELECT set_config('transaction_read_only', 'off', false), set_config('default_transaction_read_only', 'off', false)", &[]);
    drop(said);
    assert_eq!(reader.error("INSERT INTO t VALUES (1)").kind, Denied);
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);
}

fn a_statement_ends_at_its_deadline_on_the_server_too(way: Way) {
    let server = Postgres::start(&[]);
    let database = way.open(&server);
    database.ping().unwrap();
    for access in [Access::Read, Access::Write] {
        // What reads is no transaction there, so nothing can be set for it; the API ends it after 45 seconds.
        if way == Way::RdsData && access == Access::Read {
            continue;
        }
        let late = database.run_with(&Query { access, deadline_ms: 2_000, ..query(ENDLESS) }).unwrap_err();
        assert_eq!((late.kind, late.message.as_str()), (TimedOut, "the statement ran past its deadline"));
    }
    let past = database.run_with(&Query { deadline_ms: 0, ..query("CREATE TABLE t (v int)") }).unwrap_err();
    assert_eq!((past.kind, past.message.as_str()), (TimedOut, "the statement ran past its deadline"));
    assert_eq!(database.rows("SELECT count(*) FROM pg_tables WHERE tablename = 't'"), [[Value::I64(0)]]);
    // Nobody waits for them any more, and nothing runs; the second look is for what ends right now.
    let running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'WITH RECURSIVE%' AND state = 'active'";
    while database.rows(running) != [[Value::I64(0)]] {
        std::thread::yield_now();
    }
    assert_eq!(database.rows("SELECT current_setting('statement_timeout')").len(), 1);
}

#[test]
fn a_lock_is_waited_for() {
    let server = Postgres::start(&[]);
    let database = server.open();
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let impatient = Database::open(server.connection(&[("options", "-c lock_timeout=50ms")]));
    let url = server.url("postgres");
    let held = "\\set ON_ERROR_STOP 0\nBEGIN; LOCK TABLE t; SELECT pg_sleep(600);\nCOMMIT;";
    let holder = std::thread::spawn(move || millrace_tests::postgres::psql(&url, held));
    let asleep = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while database.rows(asleep).is_empty() {
        std::thread::yield_now();
    }
    let locked = impatient.error("INSERT INTO t VALUES (1)");
    assert_eq!((locked.kind, locked.message.as_str()), (Busy, "what the statement needs is locked by another connection"));
    let connection = server.connection(&[]);
    // Gives the lock back once the next statement waits for it.
    let releaser = std::thread::spawn(move || {
        let database = Database::open(connection);
        while database.rows("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT%'").is_empty() {
            std::thread::yield_now();
        }
        drop(database.rows(&format!("SELECT pg_cancel_backend(pid) FROM ({asleep}) AS sleeper")));
    });
    assert_eq!(database.run("INSERT INTO t VALUES (2)", &[]).unwrap().affected, 1, "the lock is given back in time");
    releaser.join().unwrap();
    holder.join().unwrap();
    assert_eq!(database.rows("SELECT v FROM t"), [[Value::I64(2)]]);
}
