//! What clients do to an app: `check` warns of each construct that a client does not take, by the
//! table in `clients/table.rs`.
//!
//! Only what authors write is looked at. What Millrace writes itself is made so that every client
//! takes it.

use millrace_core::{
    Json,
    app::{App, Execute, Tool},
};

use crate::{
    Diagnostic, Severity,
    app_settings::{Expose, RootSettings},
    compiler::Compiler,
    source::Source,
    tree::MAX_EMBEDDED,
    yaml::Document,
};

mod blocks;
mod reference;
mod schema;
mod selection;
mod table;

pub use reference::reference_markdown;
pub(crate) use schema::{Side, check as check_schema, check_inputs};
pub use schema::{is_property_name, says_type};
pub(crate) use selection::Selection;
pub use table::Construct;
use table::{NAMES, ROWS, Row, costs};

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

/// What a construct costs, as a clause: what it is, what happens, and in which clients. `amount` is
/// how much of it there is, where clients take a part. `None` where no client is known to mind it;
/// of output schemas fewer do.
///
/// ```
/// use millrace_bundler::clients::{Construct, cost};
/// let said = cost(Construct::NoItems, 0, false);
/// assert_eq!(said.as_deref(), Some("`items` is missing in the schema of a list: the tool is dropped in VS Code"));
/// assert_eq!(cost(Construct::NoItems, 0, true), None);
/// ```
#[must_use]
pub fn cost(construct: Construct, amount: u64, is_output: bool) -> Option<String> {
    let concerns =
        |row: &&Row| row.construct == construct && !row.when_named && (row.most == 0 || amount > row.most) && (row.outputs || !is_output);
    let rows: Vec<&Row> = ROWS.iter().filter(concerns).collect();
    let most = |row: &Row| if row.most == 0 { String::new() } else { format!(" ({} at most)", row.most) };
    (!rows.is_empty()).then(|| format!("{}: {}", construct.what(), costs(&rows, most)))
}

impl Compiler<'_> {
    /// Warns of a value that is greater than what selected clients take. `place` is where it was
    /// set.
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
        if let Some(inputs) = node.at("inputs") {
            check_inputs(compiler, document, inputs, true);
        }
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
            // What is wrong with the file itself was reported where it was linked.
            let Ok(bytes) = compiler.tree.read(&script.path, MAX_EMBEDDED) else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let source = Source::new(&script.path, text.strip_prefix('\u{feff}').unwrap_or(&text));
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
