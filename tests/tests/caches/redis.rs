//! `MILLRACE_CACHE=redis://…`

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use millrace_core::ErrorKind::{Busy, Configuration, Denied, Protocol, TimedOut, TooLarge, Unavailable};
use millrace_tests::{
    case::root,
    docs::{blocks, shell, text},
    redis,
};

use crate::caches::support::{Env, Isolate, Process, env, eventually};
use crate::certificates::certified;

const PASSWORD: &str = "hunter2/hunter2";
const ENCODED: &str = "hunter2%2Fhunter2";

fn at(address: &str) -> Env {
    env(&[("MILLRACE_CACHE", address)])
}

/// A server that replies to each command with the next of these, and with the last again and again;
/// then each connection stays open.
fn scripted(replies: &'static [&'static [u8]]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            thread::spawn(move || {
                let mut command = [0; 4096];
                let mut replies = replies.iter().chain(std::iter::repeat(replies.last().unwrap()));
                while socket.read(&mut command).is_ok_and(|count| count > 0) {
                    if command.starts_with(b"*2\r\n$5\r\nHELLO\r\n") {
                        command.fill(0);
                        socket.write_all(b"-ERR unknown command 'HELLO'\r\n").unwrap();
                        continue;
                    }
                    match *replies.next().unwrap() {
                        b"" => return,
                        reply => socket.write_all(reply).unwrap(),
                    }
                }
            });
        }
    });
    port
}

/// How many keys a server has.
fn size(port: u16) -> usize {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.write_all(format!("AUTH {PASSWORD}\r\nDBSIZE\r\nQUIT\r\n").as_bytes()).unwrap();
    let mut replies = String::new();
    socket.read_to_string(&mut replies).unwrap();
    let number = replies.lines().find_map(|line| line.strip_prefix(':')).unwrap_or_else(|| panic!("{replies}"));
    number.parse().unwrap()
}

#[test]
fn isolates_share_values_and_the_server_ends_them() {
    let server = redis::start(&["--requirepass", PASSWORD]);
    let address = |database: u32| at(&format!("redis://:{ENCODED}@127.0.0.1:{}/{database}", server.port));
    let (first, second) = (Isolate::new(&address(0)), Isolate::new(&address(0)));
    assert_eq!(first.get("k"), Ok(None));
    let every_byte: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    first.put("k", &every_byte, 60).unwrap();
    assert_eq!(second.get("k"), Ok(Some(every_byte)));
    first.put("empty", b"", 60).unwrap();
    assert_eq!(second.get("empty"), Ok(Some(Vec::new())));
    assert_eq!(Isolate::new(&address(3)).get("k"), Ok(None), "another database of the server");
    Isolate::new(&address(3)).put("k", b"three", 60).unwrap();
    assert_eq!(Isolate::new(&address(3)).get("k").unwrap().as_deref(), Some(&b"three"[..]));

    first.put("short", b"v", 1).unwrap();
    eventually("the server forgets the value", || Isolate::new(&address(0)).get("short") == Ok(None));
}

#[test]
fn a_value_that_is_too_large_stays_in_memory() {
    let server = redis::start(&[]);
    let address = at(&format!("redis://127.0.0.1:{}", server.port));
    let isolate = Isolate::new(&address);
    let largest = (4 << 20) - 8;
    isolate.put("k", &vec![7; largest], 60).unwrap();
    assert_eq!(Isolate::new(&address).get("k").unwrap().map(|value| value.len()), Some(largest));
    isolate.put("l", &vec![7; largest + 1], 60).unwrap();
    assert_eq!(isolate.get("l").unwrap().map(|value| value.len()), Some(largest + 1));
    assert_eq!(Isolate::new(&address).get("l"), Ok(None));
}

#[test]
fn users_passwords_and_databases_that_are_wrong_are_named() {
    let server = redis::start(&["--requirepass", PASSWORD, "--databases", "4", "--user", "reader", "on", ">hunter3", "~other:*", "+@all"]);
    let name = format!("the Redis server `127.0.0.1:{}`", server.port);
    let cases = [
        (String::new(), "/0", Denied, "requires a password"),
        (":hunter3@".to_owned(), "/0", Denied, "does not accept the user and the password"),
        (format!("nobody:{ENCODED}@"), "/0", Denied, "does not accept the user and the password"),
        ("reader:hunter3@".to_owned(), "/0", Denied, "forbids the user `GET`, `SET`, `SELECT` or the keys `millrace:*`"),
        (format!(":{ENCODED}@"), "/4", Configuration, "has no database of that number"),
    ];
    for (who, database, kind, expected) in cases {
        let error = Isolate::new(&at(&format!("redis://{who}127.0.0.1:{}{database}", server.port))).get("k").unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, format!("{name} {expected}").as_str()), "{who}");
        assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
    }
    Isolate::new(&at(&format!("redis://default:{ENCODED}@127.0.0.1:{}", server.port))).put("k", b"v", 60).unwrap();
    let open = redis::start(&[]);
    let error = Isolate::new(&at(&format!("redis://:hunter2@127.0.0.1:{}", open.port))).get("k").unwrap_err();
    assert!(error.kind == Denied && error.message.ends_with("does not accept the password"), "{error:?}");
}

