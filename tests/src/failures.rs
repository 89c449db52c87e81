//! What drivers of databases far away make of failures: tables of answers, and what becomes of a
//! read and of a write, whichever host sends them.

use millrace_core::ErrorKind::{
    self, Busy, Configuration, Constraint, Credentials, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable,
};

use crate::scripted::Reply;

/// The statement that reads.
pub const READ: &str = "SELECT v FROM t";
/// The statement that writes, and has rows.
pub const WRITE: &str = "UPDATE t SET v = 1 RETURNING v";

/// The number of rows or the kind of the error, and how many requests it took.
pub type Outcome = (Result<usize, ErrorKind>, usize);

/// A row of a table.
pub struct Case {
    /// What happens.
    pub what: String,
    /// The answers, the last one again and again.
    pub replies: Vec<Reply>,
    /// What becomes of [`READ`].
    pub read: Outcome,
    /// What becomes of [`WRITE`].
    pub written: Outcome,
}

fn case(what: impl Into<String>, replies: Vec<Reply>, read: Outcome, written: Outcome) -> Case {
    Case { what: what.into(), replies, read, written }
}

/// What an answer says of the request that it is an answer to.
#[derive(Clone, Copy)]
enum Says {
    /// Nothing: the request may have been carried out.
    Nothing,
    /// It was not carried out, and may be later.
    NotNow,
    /// It was not carried out, and never will be.
    Never(ErrorKind),
}

/// A good answer of a libSQL server, whose one row is 7.
pub const LIBSQL: &str = r#"{"baton":"never-kept","base_url":"http://elsewhere.example","results":[{"type":"ok","response":{"type":"execute","result":{"cols":[{"name":"v","decltype":null}],"rows":[[{"type":"integer","value":"7"}]],"affected_row_count":0,"last_insert_rowid":null}}},{"type":"ok","response":{"type":"close"}}]}"#;

/// A good answer of D1's API, whose one row is 7.
pub const D1: &str = r#"{"success":true,"errors":[],"messages":[],"result":[{"results":{"columns":["v"],"rows":[[7]]},"success":true,"meta":{"changes":1}}]}"#;

/// A good answer of Neon's API to the settings of a call and its statement, whose one row is 7.
pub const NEON: &str = r#"{"results":[{"fields":[{"name":"set_config","dataTypeID":25}],"rows":[["1"]],"command":"SELECT","rowCount":1},{"fields":[{"name":"v","dataTypeID":23}],"rows":[["7"]],"command":"SELECT","rowCount":1}]}"#;

/// The same to a call with a session.
pub const NEON_SESSION: &str = r#"{"results":[{"fields":[],"rows":[],"rowCount":1},{"fields":[],"rows":[],"rowCount":1},{"fields":[{"name":"v","dataTypeID":23}],"rows":[["7"]],"command":"SELECT","rowCount":1}]}"#;

/// A good answer of PlanetScale's API, whose one row is 7.
pub const PLANETSCALE: &str = r#"{"session":{"signature":"never-kept","vitessSession":{"autocommit":true,"SessionUUID":"s"}},"result":{"fields":[{"name":"v","type":"INT32","charset":63}],"rows":[{"lengths":["1"],"values":"Nw=="}]},"timing":0.001}"#;

/// A good answer of PostgREST, whose one row is 7.
pub const POSTGREST: &str =
    r#"[{"v":7,"words":"so many that half of them are no answer, and no client can take them for one that is whole and good"}]"#;
/// A good answer of DynamoDB, whose one item has 7.
pub const DYNAMODB: &str =
    r#"{"Items":[{"v":{"N":"7"}}],"ConsumedCapacity":{"TableName":"t","CapacityUnits":0.5},"LastEvaluatedKey":{"v":{"N":"7"}}}"#;

/// A good answer of the RDS Data API to each of its operations: the name of a transaction, and a
/// result whose one row is 7.
pub const RDS_DATA: &str = r#"{"transactionId":"t","transactionStatus":"as is","columnMetadata":[{"name":"v","label":"v","typeName":"int4"}],"records":[[{"longValue":7}]],"numberOfRecordsUpdated":0}"#;

/// What a server says about an error that is in no answer to a caller: it may quote what a request
/// contained.
pub const SAID: &str = "sesame-of-the-server";

/// A good answer of ClickHouse, whose one row is 7.
pub const CLICKHOUSE: &str = concat!(
    "[\"v\"]\n[\"Int64\"]\n[",
    "                                                                                                    ",
    "7]\n"
);

/// JSON with a status.
#[must_use]
pub fn json(status: u16, body: &str) -> Reply {
    Reply::Whole(status, "application/json", body.to_owned())
}

/// What breaks below any protocol: the good answer is sent after it. `unready` is an answer that
/// says that nothing was executed.
fn broken(good: &str, unready: &Reply) -> Vec<Case> {
    broken_or(good, unready, Unavailable)
}

