//! Stage 3, *context*: makes `ctx` afresh for each call, `{ auth?, request: { id, headers, protocol, capabilities }, env }`.
//!
//! Only the listed variables that are set are in `env`. `context.values`, `context.factory` and `context.headers` are not built
//! yet, and the bundler refuses them; so `headers` is empty. A tool without scripts and without a placeholder that names `ctx` has none.

use serde_json::{Map, json};

use super::{dialogue::Rounds, runtime::Pipeline};
use crate::Json;

/// What scripts and placeholders see of a call. A stage that adds to it leaves a new one to those after it.
pub(super) struct Context(Json);

impl Context {
    /// The context of a tool that does not look at it.
    pub(super) const NONE: Self = Self(Json::Null);

    /// The context of a call, with its principal where it has one.
    pub(super) fn of(pipeline: &Pipeline, request_id: &str, protocol: &str, rounds: &Rounds<'_>, auth: Option<&Json>) -> Self {
        let variable = |name: &alloc::string::String| {
            let value = pipeline.ports.env.var(name)?;
            Some((name.clone(), value.expose().as_str().into()))
        };
        let env: Map<_, Json> = pipeline.app.env.iter().filter_map(variable).collect();
        let mut ctx = Map::new();
        if let Some(auth) = auth {
            ctx.insert("auth".into(), auth.clone());
        }
        ctx.insert("request".into(), json!({ "id": request_id, "headers": {}, "protocol": protocol, "capabilities": rounds.kinds() }));
        ctx.insert("env".into(), Json::Object(env));
        Self(Json::Object(ctx))
    }

    /// The data of `ctx`; the script engine adds its functions.
    pub(super) const fn data(&self) -> &Json {
        &self.0
    }
}
