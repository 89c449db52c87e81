//! A stand-in for PlanetScale's HTTP API over a real MariaDB server. It answers as the API's own
//! client expects, which a test runs against it, and with the types, sentences and sessions of
//! Vitess: statements as text, cells as text, and a session that belongs to a connection as long as
//! a transaction or a setting needs one.

use std::{
    collections::HashMap,
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Json, ports::Connection};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::json;

use crate::{
    database::{Database, connection},
    mysql::{Mysql, PASSWORD},
    scripted::{Received, Reply, Scripted},
};

/// What Vitess sets where nothing is said: the modes of MySQL 8, none of which changes what a quote
/// is.
const SETTINGS: &str = "SET time_zone = '+00:00', sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
                        ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'";
/// The longest statement, in bytes.
const MAX_STATEMENT: usize = 64 << 20;
/// How long a connection waits for MariaDB: no test's statement takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts a server that passes statements on to a database of the MariaDB server at this port.
///
/// # Panics
/// Where no port can be bound.
#[must_use]
pub fn start(mysql: u16, database: &str) -> Scripted {
    let api = Api::new(mysql, database, SETTINGS);
    Scripted::start(move |_, request| api.reply(request))
}

/// The same, with sessions that have the `sql_mode` of the server, and refuse values that a column
/// does not have.
///
/// # Panics
/// Where no port can be bound.
#[must_use]
pub fn start_with_modes_of_server(mysql: u16, database: &str) -> Scripted {
    let api = Api::new(mysql, database, "SET time_zone = '+00:00', sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')");
    Scripted::start(move |_, request| api.reply(request))
}

/// The connection string of a stand-in, for its administrator.
#[must_use]
pub fn url(api: &Scripted) -> String {
    let coded: String = PASSWORD
        .bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    format!("http://admin:{coded}@{}/shop", api.address)
}

/// The adapter's settings for the database `shop` of a server, through a stand-in for it.
#[must_use]
pub fn settings(api: &Scripted) -> Connection {
    connection("planetscale", &url(api), &[])
}

/// An open connection to the database `shop` of a server, through a stand-in of its own.
#[must_use]
pub fn open(server: &Mysql) -> Database {
    Database::open(settings(&start(server.port, "shop")))
}

/// The service: its sessions, each with its connection as long as it needs one.
pub struct Api {
    port: u16,
    database: String,
    settings: &'static str,
    sessions: Mutex<HashMap<String, Session>>,
    count: AtomicUsize,
}

/// A session that has something.
enum Session {
    /// The object that its last answer had, and its connection.
    Idle(Json, Client),
    /// A statement runs; whether it is to be undone then.
    Busy(bool),
}

