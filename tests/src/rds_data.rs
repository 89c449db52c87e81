//! A stand-in for the RDS Data API over a real PostgreSQL server. It answers as the API's
//! description says and as AWS's own client expects, which a test runs against it. Where the
//! description leaves something open, it is the worst it may be: a text is declared `text`, a
//! `:name` is one wherever it stands, and one that could be read in two ways is an error.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Json, hex,
    ports::Connection,
    url::{Url, percent_decoded},
};
use serde_json::{Map, json};

use crate::{
    database::{Database, connection},
    neon::{Failure, Session, TOO_LARGE},
    postgres::Postgres,
    scripted::{Received, Reply, Scripted},
};

/// The cluster that every request must be about.
pub const CLUSTER: &str = "arn:aws:rds:eu-central-1:123456789012:cluster:shop";
/// What stands before a secret's name, which is its user, a `/` and its password.
pub const SECRET: &str = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:";
/// The longest answer, in bytes.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// The API of one cluster.
pub struct Api {
    port: u16,
    /// The transactions; nothing for one whose statement is running.
    open: Mutex<HashMap<String, Option<Session>>>,
    count: AtomicU64,
    /// The names of types by their numbers.
    types: Mutex<HashMap<u64, String>>,
}

/// An error of the API: status, kind, words.
struct Refused(u16, &'static str, String);

impl Api {
    /// The API of a cluster whose writer is the PostgreSQL server at this port.
    #[must_use]
    pub fn of(port: u16) -> Arc<Self> {
        Arc::new(Self { port, open: Mutex::default(), count: AtomicU64::new(1), types: Mutex::default() })
    }

    /// Answers one request.
    #[must_use]
    pub fn reply(&self, request: &Received) -> Reply {
        let (status, body) = match self.answer(request) {
            Ok(body) => (200, body),
            Err(Refused(status, kind, words)) => (status, json!({ "__type": kind, "message": words })),
        };
        Reply::Whole(status, "application/json", body.to_string())
    }

    /// How many transactions are open.
    #[must_use]
    pub fn count_open(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn answer(&self, request: &Received) -> Result<Json, Refused> {
        let bad = |words: &str| Refused(400, "BadRequestException", words.to_owned());
        let body: Json = serde_json::from_str(&request.body).map_err(|_| bad("the body is not JSON"))?;
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        if text("resourceArn").as_deref() != Some(CLUSTER) {
            return Err(bad("HttpEndpoint is not enabled for cluster sample-cluster"));
        }
        let secret = text("secretArn").unwrap_or_default();
        let Some((user, password)) = secret.strip_prefix(SECRET).and_then(|name| name.split_once('/')) else {
            return Err(Refused(400, "SecretsErrorException", "Secrets Manager can't find the specified secret.".to_owned()));
        };
        let database = text("database").unwrap_or_else(|| "postgres".to_owned());
        let address = format!("postgres://{user}:{password}@127.0.0.1/{database}");
        let begin = || {
            let mut session = Session::log_in(self.port, &address).map_err(refused)?;
            // It has bytes, and not how the server writes them.
            session.command("SET bytea_output = hex").map_err(refused)?;
            Ok(session)
        };
        let gone = || Refused(404, "TransactionNotFoundException", "Transaction is not found".to_owned());
        let keep =
            |id: String, session: Option<Session>| drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id, session));
        let end = |id: &str| self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        // What is asked while another statement runs waits for its end.
        let take = |id: &str| loop {
            match self.open.lock().unwrap_or_else(PoisonError::into_inner).get_mut(id) {
                None => return Err(gone()),
                Some(session) => {
                    if let Some(session) = session.take() {
                        return Ok(session);
                    }
                }
            }
            std::thread::yield_now();
        };
        match request.line.split(' ').nth(1).unwrap_or_default() {
            "/Execute" => {
                let Some(id) = text("transactionId") else { return self.execute(&mut begin()?, &body) };
                let mut session = take(&id)?;
                let answer = self.execute(&mut session, &body);
                let is_lost =
                    answer.as_ref().is_err_and(|Refused(status, kind, _)| *status >= 500 || *kind == "UnsupportedResultException");
                match is_lost {
                    true => drop(end(&id)),
                    false => keep(id, Some(session)),
                }
                answer
            }
            "/BeginTransaction" => {
                let mut session = begin()?;
                session.command("BEGIN").map_err(refused)?;
                let id = format!("transaction-{}", self.count.fetch_add(1, SeqCst));
                keep(id.clone(), Some(session));
                Ok(json!({ "transactionId": id }))
            }
            "/CommitTransaction" => {
                let id = text("transactionId").unwrap_or_default();
                let mut session = take(&id)?;
                end(&id);
                session.command("COMMIT").map_err(refused)?;
                Ok(json!({ "transactionStatus": "Transaction Committed" }))
            }
            "/RollbackTransaction" => {
                let id = text("transactionId").unwrap_or_default();
                let mut session = take(&id)?;
                end(&id);
                session.command("ROLLBACK").map_err(refused)?;
                Ok(json!({ "transactionStatus": "Rollback Complete" }))
            }
            _ => Err(Refused(404, "UnknownOperationException", String::new())),
        }
    }

    fn execute(&self, session: &mut Session, body: &Json) -> Result<Json, Refused> {
        let (text, types, values) = bound(body["sql"].as_str().unwrap_or_default(), &body["parameters"])?;
        let answer = session.statement(&text, &types, values).map_err(refused)?;
        let fields = answer["fields"].as_array().cloned().unwrap_or_default();
        let long = body["resultSetOptions"]["longReturnType"] == "STRING";
        let mut names = Vec::new();
        for field in &fields {
            names.push(self.type_name(session, field["dataTypeID"].as_u64().unwrap_or(0))?);
        }
        let mut records = Vec::new();
        for row in answer["rows"].as_array().into_iter().flatten() {
            let cells = row.as_array().into_iter().flatten().zip(&names);
            let cells = cells.map(|(cell, name)| cell.as_str().map_or(Ok(json!({ "isNull": true })), |text| field(name, text, long)));
            records.push(cells.collect::<Result<Json, Refused>>()?);
        }
        let metadata = |(field, name): (&Json, &String)| json!({ "name": field["name"], "label": field["name"], "typeName": name });
        let mut reply = Map::new();
        let changed = if fields.is_empty() { answer["rowCount"].as_u64().unwrap_or(0) } else { 0 };
        reply.insert("numberOfRecordsUpdated".to_owned(), changed.into());
        if !fields.is_empty() {
            reply.insert("records".to_owned(), records.into());
            if body["includeResultMetadata"] == true {
                reply.insert("columnMetadata".to_owned(), fields.iter().zip(&names).map(metadata).collect());
            }
        }
        let reply = Json::Object(reply);
        if reply.to_string().len() > MAX_RESPONSE_BYTES {
            return Err(too_large());
        }
        Ok(reply)
    }

    fn type_name(&self, session: &mut Session, number: u64) -> Result<String, Refused> {
        let known = self.types.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let answer =
            session.statement(&format!("SELECT typname FROM pg_catalog.pg_type WHERE oid = {number}"), &[], Vec::new()).map_err(refused)?;
        let name = answer["rows"][0][0].as_str().unwrap_or_default().to_owned();
        self.types.lock().unwrap_or_else(PoisonError::into_inner).insert(number, name.clone());
        Ok(name)
    }
}

