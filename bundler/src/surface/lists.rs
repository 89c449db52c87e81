//! The surface that lists tell: the entries of `tools/list`, `prompts/list` and the resource lists.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::model::{ArgumentSurface, PromptSurface, ResourceSurface, Surface, ToolSurface};

/// An entry that the bundler wrote.
pub(super) fn entry(descriptor: &str) -> Map<String, Value> {
    serde_json::from_str(descriptor).unwrap_or_default()
}

/// The URI of a resource, or of a template of them.
pub(super) fn uri(entry: &Map<String, Value>) -> Option<&str> {
    entry.get("uri").or_else(|| entry.get("uriTemplate"))?.as_str()
}

impl Surface {
    /// The surface that lists tell. Entries without a name are passed over; `resources` has those
    /// of both lists.
    #[must_use]
    pub fn of_lists(tools: &[Map<String, Value>], prompts: &[Map<String, Value>], resources: &[Map<String, Value>]) -> Self {
        Self {
            server: None,
            tools: tools.iter().filter_map(|entry| Some((text(entry, "name")?, tool(entry)))).collect(),
            prompts: prompts.iter().filter_map(|entry| Some((text(entry, "name")?, prompt(entry)))).collect(),
            resources: resources.iter().filter_map(|entry| Some((uri(entry)?.to_owned(), resource(entry)))).collect(),
        }
    }
}

fn text(entry: &Map<String, Value>, key: &str) -> Option<String> {
    entry.get(key)?.as_str().map(str::to_owned)
}

fn tool(entry: &Map<String, Value>) -> ToolSurface {
    let annotations = entry.get("annotations").and_then(Value::as_object);
    let hints = annotations.into_iter().flatten().filter_map(|(name, value)| Some((name.clone(), value.as_bool()?)));
    let tags = entry.get("_meta").and_then(|meta| meta.get("millrace/tags")?.as_array());
    let in_annotations = || annotations.and_then(|annotations| text(annotations, "title"));
    ToolSurface {
        title: text(entry, "title").or_else(in_annotations),
        description: text(entry, "description"),
        tags: tags.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        hints: hints.collect(),
        inputs: entry.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object", "properties": {} })),
        output: entry.get("outputSchema").cloned(),
        security: entry.get("securitySchemes").cloned(),
        details: None,
    }
}

fn prompt(entry: &Map<String, Value>) -> PromptSurface {
    let mut arguments = BTreeMap::new();
    for argument in entry.get("arguments").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
        let Some(name) = text(argument, "name") else { continue };
        let required = argument.get("required").and_then(Value::as_bool).unwrap_or(false);
        arguments.insert(name, ArgumentSurface { required, title: text(argument, "title"), description: text(argument, "description") });
    }
    PromptSurface { title: text(entry, "title"), description: text(entry, "description"), arguments, scopes: None }
}

fn resource(entry: &Map<String, Value>) -> ResourceSurface {
    ResourceSurface {
        name: text(entry, "name").unwrap_or_default(),
        title: text(entry, "title"),
        description: text(entry, "description"),
        mime_type: text(entry, "mimeType"),
        scopes: None,
    }
}
