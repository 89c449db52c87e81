//! Tokens, requests at once, sizes, scripts' requests, and what a call that is sent again says.

use std::{
    collections::HashMap,
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use millrace_core::{
    ErrorKind, Json,
    app::{Access, SESSION_TOKEN},
    ports::{CallRecord, Command, Query, SessionSetting},
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query},
    scripted::{Received, Reply, Scripted},
    wait,
};
use serde_json::json;

const PRIVATE: (&str, &str) = ("allow_private", "a test");
const READ: &str = r#"{"method": "GET", "path": ["/a"]}"#;

fn open(server: &Scripted, options: &[(&str, &str)]) -> Database {
    Database::open(connection("http", &format!("http://{}", server.address), &[&[PRIVATE], options].concat()))
}

fn whole(status: u16, json: &Json) -> Reply {
    Reply::Whole(status, "application/json", json.to_string())
}

fn read(database: &Database, text: &str) -> Result<Option<Json>, ErrorKind> {
    let query = Query { access: Access::Read, ..query(text) };
    database.run_with(&query).map(|rows| rows.document).map_err(|error| error.kind)
}

#[test]
fn a_token_is_fetched_once_and_again_when_it_is_taken_back() {
    let given = Arc::new(AtomicUsize::new(0));
    let giver = Arc::clone(&given);
    let tokens = Scripted::start(move |number, request| {
        assert_eq!(request.line, "POST /token HTTP/1.1");
        assert_eq!(request.body, "grant_type=client_credentials&scope=a%20b");
        // `i%3Ad` and `s%20%25`, as RFC 6749 has the two encoded.
        assert!(request.head.to_lowercase().contains("authorization: basic"), "{request:?}");
        assert!(request.head.contains("aSUzQWQ6cyUyMCUyNQ=="), "{request:?}");
        giver.store(number + 1, Ordering::SeqCst);
        whole(200, &json!({"access_token": format!("t{number}"), "token_type": "bearer", "expires_in": "3600"}))
    });
    let current = Arc::clone(&given);
    let api = Scripted::start(move |number, request| {
        let token = format!("Bearer t{}", current.load(Ordering::SeqCst) - 1);
        let is_good = request.head.lines().any(|line| line.ends_with(&token));
        // The third request finds that its token was taken back.
        if is_good && number != 2 { whole(200, &json!([number])) } else { whole(401, &json!({})) }
    });
    let url = format!("http://{}/token", tokens.address);
    let options = [("oauth_token_url", url.as_str()), ("oauth_client_id", "i:d"), ("oauth_client_secret", "s %"), ("oauth_scope", "a b")];
    let database = open(&api, &options);
    assert_eq!(read(&database, READ), Ok(Some(json!([0]))));
    assert_eq!((read(&database, READ), tokens.received().len()), (Ok(Some(json!([1]))), 1));
    assert_eq!((read(&database, READ), tokens.received().len()), (Ok(Some(json!([3]))), 2));
    // A write that was not let in was not made: it is sent again, too.
    let api = Scripted::start(|number, _| if number == 0 { whole(401, &json!({})) } else { whole(201, &json!({"made": number})) });
    let database = open(&api, &options);
    let made = database.run_with(&query(r#"{"method": "POST", "path": ["/a"]}"#)).unwrap();
    assert_eq!((made.document, api.received().len()), (Some(json!({"made": 1})), 2));
    // One that is never let in ends.
    let api = Scripted::with(vec![whole(401, &json!({}))]);
    assert_eq!((read(&open(&api, &options), READ), api.received().len()), (Err(ErrorKind::Credentials), 2));
}

/// A read of a caller with a token of its own.
fn read_as(database: &Database, token: &str) -> Result<Option<Json>, ErrorKind> {
    let session = [SessionSetting { name: SESSION_TOKEN.to_owned(), value: token.to_owned() }];
    let query = Query { access: Access::Read, session: &session, ..query(READ) };
    database.run_with(&query).map(|rows| rows.document).map_err(|error| error.kind)
}

#[test]
fn each_caller_has_a_token_of_its_own_in_exchange() {
    let tokens = Scripted::start(|number, request| {
        let fields: HashMap<_, _> = url::form_urlencoded::parse(request.body.as_bytes()).into_owned().collect();
        let subject = &fields["subject_token"];
        assert!(request.head.to_lowercase().contains("authorization: basic"), "{request:?}");
        assert_eq!((fields["grant_type"].as_str(), fields.len()), ("urn:ietf:params:oauth:grant-type:token-exchange", 6));
        assert_eq!((fields["audience"].as_str(), fields["resource"].as_str()), ("a b", "https://shop.example.com"));
        if subject == "nobody" {
            return whole(400, &json!({"error": "invalid_grant"}));
        }
        whole(200, &json!({"access_token": format!("{number}-for-{subject}"), "token_type": "Bearer", "expires_in": 600}))
    });
    // Who is let in, as the API sees it; the token of the first exchange is taken back at the third
    // request.
    let api = Scripted::start(|number, request| {
        let login = request.head.lines().find_map(|line| line.strip_prefix("authorization: ").or(line.strip_prefix("Authorization: ")));
        let tag = "etag: \"1\"\ncontent-type: application/json".to_owned();
        match login {
            Some("Bearer 0-for-ada") if number == 2 => whole(401, &json!({})),
            Some(login) => Reply::Fields(200, tag, json!([login]).to_string()),
            None => whole(401, &json!({})),
        }
    });
    let url = format!("http://{}/token", tokens.address);
    let options = [
        ("oauth_token_url", url.as_str()),
        ("oauth_grant", "token_exchange"),
        ("oauth_client_id", "a"),
        ("oauth_client_secret", "b"),
        ("oauth_audience", "a b"),
        ("oauth_resource", "https://shop.example.com"),
    ];
    let database = open(&api, &options);
    assert_eq!(read_as(&database, "ada"), Ok(Some(json!(["Bearer 0-for-ada"]))));
    assert_eq!(read_as(&database, "bob"), Ok(Some(json!(["Bearer 1-for-bob"]))));
    assert_eq!(read_as(&database, "ada"), Ok(Some(json!(["Bearer 2-for-ada"]))));
    assert_eq!(read_as(&database, "bob"), Ok(Some(json!(["Bearer 1-for-bob"]))));
    assert_eq!(read_as(&database, "nobody"), Err(ErrorKind::Credentials));
    assert_eq!(tokens.received().len(), 4);
    for Received { head, line, .. } in api.received() {
        let is_passed_on = ["ada", "bob", "nobody"].iter().any(|token| head.contains(&format!("Bearer {token}")));
        assert!(!is_passed_on && !head.to_lowercase().contains("if-none-match"), "{line} {head}");
    }
    // A query without the token, and one with it where the adapter does not exchange any.
    assert_eq!(read(&database, READ), Err(ErrorKind::Configuration));
    assert_eq!(read_as(&open(&api, &[("bearer", "t")]), "ada"), Err(ErrorKind::Configuration));
    // Nobody calls where an adapter is only looked at.
    assert!(database.ping().is_ok());
}

#[test]
fn what_an_authorization_server_may_answer() {
    let api = Scripted::with(vec![whole(200, &json!([]))]);
    for (reply, expected) in [
        (whole(401, &json!({"error": "invalid_client"})), Err(ErrorKind::Credentials)),
        (whole(400, &json!({"error": "invalid_scope"})), Err(ErrorKind::Credentials)),
        (whole(500, &json!({})), Err(ErrorKind::Protocol)),
        (whole(200, &json!({"access_token": "a\r\nx: y"})), Err(ErrorKind::Protocol)),
        (whole(200, &json!({"access_token": ""})), Err(ErrorKind::Protocol)),
        (whole(200, &json!({"access_token": "a", "token_type": "mac"})), Err(ErrorKind::Protocol)),
        (whole(200, &json!(["a"])), Err(ErrorKind::Protocol)),
        (Reply::Whole(200, "text/html", "<html>".to_owned()), Err(ErrorKind::Protocol)),
        (Reply::Fields(302, "location: /other".to_owned(), String::new()), Err(ErrorKind::Protocol)),
        (whole(200, &json!({"access_token": "a"})), Ok(Some(json!([])))),
    ] {
        let tokens = Scripted::with(vec![reply.clone()]);
        let url = format!("http://{}/token", tokens.address);
        let database = open(&api, &[("oauth_token_url", &url), ("oauth_client_id", "a"), ("oauth_client_secret", "hunter2")]);
        assert_eq!(read(&database, READ), expected, "{reply:?}");
    }
}

#[test]
fn a_call_that_is_known_is_sent_again() {
    let half = Reply::Broken("{\"paid\": true}".to_owned(), 4);
    let api = Scripted::with(vec![half, whole(200, &json!({"paid": true}))]);
    let database = open(&api, &[("idempotency_header", "Idempotency-Key")]);
    let key = "a".repeat(64);
    let record = CallRecord { key: &key, now_s: 0, expires_s: 60 };
    let made = database.write_once(&query(r#"{"method": "POST", "path": ["/pay"], "body": {"n": 1}}"#), record).unwrap();
    assert!(matches!(made, millrace_core::ports::RecordedWrite::Made(rows) if rows.document == Some(json!({"paid": true}))));
    let received = api.received();
    assert_eq!(received.len(), 2);
    for Received { head, .. } in received {
        assert!(head.to_lowercase().contains(&format!("idempotency-key: {key}")), "{head}");
    }
}

#[test]
fn bodies_are_bounded_after_they_are_unpacked() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..64 {
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let packed = packed.finish().unwrap();
    let mut bomb = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", packed.len()).into_bytes();
    bomb.extend(packed);
    let api = Scripted::with(vec![Reply::Raw(bomb.leak())]);
    assert_eq!(read(&open(&api, &[]), READ), Err(ErrorKind::TooLarge));
    let api = Scripted::with(vec![Reply::Raw(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(4 << 20)).into_bytes().leak())]);
    assert!(read(&open(&api, &[]), READ).is_err());
}

#[test]
fn a_scripts_request_is_judged_before_its_values_are_put_in() {
    let api = Scripted::with(vec![whole(200, &json!({"a": [1, 2]}))]);
    let database = open(&api, &[]);
    let run = |text: &str, values: &[Value]| {
        let command = Command::Statement { text, values };
        let answer = database.run_with(&Query { command, ..query(text) });
        answer.map(|rows| rows.document).map_err(|error| (error.kind, error.message.clone()))
    };
    let text = r#"{"method": "GET", "path": ["/a/", "$1", "/b"], "query": [["q", "$2"], ["fixed", "x"]], "headers": [["x-a", "$3"]], "result": "/a"}"#;
    let values = [Value::Text("x/y".to_owned()), Value::F64(10.0), Value::Bool(true)];
    assert_eq!(run(text, &values), Ok(Some(json!([1, 2]))));
    let received = api.received();
    assert_eq!(received[0].line, "GET /a/x%2Fy/b?q=10&fixed=x HTTP/1.1");
    assert!(received[0].head.to_lowercase().contains("x-a: true"), "{received:?}");
    let value = [Value::Text("x".to_owned())];
    for (text, expected) in [
        (r#"{"method": "GET", "path": ["$1"]}"#, "`path` of the request"),
        (r#"{"method": "GET", "path": ["/a", "$1"]}"#, "`path` of the request"),
        (r#"{"method": "$1", "path": ["/a"]}"#, "`method` of the request"),
        (r#"{"method": "GET", "path": ["/a"], "query": [["$1", "b"]]}"#, "`query` of the request"),
        (r#"{"method": "GET", "path": ["/a"], "headers": [["$1", "b"]]}"#, "`headers` of the request"),
        (r#"{"method": "GET", "path": ["/a"], "result": "$1"}"#, "`result` of the request"),
        (r#"{"method": "GET", "path": ["/a"], "page": {"link": "$1"}}"#, "`page` of the request"),
        (r#"{"method": "GET", "path": ["/a"], "url": "$1"}"#, "a request has no `url`"),
    ] {
        let (kind, message) = run(text, &value).unwrap_err();
        assert!(kind == ErrorKind::Syntax && message.contains(expected), "{text}: {message}");
    }
    for (text, expected) in [
        (r#"{"method": "TRACE", "path": ["/a"]}"#, "lacks a part"),
        (r#"{"method": "GET"}"#, "lacks a part"),
        (r#"{"method": "GET", "path": ["/a"], "body": 1}"#, "neither with `GET`"),
        (r#"{"method": "POST", "path": ["/a"], "body": 1, "form": []}"#, "one of `body` and `form`"),
        (r#"{"method": "POST", "path": ["/a"], "page": {"link": true}}"#, "only reads"),
        (r#"{"method": "GET", "path": ["a"]}"#, "does not begin with `/`"),
        (r#"{"method": "GET", "path": ["/a/../b"]}"#, "names another path"),
        (r#"{"method": "GET", "path": ["/a?b"]}"#, "a `?`"),
        (r#"{"method": "GET", "path": ["/a"], "headers": [["host", "evil.example"]]}"#, "`host` is a header field"),
        (r#"{"method": "GET", "path": ["/a"], "headers": [["authorization", "x"]]}"#, "`authorization` is a header field"),
    ] {
        let (kind, message) = run(text, &[]).unwrap_err();
        assert!(kind == ErrorKind::Syntax && message.contains(expected), "{text}: {message}");
    }
    assert_eq!(api.received().len(), 1);
}

#[test]
fn no_more_requests_than_the_adapter_says_are_under_way() {
    let counts: Arc<[AtomicUsize; 3]> = Arc::default();
    let seen = Arc::clone(&counts);
    let api = Scripted::start(move |_, _| {
        let [arrived, under_way, most] = &*seen;
        most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        arrived.fetch_add(1, Ordering::SeqCst);
        // Two of them are there together.
        while arrived.load(Ordering::SeqCst) < 2 {
            wait::moment();
        }
        under_way.fetch_sub(1, Ordering::SeqCst);
        whole(200, &json!([]))
    });
    let database = open(&api, &[("max_requests", "2")]);
    let answers = database.run_all(&vec![Query { access: Access::Read, ..query(READ) }; 8]);
    assert!(answers.iter().all(Result::is_ok) && answers.len() == 8, "{answers:?}");
    assert_eq!(counts[2].load(Ordering::SeqCst), 2);
}

#[test]
fn an_answer_that_has_not_changed_is_not_sent_again() {
    let api = Scripted::start(|number, request| {
        let has_tag = request.head.to_lowercase().contains("if-none-match: \"v1\"");
        match (number, has_tag) {
            (0, false) => {
                Reply::Fields(200, "content-type: application/json\netag: \"v1\"\ncache-control: max-age=7".to_owned(), "[1]".to_owned())
            }
            (1, true) => Reply::Fields(304, "etag: \"v1\"".to_owned(), String::new()),
            // Another request, and another language.
            (2 | 3, false) => whole(200, &json!([number])),
            (4, true) => Reply::Fields(200, "etag: \"v2\"\ncontent-type: application/json".to_owned(), "[2]".to_owned()),
            // It was not asked so.
            (5, false) => Reply::Fields(304, String::new(), String::new()),
            _ => panic!("{number} {request:?}"),
        }
    });
    let database = open(&api, &[]);
    let rows = |text: &str| database.run_with(&Query { access: Access::Read, ..query(text) });
    for _ in 0..2 {
        let rows = rows(READ).unwrap();
        assert_eq!((rows.document, rows.keep_s), (Some(json!([1])), Some(7)));
    }
    assert_eq!(read(&database, r#"{"method": "GET", "path": ["/b"]}"#), Ok(Some(json!([2]))));
    assert_eq!(read(&database, r#"{"method": "GET", "path": ["/a"], "headers": [["accept-language", "de"]]}"#), Ok(Some(json!([3]))));
    assert_eq!(rows(READ).unwrap().document, Some(json!([2])));
    let other = r#"{"method": "GET", "path": ["/c"]}"#;
    assert_eq!(read(&database, other), Err(ErrorKind::Protocol));
}
