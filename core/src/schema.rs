//! Checks values against [JSON Schema 2020-12](https://json-schema.org/draft/2020-12), as far as
//! this server does.
//!
//! What goes in are a schema as JSON and a value; what comes out is the first place where they
//! disagree. The keywords of [`CHECKED`] are checked, those of [`NOTED`] mean nothing to a check,
//! and [`unchecked`] finds all others, for the bundler to tell. `$ref` reaches definitions of the
//! same schema (`#`, `#/$defs/x`) and nothing else: nothing is ever fetched.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{cell::Cell, fmt};

use serde_json::Map;

use crate::{
    Json,
    expression::{compare_numbers, equal},
};

/// The keywords that are checked.
pub const CHECKED: [&str; 26] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "not",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "then",
    "type",
];

/// The keywords that say something to readers, and hold whatever the value.
pub const NOTED: [&str; 14] = [
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

/// The deepest that schemas are followed, `$ref` included. A schema that refers to itself without
/// end disagrees with everything.
const MAX_DEPTH: usize = 128;

/// The most steps of a check; a step is a schema that meets a value.
const MAX_STEPS: usize = 100_000;
/// How many steps each part of a large value may take, and all of its parts together.
const STEPS_OF_PART: usize = 64;
const MAX_STEPS_OF_LARGE: usize = 10_000_000;
/// How many entries of a list or an object, and how many bytes of a text, are another step.
const ENTRIES_OF_STEP: usize = 16;
const BYTES_OF_STEP: usize = 4096;
const TOO_MUCH: &str = "cannot be checked: the schema takes too many steps";

/// The most alternatives or allowed values that a message lists, and the most characters of each.
const MAX_LISTED: usize = 8;
const MAX_TEXT: usize = 100;

/// The longest pointer, in bytes, that parts are added to: each of them has a copy.
const MAX_POINTER: usize = 400;

/// Where a value disagrees with its schema, and how. Neither text holds the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The path into the value: `items[2].name`; empty for the value itself.
    pub path: String,
    /// What is expected: `must be a string`.
    pub problem: String,
}

/// The keyword of a schema that is not checked, or a reference that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    /// Where it stands: `/properties/name/pattern`.
    pub pointer: String,
    /// A reference that cannot be followed: such a schema is of no use.
    pub is_broken: bool,
}

/// Checks a value.
///
/// # Errors
/// The first place where it disagrees. A schema that branches without end disagrees with
/// everything, as a whole.
pub fn check(schema: &Json, value: &Json) -> Result<(), Mismatch> {
    let run = |steps: usize| {
        let check = Check { root: schema, left: Cell::new(steps) };
        let outcome = check.value(schema, value, &Path::Root, 0);
        // What ended early may have been read as a mismatch within `not` or `anyOf`.
        (check.left.get() > 0).then_some(outcome)
    };
    let again = || {
        let steps = parts(value).saturating_mul(STEPS_OF_PART).min(MAX_STEPS_OF_LARGE);
        if steps > MAX_STEPS { run(steps) } else { None }
    };
    run(MAX_STEPS).or_else(again).unwrap_or_else(|| fail(&Path::Root, TOO_MUCH))
}

/// The number of values that a value consists of.
fn parts(value: &Json) -> usize {
    match value {
        Json::Array(elements) => 1 + elements.iter().map(parts).sum::<usize>(),
        Json::Object(members) => 1 + members.values().map(parts).sum::<usize>(),
        _ => 1,
    }
}

/// Reads lists and objects that were sent as JSON text: at places whose schema names a `type` that
/// takes a list or an object and no text. `of_text` gets a text and how many lists and objects of
/// the value are around it. Says whether there was such a text.
pub fn read_texts(schema: &Json, value: &mut Json, of_text: &dyn Fn(&str, usize) -> Option<Json>) -> bool {
    read_texts_at(schema, value, of_text, 0)
}

fn read_texts_at(schema: &Json, value: &mut Json, of_text: &dyn Fn(&str, usize) -> Option<Json>, depth: usize) -> bool {
    let mut is_read = false;
    if let Json::String(text) = value
        && let Some(read) = schema.get("type").and_then(|kinds| {
            let names = |kind: &str| kinds == kind || kinds.as_array().is_some_and(|kinds| kinds.iter().any(|known| known == kind));
            let read = of_text(text, depth).filter(|_| !names("string"))?;
            ((read.is_array() && names("array")) || (read.is_object() && names("object"))).then_some(read)
        })
    {
        *value = read;
        is_read = true;
    }
    match value {
        Json::Array(elements) => {
            let Some(items) = schema.get("items") else { return is_read };
            for element in elements {
                is_read |= read_texts_at(items, element, of_text, depth + 1);
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                let inner = schema.get("properties").and_then(|declared| declared.get(name));
                is_read |= inner.is_some_and(|inner| read_texts_at(inner, member, of_text, depth + 1));
            }
        }
        _ => {}
    }
    is_read
}

