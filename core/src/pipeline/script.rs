//! Calls of the app's scripts, whatever stage makes them, and what becomes of their answers.
//!
//! | answer | what becomes of it |
//! |---|---|
//! | a value, `success(data)` | the value |
//! | `response()`, built or not | its content blocks, checked |
//! | `requireInput()` without an answer | `input_required`: see [`rounds`](crate::pipeline::rounds) |
//! | `error()`, `required()`, `toolError()`, returned or thrown | a result in both error styles |
//! | it throws, or returns an error | `SCRIPT_ERROR` with the message of the error; where it was thrown goes to the log |
//! | it leaves a query, a request or a rejected promise behind that nothing waits for | the same |
//! | it uses up a limit | `SCRIPT_LIMIT` with the limit |
//! | its deadline passes, its caller goes away | `TIMEOUT`, `CANCELLED` |
//! | it returns what is not JSON, or `anonymous()` outside of authentication | `SCRIPT_RESULT` |
//! | its promise can never settle | `SCRIPT_NEVER_SETTLES` |
//! | it has no such export, or does not compile | `SCRIPT_BROKEN`; the cause goes to the log |

use alloc::{boxed::Box, format, string::String, vec};

use serde_json::Map;

use crate::pipeline::{
    call::call_end::{CallEnd, CallFailure},
    call::report::CallReport,
    call::run::{RECOVERY, Run},
    content::{self, AuthoredContent},
    stages::signal::{self, Interruption, Signal},
};
use crate::{
    Json,
    app::ScriptRef,
    fault::{Fault, Issue, Remedy, Severity, Stage},
    ports::{CallEvent, Invocation, Reply, Returned, ScriptFault, Thrown, ToolErrorReply},
};

mod cache;
mod host;
mod stack;

use host::Host;

/// The most characters of a thrown error's message that reach the caller.
const MESSAGE_CHARACTERS: usize = 4_000;

/// The longest code that can be an author's own, and how many of them are remembered.
const LONGEST_CODE: usize = 64;
const MOST_CODES: usize = 1_000;

/// What a script gave.
#[derive(Debug)]
pub(super) enum ScriptOutput {
    /// `undefined`
    Nothing,
    /// A value.
    Value(Json),
    /// A result that it built with `response()`.
    Content(Box<AuthoredContent>),
}

/// Calls a script and sorts its answer.
///
/// # Errors
/// See the table of this module.
pub(super) async fn call(run: &Run<'_>, stage: Stage, script: &ScriptRef, payload: &Json) -> Result<ScriptOutput, CallEnd> {
    call_in(run, stage, script, payload, run.context.data()).await
}

/// Calls a script with a `ctx` that no later stage has yet, and sorts its answer.
///
/// # Errors
/// As [`call`].
pub(super) async fn call_in(run: &Run<'_>, stage: Stage, script: &ScriptRef, payload: &Json, ctx: &Json) -> Result<ScriptOutput, CallEnd> {
    let answer = invoke(run, &run.signal, script, payload, ctx).await;
    sorted(run, stage, script, answer)
}

/// Sorts the answer of a script.
///
/// # Errors
/// See the table of this module.
pub(super) fn sorted(
    run: &Run<'_>,
    stage: Stage,
    script: &ScriptRef,
    answer: Result<Returned, ScriptFault>,
) -> Result<ScriptOutput, CallEnd> {
    match answer {
        Ok(Returned::Undefined) => Ok(ScriptOutput::Nothing),
        Ok(Returned::Value(value) | Returned::Reply(Reply::Success(value))) => Ok(ScriptOutput::Value(value)),
        Ok(Returned::Reply(Reply::Content(built))) => {
            let has_tool = |name: &str| run.pipeline.tool(name).is_some();
            Ok(ScriptOutput::Content(content::read(stage, built, has_tool)?))
        }
        Ok(Returned::Reply(reply)) => Err(reply_end(run, stage, script, reply)),
        Err(fault) => Err(fault_of(run, stage, script, fault).into()),
    }
}

/// Calls a script with `{inputs, tool}`. The inputs are lent to the payload, not copied.
///
/// # Errors
/// As [`call`].
pub(super) async fn call_with_inputs(run: &Run<'_>, stage: Stage, script: &ScriptRef, inputs: &mut Json) -> Result<ScriptOutput, CallEnd> {
    let answer = invoke_with_inputs(run, script, inputs).await;
    sorted(run, stage, script, answer)
}

