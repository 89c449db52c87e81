//! `confirm`: the user is asked before the tool does anything.

use alloc::{boxed::Box, format};

use serde_json::json;

use crate::{
    Json,
    app::Template,
    fault::{Fault, Stage},
    pipeline::{
        call::call_end::{CallEnd, CallFailure},
        call::run::Run,
        rounds,
    },
};

/// The key of the question. Scripts may use any other.
const KEY: &str = "millrace/confirm";

/// Goes on where the user gave the confirmation.
///
/// # Errors
/// `DECLINED`, and those of [`rounds`]: the first time, the call ends with the question.
pub(super) fn confirm(run: &Run<'_>, confirm: &Template, inputs: &Json) -> Result<(), CallEnd> {
    let message = run.scope(inputs).render(confirm, &Json::Null, Stage::Guard)?;
    let question = json!({
        "method": "elicitation/create",
        "params": { "message": message, "requestedSchema": { "type": "object", "properties": {} } },
    });
    let answers = rounds::ask(run, json!({ KEY: question })).map_err(|error| {
        Fault::new(Stage::Guard, "INTERNAL", "The confirmation cannot be asked for.").by_operator().logging(format!("{error}"))
    })?;
    let Some(answers) = answers else { return Err(CallEnd::Asks) };
    if answers.get(KEY).is_some_and(|answer| answer.get("action").is_some_and(|action| action == "accept")) {
        return Ok(());
    }
    let declined = Fault::new(Stage::Guard, "DECLINED", "The user did not confirm. Nothing was done.")
        .suggesting("Ask the user what to do instead. Do not call the tool again unasked.");
    Err(CallFailure::Reply(Box::new(declined)).into())
}
