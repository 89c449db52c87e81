//! What crosses the border to the prelude, as JSON. The other side is prelude/core.js: the numbers
//! and shapes are the same there.

use base64::Engine as _;
use millrace_core::{
    Error, ErrorKind, Json,
    headers::Headers,
    ports::{
        Fetched, HttpRequest, Invocation, Redirect, Reply, Returned, ScriptFault, Thrown, ToolErrorReply,
        script_value::{self, Entering},
    },
    value::{MAX_SAFE_INTEGER, Rows, Value},
};
use serde::Deserialize as _;
use serde_json::{Number, json};

use crate::limit;

/// What takes time.
pub(crate) mod ask {
    pub(crate) const FETCH: i32 = 1;
    pub(crate) const QUERY: i32 = 2;
    pub(crate) const TIMER: i32 = 3;
    pub(crate) const CACHE: i32 = 4;
    pub(crate) const CRYPTO: i32 = 5;
    pub(crate) const API: i32 = 6;
}

/// What is answered at once.
pub(crate) mod say {
    pub(crate) const LOG: i32 = 10;
    pub(crate) const PROGRESS: i32 = 11;
    pub(crate) const REQUIRE_INPUT: i32 = 12;
    pub(crate) const URL_PARSE: i32 = 13;
    pub(crate) const URL_SET: i32 = 14;
    pub(crate) const FORM_PARSE: i32 = 15;
    pub(crate) const FORM_SERIALIZE: i32 = 16;
    pub(crate) const DIGEST: i32 = 17;
    /// A question is no longer asked: its timer was cleared, its request aborted.
    pub(crate) const TAKE_BACK: i32 = 18;
    pub(crate) const ABORTED: i32 = 19;
    pub(crate) const REFUSED: i32 = 20;
    pub(crate) const TOOK: i32 = 22;
    /// The text of a part of the prelude.
    pub(crate) const PART: i32 = 23;
}

/// The deepest nesting of JSON that is read: what the prelude lets through, and what it puts around
/// that.
const MAX_DEPTH: usize = 300;

/// The longest body of a response; the core may set less.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// Reads JSON that a script may have made. `None` of what is none, or nested too deep.
pub(crate) fn parse(text: &str) -> Option<Json> {
    if depth(text) > MAX_DEPTH {
        return None;
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let json = Json::deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(json)
}

/// How deep the brackets of a text are nested, outside of its strings.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut is_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The places of integers that a script gets as bigints: `[…path, digits]` for each.
pub(crate) fn bigs(json: &Json) -> Json {
    let (mut found, mut path) = (Vec::new(), Vec::new());
    find_bigs(json, &mut path, &mut found);
    Json::Array(found)
}

fn find_bigs(json: &Json, path: &mut Vec<Json>, found: &mut Vec<Json>) {
    match json {
        Json::Number(number) => {
            if let Entering::Integer(value) = script_value::entering(number) {
                let mut place = path.clone();
                place.push(Json::from(value.to_string()));
                found.push(Json::Array(place));
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Json::from(index));
                find_bigs(item, path, found);
                path.pop();
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                if member.is_number() || member.is_array() || member.is_object() {
                    path.push(Json::from(name.as_str()));
                    find_bigs(member, path, found);
                    path.pop();
                }
            }
        }
        _ => {}
    }
}

/// The message that calls a script, which may be the next one in an instance that others have used.
pub(crate) fn call(invocation: &Invocation<'_>, is_next: bool) -> String {
    let Invocation { index, export, payload, ctx, limits, host, .. } = invocation;
    let required: Vec<Json> = host.required_variables().iter().map(|name| Json::from(name.as_str())).collect();
    let mut message = String::with_capacity(256);
    let mut member = |name: &str, value: &dyn std::fmt::Display| {
        message.push_str(if message.is_empty() { "{\"" } else { ",\"" });
        message.push_str(name);
        message.push_str("\":");
        // Writing to a string does not fail.
        let _ = std::fmt::Write::write_fmt(&mut message, format_args!("{value}"));
    };
    member("script", index);
    if is_next {
        member("isNext", &true);
    }
    member("export", &Json::from(*export));
    member("payload", payload);
    member("ctx", ctx);
    for (name, big) in [("payloadBigs", bigs(payload)), ("ctxBigs", bigs(ctx))] {
        if big != json!([]) {
            member(name, &big);
        }
    }
    member("required", &Json::Array(required));
    member("hasEnv", &payload.get("env").is_some());
    member("output", &limits.output_bytes);
    member("memory", &limits.memory_bytes);
    message.push('}');
    message
}

