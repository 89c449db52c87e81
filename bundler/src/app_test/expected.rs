//! `expect` of a test.

use millrace_catalogue::SQLITE;
use serde_json::Value as Json;

use super::tested::{TestSubject, TestedApp, only};
use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape},
    names::meant,
    yaml::{Document, Node},
};

const TEXTS: Shape = Shape::OneOf(&[Shape::Text, Shape::List(&Shape::Text)]);

pub(super) static EXPECT: Record = Record {
    name: "expect",
    noun: "`expect`",
    doc: "What the call must give, and leave behind; at least one of these.",
    fields: &[
        Field::new(
            "content",
            Shape::OneOf(&[Shape::Text, Shape::Record(&CONTENT)]),
            "The text of the result: the blocks of a tool's content, the messages of a prompt or the contents of a resource, with a line feed \
             between two. A text must be equal, but for white space at the end.",
        ),
        Field::new(
            "structured",
            Shape::Any,
            "What `structuredContent` of a tool's result must have: of a map only the keys that are written here, of a list all elements.",
        ),
        Field::new("structured_equals", Shape::Any, "What `structuredContent` must be, with nothing more."),
        Field::new("result", Shape::Map(&Shape::Any), "What the whole result must have, as `structured` does: `messages` of a prompt, `_meta`, …"),
        Field::new(
            "error",
            Shape::OneOf(&[Shape::Text, Shape::Record(&ERROR)]),
            "The call must fail with this code: `NOT_FOUND`. Without it, the call must succeed.",
        ),
        Field::new(
            "notifications",
            Shape::List(&Shape::Map(&Shape::Any)),
            "What is said before the result, all of it, in order: `{ method: notifications/progress, params: { progress: 1 } }`. Of a map only the keys \
             that are written here are compared.",
        ),
        Field::new(
            "audit",
            Shape::List(&Shape::Map(&Shape::Any)),
            "The entries that the call leaves in the audit log, all of it, in order: `{ subject: u1, outcome: ok }`. Of an entry only the keys that are \
             written here are compared; `[]` expects no entry.",
        ),
        Field::new(
            "spans",
            Shape::List(&Shape::Map(&Shape::Any)),
            "Spans that the call has for a collector, in the order in which they end; others may be between: `{ name: execute, attributes: { \
             millrace.adapter: shop } }`. Of a span only the keys that are written here are compared.",
        ),
        Field::new("rows", Shape::List(&Shape::Record(&ROWS)), "What statements return after the call, of the databases of the test."),
        Field::new(
            "snapshot",
            Shape::Bool,
            "Compares the whole result, without `_meta`, with the file `NAME.test.snap.json` beside this one. `millrace test --update` writes it.",
        )
        .default("false"),
    ],
};

static CONTENT: Record = Record {
    name: "expect_content",
    noun: "`content`",
    doc: "The text of a result.",
    fields: &[
        Field::new("equals", Shape::Text, "The whole text, but for white space at the end."),
        Field::new("contains", TEXTS, "A text that is in it, or several."),
        Field::new("json", Shape::Any, "What the text, read as JSON, must have, as `structured` does."),
        Field::new("matches", Shape::Text, "A regular expression that fits a part of it, in the syntax of the crate `regex`."),
    ],
};

static ERROR: Record = Record {
    name: "expect_error",
    noun: "`error`",
    doc: "How a call fails.",
    fields: &[
        Field::new("code", Shape::Text, "The code.").required(),
        Field::new("message", Shape::Text, "A text that is in the message."),
    ],
};

static ROWS: Record = Record {
    name: "expect_rows",
    noun: "an entry of `rows`",
    doc: "A statement that reads, and what it returns.",
    fields: &[
        Field::new("adapter", Shape::Text, "The adapter.").names(Named::Adapter).default("the one with the connector `sqlite`"),
        Field::new("sql", Shape::Text, "The statement.").required(),
        Field::new(
            "equals",
            Shape::List(&Shape::Map(&Shape::Any)),
            "Its rows, in order. Of a row only the columns that are written here are compared.",
        )
        .required(),
    ],
};

/// One thing that is expected, with the place of its key.
#[derive(Clone, Debug)]
pub enum Expectation {
    /// The text is this one.
    Text(String, String),
    /// The text has this one in it.
    Contains(String, String),
    /// The text is JSON, and has this.
    Json(String, Json),
    /// A pattern fits the text.
    Matches(String, TextPattern),
    /// The structured content has this.
    Structured(String, Json),
    /// The structured content is this.
    StructuredEquals(String, Json),
    /// The result has this.
    Result(String, Json),
    /// The call fails.
    Error(String, ExpectedError),
    /// These notifications come before the result.
    Notifications(String, Vec<Json>),
    /// The call leaves these audit entries.
    Audit(String, Vec<Json>),
    /// The call has these spans, in this order, with others between.
    Spans(String, Vec<Json>),
    /// A statement returns these rows after the call.
    Rows(String, ExpectedRows),
}

/// How a call fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedError {
    /// The code.
    pub code: String,
    /// What the message has in it.
    pub message: Option<String>,
}

/// What a statement returns.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedRows {
    /// The adapter, by its place in the app.
    pub adapter: usize,
    /// The statement.
    pub sql: String,
    /// The rows.
    pub rows: Vec<Json>,
}

/// A pattern of a text.
#[derive(Clone, Debug)]
pub struct TextPattern(regex::Regex);

