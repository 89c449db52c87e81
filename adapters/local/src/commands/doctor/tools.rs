//! Tools as clients see them: names, schemas and hints that some client refuses.
//!
//! What a construct costs in which client is known from the bundler's table of clients alone.

use millrace_bundler::clients::{Construct, cost, is_property_name, says_type};
use millrace_core::Json;
use serde_json::Map;

use super::finding::{Finding, Side};

/// A tool of a list.
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    pub(super) descriptor: &'a Map<String, Json>,
}

/// The longest name that every client takes with something before it, in characters.
const LONGEST_NAME: u64 = 64;
/// How deep a schema is followed.
const DEEPEST: usize = 32;
/// How many parts of one tool's schemas are looked at.
const MOST_PARTS: usize = 20_000;
/// How much of a path and of a tool's name is kept for each part, in bytes.
const LONGEST_PATH: usize = 400;

/// What clients do not take in these tools.
pub(super) fn findings(tools: &[Tool<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(what) = cost(Construct::ToolCount, tools.len() as u64, false) {
        found.push(Finding::warning(Side::Server, "tools-many", what, "Offer fewer tools, or a tool that searches the others."));
    }
    for tool in tools {
        name(tool, &mut found);
        words(tool, &mut found);
        hints(tool, &mut found);
        inputs(tool, &mut found);
        if let Some(schema) = tool.descriptor.get("outputSchema") {
            let mut walk = Walk { tool: tool.name, root: "outputSchema", left: MOST_PARTS, found: &mut found };
            walk.schema(schema, "", 0);
        }
    }
    found
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

fn name(tool: &Tool<'_>, found: &mut Vec<Finding>) {
    if !is_key(tool.name) {
        let what = "the name of a tool has characters that clients refuse";
        let remedy = "Use letters, digits, `_`, `-` and `.` only.";
        found.push(Finding::fault(Side::Server, "tool-name", what, remedy).at(tool.name));
    }
    // What clients put before it is their users' affair, so each is thought to put nothing.
    let length = tool.name.chars().count() as u64;
    if length > LONGEST_NAME
        && let Some(what) = cost(Construct::NameLength, length, false)
    {
        let remedy = "Shorten it to 40 characters or so: clients put the name of the server before it.";
        found.push(Finding::fault(Side::Server, "tool-name-long", what, remedy).at(tool.name));
    }
}

fn words(tool: &Tool<'_>, found: &mut Vec<Finding>) {
    match tool.descriptor.get("description").and_then(Json::as_str).filter(|text| !text.trim().is_empty()) {
        None => {
            let what = "a tool has no description, so models cannot tell what it is for";
            found
                .push(Finding::warning(Side::Server, "tool-description", what, "Describe what it does, and when to use it.").at(tool.name));
        }
        Some(text) => {
            if let Some(what) = cost(Construct::DescriptionLength, text.chars().count() as u64, false) {
                found.push(Finding::warning(Side::Server, "tool-description-long", what, "Shorten it.").at(tool.name));
            }
        }
    }
}

fn hints(tool: &Tool<'_>, found: &mut Vec<Finding>) {
    let annotations = tool.descriptor.get("annotations");
    let hint = |name: &str| annotations.and_then(|hints| hints.get(name)).and_then(Json::as_bool);
    if ["readOnlyHint", "destructiveHint", "openWorldHint"].iter().any(|name| hint(name).is_none()) {
        let what = "a tool does not say whether it reads only, destroys or reaches other systems: ChatGPT's directory refuses it";
        let remedy = "Set `readOnlyHint`, `destructiveHint` and `openWorldHint` in its annotations, each true or false.";
        found.push(Finding::warning(Side::Server, "tool-hints", what, remedy).at(tool.name));
    }
    if hint("readOnlyHint") == Some(true) && hint("destructiveHint") == Some(true) {
        let what = "a tool says that it reads only, and that it destroys";
        found.push(Finding::fault(Side::Server, "tool-hints-contradict", what, "Correct its annotations.").at(tool.name));
    }
    let titles = [tool.descriptor.get("title"), annotations.and_then(|hints| hints.get("title"))];
    if !titles.iter().flatten().any(|title| title.as_str().is_some_and(|title| !title.is_empty())) {
        let what = "a tool has no title: clients show its name to people, and Claude's directory asks for one";
        found.push(Finding::note(Side::Server, "tool-title", what, "Add `title`.").at(tool.name));
    }
}

fn inputs(tool: &Tool<'_>, found: &mut Vec<Finding>) {
    let schema = tool.descriptor.get("inputSchema");
    let Some(object) = schema.and_then(Json::as_object).filter(|schema| schema.get("type").is_some_and(|kind| kind == "object")) else {
        let what = "the `inputSchema` of a tool is not a schema with `type: object`: clients drop the tool or the list";
        let remedy = "Write `{\"type\": \"object\", \"properties\": {…}}`.";
        found.push(Finding::fault(Side::Server, "schema-type", what, remedy).at(tool.name));
        return;
    };
    if !object.get("properties").is_some_and(Json::is_object)
        && let Some(what) = cost(Construct::NoProperties, 0, false)
    {
        let remedy = "Add `\"properties\": {}`, also where the tool has no inputs.";
        found.push(Finding::fault(Side::Server, "schema-properties", what, remedy).at(tool.name));
    }
    if let Some(choice) = ["anyOf", "oneOf", "allOf"].into_iter().find(|choice| object.contains_key(*choice))
        && let Some(what) = cost(Construct::TopLevelChoice, 0, false)
    {
        let remedy = "Move the choice into a property, or make the properties optional and check them in the tool.";
        found.push(Finding::fault(Side::Server, "schema-choice", what, remedy).at(format!("{}: {choice}", tool.name)));
    }
    if object.contains_key("$schema")
        && let Some(what) = cost(Construct::Dialect, 0, false)
    {
        found.push(Finding::note(Side::Server, "schema-dialect", what, "Leave `$schema` out.").at(tool.name));
    }
    let mut walk = Walk { tool: tool.name, root: "inputSchema", left: MOST_PARTS, found };
    walk.schema(&Json::Object(object.clone()), "", 0);
}

struct Walk<'a> {
    tool: &'a str,
    root: &'static str,
    /// How many more parts are looked at.
    left: usize,
    found: &'a mut Vec<Finding>,
}

impl Walk<'_> {
    fn add(&mut self, finding: Finding, path: &str) {
        self.found.push(finding.at(format!("{}: {}{}", cut(self.tool), self.root, cut(path))));
    }

    /// A construct that costs clients. Where the tool, or more, is lost in one of them for certain,
    /// it is a fault.
    fn construct(&mut self, construct: Construct, path: &str) {
        type Made = fn(Side, &'static str, String, &'static str) -> Finding;
        let (make, id, remedy): (Made, _, _) = match construct {
            Construct::Reference => (Finding::warning, "schema-ref", "Write the schema out where it is used."),
            Construct::TypeList => (Finding::warning, "schema-type-list", "Name one type, or use `anyOf` in a property."),
            Construct::NoItems => (Finding::fault, "schema-items", "Say what the elements are: `\"items\": {\"type\": …}`."),
            Construct::PropertyName => (Finding::fault, "schema-key", "Rename it."),
            Construct::HiddenArgument | Construct::HiddenMember => (Finding::warning, "schema-underscore", construct.help()),
            Construct::Untyped => (Finding::warning, "schema-untyped", construct.help()),
            Construct::ExclusiveBound | Construct::ExclusiveFlag => (Finding::warning, "schema-exclusive", construct.help()),
            Construct::AdditionalSchema => (Finding::warning, "schema-additional", construct.help()),
            Construct::NumberEnum => (Finding::note, "schema-enum", construct.help()),
            Construct::EmailFormat | Construct::Format => (Finding::note, "schema-format", construct.help()),
            _ => return,
        };
        if let Some(what) = cost(construct, 0, self.root == "outputSchema") {
            self.add(make(Side::Server, id, what, remedy), path);
        }
    }

    /// The constructs of one schema, apart from those below it.
    fn keywords(&mut self, object: &Map<String, Json>, path: &str) {
        let has = |keyword: &str| object.contains_key(keyword);
        let exclusive = || ["exclusiveMinimum", "exclusiveMaximum"].into_iter().filter_map(|keyword| object.get(keyword));
        let format = object.get("format").and_then(Json::as_str).filter(|format| *format != "date-time");
        let numbers = object.get("enum").and_then(Json::as_array).is_some_and(|values| values.iter().any(Json::is_number));
        let is_list = object.get("type").is_some_and(|kind| kind == "array");
        for (construct, is_there) in [
            (Construct::Reference, has("$ref")),
            (Construct::TypeList, object.get("type").is_some_and(Json::is_array)),
            (Construct::NoItems, is_list && !has("items") && !has("prefixItems")),
            (Construct::ExclusiveBound, exclusive().any(Json::is_number)),
            (Construct::ExclusiveFlag, exclusive().any(Json::is_boolean)),
            (Construct::AdditionalSchema, object.get("additionalProperties").is_some_and(Json::is_object)),
            (Construct::NumberEnum, numbers),
            (Construct::EmailFormat, format == Some("email")),
            (Construct::Format, format.is_some()),
        ] {
            if is_there {
                self.construct(construct, path);
            }
        }
    }

    /// The constructs of a property.
    fn property(&mut self, key: &str, property: &Json, path: &str, is_top: bool) {
        if !is_property_name(key) {
            self.construct(Construct::PropertyName, path);
        }
        if key.starts_with('_') {
            self.construct(if is_top { Construct::HiddenArgument } else { Construct::HiddenMember }, path);
        }
        let is_untyped = match property {
            Json::Bool(is_anything) => *is_anything,
            Json::Object(property) => !says_type(property.keys().map(String::as_str)),
            _ => false,
        };
        if is_untyped {
            self.construct(Construct::Untyped, path);
        }
    }

    fn schema(&mut self, schema: &Json, path: &str, depth: usize) {
        let Json::Object(object) = schema else { return };
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        if depth > DEEPEST {
            let what = format!("a schema is nested more than {DEEPEST} levels deep: clients with a limit refuse it");
            return self.add(Finding::warning(Side::Server, "schema-deep", what, "Flatten it."), "");
        }
        self.keywords(object, path);
        if let Some(properties) = object.get("properties").and_then(Json::as_object) {
            for (key, property) in properties {
                let path = below(path, &format!(".{key}"));
                self.property(key, property, &path, depth == 0);
                self.schema(property, &path, depth + 1);
            }
        }
        for (key, what) in [("items", "[]"), ("additionalProperties", ".*"), ("not", "")] {
            if let Some(inner) = object.get(key) {
                self.schema(inner, &below(path, what), depth + 1);
            }
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            for inner in object.get(key).and_then(Json::as_array).into_iter().flatten() {
                self.schema(inner, path, depth + 1);
            }
        }
        for key in ["$defs", "definitions"] {
            for (name, inner) in object.get(key).and_then(Json::as_object).into_iter().flatten() {
                self.schema(inner, &below(path, &format!(".{key}.{name}")), depth + 1);
            }
        }
    }
}

