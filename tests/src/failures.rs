//! What drivers of databases far away make of failures: tables of answers, and what becomes of a read and of a write, whichever host sends
//! them.

use millrace_core::ErrorKind::{self, Busy, Configuration, Constraint, Denied, Protocol, Syntax, TooLarge, Unavailable};

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
    pub what: &'static str,
    /// The answers, the last one again and again.
    pub replies: Vec<Reply>,
    /// What becomes of [`READ`].
    pub read: Outcome,
    /// What becomes of [`WRITE`].
    pub written: Outcome,
}

const fn case(what: &'static str, replies: Vec<Reply>, read: Outcome, written: Outcome) -> Case {
    Case { what, replies, read, written }
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

/// What breaks below any protocol: the good answer is sent after it. `unready` is an answer that says that nothing was executed.
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
        case("a wrong token", vec![json(401, r#"{"error":"no"}"#), good], (Err(Denied), 1), (Err(Denied), 1)),
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
    let said = |status: u16, code: &str| json(status, &format!(r#"{{"code":"{code}","details":null,"hint":null,"message":"hunter2"}}"#));
    let mut cases = broken(POSTGREST, &said(503, "PGRST001"));
    cases.extend([
        case("a deadlock, then a good one", vec![said(500, "40P01"), good.clone()], (Ok(1), 2), (Ok(1), 2)),
        case("no free connection, then a good one", vec![said(504, "PGRST003"), good.clone()], (Ok(1), 2), (Ok(1), 2)),
        case("a database that stops, then a good one", vec![said(503, "57P01"), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("a constraint", vec![said(409, "23505")], (Err(Constraint), 1), (Err(Constraint), 1)),
        case("an expired token", vec![said(401, "PGRST301"), good.clone()], (Err(Configuration), 1), (Err(Configuration), 1)),
        case(
            "a gateway that knows no key",
            vec![json(401, r#"{"message":"Invalid API key"}"#)],
            (Err(Configuration), 1),
            (Err(Configuration), 1),
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
        case("a wrong value", vec![error(400, 457, "Value hunter2"), good.clone()], (Err(Constraint), 1), (Err(Constraint), 1)),
        case("a wrong password", vec![error(403, 516, "Authentication failed"), good.clone()], (Err(Denied), 1), (Err(Denied), 1)),
        case("no such database", vec![error(404, 81, "Database x"), good.clone()], (Err(Configuration), 1), (Err(Configuration), 1)),
        case("no such page", vec![text(404, "There is no handle /"), good.clone()], (Err(Configuration), 1), (Err(Configuration), 1)),
        case("a failure that is good", vec![error(200, 241, "Memory limit exceeded"), good.clone()], (Err(Busy), 1), (Err(Protocol), 1)),
        case(
            "a failure after a row",
            vec![text(200, "[\"v\"]\n[\"Int64\"]\n[7]\nCode: 395. DB::Exception: x: while executing\n"), good.clone()],
            (Err(Constraint), 1),
            (Err(Protocol), 1),
        ),
        case("an answer without an end", vec![text(200, CLICKHOUSE.trim_end()), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case("nothing at all", vec![text(200, "")], broken_row, (Err(Protocol), 1)),
        case("too many cells", vec![row("[1,2]")], broken_row, (Err(Protocol), 1)),
        case("a cell that is none", vec![row("[{1:2}]")], broken_row, (Err(Protocol), 1)),
        case("deep lists", vec![row(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))], broken_row, (Err(Protocol), 1)),
        case("a large answer", vec![row(&format!("[\"{}\"]", "x".repeat(8 << 20)))], (Err(TooLarge), 1), (Err(TooLarge), 1)),
        case("many small cells", vec![row(&format!("[[{}1]]", "1,".repeat(1 << 20))), good], (Err(TooLarge), 1), (Err(TooLarge), 1)),
    ]);
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
        case("a wrong token", vec![said(401, 10000, "Authentication error")], (Err(Denied), 1), (Err(Denied), 1)),
        case("a malformed token", vec![said(400, 6003, "Invalid request headers")], (Err(Denied), 1), (Err(Denied), 1)),
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

/// What any service of AWS may answer, where this is a good answer.
fn of_aws(good: &str) -> Vec<Case> {
    let whole = json(200, good);
    let lost = |what, status, kind: &str| case(what, vec![aws(status, kind, "x"), whole.clone()], (Ok(1), 2), (Err(Protocol), 1));
    let again = |what, kind: &str| case(what, vec![aws(400, kind, "x"), whole.clone()], (Ok(1), 2), (Ok(1), 2));
    let last = |what, kind: &str, words: &str| case(what, vec![aws(400, kind, words), whole.clone()], (Err(Denied), 1), (Err(Denied), 1));
    let mut cases = broken_or(good, &aws(400, "ThrottlingException", "Rate exceeded"), Busy);
    cases.extend([
        lost("a failure of the service", 500, "InternalServerError"),
        lost("a service that is away", 503, "ServiceUnavailable"),
        lost("an error that nobody knows", 400, "NewException"),
        case("JSON that is no object", vec![json(200, &format!("[{good}]")), whole.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        case(
            "very deep JSON",
            vec![json(200, &format!("{{\"Items\":{}", "[".repeat(100_000))), whole.clone()],
            (Ok(1), 2),
            (Err(Protocol), 1),
        ),
        again("too many requests of this kind", "ThrottlingException"),
        again("too many requests", "RequestLimitExceeded"),
        last("a wrong key", "UnrecognizedClientException", "x"),
        last("a wrong secret", "InvalidSignatureException", "The request signature we calculated does not match"),
        last("a wrong clock", "InvalidSignatureException", "Signature expired: 20260102T030405Z is now earlier than 20260102T040405Z"),
        last("an expired token", "ExpiredTokenException", "x"),
        last("no permission", "AccessDeniedException", "x"),
        case("no credentials", vec![json(403, "")], (Err(Denied), 1), (Err(Denied), 1)),
        case("another server", vec![json(404, "")], (Err(Configuration), 1), (Err(Configuration), 1)),
        case("a request that is too large", vec![json(413, "")], (Err(TooLarge), 1), (Err(TooLarge), 1)),
    ]);
    cases
}

/// What DynamoDB may answer.
#[must_use]
pub fn dynamodb() -> Vec<Case> {
    let good = json(200, DYNAMODB);
    let with_items = |items: &str| json(200, &DYNAMODB.replace(r#"[{"v":{"N":"7"}}]"#, items));
    let broken_once = |what, items: &str| case(what, vec![with_items(items), good.clone()], (Ok(1), 2), (Err(Protocol), 1));
    let again = |what, kind: &str| case(what, vec![aws(400, kind, "x"), good.clone()], (Ok(1), 2), (Ok(1), 2));
    let last = |what, kind: &str, words: &str, told| case(what, vec![aws(400, kind, words), good.clone()], (Err(told), 1), (Err(told), 1));
    let mut cases = of_aws(DYNAMODB);
    cases.extend([
        broken_once("items that are none", "[7]"),
        broken_once("items as an object", "{}"),
        broken_once("an attribute without a type", r#"[{"v":7}]"#),
        broken_once("an attribute of two types", r#"[{"v":{"N":"7","S":"7"}}]"#),
        broken_once("an attribute of a new type", r#"[{"v":{"X":"7"}}]"#),
        broken_once("a number that is none", r#"[{"v":{"N":"seven"}}]"#),
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
            Constraint,
        ),
        last("a condition", "ConditionalCheckFailedException", "The conditional request failed", Constraint),
        last("a key that exists", "DuplicateItemException", "x", Constraint),
    ]);
    cases
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
        broken_once("a type that is no number", json(200, &whole.replace(r#""dataTypeID":23"#, r#""dataTypeID":"int4""#))),
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
        last("a wrong password", proxy(400, "password authentication failed for user 'x'"), Denied),
        last("a password that PostgreSQL refuses", said(500, "28P01"), Denied),
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
        broken_once("rows that are none", instead(r#"[{"lengths""#, r#"[7,{"lengths""#)),
        broken_once("a cell that is too long", instead(r#"["1"]"#, r#"["2"]"#)),
        broken_once("a cell that is too short", instead(r#"["1"]"#, r#"["0"]"#)),
        broken_once("a row that is too long", instead(r#"["1"]"#, r#"["1","-1"]"#)),
        broken_once("a number that is none", instead("Nw==", "eA==")),
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
        last("nobody", json(401, ""), Denied),
        last("forbidden", json(403, ""), Denied),
        last("another API", json(404, ""), Configuration),
        last("a request that is too large", json(413, ""), TooLarge),
    ]);
    cases
}
