//! The drivers of SQLite's dialect judge a statement alike. A Worker's binding to D1 is tested with
//! the other ports of the Worker.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

use millrace_core::{
    app::Access,
    ports::{Command, Connection, Query},
    value::Value,
};
use millrace_tests::{
    d1_api,
    database::{Database, connection, query},
    sqld::Sqld,
    sqlite_text::{check, check_infinity},
};

fn judge(settings: Connection, read_only: Connection) {
    let connector = settings.connector.clone();
    let database = Database::open(settings);
    let reader = Database::open(Connection { read_only: true, ..read_only });
    let run = |text: &str, params: &[Value]| database.run(text, params).map(drop).map_err(|error| error.into_parts().message);
    let read = |text: &str, params: &[Value]| {
        let query = Query { command: Command::Statement { text, values: params }, access: Access::Read, ..query(text) };
        reader.run_with(&query).map(drop).map_err(|error| error.into_parts().message)
    };
    check(&connector, &run, &read);
    check_infinity(&connector, &run);
}

#[test]
fn the_embedded_engine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    let file = file.to_str().unwrap();
    judge(connection("sqlite", file, &[("create", "true")]), connection("sqlite", file, &[]));
}

#[test]
fn a_libsql_server() {
    let server = Sqld::start(None);
    let settings = connection("libsql", &format!("http://127.0.0.1:{}", server.port), &[]);
    judge(settings.clone(), settings);
}

#[test]
fn d1_by_its_api() {
    let server = d1_api::stand_in();
    let base_url = format!("http://{}/client/v4", server.address);
    let settings = connection("d1", "d1://0a1b/1111-2222", &[("api_token", "t.o.k"), ("base_url", &base_url)]);
    judge(settings.clone(), settings);
}
