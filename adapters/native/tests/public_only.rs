//! Attempts to reach a server on loopback, and other addresses that are not public, by a request
//! that may reach public ones alone.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end where it fails")]

use std::{
    net::{IpAddr, SocketAddr},
    rc::Rc,
    sync::{Arc, Mutex},
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock as _, HttpClient as _, HttpRequest, HttpResponse},
};
use millrace_native::{clock::SystemClock, http_client::NativeHttpClient, isolate};

use crate::http_client::server;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

/// URLs that lead to 127.0.0.1, whose port stands for `PORT`. The names among them resolve to it.
const TO_LOOPBACK: [&str; 50] = [
    // As numbers.
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0X7F000001:PORT/",
    "http://0x7f.1:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0x7f.0x0.0x0.0x1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0177.1:PORT/",
    "http://017700000001:PORT/",
    "http://0000177.0.0.0x1:PORT/",
    "http://127.0x1:PORT/",
    "http://127.0.0.1.:PORT",
    // In other characters.
    "http://%31%32%37.0.0.1:PORT/",
    "http://127%2E0%2E0%2E1:PORT/",
    "http://１２７.０.０.１:PORT/",
    "http://127。0。0。1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://127.0.\t0.1:PORT/",
    "http://127.0.\n0.1:PORT/",
    "http://127\u{ad}.0.0.1:PORT/",
    // Within IPv6.
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::FFFF:7F00:0001]:PORT/",
    "http://[0:0:0:0:0:ffff:7f00:1]:PORT/",
    // Behind a user.
    "http://me@127.0.0.1:PORT/",
    "http://me:password@127.0.0.1:PORT/",
    "http://api.example.com@127.0.0.1:PORT/",
    "http://api.example.com:443@127.0.0.1:PORT/",
    "http://api.example.com%2F@127.0.0.1:PORT/",
    "http://a@b@127.0.0.1:PORT/",
    "http://@127.0.0.1:PORT/",
    "http://:@2130706433:PORT/",
    // Before what looks like a host.
    "http://127.0.0.1:PORT\\@api.example.com/",
    "http://127.0.0.1:PORT/@api.example.com/",
    "http://127.0.0.1:PORT?@api.example.com/",
    "http://127.0.0.1:PORT#@api.example.com/",
    // With other slashes and cases.
    "http:127.0.0.1:PORT/",
    "http:/127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http:////127.0.0.1:PORT/",
    " \u{1}HTTP://127.0.0.1:PORT/ ",
    // Names.
    "http://localhost:PORT/",
    "http://LocalHost.:PORT/",
    "http://ⓛocalhost:PORT/",
    "http://shop.localhost:PORT/",
    "http://127.0.0.1.example.com:PORT/",
];

/// Addresses that are not public. Each is tried as it is, and by a name that resolves to it.
const ELSEWHERE: [&str; 40] = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::10.0.0.1",
    "100::1",
    "2001::7f00:1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "3fff::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
];

/// What is no URL, or none of HTTP.
const MALFORMED: [&str; 8] = [
    "http://[::1%25lo]:PORT/",
    "http://[fe80::1%25eth0]:PORT/",
    "http://127.0.0.1.5:PORT/",
    "http://256.0.0.1:PORT/",
    "http://4294967296:PORT/",
    "http://127.0.0.1 :PORT/",
    "ftp://127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
];

/// What the look-up answers next, and which names it was asked for.
#[derive(Clone, Default)]
struct Resolver(Arc<Mutex<Answers>>);

#[derive(Default)]
struct Answers {
    /// In turn; the last stays.
    next: Vec<Vec<IpAddr>>,
    asked: Vec<String>,
}

impl Resolver {
    fn set(&self, answers: &[&[&str]]) {
        let answers = answers.iter().map(|addresses| addresses.iter().map(|address| address.parse().unwrap()).collect());
        *self.0.lock().unwrap() = Answers { next: answers.collect(), asked: Vec::new() };
    }

    fn asked(&self) -> usize {
        self.0.lock().unwrap().asked.len()
    }

    fn client(&self) -> NativeHttpClient {
        let answers = self.0.clone();
        let lookup = move |name: &str| {
            let mut answers = answers.lock().unwrap();
            answers.asked.push(name.to_owned());
            let answer = if answers.next.len() > 1 { answers.next.remove(0) } else { answers.next[0].clone() };
            Ok(answer.into_iter().map(|address| SocketAddr::new(address, 0)).collect())
        };
        NativeHttpClient::with_lookup(Rc::new(SystemClock), Arc::new(lookup))
    }
}

async fn send(client: &NativeHttpClient, url: &str, public_only: bool) -> Result<HttpResponse> {
    let deadline_ms = SystemClock.now_ms() + if public_only { 1_000 } else { 30_000 };
    let (method, url) = ("GET".to_owned(), url.to_owned());
    client.send(HttpRequest { method, url, deadline_ms, max_response_bytes: 10, public_only, ..HttpRequest::default() }).await
}

/// What a request was refused with.
async fn refusal(client: &NativeHttpClient, url: &str) -> Error {
    match send(client, url, true).await {
        Ok(response) => panic!("{url} was answered: {response:?}"),
        Err(error) => error,
    }
}

