//! Stage 3, *context*: builds `ctx` afresh for each call, `{ auth?, request: { id, headers, protocol, capabilities }, env }`.
//!
//! Only the listed variables that are set are in `env`. `context.values`, `context.factory` and `context.headers` are not built
//! yet, and the bundler refuses them; so `headers` is empty.

use serde_json::{Map, json};

use super::run::Run;
use crate::Json;

/// The data of `ctx`; the script engine adds its functions.
pub(super) fn context(run: &Run<'_>) -> Json {
    let pipeline = run.pipeline;
    let variable = |name: &alloc::string::String| {
        let value = pipeline.ports.env.var(name)?;
        Some((name.clone(), value.expose().as_str().into()))
    };
    let env: Map<_, Json> = pipeline.app.env.iter().filter_map(variable).collect();
    let mut ctx = Map::new();
    if let Some(auth) = &run.auth {
        ctx.insert("auth".into(), auth.clone());
    }
    ctx.insert(
        "request".into(),
        json!({ "id": run.request_id, "headers": {}, "protocol": run.protocol, "capabilities": run.rounds.kinds() }),
    );
    ctx.insert("env".into(), Json::Object(env));
    Json::Object(ctx)
}
