//! Inputs of tools, made of schemas.

use millrace_core::{Json, app::Pattern};

use super::{document::Node, prose, schema::Shape};
use crate::commands::new::from::{names, yaml};

/// The most values of an `enum`, and the most bytes of them: a model reads them in every list.
const MAX_VALUES: usize = 60;
const MAX_VALUE_BYTES: usize = 2_000;
/// The longest pattern.
const MAX_PATTERN: usize = 200;
/// The greatest number that JSON of every client holds exactly.
const EXACT: f64 = 9_007_199_254_740_991.0;
/// The longest name of an input that clients take.
pub(super) const MAX_NAME: usize = 60;

/// The formats that an app checks.
const FORMATS: [&str; 9] = ["email", "uri", "hostname", "ipv4", "ipv6", "uuid", "date", "time", "date-time"];

/// One input, one field of an object or the element of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) description: Option<String>,
    pub(super) required: bool,
    pub(super) nullable: bool,
    pub(super) default: Option<Json>,
    pub(super) allowed: Vec<Json>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) pattern: Option<String>,
    pub(super) format: Option<&'static str>,
    pub(super) items: Option<Box<Input>>,
    pub(super) fields: Vec<Input>,
}

/// How much of nested objects becomes fields.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    /// The levels of objects.
    pub(super) levels: usize,
    /// Whether inputs may have defaults: a value that is always sent changes what is stored.
    pub(super) defaults: bool,
}

impl Input {
    /// An input of a schema. `path`: the schemas that it is within.
    pub(super) fn of(name: &str, node: Option<Node<'_>>, required: bool, detail: Detail) -> Self {
        Self::within(name, node, required, detail, &mut Vec::new())
    }

    fn within(name: &str, node: Option<Node<'_>>, required: bool, detail: Detail, path: &mut Vec<*const Json>) -> Self {
        let shape = Shape::of(node);
        let kind = kind_of(&shape);
        let mut input = Self {
            name: name.to_owned(),
            kind,
            description: shape.description.and_then(|text| prose::short(text, prose::INPUT)),
            required,
            nullable: shape.nullable,
            default: None,
            allowed: Vec::new(),
            min: None,
            max: None,
            pattern: None,
            format: None,
            items: None,
            fields: Vec::new(),
        };
        input.limit(&shape);
        input.take_values(&shape, detail);
        let identity = node.and_then(Node::resolved).map(Node::identity);
        if identity.is_some_and(|own| path.contains(&own)) {
            return input;
        }
        path.extend(identity);
        match kind {
            "array" => {
                let items = shape.items.map(|items| Self::within("", Some(items), true, detail, path));
                input.items = items.map(|items| Box::new(Self { default: None, description: None, ..items }));
            }
            "object" if detail.levels > 0 => {
                let below = Detail { levels: detail.levels - 1, defaults: false };
                let mut taken: Vec<&str> = Vec::new();
                for (name, property) in &shape.properties {
                    if !is_field(name) || is_read_only(*property) || taken.contains(name) {
                        // An object whose fields are not all known takes any.
                        if !is_field(name) {
                            input.fields.clear();
                            break;
                        }
                        continue;
                    }
                    taken.push(name);
                    input.fields.push(Self::within(name, Some(*property), shape.required.contains(name), below, path));
                }
            }
            _ => {}
        }
        if identity.is_some() {
            path.pop();
        }
        input
    }

    fn limit(&mut self, shape: &Shape<'_>) {
        let (min, max) = match self.kind {
            "int" | "float" => (shape.min, shape.max),
            "string" => (shape.min_length, shape.max_length),
            "array" => (shape.min_items, shape.max_items),
            _ => (None, None),
        };
        let is_whole = self.kind != "float";
        let is_size = matches!(self.kind, "string" | "array");
        let usable =
            |bound: &f64| bound.is_finite() && bound.abs() <= EXACT && (!is_whole || bound.fract() == 0.0) && (!is_size || *bound >= 0.0);
        let (min, max) = (min.filter(usable).filter(|min| !is_size || *min > 0.0), max.filter(usable));
        if !matches!((min, max), (Some(min), Some(max)) if min > max) {
            (self.min, self.max) = (min, max);
        }
        if self.kind == "string" {
            let is_known = |text: &&str| {
                text.len() <= MAX_PATTERN && !text.contains("{{") && Pattern::parse(text).is_ok_and(|pattern| pattern.matcher().is_ok())
            };
            self.pattern = shape.pattern.filter(is_known).map(str::to_owned);
            self.format = FORMATS.into_iter().find(|known| Some(*known) == shape.format);
        }
    }

