//! What is in `ctx`: `{ auth?, request: { id, method, path?, peer?, headers, protocol, capabilities },
//! env }`, and what the app's `context` and its middleware add.
//!
//! Only the listed variables and secrets that there are stand in `env`, and only the listed header
//! fields that were sent in `request.headers`. A tool without scripts and without a placeholder
//! that names `ctx` has none.

use alloc::string::String;

use serde_json::Map;

use crate::pipeline::isolate::runtime::Pipeline;
use crate::{
    Json,
    app::{PROTOTYPE_NAMES, RESERVED_NAMES},
};

/// What scripts and placeholders see of a call. A stage that adds to it leaves a new one to those
/// after it.
pub(in crate::pipeline) struct Context(Json);

impl Context {
    /// The context of a tool that does not look at it.
    pub(in crate::pipeline) const NONE: Self = Self(Json::Null);

    /// The context of a call, with its principal where it has one.
    pub(in crate::pipeline) fn of(pipeline: &Pipeline, request: Json, auth: Option<&Json>) -> Self {
        let variable = |name: &String| {
            let value = pipeline.ports.env.var(name)?;
            Some((name.clone(), value.expose().as_str().into()))
        };
        let secret = |name: &String| {
            let value = pipeline.deployment.whole(name).ok().flatten()?;
            Some((name.clone(), value.expose().as_str().into()))
        };
        let mut env: Map<_, Json> = pipeline.app.env.iter().filter_map(variable).collect();
        env.extend(pipeline.app.secrets.iter().filter_map(secret));
        let mut ctx = Map::new();
        if let Some(auth) = auth {
            ctx.insert("auth".into(), auth.clone());
        }
        ctx.insert("request".into(), request);
        ctx.insert("env".into(), Json::Object(env));
        Self(Json::Object(ctx))
    }

    /// What the app made of it.
    pub(in crate::pipeline) const fn extended(ctx: Json) -> Self {
        Self(ctx)
    }

    /// The data of `ctx`; the script engine adds its functions.
    pub(in crate::pipeline) const fn data(&self) -> &Json {
        &self.0
    }
}

/// Merges what a script returned into `ctx`, without the names that reach what all objects share.
///
/// # Errors
/// The first name that is taken.
pub(in crate::pipeline) fn merge(ctx: &mut Json, added: Map<String, Json>) -> Result<(), &'static str> {
    for (name, mut value) in added {
        if let Some(reserved) = RESERVED_NAMES.into_iter().find(|reserved| *reserved == name) {
            return Err(reserved);
        }
        if !PROTOTYPE_NAMES.contains(&name.as_str()) {
            without_prototypes(&mut value);
            set(ctx, name, value);
        }
    }
    Ok(())
}

/// Sets one value of `ctx`.
pub(in crate::pipeline) fn set(ctx: &mut Json, name: String, value: Json) {
    if let Json::Object(members) = ctx {
        members.insert(name, value);
    }
}

fn without_prototypes(value: &mut Json) {
    match value {
        Json::Array(elements) => elements.iter_mut().for_each(without_prototypes),
        Json::Object(members) => {
            members.retain(|name, _| !PROTOTYPE_NAMES.contains(&name.as_str()));
            members.values_mut().for_each(without_prototypes);
        }
        _ => {}
    }
}
