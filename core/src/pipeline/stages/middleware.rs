//! Stage 7, *middleware*: the entries that the root, the folders and the tool declare, one after
//! the other. An entry adds to `ctx`, or ends the call, or observes how it ends. Then nothing after
//! it runs: not the handler, not the presenter.
//!
//! What observes (`after` of a script, `audit`) does so for every call that passed it, also where
//! its caller disconnected, in reverse order, once the call has its end and before the answer
//! leaves; whatever it returns or throws changes nothing, but an audit that is `required` and cannot
//! be written takes the place of the answer. It has five seconds, or what is left of the request's
//! time.

use alloc::{format, string::String, vec::Vec};
use core::cell::Cell;

use serde_json::{Map, json};

use crate::pipeline::{
    call::call_end::CallEnd,
    call::chain::Seen,
    call::context::{Context, merge, set},
    call::identity,
    call::observed::observed,
    call::report::Subject,
    call::run::{Run, TARGET},
    call::scope::Scope,
    call::scopes,
    content::json_text::word,
    script::{self, ScriptOutput},
    stages::guard,
    stages::signal::Signal,
};
use crate::{
    Json,
    app::{Middleware, MiddlewareAction, RequiredScopes, ScriptRef, ValueTemplate},
    cancel::Cancel,
    expression::MOST_STEPS,
    fault::{Fault, FaultResult, Refusal, Stage},
    ports::{CallEvent, Reply, Returned, RunningCall, ScriptFault},
};

mod audit;
mod ended;

pub(in crate::pipeline) use audit::{begin, has_first_entries};
pub(in crate::pipeline) use ended::Ended;

/// How long everything that observes the end of a call may take, in milliseconds, and how long it
/// always has, also where the request's time is over.
const OBSERVERS_MS: u32 = 5_000;
const OBSERVERS_LEAST_MS: u64 = 250;
/// The code of a caller who may not.
const FORBIDDEN: &str = "FORBIDDEN";

/// Runs the middleware; gives what the later stages see as `ctx`.
///
/// # Errors
/// Whatever an entry ends the call with.
pub(in crate::pipeline) async fn middleware(run: &Run<'_>, inputs: &Json) -> Result<Context, CallEnd> {
    let entries = &run.tool.middleware;
    let mut ctx = run.context.data().clone();
    let mut outcome = Ok(());
    for entry in entries {
        run.report.tell(CallEvent::MiddlewareBegan(entry));
        outcome = pass(run, entry, inputs, &mut ctx).await;
        run.report.tell(CallEvent::MiddlewareEnded(entry));
        if outcome.is_err() {
            run.chain.refused.set(true);
            break;
        }
        run.chain.passed.set(run.chain.passed.get() + 1);
    }
    let passed = entries.get(..run.chain.passed.get()).unwrap_or_default();
    if passed.iter().any(Middleware::observes) {
        let wants_result = passed.iter().any(Middleware::has_after);
        run.chain.seen.replace(Some(Seen { inputs: inputs.clone(), ctx: ctx.clone(), result: Json::Null, wants_result }));
    }
    outcome.map(|()| Context::extended(ctx))
}

async fn pass(run: &Run<'_>, entry: &Middleware, inputs: &Json, ctx: &mut Json) -> Result<(), CallEnd> {
    match &entry.action {
        MiddlewareAction::Script { before: Some(before), .. } => {
            run.signal.check().map_err(|why| run.interrupted(why, Stage::Middleware, false))?;
            let added = added(run, before, inputs, ctx).await?;
            merge(ctx, added).map_err(|name| defect(run, before, &format!("returned the reserved name `{name}`")).into())
        }
        MiddlewareAction::Script { before: None, .. } => Ok(()),
        MiddlewareAction::Audit(audit) => Ok(audit::admit(run, audit)?),
        MiddlewareAction::Derive(values) => Ok(derive(run, values, inputs, ctx)?),
        MiddlewareAction::Require { when, code, message } => {
            let scope = Scope { run, inputs, ctx };
            if run.holds(when, &scope.roots(None), &Cell::new(MOST_STEPS), "require", Some(code)) {
                return Ok(());
            }
            let message = scope.render(message, &Json::Null, Stage::Middleware)?;
            Err(Fault::new(Stage::Middleware, code, run.secrets().for_caller(&message)).suggesting(REFUSED).into())
        }
        MiddlewareAction::RequireScope(required) => Ok(require_scope(run, Stage::Middleware, run.auth.as_ref(), required)?),
        MiddlewareAction::RateLimit(limit) => {
            let owner = format!("entry {}", entry.place);
            Ok(guard::rate(Stage::Middleware, limit, &owner, &Scope { run, inputs, ctx }).await?)
        }
    }
}

/// The recovery line of a refusal: no retry helps.
const REFUSED: &str = "Do not call the tool again unchanged: the same call is refused again.";

fn derive(run: &Run<'_>, values: &[(String, ValueTemplate)], inputs: &Json, ctx: &mut Json) -> FaultResult<()> {
    // Values of one entry do not see each other, whatever their order.
    let scope = Scope { run, inputs, ctx };
    let derived = values.iter().map(|(name, template)| Ok((name, scope.fill(template, Stage::Middleware)?)));
    for (name, value) in derived.collect::<FaultResult<Vec<_>>>()? {
        set(ctx, name.clone(), value);
    }
    Ok(())
}

