//! `inputs`: what a tool takes, and the JSON Schema that says so.

use std::ops::Range;

use millrace_core::app::{Input, InputKind, Literal, Pattern};

use crate::{
    compiler::Compiler,
    field::{Field, Record, Shape},
    names::{is_header_token, is_input_name, one_of},
    placeholder::{self, Piece},
    portable::is_key,
    scope::PathScope,
    yaml::{Data, Document, Node},
};

mod literal;
pub(crate) mod schema;

/// One of `inputs`
pub(crate) static INPUT: Record = Record {
    name: "input",
    noun: "an input",
    doc: "One input of a tool, one field of an object, or the element of an array.",
    fields: &[
        Field::new("type", Shape::Word(&KIND_WORDS), "The type.").required(),
        Field::new("description", Shape::Text, "What it means, for the model that fills it in."),
        Field::new("optional", Shape::Bool, "May be omitted; a statement then binds `NULL`.").default("false"),
        Field::new("default", Shape::Any, "The value that is used if it is omitted. An input with a default may always be omitted."),
        Field::new(
            "nullable",
            Shape::Bool,
            "Whether `null` is a value of it. Leaving it out is then `null`, unless it is optional or has a default.",
        )
        .default("false"),
        Field::new("enum", Shape::List(&Shape::Any), "The only values that are allowed."),
        Field::new(
            "min",
            Shape::Number,
            "Numbers: the minimum value. Strings: the minimum number of characters. Arrays: the minimum \
                                          number of elements.",
        ),
        Field::new(
            "max",
            Shape::Number,
            "Numbers: the maximum value. Strings: the maximum number of characters. Arrays: the maximum \
                                          number of elements.",
        ),
        Field::new("pattern", Shape::Text, "A regular expression that must match part of the string; anchor it with `^` and `$`."),
        Field::new("format", Shape::Word(&FORMATS), "A format that the string must have."),
        Field::new("items", Shape::Record(&INPUT), "The element of an array."),
        Field::new("fields", Shape::Map(&Shape::Record(&INPUT)), "The fields of an object. Without them, it may have any."),
        Field::new("examples", Shape::List(&Shape::Any), "Example values, for the model."),
        Field::new("header", Shape::Text, "Clients send the value also as the header `Mcp-Param-<this>` (`x-mcp-header`), for routing."),
    ],
};

const KINDS: [InputKind; 10] = [
    InputKind::String,
    InputKind::Int,
    InputKind::Float,
    InputKind::Boolean,
    InputKind::Datetime,
    InputKind::Date,
    InputKind::Uuid,
    InputKind::Array,
    InputKind::Object,
    InputKind::Json,
];

const KIND_WORDS: [&str; 10] = {
    let mut words = [""; 10];
    let mut index = 0;
    while index < words.len() {
        words[index] = KINDS[index].as_str();
        index += 1;
    }
    words
};

const FORMATS: [&str; 9] = ["email", "uri", "hostname", "ipv4", "ipv6", "uuid", "date", "time", "date-time"];

/// An input, and its part of `inputSchema`.
pub(crate) struct DeclaredInput {
    /// The input.
    pub(crate) input: Input,
    /// Its JSON Schema.
    pub(crate) schema: serde_json::Value,
}

