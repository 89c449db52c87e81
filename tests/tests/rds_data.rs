//! The connector `rds-data` beside AWS's own client, and against an API that misbehaves. What it
//! has in common with `postgres` is tested in `postgres.rs`, its transactions in `transactions.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

use std::{iter, process, thread};

use millrace_core::{
    Error,
    ErrorKind::{Busy, Configuration, Credentials, Data, Denied, Protocol, TimedOut, TooLarge, Unavailable},
    app::Access,
    ports::{BoundStep, BoundTransaction, Command, Parameter, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, PATIENCE_MS, query, text},
    dynalite,
    failures::{self, Case, READ, SAID, WRITE, aws},
    postgres::Postgres,
    process::tool,
    rds_data::{self, CLUSTER},
    scripted::{Received, Reply, Scripted},
};

const URL: &str = "postgres://me:hunter2@127.0.0.1/shop";

fn open(server: &Scripted) -> Database {
    Database::open(rds_data::settings(&format!("http://{}", server.address), URL, &[]))
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
    let ran = process::Command::new(tool("servers-venv/bin/python")).args(["-c", script]).args(arguments).output().unwrap();
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
        assert_eq!(error.kind, Credentials, "{error:?}");
        assert!(!format!("{error:?}").contains("another") && !error.message.contains("canonical"), "{error:?}");
    }
}

/// What becomes of a statement against these answers, and the operations that it took.
fn sent(replies: Vec<Reply>, query: &Query<'_>) -> (Result<usize, Error>, Vec<String>) {
    let server = Scripted::with(replies);
    let outcome = open(&server).run_with(query);
    let operation = |request: &Received| request.line.split(' ').nth(1).unwrap_or_default().to_owned();
    (outcome.map(|rows| rows.rows.len()), server.received().iter().map(operation).collect())
}

/// Checks a table. What a busy machine does not get done by the deadline it gets done by one of
/// twice the length.
fn misbehaves(cases: Vec<Case>, deadline_ms: u64) {
    for Case { what, replies, read, written } in cases {
        for (access, text, expected) in [(Access::Read, READ, read), (Access::Write, WRITE, written)] {
            let by = |deadline_ms| sent(replies.clone(), &Query { access, deadline_ms, ..query(text) });
            let is_done = |(_, operations): &(_, Vec<String>)| operations.len() >= expected.1;
            let mut deadlines_ms = iter::successors(Some(deadline_ms), |ms| Some(2 * ms)).take_while(|ms| *ms <= PATIENCE_MS);
            let (outcome, operations) = deadlines_ms.find_map(|ms| Some(by(ms)).filter(is_done)).unwrap_or_else(|| by(PATIENCE_MS));
            let found = (outcome.as_ref().copied().map_err(|error| error.kind), operations.len());
            assert_eq!(found, expected, "{what}: {access:?}: {outcome:?} {operations:?}");
            let commit = operations.iter().position(|operation| operation == "/CommitTransaction");
            let Err(error) = outcome else { continue };
            assert!(!error.message.contains(SAID) && !format!("{error:?}").contains("hunter2"), "{what}: {error:?}");
            // Of what was not committed the outcome is known, and nothing follows a commit that was
            // not answered but what undoes it.
            let unknown = error.message.matches("it is not known whether the statement took effect").count();
            match commit.filter(|_| error.kind == Protocol) {
                Some(commit) => {
                    assert!(unknown == 1 && operations[commit + 1..] == ["/RollbackTransaction"], "{what}: {error:?} {operations:?}")
                }
                None => assert_eq!(unknown, 0, "{what}: {access:?}: {error:?} {operations:?}"),
            }
        }
    }
}

#[test]
fn a_write_is_sent_again_only_where_its_commit_was_not() {
    let mut cases = failures::rds_data();
    cases.extend(failures::rds_data_too_large());
    // Most of the time they wait before another attempt.
    thread::scope(|scope| {
        while !cases.is_empty() {
            let some = cases.split_off(cases.len().saturating_sub(40));
            scope.spawn(|| misbehaves(some, PATIENCE_MS));
        }
    });
}

#[test]
fn silence_ends_at_the_deadline() {
    misbehaves(failures::rds_data_silence(), 300);
}

#[test]
fn where_nobody_listens_nothing_was_executed() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let database = Database::open(rds_data::settings(&format!("http://{nobody}"), URL, &[]));
    for access in [Access::Read, Access::Write] {
        let error = database.run_with(&Query { access, deadline_ms: 2_000, ..query(WRITE) }).unwrap_err();
        assert!(error.kind == Unavailable && !error.message.contains("not known"), "{error:?}");
    }
}

#[test]
fn a_cluster_that_does_not_wake_up_in_time_is_told_by_its_state() {
    let resuming = aws(400, "DatabaseResumingException", "Database is resuming after being auto-paused");
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
        (aws(403, "ExpiredTokenException", "hunter2"), Credentials, "does not accept the session token any more: it has expired"),
        (aws(429, "ThrottlingException", "x"), Busy, ""),
        (
            aws(400, "DatabaseErrorException", "FATAL: password authentication failed for user \"x\"; SQLState: 28P01"),
            Credentials,
            "password",
        ),
    ] {
        let error = open(&Scripted::with(vec![reply])).run_with(&read("SELECT v FROM t")).unwrap_err();
        assert!(error.kind == kind && error.message.contains(expected), "{error:?}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
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
        millrace_tests::wait::moment();
    }
    assert!(database.rows("SELECT v FROM t").is_empty());
}

