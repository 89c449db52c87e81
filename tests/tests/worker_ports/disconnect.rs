//! Clients that go away in the middle of a call. They meet workerd itself: the proxies of
//! `wrangler dev` do not pass it on.
//!
//! workerd sees a connection that is reset. One that is closed in good order it takes for a client
//! that still listens, and goes on until the deadline.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use millrace_tests::{Exchange, scripted::Reply, workerd::Workerd};
use serde_json::{Value as Json, json};

use crate::worker_ports::kit::{NEVER, TOKEN, wait_for, with_kit};

/// More than the script engine has places.
const CLIENTS: usize = 70;
const PLACES: usize = 24;

/// Sends a call and does not wait for its answer.
fn ask(port: u16, tool: &str, arguments: &Json) -> TcpStream {
    send(port, &Exchange::call(tool, arguments))
}

fn send(port: u16, request: &Exchange) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let fields: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{fields}content-length: {}\r\n\r\n{}",
        request.body.len(),
        request.body
    );
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
            let answer = workerd.send(&Exchange::call("fetch", &json!({"url": kit.url("/a")})));
            assert!(answer.contains(r#"{\"status\":200,\"body\":\"yes\"}"#), "{answer}\n{}", workerd.log());
        };
        answered();
        kit.script.set(&[Reply::Silence]);
        let (asked, left) = (kit.server.received().len(), kit.server.left());
        let clients: Vec<TcpStream> = (0..CLIENTS).map(|_| ask(workerd.port, "fetch", &json!({"url": kit.url("/silent")}))).collect();
        wait_for(|| kit.server.received().len() >= asked + PLACES);
        clients.into_iter().for_each(|client| reset(&runtime, client));
        wait_for(|| kit.server.left() >= left + PLACES && workerd.log().matches("code=\"CANCELLED\"").count() == CLIENTS);
        answered();
        assert!(!workerd.log().contains(TOKEN));
    });
}

#[test]
fn whoever_observes_a_call_is_told_that_its_client_disconnected() {
    with_kit(|kit| {
        // An audit line is logged at every level.
        let variables = [("MILLRACE_LOG", "error"), ("MILLRACE_LOG_FORMAT", "json"), ("TOKEN", TOKEN)];
        let workerd = Workerd::start(&kit.built(), &variables).unwrap_or_else(|said| panic!("{said}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let asked = kit.server.received().len();
        let client = ask(workerd.port, "audited", &json!({"url": kit.url(NEVER), "who": "ada"}));
        wait_for(|| kit.server.received().len() > asked);
        assert!(!workerd.log().contains("millrace::audit"), "{}", workerd.log());
        reset(&runtime, client);
        wait_for(|| workerd.log().contains("millrace::audit"));
        let log = workerd.log();
        let line = log.lines().find(|line| line.contains("millrace::audit")).unwrap();
        let line: Json = serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap();
        for (name, value) in [("subject", "ada"), ("tool", "audited"), ("decision", "allowed"), ("outcome", "error"), ("code", "CANCELLED")]
        {
            assert_eq!(line[name], value, "{line}");
        }
    });
}

/// How many wait for a place.
const WAITING: usize = 8;

/// The answer to a call, whole.
fn answer(mut client: TcpStream) -> String {
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_call_that_waited_for_a_place_goes_on_in_its_own_request() {
    with_kit(|kit| {
        let workerd = Workerd::start(&kit.built(), &[("MILLRACE_LOG", "debug"), ("TOKEN", TOKEN)]).unwrap_or_else(|said| panic!("{said}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        kit.script.set(&[Reply::Whole(200, "text/plain", "yes".into())]);
        // A place is given back by a call that was answered, and by one whose client has gone.
        for hangs_up in [false, true] {
            let asked = kit.server.received().len();
            let holder = if hangs_up { "fetch" } else { "fetch-briefly" };
            let mut holders: Vec<TcpStream> = (1..PLACES).map(|_| ask(workerd.port, "fetch", &json!({"url": kit.url(NEVER)}))).collect();
            wait_for(|| kit.server.received().len() == asked + PLACES - 1);
            let gives = ask(workerd.port, holder, &json!({"url": kit.url(NEVER)}));
            wait_for(|| kit.server.received().len() == asked + PLACES);
            let waiting: Vec<TcpStream> =
                (0..WAITING).map(|_| ask(workerd.port, "late", &json!({"url": kit.url("/a"), "ms": 200}))).collect();
            // Who came later has been answered.
            assert!(workerd.send(&Exchange::call("read-unset", &json!({}))).contains("NOT_SET"));
            if hangs_up {
                reset(&runtime, gives);
            } else {
                assert!(answer(gives).contains("within 700 ms"));
            }
            for client in waiting {
                let answer = answer(client);
                assert!(answer.contains(r#"{\"status\":200,\"body\":\"yes\"}"#), "hangs up: {hangs_up}: {answer}\n{}", workerd.log());
            }
            holders.drain(..).for_each(|client| reset(&runtime, client));
            let cancelled = || workerd.log().matches("code=\"CANCELLED\"").count();
            wait_for(|| cancelled() >= if hangs_up { 2 * PLACES - 1 } else { PLACES - 1 });
        }
    });
}

/// A call whose answer is a stream; its script waits for a server that does not answer.
fn listen(port: u16, url: &str) -> TcpStream {
    let params = json!({"name": "tell", "arguments": {"url": url}, "_meta": {"progressToken": 1}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let mut request = Exchange::call("tell", &Json::Null);
    request.headers.push(("accept".into(), "application/json, text/event-stream".into()));
    send(port, &Exchange { body, ..request })
}

/// How many listen to a stream, and how much longer each stays than the one before, in
/// milliseconds.
const LISTENERS: u64 = 30;
const STEP_MS: u64 = 1;

#[test]
fn a_client_that_goes_away_ends_its_stream_however_early_it_goes() {
    with_kit(|kit| {
        let workerd = Workerd::start(&kit.built(), &[("MILLRACE_LOG", "debug"), ("TOKEN", TOKEN)]).unwrap_or_else(|said| panic!("{said}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (asked, left) = (kit.server.received().len(), kit.server.left());
        // The answer begins, and then its client goes.
        let mut first = listen(workerd.port, &kit.url(NEVER));
        let mut start = [0; 12];
        first.read_exact(&mut start).unwrap();
        wait_for(|| kit.server.received().len() == asked + 1);
        reset(&runtime, first);
        wait_for(|| kit.server.left() == left + 1);
        for number in 0..LISTENERS {
            let client = listen(workerd.port, &kit.url(NEVER));
            thread::sleep(Duration::from_millis(number * STEP_MS));
            reset(&runtime, client);
        }
        kit.script.set(&[Reply::Whole(200, "text/plain", "yes".into())]);
        assert!(workerd.send(&Exchange::call("fetch", &json!({"url": kit.url("/a")}))).contains("yes"));
        // Every call that began was ended, and not by its deadline, which is half a minute away.
        let count = |part: &str| workerd.log().matches(part).count();
        wait_for(|| count("code=\"CANCELLED\"") == count("progress tool=\"tell\""));
        assert!(count("progress tool=\"tell\"") > 1 && count("TIMEOUT") == 0, "{}", workerd.log());
    });
}
