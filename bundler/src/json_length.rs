//! How long the JSON of a value can be that a JSON Schema describes.
//!
//! A character counts as one byte: text of other scripts than the Latin one, and escapes, are
//! longer. `limits.output` is what holds then.

use std::cell::Cell;

use millrace_core::Json;
use serde_json::Map;

/// What is known beyond the schema.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The most elements of the list at the root.
    pub(crate) rows: Option<u64>,
    /// No object has members that its schema does not name, whatever the schema says.
    pub(crate) is_closed: bool,
}

/// Why there is no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unbounded {
    /// `rows[].note`; empty for the root.
    pub(crate) path: String,
    /// `has no maxLength`
    pub(crate) why: &'static str,
}

impl std::fmt::Display for Unbounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { write!(f, "the result {}", self.why) } else { write!(f, "`{}` {}", self.path, self.why) }
    }
}

/// The most bytes that the JSON of a value can have, without blanks.
///
/// # Errors
/// Why there is no such number.
pub(crate) fn longest(schema: &Json, known: Known) -> Result<u64, Unbounded> {
    let measure = Measure { root: schema, is_closed: known.is_closed, steps: Cell::new(0) };
    measure.value(schema, "", 0, known.rows)
}

/// How many schemas are looked at: references can make a small schema stand for a huge one.
const MAX_STEPS: u32 = 100_000;
/// How deep schemas are followed.
const MAX_DEPTH: usize = 64;
/// `-9223372036854775808`
const INTEGER: u64 = 20;
/// `-2.2250738585072014e-308`
const NUMBER: u64 = 24;

struct Measure<'s> {
    root: &'s Json,
    is_closed: bool,
    steps: Cell<u32>,
}

