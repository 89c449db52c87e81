//! Rows, limits, deadlines and errors.

use millrace_core::{
    Error,
    ErrorKind::{Busy, Constraint, Data, Denied, Syntax, TooLarge},
    app::{Access, OnTooMany},
    ports::{Connection, Query},
    value::{Rows, Value},
};
use millrace_tests::{
    database::{Database, query, text},
    mysql::Mysql,
};

#[test]
fn rows_and_changes() {
    let server = Mysql::start(&[]);
    let database = server.open();
    let changed = |statement: &str| database.run(statement, &[]).unwrap();
    assert_eq!(changed("CREATE TABLE t (id int PRIMARY KEY, name text)"), Rows::default());
    assert_eq!(changed("INSERT INTO t SELECT seq, CONCAT('n', seq) FROM seq_1_to_3"), Rows { affected: 3, ..Rows::default() });
    // Rows that were found count, whether something of them changed or not.
    assert_eq!(changed("UPDATE t SET name = name WHERE id > 1").affected, 2);
    assert_eq!(changed("DELETE FROM t WHERE id = 9").affected, 0);
    let returned = changed("INSERT INTO t VALUES (4, 'd') RETURNING id, name, id");
    assert_eq!(&*returned.columns, ["id", "name", "id_2"]);
    assert_eq!(returned.rows, [[Value::I64(4), text("d"), Value::I64(4)]]);
    let none = changed("SELECT id, name FROM t WHERE false;");
    assert_eq!((&*none.columns, none.rows.len()), (&["id".to_owned(), "name".to_owned()][..], 0));
    assert_eq!(changed("SHOW TABLES").rows, [[text("t")]]);
    assert_eq!(changed("EXPLAIN SELECT 1").rows.len(), 1);
    assert_eq!(changed("DO 1"), Rows::default());
}

#[test]
fn errors_say_what_they_are_and_show_no_value() {
    let server = Mysql::start(&[]);
    let database = server.open();
    for statement in [
        "CREATE TABLE parent (id int PRIMARY KEY, email varchar(99) UNIQUE, name text NOT NULL, age int, CONSTRAINT grown_up CHECK (age >= 18))",
        "CREATE TABLE child (id int PRIMARY KEY, parent_id int, CONSTRAINT has_parent FOREIGN KEY (parent_id) REFERENCES parent (id))",
        "CREATE FUNCTION refuses() RETURNS int DETERMINISTIC BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; RETURN 1; END",
        "INSERT INTO parent VALUES (1, 'secret@example.com', 'Ada', 36)",
    ] {
        database.run(statement, &[]).unwrap();
    }
    let unclear = |why: &str| format!("MySQL does not understand the statement: {why}");
    let plain = || "MySQL does not understand the statement".to_owned();
    let value = |why: &str| format!("MySQL refused a value or the result of a computation: {why}");
    let refused = |word: &str| format!("connector `mysql` does not run `{word}`");
    let cases = [
        ("", Syntax, "the query contains no statement".to_owned()),
        ("-- nothing", Syntax, "the query contains no statement".to_owned()),
        ("SELECT 1; SELECT 2", Syntax, "the query contains more than one statement".to_owned()),
        ("SELECT 1\0", Syntax, "the statement contains a NUL character".to_owned()),
        ("SELEC 'secret'", Syntax, plain()),
        ("SELECT 'open", Syntax, plain()),
        ("SELECT * FROM nowhere", Syntax, unclear("a table is missing")),
        ("SELECT absent FROM parent", Syntax, unclear("a column is missing")),
        ("SELECT absent(1)", Syntax, unclear("a function or procedure does not exist")),
        ("INSERT INTO child VALUES (1)", Syntax, unclear("the number of columns does not match the number of values")),
        ("SELECT ?", Syntax, "the statement expects a different number of values".to_owned()),
        ("INSERT INTO child VALUES (1 / 0, 1)", Data, value("a division by zero")),
        (
            "INSERT INTO child VALUES ('secret', 1)",
            Data,
            value("a value does not have the type of its column, or is not one of its values"),
        ),
        ("SELECT 9223372036854775807 + 1", Data, value("a number is out of the range of its type")),
        ("SELECT refuses()", Constraint, "a trigger or procedure of the database refused the statement".to_owned()),
        (
            "INSERT INTO parent VALUES (2, 'secret@example.com', 'B', 20)",
            Constraint,
            "a UNIQUE constraint refused the change: `email`".to_owned(),
        ),
        ("INSERT INTO parent VALUES (2, 'b', NULL, 20)", Constraint, "a NOT NULL constraint refused the change: `name`".to_owned()),
        ("INSERT INTO parent (id) VALUES (2)", Constraint, "a NOT NULL constraint refused the change: `name`".to_owned()),
        ("INSERT INTO parent VALUES (2, 'b', 'b', 17)", Constraint, "a CHECK constraint refused the change: `grown_up`".to_owned()),
        ("INSERT INTO child VALUES (1, 99)", Constraint, "a FOREIGN KEY constraint refused the change: `has_parent`".to_owned()),
        ("BEGIN", Denied, refused("BEGIN")),
        ("/* */ LOAD DATA INFILE '/etc/passwd' INTO TABLE parent", Denied, refused("LOAD")),
        ("SET autocommit = 0", Denied, refused("SET")),
        ("CREATE TEMPORARY TABLE x (v int)", Denied, refused("CREATE TEMPORARY")),
        ("SELECT 1 INTO OUTFILE '/tmp/secret'", Denied, refused("INTO OUTFILE")),
    ];
    for (statement, kind, message) in cases {
        let error = database.error(statement);
        assert_eq!((error.kind, error.message), (kind, message), "{statement}");
    }
    let surplus = database.run("SELECT 1", &[Value::Null]).unwrap_err();
    assert_eq!(surplus.kind, Syntax, "{surplus:?}");
    assert_eq!(database.rows("SELECT COUNT(*) FROM parent"), [[Value::I64(1)]]);
    // None of these errors cost the connection.
    assert_eq!(database.rows("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'admin'"), [[Value::I64(1)]]);
}

