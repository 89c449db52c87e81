//! Stage 10, *map output*: `mappers.output` gets `{results, tool}`; the value that it returns
//! replaces the result. Of a result that the handler built with `response()` it gets and replaces
//! the data; the blocks stay, unless it builds a result itself. Then the tool's `errors.on` rules
//! look at the result: the first that holds makes it a failure. Those that look at `answer` are for
//! requests of HTTP that failed.

use alloc::{boxed::Box, string::String};
use core::cell::Cell;

use serde_json::Map;

use crate::pipeline::{
    call::call_end::CallEnd,
    call::run::Run,
    content::AuthoredContent,
    content::output::ToolOutput,
    script::{self, ScriptOutput},
    stages::execute::rows,
    stages::present::for_everybody,
};
use crate::{
    Json,
    app::ErrorRule,
    expression::{MOST_STEPS, Roots, Step},
    fault::{Fault, FaultResult, Stage},
};

/// What a rule calls the answer to a request of HTTP that failed.
const ANSWER: &str = "answer";

/// The result, mapped; the stage applies to tools with an output mapper or rules.
///
/// # Errors
/// Those of [`script::call`], and the fault of the first rule that holds.
pub(in crate::pipeline) async fn map_output(run: &Run<'_>, inputs: &Json, outcome: ToolOutput) -> Result<ToolOutput, CallEnd> {
    let outcome = match &run.tool.map_output {
        None => outcome,
        Some(mapper) => {
            let (results, content) = match outcome {
                ToolOutput::Content(mut content) => (content.data.take().unwrap_or_default(), Some(content)),
                // A script tells integers apart that a result has as text.
                ToolOutput::Rows(rows) => (rows.exact().map_err(not_json)?, None),
                ToolOutput::Value(value) => (value, None),
            };
            let mut payload = Map::<String, Json>::with_capacity(2);
            payload.insert("results".into(), results);
            payload.insert("tool".into(), run.tool.name.as_str().into());
            let mapped = script::call(run, Stage::MapOutput, mapper, &Json::Object(payload)).await?;
            match (mapped, content) {
                (ScriptOutput::Content(built), _) => ToolOutput::Content(built),
                // The blocks stay; what the mapper saw is what it replaces.
                (ScriptOutput::Value(data), Some(content)) => {
                    ToolOutput::Content(Box::new(AuthoredContent { data: Some(data), ..*content }))
                }
                (ScriptOutput::Nothing, Some(content)) => ToolOutput::Content(content),
                (ScriptOutput::Value(value), None) => ToolOutput::Value(value),
                (ScriptOutput::Nothing, None) => ToolOutput::Value(Json::Null),
            }
        }
    };
    if let ToolOutput::Content(content) = &outcome {
        if !run.tool.errors.on.is_empty() {
            refuse(run, inputs, content.data.as_ref().unwrap_or(&Json::Null))?;
        }
        return Ok(outcome);
    }
    let is_list = matches!(&outcome, ToolOutput::Rows(rows) if !rows.columns.is_empty());
    let as_rows = run.tool.results_as_rows && !is_list;
    if run.tool.errors.on.is_empty() && !as_rows {
        return Ok(outcome);
    }
    let results = json(outcome)?;
    let results = if as_rows { rows(results) } else { results };
    refuse(run, inputs, &results)?;
    Ok(ToolOutput::Value(results))
}

/// Ends the call where a rule of `errors.on` holds.
fn refuse(run: &Run<'_>, inputs: &Json, results: &Json) -> FaultResult<()> {
    let scope = run.scope(inputs);
    let roots = scope.roots(Some(results));
    let Some(rule) = rule_for(run, &roots, false) else { return Ok(()) };
    // What the presenter leaves out or redacts is in no message, either.
    let message = match run.tool.returns {
        Some(_) => scope.render(&rule.message, &for_everybody(run, results), Stage::MapOutput)?,
        None => scope.render(&rule.message, results, Stage::MapOutput)?,
    };
    Err(fault(run, Stage::MapOutput, rule, &message).into())
}

/// The fault of the first rule of `errors.on` that holds of what an API answered to a request that
/// failed; `None` where no rule does.
///
/// # Errors
/// `CONFIGURATION` for a variable of the rule's message that is not set.
pub(in crate::pipeline) fn fault_of_answer(run: &Run<'_>, inputs: &Json, answer: &Json) -> FaultResult<Option<Fault>> {
    let scope = run.scope(inputs);
    let mut roots = scope.roots(None);
    roots.push((ANSWER, answer));
    let Some(rule) = rule_for(run, &roots, true) else { return Ok(None) };
    let message = scope.render(&rule.message, &Json::Null, Stage::Execute)?;
    Ok(Some(fault(run, Stage::Execute, rule, &message)))
}

/// The first rule that holds, of those that look at an answer or of the others: a rule on results
/// says nothing of a request that failed.
fn rule_for<'r>(run: &Run<'r>, roots: &Roots<'_>, of_answer: bool) -> Option<&'r ErrorRule> {
    let holds = |rule: &&ErrorRule| run.holds(&rule.when, roots, &Cell::new(MOST_STEPS), "errors.on", Some(&rule.code));
    run.tool.errors.on.iter().filter(|rule| looks_at_answer(rule) == of_answer).find(holds)
}

fn looks_at_answer(rule: &ErrorRule) -> bool {
    let mut found = false;
    rule.when.paths(&mut |steps| found |= matches!(steps.first(), Some(Step::Member(root)) if root == ANSWER));
    found
}

fn fault(run: &Run<'_>, stage: Stage, rule: &ErrorRule, message: &str) -> Fault {
    let mut fault = Fault::new(stage, &rule.code, run.secrets().for_caller(message));
    fault.suggestion.clone_from(&rule.suggestion);
    fault.available_actions.clone_from(&rule.actions);
    fault
}

fn json(outcome: ToolOutput) -> FaultResult<Json> {
    match outcome {
        ToolOutput::Value(value) => Ok(value),
        ToolOutput::Content(content) => Ok(content.data.unwrap_or_default()),
        ToolOutput::Rows(rows) => serde_json::to_value(rows.json()).map_err(|error| not_json(error).into()),
    }
}

fn not_json(error: serde_json::Error) -> Fault {
    Fault::new(Stage::MapOutput, "RESULT_NOT_JSON", "The result cannot be written as JSON.").by_author().logging(alloc::format!("{error}"))
}
