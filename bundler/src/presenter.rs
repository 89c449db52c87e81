//! `app/presenters/*.yaml`, and `returns` of the tools: what a model sees of a result.
//!
//! A presenter is checked against its own schema: a path that leads nowhere, a comparison that
//! never holds and a redaction that can match nothing are mistakes of the app.

use std::collections::BTreeMap;

use millrace_core::app::{FORMAT_INPUT, Input, InputKind, Literal, OnMismatch, Presenter, SELECT_INPUT, TextFormat, UnknownFields};
use serde_json::{Value, json};

use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape},
    input::DeclaredInput,
    names::{is_name, meant},
    portable::{is_key, of_result},
    scope::{IN_PRESENTER, PathScope},
    tree::{is_yaml, stem},
    yaml::{Document, Node},
};

mod field;
mod known;
mod limit;
mod redaction;
mod tell;

pub(crate) use known::Presenters;
pub(crate) use redaction::is_redacted;

use limit::{LIMIT_SHAPE, limit, whole};
use tell::WantedAction;

/// `app/presenters/*.yaml`
pub(crate) static PRESENTER: Record = Record {
    name: "presenter",
    noun: "a presenter",
    doc: "What a model sees of a result: which fields, what of them is redacted, what it should know, show and do next.",
    fields: &[
        DESCRIPTION,
        Field::new("schema", Shape::Map(&Shape::Record(&field::PRESENTED_FIELD)), "The fields of an item, by name.").required(),
        UNKNOWN,
        ON_MISMATCH,
        ITEMS,
        LIMIT,
        REDACT,
        AUTO_RULES,
        RULES,
        RULES_MAX,
        COLLECTION_RULES,
        UI,
        ACTIONS,
        SELECT,
        FORMAT,
        STRUCTURED,
    ],
};

/// `returns` of a tool, as a map.
pub(crate) static RETURNS: Record = Record {
    name: "returns",
    noun: "`returns`",
    doc: "The presenter of a tool: one of the app's with other limits, or one of its own.",
    fields: &[
        Field::new(
            "use",
            Shape::Text,
            "The presenter, by its file's name. Only `limit`, `select`, `format`, `structured` and `rules_max` may stand beside it.",
        )
        .names(Named::Presenter),
        DESCRIPTION,
        Field::new("schema", Shape::Map(&Shape::Record(&field::PRESENTED_FIELD)), "The fields of an item, by name."),
        UNKNOWN,
        ON_MISMATCH,
        ITEMS,
        LIMIT,
        REDACT,
        AUTO_RULES,
        RULES,
        RULES_MAX,
        COLLECTION_RULES,
        UI,
        ACTIONS,
        SELECT,
        FORMAT,
        STRUCTURED,
    ],
};

const DESCRIPTION: Field = Field::new("description", Shape::Text, "What the result is, in the `outputSchema` of the tools.");
const UNKNOWN: Field = Field::new(
    "unknown",
    Shape::Word(&["strip", "reject", "keep"]),
    "Members that the schema does not have: they are left out, they fail the call, or they stay.",
)
.default("strip");
const ON_MISMATCH: Field = Field::new(
    "on_mismatch",
    Shape::Word(&["error", "drop_item"]),
    "An item that does not match the schema fails the call, or is left out with a notice.",
)
.default("error");
const ITEMS: Field =
    Field::new("items", Shape::Text, "The member of a result that holds the list of items: `rows`. Other members are left out.");
const LIMIT: Field = Field::new("limit", LIMIT_SHAPE, "How many items of a list are shown: a number, or a map.");
static REDACT: Field =
    Field::new("redact", Shape::List(&Shape::Record(&redaction::REDACTION)), "What is replaced before anything is written.");
const AUTO_RULES: Field =
    Field::new("auto_rules", Shape::Bool, "Whether a described field is a rule: `amount_cents: Value in cents`.").default("true");
static RULE_SHAPES: [Shape; 2] = [Shape::Text, Shape::Record(&tell::RULE)];
static RULES: Field = Field::new(
    "rules",
    Shape::List(&Shape::OneOf(&RULE_SHAPES)),
    "What the model must know; with `{{ item.… }}` or `when` over `item`, for each shown item, without duplicates.",
)
.sees(IN_PRESENTER);
const RULES_MAX: Field =
    Field::new("rules_max", Shape::Int(0, 1000), "How many rules that depend on items a result has at most.").default("20");
static COLLECTION_RULES: Field =
    Field::new("collection_rules", Shape::List(&Shape::OneOf(&RULE_SHAPES)), "Rules for results that are lists, over `items`.")
        .sees(IN_PRESENTER);
