//! `kind: query` of a statement that the build does not understand: the database refuses it if it
//! writes, whatever the adapter may do.

use std::borrow::Cow;

use millrace_core::{
    ErrorKind,
    app::Access,
    ports::{BoundStep, BoundTransaction, Command, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, query},
    mysql::Mysql,
    neon, planetscale,
    postgres::Postgres,
    rds_data,
};

const REFUSAL: &str = "the statement writes, and `kind: query` of its tool says that it only reads";

fn declared(text: &str) -> Query<'_> {
    Query { access: Access::Declared, ..query(text) }
}

/// Runs what writes and what reads, declared as reads, as a statement and in a transaction.
fn check(name: &str, database: &Database, writes: &[&str], reads: &[&str]) {
    let count = || database.rows("SELECT count(*) AS n FROM log");
    for text in writes {
        let error = database.run_with(&declared(text)).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Denied, REFUSAL), "{name}: {text}");
        let steps = [BoundStep { name: "one", text: Cow::Borrowed(text), parameters: Vec::new(), access: Access::Declared, expect: None }];
        let command = Command::Transaction(BoundTransaction { steps: &steps, result: None });
        let error = database.run_with(&Query { command, ..declared(text) }).unwrap_err();
        assert!(error.kind == ErrorKind::Denied && error.message.ends_with(REFUSAL), "{name}: {text}: {error:?}");
        assert_eq!(count(), [[Value::I64(0)]], "{name}: {text}");
    }
    for text in reads {
        database.run_with(&declared(text)).unwrap_or_else(|error| panic!("{name}: {text}: {error:?}"));
    }
    // The connection is not left so that nothing can be written.
    database.run("INSERT INTO log VALUES (1)", &[]).unwrap();
    assert_eq!(count(), [[Value::I64(1)]], "{name}");
    database.run("DELETE FROM log", &[]).unwrap();
}

#[test]
fn a_declared_read_of_postgres_cannot_write() {
    let server = Postgres::start(&[]);
    let own = server.open();
    own.run("CREATE TABLE log (v int)", &[]).unwrap();
    own.run("CREATE FUNCTION sneaky() RETURNS int LANGUAGE sql AS 'INSERT INTO log VALUES (1) RETURNING v'", &[]).unwrap();
    let writes = ["SELECT sneaky()", "WITH x AS (INSERT INTO log VALUES (2) RETURNING v) SELECT * FROM x", "SELECT * FROM log FOR UPDATE"];
    let reads = ["SELECT 2 BETWEEN SYMMETRIC 3 AND 1", "SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS x"];
    check("postgres", &own, &writes, &reads);
    check("neon", &neon::open(&server), &writes, &reads);
    check("rds-data", &rds_data::open(&server), &writes, &reads);
}

#[test]
fn a_declared_read_of_mysql_cannot_write() {
    let server = Mysql::start(&[]);
    let own = server.open();
    own.run("CREATE TABLE log (v INT)", &[]).unwrap();
    own.run("CREATE FUNCTION sneaky() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log VALUES (1); RETURN 1; END", &[]).unwrap();
    let writes = ["SELECT sneaky()"];
    let reads = ["SELECT EXTRACT(YEAR_MONTH FROM '2024-02-01') AS c", "SHOW TABLES"];
    check("mysql", &own, &writes, &reads);
    check("planetscale", &planetscale::open(&server), &writes, &reads);
    for database in [&own, &planetscale::open(&server)] {
        let error = database.run_with(&declared("INSERT INTO log VALUES (3)")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied, "{error:?}");
    }
    assert_eq!(own.rows("SELECT count(*) AS n FROM log"), [[Value::I64(0)]]);
}
