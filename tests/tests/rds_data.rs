//! The connector `rds-data` beside AWS's own client, and against an API that misbehaves. What it has in common with `postgres` is tested in
//! `postgres.rs`, its transactions in `transactions.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

use std::{process::Command, thread, time::Duration};

use millrace_core::{
    ErrorKind::{self, Busy, Configuration, Constraint, Denied, Protocol, TimedOut, TooLarge, Unavailable},
    app::Access,
    ports::{self, Query},
};
use millrace_tests::{
    database::{Database, query, text},
    dynalite,
    failures::aws,
    postgres::Postgres,
    process::tool,
    rds_data::{self, CLUSTER},
    scripted::{Reply, Scripted},
};

const URL: &str = "postgres://me:hunter2@127.0.0.1/shop";
const GOOD: &str =
    r#"{"columnMetadata":[{"name":"v","label":"v","typeName":"int4"}],"records":[[{"longValue":7}]],"numberOfRecordsUpdated":0}"#;
const BEGUN: &str = r#"{"transactionId":"t"}"#;

fn open(server: &Scripted) -> Database {
    Database::open(rds_data::settings(&format!("http://{}", server.address), URL, &[]))
}

fn json(status: u16, body: &str) -> Reply {
    Reply::Whole(status, "application/json", body.to_owned())
}

fn read(text: &str) -> Query<'_> {
    Query { access: Access::Read, ..query(text) }
}

