//! `json_schema` and `output` of a tool.
//!
//! A schema reaches clients as it was written. What the core cannot check in it is an error in
//! `output`, where a promise would not be held, and a warning in `json_schema`, where the tool must
//! look itself.

use millrace_core::{
    app::{Execute, PathStep, RedactedPath},
    schema::{CHECKED, unchecked},
};
use serde_json::{Map, Value};

use super::reader::ToolReader;
use crate::{compiler::Compiler, input::DeclaredInput, yaml::Node};

/// The longest schema, as JSON in bytes.
const MAX_BYTES: usize = 256 << 10;

/// `json_schema`
pub(super) fn inputs(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, execute: Option<&Execute>) -> Option<Value> {
    let document = reading.document;
    let entry = document.root.entry("json_schema")?;
    let node = &entry.value;
    if document.root.at("inputs").is_some() {
        compiler.error(document, node.range.clone(), "the tool has both `inputs` and `json_schema`", "Keep one of them.");
        return None;
    }
    if execute.is_some_and(|execute| execute.adapter().is_some()) {
        let help = "Declare `inputs`: only they can be bound.";
        compiler.error(document, node.range.clone(), "`json_schema` is for tools with a handler; this one has a statement", help);
        return None;
    }
    let schema = read(compiler, reading, node, node.json(), "json_schema", false)?;
    if schema.get("type").is_none_or(|kind| kind != "object") {
        let help = "MCP's arguments are an object. Write `type: object` at the top of the schema.";
        compiler.error(document, node.range.clone(), "`json_schema` must describe an object", help);
        return None;
    }
    Some(schema)
}

/// `output` as clients see it, and where it has `text: as_is`.
pub(super) fn output(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>) -> (Option<Value>, Vec<RedactedPath>) {
    let Some(node) = reading.document.root.at("output") else { return (None, Vec::new()) };
    let mut places = Vec::new();
    let mut schema = node.json();
    take_as_is(&mut schema, &mut Vec::new(), &mut places);
    (read(compiler, reading, node, schema, "output", true), places)
}

/// Takes `text: as_is` out of a schema, which is no keyword of JSON Schema, and notes where it
/// stood. What a `$ref` leads to has no place.
fn take_as_is(schema: &mut Value, path: &mut Vec<PathStep>, places: &mut Vec<RedactedPath>) {
    let Value::Object(schema) = schema else { return };
    if schema.get("text").is_some_and(|text| text == "as_is") {
        schema.shift_remove("text");
        places.push(RedactedPath(path.clone()));
    }
    let mut below = |schema: &mut Value, step: Option<PathStep>| {
        let depth = path.len();
        path.extend(step);
        take_as_is(schema, path, places);
        path.truncate(depth);
    };
    // What is for all others would be taken for those that have a place of their own, too: such a
    // `text` stays, and is an error.
    let has = |keyword: &str| schema.get(keyword).is_some();
    let (has_properties, has_places) = (has("properties"), has("prefixItems"));
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.iter_mut().for_each(|(name, schema)| below(schema, Some(PathStep::Member(name.clone()))));
            }
            ("prefixItems", Value::Array(schemas)) => {
                (0_u32..).zip(schemas).for_each(|(place, schema)| below(schema, Some(PathStep::Index(place))));
            }
            ("items", schema) if !has_places => below(schema, Some(PathStep::Elements)),
            ("additionalProperties", schema) if !has_properties => below(schema, Some(PathStep::Any)),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter_mut().for_each(|schema| below(schema, None)),
            _ => {}
        }
    }
}

/// Adds inputs to `json_schema`.
pub(super) fn add_properties(schema: Option<&mut Value>, added: &[DeclaredInput]) {
    let Some(schema) = schema.and_then(Value::as_object_mut) else { return };
    for added in added {
        let properties = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert(added.input.name.clone(), added.schema.clone());
        }
    }
}

fn read(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, node: &Node, schema: Value, key: &str, strict: bool) -> Option<Value> {
    let document = reading.document;
    if !schema.is_object() {
        compiler.error(
            document,
            node.range.clone(),
            format!("`{key}` must be a JSON Schema, an object"),
            "Write `type:` and what belongs to it.",
        );
        return None;
    }
    if schema.to_string().len() > MAX_BYTES {
        let help = "Shorten it: clients read it with every list of the tools.";
        compiler.error(document, node.range.clone(), format!("`{key}` is longer than {MAX_BYTES} bytes"), help);
        return None;
    }
    if let Some(dialect) = schema.get("$schema")
        && dialect.as_str().is_none_or(|dialect| dialect.trim_end_matches('#') != "https://json-schema.org/draft/2020-12/schema")
    {
        let help = "Leave `$schema` out, or name `https://json-schema.org/draft/2020-12/schema`.";
        compiler.error(document, node.range.clone(), format!("`{key}` is in a dialect of JSON Schema that is not known"), help);
        return None;
    }
    let mut is_good = true;
    for found in unchecked(&schema) {
        let place = format!("`{}` of `{key}`", found.pointer);
        if found.is_broken {
            is_good = false;
            let help = "A `$ref` leads to a place of the same schema, such as `#/$defs/name`. Nothing is fetched.";
            compiler.error(document, node.range.clone(), format!("{place} leads nowhere"), help);
        } else if found.pointer.ends_with("/text") && strict {
            is_good = false;
            let help =
                "Write `text: as_is` beside the `type` of a text or of anything that has texts in it, but not in what a `$ref` leads to.";
            compiler.error(document, node.range.clone(), format!("{place} has no meaning"), help);
        } else if strict {
            is_good = false;
            let help = format!("A result that is promised must be checked. These keywords can be checked: {}.", CHECKED.join(", "));
            compiler.error(document, node.range.clone(), format!("{place} cannot be checked"), help);
        } else {
            let help = "Clients see it; the tool must check it itself.";
            compiler.warning(document, node.range.clone(), format!("{place} is not checked"), help);
        }
    }
    is_good.then_some(schema)
}