/// Code and sentence.
type Failure = (&'static str, String);

impl Api {
    /// Over a database of the server at this port; `settings` is run on each connection.
    #[must_use]
    pub fn new(port: u16, database: &str, settings: &'static str) -> Self {
        Self { port, database: database.to_owned(), settings, sessions: Mutex::default(), count: AtomicUsize::new(0) }
    }

    /// Over a database of the server at this port.
    #[must_use]
    pub fn over(port: u16, database: &str) -> Self {
        Self::new(port, database, SETTINGS)
    }

    /// Answers one request.
    #[must_use]
    pub fn reply(&self, request: &Received) -> Reply {
        let (status, body) = self.answer(request);
        Reply::Whole(status, "application/json", body.to_string())
    }

    fn answer(&self, request: &Received) -> (u16, Json) {
        let denied = || (401, json!({ "error": { "code": "UNAUTHENTICATED", "message": "invalid authorization credentials" } }));
        let field = |name: &str| {
            let mut fields = request.head.lines().filter_map(|line| line.split_once(':'));
            fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
        };
        let login = field("authorization").and_then(|value| STANDARD.decode(value.strip_prefix("Basic ")?).ok());
        let Some((user, password)) = login.and_then(|login| {
            let login = String::from_utf8(login).ok()?;
            login.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()))
        }) else {
            return denied();
        };
        let body: Json = serde_json::from_str(&request.body).unwrap_or_default();
        let query = match request.line.as_str() {
            "POST /psdb.v1alpha1.Database/CreateSession HTTP/1.1" => "SELECT 1",
            "POST /psdb.v1alpha1.Database/Execute HTTP/1.1" => body["query"].as_str().unwrap_or_default(),
            _ => return (404, json!({ "error": { "code": "NOT_FOUND", "message": "not found" } })),
        };
        if query.len() > MAX_STATEMENT {
            return (413, json!({ "error": { "code": "RESOURCE_EXHAUSTED", "message": "too large" } }));
        }
        match self.execute((&user, &password), query, &body["session"]) {
            Ok((session, Ok(result))) => (200, json!({ "session": session, "result": result, "timing": 0.001 })),
            Ok((session, Err((code, message)))) => {
                (200, json!({ "session": session, "error": { "code": "UNKNOWN", "message": sentence(code, &message) } }))
            }
            Err(("UNAUTHENTICATED", _)) => denied(),
            Err((code, message)) => (200, json!({ "error": { "code": code, "message": message } })),
        }
    }

    fn execute(&self, (user, password): (&str, &str), query: &str, session: &Json) -> Result<(Json, Result<Json, Failure>), Failure> {
        let known = session["vitessSession"]["SessionUUID"].as_str().map(str::to_owned);
        let id = known.unwrap_or_else(|| format!("session-{}", self.count.fetch_add(1, Ordering::Relaxed)));
        let mut client = match self.take(&id, session, query)? {
            Some(client) => client,
            None => Client::log_in(self.port, &self.database, user, password, self.settings)?,
        };
        let outcome = client.query(query);
        let is_set = client.keeps || query.trim_start().get(..4).is_some_and(|word| word.eq_ignore_ascii_case("SET "));
        client.keeps = is_set && outcome.is_ok();
        let step = session["vitessSession"]["step"].as_u64().unwrap_or_default() + 1;
        let own = json!({
            "SessionUUID": id, "step": step, "autocommit": true, "inTransaction": client.in_transaction,
            "options": { "includedFields": "ALL", "clientFoundRows": false }, "DDLStrategy": "direct",
        });
        let session = json!({ "signature": STANDARD.encode(signature(&own)), "vitessSession": own });
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let is_undone = matches!(sessions.remove(&id), Some(Session::Busy(true)));
        if (client.in_transaction || client.keeps) && !is_undone && !client.broken {
            sessions.insert(id, Session::Idle(session.clone(), client));
        }
        Ok((session, outcome))
    }

    /// The connection of a session, where it has one.
    fn take(&self, id: &str, session: &Json, query: &str) -> Result<Option<Client>, Failure> {
        let own = &session["vitessSession"];
        if session.is_null() {
            return Ok(None);
        }
        if session["signature"].as_str() != Some(&STANDARD.encode(signature(own))) {
            return Err(("INVALID_ARGUMENT", "session: invalid signature".to_owned()));
        }
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        match sessions.remove(id) {
            Some(Session::Idle(last, client)) if last == *session => {
                sessions.insert(id.to_owned(), Session::Busy(false));
                Ok(Some(client))
            }
            Some(idle @ Session::Idle(..)) => {
                sessions.insert(id.to_owned(), idle);
                Err(("ABORTED", sentence("Aborted", "transaction 7: it was used with a later session")))
            }
            // The statement is cut off as soon as nobody waits for it; here, when it has ended.
            Some(Session::Busy(_)) => {
                sessions.insert(id.to_owned(), Session::Busy(query == "ROLLBACK"));
                Err(("ABORTED", sentence("Aborted", "transaction 7: in use: for query")))
            }
            None if own["inTransaction"] == true => Err(("ABORTED", sentence("Aborted", "transaction 7: ended at another time"))),
            None => Ok(None),
        }
    }
}

fn signature(session: &Json) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("of this stand-in: {session}").as_bytes()).as_ref().to_vec()
}

/// As a tablet says it, and what stands before it.
fn sentence(code: &str, words: &str) -> String {
    format!(
        "target: shop.-.primary: vttablet: rpc error: code = {code} desc = {words} (CallerID: planetscale-admin): Sql: \"\", BindVars: {{REDACTED}}"
    )
}

