//! The call of a test as a client makes it: a request over HTTP, and the answer to it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use millrace_bundler::{AppTest, Expectation, TestAnswers, TestSubject};
use millrace_core::{
    Endpoint, Json,
    cancel::Cancel,
    headers::Headers,
    ports::{Clock as _, HttpClient as _, HttpRequest},
    protocol::{Body, Request},
};
use millrace_native::{clock::SystemClock, http_client::NativeHttpClient};
use serde_json::{Map, json};

use super::credentials::Credentials;

/// The revision of MCP that the call is made in.
const PROTOCOL: &str = "2026-07-28";
/// How often a tool is answered.
const MAX_ROUNDS: usize = 16;
/// How long a server has for an answer, in milliseconds.
const PATIENCE_MS: u64 = 120_000;
/// The longest answer of a server, in bytes.
const MAX_ANSWER: usize = 64 << 20;
/// Where a result says how its call failed.
const ERROR_META: &str = "millrace/error";

/// Who answers.
pub(super) enum Server<'a> {
    /// An endpoint of this process.
    Here(&'a Endpoint),
    /// A server that runs already.
    At { client: &'a NativeHttpClient, url: &'a str },
}

/// What a call gave.
#[derive(Debug)]
pub(crate) struct Answer {
    /// What was said before the result, in order.
    pub(crate) notifications: Vec<Json>,
    pub(crate) result: Result<Map<String, Json>, Failure>,
}

/// How a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    /// What a model sees of it, where it is the result of a tool.
    pub(crate) result: Option<Map<String, Json>>,
}

/// Makes the call of a test.
///
/// # Errors
/// Nobody answers, or not as a server of MCP does; the tool asks, and the test does not answer.
pub(super) async fn call(server: &Server<'_>, test: &AppTest, credentials: &Credentials) -> Result<Answer, String> {
    let mut params = params(test);
    let headers = headers(test, credentials);
    let mut notifications = Vec::new();
    for _ in 0..=MAX_ROUNDS {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method(test), "params": params }).to_string();
        let body = send(server, headers.clone(), message, credentials).await?;
        let (said, reply) = read(&body)?;
        notifications.extend(said);
        let result = match reply {
            Ok(result) if result.get("resultType").and_then(Json::as_str) == Some("input_required") => result,
            result => return Ok(Answer { notifications, result: result.and_then(failed) }),
        };
        let requests = result.get("inputRequests").and_then(Json::as_object).cloned().unwrap_or_default();
        let responses: Map<String, Json> =
            requests.iter().map(|(key, request)| Ok((key.clone(), given(test, key, request)?))).collect::<Result<_, String>>()?;
        params.insert("inputResponses".into(), responses.into());
        params.insert("requestState".into(), result.get("requestState").cloned().unwrap_or_default());
    }
    Err(format!("the tool still asks after {MAX_ROUNDS} answers: they may not fit what it asks for"))
}

fn method(test: &AppTest) -> &'static str {
    match test.subject {
        TestSubject::Tool(_) => "tools/call",
        TestSubject::Prompt(_) => "prompts/get",
        TestSubject::Resource(_) => "resources/read",
    }
}

fn params(test: &AppTest) -> Map<String, Json> {
    let mut meta = Map::new();
    meta.insert("io.modelcontextprotocol/protocolVersion".into(), PROTOCOL.into());
    meta.insert("io.modelcontextprotocol/clientCapabilities".into(), json!({ "elicitation": {}, "sampling": {}, "roots": {} }));
    if test.expected.iter().any(|expected| matches!(expected, Expectation::Notifications(..))) {
        meta.insert("progressToken".into(), "test".into());
        meta.insert("io.modelcontextprotocol/logLevel".into(), "debug".into());
    }
    let mut params = Map::new();
    match &test.subject {
        TestSubject::Tool(name) => {
            params.insert("name".into(), name.as_str().into());
            params.insert("arguments".into(), test.inputs.clone().into());
        }
        TestSubject::Prompt(name) => {
            // The arguments of prompts are texts.
            let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let arguments: Map<String, Json> = test.inputs.iter().map(|(name, value)| (name.clone(), text(value).into())).collect();
            params.insert("name".into(), name.as_str().into());
            params.insert("arguments".into(), arguments.into());
        }
        TestSubject::Resource(uri) => drop(params.insert("uri".into(), uri.as_str().into())),
    }
    params.insert("_meta".into(), meta.into());
    params
}

fn headers(test: &AppTest, credentials: &Credentials) -> Headers {
    let (TestSubject::Tool(name) | TestSubject::Prompt(name) | TestSubject::Resource(name)) = &test.subject;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic()) && !name.starts_with("=?");
    let name = if is_plain { name.clone() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(name)) };
    let mut headers: Headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", PROTOCOL),
        ("mcp-method", method(test)),
        ("mcp-name", &name),
    ]
    .into_iter()
    .collect();
    for (name, value) in &test.headers {
        headers.append(name, value.as_str());
    }
    if let Some(key) = &credentials.key {
        headers.append("x-api-key", key.expose().as_str());
    }
    headers
}