/// The same, where what is not ready is of this kind.
fn broken_or(good: &str, unready: &Reply, kind: ErrorKind) -> Vec<Case> {
    let whole = json(200, good);
    let half = Reply::Broken(good.to_owned(), good.len() / 2);
    vec![
        case("a good answer", vec![whole.clone()], (Ok(1), 1), (Ok(1), 1)),
        case("half a body", vec![half.clone()], (Err(Unavailable), 2), (Err(Protocol), 1)),
        case("half a body, then a good one", vec![half, whole.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("half of the JSON", vec![json(200, &good[..100]), whole.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("no answer at all", vec![Reply::Raw(b""), whole.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("no HTTP", vec![Reply::Raw(b"220 mail.example.com ESMTP\r\n")], (Err(Unavailable), 2), (Err(Protocol), 1)),
        case("plain text", vec![Reply::Whole(200, "text/plain", "hello".to_owned())], (Err(Protocol), 2), (Err(Protocol), 1)),
        case("a page", vec![Reply::Whole(502, "text/html", "<html>".to_owned()), whole.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("pages for ever", vec![Reply::Whole(500, "text/html", "<html>".to_owned())], (Err(Unavailable), 2), (Err(Protocol), 1)),
        case("not ready, then a good one", vec![unready.clone(), unready.clone(), whole], (Ok(1), 3), (Ok(1), 3)),
        case("never ready", vec![unready.clone()], (Err(kind), 6), (Err(kind), 6)),
        case(
            "a redirect",
            vec![Reply::Raw(b"HTTP/1.1 307 Over there\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n")],
            (Err(Configuration), 1),
            (Err(Configuration), 1),
        ),
        case("too much to do", vec![json(429, "")], (Err(Busy), 1), (Err(Busy), 1)),
    ]
}

/// What a libSQL server may answer.
#[must_use]
pub fn libsql() -> Vec<Case> {
    let good = json(200, LIBSQL);
    let error =
        |code: &str| json(200, &format!(r#"{{"results":[{{"type":"error","error":{{"message":"SQLite error: x","code":"{code}"}}}}]}}"#));
    let mut cases = broken(LIBSQL, &json(503, r#"{"error":"Timed out while opening database connection"}"#));
    cases.extend([
        case("a gateway's 503", vec![json(503, ""), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("a gateway's 503, ever", vec![json(503, r#"{"error":"upstream"}"#)], (Err(Unavailable), 2), (Err(Protocol), 1)),
        case("locked, then a good one", vec![error("SQLITE_BUSY"), good.clone()], (Ok(1), 2), (Ok(1), 2)),
        case("a constraint", vec![error("SQLITE_CONSTRAINT")], (Err(Constraint), 1), (Err(Constraint), 1)),
        case("a wrong token", vec![json(401, r#"{"error":"no"}"#), good], (Err(Credentials), 1), (Err(Credentials), 1)),
        case("no database", vec![json(404, "")], (Err(Configuration), 2), (Err(Configuration), 2)),
        case(
            "a bad request",
            vec![Reply::Whole(400, "text/plain", "Received an invalid baton".to_owned())],
            (Err(Protocol), 1),
            (Err(Protocol), 1),
        ),
    ]);
    cases
}

/// What PostgREST and what stands before it may answer.
#[must_use]
pub fn postgrest() -> Vec<Case> {
    let good = json(200, POSTGREST);
    let said = |status: u16, code: &str| json(status, &format!(r#"{{"code":"{code}","details":null,"hint":null,"message":"{SAID}"}}"#));
    let mut cases = broken(POSTGREST, &said(503, "PGRST001"));
    cases.extend([
        case("a deadlock, then a good one", vec![said(500, "40P01"), good.clone()], (Ok(1), 2), (Ok(1), 2)),
        case("no free connection, then a good one", vec![said(504, "PGRST003"), good.clone()], (Ok(1), 2), (Ok(1), 2)),
        case("a database that stops, then a good one", vec![said(503, "57P01"), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("a constraint", vec![said(409, "23505")], (Err(Constraint), 1), (Err(Constraint), 1)),
        case("an expired token", vec![said(401, "PGRST301"), good.clone()], (Err(Credentials), 1), (Err(Credentials), 1)),
        case(
            "a gateway that knows no key",
            vec![json(401, r#"{"message":"Invalid API key"}"#)],
            (Err(Credentials), 1),
            (Err(Credentials), 1),
        ),
        case("a gateway without an answer", vec![json(503, "<html>"), good], (Ok(1), 2), (Err(Protocol), 1)),
        case("another API", vec![json(404, "{}")], (Err(Configuration), 1), (Err(Configuration), 1)),
    ]);
    cases
}

/// What a ClickHouse server, and what stands before it, may answer.
#[must_use]
pub fn clickhouse() -> Vec<Case> {
    let text = |status: u16, body: &str| Reply::Whole(status, "text/plain", body.to_owned());
    let error =
        |status: u16, code: u16, words: &str| text(status, &format!("Code: {code}. DB::Exception: {words}. (NAME) (version 26.9.2.1)\n"));
    let (good, row) = (json(200, CLICKHOUSE), |row: &str| json(200, &format!("[\"v\"]\n[\"JSON\"]\n{row}\n")));
    let broken_row = (Err(Protocol), 2);
    let mut cases = broken(CLICKHOUSE, &error(500, 745, "CPU is overloaded"));
    cases.extend([
        case("too many at a time, then a good one", vec![error(500, 202, "Too many"), good.clone()], (Ok(1), 2), (Ok(1), 2)),
        case("a server that is not there", vec![text(503, ""), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("a server that was lost", vec![error(500, 210, "Connection reset by peer"), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("a wrong statement", vec![error(400, 62, "Syntax error"), good.clone()], (Err(Syntax), 1), (Err(Syntax), 1)),
        case("a wrong value", vec![error(400, 457, "Value hunter2"), good.clone()], (Err(Data), 1), (Err(Data), 1)),
        case(
            "a wrong password",
            vec![error(403, 516, "Authentication failed"), good.clone()],
            (Err(Credentials), 1),
            (Err(Credentials), 1),
        ),
        case("no such database", vec![error(404, 81, "Database x"), good.clone()], (Err(Configuration), 1), (Err(Configuration), 1)),
        case("no such page", vec![text(404, "Page / was not found"), good.clone()], (Err(Configuration), 1), (Err(Configuration), 1)),
        case("a failure that is good", vec![error(200, 241, "Memory limit exceeded"), good.clone()], (Err(Busy), 1), (Err(Protocol), 1)),
        case(
            "a failure after a row",
            vec![text(200, "[\"v\"]\n[\"Int64\"]\n[7]\nCode: 395. DB::Exception: x: while executing\n"), good.clone()],
            (Err(Data), 1),
            (Err(Protocol), 1),
        ),
        case("an answer without an end", vec![text(200, CLICKHOUSE.trim_end()), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("nothing at all", vec![text(200, "")], broken_row, (Err(Protocol), 1)),
        case("too many cells", vec![row("[1,2]")], broken_row, (Err(Protocol), 1)),
        case("a cell that is not JSON", vec![row("[{1:2}]")], broken_row, (Err(Protocol), 1)),
        case("deep lists", vec![row(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))], broken_row, (Err(Protocol), 1)),
        case("a large answer", vec![row(&format!("[\"{}\"]", "x".repeat(8 << 20)))], (Err(TooLarge), 1), (Err(TooLarge), 1)),
        case("many small cells", vec![row(&format!("[[{}1]]", "1,".repeat(1 << 20))), good], (Err(TooLarge), 1), (Err(TooLarge), 1)),
    ]);
    cases
}

/// What an API of any kind may answer: a status means what the standard says.
#[must_use]
pub fn http() -> Vec<Case> {
    let good = json(200, POSTGREST);
    let fields = |status, fields: &str| Reply::Fields(status, fields.to_owned(), SAID.to_owned());
    let half = Reply::Broken(POSTGREST.to_owned(), POSTGREST.len() / 2);
    let once_more = |what: &str, reply: Reply, written| case(what, vec![reply, good.clone()], (Ok(1), 2), (Err(written), 1));
    let mut cases = vec![
        case("a good answer", vec![good.clone()], (Ok(1), 1), (Ok(1), 1)),
        case("half a body", vec![half.clone()], (Err(Unavailable), 2), (Err(Protocol), 1)),
        once_more("half a body, then a good one", half, Protocol),
        once_more("half of the JSON", json(200, &POSTGREST[..100]), Protocol),
        once_more("very deep JSON", json(200, &"[".repeat(100_000)), Protocol),
        once_more("no answer at all", Reply::Raw(b""), Protocol),
        case("no HTTP", vec![Reply::Raw(b"220 mail.example.com ESMTP\r\n")], (Err(Unavailable), 2), (Err(Protocol), 1)),
        once_more("a gateway's page", Reply::Whole(502, "text/html", "<html>".to_owned()), Protocol),
        once_more("a pause of no time", fields(503, "retry-after: 0"), Busy),
        once_more("a pause that has passed", fields(429, "retry-after: Fri, 27 Nov 2020 08:49:37 GMT"), Busy),
        case("busy for ever", vec![json(503, "")], (Err(Busy), 2), (Err(Busy), 1)),
        case("a redirect elsewhere", vec![fields(307, "location: http://127.0.0.1:1/")], (Err(Denied), 1), (Err(Protocol), 1)),
        case("redirects without an end", vec![fields(302, "location: /t")], (Err(Protocol), 6), (Err(Protocol), 1)),
        case("a redirect to nowhere", vec![fields(301, "x: y")], (Err(Protocol), 1), (Err(Protocol), 1)),
    ];
    for (status, kind) in [
        (400, Data),
        (401, Credentials),
        (403, Denied),
        (404, Constraint),
        (405, Syntax),
        (408, TimedOut),
        (409, Constraint),
        (413, TooLarge),
        (422, Data),
        (500, Protocol),
        (501, Protocol),
        (600, Protocol),
    ] {
        cases.push(case(format!("{status}"), vec![fields(status, ""), good.clone()], (Err(kind), 1), (Err(kind), 1)));
    }
    for after in ["86400", "Fri, 27 Nov 2099 08:49:37 GMT", "soon", "-1", "99999999999999999999"] {
        let reply = fields(503, &format!("retry-after: {after}"));
        cases.push(case(format!("a pause until {after}"), vec![reply, good.clone()], (Err(Busy), 1), (Err(Busy), 1)));
    }
    cases
}

/// What D1's API may answer.
#[must_use]
pub fn d1() -> Vec<Case> {
    let said = |status: u16, code: u32, message: &str| {
        let envelope = serde_json::json!({"success": false, "errors": [{"code": code, "message": message}], "messages": [], "result": []});
        json(status, &envelope.to_string())
    };
    let good = json(200, D1);
    let lost = said(500, 7500, "D1 DB storage operation exceeded timeout which caused object to be reset.");
    let overload = said(503, 7500, "D1 DB is overloaded. Requests queued for too long.");
    let mut cases = broken_or(D1, &overload, Busy);
    cases.extend([
        case("a gateway's 503", vec![json(503, ""), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("a gateway's 503, ever", vec![said(503, 1, "not now")], (Err(Unavailable), 2), (Err(Protocol), 1)),
        case("a database that was reset", vec![lost.clone(), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("a database that is reset for ever", vec![lost], (Err(Unavailable), 2), (Err(Protocol), 1)),
        case("an overload", vec![said(500, 7500, "D1 DB is overloaded. Too many requests queued."), good], (Ok(1), 2), (Ok(1), 2)),
        case("too many requests", vec![said(429, 971, "Please wait")], (Err(Busy), 1), (Err(Busy), 1)),
        case("a wrong token", vec![said(401, 10000, "Authentication error")], (Err(Credentials), 1), (Err(Credentials), 1)),
        case("a malformed token", vec![said(400, 6003, "Invalid request headers")], (Err(Credentials), 1), (Err(Credentials), 1)),
        case("no such database", vec![said(404, 7404, "not found")], (Err(Configuration), 1), (Err(Configuration), 1)),
        case("a failure that is good", vec![said(200, 7500, "no such table: t: SQLITE_ERROR")], (Err(Syntax), 1), (Err(Syntax), 1)),
        case(
            "an integer that was rounded",
            vec![json(200, &D1.replace("[[7]]", "[[9007199254740992]]"))],
            (Err(Protocol), 1),
            (Err(Protocol), 1),
        ),
    ]);
    cases
}

/// An error of AWS.
#[must_use]
pub fn aws(status: u16, kind: &str, words: &str) -> Reply {
    json(status, &serde_json::json!({"__type": format!("com.amazonaws.x#{kind}"), "message": words}).to_string())
}

/// The errors of any service of AWS, where this is a good answer.
fn of_aws(good: &str) -> Vec<(&'static str, Reply, Says)> {
    let clock = format!("Signature expired: 20260102T030405Z is now earlier than 20260102T040405Z, hunter2 and {SAID}");
    let signature = format!("The request signature we calculated does not match: hunter2 and {SAID}");
    vec![
        ("a failure of the service", aws(500, "InternalServerError", SAID), Says::Nothing),
        ("a service that is away", aws(503, "ServiceUnavailable", SAID), Says::Nothing),
        ("an error that nobody knows", aws(400, "NewException", SAID), Says::Nothing),
        ("JSON that is not an object", json(200, &format!("[{good}]")), Says::Nothing),
        ("very deep JSON", json(200, &format!("{{\"Items\":{}", "[".repeat(100_000))), Says::Nothing),
        ("too many requests of this kind", aws(400, "ThrottlingException", SAID), Says::NotNow),
        ("too many requests", aws(400, "RequestLimitExceeded", SAID), Says::NotNow),
        ("a wrong key", aws(400, "UnrecognizedClientException", &format!("hunter2 {SAID}")), Says::Never(Credentials)),
        ("a wrong secret", aws(400, "InvalidSignatureException", &signature), Says::Never(Credentials)),
        ("a wrong clock", aws(400, "InvalidSignatureException", &clock), Says::Never(Denied)),
        ("an expired token", aws(400, "ExpiredTokenException", &format!("hunter2 {SAID}")), Says::Never(Credentials)),
        ("no permission", aws(400, "AccessDeniedException", SAID), Says::Never(Denied)),
        ("no credentials", json(403, ""), Says::Never(Credentials)),
        ("another server", json(404, ""), Says::Never(Configuration)),
        ("a request that is too large", json(413, ""), Says::Never(TooLarge)),
    ]
}

/// What DynamoDB may answer.
#[must_use]
pub fn dynamodb() -> Vec<Case> {
    let good = json(200, DYNAMODB);
    let with_items = |items: &str| json(200, &DYNAMODB.replace(r#"[{"v":{"N":"7"}}]"#, items));
    let broken_once = |what, items: &str| case(what, vec![with_items(items), good.clone()], (Ok(1), 2), (Err(Protocol), 1));
    let again = |what, kind: &str| case(what, vec![aws(400, kind, "x"), good.clone()], (Ok(1), 2), (Ok(1), 2));
    let last = |what, kind: &str, words: &str, told| case(what, vec![aws(400, kind, words), good.clone()], (Err(told), 1), (Err(told), 1));
    let mut cases = broken_or(DYNAMODB, &aws(400, "ThrottlingException", "Rate exceeded"), Busy);
    cases.extend(of_aws(DYNAMODB).into_iter().map(|(what, reply, says)| {
        let (read, written) = match says {
            Says::Nothing => ((Ok(1), 2), (Err(Protocol), 1)),
            Says::NotNow => ((Ok(1), 2), (Ok(1), 2)),
            Says::Never(kind) => ((Err(kind), 1), (Err(kind), 1)),
        };
        case(what, vec![reply, good.clone()], read, written)
    }));
    cases.extend([
        broken_once("items that are not objects", "[7]"),
        broken_once("items as an object", "{}"),
        broken_once("an attribute without a type", r#"[{"v":7}]"#),
        broken_once("an attribute of two types", r#"[{"v":{"N":"7","S":"7"}}]"#),
        broken_once("an attribute of a new type", r#"[{"v":{"X":"7"}}]"#),
        broken_once("a text in the place of a number", r#"[{"v":{"N":"seven"}}]"#),
        broken_once("bytes that are no base64", r#"[{"v":{"B":"?"}}]"#),
        again("a table without capacity", "ProvisionedThroughputExceededException"),
        again("a transaction on the same item", "TransactionConflictException"),
        last("no table", "ResourceNotFoundException", "x", Syntax),
        last("a wrong statement", "ValidationException", "Statement wasn't well formed", Syntax),
        last("a large item", "ValidationException", "Item size has exceeded the maximum allowed size", TooLarge),
        last(
            "a key of another type",
            "ValidationException",
            "Key attribute's data type should match its data type in table's schema",
            Data,
        ),
        last("a condition", "ConditionalCheckFailedException", "The conditional request failed", Constraint),
        last("a key that exists", "DuplicateItemException", "x", Constraint),
    ]);
    cases
}

/// The requests of a write through the RDS Data API, in their order.
const OF_WRITE: [&str; 4] = ["the begin", "the settings", "the statement", "the commit"];

/// An answer of the RDS Data API to one of the requests of a write, all others of which are
/// answered well. A read has no request but the first.
fn at(place: usize, what: &str, reply: &Reply, says: Says) -> Case {
    let good = json(200, RDS_DATA);
    let last = OF_WRITE.len() - 1;
    // What was begun is undone by a request.
    let sent = place + 1 + usize::from(place > 0);
    let read = match says {
        _ if place > 0 => (Ok(1), 1),
        Says::Nothing | Says::NotNow => (Ok(1), 2),
        Says::Never(kind) => (Err(kind), 1),
    };
    let written = match says {
        Says::Nothing | Says::Never(TooLarge | TimedOut) if place == last => (Err(Protocol), sent),
        Says::Never(kind) => (Err(kind), sent),
        Says::Nothing | Says::NotNow => (Ok(1), sent + OF_WRITE.len()),
    };
    let replies = [vec![good.clone(); place], vec![reply.clone(), good]].concat();
    case(format!("{what}: {}", OF_WRITE[place]), replies, read, written)
}

/// An error of PostgreSQL, as the RDS Data API tells it.
fn postgresql(words: &str, code: &str) -> Reply {
    aws(400, "DatabaseErrorException", &format!("{words}; Detail: {SAID}; SQLState: {code}"))
}

/// What the RDS Data API may answer. A write is four requests, and each of them may be the one that
/// goes wrong.
#[must_use]
pub fn rds_data() -> Vec<Case> {
    let good = json(200, RDS_DATA);
    let instead = |old: &str, new: &str| json(200, &RDS_DATA.replace(old, new));
    let error = |kind: &str| aws(400, kind, SAID);
    let mut answers = of_aws(RDS_DATA);
    answers.extend([
        ("half a body", Reply::Broken(RDS_DATA.to_owned(), RDS_DATA.len() / 2), Says::Nothing),
        ("half of the JSON", json(200, &RDS_DATA[..100]), Says::Nothing),
        ("no answer at all", Reply::Raw(b""), Says::Nothing),
        ("no HTTP", Reply::Raw(b"220 mail.example.com ESMTP\r\n"), Says::Nothing),
        ("plain text", Reply::Whole(200, "text/plain", "hello".to_owned()), Says::Nothing),
        ("a page", Reply::Whole(502, "text/html", "<html>".to_owned()), Says::Nothing),
        ("a gateway's 503", json(503, ""), Says::Nothing),
        ("no writer", aws(504, "DatabaseUnavailableException", SAID), Says::Nothing),
        ("no such transaction", aws(404, "TransactionNotFoundException", SAID), Says::Nothing),
        ("a lost connection", error("BadRequestException"), Says::Nothing),
        ("a farewell of PostgreSQL", postgresql("FATAL: terminating connection", "57P01"), Says::Nothing),
        ("a deadlock", postgresql("ERROR: deadlock detected", "40P01"), Says::NotNow),
        ("a wrong password", postgresql("FATAL: password authentication failed", "28P01"), Says::Never(Credentials)),
        (
            "a redirect",
            Reply::Raw(b"HTTP/1.1 307 Over there\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
            Says::Never(Configuration),
        ),
        ("too much to do", json(429, ""), Says::Never(Busy)),
        ("no API", error("HttpEndpointNotEnabledException"), Says::Never(Configuration)),
        ("no secret", error("SecretsErrorException"), Says::Never(Configuration)),
        ("no cluster", aws(404, "NotFoundException", SAID), Says::Never(Configuration)),
        ("a cluster that is changed", error("InvalidResourceStateException"), Says::Never(Unavailable)),
        ("45 seconds", error("StatementTimeoutException"), Says::Never(TimedOut)),
        ("a result that is too large", aws(400, "UnsupportedResultException", "more than the allowed size"), Says::Never(TooLarge)),
        ("a constraint", postgresql("ERROR: duplicate key", "23505"), Says::Never(Constraint)),
        ("a wrong statement", postgresql("ERROR: syntax error", "42601"), Says::Never(Syntax)),
    ]);
    let each =
        |(what, reply, says): &(&str, Reply, Says)| (0..OF_WRITE.len()).map(|place| at(place, what, reply, *says)).collect::<Vec<_>>();
    let mut cases: Vec<Case> = answers.iter().flat_map(each).collect();
    // To a begin these are good answers, so that the first is broken for a read, and the third for
    // a write.
    let broken_once = |what, reply: Reply| case(what, vec![reply.clone(), good.clone(), reply, good.clone()], (Ok(1), 2), (Ok(1), 8));
    let begun = |what, reply: Reply| case(what, vec![reply, good.clone()], (Ok(1), 1), (Ok(1), 5));
    let undone = |what, undo: Vec<Reply>, count| {
        let refused = postgresql("ERROR: duplicate key", "23505");
        case(what, [vec![good.clone(), good.clone(), refused], undo].concat(), (Ok(1), 1), (Err(Constraint), count))
    };
    let resuming = aws(400, "DatabaseResumingException", "Database is resuming after being auto-paused");
    let lost = Reply::Raw(b"");
    cases.extend([
        case("a good answer", vec![good.clone()], (Ok(1), 1), (Ok(1), 4)),
        case("no answer, ever", vec![lost.clone()], (Err(Unavailable), 2), (Err(Unavailable), 6)),
        case("half a body, ever", vec![Reply::Broken(RDS_DATA.to_owned(), 20)], (Err(Unavailable), 2), (Err(Unavailable), 6)),
        case("plain text, ever", vec![Reply::Whole(200, "text/plain", "hello".to_owned())], (Err(Protocol), 2), (Err(Protocol), 6)),
        case("throttled, ever", vec![error("ThrottlingException")], (Err(Busy), 6), (Err(Busy), 6)),
        case("no commit, ever", vec![good.clone(), good.clone(), good.clone(), lost.clone()], (Ok(1), 1), (Err(Protocol), 5)),
        // The request is sent again, and not the transaction.
        case("a cluster that wakes up: the begin", vec![resuming.clone(), good.clone()], (Ok(1), 2), (Ok(1), 5)),
        case(
            "a cluster that wakes up: the commit",
            vec![good.clone(), good.clone(), good.clone(), resuming.clone(), good.clone()],
            (Ok(1), 1),
            (Ok(1), 5),
        ),
        case("a commit of few words", vec![good.clone(), good.clone(), good.clone(), json(200, "{}")], (Ok(1), 1), (Ok(1), 4)),
        begun("a transaction without a name", instead(r#""transactionId":"t","#, "")),
        begun("a transaction whose name is empty", instead(r#""t""#, r#""""#)),
        begun("a transaction whose name is a number", instead(r#""t""#, "7")),
        broken_once("nothing", json(200, r#"{"transactionId":"t"}"#)),
        broken_once("records as an object", instead(r#"[[{"longValue":7}]]"#, "{}")),
        broken_once("records that are not lists", instead(r#"[{"longValue":7}]"#, "7")),
        broken_once("a record that is too long", instead(r#"{"longValue":7}"#, r#"{"longValue":7},{"longValue":8}"#)),
        broken_once("a record that is too short", instead(r#"{"longValue":7}"#, "")),
        broken_once("a cell that is not JSON", instead(r#"{"longValue":7}"#, "7")),
        broken_once("a cell without a value", instead(r#"{"longValue":7}"#, "{}")),
        broken_once("a cell of a new form", instead(r#"{"longValue":7}"#, r#"{"newValue":7}"#)),
        broken_once("bytes that are no base64", instead(r#"{"longValue":7}"#, r#"{"blobValue":"?"}"#)),
        broken_once("a column without a name", instead(r#""name":"v","label":"v","#, "")),
        broken_once("columns as an object", instead(r#"[{"name":"v","label":"v","typeName":"int4"}]"#, "{}")),
        undone("a rollback that works", vec![good.clone()], 4),
        undone("a rollback that is not answered", vec![lost.clone()], 4),
        undone("a rollback of nothing", vec![aws(404, "TransactionNotFoundException", SAID)], 4),
        undone("a rollback that nobody permits", vec![error("AccessDeniedException")], 4),
        undone("a rollback while the cluster wakes up", vec![resuming, good.clone()], 5),
        case(
            "a statement and its rollback that are not answered",
            vec![good.clone(), good.clone(), lost.clone(), lost, good],
            (Ok(1), 1),
            (Ok(1), 8),
        ),
    ]);
    cases
}

/// Answers of the RDS Data API that are larger than 9 MB, and a result that is larger than 1 MB,
/// where an app takes no more.
#[must_use]
pub fn rds_data_too_large() -> Vec<Case> {
    let good = json(200, RDS_DATA);
    let endless = json(200, &format!("\"{}\"", "x".repeat(9 << 20)));
    let row = json(200, &RDS_DATA.replace("{\"longValue\":7}", &format!("{{\"stringValue\":\"{}\"}}", "x".repeat(2 << 20))));
    let mut cases: Vec<Case> =
        (0..OF_WRITE.len()).map(|place| at(place, "an answer that is too large", &endless, Says::Never(TooLarge))).collect();
    // It was committed.
    cases.push(case("a row that is too large", vec![row.clone(), good.clone(), row, good], (Err(TooLarge), 1), (Err(TooLarge), 4)));
    cases
}

/// Requests to the RDS Data API that are not answered by the deadline.
#[must_use]
pub fn rds_data_silence() -> Vec<Case> {
    let stalled = Reply::Stalled(RDS_DATA.to_owned(), 20);
    let silent = |place| at(place, "silence", &Reply::Silence, Says::Never(TimedOut));
    let stops = |place| at(place, "a body that stops", &stalled, Says::Never(TimedOut));
    (0..OF_WRITE.len()).map(silent).chain([0, OF_WRITE.len() - 1].map(stops)).collect()
}

/// What Neon's API may answer.
#[must_use]
pub fn neon() -> Vec<Case> {
    neon_with(NEON)
}

/// What Neon's API may answer, where this is a good answer.
#[must_use]
pub fn neon_with(whole: &str) -> Vec<Case> {
    let good = json(200, whole);
    let said = |status, code: &str| json(status, &format!(r#"{{"message":"x","code":"{code}","severity":"ERROR"}}"#));
    let proxy = |status, message: &str| json(status, &format!(r#"{{"message":"{message}","code":"","severity":""}}"#));
    let with_rows = |rows: &str| json(200, &whole.replace(r#"[["7"]]"#, rows));
    let with_columns = |count: usize| {
        let repeated = |one: &str| format!("[{}]", vec![one; count].join(","));
        let fields = repeated(r#"{"name":"v","dataTypeID":23}"#);
        let body = whole.replace(r#"[{"name":"v","dataTypeID":23}]"#, &fields);
        json(200, &body.replace(r#"[["7"]]"#, &format!("[{}]", repeated(r#""7""#))))
    };
    let broken_once = |what, reply: Reply| case(what, vec![reply, good.clone()], (Ok(1), 2), (Err(Protocol), 1));
    let again = |what, reply: Reply| case(what, vec![reply, good.clone()], (Ok(1), 2), (Ok(1), 2));
    let last = |what, reply: Reply, kind| case(what, vec![reply, good.clone()], (Err(kind), 1), (Err(kind), 1));
    let mut cases = broken(whole, &proxy(503, "Couldn't connect to compute node"));
    cases.extend([
        broken_once("fewer results than statements", json(200, r#"{"results":[{"fields":[],"rows":[],"rowCount":1}]}"#)),
        broken_once("no results", json(200, r#"{"results":[]}"#)),
        broken_once("one result, not a batch's", json(200, r#"{"fields":[],"rows":[],"command":"UPDATE","rowCount":1}"#)),
        broken_once("a result that is a number", json(200, r#"{"results":[1,2]}"#)),
        broken_once("cells that are not text", with_rows("[[7]]")),
        broken_once("rows as objects", with_rows(r#"[{"v":"7"}]"#)),
        broken_once("a row that is too long", with_rows(r#"[["7","8"]]"#)),
        broken_once("a row that is too short", with_rows(r#"[["7"],[]]"#)),
        broken_once("a type that is not a number", json(200, &whole.replace(r#""dataTypeID":23"#, r#""dataTypeID":"int4""#))),
        broken_once("more columns than there can be", with_columns(1_665)),
        broken_once("a gateway's 503", json(503, "")),
        broken_once("a gateway's 503 in JSON", proxy(503, "upstream connect error")),
        broken_once("very deep JSON", json(200, &format!("{{\"results\":{}", "[".repeat(100_000)))),
        broken_once("a connection that broke in the middle", proxy(400, "connection closed")),
        broken_once("a farewell of PostgreSQL", said(400, "57P01")),
        broken_once("an error without words", json(400, "{}")),
        again("a compute that does not start yet", proxy(500, "Couldn't connect to compute node")),
        again("a deadlock", said(400, "40P01")),
        again("no connection left", said(500, "53300")),
        last("a constraint", said(400, "23505"), Constraint),
        last("a wrong statement", said(400, "42601"), Syntax),
        last("a wrong password", proxy(400, "password authentication failed for user 'x'"), Credentials),
        last("a password that PostgreSQL refuses", said(500, "28P01"), Credentials),
        case("as many columns as there can be", vec![with_columns(1_664)], (Ok(1), 1), (Ok(1), 1)),
        last("a wrong database", said(500, "3D000"), Configuration),
        last("no such endpoint", proxy(400, "The requested endpoint could not be found"), Configuration),
        last("nobody", json(401, ""), Denied),
        last("forbidden", json(403, ""), Denied),
        last("another API", json(404, ""), Configuration),
        last("a request that is too large", json(413, ""), TooLarge),
        last("a result that is too large", proxy(507, "response is too large (max is 10485760 bytes)"), TooLarge),
    ]);
    cases
}

/// What PlanetScale's API may answer.
#[must_use]
pub fn planetscale() -> Vec<Case> {
    let good = json(200, PLANETSCALE);
    let said = |code: &str, words: &str| {
        let message = format!("target: x.-.primary: vttablet: rpc error: code = {code} desc = {words} (CallerID: me): Sql: \\\"\\\"");
        json(200, &format!(r#"{{"session":{{}},"error":{{"code":"UNKNOWN","message":"{message}"}}}}"#))
    };
    let instead = |old: &str, new: &str| json(200, &PLANETSCALE.replace(old, new));
    let broken_once = |what, reply: Reply| case(what, vec![reply, good.clone()], (Ok(1), 2), (Err(Protocol), 1));
    let last = |what, reply: Reply, kind| case(what, vec![reply, good.clone()], (Err(kind), 1), (Err(kind), 1));
    let mut cases = broken(PLANETSCALE, &said("Aborted", "Deadlock found (errno 1213) (sqlstate 40001)"));
    // A deadlock is its own kind.
    cases.retain(|case| case.what != "never ready");
    cases.extend([
        broken_once("no session", instead(r#""session""#, r#""other""#)),
        broken_once("nothing", json(200, "{}")),
        broken_once("rows that are not objects", instead(r#"[{"lengths""#, r#"[7,{"lengths""#)),
        broken_once("a cell that is too long", instead(r#"["1"]"#, r#"["2"]"#)),
        broken_once("a cell that is too short", instead(r#"["1"]"#, r#"["0"]"#)),
        broken_once("a row that is too long", instead(r#"["1"]"#, r#"["1","-1"]"#)),
        broken_once("a text in the place of a number", instead("Nw==", "eA==")),
        broken_once("cells that are no base64", instead("Nw==", "N")),
        broken_once("a session that is too large", instead("never-kept", &"x".repeat(2 << 20))),
        broken_once("a gateway's 503", json(503, "")),
        broken_once("Cloudflare's 522", Reply::Whole(522, "text/html", "<html>".to_owned())),
        broken_once("an error without words", json(200, r#"{"session":{},"error":{}}"#)),
        broken_once("a connection that broke in the middle", said("Unavailable", "gone (errno 2013) (sqlstate HY000)")),
        broken_once("no tablet", json(200, r#"{"error":{"code":"UNAVAILABLE","message":"no healthy tablet available"}}"#)),
        broken_once("very deep JSON", json(200, &format!("{{\"result\":{}", "[".repeat(100_000)))),
        last("a constraint", said("AlreadyExists", "Duplicate entry '7' for key 'k' (errno 1062) (sqlstate 23000)"), Constraint),
        last(
            "a value that reads like a deadlock",
            said("AlreadyExists", "Duplicate entry '(errno 1213) (sqlstate 40001)' for key 'k' (errno 1062) (sqlstate 23000)"),
            Constraint,
        ),
        last("a deadlock that nobody confirms", said("Unknown", "Deadlock found (errno 1213) (sqlstate 40001)"), Busy),
        last("a wrong statement", json(400, r#"{"code":"INVALID_ARGUMENT","message":"syntax error at position 3"}"#), Syntax),
        last("nobody", json(401, ""), Credentials),
        last("forbidden", json(403, ""), Credentials),
        last("another API", json(404, ""), Configuration),
        last("a request that is too large", json(413, ""), TooLarge),
    ]);
    cases
}

/// What Upstash's API and what stands before it may answer.
#[must_use]
pub fn upstash() -> Vec<Case> {
    let good = json(200, r#"{"result":1}"#);
    let broken_once = |what, reply: Reply| case(what, vec![reply, good.clone()], (Ok(1), 2), (Err(Protocol), 1));
    let again = |what, reply: Reply| case(what, vec![reply, good.clone()], (Ok(1), 2), (Ok(1), 2));
    let last = |what, reply: Reply, kind| case(what, vec![reply, good.clone()], (Err(kind), 1), (Err(kind), 1));
    vec![
        case("a good answer", vec![good.clone()], (Ok(1), 1), (Ok(1), 1)),
        broken_once("half an answer", Reply::Broken(r#"{"result":1}"#.to_owned(), 5)),
        broken_once("half of the JSON", json(200, r#"{"result":"#)),
        broken_once("no answer", Reply::Raw(b"")),
        broken_once("no HTTP", Reply::Raw(b"220 mail.example.com ESMTP\r\n")),
        broken_once("a page", Reply::Whole(200, "text/html", "<html>".to_owned())),
        broken_once("not base64", json(200, r#"{"result":"plain text"}"#)),
        broken_once("a gateway's failure", json(502, "")),
        broken_once("a gateway's 503", json(503, "")),
        case("a gateway's 503, ever", vec![json(503, &format!(r#"{{"error":"{SAID}"}}"#))], (Err(Unavailable), 2), (Err(Protocol), 1)),
        again("too many requests, then a good one", json(429, "")),
        again("loading, then a good one", json(400, &format!(r#"{{"error":"LOADING {SAID}"}}"#))),
        last("no requests left", json(400, &format!(r#"{{"error":"ERR max daily request limit exceeded {SAID}"}}"#)), Busy),
        last("a wrong token", json(401, &format!(r#"{{"error":"Unauthorized {SAID}"}}"#)), Credentials),
        last("a redirect", json(302, ""), Configuration),
    ]
}