/// The same; the caller sorts the answer.
pub(super) async fn invoke_with_inputs(run: &Run<'_>, script: &ScriptRef, inputs: &mut Json) -> Result<Returned, ScriptFault> {
    let mut payload = Map::<String, Json>::with_capacity(2);
    payload.insert("inputs".into(), core::mem::take(inputs));
    payload.insert("tool".into(), run.tool.name.as_str().into());
    let mut payload = Json::Object(payload);
    let answer = invoke(run, &run.signal, script, &payload, run.context.data()).await;
    if let Some(lent) = payload.get_mut("inputs") {
        *inputs = lent.take();
    }
    answer
}

/// Calls a script, which has to end with `signal`; the caller sorts the answer. A failure or a
/// question that it threw is one that it returned.
pub(super) async fn invoke(
    run: &Run<'_>,
    signal: &Signal<'_>,
    script: &ScriptRef,
    payload: &Json,
    ctx: &Json,
) -> Result<Returned, ScriptFault> {
    let index = script.script as usize;
    let Some(program) = run.pipeline.app.scripts.get(index) else {
        return Err(ScriptFault::Broken(format!("the app has no script number {index}")));
    };
    let host = Host::new(run);
    let _measured = Measured { report: run.report, script: &program.path, began_ns: run.report.now_ns(), host: &host };
    let call = run.pipeline.ports.scripts.call(Invocation {
        scripts: &run.pipeline.app.scripts,
        index,
        script: program,
        export: &script.export,
        payload,
        ctx,
        store: &run.store,
        limits: run.tool.limits.script,
        deadline_ms: signal.deadline_ms(),
        cancel: signal.cancel(),
        host: &host,
    });
    match signal.race(call).await {
        Ok(Err(ScriptFault::Thrown(Thrown {
            reply: Some(reply @ (Reply::Error(_) | Reply::Required(_) | Reply::ToolError(_) | Reply::InputRequired)),
            ..
        }))) => Ok(Returned::Reply(reply)),
        Ok(answer) => answer,
        Err(Interruption::Cancelled) => Err(ScriptFault::Cancelled),
        Err(Interruption::TimedOut(_)) => Err(ScriptFault::TimedOut),
    }
}

/// Tells the observer of a script when it has ended, also where nobody waits for it any more.
struct Measured<'a> {
    report: &'a CallReport,
    script: &'a str,
    began_ns: u64,
    host: &'a Host<'a>,
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        let took_ns = self.report.now_ns().saturating_sub(self.began_ns);
        self.report.tell(CallEvent::ScriptEnded { script: self.script, took_ns, memory_bytes: self.host.memory_bytes() });
    }
}

/// What a caller is told whose script finds no memory.
pub(super) const BUSY: &str = "The server has no memory for another script at the moment.";

fn fault_of(run: &Run<'_>, stage: Stage, script: &ScriptRef, fault: ScriptFault) -> Fault {
    match fault {
        ScriptFault::Cancelled => signal::cancelled(stage),
        // A script may have written before its time was over; nobody can tell, unless it promises
        // that it does not.
        ScriptFault::TimedOut => run.interrupted(run.signal.timed_out(), stage, run.change_made().is_some() || !run.only_reads()),
        ScriptFault::Limit(limit) => {
            let again = "Ask for less, or for fewer things at once: the same call would reach the same limit again.";
            // A script may have written before it reached its limit.
            let suggestion = match run.change_made() {
                Some(_) => format!("{again} {}", run.after_unknown()),
                None => again.into(),
            };
            Fault::new(stage, "SCRIPT_LIMIT", limit).suggesting(suggestion)
        }
        ScriptFault::Busy => {
            let fault = Fault::new(stage, "SERVER_BUSY", BUSY);
            if run.change_made().is_some() { fault.suggesting(run.after_unknown()) } else { fault.later() }
        }
        ScriptFault::NotJson(what) => Fault::new(stage, "SCRIPT_RESULT", what).by_author(),
        ScriptFault::NeverSettles => {
            Fault::new(stage, "SCRIPT_NEVER_SETTLES", "The script waits for a promise that nothing can settle.").by_author()
        }
        ScriptFault::Broken(cause) => Fault::new(stage, "SCRIPT_BROKEN", "The tool's script cannot be run.").by_author().logging(format!(
            "{}#{}: {cause}",
            path(run, script),
            script.export
        )),
        ScriptFault::Thrown(thrown) | ScriptFault::LeftBehind(thrown) => thrown_fault(run, stage, script, &thrown),
    }
}

