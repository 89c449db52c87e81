//! A stand-in for Neon's SQL API over a real PostgreSQL server. It answers as the source of Neon's
//! proxy does, and as Neon's own client expects, which a test runs against it: every statement by
//! the extended protocol, its types declared by nobody, values and cells as text.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use millrace_core::{
    Json,
    ports::Connection,
    url::{Url, percent_decoded},
};
use postgres_protocol::{
    IsNull,
    authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256},
    message::{
        backend::{ErrorFields, Message},
        frontend,
    },
};
use serde_json::json;

use crate::{
    database::{Database, connection},
    postgres::Postgres,
    scripted::{Received, Reply, Scripted},
};

/// The longest response, in bytes: Neon's own limit.
const MAX_RESPONSE_BYTES: usize = 10 << 20;
/// The status of a longer one.
pub(crate) const TOO_LARGE: u16 = 507;

/// Starts a server that passes statements on to the PostgreSQL server at this port.
///
/// # Panics
/// Where no port can be bound.
#[must_use]
pub fn start(postgres: u16) -> Scripted {
    Scripted::start(move |_, request| reply(postgres, request))
}

/// Answers one request.
#[must_use]
pub fn reply(postgres: u16, request: &Received) -> Reply {
    let (status, body) = answer(postgres, request);
    Reply::Whole(status, "application/json", body.to_string())
}

/// The adapter's settings for the database `postgres` of a server, through a stand-in for it.
#[must_use]
pub fn settings(api: &Scripted, server: &Postgres, options: &[(&str, &str)]) -> Connection {
    let base_url = format!("http://{}", api.address);
    let options = [&[("base_url", base_url.as_str())], options].concat();
    connection("neon", &server.url("postgres"), &options)
}

/// An open connection to the database `postgres` of a server, through a stand-in of its own.
#[must_use]
pub fn open(server: &Postgres) -> Database {
    Database::open(settings(&start(server.port), server, &[]))
}

