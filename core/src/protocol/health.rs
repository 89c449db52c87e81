//! `/heartbeat`, `/livez` and `/readyz`: whether the server runs, and whether its databases answer.

use alloc::vec::Vec;

use serde_json::json;

use super::{http, request::Request, response::Response};
use crate::{
    Result,
    pipeline::Pipeline,
    ports::{LocalFuture, join_all},
};

/// The server runs.
pub(super) fn live(request: &Request) -> Response {
    http::read_only(request).unwrap_or_else(|| http::json(200, br#"{"status":"ok"}"#.to_vec()))
}

/// Every adapter answers: 200; else 503. An adapter that does not is named with the kind of its
/// error and nothing else.
pub(super) async fn ready(request: &Request, pipeline: &Pipeline) -> Response {
    if let Some(refused) = http::read_only(request) {
        return refused;
    }
    let adapters = &pipeline.app().adapters;
    let pings = (0..adapters.len()).map(|index| -> LocalFuture<'_, Result<()>> { alloc::boxed::Box::pin(pipeline.ping(index)) });
    let outcomes = join_all(pings.collect()).await;
    let is_ready = outcomes.iter().all(Result::is_ok);
    let adapters: Vec<_> = adapters
        .iter()
        .zip(outcomes)
        .map(|(adapter, outcome)| match outcome {
            Ok(()) => json!({ "name": adapter.name, "status": "ok" }),
            Err(error) => json!({ "name": adapter.name, "status": "error", "kind": error.kind.as_str() }),
        })
        .collect();
    let body = json!({ "status": if is_ready { "ok" } else { "unavailable" }, "adapters": adapters });
    http::json(if is_ready { 200 } else { 503 }, serde_json::to_vec(&body).unwrap_or_default())
}
