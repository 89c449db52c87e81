//! Connections: used again, replaced, bounded; and what becomes of commands when they break.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use millrace_core::{
    ErrorKind::{self, Busy, Configuration, Constraint, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable},
    Json,
    app::Access,
    ports::{Command, Query},
};
use millrace_tests::{
    database::{Database, connection, query},
    mongodb,
};
use serde_json::json;

use super::support::{
    self,
    Answer::{self, Body, Bytes, Half, Reply, Silence},
    Scripted, body, open, run,
};

fn find() -> Json {
    json!({"find": "c", "filter": {}})
}

fn insert() -> Json {
    json!({"insert": "c", "documents": [{"a": 1}]})
}

#[test]
fn a_connection_is_used_again_and_replaced_when_it_is_gone() {
    let mut server = mongodb::start(&[]);
    let database = open(&server);
    for _ in 0..20 {
        run(&database, &insert()).unwrap();
    }
    assert_eq!(support::json(&database, &json!({"count": "c"})), r#"[{"count":20}]"#);
    server.process.kill();
    server.process.restart();
    // Nobody has used it since: it is noticed, and a write goes through.
    run(&database, &insert()).unwrap();
    assert_eq!(support::json(&database, &json!({"count": "c"})), r#"[{"count":1}]"#);
    server.process.kill();
    let brief = Query { deadline_ms: 2_000, ..query("{\"find\": \"c\"}") };
    let error = database.run_with(&brief).unwrap_err();
    assert_eq!((error.kind, error.message.clone()), (Unavailable, "could not connect to the server".to_owned()));
    assert_eq!(database.ping().unwrap_err().kind, Unavailable);
    server.process.restart();
    database.ping().unwrap();
}

#[test]
fn a_paused_server_ends_a_command_at_its_deadline() {
    let server = mongodb::start(&[]);
    let database = open(&server);
    run(&database, &json!({"insert": "c", "documents": [{"_id": 1, "n": 0}]})).unwrap();
    server.process.signal("STOP");
    let started = Instant::now();
    let increment = r#"{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}"#;
    let error = database.run_with(&Query { deadline_ms: 500, ..query(increment) }).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TimedOut, "the statement ran past its deadline"));
    assert!(started.elapsed() < Duration::from_secs(20));
    server.process.signal("CONT");
    // The connection was closed with its call: no late reply is taken for another's.
    let found = support::json(&database, &json!({"find": "c", "filter": {"_id": 1}}));
    assert!(found == r#"[{"_id":1,"n":0}]"# || found == r#"[{"_id":1,"n":1}]"#, "at most once: {found}");
}

#[test]
fn more_documents_are_asked_for_up_to_the_limits() {
    let server = mongodb::start(&[]);
    let database = open(&server);
    for start in 0..13 {
        let documents: Vec<Json> = (0..1_000).map(|number| json!({"_id": start * 1_000 + number})).collect();
        run(&database, &json!({"insert": "c", "documents": documents})).unwrap();
    }
    let with = |text: &str, max_rows, max_bytes| database.run_with(&Query { max_rows, max_bytes, ..query(text) });
    let all = r#"{"find": "c", "sort": {"_id": 1}}"#;
    let rows = with(all, 13_000, 1 << 20).unwrap().rows;
    assert_eq!(rows.len(), 13_000);
    assert!(rows.iter().enumerate().all(|(place, row)| row[0] == millrace_core::value::Value::I64(i64::try_from(place).unwrap())));
    assert!(server.commands().iter().any(|command| command.get("getMore").is_some()));
    let error = with(all, 5_000, 1 << 20).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TooLarge, "the result has more than `max_rows`, 5000 rows"));
    assert!(server.commands().iter().any(|command| command.get("killCursors").is_some()), "the cursor is forgotten");
    let closed = || server.commands().iter().filter(|command| command.get("killCursors").is_some()).count();
    let before = closed();
    assert_eq!(database.cut(&query(all), 5_000), Ok((5_000, true)));
    assert_eq!(closed(), before + 1, "the cursor is forgotten");
    assert_eq!(database.cut(&query(all), 13_000), Ok((13_000, false)));
    let error = with(all, 13_000, 20_000).unwrap_err();
    assert_eq!(error.kind, TooLarge, "{error:?}");
    // Documents that all have other fields.
    let documents: Vec<Json> = (0..1_100).map(|number| json!({ format!("f{number}"): 1 })).collect();
    run(&database, &json!({"insert": "wide", "documents": documents})).unwrap();
    let error = run(&database, &json!({"find": "wide"})).unwrap_err();
    assert!(error.kind == TooLarge && error.message.contains("1101 different fields"), "{error:?}");
}