/// What was asked for is not what the prelude asks: it is not, or no longer, ours.
pub(crate) fn not_understood() -> Error {
    Error::new(ErrorKind::Protocol, "the script asked for something that is not understood")
}

/// A question of `fetch`: `[method, url, [name, value, …], redirect]`, and the body.
pub(crate) fn request(question: &Json, body: Vec<u8>, deadline_ms: u64) -> Option<(HttpRequest, Redirect)> {
    let mut headers = Headers::new();
    for pair in question[2].as_array()?.chunks_exact(2) {
        headers.append(pair[0].as_str()?, pair[1].as_str()?);
    }
    let redirect = match question[3].as_str()? {
        "follow" => Redirect::Follow,
        "manual" => Redirect::Manual,
        _ => Redirect::Error,
    };
    let (method, url) = (question[0].as_str()?.to_owned(), question[1].as_str()?.to_owned());
    let request = HttpRequest { method, url, headers, body, deadline_ms, max_response_bytes: MAX_RESPONSE_BYTES, ..HttpRequest::default() };
    Some((request, redirect))
}

/// Its answer: `[status, [name, value, …], url, redirected]`; the body goes beside it.
pub(crate) fn response(fetched: &Fetched) -> Json {
    let headers: Vec<Json> = fetched.response.headers.iter().flat_map(|(name, value)| [Json::from(name), Json::from(value)]).collect();
    json!([fetched.response.status, headers, fetched.url, fetched.redirected])
}

/// A question of `ctx.db` or `ctx.api`: `[adapter, text, [[type, value], …]]`, and the bytes of
/// parameters, one after the other.
pub(crate) fn query(question: &Json, mut bytes: &[u8]) -> Option<(String, String, Vec<Value>)> {
    let params = question[2].as_array()?.iter().map(|param| parameter(param, &mut bytes)).collect::<Option<_>>()?;
    Some((question[0].as_str()?.to_owned(), question[1].as_str()?.to_owned(), params))
}

/// A question of `ctx.cache`: `[key]`, or `[key, value, ttl]`.
pub(crate) fn cache(mut question: Json) -> Option<(String, Option<(Json, f64)>)> {
    let value = question.get_mut(1).map(Json::take);
    let mut put = value.map(|value| Some((value, question[2].as_f64()?)));
    if let Some(Some((value, _))) = &mut put {
        plain_numbers(value);
    }
    Some((
        question[0].as_str()?.to_owned(),
        match put {
            Some(put) => Some(put?),
            None => None,
        },
    ))
}

/// What was found there: `[value, bigs]`, or `[]`.
pub(crate) fn cached(found: Option<Json>) -> Json {
    found.map_or_else(|| json!([]), |value| json!([value, bigs(&value)]))
}

fn parameter(param: &Json, bytes: &mut &[u8]) -> Option<Value> {
    let value = &param[1];
    Some(match param[0].as_str()? {
        "z" => Value::Null,
        "b" => Value::Bool(value.as_bool()?),
        "s" => Value::Text(value.as_str()?.to_owned()),
        "f" => Value::F64(value.as_f64()?),
        "t" => Value::Timestamp(value.as_str()?.to_owned()),
        "i" => {
            let digits = value.as_str()?;
            digits.parse().map_or_else(|_| Value::Decimal(digits.to_owned()), Value::I64)
        }
        "y" => {
            let (own, rest) = bytes.split_at_checked(usize::try_from(value.as_u64()?).ok()?)?;
            *bytes = rest;
            Value::Bytes(own.to_vec())
        }
        "l" => Value::Array(value.as_array()?.iter().map(|item| parameter(item, bytes)).collect::<Option<_>>()?),
        "j" => Value::Json(value.clone()),
        _ => return None,
    })
}

