//! The connector `postgres` on a real PostgreSQL.

use std::{path::Path, thread};

use millrace_core::{
    ErrorKind::{Constraint, Data, Denied, Syntax},
    app::Access,
};
use millrace_tests::{
    cutting,
    database::{Database, connection, text},
    postgres::{Pgbouncer, Postgres},
};

use super::{
    Machine, ServerUnderTest, Site,
    hostile::Hostile,
    keeps,
    life::Life,
    limits::{Limits, ReadOnly},
    login::Login,
    once::{Once, User, counted, once},
    results::Results,
};

/// What `neon` and `rds-data` begin with, too.
pub(crate) const POSTGRES: ServerUnderTest = ServerUnderTest {
    connector: "postgres",
    product: "PostgreSQL",
    start: || Box::new(Postgres::start(&[])),
    shared: Some(|| Postgres::shared() as &dyn Machine),
    settings: |_, url, options| connection("postgres", url, options),
    sign: "$1",
    once: Once {
        tables: &[
            "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, k text UNIQUE)",
            "CREATE TABLE d (v int UNIQUE DEFERRABLE INITIALLY DEFERRED)",
        ],
        returning: "INSERT INTO t (k) VALUES ($1) RETURNING id, k",
        plain: "INSERT INTO t (k) VALUES ($1)",
        typed: Some(
            "INSERT INTO t (k) VALUES ($1) RETURNING 1.50::numeric, '\\xdead'::bytea, ARRAY[1, NULL], now()::date, '{\"a\": 1}'::jsonb",
        ),
        changes: &[("UPDATE t SET k = k || '!'", 2)],
        keys: "SELECT string_agg(k, ' ' ORDER BY k) FROM t",
        left: Some(("SELECT current_setting('idle_in_transaction_session_timeout')", "0")),
        failing: &[
            ("INSERT INTO t (k) VALUES ($1) RETURNING id, k", Constraint, ""),
            ("INSERT INTO t (k) VALUES ($1)", Constraint, ""),
            ("INSERT INTO nowhere VALUES ($1)", Syntax, ""),
            ("BEGIN", Denied, ""),
            ("SELECT $1::text; COMMIT", Syntax, ""),
            ("VACUUM t", Denied, ""),
            // A constraint that is looked at by the commit.
            ("INSERT INTO d VALUES (1), (1)", Constraint, "a UNIQUE constraint refused the change: `d_v_key`"),
        ],
        too_large: &[
            ("UPDATE t SET k = k || '!' RETURNING id", "the result has more than `max_rows`, 1 rows"),
            ("UPDATE t SET k = k || '!' RETURNING repeat('x', 5000000)", "the result has more than 100 bytes"),
        ],
        endless: Some("UPDATE t SET k = k || pg_sleep(600)::text"),
        long: |count| format!("INSERT INTO t (k) VALUES ('a') RETURNING repeat('x', {count})"),
        lengths: [2_000_000, 900_000],
        user: Some(User {
            made: "CREATE ROLE {user} LOGIN PASSWORD '{user}' CONNECTION LIMIT 10; GRANT INSERT, SELECT ON t TO {user}; \
                   REVOKE CREATE ON SCHEMA public FROM PUBLIC;",
            advice: "CREATE TABLE IF NOT EXISTS millrace_calls (key text PRIMARY KEY",
            grant: "GRANT INSERT, SELECT, UPDATE, DELETE ON millrace_calls TO {user}",
        }),
        slow: Some([
            "INSERT INTO t (k) SELECT 'slow' FROM pg_sleep(6)",
            "slow",
            "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(6)%' AND pid <> pg_backend_pid() \
             AND datname = current_database()",
        ]),
        committed: Some(cutting::POSTGRES),
        may_be_unknown: false,
        is_asked_again: false,
        writes: 40,
    },
    results: Results {
        changes: &[
            ("CREATE TABLE t (id int PRIMARY KEY, name text)", 0),
            ("INSERT INTO t SELECT i, 'n' || i FROM generate_series(1, 3) i", 3),
            ("UPDATE t SET name = name WHERE id > 1", 2),
            ("CREATE TABLE u AS SELECT * FROM t", 3),
            ("DELETE FROM t WHERE id = 9", 0),
            ("SELECT", 1),
        ],
        cells: &[("EXPLAIN (COSTS OFF) SELECT 1", "Result"), ("SHOW standard_conforming_strings", "on")],
        single: &[],
        tables: &[
            "CREATE TABLE parent (id int PRIMARY KEY, email text UNIQUE, name text NOT NULL, age int CONSTRAINT grown_up CHECK (age >= 18))",
            "CREATE TABLE child (id int PRIMARY KEY, parent_id int CONSTRAINT has_parent REFERENCES parent)",
            "CREATE TABLE room (during int4range, CONSTRAINT one_guest EXCLUDE USING gist (during WITH &&))",
            "CREATE FUNCTION no() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'secret'; END $$",
            "INSERT INTO parent VALUES (1, 'secret@example.com', 'Ada', 36)",
            "INSERT INTO room VALUES ('[1,5)')",
        ],
        errors: |server| {
            let plain = || "PostgreSQL does not understand the statement".to_owned();
            let unclear = |why: &str| format!("{}: {why}", plain());
            let value = |why: &str| format!("PostgreSQL refused a value or the result of a computation: {why}");
            let constraint = |what: &str| format!("{what} constraint refused the change");
            let refused = |word: &str| format!("connector `{}` does not run `{word}`", server.connector);
            let missing = "a function or operator does not exist for values of these types";
            vec![
                ("SELEC 'secret'", Syntax, plain()),
                ("SELECT * FROM nowhere", Syntax, unclear("a table is missing")),
                ("SELECT absent FROM parent", Syntax, unclear("a column is missing")),
                ("SELECT absent(1)", Syntax, unclear(missing)),
                ("SELECT email = 1 FROM parent", Syntax, unclear(missing)),
                ("SELECT 1 / 0", Data, value("a division by zero")),
                (
                    "SELECT 'secret'::int",
                    Data,
                    value("a text does not have the form that its type requires, such as a number, a UUID, JSON or an array"),
                ),
                ("SELECT 9223372036854775807 + 1", Data, value("a number is out of the range of its type")),
                ("SELECT no()", Constraint, "a function of the database refused the statement".to_owned()),
                ("INSERT INTO parent VALUES (2, 'secret@example.com', 'B')", Constraint, constraint("a UNIQUE") + ": `parent_email_key`"),
                ("INSERT INTO parent VALUES (2, 'b', NULL)", Constraint, constraint("a NOT NULL") + ": `parent.name`"),
                ("INSERT INTO parent VALUES (2, 'b', 'b', 17)", Constraint, constraint("a CHECK") + ": `grown_up`"),
                ("INSERT INTO child VALUES (1, 99)", Constraint, constraint("a FOREIGN KEY") + ": `has_parent`"),
                ("INSERT INTO room VALUES ('[2,3)')", Constraint, constraint("an EXCLUDE") + ": `one_guest`"),
                ("BEGIN", Denied, refused("BEGIN")),
                ("/* */ COPY parent TO STDOUT", Denied, refused("COPY")),
                ("SET search_path = x", Denied, refused("SET")),
                ("CREATE TEMP TABLE x (v int)", Denied, refused("CREATE TEMP")),
                (
                    "CREATE DATABASE other",
                    Denied,
                    "PostgreSQL does not run the statement inside a transaction, which every call is".to_owned(),
                ),
            ]
        },
        hidden: Some("SELECT pg_read_file('/etc/secret')"),
        connections: Some("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'millrace' AND datname = current_database()"),
    },
    limits: Limits {
        three: ("SELECT v FROM (VALUES ('four'), ('more'), ('1')) a (v)", 9),
        endless: Some((
            "WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
            "the result has more than `max_rows`, 5 rows",
        )),
        says_written: true,
        stops: true,
        long: (
            "SELECT repeat('x', 5000000)",
            ["the result has more than 9 bytes", "the result has more than 9 bytes; it is not known whether the statement took effect"],
        ),
        read_only: Some(ReadOnly {
            tables: &["CREATE TABLE t (v int)", "CREATE FUNCTION put() RETURNS void LANGUAGE sql AS 'INSERT INTO t VALUES (1)'"],
            writes: &[
                "INSERT INTO t VALUES (1)",
                "DROP TABLE t",
                "WITH a AS (INSERT INTO t VALUES (1) RETURNING v) SELECT v FROM a",
                "SELECT put()",
            ],
            unlocks: [
                "SELECT set_config('transaction_read_only', 'off', false), set_config('default_transaction_read_only', 'off', false)",
                "INSERT INTO t VALUES (1)",
            ],
        }),
    },
    life: Some(LIFE),
};

