//! `MILLRACE_CACHE=dynamodb:TABLE`

use millrace_core::{
    ErrorKind::{Busy, Configuration, Denied, Protocol, TimedOut, Unavailable},
    Json,
};
use millrace_tests::{
    case::root,
    docs::{blocks, shell_with, text},
    dynalite::Dynalite,
    dynoxide::Dynoxide,
    process::tool,
    scripted::{Reply, Scripted},
};
use serde_json::json;

use crate::caches::support::{Env, Isolate, Process, env, eventually};

const TABLE: &str = "millrace-cache";
const REGION: &str = "eu-central-1";
const KEY_ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "FwoGZXIvYXdzEXAMPLE//token==";

fn at(port: u16) -> Env {
    env(&[
        ("MILLRACE_CACHE", &format!("dynamodb:{TABLE}")),
        ("AWS_ENDPOINT_URL_DYNAMODB", &format!("http://127.0.0.1:{port}")),
        ("AWS_REGION", REGION),
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", TOKEN),
    ])
}

fn with(mut env: Env, name: &str, value: &str) -> Env {
    env.retain(|(other, _)| other != name);
    env.push((name.to_owned(), value.to_owned()));
    env
}

fn no_secret(text: &str) {
    for secret in [SECRET, TOKEN] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn isolates_share_values_until_their_time_is_over() {
    let server = Dynalite::start();
    server.create(TABLE, "S");
    let (first, second) = (Isolate::new(&at(server.process.port)), Isolate::new(&at(server.process.port)));
    assert_eq!(first.get("k"), Ok(None));
    let every_byte: Vec<u8> = (0..=255).collect();
    first.put("k", &every_byte, 60).unwrap();
    assert_eq!(second.get("k"), Ok(Some(every_byte)));
    first.put("empty", b"", 60).unwrap();
    assert_eq!(second.get("empty"), Ok(Some(Vec::new())));

    // The table's own deletion is days late: an item whose time is over is still there.
    let mut item = server.items(TABLE).into_iter().find(|item| item["id"]["S"] == "millrace:k").unwrap();
    let expires_s: u64 = item["expires_at"]["N"].as_str().unwrap().parse().unwrap();
    assert!(expires_s > 1_700_000_000, "the attribute for time to live is in seconds since the Unix epoch: {expires_s}");
    item["expires_at"]["N"] = Json::from("1700000000");
    assert_eq!(server.call("PutItem", &json!({ "TableName": TABLE, "Item": item })), json!({}));
    assert_eq!(Isolate::new(&at(server.process.port)).get("k"), Ok(None));
}

/// The AWS command line is not installed; what it is made of is.
#[test]
fn the_commands_of_the_caching_page_make_the_table() {
    let page = std::fs::read_to_string(root().join("docs/caching.md")).unwrap();
    let (_, commands) = blocks(&page).into_iter().find(|(_, body)| body.starts_with("aws dynamodb ")).unwrap();
    let server = Dynoxide::start();
    let folder = tempfile::tempdir().unwrap();
    let (python, script) = (tool("servers-venv/bin/python"), root().join("tests/servers/aws_command.py"));
    let aws = format!("#!/bin/sh\nexec '{}' '{}' \"$@\"\n", python.display(), script.display());
    std::fs::write(folder.path().join("aws"), aws).unwrap();
    let variables = at(server.process.port);
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let script = format!("chmod +x aws\n{commands}printf '%s' \"$MILLRACE_CACHE\" > cache\n");
    let ran = shell_with(folder.path(), &script, &variables, &[folder.path()]);
    assert!(ran.status.success(), "{}", text(&ran));
    let life = server.call("DescribeTimeToLive", &json!({ "TableName": TABLE }));
    assert_eq!(life["TimeToLiveDescription"]["AttributeName"], "expires_at", "{life}");
    let named = std::fs::read_to_string(folder.path().join("cache")).unwrap();
    let env = with(at(server.process.port), "MILLRACE_CACHE", &named);
    Isolate::new(&env).put("k", b"v", 60).unwrap();
    assert_eq!(Isolate::new(&env).get("k").unwrap().as_deref(), Some(b"v".as_slice()));
}

#[test]
fn the_largest_item_is_stored_and_a_larger_value_stays_in_memory() {
    let server = Dynalite::start();
    server.create(TABLE, "S");
    let isolate = Isolate::new(&at(server.process.port));
    // Names, prefix, key, a number's room and the stamp are the rest of 400 KB.
    let largest = (400 << 10) - "idvalueexpires_at".len() - "millrace:k".len() - 21 - 8;
    isolate.put("k", &vec![7; largest], 60).unwrap();
    assert_eq!(Isolate::new(&at(server.process.port)).get("k").unwrap().map(|value| value.len()), Some(largest));
    isolate.put("l", &vec![7; largest + 1], 60).unwrap();
    assert_eq!(isolate.get("l").unwrap().map(|value| value.len()), Some(largest + 1));
    assert_eq!(Isolate::new(&at(server.process.port)).get("l"), Ok(None));
}

#[test]
fn requests_are_signed_as_botocore_signs_them() {
    let server = Dynalite::start();
    server.create(TABLE, "S");
    let door = server.door(REGION, KEY_ID, SECRET, TOKEN);
    let good = at(door.port);
    Isolate::new(&good).put("k", "zażółć\0".as_bytes(), 60).unwrap();
    assert_eq!(Isolate::new(&good).get("k").unwrap().as_deref(), Some("zażółć\0".as_bytes()));
    let wrong = "denies access: the credentials of the `AWS_…` variables are wrong";
    let cases = [
        ("AWS_SECRET_ACCESS_KEY", "another", wrong),
        ("AWS_ACCESS_KEY_ID", "AKIDANOTHER", wrong),
        ("AWS_REGION", "eu-west-1", wrong),
        ("AWS_SESSION_TOKEN", "another", "denies access: the credentials of the `AWS_…` variables have expired"),
    ];
    for (name, value, expected) in cases {
        let isolate = Isolate::new(&with(good.clone(), name, value));
        let error = isolate.get("k").unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Denied, format!("the DynamoDB table `{TABLE}` {expected}").as_str()), "{name}");
        // The server's words quote the request, and with it the token.
        assert_eq!(error.source, None);
        assert_eq!(isolate.get("k"), Ok(None), "the store is left alone for a while");
    }
}

