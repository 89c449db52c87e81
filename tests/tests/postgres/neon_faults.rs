//! Whose fault a failed batch is: the statement's, the settings', the login's, or nobody's; and
//! what a batch may not do.

use millrace_core::{
    ErrorKind::{Busy, Configuration, Constraint, Credentials, Data, Denied, Protocol, Syntax, Unavailable},
    app::Access,
    ports::{CallRecord, Connection, Query, SessionSetting},
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query},
    failures::{self, NEON as GOOD, READ, WRITE, json as answer},
    neon,
    postgres::Postgres,
    scripted::{Received, Scripted},
};

/// The adapter's settings for an API that a test plays.
fn settings(api: &Scripted, options: &[(&str, &str)]) -> Connection {
    let base_url = format!("http://{}", api.address);
    connection("neon", "postgres://me:hunter2@db/x", &[&[("base_url", base_url.as_str())], options].concat())
}

#[test]
fn settings_are_suspected_only_where_postgresql_refused_a_statement() {
    let session = [SessionSetting { name: "app.tenant".into(), value: "north".into() }];
    let own = [("search_path", "shop")];
    for (good, session, options) in [(GOOD, &[][..], &own[..]), (failures::NEON_SESSION, &session, &[])] {
        for case in failures::neon_with(good) {
            for (access, statement, expected) in [(Access::Read, READ, case.read), (Access::Write, WRITE, case.written)] {
                let api = Scripted::with(case.replies.clone());
                let outcome = Database::open(settings(&api, options)).run_with(&Query { session, access, ..query(statement) });
                // What was said of the statement takes one further request, whose answer is good
                // and clears the settings.
                let (outcome_of, count) = expected;
                let count = count + usize::from(matches!(outcome_of, Err(Constraint | Data | Syntax)));
                let found = (outcome.map(|rows| rows.rows.len()).map_err(|error| error.kind), api.received().len());
                assert_eq!(found, (outcome_of, count), "{} {access:?} {options:?}", case.what);
            }
        }
        // A write that may have been executed stays one, whatever is said afterwards.
        let refused = answer(400, r#"{"message":"x","code":"22023","severity":"ERROR"}"#);
        for first in [answer(200, "{}"), answer(200, &good[..100]), answer(503, ""), answer(400, "{}"), answer(418, "")] {
            let api = Scripted::with(vec![first, refused.clone()]);
            let error = Database::open(settings(&api, options)).run_with(&Query { session, ..query(WRITE) }).unwrap_err();
            assert!(error.kind == Protocol && error.message.ends_with("; it is not known whether the statement took effect"), "{error:?}");
            assert_eq!(api.received().len(), 1);
        }
    }
}

#[test]
fn a_session_that_is_refused_runs_nothing_and_a_statement_keeps_its_own_error() {
    let server = Postgres::start(&[]);
    let database = neon::open(&server);
    database.run("CREATE TABLE t (v int UNIQUE)", &[]).unwrap();
    let session = |name: &str, value: &str| [SessionSetting { name: name.into(), value: value.into() }];
    let ask = |session: &[SessionSetting], statement: &str| database.run_with(&Query { session, ..query(statement) });
    let error = ask(&session("role", "nobody"), "INSERT INTO t VALUES (1)").unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Denied, "PostgreSQL refused a setting or the role of the adapter's `session`"));
    ask(&session("app.tenant", "north"), "INSERT INTO t VALUES (1)").unwrap();
    let error = ask(&session("app.tenant", "north"), "INSERT INTO t VALUES (1)").unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Constraint, "a UNIQUE constraint refused the change: `t_v_key`"));
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
}

#[test]
fn what_a_function_raises_is_not_of_the_login_and_what_a_login_says_is_not_of_the_table_of_records() {
    let server = Postgres::start(&[]);
    let database = neon::open(&server);
    for code in ["28P01", "28000", "3D000", "53300", "57P03"] {
        let raise = format!("CREATE FUNCTION f{code}() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '{code}'; END $$");
        database.run(&raise, &[]).unwrap();
    }
    for (code, kind, message) in [
        ("28P01", Denied, "PostgreSQL does not permit this user to do that"),
        ("28000", Denied, "PostgreSQL does not permit this user to do that"),
        ("3D000", Configuration, "PostgreSQL has no database of this name"),
        ("53300", Busy, "PostgreSQL has no connection left"),
        ("57P03", Unavailable, "PostgreSQL is starting or stopping"),
    ] {
        let error = database.run_with(&Query { deadline_ms: 10_000, ..query(&format!("SELECT f{code}()")) }).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{code}");
    }
    let wrong = format!("postgres://postgres:hunter2@127.0.0.1:{}/postgres", server.port);
    let api = neon::start(server.port);
    let base_url = format!("http://{}", api.address);
    let nobody = Database::open(connection("neon", &wrong, &[("base_url", &base_url), ("search_path", "public")]));
    let timeless = Database::open(neon::settings(&api, &server, &[("timezone", "Nowhere/Never")]));
    let write = query("CREATE TABLE never (v int)");
    let record = CallRecord { key: "k", now_s: 0, expires_s: 60 };
    for (database, kind, message) in [
        (nobody, Credentials, "PostgreSQL does not accept the password"),
        (timeless, Configuration, "PostgreSQL does not know a setting of the connection string or of the options"),
    ] {
        for error in [database.prepare_records().unwrap_err(), database.write_once(&write, record).unwrap_err()] {
            assert_eq!((error.kind, error.message.as_str()), (kind, message));
        }
    }
    for status in [401, 403] {
        let database = Database::open(settings(&Scripted::with(vec![answer(status, "")]), &[]));
        for error in [database.prepare_records().unwrap_err(), database.write_once(&write, record).unwrap_err()] {
            assert_eq!((error.kind, error.message.as_str()), (Denied, "Neon does not admit this user from here"));
        }
    }
}

#[test]
fn an_adapter_that_only_reads_does_so_without_the_header() {
    let server = Postgres::start(&[]);
    neon::open(&server).run("CREATE TABLE t (v int)", &[]).unwrap();
    let port = server.port;
    let api = Scripted::start(move |_, request| {
        let head = request.head.to_ascii_lowercase();
        assert!(head.contains("neon-batch-read-only: true"), "{head}");
        neon::reply(port, &Received { head: head.replace("neon-batch-read-only", "x-ignored"), ..request.clone() })
    });
    let reader = Database::open(Connection { read_only: true, ..neon::settings(&api, &server, &[]) });
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);
    for statement in [
        "INSERT INTO t VALUES (1)",
        "WITH a AS (INSERT INTO t VALUES (1) RETURNING v) SELECT v FROM a",
        "DO $$ BEGIN INSERT INTO t VALUES (1); END $$",
    ] {
        let error = reader.error(statement);
        assert_eq!((error.kind, error.message.as_str()), (Denied, "the statement writes, and the adapter is read-only"), "{statement}");
    }
    let off = [SessionSetting { name: "transaction_read_only".into(), value: "off".into() }];
    let error = reader.run_with(&Query { session: &off, ..query("INSERT INTO t VALUES (1)") }).unwrap_err();
    assert_eq!(error.kind, Denied, "{error:?}");
    let both = "WITH a AS (SELECT set_config('transaction_read_only', 'off', true) AS off), b AS (INSERT INTO t SELECT 1 FROM a) SELECT off FROM a";
    for statement in ["SELECT set_config('transaction_read_only', 'off', true)", both] {
        assert_eq!(reader.error(statement).kind, Denied, "{statement}");
    }
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);
}
