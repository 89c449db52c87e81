//! The part of JSON Schema that every client takes, and the schemas of results in it.
//!
//! Clients hand schemas to APIs and to converters that know less than [JSON Schema
//! 2020-12](https://json-schema.org/draft/2020-12), and one schema that they do not know costs a
//! tool, or all of them. So nothing is a `$ref`, a `type` is one word, a choice is an `anyOf` below
//! the top, every list has `items`, an `enum` has only texts, and no name has other characters than
//! those of [`is_key`].

use std::borrow::Cow;

use millrace_core::hidden::visible;
use serde_json::{Map, Value, json};

/// The longest name of a property.
const MAX_KEY_BYTES: usize = 64;
/// The types of JSON, in the order in which a choice of several has them.
const KINDS: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// Whether it fits `^[A-Za-z0-9_.-]{1,64}$`, as the name of a property has to: the API behind some
/// clients refuses the whole request otherwise.
pub(crate) fn is_key(name: &str) -> bool {
    (1..=MAX_KEY_BYTES).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

/// What [`is_key`] demands, as the end of a message.
pub(crate) const KEY_RULE: &str = "clients take only names of 1 to 64 letters, digits, `_`, `.` and `-`";

/// Any value, as `anyOf` of the types of JSON; `null` among them or not. An object has no
/// `properties`: clients that make a class of them would drop every member.
pub(crate) fn anything(null: bool) -> Value {
    let mut all: Vec<Value> = vec![
        json!({ "type": "string" }),
        json!({ "type": "number" }),
        json!({ "type": "boolean" }),
        json!({ "type": "array", "items": {} }),
        json!({ "type": "object" }),
    ];
    all.extend(null.then(|| json!({ "type": "null" })));
    all.into()
}

/// Ends the description of a schema with a sentence.
pub(crate) fn say(schema: &mut Map<String, Value>, sentence: &str) {
    let description = match schema.get("description").and_then(Value::as_str).map(str::trim_end).unwrap_or_default() {
        "" => sentence.to_owned(),
        before if before.ends_with(['.', '!', '?', ':']) => format!("{before} {sentence}"),
        before => format!("{before}. {sentence}"),
    };
    schema.insert("description".into(), description.into());
}

/// Says which values there are, where they are not all texts: some clients' APIs refuse an `enum`
/// of anything else.
pub(crate) fn say_values(schema: &mut Map<String, Value>, allowed: &[Value]) {
    let texts: Vec<String> = allowed.iter().map(Value::to_string).collect();
    say(schema, &format!("One of: {}.", texts.join(", ")));
}

/// Adds the least and the greatest of the values that a number can have.
pub(crate) fn bound(schema: &mut Map<String, Value>, allowed: &[Value]) {
    let by_size = |a: &&Value, b: &&Value| a.as_f64().unwrap_or_default().total_cmp(&b.as_f64().unwrap_or_default());
    let numbers = || allowed.iter().filter(|value| value.is_number());
    for (keyword, bound) in [("minimum", numbers().min_by(by_size)), ("maximum", numbers().max_by(by_size))] {
        schema.extend(bound.map(|bound| (keyword.to_owned(), bound.clone())));
    }
}

/// The schema of a result, which is built with lists of types and with names that a database gave,
/// in the part that every client takes. Every value that fits the one fits the other.
pub(crate) fn of_result(schema: &Value) -> Value {
    let nothing = Map::new();
    let schema = schema.as_object().unwrap_or(&nothing);
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => KINDS.into_iter().filter(|kind| kinds.iter().any(|other| other == kind)).collect(),
        _ => Vec::new(),
    };
    let description = schema.get("description").map(|description| ("description".to_owned(), description.clone()));
    match kinds.as_slice() {
        [kind] => of_kind(kind, schema, description).into(),
        [] => description.into_iter().chain([("anyOf".to_owned(), anything(true))]).collect::<Map<_, _>>().into(),
        kinds => {
            let choice: Vec<Value> = kinds.iter().map(|kind| of_kind(kind, schema, None).into()).collect();
            description.into_iter().chain([("anyOf".to_owned(), choice.into())]).collect::<Map<_, _>>().into()
        }
    }
}

/// What a schema says of values of one type.
fn of_kind(kind: &str, schema: &Map<String, Value>, description: Option<(String, Value)>) -> Map<String, Value> {
    let mut emitted = Map::new();
    emitted.insert("type".into(), kind.into());
    emitted.extend(description);
    let copy = |emitted: &mut Map<String, Value>, keywords: &[&str]| {
        for keyword in keywords {
            emitted.extend(schema.get(*keyword).map(|value| ((*keyword).to_owned(), value.clone())));
        }
    };
    let allowed = |is: fn(&Value) -> bool| -> Option<Vec<Value>> {
        let allowed = schema.get("enum")?.as_array()?;
        Some(allowed.iter().filter(|value| is(value)).cloned().collect())
    };
    match kind {
        "string" => {
            emitted.extend(allowed(Value::is_string).map(|allowed| ("enum".to_owned(), allowed.into())));
            copy(&mut emitted, &["minLength", "maxLength"]);
        }
        "integer" | "number" => {
            copy(&mut emitted, &["minimum", "maximum"]);
            if let Some(allowed) = allowed(Value::is_number) {
                say_values(&mut emitted, &allowed);
                bound(&mut emitted, &allowed);
            }
        }
        "array" => {
            copy(&mut emitted, &["minItems", "maxItems"]);
            emitted.insert("items".into(), schema.get("items").map_or_else(|| json!({}), of_result));
        }
        "object" => of_object(&mut emitted, schema),
        _ => {}
    }
    emitted
}