#[test]
fn what_a_server_may_answer_is_an_error_of_its_kind() {
    let fault = |status: u16, kind: &str| {
        Reply::Whole(
            status,
            "application/x-amz-json-1.0",
            json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{kind}"), "message": "words" }).to_string(),
        )
    };
    let text = |status: u16, body: &str| Reply::Whole(status, "text/html", body.to_owned());
    let table = [
        (fault(400, "ResourceNotFoundException"), Configuration, "does not exist in region `eu-central-1`"),
        (fault(400, "ValidationException"), Configuration, "its only key must be `id`"),
        (
            fault(400, "AccessDeniedException"),
            Denied,
            "they need `dynamodb:GetItem`, `BatchGetItem`, `PutItem`, `UpdateItem` and `DeleteItem`",
        ),
        (fault(400, "ProvisionedThroughputExceededException"), Busy, "is throttled"),
        (fault(400, "ThrottlingException"), Busy, "is throttled"),
        (fault(400, "RequestLimitExceeded"), Busy, "is throttled"),
        (fault(400, "SomethingNew"), Protocol, "sent a response that DynamoDB does not send (status 400)"),
        (fault(500, "InternalServerError"), Unavailable, "cannot answer (status 500)"),
        (text(503, "<html>"), Unavailable, "cannot answer (status 503)"),
        (text(200, "<html>"), Protocol, "is not valid JSON"),
        (text(200, r#"{"Item":{"id":{"S":"millrace:k"}}}"#), Protocol, "has no `value` and `expires_at`"),
        (text(301, ""), Protocol, "sent a response that DynamoDB does not send (status 301)"),
        (Reply::Raw(b""), Protocol, "closed the connection"),
        (Reply::Silence, TimedOut, "did not answer within 1000 ms"),
    ];
    for (reply, kind, expected) in table {
        let server = Scripted::with(vec![reply.clone()]);
        let error = Isolate::new(&at(server.address.port())).get("k").unwrap_err();
        let in_time = kind == TimedOut && error.message == "an HTTP request was not answered before its deadline";
        assert!(error.kind == kind && (error.message.contains(expected) || in_time), "{reply:?}: {error:?}");
        assert_eq!(server.received().len(), 1, "nothing is sent twice");
        no_secret(&format!("{error:?}"));
        no_secret(&server.received()[0].body);
    }
    let nobody = Isolate::new(&at(1)).get("k").unwrap_err();
    assert_eq!(nobody.kind, Unavailable);
}

#[test]
fn another_key_of_the_table_is_named() {
    let server = Dynalite::start();
    server.create(TABLE, "N");
    let error = Isolate::new(&at(server.process.port)).get("k").unwrap_err();
    assert!(error.kind == Configuration && error.message.contains("its only key must be `id`, a string"), "{error:?}");
}

#[test]
fn a_second_process_answers_from_the_table() {
    let server = Dynalite::start();
    server.create(TABLE, "S");
    let door = server.door(REGION, KEY_ID, SECRET, TOKEN);
    let first = Process::start(&at(door.port));
    first.bump();
    assert_eq!(first.read("read"), 1);
    eventually("the result is stored after the answer", || server.items(TABLE).len() == 1);
    drop(first);
    let second = Process::start(&at(door.port));
    assert_eq!((second.read("read"), second.read("read-fresh")), (1, 0), "its own database has not counted");
    assert!(second.log().contains("cache=\"hit\""), "{}", second.log());
    no_secret(&second.log());
}

#[test]
fn a_table_that_is_missing_killed_or_throttled_never_fails_a_call() {
    let mut server = Dynalite::start();
    let process = Process::start(&at(server.process.port));
    assert_eq!(process.read("read"), 0);
    process.wait_for_log("the DynamoDB table `millrace-cache` does not exist in region `eu-central-1`");
    drop(process);

    server.create(TABLE, "S");
    server.process.kill();
    let process = Process::start(&at(server.process.port));
    process.bump();
    assert_eq!(process.read("read"), 1);
    process.wait_for_log("could not connect to `127.0.0.1`");
    server.process.restart();
    // The table is left alone for some seconds. Each id is a key of its own, so none is in the
    // memory.
    let mut id = 1;
    eventually("the table is used again", || {
        id += 1;
        process.call(&format!("read {{\"id\": {id}}}"));
        !server.items(TABLE).is_empty()
    });
    drop(process);

    let throttling =
        Reply::Whole(400, "application/json", r#"{"__type":"x#ProvisionedThroughputExceededException","message":"slow down"}"#.to_owned());
    for (reply, warning) in [(throttling, "is throttled"), (Reply::Silence, "the cache cannot be read")] {
        let server = Scripted::with(vec![reply]);
        let process = Process::start(&at(server.address.port()));
        process.bump();
        assert_eq!((process.read("read"), process.read("read-fresh")), (1, 1));
        process.wait_for_log(warning);
        no_secret(&process.log());
    }
}
