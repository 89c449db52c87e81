//! `given` of a test: what is in its databases.

use millrace_catalogue::SQLITE;
use millrace_core::value::Value;

use super::tested::TestedApp;
use crate::{
    compiler::Compiler,
    field::{Field, Record, Shape},
    names::meant,
    tree::{MAX_EMBEDDED, parent},
    yaml::{Data, Document, Entry, Node},
};

pub(super) static GIVEN: Record = Record {
    name: "test_database",
    noun: "a database of a test",
    doc: "What is in the database of an adapter with the connector `sqlite` when the call begins.",
    fields: &[
        Field::new("seed", Shape::Text, "A file of SQL, relative to this one, that makes the database.")
            .default("the adapter's `seed`, else a copy of its file"),
        Field::new(
            "rows",
            Shape::Map(&Shape::List(&Shape::Map(&Shape::Any))),
            "Rows that are added, by the table: `users: [{ id: 1, name: Ada }]`. Each cell is text, a number, a truth value or null.",
        ),
    ],
};

/// What is in the database of an adapter.
#[derive(Clone, Debug, PartialEq)]
pub struct TestDatabase {
    /// The adapter.
    pub adapter: String,
    /// Where it stands.
    pub place: String,
    /// The SQL that makes the database, in place of the adapter's.
    pub seed: Option<String>,
    /// The rows that are added.
    pub tables: Vec<TestTable>,
}

/// Rows that are added to a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TestTable {
    /// The table.
    pub name: String,
    /// The rows: names of columns, and cells.
    pub rows: Vec<Vec<(String, Value)>>,
}

pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, given: &Node, app: TestedApp<'_>) -> Vec<TestDatabase> {
    given.entries().iter().filter_map(|entry| one(compiler, document, entry, app)).collect()
}

fn one(compiler: &mut Compiler<'_>, document: &Document, entry: &Entry, app: TestedApp<'_>) -> Option<TestDatabase> {
    let (name, range) = (&entry.key, entry.key_range.clone());
    let Some(adapter) = app.app.adapters.iter().find(|adapter| adapter.name == *name) else {
        if app.is_whole {
            let names: Vec<&str> = app.app.adapters.iter().map(|adapter| adapter.name.as_str()).collect();
            compiler.error(document, range, format!("the adapter `{name}` does not exist"), meant(name, &names, "The adapters are"));
        }
        return None;
    };
    if adapter.connector != SQLITE.name {
        let message = format!("`given` cannot fill the adapter `{name}`, whose connector is `{}`", adapter.connector);
        let help = "Only a SQLite database is made anew for each test. Run the test with `--database` against one that has the rows.";
        compiler.error(document, range, message, help);
        return None;
    }
    let seed = entry.value.at("seed").and_then(|node| seed(compiler, document, node));
    let tables = entry.value.at("rows").map(Node::entries).unwrap_or_default();
    let tables = tables.iter().map(|table| TestTable { name: table.key.clone(), rows: rows(compiler, document, table) }).collect();
    Some(TestDatabase { adapter: name.clone(), place: document.source.place(range.start), seed, tables })
}

fn rows(compiler: &mut Compiler<'_>, document: &Document, table: &Entry) -> Vec<Vec<(String, Value)>> {
    let mut rows = Vec::new();
    for row in table.value.items() {
        if row.entries().is_empty() {
            compiler.error(document, row.range.clone(), format!("a row of `{}` has no columns", table.key), "Write `{ column: value }`.");
            continue;
        }
        let mut cells = Vec::new();
        for entry in row.entries() {
            match cell(&entry.value) {
                Some(value) => cells.push((entry.key.clone(), value)),
                None => {
                    let message = format!("the column `{}` of `{}` cannot be {}", entry.key, table.key, entry.value.kind());
                    compiler.error(
                        document,
                        entry.value.range.clone(),
                        message,
                        "A cell is text, a number, a truth value or null; write JSON as text.",
                    );
                }
            }
        }
        rows.push(cells);
    }
    rows
}

fn cell(node: &Node) -> Option<Value> {
    Some(match &node.data {
        Data::Null => Value::Null,
        Data::Bool(value) => Value::Bool(*value),
        Data::Int(value) => Value::I64(*value),
        Data::Float(value) => Value::F64(*value),
        Data::Text(text) => Value::Text(text.clone()),
        Data::List(_) | Data::Map(_) | Data::Wrong => return None,
    })
}

fn seed(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<String> {
    let name = node.text()?;
    let outcome = match compiler.tree.resolve(parent(&document.source.path), name) {
        Some(path) => compiler.tree.read(&path, MAX_EMBEDDED).map_err(|why| why.to_string()),
        None => Err("is outside of the app's folder".to_owned()),
    };
    match outcome.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())) {
        Ok(text) => Some(text),
        Err(why) => {
            let help = "It takes a file of SQL, relative to this file.";
            compiler.error(document, node.range.clone(), format!("the seed `{name}` {why}"), help);
            None
        }
    }
}