impl Measure<'_> {
    fn value(&self, schema: &Json, path: &str, depth: usize, rows: Option<u64>) -> Result<u64, Unbounded> {
        let unbounded = |why| Err(Unbounded { path: path.to_owned(), why });
        self.steps.set(self.steps.get() + 1);
        if depth > MAX_DEPTH || self.steps.get() > MAX_STEPS {
            return unbounded("is nested too deep, or refers to itself");
        }
        let schema = match schema {
            Json::Bool(false) => return Ok(0),
            Json::Object(schema) => schema,
            _ => return unbounded("can be anything"),
        };
        // Every keyword has to hold, so the least of what each one allows does.
        let mut least: Result<u64, Unbounded> = unbounded("has no `type`");
        let mut hold = |bound: Result<u64, Unbounded>| {
            least = match (least.clone(), bound) {
                (Ok(least), Ok(bound)) => Ok(least.min(bound)),
                (Ok(least), Err(_)) => Ok(least),
                (Err(_), bound) => bound,
            };
        };
        if let Some(kinds) = schema.get("type") {
            let kinds = kinds.as_array().map_or_else(|| vec![kinds], |kinds| kinds.iter().collect());
            hold(kinds.into_iter().try_fold(0, |most, kind| Ok(most.max(self.kind(kind, schema, path, depth, rows)?))));
        }
        if let Some(value) = schema.get("const") {
            hold(Ok(length(value)));
        }
        if let Some(values) = schema.get("enum").and_then(Json::as_array) {
            hold(Ok(values.iter().map(length).max().unwrap_or(0)));
        }
        if let Some(found) = schema.get("$ref").and_then(Json::as_str).and_then(|name| self.root.pointer(name.strip_prefix('#')?)) {
            hold(self.value(found, path, depth + 1, rows));
        }
        for inner in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            hold(self.value(inner, path, depth + 1, rows));
        }
        for one_of in ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array()) {
            hold(one_of.iter().try_fold(0, |most, inner| Ok(most.max(self.value(inner, path, depth + 1, rows)?))));
        }
        least
    }

    /// A value of one type.
    fn kind(&self, kind: &Json, schema: &Map<String, Json>, path: &str, depth: usize, rows: Option<u64>) -> Result<u64, Unbounded> {
        let unbounded = |why| Err(Unbounded { path: path.to_owned(), why });
        // Here, so that a type with another keyword beside it is not unbounded for what the other
        // one bounds.
        let chosen = schema.get("enum").and_then(Json::as_array).map(|values| values.iter().map(length).max().unwrap_or(0));
        if let Some(chosen) = chosen.or_else(|| schema.get("const").map(length)) {
            return Ok(chosen);
        }
        match kind.as_str().unwrap_or_default() {
            "null" => Ok(4),
            "boolean" => Ok(5),
            "integer" => {
                let bound = |name: &str| schema.get(name).and_then(Json::as_i64).map(|bound| bound.to_string().len() as u64);
                Ok(bound("minimum").zip(bound("maximum")).map_or(INTEGER, |(least, most)| least.max(most)))
            }
            "number" => Ok(NUMBER),
            "string" => match schema.get("maxLength").and_then(Json::as_u64) {
                Some(characters) => Ok(characters.saturating_add(2)),
                None => unbounded("has no `maxLength`"),
            },
            "array" => self.array(schema, path, depth, rows),
            "object" => self.object(schema, path, depth),
            _ => unbounded("has no `type`"),
        }
    }

    fn array(&self, schema: &Map<String, Json>, path: &str, depth: usize, rows: Option<u64>) -> Result<u64, Unbounded> {
        let first = schema.get("prefixItems").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        let most = schema.get("maxItems").and_then(Json::as_u64).into_iter().chain(rows).min();
        let mut bytes = 2_u64;
        for (place, inner) in (0..).zip(first).take_while(|(place, _)| most.is_none_or(|most| *place < most)) {
            let width = self.value(inner, &format!("{path}[{place}]"), depth + 1, None)?;
            bytes = bytes.saturating_add(width).saturating_add(1);
        }
        let first = first.len() as u64;
        let items = schema.get("items").unwrap_or(&Json::Bool(true));
        if *items != Json::Bool(false) {
            let Some(most) = most else { return Err(Unbounded { path: path.to_owned(), why: "has no `maxItems`" }) };
            if most > first {
                let width = self.value(items, &format!("{path}[]"), depth + 1, None)?.saturating_add(1);
                bytes = bytes.saturating_add(width.saturating_mul(most - first));
            }
        }
        // The last element has no comma.
        Ok(if bytes > 2 { bytes - 1 } else { bytes })
    }

    fn object(&self, schema: &Map<String, Json>, path: &str, depth: usize) -> Result<u64, Unbounded> {
        let mut bytes = 2_u64;
        for (name, inner) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            let inner_path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let width = self.value(inner, &inner_path, depth + 1, None)?;
            // Quotes are part of the name's length; a colon and a comma come with it.
            bytes = bytes.saturating_add(length(&name.as_str().into())).saturating_add(width).saturating_add(2);
        }
        let has_patterns = schema.get("patternProperties").and_then(Json::as_object).is_some_and(|patterns| !patterns.is_empty());
        if !self.is_closed && (has_patterns || schema.get("additionalProperties") != Some(&Json::Bool(false))) {
            return Err(Unbounded { path: path.to_owned(), why: "can have any members: it has no `additionalProperties: false`" });
        }
        Ok(if bytes > 2 { bytes - 1 } else { bytes })
    }
}