/// Starts the API of a cluster whose writer is the PostgreSQL server at this port.
#[must_use]
pub fn start(port: u16) -> Scripted {
    let api = Api::of(port);
    Scripted::start(move |_, request| api.reply(request))
}

/// The adapter's settings for a database of a server, through a stand-in for the API. `url` is the
/// server's, with its user, password and database.
///
/// # Panics
/// Where it is none.
#[must_use]
pub fn settings(address: &str, url: &str, options: &[(&str, &str)]) -> Connection {
    let [secret, database] = secret_and_database(url);
    let own = [
        ("endpoint", address),
        ("secret_arn", secret.as_str()),
        ("database", database.as_str()),
        ("access_key_id", "AKIDEXAMPLE"),
        ("secret_access_key", "hunter2hunter2"),
    ];
    connection("rds-data", CLUSTER, &[&own, options].concat())
}

/// The secret of a URL's user and password, and its database.
///
/// # Panics
/// Where it is none.
#[must_use]
pub fn secret_and_database(url: &str) -> [String; 2] {
    let url = Url::parse_with_user(url).unwrap_or_else(|error| panic!("{error}"));
    let decoded = |text: Option<&str>| percent_decoded(text.unwrap_or_default()).unwrap_or_default();
    let (user, password) = (url.server.user.unwrap_or_default(), url.server.password.unwrap_or_default());
    [format!("{SECRET}{user}/{password}"), decoded(url.path.strip_prefix('/'))]
}

