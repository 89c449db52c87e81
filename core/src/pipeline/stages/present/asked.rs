//! What a caller asks of the presentation, and which presenter it is asked of.

use alloc::{string::String, vec::Vec};

use crate::{
    Json,
    app::{EARLIER_SELECT_INPUT, FORMAT_INPUT, Presenter, SELECT_INPUT, TextFormat},
    pipeline::{call::run::Run, content::DataFormat},
};

/// What a caller asks of the presentation.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Asked {
    pub(super) format: Option<DataFormat>,
    pub(super) select: Option<Vec<String>>,
    /// How many items at most, where an input says so.
    pub(super) limit: Option<u32>,
}

/// Gives an input of the presentation that was sent by its earlier name the one that it has now.
pub(in crate::pipeline) fn rename_inputs(run: &Run<'_>, inputs: &mut Json) {
    let (Some(presenter), Json::Object(inputs)) = (presenter(run), inputs) else { return };
    // Looked for where one was sent, and nowhere else.
    let is_own = || {
        run.tool.inputs.iter().any(|input| input.name == EARLIER_SELECT_INPUT)
            || run.tool.input_schema.as_ref().is_some_and(|schema| schema.contains(EARLIER_SELECT_INPUT))
    };
    if presenter.select
        && inputs.contains_key(EARLIER_SELECT_INPUT)
        && !inputs.contains_key(SELECT_INPUT)
        && !is_own()
        && let Some(names) = inputs.shift_remove(EARLIER_SELECT_INPUT)
    {
        inputs.insert(String::from(SELECT_INPUT), names);
    }
}

/// Takes what concerns the presentation out of the inputs: it is no affair of the tool itself.
pub(in crate::pipeline) fn asked(run: &Run<'_>, inputs: &mut Json) -> Asked {
    let (Some(presenter), Json::Object(inputs)) = (presenter(run), inputs) else { return Asked::default() };
    let mut asked = Asked::default();
    if presenter.select
        && let Some(Json::Array(names)) = inputs.shift_remove(SELECT_INPUT)
    {
        asked.select = Some(names.iter().filter_map(Json::as_str).map(String::from).collect());
    }
    if presenter.format == TextFormat::Input
        && let Some(format) = inputs.shift_remove(FORMAT_INPUT)
    {
        asked.format = Some(if format == "toon" { DataFormat::Toon } else { DataFormat::Json });
    }
    let limit = presenter.limit.as_ref().and_then(|limit| inputs.get(limit.input.as_ref()?)?.as_u64());
    asked.limit = limit.and_then(|limit| u32::try_from(limit).ok());
    let cursor = presenter.limit.as_ref().and_then(|limit| limit.cursor.as_ref()).filter(|cursor| cursor.field.is_none());
    run.passed.set(cursor.and_then(|cursor| inputs.get(&cursor.input)?.as_u64()).unwrap_or(0));
    asked
}

/// The presenter of the tool.
pub(super) fn presenter<'a>(run: &Run<'a>) -> Option<&'a Presenter> {
    run.pipeline.app.presenters.get(run.tool.returns? as usize)
}
