//! How long the answers of an app can be, and `budget`, which says how long they may be.

use std::{collections::BTreeMap, ops::Range, sync::LazyLock};

use millrace_core::{
    Json,
    app::{App, Bind, Content, Execute, Part, Root, ScriptRef, Skill, Source, Statement, Template, TemplatePart, Tool},
    protocol::tools_list_bytes,
};
use regex::Regex;

use crate::{
    AnswerSize, ListSize, Sizes,
    compiler::Compiler,
    field::{Field, Record, Shape, size_bytes},
    json_length::{self, longest},
    search::MAX_LIMIT,
    yaml::Document,
};

/// `budget`
pub(crate) static BUDGET: Record = Record {
    name: "budget",
    noun: "`budget`",
    doc: "How many bytes a model reads at most. An app that can send more is not built. `millrace check` prints what it can send.",
    fields: &[
        Field::new("list", Shape::Size, "The most bytes of all entries of `tools/list`."),
        Field::new(
            "answer",
            Shape::Size,
            "The most bytes of an answer of a tool: those that its `output` allows in so many rows as its adapter or its `LIMIT` allows, or else `limits.output`.",
        ),
        Field::new("skill", Shape::Size, "The most bytes of the `SKILL.md` of a skill, which a model reads as a whole."),
    ],
};

/// How many names a message has.
const MOST_NAMED: usize = 5;

/// What is known of the tools, by name: their files, and the schemas of what their presenters make.
type Known<'a> = (&'a BTreeMap<String, String>, &'a BTreeMap<String, Json>);

/// Measures an app. The `root` file says what the tools do not.
pub(crate) fn measure(app: &App, (files, presented): Known<'_>, root: &Document) -> Sizes {
    let lists = tools_list_bytes(app).into_iter().map(|(revision, bytes)| ListSize { revision, bytes: bytes as u64 });
    let tools = app.tools.iter().filter(|tool| !matches!(tool.execute, Execute::Forward));
    let file = |tool: &Tool| files.get(&tool.name).unwrap_or(&root.source.path).as_str();
    Sizes {
        lists: lists.collect(),
        has_budget: root.root.at("budget").is_some(),
        answers: tools.map(|tool| answer(app, tool, file(tool), presented.get(&tool.name))).collect(),
    }
}

fn answer(app: &App, tool: &Tool, file: &str, presented: Option<&Json>) -> AnswerSize {
    let most = u64::from(tool.limits.output_bytes);
    let (bytes, open) = match allowed(app, tool, presented) {
        Ok(bytes) if bytes <= most => (bytes, None),
        Ok(bytes) => (most, Some(format!("its `output` allows {bytes} bytes"))),
        Err(open) => (most, Some(open)),
    };
    AnswerSize { tool: tool.name.clone(), file: file.to_owned(), bytes, open }
}

