//! `execute {tool, arguments}`, in apps of Hyperterse `execute {tool, inputs}`: the gateway to
//! tools that `tools/list` need not name. It stands before stage 1: the call becomes a call of the
//! tool that it names, and everything after is as if the caller had called that one, authentication
//! included.

use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::mem;

use serde_json::Map;

use crate::pipeline::{
    call::Call, call::call_end::CallFailure, call::callable::Callable, call::names::shown, call::report::CallReport,
    isolate::runtime::Pipeline, stages::authenticate, stages::validate,
};
use crate::{
    Json,
    app::{Execute, Tool},
    fault::{Fault, Stage},
    headers::Headers,
    ports::CallEvent,
    sort::sort,
};

/// The most names that a mistake suggests.
const MOST_NEAR: usize = 3;

/// The call that is meant: the same one, or that of the tool which `execute` names.
///
/// # Errors
/// `VALIDATION_ERROR` of `execute` itself, and `TOOL_NOT_FOUND` with the names that are near, as
/// far as the caller may call them.
pub(in crate::pipeline) async fn forward<'a>(
    pipeline: &'a Pipeline,
    mut call: Call<'a>,
    report: &CallReport,
) -> Result<Call<'a>, (&'a Tool, CallFailure)> {
    let Some((_, gateway)) = pipeline.tool(call.tool) else { return Ok(call) };
    if gateway.execute != Execute::Forward {
        return Ok(call);
    }
    let arguments = Json::Object(mem::take(&mut call.arguments));
    let mut arguments = match validate::check(pipeline, &gateway.inputs, arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return Err((gateway, fault.into())),
    };
    let Some(Json::String(name)) = arguments.get_mut("tool").map(Json::take) else { return Ok(call) };
    let Some((_, tool)) = pipeline.tool(&name).filter(|(_, tool)| !is_gateway(tool)) else {
        return Err((gateway, unknown(pipeline, &call, &name).await.into()));
    };
    report.tell(CallEvent::Forwarded(&tool.name));
    call.tool = &tool.name;
    let passed = ["arguments", "inputs"].into_iter().find_map(|name| arguments.get_mut(name).map(Json::take));
    call.arguments = match passed {
        Some(Json::Object(arguments)) => arguments,
        _ => Map::new(),
    };
    Ok(call)
}

/// Whether it is `search` or `execute` of the gateway, not a tool of the app's author.
pub(in crate::pipeline) fn is_gateway(tool: &Tool) -> bool {
    matches!(tool.execute, Execute::Search(_) | Execute::Forward)
}

async fn unknown(pipeline: &Pipeline, call: &Call<'_>, name: &str) -> Box<Fault> {
    let near = near(pipeline, call, name).await;
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    let suggestion = match quoted.split_last() {
        None => "Find the right name with `search`.".into(),
        Some((last, [])) => format!("Did you mean {last}? If not, find the right name with `search`."),
        Some((last, rest)) => format!("Did you mean {} or {last}? If not, find the right name with `search`.", rest.join(", ")),
    };
    let mut fault =
        Fault::new(Stage::Validate, "TOOL_NOT_FOUND", format!("The tool `{}` does not exist.", shown(name))).suggesting(suggestion);
    fault.available_actions = near;
    Box::new(fault)
}

/// The names like this one, nearest first, of tools that the caller may call as far as can be
/// known.
async fn near(pipeline: &Pipeline, call: &Call<'_>, name: &str) -> Vec<String> {
    let wanted: Vec<char> = name.chars().take(MOST_COMPARED).flat_map(char::to_lowercase).collect();
    let callable = pipeline.app.authorization.lists_callable.then(|| pipeline.callable(call.caller()));
    let mut near: Vec<(usize, &str)> = Vec::new();
    for tool in pipeline.app.tools.iter().filter(|tool| !is_gateway(tool)) {
        let candidate: Vec<char> = tool.name.chars().flat_map(char::to_lowercase).collect();
        let distance = distance(&wanted, &candidate);
        if distance <= candidate.len() / 3 && is_shown(pipeline, callable.as_ref(), call.headers, tool).await != Some(false) {
            near.push((distance, &tool.name));
        }
    }
    sort(&mut near);
    near.into_iter().take(MOST_NEAR).map(|(_, name)| name.into()).collect()
}

/// Whether the gateway shows a tool to a caller; `None` where only a script can tell, and is not
/// asked.
pub(in crate::pipeline) async fn is_shown<'a>(
    pipeline: &Pipeline,
    callable: Option<&Callable<'a>>,
    headers: &Headers,
    tool: &'a Tool,
) -> Option<bool> {
    match callable {
        Some(callable) => Some(callable.tool(tool).await),
        None => authenticate::admits(pipeline, headers, tool),
    }
}

/// The longest name that is compared.
const MOST_COMPARED: usize = 128;

/// How many characters must be put in, taken out or changed (Levenshtein).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut corner = mem::replace(&mut row[0], i + 1);
        for (j, right) in b.iter().enumerate() {
            let changed = corner + usize::from(left != right);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("get-user", "get-users", 1), ("kitten", "sitting", 3)] {
            let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<_>>());
            assert_eq!((distance(&a, &b), distance(&b, &a)), (expected, expected));
        }
    }
}