impl Compiler<'_> {
    /// Reads `inputs`, in declared order.
    pub(crate) fn inputs(&mut self, document: &Document, node: Option<&Node>) -> Vec<DeclaredInput> {
        let mut headers: Vec<String> = Vec::new();
        self.fields(document, node, "inputs", &mut Some(&mut headers))
    }

    fn fields(
        &mut self,
        document: &Document,
        node: Option<&Node>,
        path: &str,
        headers: &mut Option<&mut Vec<String>>,
    ) -> Vec<DeclaredInput> {
        let mut declared = Vec::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            if !is_input_name(&entry.key) || !is_key(&entry.key) {
                let help = "A name begins with a letter or `_`; letters, digits, `_` and `-` follow, 64 at most: clients refuse others.";
                self.error(document, entry.key_range.clone(), format!("`{}` is not a valid name for an input", entry.key), help);
            }
            let path = format!("{path}.{}", entry.key);
            declared.push(self.input(document, &entry.value, &entry.key, &path, headers));
        }
        declared
    }

    fn input(&mut self, document: &Document, node: &Node, name: &str, path: &str, headers: &mut Option<&mut Vec<String>>) -> DeclaredInput {
        let word = node.text_at("type").unwrap_or("json");
        let kind = KINDS.into_iter().find(|kind| kind.as_str() == word).unwrap_or(InputKind::Json);
        let known = node.at("type").is_some();
        if known {
            self.misfits(document, node, kind, path);
        }
        let items = node.at("items").filter(|_| kind == InputKind::Array);
        let items = items.map(|items| self.input(document, items, "", &format!("{path}.items"), &mut None));
        let fields = node.at("fields").filter(|_| kind == InputKind::Object);
        let fields = self.fields(document, fields, &format!("{path}.fields"), headers);
        let (item_schema, field_schemas): (Option<serde_json::Value>, Vec<serde_json::Value>) =
            (items.as_ref().map(|items| items.schema.clone()), fields.iter().map(|field| field.schema.clone()).collect());
        let mut input = Input {
            name: name.to_owned(),
            kind,
            optional: node.bool_at("optional").unwrap_or(false),
            nullable: node.bool_at("nullable").unwrap_or(false),
            default: None,
            allowed: Vec::new(),
            min: node.at("min").and_then(Node::number),
            max: node.at("max").and_then(Node::number),
            pattern: None,
            format: node.text_at("format").map(String::from),
            items: items.map(|items| Box::new(items.input)),
            fields: fields.into_iter().map(|field| field.input).collect(),
            header: None,
        };
        self.bounds(document, node, &input, path);
        input.pattern = self.pattern(document, node, path);
        input.header = self.header(document, node, kind, path, headers);
        if known {
            input.allowed = self.values(document, node.at("enum"), &input, path, "enum");
            self.examples(document, node, &input, path);
            input.default = self.default_value(document, node, &input, path);
            // Clients see an input that they may leave out: no type that all of them know has
            // `null`.
            if input.nullable && !input.optional && node.entry("default").is_none() && !name.is_empty() {
                input.default = Some(Literal(serde_json::Value::Null));
            }
        }
        let examples = node.at("examples").map(|examples| examples.items().iter().map(Node::json).collect()).unwrap_or_default();
        let described = schema::SchemaAnnotations { description: node.text_at("description"), examples, item_schema, field_schemas };
        let schema = schema::of(&input, described);
        DeclaredInput { input, schema }
    }

    /// Notes keywords that the type does not have.
    fn misfits(&mut self, document: &Document, node: &Node, kind: InputKind, path: &str) {
        let numbers_and_sizes: &[InputKind] = &[InputKind::Int, InputKind::Float, InputKind::String, InputKind::Array];
        let keywords: [(&str, &[InputKind]); 6] = [
            ("min", numbers_and_sizes),
            ("max", numbers_and_sizes),
            ("pattern", &[InputKind::String]),
            ("format", &[InputKind::String]),
            ("items", &[InputKind::Array]),
            ("fields", &[InputKind::Object]),
        ];
        for (keyword, kinds) in keywords {
            let Some(entry) = node.entry(keyword).filter(|_| !kinds.contains(&kind)) else { continue };
            let words: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            let message = format!("`{path}.{keyword}` has no meaning for the type `{}`", kind.as_str());
            self.error(document, entry.key_range.clone(), message, format!("It is for {}.", one_of(&words)));
        }
    }

    fn bounds(&mut self, document: &Document, node: &Node, input: &Input, path: &str) {
        if let (Some(min), Some(max)) = (input.min, input.max)
            && min > max
        {
            self.error(document, range_of(node, "min"), format!("`{path}.min` is greater than `{path}.max`"), "Swap them.");
        }
        for (keyword, bound) in [("min", input.min), ("max", input.max)] {
            let Some(bound) = bound else { continue };
            let sized = matches!(input.kind, InputKind::String | InputKind::Array);
            if sized && (bound < 0.0 || bound.fract() != 0.0) {
                self.error(document, range_of(node, keyword), format!("`{path}.{keyword}` must be a whole number from 0"), "");
            }
            if input.kind == InputKind::Int && bound.fract() != 0.0 {
                self.error(document, range_of(node, keyword), format!("`{path}.{keyword}` must be a whole number"), "");
            }
        }
    }

    fn pattern(&mut self, document: &Document, node: &Node, path: &str) -> Option<Pattern> {
        let parsed = Pattern::parse(node.text_at("pattern")?);
        let why = match parsed.and_then(|pattern| pattern.matcher().map(|_| pattern)) {
            Ok(pattern) => return Some(pattern),
            Err(error) => error.to_string(),
        };
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let message = format!("`{path}.pattern` is not a regular expression that can be checked: {why}");
        let help = "Look-around and back-references are not supported.";
        self.error(document, range_of(node, "pattern"), message, help);
        None
    }

    fn header(
        &mut self,
        document: &Document,
        node: &Node,
        kind: InputKind,
        path: &str,
        headers: &mut Option<&mut Vec<String>>,
    ) -> Option<String> {
        let header = node.text_at("header")?;
        let range = range_of(node, "header");
        let Some(headers) = headers else {
            self.error(document, range, format!("`{path}.header` cannot be inside an array"), "Only inputs and fields have headers.");
            return None;
        };
        if !is_header_token(header) {
            self.error(document, range, format!("`{header}` is not a valid name for a header"), "Use letters, digits and `-`.");
            return None;
        }
        if matches!(kind, InputKind::Array | InputKind::Object | InputKind::Json | InputKind::Float) {
            let message = format!("`{path}.header` has no meaning for the type `{}`", kind.as_str());
            self.error(document, range, message, "Headers carry text, whole numbers and truth values.");
            return None;
        }
        if headers.iter().any(|other| other.eq_ignore_ascii_case(header)) {
            self.error(document, range, format!("the header `{header}` appears twice"), "Each input needs a header of its own.");
            return None;
        }
        headers.push(header.to_owned());
        Some(header.to_owned())
    }

    fn values(&mut self, document: &Document, list: Option<&Node>, input: &Input, path: &str, keyword: &str) -> Vec<Literal> {
        let mut values: Vec<Literal> = Vec::new();
        let Some(list) = list else { return values };
        if list.items().is_empty() {
            self.error(document, list.range.clone(), format!("`{path}.{keyword}` is empty"), "Remove it, or list the values.");
        }
        for item in list.items() {
            let Some(value) = self.literal(document, item, input, &format!("{path}.{keyword}")) else { continue };
            if values.iter().any(|other| other.0 == value) {
                self.error(document, item.range.clone(), format!("`{path}.{keyword}` has a value twice"), "Remove one of them.");
                continue;
            }
            values.push(Literal(value));
        }
        values
    }

    fn examples(&mut self, document: &Document, node: &Node, input: &Input, path: &str) {
        for item in node.at("examples").map(Node::items).unwrap_or_default() {
            self.literal(document, item, input, &format!("{path}.examples"));
        }
    }

    fn default_value(&mut self, document: &Document, node: &Node, input: &Input, path: &str) -> Option<Literal> {
        let default = &node.entry("default")?.value;
        // Hyperterse keeps defaults as text, and an empty one is none.
        if self.imported && matches!(&default.data, Data::Text(text) if text.is_empty()) {
            return None;
        }
        if matches!(default.data, Data::Wrong) {
            return None;
        }
        if matches!(default.data, Data::Null) && !input.nullable {
            let help = "Remove it; `optional: true` lets the input be left out.";
            self.error(document, range_of(node, "default"), format!("`{path}.default` has no value"), help);
            return None;
        }
        self.literal(document, default, input, &format!("{path}.default")).map(Literal)
    }

    /// A value of the type of an input, as JSON.
    fn literal(&mut self, document: &Document, node: &Node, input: &Input, path: &str) -> Option<serde_json::Value> {
        let value = if self.imported { literal::coerced(node, input.kind) } else { node.json() };
        let value = literal::normal(value, input);
        match literal::check(&value, input, path) {
            Ok(()) => Some(value),
            Err((message, help)) => {
                self.error(document, node.range.clone(), message, help);
                None
            }
        }
    }
}

