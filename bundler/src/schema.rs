//! The app format as data and as prose: JSON Schemas for editors, and the reference. Both come from
//! the tables that the readers use.

use std::fmt::Write as _;

use millrace_core::Json;
use serde_json::{Map, json};

use crate::{
    adapter::ADAPTER,
    app_test::TEST_FILE,
    auth::{ACCESS_POLICY, API_KEY_POLICY, AUTH, INTROSPECTION_POLICY, JWT_POLICY, LAMBDA_POLICY},
    field::{Field, KeyStatus, Record, Shape, what_it_takes},
    presenter::PRESENTER,
    prompt::PROMPT,
    resource::RESOURCE,
    root::ROOT,
    setting::FOLDER,
    skill::SKILL,
    tool::TOOL,
};

mod hyperterse;

/// Records that several files have: each has a table of its own in the reference.
const SHARED: [&str; 4] = ["auth", "limits", "input", "presented_field"];

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

/// The reference of the app format: every file, every key, in Markdown.
#[must_use]
pub fn reference_markdown() -> String {
    let mut text = String::from(
        "# The files of an app\n\nTo write or read the files of an app, look up their keys here. An app is a folder; its root file is \
         `millrace.yaml`. Files may end in `.yaml`, `.yml` or `.terse`.\nAny other key is a mistake, and so is a value of another type: \
         `millrace check` reports each with its line.\n\n<!-- Made from the bundler's tables by `UPDATE_EXPECT=1 cargo test --workspace \
         --test bundler reference`. -->\n",
    );
    let files: [(&str, &'static Record); 9] = [
        ("`millrace.yaml`", &ROOT),
        ("`app/adapters/*.yaml`", &ADAPTER),
        ("`app/tools/**/config.yaml`", &TOOL),
        ("`app/tools/**/_folder.yaml`", &FOLDER),
        ("`app/presenters/*.yaml`", &PRESENTER),
        ("`app/prompts/*.yaml`", &PROMPT),
        ("`app/resources/**/config.yaml`", &RESOURCE),
        ("`app/skills/*/config.yaml`", &SKILL),
        ("`app/**/*.test.yaml`", &TEST_FILE),
    ];
    let mut told: Vec<&str> = Vec::new();
    for (title, record) in files {
        let mut parts = table(&mut text, "##", title, record);
        let mut index = 0;
        while let Some(part) = parts.get(index).copied() {
            index += 1;
            if told.contains(&part.name) {
                continue;
            }
            told.push(part.name);
            parts.extend(table(&mut text, "###", &format!("`{}`", part.name), part));
            if part.name == AUTH.name {
                parts.extend([&API_KEY_POLICY, &JWT_POLICY, &INTROSPECTION_POLICY, &ACCESS_POLICY, &LAMBDA_POLICY]);
            }
        }
    }
    hyperterse::table(&mut text);
    text
}

/// Writes the table of a record, plain maps in it as dotted keys, and returns the records that need
/// a table of their own.
fn table(text: &mut String, level: &str, title: &str, record: &'static Record) -> Vec<&'static Record> {
    // Writing to a string cannot fail.
    let _ = write!(text, "\n{level} {title}\n\n{}\n\n| key | takes | default | meaning |\n|---|---|---|---|\n", record.doc);
    let mut parts = Vec::new();
    rows(text, "", record, &mut parts);
    parts
}

fn rows(text: &mut String, prefix: &str, record: &'static Record, parts: &mut Vec<&'static Record>) {
    for field in now(record) {
        if let Shape::Record(inner) = &field.shape
            && !SHARED.contains(&inner.name)
        {
            rows(text, &format!("{prefix}{}.", field.key), inner, parts);
            continue;
        }
        direct(&field.shape, parts);
        let default = match (field.required, field.default) {
            (true, _) => "required".to_owned(),
            (false, Some(default)) if default.contains(' ') && !default.starts_with(['{', '[']) => default.to_owned(),
            (false, Some(default)) => format!("`{default}`"),
            (false, None) => String::new(),
        };
        let takes = takes(&field.shape).replace('|', "\\|");
        let _ = writeln!(text, "| `{prefix}{}` | {takes} | {default} | {} |", field.key, field.doc.replace('|', "\\|"));
    }
}

/// The records that a shape names.
fn direct(shape: &Shape, parts: &mut Vec<&'static Record>) {
    match shape {
        Shape::Record(record) => parts.push(record),
        Shape::List(element) | Shape::Map(element) => direct(element, parts),
        Shape::OneOf(shapes) => shapes.iter().for_each(|shape| direct(shape, parts)),
        _ => {}
    }
}

/// What a key takes, with the names of tables instead of their keys.
fn takes(shape: &Shape) -> String {
    match shape {
        Shape::Record(record) => format!("[`{0}`](#{0})", record.name),
        Shape::List(element) => format!("list of {}", takes(element)),
        Shape::Map(element) => format!("map of {}", takes(element)),
        Shape::OneOf(shapes) => shapes.iter().map(takes).collect::<Vec<_>>().join(", or "),
        _ => what_it_takes(shape),
    }
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
