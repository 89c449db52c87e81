//! A response → the reply that Redis gave, or the words of its error.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Error, ErrorKind, Json, ports::HttpResponse};
use millrace_redis::Reply;

use crate::shared::{StatementFailure, excerpt};

/// How deep lists may be nested.
const MAX_DEPTH: usize = 32;
/// What an element counts towards the limit, as in connector `redis`.
const ELEMENT_BYTES: usize = 32;

/// Takes a response. `most_bytes` is the limit of connector `redis` for the same reply.
///
/// # Errors
/// A response that is no reply. The words within are those of an error that Redis replied with.
pub(super) fn of_response(response: &HttpResponse, most_bytes: usize) -> Result<Result<Reply, String>, StatementFailure> {
    let body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    let said = body.get("error").and_then(Json::as_str);
    match (response.status, said) {
        (200 | 400, Some(words)) => return Ok(Err(words.to_owned())),
        (200, None) => {}
        (status, _) => return Err(of_status(status, &response.body)),
    }
    let Json::Object(mut body) = body else { return Err(unknown("the response has another form")) };
    let Some(result) = body.remove("result") else { return Err(unknown("the response has no result")) };
    let mut left = most_bytes;
    match reply(result, 0, &mut left) {
        Ok(reply) => Ok(Ok(reply)),
        Err(Wrong::Form(what)) => Err(unknown(what)),
        Err(Wrong::TooLarge) => {
            let message = format!("the reply of the Upstash server has more than {most_bytes} bytes");
            Err(StatementFailure::last(Error::new(ErrorKind::TooLarge, message)))
        }
    }
}

enum Wrong {
    Form(&'static str),
    TooLarge,
}

fn reply(json: Json, depth: usize, left: &mut usize) -> Result<Reply, Wrong> {
    let mut count = |bytes: usize| {
        *left = left.checked_sub(bytes).ok_or(Wrong::TooLarge)?;
        Ok(())
    };
    Ok(match json {
        Json::Null => Reply::Nil,
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Reply::Integer(integer),
            // Of a score.
            None => Reply::Bulk(number.to_string().into_bytes()),
        },
        // No text is this in base64, which has four characters at least.
        Json::String(word) if word == "OK" => Reply::Status(word),
        Json::String(text) => {
            let bytes = STANDARD.decode(text).map_err(|_| Wrong::Form("a text is not in base64, which was asked for"))?;
            count(bytes.len())?;
            Reply::Bulk(bytes)
        }
        Json::Array(elements) if depth < MAX_DEPTH => {
            // Two or more in a list are worth as much as without it.
            let is_counted = depth > 0 && elements.len() >= 2;
            count((elements.len() - usize::from(is_counted)).saturating_mul(ELEMENT_BYTES))?;
            Reply::List(elements.into_iter().map(|element| reply(element, depth + 1, left)).collect::<Result<_, _>>()?)
        }
        Json::Array(_) => return Err(Wrong::Form("too many lists are inside each other")),
        Json::Bool(_) | Json::Object(_) => return Err(Wrong::Form("a value is neither text, number nor list")),
    })
}

/// A status that is none of the API's answers to a command.
fn of_status(status: u16, body: &[u8]) -> StatementFailure {
    let error = |kind, message: &str| {
        Error::new(kind, message).with_source(format!("status {status}: {}", excerpt(&String::from_utf8_lossy(body))))
    };
    match status {
        401 | 403 => StatementFailure::last(error(ErrorKind::Credentials, "the Upstash server does not accept the `token`")),
        404 | 405 => StatementFailure::last(error(
            ErrorKind::Configuration,
            "the address of the connection string is not that of a REST API of Upstash",
        )),
        413 => StatementFailure::last(error(ErrorKind::TooLarge, "the command is larger than the Upstash server takes")),
        429 => StatementFailure::not_executed(error(ErrorKind::Busy, "the Upstash server takes no more requests for now")),
        // A gateway says this of an answer that it did not get, too.
        503 => StatementFailure::unknown(error(ErrorKind::Unavailable, "the Upstash server is not available")),
        300..=399 => StatementFailure::last(error(ErrorKind::Configuration, "the address of the connection string redirects elsewhere")),
        500.. => StatementFailure::unknown(error(ErrorKind::Unavailable, "the Upstash server failed")),
        _ => StatementFailure::last(error(ErrorKind::Protocol, "the Upstash server answered in an unexpected way")),
    }
}

