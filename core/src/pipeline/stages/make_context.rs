//! Stage 3, *context*: makes `ctx` afresh for each call, with what the app's `context` adds: the
//! root's, then the folders', then the tool's; of each the `values`, then what its `factory`
//! returns.
//!
//! Nothing that a factory says reaches the caller: whatever goes wrong is `CONTEXT_FAILED` in the
//! same words, and one line in the log.

use alloc::{borrow::ToOwned as _, format, string::String};

use serde_json::{Map, json};

use crate::pipeline::{
    call::call_end::CallEnd,
    call::context::{Context, merge, set},
    call::run::Run,
    call::scope::Scope,
    content::json_text::word,
    script,
    stages::signal::Signal,
};
use crate::{
    Json,
    app::ScriptRef,
    fault::{Fault, Stage},
    ports::{Reply, Returned, ScriptFault},
};

/// The context of a call, with what the app adds to it.
///
/// # Errors
/// `CONTEXT_FAILED`, `CONFIGURATION` for a variable that is not set, `TIMEOUT` and `CANCELLED`
/// where the call itself had to end.
pub(in crate::pipeline) async fn make_context(run: &Run<'_>) -> Result<Context, CallEnd> {
    let mut ctx = run.new_context().data().clone();
    let settings = &run.tool.context;
    let cancel = run.signal.cancel();
    let timeout_ms = settings.timeout_ms.unwrap_or(u32::MAX);
    let signal = Signal::new(&*run.pipeline.ports.clock, cancel, Some(run.signal.deadline_ms()), timeout_ms);
    for layer in &settings.layers {
        for (name, template) in &layer.values {
            let value = Scope { run, inputs: &Json::Null, ctx: &ctx }.fill(template, Stage::Context)?;
            set(&mut ctx, name.clone(), value);
        }
        if let Some(factory) = &layer.factory {
            let made = made(run, &signal, factory, &ctx).await?;
            merge(&mut ctx, made).map_err(|name| failed(run, &format!("{}: it returned the reserved name `{name}`", of(run, factory))))?;
        }
    }
    for name in &settings.require {
        if ctx.get(name).is_none_or(Json::is_null) {
            return Err(failed(run, &format!("`{name}` is required, and has no value")).into());
        }
    }
    Ok(Context::extended(ctx))
}

/// What a factory returns.
async fn made(run: &Run<'_>, signal: &Signal<'_>, factory: &ScriptRef, ctx: &Json) -> Result<Map<String, Json>, CallEnd> {
    let member = |name: &str| ctx.get(name).cloned().unwrap_or_default();
    let payload = json!({ "auth": member("auth"), "request": member("request"), "env": member("env") });
    let wrong = |problem: &str| CallEnd::from(failed(run, &format!("{}: {problem}", of(run, factory))));
    match script::invoke(run, signal, factory, &payload, ctx).await {
        Ok(Returned::Value(Json::Object(made)) | Returned::Reply(Reply::Success(Json::Object(made)))) => Ok(made),
        Ok(Returned::Undefined) => Err(wrong("it returned nothing; it must return an object")),
        Ok(Returned::Value(other) | Returned::Reply(Reply::Success(other))) => {
            Err(wrong(&format!("it returned {}; it must return an object", word(Some(&other)))))
        }
        Ok(Returned::Reply(reply @ (Reply::Error(_) | Reply::Required(_) | Reply::ToolError(_)))) => Err(wrong(&reply.told())),
        Ok(Returned::Reply(Reply::Content(_) | Reply::InputRequired | Reply::Anonymous(_))) => {
            Err(wrong("it built a result, asked its caller or returned `anonymous()`; it must return an object"))
        }
        Err(ScriptFault::Thrown(thrown) | ScriptFault::LeftBehind(thrown)) => Err(failed(run, &script::told(run, factory, &thrown)).into()),
        Err(ScriptFault::TimedOut | ScriptFault::Cancelled) => {
            run.signal.check().map_err(|why| run.interrupted(why, Stage::Context, false))?;
            let problem = format!("{}: it did not finish within {} ms", of(run, factory), run.tool.context.timeout_ms.unwrap_or_default());
            Err(Fault { suggestion: None, ..failed(run, &problem) }.later().into())
        }
        Err(ScriptFault::Limit(cause) | ScriptFault::NotJson(cause) | ScriptFault::Broken(cause)) => Err(wrong(&cause)),
        Err(ScriptFault::Busy) => Err(Fault::new(Stage::Context, "SERVER_BUSY", script::BUSY).later().into()),
        Err(ScriptFault::NeverSettles) => Err(wrong("it waits for a promise that nothing can settle")),
    }
}

fn failed(run: &Run<'_>, problem: &str) -> Fault {
    let mut fault =
        Fault::new(Stage::Context, "CONTEXT_FAILED", "The context of this call could not be made.").by_operator().logging(problem);
    fault.details.push(("request_id".to_owned(), run.request_id.to_owned()));
    fault
}

fn of(run: &Run<'_>, script: &ScriptRef) -> String {
    format!("the context factory `{}`", script::path(run, script))
}