static UI: Field = Field::new("ui", Shape::List(&Shape::Record(&tell::UI)), "Blocks for people.");
static ACTIONS: Field = Field::new("actions", Shape::List(&Shape::Record(&tell::ACTION)), "Tools to call next.");
const SELECT: Field =
    Field::new("select", Shape::Bool, "Whether callers may name the fields that they want, with the input `select`.").default("false");
const FORMAT: Field = Field::new(
    "format",
    Shape::Word(&["json", "toon", "input"]),
    "How the data is written as text. `input`: as the optional input `format` says, `json` or `toon`.",
)
.default("json");

const STRUCTURED: Field = Field::new(
    "structured",
    Shape::Bool,
    "Whether the data is sent as structured content, too, with the schema as `outputSchema`. Some clients show a model nothing but structured content where there is any.",
)
.default("true");

/// What `returns` makes of a tool.
pub(crate) struct Returned {
    /// The presenter's place.
    pub(crate) place: u32,
    /// The schema of the result before what is hidden becomes visible, where the data is sent as
    /// structured content.
    pub(crate) schema: Option<Value>,
    /// The inputs that it adds.
    pub(crate) inputs: Vec<DeclaredInput>,
}

/// Reads the presenters of the app's folder.
pub(crate) fn read_all(compiler: &mut Compiler<'_>, folder: &str) -> Presenters {
    let mut documents: BTreeMap<String, Document> = BTreeMap::new();
    let mut presenters = Presenters::default();
    for file in compiler.tree.list(folder).into_iter().filter(|file| is_yaml(&file.name)) {
        let name = stem(&file.name).to_owned();
        let Some(document) = compiler.document(&file.path, &PRESENTER) else {
            presenters.broken.insert(name);
            continue;
        };
        if !is_name(&name) {
            let help = "A name begins with a letter; letters, digits, `_` and `-` follow. Rename the file.";
            compiler.error(&document, 0..0, format!("`{name}` is not a valid name for a presenter"), help);
        }
        if let Some(other) = documents.insert(name.clone(), document.clone()) {
            let help = format!("The other one is {}. Rename one of them.", other.source.path);
            compiler.error(&document, 0..0, format!("there are two presenters `{name}`"), help);
        }
    }
    let mut reading = Vec::new();
    for name in documents.keys() {
        read_named(compiler, &mut presenters, &documents, name, &mut reading);
    }
    presenters.files = documents.into_iter().collect();
    presenters
}

/// Reads a presenter after those that it embeds.
fn read_named(
    compiler: &mut Compiler<'_>,
    presenters: &mut Presenters,
    documents: &BTreeMap<String, Document>,
    name: &str,
    reading: &mut Vec<String>,
) {
    let Some(document) = documents.get(name) else { return };
    if presenters.names.contains_key(name) || presenters.broken.contains(name) {
        return;
    }
    reading.push(name.to_owned());
    for (child, range) in field::embedded(document.root.at("schema")) {
        if let Some(at) = reading.iter().position(|known| *known == child) {
            let circle: Vec<String> = reading[at..].iter().chain([&child]).map(|name| format!("`{name}`")).collect();
            let message = format!("the presenter embeds itself: {}", circle.join(" → "));
            compiler.error(document, range, message, "Give the innermost field its own `fields` instead of `returns`.");
            presenters.broken.insert(name.to_owned());
        } else {
            read_named(compiler, presenters, documents, &child, reading);
        }
    }
    reading.pop();
    if presenters.broken.contains(name) {
        return;
    }
    match presenters.read(compiler, document, &document.root, name) {
        Some(place) => drop(presenters.names.insert(name.to_owned(), place)),
        None => drop(presenters.broken.insert(name.to_owned())),
    }
}

