//! Stage 10, *map output*: `mappers.output` gets `{results, tool}`; the value that it returns replaces the result. Then the tool's
//! `errors.on` rules look at the result: the first that holds makes it a failure.

use alloc::string::String;

use serde_json::Map;

use super::{
    execute::{Outcome, rows},
    run::{End, Run},
    script,
};
use crate::{
    Json,
    fault::{Fault, Faulty, Stage},
};

/// The result, mapped; untouched where the tool has neither an output mapper nor rules.
///
/// # Errors
/// Those of [`script::call`], and the fault of the first rule that holds.
pub(super) async fn map_output(run: &Run<'_>, inputs: &Json, outcome: Outcome) -> Result<Outcome, End> {
    let outcome = match &run.tool.map_output {
        None => outcome,
        Some(mapper) => {
            let mut payload = Map::<String, Json>::with_capacity(2);
            payload.insert("results".into(), json(outcome)?);
            payload.insert("tool".into(), run.tool.name.as_str().into());
            let mapped = script::call(run, Stage::MapOutput, mapper, &Json::Object(payload)).await?;
            Outcome::Value(mapped.unwrap_or_default())
        }
    };
    let is_list = matches!(&outcome, Outcome::Rows(rows) if !rows.columns.is_empty());
    let as_rows = run.tool.results_as_rows && !is_list;
    if run.tool.errors.on.is_empty() && !as_rows {
        return Ok(outcome);
    }
    let results = json(outcome)?;
    let results = if as_rows { rows(results) } else { results };
    refuse(run, inputs, &results)?;
    Ok(Outcome::Value(results))
}

/// Ends the call where a rule of `errors.on` holds.
fn refuse(run: &Run<'_>, inputs: &Json, results: &Json) -> Faulty<()> {
    let scope = run.scope(inputs);
    let roots = scope.roots(results);
    let Some(rule) = run.tool.errors.on.iter().find(|rule| rule.when.holds(&roots)) else { return Ok(()) };
    let mut fault = Fault::new(Stage::MapOutput, &rule.code, scope.render(&rule.message, results));
    fault.suggestion.clone_from(&rule.suggestion);
    fault.available_actions.clone_from(&rule.actions);
    Err(fault.into())
}

fn json(outcome: Outcome) -> Faulty<Json> {
    match outcome {
        Outcome::Value(value) => Ok(value),
        Outcome::Rows(rows) => serde_json::to_value(rows.json()).map_err(|error| {
            Fault::new(Stage::MapOutput, "RESULT_NOT_JSON", "The result cannot be written as JSON.")
                .logging(alloc::format!("{error}"))
                .into()
        }),
    }
}