/// What Vitess makes of a number of MySQL.
fn code_of(number: u16) -> &'static str {
    match number {
        1022 | 1050 | 1061 | 1062 | 1007 => "AlreadyExists",
        1051 | 1054 | 1146 | 1305 => "NotFound",
        1044 | 1045 | 1142 | 1143 | 1227 | 1370 => "PermissionDenied",
        1213 => "Aborted",
        1205 | 1317 | 3024 => "DeadlineExceeded",
        1040 | 1203 | 1041 | 1114 | 1021 => "ResourceExhausted",
        1053 | 1927 | 2006 | 2013 => "Unavailable",
        1264 | 1406 => "OutOfRange",
        1048 | 1364 | 1451 | 1452 | 1792 | 4025 => "FailedPrecondition",
        1064 | 1149 | 1292 | 1366 => "InvalidArgument",
        _ => "Unknown",
    }
}

/// A connection to MariaDB.
struct Client {
    socket: TcpStream,
    in_transaction: bool,
    /// Something was set.
    keeps: bool,
    broken: bool,
}

/// What is left of a packet.
struct Cut<'a>(&'a [u8]);

impl<'a> Cut<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        bytes
    }

    fn number(&mut self, count: usize) -> u64 {
        self.bytes(count).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn counted_number(&mut self) -> u64 {
        match self.number(1) {
            0xfc => self.number(2),
            0xfd => self.number(3),
            0xfe => self.number(8),
            number => number,
        }
    }

    fn text(&mut self) -> &'a [u8] {
        let count = self.counted_number() as usize;
        self.bytes(count)
    }
}

impl Client {
    fn log_in(port: u16, database: &str, user: &str, password: &str, settings: &str) -> Result<Self, Failure> {
        let unavailable = |_| ("UNAVAILABLE", "target: shop.-.primary: no healthy tablet available for 'keyspace:\"shop\"'".to_owned());
        let socket = TcpStream::connect(("127.0.0.1", port)).map_err(unavailable)?;
        socket.set_read_timeout(Some(PATIENCE)).map_err(unavailable)?;
        let mut client = Self { socket, in_transaction: false, keeps: false, broken: false };
        let (_, greeting) = client.receive().map_err(unavailable)?;
        if greeting.first() == Some(&0xff) {
            return Err(("RESOURCE_EXHAUSTED", error_of(&greeting).1));
        }
        let version = greeting[1..].iter().position(|byte| *byte == 0).unwrap_or_default() + 2;
        let mut cut = Cut(&greeting[version..]);
        cut.bytes(4);
        let mut nonce = cut.bytes(8).to_vec();
        // A zero; capabilities, collation, status, capabilities, the nonce's length, and what is
        // reserved.
        cut.bytes(1 + 2 + 1 + 2 + 2 + 1 + 10);
        nonce.extend_from_slice(cut.bytes(12));
        // Long flags, a database, protocol 4.1, transactions, digests, several results, methods,
        // and MariaDB's types: no rows that an `UPDATE` only finds.
        let capabilities: u32 = 1 << 2 | 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 17 | 1 << 19;
        let mut login = capabilities.to_le_bytes().to_vec();
        login.extend_from_slice(&(1_u32 << 30).to_le_bytes());
        login.push(45);
        login.extend_from_slice(&[0; 19]);
        login.extend_from_slice(&(1_u32 << 3).to_le_bytes());
        login.extend_from_slice(user.as_bytes());
        login.push(0);
        let proof = proof(password, &nonce[..20]);
        login.push(proof.len() as u8);
        login.extend_from_slice(&proof);
        login.extend_from_slice(format!("{database}\0mysql_native_password\0").as_bytes());
        client.send(1, &login).map_err(unavailable)?;
        let (_, answer) = client.receive().map_err(unavailable)?;
        if answer.first() != Some(&0) {
            return Err(("UNAUTHENTICATED", String::new()));
        }
        client.query(settings)?;
        Ok(client)
    }

