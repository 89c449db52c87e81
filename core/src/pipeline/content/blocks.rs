//! The text blocks that a result can have beside its data: pictures for people, and what a model
//! should know, keep to and do next.
//!
//! | block | text | for |
//! |---|---|---|
//! | UI | `<ui_passthrough type="…" title="…" width="…" priority="…">`, what to show, `</ui_passthrough>` | people |
//! | hints | `<llm_directives>`, a line `- text` each | models |
//! | rules | `<domain_rules>`, a line each | models |
//! | actions | `<action_suggestions>`, a line `- tool: reason (args: {…})` each | models |
//! | invalidation | `<cache_invalidation cause="…" domains="…" />` | models |
//!
//! Texts come from data as often as from the author. None can end its tag, its fence, its line or
//! its table cell. `markdown` is an author's own: what a presenter fills into it is text
//! (`present/inline.rs`), what a script writes there is the script's.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use serde_json::{Map, json};

use crate::pipeline::{content::json_text::text_of, content::result::ContentBlock};
use crate::{Json, fault::push_attribute};

/// The member of `_meta` that says what is missing: `shown` and `total` rows, whether the database
/// has `more`, and how many blocks.
pub(in crate::pipeline) const TRUNCATED_META: &str = "millrace/truncated";
/// The tag of UI blocks.
const UI: &str = "ui_passthrough";
/// What can be shown, by the name of its helper.
const KINDS: [&str; 8] = ["echarts", "mermaid", "markdown", "code", "table", "list", "json", "summary"];
/// The widths of a UI block.
const WIDTHS: [&str; 3] = ["full", "half", "third"];
/// The longest name of a language, in bytes.
const LANGUAGE_BYTES: usize = 40;

/// A suggestion: a tool, and why to call it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::pipeline) struct Action {
    /// The tool's name.
    pub(in crate::pipeline) tool: String,
    /// Why.
    pub(in crate::pipeline) reason: String,
    /// With which arguments.
    pub(in crate::pipeline) args: Option<Json>,
}

/// A UI block: `{ kind, value, language?, columns?, title?, width?, priority? }`.
///
/// # Errors
/// What is wrong with it.
pub(in crate::pipeline) fn ui(block: &Json) -> Result<ContentBlock, String> {
    ui_of(block, cell)
}

/// The same with values that a presenter has filled in: what they have of Markdown is escaped
/// already.
///
/// # Errors
/// As [`ui`].
pub(in crate::pipeline) fn ui_of_presenter(block: &Json) -> Result<ContentBlock, String> {
    ui_of(block, escaped_cell)
}

fn ui_of(block: &Json, cell: fn(&Json) -> String) -> Result<ContentBlock, String> {
    let Json::Object(block) = block else { return Err("it is not an object".into()) };
    let kind = block.get("kind").and_then(Json::as_str).unwrap_or_default();
    let value = block.get("value").unwrap_or(&Json::Null);
    let (kind, shown) = match kind {
        "echarts" | "json" => (kind, fenced(kind, &json_in_tag(value))),
        "mermaid" => (kind, fenced(kind, &text_of(value))),
        "markdown" => (kind, text_of(value)),
        "code" => {
            let language = language(block)?;
            (language, fenced(language, &text_of(value)))
        }
        "table" => ("markdown", table(block.get("columns"), value, cell)?),
        "list" => ("markdown", list(value)?),
        "summary" => (kind, summary(&one_line(&text_of(value)))),
        _ => return Err(format!("its kind must be one of {}", KINDS.join(", "))),
    };
    let mut text = format!("<{UI} type=\"");
    push_attribute(&mut text, kind);
    text.push('"');
    for (name, value) in attributes(block)? {
        text.push_str(&format!(" {name}=\""));
        push_attribute(&mut text, &value);
        text.push('"');
    }
    text.push_str(">\n");
    text.push_str(&without_end(&shown));
    text.push_str(&format!("\n</{UI}>"));
    Ok(for_audience(text, "user"))
}

/// The attributes after `type`, in their order.
fn attributes(block: &Map<String, Json>) -> Result<Vec<(&'static str, String)>, String> {
    let mut attributes = Vec::new();
    if let Some(title) = block.get("title") {
        let title = title.as_str().ok_or("`title` must be a string")?;
        attributes.push(("title", one_line(title)));
    }
    if let Some(width) = block.get("width") {
        let width = width.as_str().filter(|width| WIDTHS.contains(width));
        attributes.push(("width", width.ok_or_else(|| format!("`width` must be one of {}", WIDTHS.join(", ")))?.into()));
    }
    if let Some(priority) = block.get("priority") {
        let number = priority.as_number().ok_or("`priority` must be a number")?;
        attributes.push(("priority", number.to_string()));
    }
    Ok(attributes)
}

/// Hints to the model; nothing where there are none.
pub(in crate::pipeline) fn hints(hints: &[String]) -> Option<ContentBlock> {
    lines("llm_directives", hints.iter().map(|hint| escaped(hint)))
}

/// Rules for the model; nothing where there are none.
pub(in crate::pipeline) fn rules(rules: &[String]) -> Option<ContentBlock> {
    lines("domain_rules", rules.iter().map(|rule| escaped(rule)))
}

/// What to do next; nothing where nothing is suggested.
pub(in crate::pipeline) fn actions(actions: &[Action]) -> Option<ContentBlock> {
    lines(
        "action_suggestions",
        actions.iter().map(|Action { tool, reason, args }| {
            let args = args.as_ref().map_or_else(String::new, |args| format!(" (args: {})", json_in_tag(args)));
            format!("{}: {}{args}", escaped(tool), escaped(reason))
        }),
    )
}

