//! Clients that go away in the middle of a call. They meet workerd itself: the proxies of `wrangler dev` do not pass it on.
//!
//! workerd sees a connection that is reset. One that is closed in good order it takes for a client that still listens, and goes on until the deadline.

use std::{io::Write, net::TcpStream};

use millrace_tests::{scripted::Reply, workerd::Workerd};
use serde_json::json;

use crate::kit::{TOKEN, call, wait_for, with_kit};

/// More than the script engine has places.
const CLIENTS: usize = 70;
const PLACES: usize = 64;

/// Sends a call and does not wait for its answer.
fn ask(port: u16, url: &str) -> TcpStream {
    let request = call("fetch", &json!({"url": url}));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let fields: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!("POST /mcp HTTP/1.1\r\nhost: x\r\n{fields}content-length: {}\r\n\r\n{}", request.body.len(), request.body);
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Closes a connection without a good-bye.
fn reset(runtime: &tokio::runtime::Runtime, stream: TcpStream) {
    let _inside = runtime.enter();
    stream.set_nonblocking(true).unwrap();
    tokio::net::TcpStream::from_std(stream).unwrap().set_zero_linger().unwrap();
}

#[test]
fn a_client_that_goes_away_ends_its_call_and_gives_back_its_place() {
    with_kit(|kit| {
        let workerd = Workerd::start(&kit.built(), &[("MILLRACE_LOG", "debug"), ("TOKEN", TOKEN)]).unwrap_or_else(|said| panic!("{said}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answered = || {
            kit.script.set(&[Reply::Whole(200, "text/plain", "yes".into())]);
            let answer = workerd.send(&call("fetch", &json!({"url": kit.url("/a")})));
            assert!(answer.contains(r#"{\"status\":200,\"body\":\"yes\"}"#), "{answer}\n{}", workerd.log());
        };
        answered();
        kit.script.set(&[Reply::Silence]);
        let (asked, left) = (kit.server.received().len(), kit.server.left());
        let clients: Vec<TcpStream> = (0..CLIENTS).map(|_| ask(workerd.port, &kit.url("/silent"))).collect();
        wait_for(|| kit.server.received().len() >= asked + PLACES);
        clients.into_iter().for_each(|client| reset(&runtime, client));
        wait_for(|| kit.server.left() >= left + PLACES && workerd.log().matches("code=\"CANCELLED\"").count() == CLIENTS);
        answered();
        assert!(!workerd.log().contains(TOKEN));
    });
}
