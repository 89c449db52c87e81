//! What clients do to an app: `check` warns of each construct that a client does not take, by the table in [`table`].
//!
//! Only what authors write is looked at. What Millrace writes itself is made so that every client takes it.

use std::ops::Range;

use millrace_core::{
    Json,
    app::{App, Execute, Tool},
};

use crate::{
    Diagnostic, Severity,
    app_settings::{Expose, RootSettings},
    compiler::Compiler,
    names::all_of,
    tree::MAX_YAML,
    yaml::{Document, Node},
};

mod blocks;
mod reference;
mod schema;
mod table;

pub use reference::reference_markdown;
pub(crate) use schema::{Side, check as check_schema};
use table::{CLIENTS, Construct, NAMES, ROWS, Row};

/// A client waits for a minute, and what it waits for takes a moment on its way.
const MOMENT_MS: u64 = 5_000;
/// By which member of a tool's `_meta` a client takes longer answers of it.
const LONGER_ANSWERS: &str = "anthropic/maxResultSizeChars";

/// What `check --client` and `clients` take.
///
/// ```
/// assert!(millrace_bundler::clients::names().contains(&"cursor"));
/// ```
#[must_use]
pub const fn names() -> &'static [&'static str] {
    NAMES
}

/// The clients that an app is checked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// The names that were given; `None`: every client.
    named: Option<Vec<String>>,
}

impl Selection {
    /// Those of the command, else those of `clients`, else all.
    pub(crate) fn of(options: &[String], root: &Node) -> Self {
        let named = match (options.is_empty(), root.at("clients")) {
            (false, _) => Some(options.to_vec()),
            (true, Some(_)) => Some(root.texts_at("clients")),
            (true, None) => None,
        };
        Self { named }
    }

    fn has(&self, row: &Row) -> bool {
        let is = |name: &String| {
            let rest = row.client.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        self.named.as_ref().map_or(!row.when_named, |named| named.iter().any(is))
    }

    /// The rows of a construct.
    fn rows(&self, construct: Construct) -> Vec<&'static Row> {
        ROWS.iter().filter(|row| row.construct == construct && self.has(row)).collect()
    }
}

/// What happens in which clients: "the tool is dropped in A and B; calls are rejected in C".
fn costs(rows: &[&Row], detail: impl Fn(&Row) -> String) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows {
        let name = CLIENTS.iter().find(|client| client.id == row.client).map_or(row.client, |client| client.name);
        let key = format!("{} in {{}}{}", row.happens, detail(row));
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, names)) => names.push(name),
            None => groups.push((key, vec![name])),
        }
    }
    // The names are no code.
    let said = groups.iter().map(|(key, names)| key.replacen("{}", &all_of(names).replace('`', ""), 1));
    said.collect::<Vec<_>>().join("; ")
}

impl Compiler<'_> {
    /// Warns of a construct at a place of a document, where a selected client does not take it.
    fn client_warning(&mut self, document: &Document, range: Range<usize>, construct: Construct) {
        let rows = self.clients.rows(construct);
        if !rows.is_empty() {
            let message = format!("{}: {}", construct.what(), costs(&rows, |_| String::new()));
            self.warning(document, range, message, construct.help());
        }
    }

    /// Warns of a value that is greater than what selected clients take. `place` is where it was set.
    fn client_limit(&mut self, place: &str, construct: Construct, exceeds: impl Fn(&Row) -> bool, detail: impl Fn(&Row) -> String) {
        let rows: Vec<&Row> = self.clients.rows(construct).into_iter().filter(|row| exceeds(row)).collect();
        if rows.is_empty() {
            return;
        }
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next().and_then(|text| text.parse().ok()).unwrap_or(1);
        let line = parts.next().and_then(|text| text.parse().ok()).unwrap_or(1);
        let message = format!("{}: {}", construct.what(), costs(&rows, detail));
        let help = Some(construct.help().to_owned());
        let file = parts.next().unwrap_or(place).into();
        self.findings.push(Diagnostic { severity: Severity::Warning, file, line, column, length: 0, message, help });
    }
}