/// A thrown error is a defect of the app, wherever it is thrown; a script that wants to refuse
/// something returns it.
fn thrown_fault(run: &Run<'_>, stage: Stage, script: &ScriptRef, thrown: &Thrown) -> Fault {
    let message = if thrown.message.is_empty() { "The script threw an error without a message.".into() } else { cut(run, &thrown.message) };
    Fault::new(stage, "SCRIPT_ERROR", message)
        .suggesting("Calling the tool again with the same inputs is unlikely to help.")
        .by_author()
        .logging(told(run, script, thrown))
}

fn reply_end(run: &Run<'_>, stage: Stage, script: &ScriptRef, reply: Reply) -> CallEnd {
    let fault = match reply {
        Reply::InputRequired => return CallEnd::Asks,
        // The first two are sorted out before.
        Reply::Success(_) | Reply::Content(_) | Reply::Anonymous(_) => {
            let message = "The script returned `anonymous()`, which only an authentication plugin may.";
            return Fault::new(stage, "SCRIPT_RESULT", message).by_author().into();
        }
        Reply::Error(message) => Fault::new(stage, "ERROR", message),
        Reply::Required(field) => required(run, stage, field),
        Reply::ToolError(reply) => tool_error(run, stage, script, reply),
    };
    CallFailure::Reply(Box::new(fault)).into()
}

fn required(run: &Run<'_>, stage: Stage, field: String) -> Fault {
    let expected = run.tool.inputs.iter().find(|input| input.name == field);
    let expected = expected.map_or_else(String::new, |input| format!(" Expected type: {}.", input.kind.as_str()));
    let message = format!("`{field}` is required.");
    let mut fault = Fault::new(stage, "VALIDATION_ERROR", message).suggesting(RECOVERY);
    fault.issues = vec![Issue { field, message: format!("Required. You sent: (missing).{expected}") }];
    fault
}

/// The fault that a script made with `toolError`.
pub(super) fn tool_error(run: &Run<'_>, stage: Stage, script: &ScriptRef, reply: ToolErrorReply) -> Fault {
    let ToolErrorReply { code, message, suggestion, available_actions, details, severity, retry_after_s } = reply;
    let message = message.unwrap_or_else(|| code.clone());
    let mut fault = Fault::new(stage, &code, message);
    fault.severity = match severity.as_deref() {
        Some("warning") => Severity::Warning,
        Some("critical") => Severity::Critical,
        _ => Severity::Error,
    };
    fault.remedy = match (&fault.severity, retry_after_s) {
        (_, Some(_)) => Remedy::Later,
        // It says that others will fail, too.
        (Severity::Critical, None) => Remedy::Operator,
        _ => Remedy::Caller,
    };
    let computed_code = !is_written(run, script, &fault.code);
    Fault { computed_code, suggestion, available_actions, details, retry_after_s, ..fault }
}

/// Whether a code stands in a script as a text of its own: it is the author's then, and not made of
/// anything that a caller sent. This takes a search of the program, for the first failure with each
/// code.
fn is_written(run: &Run<'_>, script: &ScriptRef, code: &str) -> bool {
    let is_code = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if code.is_empty() || code.len() > LONGEST_CODE || !code.bytes().all(is_code) {
        return false;
    }
    let known = &run.pipeline.written_codes;
    if known.borrow().contains(code) {
        return true;
    }
    let Some(program) = run.pipeline.app.scripts.get(script.script as usize) else { return false };
    let is_written = ['"', '\'', '`'].into_iter().any(|quote| program.program.contains(&*format!("{quote}{code}{quote}")));
    if is_written && known.borrow().len() < MOST_CODES {
        known.borrow_mut().insert(code.into());
    }
    is_written
}

/// What the operator is told of an exception.
pub(super) fn told(run: &Run<'_>, script: &ScriptRef, thrown: &Thrown) -> String {
    match run.pipeline.app.scripts.get(script.script as usize) {
        Some(program) => stack::told(program, &script.export, thrown),
        None => thrown.message.clone(),
    }
}

/// The script's path, for messages.
pub(super) fn path<'a>(run: &Run<'a>, script: &ScriptRef) -> &'a str {
    run.pipeline.app.scripts.get(script.script as usize).map_or("", |script| script.path.as_str())
}

/// A message that is not too long. Its secrets are struck out first: half of one would not be found
/// any more.
fn cut(run: &Run<'_>, message: &str) -> String {
    let most = message.char_indices().nth(MESSAGE_CHARACTERS).map_or(message.len(), |(end, _)| end);
    run.secrets().for_caller_within(message, most).into_owned()
}
