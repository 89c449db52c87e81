//! What the tests of Redis share.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use millrace_core::{
    Result,
    app::Access,
    ports::{Command, Query},
    value::{Rows, Value},
};
use millrace_tests::database::{Database, connection, query, text};

/// An adapter on a server without a password.
pub(crate) fn open(port: u16) -> Database {
    Database::open(connection("redis", &format!("redis://127.0.0.1:{port}"), &[]))
}

/// Runs a command whose arguments stand between spaces.
pub(crate) fn run(database: &Database, command: &str) -> Result<Rows> {
    let values: Vec<Value> = command.split(' ').map(text).collect();
    arguments(database, &values, Access::Write)
}

/// Runs a command of any arguments.
pub(crate) fn arguments(database: &Database, values: &[Value], access: Access) -> Result<Rows> {
    database.run_with(&Query { command: Command::Arguments(values), access, ..query("") })
}

/// The rows of a command, as JSON.
pub(crate) fn json(database: &Database, command: &str) -> String {
    let rows = run(database, command).unwrap_or_else(|error| panic!("{command}: {error:?}"));
    serde_json::to_string(&rows.json()).unwrap()
}

/// Sends a command to a server by another way than Millrace's; what it replies, as it comes, up to
/// the end of the first line.
pub(crate) fn raw(port: u16, words: &[&[u8]]) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    socket.write_all(&bytes).unwrap();
    let mut line = String::new();
    BufReader::new(socket).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// What a scripted server does with a command.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// Sends these bytes.
    Bytes(&'static [u8]),
    /// Sends these bytes and closes the connection.
    AndEnd(&'static [u8]),
    /// Sends these bytes, and nothing more.
    AndSilence(&'static [u8]),
}

/// What a scripted server does with `HELLO`.
#[derive(Clone, Copy)]
pub(crate) enum Hello {
    /// It does not know it.
    Unknown,
    /// It speaks RESP3 from then on.
    Resp3,
    /// It is a command as every other.
    Scripted,
}

/// A server that answers each command with the next of these, over all its connections, and with
/// the last again and again.
pub(crate) struct Scripted {
    pub(crate) port: u16,
    received: Arc<Mutex<Vec<Vec<Vec<u8>>>>>,
    /// How many connections are about to be closed.
    ending: Arc<AtomicUsize>,
}

impl Scripted {
    /// A server of RESP2, whose `HELLO` is not counted.
    pub(crate) fn start(answers: &[Answer]) -> Self {
        Self::with(Hello::Unknown, answers)
    }

    /// The same with a choice.
    pub(crate) fn with(hello: Hello, answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (received, ending) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (log, answers, ends) = (Arc::clone(&received), Arc::new(answers.to_vec()), Arc::clone(&ending));
        thread::spawn(move || {
            for socket in listener.incoming() {
                let (log, answers, ends, mut socket) = (Arc::clone(&log), Arc::clone(&answers), Arc::clone(&ends), socket.unwrap());
                thread::spawn(move || {
                    let mut reader = BufReader::new(socket.try_clone().unwrap());
                    while let Some(command) = command(&mut reader) {
                        let greeting: &[u8] = match hello {
                            Hello::Unknown => b"-ERR unknown command 'HELLO', with args beginning with: '3' \r\n",
                            Hello::Resp3 => b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n",
                            Hello::Scripted => b"",
                        };
                        if command[0] == b"HELLO" && !greeting.is_empty() {
                            drop(socket.write_all(greeting));
                            continue;
                        }
                        let number = {
                            let mut log = log.lock().unwrap();
                            log.push(command);
                            log.len() - 1
                        };
                        match answers[number.min(answers.len() - 1)] {
                            Answer::Bytes(bytes) => drop(socket.write_all(bytes)),
                            Answer::AndEnd(bytes) => {
                                ends.fetch_add(1, Ordering::SeqCst);
                                drop(socket.write_all(bytes));
                                drop(socket.shutdown(std::net::Shutdown::Both));
                                ends.fetch_sub(1, Ordering::SeqCst);
                                return;
                            }
                            Answer::AndSilence(bytes) => {
                                drop(socket.write_all(bytes));
                                return drop(socket.read(&mut [0]));
                            }
                        }
                    }
                });
            }
        });
        Self { port, received, ending }
    }

    /// Waits until the connections are closed whose last answer was sent.
    pub(crate) fn settle(&self) {
        while self.ending.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
    }

    /// The commands that came, argument by argument.
    pub(crate) fn received(&self) -> Vec<Vec<Vec<u8>>> {
        self.received.lock().unwrap().clone()
    }
}

/// Reads one command; `None` at the end.
fn command(reader: &mut BufReader<TcpStream>) -> Option<Vec<Vec<u8>>> {
    let mut number = |mark: char| {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        line.strip_prefix(mark)?.trim_end().parse::<usize>().ok()
    };
    let count = number('*')?;
    let mut words = Vec::new();
    for _ in 0..count {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length: usize = line.strip_prefix('$')?.trim_end().parse().ok()?;
        let mut word = vec![0; length + 2];
        reader.read_exact(&mut word).ok()?;
        assert_eq!(word.split_off(length), b"\r\n");
        words.push(word);
    }
    Some(words)
}