#[test]
fn a_type_that_changes_under_a_server_is_found_out_anew() {
    const FORM: &str = "a text does not have the form that its type requires, such as a number, a UUID, JSON or an array";
    let server = Postgres::start(&[]);
    let database = rds_data::open(&server);
    database.run("CREATE TABLE t (v uuid)", &[]).unwrap();
    let equal = "SELECT 1 FROM t WHERE v = $1 LIMIT 1";
    let kinds = [
        ("uuid", "0a0b0c0d-0000-4000-8000-000000000001", "not one", FORM),
        ("date", "2026-01-02", "not one", "a text is not a date, a time or an interval"),
        ("jsonb", "[1]", "[", FORM),
        ("smallint", "7", "70000", "a number is out of the range of its type"),
        ("bytea", "\\x00ff", "\\x0", "a function does not accept the value of an argument"),
    ];
    for (kind, good, bad, why) in kinds {
        database.run(&format!("ALTER TABLE t DROP COLUMN v, ADD COLUMN v {kind}"), &[]).unwrap();
        // Once with the types of before, and once with its own.
        for _ in 0..2 {
            assert_eq!(database.run("INSERT INTO t VALUES ($1)", &[text(good)]).map(|rows| rows.affected), Ok(1), "{kind}");
            let command = Command::Statement { text: equal, values: &[text(good)] };
            let found = database.run_with(&Query { command, ..read(equal) });
            assert_eq!(found.map(|rows| rows.rows.len()), Ok(1), "{kind}");
            let error = database.run("INSERT INTO t VALUES ($1)", &[text(bad)]).unwrap_err();
            let expected = format!("PostgreSQL refused a value or the result of a computation: {why}");
            assert_eq!((error.kind, error.message.clone()), (Data, expected), "{kind}");
        }
    }
}

fn step<'a>(name: &'a str, text: &'a str, values: &[Value]) -> BoundStep<'a> {
    let parameters = values.iter().cloned().map(Parameter::Value).collect();
    BoundStep { name, text: text.into(), parameters, access: Access::Write, expect: None }
}

#[test]
fn types_are_found_out_in_the_transaction_of_the_statement() {
    const ID: &str = "0a0b0c0d-0000-4000-8000-000000000001";
    const PUT: &str = "INSERT INTO t (id) VALUES ($1)";
    let server = Postgres::start(&[]);
    let api = rds_data::start(server.port);
    let database = Database::open(rds_data::settings(&format!("http://{}", api.address), &server.url("postgres"), &[]));
    database.run("CREATE TABLE t (id uuid, s text)", &[]).unwrap();
    // How many requests it takes, and the rows or the error.
    let run = |query: &Query<'_>| {
        let before = api.received().len();
        let outcome = database.run_with(query);
        (api.received().len() - before, outcome.map(|rows| rows.rows).map_err(|error| error.into_parts().message))
    };
    let statement = |sql: &str, value: &str| run(&Query { command: Command::Statement { text: sql, values: &[text(value)] }, ..query("") });
    let steps =
        |steps: &[BoundStep<'_>]| run(&Query { command: Command::Transaction(BoundTransaction { steps, result: None }), ..query("") });
    let done = |requests: usize| (requests, Ok(Vec::new()));

    // What is right at once costs nothing.
    assert_eq!(statement("INSERT INTO t (s) VALUES ($1)", "a"), done(4));
    assert_eq!([statement(PUT, ID), statement(PUT, ID)], [done(11), done(4)]);
    // The same types are found: it is the value.
    assert_eq!(statement(PUT, "hunter2"), (10, Err("PostgreSQL refused a value or the result of a computation: a text does not have the form that its type requires, such as a number, a UUID, JSON or an array".to_owned())));
    let both = [
        step("put", "INSERT INTO t (s) VALUES ($1)", &[text("b")]),
        step("change", "UPDATE t SET s = $1 WHERE id = $2", &[text("c"), text(ID)]),
    ];
    assert_eq!([steps(&both), steps(&both)], [done(13), done(5)]);
    // What cannot be prepared is refused as it was.
    server.open().run("CREATE PROCEDURE keep(id uuid) LANGUAGE sql AS 'INSERT INTO t (id) VALUES (id)'", &[]).unwrap();
    let (requests, outcome) = statement("CALL keep($1)", ID);
    assert!(requests == 8 && outcome.is_err(), "{requests} {outcome:?}");
    // A statement that reads has no transaction.
    let command = Command::Statement { text: "SELECT s FROM t WHERE id = $1 LIMIT 1", values: &[text(ID)] };
    let found = Ok(vec![vec![text("c")]]);
    assert_eq!([(); 2].map(|()| run(&Query { command, ..read("") })), [(8, found.clone()), (1, found)]);
}

#[test]
fn types_of_what_earlier_steps_made_are_found_out() {
    const ID: &str = "0a0b0c0d-0000-4000-8000-000000000001";
    let server = Postgres::start(&[]);
    let database = rds_data::open(&server);
    let run = |put: &str| {
        let steps = [step("make", "CREATE TABLE made (id uuid)", &[]), step("put", put, &[text(ID)])];
        let command = Command::Transaction(BoundTransaction { steps: &steps, result: None });
        database.run_with(&Query { command, ..query("") }).map(|rows| rows.rows)
    };
    let error = run("INSERT INTO made VALUES ($1) RETURNING nowhere").unwrap_err();
    assert_eq!(error.message, "the step `put` failed: PostgreSQL does not understand the statement: a column is missing");
    assert_eq!(run("INSERT INTO made VALUES ($1) RETURNING id"), Ok(vec![vec![text(ID)]]));
}