/// What is wrong with a tool by itself.
pub(crate) fn check_tool(compiler: &mut Compiler<'_>, document: &Document, root: &RootSettings, tool: &Tool) {
    let node = &document.root;
    if root.expose_tools.value != Expose::Search {
        let place = |key: &str| document.source.place(node.at(key).map_or(0, |node| node.range.start));
        let name = tool.name.chars().count();
        let before = |row: &Row| row.prefix.replace("{}", &root.name);
        compiler.client_limit(
            &place("name"),
            Construct::NameLength,
            |row| (before(row).chars().count() + name) as u64 > row.most,
            |row| match before(row).as_str() {
                "" => format!(" ({} characters)", row.most),
                before => format!(" ({} characters with `{before}`)", row.most),
            },
        );
        let description = node.text_at("description").map_or(0, |text| text.trim().chars().count()) as u64;
        let characters = |row: &Row| format!(" ({} characters)", row.most);
        compiler.client_limit(&place("description"), Construct::DescriptionLength, |row| description > row.most, characters);
        long_inputs(compiler, document, node.at("inputs"));
        for (key, side) in [("json_schema", Side::Inputs), ("output", Side::Output)] {
            if let Some(schema) = node.at(key) {
                check_schema(compiler, document, schema, side);
            }
        }
    }
    let set = |compiler: &Compiler<'_>, setting: &str| {
        let own = compiler.origins.iter().rev().take_while(|origin| origin.tool == tool.name);
        own.filter(|origin| origin.setting == setting).map(|origin| origin.place.clone()).find(|place| place != "default")
    };
    if let Some(place) = set(compiler, "limits.timeout") {
        let time = u64::from(tool.limits.timeout_ms);
        let seconds = |row: &Row| format!(" ({} s)", row.most / 1000);
        compiler.client_limit(&place, Construct::CallTime, |row| time + MOMENT_MS > row.most, seconds);
    }
    if let Some(place) = set(compiler, "limits.output") {
        let bytes = u64::from(tool.limits.output_bytes);
        // A tool may ask for more, which the app then does for it.
        let asked = serde_json::from_str::<Json>(&tool.descriptor).ok().and_then(|entry| entry["_meta"][LONGER_ANSWERS].as_u64());
        let most = |row: &Row| if row.client == "claude-code" { row.most.max(asked.unwrap_or(0)) } else { row.most };
        compiler.client_limit(&place, Construct::AnswerLength, |row| bytes > most(row), |row| format!(" ({} bytes)", most(row)));
    }
}

/// Other characters in names of inputs are errors; the names may be too long.
fn long_inputs(compiler: &mut Compiler<'_>, document: &Document, inputs: Option<&Node>) {
    for entry in inputs.map(Node::entries).unwrap_or_default() {
        if entry.key.len() > schema::LONGEST_NAME {
            compiler.client_warning(document, entry.key_range.clone(), Construct::PropertyName);
        }
        long_inputs(compiler, document, entry.value.at("fields"));
        long_inputs(compiler, document, entry.value.at("items").and_then(|items| items.at("fields")));
    }
}

/// What is wrong with the app as a whole.
pub(crate) fn check_app(compiler: &mut Compiler<'_>, document: &Document, app: &App) {
    let root = &document.root;
    if let Some(node) = root.at("instructions") {
        let length = node.text().map_or(0, |text| text.chars().count()) as u64;
        let place = document.source.place(node.range.start);
        let characters = |row: &Row| format!(" ({} characters)", row.most);
        compiler.client_limit(&place, Construct::InstructionsLength, |row| length > row.most, characters);
    }
    let listed = app.tools.iter().filter(|tool| tool.listed).count() as u64;
    let place = document.source.place(root.entry("tools").map_or(0, |entry| entry.key_range.start));
    compiler.client_limit(&place, Construct::ToolCount, |row| listed > row.most, |row| format!(" ({} tools of all servers)", row.most));
    for tool in &app.tools {
        let Execute::Script(script) = &tool.execute else { continue };
        let Some(script) = app.scripts.get(script.script as usize) else { continue };
        if script.program.contains("response") && !script.path.split('/').any(|part| part == "node_modules") {
            let Some(source) = compiler.text(&script.path, MAX_YAML) else { continue };
            for (range, construct) in blocks::find(&source.text, tool.descriptor.contains("\"outputSchema\"")) {
                let rows = compiler.clients.rows(construct);
                if !rows.is_empty() {
                    let message = format!("{}: {}", construct.what(), costs(&rows, |_| String::new()));
                    compiler.findings.warning(&source, range, message, construct.help());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