#[test]
fn no_attempt_arrives_and_the_same_server_is_reached_otherwise() {
    let (address, heads) = server(ANSWER);
    let url = |pattern: &str| pattern.replace("PORT", &address.port().to_string());
    isolate::run(|| async move {
        let resolver = Resolver::default();
        let client = resolver.client();
        resolver.set(&[&["127.0.0.1"]]);
        for pattern in TO_LOOPBACK {
            let error = refusal(&client, &url(pattern)).await;
            assert_eq!(error.kind, ErrorKind::Denied, "{pattern:?}: {error:?}");
        }
        assert_eq!(resolver.0.lock().unwrap().asked, ["127.0.0.1.example.com"], "the others are refused by their text");
        for pattern in MALFORMED {
            let error = refusal(&client, &url(pattern)).await;
            assert!([ErrorKind::Denied, ErrorKind::Configuration].contains(&error.kind), "{pattern:?}: {error:?}");
        }
        // Had one of them arrived, it would be the first that the server tells.
        for pattern in TO_LOOPBACK {
            let response = send(&client, &url(pattern), false).await.unwrap_or_else(|error| panic!("{pattern:?}: {error:?}"));
            assert_eq!(response.status, 200, "{pattern:?}");
        }
    })
    .unwrap();
    assert_eq!(heads.try_iter().count(), TO_LOOPBACK.len());
}

#[test]
fn other_addresses_are_refused_as_they_are_and_behind_names() {
    isolate::run(|| async move {
        let resolver = Resolver::default();
        let client = resolver.client();
        for address in ELSEWHERE {
            let host = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
            resolver.set(&[&[address]]);
            let error = refusal(&client, &format!("http://{host}/")).await;
            assert_eq!((error.kind, resolver.asked()), (ErrorKind::Denied, 0), "{address}: {error:?}");
            for (name, answer) in [("inside.example.com", &[address][..]), ("metadata.internal.", &["127.0.0.1", address])] {
                resolver.set(&[answer]);
                let error = refusal(&client, &format!("https://{name}/hunter2")).await;
                assert_eq!((error.kind, resolver.asked()), (ErrorKind::Denied, 1), "{address}: {error:?}");
                let text = "does not lead to a public address, and others are not reached; for a service of your own, give the adapter's \
                            option `allow_private` a reason";
                assert_eq!((&error.message, &error.source), (&format!("`{name}` {text}"), &None), "{address}");
            }
        }
    })
    .unwrap();
}

#[test]
fn a_second_look_up_cannot_differ() {
    let (address, heads) = server(ANSWER);
    let url = format!("http://changing.example.com:{}/", address.port());
    isolate::run(|| async move {
        let resolver = Resolver::default();
        let client = resolver.client();
        // Public, and of nobody: where the 6bone was.
        const NOBODY: &str = "3ffe::1";
        resolver.set(&[&["127.0.0.1", NOBODY, "::1"], &["127.0.0.1"]]);
        let error = refusal(&client, &url).await;
        assert!([ErrorKind::Unavailable, ErrorKind::TimedOut].contains(&error.kind), "the one that is public was tried: {error:?}");
        assert_eq!(resolver.asked(), 1);
        resolver.set(&[&["127.0.0.1"], &[NOBODY]]);
        assert_eq!(refusal(&client, &url).await.kind, ErrorKind::Denied);
        assert_eq!(resolver.asked(), 1);
        // A connection that another request has opened is not used.
        resolver.set(&[&["127.0.0.1"]]);
        assert_eq!(send(&client, &url, false).await.unwrap().status, 200);
        assert_eq!(refusal(&client, &url).await.kind, ErrorKind::Denied);
    })
    .unwrap();
    assert_eq!(heads.try_iter().count(), 1);
}

#[test]
fn a_redirect_is_an_answer_and_its_target_is_judged_when_it_is_asked_for() {
    let (address, heads) = server("HTTP/1.1 302 Found\r\nLocation: http://2130706433:1/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    isolate::run(|| async move {
        let client = NativeHttpClient::new(Rc::new(SystemClock));
        let response = send(&client, &format!("http://{address}/"), false).await.unwrap();
        let location = response.headers.first("location").unwrap();
        assert_eq!((response.status, refusal(&client, location).await.kind), (302, ErrorKind::Denied));
    })
    .unwrap();
    assert_eq!(heads.try_iter().count(), 1);
}

#[test]
fn there_are_enough_attempts() {
    assert!(TO_LOOPBACK.len() + MALFORMED.len() + 3 * ELSEWHERE.len() >= 80);
}

#[test]
fn a_name_that_nobody_has_is_not_called_private() {
    let error = isolate::run(|| async move {
        let lookup = |_: &str| Err(std::io::Error::other("no such name"));
        let client = NativeHttpClient::with_lookup(Rc::new(SystemClock), Arc::new(lookup));
        refusal(&client, "https://api.example.com/").await
    });
    let error = error.unwrap();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.source.as_deref().unwrap().contains("no such name"));
}