/// The path to a part, cut where it is long: each part has a copy of it.
fn below(path: &str, part: &str) -> String {
    cut(path).to_owned() + cut(part)
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_PATH)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(tool: &Json) -> Vec<&'static str> {
        let descriptor = tool.as_object().unwrap();
        let tools = [Tool { name: tool["name"].as_str().unwrap(), descriptor }];
        findings(&tools).iter().map(|finding| finding.id).collect()
    }

    fn good() -> Json {
        json!({
            "name": "get-note",
            "title": "Get a note",
            "description": "One note.",
            "annotations": { "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false, "idempotentHint": true },
            "inputSchema": { "type": "object", "properties": {
                "id": { "type": "integer" }, "tags": { "type": "array", "items": { "type": "string" } } } },
            "outputSchema": { "type": "object", "properties": { "list": { "type": "array" } } },
        })
    }

    #[test]
    fn each_rule_finds_its_construct_and_nothing_else() {
        assert_eq!(ids(&good()), Vec::<&str>::new());
        let schema = |schema: Json| ("/inputSchema", schema);
        for ((place, value), id) in [
            (("/name", json!("get note")), "tool-name"),
            (("/name", json!("n".repeat(65))), "tool-name-long"),
            (("/title", json!("")), "tool-title"),
            (("/description", json!(" ")), "tool-description"),
            (("/description", json!("x".repeat(5_000))), "tool-description-long"),
            (("/annotations/openWorldHint", Json::Null), "tool-hints"),
            (("/annotations/destructiveHint", json!(true)), "tool-hints-contradict"),
            (schema(Json::Null), "schema-type"),
            (schema(json!({ "type": "object" })), "schema-properties"),
            (schema(json!({ "type": "object", "properties": {}, "oneOf": [] })), "schema-choice"),
            (("/inputSchema/properties/tags/items", json!({ "type": "array" })), "schema-items"),
            (("/inputSchema/properties/id/type", json!(["integer", "null"])), "schema-type-list"),
            (("/inputSchema/properties/id", json!({ "$ref": "#/$defs/id" })), "schema-ref"),
            (("/outputSchema/properties/list", json!({ "$ref": "#/$defs/id" })), "schema-ref"),
            (("/inputSchema/properties/id", json!({ "type": "object", "properties": { "a b": { "type": "null" } } })), "schema-key"),
            (("/inputSchema/properties/id", json!({})), "schema-untyped"),
            (("/inputSchema/properties/id", json!({ "type": "object", "properties": { "_a": { "type": "null" } } })), "schema-underscore"),
            (("/inputSchema/properties", json!({ "_id": { "type": "null" } })), "schema-underscore"),
            (("/inputSchema/properties/id", json!({ "type": "integer", "exclusiveMinimum": 0 })), "schema-exclusive"),
            (("/inputSchema/properties/id", json!({ "type": "object", "additionalProperties": { "type": "null" } })), "schema-additional"),
            (("/inputSchema/properties/id", json!({ "type": "integer", "enum": [1, 2] })), "schema-enum"),
            (("/inputSchema/properties/id", json!({ "type": "string", "format": "date" })), "schema-format"),
            (schema(json!({ "$schema": "x", "type": "object", "properties": {} })), "schema-dialect"),
        ] {
            let mut tool = good();
            *tool.pointer_mut(place).unwrap() = value;
            assert_eq!(ids(&tool), [id], "{place}");
        }
    }

    #[test]
    fn a_hostile_schema_ends() {
        let mut deep = json!({ "type": "string" });
        for _ in 0..200 {
            deep = json!({ "type": "object", "properties": { "x": deep } });
        }
        let mut tool = good();
        *tool.pointer_mut("/inputSchema").unwrap() = deep;
        assert_eq!(ids(&tool), ["schema-deep"]);
        let wide: Map<String, Json> = (0..50_000).map(|at| (format!("k{at}"), json!({ "type": ["string"] }))).collect();
        *tool.pointer_mut("/inputSchema").unwrap() = json!({ "type": "object", "properties": wide });
        assert!(ids(&tool).len() <= MOST_PARTS);
        let inner: Map<String, Json> = (0..1_000).map(|at| (format!("k{at}"), json!({ "type": ["string"] }))).collect();
        let long = Map::from_iter([("ü".repeat(1 << 20), json!({ "type": "object", "properties": inner }))]);
        *tool.pointer_mut("/inputSchema").unwrap() = json!({ "type": "object", "properties": long });
        let found = findings(&[Tool { name: "get-note", descriptor: tool.as_object().unwrap() }]);
        assert!(found.len() > 1_000 && found.iter().flat_map(|finding| &finding.places).all(|place| place.len() < 3 * LONGEST_PATH));
    }
}
