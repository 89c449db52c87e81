//! Execution of a handler.

use serde_json::json;

use crate::{
    Json,
    app::ScriptRef,
    fault::Stage,
    pipeline::{
        call_end::CallEnd,
        output::ToolOutput,
        run::Run,
        script::{self, ScriptOutput},
    },
};

/// Calls the handler with `{inputs, tool}`. Returning nothing is returning null.
///
/// # Errors
/// Those of [`script::call`].
pub(super) async fn handle(run: &Run<'_>, handler: &ScriptRef, inputs: &mut Json) -> Result<ToolOutput, CallEnd> {
    let value = match script::call_with_inputs(run, Stage::Execute, handler, inputs).await? {
        ScriptOutput::Nothing => Json::Null,
        ScriptOutput::Value(value) => value,
        ScriptOutput::Content(content) => return Ok(ToolOutput::Content(content)),
    };
    Ok(ToolOutput::Value(if run.tool.results_as_rows { rows(value) } else { value }))
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