/// A schema of what is sent, from that of what was checked: what is hidden in a text becomes
/// visible, and longer, after it was checked. No text has a greatest length then, and where a
/// schema names a text, its visible form is there, too.
pub(crate) fn as_sent(mut schema: Value) -> Value {
    if tells_texts_apart(&schema) {
        loosen(&mut schema);
    }
    schema
}

/// Whether a schema may take a text and not its visible form, or the other way round.
fn tells_texts_apart(schema: &Value) -> bool {
    match schema {
        Value::String(text) => is_hidden(text),
        Value::Array(parts) => parts.iter().any(tells_texts_apart),
        Value::Object(members) => members.iter().any(|(name, part)| {
            (["minLength", "maxLength"].contains(&name.as_str()) && part.is_number()) || is_hidden(name) || tells_texts_apart(part)
        }),
        _ => false,
    }
}

fn refers(schema: &Value) -> bool {
    match schema {
        Value::Array(parts) => parts.iter().any(refers),
        Value::Object(members) => members.iter().any(|(name, part)| name == "$ref" || refers(part)),
        _ => false,
    }
}

fn is_hidden(text: &str) -> bool {
    matches!(visible(text), Cow::Owned(_))
}

/// What a value becomes where something is hidden in it.
fn shown(value: &Value) -> Option<Value> {
    if !tells_texts_apart(value) {
        return None;
    }
    let members = |members: &Map<String, Value>| {
        members.iter().map(|(name, value)| (visible(name).into_owned(), shown(value).unwrap_or_else(|| value.clone()))).collect()
    };
    Some(match value {
        Value::String(text) => visible(text).into_owned().into(),
        Value::Array(parts) => parts.iter().map(|part| shown(part).unwrap_or_else(|| part.clone())).collect(),
        Value::Object(value) => Value::Object(members(value)),
        other => other.clone(),
    })
}

/// Every value that fitted the schema fits it afterwards, and so does what the value becomes.
fn loosen(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    members.shift_remove("maxLength");
    if members.get("const").is_some_and(tells_texts_apart)
        && let Some(only) = members.shift_remove("const")
    {
        members.entry("enum").or_insert(Value::Array(vec![only]));
    }
    if let Some(Value::Array(allowed)) = members.get_mut("enum") {
        let shown: Vec<Value> = allowed.iter().filter_map(shown).collect();
        allowed.extend(shown);
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        let shown = properties.iter().filter(|(name, _)| is_hidden(name)).map(|(name, part)| (visible(name).into_owned(), part.clone()));
        let shown: Vec<(String, Value)> = shown.collect();
        properties.extend(shown);
    }
    if let Some(Value::Array(required)) = members.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !is_hidden(name)));
    }
    // What must not match, and what decides, would do more if it matched more.
    let decides = |part: Option<&Value>| part.is_some_and(|part| tells_texts_apart(part) || refers(part));
    if decides(members.get("not")) {
        members.shift_remove("not");
    }
    if decides(members.get("if")) {
        for keyword in ["if", "then", "else"] {
            members.shift_remove(keyword);
        }
    }
    if decides(members.get("oneOf"))
        && let Some(choice) = members.shift_remove("oneOf")
    {
        members.entry("anyOf").or_insert(choice);
    }
    for (keyword, part) in members.iter_mut() {
        match (keyword.as_str(), part) {
            ("properties" | "$defs" | "definitions", Value::Object(parts)) => parts.iter_mut().for_each(|(_, part)| loosen(part)),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(parts)) => parts.iter_mut().for_each(loosen),
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", part) => loosen(part),
            _ => {}
        }
    }
}

