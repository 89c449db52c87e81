//! What is different between two JSON Schemas, seen by who relies on them.
//!
//! Of inputs every value that was accepted must go on to be; of results every value must be one
//! that was possible before. So what takes more values is compatible for inputs and breaks the
//! readers of results, and the other way round. A new field of a result is compatible: readers pass
//! over what they do not know. What is different in a way that is not known breaks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::class::{ChangeClass, shown};

/// Which way values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Callers send them.
    In,
    /// Callers get them.
    Out,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SchemaChange {
    pub(super) class: ChangeClass,
    /// The names of members that lead to it, `items` for an element, and at last the key.
    pub(super) path: Vec<String>,
    pub(super) what: String,
}

impl SchemaChange {
    /// A difference of all of it.
    pub(super) fn whole(class: ChangeClass, what: &str) -> Self {
        Self { class, path: Vec::new(), what: what.to_owned() }
    }
}

/// What a difference does to the set of values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Fewer,
    More,
    /// Some are gone and others are new, or it is not known.
    Other,
}

/// How deep schemas are compared; what is different below that breaks.
const MAX_DEPTH: usize = 48;
/// The types of JSON.
const KINDS: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// Keywords that accept no value less.
const WORDS: [&str; 7] = ["title", "description", "examples", "$comment", "deprecated", "readOnly", "writeOnly"];
const LEAST: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const MOST: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/// What is different about `after`.
pub(super) fn changes(before: &Value, after: &Value, flow: Flow) -> Vec<SchemaChange> {
    let mut walk = Walk { flow, path: Vec::new(), found: Vec::new() };
    walk.schema(before, after);
    let mut found: Vec<SchemaChange> = Vec::new();
    for change in walk.found {
        if !found.contains(&change) {
            found.push(change);
        }
    }
    found
}

struct Walk {
    flow: Flow,
    path: Vec<String>,
    found: Vec<SchemaChange>,
}

impl Walk {
    fn add(&mut self, class: ChangeClass, key: &str, what: String) {
        let path = self.path.iter().map(String::as_str).chain([key]).filter(|key| !key.is_empty()).map(str::to_owned).collect();
        self.found.push(SchemaChange { class, path, what: format!("{}: {what}", self.place()) });
    }

    fn effect(&mut self, effect: Effect, key: &str, what: String) {
        let class = match (effect, self.flow) {
            (Effect::Fewer, Flow::Out) | (Effect::More, Flow::In) => ChangeClass::Compatible,
            _ => ChangeClass::Breaks,
        };
        self.add(class, key, what);
    }

    /// What is compared, in words.
    fn place(&self) -> String {
        let noun = if self.flow == Flow::In { "input" } else { "field" };
        match self.path.as_slice() {
            [] if self.flow == Flow::In => "the inputs".to_owned(),
            [] => "the result".to_owned(),
            path => format!("the {noun} `{}`", path.join(".")),
        }
    }

    fn below(&mut self, step: &str, before: &Value, after: &Value) {
        self.path.push(step.to_owned());
        self.schema(before, after);
        self.path.pop();
    }

    fn schema(&mut self, before: &Value, after: &Value) {
        if before == after {
            return;
        }
        let (Some(was), Some(is)) = (members(before), members(after)) else {
            return self.effect(Effect::Other, "", "its schema is another".to_owned());
        };
        if self.path.len() > MAX_DEPTH {
            return self.effect(Effect::Other, "", "its schema is another".to_owned());
        }
        self.words(&was, &is);
        match (Kinds::of(&was), Kinds::of(&is)) {
            (Some(was), Some(is)) => self.kinds(&was, &is),
            (None, None) => self.keywords(&was, &is),
            (Some(_), None) => self.effect(more_or_other(&is, Effect::More), "type", "it is of any type now".to_owned()),
            (None, Some(is)) => {
                let what = format!("it was of any type, and is {}", is.words());
                self.effect(more_or_other(&was, Effect::Fewer), "type", what);
            }
        }
    }

    /// What is said, and what stands in for what is left out.
    fn words(&mut self, before: &Map<String, Value>, after: &Map<String, Value>) {
        for word in WORDS {
            if before.get(word) != after.get(word) {
                self.add(ChangeClass::Seen, word, format!("`{word}` is another"));
            }
        }
        if before.get("default") != after.get("default") {
            let text = |value: Option<&Value>| value.map_or_else(|| "not set".to_owned(), |value| shown(&value.to_string()));
            let what = format!("`default` was {}, and is {}", text(before.get("default")), text(after.get("default")));
            match (self.flow, before.get("default"), after.get("default")) {
                (Flow::Out, ..) => self.add(ChangeClass::Seen, "default", what),
                // Whether it could be left out before decides; see `object`.
                (Flow::In, None, _) => {}
                (Flow::In, ..) => self.add(ChangeClass::Breaks, "default", what),
            }
        }
    }

