//! What a server may say that MariaDB does not: MySQL 8's way to ask for a password, half of an
//! answer, and what no server should.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use millrace_core::{
    Error,
    ErrorKind::{self, Configuration, Denied, Protocol, TimedOut, Unavailable},
    app::Access,
    ports::Query,
    value::Value,
};
use millrace_tests::database::{Database, connection, query};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::certificates::serving;

const READ: &str = "SELECT v FROM t";

/// What a client is talked to through: a socket, with TLS or without.
trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// A connection of a client.
struct Client {
    socket: Box<dyn Stream>,
    number: u8,
}

impl Client {
    fn new(socket: TcpStream) -> Self {
        Self { socket: Box::new(socket), number: 0 }
    }

    fn send(&mut self, payload: &[u8]) {
        let mut bytes = (payload.len() as u32).to_le_bytes()[..3].to_vec();
        bytes.push(self.number);
        bytes.extend_from_slice(payload);
        self.number = self.number.wrapping_add(1);
        // A client that goes away is no failure of the server.
        drop(self.socket.write_all(&bytes));
    }

    /// `None`: it has gone.
    fn receive(&mut self) -> Option<Vec<u8>> {
        let mut head = [0; 4];
        self.socket.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
        self.socket.read_exact(&mut payload).ok()?;
        self.number = head[3].wrapping_add(1);
        Some(payload)
    }

    /// The greeting of MySQL 8 without TLS.
    fn greet(&mut self, method: &str) -> Option<Vec<u8>> {
        self.greet_with(method, 0xf7ff)
    }

    fn greet_with(&mut self, method: &str, capabilities: u16) -> Option<Vec<u8>> {
        let mut greeting = b"\x0a8.4.3\0\x09\0\0\0abcdefgh\0".to_vec();
        greeting.extend_from_slice(&capabilities.to_le_bytes());
        greeting.extend_from_slice(&[45, 2, 0, 0xff, 0x81, 21]);
        greeting.extend_from_slice(&[0; 10]);
        greeting.extend_from_slice(b"ijklmnopqrst\0");
        greeting.extend_from_slice(method.as_bytes());
        greeting.push(0);
        self.send(&greeting);
        self.receive()
    }

    fn ok(&mut self) {
        self.send(&[0, 0, 0, 2, 0, 0, 0]);
    }

