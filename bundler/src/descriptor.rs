//! The entries of `tools/list`, `prompts/list` and the resource lists, as JSON text. Members always
//! come in the same order.

use serde_json::{Map, Value, json};

use crate::input::{DeclaredInput, schema::members};

/// What the entry of a tool says.
pub(crate) struct ToolEntry<'a> {
    /// `name`
    pub(crate) name: &'a str,
    /// `title`
    pub(crate) title: &'a str,
    /// `description`
    pub(crate) description: &'a str,
    /// `inputs`
    pub(crate) inputs: &'a [DeclaredInput],
    /// `json_schema`, which stands instead of `inputs`
    pub(crate) input_schema: Option<&'a Value>,
    /// `output`
    pub(crate) output_schema: Option<&'a Value>,
    /// `icons`
    pub(crate) icons: Vec<Value>,
    /// `annotations`, in order
    pub(crate) annotations: Map<String, Value>,
    /// `tags`
    pub(crate) tags: &'a [String],
    /// The longest result, in bytes, where clients show less by default.
    pub(crate) shows: Option<u32>,
}

/// The most characters of a result that Claude Code shows a model, whatever a tool says; `_meta`
/// with this name raises it from 50,000.
const MOST_SHOWN: (&str, u32) = ("anthropic/maxResultSizeChars", 500_000);

/// The entry of a tool.
pub(crate) fn tool(entry: &ToolEntry<'_>) -> String {
    let mut object = head(entry.name, Some(entry.title), Some(entry.description));
    if !entry.icons.is_empty() {
        object.insert("icons".into(), entry.icons.clone().into());
    }
    let mut schema = entry.input_schema.cloned().unwrap_or_else(|| {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        let schemas = entry.inputs.iter().map(|declared| declared.schema.clone()).collect();
        members(&mut schema, entry.inputs.iter().map(|declared| &declared.input), schemas);
        schema.into()
    });
    if let Some(schema) = schema.as_object_mut() {
        // Some models' APIs refuse arguments that do not say that there are none.
        schema.entry("properties").or_insert_with(|| json!({}));
    }
    object.insert("inputSchema".into(), schema);
    if let Some(schema) = entry.output_schema {
        object.insert("outputSchema".into(), schema.clone());
    }
    object.insert("annotations".into(), entry.annotations.clone().into());
    let mut meta = Map::new();
    if !entry.tags.is_empty() {
        meta.insert("millrace/tags".into(), entry.tags.into());
    }
    if let Some(bytes) = entry.shows {
        let (name, most) = MOST_SHOWN;
        meta.insert(name.into(), bytes.min(most).into());
    }
    if !meta.is_empty() {
        object.insert("_meta".into(), meta.into());
    }
    Value::Object(object).to_string()
}

/// Adds what a tool demands of its callers to its entry: as a member of its own, and in `_meta` for
/// clients whose SDK drops what the protocol does not know.
pub(crate) fn add_security_schemes(descriptor: &mut String, schemes: Vec<Value>) {
    // The bundler wrote it.
    let Ok(mut object) = serde_json::from_str::<Map<String, Value>>(descriptor) else { return };
    let schemes = Value::from(schemes);
    let meta = object.shift_remove("_meta");
    object.insert("securitySchemes".into(), schemes.clone());
    let mut meta = match meta {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    meta.insert("securitySchemes".into(), schemes);
    object.insert("_meta".into(), meta.into());
    *descriptor = Value::Object(object).to_string();
}

/// What the entry of a prompt says of an argument.
pub(crate) struct ArgumentEntry<'a> {
    /// `name`
    pub(crate) name: &'a str,
    /// `title`
    pub(crate) title: Option<&'a str>,
    /// `description`
    pub(crate) description: Option<&'a str>,
    /// `required`
    pub(crate) required: bool,
}

/// The entry of a prompt.
pub(crate) fn prompt(name: &str, title: Option<&str>, description: Option<&str>, arguments: &[ArgumentEntry<'_>]) -> String {
    let mut object = head(name, title, description);
    if !arguments.is_empty() {
        let list: Vec<Value> = arguments
            .iter()
            .map(|argument| {
                let mut object = head(argument.name, argument.title, argument.description);
                object.insert("required".into(), argument.required.into());
                Value::Object(object)
            })
            .collect();
        object.insert("arguments".into(), list.into());
    }
    Value::Object(object).to_string()
}

/// The entry of a resource (`key` is `uri`) or of a resource template (`uriTemplate`).
pub(crate) fn resource(
    key: &str,
    uri: &str,
    name: &str,
    title: Option<&str>,
    description: Option<&str>,
    mime_type: Option<&String>,
) -> String {
    let mut object = Map::new();
    object.insert(key.to_owned(), uri.into());
    object.extend(head(name, title, description));
    if let Some(mime_type) = mime_type {
        object.insert("mimeType".into(), mime_type.as_str().into());
    }
    Value::Object(object).to_string()
}

fn head(name: &str, title: Option<&str>, description: Option<&str>) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("name".into(), name.into());
    for (key, value) in [("title", title), ("description", description)] {
        if let Some(value) = value {
            object.insert(key.into(), value.into());
        }
    }
    object
}