/// Why there is no answer.
pub(crate) enum Failure {
    /// What PostgreSQL said, beside its status.
    Said(u16, Json),
    /// What the proxy says itself.
    Proxy(u16, &'static str),
}

/// A connection that has broken.
impl From<std::io::Error> for Failure {
    fn from(_: std::io::Error) -> Self {
        Self::Proxy(400, "connection closed")
    }
}

fn answer(port: u16, request: &Received) -> (u16, Json) {
    let field = |name: &str| {
        let mut fields = request.head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    if request.line != "POST /sql HTTP/1.1" {
        return (404, json!({ "message": "not found" }));
    }
    if ["neon-raw-text-output", "neon-array-mode"].iter().any(|name| field(name).as_deref() != Some("true")) {
        return (501, json!({ "message": "the stand-in has cells as text and rows as lists only" }));
    }
    let read_only = field("neon-batch-read-only").as_deref() == Some("true");
    match run(port, &field("neon-connection-string").unwrap_or_default(), &request.body, read_only) {
        Ok(body) => (200, body),
        Err(Failure::Said(status, body)) => (status, body),
        Err(Failure::Proxy(status, message)) => (status, json!({ "message": message, "code": "", "severity": "" })),
    }
}

fn run(port: u16, address: &str, body: &str, read_only: bool) -> Result<Json, Failure> {
    let mut session = Session::log_in(port, address)?;
    let Ok(body) = serde_json::from_str::<Json>(body) else { return Err(Failure::Proxy(400, "could not parse JSON")) };
    let Some(queries) = body["queries"].as_array() else { return session.query(&body) };
    session.command(if read_only { "START TRANSACTION READ ONLY" } else { "START TRANSACTION" })?;
    let results: Result<Vec<Json>, Failure> = queries.iter().map(|query| session.query(query)).collect();
    match results {
        Ok(results) => {
            session.command("COMMIT")?;
            Ok(json!({ "results": results }))
        }
        // What is left of such a result is not waited for: the connection is closed.
        Err(failure @ Failure::Proxy(TOO_LARGE, _)) => Err(failure),
        Err(failure) => {
            drop(session.command("ROLLBACK"));
            Err(failure)
        }
    }
}

/// A connection to a PostgreSQL server.
pub(crate) struct Session {
    socket: TcpStream,
    received: BytesMut,
}

impl Session {
    pub(crate) fn log_in(port: u16, address: &str) -> Result<Self, Failure> {
        let wrong = |_| Failure::Proxy(400, "invalid connection string");
        let url = Url::parse_with_user(address).map_err(wrong)?;
        let decoded = |text: Option<&str>| percent_decoded(text.unwrap_or_default()).unwrap_or_default();
        let (user, password) = (decoded(url.server.user), decoded(url.server.password));
        let database = decoded(url.path.strip_prefix('/'));
        let Ok(socket) = TcpStream::connect(("127.0.0.1", port)) else {
            return Err(Failure::Proxy(500, "Couldn't connect to compute node"));
        };
        let mut session = Self { socket, received: BytesMut::new() };
        let mut out = BytesMut::new();
        frontend::startup_message([("user", &*user), ("database", &*database), ("client_encoding", "UTF8")], &mut out)?;
        session.socket.write_all(&out)?;
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        loop {
            let mut out = BytesMut::new();
            match session.next()? {
                Message::AuthenticationSasl(_) => frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut out)?,
                Message::AuthenticationSaslContinue(body) => {
                    scram.update(body.data())?;
                    frontend::sasl_response(scram.message(), &mut out)?;
                }
                Message::AuthenticationSaslFinal(body) => scram.finish(body.data())?,
                Message::ErrorResponse(body) => {
                    let said = error(body.fields());
                    // The proxy looks at passwords itself.
                    let is_password = said["code"] == "28P01";
                    return Err(if is_password {
                        Failure::Proxy(400, "password authentication failed for user 'x'")
                    } else {
                        Failure::Said(500, said)
                    });
                }
                Message::ReadyForQuery(_) => return Ok(session),
                _ => {}
            }
            session.socket.write_all(&out)?;
        }
    }

    fn next(&mut self) -> Result<Message, Failure> {
        let mut chunk = vec![0; 1 << 16];
        loop {
            if let Some(message) = Message::parse(&mut self.received)? {
                return Ok(message);
            }
            let count = self.socket.read(&mut chunk)?;
            if count == 0 {
                return Err(Failure::Proxy(400, "connection closed"));
            }
            self.received.extend_from_slice(&chunk[..count]);
        }
    }

    /// Runs a command of the stand-in's own.
    pub(crate) fn command(&mut self, text: &str) -> Result<(), Failure> {
        let mut out = BytesMut::new();
        frontend::query(text, &mut out)?;
        self.socket.write_all(&out)?;
        self.answer().map(drop)
    }

    fn query(&mut self, query: &Json) -> Result<Json, Failure> {
        let text = query["query"].as_str().unwrap_or_default();
        let value = |value: &Json| match value {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let params: Vec<Option<String>> = query["params"].as_array().into_iter().flatten().map(value).collect();
        self.statement(text, &[], params)
    }

    /// Runs a statement, whose values have these types.
    pub(crate) fn statement(&mut self, text: &str, types: &[u32], params: Vec<Option<String>>) -> Result<Json, Failure> {
        let mut out = BytesMut::new();
        let write = |param: Option<String>, out: &mut BytesMut| match param {
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        };
        // A text with a NUL has no form in the protocol.
        if frontend::parse("", text, types.iter().copied(), &mut out).is_err() {
            return Err(Failure::Proxy(400, "string contains embedded null"));
        }
        if frontend::bind("", "", [0], params, write, [0], &mut out).is_err() {
            return Err(Failure::Proxy(400, "too many parameters"));
        }
        frontend::describe(b'P', "", &mut out)?;
        frontend::execute("", 0, &mut out)?;
        frontend::sync(&mut out);
        self.socket.write_all(&out)?;
        self.answer()
    }

    /// What is answered up to the next `ReadyForQuery`.
    fn answer(&mut self) -> Result<Json, Failure> {
        let (mut fields, mut rows, mut tag, mut bytes) = (Vec::new(), Vec::new(), String::new(), 0);
        let mut failure = None;
        loop {
            match self.next()? {
                Message::RowDescription(body) => {
                    let field = |field: postgres_protocol::message::backend::Field<'_>| {
                        Ok(json!({
                            "name": field.name(), "dataTypeID": field.type_oid(), "tableID": field.table_oid(), "columnID": field.column_id(),
                            "dataTypeSize": field.type_size(), "dataTypeModifier": field.type_modifier(), "format": "text",
                        }))
                    };
                    fields = body.fields().map(field).collect()?;
                }
                Message::DataRow(body) => {
                    let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&body.buffer()[range]).into_owned();
                    let row: Vec<Option<String>> = body.ranges().map(|range| Ok(range.map(text))).collect()?;
                    bytes += row.iter().flatten().map(String::len).sum::<usize>();
                    rows.push(row);
                    if bytes > MAX_RESPONSE_BYTES {
                        return Err(Failure::Proxy(TOO_LARGE, "response is too large (max is 10485760 bytes)"));
                    }
                }
                Message::CommandComplete(body) => tag = body.tag()?.to_owned(),
                Message::ErrorResponse(body) => drop(failure.get_or_insert(Failure::Said(400, error(body.fields())))),
                Message::ReadyForQuery(_) => break,
                _ => {}
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let mut words = tag.split(' ');
        let command = words.next().unwrap_or_default();
        let count = if command == "INSERT" { words.nth(1) } else { words.next() };
        let count = count.and_then(|count| count.parse::<u64>().ok());
        Ok(json!({ "rowAsArray": true, "fields": fields, "rows": rows, "command": command, "rowCount": count }))
    }
}

fn error(fields: ErrorFields<'_>) -> Json {
    const NAMES: [(u8, &str); 15] = [
        (b'M', "message"),
        (b'C', "code"),
        (b'D', "detail"),
        (b'H', "hint"),
        (b'P', "position"),
        (b'S', "severity"),
        (b'W', "where"),
        (b't', "table"),
        (b'c', "column"),
        (b's', "schema"),
        (b'd', "dataType"),
        (b'n', "constraint"),
        (b'F', "file"),
        (b'L', "line"),
        (b'R', "routine"),
    ];
    let mut said: serde_json::Map<String, Json> = NAMES.iter().map(|(_, name)| ((*name).to_owned(), Json::Null)).collect();
    let mut fields = fields;
    while let Ok(Some(field)) = fields.next() {
        if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == field.type_()) {
            said.insert((*name).to_owned(), String::from_utf8_lossy(field.value_bytes()).into_owned().into());
        }
    }
    Json::Object(said)
}