/// Whether what an author writes for an input fits it, as far as a literal and the type of a
/// placeholder tell; else what is wrong, and how to mend it.
pub(crate) fn fits(node: &Node, input: &Input, scope: &PathScope, path: &str) -> Result<(), (String, String)> {
    if let Some(text) = node.text()
        && let (pieces, problems) = placeholder::scan(text)
        && let ([Piece::Placeholder(placeholder)], []) = (pieces.as_slice(), problems.as_slice())
    {
        let Some(Ok(found)) = scope.named(&placeholder.path.join(".")) else { return Ok(()) };
        let Some(noun) = found.noun() else { return Ok(()) };
        let takes: &[&str] = match input.kind {
            InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid => &["a string"],
            InputKind::Int | InputKind::Float => &["a number", "a string"],
            InputKind::Boolean => &["a boolean", "a number", "a string"],
            InputKind::Array => &["a list"],
            InputKind::Object => &["an object"],
            InputKind::Json => return Ok(()),
        };
        return match takes.contains(&noun) {
            true => Ok(()),
            false => {
                let message = format!("`{path}` is {noun}, and the input `{}` has the type `{}`", input.name, input.kind.as_str());
                Err((message, "Use a value of that type.".to_owned()))
            }
        };
    }
    let value = node.json();
    if value.to_string().contains("{{") {
        return Ok(());
    }
    literal::check(&literal::normal(value, input), input, path)
}

/// Where the value of a keyword stands.
fn range_of(node: &Node, keyword: &str) -> Range<usize> {
    node.entry(keyword)
        .map_or(node.range.clone(), |entry| if entry.value.range.is_empty() { entry.key_range.clone() } else { entry.value.range.clone() })
}
