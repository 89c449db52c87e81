//! Execution of a handler.

use alloc::vec::Vec;

use serde_json::json;

use super::cache;
use crate::{
    Json,
    app::{Cache, ScriptRef},
    fault::Stage,
    pipeline::{
        call::call_end::CallEnd,
        call::report::Subject,
        call::run::{Run, TARGET},
        content::output::ToolOutput,
        script::{self, ScriptOutput},
    },
    ports::{Reply, Returned},
};

/// Calls the handler with `{inputs, tool}`. Returning nothing is returning null.
///
/// # Errors
/// Those of [`script::call`].
pub(super) async fn handle(run: &Run<'_>, handler: &ScriptRef, inputs: &mut Json) -> Result<ToolOutput, CallEnd> {
    let answer = script::call_with_inputs(run, Stage::Execute, handler, inputs).await?;
    Ok(output(run, answer))
}

/// The same for a handler that only reads: what it returned is kept, and taken the next time.
///
/// A call whose caller has answered questions is another one than its inputs say, so nothing is
/// taken and nothing is kept then; nor is what a handler returned that has changed something all
/// the same.
///
/// # Errors
/// Those of [`script::call`].
pub(super) async fn handle_cached(run: &Run<'_>, handler: &ScriptRef, settings: &Cache, inputs: &mut Json) -> Result<ToolOutput, CallEnd> {
    let lookup = async {
        if !run.dialogue.answers.is_empty() {
            return None;
        }
        let Ok(epochs) = cache::epochs(run).await else {
            run.report.looked_up_handler(false);
            return None;
        };
        let entry = cache::Entry::of_handler(run, handler, settings, inputs, epochs.as_deref())?;
        let found = entry.kept(run, from_kept).await;
        run.report.looked_up_handler(found.is_some());
        Some((entry, found))
    };
    let entry = match run.signal.race(lookup).await.map_err(|why| run.interrupted(why, Stage::Execute, false))? {
        Some((_, Some(found))) => return Ok(output(run, script::sorted(run, Stage::Execute, handler, Ok(found))?)),
        Some((entry, None)) => Some(entry),
        None => None,
    };
    let answer = script::invoke_with_inputs(run, handler, inputs).await;
    let kept = entry.and_then(|entry| Some((entry, to_kept(answer.as_ref().ok()?)?)));
    let answer = script::sorted(run, Stage::Execute, handler, answer)?;
    if let Some((entry, bytes)) = kept {
        if run.change_made().is_none() {
            entry.store_bytes(run, bytes);
        } else {
            let Subject { tool, request_id, .. } = run.subject();
            tracing::warn!(
                target: TARGET, tool, request_id,
                "the tool has `cache` and `kind: query`, and a script of the call has changed something: the result is not kept"
            );
        }
    }
    Ok(output(run, answer))
}

/// What a handler returned, as bytes: `[0]` for nothing, `[1, value]`, or `[2, content]`. `None`
/// for what is not kept.
fn to_kept(answer: &Returned) -> Option<Vec<u8>> {
    match answer {
        Returned::Undefined => serde_json::to_vec(&(0,)).ok(),
        Returned::Value(value) | Returned::Reply(Reply::Success(value)) => serde_json::to_vec(&(1, value)).ok(),
        Returned::Reply(Reply::Content(built)) => serde_json::to_vec(&(2, built)).ok(),
        Returned::Reply(_) => None,
    }
}

/// The same, read again.
fn from_kept(bytes: &[u8]) -> Option<Returned> {
    let Json::Array(mut parts) = serde_json::from_slice(bytes).ok()? else { return None };
    let value = if parts.len() == 2 { parts.pop() } else { None };
    match (parts.as_slice(), value) {
        ([kind], None) if *kind == 0 => Some(Returned::Undefined),
        ([kind], Some(value)) if *kind == 1 => Some(Returned::Value(value)),
        ([kind], Some(built)) if *kind == 2 => Some(Returned::Reply(Reply::Content(built))),
        _ => None,
    }
}

fn output(run: &Run<'_>, answer: ScriptOutput) -> ToolOutput {
    let value = match answer {
        ScriptOutput::Nothing => Json::Null,
        ScriptOutput::Value(value) => value,
        ScriptOutput::Content(content) => return ToolOutput::Content(content),
    };
    ToolOutput::Value(if run.tool.results_as_rows { rows(value) } else { value })
}

/// A value as the list of objects that an imported app expects.
pub(in crate::pipeline) fn rows(value: Json) -> Json {
    let row = |element| if matches!(element, Json::Object(_)) { element } else { json!({ "value": element }) };
    match value {
        Json::Null => Json::Array(alloc::vec::Vec::new()),
        Json::Array(elements) => elements.into_iter().map(row).collect(),
        other => Json::Array(alloc::vec![row(other)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_was_returned() {
        for answer in [
            Returned::Undefined,
            Returned::Value(json!(null)),
            Returned::Value(json!([1, {"a": 18_446_744_073_709_551_615_u64}, "x"])),
            Returned::Reply(Reply::Content(json!({"content": []}))),
        ] {
            assert_eq!(from_kept(&to_kept(&answer).unwrap()), Some(answer));
        }
        assert_eq!(to_kept(&Returned::Reply(Reply::Error("no".into()))), None);
        for damaged in ["", "null", "[]", "[1]", "[0,1]", "[3,1]", "[1,2,3]"] {
            assert_eq!(from_kept(damaged.as_bytes()), None, "{damaged}");
        }
    }

    #[test]
    fn values_as_rows() {
        let table = [
            (json!(null), json!([])),
            (json!([]), json!([])),
            (json!([1, {"a": 1}, null, [2]]), json!([{"value": 1}, {"a": 1}, {"value": null}, {"value": [2]}])),
            (json!({"a": 1}), json!([{"a": 1}])),
            (json!("x"), json!([{"value": "x"}])),
            (json!(false), json!([{"value": false}])),
        ];
        for (value, expected) in table {
            assert_eq!(rows(value.clone()), expected, "{value}");
        }
    }
}
