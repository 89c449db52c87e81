//! `rules`, `ui` and `actions` of a presenter.

use millrace_core::{
    app::{
        ActionTemplate, Literal, Piece, PresenterRule, Root, ShownFor, Source, Template, TemplatePart, Tool, UiTemplate, ValueTemplate,
        ValueText,
    },
    expression::{Expression, Step},
};

use crate::{
    compiler::Compiler,
    expression,
    field::{Field, Named, Record, Shape},
    input::fits,
    names::{meant, one_of},
    scope::{IN_PRESENTER, PathScope},
    tool_use::Tools,
    yaml::{Document, Entry, Node},
};

/// One of `rules`
pub(crate) static RULE: Record = Record {
    name: "presenter_rule",
    noun: "a rule",
    doc: "What the model must know, under a condition.",
    fields: &[
        Field::new("when", Shape::Text, "The condition: an expression over `item`, `items` and `auth`.").condition(IN_PRESENTER).required(),
        Field::new("text", Shape::Text, "The rule, with placeholders: `Invoice {{ item.id }} is overdue.`").sees(IN_PRESENTER).required(),
    ],
};

/// One of `ui`
pub(crate) static UI: Record = Record {
    name: "ui_block",
    noun: "a block",
    doc: "A block for people: exactly one of `echarts`, `mermaid`, `markdown`, `code`, `table`, `list`, `json` and `summary`. \
          `{{ items.amount }}` is the list of the amounts of all shown items.",
    fields: &[
        Field::new("echarts", Shape::Any, "A chart: the options of Apache ECharts, with placeholders.").sees(IN_PRESENTER),
        Field::new("mermaid", Shape::Text, "A diagram in Mermaid.").sees(IN_PRESENTER),
        Field::new("markdown", Shape::Text, "Text in Markdown.").sees(IN_PRESENTER),
        Field::new("code", Shape::Record(&CODE), "Source code."),
        Field::new("table", Shape::Record(&TABLE), "A table, with a row for each item."),
        Field::new(
            "list",
            Shape::OneOf(&[Shape::Text, Shape::List(&Shape::Text)]),
            "A list: a text is the line of each item, a list has the lines.",
        )
        .sees(IN_PRESENTER),
        Field::new("json", Shape::Any, "A value as JSON.").sees(IN_PRESENTER),
        Field::new("summary", Shape::Text, "One line that sums up the result.").sees(IN_PRESENTER),
        Field::new("title", Shape::Text, "The title, with placeholders.").sees(IN_PRESENTER),
        Field::new("width", Shape::Word(&["full", "half", "third"]), "The width."),
        Field::new("priority", Shape::Number, "Which blocks come first where there is little room."),
        Field::new("when", Shape::Text, "A condition: an expression over `item`, `items` and `auth`.").condition(IN_PRESENTER),
        Field::new(
            "for",
            Shape::Word(&["item", "collection", "any"]),
            "Shown for a result that is one item, for one that is a list, or for both.",
        )
        .default("item if it uses `item`, else any"),
    ],
};

static CODE: Record = Record {
    name: "ui_code",
    noun: "`code`",
    doc: "Source code.",
    fields: &[
        Field::new("language", Shape::Text, "The language: `sql`.").required(),
        Field::new("text", Shape::Text, "The code, with placeholders.").sees(IN_PRESENTER).required(),
    ],
};

static TABLE: Record = Record {
    name: "ui_table",
    noun: "`table`",
    doc: "A table, with a row for each item.",
    fields: &[
        Field::new("columns", Shape::List(&Shape::Text), "The heads of the columns.").required(),
        Field::new("row", Shape::List(&Shape::Scalar), "The cells of a row, with placeholders: `{{ item.id }}`.")
            .sees(IN_PRESENTER)
            .required(),
    ],
};

/// One of `actions`
pub(crate) static ACTION: Record = Record {
    name: "presenter_action",
    noun: "an action",
    doc: "A tool to call next. It is not suggested to callers who lack its scopes.",
    fields: &[
        Field::new("tool", Shape::Text, "The tool.").names(Named::Tool).required(),
        Field::new("when", Shape::Text, "A condition: an expression over `item`, `items` and `auth`.").condition(IN_PRESENTER),
        Field::new("reason", Shape::Text, "Why, with placeholders.").sees(IN_PRESENTER).required(),
        Field::new("args", Shape::Map(&Shape::Any), "The arguments, with placeholders.").sees(IN_PRESENTER),
    ],
};

/// The kinds of UI blocks.
const KINDS: [&str; 8] = ["echarts", "mermaid", "markdown", "code", "table", "list", "json", "summary"];

/// A tool that an action names.
#[derive(Clone)]
pub(super) struct WantedAction {
    pub(super) presenter: u32,
    pub(super) action: usize,
    /// Its mistakes are told elsewhere.
    pub(super) is_copy: bool,
    pub(super) document: Document,
    pub(super) node: Node,
    pub(super) scope: PathScope,
}

