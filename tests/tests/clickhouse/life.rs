//! The life of a statement: deadlines, servers that are killed or stopped, broken answers, and what
//! a server may not be sent.

use std::time::{Duration, Instant};

use millrace_core::{
    ErrorKind::{Configuration, Credentials, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable},
    app::Access,
    ports::{Command, Connection, Query},
    value::Value,
};
use millrace_tests::{
    clickhouse::{self, open},
    database::{Database, connection, query},
    failures::CLICKHOUSE as GOOD,
    scripted::{Reply, Scripted},
};

fn far(server: &Scripted) -> Connection {
    connection("clickhouse", &format!("http://{}/shop", server.address), &[("user", "me"), ("password", "hunter2")])
}

fn read(text: &str) -> Query<'_> {
    Query { access: Access::Read, ..query(text) }
}

#[test]
fn what_is_sent_has_no_value_and_no_password_in_its_url() {
    let server = Scripted::with(vec![Reply::Whole(200, "text/plain", GOOD.to_owned())]);
    let database = Database::open(far(&server));
    let values = [Value::Text("a secret\r\n--x".into()), Value::I64(7)];
    let text = "SELECT {p1:String}, {p2:Int64}";
    database.run_with(&Query { command: Command::Statement { text, values: &values }, ..read(text) }).unwrap();
    let mut received = server.received();
    let request = received.pop().unwrap();
    assert!(!request.line.contains("secret") && !request.line.contains("hunter2"), "{}", request.line);
    assert!(request.line.starts_with("POST /?database=shop&default_format=JSONCompactEachRowWithNamesAndTypes&wait_end_of_query=1&"));
    assert!(request.line.contains("&readonly=2 ") && request.line.contains("&max_result_rows=10000&"), "{}", request.line);
    let head = request.head.to_ascii_lowercase();
    assert!(head.contains("x-clickhouse-user: me") && head.contains("x-clickhouse-key: hunter2"), "{head}");
    let boundary = head.split_once("multipart/form-data; boundary=").unwrap().1.lines().next().unwrap().trim();
    assert_eq!(boundary.len(), 32);
    let field = |name: &str, value: &str| format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    let expected = [
        field("query", "SELECT {p1:String}, {p2:Int64}"),
        field("param_p1", "a secret\\r\\n--x"),
        field("param_p2", "7"),
        format!("--{boundary}--\r\n"),
    ];
    assert_eq!(request.body, expected.concat());
    // Without values, the statement is the body; one that writes has no `readonly`.
    database.run("INSERT INTO t VALUES (1)", &[]).unwrap();
    let request = server.received().pop().unwrap();
    assert!(request.body == "INSERT INTO t VALUES (1)" && !request.line.contains("&readonly="), "{request:?}");
}

#[test]
fn the_server_ends_a_statement_at_its_deadline() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    let slow = "SELECT sum(sleepEachRow(0.2)) FROM numbers(1000) SETTINGS max_block_size = 1";
    let started = Instant::now();
    let error = database.run_with(&Query { deadline_ms: 1_000, ..read(slow) }).unwrap_err();
    assert!(error.kind == TimedOut && error.message == "the statement ran past its deadline", "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    // Nothing of it runs any more, and the next statement has an answer.
    let running = "SELECT count() FROM system.processes WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%processes%'";
    while database.rows(running) != [[Value::I64(0)]] {
        assert!(started.elapsed() < Duration::from_secs(60), "it still runs");
    }
}

#[test]
fn limits_are_the_adapters() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    let limited = |text: &str, max_rows: usize, max_bytes: usize| database.run_with(&Query { max_rows, max_bytes, ..read(text) });
    assert_eq!(limited("SELECT number FROM numbers(5)", 5, 1_000).unwrap().rows.len(), 5);
    let all = read("SELECT number FROM numbers(6)");
    assert_eq!([database.cut(&all, 6), database.cut(&all, 5), database.cut(&all, 1)], [Ok((6, false)), Ok((5, true)), Ok((1, true))]);
    assert_eq!(database.cut(&read("SELECT number FROM numbers(100000000)"), 5), Ok((5, true)));
    assert_eq!(database.cut(&read("SELECT number % 7 AS n FROM numbers(1000) GROUP BY n ORDER BY n"), 5), Ok((5, true)));
    assert_eq!(database.cut(&read("SELECT repeat('x', 900000) AS v FROM numbers(100)"), 50).unwrap_err().kind, TooLarge);
    let error = limited("SELECT number FROM numbers(6)", 5, 1_000).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TooLarge, "the result has more than `max_rows`, 5 rows"));
    let error = limited("SELECT number FROM numbers(100000000)", 5, 1_000).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TooLarge, "the result has more than `max_rows`, 5 rows"));
    assert_eq!(limited("SELECT repeat('x', 1000)", 5, 1_000).unwrap().rows.len(), 1);
    for text in ["SELECT repeat('x', 1001)", "SELECT repeat('x', 900000)", "SELECT arrayMap(x -> 'x', range(100000)) AS v"] {
        let error = limited(text, 5, 1_000).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (TooLarge, "the result has more than 1000 bytes"), "{text}");
    }
}