/// The most bytes that the tool allows itself.
fn allowed(app: &App, tool: &Tool, presented: Option<&Json>) -> Result<u64, String> {
    if matches!(tool.execute, Execute::Search(_)) {
        return Ok(of_search(app));
    }
    if let (Execute::Statement { statement, .. }, None) = (&tool.execute, &tool.map_output)
        && counts_only(statement)
    {
        let copies = if tool.output.is_some() { 2 } else { 1 };
        return Ok(copies * r#"{"affected_rows":18446744073709551615}"#.len() as u64);
    }
    let builds_blocks =
        |script: &ScriptRef| app.scripts.get(script.script as usize).is_none_or(|script| script.program.contains("response"));
    let handler = if let Execute::Script(script) = &tool.execute { Some(script) } else { None };
    let presenter = tool.returns.and_then(|place| app.presenters.get(place as usize));
    let schema: Json = match (&tool.output, presenter) {
        (None, None) => return Err("it has neither `returns` nor `output`".into()),
        (Some(schema), _) => serde_json::from_str(schema).unwrap_or_default(),
        (None, Some(_)) => {
            let mut schema = presented.cloned().unwrap_or_default();
            if tool.wraps_result() { schema["properties"]["result"].take() } else { schema }
        }
    };
    if presenter.is_some_and(|presenter| {
        !presenter.ui.is_empty() || !presenter.rules.is_empty() || !presenter.collection_rules.is_empty() || !presenter.actions.is_empty()
    }) {
        return Err("its presenter adds rules, UI blocks or suggestions".into());
    }
    if handler.into_iter().chain(&tool.map_output).any(builds_blocks) {
        return Err("its script can add blocks with `response()`".into());
    }
    let rows = match (&tool.execute, &tool.map_output) {
        (Execute::Statement { adapter, statement }, None) => {
            let most = app.adapters.get(*adapter as usize).map(|adapter| u64::from(adapter.max_rows));
            row_limit(statement, tool).into_iter().chain(most).min()
        }
        (Execute::Transaction { adapter, .. }, None) => app.adapters.get(*adapter as usize).map(|adapter| u64::from(adapter.max_rows)),
        _ => None,
    };
    let limit = presenter.and_then(|presenter| presenter.limit.as_ref()).map(|limit| u64::from(limit.max));
    let rows = rows.into_iter().chain(limit).min();
    let data = longest(&schema, json_length::Known { rows, is_closed: false }).map_err(|unbounded| unbounded.to_string())?;
    // As text, and as structured content.
    Ok(data.saturating_mul(2))
}

/// `{"tools":[…],"total":n}` with the longest entries.
fn of_search(app: &App) -> u64 {
    let own = app.tools.iter().filter(|tool| !matches!(tool.execute, Execute::Search(_) | Execute::Forward));
    let mut entries: Vec<u64> = own.map(|tool| (tool.descriptor.len() + r#","auth":"script","#.len()) as u64).collect();
    entries.sort_unstable_by(|a, b| b.cmp(a));
    entries.iter().take(usize::try_from(MAX_LIMIT).unwrap_or_default()).sum::<u64>() + r#"{"tools":[],"total":1000}"#.len() as u64
}

/// Whether a statement has no result columns: it changes rows, and returns none of them.
fn counts_only(statement: &Statement) -> bool {
    let texts = || {
        statement.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.to_ascii_uppercase()),
            _ => None,
        })
    };
    let first = texts().next().unwrap_or_default();
    let changes = ["INSERT", "UPDATE", "DELETE", "REPLACE"].contains(&first.split_whitespace().next().unwrap_or_default());
    changes
        && statement.parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Bind(_) | Part::BindEach { .. }))
        && !texts().any(|text| text.contains("RETURNING"))
}

/// The `LIMIT` at the end of a statement: its number, or the greatest value of the input in its
/// place.
fn row_limit(statement: &Statement, tool: &Tool) -> Option<u64> {
    static LIMIT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)\sLIMIT\s+(\d+|\x00(\d+)\x00)(?:\s+OFFSET\s+(?:\d+|\x00\d+\x00))?[\s;]*$").ok());
    // A NUL stands around the number of a value: a statement has none of its own.
    let mut text = String::new();
    for (place, part) in statement.parts.iter().enumerate() {
        match part {
            Part::Text(part) => text.push_str(part),
            _ => text.push_str(&format!("\0{place}\0")),
        }
    }
    // What stands in a comment limits nothing.
    if text.contains("--") || text.contains("/*") || text.contains('#') {
        return None;
    }
    let found = LIMIT.as_ref()?.captures(&text)?;
    let Some(place) = found.get(2) else { return found.get(1)?.as_str().parse().ok() };
    let Part::Bind(Bind::Value { source: Source { root: Root::Inputs, path }, .. }) =
        statement.parts.get(place.as_str().parse::<usize>().ok()?)?
    else {
        return None;
    };
    let [name] = path.as_slice() else { return None };
    let input = tool.inputs.iter().find(|input| input.name == *name)?;
    // Nothing, null and negative numbers mean every row.
    let is_given = !input.nullable && (!input.optional || input.default.is_some()) && tool.map_input.is_none();
    let most = input.max.filter(|most| is_given && input.min >= Some(0.0) && *most >= 0.0 && *most <= f64::from(u32::MAX))?;
    Some(most as u64)
}

