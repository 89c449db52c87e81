//! `millrace call`: one call through the real pipeline, and how long each stage took.

use std::{rc::Rc, time::Duration};

use millrace_core::{
    Json,
    app::{App, InputKind},
    cancel::Cancel,
    fault::Fault,
    headers::Headers,
    pipeline::{Call as ToolCall, ContentBlock, ToolResult},
    platform_caller::PlatformCaller,
    ports::Env,
};
use millrace_native::{isolate, wait_until::Tasks};
use serde_json::{Map, json};

use super::{
    answers::{Answers, Round},
    caller::{self, CallCaller},
};
use crate::{
    app,
    cli::Call,
    output::{CommandError, CommandResult, note, print_json, print_result},
    state_key::RunKey,
    timing::{CallTimings, Step, Timings},
};

/// The revision of MCP that the call is made in.
const PROTOCOL: &str = "2026-07-28";

/// How often a tool is answered.
const MAX_ROUNDS: usize = 16;

pub(super) fn run(arguments: Call) -> CommandResult {
    let mut headers = headers(&arguments.headers)?;
    let app = app::load_for(&arguments.app, &arguments.tool)?.app;
    let inputs = inputs(&app, &arguments.tool, &arguments.inputs)?;
    if let Some(near) = nearest(&app, &arguments.tool) {
        note(format_args!("did you mean `{near}`?"));
    }
    let answers = Answers::of(&arguments.answers)?;
    let variables = RunKey::default().complete(&app, app::variables(&arguments.app)?)?;
    let platform_caller = called_as(&arguments, &app, &variables, &mut headers)?;
    let cache = app::cache(&variables)?;
    let (tool, base) = (arguments.tool.clone(), arguments.app);
    let call = move || async move {
        let tasks = Tasks::new();
        let timings = Timings::default();
        let endpoint = app::observed_endpoint(app, base, variables, &cache, &tasks, Some(Rc::new(timings.clone())), None);
        let cancel = Cancel::new();
        let mut round = Round::default();
        let mut asked = 0;
        let outcome = loop {
            let call = ToolCall {
                method: "tools/call",
                tool: &tool,
                arguments: inputs.clone(),
                request_id: "call",
                trace: Default::default(),
                route: Default::default(),
                headers: &headers,
                platform_caller: platform_caller.as_ref(),
                protocol: PROTOCOL,
                deadline_ms: None,
                cancel: &cancel,
                listener: None,
                rounds: round.rounds(),
                operation: Default::default(),
            };
            let outcome = endpoint.pipeline().call(call).await;
            match outcome {
                Ok(ToolResult { input: Some(_), .. }) if asked == MAX_ROUNDS => {
                    break Err(CommandError::Wrong(format!(
                        "the tool still asks after {MAX_ROUNDS} answers: they may not fit what it asks for"
                    )));
                }
                Ok(ToolResult { input: Some(asks), .. }) => match answers.give(&asks.requests) {
                    Ok(responses) => {
                        asked += 1;
                        round = Round { responses: Some(responses), state: Some(asks.state), ..round };
                    }
                    Err(failure) => break Err(failure),
                },
                outcome => break Ok(outcome),
            }
        };
        tasks.drained().await;
        (outcome, timings.taken())
    };
    let (outcome, timings) = isolate::run(call).map_err(CommandError::wrong)?;
    let outcome = outcome?;
    if arguments.json {
        print_json(&machine(&arguments.tool, &outcome, &timings))?;
    } else {
        human(&outcome, &timings)?;
    }
    match outcome {
        Ok(result) if !result.is_error => Ok(()),
        _ => Err(CommandError::Told),
    }
}

/// The caller of `--as`; the key of one goes into the header fields.
fn called_as(arguments: &Call, app: &App, env: &dyn Env, headers: &mut Headers) -> CommandResult<Option<PlatformCaller>> {
    let Some(text) = &arguments.caller else { return Ok(None) };
    match caller::of_call(app, &arguments.tool, text, env)? {
        CallCaller::Claims(caller) => return Ok(Some(caller)),
        CallCaller::Key(key) => headers.append("x-api-key", key.expose()),
    }
    Ok(None)
}

/// The tool that was meant, where there is none of that name.
fn nearest<'a>(app: &'a App, wanted: &str) -> Option<&'a str> {
    if app.tools.iter().any(|tool| tool.name == wanted) {
        return None;
    }
    let distance = |name: &str| strsim::osa_distance(name, wanted);
    let has_words =
        |name: &str| wanted.split(['-', '_']).all(|word| name.split(['-', '_']).any(|other| strsim::osa_distance(word, other) <= 1));
    let near =
        app.tools.iter().map(|tool| tool.name.as_str()).filter(|name| distance(name) <= wanted.chars().count() / 3 || has_words(name));
    near.min_by_key(|name| distance(name))
}