/// Every keyword of a schema that [`check`] passes over though it means something, and every
/// reference that leads nowhere.
#[must_use]
pub fn unchecked(schema: &Json) -> Vec<Unchecked> {
    let mut found = Vec::new();
    collect(schema, schema, "", &mut found);
    found
}

/// The way to a value; written out only for a mismatch.
enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Element(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Self::Root, name) => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{parent}.{name}"),
            Self::Element(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

struct Check<'a> {
    root: &'a Json,
    /// How many steps are left; 0: the outcome means nothing.
    left: Cell<usize>,
}

impl Check<'_> {
    /// Takes steps away.
    fn spend(&self, steps: usize, path: &Path<'_>) -> Result<(), Mismatch> {
        self.left.set(self.left.get().saturating_sub(steps));
        if self.left.get() > 0 { Ok(()) } else { fail(path, TOO_MUCH) }
    }

    fn value(&self, schema: &Json, value: &Json, path: &Path<'_>, depth: usize) -> Result<(), Mismatch> {
        if depth > MAX_DEPTH {
            return fail(path, "cannot be checked: the schema refers to itself too often");
        }
        self.spend(1, path)?;
        let schema = match schema {
            Json::Bool(true) => return Ok(()),
            Json::Bool(false) => return fail(path, "is not allowed"),
            Json::Object(schema) => schema,
            _ => return fail(path, "has an invalid schema"),
        };
        let deeper = |inner: &Json| self.value(inner, value, path, depth + 1);
        if let Some(Json::String(reference)) = schema.get("$ref") {
            self.spend(reference.len() / BYTES_OF_STEP, path)?;
            match resolve(self.root, reference) {
                Some(inner) => deeper(inner)?,
                None => return fail(path, "has a schema whose `$ref` leads nowhere"),
            }
        }
        if let Some(kinds) = schema.get("type") {
            check_type(kinds, value, path)?;
        }
        if let Some(expected) = schema.get("const").filter(|expected| !equal(expected, value)) {
            return fail(path, format!("must be {}", shortened(&expected.to_string())));
        }
        if let Some(Json::Array(allowed)) = schema.get("enum") {
            self.spend(allowed.len() / ENTRIES_OF_STEP, path)?;
            if !allowed.iter().any(|allowed| equal(allowed, value)) {
                return fail(path, one_of(allowed));
            }
        }
        match value {
            Json::Number(number) => check_number(schema, number, path)?,
            Json::String(text) => {
                self.spend(text.len() / BYTES_OF_STEP, path)?;
                check_size(schema, text.chars().count(), ["minLength", "maxLength"], "character", path)?;
            }
            Json::Array(elements) => self.array(schema, elements, path, depth)?,
            Json::Object(members) => self.object(schema, members, path, depth)?,
            Json::Null | Json::Bool(_) => {}
        }
        for inner in list(schema, "allOf") {
            deeper(inner)?;
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Json::Array(alternatives)) = schema.get(keyword) {
                choice(alternatives, keyword == "oneOf", path, deeper)?;
            }
        }
        if schema.get("not").is_some_and(|inner| deeper(inner).is_ok()) {
            return fail(path, "matches what it must not match");
        }
        if let Some(condition) = schema.get("if") {
            let branch = if deeper(condition).is_ok() { "then" } else { "else" };
            schema.get(branch).map_or(Ok(()), deeper)?;
        }
        Ok(())
    }

    fn array(&self, schema: &Map<String, Json>, elements: &[Json], path: &Path<'_>, depth: usize) -> Result<(), Mismatch> {
        self.spend(elements.len() / ENTRIES_OF_STEP, path)?;
        check_size(schema, elements.len(), ["minItems", "maxItems"], "element", path)?;
        let first = list(schema, "prefixItems");
        let rest = schema.get("items");
        for (index, element) in elements.iter().enumerate() {
            if let Some(inner) = first.get(index).or(rest) {
                self.value(inner, element, &Path::Element(path, index), depth + 1)?;
            }
        }
        Ok(())
    }

    fn object(&self, schema: &Map<String, Json>, members: &Map<String, Json>, path: &Path<'_>, depth: usize) -> Result<(), Mismatch> {
        let required = list(schema, "required");
        self.spend((members.len() + required.len()) / ENTRIES_OF_STEP, path)?;
        check_size(schema, members.len(), ["minProperties", "maxProperties"], "member", path)?;
        for name in required.iter().filter_map(Json::as_str) {
            if !members.contains_key(name) {
                return fail(&Path::Member(path, name), "is required");
            }
        }
        let declared = schema.get("properties").and_then(Json::as_object);
        for (name, member) in members {
            let inner = declared.and_then(|declared| declared.get(name)).or_else(|| schema.get("additionalProperties"));
            if let Some(inner) = inner {
                self.value(inner, member, &Path::Member(path, name), depth + 1)?;
            }
        }
        Ok(())
    }
}

