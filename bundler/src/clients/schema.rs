//! Schemas that authors write: what in them a client does not take.

use super::table::{Construct, Row, costs};
use crate::{
    compiler::Compiler,
    yaml::{Data, Document, Entry, Node},
};

/// Which schema it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// `json_schema`
    Inputs,
    /// `output`
    Output,
}

/// The longest name of a property.
pub(super) const LONGEST_NAME: usize = 64;
/// The keywords whose value is a schema.
const SCHEMA: [&str; 9] =
    ["not", "if", "then", "else", "contains", "propertyNames", "items", "additionalProperties", "unevaluatedProperties"];
/// The keywords whose value is a list of schemas.
const LIST: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
/// The keywords whose value is a map of schemas.
const MAP: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// With one of these, a schema says what its values are.
const SAYS_TYPE: [&str; 8] = ["type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "$ref"];

/// Whether every client takes it as a property's name: `^[A-Za-z0-9_.-]{1,64}$`.
#[must_use]
pub fn is_property_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// Whether a schema with these keywords says what its values are.
#[must_use]
pub fn says_type<'k>(mut keywords: impl Iterator<Item = &'k str>) -> bool {
    keywords.any(|keyword| SAYS_TYPE.contains(&keyword))
}

/// Warns of everything in a schema that a selected client does not take.
pub(crate) fn check(compiler: &mut Compiler<'_>, document: &Document, schema: &Node, side: Side) {
    let mut walk = Walk { compiler, document, side };
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(entry) = schema.entry(keyword) {
            walk.found(Construct::TopLevelChoice, entry.key_range.clone());
        }
    }
    if let Some(entry) = schema.entry("$schema") {
        walk.found(Construct::Dialect, entry.key_range.clone());
    }
    // Before 2026-07-28, an output that is not an object becomes a property of one.
    if side == Side::Inputs && schema.entry("properties").is_none() && matches!(schema.data, Data::Map(_)) {
        walk.found(Construct::NoProperties, schema.range.clone());
    }
    walk.schema(schema, true);
}

/// Warns of the names in `inputs` that a selected client does not take.
pub(crate) fn check_inputs(compiler: &mut Compiler<'_>, document: &Document, inputs: &Node, is_top: bool) {
    for entry in inputs.entries() {
        hidden_name(compiler, document, entry, is_top);
        let mut node = &entry.value;
        while let Some(items) = node.at("items") {
            node = items;
        }
        if let Some(fields) = node.at("fields") {
            check_inputs(compiler, document, fields, false);
        }
    }
}

/// Warns of a name that begins with `_`: some libraries make a class of a schema, in which such a
/// name is private.
fn hidden_name(compiler: &mut Compiler<'_>, document: &Document, property: &Entry, is_top: bool) {
    if !property.key.starts_with('_') {
        return;
    }
    let construct = if is_top { Construct::HiddenArgument } else { Construct::HiddenMember };
    let rows = compiler.clients.rows(construct);
    if !rows.is_empty() {
        let message = format!("{}: {}", construct.what(), costs(&rows, |_| String::new()));
        compiler.warning(document, property.key_range.clone(), message, construct.help());
    }
}

struct Walk<'a, 'b> {
    compiler: &'a mut Compiler<'b>,
    document: &'a Document,
    side: Side,
}

impl Walk<'_, '_> {
    fn found(&mut self, construct: Construct, range: std::ops::Range<usize>) {
        let all = self.compiler.clients.rows(construct);
        let of_outputs: Vec<_> = all.iter().copied().filter(|row| row.outputs).collect();
        let says = |rows: &[&Row]| costs(rows, |_| String::new());
        let said = match (self.side, of_outputs.is_empty()) {
            _ if all.is_empty() => return,
            (Side::Inputs, _) => says(&all),
            (Side::Output, false) => says(&of_outputs),
            (Side::Output, true) => format!("in an input schema, {}", says(&all)),
        };
        let message = format!("{}: {said}", construct.what());
        self.compiler.warning(self.document, range, message, construct.help());
    }

    /// Its depth is that of the file, which is limited.
    fn schema(&mut self, schema: &Node, is_top: bool) {
        for entry in schema.entries() {
            self.keyword(schema, entry);
            let (name, value) = (entry.key.as_str(), &entry.value);
            if SCHEMA.contains(&name) && matches!(value.data, Data::Map(_)) {
                self.schema(value, false);
            }
            if LIST.contains(&name) {
                value.items().iter().for_each(|schema| self.schema(schema, false));
            }
            if MAP.contains(&name) {
                value.entries().iter().for_each(|entry| self.schema(&entry.value, false));
            }
            if name == "properties" {
                value.entries().iter().for_each(|entry| self.property(entry, is_top));
            }
        }
    }

    fn property(&mut self, property: &Entry, is_top: bool) {
        if self.side == Side::Inputs {
            hidden_name(self.compiler, self.document, property, is_top);
        }
        if !is_property_name(&property.key) {
            self.found(Construct::PropertyName, property.key_range.clone());
        }
        let is_untyped = match &property.value.data {
            Data::Bool(true) => true,
            Data::Map(entries) => !says_type(entries.iter().map(|entry| entry.key.as_str())),
            _ => false,
        };
        if is_untyped {
            self.found(Construct::Untyped, property.key_range.clone());
        }
    }

    fn keyword(&mut self, schema: &Node, entry: &Entry) {
        let (value, range) = (&entry.value, entry.value.range.clone());
        match entry.key.as_str() {
            "type" => {
                let names = value.text().into_iter().chain(value.items().iter().filter_map(Node::text));
                if names.into_iter().any(|name| name == "array") && schema.entry("items").is_none() {
                    self.found(Construct::NoItems, range.clone());
                }
                if matches!(value.data, Data::List(_)) {
                    self.found(Construct::TypeList, range);
                }
            }
            "$ref" | "$dynamicRef" => self.found(Construct::Reference, entry.key_range.clone()),
            "exclusiveMinimum" | "exclusiveMaximum" => {
                let construct = if value.bool().is_some() { Construct::ExclusiveFlag } else { Construct::ExclusiveBound };
                self.found(construct, entry.key_range.clone());
            }
            "additionalProperties" if matches!(value.data, Data::Map(_)) => {
                self.found(Construct::AdditionalSchema, entry.key_range.clone());
            }
            "enum" if value.items().iter().any(|item| item.number().is_some()) => self.found(Construct::NumberEnum, range),
            "format" => match value.text() {
                Some("date-time") | None => {}
                Some(format) => {
                    if format == "email" {
                        self.found(Construct::EmailFormat, range.clone());
                    }
                    self.found(Construct::Format, range);
                }
            },
            _ => {}
        }
    }
}