fn human(outcome: &Result<ToolResult, Box<Fault>>, timings: &CallTimings) -> CommandResult {
    match outcome {
        Ok(result) => {
            for block in &result.content {
                match block {
                    ContentBlock::Text(text) => print_result(text)?,
                    // Whom a text is for is in `--json`.
                    ContentBlock::Other(block) => {
                        match (block.get("type").and_then(Json::as_str), block.get("text").and_then(Json::as_str)) {
                            (Some("text"), Some(text)) => print_result(text)?,
                            _ => print_result(&Json::Object(block.clone()).to_string())?,
                        }
                    }
                }
            }
        }
        Err(fault) => {
            note(format_args!("error: {} ({} in stage {})", fault.message, fault.code, fault.stage.as_str()));
            let log = fault.log.as_ref().filter(|log| **log != fault.message);
            for line in fault.suggestion.iter().chain(log) {
                note(format_args!("  {line}"));
            }
        }
    }
    let line =
        |name: &str, duration: Duration, what: &str| note(format_args!("{name:>14} {:>10.3} ms{what}", duration.as_secs_f64() * 1e3));
    for (step, duration) in &timings.steps {
        match step {
            Step::Stage(stage) => line(stage.as_str(), *duration, ""),
            Step::Entry(place) => line("", *duration, &format!("  {place}")),
        }
    }
    if let Some(duration) = timings.call {
        line("tools/call", duration, "");
    }
    Ok(())
}

fn machine(tool: &str, outcome: &Result<ToolResult, Box<Fault>>, timings: &CallTimings) -> Json {
    let (result, error) = match outcome {
        Ok(result) => (result_json(result), Json::Null),
        Err(fault) => (Json::Null, fault_json(fault)),
    };
    let timing = |(step, duration): &(Step, Duration)| {
        let us = duration.as_micros() as u64;
        match step {
            Step::Stage(stage) => json!({ "stage": stage.as_str(), "us": us }),
            Step::Entry(place) => json!({ "entry": place, "us": us }),
        }
    };
    let steps: Vec<Json> = timings.steps.iter().map(timing).collect();
    let ok = matches!(outcome, Ok(result) if !result.is_error);
    json!({ "ok": ok, "tool": tool, "result": result, "error": error, "timings": steps })
}

fn block_json(block: &ContentBlock) -> Json {
    match block {
        ContentBlock::Text(text) => json!({ "type": "text", "text": text }),
        ContentBlock::Other(block) => Json::Object(block.clone()),
    }
}

fn result_json(result: &ToolResult) -> Json {
    let content: Vec<Json> = result.content.iter().map(block_json).collect();
    let mut object = Map::new();
    object.insert("content".into(), content.into());
    if let Some(structured) = &result.structured {
        object.insert("structuredContent".into(), structured.clone());
    }
    object.insert("isError".into(), result.is_error.into());
    if !result.meta.is_empty() {
        object.insert("_meta".into(), result.meta.iter().cloned().collect::<Map<_, _>>().into());
    }
    object.into()
}

fn fault_json(fault: &Fault) -> Json {
    json!({
        "stage": fault.stage.as_str(),
        "code": fault.code,
        "message": fault.message,
        "suggestion": fault.suggestion,
        "retryable": fault.is_retryable(),
        "issues": fault.issues.iter().map(|issue| json!({ "field": issue.field, "message": issue.message })).collect::<Vec<_>>(),
    })
}

/// `name=value` is text, which stage *validate* makes a number or whatever the input wants;
/// `name:=json` is what it says.
fn inputs(app: &App, tool: &str, words: &[String]) -> CommandResult<Map<String, Json>> {
    let declared = app.tools.iter().find(|candidate| candidate.name == tool).map_or(&[][..], |tool| &tool.inputs);
    let mut inputs = Map::new();
    for word in words {
        let Some((name, text)) = word.split_once('=') else {
            return Err(CommandError::Usage(format!("`{word}` is not an input; write `name=value`, or `name:=JSON`")));
        };
        let (name, value) = match name.strip_suffix(':') {
            Some(name) => {
                let value = serde_json::from_str(text).map_err(|error| {
                    CommandError::Usage(format!("input `{name}` is not valid JSON: {error}; write `{name}=…` for plain text"))
                })?;
                (name, value)
            }
            None => {
                let kind = declared.iter().find(|input| input.name == name).map(|input| input.kind);
                (name, plain(kind, text))
            }
        };
        if inputs.insert(name.to_owned(), value).is_some() {
            return Err(CommandError::Usage(format!("input `{name}` is given twice; write a list as `{name}:=[…]`")));
        }
    }
    Ok(inputs)
}

fn plain(kind: Option<InputKind>, text: &str) -> Json {
    let is_structure = matches!(kind, Some(InputKind::Array | InputKind::Object | InputKind::Json));
    let parsed = if is_structure { serde_json::from_str(text).ok() } else { None };
    parsed.unwrap_or_else(|| text.into())
}

fn headers(words: &[String]) -> CommandResult<Headers> {
    let mut headers = Headers::new();
    for word in words {
        // The word may hold a credential: it is not repeated.
        let Some((name, value)) = word.split_once(':') else {
            return Err(CommandError::Usage("a header field has no `:`; write `--header 'Name: value'`".to_owned()));
        };
        headers.append(name.trim(), value.trim());
    }
    Ok(headers)
}
