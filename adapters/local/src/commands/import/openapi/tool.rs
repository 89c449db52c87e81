//! The file of a tool.

use super::{
    api::Api,
    operation::Operation,
    prose,
    request::{Known, Request},
    response::Response,
};
use crate::commands::new::from::{names, yaml};

/// The longest name of a tool with its adapter's, and the same with the server's name, which
/// clients put before it.
const MAX_NAME: usize = 48;
const MAX_WHOLE_NAME: usize = 57;

/// A tool that is not written yet.
pub(super) struct Tool<'a> {
    pub(super) operation: Operation<'a>,
    /// The name of its folder.
    pub(super) folder: String,
    /// What its file says, without the line at its head.
    pub(super) text: String,
    /// The inputs of a call of it, each with a blank before it: those that it requires.
    pub(super) call: String,
}

/// The tool of an operation.
///
/// # Errors
/// Why there cannot be one.
pub(super) fn of<'a>(operation: Operation<'a>, api: &Api, folder: String) -> Result<Tool<'a>, String> {
    if let Some(url) = operation.own_server().filter(|url| api.is_elsewhere(url)) {
        return Err(format!("it has a server of its own, `{url}`"));
    }
    let response = Response::of(&operation)?;
    let page = response.page.as_ref();
    let known = Known {
        credentials: &api.credentials,
        paged: page.map_or(&[], |page| page.sets.as_slice()),
        fixed: page.and_then(|page| page.size.as_ref()),
    };
    let request = Request::of(&operation, known)?;
    let mut text = String::new();
    for clause in &request.left_out {
        text.push_str(&format!("# Not sent: {}.\n", one_line(clause)));
    }
    text.push_str(&format!("description: {}\n", yaml::quoted(&description(&operation))));
    let tags: Vec<String> = operation.tags().map(|tag| yaml::word(&tag.replace("{{", "{ {").replace("}}", "} }"))).collect();
    if !tags.is_empty() {
        text.push_str(&format!("tags: [ {} ]\n", tags.join(", ")));
    }
    text.push_str(&format!("use: {}\n", yaml::word(&api.name)));
    text.push_str(&request.keys());
    text.push_str(&response.keys());
    if !request.inputs.is_empty() {
        text.push_str("inputs:\n");
        text.extend(request.inputs.iter().map(|input| input.lines(2)));
    }
    let call = request.inputs.iter().filter(|input| input.required).map(|input| format!(" {}", input.example())).collect();
    Ok(Tool { operation, folder, text, call })
}

/// The names of the operations' folders, each its own.
pub(super) fn folders(operations: &[Operation<'_>], adapter: &str) -> Vec<String> {
    // Most apps with one API have its name.
    let most = MAX_NAME.min(MAX_WHOLE_NAME.saturating_sub(adapter.len())).saturating_sub(adapter.len() + 1).max(20);
    let mut taken: Vec<String> = Vec::new();
    for operation in operations {
        let whole = names::of_folder(&operation.id(), "operation", 500, &[]);
        let mut name = String::new();
        for word in whole.split('-') {
            if !name.is_empty() && name.len() + 1 + word.len() > most.saturating_sub(3) {
                break;
            }
            name = if name.is_empty() { word.to_owned() } else { format!("{name}-{word}") };
        }
        taken.push(names::of_folder(&name, "operation", most.saturating_sub(3), &taken));
    }
    taken
}

/// One or two sentences: what a model reads to choose the tool.
fn description(operation: &Operation<'_>) -> String {
    let said =
        ["summary", "description"].into_iter().find_map(|key| operation.node.text(key).and_then(|text| prose::short(text, prose::TOOL)));
    let mut text = said.unwrap_or_else(|| format!("Sends {}.", operation.shown()));
    if !text.ends_with(['.', '!', '?', '…']) {
        text.push('.');
    }
    if operation.is_deprecated() {
        text.push_str(" Deprecated.");
    }
    text.replace("{{", "{ {").replace("}}", "} }")
}

/// A text within a comment.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}') { ' ' } else { c }).collect()
}