/// The rows of a database: `[columns, rows, bigs]`.
pub(crate) fn rows(rows: &Rows) -> Json {
    let cells: Vec<Json> = rows.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let cells = Json::Array(cells);
    json!([rows.columns, cells, bigs(&cells)])
}

/// The answer of an API: `[value, bigs, truncated]`.
pub(crate) fn document(rows: Rows) -> Json {
    let document = rows.document.unwrap_or_default();
    let bigs = bigs(&document);
    json!([document, bigs, rows.truncated])
}

fn cell(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::I64(value) => Json::from(*value),
        Value::U64(value) => Json::from(*value),
        Value::F64(value) => script_value::number(*value).unwrap_or_default(),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => Json::String(base64::engine::general_purpose::STANDARD.encode(bytes)),
        Value::Json(json) => json.clone(),
        Value::Array(items) => items.iter().map(cell).collect(),
    }
}

/// What was thrown past the prelude.
pub(crate) struct Escaped {
    pub(crate) message: String,
    pub(crate) stack: Option<String>,
    pub(crate) limit: Option<String>,
}

/// Reads what the module says of it.
pub(crate) fn escaped(text: &str) -> Escaped {
    let told = parse(text).unwrap_or_default();
    let member = |name: &str| told[name].as_str().map(str::to_owned);
    Escaped { message: member("message").unwrap_or_default(), stack: member("stack"), limit: member("limit") }
}

/// What a call has come to.
pub(crate) struct Answer {
    pub(crate) outcome: Result<Returned, ScriptFault>,
    /// Whether the script came to its end, so that what is left of timers is its author's business.
    pub(crate) has_ended: bool,
}

/// Reads what the prelude says of a call.
pub(crate) fn answer(text: &str, invocation: &Invocation<'_>, causes: &[Option<String>]) -> Answer {
    let limits = &invocation.limits;
    let Some(Json::Object(mut told)) = parse(text) else {
        return Answer { outcome: Err(ScriptFault::Broken(String::from("the script engine gave no answer"))), has_ended: false };
    };
    let is_too_long = |json: &Json| {
        let most = limits.output_bytes as usize;
        text.len() > most && json.to_string().len() > most
    };
    let mut has_ended = false;
    let outcome = if let Some(mut value) = told.remove("value") {
        has_ended = true;
        plain_numbers(&mut value);
        if is_too_long(&value) { Err(limit::output(limits)) } else { Ok(Returned::Value(value)) }
    } else if let Some(reply) = told.remove("reply") {
        has_ended = true;
        match read_reply(reply) {
            Some(Reply::Success(data) | Reply::Content(data)) if is_too_long(&data) => Err(limit::output(limits)),
            Some(reply) => Ok(Returned::Reply(reply)),
            None => Err(ScriptFault::Broken(String::from("the script engine gave no reply"))),
        }
    } else if let Some(threw) = told.remove("threw") {
        let thrown = read_thrown(threw, causes);
        has_ended = thrown.reply.as_ref().is_some_and(|reply| *reply != Reply::InputRequired);
        Err(ScriptFault::Thrown(thrown))
    } else if let Some(left) = told.remove("left") {
        let said = left["message"].as_str().unwrap_or_default().to_owned();
        let thrown = read_thrown(left, causes);
        // A reply says by itself what it is.
        let message = if thrown.reply.is_some() { said + &thrown.message } else { said };
        Err(ScriptFault::LeftBehind(Thrown { message, reply: None, ..thrown }))
    } else if let Some(text) = told.get("notJson").and_then(Json::as_str) {
        Err(ScriptFault::NotJson(text.to_owned()))
    } else if told.contains_key("tooLong") {
        Err(limit::output(limits))
    } else if let Some(what) = told.get("limit").and_then(Json::as_str) {
        Err(if what == "memory" { limit::memory(limits) } else { limit::stack() })
    } else if let Some(what) = told.get("broken").and_then(Json::as_str) {
        let (path, export) = (&invocation.script.path, invocation.export);
        Err(ScriptFault::Broken(match what {
            "missing" => format!("`{path}` has no export `{export}`"),
            _ => format!("the export `{export}` of `{path}` is not a function"),
        }))
    } else if told.contains_key("nothing") {
        has_ended = true;
        Ok(Returned::Undefined)
    } else {
        Err(ScriptFault::Broken(String::from("the answer of the script engine is not understood")))
    };
    Answer { outcome, has_ended }
}