    fn kinds(&mut self, before: &Kinds, after: &Kinds) {
        let (was, is) = (before.names(), after.names());
        let is_in = |kind: &str, kinds: &BTreeSet<&str>| kinds.contains(kind) || (kind == "integer" && kinds.contains("number"));
        let gone = was.iter().any(|kind| !is_in(kind, &is));
        let new = is.iter().any(|kind| !is_in(kind, &was));
        if gone || new {
            let effect = match (gone, new) {
                (true, false) => Effect::Fewer,
                (false, true) => Effect::More,
                _ => Effect::Other,
            };
            self.effect(effect, "type", format!("it was {}, and is {}", before.words(), after.words()));
        }
        for (kind, was) in &before.0 {
            let same = after.0.get(kind).or_else(|| match kind.as_str() {
                "integer" => after.0.get("number"),
                "number" => after.0.get("integer"),
                _ => None,
            });
            if let Some(is) = same {
                self.keywords(&of_kind(was, kind), &of_kind(is, kind));
            }
        }
    }

    fn keywords(&mut self, before: &Map<String, Value>, after: &Map<String, Value>) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let name = name.as_str();
            let (was, is) = (before.get(name), after.get(name));
            let is_elsewhere = WORDS.contains(&name) || ["default", "type", "anyOf", "required", "additionalProperties"].contains(&name);
            if was == is || (is_elsewhere && name != "anyOf") {
                continue;
            }
            match name {
                "enum" => self.values(was, is),
                "items" => self.below("items", was.unwrap_or(&Value::Bool(true)), is.unwrap_or(&Value::Bool(true))),
                "properties" => {}
                _ if LEAST.contains(&name) => self.bound(name, was, is, |was, is| was < is),
                _ if MOST.contains(&name) => self.bound(name, was, is, |was, is| was > is),
                "pattern" | "format" | "multipleOf" | "uniqueItems" | "const" => self.added_or_gone(name, was, is),
                _ => self.effect(Effect::Other, name, format!("`{name}` is another")),
            }
        }
        self.object(before, after);
    }

    fn added_or_gone(&mut self, name: &str, before: Option<&Value>, after: Option<&Value>) {
        let said = |value: Option<&Value>| value.is_some_and(|value| *value != Value::Bool(false));
        let effect = match (said(before), said(after)) {
            (false, true) => Effect::Fewer,
            (true, false) => Effect::More,
            (false, false) => return,
            _ => Effect::Other,
        };
        self.effect(effect, name, was_and_is(name, before, after));
    }

    fn bound(&mut self, name: &str, before: Option<&Value>, after: Option<&Value>, tightens: fn(f64, f64) -> bool) {
        let effect = match (before.and_then(Value::as_f64), after.and_then(Value::as_f64)) {
            (None, Some(_)) if before.is_none() => Effect::Fewer,
            (Some(_), None) if after.is_none() => Effect::More,
            (Some(was), Some(is)) if tightens(was, is) => Effect::Fewer,
            (Some(was), Some(is)) if tightens(is, was) => Effect::More,
            _ => Effect::Other,
        };
        self.effect(effect, name, was_and_is(name, before, after));
    }

    fn values(&mut self, before: Option<&Value>, after: Option<&Value>) {
        let list = |value: Option<&Value>| value.map(|value| value.as_array().cloned().unwrap_or_default());
        match (list(before), list(after)) {
            (None, _) => self.effect(Effect::Fewer, "enum", "only some values are allowed now".to_owned()),
            (_, None) => self.effect(Effect::More, "enum", "every value is allowed now".to_owned()),
            (Some(was), Some(is)) => {
                for gone in was.iter().filter(|value| !is.contains(value)) {
                    self.effect(Effect::Fewer, "enum", format!("the value {} is gone", shown(&plain(gone))));
                }
                for new in is.iter().filter(|value| !was.contains(value)) {
                    self.effect(Effect::More, "enum", format!("the value {} is new", shown(&plain(new))));
                }
            }
        }
    }

    fn object(&mut self, before: &Map<String, Value>, after: &Map<String, Value>) {
        self.additional(before, after);
        let properties = |schema: &Map<String, Value>| schema.get("properties").and_then(Value::as_object).cloned();
        let (was, is) = match (properties(before), properties(after)) {
            (None, None) => {
                if before.get("required") != after.get("required") {
                    self.effect(Effect::Other, "required", "`required` is another".to_owned());
                }
                return;
            }
            (None, Some(_)) => return self.effect(Effect::Fewer, "properties", "it had any members, and has certain ones".to_owned()),
            (Some(_), None) => {
                // A reader finds no member any more that it can rely on; a sender may send all.
                return self.effect(Effect::More, "properties", "it had certain members, and has any".to_owned());
            }
            (Some(was), Some(is)) => (was, is),
        };
        let required = |schema: &Map<String, Value>, name: &str| {
            schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|known| known == name))
        };
        let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        for name in names {
            let (must_before, must_after) = (required(before, name), required(after, name));
            match (was.get(name), is.get(name)) {
                (Some(was), Some(is)) => {
                    self.below(name, was, is);
                    let gained = was.get("default").is_none() && is.get("default").is_some();
                    self.at(name, |walk| {
                        walk.presence(must_before, must_after);
                        if gained && !must_before && walk.flow == Flow::In {
                            walk.add(ChangeClass::Breaks, "default", "left out, it is not nothing any more".to_owned());
                        }
                    });
                }
                (Some(_), None) => self.at(name, |walk| walk.add(ChangeClass::Breaks, "", "it is gone".to_owned())),
                (None, _) if self.flow == Flow::In && must_after => {
                    self.at(name, |walk| walk.add(ChangeClass::Breaks, "", "it is new and required".to_owned()));
                }
                (None, _) => self.at(name, |walk| walk.add(ChangeClass::Compatible, "", "it is new".to_owned())),
            }
        }
    }

    fn at(&mut self, step: &str, run: impl FnOnce(&mut Self)) {
        self.path.push(step.to_owned());
        run(self);
        self.path.pop();
    }

    fn presence(&mut self, before: bool, after: bool) {
        let (effect, what) = match (before, after, self.flow) {
            (false, true, Flow::In) => (Effect::Fewer, "it is required"),
            (true, false, Flow::In) => (Effect::More, "it can be left out"),
            (false, true, Flow::Out) => (Effect::Fewer, "it is always there"),
            (true, false, Flow::Out) => (Effect::More, "it can be absent"),
            _ => return,
        };
        self.effect(effect, "optional", what.to_owned());
    }

    /// Other members: those of a result are as new fields, and a sender loses them.
    fn additional(&mut self, before: &Map<String, Value>, after: &Map<String, Value>) {
        let of = |schema: &Map<String, Value>| schema.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
        match (of(before), of(after)) {
            (was, is) if was == is => {}
            (Value::Bool(_), Value::Bool(_)) if self.flow == Flow::Out => {
                self.add(ChangeClass::Compatible, "additionalProperties", "whether it has other members is another".to_owned());
            }
            (Value::Bool(true), _) => self.effect(Effect::Fewer, "additionalProperties", "fewer other members are allowed".to_owned()),
            (_, Value::Bool(true)) => self.effect(Effect::More, "additionalProperties", "more other members are allowed".to_owned()),
            (was, is) => self.below("additionalProperties", &was, &is),
        }
    }
}