#[test]
fn what_reads_cannot_write() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    database.run("CREATE TABLE t (a Int64) ENGINE = MergeTree ORDER BY a", &[]).unwrap();
    let read_only = Database::open(Connection { read_only: true, ..clickhouse::settings(&server, &[]) });
    assert_eq!(read_only.run_with(&read("SELECT count() FROM t")).unwrap().rows, [[Value::I64(0)]]);
    for text in ["INSERT INTO t VALUES (1)", "DROP TABLE t", "ALTER TABLE t DELETE WHERE 1", "SYSTEM FLUSH LOGS"] {
        for access in [Access::Read, Access::Write] {
            let error = read_only.run_with(&Query { access, ..query(text) }).unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (Denied, "the statement writes, and the adapter is read-only"), "{text}");
        }
    }
    // What only looks as if it read is the server's to refuse.
    let masked = "SELECT 1 FROM t WHERE 0 UNION ALL SELECT 1; INSERT INTO t VALUES (1)";
    assert_eq!(database.run_with(&read(masked)).unwrap_err().kind, Syntax);
    assert_eq!(database.rows("SELECT count() FROM t"), [[Value::I64(0)]]);
}

#[test]
fn what_a_script_may_not_send() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    for (text, values, kind, message) in [
        ("", &[][..], Syntax, "the query contains no statement"),
        ("SELECT 1; SELECT 2", &[], Syntax, "the query contains more than one statement"),
        ("SELECT 'a", &[], Syntax, "a literal of the statement is not closed"),
        ("SELECT 1\0", &[], Syntax, "the statement contains a NUL character"),
        ("SET max_threads = 1", &[], Denied, "connector `clickhouse` does not run `SET`"),
        ("SELECT 1 FORMAT TSV", &[], Denied, "the statement has a `FORMAT`"),
        ("SELECT 1 SETTINGS max_execution_time = 0", &[], Denied, "connector `clickhouse` sends the setting `max_execution_time` itself"),
        ("SELECT * FROM url({p1:String}, CSV)", &["http://127.0.0.1:1/"], Denied, "a value of the call is among the arguments of `url`"),
        ("SELECT * FROM {p1:Identifier}", &["t"], Denied, "`{p1:Identifier}` would make a value the name"),
        ("SELECT {a:String}", &["t"], Syntax, "`{a:String}` has no value"),
        ("SELECT {p2:String}", &["t"], Syntax, "`{p2:String}` has no value"),
        ("SELECT 1", &["t"], Syntax, "the statement has no place for its value 1"),
    ] {
        let values: Vec<Value> = values.iter().map(|text| Value::Text((*text).into())).collect();
        let error = database.run(text, &values).unwrap_err();
        assert!(error.kind == kind && error.message.starts_with(message), "{text}: {error:?}");
    }
}

#[test]
fn who_is_let_in() {
    let server = clickhouse::start(&["--user", "me:cörrect horse"]);
    let url = clickhouse::url(&server);
    let ask = |options: &[(&str, &str)]| Database::open(connection("clickhouse", &url, options)).run("SELECT 1", &[]);
    assert!(ask(&[("user", "me"), ("password", "cörrect horse")]).is_ok());
    for options in [&[][..], &[("user", "me"), ("password", "hunter2")], &[("user", "you")]] {
        let error = ask(options).unwrap_err();
        assert!(error.kind == Credentials && error.message.ends_with("does not accept the user or the password"), "{error:?}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
    let error = ask(&[("user", "me"), ("password", "cörrect horse"), ("database", "nosuch")]).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Configuration, "ClickHouse has no database of this name"));
}