    /// Lets somebody in, and answers all commands but statements; the statement that is prepared.
    fn until_execute(&mut self) -> Option<()> {
        loop {
            match self.receive()?.as_slice() {
                // A statement with one column and no values, and what the column is.
                [0x16, ..] => {
                    self.send(&[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
                    self.send(COLUMN);
                }
                [0x17, ..] => return Some(()),
                [0x01 | 0x19, ..] => {}
                _ => self.ok(),
            }
        }
    }

    fn rows(&mut self, rows: usize) {
        self.send(&[1]);
        self.send(COLUMN);
        for _ in 0..rows {
            self.send(&[0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        }
    }

    fn end(&mut self) {
        self.send(&[0xfe, 0, 0, 2, 0, 0, 0]);
    }
}

/// `v`, a `BIGINT`.
const COLUMN: &[u8] = b"\x03def\0\0\0\x01v\0\x0c\x3f\0\x14\0\0\0\x08\0\0\0\0\0";

/// A server that talks to each client by a script; where it listens, and how many statements it
/// got.
fn server(script: impl Fn(&mut Client, usize) -> Option<()> + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let (script, counted) = (Arc::new(script), Arc::clone(&count));
    thread::spawn(move || {
        for socket in listener.incoming() {
            let (script, counted) = (Arc::clone(&script), Arc::clone(&counted));
            thread::spawn(move || {
                let mut client = Client::new(socket.unwrap());
                let mut run = || -> Option<()> {
                    client.greet("mysql_native_password")?;
                    client.ok();
                    loop {
                        client.until_execute()?;
                        script(&mut client, counted.fetch_add(1, SeqCst))?;
                    }
                };
                // It ends when the client goes, or the script.
                let _ = run();
            });
        }
    });
    (format!("mysql://me:hunter2@127.0.0.1:{port}/x"), count)
}

/// What becomes of a read and of a write, and how often each is sent.
fn outcomes(script: impl Fn(&mut Client, usize) -> Option<()> + Send + Sync + Clone + 'static) -> [(Result<usize, Error>, usize); 2] {
    [Access::Read, Access::Write].map(|access| {
        let (address, count) = server(script.clone());
        let query = Query { access, deadline_ms: 5_000, ..query(READ) };
        let outcome = Database::open(connection("mysql", &address, &[])).run_with(&query);
        (outcome.map(|rows| rows.rows.len()), count.load(SeqCst))
    })
}

/// The kinds of the errors.
fn kinds(outcomes: [(Result<usize, Error>, usize); 2]) -> [(Result<usize, ErrorKind>, usize); 2] {
    outcomes.map(|(outcome, count)| {
        if let Err(error) = &outcome {
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
        (outcome.map_err(|error| error.kind), count)
    })
}

#[test]
fn a_read_is_sent_once_more_after_half_an_answer_and_a_write_never() {
    let good = |client: &mut Client, _: usize| {
        client.rows(2);
        client.end();
        Some(())
    };
    assert_eq!(kinds(outcomes(good)), [(Ok(2), 1), (Ok(2), 1)]);
    let half = |client: &mut Client, _: usize| {
        client.rows(1);
        None
    };
    assert_eq!(kinds(outcomes(half)), [(Err(Unavailable), 2), (Err(Protocol), 1)]);
    let half_then_good = move |client: &mut Client, number: usize| if number == 0 { half(client, number) } else { good(client, number) };
    assert_eq!(kinds(outcomes(half_then_good)), [(Ok(2), 2), (Err(Protocol), 1)]);
    let [_, (lost, _)] = outcomes(half);
    assert_eq!(lost.unwrap_err().message, "MySQL closed the connection; it is not known whether the statement took effect");
    // Every byte of a good answer but the last.
    let nothing = |_: &mut Client, _: usize| None;
    assert_eq!(kinds(outcomes(nothing)), [(Err(Unavailable), 2), (Err(Protocol), 1)]);
    // It says nothing more, and stays.
    let stalls = |client: &mut Client, _: usize| {
        client.rows(1);
        drop(client.receive());
        None
    };
    assert_eq!(kinds(outcomes(stalls)), [(Err(TimedOut), 1), (Err(TimedOut), 1)]);
    // It has forgotten what was prepared: another connection prepares it again.
    let forgotten = move |client: &mut Client, number: usize| {
        if number == 0 {
            client.send(b"\xff\xdb\x04#HY000Unknown prepared statement handler");
            assert_eq!(client.receive(), None, "the connection is not used again");
            return None;
        }
        good(client, number)
    };
    assert_eq!(kinds(outcomes(forgotten)), [(Ok(2), 2), (Ok(2), 2)]);
    // Another one has to be undone first.
    let deadlock = move |client: &mut Client, number: usize| {
        if number == 0 {
            client.send(b"\xff\xbd\x04#40001Deadlock found");
            return Some(());
        }
        good(client, number)
    };
    assert_eq!(kinds(outcomes(deadlock)), [(Ok(2), 2), (Ok(2), 2)]);
}

#[test]
fn what_no_server_should_say_is_told_from_an_answer() {
    /// What is said in place of an answer.
    type Answer = fn(&mut Client);
    let cases: [(&str, Answer, &str); 12] = [
        (
            "a wish for a file",
            |client| client.send(b"\xfb/etc/passwd"),
            "the server asks for a file of this host (`LOCAL INFILE`), which it does not get",
        ),
        ("nothing", |client| client.send(&[]), "MySQL sent a packet that is not understood"),
        ("more columns than there are", |client| client.send(&[0xfd, 0, 0, 1]), "MySQL sent a packet that is not understood"),
        ("a column more than there may be", |client| client.send(&[0xfc, 1, 0x10]), "MySQL sent a packet that is not understood"),
        (
            "columns with much to say",
            |client| {
                client.send(&[0xfc, 0, 0x10]);
                let mut column = COLUMN[..8].to_vec();
                column.extend([&[0xfc, 0x10, 0x27][..], &[b'v'; 10_000], &COLUMN[9..]].concat());
                (0..200).for_each(|_| client.send(&column));
            },
            "MySQL sent a packet that is not understood",
        ),
        (
            "nothing in many cells",
            |client| {
                client.send(&[0xfc, 0, 0x10]);
                (0..4096).for_each(|_| client.send(COLUMN));
                (0..65).for_each(|_| client.send(&[&[0][..], &[0xff; 513]].concat()));
                client.end();
            },
            "the result has more than 1048576 bytes",
        ),
        (
            "half a column",
            |client| {
                client.send(&[1]);
                client.send(&COLUMN[..9]);
            },
            "MySQL sent a packet that is not understood",
        ),
        (
            "an unknown type",
            |client| {
                client.send(&[1]);
                let mut column = COLUMN.to_vec();
                column[17] = 200;
                client.send(&column);
            },
            "MySQL sent a packet that is not understood",
        ),
        (
            "half a row",
            |client| {
                client.rows(0);
                client.send(&[0, 0, 7, 0]);
            },
            "MySQL sent a packet that is not understood",
        ),
        (
            "a row with more in it",
            |client| {
                client.rows(0);
                client.send(&[0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1]);
            },
            "MySQL sent a packet that is not understood",
        ),
        (
            "a packet out of order",
            |client| {
                client.number = 9;
                client.ok();
            },
            "MySQL sent a packet that is not understood",
        ),
        (
            "an endless packet",
            |client| {
                client.rows(0);
                client.socket.write_all(&[0xff, 0xff, 0xff, client.number]).unwrap();
            },
            "the result has more than 1048576 bytes",
        ),
    ];
    for (what, answer, message) in cases {
        let [(read, _), (written, sent)] = outcomes(move |client, _| {
            answer(client);
            // Whoever has understood goes away.
            while client.receive().is_some() {}
            None
        });
        let (read, written) = (read.unwrap_err(), written.unwrap_err());
        assert_eq!(read.message, message, "{what}");
        assert!(written.message.starts_with(message) && sent == 1, "{what}: {written:?}, {sent}");
    }
}

/// A server that asks for a password by a script.
fn asks(script: impl Fn(&mut Client) -> Option<()> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut client = Client::new(socket.unwrap());
            if script(&mut client).is_none() {
                continue;
            }
            while client.until_execute().is_some() {
                client.rows(1);
                client.end();
            }
        }
    });
    format!("mysql://me:secret@127.0.0.1:{port}/x")
}

/// SHA256(password) ⊕ SHA256(SHA256(SHA256(password)), nonce) for `secret` and the nonces of these
/// tests, by Python's `hashlib`.
const FIRST_PROOF: &str = "c76e2898612a4cf042c77fa8c4702c4c64c0c2c557c53c4d75595aaa6abae809";
const SECOND_PROOF: &str = "7b015df82fcd42909d5a339583c1b0571acc7a9e339ad58b44446f68cb279817";
const SECOND_NATIVE_PROOF: &str = "86d37a616c83711f36b38230b57e4063263fbe58";

fn hex(bytes: &[u8]) -> String {
    millrace_core::hex::encode(bytes)
}

#[test]
fn a_password_that_mysql_8_knows_already_is_proven() {
    let address = asks(|client| {
        let response = client.greet("caching_sha2_password")?;
        assert!(hex(&response).contains(FIRST_PROOF), "{}", hex(&response));
        assert!(!response.windows(6).any(|window| window == b"secret"));
        client.send(&[1, 3]);
        client.ok();
        Some(())
    });
    assert_eq!(Database::open(connection("mysql", &address, &[])).rows(READ), [[Value::I64(7)]]);
    // Another nonce than that of the greeting, for the same method and for another one.
    for (method, proof) in [("caching_sha2_password", SECOND_PROOF), ("mysql_native_password", SECOND_NATIVE_PROOF)] {
        let address = asks(move |client| {
            client.greet("sha256_password")?;
            client.send(&[b"\xfe", method.as_bytes(), b"\0uvwxyzabcdefghijklmn\0"].concat());
            assert_eq!(hex(&client.receive()?), proof);
            client.ok();
            Some(())
        });
        assert_eq!(Database::open(connection("mysql", &address, &[])).rows(READ), [[Value::I64(7)]], "{method}");
    }
}

/// Who asks for the password itself, with TLS: what it was told; `None`: the client went away.
fn told(host: &str, options: &[(&str, &str)], tls: &Arc<ServerConfig>, asks: &'static [u8]) -> (Error, Option<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let tls = Arc::clone(tls);
    let server = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let mut client = Client::new(socket.try_clone().unwrap());
        client.greet_with("caching_sha2_password", 0xffff)?;
        client.socket = Box::new(StreamOwned::new(ServerConnection::new(tls).unwrap(), socket));
        client.receive()?;
        client.send(asks);
        let told = client.receive();
        client.send(b"\xff\x15\x04#28000No");
        told
    });
    let database = Database::open(connection("mysql", &format!("mysql://me:secret@{host}:{port}/x"), options));
    let error = database.error(READ);
    drop(database);
    (error, server.join().unwrap())
}