impl TextPattern {
    /// Whether it fits a part of a text.
    #[must_use]
    pub fn fits(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The pattern, as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// What one `expect` is read with.
struct Reader<'a, 'c, 'o> {
    compiler: &'a mut Compiler<'o>,
    document: &'c Document,
    app: TestedApp<'c>,
    found: Vec<Expectation>,
}

pub(super) fn read(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    subject: &TestSubject,
    app: TestedApp<'_>,
) -> Vec<Expectation> {
    if node.entries().is_empty() {
        compiler.error(document, node.range.clone(), "`expect` is empty", "Say what the call must give: `expect: { content: … }`.");
    }
    only(compiler, document, node, &["structured", "structured_equals"]);
    if let (Some(_), Some(entry)) =
        (node.at("error"), ["structured", "structured_equals", "result", "snapshot"].iter().find_map(|key| node.entry(key)))
        && entry.key != "snapshot"
    {
        let message = format!("`{}` and `error` exclude each other: a call that fails has no result", entry.key);
        compiler.error(document, entry.key_range.clone(), message, "Keep one of them.");
    }
    if !matches!(subject, TestSubject::Tool(_))
        && let Some(entry) = ["structured", "structured_equals"].iter().find_map(|key| node.entry(key))
    {
        let message = format!("`{}` belongs to a test of a tool", entry.key);
        compiler.error(document, entry.key_range.clone(), message, "Use `content` or `result`.");
    }
    let mut reader = Reader { compiler, document, app, found: Vec::new() };
    for entry in node.entries() {
        let place = document.source.place(entry.key_range.start);
        let value = &entry.value;
        match entry.key.as_str() {
            "content" => reader.content(place, value),
            "structured" => reader.found.push(Expectation::Structured(place, value.json())),
            "structured_equals" => reader.found.push(Expectation::StructuredEquals(place, value.json())),
            "result" => reader.found.push(Expectation::Result(place, value.json())),
            "error" => reader.error(place, value),
            "notifications" => reader.found.push(Expectation::Notifications(place, value.items().iter().map(Node::json).collect())),
            "audit" => reader.found.push(Expectation::Audit(place, value.items().iter().map(Node::json).collect())),
            "spans" => reader.found.push(Expectation::Spans(place, value.items().iter().map(Node::json).collect())),
            "rows" => value.items().iter().for_each(|rows| reader.rows(rows)),
            _ => {}
        }
    }
    reader.found
}

impl Reader<'_, '_, '_> {
    fn content(&mut self, place: String, value: &Node) {
        if let Some(text) = value.text() {
            return self.found.push(Expectation::Text(place, text.to_owned()));
        }
        if value.entries().is_empty() {
            self.compiler.error(
                self.document,
                value.range.clone(),
                "`content` is empty",
                "It takes `equals`, `contains`, `json` and `matches`.",
            );
        }
        for entry in value.entries() {
            let place = self.document.source.place(entry.key_range.start);
            if entry.key == "json" {
                self.found.push(Expectation::Json(place, entry.value.json()));
                continue;
            }
            let texts = entry.value.text().into_iter().chain(entry.value.items().iter().filter_map(Node::text));
            for text in texts {
                match entry.key.as_str() {
                    "equals" => self.found.push(Expectation::Text(place.clone(), text.to_owned())),
                    "contains" => self.found.push(Expectation::Contains(place.clone(), text.to_owned())),
                    _ => self.pattern(place.clone(), &entry.value, text),
                }
            }
        }
    }

    fn pattern(&mut self, place: String, node: &Node, text: &str) {
        match regex::Regex::new(text) {
            Ok(pattern) => self.found.push(Expectation::Matches(place, TextPattern(pattern))),
            Err(error) => {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                let message = format!("`matches` is not a regular expression: {why}");
                self.compiler.error(
                    self.document,
                    node.range.clone(),
                    message,
                    "Write a backslash before a character that is meant as it is.",
                );
            }
        }
    }

    fn error(&mut self, place: String, value: &Node) {
        let code = value.text().or_else(|| value.text_at("code")).unwrap_or_default().to_owned();
        let message = value.text_at("message").map(str::to_owned);
        self.found.push(Expectation::Error(place, ExpectedError { code, message }));
    }

    fn rows(&mut self, node: &Node) {
        let (Some(sql), Some(equals)) = (node.at("sql"), node.at("equals")) else { return };
        let place = self.document.source.place(sql.range.start);
        let Some(adapter) = self.adapter(node, sql) else { return };
        let rows = equals.items().iter().map(Node::json).collect();
        let sql = sql.text().unwrap_or_default().to_owned();
        self.found.push(Expectation::Rows(place, ExpectedRows { adapter, sql, rows }));
    }

    /// The adapter whose database is asked.
    fn adapter(&mut self, node: &Node, sql: &Node) -> Option<usize> {
        let adapters = &self.app.app.adapters;
        if let Some(named) = node.at("adapter") {
            let name = named.text()?;
            let found = adapters.iter().position(|adapter| adapter.name == name);
            if found.is_none() && self.app.is_whole {
                let names: Vec<&str> = adapters.iter().map(|adapter| adapter.name.as_str()).collect();
                let help = meant(name, &names, "The adapters are");
                self.compiler.error(self.document, named.range.clone(), format!("the adapter `{name}` does not exist"), help);
            }
            return found;
        }
        let mut files = adapters.iter().enumerate().filter(|(_, adapter)| adapter.connector == SQLITE.name).map(|(index, _)| index);
        match (files.next(), files.next()) {
            (Some(index), None) => Some(index),
            _ if !self.app.is_whole => None,
            _ => {
                let message = "`rows` does not say which adapter's database is asked";
                self.compiler.error(
                    self.document,
                    sql.range.clone(),
                    message,
                    "Add `adapter: NAME`: the app has not exactly one with `sqlite`.",
                );
                None
            }
        }
    }
}