/// What a schema says; `true` says nothing.
fn members(schema: &Value) -> Option<Map<String, Value>> {
    match schema {
        Value::Object(members) => Some(members.clone()),
        Value::Bool(true) => Some(Map::new()),
        _ => None,
    }
}

/// A schema without a type, beside one that has one: the effect, where it says nothing else.
fn more_or_other(untyped: &Map<String, Value>, effect: Effect) -> Effect {
    let says_more = untyped.keys().any(|key| !WORDS.contains(&key.as_str()) && key != "default");
    if says_more { Effect::Other } else { effect }
}

/// The types of a schema, and what it says of each.
struct Kinds(BTreeMap<String, Map<String, Value>>);

impl Kinds {
    /// Of a `type`, or of an `anyOf` of schemas with one type each. `None`: any, or not known.
    fn of(schema: &Map<String, Value>) -> Option<Self> {
        if let Some(choice) = schema.get("anyOf") {
            let mut kinds = BTreeMap::new();
            for one in choice.as_array()? {
                let one = one.as_object()?;
                let kind = one.get("type")?.as_str()?.to_owned();
                if kinds.insert(kind, one.clone()).is_some() {
                    return None;
                }
            }
            // What stands beside the choice would hold for all of them.
            let is_alone = schema.keys().all(|key| key == "anyOf" || key == "default" || WORDS.contains(&key.as_str()));
            return is_alone.then_some(Self(kinds));
        }
        let kinds: Vec<&str> = match schema.get("type")? {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return None,
        };
        kinds.iter().all(|kind| KINDS.contains(kind)).then(|| Self(kinds.iter().map(|kind| ((*kind).to_owned(), schema.clone())).collect()))
    }

    fn names(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    fn words(&self) -> String {
        format!("`{}`", self.0.keys().map(String::as_str).collect::<Vec<_>>().join("` or `"))
    }
}

/// What a schema says of values of a type, without the type. Of texts and numbers beside `null`,
/// the `enum` holds for both.
fn of_kind(schema: &Map<String, Value>, kind: &str) -> Map<String, Value> {
    let mut own = schema.clone();
    own.shift_remove("type");
    own.shift_remove("anyOf");
    if kind == "null" {
        own.retain(|key, _| key == "const");
    }
    own
}

fn was_and_is(name: &str, before: Option<&Value>, after: Option<&Value>) -> String {
    let text = |value: Option<&Value>| value.map_or_else(|| "not set".to_owned(), |value| shown(&plain(value)));
    format!("`{name}` was {}, and is {}", text(before), text(after))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