#[test]
fn a_result_that_is_too_large_is_refused() {
    let server = Mysql::start(&[]);
    let database = server.open();
    let limited = |max_rows, max_bytes, access| {
        let query = Query { max_rows, max_bytes, access, ..query("SELECT 'four' UNION ALL SELECT 'more' UNION ALL SELECT '1'") };
        database.run_with(&query).map(|rows| rows.rows.len())
    };
    for access in [Access::Read, Access::Write] {
        let end = if access == Access::Write { "; the statement took effect" } else { "" };
        // Each text has its length before it, and each cell counts four bytes more.
        assert_eq!(limited(3, 24, access), Ok(3));
        assert_eq!(limited(2, 24, access), Err(Error::new(TooLarge, format!("the result has more than `max_rows`, 2 rows{end}"))));
        assert_eq!(limited(3, 23, access), Err(Error::new(TooLarge, format!("the result has more than 23 bytes{end}"))));
    }
    let endless = Query { max_rows: 5, access: Access::Read, ..query("SELECT seq FROM seq_1_to_1000000000000") };
    assert_eq!(database.run_with(&endless).unwrap_err().message, "the result has more than `max_rows`, 5 rows");
    let cut = |max_rows| database.cut(&query("SELECT 'four' UNION ALL SELECT 'more' UNION ALL SELECT '1'"), max_rows);
    assert_eq!([cut(4), cut(3), cut(2), cut(1)], [Ok((3, false)), Ok((3, false)), Ok((2, true)), Ok((1, true))]);
    assert_eq!(database.cut(&endless, 5), Ok((5, true)));
    let long = |access| database.run_with(&Query { access, max_bytes: 9, ..query("SELECT REPEAT('x', 5000000)") }).unwrap_err();
    assert_eq!(long(Access::Read), Error::new(TooLarge, "the result has more than 9 bytes"));
    assert_eq!(long(Access::Write).message, "the result has more than 9 bytes; it is not known whether the statement took effect");
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let written = Query { max_rows: 1, ..query("INSERT INTO t VALUES (1), (2) RETURNING v") };
    assert_eq!(database.run_with(&written).unwrap_err().message, "the result has more than `max_rows`, 1 rows; the statement took effect");
    assert_eq!(database.rows("SELECT COUNT(*) FROM t"), [[Value::I64(2)]]);
    // A result of a write is never cut.
    let written = Query { on_too_many: OnTooMany::Cut, ..written };
    assert_eq!(database.run_with(&written).unwrap_err().kind, TooLarge);
}

#[test]
fn a_read_only_adapter_reads() {
    let server = Mysql::start(&[]);
    let admin = server.open();
    for statement in [
        "CREATE TABLE t (v int)",
        "CREATE FUNCTION put() RETURNS int DETERMINISTIC BEGIN INSERT INTO t VALUES (1); RETURN 1; END",
        "CREATE FUNCTION put_after() RETURNS int DETERMINISTIC BEGIN SET SESSION tx_read_only = 0; INSERT INTO t VALUES (1); RETURN 1; END",
    ] {
        admin.run(statement, &[]).unwrap();
    }
    let reader = Database::open(Connection { read_only: true, ..server.connection(&[]) });
    assert_eq!(reader.rows("SELECT COUNT(*) FROM t"), [[Value::I64(0)]]);
    for statement in
        ["INSERT INTO t VALUES (1)", "DROP TABLE t", "CREATE TABLE u (v int)", "SELECT put()", "TRUNCATE t", "REPLACE INTO t VALUES (1)"]
    {
        let error = reader.error(statement);
        assert_eq!((error.kind, error.message.as_str()), (Denied, "the statement writes, and the adapter is read-only"), "{statement}");
    }
    assert_eq!(reader.error("SELECT put_after()").kind, Denied);
    assert_eq!(reader.error("SELECT put()").kind, Denied);
    assert_eq!(reader.rows("SELECT COUNT(*) FROM t"), [[Value::I64(0)]]);
}

#[test]
fn a_lock_is_waited_for() {
    let server = Mysql::start(&[]);
    let database = server.open();
    database.run("CREATE TABLE t (id int PRIMARY KEY, v int) ENGINE = InnoDB", &[]).unwrap();
    database.run("INSERT INTO t VALUES (1, 1)", &[]).unwrap();
    let held = "START TRANSACTION; UPDATE t SET v = 2; SELECT SLEEP(3); COMMIT;";
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| server.run("shop", held));
        while database.rows("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(3)'").is_empty() {
            std::thread::yield_now();
        }
        // The server gives up by itself, and the call is sent again until its deadline.
        let short = Query { deadline_ms: 1_000, ..query("UPDATE t SET v = 3") };
        let locked = database.run_with(&short).unwrap_err();
        assert!(locked.kind == Busy || locked.kind == millrace_core::ErrorKind::TimedOut, "{locked:?}");
        assert_eq!(database.run("UPDATE t SET v = 4", &[]).unwrap().affected, 1, "the lock is given back in time");
        holder.join().unwrap();
    });
    assert_eq!(database.rows("SELECT v FROM t"), [[Value::I64(4)]]);
}
