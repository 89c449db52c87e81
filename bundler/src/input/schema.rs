//! The [JSON Schema 2020-12](https://json-schema.org/draft/2020-12) of an input. Members always come in the same order.

use millrace_core::app::{Input, InputKind};
use serde_json::{Map, Value, json};

/// What the schema of an input says beyond the input.
pub(super) struct SchemaAnnotations<'a> {
    pub(super) description: Option<&'a str>,
    pub(super) examples: Vec<Value>,
    pub(super) item_schema: Option<Value>,
    pub(super) field_schemas: Vec<Value>,
}

/// The schema of an input.
pub(super) fn of(input: &Input, described: SchemaAnnotations<'_>) -> Value {
    let mut schema = Map::new();
    let (kind, format) = match input.kind {
        InputKind::String => (Some("string"), input.format.as_deref()),
        InputKind::Int => (Some("integer"), None),
        InputKind::Float => (Some("number"), None),
        InputKind::Boolean => (Some("boolean"), None),
        InputKind::Datetime => (Some("string"), Some("date-time")),
        InputKind::Date => (Some("string"), Some("date")),
        InputKind::Uuid => (Some("string"), Some("uuid")),
        InputKind::Array => (Some("array"), None),
        InputKind::Object => (Some("object"), None),
        InputKind::Json => (None, None),
    };
    if let Some(kind) = kind {
        schema.insert("type".into(), if input.nullable { json!([kind, "null"]) } else { json!(kind) });
    }
    if let Some(description) = described.description {
        schema.insert("description".into(), description.into());
    }
    if !input.allowed.is_empty() {
        let mut allowed: Vec<Value> = input.allowed.iter().map(|value| value.0.clone()).collect();
        if input.nullable && !allowed.contains(&Value::Null) {
            allowed.push(Value::Null);
        }
        schema.insert("enum".into(), allowed.into());
    }
    if let Some(format) = format {
        schema.insert("format".into(), format.into());
    }
    if let Some(pattern) = &input.pattern {
        schema.insert("pattern".into(), pattern.text().into());
    }
    let bounds = match input.kind {
        InputKind::Int | InputKind::Float => Some(("minimum", "maximum")),
        InputKind::String => Some(("minLength", "maxLength")),
        InputKind::Array => Some(("minItems", "maxItems")),
        _ => None,
    };
    if let Some((least, most)) = bounds {
        for (keyword, bound) in [(least, input.min), (most, input.max)] {
            if let Some(bound) = bound {
                schema.insert(keyword.into(), number(bound));
            }
        }
    }
    if let Some(items) = described.item_schema {
        schema.insert("items".into(), items);
    }
    if input.kind == InputKind::Object && !input.fields.is_empty() {
        members(&mut schema, &input.fields, described.field_schemas);
    }
    if let Some(default) = &input.default {
        schema.insert("default".into(), default.0.clone());
    }
    if !described.examples.is_empty() {
        schema.insert("examples".into(), described.examples.into());
    }
    if let Some(header) = &input.header {
        schema.insert("x-mcp-header".into(), header.as_str().into());
    }
    Value::Object(schema)
}

/// Adds `properties`, `required` and `additionalProperties: false` to the schema of an object.
pub(crate) fn members<'a>(schema: &mut Map<String, Value>, inputs: impl IntoIterator<Item = &'a Input>, schemas: Vec<Value>) {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for (input, schema) in inputs.into_iter().zip(schemas) {
        properties.insert(input.name.clone(), schema);
        if !input.optional && input.default.is_none() {
            required.push(input.name.as_str().into());
        }
    }
    if !properties.is_empty() {
        schema.insert("properties".into(), properties.into());
    }
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), false.into());
}

/// A bound as JSON: whole numbers without a fraction.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the number is whole and small enough")]
fn number(bound: f64) -> Value {
    if bound.fract() == 0.0 && bound.abs() < 9e15 { (bound as i64).into() } else { bound.into() }
}
