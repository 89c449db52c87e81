//! The connector `mysql` on a real MariaDB.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use millrace_core::{
    ErrorKind::{Constraint, Data, Denied, Syntax},
    app::Access,
    value::Value,
};
use millrace_tests::{
    cutting,
    database::{connection, text},
    mysql::Mysql,
    wait,
};

use super::{
    Held, Machine, ServerUnderTest, Site,
    hostile::Hostile,
    keeps,
    life::Life,
    limits::{Limits, ReadOnly},
    login::Login,
    once::{Once, User, made, made_before, once, shop},
    results::Results,
};

/// What `planetscale` begins with, too.
pub(crate) const MYSQL: ServerUnderTest = ServerUnderTest {
    connector: "mysql",
    product: "MySQL",
    start: || Box::new(Mysql::start(&[])),
    shared: Some(|| Mysql::shared() as &dyn Machine),
    settings: |_, url, options| connection("mysql", url, options),
    sign: "?",
    once: Once {
        tables: &["CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, k varchar(99) UNIQUE) ENGINE = InnoDB"],
        returning: "INSERT INTO t (k) VALUES (?) RETURNING id, k",
        plain: "INSERT INTO t (k) VALUES (?)",
        typed: Some("INSERT INTO t (k) VALUES (?) RETURNING 1.50, X'dead', CURDATE(), JSON_OBJECT('a', 1)"),
        changes: &[("UPDATE t SET k = CONCAT(k, '!')", 2)],
        keys: "SELECT GROUP_CONCAT(k ORDER BY k SEPARATOR ' ') FROM t",
        left: None,
        failing: &[
            ("INSERT INTO t (k) VALUES (?) RETURNING id, k", Constraint, ""),
            ("INSERT INTO t (k) VALUES (?)", Constraint, ""),
            ("INSERT INTO nowhere VALUES (?)", Syntax, ""),
            ("BEGIN", Denied, ""),
            ("SELECT ?; COMMIT", Syntax, ""),
            ("CREATE TABLE u (v int)", Denied, ""),
            ("TRUNCATE t", Denied, ""),
        ],
        too_large: &[
            ("INSERT INTO t (k) VALUES ('x'), ('y') RETURNING id", "the result has more than `max_rows`, 1 rows"),
            ("INSERT INTO t (k) VALUES ('x') RETURNING REPEAT('x', 5000000)", "the result has more than 100 bytes"),
        ],
        endless: Some("UPDATE t SET k = CONCAT(k, SLEEP(600))"),
        long: |count| format!("INSERT INTO t (k) VALUES ('a') RETURNING REPEAT('x', {count})"),
        lengths: [2_000_000, 900_000],
        user: Some(User {
            advice: "CREATE TABLE IF NOT EXISTS millrace_calls (`key` char(64)",
            made: "CREATE USER {user}@'127.0.0.1' IDENTIFIED BY '{user}'; GRANT INSERT, SELECT ON {database}.t TO {user}@'127.0.0.1'",
            grant: "GRANT INSERT, SELECT, UPDATE, DELETE ON {database}.millrace_calls TO {user}@'127.0.0.1'",
        }),
        slow: Some([
            "INSERT INTO t (k) SELECT CONCAT('slow', SLEEP(6))",
            "slow0",
            "SELECT 1 FROM information_schema.PROCESSLIST WHERE COMMAND = 'Execute' AND INFO LIKE '%SLEEP(6))' AND DB = DATABASE()",
        ]),
        committed: Some(cutting::MYSQL),
        may_be_unknown: false,
        is_asked_again: false,
        writes: 40,
    },
    results: Results {
        changes: &[
            ("CREATE TABLE t (id int PRIMARY KEY, name text)", 0),
            ("INSERT INTO t SELECT seq, CONCAT('n', seq) FROM seq_1_to_3", 3),
            // Rows that were found count, whether something of them changed or not.
            ("UPDATE t SET name = name WHERE id > 1", 2),
            ("DELETE FROM t WHERE id = 9", 0),
            ("DO 1", 0),
        ],
        cells: &[("SHOW TABLES", "t")],
        single: &["EXPLAIN SELECT 1"],
        tables: &[
            "CREATE TABLE parent (id int PRIMARY KEY, email varchar(99) UNIQUE, name text NOT NULL, age int, CONSTRAINT grown_up CHECK (age >= 18))",
            "CREATE TABLE child (id int PRIMARY KEY, parent_id int, CONSTRAINT has_parent FOREIGN KEY (parent_id) REFERENCES parent (id))",
            "CREATE FUNCTION refuses() RETURNS int DETERMINISTIC BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; RETURN 1; END",
            "INSERT INTO parent VALUES (1, 'secret@example.com', 'Ada', 36)",
        ],
        errors: |server| {
            let plain = || "MySQL does not understand the statement".to_owned();
            let unclear = |why: &str| format!("{}: {why}", plain());
            let value = |why: &str| format!("MySQL refused a value or the result of a computation: {why}");
            let constraint = |what: &str| format!("{what} constraint refused the change");
            let refused = |word: &str| format!("connector `{}` does not run `{word}`", server.connector);
            let no_name = || constraint("a NOT NULL") + ": `name`";
            vec![
                ("SELEC 'secret'", Syntax, plain()),
                ("SELECT * FROM nowhere", Syntax, unclear("a table is missing")),
                ("SELECT absent FROM parent", Syntax, unclear("a column is missing")),
                ("SELECT absent(1)", Syntax, unclear("a function or procedure does not exist")),
                ("INSERT INTO child VALUES (1)", Syntax, unclear("the number of columns does not match the number of values")),
                ("INSERT INTO child VALUES (1 / 0, 1)", Data, value("a division by zero")),
                (
                    "INSERT INTO child VALUES ('secret', 1)",
                    Data,
                    value("a value does not have the type of its column, or is not one of its values"),
                ),
                ("SELECT 9223372036854775807 + 1", Data, value("a number is out of the range of its type")),
                ("SELECT refuses()", Constraint, "a trigger or procedure of the database refused the statement".to_owned()),
                ("INSERT INTO parent VALUES (2, 'secret@example.com', 'B', 20)", Constraint, constraint("a UNIQUE") + ": `email`"),
                ("INSERT INTO parent VALUES (2, 'b', NULL, 20)", Constraint, no_name()),
                ("INSERT INTO parent (id) VALUES (2)", Constraint, no_name()),
                ("INSERT INTO parent VALUES (2, 'b', 'b', 17)", Constraint, constraint("a CHECK") + ": `grown_up`"),
                ("INSERT INTO child VALUES (1, 99)", Constraint, constraint("a FOREIGN KEY") + ": `has_parent`"),
                ("BEGIN", Denied, refused("BEGIN")),
                ("/* */ LOAD DATA INFILE '/etc/passwd' INTO TABLE parent", Denied, refused("LOAD")),
                ("SET autocommit = 0", Denied, refused("SET")),
                ("CREATE TEMPORARY TABLE x (v int)", Denied, refused("CREATE TEMPORARY")),
                ("SELECT 1 INTO OUTFILE '/tmp/secret'", Denied, refused("INTO OUTFILE")),
            ]
        },
        hidden: None,
        connections: Some("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'admin' AND DB = DATABASE()"),
    },
    limits: Limits {
        // Each text has its length before it, and each cell counts four bytes more.
        three: ("SELECT 'four' UNION ALL SELECT 'more' UNION ALL SELECT '1'", 24),
        endless: Some(("SELECT seq FROM seq_1_to_1000000000000", "the result has more than `max_rows`, 5 rows")),
        says_written: true,
        stops: false,
        long: (
            "SELECT REPEAT('x', 5000000)",
            ["the result has more than 9 bytes", "the result has more than 9 bytes; it is not known whether the statement took effect"],
        ),
        read_only: Some(ReadOnly {
            tables: &[
                "CREATE TABLE t (v int)",
                "CREATE FUNCTION put() RETURNS int DETERMINISTIC BEGIN INSERT INTO t VALUES (1); RETURN 1; END",
                "CREATE FUNCTION put_after() RETURNS int DETERMINISTIC BEGIN SET SESSION tx_read_only = 0; INSERT INTO t VALUES (1); RETURN 1; END",
            ],
            writes: &[
                "INSERT INTO t VALUES (1)",
                "DROP TABLE t",
                "CREATE TABLE u (v int)",
                "SELECT put()",
                "TRUNCATE t",
                "REPLACE INTO t VALUES (1)",
            ],
            unlocks: ["SELECT put_after()", "SELECT put()"],
        }),
    },
    life: Some(Life {
        connection: "SELECT CONNECTION_ID()",
        slow_connection: "SELECT CONNECTION_ID(), SLEEP(0.01)",
        endless: ["SELECT SLEEP(600)", "INSERT INTO t SELECT SLEEP(600)"],
        running: "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Execute' AND INFO LIKE '%SLEEP(600)' AND DB = DATABASE() \
                  ORDER BY ID",
        end: ["KILL {}", "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {}"],
        ends: &[Access::Read, Access::Write],
        ended: "MySQL closed the connection",
    }),
};