/// Holds a value to alternatives, of which exactly one or at least one has to match. What is wrong
/// with each is said, by its title or its number, because whoever mends the value has to choose.
fn choice(
    alternatives: &[Json],
    exactly_one: bool,
    path: &Path<'_>,
    check: impl Fn(&Json) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    let name = |index: usize, alternative: &Json| match alternative.get("title").and_then(Json::as_str) {
        Some(title) => shortened(title),
        None => (index + 1).to_string(),
    };
    let (mut matching, mut problems) = (Vec::new(), Vec::new());
    for (index, alternative) in alternatives.iter().enumerate() {
        match check(alternative) {
            Ok(()) if !exactly_one => return Ok(()),
            Ok(()) => matching.push(name(index, alternative)),
            Err(Mismatch { path, problem }) if problems.len() < MAX_LISTED => {
                let subject = if path.is_empty() { String::new() } else { format!("`{path}` ") };
                problems.push(format!("{}: {}", name(index, alternative), shortened(&(subject + &problem))));
            }
            Err(_) => {}
        }
    }
    if matching.len() == 1 {
        return Ok(());
    }
    if !matching.is_empty() {
        matching.truncate(MAX_LISTED);
        return fail(path, format!("must match exactly one of the alternatives, and matches {}", matching.join(" and ")));
    }
    let problems = problems.join("; ");
    fail(path, format!("matches none of the {} alternatives: {problems}", alternatives.len()))
}

/// What a value that is none of `allowed` is told.
fn one_of(allowed: &[Json]) -> String {
    let listed: Vec<String> = allowed.iter().take(MAX_LISTED).map(|allowed| shortened(&allowed.to_string())).collect();
    let more = if allowed.len() > MAX_LISTED { ", …" } else { "" };
    format!("must be one of {}{more}", listed.join(", "))
}

/// A text of a schema, or what is wrong with one alternative, in a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into(),
    }
}

fn fail<T>(path: &Path<'_>, problem: impl Into<String>) -> Result<T, Mismatch> {
    Err(Mismatch { path: path.to_string(), problem: problem.into() })
}

fn list<'s>(schema: &'s Map<String, Json>, keyword: &str) -> &'s [Json] {
    schema.get(keyword).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn check_type(kinds: &Json, value: &Json, path: &Path<'_>) -> Result<(), Mismatch> {
    let kinds: Vec<&str> = match kinds {
        Json::String(kind) => Vec::from([kind.as_str()]),
        Json::Array(kinds) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => return Ok(()),
    };
    let is = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // A float without a fraction is an integer to JSON Schema.
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number % 1.0 == 0.0),
        _ => false,
    };
    if kinds.iter().any(is) { Ok(()) } else { fail(path, format!("must be of type {}", kinds.join(" or "))) }
}

fn check_number(schema: &Map<String, Json>, number: &serde_json::Number, path: &Path<'_>) -> Result<(), Mismatch> {
    type Fits = fn(core::cmp::Ordering) -> bool;
    let bounds: [(&str, Fits, &str); 4] = [
        ("minimum", |order| order.is_ge(), "at least"),
        ("maximum", |order| order.is_le(), "at most"),
        ("exclusiveMinimum", |order| order.is_gt(), "more than"),
        ("exclusiveMaximum", |order| order.is_lt(), "less than"),
    ];
    for (keyword, fits, words) in bounds {
        if let Some(Json::Number(bound)) = schema.get(keyword)
            && !fits(compare_numbers(number, bound))
        {
            return fail(path, format!("must be {words} {bound}"));
        }
    }
    Ok(())
}

fn check_size(schema: &Map<String, Json>, size: usize, [least, most]: [&str; 2], unit: &str, path: &Path<'_>) -> Result<(), Mismatch> {
    let bound = |keyword: &str| schema.get(keyword).and_then(Json::as_u64);
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    match (bound(least), bound(most)) {
        (Some(least), _) if (size as u64) < least => fail(path, format!("must have at least {least} {unit}{}", plural(least))),
        (_, Some(most)) if (size as u64) > most => fail(path, format!("must have at most {most} {unit}{}", plural(most))),
        _ => Ok(()),
    }
}