impl Presenters {
    /// Reads one presenter, and adds it.
    fn read(&mut self, compiler: &mut Compiler<'_>, document: &Document, node: &Node, name: &str) -> Option<u32> {
        let Some(schema) = node.at("schema") else {
            if node.entry("schema").is_none() && node.entry("use").is_none() {
                let help = "Write `schema:` with the fields that a model may see, or `use:` with the name of a presenter.";
                compiler.error(document, node.range.clone(), "`returns` has neither `schema` nor `use`", help);
            }
            return None;
        };
        let unknown = match node.text_at("unknown") {
            Some("reject") => UnknownFields::Reject,
            Some("keep") => UnknownFields::Keep,
            _ => UnknownFields::Strip,
        };
        let fields = field::read(compiler, document, schema, self);
        let select = node.bool_at("select").unwrap_or(false);
        let mut item = field::schema_of(&fields, unknown, self);
        if select && let Some(item) = item.as_object_mut() {
            // A caller may leave out any of them.
            item.remove("required");
        }
        let redact = redaction::read(compiler, document, node, &mut item);
        let scope = PathScope::of_presenter(&item);
        let mut rules = Vec::new();
        if node.bool_at("auto_rules").unwrap_or(true) {
            rules.extend(field::described(&fields, ""));
        }
        rules.extend(tell::rules(compiler, document, node.at("rules"), &scope));
        let collection = scope.without("item");
        let collection_rules = tell::rules(compiler, document, node.at("collection_rules"), &collection);
        let place = u32::try_from(self.list.len()).ok()?;
        let (actions, wanted) = tell::actions(compiler, document, node.at("actions"), &scope, place);
        let presenter = Presenter {
            name: name.to_owned(),
            items: node.text_at("items").map(String::from),
            fields: fields.into_iter().map(|field| field.field).collect(),
            unknown,
            on_mismatch: if node.text_at("on_mismatch") == Some("drop_item") { OnMismatch::DropItem } else { OnMismatch::Error },
            limit: None,
            redact,
            rules,
            rules_max: node.at("rules_max").and_then(whole).unwrap_or(20),
            collection_rules,
            ui: tell::ui(compiler, document, node.at("ui"), &scope),
            actions,
            select,
            format: format(node),
            structured: node.bool_at("structured").unwrap_or(true),
        };
        let presenter = Presenter { limit: node.at("limit").map(|node| limit(compiler, document, node, Some(&presenter))), ..presenter };
        self.actions.extend(wanted);
        self.list.push(presenter);
        self.schemas.push(item);
        self.descriptions.push(node.text_at("description").map(String::from));
        Some(place)
    }

    /// Reads `returns` of a tool. `rows`: whether the result is always a list.
    pub(crate) fn returns(
        &mut self,
        compiler: &mut Compiler<'_>,
        document: &Document,
        tool: &str,
        declared: &[DeclaredInput],
        input_schema: Option<&Value>,
        rows: bool,
    ) -> Option<Returned> {
        let node = document.root.at("returns")?;
        if let Some(output) = document.root.entry("output") {
            let help = "Keep `returns`, whose schema clients see as `outputSchema`; or keep `output`.";
            compiler.error(document, output.key_range.clone(), "the tool has both `returns` and `output`", help);
        }
        let place = match (node.text(), node.at("use")) {
            (Some(_), _) => self.find(compiler, document, node)?,
            (None, Some(used)) => self.changed(compiler, document, node, used)?,
            (None, None) => self.read(compiler, document, node, tool)?,
        };
        let presenter = self.list.get(place as usize)?;
        if let Some(cursor) = presenter.limit.as_ref().and_then(|limit| limit.cursor.as_ref())
            && input_schema.is_none()
            && !declared.iter().any(|declared| declared.input.name == cursor.input)
        {
            let names: Vec<&str> = declared.iter().map(|declared| declared.input.name.as_str()).collect();
            let message = format!(
                "the cursor of the presenter `{}` needs the input `{}`, which the tool does not have",
                presenter.name, cursor.input
            );
            compiler.error(document, node.range.clone(), message, meant(&cursor.input, &names, "The inputs are"));
        }
        if let Some(input) = presenter.limit.as_ref().and_then(|limit| limit.input.as_ref())
            && input_schema.is_none()
            && !declared.iter().any(|declared| declared.input.name == *input && declared.input.kind == InputKind::Int)
        {
            let names: Vec<&str> = declared
                .iter()
                .filter(|declared| declared.input.kind == InputKind::Int)
                .map(|declared| declared.input.name.as_str())
                .collect();
            let message = format!(
                "the limit of the presenter `{}` needs the input `{input}`, of the type `int`, which the tool does not have",
                presenter.name
            );
            compiler.error(document, node.range.clone(), message, meant(input, &names, "The inputs of the type `int` are"));
        }
        let inputs = added_inputs(presenter);
        for added in &inputs {
            let name = &added.input.name;
            let is_taken = match input_schema.map(|schema| &schema["properties"]) {
                Some(properties) => properties.get(name).is_some(),
                None => declared.iter().any(|declared| declared.input.name == *name),
            };
            if is_taken {
                let message = format!("the presenter `{}` adds the input `{name}`, which the tool has already", presenter.name);
                compiler.error(document, node.range.clone(), message, "Rename the tool's input.");
            }
        }
        let schema = presenter.structured.then(|| output_schema(presenter, self.schema(place), self.description(place), rows));
        Some(Returned { place, schema, inputs })
    }