pub(crate) static SERVER: ServerUnderTest = MYSQL;

keeps! { SERVER:
    once {
        a_call_that_meets_one_that_does_not_end_is_a_conflict
        a_record_may_be_larger_than_what_a_call_reads
        a_result_too_large_for_a_record_is_not_kept_and_the_change_is
        a_server_that_is_killed_again_and_again_makes_no_write_twice
        a_table_of_somebody_else_is_the_operators_affair
        a_table_that_cannot_be_made_is_the_operators_affair
        connections_are_cut_after_the_commit_and_no_write_is_made_twice
        a_write_happens_once_for_a_key
        a_write_that_fails_leaves_no_record
        expired_records_are_removed_by_later_writes
        two_that_ask_at_once_write_once
    }
    results { errors_say_what_they_are_and_show_no_value rows_and_changes }
    limits { a_read_only_adapter_reads a_result_that_is_too_large_is_refused }
    life {
        a_connection_is_used_again_and_replaced_when_it_broke
        a_read_that_is_killed_is_asked_once_more
        a_server_that_comes_back_is_waited_for
        a_write_that_is_killed_is_of_unknown_outcome_and_not_repeated
        a_statement_ends_at_its_deadline_on_the_server_too
        more_calls_than_connections_wait_for_their_turn
    }
}