async fn send(server: &Server<'_>, headers: Headers, message: String, credentials: &Credentials) -> Result<Vec<u8>, String> {
    match server {
        Server::Here(endpoint) => {
            let request = Request {
                method: "POST".into(),
                path: endpoint.app().server.path.clone(),
                query: String::new(),
                peer: None,
                headers,
                body: if message.len() > endpoint.body_limit() { Body::TooLarge } else { Body::Whole(message.into_bytes()) },
                deadline_ms: None,
                cancel: Cancel::new(),
                platform_caller: credentials.caller.clone(),
                checks_host: false,
                is_tls: false,
                is_local: false,
            };
            Ok(endpoint.handle(request).await.body.collect().await)
        }
        Server::At { client, url } => {
            let request = HttpRequest {
                method: "POST".into(),
                url: (*url).to_owned(),
                headers,
                body: message.into_bytes(),
                deadline_ms: SystemClock.now_ms() + PATIENCE_MS,
                max_response_bytes: MAX_ANSWER,
                public_only: false,
            };
            let answer = client.send(request).await.map_err(|error| format!("the server does not answer: {}", error.message))?;
            Ok(answer.body)
        }
    }
}

type Reply = Result<Map<String, Json>, Failure>;

/// Takes an answer apart: notifications, and the reply.
fn read(body: &[u8]) -> Result<(Vec<Json>, Reply), String> {
    let text = String::from_utf8_lossy(body);
    let mut messages: Vec<Json> = match serde_json::from_str(&text) {
        Ok(message) => vec![message],
        Err(_) => {
            let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
            events.map(|data| serde_json::from_str(data).map_err(|_| no_answer(&text))).collect::<Result<_, _>>()?
        }
    };
    let reply = messages.iter().position(|message| message.get("id").is_some() && message.get("method").is_none());
    let reply = reply.or_else(|| messages.iter().position(|message| message.get("error").is_some()));
    let Some(Json::Object(mut reply)) = reply.map(|index| messages.remove(index)) else { return Err(no_answer(&text)) };
    if let Some(Json::Object(result)) = reply.remove("result") {
        return Ok((messages, Ok(result)));
    }
    let error = reply.remove("error").unwrap_or_default();
    let code = error["data"]["code"].as_str().map_or_else(|| error["code"].to_string(), str::to_owned);
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    Ok((messages, Err(Failure { code, message, result: None })))
}

fn no_answer(text: &str) -> String {
    format!("the answer is not one of MCP: {}", super::compare::shown(&text.into()))
}

/// The result of a tool that failed as a failure.
fn failed(result: Map<String, Json>) -> Reply {
    if result.get("isError") != Some(&Json::Bool(true)) {
        return Ok(result);
    }
    let error = result.get("_meta").map(|meta| meta[ERROR_META].clone()).unwrap_or_default();
    let code = error["code"].as_str().unwrap_or_default().to_owned();
    let message = error["message"].as_str().map_or_else(|| text_of(&result), str::to_owned);
    Err(Failure { code, message, result: Some(result) })
}

/// The text of a result: of a tool's content, a prompt's messages, a resource's contents.
pub(crate) fn text_of(result: &Map<String, Json>) -> String {
    let list = |key: &str| result.get(key).and_then(Json::as_array).into_iter().flatten();
    let content = list("content").chain(list("messages").map(|message| &message["content"])).chain(list("contents"));
    let texts = content.filter_map(|block| block["text"].as_str().or_else(|| block["resource"]["text"].as_str()));
    texts.collect::<Vec<_>>().join("\n")
}

/// What the test answers to a question.
fn given(test: &AppTest, key: &str, request: &Json) -> Result<Json, String> {
    let is_question = request["method"] == "elicitation/create";
    match &test.answers {
        Some(TestAnswers::All(action)) if is_question && *action == "accept" => return Ok(json!({ "action": "accept", "content": {} })),
        Some(TestAnswers::All(action)) if is_question => return Ok(json!({ "action": action })),
        Some(TestAnswers::Each(each)) if each.contains_key(key) => {
            let value = each.get(key).cloned().unwrap_or_default();
            // A whole answer says what is done with it.
            let is_whole = !is_question || value.get("action").is_some();
            return Ok(if is_whole { value } else { json!({ "action": "accept", "content": value }) });
        }
        _ => {}
    }
    let question = request["params"]["message"].as_str().or(request["method"].as_str()).unwrap_or_default();
    Err(format!("the tool asks `{question}`, and the test does not answer; add `answers: {{ {key}: {{ … }} }}`, or `answers: accept`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_and_a_message_are_read_alike() {
        let reply = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#;
        let stream = format!("event: message\ndata: {{\"method\":\"notifications/progress\"}}\n\nevent: message\ndata: {reply}\n\n");
        for (body, said) in [(reply.to_owned(), 0), (stream, 1)] {
            let (notifications, result) = read(body.as_bytes()).unwrap();
            assert_eq!((notifications.len(), text_of(&result.unwrap()).as_str()), (said, "a\nb"));
        }
        assert!(read(b"<html>").unwrap_err().contains("not one of MCP"));
    }

    #[test]
    fn failures_have_the_code_of_the_app() {
        let tool = r#"{"id":1,"result":{"isError":true,"content":[],"_meta":{"millrace/error":{"code":"NOT_FOUND","message":"No."}}}}"#;
        let (_, result) = read(tool.as_bytes()).unwrap();
        let failure = result.and_then(failed).unwrap_err();
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("NOT_FOUND", "No."));
        for (error, code) in [
            (r#"{"code":-32000,"message":"m","data":{"code":"UNAUTHORIZED"}}"#, "UNAUTHORIZED"),
            (r#"{"code":-32602,"message":"m"}"#, "-32602"),
        ] {
            let (_, result) = read(format!(r#"{{"id":1,"error":{error}}}"#).as_bytes()).unwrap();
            assert_eq!(result.unwrap_err().code, code);
        }
    }
}