/// What a reference within the schema leads to.
fn resolve<'s>(root: &'s Json, reference: &str) -> Option<&'s Json> {
    root.pointer(reference.strip_prefix('#')?)
}

/// The pointer to a part. One that is long already gives way to `…`.
fn below(pointer: &str, part: &str) -> String {
    if pointer.len() > MAX_POINTER { format!("…/{part}") } else { format!("{pointer}/{part}") }
}

/// Walks schemas, and no values: `const`, `enum`, `default` and `examples` hold data.
fn collect(root: &Json, schema: &Json, pointer: &str, found: &mut Vec<Unchecked>) {
    let Json::Object(members) = schema else { return };
    for (keyword, value) in members {
        let place = below(pointer, &keyword.replace('~', "~0").replace('/', "~1"));
        let broken = keyword == "$ref" && value.as_str().is_none_or(|reference| resolve(root, reference).is_none());
        if broken || !(CHECKED.contains(&keyword.as_str()) || NOTED.contains(&keyword.as_str())) {
            found.push(Unchecked { pointer: place, is_broken: broken });
            continue;
        }
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "definitions", Json::Object(schemas)) => {
                for (name, inner) in schemas {
                    collect(root, inner, &below(&place, name), found);
                }
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Json::Array(schemas)) => {
                for (index, inner) in schemas.iter().enumerate() {
                    collect(root, inner, &below(&place, &index.to_string()), found);
                }
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", inner) => collect(root, inner, &place, found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_schemas() {
        let tree = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["id"],
            "properties": {"id": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}});
        let table = [
            (json!(true), json!(1), None),
            (json!(false), json!(1), Some(("", "is not allowed"))),
            (json!({"type": "integer"}), json!(3.0), None),
            (json!({"type": "integer"}), json!(3.5), Some(("", "must be of type integer"))),
            (json!({"type": ["string", "null"]}), json!(1), Some(("", "must be of type string or null"))),
            (json!({"enum": [1, "a"]}), json!(1.0), None),
            (json!({"const": {"a": [1]}}), json!({"a": [2]}), Some(("", r#"must be {"a":[1]}"#))),
            (json!({"minimum": 1, "maximum": 5}), json!(0), Some(("", "must be at least 1"))),
            (json!({"exclusiveMaximum": 5}), json!(5), Some(("", "must be less than 5"))),
            (json!({"minimum": 1}), json!("text is not a number"), None),
            (json!({"maxLength": 2}), json!("äö"), None),
            (json!({"maxLength": 2}), json!("äöü"), Some(("", "must have at most 2 characters"))),
            (json!({"items": {"type": "string"}, "minItems": 1}), json!([]), Some(("", "must have at least 1 element"))),
            (json!({"items": {"type": "string"}}), json!(["a", 1]), Some(("[1]", "must be of type string"))),
            (json!({"prefixItems": [{"type": "string"}], "items": false}), json!(["a", 1]), Some(("[1]", "is not allowed"))),
            (
                json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false}),
                json!({"b": 1}),
                Some(("b", "is not allowed")),
            ),
            (json!({"required": ["a"]}), json!({}), Some(("a", "is required"))),
            (json!({"enum": ["a", 1]}), json!("b"), Some(("", "must be one of \"a\", 1"))),
            (
                json!({"anyOf": [{"type": "string"}, {"minimum": 3}]}),
                json!(2),
                Some(("", "matches none of the 2 alternatives: 1: must be of type string; 2: must be at least 3")),
            ),
            (
                json!({"oneOf": [{"type": "number"}, {"type": "string"}, {"minimum": 3}]}),
                json!(4),
                Some(("", "must match exactly one of the alternatives, and matches 1 and 3")),
            ),
            (
                json!({"properties": {"s": {"oneOf": [
                    {"title": "Circle", "properties": {"kind": {"const": "circle"}}, "required": ["kind", "radius"]},
                    {"properties": {"kind": {"const": "square"}}}]}}}),
                json!({"s": {"kind": "circle"}}),
                Some(("s", "matches none of the 2 alternatives: Circle: `s.radius` is required; 2: `s.kind` must be \"square\"")),
            ),
            (json!({"anyOf": []}), json!(1), Some(("", "matches none of the 0 alternatives: "))),
            (json!({"not": {"type": "null"}}), json!(null), Some(("", "matches what it must not match"))),
            (
                json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}),
                json!({"a": 1}),
                Some(("b", "is required")),
            ),
            (json!({"if": {"required": ["a"]}, "else": {"required": ["c"]}}), json!({}), Some(("c", "is required"))),
            (tree.clone(), json!({"id": 1, "children": [{"id": 2, "children": []}]}), None),
            (tree, json!({"id": 1, "children": [{"id": 2}, {}]}), Some(("children[1].id", "is required"))),
            (json!({"$ref": "#"}), json!(1), Some(("", "cannot be checked: the schema refers to itself too often"))),
        ];
        for (schema, value, expected) in table {
            let found = check(&schema, &value).err();
            let found = found.as_ref().map(|mismatch| (mismatch.path.as_str(), mismatch.problem.as_str()));
            assert_eq!(found, expected, "{schema} {value}");
        }
    }

    #[test]
    fn a_schema_that_branches_without_end_is_told() {
        let told: Result<(), Mismatch> = Err(Mismatch { path: String::new(), problem: TOO_MUCH.to_string() });
        let twice = json!([{"$ref": "#"}, {"$ref": "#"}]);
        for keyword in ["anyOf", "oneOf"] {
            assert_eq!(check(&json!({keyword: twice}), &json!({"a": 1})), told, "{keyword}");
        }
        // What is not known to match is not known not to match, either.
        let inner = json!({"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]});
        assert_eq!(check(&json!({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": inner}}), &json!(1)), told);
        let rows = Json::Array(vec![json!({"a": 1, "b": "x"}); 50_000]);
        let row =
            json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"anyOf": [{"type": "null"}, {"type": "string"}]}}});
        assert_eq!(check(&json!({"type": "array", "items": row}), &rows), Ok(()));
    }

    #[test]
    fn pointers_stay_short() {
        let mut schema = json!({"pattern": "^a"});
        for _ in 0..100 {
            schema = json!({"properties": {"a long name of a property": schema}});
        }
        let found = unchecked(&schema);
        assert!(matches!(found.as_slice(), [one] if one.pointer.starts_with('…') && one.pointer.ends_with("/pattern")), "{found:?}");
        assert!(found.iter().all(|found| found.pointer.len() < 2 * MAX_POINTER), "{found:?}");
    }

    #[test]
    fn texts_become_lists_and_objects_where_no_text_is_possible() {
        let of_text = |text: &str, _: usize| serde_json::from_str(text).ok();
        let list = json!({"type": "array", "items": {"type": "object", "properties": {"tags": {"type": ["array", "null"]}}}});
        let table = [
            (json!({"type": "array"}), json!("[1]"), Some(json!([1]))),
            (json!({"type": ["object", "null"]}), json!("{\"a\":1}"), Some(json!({"a": 1}))),
            (list.clone(), json!("[{\"tags\":\"[1]\"}]"), Some(json!([{"tags": [1]}]))),
            (list, json!([{"tags": "[1]", "other": "[1]"}]), Some(json!([{"tags": [1], "other": "[1]"}]))),
            (json!({"type": ["array", "string"]}), json!("[1]"), None),
            (json!({"type": "object"}), json!("[1]"), None),
            (json!({"type": "string"}), json!("[1]"), None),
            (json!({"anyOf": [{"type": "array"}]}), json!("[1]"), None),
            (json!({}), json!("[1]"), None),
            (json!(true), json!("[1]"), None),
            (json!({"type": "array"}), json!("[1"), None),
        ];
        for (schema, sent, expected) in table {
            let mut value = sent.clone();
            assert_eq!(read_texts(&schema, &mut value, &of_text), expected.is_some(), "{schema} {sent}");
            assert_eq!(value, expected.unwrap_or(sent), "{schema}");
        }
    }

    #[test]
    fn what_is_not_checked_is_told() {
        let schema = json!({
            "type": "object",
            "properties": {"pattern": {"type": "string", "pattern": "^a"}, "b": {"$ref": "https://example.com/x"}, "c": {"$ref": "#/$defs/c"}},
            "$defs": {"c": {"unevaluatedItems": false, "const": {"pattern": 1}}},
        });
        let found: Vec<(String, bool)> = unchecked(&schema).into_iter().map(|found| (found.pointer, found.is_broken)).collect();
        let expected = [("/properties/pattern/pattern", false), ("/properties/b/$ref", true), ("/$defs/c/unevaluatedItems", false)];
        assert_eq!(found, expected.map(|(pointer, broken)| (pointer.to_string(), broken)));
        assert_eq!(unchecked(&json!({"type": "object", "title": "pattern"})), vec![]);
    }
}