fn unknown(what: &str) -> StatementFailure {
    StatementFailure::unknown(Error::new(ErrorKind::Protocol, "the answer of the Upstash server cannot be understood").with_source(what))
}

#[cfg(test)]
mod tests {
    use millrace_core::headers::Headers;

    use super::*;
    use crate::shared::Execution;

    fn parse(status: u16, body: &str) -> Result<Result<Reply, String>, StatementFailure> {
        of_response(&HttpResponse { status, headers: Headers::new(), body: body.into() }, 2000)
    }

    #[test]
    fn replies_are_read() {
        for (body, expected) in [
            (r#"{"result":null}"#, Reply::Nil),
            (r#"{"result":"OK"}"#, Reply::Status("OK".into())),
            (r#"{"result":["OK"]}"#, Reply::List(vec![Reply::Status("OK".into())])),
            (r#"{"result":"T0s="}"#, Reply::Bulk(b"OK".to_vec())),
            (r#"{"result":""}"#, Reply::Bulk(Vec::new())),
            (r#"{"result":"/wA="}"#, Reply::Bulk(vec![0xff, 0])),
            (r#"{"result":-9223372036854775808}"#, Reply::Integer(i64::MIN)),
            (r#"{"result":1.5}"#, Reply::Bulk(b"1.5".to_vec())),
            (
                r#"{"result":["YQ==",[1],null]}"#,
                Reply::List(vec![Reply::Bulk(b"a".to_vec()), Reply::List(vec![Reply::Integer(1)]), Reply::Nil]),
            ),
        ] {
            assert_eq!(parse(200, body).unwrap(), Ok(expected), "{body}");
        }
        for status in [200, 400] {
            assert_eq!(parse(status, r#"{"error":"ERR syntax error"}"#).unwrap(), Err("ERR syntax error".into()));
        }
    }

    #[test]
    fn what_is_no_reply_says_what_may_be_sent_again() {
        let deep = format!("{{\"result\":{}{}}}", "[".repeat(40), "]".repeat(40));
        let large = format!("{{\"result\":\"{}\"}}", "QUFB".repeat(700));
        let many = format!("{{\"result\":[{}1]}}", "1,".repeat(70));
        for (status, body, kind, outcome) in [
            (200, "<html>", ErrorKind::Protocol, Execution::Unknown),
            (200, "{\"result\":\"not base64\"}", ErrorKind::Protocol, Execution::Unknown),
            (200, "{\"result\":{\"a\":1}}", ErrorKind::Protocol, Execution::Unknown),
            (200, "{\"result\":true}", ErrorKind::Protocol, Execution::Unknown),
            (200, "{}", ErrorKind::Protocol, Execution::Unknown),
            (200, "{\"result\":[1,2", ErrorKind::Protocol, Execution::Unknown),
            (200, &deep, ErrorKind::Protocol, Execution::Unknown),
            (200, &large, ErrorKind::TooLarge, Execution::Final),
            (200, &many, ErrorKind::TooLarge, Execution::Final),
            (400, "<html>", ErrorKind::Protocol, Execution::Final),
            (401, "{\"error\":\"Unauthorized\"}", ErrorKind::Credentials, Execution::Final),
            (403, "", ErrorKind::Credentials, Execution::Final),
            (404, "", ErrorKind::Configuration, Execution::Final),
            (302, "", ErrorKind::Configuration, Execution::Final),
            (413, "", ErrorKind::TooLarge, Execution::Final),
            (429, "", ErrorKind::Busy, Execution::NotExecuted),
            (500, "", ErrorKind::Unavailable, Execution::Unknown),
            (503, "", ErrorKind::Unavailable, Execution::Unknown),
            (503, r#"{"error":"LOADING x"}"#, ErrorKind::Unavailable, Execution::Unknown),
        ] {
            let failure = parse(status, body).unwrap_err();
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{status} {body}: {failure:?}");
        }
    }
}