/// Reads `rules` or `collection_rules`.
pub(super) fn rules(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>, scope: &PathScope) -> Vec<PresenterRule> {
    let mut rules = Vec::new();
    for node in node.map(Node::items).unwrap_or_default() {
        let text = if node.text().is_some() { Some(node) } else { node.at("text") };
        let Some(text) = text else { continue };
        let text = compiler.message(document, text, &scope.of_placeholders());
        let when = condition(compiler, document, node.at("when"), scope);
        let per_item = when.as_ref().is_some_and(asks_item) || sources(&text).any(is_item);
        rules.push(PresenterRule { when, text, per_item });
    }
    rules
}

/// Reads `ui`.
pub(super) fn ui(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>, scope: &PathScope) -> Vec<UiTemplate> {
    let items = node.map(Node::items).unwrap_or_default();
    items.iter().filter_map(|node| block(compiler, document, node, scope)).collect()
}

fn block(compiler: &mut Compiler<'_>, document: &Document, node: &Node, scope: &PathScope) -> Option<UiTemplate> {
    let shown: Vec<&Entry> = node.entries().iter().filter(|entry| KINDS.contains(&entry.key.as_str())).collect();
    let [Entry { key, value, .. }] = shown.as_slice() else {
        let message = match shown.len() {
            0 => "the block shows nothing".to_owned(),
            count => format!("the block shows {count} things"),
        };
        compiler.error(document, node.range.clone(), message, format!("It has exactly one of {}.", one_of(&KINDS)));
        return None;
    };
    let placeholders = scope.of_placeholders();
    let (each, shown) = match key.as_str() {
        "code" => (false, value.at("text")?),
        "table" => (true, value.at("row")?),
        "list" => (value.text().is_some(), value),
        _ => (false, value),
    };
    let (columns, language) = (columns(compiler, document, key, value)?, language(compiler, document, key, value));
    let filled = compiler.value_template(document, shown, &placeholders);
    no_variables(compiler, document, shown, &filled);
    one_element_of_lists(compiler, document, shown, &filled);
    let title = node.at("title").map(|title| compiler.message(document, title, &placeholders));
    let when = condition(compiler, document, node.at("when"), scope);
    let uses_item = (!each && value_sources(&filled).any(is_item))
        || title.as_ref().is_some_and(|title| sources(title).any(is_item))
        || when.as_ref().is_some_and(asks_item);
    let shown_for = match node.text_at("for") {
        Some("item") => ShownFor::Item,
        Some("collection") => ShownFor::Collection,
        Some("any") => ShownFor::Any,
        _ if uses_item => ShownFor::Item,
        _ => ShownFor::Any,
    };
    if uses_item && shown_for != ShownFor::Item {
        let range = node.at("for").map_or(0..0, |node| node.range.clone());
        let help = "Write `{{ items.NAME }}` for the list of what each item has, or `for: item`. Rows of a `table` and a line of a `list` have an `item`.";
        compiler.error(document, range, "a list has no `item`", help);
    }
    Some(UiTemplate {
        kind: key.clone(),
        value: filled,
        each,
        columns,
        language,
        title,
        width: node.text_at("width").map(String::from),
        priority: node.at("priority").map(|priority| Literal(priority.json())),
        when,
        shown_for,
    })
}

/// The columns of a table, each of which has a cell in a row.
fn columns(compiler: &mut Compiler<'_>, document: &Document, key: &str, value: &Node) -> Option<Vec<String>> {
    let Some(row) = value.at("row").filter(|_| key == "table") else { return Some(Vec::new()) };
    let columns = value.texts_at("columns");
    if columns.is_empty() || columns.len() != row.items().len() {
        let message = format!("the table has {} columns, and {} cells in a row", columns.len(), row.items().len());
        compiler.error(document, row.range.clone(), message, "Write a cell for each column.");
        return None;
    }
    Some(columns)
}

/// The language of code.
fn language(compiler: &mut Compiler<'_>, document: &Document, key: &str, value: &Node) -> Option<String> {
    let node = value.at("language").filter(|_| key == "code")?;
    let name = node.text()?;
    if !is_language(name) {
        compiler.error(document, node.range.clone(), format!("`{name}` is not the name of a language"), "Write `sql`, or `typescript`.");
    }
    Some(name.to_owned())
}

/// Reads `actions`. Their tools are not known yet.
pub(super) fn actions(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: Option<&Node>,
    scope: &PathScope,
    presenter: u32,
) -> (Vec<ActionTemplate>, Vec<WantedAction>) {
    let (mut actions, mut wanted) = (Vec::new(), Vec::new());
    let placeholders = scope.of_placeholders();
    for node in node.map(Node::items).unwrap_or_default() {
        let (Some(_), Some(reason)) = (node.at("tool"), node.at("reason")) else { continue };
        let reason = compiler.message(document, reason, &placeholders);
        let when = condition(compiler, document, node.at("when"), scope);
        let args = node.at("args").map(|args| {
            let filled = compiler.value_template(document, args, &placeholders);
            no_variables(compiler, document, args, &filled);
            filled
        });
        let per_item = when.as_ref().is_some_and(asks_item)
            || sources(&reason).any(is_item)
            || args.as_ref().is_some_and(|args| value_sources(args).any(is_item));
        wanted.push(WantedAction {
            presenter,
            action: actions.len(),
            is_copy: false,
            document: document.clone(),
            node: node.clone(),
            scope: placeholders.clone(),
        });
        actions.push(ActionTemplate { tool: 0, when, reason, args, per_item });
    }
    (actions, wanted)
}

