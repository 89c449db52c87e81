//! Stage 5, *map input*: `mappers.input` gets `{inputs, tool}`; the object that it returns replaces the inputs for all later stages.

use alloc::format;

use super::{
    call_end::CallEnd,
    json_text::word,
    run::Run,
    script::{self, ScriptOutput},
};
use crate::{
    Json,
    app::ScriptRef,
    fault::{Fault, Stage},
};

/// The inputs, mapped.
///
/// # Errors
/// Those of [`script::call`], and `SCRIPT_RESULT` for anything but an object.
pub(super) async fn map_input(run: &Run<'_>, mapper: &ScriptRef, mut inputs: Json) -> Result<Json, CallEnd> {
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