pub(crate) const LIFE: Life = Life {
    connection: "SELECT pg_backend_pid()",
    slow_connection: "SELECT pg_backend_pid(), pg_sleep(0.01)",
    endless: [
        "WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "CREATE TABLE u AS WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    ],
    running: "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%RECURSIVE%' AND pid <> pg_backend_pid() \
                  AND datname = current_database()",
    end: ["SELECT pg_terminate_backend({})", "SELECT 1 FROM pg_stat_activity WHERE pid = {}"],
    ends: &[Access::Read, Access::Write],
    ended: "PostgreSQL ended the connection",
};

pub(crate) static SERVER: ServerUnderTest = POSTGRES;

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

/// The tables of the app with hostile values.
#[test]
fn records_work_through_a_pooler_in_transaction_mode() {
    let server = Postgres::start(&[]);
    let database = server.open();
    database.run(POSTGRES.once.tables[0], &[]).unwrap();
    let pooler = Pgbouncer::start(&server, 2);
    let isolate = |number: usize| {
        let database = Database::open(pooler.connection());
        for turn in 0..25 {
            // Each key is asked for by two isolates.
            let key = format!("{}-{turn}", number / 2);
            once(&database, POSTGRES.once.returning, &[text(&key)], &key, 0).unwrap();
        }
    };
    thread::scope(|scope| (0..4).for_each(|number| drop(scope.spawn(move || isolate(number)))));
    assert_eq!(counted(&database), [50, 50]);
}