#[test]
fn errors_have_their_kinds() {
    let server = mongodb::start(&[]);
    let database = open(&server);
    run(&database, &json!({"insert": "c", "documents": [{"_id": "hunter2"}]})).unwrap();
    for (document, kind, expected) in [
        (json!({"insert": "c", "documents": [{"_id": "hunter2"}]}), Constraint, "a document with the same unique key exists already"),
        (
            json!({"insert": "c", "documents": [{"_id": 1}, {"_id": "hunter2"}, {"_id": 2}]}),
            // Not as what changed nothing: it is not repeated, and what was kept of the tables is
            // not used again.
            Protocol,
            "a document with the same unique key exists already; 1 document was changed before the error",
        ),
        (json!({"find": "c", "filter": {"a": {"$nosuch": "hunter2"}}}), Data, "a value of `find` is not one that MongoDB accepts there"),
        (json!({"drop": "c"}), Denied, "`drop` is not a command that a tool can run"),
    ] {
        let error = run(&database, &document).unwrap_err();
        assert!(error.kind == kind && error.message.starts_with(expected) && !error.message.contains("hunter2"), "{document}: {error:?}");
    }
    assert_eq!(
        support::json(&database, &json!({"count": "c", "query": {"_id": "hunter2"}})),
        r#"[{"count":1}]"#,
        "the connection is still good"
    );
    let of = |reply: Json, document: Json| {
        let server = Scripted::start(vec![Reply(reply)]);
        let error = run(&server.open(), &document).unwrap_err();
        (error.kind, error.message.clone(), server.received().len())
    };
    let error = |code: i32| json!({"ok": 0, "code": code, "codeName": "X", "errmsg": "hunter2"});
    for (code, kind, expected) in [
        (13, Denied, "the user of the adapter may not run `insert` here"),
        (50, TimedOut, "the statement ran past its deadline"),
        (9, Syntax, "the server does not understand this `insert`"),
        (121, Constraint, "the document does not match the rules of its collection"),
        (
            11_600,
            Protocol,
            "MongoDB interrupted the command, because the server is stopping; it is not known whether the statement took effect",
        ),
        (4_242, Constraint, "MongoDB rejected `insert`"),
    ] {
        assert_eq!(of(error(code), insert()), (kind, expected.to_owned(), 1), "{code}");
    }
    let concern = json!({"ok": 1, "n": 1, "writeConcernError": {"code": 64, "errmsg": "waiting for replication timed out"}});
    let (kind, message, sent) = of(concern, insert());
    assert!(kind == Protocol && message.starts_with("the change was made, but too few servers confirmed it") && sent == 1, "{message}");
    let read_only = Database::open(millrace_core::ports::Connection { read_only: true, ..connection("mongodb", &server.url(), &[]) });
    assert_eq!(run(&read_only, &insert()).unwrap_err().message, "the command writes, and the adapter is read-only");
}