/// An open connection to the database `postgres` of a server, through a stand-in of its own.
#[must_use]
pub fn open(server: &Postgres) -> Database {
    Database::open(settings(&format!("http://{}", start(server.port).address), &server.url("postgres"), &[]))
}

fn too_large() -> Refused {
    Refused(400, "UnsupportedResultException", "Database returned more than the allowed response size limit".to_owned())
}

fn refused(failure: Failure) -> Refused {
    match failure {
        Failure::Proxy(TOO_LARGE, _) => too_large(),
        Failure::Proxy(_, words) if words.starts_with("password") => {
            Refused(400, "BadRequestException", "FATAL: password authentication failed for user \"x\"; SQLState: 28P01".to_owned())
        }
        Failure::Proxy(_, words) if words.starts_with("Couldn't connect") => Refused(504, "DatabaseUnavailableException", String::new()),
        Failure::Proxy(400, words) if words.starts_with("string") => Refused(400, "BadRequestException", words.to_owned()),
        Failure::Proxy(..) => Refused(500, "InternalServerErrorException", String::new()),
        Failure::Said(_, said) => {
            let part = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
            if part("routine") == "exec_parse_message" {
                return Refused(400, "BadRequestException", "Multistatements aren't supported".to_owned());
            }
            let detail = |name: &str, title: &str| if part(name).is_empty() { String::new() } else { format!("; {title}: {}", part(name)) };
            let more = [detail("detail", "Detail"), detail("hint", "Hint"), detail("position", "Position")].concat();
            let words = format!("{}: {}{more}; SQLState: {}", part("severity"), part("message"), part("code"));
            Refused(400, "DatabaseErrorException", words)
        }
    }
}

/// A statement with `$1`, the declared types, and the values.
type Bound = (String, Vec<u32>, Vec<Option<String>>);

/// A statement of the API and its parameters, as PostgreSQL takes them.
fn bound(sql: &str, parameters: &Json) -> Result<Bound, Refused> {
    let bad = |words: String| Refused(400, "BadRequestException", words);
    let parameters = parameters.as_array().into_iter().flatten();
    let parameters: HashMap<&str, &Json> = parameters.filter_map(|parameter| Some((parameter["name"].as_str()?, parameter))).collect();
    let everywhere = places(sql, false);
    if everywhere != places(sql, true) {
        return Err(bad(format!("it is not clear which names are parameters: {sql}")));
    }
    let (mut text, mut at, mut types, mut values, mut numbers) = (String::new(), 0, Vec::new(), Vec::new(), HashMap::new());
    for (start, name) in everywhere {
        let number = match numbers.get(name) {
            Some(number) => *number,
            None => {
                let Some(parameter) = parameters.get(name) else {
                    return Err(bad(format!("Cannot find parameter: {name}")));
                };
                let (kind, value) = value(parameter).ok_or_else(|| bad(format!("wrong parameter: {name}")))?;
                types.push(kind);
                values.push(value);
                numbers.insert(name, types.len());
                types.len()
            }
        };
        text += &format!("{}${number}", &sql[at..start]);
        at = start + 1 + name.len();
    }
    text += &sql[at..];
    Ok((text, types, values))
}

/// Where a name follows a colon. `knows_quotes`: but not in quotes or comments, which it knows by
/// the rules of standard SQL alone.
fn places(sql: &str, knows_quotes: bool) -> Vec<(usize, &str)> {
    let (mut found, mut before, mut rest) = (Vec::new(), ' ', sql);
    while let Some(first) = rest.chars().next() {
        let at = sql.len() - rest.len();
        let quoted = match first {
            '\'' | '"' if knows_quotes => rest[1..].find(first).map(|end| end + 2),
            '-' if knows_quotes && rest.starts_with("--") => Some(rest.find('\n').unwrap_or(rest.len())),
            '/' if knows_quotes && rest.starts_with("/*") => Some(rest.find("*/").map_or(rest.len(), |end| end + 2)),
            _ => None,
        };
        let name = &rest[first.len_utf8()..];
        let name = &name[..name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len())];
        if first == ':' && before != ':' && !name.is_empty() {
            found.push((at, name));
        }
        rest = &rest[quoted.unwrap_or(first.len_utf8())..];
        before = first;
    }
    found
}