const CANARY: &str = "CREATE TABLE canary (id int PRIMARY KEY, s text);
INSERT INTO canary VALUES (1, 'alive'), (2, 'and well');
CREATE TABLE kept (id serial PRIMARY KEY, s text);
";

/// PostgreSQL has no texts with NUL.
pub(crate) const HOSTILE: Hostile = Hostile {
    app: "postgres",
    forms: 35,
    wrong: &["refused a value"],
    nul: &["refused a value"],
    least: [60, 500],
    each: 1,
    unharmed: &[("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", 2)],
};

/// Values through the app, moved to another connector by the variables that `moved` gives.
pub(crate) fn hostile_values(hostile: &Hostile, moved: impl FnOnce(&Site, &Path) -> Vec<(String, String)>) {
    let site = Site::of(&SERVER);
    site.run(CANARY);
    let variables = |folder: &Path| [vec![("DATABASE_URL".to_owned(), site.url())], moved(&site, folder)].concat();
    hostile.check(variables, |_| site.open());
}

#[test]
fn hostile_values_come_back_through_every_form() {
    hostile_values(&HOSTILE, |_, _| Vec::new());
}

pub(crate) const LOGIN: Login = Login {
    connector: "postgres",
    user: "postgres",
    password: millrace_tests::postgres::PASSWORD,
    database: "postgres",
    is_secured: "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
};