#[test]
fn the_primary_is_found_and_found_again() {
    let primary = mongodb::start(&["--set", "rs"]);
    let place = format!("127.0.0.1:{}", primary.process.port);
    let secondary = mongodb::start(&["--set", "rs", "--primary", &place]);
    let through = |settings: &str| {
        let url = format!("mongodb://127.0.0.1:{}/shop{settings}", secondary.process.port);
        Database::open(connection("mongodb", &url, &[("connect_timeout", "2s")]))
    };
    let database = through("?replicaSet=rs");
    run(&database, &insert()).unwrap();
    assert_eq!(support::json(&database, &json!({"count": "c"})), r#"[{"count":1}]"#);
    assert!(secondary.commands().is_empty(), "the secondary was only asked what it is");
    let error = run(&through("?replicaSet=other"), &insert()).unwrap_err();
    assert!(error.message.contains("is not a member of the replica set"), "{error:?}");
    let error = run(&through("?directConnection=true"), &insert()).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Unavailable, "the server is not the primary of its replica set"));
    // A server that is none any more has done nothing, so that it is sent again; a list of writes,
    // of which one was made, is not.
    let not_primary = json!({"ok": 0, "code": 10_107, "codeName": "NotWritablePrimary", "errmsg": "not primary"});
    let server = Scripted::start(vec![Reply(not_primary.clone()), Reply(not_primary), Reply(json!({"ok": 1, "n": 1}))]);
    run(&server.open(), &insert()).unwrap();
    assert_eq!(server.received().len(), 3);
    let error = json!({"index": 1, "code": 10_107, "errmsg": "not primary"});
    let server = Scripted::start(vec![Reply(json!({"ok": 1, "n": 0, "writeErrors": [error]})), Reply(json!({"ok": 1, "n": 1}))]);
    assert_eq!((run(&server.open(), &insert()).is_ok(), server.received().len()), (true, 2));
    let of = |code: i32| json!({"index": 1, "code": code, "errmsg": "x"});
    let unknown = "; it is not known whether the statement took effect";
    for (reply, expected) in [
        (
            json!({"ok": 1, "n": 1, "writeErrors": [error]}),
            "the server is not the primary of its replica set; 1 document was changed before the error",
        ),
        (
            json!({"ok": 1, "n": 2, "writeErrors": [of(112)]}),
            "`insert` was in conflict with another change; 2 documents were changed before the error",
        ),
        (json!({"ok": 1, "n": 0, "writeErrors": [of(189)]}), unknown),
        (json!({"ok": 1, "n": 0, "writeErrors": [of(91)]}), unknown),
        (json!({"ok": 1, "n": 0, "writeErrors": [of(11_600)]}), unknown),
        (json!({"ok": 1, "n": 0, "writeErrors": [of(112)]}), unknown),
        (json!({"ok": 1, "writeErrors": [error]}), unknown),
        (json!({"ok": 0, "code": 112, "errmsg": "x"}), unknown),
        (json!({}), unknown),
        (json!({"ok": 1}), "the reply of MongoDB has no `n`; the command took effect"),
    ] {
        let server = Scripted::start(vec![Reply(reply.clone()), Reply(json!({"ok": 1, "n": 1}))]);
        let error = run(&server.open(), &insert()).unwrap_err();
        assert!(error.kind == Protocol && !error.kind.is_retryable() && error.message.ends_with(expected), "{reply}: {error:?}");
        assert_eq!(server.received().len(), 1, "{reply}");
    }
}

#[test]
fn a_primary_is_one_of_the_members_and_no_address_of_the_surroundings() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let place = elsewhere.local_addr().unwrap().to_string();
    for (primary, hosts, expected) in [
        (place.as_str(), vec!["127.0.0.1:1"], "it is not one of the members that the server names"),
        ("169.254.169.254:80", vec!["169.254.169.254:80"], "it is an address of the machine's surroundings"),
        ("me@hunter2 x:1", vec!["me@hunter2 x:1"], "it is not a host and a port"),
    ] {
        let hello = json!({"isWritablePrimary": false, "maxWireVersion": 21, "ok": 1, "setName": "rs", "hosts": hosts, "primary": primary});
        let server = Scripted::greeting(hello, vec![Reply(json!({"ok": 1, "n": 1}))]);
        let error = run(&server.open(), &insert()).unwrap_err();
        assert!(
            error.kind == Configuration && error.message.contains(expected) && !error.message.contains("hunter2"),
            "{primary}: {error:?}"
        );
        assert!(server.received().is_empty());
    }
    assert_eq!(elsewhere.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody connected");
    // Another machine, without TLS: it is not even asked.
    let hello = json!({"isWritablePrimary": false, "maxWireVersion": 21, "ok": 1, "hosts": ["192.0.2.1:1"], "primary": "192.0.2.1:1"});
    let error = run(&Scripted::greeting(hello, vec![Silence]).open(), &insert()).unwrap_err();
    assert!(error.kind == Configuration && error.message.contains("is on another machine, and the connection has no TLS"), "{error:?}");
    // What the operator has to mend is said, though another server failed after it.
    let old = Scripted::greeting(json!({"isWritablePrimary": true, "maxWireVersion": 5, "ok": 1}), vec![Silence]);
    let url = format!("mongodb://127.0.0.1:{},127.0.0.1:1/shop", old.port);
    let error = run(&Database::open(connection("mongodb", &url, &[])), &insert()).unwrap_err();
    assert!(error.kind == Configuration && error.message.starts_with("the server is too old"), "{error:?}");
}

/// What becomes of a read and of a write against these answers, and how often each was sent.
fn outcomes(answers: &[Answer]) -> [(Result<usize, ErrorKind>, usize); 2] {
    [(Access::Read, find()), (Access::Write, insert())].map(|(access, document)| {
        let server = Scripted::start(answers.to_vec());
        let text = document.to_string();
        let query = Query { command: Command::Statement { text: &text, values: &[] }, access, deadline_ms: 1_500, ..query("") };
        let outcome = server.open().run_with(&query);
        (outcome.map(|rows| rows.rows.len()).map_err(|error| error.kind), server.received().len())
    })
}