    fn send(&mut self, mut number: u8, payload: &[u8]) -> std::io::Result<()> {
        let mut parts = payload.chunks(0xff_ffff).collect::<Vec<_>>();
        if payload.len().is_multiple_of(0xff_ffff) {
            parts.push(&[]);
        }
        for part in parts {
            let mut packet = (part.len() as u32).to_le_bytes()[..3].to_vec();
            packet.push(number);
            packet.extend_from_slice(part);
            self.socket.write_all(&packet)?;
            number = number.wrapping_add(1);
        }
        Ok(())
    }

    fn receive(&mut self) -> std::io::Result<(u8, Vec<u8>)> {
        let mut whole = Vec::new();
        loop {
            let mut head = [0; 4];
            self.socket.read_exact(&mut head)?;
            let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            let start = whole.len();
            whole.resize(start + length, 0);
            self.socket.read_exact(&mut whole[start..])?;
            if length < 0xff_ffff {
                return Ok((head[3], whole));
            }
        }
    }

    /// The first result of a statement, as JSON.
    fn query(&mut self, text: &str) -> Result<Json, Failure> {
        let limited = limited(text);
        let outcome = self.exchange(limited.as_deref().unwrap_or(text));
        outcome.unwrap_or_else(|_| {
            self.broken = true;
            self.in_transaction = false;
            Err(("Unavailable", "Lost connection to MySQL server during query (errno 2013) (sqlstate HY000)".to_owned()))
        })
    }

    fn exchange(&mut self, text: &str) -> std::io::Result<Result<Json, Failure>> {
        self.send(0, &[b"\x03", text.as_bytes()].concat())?;
        let mut first = None;
        loop {
            let (_, packet) = self.receive()?;
            let (result, status) = match packet.first() {
                Some(0xff) => return Ok(Err(error_of(&packet))),
                Some(0) => {
                    let mut cut = Cut(&packet[1..]);
                    let (affected, inserted) = (cut.counted_number(), cut.counted_number());
                    // What is 0 is left out.
                    let mut result = json!({});
                    for (name, number) in [("rowsAffected", affected), ("insertId", inserted)] {
                        if number > 0 {
                            result[name] = number.to_string().into();
                        }
                    }
                    (result, cut.number(2) as u16)
                }
                _ => match self.rows(Cut(&packet).counted_number() as usize)? {
                    Ok(result) => result,
                    Err(failure) => return Ok(Err(failure)),
                },
            };
            self.in_transaction = status & 1 != 0;
            first.get_or_insert(result);
            if status & 8 == 0 {
                return Ok(Ok(first.unwrap_or_default()));
            }
        }
    }

    fn rows(&mut self, columns: usize) -> std::io::Result<Result<(Json, u16), Failure>> {
        let mut fields = Vec::with_capacity(columns);
        for _ in 0..columns {
            fields.push(field(&self.receive()?.1));
        }
        self.receive()?;
        let mut rows = Vec::new();
        loop {
            let (_, packet) = self.receive()?;
            match packet.first() {
                Some(0xff) => return Ok(Err(error_of(&packet))),
                Some(0xfe) if packet.len() < 9 => {
                    let status = Cut(&packet[3..]).number(2) as u16;
                    return Ok(Ok((json!({ "fields": fields, "rows": rows }), status)));
                }
                _ => {
                    let mut cut = Cut(&packet);
                    let (mut lengths, mut values) = (Vec::with_capacity(columns), Vec::new());
                    for _ in 0..columns {
                        if cut.0.first() == Some(&0xfb) {
                            cut.bytes(1);
                            lengths.push("-1".to_owned());
                        } else {
                            let cell = cut.text();
                            lengths.push(cell.len().to_string());
                            values.extend_from_slice(cell);
                        }
                    }
                    let mut row = json!({ "lengths": lengths });
                    if !values.is_empty() {
                        row["values"] = STANDARD.encode(values).into();
                    }
                    rows.push(row);
                }
            }
        }
    }
}