#[test]
fn a_password_is_sent_as_it_is_to_a_verified_server_only() {
    let (tls, authority) = serving("db.example");
    for asks in [&b"\x01\x04"[..], b"\xfemysql_clear_password\0", b"\xfesha256_password\0"] {
        for mode in ["require", "prefer"] {
            // Another way to this machine, which does not look like one.
            let (error, told) = told("0.0.0.0", &[("sslmode", mode)], &tls, asks);
            assert_eq!((error.kind, told), (Denied, None), "{mode}: {error:?}");
            let why = "which is sent only to a server whose certificate was verified; set `sslmode=verify-full`";
            assert!(error.message.contains(why), "{error:?}");
        }
        for (host, options) in
            [("127.0.0.1", &[("sslmode", "require")][..]), ("0.0.0.0", &[("sslmode", "verify-ca"), ("ca_certificate", &authority)])]
        {
            let (error, told) = told(host, options, &tls, asks);
            assert_eq!(told.as_deref(), Some(&b"secret\0"[..]), "{host}: {error:?}");
        }
    }
    // Where another method was agreed upon, this is no answer.
    let (error, told) = told("127.0.0.1", &[("sslmode", "require")], &tls, b"\xfemysql_native_password\0abcdefghijklmnopqrst\0");
    assert!(told.is_some_and(|told| told.len() == 20), "{error:?}");
    let address = asks(|client| {
        client.greet("mysql_native_password")?;
        client.send(&[1, 4]);
        assert_eq!(client.receive(), None, "nothing more is said");
        None
    });
    assert_eq!(Database::open(connection("mysql", &address, &[])).error(READ).kind, Protocol);
}