/// Holds an app against its `budget`.
pub(crate) fn check(compiler: &mut Compiler<'_>, document: &Document, app: &App, sizes: &Sizes) {
    let Some(budget) = document.root.at("budget") else { return };
    let limit = |name: &str| -> Option<(u64, String, Range<usize>)> {
        let node = budget.at(name)?;
        let written = node.written(&document.source)?;
        Some((u64::from(size_bytes(&written)?), written, node.range.clone()))
    };
    if let Some((most, _, range)) = limit("list")
        && let Some(list) = sizes.lists.iter().filter(|list| list.bytes > most).max_by_key(|list| list.bytes)
    {
        let mut entries: Vec<(&str, u64)> =
            app.tools.iter().filter(|tool| tool.listed).map(|tool| (tool.name.as_str(), tool.descriptor.len() as u64)).collect();
        entries.sort_by_key(|(name, bytes)| (std::cmp::Reverse(*bytes), *name));
        let message = format!(
            "`tools/list` has {} bytes, more than the {most} of `budget.list`; the longest entries are those of {}",
            list.bytes,
            named(&entries)
        );
        let help = "Shorten descriptions and schemas, or have clients find tools with `tools: { expose: search }`.";
        compiler.error(document, range, message, help);
    }
    if let Some((most, _, range)) = limit("skill") {
        let length = |skill: &Skill| match app.resources.get(skill.resource as usize).map(|resource| &resource.content) {
            Some(Content::Text(Template(parts))) => {
                parts.iter().map(|part| if let TemplatePart::Text(text) = part { text.len() } else { 0 }).sum()
            }
            _ => 0,
        };
        let mut longer: Vec<(&str, u64)> = app.skills.iter().map(|skill| (skill.uri.as_str(), length(skill) as u64)).collect();
        longer.retain(|(_, bytes)| *bytes > most);
        longer.sort_by_key(|(uri, bytes)| (std::cmp::Reverse(*bytes), *uri));
        if !longer.is_empty() {
            let has = if longer.len() == 1 { "has" } else { "have" };
            let message = format!("{} {has} more bytes than the {most} of `budget.skill`", named(&longer));
            let help =
                "Move what is not always needed into other files of the skill, and link to them: a model reads those when it gets there.";
            compiler.error(document, range, message, help);
        }
    }
    if let Some((most, written, range)) = limit("answer") {
        let mut longer: Vec<&AnswerSize> = sizes.answers.iter().filter(|answer| answer.bytes > most).collect();
        longer.sort_by_key(|answer| (std::cmp::Reverse(answer.bytes), &answer.tool));
        let Some(first) = longer.first() else { return };
        let names: Vec<(&str, u64)> = longer.iter().map(|answer| (answer.tool.as_str(), answer.bytes)).collect();
        let answers = if longer.len() == 1 { "an answer of" } else { "answers of" };
        let message = format!("{answers} {} can have more bytes than the {most} of `budget.answer`", named(&names));
        let help = match &first.open {
            Some(open) => format!(
                "Of `{}`, {open}. Describe the result by `output`, with `maxLength` and `maxItems`, or set `limits: {{ output: {written} }}`.",
                first.tool
            ),
            None => format!("Lower `maxLength`, `maxItems` or the `LIMIT` of `{}`, or set `limits: {{ output: {written} }}`.", first.tool),
        };
        compiler.error(document, range, message, help);
    }
}

/// `` `a` (300), `b` (200) and 7 more ``
fn named(sizes: &[(&str, u64)]) -> String {
    let shown: Vec<String> = sizes.iter().take(MOST_NAMED).map(|(name, bytes)| format!("`{name}` ({bytes})")).collect();
    match (sizes.len() - shown.len(), shown.split_last()) {
        (0, Some((last, []))) => last.clone(),
        (0, Some((last, rest))) => format!("{} and {last}", rest.join(", ")),
        (more, _) => format!("{} and {more} more", shown.join(", ")),
    }
}