#[test]
fn tls_is_verified() {
    let [certificate, key, authority] = certified("localhost");
    let server = redis::start_tls(move |folder| {
        fs::write(folder.join("cert.pem"), &certificate).unwrap();
        fs::write(folder.join("key.pem"), &key).unwrap();
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &authority).unwrap();
    let address = |host: &str| at(&format!("rediss://{host}:{}?ca_file={}", server.port, file.path().display()));
    Isolate::new(&address("localhost")).put("k", b"v", 60).unwrap();
    assert_eq!(Isolate::new(&address("localhost")).get("k").unwrap().as_deref(), Some(&b"v"[..]));
    assert_eq!(Isolate::new(&address("127.0.0.1")).get("k").unwrap_err().kind, Denied, "the certificate is for another name");
    let untrusted = at(&format!("rediss://localhost:{}", server.port));
    assert_eq!(Isolate::new(&untrusted).get("k").unwrap_err().kind, Denied);
    let plain = at(&format!("redis://localhost:{}", server.port));
    assert!(Isolate::new(&plain).get("k").is_err());
}

/// The user of the page, with the rights of the page, at the address of the page; the server is at
/// another.
#[test]
fn the_line_of_the_caching_page_names_a_server() {
    let page = fs::read_to_string(root().join("docs/caching.md")).unwrap();
    let (_, line) = blocks(&page).into_iter().find(|(_, body)| body.contains("=rediss://")).unwrap();
    let user = page.split('`').find(|part| part.starts_with("ACL SETUSER ")).unwrap();
    let [certificate, key, authority] = certified("localhost");
    let server = redis::start_tls(move |folder| {
        fs::write(folder.join("cert.pem"), &certificate).unwrap();
        fs::write(folder.join("key.pem"), &key).unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), &authority).unwrap();
    let script = format!(
        "redis-cli --tls --insecure -h localhost -p {} {}\n{line}printf '%s' \"$MILLRACE_CACHE\" > cache\n",
        server.port,
        user.replace('>', "\\>").replace('*', "\\*")
    );
    let ran = shell(folder.path(), &script);
    assert!(ran.status.success() && text(&ran).contains("OK"), "{}", text(&ran));
    let named = fs::read_to_string(folder.path().join("cache")).unwrap();
    let there = "@cache.example.com:6380/2";
    let file = folder.path().join("ca.pem");
    let here = |database: u32| {
        assert!(named.contains(there), "{named}");
        at(&named.replace(there, &format!("@localhost:{}/{database}?ca_file={}", server.port, file.display())))
    };
    Isolate::new(&here(2)).put("k", b"v", 60).unwrap();
    assert_eq!(Isolate::new(&here(2)).get("k").unwrap().as_deref(), Some(&b"v"[..]));
    assert_eq!(Isolate::new(&here(0)).get("k"), Ok(None), "another database of the server");
    let wrong = at(&here(2)[0].1.replace(":password@", ":another@"));
    assert_eq!(Isolate::new(&wrong).get("k").unwrap_err().kind, Denied);
}

#[test]
fn a_connection_is_used_again_and_replaced_when_it_is_gone() {
    let mut server = redis::start(&["--requirepass", PASSWORD]);
    let address = at(&format!("redis://:{ENCODED}@127.0.0.1:{}", server.port));
    let isolate = Isolate::new(&address);
    isolate.put("k", b"v", 600).unwrap();
    server.kill();
    server.restart();
    // It listens before it has read its file.
    eventually("the server is ready", || Isolate::new(&address).get("k").is_ok());
    // The isolate's connection is closed, and it has seen no failure: nothing is said, and nothing
    // lost.
    isolate.put("l", b"w", 600).unwrap();
    assert_eq!(Isolate::new(&address).get("l").unwrap().as_deref(), Some(&b"w"[..]));
    assert_eq!(Isolate::new(&address).get("k").unwrap().as_deref(), Some(&b"v"[..]));

    server.kill();
    let error = isolate.get("other").unwrap_err();
    assert_eq!((error.kind, error.message.clone()), (Unavailable, "could not connect to the server".to_owned()));
    server.restart();
    assert_eq!(isolate.get("other"), Ok(None), "the server is left alone for a while");
    eventually("the server is used again", || isolate.put("m", b"x", 600).is_ok() && Isolate::new(&address).get("m") != Ok(None));
}

#[test]
fn what_a_server_may_reply_is_an_error_of_its_kind() {
    let table: [(&[u8], _, &str); 15] = [
        (b"-LOADING Redis is loading the dataset in memory\r\n", Busy, "is not ready"),
        (b"-BUSY Redis is busy running a script\r\n", Busy, "is not ready"),
        (b"-OOM command not allowed when used memory > 'maxmemory'.\r\n", Busy, "has no memory left"),
        (b"-ERR max number of clients reached\r\n", Busy, "accepts no more connections"),
        (b"-MOVED 3999 127.0.0.1:6381\r\n", Configuration, "is part of a cluster"),
        (b"-READONLY You can't write against a read only replica.\r\n", Configuration, "is a replica"),
        (b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", Protocol, "has a value of another type under the key"),
        (b"-ERR unknown command `GET`, with args beginning with: `hunter2`\r\n", Protocol, "refuses a command"),
        (b"+OK\r\n", Protocol, "sent the reply to another command"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol, "sent a reply that its protocol does not allow"),
        (b"*1\r\n$1\r\nx\r\n", Protocol, "sent the reply to another command"),
        (b"%1\r\n", Protocol, "sent a reply that its protocol does not allow"),
        (b"$5\r\nshort\r\n", Protocol, "contains a value that Millrace has not written"),
        (b"$20\r\nhal", TimedOut, "did not answer within 1000 ms"),
        (b"", Unavailable, "closed the connection"),
    ];
    for (reply, kind, expected) in table {
        let replies: &'static [&'static [u8]] = Box::leak(Box::new([reply]));
        let error = Isolate::new(&at(&format!("redis://127.0.0.1:{}", scripted(replies)))).get("k").unwrap_err();
        assert!(error.kind == kind && error.message.contains(expected), "{reply:?}: {error:?}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
    let replies: &[&[u8]] = &[b"$9000000\r\n"];
    let error = Isolate::new(&at(&format!("redis://127.0.0.1:{}", scripted(replies)))).get("k").unwrap_err();
    assert_eq!(error.kind, TooLarge);
}

#[test]
fn an_idle_connection_on_which_something_came_is_not_used() {
    // The second line is a reply that nobody asked for, sent with the first: it must not become the
    // answer to the next question.
    let port = scripted(&[b"+OK\r\n", b"$-1\r\n$9\r\nforgotten\r\n", b"$-1\r\n"]);
    let isolate = Isolate::new(&at(&format!("redis://127.0.0.1:{port}")));
    isolate.put("k", b"v", 60).unwrap();
    assert_eq!(isolate.get("l").unwrap_err().kind, Protocol, "two replies at once are no reply");
}

#[test]
fn a_second_process_answers_from_the_server_and_a_dead_one_fails_no_call() {
    let mut server = redis::start(&["--requirepass", PASSWORD]);
    let address = at(&format!("redis://:{ENCODED}@127.0.0.1:{}", server.port));
    let first = Process::start(&address);
    first.bump();
    assert_eq!(first.read("read"), 1);
    eventually("the result is stored after the answer", || size(server.port) == 1);
    drop(first);
    let second = Process::start(&address);
    assert_eq!((second.read("read"), second.read("read-fresh")), (1, 0), "its own database has not counted");
    server.kill();
    second.call("read {\"id\": 2}");
    second.wait_for_log("could not connect to");
    assert_eq!((second.read("read"), second.read("read-fresh")), (1, 0), "the memory serves");
    assert!(!second.log().contains(PASSWORD) && !second.log().contains(ENCODED));
    drop(second);

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let process = Process::start(&at(&format!("redis://:{ENCODED}@{}", silent.local_addr().unwrap())));
    process.bump();
    assert_eq!((process.read("read"), process.read("read-fresh")), (1, 1));
    process.wait_for_log("did not answer within 1000 ms");
    assert!(!process.log().contains(PASSWORD) && !process.log().contains(ENCODED));
}