/// What a call has made stale: results of tools whose key one of the globs matches.
pub(in crate::pipeline) fn invalidation(cause: &str, domains: &[String]) -> ContentBlock {
    let mut text = String::from("<cache_invalidation cause=\"");
    push_attribute(&mut text, cause);
    text.push_str("\" domains=\"");
    push_attribute(&mut text, &domains.join(", "));
    text.push_str("\" />");
    for_audience(text, "assistant")
}

/// What tells that rows are missing.
pub(in crate::pipeline) fn truncation(shown: usize, hidden: usize) -> ContentBlock {
    notice(&format!("⚠️ Dataset truncated. {shown} shown, {hidden} hidden. Use filters to narrow results."))
}

/// What tells that only the beginning of a text is there.
pub(in crate::pipeline) fn cut_text(shown: usize, total: usize) -> ContentBlock {
    notice(&format!("⚠️ Text truncated. The first {shown} of {total} bytes are shown. Ask for less, or fetch it in parts."))
}

/// What tells that the database has more rows than were read.
pub(in crate::pipeline) fn unread(rows: usize) -> ContentBlock {
    notice(&format!("⚠️ Dataset truncated. The first {rows} rows were read, and there are more. Use filters to narrow results."))
}

/// What the model and its user have to know of the data: one line.
pub(in crate::pipeline) fn notice(text: &str) -> ContentBlock {
    let text = without_end(&summary(&one_line(text)));
    ContentBlock::Text(format!("<{UI} type=\"summary\">\n{text}\n</{UI}>"))
}

fn summary(text: &str) -> String {
    format!("📊 **Summary**: {text}")
}

fn lines(tag: &str, lines: impl Iterator<Item = String>) -> Option<ContentBlock> {
    let text = lines.fold(String::new(), |text, line| text + "- " + &line + "\n");
    (!text.is_empty()).then(|| for_audience(format!("<{tag}>\n{text}</{tag}>"), "assistant"))
}

fn for_audience(text: String, role: &str) -> ContentBlock {
    let block = json!({ "type": "text", "text": text, "annotations": { "audience": [role] } });
    match block {
        Json::Object(block) => ContentBlock::Other(block),
        _ => ContentBlock::Other(Map::new()),
    }
}

/// A fence that no run of back-ticks in its text closes.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

fn language(block: &Map<String, Json>) -> Result<&str, String> {
    let is_name = |name: &&str| {
        (1..=LANGUAGE_BYTES).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#._-".contains(&byte))
    };
    block.get("language").and_then(Json::as_str).filter(is_name).ok_or_else(|| "the language of code must be a name, such as `sql`".into())
}

/// A table of Markdown.
fn table(columns: Option<&Json>, rows: &Json, cell: fn(&Json) -> String) -> Result<String, String> {
    let wrong = || String::from("a table must have a list of columns, and a list of rows, each a list with a cell for each column");
    let columns = columns.and_then(Json::as_array).filter(|columns| !columns.is_empty()).ok_or_else(wrong)?;
    let row = |cells: &[Json]| cells.iter().fold(String::from("|"), |row, cell_value| row + " " + &cell(cell_value) + " |");
    let mut text = row(columns);
    text.push_str("\n|");
    text.push_str(&" --- |".repeat(columns.len()));
    for cells in rows.as_array().ok_or_else(wrong)? {
        let cells = cells.as_array().filter(|cells| cells.len() == columns.len()).ok_or_else(wrong)?;
        text.push('\n');
        text.push_str(&row(cells));
    }
    Ok(text)
}

fn cell(value: &Json) -> String {
    cell_of(value, |cell, character| cell.extend(['\\', character]))
}

/// A cell in which back-slashes escape what follows them.
fn escaped_cell(value: &Json) -> String {
    cell_of(value, |cell, character| {
        let escapes = cell.len() - cell.trim_end_matches('\\').len();
        if character == '|' && escapes % 2 == 0 {
            cell.push('\\');
        }
        cell.push(character);
    })
}

/// `push` appends a bar or a back-slash.
fn cell_of(value: &Json, push: fn(&mut String, char)) -> String {
    let text = if value.is_null() { String::new() } else { text_of(value) };
    let mut cell = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => cell.push_str("<br>"),
            '|' | '\\' => push(&mut cell, character),
            other => cell.push(other),
        }
    }
    cell
}

/// A list of Markdown.
fn list(items: &Json) -> Result<String, String> {
    let items = items.as_array().ok_or("a list must have items")?;
    let lines: Vec<String> = items.iter().map(|item| format!("- {}", one_line(&text_of(item)))).collect();
    Ok(lines.join("\n"))
}

/// JSON in which no tag can stand.
fn json_in_tag(value: &Json) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// A line in a tag.
fn escaped(text: &str) -> String {
    one_line(text).replace('&', "&amp;").replace('<', "&lt;")
}

/// A text on one line, with a space for each line end.
pub(in crate::pipeline) fn one_line(text: &str) -> String {
    let is_end = |character: char| matches!(character, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    text.split(is_end).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text without anything that ends the tag of a UI block, in whatever letters.
fn without_end(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut safe = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in lower.match_indices(&format!("</{UI}")) {
        safe.push_str(text.get(from..at).unwrap_or_default());
        safe.push_str("&lt;");
        from = at + 1;
    }
    safe + text.get(from..).unwrap_or_default()
}