/// SHA1(password) ⊕ SHA1(nonce, SHA1(SHA1(password)))
fn proof(password: &str, nonce: &[u8]) -> Vec<u8> {
    let once = digest(&SHA1_FOR_LEGACY_USE_ONLY, password.as_bytes());
    let mut mask = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    mask.update(nonce);
    mask.update(digest(&SHA1_FOR_LEGACY_USE_ONLY, once.as_ref()).as_ref());
    once.as_ref().iter().zip(mask.finish().as_ref()).map(|(a, b)| a ^ b).collect()
}

/// MariaDB reads no optimizer hints: a `SELECT` that has one for its time is ended by a setting.
fn limited(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("/*+ MAX_EXECUTION_TIME(")?;
    let ms: u64 = rest.split_once(')')?.0.parse().ok()?;
    Some(format!("SET STATEMENT max_statement_time = {}.{:03} FOR {text}", ms / 1000, ms % 1000))
}

/// Code and words of an error, with its number and state as Vitess adds them.
fn error_of(packet: &[u8]) -> Failure {
    let number = u16::from_le_bytes([packet[1], packet[2]]);
    let (state, words) = match packet.get(3) {
        Some(b'#') => (&packet[4..9], &packet[9..]),
        _ => (&b"HY000"[..], &packet[3..]),
    };
    // Where MySQL ends a `SELECT` by itself, it has another number.
    let (number, state) = if number == 1969 { (3024, &b"HY000"[..]) } else { (number, state) };
    let [state, words] = [state, words].map(String::from_utf8_lossy);
    (code_of(number), format!("{words} (errno {number}) (sqlstate {state})"))
}

/// A column, as Vitess describes it; what is 0 or empty is left out.
fn field(packet: &[u8]) -> Json {
    let mut cut = Cut(packet);
    let [_, database, table, org_table, name, org_name] = std::array::from_fn(|_| String::from_utf8_lossy(cut.text()).into_owned());
    let mut is_json = false;
    let mut more = Cut(cut.text());
    while !more.0.is_empty() {
        let what = more.number(1);
        is_json |= more.text() == b"json" && what == 1;
    }
    cut.bytes(1);
    let (charset, length, kind, flags, decimals) = (cut.number(2), cut.number(4), cut.number(1), cut.number(2), cut.number(1));
    let is_unsigned = flags & 32 != 0;
    let is_binary = flags & 128 != 0;
    let integer = |signed, unsigned| if is_unsigned { unsigned } else { signed };
    let of = |text, bytes| if is_binary { bytes } else { text };
    let kind = match kind {
        _ if is_json => Some("JSON"),
        1 => Some(integer("INT8", "UINT8")),
        2 => Some(integer("INT16", "UINT16")),
        9 => Some(integer("INT24", "UINT24")),
        3 => Some(integer("INT32", "UINT32")),
        8 => Some(integer("INT64", "UINT64")),
        4 => Some("FLOAT32"),
        5 => Some("FLOAT64"),
        0 | 246 => Some("DECIMAL"),
        7 => Some("TIMESTAMP"),
        10 | 14 => Some("DATE"),
        11 => Some("TIME"),
        12 => Some("DATETIME"),
        13 => Some("YEAR"),
        16 => Some("BIT"),
        245 => Some("JSON"),
        255 => Some("GEOMETRY"),
        249..=252 => Some(of("TEXT", "BLOB")),
        15 | 253 => Some(of("VARCHAR", "VARBINARY")),
        254 if flags & 256 != 0 => Some("ENUM"),
        254 if flags & 2048 != 0 => Some("SET"),
        254 => Some(of("CHAR", "BINARY")),
        _ => None,
    };
    let mut field = json!({ "name": name });
    for (key, text) in [("table", table), ("orgTable", org_table), ("database", database), ("orgName", org_name)] {
        if !text.is_empty() {
            field[key] = text.into();
        }
    }
    if let Some(kind) = kind {
        field["type"] = kind.into();
    }
    for (key, number) in [("columnLength", length), ("charset", charset), ("flags", flags), ("decimals", decimals)] {
        if number > 0 {
            field[key] = number.into();
        }
    }
    field
}