    fn take_values(&mut self, shape: &Shape<'_>, detail: Detail) {
        let kind = self.kind;
        let fits = move |value: &Json| match kind {
            // Double braces would be a placeholder.
            "string" => value.as_str().is_some_and(|text| !text.contains("{{")),
            "int" => value.as_i64().is_some_and(|number| number.unsigned_abs() <= EXACT as u64),
            "float" => value.is_number(),
            "boolean" => value.is_boolean(),
            _ => false,
        };
        let mut allowed: Vec<Json> = Vec::new();
        for value in shape.allowed.iter().flatten().copied().filter(|value| fits(value)) {
            if !allowed.contains(value) {
                allowed.push(value.clone());
            }
        }
        let is_short = allowed.len() <= MAX_VALUES && allowed.iter().map(|value| value.to_string().len()).sum::<usize>() <= MAX_VALUE_BYTES;
        // One value is what every truth value is listed with.
        if is_short && kind != "boolean" {
            self.allowed = allowed;
        } else if !allowed.is_empty() && kind != "boolean" {
            let some: Vec<String> = allowed.iter().take(3).map(shown).collect();
            self.add(&format!("One of {} values, such as {}.", allowed.len(), some.join(", ")));
        }
        let Some(default) = shape.default.filter(|default| fits(default)) else { return };
        let is_listed = self.allowed.is_empty() || self.allowed.contains(default);
        let is_long = default.as_str().is_some_and(|text| text.len() > 100);
        let is_within =
            default.as_f64().is_none_or(|number| self.min.is_none_or(|min| number >= min) && self.max.is_none_or(|max| number <= max));
        // A text that its own limits refuse is a mistake of the specification.
        let is_free = !default.is_string() || self.pattern.is_none() && self.format.is_none() && self.min.is_none() && self.max.is_none();
        if self.required || !is_listed || is_long || !is_within || default.as_str().is_some_and(str::is_empty) {
            return;
        }
        if detail.defaults && is_free {
            self.default = Some(default.clone());
        } else {
            self.add(&format!("Default: {}.", shown(default)));
        }
    }

    /// Adds a sentence to the description.
    pub(super) fn add(&mut self, sentence: &str) {
        self.description = Some(match self.description.take() {
            Some(text) if text.ends_with(['.', '!', '?', ':', '…']) => format!("{text} {sentence}"),
            Some(text) => format!("{text}. {sentence}"),
            None => sentence.to_owned(),
        });
    }

    /// The only value that it can have, where it has to have one.
    pub(super) fn only_value(&self) -> Option<&Json> {
        match self.allowed.as_slice() {
            [only] if self.required => Some(only),
            _ => None,
        }
    }

    /// A text whose elements stand between `separator`, instead of a list.
    pub(super) fn into_text(mut self, separator: &str) -> Self {
        let values: Vec<String> = self.items.iter().flat_map(|items| &items.allowed).map(shown).collect();
        self.add(&format!("Several values with `{separator}` between."));
        if !values.is_empty() {
            self.add(&format!("Values: {}.", values.join(", ")));
        }
        Self { kind: "string", items: None, fields: Vec::new(), min: None, max: None, allowed: Vec::new(), default: None, ..self }
    }

    /// A text, whatever it was.
    pub(super) fn into_string(self) -> Self {
        Self {
            kind: "string",
            items: None,
            fields: Vec::new(),
            min: None,
            max: None,
            allowed: Vec::new(),
            default: None,
            nullable: false,
            ..self
        }
    }

    /// For a place that takes a text, a number, a truth value or a list of them.
    pub(super) fn into_plain(self) -> Self {
        match self.kind {
            "json" | "object" => self.into_string(),
            "array" => {
                let plain = |items: Box<Self>| Box::new(items.into_plain());
                let text = || Box::new(Self::of("", None, true, Detail { levels: 0, defaults: false }).into_string());
                Self { items: Some(self.items.map_or_else(text, plain)), nullable: false, ..self }
            }
            _ => Self { nullable: false, ..self },
        }
    }

