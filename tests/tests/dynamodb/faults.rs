//! Servers that misbehave, and a real one that is killed and paused.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use millrace_core::{
    ErrorKind::{self, Configuration, Credentials, Denied, Protocol, TimedOut, TooLarge, Unavailable},
    app::{Access, OnTooMany},
    ports::{Connection, Query},
};
use millrace_tests::{
    database::{Database, connection, outcomes, query, text},
    dynoxide::{self, Dynoxide},
    failures::{self, DYNAMODB as GOOD, aws, json},
    scripted::{Reply, Scripted},
    wait,
};

fn settings(server: &Scripted) -> Connection {
    dynoxide::at(&format!("http://{}", server.address))
}

fn open(server: &Scripted) -> Database {
    Database::open(settings(server))
}

fn read(text: &str) -> Query<'_> {
    Query { access: Access::Read, ..query(text) }
}

#[test]
fn a_read_is_sent_once_more_and_a_write_never_where_its_outcome_is_unknown() {
    for case in failures::dynamodb() {
        assert_eq!(outcomes(&case.replies, settings), [case.read, case.written], "{}", case.what);
    }
}

#[test]
fn what_is_wrong_is_named_and_no_secret_is_shown() {
    for (reply, kind, expected) in [
        (
            aws(400, "InvalidSignatureException", "Signature not yet current: hunter2hunter2"),
            Denied,
            "DynamoDB in the region `eu-central-1` does not accept the time of the request: the clock of this machine differs by more than five minutes \
             from that of AWS",
        ),
        (
            aws(400, "InvalidSignatureException", "The canonical string is hunter2hunter2"),
            Credentials,
            "DynamoDB in the region `eu-central-1` does not accept the signature: the secret access key is wrong",
        ),
        (
            aws(400, "ExpiredTokenException", "hunter2hunter2"),
            Credentials,
            "DynamoDB in the region `eu-central-1` does not accept the session token any more: it has expired",
        ),
        (aws(400, "AccessDeniedException", "x"), Denied, "DynamoDB does not permit these credentials to do that"),
    ] {
        let error = open(&Scripted::with(vec![reply])).error("SELECT v FROM t");
        assert_eq!((error.kind, error.message.as_str()), (kind, expected));
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
    let lost = open(&Scripted::with(vec![Reply::Broken(GOOD.to_owned(), 10)])).error("DELETE FROM t WHERE id = 1");
    assert!(lost.message.ends_with("; it is not known whether the statement took effect"), "{lost:?}");
}

#[test]
fn settings_are_checked_before_anything_is_sent() {
    let refused = |string: &str, options: &[(&str, &str)]| {
        let connectors = millrace_native::connectors::NativeConnectors::new(
            "/".into(),
            std::rc::Rc::new(millrace_native::clock::SystemClock),
            &millrace_native::wait_until::Tasks::new(),
        );
        let error = millrace_core::ports::Connectors::open(&connectors, connection("dynamodb", string, options)).map(drop).unwrap_err();
        assert!(error.kind == Configuration && !error.message.contains("hunter2"), "{error:?}");
        error.into_parts().message
    };
    let key = [("access_key_id", "AKID"), ("secret_access_key", "hunter2")];
    let with = |more: &[(&'static str, &'static str)]| refused("dynamodb://eu-central-1", &[&key[..], more].concat());
    for (message, expected) in [
        (refused("https://dynamodb.eu-central-1.amazonaws.com", &key), "is not `dynamodb://REGION`"),
        (refused("dynamodb://eu.evil.example/x", &key), "the region of connector `dynamodb` is not one"),
        (refused("dynamodb://", &key), "needs the option `region`"),
        (refused("dynamodb://eu-central-1", &[]), "needs the options `access_key_id` and `secret_access_key`"),
        (refused("dynamodb://eu-central-1", &key[..1]), "needs both `access_key_id` and `secret_access_key`"),
        (refused("dynamodb://eu-central-1", &[("session_token", "hunter2")]), "needs both"),
        (with(&[("region", "us-east-1")]), "is set to different values"),
        (with(&[("endpoint", "http://dynamodb.example.com")]), "must begin with `https://`"),
        (with(&[("endpoint", "http://127.0.0.1:8000/x")]), "has a path or a query string"),
        (with(&[("endpoint", "hunter2")]), "is not a URL"),
        (with(&[("consistent_read", "hunter2")]), "must be `true` or `false`"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn pages_are_read_up_to_the_limits_and_the_deadline() {
    let page = |count: usize, next: Option<usize>| {
        let items: Vec<_> = (0..count).map(|_| serde_json::json!({"v": {"S": "x".repeat(100)}})).collect();
        json(200, &serde_json::json!({"Items": items, "NextToken": next.map(|next| next.to_string())}).to_string())
    };
    // Every page but the third is empty, and the second breaks off at first.
    let server = Scripted::start(move |number, request| {
        let token = serde_json::from_str::<serde_json::Value>(&request.body).unwrap()["NextToken"].as_str().map(str::to_owned);
        match (number, token.as_deref()) {
            (0, None) => page(0, Some(1)),
            (1, Some("1")) => Reply::Broken(GOOD.to_owned(), 20),
            (2, Some("1")) => page(3, Some(2)),
            (3, Some("2")) => page(0, None),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(open(&server).run_with(&read("SELECT v FROM t")).unwrap().rows.len(), 3);
    assert_eq!(server.received().len(), 4);

    let outcome = |reply: fn(usize) -> Reply, query: Query<'_>| {
        let server = Scripted::start(move |number, _| reply(number));
        let error = open(&server).run_with(&query).unwrap_err();
        (error.kind, server.received().len())
    };
    fn endless(number: usize) -> Reply {
        json(200, &format!(r#"{{"Items":[{{"v":{{"S":"{}"}}}}],"NextToken":"{number}"}}"#, "x".repeat(100)))
    }
    fn empty(number: usize) -> Reply {
        wait::moment();
        json(200, &format!(r#"{{"Items":[],"NextToken":"{number}"}}"#))
    }
    assert_eq!(outcome(endless, Query { max_rows: 7, ..read("SELECT v FROM t") }), (TooLarge, 8));
    let server = Scripted::start(|number, _| endless(number));
    let cut = open(&server).run_with(&Query { max_rows: 7, on_too_many: OnTooMany::Cut, ..read("SELECT v FROM t") }).unwrap();
    assert_eq!((cut.rows.len(), cut.truncated, server.received().len()), (7, true, 8));
    assert_eq!(outcome(endless, Query { max_bytes: 450, ..read("SELECT v FROM t") }), (TooLarge, 5));
    let (kind, asked) = outcome(empty, Query { deadline_ms: 1_500, ..read("SELECT v FROM t") });
    assert!(kind == TimedOut && asked > 2, "{kind:?} {asked}");
    assert_eq!(outcome(|_| json(200, r#"{"Items":[],"NextToken":"again"}"#), read("SELECT v FROM t")), (Protocol, 2));
    let stalled = |_| Reply::Stalled(GOOD.to_owned(), 30);
    assert_eq!(outcome(stalled, Query { deadline_ms: 1_000, ..read("SELECT v FROM t") }), (TimedOut, 1));
    assert_eq!(outcome(stalled, Query { deadline_ms: 1_000, ..query("DELETE FROM t WHERE v = 1") }), (TimedOut, 1));
    // A body over all limits is not read to its end.
    fn huge(_: usize) -> Reply {
        json(200, &format!("{GOOD}{}", " ".repeat(26 << 20)))
    }
    assert_eq!(outcome(huge, read("SELECT v FROM t")), (TooLarge, 1));
    let many = |_| {
        let items: Vec<_> = (0..1500).map(|number| serde_json::json!({ (format!("a{number}")): {"N": "1"} })).collect();
        json(200, &serde_json::json!({"Items": items}).to_string())
    };
    assert_eq!(outcome(many, read("SELECT v FROM t")), (TooLarge, 1));
}

#[test]
fn a_server_that_dies_and_comes_back() {
    let mut server = Dynoxide::start();
    server.create("kept");
    let database = Database::open(server.connection());
    let put = |id: &str| database.run("INSERT INTO \"kept\" VALUE {'id': ?}", &[text(id)]);
    put("a").unwrap();
    server.process.kill();
    let error = database.run_with(&Query { deadline_ms: 2_000, ..read("SELECT * FROM \"kept\"") }).unwrap_err();
    assert_eq!(error.kind, Unavailable);
    server.process.restart();
    assert_eq!(database.rows("SELECT * FROM \"kept\"").len(), 1);
    server.process.signal("STOP");
    let started = Instant::now();
    let error = database.run_with(&Query { deadline_ms: 300, ..query("INSERT INTO \"kept\" VALUE {'id': 'b'}") }).unwrap_err();
    assert!(error.kind == TimedOut && started.elapsed() < Duration::from_secs(20), "{error:?}");
    server.process.signal("CONT");
    put("c").unwrap();
    // Who waits for the service while it is away is answered when it is back.
    server.process.kill();
    let settings = server.connection();
    let (asking, is_asking) = mpsc::channel();
    let waiting = thread::spawn(move || {
        let database = Database::open(settings);
        asking.send(()).unwrap();
        database.run_with(&read("SELECT * FROM \"kept\"")).map(|rows| rows.rows.len())
    });
    // It takes far less time to ask than the server needs to listen.
    is_asking.recv().unwrap();
    server.process.restart();
    assert!(waiting.join().unwrap().unwrap() >= 2);
    // No TLS where TLS is wanted.
    let tls = Database::open(dynoxide::at(&server.endpoint().replace("http:", "https:")));
    let error = tls.run_with(&Query { deadline_ms: 1_000, ..read("SELECT * FROM \"kept\"") }).unwrap_err();
    assert!(matches!(error.kind, Unavailable | ErrorKind::TimedOut), "{error:?}");
}

#[test]
fn no_write_is_made_twice_while_the_server_is_killed() {
    let mut server = Dynoxide::start();
    server.create("kept");
    let _ = server.call("PutItem", &serde_json::json!({"TableName": "kept", "Item": {"id": {"S": "n"}, "n": {"N": "0"}}}));
    let (done, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (stop, counted, settings) = (Arc::clone(&done), Arc::clone(&progress), server.connection());
    let counter = thread::spawn(move || {
        let database = Database::open(settings);
        let (mut made, mut unknown) = (0_i64, 0_i64);
        while !stop.load(SeqCst) || made == 0 {
            match database.run_with(&Query { deadline_ms: 5_000, ..query("UPDATE \"kept\" SET n = n + 1 WHERE id = 'n'") }) {
                Ok(_) => {
                    made += 1;
                    counted.fetch_add(1, SeqCst);
                }
                Err(error) if matches!(error.kind, Protocol | TimedOut) => unknown += 1,
                Err(error) => assert_eq!(error.kind, Unavailable, "{error:?}"),
            }
        }
        (made, unknown)
    });
    for _ in 0..4 {
        wait::until_more("no write is made", 10, || progress.load(SeqCst));
        server.process.kill();
        server.process.restart();
    }
    wait::until_more("no write is made after the last start", 10, || progress.load(SeqCst));
    done.store(true, SeqCst);
    let (made, unknown) = counter.join().unwrap();
    let found: i64 = server.items("kept")[0]["n"]["N"].as_str().unwrap().parse().unwrap();
    assert!(made > 0 && (made..=made + unknown).contains(&found), "{made} made, {unknown} unknown, {found} found");
}
