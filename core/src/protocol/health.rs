//! `/heartbeat`, `/livez` and `/readyz`: whether the server runs, and whether its databases and, by
//! `/readyz?tool=NAME`, one of its tools answer.

use alloc::{boxed::Box, string::String};

use serde_json::{Map, json};

use super::{http, request::Request, request_id, response::Response};
use crate::{
    pipeline::{Call, Operation, Pipeline, Rounds, Route, Trace},
    ports::{LocalFuture, join_all},
};

/// The server runs.
pub(super) fn live(request: &Request) -> Response {
    http::read_only(request).unwrap_or_else(|| http::json(200, br#"{"status":"ok"}"#.to_vec()))
}

/// Every adapter answers, the tool that is asked for, and the store without which handlers are
/// refused: 200; else 503. A program of this machine, and who has a key of the app, learns which
/// does not, with the kind of its error and nothing else.
pub(super) async fn ready(request: &Request, pipeline: &Pipeline) -> Response {
    if let Some(refused) = http::read_only(request) {
        return refused;
    }
    let adapters = &pipeline.app().adapters;
    let has_store = pipeline.app().counted_tools().next().is_some();
    let pings = (0..adapters.len() + usize::from(has_store)).map(|index| -> LocalFuture<'_, _> { Box::pin(pipeline.is_ready(index)) });
    let mut answers = join_all(pings.collect()).await;
    let store = if has_store { answers.pop() } else { None };
    // Limits are counted all the same.
    let store_counts = pipeline.app().counted_tools().any(|tool| tool.idempotency.is_some());
    let tool = request.query.split('&').find_map(|pair| pair.strip_prefix("tool="));
    let answer = match tool {
        Some(name) => Some((name, ask(request, pipeline, name).await)),
        None => None,
    };
    let is_ready = answers.iter().all(Result::is_ok) && answer.as_ref().is_none_or(|(_, answer)| answer.is_ok());
    let is_ready = is_ready && (!store_counts || store.is_none_or(|answer| answer.is_ok()));
    let mut body = json!({ "status": if is_ready { "ok" } else { "unavailable" } });
    let is_told = http::is_of_this_machine(request) || pipeline.knows_key(&request.headers);
    if let Some((name, answer)) = answer.filter(|_| is_told) {
        body["tool"] = match answer {
            Ok(()) => json!({ "name": name, "status": "ok" }),
            Err(code) => json!({ "name": name, "status": "error", "code": code }),
        };
    }
    if let Some(answer) = store.filter(|_| is_told) {
        body["state"] = match answer {
            Ok(()) => json!({ "status": "ok" }),
            Err(kind) => json!({ "status": "error", "kind": kind.as_str() }),
        };
    }
    if !adapters.is_empty() && is_told {
        let answers = adapters.iter().zip(answers).map(|(adapter, answer)| match answer {
            Ok(()) => json!({ "name": adapter.name, "status": "ok" }),
            Err(kind) => json!({ "name": adapter.name, "status": "error", "kind": kind.as_str() }),
        });
        body["adapters"] = answers.collect();
    }
    http::json(if is_ready { 200 } else { 503 }, serde_json::to_vec(&body).unwrap_or_default())
}

/// Calls a tool without inputs.
async fn ask(request: &Request, pipeline: &Pipeline, tool: &str) -> Result<(), String> {
    let request_id = request_id::of(&request_id::TraceContext::default(), &*pipeline.ports().random);
    let call = Call {
        method: "tools/call",
        tool,
        arguments: Map::new(),
        request_id: &request_id,
        trace: Trace::default(),
        route: Route { path: &request.path, peer: request.peer.as_deref() },
        headers: &request.headers,
        platform_caller: request.platform_caller.as_ref(),
        protocol: "",
        deadline_ms: request.deadline_ms,
        cancel: &request.cancel,
        listener: None,
        rounds: Rounds::default(),
        operation: Operation::default(),
    };
    pipeline.tool_is_ready(call).await
}
