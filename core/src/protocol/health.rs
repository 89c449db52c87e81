//! `/heartbeat`, `/livez` and `/readyz`: whether the server runs, and whether its databases answer.

use serde_json::json;

use super::{http, request::Request, response::Response};
use crate::{
    pipeline::Pipeline,
    ports::{LocalFuture, join_all},
};

/// The server runs.
pub(super) fn live(request: &Request) -> Response {
    http::read_only(request).unwrap_or_else(|| http::json(200, br#"{"status":"ok"}"#.to_vec()))
}

/// Every adapter answers: 200; else 503. A program of this machine, and who has a key of the app,
/// learns which does not, with the kind of its error and nothing else.
pub(super) async fn ready(request: &Request, pipeline: &Pipeline) -> Response {
    if let Some(refused) = http::read_only(request) {
        return refused;
    }
    let adapters = &pipeline.app().adapters;
    let pings = (0..adapters.len()).map(|index| -> LocalFuture<'_, _> { alloc::boxed::Box::pin(pipeline.is_ready(index)) });
    let answers = join_all(pings.collect()).await;
    let is_ready = answers.iter().all(Result::is_ok);
    let mut body = json!({ "status": if is_ready { "ok" } else { "unavailable" } });
    if !adapters.is_empty() && (http::is_of_this_machine(request) || pipeline.knows_key(&request.headers)) {
        let answers = adapters.iter().zip(answers).map(|(adapter, answer)| match answer {
            Ok(()) => json!({ "name": adapter.name, "status": "ok" }),
            Err(kind) => json!({ "name": adapter.name, "status": "error", "kind": kind.as_str() }),
        });
        body["adapters"] = answers.collect();
    }
    http::json(if is_ready { 200 } else { 503 }, serde_json::to_vec(&body).unwrap_or_default())
}
