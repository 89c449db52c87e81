//! `schema` of a presenter: the fields, and their JSON Schema.

use std::ops::Range;

use millrace_core::app::{InputKind, Literal, PresentedField, PresenterRule, Template, TemplatePart, UnknownFields};
use serde_json::{Map, Value, json};

use super::{
    known::Presenters,
    limit::{LIMIT_SHAPE, limit},
};
use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape},
    names::one_of,
    portable::{KEY_RULE, is_key},
    yaml::{Document, Node},
};

/// One of `schema`
pub(crate) static PRESENTED_FIELD: Record = Record {
    name: "presented_field",
    noun: "a field",
    doc: "One field of an item, one field of an object, or the element of a list.",
    fields: &[
        Field::new(
            "type",
            Shape::Word(&["string", "int", "float", "boolean", "datetime", "date", "uuid", "array", "object", "json"]),
            "The type. 0 and 1 of a database are fit for `boolean`, digits for `float`.",
        )
        .required(),
        Field::new("description", Shape::Text, "What it means. It is a rule, too."),
        Field::new("enum", Shape::List(&Shape::Scalar), "The only values that it has."),
        Field::new("optional", Shape::Bool, "May be absent.").default("false"),
        Field::new("nullable", Shape::Bool, "May be `null`.").default("false"),
        Field::new(
            "max",
            Shape::Number,
            "Numbers: the maximum value. Strings: the maximum number of characters. Lists: the maximum number of elements.",
        ),
        Field::new("items", Shape::Record(&PRESENTED_FIELD), "The element of a list."),
        Field::new(
            "fields",
            Shape::Map(&Shape::Record(&PRESENTED_FIELD)),
            "The fields of an object. Others are left out. Without them, it may have any.",
        ),
        Field::new("returns", Shape::Text, "The presenter of the object, or of each element of the list.").names(Named::Presenter),
        Field::new("limit", LIMIT_SHAPE, "How many elements of the list are shown."),
        Field::new("text", Shape::Word(&["as_is"]), "`as_is`: characters that nobody sees stay in it. Else they become visible escapes."),
    ],
};

/// A field, and what its part of the JSON Schema says beyond it.
pub(super) struct DeclaredField {
    pub(super) field: PresentedField,
    description: Option<String>,
    items: Option<Box<DeclaredField>>,
    fields: Vec<DeclaredField>,
}

/// The presenters that a schema embeds, and where.
pub(super) fn embedded(schema: Option<&Node>) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    for entry in schema.map(Node::entries).unwrap_or_default() {
        below(&entry.value, &mut found);
    }
    found
}

fn below(node: &Node, found: &mut Vec<(String, Range<usize>)>) {
    if let Some(returns) = node.at("returns") {
        found.extend(returns.text().map(|name| (name.to_owned(), returns.range.clone())));
    }
    if let Some(items) = node.at("items") {
        below(items, found);
    }
    for entry in node.at("fields").map(Node::entries).unwrap_or_default() {
        below(&entry.value, found);
    }
}

/// Reads `schema` or `fields`.
pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, node: &Node, presenters: &mut Presenters) -> Vec<DeclaredField> {
    if node.entries().is_empty() {
        compiler.error(document, node.range.clone(), "the schema has no fields", "Name the fields that a model may see, with their types.");
    }
    for entry in node.entries().iter().filter(|entry| !is_key(&entry.key)) {
        let message = format!("the field `{}` is not in the `outputSchema` of its tools: {KEY_RULE}", entry.key);
        compiler.warning(document, entry.key_range.clone(), message, "Give the result another name for it: `… AS name` in a statement.");
    }
    let entries = node.entries().iter();
    entries.map(|entry| field(compiler, document, &entry.value, &entry.key, presenters)).collect()
}

fn field(compiler: &mut Compiler<'_>, document: &Document, node: &Node, name: &str, presenters: &mut Presenters) -> DeclaredField {
    let kind = kind(node.text_at("type").unwrap_or("json"));
    misfits(compiler, document, node, kind);
    let items = node.at("items").filter(|_| kind == InputKind::Array);
    let items = items.map(|items| Box::new(field(compiler, document, items, "", presenters)));
    let fields = match node.at("fields").filter(|_| kind == InputKind::Object) {
        Some(fields) => read(compiler, document, fields, presenters),
        None => Vec::new(),
    };
    let returns = node.at("returns").and_then(|returns| presenters.find(compiler, document, returns));
    if let Some(place) = returns {
        presenters.embeds(place);
    }
    if let (Some(_), Some(other)) = (node.at("returns"), node.entry("fields").or_else(|| node.entry("items"))) {
        let message = format!("the field has both `returns` and `{}`", other.key);
        compiler.error(document, other.key_range.clone(), message, "The presenter has the schema; remove the other one.");
    }
    let allowed = node.at("enum").map(|list| list.items().iter().map(|item| Literal(item.json())).collect()).unwrap_or_default();
    let limit = node.at("limit").map(|node| limit(compiler, document, node, None));
    let presented = PresentedField {
        name: name.to_owned(),
        kind,
        optional: node.bool_at("optional").unwrap_or(false),
        nullable: node.bool_at("nullable").unwrap_or(false),
        allowed,
        max: node.at("max").and_then(Node::number),
        items: items.as_ref().map(|items| Box::new(items.field.clone())),
        fields: fields.iter().map(|field| field.field.clone()).collect(),
        returns,
        limit,
        as_is: node.at("text").is_some(),
    };
    DeclaredField { field: presented, description: node.text_at("description").map(String::from), items, fields }
}

