//! A schema as one thing: what `allOf`, and `oneOf` and `anyOf` with one choice, say together.

use std::collections::BTreeSet;

use millrace_core::Json;

use super::document::Node;

/// How many levels of `allOf` and the like are followed.
const MAX_LEVELS: usize = 12;
/// The most schemas that one thing is made of.
const MAX_PARTS: usize = 200;
/// The most members of an object that may be one of several.
const MAX_UNITED: usize = 40;
/// The schema of a member that the choices describe differently.
static ANY: Json = Json::Bool(true);

/// What a schema says.
#[derive(Default)]
pub(super) struct Shape<'a> {
    /// `string`, `array`, …; none where any may come.
    pub(super) types: BTreeSet<&'a str>,
    pub(super) nullable: bool,
    pub(super) properties: Vec<(&'a str, Node<'a>)>,
    pub(super) required: BTreeSet<&'a str>,
    /// The only values.
    pub(super) allowed: Option<Vec<&'a Json>>,
    pub(super) default: Option<&'a Json>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) min_length: Option<f64>,
    pub(super) max_length: Option<f64>,
    pub(super) min_items: Option<f64>,
    pub(super) max_items: Option<f64>,
    pub(super) pattern: Option<&'a str>,
    pub(super) format: Option<&'a str>,
    pub(super) items: Option<Node<'a>>,
    pub(super) description: Option<&'a str>,
    pub(super) read_only: bool,
    pub(super) deprecated: bool,
    /// Whether it may be one of several things that have little in common.
    pub(super) is_choice: bool,
    /// Whether one of these things is an object or a list.
    pub(super) has_nested_choice: bool,
    parts: usize,
}

impl<'a> Shape<'a> {
    /// What a schema says; nothing is known of one that cannot be found.
    pub(super) fn of(node: Option<Node<'a>>) -> Self {
        let mut shape = Self::default();
        match node {
            Some(node) => shape.add(node, 0),
            None => shape.is_choice = true,
        }
        shape
    }

    fn add(&mut self, raw: Node<'a>, level: usize) {
        self.parts += 1;
        if level > MAX_LEVELS || self.parts > MAX_PARTS {
            self.is_choice = true;
            return;
        }
        // What stands beside a reference goes before what it leads to.
        self.describe(raw);
        let Some(node) = raw.resolved() else {
            self.is_choice = true;
            return;
        };
        self.describe(node);
        self.take_types(node);
        self.take_limits(node);
        self.take_members(node);
        for part in node.raw("allOf").into_iter().flat_map(Node::raw_items) {
            self.add(part, level + 1);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(list) = node.raw(key) {
                self.choose(list, level);
            }
        }
    }

    /// Whether it can be an object or a list.
    fn is_nested(&self) -> bool {
        self.has_nested_choice || self.types.contains("object") || self.types.contains("array")
    }

    fn describe(&mut self, node: Node<'a>) {
        self.description = self.description.or_else(|| node.text("description").or_else(|| node.text("title")));
        self.read_only |= node.is("readOnly");
        self.deprecated |= node.is("deprecated");
    }

    fn take_types(&mut self, node: Node<'a>) {
        let written: Vec<&str> = match node.value.get("type") {
            Some(Json::String(one)) => vec![one],
            Some(Json::Array(several)) => several.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        };
        self.nullable |= node.is("nullable") || written.contains(&"null");
        let known = ["string", "integer", "number", "boolean", "array", "object"];
        self.types.extend(written.into_iter().filter(|name| known.contains(name)));
        let single = node.value.get("const").map(|value| vec![value]);
        let listed = node.value.get("enum").and_then(Json::as_array).map(|list| list.iter().collect::<Vec<_>>());
        if let Some(mut allowed) = single.or(listed) {
            self.nullable |= allowed.iter().any(|value| value.is_null());
            allowed.retain(|value| !value.is_null());
            if let Some(known) = &self.allowed {
                allowed.retain(|value| known.contains(value));
            }
            self.allowed = (!allowed.is_empty()).then_some(allowed);
        }
        self.default = self.default.or_else(|| node.value.get("default"));
    }