    /// What gives it a value on a command line.
    pub(super) fn example(&self) -> String {
        let value = match (self.allowed.first(), self.kind) {
            (Some(Json::String(text)), _) if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) => {
                text.clone()
            }
            (_, "int" | "float") => self.min.unwrap_or(1.0).to_string(),
            (_, "boolean") => "true".to_owned(),
            (_, "array") => return format!("{}:=[]", self.name),
            (_, "object" | "json") => return format!("{}:={{}}", self.name),
            _ => "VALUE".to_owned(),
        };
        format!("{}={value}", self.name)
    }

    /// Its lines in a file, `indent` blanks from the left.
    pub(super) fn lines(&self, indent: usize) -> String {
        let blanks = " ".repeat(indent);
        let name = yaml::word(&self.name);
        if !self.is_nested() {
            return format!("{blanks}{name}: {{ {} }}\n", self.keys().join(", "));
        }
        format!("{blanks}{name}:\n{}", self.block(indent + 2))
    }

    fn block(&self, indent: usize) -> String {
        let blanks = " ".repeat(indent);
        let mut text: String = self.keys().iter().map(|key| format!("{blanks}{key}\n")).collect();
        if let Some(items) = self.items.as_ref().filter(|items| items.is_nested()) {
            text.push_str(&format!("{blanks}items:\n{}", items.block(indent + 2)));
        }
        if !self.fields.is_empty() {
            text.push_str(&format!("{blanks}fields:\n"));
            text.extend(self.fields.iter().map(|field| field.lines(indent + 2)));
        }
        text
    }

    fn is_nested(&self) -> bool {
        !self.fields.is_empty() || self.items.as_ref().is_some_and(|items| items.is_nested())
    }

    /// The keys but those of nested objects.
    fn keys(&self) -> Vec<String> {
        let mut keys = vec![format!("type: {}", self.kind)];
        match &self.default {
            Some(default) => keys.push(format!("default: {}", scalar(default))),
            None if !self.required => keys.push("optional: true".to_owned()),
            None => {}
        }
        if self.nullable {
            keys.push("nullable: true".to_owned());
        }
        if !self.allowed.is_empty() {
            keys.push(format!("enum: [{}]", self.allowed.iter().map(scalar).collect::<Vec<_>>().join(", ")));
        }
        for (name, bound) in [("min", self.min), ("max", self.max)] {
            keys.extend(bound.map(|bound| format!("{name}: {bound}")));
        }
        keys.extend(self.pattern.as_ref().map(|pattern| format!("pattern: {}", yaml::quoted(pattern))));
        keys.extend(self.format.map(|format| format!("format: {format}")));
        if let Some(items) = self.items.as_ref().filter(|items| !items.is_nested()) {
            keys.push(format!("items: {{ {} }}", items.keys().join(", ")));
        }
        keys.extend(self.description.as_ref().map(|text| format!("description: {}", yaml::quoted(text))));
        keys
    }
}

/// The word of an app for what a schema describes.
pub(super) fn kind_of(shape: &Shape<'_>) -> &'static str {
    if shape.is_choice && shape.properties.is_empty() {
        return "json";
    }
    match shape.types.iter().copied().collect::<Vec<_>>().as_slice() {
        ["string"] => "string",
        ["integer"] => "int",
        ["number"] | ["integer", "number"] => "float",
        ["boolean"] => "boolean",
        ["array"] => "array",
        ["object"] => "object",
        [] if shape.allowed.as_ref().is_some_and(|allowed| allowed.iter().all(|value| value.is_string())) => "string",
        [] if shape.pattern.is_some() || shape.format.is_some() => "string",
        _ => "json",
    }
}

/// Whether a field of an object can have the name. Some clients take none that begins with `_`.
pub(super) fn is_field(name: &str) -> bool {
    !name.starts_with('_') && names::of_input(name, "input", MAX_NAME, &[]) == name
}

/// Whether a property is only in answers.
pub(super) fn is_read_only(property: Node<'_>) -> bool {
    property.is("readOnly") || property.resolved().is_some_and(|found| found.is("readOnly"))
}

/// A value as a description says it.
fn shown(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("`{}`", text.replace("{{", "{ {").replace("}}", "} }")))
}

/// A value in YAML.
fn scalar(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), yaml::word)
}