/// A number of a script is a double, also where its digits are those of a longer integer.
fn plain_numbers(json: &mut Json) {
    match json {
        Json::Number(number) => {
            let is_long = number.as_i128().is_some_and(|value| value.unsigned_abs() > u128::from(MAX_SAFE_INTEGER));
            if is_long && let Some(double) = number.as_f64().and_then(Number::from_f64) {
                *number = double;
            } else if number.is_f64()
                && let Some(value) = number.as_f64()
            {
                *json = script_value::number(value).unwrap_or_default();
            }
        }
        Json::Array(items) => items.iter_mut().for_each(plain_numbers),
        Json::Object(members) => members.values_mut().for_each(plain_numbers),
        _ => {}
    }
}

fn read_thrown(mut told: Json, causes: &[Option<String>]) -> Thrown {
    let reply = told.get_mut("reply").map(Json::take).and_then(read_reply);
    let message = match &reply {
        Some(reply) => reply.told(),
        None => told["message"].as_str().unwrap_or_default().to_owned(),
    };
    let cause = told["cause"].as_u64().and_then(|number| causes.get(usize::try_from(number).ok()?)?.clone());
    Thrown { message, stack: told["stack"].as_str().map(str::to_owned), cause: cause.map(String::into_boxed_str), reply }
}

fn read_reply(mut told: Json) -> Option<Reply> {
    let text = |told: &Json, name: &str| told[name].as_str().map(str::to_owned);
    let mut data = ["data", "members"].into_iter().find_map(|name| told.get_mut(name).map(Json::take)).unwrap_or_default();
    plain_numbers(&mut data);
    Some(match told["kind"].as_str()? {
        "success" => Reply::Success(data),
        "content" => Reply::Content(data),
        "anonymous" => Reply::Anonymous(data),
        "inputRequired" => Reply::InputRequired,
        "error" => Reply::Error(text(&told, "message")?),
        "required" => Reply::Required(text(&told, "field")?),
        "toolError" => Reply::ToolError(ToolErrorReply {
            code: text(&told, "code")?,
            message: text(&told, "message"),
            suggestion: text(&told, "suggestion"),
            available_actions: told["available_actions"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Json::as_str)
                .map(str::to_owned)
                .collect(),
            details: told["details"].as_array().into_iter().flatten().filter_map(pair).collect(),
            severity: text(&told, "severity"),
            retry_after_s: told["retry_after"].as_u64(),
        }),
        _ => return None,
    })
}

fn pair(pair: &Json) -> Option<(String, String)> {
    Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_up_to_a_depth() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(MAX_DEPTH)).is_some());
        assert!(parse(&nested(MAX_DEPTH + 1)).is_none());
        assert!(parse(&nested(1_000_000)).is_none());
        assert_eq!(parse(&format!("{:?}", "[".repeat(1000))), Some(Json::from("[".repeat(1000))));
        assert_eq!(depth(r#"{"a\"[":["\\",[]]}"#), 3);
        assert_eq!(parse("1 2"), None);
    }

    #[test]
    fn long_integers_are_found_with_their_places() {
        assert_eq!(
            bigs(&json!({"a": [1, u64::MAX], "b": {"c": i64::MIN}})),
            json!([["a", 1, "18446744073709551615"], ["b", "c", "-9223372036854775808"]])
        );
        assert_eq!(bigs(&json!(9_007_199_254_740_992_i64)), json!([["9007199254740992"]]));
        assert_eq!(bigs(&json!([9_007_199_254_740_991_i64, 1e300, "x"])), json!([]));
    }

    #[test]
    fn numbers_are_those_of_a_script() {
        let mut json: Json = serde_json::from_str("[9007199254740992, 18446744073709551615, 1e3, 0.5, -1, [1e300]]").unwrap();
        plain_numbers(&mut json);
        assert_eq!(json, json!([9_007_199_254_740_992.0, 18_446_744_073_709_551_615.0, 1000, 0.5, -1, [1e300]]));
        assert!(!json["0"].is_i64());
    }
}
