//! Exact schemas of inputs and presented fields. What clients are sent says in words what some of
//! them do not take: formats, numbers of an `enum`, `null`.

use millrace_core::app::{App, Input, InputKind, PresentedField, Presenter, UnknownFields};
use serde_json::{Map, Value, json};

/// Completes the schema of a tool's inputs, as clients see it.
pub(super) fn complete(schema: &mut Value, inputs: &[Input]) {
    for input in inputs {
        if let Some(schema) = schema.get_mut("properties").and_then(|properties| properties.get_mut(&input.name)) {
            complete_one(schema, input);
        }
    }
}

fn complete_one(schema: &mut Value, input: &Input) {
    // The element of a list that can be null: its own demands stand beside the type.
    let own = schema.get_mut("anyOf").and_then(|choice| choice.get_mut(0)).is_some() && input.kind != InputKind::Json;
    let typed = if own { schema.get_mut("anyOf").and_then(|choice| choice.get_mut(0)) } else { Some(&mut *schema) };
    if let Some(Value::Object(members)) = typed {
        if let Some(format) = format_of(input.kind, input.format.as_deref()) {
            members.insert("format".into(), format.into());
        }
        if !input.allowed.is_empty() {
            members.insert("enum".into(), input.allowed.iter().map(|value| value.0.clone()).collect());
        }
        if let Some(kind) = members.get("type").and_then(Value::as_str).filter(|_| input.nullable && !own).map(str::to_owned) {
            members.insert("type".into(), json!([kind, "null"]));
        }
        if let (Some(items), Some(schema)) = (&input.items, members.get_mut("items")) {
            complete_one(schema, items);
        }
    }
    complete(schema, &input.fields);
}

fn format_of(kind: InputKind, format: Option<&str>) -> Option<&str> {
    match kind {
        InputKind::Datetime => Some("date-time"),
        InputKind::Date => Some("date"),
        InputKind::Uuid => Some("uuid"),
        _ => format,
    }
}

/// The schema of an item of a presenter.
pub(super) fn of_presenter(app: &App, presenter: &Presenter) -> Value {
    object(app, &presenter.fields, presenter.unknown != UnknownFields::Keep)
}

fn object(app: &App, fields: &[PresentedField], closed: bool) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.clone(), presented(app, field))).collect();
    let required: Vec<&str> = fields.iter().filter(|field| !field.optional).map(|field| field.name.as_str()).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    if closed && let Some(members) = schema.as_object_mut() {
        members.insert("additionalProperties".into(), false.into());
    }
    schema
}

fn presented(app: &App, field: &PresentedField) -> Value {
    let nested = field.returns.and_then(|place| app.presenters.get(place as usize)).map(|presenter| of_presenter(app, presenter));
    let mut schema = Map::new();
    match field.kind {
        InputKind::Json => {}
        InputKind::Object if nested.is_some() || !field.fields.is_empty() => {
            if let Value::Object(members) = nested.clone().unwrap_or_else(|| object(app, &field.fields, false)) {
                schema = members;
            }
        }
        kind => drop(schema.insert("type".into(), type_of(kind).into())),
    }
    if field.kind == InputKind::Array {
        let items = nested.or_else(|| field.items.as_deref().map(|items| presented(app, items)));
        schema.insert("items".into(), items.unwrap_or_else(|| json!({})));
    }
    if let Some(format) = format_of(field.kind, None) {
        schema.insert("format".into(), format.into());
    }
    if !field.allowed.is_empty() {
        schema.insert("enum".into(), field.allowed.iter().map(|value| value.0.clone()).collect());
    }
    let keyword = match field.kind {
        InputKind::Int | InputKind::Float => Some("maximum"),
        InputKind::String => Some("maxLength"),
        InputKind::Array => Some("maxItems"),
        _ => None,
    };
    if let (Some(keyword), Some(max)) = (keyword, field.max) {
        schema.insert(keyword.into(), max.into());
    }
    if let Some(kind) = schema.get("type").and_then(Value::as_str).filter(|_| field.nullable).map(str::to_owned) {
        schema.insert("type".into(), json!([kind, "null"]));
    }
    Value::Object(schema)
}

const fn type_of(kind: InputKind) -> &'static str {
    match kind {
        InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid | InputKind::Json => "string",
        InputKind::Int => "integer",
        InputKind::Float => "number",
        InputKind::Boolean => "boolean",
        InputKind::Array => "array",
        InputKind::Object => "object",
    }
}
