//! The app format as data and as prose: JSON Schemas for editors, and the reference. Both come from
//! the tables that the readers use.

use std::fmt::Write as _;

use millrace_core::Json;
use serde_json::{Map, json};

use crate::{
    adapter::ADAPTER,
    app_test::TEST_FILE,
    auth::{API_KEY_POLICY, AUTH, INTROSPECTION_POLICY, JWT_POLICY, LAMBDA_POLICY},
    field::{Field, KeyStatus, Record, Shape},
    presenter::PRESENTER,
    prompt::PROMPT,
    resource::RESOURCE,
    root::ROOT,
    setting::FOLDER,
    skill::SKILL,
    tool::TOOL,
};

mod hyperterse;
mod reference;

pub use reference::{Page, reference};

/// The schema of `millrace.yaml`.
#[must_use]
pub fn root() -> Json {
    document(&ROOT)
}

/// The schema of `app/tools/**/config.yaml`.
#[must_use]
pub fn tool() -> Json {
    document(&TOOL)
}

/// The schema of `_folder.yaml`.
#[must_use]
pub fn folder() -> Json {
    document(&FOLDER)
}

/// The schema of `app/adapters/*.yaml`.
#[must_use]
pub fn adapter() -> Json {
    document(&ADAPTER)
}

/// The schema of `app/prompts/*.yaml`.
#[must_use]
pub fn prompt() -> Json {
    document(&PROMPT)
}

/// The schema of `app/resources/**/config.yaml`.
#[must_use]
pub fn resource() -> Json {
    document(&RESOURCE)
}

/// The schema of `app/skills/*/config.yaml`.
#[must_use]
pub fn skill() -> Json {
    document(&SKILL)
}

/// The schema of `app/presenters/*.yaml`.
#[must_use]
pub fn presenter() -> Json {
    document(&PRESENTER)
}

/// The schema of `app/**/*.test.yaml`.
#[must_use]
pub fn test_file() -> Json {
    document(&TEST_FILE)
}

/// The tables that a table refers to, each once, depth first.
fn collect(record: &'static Record, parts: &mut Vec<&'static Record>) {
    for field in now(record) {
        collect_shape(&field.shape, parts);
    }
}

fn collect_shape(shape: &Shape, parts: &mut Vec<&'static Record>) {
    match shape {
        Shape::Record(record) if !parts.iter().any(|part| part.name == record.name) => {
            parts.push(record);
            collect(record, parts);
        }
        Shape::List(element) | Shape::Map(element) => collect_shape(element, parts),
        Shape::OneOf(shapes) => shapes.iter().for_each(|shape| collect_shape(shape, parts)),
        _ => {}
    }
}

fn now(record: &'static Record) -> impl Iterator<Item = &'static Field> {
    record.fields.iter().filter(|field| field.status == KeyStatus::Now)
}

fn document(record: &'static Record) -> Json {
    let mut parts = Vec::new();
    collect(record, &mut parts);
    let mut schema = Map::new();
    schema.insert("$schema".into(), "http://json-schema.org/draft-07/schema#".into());
    schema.insert("title".into(), record.name.into());
    schema.extend(object(record));
    if !parts.is_empty() {
        parts.sort_by_key(|part| part.name);
        let definitions: Map<String, Json> = parts.iter().map(|part| (part.name.to_owned(), Json::Object(object(part)))).collect();
        schema.insert("definitions".into(), definitions.into());
    }
    Json::Object(schema)
}

fn object(record: &'static Record) -> Map<String, Json> {
    let mut properties = Map::new();
    for field in now(record) {
        let mut property = value(&field.shape);
        let mut doc = field.doc.to_owned();
        if let Some(default) = field.default {
            let _ = write!(doc, " Default: {default}.");
        }
        if let Some(members) = property.as_object_mut() {
            if members.contains_key("$ref") {
                // Draft 7 ignores what stands beside `$ref`.
                property = json!({ "description": doc, "allOf": [property] });
            } else {
                members.insert("description".into(), doc.into());
            }
        }
        properties.insert(field.key.into(), property);
    }
    let required: Vec<Json> = now(record).filter(|field| field.required).map(|field| field.key.into()).collect();
    let mut schema = Map::new();
    schema.insert("description".into(), record.doc.into());
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), false.into());
    schema
}

fn value(shape: &Shape) -> Json {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Int(min, max) => {
            let mut schema = json!({ "type": "integer" });
            for (key, bound, none) in [("minimum", min, i64::MIN), ("maximum", max, i64::MAX)] {
                if *bound != none {
                    schema[key] = (*bound).into();
                }
            }
            schema
        }
        Shape::Number => json!({ "type": "number" }),
        Shape::Size => json!({ "type": ["string", "integer"], "pattern": "^\\d+ *([kKmMgG]?[bB])?$" }),
        Shape::Duration => json!({ "type": "string", "pattern": "^\\d+ *(ms|s|m|h|d)$" }),
        Shape::Scalar => json!({ "type": ["string", "number", "boolean"] }),
        Shape::Any => json!({}),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::List(element) => json!({ "type": "array", "items": value(element) }),
        Shape::Map(element) => json!({ "type": "object", "additionalProperties": value(element) }),
        Shape::Record(record) => json!({ "$ref": format!("#/definitions/{}", record.name) }),
        Shape::OneOf(shapes) => json!({ "anyOf": shapes.iter().map(value).collect::<Vec<_>>() }),
    }
}