#[test]
fn users_that_only_read() {
    let two = clickhouse::start(&["--readonly", "2"]);
    assert_eq!(open(&two).rows("SELECT 1"), [[Value::I64(1)]]);
    let error = open(&two).error("CREATE TABLE t (a Int64) ENGINE = Memory");
    assert_eq!((error.kind, error.message.as_str()), (Denied, "the statement writes, and the user of the adapter may only read"));
    let one = clickhouse::start(&["--readonly", "1"]);
    let error = open(&one).error("SELECT 1");
    assert!(error.kind == Configuration && error.message.contains("give it a profile with `readonly = 2`"), "{error:?}");
}

#[test]
fn a_server_that_is_killed_and_one_that_stops() {
    let mut server = clickhouse::start(&[]);
    let database = open(&server);
    database.run("CREATE TABLE t (a Int64) ENGINE = MergeTree ORDER BY a", &[]).unwrap();
    assert_eq!(database.run("INSERT INTO t VALUES (1), (2)", &[]).unwrap().affected, 2);
    server.signal("STOP");
    for (text, access) in [("SELECT a FROM t", Access::Read), ("INSERT INTO t VALUES (3)", Access::Write)] {
        let error = database.run_with(&Query { deadline_ms: 500, access, ..query(text) }).unwrap_err();
        assert_eq!(error.kind, TimedOut, "{text}: {error:?}");
    }
    server.signal("CONT");
    server.kill();
    for (text, access) in [("SELECT a FROM t", Access::Read), ("INSERT INTO t VALUES (4)", Access::Write)] {
        let error = database.run_with(&Query { deadline_ms: 500, access, ..query(text) }).unwrap_err();
        assert!(matches!(error.kind, Unavailable | TimedOut), "{text}: {error:?}");
    }
    server.restart();
    // What was sent while it stood still may have been done, once; what was sent to nobody was not.
    let rows = database.rows("SELECT a, count() FROM t GROUP BY a ORDER BY a");
    let (kept, late) = rows.split_at(2);
    assert_eq!(kept, [[Value::I64(1), Value::I64(1)], [Value::I64(2), Value::I64(1)]]);
    assert!(late.is_empty() || late == [[Value::I64(3), Value::I64(1)]], "{late:?}");
}

#[test]
fn the_vendors_client_works_with_the_stand_in() {
    let server = clickhouse::start(&["--user", "me:pw"]);
    let script = "import sys, clickhouse_connect
c = clickhouse_connect.get_client(host='127.0.0.1', port=int(sys.argv[1]), username='me', password='pw')
for form in (False, True):
    c.form_encode_query_params = form
    values = {'a': -9223372036854775808, 'b': \"it's\\t\\\\ \\n\\u00e9\", 'c': [\"a'b\", '\\\\', '']}
    rows = c.query('SELECT {a:Int64} a, {b:String} b, {c:Array(String)} c', parameters=values).result_rows
    assert rows == [tuple(values.values())], rows
c.command('CREATE TABLE t (a Int64, s String) ENGINE = MergeTree ORDER BY a')
c.command('INSERT INTO t VALUES ({a:Int64}, {s:String})', parameters={'a': 1, 's': 'x'})
assert c.query('SELECT * FROM t').result_rows == [(1, 'x')]
try:
    c.query('SELECT nosuch')
except Exception as error:
    assert 'code: 47' in str(error), error
else:
    raise AssertionError('it works')
";
    let ran = std::process::Command::new(clickhouse::python()).args(["-c", script, &server.port.to_string()]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_certificate_that_nobody_vouches_for() {
    let folder = tempfile::tempdir().unwrap();
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let [certificate, key] = [("cert.pem", cert.pem()), ("key.pem", signing_key.serialize_pem())].map(|(name, text)| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    });
    let server = clickhouse::start(&["--cert", &certificate, "--key", &key]);
    let url = format!("https://localhost:{}", server.port);
    let database = Database::open(connection("clickhouse", &url, &[("password", "hunter2")]));
    for access in [Access::Read, Access::Write] {
        let error = database.run_with(&Query { access, deadline_ms: 4_000, ..query("SELECT 1") }).unwrap_err();
        assert!(matches!(error.kind, Unavailable | Protocol | TimedOut), "{error:?}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
    // Nor is TLS left out where the server has it.
    let error = Database::open(connection("clickhouse", &clickhouse::url(&server), &[]))
        .run_with(&Query { deadline_ms: 4_000, ..query("SELECT 1") });
    assert!(error.is_err());
}