fn length(value: &Json) -> u64 {
    value.to_string().len() as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(schema: Json) -> Result<u64, String> {
        longest(&schema, Known::default()).map_err(|unbounded| unbounded.to_string())
    }

    #[test]
    fn the_longest_json_of_a_schema() {
        let row = json!({
            "type": "object",
            "properties": { "id": { "type": "integer", "minimum": 0, "maximum": 999 }, "name": { "type": "string", "maxLength": 10 } },
            "additionalProperties": false,
        });
        for (schema, longest) in [
            (json!({ "type": "null" }), "null"),
            (json!({ "type": ["boolean", "null"] }), "false"),
            (json!({ "type": "integer" }), "-9223372036854775808"),
            (json!({ "type": "integer", "minimum": -5, "maximum": 1000 }), "1000"),
            (json!({ "type": "number" }), "-2.2250738585072014e-308"),
            (json!({ "type": "string", "maxLength": 3 }), "\"abc\""),
            (json!({ "enum": ["a", "long", null] }), "\"long\""),
            (json!({ "type": "string", "enum": ["a", "long"] }), "\"long\""),
            (json!({ "type": "string", "const": "x" }), "\"x\""),
            (row.clone(), r#"{"id":999,"name":"0123456789"}"#),
            (json!({ "type": "object", "additionalProperties": false }), "{}"),
            (json!({ "type": "array", "maxItems": 0, "items": row }), "[]"),
            (json!({ "type": "array", "maxItems": 2, "items": row }), r#"[{"id":999,"name":"0123456789"},{"id":999,"name":"0123456789"}]"#),
            (json!({ "type": "array", "prefixItems": [{ "const": 1 }, { "type": "null" }], "items": false }), "[1,null]"),
            (json!({ "type": "array", "prefixItems": [{ "const": 10 }], "maxItems": 3, "items": { "const": 2 } }), "[10,2,2]"),
            (json!({ "anyOf": [{ "const": 1 }, { "const": 100 }] }), "100"),
            (json!({ "allOf": [{ "type": "string" }, { "maxLength": 2, "type": "string" }] }), "\"ab\""),
            (json!({ "$ref": "#/$defs/a", "$defs": { "a": { "const": true } } }), "true"),
            (json!({ "type": "string", "anyOf": [{ "const": "a" }, { "const": "abc" }] }), "\"abc\""),
        ] {
            assert_eq!(told(schema.clone()), Ok(longest.len() as u64), "{schema}");
        }
    }

    #[test]
    fn what_has_no_limit_is_named() {
        for (schema, expected) in [
            (json!({}), "the result has no `type`"),
            (json!(true), "the result can be anything"),
            (json!({ "type": "string" }), "the result has no `maxLength`"),
            (json!({ "type": "array", "items": { "type": "null" } }), "the result has no `maxItems`"),
            (json!({ "type": "object", "properties": {} }), "the result can have any members: it has no `additionalProperties: false`"),
            (
                json!({ "type": "array", "maxItems": 1, "items": { "type": "object", "properties": { "note": { "type": ["string", "null"] } } } }),
                "`[].note` has no `maxLength`",
            ),
            (
                json!({ "type": "object", "properties": { "rows": { "type": "array", "maxItems": 1, "items": {} } } }),
                "`rows[]` has no `type`",
            ),
            (json!({ "$ref": "#" }), "the result is nested too deep, or refers to itself"),
            (json!({ "anyOf": [{ "const": 1 }, { "type": "string" }] }), "the result has no `maxLength`"),
        ] {
            assert_eq!(told(schema.clone()), Err(expected.to_owned()), "{schema}");
        }
        // 2^40 leaves.
        let mut definitions = json!({ "d0": { "type": "null" } });
        for depth in 1..=40 {
            let inner = json!({ "$ref": format!("#/$defs/d{}", depth - 1) });
            definitions[format!("d{depth}")] = json!({ "anyOf": [inner, inner] });
        }
        assert!(told(json!({ "$ref": "#/$defs/d40", "$defs": definitions })).is_err());
    }

    #[test]
    fn what_is_known_closes_a_schema() {
        let schema = json!({ "type": "array", "items": { "type": "object", "properties": { "id": { "const": 1 } } } });
        assert_eq!(longest(&schema, Known { rows: Some(3), is_closed: true }), Ok(r#"[{"id":1},{"id":1},{"id":1}]"#.len() as u64));
        let shorter = json!({ "type": "array", "maxItems": 1, "items": { "const": 1 } });
        assert_eq!(longest(&shorter, Known { rows: Some(3), is_closed: false }), Ok(3));
    }
}
