//! `fetch` of scripts: deadline, size, redirects, and servers that misbehave.

use millrace_tests::scripted::Reply;
use serde_json::json;

use crate::worker_ports::kit::{Kit, NEVER, wait_for, with_kit};

const LATE: &str = "The call did not finish within 700 ms.";

fn whole(status: u16, body: &str) -> Reply {
    Reply::Whole(status, "text/plain", body.to_owned())
}

fn redirect(location: &str) -> Reply {
    // The answers of a test live as long as it.
    Reply::Raw(Box::leak(
        format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n").into_bytes().into_boxed_slice(),
    ))
}

/// Fetches once against these answers; gives what became of it and how many requests it took.
fn outcome(kit: &Kit, tool: &str, replies: &[Reply], url: &str) -> (String, usize) {
    kit.script.set(replies);
    let before = kit.server.received().len();
    let result = kit.call(tool, &json!({"url": url}));
    let text = match result["isError"].as_bool() {
        Some(false) => result["content"][0]["text"].as_str().unwrap().to_owned(),
        _ => result["_meta"]["millrace/error"]["message"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned(),
    };
    (text, kit.server.received().len() - before)
}

#[test]
fn what_comes_back_and_what_breaks() {
    with_kit(|kit| {
        let of_others = kit.server.received().len();
        let url = kit.url("/a");
        let ok = |status: u16, body: &str| format!(r#"{{"status":{status},"body":"{body}"}}"#);
        let no_answer = "could not connect to `127.0.0.1`, or it closed the connection before it answered";
        let elsewhere = "http://localhost:1/";
        let table = [
            ("an answer", vec![whole(200, "yes")], ok(200, "yes"), 1),
            ("a status", vec![whole(503, "later")], ok(503, "later"), 1),
            ("no body", vec![Reply::Raw(b"HTTP/1.1 204 No Content\r\n\r\n")], ok(204, ""), 1),
            (
                "half a body",
                vec![Reply::Broken("halves".into(), 3)],
                "`127.0.0.1` closed the connection, or its response is not HTTP".into(),
                1,
            ),
            ("no answer", vec![Reply::Raw(b"")], no_answer.into(), 1),
            ("no HTTP", vec![Reply::Raw(b"220 mail.example.com ESMTP\r\n")], no_answer.into(), 1),
            ("a redirect", vec![redirect("/b"), whole(200, "there")], ok(200, "there"), 2),
            (
                "a redirect elsewhere",
                vec![redirect(elsewhere)],
                "the host `localhost:1` is not in `fetch.allow` of the app's settings".into(),
                1,
            ),
            ("redirects for ever", vec![redirect("/b")], "`127.0.0.1` redirects more than 5 times".into(), 6),
            ("the longest", vec![whole(200, &"x".repeat(1 << 20))], ok(200, "1048576 characters"), 1),
            (
                "too long",
                vec![whole(200, &"x".repeat((1 << 20) + 1))],
                "the response of `127.0.0.1` is longer than 1048576 bytes".into(),
                1,
            ),
        ];
        for (what, replies, expected, requests) in table {
            let (found, took) = outcome(kit, "fetch", &replies, &url);
            assert!(found == expected && took == requests, "{what}: {took} requests, {}", found.chars().take(300).collect::<String>());
        }
        let closed = format!("http://127.0.0.1:{}/", kit.closed);
        assert_eq!(outcome(kit, "fetch", &[], &closed), (no_answer.to_owned(), 0));
        for request in kit.server.received().iter().skip(of_others).filter(|request| request.line == "GET /b HTTP/1.1") {
            assert!(request.head.contains("Authorization: Bearer of-the-script\r\n"), "it stays with its origin: {request:?}");
        }
    });
}

#[test]
fn redirects_are_as_the_script_asks() {
    with_kit(|kit| {
        let moved = |status: u16, location: Option<&str>, redirected: bool, path: &str| {
            json!({"status": status, "location": location, "redirected": redirected, "path": path}).to_string()
        };
        let refused = "`127.0.0.1` answers with a redirect, which `redirect: \"error\"` refuses".to_owned();
        let table = [
            ("follow", vec![redirect("/b"), redirect("c?d"), whole(200, "there")], moved(200, None, true, "/c"), 3),
            ("follow", vec![whole(200, "here")], moved(200, None, false, "/a"), 1),
            ("manual", vec![redirect("/b")], moved(302, Some("/b"), false, "/a"), 1),
            ("manual", vec![redirect("http://localhost:1/")], moved(302, Some("http://localhost:1/"), false, "/a"), 1),
            ("error", vec![redirect("/b")], refused, 1),
            ("error", vec![whole(200, "here")], moved(200, None, false, "/a"), 1),
            ("zz", vec![], "`redirect` must be `follow`, `error` or `manual`".to_owned(), 0),
        ];
        for (asked, replies, expected, requests) in table {
            kit.script.set(&replies);
            let before = kit.server.received().len();
            let result = kit.call("moved", &json!({"url": kit.url("/a#f"), "redirect": asked}));
            let text = match result["isError"].as_bool() {
                Some(false) => result["content"][0]["text"].as_str().unwrap().to_owned(),
                _ => result["_meta"]["millrace/error"]["message"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned(),
            };
            assert_eq!((text, kit.server.received().len() - before), (expected, requests), "{asked}");
        }
    });
}

#[test]
fn a_server_that_does_not_answer_ends_at_the_deadline() {
    with_kit(|kit| {
        for (what, reply) in [("silence", Reply::Silence), ("a body that stops", Reply::Stalled("halves".into(), 3))] {
            let left = kit.server.left();
            assert_eq!(outcome(kit, "fetch-briefly", &[reply], &kit.url("/slow")), (LATE.to_owned(), 1), "{what}");
            wait_for(|| kit.server.left() > left);
        }
    });
}

#[test]
fn a_request_that_nobody_waits_for_ends_with_the_call() {
    with_kit(|kit| {
        let left = kit.server.left();
        kit.script.set(&[whole(200, "quick")]);
        assert_eq!(kit.value("leave", &json!({"url": kit.url(NEVER), "other": kit.url("/quick")})), "not waited");
        wait_for(|| kit.server.left() > left);
    });
}
