//! What an operation answers in a test: an example of the specification, else a value of its
//! schema.

use millrace_core::Json;
use serde_json::Map;

use super::{
    document::Node,
    input::kind_of,
    operation::Operation,
    request::{essence, is_json},
    response::success,
    schema::Shape,
};
use crate::commands::first_tests;

/// How deep values are made.
const DEEPEST: usize = 4;

/// The JSON of a good answer; `null` where it has no body. `None` where nothing is known of it.
pub(super) fn of(operation: &Operation<'_>) -> Option<Json> {
    let success = success(operation)?;
    let Some(content) = success.get("content") else { return Some(Json::Null) };
    let (_, media) = content.entries().find(|(kind, _)| is_json(essence(kind)))?;
    let media = media.resolved()?;
    if let Some(example) = media.raw("example") {
        return Some(example.value.clone());
    }
    let named = media.get("examples").and_then(|examples| examples.entries().next()).and_then(|(_, example)| example.resolved());
    if let Some(value) = named.and_then(|example| example.raw("value")) {
        return Some(value.value.clone());
    }
    Some(value(media.raw("schema")?, 0))
}

fn value(node: Node<'_>, level: usize) -> Json {
    if let Some(example) = node.resolved().and_then(|node| node.raw("example")) {
        return example.value.clone();
    }
    let shape = Shape::of(Some(node));
    let kind = kind_of(&shape);
    if let Some(first) = shape.allowed.as_ref().and_then(|allowed| allowed.first()) {
        return (*first).clone();
    }
    match kind {
        "object" | "array" if level >= DEEPEST => {
            if kind == "array" {
                Vec::<Json>::new().into()
            } else {
                Map::new().into()
            }
        }
        "object" => {
            shape.properties.iter().map(|(name, property)| ((*name).to_owned(), value(*property, level + 1))).collect::<Map<_, _>>().into()
        }
        "array" => shape.items.map(|items| value(items, level + 1)).into_iter().collect::<Vec<_>>().into(),
        "int" => first_tests::sample(&serde_json::json!({ "type": "integer" }), 0),
        "float" => 1.5.into(),
        "boolean" => true.into(),
        "string" => first_tests::sample(&serde_json::json!({ "type": "string", "format": shape.format }), 0),
        _ => Map::new().into(),
    }
}