/// Notes keywords that the type does not have.
fn misfits(compiler: &mut Compiler<'_>, document: &Document, node: &Node, kind: InputKind) {
    use InputKind::{Array, Date, Datetime, Float, Int, Json, Object, String, Uuid};
    let keywords: [(&str, &[InputKind]); 7] = [
        ("enum", &[String, Int, Float, Date, Datetime, Uuid]),
        ("max", &[String, Int, Float, Array]),
        ("items", &[Array]),
        ("fields", &[Object]),
        ("returns", &[Object, Array]),
        ("limit", &[Array]),
        ("text", &[String, Json]),
    ];
    for (keyword, kinds) in keywords {
        let Some(entry) = node.entry(keyword).filter(|_| !kinds.contains(&kind)) else { continue };
        let words: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let message = format!("`{keyword}` has no meaning for the type `{}`", kind.as_str());
        compiler.error(document, entry.key_range.clone(), message, format!("It is for {}.", one_of(&words)));
    }
}

fn kind(word: &str) -> InputKind {
    use InputKind::{Array, Boolean, Date, Datetime, Float, Int, Json, Object, String, Uuid};
    [String, Int, Float, Boolean, Datetime, Date, Uuid, Array, Object].into_iter().find(|kind| kind.as_str() == word).unwrap_or(Json)
}

/// The JSON Schema of an object with these fields, before redaction.
pub(super) fn schema_of(fields: &[DeclaredField], unknown: UnknownFields, presenters: &Presenters) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields {
        properties.insert(field.field.name.clone(), schema(field, presenters));
        if !field.field.optional {
            required.push(Value::from(field.field.name.as_str()));
        }
    }
    let mut object = Map::new();
    object.insert("type".into(), "object".into());
    object.insert("properties".into(), properties.into());
    if !required.is_empty() {
        object.insert("required".into(), required.into());
    }
    if unknown != UnknownFields::Keep {
        object.insert("additionalProperties".into(), false.into());
    }
    object.into()
}

fn schema(declared: &DeclaredField, presenters: &Presenters) -> Value {
    let field = &declared.field;
    let child = field.returns.map(|place| presenters.schema(place).clone());
    let mut schema = match (field.kind, child) {
        (InputKind::Object, Some(Value::Object(child))) => child,
        _ => Map::new(),
    };
    let word = match field.kind {
        InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid => Some("string"),
        InputKind::Int => Some("integer"),
        InputKind::Float => Some("number"),
        InputKind::Boolean => Some("boolean"),
        InputKind::Array => Some("array"),
        InputKind::Object => Some("object"),
        InputKind::Json => None,
    };
    if let Some(word) = word {
        schema.insert("type".into(), if field.nullable { json!([word, "null"]) } else { word.into() });
    }
    if let Some(description) = &declared.description {
        schema.insert("description".into(), description.as_str().into());
    }
    if !field.allowed.is_empty() {
        let null = field.nullable.then_some(Value::Null);
        schema.insert("enum".into(), field.allowed.iter().map(|allowed| allowed.0.clone()).chain(null).collect());
    }
    if let Some(max) = field.max {
        let keyword = match field.kind {
            InputKind::Array => "maxItems",
            InputKind::String => "maxLength",
            _ => "maximum",
        };
        schema.insert(keyword.into(), number(max));
    }
    match (field.kind, &declared.items) {
        (InputKind::Array, Some(items)) => drop(schema.insert("items".into(), self::schema(items, presenters))),
        (InputKind::Array, None) => {
            if let Some(place) = field.returns {
                schema.insert("items".into(), presenters.schema(place).clone());
            }
        }
        (InputKind::Object, _) if !declared.fields.is_empty() => {
            if let Value::Object(inner) = schema_of(&declared.fields, UnknownFields::Strip, presenters) {
                schema.extend(inner.into_iter().filter(|(name, _)| name != "type"));
            }
        }
        _ => {}
    }
    schema.into()
}

/// A bound as JSON: whole numbers without a fraction.
#[allow(clippy::cast_possible_truncation, reason = "the number is whole and small enough")]
fn number(bound: f64) -> Value {
    if bound.fract() == 0.0 && bound.abs() < 9e15 { (bound as i64).into() } else { bound.into() }
}

/// The rules of described fields.
pub(super) fn described(fields: &[DeclaredField], path: &str) -> Vec<PresenterRule> {
    let mut rules = Vec::new();
    for field in fields {
        let path = if path.is_empty() { field.field.name.clone() } else { format!("{path}.{}", field.field.name) };
        if let Some(description) = &field.description {
            let text = Template(vec![TemplatePart::Text(format!("{path}: {description}"))]);
            rules.push(PresenterRule { when: None, text, per_item: false });
        }
        rules.extend(described(&field.fields, &path));
        if let Some(items) = &field.items {
            rules.extend(described(&items.fields, &path));
        }
    }
    rules
}
