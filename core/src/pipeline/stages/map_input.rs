//! Stage 5, *map input*: `mappers.input` gets `{inputs, tool}`; the object that it returns replaces
//! the inputs for all later stages.
//!
//! What is wrong with mapped inputs is the caller's to mend where it is wrong with what the caller
//! sent, too, also where the mapper gave the value to another input. Whatever else is wrong is a
//! defect of the mapper.

use alloc::{format, vec::Vec};

use crate::pipeline::{
    call::call_end::CallEnd,
    call::run::Run,
    content::json_text::word,
    script::{self, ScriptOutput},
    stages::validate::{INVALID, invalid, validate},
};
use crate::{
    Json,
    app::ScriptRef,
    fault::{Fault, FaultResult, Issue, Stage},
};

/// The inputs, mapped.
///
/// # Errors
/// Those of [`script::call`], and `SCRIPT_RESULT` for anything but an object.
pub(in crate::pipeline) async fn map_input(run: &Run<'_>, mapper: &ScriptRef, mut inputs: Json) -> Result<Json, CallEnd> {
    match script::call_with_inputs(run, Stage::MapInput, mapper, &mut inputs).await? {
        ScriptOutput::Value(mapped @ Json::Object(_)) => Ok(mapped),
        other => {
            let returned = match &other {
                ScriptOutput::Nothing => "nothing",
                ScriptOutput::Value(value) => word(Some(value)),
                ScriptOutput::Content(_) => "a built result",
            };
            let message = format!("The input mapper must return an object; it returned {returned}.");
            Err(Fault::new(Stage::MapInput, "SCRIPT_RESULT", message).by_author().into())
        }
    }
}

/// Stage 6 of a tool with a mapper: the mapped inputs, checked. `sent` is what the caller sent.
///
/// # Errors
/// Those of [`validate`], and `SCRIPT_RESULT` for what the mapper made wrong: the names of the
/// inputs, and in the log what is wrong with them.
pub(in crate::pipeline) async fn validate_mapped(run: &Run<'_>, mapper: &ScriptRef, mapped: Json, sent: Json) -> FaultResult<Json> {
    let fault = match validate(run, mapped).await {
        Err(fault) if fault.code == INVALID => fault,
        other => return other,
    };
    let of_caller = validate(run, sent).await.err().map(|fault| fault.issues).unwrap_or_default();
    let origins: Vec<Option<&Issue>> = fault.issues.iter().map(|issue| origin(issue, &of_caller)).collect();
    if fault.issues.iter().zip(&origins).all(|(issue, origin)| *origin == Some(issue)) {
        return Err(fault);
    }
    let made: Vec<&Issue> = fault.issues.iter().zip(&origins).filter(|(_, origin)| origin.is_none()).map(|(issue, _)| issue).collect();
    if made.is_empty() {
        // In the names that the caller knows.
        let sent = of_caller.iter().filter(|issue| origins.contains(&Some(*issue)));
        return Err(invalid(sent.cloned().collect()).into());
    }
    let names: Vec<_> = made.iter().map(|issue| format!("`{}`", issue.field)).collect();
    let message = format!("The input mapper returned inputs that the tool does not take: {}.", names.join(", "));
    let problems: Vec<_> =
        made.iter().map(|issue| format!("{}: {}", issue.field, issue.message.replace("You sent", "It returned"))).collect();
    let log = format!("{}: {}", script::path(run, mapper), problems.join(" "));
    Err(Fault::new(Stage::MapInput, "SCRIPT_RESULT", message).by_author().logging(log).into())
}

/// The problem of what the caller sent that a problem of the mapped inputs comes from: the same
/// one, or that of an input whose value the mapper gave to another.
fn origin<'a>(issue: &Issue, of_caller: &'a [Issue]) -> Option<&'a Issue> {
    of_caller.iter().find(|sent| *sent == issue).or_else(|| of_caller.iter().find(|sent| sent.message == issue.message))
}