#[test]
fn a_password_is_not_sent_as_it_is_without_tls() {
    let needs = |method: &str| {
        format!(
            "MySQL requires the password itself (`{method}`), which is sent with TLS only; set `sslmode=verify-full`, or on this machine \
             `sslmode=require`"
        )
    };
    let full = asks(|client| {
        client.greet("caching_sha2_password")?;
        client.send(&[1, 4]);
        assert_eq!(client.receive(), None, "nothing more is said");
        None
    });
    let error = Database::open(connection("mysql", &full, &[])).error(READ);
    assert_eq!((error.kind, error.message.clone()), (Denied, needs("caching_sha2_password")));
    for method in ["mysql_clear_password", "sha256_password"] {
        let address = asks(move |client| {
            client.greet("mysql_native_password")?;
            client.send(&[b"\xfe", method.as_bytes(), b"\0"].concat());
            assert_eq!(client.receive(), None, "nothing more is said");
            None
        });
        let error = Database::open(connection("mysql", &address, &[])).error(READ);
        assert_eq!((error.kind, error.message.clone()), (Denied, needs(method)));
    }
    for other in [&b"\xfe"[..], b"\xfeclient_ed25519\0abc"] {
        let address = asks(move |client| {
            client.greet("mysql_native_password")?;
            client.send(other);
            None
        });
        assert_eq!(Database::open(connection("mysql", &address, &[])).error(READ).kind, Configuration);
    }
}

#[test]
fn what_is_no_mysql_is_told_from_one() {
    let cases: [(&[u8], &str, ErrorKind, &str); 7] = [
        (b"", "", Unavailable, "MySQL closed the connection"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "", Protocol, "MySQL sent a packet that is not understood"),
        (b"\xff\xff\xff\0", "", Protocol, "MySQL sent a packet that is not understood"),
        (b"\x01\0\0\0\x09", "", Protocol, "MySQL sent a packet that is not understood"),
        (b"\x05\0\0\x01hello", "", Protocol, "MySQL sent a packet that is not understood"),
        (b"\x17\0\0\0\xff\x10\x04Too many connections", "", ErrorKind::Busy, "has no connection left"),
        (b"\x1f\0\0\0\xff\x69\x04Host 'x' is not allowed to c", "", Denied, "does not admit this host"),
    ];
    for (answer, mode, kind, message) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                drop(socket.write_all(answer));
                drop(socket.shutdown(std::net::Shutdown::Write));
                drop(socket.read_to_end(&mut Vec::new()));
            }
        });
        let address = format!("mysql://me:hunter2@127.0.0.1:{port}/x");
        let database = Database::open(connection("mysql", &address, &[("sslmode", mode)]));
        let error = database.run_with(&Query { deadline_ms: 1_000, ..query(READ) }).unwrap_err();
        assert!(error.kind == kind && error.message.ends_with(message), "{answer:?}: {error:?}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}