/// What a script adds to `ctx`.
async fn added(run: &Run<'_>, script: &ScriptRef, inputs: &Json, ctx: &Json) -> Result<Map<String, Json>, CallEnd> {
    let payload = json!({ "inputs": inputs, "tool": run.tool.name });
    match script::call_in(run, Stage::Middleware, script, &payload, ctx).await? {
        ScriptOutput::Nothing => Ok(Map::new()),
        ScriptOutput::Value(Json::Object(added)) => Ok(added),
        ScriptOutput::Value(other) => Err(defect(run, script, &format!("returned {}", word(Some(&other)))).into()),
        ScriptOutput::Content(_) => Err(defect(run, script, "returned a built result").into()),
    }
}

fn defect(run: &Run<'_>, script: &ScriptRef, problem: &str) -> Fault {
    let message = format!("The middleware `{}` {problem}; it must return an object for `ctx`, or nothing.", script::path(run, script));
    Fault::new(Stage::Middleware, "SCRIPT_RESULT", message).by_author()
}

/// Refuses a caller that was not granted what is required. One that nobody named is asked who it
/// is.
pub(in crate::pipeline) fn require_scope(
    run: &Run<'_>,
    stage: Stage,
    principal: Option<&Json>,
    required: &RequiredScopes,
) -> FaultResult<()> {
    let Some(missing) = required.missing(&run.pipeline.app.authorization, &scopes::granted(principal)) else { return Ok(()) };
    if principal.and_then(Json::as_object).is_none_or(identity::is_nobody) {
        let mut fault = Fault::new(stage, "UNAUTHORIZED", format!("Unauthorized: callers without credentials lack {missing}."))
            .suggesting("Send valid credentials: without them, every call is refused.");
        fault.refusal = Some(Refusal::Unauthorized);
        return Err(fault.into());
    }
    let mut fault = Fault::new(stage, FORBIDDEN, format!("Forbidden: the credentials lack {missing}."))
        .suggesting("Use credentials that have the scope: with these, every call is refused.");
    fault.refusal = Some(Refusal::Forbidden(missing.all.into_iter().chain(missing.any.into_iter().take(1)).collect()));
    Err(fault.into())
}

/// Tells those that observe how the call ended. Until they have been told, the isolate still works
/// on the call. What comes back takes the place of the call's answer: an entry that is required
/// could not be written.
pub(in crate::pipeline) async fn observe(run: &Run<'_>, ended: Ended<'_>) -> Option<Fault> {
    let seen = run.chain.seen.take()?;
    let clock = &*run.pipeline.ports.clock;
    // The caller may be gone, and the call's time over.
    let cancel = Cancel::new();
    let signal = Signal::new(clock, &cancel, Some(run.signal.after(OBSERVERS_MS, OBSERVERS_LEAST_MS)), OBSERVERS_MS);
    let running = RunningCall { tool: &run.tool.name, request_id: run.request_id, deadline_ms: signal.deadline_ms() };
    observed(run.pipeline.ports.observer.as_deref(), running, tell(run, &signal, &seen, &ended)).await
}

async fn tell(run: &Run<'_>, signal: &Signal<'_>, seen: &Seen, ended: &Ended<'_>) -> Option<Fault> {
    let mut withheld = None;
    let passed = run.chain.passed.get();
    let elapsed_ms = run.pipeline.ports.clock.now_ms().saturating_sub(run.report.began_ms);
    for entry in run.tool.middleware.iter().take(passed).rev() {
        match &entry.action {
            MiddlewareAction::Script { after: Some(after), .. } => after_script(run, signal, after, seen, ended, elapsed_ms).await,
            MiddlewareAction::Audit(audit) => withheld = audit::finish(run, signal, audit, seen, ended).await.or(withheld),
            _ => {}
        }
    }
    withheld
}

async fn after_script(run: &Run<'_>, signal: &Signal<'_>, script: &ScriptRef, seen: &Seen, ended: &Ended<'_>, elapsed_ms: u64) {
    let error = ended.fault.map(
        |fault| json!({ "code": fault.code, "message": fault.message, "stage": fault.stage.as_str(), "retryable": fault.is_retryable() }),
    );
    let payload = json!({
        "inputs": seen.inputs, "result": seen.result, "error": error, "duration_ms": elapsed_ms, "tool": run.tool.name,
    });
    let problem = match script::invoke(run, signal, script, &payload, &seen.ctx).await {
        Ok(Returned::Reply(reply @ (Reply::Error(_) | Reply::Required(_) | Reply::ToolError(_)))) => reply.told(),
        Ok(_) => return,
        Err(ScriptFault::Thrown(thrown) | ScriptFault::LeftBehind(thrown)) => script::told(run, script, &thrown),
        Err(ScriptFault::Limit(cause) | ScriptFault::NotJson(cause) | ScriptFault::Broken(cause)) => cause,
        Err(ScriptFault::TimedOut | ScriptFault::Cancelled) => "it did not finish in its time".into(),
        Err(ScriptFault::Busy) => script::BUSY.into(),
        Err(ScriptFault::NeverSettles) => "it waits for a promise that nothing can settle".into(),
    };
    let Subject { tool, request_id, .. } = run.subject();
    let (script, error) = (script::path(run, script), run.secrets().for_log(&problem));
    tracing::warn!(target: TARGET, tool, request_id, script, error = &*error, "`after` failed; the call's answer is not changed by it");
}
