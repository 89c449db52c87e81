//! Calls that happen once: a call with the same tool, key and caller as an earlier one gets the
//! earlier one's answer.
//!
//! | tool | where the record is | what it keeps |
//! |---|---|---|
//! | a statement | in its database, by the connector: committed with the change or not at all | the rows |
//! | a script | in [`StateStore`](crate::ports::StateStore): before it runs, and again after it | what the handler returned, or how it failed |
//!
//! What comes after stage *execute* is done again from what the record keeps. A record is never
//! looked at without the caller's whole [`Identity`](crate::pipeline::call::identity::Identity):
//! nobody gets the answer of somebody else.

use alloc::{format, vec};

use sha2::{Digest as _, Sha256};

use crate::pipeline::{
    call::call_key::CallKey,
    call::run::{RECOVERY, Run, missing_variable},
    call::scope::unset,
    content::json_text::text_of,
    content::result::ToolResult,
};
use crate::{
    Json,
    app::{Idempotency, Root, Source, TemplatePart},
    fault::{Fault, FaultResult, Issue, Stage},
    hex,
    ports::RecordedWrite,
    value::Rows,
};

mod answer;
mod endings;
mod script;

use endings::{conflict, unknown};
pub(super) use script::{handle, look_up};

/// Begins every key's text.
const VERSION: &str = "millrace-call-1";
/// The member of `_meta` that says that the answer is an earlier call's.
const REPLAYED: &str = "millrace/replayed";

/// The key of a call: the digest of app, tool, caller, and each part of the key, with its length
/// before it.
///
/// # Errors
/// `VALIDATION_ERROR` where an input of the key is absent, null or empty; `IDEMPOTENCY_KEY` where
/// another value is.
pub(super) fn key(run: &Run<'_>, settings: &Idempotency, inputs: &Json) -> FaultResult<CallKey> {
    let scope = run.scope(inputs);
    let mut digest = Sha256::new();
    let mut update = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    };
    update(VERSION.as_bytes());
    update(run.pipeline.app.name.as_bytes());
    update(run.tool.name.as_bytes());
    update(run.identity().as_bytes());
    for part in &settings.key.0 {
        match part {
            TemplatePart::Text(text) => update(text.as_bytes()),
            TemplatePart::Source(source) => {
                let value = scope.find(source);
                if let (None, Some(name)) = (value, unset(source)) {
                    return Err(missing_variable(name, Stage::Guard).into());
                }
                let text = value.map(text_of).unwrap_or_default();
                if text.trim().is_empty() {
                    return Err(empty(source, value).into());
                }
                update(text.as_bytes());
            }
        }
    }
    Ok(CallKey { text: hex::encode(&digest.finalize()), ttl_s: settings.ttl_s })
}

/// A call whose key would be the same as that of any other call without this value.
fn empty(source: &Source, value: Option<&Json>) -> Fault {
    if source.root != Root::Inputs {
        let message = format!("The call has no idempotency key: `{source}` has no value.");
        return Fault::new(Stage::Guard, "IDEMPOTENCY_KEY", message).by_author();
    }
    let sent = match value {
        None => "(missing)",
        Some(Json::Null) => "null",
        Some(_) => "an empty string",
    };
    let field = source.path.join(".");
    let mut fault = Fault::new(Stage::Guard, "VALIDATION_ERROR", format!("`{field}` is required.")).suggesting(RECOVERY);
    fault.issues = vec![Issue { field, message: format!("The idempotency key is empty without it. You sent: {sent}.") }];
    fault
}

/// The rows of a write with a record.
///
/// # Errors
/// `CONFLICT` where another call with the key still runs; `ANSWER_UNKNOWN` where the change is
/// known to be made and its rows are not.
pub(super) fn rows(run: &Run<'_>, write: RecordedWrite) -> FaultResult<Rows> {
    match write {
        RecordedWrite::Made(rows) => Ok(rows),
        RecordedWrite::MadeBefore(rows) => {
            run.replayed.set(true);
            Ok(rows)
        }
        RecordedWrite::MadeBeforeUnknown => Err(unknown(run).into()),
        RecordedWrite::Running => Err(conflict().into()),
    }
}

/// The result, which says so where it is an earlier call's.
pub(super) fn marked(run: &Run<'_>, mut result: ToolResult) -> ToolResult {
    if run.replayed.get() {
        result.meta.push((REPLAYED.into(), true.into()));
    }
    result
}
