//! A real server that wants tokens, goes away and comes back.

use std::{sync::mpsc, thread};

use millrace_core::{
    ErrorKind::{Credentials, Denied, Protocol, TimedOut, Unavailable},
    app::Access,
    ports::Query,
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query},
    sqld::Sqld,
    wait,
};

/// A key made for this test; nobody has its private half any more.
const PUBLIC_KEY: &str = "wJteEdH_xTBcN20ImkJYxALuJdhBs5ha-2YBCmh5wc0";
const HEADER: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9";
/// `{"exp":4102444800}`
const GOOD: &str = "eyJleHAiOjQxMDI0NDQ4MDB9.0PtTUDffyQHD3amXAp__LRJYj9lIFK_VbFjt0REtoOqZEoZ3xxg13l5kW_GuD18hsMCpRjOaiYTzxtFRiMZpCQ";
/// `{"exp":4102444800,"a":"ro"}`
const READ_ONLY: &str =
    "eyJleHAiOjQxMDI0NDQ4MDAsImEiOiJybyJ9.9yzmorLSyBUggeGk9Sy2oYHDqs5arJLOmI8Mi_U7X-l4XeVu41IsTsyotLVI15szqSEkg5fSo07SY7pSawsUDA";
/// `{"exp":1}`
const EXPIRED: &str = "eyJleHAiOjF9.pCJu8q1HVa14mUAyjJJyFD6KCpbqN_8m3ml3EWvP0kXWsap32h5f2aBay6o2xbcvFAV6A8qTE734_4nfdGeGCw";

const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[test]
fn a_token_opens_the_door_and_a_wrong_one_is_named() {
    let server = Sqld::start(Some(PUBLIC_KEY));
    let address = format!("http://127.0.0.1:{}", server.port);
    let with = |name: &str, claims: &str| Database::open(connection("libsql", &address, &[(name, &format!("{HEADER}.{claims}"))]));
    for (name, token) in [("auth_token", GOOD), ("authToken", GOOD), ("jwt", GOOD)] {
        with(name, token).run("CREATE TABLE IF NOT EXISTS t (v)", &[]).unwrap();
    }
    let in_address = Database::open(connection("libsql", &format!("{address}/?authToken={HEADER}.{GOOD}"), &[]));
    assert_eq!(in_address.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);

    let refused = "the libSQL server does not accept the `auth_token` of the adapter, or requires one";
    for (database, said) in [
        (with("jwt", EXPIRED), "The JWT has expired"),
        (with("jwt", "nonsense"), "The JWT is invalid"),
        (Database::open(connection("libsql", &address, &[])), "Expected authorization header but none given"),
    ] {
        for error in [database.error("SELECT 1"), database.ping().unwrap_err()] {
            assert_eq!((error.kind, error.message.as_str()), (Credentials, refused));
            assert!(error.source.as_deref().unwrap().contains(said));
        }
    }
    let reader = with("jwt", READ_ONLY);
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);
    let error = reader.error("INSERT INTO t VALUES (1)");
    assert_eq!((error.kind, error.message.as_str()), (Denied, "the libSQL server forbids this with the given `auth_token`"));
}

#[test]
fn a_statement_that_does_not_end_is_given_up_at_the_deadline() {
    let server = Sqld::start(None);
    let database = Database::open(connection("libsql", &format!("http://127.0.0.1:{}", server.port), &[]));
    let late = database.run_with(&Query { access: Access::Read, deadline_ms: 1_000, ..query(ENDLESS) }).unwrap_err();
    assert_eq!(late.kind, TimedOut);
    let past = database.run_with(&Query { deadline_ms: 0, ..query("CREATE TABLE t (v)") }).unwrap_err();
    assert_eq!((past.kind, past.message.as_str()), (TimedOut, "the statement ran past its deadline"));
    assert_eq!(database.rows("SELECT count(*) FROM sqlite_schema"), [[Value::I64(0)]], "past the deadline nothing is sent");
}

#[test]
fn a_server_that_dies_under_a_statement_leaves_a_write_unknown() {
    for (access, statement) in [(Access::Write, "CREATE TABLE u AS "), (Access::Read, "")] {
        let mut server = Sqld::start(None);
        let address = format!("http://127.0.0.1:{}", server.port);
        let (asking, is_asking) = mpsc::channel();
        let asker = thread::spawn(move || {
            let database = Database::open(connection("libsql", &address, &[]));
            database.ping().unwrap();
            asking.send(()).unwrap();
            database.run_with(&Query { access, ..query(&format!("{statement}{ENDLESS}")) }).unwrap_err()
        });
        is_asking.recv().unwrap();
        // It computes: so the statement is on its way.
        wait::until_more("the server does not compute", 20, || server.cpu_ticks());
        server.kill();
        let error = asker.join().unwrap();
        match access {
            Access::Write => {
                assert_eq!(error.kind, Protocol, "{error:?}");
                assert!(error.message.ends_with("; it is not known whether the statement took effect"), "{error:?}");
            }
            // Sent once more, and then nobody is there.
            Access::Read | Access::Declared => assert_eq!(error.kind, Unavailable, "{error:?}"),
        }
    }
}
