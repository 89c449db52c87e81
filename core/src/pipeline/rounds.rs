//! Calls that ask their caller before they go on ([multi-round
//! requests](https://modelcontextprotocol.io/specification/2026-07-28/basic)).
//!
//! Nothing is kept between two requests. A call that needs an answer ends with `input_required`:
//! what it asks, and a sealed state. The client sends the same call again with the answers and the
//! state; the tool's scripts run again from their beginning, and what they ask is answered by key.
//! Answers of earlier rounds travel in the state. A script should therefore ask before it changes
//! anything.
//!
//! | situation | becomes |
//! |---|---|
//! | the caller's revision has no such requests, or its connection no way to send them | `INPUT_NOT_SUPPORTED` |
//! | the client did not declare what is asked for | −32021 with `requiredCapabilities` |
//! | the state was not issued by this server, for this call and this caller, or is too old | −32602 |
//! | an answer is missing, or does not fit what was asked | it is asked for again |
//! | an answer that nobody asked for | ignored |
//! | no key to seal with | `CONFIGURATION` |

use alloc::{format, string::String, vec::Vec};

use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};

use crate::pipeline::{
    call::dialogue::{Binding, Dialogue, KINDS},
    call::run::{Run, TARGET},
    content::result::{InputRequired, ToolResult},
};
use crate::{
    Error, ErrorKind, Json, Result,
    fault::{Fault, FaultResult, Refusal, Stage},
    hidden::reveal_json,
    schema,
};

mod seal;

/// The most things that one call asks for.
const MAX_REQUESTS: usize = 32;
/// The longest key of a request, in bytes.
const MAX_KEY: usize = 128;

/// Reads the state and the answers that came with a call.
///
/// # Errors
/// `REQUEST_STATE` for a state that was not sealed for this very call.
pub(super) fn begin(run: &Run<'_>, arguments: &Json) -> FaultResult<Dialogue> {
    let rounds = run.rounds;
    if rounds.capabilities.is_none() || (rounds.state.is_none() && rounds.kinds().is_empty()) {
        return Ok(Dialogue::default());
    }
    let binding = Binding::of(run, arguments);
    let Some(state) = rounds.state else { return Ok(Dialogue { binding: Some(binding), ..Dialogue::default() }) };
    let Some(opened) = seal::open(run, &binding, state) else {
        let mut fault =
            Fault::new(Stage::Guard, "REQUEST_STATE", "Invalid params: `requestState` was not issued for this call, or it has expired");
        fault.refusal = Some(Refusal::State);
        return Err(fault.into());
    };
    let mut answers = opened.answers;
    let before = answers.len();
    for key in opened.asked {
        if let Some(answer) = rounds.responses.and_then(|responses| responses.get(&key)) {
            answers.insert(key, answer.clone());
        }
    }
    let answered = (answers.len() > before).then(|| Sha256::digest(state).into());
    Ok(Dialogue { binding: Some(binding), answers, answered, ..Dialogue::default() })
}

/// The answers to requests; `None` where some are missing: the call must end, and [`required`] says
/// what it asks.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for invalid requests.
pub(super) fn ask(run: &Run<'_>, requests: Json) -> Result<Option<Json>> {
    let refuse = |problem: String| Err(Error::new(ErrorKind::Syntax, problem));
    let Json::Object(requests) = requests else { return refuse("`requireInput` takes an object of requests".into()) };
    if requests.is_empty() || requests.len() > MAX_REQUESTS || requests.keys().any(|key| key.is_empty() || key.len() > MAX_KEY) {
        return refuse(format!("`requireInput` takes 1 to {MAX_REQUESTS} requests with keys of 1 to {MAX_KEY} bytes"));
    }
    let mut answers = Map::new();
    let mut missing = Map::new();
    for (key, mut request) in requests {
        // What is asked is what the answer is held to.
        reveal_json(&mut request, &[]);
        check(&request).map_err(|problem| Error::new(ErrorKind::Syntax, format!("the request `{key}` {problem}")))?;
        match run.dialogue.answers.get(&key).and_then(|answer| fitting(&request, answer)) {
            Some(answer) => drop(answers.insert(key, answer)),
            None => drop(missing.insert(key, request)),
        }
    }
    if missing.is_empty() {
        return Ok(Some(Json::Object(answers)));
    }
    run.asked.replace(missing);
    Ok(None)
}