fn of_object(emitted: &mut Map<String, Value>, schema: &Map<String, Value>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let required: Vec<Value> = required.iter().filter(|name| name.as_str().is_some_and(is_key)).cloned().collect();
    let named: Map<String, Value> =
        properties.iter().filter(|(name, _)| is_key(name)).map(|(name, schema)| (name.clone(), of_result(schema))).collect();
    let has_all = named.len() == properties.len();
    emitted.insert("properties".into(), named.into());
    if !required.is_empty() {
        emitted.insert("required".into(), required.into());
    }
    // The members that have no place in it are there all the same.
    if has_all && let Some(additional) = schema.get("additionalProperties") {
        emitted.insert("additionalProperties".into(), additional.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_properties() {
        for name in ["a", "A.b-c_9", "9", &"x".repeat(64)] {
            assert!(is_key(name), "{name}");
        }
        for name in ["", "a b", "count(*)", "größe", "a/b", &"x".repeat(65)] {
            assert!(!is_key(name), "{name}");
        }
    }

    #[test]
    fn sentences_are_joined() {
        for (before, after) in [(None, "B."), (Some(""), "B."), (Some("A"), "A. B."), (Some("A. "), "A. B."), (Some("A?"), "A? B.")] {
            let mut schema: Map<String, Value> = before.map(|text| ("description".to_owned(), text.into())).into_iter().collect();
            say(&mut schema, "B.");
            assert_eq!(schema["description"], after);
        }
    }

    #[test]
    fn what_is_sent_fits_though_it_became_visible() {
        let same =
            json!({ "oneOf": [{ "$ref": "#/$defs/a" }], "not": { "type": "null" }, "properties": { "maxLength": { "maximum": 1 } } });
        let table = [
            (same.clone(), same),
            (json!({ "type": "string", "minLength": 2, "maxLength": 3 }), json!({ "type": "string", "minLength": 2 })),
            (
                json!({ "properties": { "enum": { "maxLength": 3 }, "not": { "maxLength": 1 } }, "default": { "maxLength": 3 } }),
                json!({ "properties": { "enum": {}, "not": {} }, "default": { "maxLength": 3 } }),
            ),
            (json!({ "enum": ["a", "b\u{ad}", null] }), json!({ "enum": ["a", "b\u{ad}", null, "b[U+00AD]"] })),
            (json!({ "const": ["\u{ad}", 1] }), json!({ "enum": [["\u{ad}", 1], ["[U+00AD]", 1]] })),
            (
                json!({ "properties": { "a\u{ad}": { "type": "null" }, "b": {} }, "required": ["a\u{ad}", "b"] }),
                json!({ "properties": { "a\u{ad}": { "type": "null" }, "b": {}, "a[U+00AD]": { "type": "null" } }, "required": ["b"] }),
            ),
            (json!({ "oneOf": [{ "maxLength": 1 }, { "minLength": 2 }] }), json!({ "anyOf": [{}, { "minLength": 2 }] })),
            (json!({ "not": { "minLength": 2 }, "type": "string" }), json!({ "type": "string" })),
            (json!({ "if": { "$ref": "#/$defs/a" }, "then": {}, "$defs": { "a": { "maxLength": 1 } } }), json!({ "$defs": { "a": {} } })),
            (json!({ "if": { "type": "string" }, "then": { "maxLength": 1 } }), json!({ "if": { "type": "string" }, "then": {} })),
        ];
        for (schema, expected) in table {
            assert_eq!(as_sent(schema.clone()), expected, "{schema}");
        }
    }

    #[test]
    fn schemas_of_results() {
        let any = json!({ "anyOf": [
            { "type": "string" }, { "type": "number" }, { "type": "boolean" }, { "type": "array", "items": {} }, { "type": "object" },
            { "type": "null" },
        ] });
        let described = |mut schema: Value| {
            let mut object = Map::new();
            object.insert("description".into(), "D".into());
            object.extend(schema.as_object_mut().map(std::mem::take).unwrap_or_default());
            Value::Object(object)
        };
        let table = [
            (json!({}), any.clone()),
            (json!({ "description": "D" }), described(any)),
            (json!({ "type": "string", "maxLength": 3 }), json!({ "type": "string", "maxLength": 3 })),
            (
                json!({ "type": ["string", "null"], "description": "D" }),
                described(json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })),
            ),
            (
                json!({ "type": ["string", "null"], "enum": ["a", null], "maxLength": 1 }),
                json!({ "anyOf": [{ "type": "string", "enum": ["a"], "maxLength": 1 }, { "type": "null" }] }),
            ),
            (
                json!({ "type": ["integer", "string", "null"] }),
                json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] }),
            ),
            (
                json!({ "type": "integer", "description": "D", "enum": [3, 1, 2] }),
                json!({ "type": "integer", "description": "D. One of: 3, 1, 2.", "minimum": 1, "maximum": 3 }),
            ),
            (
                json!({ "type": ["array", "null"], "maxItems": 2 }),
                json!({ "anyOf": [{ "type": "array", "maxItems": 2, "items": {} }, { "type": "null" }] }),
            ),
            (json!({ "type": "object" }), json!({ "type": "object" })),
            (
                json!({ "type": "object", "properties": { "count(*)": {}, "a": { "type": "string" } }, "required": ["count(*)"], "additionalProperties": false }),
                json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
            ),
            (
                json!({ "type": "array", "items": { "type": "object", "properties": { "a": { "type": ["boolean", "null"] } }, "required": ["a"], "additionalProperties": false } }),
                json!({ "type": "array", "items": { "type": "object", "properties": { "a": { "anyOf": [{ "type": "boolean" }, { "type": "null" }] } }, "required": ["a"], "additionalProperties": false } }),
            ),
        ];
        for (schema, expected) in table {
            // The order of the members counts.
            assert_eq!(of_result(&schema).to_string(), expected.to_string(), "{schema}");
        }
    }
}