    fn take_limits(&mut self, node: Node<'a>) {
        let number = |key: &str| node.value.get(key).and_then(Json::as_f64);
        let is_whole = self.types.contains("integer");
        // In 3.0 they are truth values that belong to `minimum` and `maximum`.
        let step = if is_whole { 1.0 } else { 0.0 };
        let above = number("exclusiveMinimum").or_else(|| number("minimum").filter(|_| node.is("exclusiveMinimum")));
        let below = number("exclusiveMaximum").or_else(|| number("maximum").filter(|_| node.is("exclusiveMaximum")));
        let (least, most) = (above.map(|bound| bound + step).or(number("minimum")), below.map(|bound| bound - step).or(number("maximum")));
        for (own, found) in [
            (&mut self.min, least),
            (&mut self.max, most),
            (&mut self.min_length, number("minLength")),
            (&mut self.max_length, number("maxLength")),
            (&mut self.min_items, number("minItems")),
            (&mut self.max_items, number("maxItems")),
        ] {
            *own = own.or(found);
        }
        self.pattern = self.pattern.or_else(|| node.text("pattern"));
        self.format = self.format.or_else(|| node.text("format"));
    }

    fn take_members(&mut self, node: Node<'a>) {
        for (name, property) in node.raw("properties").into_iter().flat_map(Node::entries) {
            match self.properties.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = property,
                None => self.properties.push((name, property)),
            }
        }
        self.required.extend(node.value.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str));
        if self.types.is_empty() && !self.properties.is_empty() {
            self.types.insert("object");
        }
        self.items = node.raw("items").or(self.items);
        if self.types.is_empty() && self.items.is_some() {
            self.types.insert("array");
        }
    }

    /// Takes the members of objects of which one is meant: those that all of them require stay
    /// required.
    fn unite(&mut self, list: Node<'a>, shapes: Vec<Self>) {
        let mut required: Option<BTreeSet<&str>> = None;
        let mut united: Vec<(&str, Node<'a>)> = Vec::new();
        for shape in shapes {
            required = Some(match required {
                Some(known) => known.intersection(&shape.required).copied().collect(),
                None => shape.required,
            });
            for (name, property) in shape.properties {
                match united.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) if known.value != property.value => *known = list.with(&ANY),
                    Some(_) => {}
                    None => united.push((name, property)),
                }
            }
        }
        if united.len() > MAX_UNITED {
            self.is_choice = true;
            return;
        }
        united.retain(|(name, _)| !self.properties.iter().any(|(known, _)| known == name));
        self.properties.extend(united);
        self.required.extend(required.into_iter().flatten());
        self.types.insert("object");
    }

    /// What the choices of `oneOf` or `anyOf` have in common.
    fn choose(&mut self, list: Node<'a>, level: usize) {
        let is_null = |node: &Node<'a>| node.value.get("type").and_then(Json::as_str) == Some("null");
        let (none, choices): (Vec<_>, Vec<_>) = list.raw_items().partition(is_null);
        self.nullable |= !none.is_empty();
        if let [only] = choices.as_slice() {
            self.add(*only, level + 1);
            return;
        }
        // Choices that only say what is required together are rules about the members.
        if !self.properties.is_empty()
            && choices.iter().all(|choice| {
                choice.value.get("required").is_some() && choice.value.get("properties").is_none() && choice.value.get("$ref").is_none()
            })
        {
            return;
        }
        let mut shapes: Vec<Shape<'a>> = Vec::new();
        for choice in choices.iter().take(MAX_PARTS) {
            let mut shape = Self { parts: self.parts, ..Self::default() };
            shape.add(*choice, level + 1);
            self.parts = shape.parts;
            shapes.push(shape);
        }
        self.nullable |= shapes.iter().any(|shape| shape.nullable);
        self.has_nested_choice |= shapes.iter().any(Self::is_nested);
        let scalar = |shape: &Shape<'a>| match shape.types.iter().copied().collect::<Vec<_>>().as_slice() {
            [one] if !shape.is_choice && !["array", "object"].contains(one) => Some(*one),
            _ => None,
        };
        let kinds: BTreeSet<Option<&str>> = shapes.iter().map(scalar).collect();
        let kinds: Vec<Option<&str>> = kinds.into_iter().collect();
        match kinds.as_slice() {
            [Some(one)] => drop(self.types.insert(one)),
            [Some("integer"), Some("number")] => drop(self.types.insert("number")),
            _ if shapes.iter().all(|shape| !shape.is_choice && !shape.properties.is_empty()) => {
                self.unite(list, shapes);
                return;
            }
            _ => {
                self.is_choice = true;
                return;
            }
        }
        let listed: Option<Vec<Vec<&Json>>> = shapes.iter().map(|shape| shape.allowed.clone()).collect();
        if let Some(listed) = listed {
            self.allowed = self.allowed.take().or_else(|| Some(listed.concat()));
        }
    }
}
