//! A stand-in for Upstash's REST API over a real Redis server. It answers as the API's reference
//! says, and as Upstash's own client expects, which a test runs against it.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::Json;
use millrace_redis::{Limits, Protocol, Reply as RedisReply, ReplyReader};
use serde_json::json;

use crate::scripted::{Received, Reply, Scripted};

/// Starts a server that passes commands on to the Redis server at this port, for callers with the
/// token.
///
/// # Panics
/// Where no port can be bound.
#[must_use]
pub fn start(redis: u16, token: &str) -> Scripted {
    start_on(redis, 0, token)
}

/// The same for a database of this number.
///
/// # Panics
/// Where no port can be bound.
#[must_use]
pub fn start_on(redis: u16, database: usize, token: &str) -> Scripted {
    let authorization = format!("authorization: bearer {token}").to_ascii_lowercase();
    Scripted::start(move |_, request| {
        let head = request.head.to_ascii_lowercase();
        let has = |field: &str| head.lines().any(|line| line.trim() == field);
        let (status, body) = match request.line.as_str() {
            _ if !has(&authorization) => (401, json!({"error": "Unauthorized"})),
            "POST / HTTP/1.1" => run((redis, database), request, has("upstash-encoding: base64")),
            _ => (404, json!({"error": "Not Found"})),
        };
        Reply::Whole(status, "application/json", body.to_string())
    })
}

fn run(redis: (u16, usize), request: &Received, is_encoded: bool) -> (u16, Json) {
    let Ok(words) = serde_json::from_str::<Vec<Json>>(&request.body) else {
        return (400, json!({"error": "ERR failed to parse command"}));
    };
    // The vendor's client sends numbers as numbers.
    let words = words.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned));
    match answered(redis, &words.collect::<Vec<_>>()) {
        RedisReply::Error(words) => (400, json!({ "error": words })),
        reply => (200, json!({ "result": result(reply, is_encoded) })),
    }
}

fn result(reply: RedisReply, is_encoded: bool) -> Json {
    let text = |bytes: &[u8]| if is_encoded { STANDARD.encode(bytes) } else { String::from_utf8_lossy(bytes).into_owned() };
    match reply {
        RedisReply::Nil => Json::Null,
        RedisReply::Integer(number) => number.into(),
        RedisReply::Status(word) if word == "OK" => word.into(),
        RedisReply::Status(word) | RedisReply::Error(word) => text(word.as_bytes()).into(),
        RedisReply::Bulk(bytes) => text(&bytes).into(),
        RedisReply::List(elements) => elements.into_iter().map(|element| result(element, is_encoded)).collect(),
    }
}

/// One command on a connection of its own.
fn answered((port, database): (u16, usize), words: &[String]) -> RedisReply {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap_or_else(|error| panic!("{error}"));
    if database > 0 {
        exchange(&mut socket, &["SELECT".to_owned(), database.to_string()]);
    }
    exchange(&mut socket, words)
}

fn exchange(socket: &mut TcpStream, words: &[String]) -> RedisReply {
    let mut command = format!("*{}\r\n", words.len());
    for word in words {
        command += &format!("${}\r\n{word}\r\n", word.len());
    }
    socket.write_all(command.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let mut reader = ReplyReader::new(Protocol::Resp2, Limits { bytes: 64 << 20, lists: true });
    let mut chunk = vec![0; 1 << 16];
    loop {
        let count = socket.read(&mut chunk).unwrap_or_else(|error| panic!("{error}"));
        assert!(count > 0, "the Redis server closed the connection");
        if let Some(reply) = reader.take(&chunk[..count]).unwrap_or_else(|error| panic!("{error:?}")) {
            return reply;
        }
    }
}
