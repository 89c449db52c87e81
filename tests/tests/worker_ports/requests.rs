//! What a request may ask for: bindings that are not there, bodies that are too long, scripts that
//! compute, and no script at all.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use millrace_tests::Exchange;
use serde_json::json;

use crate::worker_ports::kit::with_kit;

#[test]
fn a_missing_binding_or_variable_is_named_at_the_first_call_that_needs_it() {
    with_kit(|kit| {
        let expected = "The D1 binding `UNBOUND`, which the adapter `unbound` needs, does not exist; add it to `wrangler.toml`.";
        assert_eq!(kit.failure("read-unbound", &json!({})), ("CONFIGURATION".into(), expected.into()));
        let expected = "The environment variable `NOT_SET`, which the adapter `unset` needs, is not set.";
        assert_eq!(kit.failure("read-unset", &json!({})), ("CONFIGURATION".into(), expected.into()));
    });
}

/// Sends a body in pieces, without its length; gives the status line.
fn in_pieces(port: u16, pieces: usize) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .write_all(
            b"POST /mcp HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        )
        .unwrap();
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let piece = [format!("{:x}\r\n", 1024 + ping.len()).as_bytes(), &[b' '; 1024][..], ping, b"\r\n"].concat();
    let blank = [b"400\r\n", &[b' '; 1024][..], b"\r\n"].concat();
    stream.write_all(&piece).unwrap();
    for _ in 1..pieces {
        // The server may have answered and closed.
        if stream.write_all(&blank).is_err() {
            break;
        }
    }
    drop(stream.write_all(b"0\r\n\r\n"));
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_body_is_read_up_to_its_limit() {
    with_kit(|kit| {
        let port = kit.worker().port;
        assert!(in_pieces(port, 60).contains(" 200 "), "{}", in_pieces(port, 60));
        assert!(in_pieces(port, 70).contains(" 413 "), "{}", in_pieces(port, 70));
        let long = Exchange::call("read-main", &json!({"more": "x".repeat(64 << 10)}));
        assert!(kit.worker().send(&long).starts_with("HTTP 413\n"));
        assert_eq!(kit.value("cached-briefly", &json!({"id": 2}))[0]["v"], "two");
    });
}

#[test]
fn methods_without_a_body_are_answered() {
    with_kit(|kit| {
        for (method, status) in [("HEAD", 405), ("OPTIONS", 204), ("GET", 405), ("DELETE", 405), ("PUT", 405)] {
            let request = Exchange { method: method.into(), path: "/mcp".into(), headers: Vec::new(), body: String::new() };
            let answer = kit.worker().send(&request);
            assert!(answer.starts_with(&format!("HTTP {status}")), "{method}: {answer}");
        }
    });
}

#[test]
fn a_script_ends_at_its_deadline_where_the_clock_stands_still() {
    with_kit(|kit| {
        kit.stand_in(&json!({"clock": "still"}));
        let expected = ("TIMEOUT".to_owned(), "The call did not finish within 300 ms.".to_owned());
        assert_eq!(kit.failure("compute", &json!({})), expected);
        assert!(kit.stand_in(&json!({})).iter().any(|event| event == "turn"), "nobody else had a turn");
        assert_eq!(kit.value("many", &json!({"awaits": 2000})), 2000);
    });
}

#[test]
fn the_script_engine_starts_with_the_first_script() {
    with_kit(|kit| {
        kit.restart();
        assert_eq!(kit.value("cached-briefly", &json!({"id": 2}))[0]["v"], "two");
        kit.worker().logged("connector=\"d1\"");
        assert_eq!(kit.value("many", &json!({"awaits": 1})), 1);
        let log = kit.worker().logged("the scripts were evaluated");
        let place = |part: &str| log.find(part).unwrap();
        assert!(place("connector=\"d1\"") < place("the scripts were evaluated"), "{log}");
    });
}