#[test]
fn an_answer_does_not_wait_for_records_to_be_removed() {
    let (site, database) = shop(&SERVER);
    let plain = SERVER.once.plain;
    once(&database, plain, &[text("a")], "old", 0).unwrap();
    thread::scope(|scope| {
        let holder = scope.spawn(|| site.open().error("UPDATE millrace_calls SET affected = SLEEP(600) WHERE expires_at < 99"));
        let running = "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Execute' AND INFO LIKE 'UPDATE%SLEEP(600)%' \
                       AND DB = DATABASE()";
        wait::until("the holder does not run", || !database.rows(running).is_empty());
        let began = Instant::now();
        assert_eq!(once(&database, plain, &[text("b")], "new", 100), made(1));
        // The deadline is a minute away.
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        let Value::I64(number) = database.rows(running)[0][0] else { panic!("no number") };
        site.run(&format!("KILL {number}"));
        holder.join().unwrap();
    });
    assert_eq!(once(&database, plain, &[text("c")], "new", 100), made_before(1));
}

const CANARY: &str = "CREATE TABLE canary (id int PRIMARY KEY, s text);
INSERT INTO canary VALUES (1, 'alive'), (2, 'and well');
CREATE TABLE kept (id int AUTO_INCREMENT PRIMARY KEY, s longtext CHARACTER SET utf8mb4);
CREATE TABLE strict (d date, j json, n int, e enum('alive'));
";

pub(crate) const HOSTILE: Hostile = Hostile {
    app: "mysql",
    forms: 33,
    wrong: &["refused"],
    nul: &[],
    least: [5, 400],
    each: 1,
    unharmed: &[("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()", 3)],
};

/// A server whose defaults are others: the session decides what a quote is.
pub(crate) const OTHER_QUOTES: [&str; 3] =
    ["--sql-mode=ANSI,NO_BACKSLASH_ESCAPES", "--character-set-server=latin1", "--collation-server=latin1_general_ci"];

/// Values through the app, moved to the connection string that `moved` gives, on a server with
/// these settings.
pub(crate) fn hostile_values(hostile: &Hostile, settings: &[&str], moved: impl FnOnce(&Site, &Path) -> String) {
    let site = match settings {
        [] => Site::of(&SERVER),
        settings => Site::on(&SERVER, Held::Own(Box::new(Mysql::start(settings)))),
    };
    site.run(CANARY);
    hostile.check(|folder| vec![("DATABASE_URL".to_owned(), moved(&site, folder))], |_| site.open());
}

#[test]
fn hostile_values_come_back_through_every_form() {
    hostile_values(&HOSTILE, &[], |site, _| site.url());
}

#[test]
fn hostile_values_come_back_from_a_server_with_other_quotes() {
    hostile_values(&HOSTILE, &OTHER_QUOTES, |site, _| site.url());
}

pub(crate) const LOGIN: Login = Login {
    connector: "mysql",
    user: "admin",
    password: millrace_tests::mysql::PASSWORD,
    database: "shop",
    is_secured: "SELECT VARIABLE_VALUE <> '' FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'SSL_CIPHER'",
};