impl WantedAction {
    /// The place of its tool, whose inputs its arguments fit.
    pub(super) fn tool(&self, compiler: &mut Compiler<'_>, tools: &Tools) -> Option<u32> {
        let node = self.node.at("tool")?;
        let name = node.text()?;
        let Some(place) = tools.list.iter().position(|tool| tool.name == name) else {
            if !self.is_copy && !tools.broken.contains(name) {
                let names: Vec<&str> = tools.list.iter().map(|tool| tool.name.as_str()).collect();
                let help = meant(name, &names, "The tools are");
                compiler.error(&self.document, node.range.clone(), format!("the tool `{name}` does not exist"), help);
            }
            return None;
        };
        if !self.is_copy
            && let Some(tool) = tools.list.get(place)
        {
            self.check_args(compiler, tool);
        }
        u32::try_from(place).ok()
    }

    fn check_args(&self, compiler: &mut Compiler<'_>, tool: &Tool) {
        // What an input mapper takes is its own affair, and a schema of the author's is not looked
        // into.
        if tool.map_input.is_some() || tool.input_schema.is_some() {
            return;
        }
        for entry in self.node.at("args").map(Node::entries).unwrap_or_default() {
            let Some(input) = tool.inputs.iter().find(|input| input.name == entry.key) else {
                let names: Vec<&str> = tool.inputs.iter().map(|input| input.name.as_str()).collect();
                let message = format!("the tool `{}` has no input `{}`", tool.name, entry.key);
                compiler.error(&self.document, entry.key_range.clone(), message, meant(&entry.key, &names, "The inputs are"));
                continue;
            };
            if let Err((message, help)) = fits(&entry.value, input, &self.scope, &format!("args.{}", entry.key)) {
                compiler.error(&self.document, entry.value.range.clone(), message, help);
            }
        }
    }
}

fn condition(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>, scope: &PathScope) -> Option<Expression> {
    let node = node?;
    let parsed = expression::parse(node.text()?, scope);
    for problem in parsed.problems {
        compiler.findings.problem(document, node, problem);
    }
    parsed.expression
}

/// What is shown to callers is no place for variables of the environment.
fn no_variables(compiler: &mut Compiler<'_>, document: &Document, node: &Node, value: &ValueTemplate) {
    let has = value.placeholders.iter().any(|(_, text)| match text {
        ValueText::Whole(_) => false,
        ValueText::Composed(pieces) => pieces.iter().any(|piece| matches!(piece, Piece::Env(_))),
    });
    if has {
        let help = "Use `item`, `items` or `auth`.";
        compiler.error(
            document,
            node.range.clone(),
            "a presenter has no variables of the environment: its blocks are shown to callers",
            help,
        );
    }
}

/// The data of a chart that was meant to have an element for each item: `{{ items.NAME }}` within
/// an element is the list of all of them.
fn one_element_of_lists(compiler: &mut Compiler<'_>, document: &Document, node: &Node, value: &ValueTemplate) {
    let is_list = |(pointer, text): &&(String, ValueText)| {
        let mut steps = pointer.rsplit('/').skip(1);
        let is_in_data = steps.next() == Some("0") && steps.next() == Some("data");
        is_in_data && matches!(text, ValueText::Whole(source) if source.root == Root::Items)
    };
    if let Some((pointer, _)) = value.placeholders.iter().find(is_list) {
        let name = pointer.rsplit('/').next().unwrap_or_default();
        let message = format!("the data of the chart is one element, whose `{name}` is a list");
        let help = "Write `dataset: { source: \"{{ items }}\" }`, and the names of fields in `encode` of the series.";
        compiler.warning(document, node.range.clone(), message, help);
    }
}

fn sources(template: &Template) -> impl Iterator<Item = &Source> {
    template.0.iter().filter_map(|part| if let TemplatePart::Source(source) = part { Some(source) } else { None })
}

fn value_sources(value: &ValueTemplate) -> impl Iterator<Item = &Source> {
    value.placeholders.iter().flat_map(|(_, text)| match text {
        ValueText::Whole(source) => vec![source],
        ValueText::Composed(pieces) => {
            pieces.iter().filter_map(|piece| if let Piece::Source(source) = piece { Some(source) } else { None }).collect()
        }
    })
}

fn is_item(source: &Source) -> bool {
    source.root == Root::Item
}

fn asks_item(when: &Expression) -> bool {
    let mut asks = false;
    when.paths(&mut |path| asks |= matches!(path.first(), Some(Step::Member(root)) if root == "item"));
    asks
}

fn is_language(name: &str) -> bool {
    (1..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#._-".contains(&byte))
}
