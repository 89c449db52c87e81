//! The [JSON Schema 2020-12](https://json-schema.org/draft/2020-12) of an input, in the part of it
//! that every client takes. Members always come in the same order.
//!
//! What that part has no word for stands in the description, and the core checks it all the same:
//! `null`, a format, numbers of an `enum`.

use millrace_core::app::{Input, InputKind};
use serde_json::{Map, Value, json};

use crate::portable;

/// What the schema of an input says beyond the input.
pub(super) struct SchemaAnnotations<'a> {
    pub(super) description: Option<&'a str>,
    pub(super) examples: Vec<Value>,
    pub(super) item_schema: Option<Value>,
    pub(super) field_schemas: Vec<Value>,
}

/// The schema of an input.
pub(super) fn of(input: &Input, described: SchemaAnnotations<'_>) -> Value {
    // The element of a list cannot be left out, so `null` needs a place of its own.
    let is_element = input.name.is_empty();
    let has_choice = input.kind == InputKind::Json || (is_element && input.nullable);
    let mut schema = Map::new();
    let (kind, format) = match input.kind {
        InputKind::String => ("string", input.format.as_deref()),
        InputKind::Int => ("integer", None),
        InputKind::Float => ("number", None),
        InputKind::Boolean => ("boolean", None),
        InputKind::Datetime => ("string", Some("date-time")),
        InputKind::Date => ("string", Some("date")),
        InputKind::Uuid => ("string", Some("uuid")),
        InputKind::Array => ("array", None),
        InputKind::Object => ("object", None),
        InputKind::Json => ("", None),
    };
    if !has_choice {
        schema.insert("type".into(), kind.into());
    }
    if let Some(description) = described.description {
        schema.insert("description".into(), description.into());
    }
    if let Some(sentence) = format.and_then(sentence_of) {
        portable::say(&mut schema, sentence);
    }
    let allowed: Vec<Value> = input.allowed.iter().map(|value| value.0.clone()).filter(|value| !value.is_null()).collect();
    // Without a type of its own there is no place for an `enum`.
    let is_of_texts = allowed.iter().all(Value::is_string) && input.kind != InputKind::Json;
    if !is_of_texts && !allowed.is_empty() {
        portable::say_values(&mut schema, &allowed);
    }
    if !is_element && input.nullable {
        let is_none_else = input.default.as_ref().is_none_or(|default| default.0.is_null());
        say_null(&mut schema, described.description, is_none_else);
    }
    let demands = Demands { format, allowed, is_of_texts, item_schema: described.item_schema, field_schemas: described.field_schemas };
    if input.kind == InputKind::Json {
        schema.insert("anyOf".into(), portable::anything(input.nullable || input.optional));
    } else if has_choice {
        // What the type demands stands beside it.
        let mut own = Map::from_iter([("type".to_owned(), kind.into())]);
        demands.add(&mut own, input);
        schema.insert("anyOf".into(), json!([own, { "type": "null" }]));
    } else {
        demands.add(&mut schema, input);
    }
    if let Some(default) = input.default.as_ref().filter(|default| !default.0.is_null()) {
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

/// What a type demands of its values.
struct Demands<'a> {
    format: Option<&'a str>,
    /// The values of `enum`.
    allowed: Vec<Value>,
    is_of_texts: bool,
    item_schema: Option<Value>,
    field_schemas: Vec<Value>,
}

impl Demands<'_> {
    fn add(self, schema: &mut Map<String, Value>, input: &Input) {
        match (self.is_of_texts, input.kind) {
            (true, _) if self.allowed.is_empty() => {}
            (true, _) => drop(schema.insert("enum".into(), self.allowed.into())),
            (false, InputKind::Int | InputKind::Float) => portable::bound(schema, &self.allowed),
            (false, _) => {}
        }
        of_type(schema, input, self.format);
        if let Some(items) = self.item_schema {
            schema.insert("items".into(), items);
        } else if input.kind == InputKind::Array {
            schema.insert("items".into(), json!({}));
        }
        if input.kind == InputKind::Object && !input.fields.is_empty() {
            members(schema, &input.fields, self.field_schemas);
        }
    }
}

/// `format`, `pattern` and bounds.
fn of_type(schema: &mut Map<String, Value>, input: &Input, format: Option<&str>) {
    if let Some(format) = format.filter(|format| sentence_of(format).is_none()) {
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
}

/// What stands instead of a format that some client does not know: such a client drops the tool, or
/// needs a package for it. `None` for one that every client knows.
fn sentence_of(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "A date, YYYY-MM-DD.",
        "time" => "A time with its offset, for example 09:30:00Z.",
        "email" => "An e-mail address, for example ada@example.com.",
        "uri" => "A URI, for example https://example.com/a.",
        "hostname" => "A host name, for example www.example.com.",
        "ipv4" => "An IPv4 address, for example 192.0.2.1.",
        "ipv6" => "An IPv6 address, for example 2001:db8::1.",
        "uuid" => "A UUID.",
        _ => return None,
    })
}

/// Says what `null` is, which the type does not. An author who writes of it knows better.
fn say_null(schema: &mut Map<String, Value>, description: Option<&str>, is_none_else: bool) {
    let is_said =
        description.is_some_and(|text| text.to_ascii_lowercase().split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "null"));
    if !is_said {
        portable::say(schema, if is_none_else { "If left out, it is null." } else { "If null, nothing is given." });
    }
}

/// Adds `properties` and `required` to the schema of an object. That it has no other members goes
/// without saying: the core refuses them by name, some models' APIs refuse `additionalProperties`,
/// and it would be a tenth of the entry of a small tool.
pub(crate) fn members<'a>(schema: &mut Map<String, Value>, inputs: impl IntoIterator<Item = &'a Input>, schemas: Vec<Value>) {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for (input, schema) in inputs.into_iter().zip(schemas) {
        properties.insert(input.name.clone(), schema);
        if !input.optional && input.default.is_none() {
            required.push(input.name.as_str().into());
        }
    }
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
}

/// A bound as JSON: whole numbers without a fraction.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the number is whole and small enough")]
fn number(bound: f64) -> Value {
    if bound.fract() == 0.0 && bound.abs() < 9e15 { (bound as i64).into() } else { bound.into() }
}
