//! What the tests of MongoDB share.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use millrace_core::{Json, Result, value::Rows};
use millrace_tests::{
    database::{Database, connection},
    mongodb::Mongodb,
};

/// An adapter on a server without users.
pub(crate) fn open(server: &Mongodb) -> Database {
    Database::open(connection("mongodb", &server.url(), &[]))
}

/// Runs a document, as a script would.
pub(crate) fn run(database: &Database, document: &Json) -> Result<Rows> {
    database.run(&document.to_string(), &[])
}

/// The rows of a document, as JSON.
pub(crate) fn json(database: &Database, document: &Json) -> String {
    let rows = run(database, document).unwrap_or_else(|error| panic!("{document}: {error:?}"));
    serde_json::to_string(&rows.json()).unwrap()
}

/// JSON as BSON; whole numbers have 32 bits.
pub(crate) fn bson(value: &Json) -> Vec<u8> {
    let members: Vec<(String, &Json)> = match value {
        Json::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Json::Array(elements) => elements.iter().enumerate().map(|(place, value)| (place.to_string(), value)).collect(),
        other => panic!("{other} is not a document"),
    };
    let mut bytes = vec![0; 4];
    for (key, value) in members {
        let (kind, written) = match value {
            Json::Null => (0x0a, Vec::new()),
            Json::Bool(truth) => (0x08, vec![u8::from(*truth)]),
            Json::Number(number) if number.is_f64() => (0x01, number.as_f64().unwrap().to_le_bytes().to_vec()),
            Json::Number(number) => (0x10, i32::try_from(number.as_i64().unwrap()).unwrap().to_le_bytes().to_vec()),
            Json::String(text) => (0x02, [&i32::try_from(text.len() + 1).unwrap().to_le_bytes()[..], text.as_bytes(), b"\0"].concat()),
            Json::Array(_) => (0x04, bson(value)),
            Json::Object(_) => (0x03, bson(value)),
        };
        bytes.push(kind);
        bytes.extend(key.as_bytes());
        bytes.push(0);
        bytes.extend(written);
    }
    bytes.push(0);
    let length = i32::try_from(bytes.len()).unwrap().to_le_bytes();
    bytes[..4].copy_from_slice(&length);
    bytes
}

/// What a scripted server does with a command.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Replies with this document.
    Reply(Json),
    /// Replies with this body: flags, the kind of a section, a document.
    Body(Vec<u8>),
    /// Sends these bytes.
    Bytes(Vec<u8>),
    /// Replies with so many bytes of this document, and closes the connection.
    Half(Json, usize),
    /// Sends nothing, and keeps the connection.
    Silence,
}

/// A server that greets, and answers each other command with the next of these, over all its
/// connections, and with the last again and again.
pub(crate) struct Scripted {
    pub(crate) port: u16,
    received: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        Self::greeting(serde_json::json!({"isWritablePrimary": true, "maxWireVersion": 21, "ok": 1}), answers)
    }

    /// The same, which says this of itself.
    pub(crate) fn greeting(hello: Json, answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, answers, hello) = (Arc::clone(&received), Arc::new(answers), Arc::new(hello));
        thread::spawn(move || {
            for socket in listener.incoming() {
                let (log, answers, hello, mut socket) = (Arc::clone(&log), Arc::clone(&answers), Arc::clone(&hello), socket.unwrap());
                thread::spawn(move || {
                    while let Some((number, name)) = command(&mut socket) {
                        if name == "hello" {
                            drop(socket.write_all(&message(number, &body(&hello))));
                            continue;
                        }
                        let place = {
                            let mut log = log.lock().unwrap();
                            log.push(name);
                            log.len() - 1
                        };
                        match &answers[place.min(answers.len() - 1)] {
                            Answer::Reply(reply) => drop(socket.write_all(&message(number, &body(reply)))),
                            Answer::Body(body) => drop(socket.write_all(&message(number, body))),
                            Answer::Bytes(bytes) => drop(socket.write_all(bytes)),
                            Answer::Half(reply, count) => {
                                drop(socket.write_all(&message(number, &body(reply))[..*count]));
                                return drop(socket.shutdown(Shutdown::Both));
                            }
                            Answer::Silence => return drop(socket.read(&mut [0])),
                        }
                    }
                });
            }
        });
        Self { port, received }
    }

    /// The names of the commands that came.
    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }

    pub(crate) fn open(&self) -> Database {
        Database::open(connection("mongodb", &format!("mongodb://127.0.0.1:{}/shop", self.port), &[]))
    }
}

/// No flags, the one section, and a document.
pub(crate) fn body(document: &Json) -> Vec<u8> {
    [&[0; 5][..], &bson(document)].concat()
}

fn message(number: i32, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len() + 16).unwrap();
    let header: Vec<u8> = [length, 1, number, 2013].into_iter().flat_map(i32::to_le_bytes).collect();
    [header, body.to_vec()].concat()
}

/// Reads one command: its number and its name; `None` at the end.
fn command(socket: &mut TcpStream) -> Option<(i32, String)> {
    let mut header = [0; 16];
    socket.read_exact(&mut header).ok()?;
    let number = |place: usize| i32::from_le_bytes(header[place..place + 4].try_into().unwrap());
    let mut body = vec![0; usize::try_from(number(0)).unwrap() - 16];
    socket.read_exact(&mut body).ok()?;
    let name = body[10..].split(|byte| *byte == 0).next().unwrap();
    Some((number(4), String::from_utf8(name.to_vec()).unwrap()))
}