/// The type and the text of a parameter.
fn value(parameter: &Json) -> Option<(u32, Option<String>)> {
    let (form, content) = parameter["value"].as_object()?.iter().next()?;
    let text = content.as_str().map(str::to_owned);
    let hinted = match parameter["typeHint"].as_str() {
        Some("DATE") => 1082,
        Some("DECIMAL") => 1700,
        Some("JSON") => 114,
        Some("TIME") => 1083,
        Some("TIMESTAMP") => 1114,
        Some("UUID") => 2950,
        _ => 25,
    };
    Some(match form.as_str() {
        "isNull" => (hinted, None),
        "booleanValue" => (16, Some(content.as_bool()?.to_string())),
        "longValue" => (20, Some(content.as_i64()?.to_string())),
        "doubleValue" => (701, Some(content.as_f64()?.to_string())),
        "blobValue" => (17, Some(format!("\\x{}", hex::encode(&STANDARD.decode(text?).ok()?)))),
        "stringValue" => (hinted, Some(text?)),
        _ => return None,
    })
}

/// A cell as the API has it.
fn field(type_name: &str, text: &str, long: bool) -> Result<Json, Refused> {
    let unsupported = || Refused(400, "UnsupportedResultException", "The result contains the unsupported data type".to_owned());
    if let Some(element) = type_name.strip_prefix('_') {
        let elements = elements(text).ok_or_else(unsupported)?;
        let list = match element {
            "int2" | "int4" | "int8" => "longValues",
            "float4" | "float8" => "doubleValues",
            "bool" => "booleanValues",
            _ => "stringValues",
        };
        let one = |text: &String| scalar(element, text, list);
        return Ok(
            json!({ "arrayValue": { list: elements.iter().map(|element| element.as_ref().map_or(Json::Null, one)).collect::<Vec<_>>() } }),
        );
    }
    let form = match type_name {
        "int2" | "int4" => "longValue",
        "int8" if !long => "longValue",
        "float4" | "float8" => "doubleValue",
        "bool" => "booleanValue",
        "bytea" => "blobValue",
        _ => "stringValue",
    };
    Ok(json!({ form: scalar(type_name, text, form) }))
}

fn scalar(type_name: &str, text: &str, form: &str) -> Json {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    match form.trim_end_matches('s') {
        "longValue" => text.parse::<i64>().map_or(Json::Null, Json::from),
        "doubleValue" if type_name == "float4" => text.parse::<f32>().ok().map_or(text.into(), |number| json!(f64::from(number))),
        "doubleValue" => number(text).map_or(text.into(), Json::from),
        "booleanValue" => (text == "t").into(),
        "blobValue" => STANDARD.encode(hex::decode(text.trim_start_matches("\\x").as_bytes()).unwrap_or_default()).into(),
        // The zone, which is UTC, is left out.
        _ if type_name == "timestamptz" => text.strip_suffix("+00").unwrap_or(text).into(),
        _ => text.into(),
    }
}

/// The elements of an array of one dimension.
fn elements(text: &str) -> Option<Vec<Option<String>>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let (mut elements, mut element, mut is_quoted, mut was_quoted) = (Vec::new(), String::new(), false, false);
    let mut characters = inner.chars();
    let end = |element: &mut String, was_quoted: bool| {
        let element = std::mem::take(element);
        if element == "NULL" && !was_quoted { None } else { Some(element) }
    };
    while let Some(character) = characters.next() {
        match character {
            '\\' => element.push(characters.next()?),
            '"' => {
                is_quoted = !is_quoted;
                was_quoted = true;
            }
            ',' if !is_quoted => {
                elements.push(end(&mut element, was_quoted));
                was_quoted = false;
            }
            '{' if !is_quoted => return None,
            other => element.push(other),
        }
    }
    if !inner.is_empty() {
        elements.push(end(&mut element, was_quoted));
    }
    Some(elements)
}