/// The end of a call that asked and got no answer.
///
/// # Errors
/// See the table of this module.
pub(super) fn required(run: &Run<'_>) -> FaultResult<ToolResult> {
    let requests = run.asked.take();
    let Some(binding) = run.dialogue.binding.as_ref().filter(|_| run.rounds.capabilities.is_some()) else {
        return match run.rounds.capabilities {
            Some(_) => Err(lacking(&requests, &[]).into()),
            None => Err(Fault::new(
                Stage::Guard,
                "INPUT_NOT_SUPPORTED",
                "This tool has a question for its user, and this client cannot be asked: over HTTP, questions need MCP 2026-07-28; over \
                 standard input and output, they also reach a client that declares `elicitation`, `sampling` or `roots` at `initialize`.",
            )
            .suggesting("Another client can call it. Do not call it again from here.")
            .into()),
        };
    };
    let kinds = run.rounds.kinds();
    if requests.values().any(|request| !kinds.contains(&kind(request))) {
        return Err(lacking(&requests, &kinds).into());
    }
    let asked: Vec<String> = requests.keys().cloned().collect();
    let state = seal::close(run, binding, &asked, &run.dialogue.answers)?;
    tracing::debug!(target: TARGET, tool = run.tool.name, request_id = run.request_id, asked = asked.len(), "the call asks its caller");
    Ok(ToolResult { input: Some(InputRequired { requests, state }), ..ToolResult::default() })
}

/// The fault of a client that did not declare what is asked for.
fn lacking(requests: &Map<String, Json>, declared: &[&str]) -> Fault {
    let lacking: Map<String, Json> =
        requests.values().map(kind).filter(|kind| !declared.contains(kind)).map(|kind| (kind.into(), json!({}))).collect();
    let names: Vec<&str> = lacking.keys().map(String::as_str).collect();
    let message = format!("This tool needs client capabilities that were not declared: {}", names.join(", "));
    let mut fault = Fault::new(Stage::Guard, "CLIENT_CAPABILITY", message);
    fault.refusal = Some(Refusal::Capability(lacking));
    fault
}

fn method(request: &Json) -> &str {
    request.get("method").and_then(Json::as_str).unwrap_or_default()
}

/// The capability that a checked request needs.
fn kind(request: &Json) -> &'static str {
    KINDS.iter().find(|(name, _)| *name == method(request)).map_or("", |(_, kind)| kind)
}

/// Says what is wrong with a request.
fn check(request: &Json) -> core::result::Result<(), &'static str> {
    let params = request.get("params");
    let object = |name: &str| params.and_then(|params| params.get(name)).is_some_and(Json::is_object);
    let text = |name: &str| params.and_then(|params| params.get(name)).is_some_and(Json::is_string);
    if params.is_some_and(|params| !params.is_object()) {
        return Err("has `params` that are not an object");
    }
    match method(request) {
        "elicitation/create" if params.and_then(|params| params.get("mode")).is_some_and(|mode| mode != "form") => {
            Err("has a mode other than `form`, which is not supported")
        }
        "elicitation/create" if !text("message") || !object("requestedSchema") => Err("needs `message` and `requestedSchema`"),
        "sampling/createMessage" if !params.is_some_and(|params| params.get("messages").is_some_and(Json::is_array)) => {
            Err("needs `messages`")
        }
        "elicitation/create" | "sampling/createMessage" | "roots/list" => Ok(()),
        _ => Err("must have the `method` elicitation/create, sampling/createMessage or roots/list"),
    }
}

/// The answer, where it is one to this request.
fn fitting(request: &Json, answer: &Json) -> Option<Json> {
    let Json::Object(members) = answer else { return None };
    let fits = match method(request) {
        "elicitation/create" => match members.get("action").and_then(Json::as_str) {
            Some("accept") => {
                let empty = Json::Object(Map::new());
                let content = members.get("content").unwrap_or(&empty);
                content.is_object()
                    && request.pointer("/params/requestedSchema").is_some_and(|wanted| schema::check(wanted, content).is_ok())
            }
            Some("decline" | "cancel") => true,
            _ => false,
        },
        "sampling/createMessage" => members.get("role").is_some_and(Json::is_string) && members.contains_key("content"),
        _ => members
            .get("roots")
            .and_then(Json::as_array)
            .is_some_and(|roots| roots.iter().all(|root| root.get("uri").is_some_and(Json::is_string))),
    };
    fits.then(|| answer.clone())
}