#[test]
fn awss_own_client_works_with_the_stand_in() {
    let server = Postgres::start(&[]);
    let api = rds_data::start(server.port);
    let [secret, database] = rds_data::secret_and_database(&server.url("postgres"));
    let script = "import sys, boto3
from botocore.config import Config
from botocore.exceptions import ClientError
address, arn, secret, database = sys.argv[1:]
c = boto3.client('rds-data', endpoint_url=address, region_name='eu-central-1', aws_access_key_id='AKIDEXAMPLE', aws_secret_access_key='x',
                 config=Config(retries={'total_max_attempts': 1}))
of = dict(resourceArn=arn, secretArn=secret)
run = lambda sql, values=(), **more: c.execute_statement(**of, database=database, sql=sql, includeResultMetadata=True,
    parameters=[{'name': 'p%d' % (i + 1), 'value': v} for i, v in enumerate(values)], **more)
values = [{'longValue': -9223372036854775808}, {'stringValue': \"it's: \\u00e9\"}, {'booleanValue': True}, {'doubleValue': 1.5},
          {'blobValue': b'\\x00\\xff'}, {'isNull': True}]
got = run('SELECT :p1 AS a, :p2 AS b, :p3 AS c, :p4 AS d, :p5 AS e, :p6::text AS f', values)
assert got['records'] == [values], got
assert [m['typeName'] for m in got['columnMetadata']] == ['int8', 'text', 'bool', 'float8', 'bytea', 'text'], got
exact = run('SELECT 9007199254740993::int8 AS a, 1.50::numeric AS b', resultSetOptions={'longReturnType': 'STRING', 'decimalReturnType': 'STRING'})
assert exact['records'] == [[{'stringValue': '9007199254740993'}, {'stringValue': '1.50'}]], exact
assert run('CREATE TABLE t (v int8 PRIMARY KEY)')['numberOfRecordsUpdated'] == 0
for ends, count in ((c.rollback_transaction, 0), (c.commit_transaction, 1)):
    t = c.begin_transaction(**of, database=database)['transactionId']
    assert run('INSERT INTO t VALUES (:p1)', [{'longValue': 1}], transactionId=t)['numberOfRecordsUpdated'] == 1
    ends(**of, transactionId=t)
    assert run('SELECT count(*) FROM t')['records'] == [[{'longValue': count}]]
for sql, code in (('INSERT INTO t VALUES (1)', '23505'), ('SELECT nosuch', '42703')):
    try:
        run(sql)
    except ClientError as error:
        assert code in error.response['Error']['Message'], error
        assert error.response['Error']['Code'] == 'DatabaseErrorException', error
    else:
        raise AssertionError('it works')
";
    let arguments = [format!("http://{}", api.address), CLUSTER.to_owned(), secret, database];
    let ran = Command::new(tool("servers-venv/bin/python")).args(["-c", script]).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn requests_are_signed_as_botocore_signs_them() {
    const KEY: [&str; 4] = ["eu-central-1", "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "FwoGZXIvYXdzEXAMPLE//token=="];
    let server = Postgres::start(&[]);
    let door = dynalite::door(rds_data::start(server.port).address.port(), "rds-data", KEY);
    let [_, id, secret, token] = KEY;
    let open = |secret: &str, token: &str| {
        let mut settings = rds_data::settings(&format!("http://127.0.0.1:{}", door.port), &server.url("postgres"), &[]);
        let options = [("access_key_id", id), ("secret_access_key", secret), ("session_token", token)];
        settings.options.retain(|(name, _)| !options.iter().any(|(own, _)| own == name));
        settings.options.extend(options.map(|(name, value)| (name.to_owned(), millrace_core::secret::Secret::new(value.to_owned()))));
        Database::open(settings)
    };
    let good = open(secret, token);
    good.ping().unwrap();
    good.run("CREATE TABLE t (v text)", &[]).unwrap();
    good.run("INSERT INTO t VALUES ($1)", &[text("zażółć: 🙂")]).unwrap();
    assert_eq!(good.rows("SELECT v FROM t"), [[text("zażółć: 🙂")]]);
    for (secret, token) in [("another", token), (secret, "another"), (secret, "")] {
        let error = open(secret, token).error("SELECT v FROM t");
        assert_eq!(error.kind, Denied, "{error:?}");
        assert!(!format!("{error:?}").contains("another") && !error.message.contains("canonical"), "{error:?}");
    }
}

/// What becomes of a statement that reads, and of one that writes where this is the answer to its commit; how often each was sent.
fn outcomes(reply: &Reply) -> [(Result<usize, ErrorKind>, usize); 2] {
    let alone = Scripted::with(vec![reply.clone(), json(200, GOOD)]);
    let outcome = open(&alone).run_with(&read("SELECT v FROM t"));
    let read = (outcome.map(|rows| rows.rows.len()).map_err(|error| error.kind), alone.received().len());
    let last = reply.clone();
    let server = Scripted::start(move |_, request| match request.line.split(' ').nth(1).unwrap_or_default() {
        "/BeginTransaction" => json(200, BEGUN),
        "/CommitTransaction" => last.clone(),
        _ => json(200, GOOD),
    });
    let outcome = open(&server).run_with(&query("UPDATE t SET v = 7 RETURNING v"));
    let sent = server.received().iter().filter(|request| request.line.contains("/CommitTransaction")).count();
    [read, (outcome.map(|rows| rows.rows.len()).map_err(|error| error.kind), sent)]
}

#[test]
fn a_read_is_sent_once_more_and_a_write_whose_commit_is_not_answered_never() {
    for (what, reply, read, written) in [
        ("nothing", Reply::Raw(b""), (Ok(1), 2), (Err(Protocol), 1)),
        ("half an answer", Reply::Broken(GOOD.to_owned(), 20), (Ok(1), 2), (Err(Protocol), 1)),
        ("what is not HTTP", Reply::Raw(b"hello"), (Ok(1), 2), (Err(Protocol), 1)),
        ("a page of a gateway", Reply::Whole(502, "text/html", "<html>".to_owned()), (Ok(1), 2), (Err(Protocol), 1)),
        ("a gateway's 503", Reply::Whole(503, "text/html", String::new()), (Ok(1), 2), (Err(Protocol), 1)),
        ("a failure of the service", aws(500, "InternalServerErrorException", "x"), (Ok(1), 2), (Err(Protocol), 1)),
    ] {
        assert_eq!(outcomes(&reply), [read, written], "{what}");
    }
}

#[test]
fn what_breaks_before_the_commit_has_taken_no_effect_and_is_sent_again() {
    for path in ["/BeginTransaction", "/Execute"] {
        let server = Scripted::start(move |number, request| match request.line.split(' ').nth(1).unwrap_or_default() {
            broken if broken == path && number < 2 => Reply::Raw(b""),
            "/BeginTransaction" => json(200, BEGUN),
            "/Execute" => json(200, GOOD),
            _ => json(200, "{}"),
        });
        assert_eq!(open(&server).run_with(&query("UPDATE t SET v = 7 RETURNING v")).unwrap().rows.len(), 1, "{path}");
        assert_eq!(server.received().iter().filter(|request| request.line.contains("/CommitTransaction")).count(), 1, "{path}");
    }
}

#[test]
fn what_was_throttled_is_sent_again() {
    let server = Scripted::with(vec![aws(400, "ThrottlingException", "Rate exceeded"), json(200, GOOD)]);
    assert_eq!(open(&server).run_with(&read("SELECT v FROM t")).unwrap().rows.len(), 1);
    assert_eq!(server.received().len(), 2);
}

#[test]
fn a_cluster_that_wakes_up_is_waited_for() {
    let resuming = aws(400, "DatabaseResumingException", "Database is resuming after being auto-paused");
    let server = Scripted::with(vec![resuming.clone(), json(200, GOOD)]);
    assert_eq!(open(&server).run_with(&read("SELECT v FROM t")).unwrap().rows.len(), 1);
    // One that does not wake up in time is told by its state, not by a deadline.
    let asleep = Scripted::with(vec![resuming]);
    let error = open(&asleep).run_with(&Query { deadline_ms: 1_500, ..query("DELETE FROM t") }).unwrap_err();
    assert!(matches!(error.kind, Unavailable | TimedOut), "{error:?}");
}

#[test]
fn what_is_wrong_is_named_and_no_secret_is_shown() {
    for (reply, kind, expected) in [
        (aws(400, "StatementTimeoutException", "x"), TimedOut, "the statement ran longer than the Data API allows, 45 seconds"),
        (
            aws(400, "UnsupportedResultException", "Database returned more than the allowed response size limit"),
            TooLarge,
            "the result is larger than the Data API sends, 1 MB; nothing was changed",
        ),
        (aws(400, "HttpEndpointNotEnabledException", "x"), Configuration, "has no Data API: enable it, `aws rds enable-http-endpoint`"),
        (aws(400, "SecretsErrorException", "x"), Configuration, "the Data API cannot read the secret of `secret_arn`"),
        (aws(403, "AccessDeniedException", "x"), Denied, "permit these credentials to do that"),
        (aws(403, "ExpiredTokenException", "hunter2"), Denied, "does not accept the session token any more: it has expired"),
        (aws(429, "ThrottlingException", "x"), Busy, ""),
        (aws(400, "DatabaseErrorException", "FATAL: password authentication failed for user \"x\"; SQLState: 28P01"), Denied, "password"),
    ] {
        let error = open(&Scripted::with(vec![reply])).run_with(&read("SELECT v FROM t")).unwrap_err();
        assert!(error.kind == kind && error.message.contains(expected), "{error:?}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}

#[test]
fn silence_ends_at_the_deadline() {
    for reply in [Reply::Silence, Reply::Stalled(GOOD.to_owned(), 20)] {
        let server = Scripted::with(vec![reply]);
        let error = open(&server).run_with(&Query { deadline_ms: 300, ..read("SELECT v FROM t") }).unwrap_err();
        assert_eq!((error.kind, server.received().len()), (TimedOut, 1), "{error:?}");
    }
}

#[test]
fn a_call_that_is_given_up_leaves_no_transaction_open() {
    let server = Postgres::start(&[]);
    let api = rds_data::Api::of(server.port);
    let asked = std::sync::Arc::clone(&api);
    let front = Scripted::start(move |_, request| asked.reply(request));
    let database = Database::open(rds_data::settings(&format!("http://{}", front.address), &server.url("postgres"), &[]));
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let error = database.run_with(&Query { deadline_ms: 700, ..query("INSERT INTO t SELECT 1 FROM pg_sleep(60)") }).unwrap_err();
    assert_eq!(error.kind, TimedOut, "{error:?}");
    while api.count_open() > 0 {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(database.rows("SELECT v FROM t").is_empty());
}

#[test]
fn a_type_that_changes_under_a_server_is_found_out_anew() {
    let server = Postgres::start(&[]);
    let database = rds_data::open(&server);
    database.run("CREATE TABLE t (v uuid)", &[]).unwrap();
    let equal = "SELECT 1 FROM t WHERE v = $1 LIMIT 1";
    let kinds = [
        ("uuid", "0a0b0c0d-0000-4000-8000-000000000001", "not one"),
        ("date", "2026-01-02", "not one"),
        ("jsonb", "[1]", "["),
        ("smallint", "7", "70000"),
        ("bytea", "\\x00ff", "\\x0"),
    ];
    for (kind, good, bad) in kinds {
        database.run(&format!("ALTER TABLE t DROP COLUMN v, ADD COLUMN v {kind}"), &[]).unwrap();
        // Once with the types of before, and once with its own.
        for _ in 0..2 {
            assert_eq!(database.run("INSERT INTO t VALUES ($1)", &[text(good)]).map(|rows| rows.affected), Ok(1), "{kind}");
            let command = ports::Command::Statement { text: equal, values: &[text(good)] };
            let found = database.run_with(&Query { command, ..read(equal) });
            assert_eq!(found.map(|rows| rows.rows.len()), Ok(1), "{kind}");
            let error = database.run("INSERT INTO t VALUES ($1)", &[text(bad)]).unwrap_err();
            let expected = (Constraint, "PostgreSQL refused a value or the result of a computation");
            assert_eq!((error.kind, error.message.as_str()), expected, "{kind}");
        }
    }
}
