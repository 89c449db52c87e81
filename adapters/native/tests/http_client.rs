//! The HTTP client against a server that says what it is told to.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end where it fails")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener},
    rc::Rc,
    sync::mpsc::{Receiver, channel},
    thread,
};

use millrace_core::{
    ErrorKind, Result,
    headers::Headers,
    ports::{Clock as _, HttpClient as _, HttpRequest, HttpResponse},
};
use millrace_native::{clock::SystemClock, http_client::NativeHttpClient, isolate};

/// Answers each connection with `answer`, and gives the request heads that came. An empty answer
/// keeps the client waiting.
pub(crate) fn server(answer: &'static str) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, heads) = channel();
    thread::spawn(move || {
        let mut waiting = Vec::new();
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let head: Vec<String> =
                BufReader::new(&socket).lines().map_while(std::result::Result::ok).take_while(|line| !line.is_empty()).collect();
            drop(sender.send(head.join("\n")));
            socket.write_all(answer.as_bytes()).unwrap();
            if answer.is_empty() {
                waiting.push(socket);
            }
        }
    });
    (address, heads)
}

fn send(url: String, headers: &[(&str, &str)], timeout_ms: u64) -> Result<HttpResponse> {
    let headers: Headers = headers.iter().copied().collect();
    isolate::run(move || async move {
        let deadline_ms = SystemClock.now_ms() + timeout_ms;
        let request = HttpRequest { method: "GET".into(), url, headers, deadline_ms, max_response_bytes: 10, ..HttpRequest::default() };
        NativeHttpClient::new(Rc::new(SystemClock)).send(request).await
    })
    .unwrap()
}

#[test]
fn every_status_is_a_response_and_no_redirect_is_followed() {
    for (answer, status, body) in [
        ("HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 10\r\n\r\n0123456789", 200, "0123456789"),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno", 500, "no"),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", 302, ""),
    ] {
        let (address, heads) = server(answer);
        let sent = [("X-Own", "yes"), ("Host", "elsewhere"), ("Accept-Encoding", "gzip")];
        let response = send(format!("http://{address}/path?q=1"), &sent, 30_000).unwrap();
        assert_eq!((response.status, response.body.as_slice()), (status, body.as_bytes()));
        if status == 200 {
            assert_eq!(response.headers.all("x-a").collect::<Vec<_>>(), ["1", "2"]);
        }
        let head = heads.recv().unwrap().to_ascii_lowercase();
        assert!(head.starts_with("get /path?q=1 http/1.1"), "{head}");
        assert!(head.contains("x-own: yes") && head.contains(&format!("host: {address}")), "{head}");
        assert!(!head.contains("elsewhere") && head.contains("accept-encoding: gzip\n"), "{head}");
    }
}

#[test]
fn limits_and_failures_have_their_kinds_and_tell_no_secret() {
    let long = server("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n0123456789a").0;
    let chunked = server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n6\r\n012345\r\n0\r\n\r\n").0;
    let garbage = server("no HTTP at all\r\n\r\n").0;
    let cut = server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n0123").0;
    let silent = server("").0;
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, kind) in [
        (format!("http://{long}/?key=hunter2"), ErrorKind::TooLarge),
        (format!("http://{chunked}/?key=hunter2"), ErrorKind::TooLarge),
        (format!("http://{garbage}/?key=hunter2"), ErrorKind::Protocol),
        (format!("http://{cut}/?key=hunter2"), ErrorKind::Protocol),
        (format!("http://{nobody}/?key=hunter2"), ErrorKind::Unavailable),
        ("not a url hunter2".to_owned(), ErrorKind::Configuration),
    ] {
        let error = send(url.clone(), &[], 30_000).unwrap_err();
        assert_eq!(error.kind, kind, "{url}: {error:?}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
    assert_eq!(send(format!("http://{silent}/"), &[], 50).unwrap_err().kind, ErrorKind::TimedOut);
}