#[test]
fn a_read_is_sent_once_more_and_a_write_never() {
    let good = || json!({"ok": 1, "n": 1, "cursor": {"firstBatch": [{"a": 1}], "id": 0, "ns": "shop.c"}});
    let one = || Reply(good());
    let damaged = |place: usize, byte: u8| {
        let mut body = body(&good());
        body[place] = byte;
        Body(body)
    };
    let mut announced = vec![0_u8; 16];
    announced[..4].copy_from_slice(&2_000_000_000_i32.to_le_bytes());
    let busy = json!({"ok": 0, "code": 16_500, "errmsg": "Request rate is large"});
    for (what, answers, read, written) in [
        ("a good reply", vec![one()], (Ok(1), 1), (Ok(1), 1)),
        ("no reply", vec![Half(good(), 0), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("half a header", vec![Half(good(), 7), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("half a reply", vec![Half(good(), 40), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("no reply, ever", vec![Half(good(), 0)], (Err(Unavailable), 2), (Err(Protocol), 1)),
        ("no protocol", vec![Bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("another's reply", vec![Bytes(announced), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("a flag that nobody knows", vec![damaged(0, 2), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("a section that nobody knows", vec![damaged(4, 1), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("a damaged document", vec![damaged(5, 9), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("silence", vec![Silence], (Err(TimedOut), 1), (Err(TimedOut), 1)),
        ("busy", vec![Reply(busy.clone()), one()], (Ok(1), 2), (Err(Protocol), 1)),
        ("busy for ever", vec![Reply(busy)], (Err(Busy), 4), (Err(Protocol), 1)),
        ("no cursor and no number", vec![Reply(json!({"ok": 1})), one()], (Err(Protocol), 1), (Err(Protocol), 1)),
        ("nothing at all", vec![Reply(json!({})), one()], (Ok(1), 2), (Err(Protocol), 1)),
    ] {
        let [found_read, found_written] = outcomes(&answers);
        // How often something is tried before the deadline depends on chance.
        let same =
            |found: &(_, usize), expected: &(_, usize)| found.0 == expected.0 && (found.1 == expected.1 || (expected.1 > 2 && found.1 > 2));
        assert!(same(&found_read, &read) && same(&found_written, &written), "{what}: {found_read:?} {found_written:?}");
    }
    let server = Scripted::start(vec![Half(good(), 0)]);
    let error = run(&server.open(), &insert()).unwrap_err();
    assert_eq!(error.message, "MongoDB closed the connection; it is not known whether the statement took effect");
}

#[test]
fn hostile_replies_are_bounded() {
    let kind = |answers: Vec<Answer>| run(&Scripted::start(answers).open(), &find()).unwrap_err().kind;
    // A cursor without an end, and one without documents.
    let more = |count: usize| {
        let documents = vec![json!({"a": 1}); count];
        json!({"ok": 1, "cursor": {"firstBatch": documents, "nextBatch": documents, "id": 7, "ns": "shop.c"}})
    };
    assert_eq!(kind(vec![Reply(more(500))]), TooLarge);
    assert_eq!(kind(vec![Reply(more(0))]), Protocol);
    let mut deep = json!(1);
    for _ in 0..150 {
        deep = json!({ "a": deep });
    }
    let nested = |deep: Json| json!({"ok": 1, "cursor": {"firstBatch": [deep], "id": 0, "ns": "shop.c"}});
    assert!(run(&Scripted::start(vec![Reply(nested(deep.clone()))]).open(), &find()).is_ok(), "as deep as MongoDB's own");
    for _ in 0..100 {
        deep = json!({ "a": deep });
    }
    assert_eq!(kind(vec![Reply(nested(deep))]), Protocol);
    assert_eq!(kind(vec![Reply(nested(json!({"a": "x".repeat(1 << 21)})))]), TooLarge);
    // Values that weigh next to nothing count, over all batches.
    let empty = json!([{"a": vec![""; 200_000]}]);
    let batch = json!({"ok": 1, "cursor": {"firstBatch": empty, "nextBatch": empty, "id": 7, "ns": "shop.c"}});
    let server = Scripted::start(vec![Reply(batch)]);
    let error = server.open().run_with(&Query { max_bytes: 1 << 26, ..query(r#"{"find": "c"}"#) }).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TooLarge, "the result has more than 524288 values"));
    assert_eq!(server.received(), ["find", "getMore", "killCursors"], "the cursor is closed");
    let many = json!({"ok": 1, "cursor": {"firstBatch": vec![json!({}); 20_000], "id": 0, "ns": "shop.c"}});
    assert_eq!(kind(vec![Reply(many)]), TooLarge);
}