    /// A presenter of the app with other limits.
    fn changed(&mut self, compiler: &mut Compiler<'_>, document: &Document, node: &Node, used: &Node) -> Option<u32> {
        let place = self.find(compiler, document, used)?;
        const BESIDE: [&str; 6] = ["use", "limit", "select", "format", "structured", "rules_max"];
        for entry in node.entries().iter().filter(|entry| !BESIDE.contains(&entry.key.as_str())) {
            let message = format!("`returns.{}` cannot stand beside `use`", entry.key);
            let help = "Change the presenter's file, or write the presenter in the tool, without `use`.";
            compiler.error(document, entry.key_range.clone(), message, help);
        }
        let mut presenter = self.list.get(place as usize)?.clone();
        let mut schema = self.schema(place).clone();
        if let Some(node) = node.at("limit") {
            presenter.limit = Some(limit(compiler, document, node, Some(&presenter)));
        }
        presenter.rules_max = node.at("rules_max").and_then(whole).unwrap_or(presenter.rules_max);
        if let Some(select) = node.bool_at("select") {
            presenter.select = select;
            if select && let Some(schema) = schema.as_object_mut() {
                schema.remove("required");
            }
        }
        presenter.structured = node.bool_at("structured").unwrap_or(presenter.structured);
        if node.at("format").is_some() {
            presenter.format = format(node);
        }
        let changed = u32::try_from(self.list.len()).ok()?;
        // The tools of its actions are looked for in the presenter that it comes from; these are
        // the same.
        let wanted: Vec<WantedAction> = self.actions.iter().filter(|wanted| wanted.presenter == place).cloned().collect();
        self.actions.extend(wanted.into_iter().map(|wanted| WantedAction { presenter: changed, is_copy: true, ..wanted }));
        self.list.push(presenter);
        self.schemas.push(schema);
        self.descriptions.push(self.description(place).map(String::from));
        Some(changed)
    }

    /// Looks for the tools of the actions, and warns of presenters that nothing uses.
    pub(crate) fn finish(&mut self, compiler: &mut Compiler<'_>, tools: &crate::tool_use::Tools) {
        for wanted in std::mem::take(&mut self.actions) {
            if let Some(tool) = wanted.tool(compiler, tools)
                && let Some(action) =
                    self.list.get_mut(wanted.presenter as usize).and_then(|presenter| presenter.actions.get_mut(wanted.action))
            {
                action.tool = tool;
            }
        }
        for (name, document) in std::mem::take(&mut self.files) {
            if self.names.get(&name).is_some_and(|place| !self.used.contains(place)) {
                compiler.warning(
                    &document,
                    0..0,
                    format!("no tool and no presenter uses the presenter `{name}`"),
                    "Use it, or remove the file.",
                );
            }
        }
    }
}

fn format(node: &Node) -> TextFormat {
    match node.text_at("format") {
        Some("toon") => TextFormat::Toon,
        Some("input") => TextFormat::Input,
        _ => TextFormat::Json,
    }
}

/// The inputs that a presenter adds to its tools.
fn added_inputs(presenter: &Presenter) -> Vec<DeclaredInput> {
    let input = |name: &str, kind, allowed: &[&str]| Input {
        name: name.to_owned(),
        kind,
        optional: true,
        nullable: false,
        default: None,
        allowed: allowed.iter().map(|word| Literal((*word).into())).collect(),
        min: None,
        max: None,
        pattern: None,
        format: None,
        items: None,
        fields: Vec::new(),
        header: None,
    };
    let mut added = Vec::new();
    if presenter.select {
        let names: Vec<&str> = presenter.fields.iter().map(|field| field.name.as_str()).collect();
        let schema = json!({
            "type": "array",
            "description": "The fields that the result should have; all of them without it.",
            "items": { "type": "string", "enum": names },
        });
        let items = Some(Box::new(input("", InputKind::String, &names)));
        added.push(DeclaredInput { input: Input { items, ..input(SELECT_INPUT, InputKind::Array, &[]) }, schema });
    }
    if presenter.format == TextFormat::Input {
        let words = ["json", "toon"];
        let description = "How the result is written: `toon` takes fewer tokens for tables; `json` without it.";
        let schema = json!({ "type": "string", "description": description, "enum": words });
        added.push(DeclaredInput { input: input(FORMAT_INPUT, InputKind::String, &words), schema });
    }
    added
}

/// `outputSchema` of a tool: a list of items; or an object whose member `result` is one item or a
/// list, where the tool decides. See
/// [`Tool::wraps_result`](millrace_core::app::Tool::wraps_result).
fn output_schema(presenter: &Presenter, item: &Value, description: Option<&str>, rows: bool) -> Value {
    let item = of_result(item);
    let described = |mut schema: Value| {
        if let (Some(schema), Some(text)) = (schema.as_object_mut(), description) {
            schema.insert("description".into(), text.into());
        }
        schema
    };
    let list = json!({ "type": "array", "items": item });
    if rows {
        return described(list);
    }
    let mut alternatives = vec![item, list.clone()];
    if let Some(key) = &presenter.items {
        let named = json!({ "type": "object", "properties": { key: list }, "required": [key], "additionalProperties": false });
        alternatives.push(if is_key(key) { named } else { json!({ "type": "object" }) });
    }
    json!({ "type": "object", "properties": { "result": described(json!({ "anyOf": alternatives })) }, "required": ["result"] })
}
