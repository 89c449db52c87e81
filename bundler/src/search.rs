//! `tools.expose: search | both`: the tools `search` and `execute`, and the index of what the app's
//! own tools say.
//!
//! The weights are those of BM25 over weighed fields. The crates that do this need std, and build
//! their index when it is asked; here the index is part of the bundle and asking it takes integers
//! only.

use std::collections::BTreeMap;

use millrace_core::app::{
    Errors, Execute, IndexedWord, Input, InputKind, Limits, Literal, OnExceed, SHOWN_BYTES, ScriptLimits, SearchIndex, Tool, words,
};
use serde_json::{Map, Value, json};

use crate::{
    app_settings::{Expose, RootSettings},
    compiler::{Compiler, Located},
    sync::without_tag,
    tool::hints::{Hints, title_of},
    tool_use::Tools,
};

/// The name of the tool that finds tools.
pub(crate) const SEARCH: &str = "search";
/// The name of the tool that calls them.
pub(crate) const EXECUTE: &str = "execute";
/// The most tools that `search` gives.
pub(crate) const MAX_LIMIT: i64 = 50;

/// The parts of a descriptor that are searched, and what a word in them weighs.
const NAME: f64 = 3.0;
const TITLE_AND_TAGS: f64 = 2.0;
const DESCRIPTION: f64 = 1.0;
const INPUTS: f64 = 0.5;
/// The constants of BM25 that are used everywhere.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Adds `search` and `execute` where the app wants them, and hides the other tools from
/// `tools/list` where it wants that.
pub(crate) fn add(compiler: &mut Compiler<'_>, root: &RootSettings, tools: &mut Tools) {
    let Located { value: expose, place } = &root.expose_tools;
    if *expose == Expose::Direct {
        return;
    }
    let said = root.document.root.at("tools").and_then(|node| node.at("expose"));
    if said.is_none() && tools.list.is_empty() {
        return;
    }
    for name in [SEARCH, EXECUTE] {
        if tools.list.iter().any(|tool| tool.name == name) || tools.broken.contains(name) {
            // The two that an imported app has by default make room for its own.
            let Some(said) = said else { return };
            let message = format!("the app has a tool `{name}`, and `tools.expose` adds another one");
            compiler.error(&root.document, said.range.clone(), message, "Give the app's tool another `name`.");
            return;
        }
    }
    for tool in &mut tools.list {
        tool.listed = *expose == Expose::Both;
    }
    let arguments = if compiler.imported { "inputs" } else { "arguments" };
    tools.list.extend([search_tool(root, &tools.list), execute_tool(root, &tools.list, arguments)]);
    tools.list.sort_by(|a, b| a.name.cmp(&b.name));
    // The index names places, which are known only now.
    let index = index(&tools.list);
    if let Some(tool) = tools.list.iter_mut().find(|tool| tool.name == SEARCH) {
        tool.execute = Execute::Search(index);
    }
    for name in [SEARCH, EXECUTE] {
        compiler.origin(name, "tools.expose", "added", place.as_str());
    }
}

fn search_tool(root: &RootSettings, others: &[Tool]) -> Tool {
    let limit = root.search_limit;
    let inputs = vec![
        Input { min: Some(1.0), max: Some(500.0), ..input("query", InputKind::String) },
        Input {
            min: Some(1.0),
            #[allow(clippy::cast_precision_loss, reason = "it is 50")]
            max: Some(MAX_LIMIT as f64),
            default: Some(Literal(limit.into())),
            ..input("limit", InputKind::Int)
        },
    ];
    let schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "What the tool should do, in a few words", "minLength": 1, "maxLength": 500 },
            "limit": { "type": "integer", "description": "The most tools to return", "minimum": 1, "maximum": MAX_LIMIT, "default": limit },
        },
        "required": ["query"],
    });
    let description = format!(
        "Finds tools of this server, which has {}, by what they do. Gives name, description and input schema of each, the best match \
         first. Call one of them with `{EXECUTE}`.",
        others.len()
    );
    let hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
    tool(root, SEARCH, &description, schema, hints, inputs, Execute::Search(SearchIndex::default()))
}

/// The tool that calls others. `arguments` is the name of the input that has theirs.
fn execute_tool(root: &RootSettings, others: &[Tool], arguments: &str) -> Tool {
    let inputs =
        vec![Input { min: Some(1.0), ..input("tool", InputKind::String) }, Input { optional: true, ..input(arguments, InputKind::Object) }];
    let schema = json!({
        "type": "object",
        "properties": {
            "tool": { "type": "string", "description": format!("The tool's name, as `{SEARCH}` gives it"), "minLength": 1 },
            arguments: { "type": "object", "description": "Its arguments, by its own input schema" },
        },
        "required": ["tool"],
    });
    let description = format!("Calls one tool of this server that `{SEARCH}` found, and gives that tool's result.");
    // It is what the tool is that it calls.
    let hints = others.iter().map(|tool| {
        let descriptor: Value = serde_json::from_str(&tool.descriptor).unwrap_or_default();
        Hints::read(descriptor["annotations"].as_object().unwrap_or(&Map::new()))
    });
    let hints = hints.reduce(Hints::or).unwrap_or_else(|| Hints::read(&Map::new()));
    tool(root, EXECUTE, &description, schema, hints, inputs, Execute::Forward)
}

fn tool(root: &RootSettings, name: &str, text: &str, schema: Value, hints: Hints, inputs: Vec<Input>, execute: Execute) -> Tool {
    let hints: Map<String, Value> = hints.members().into_iter().collect();
    let descriptor = json!({ "name": name, "title": title_of(name), "description": text, "inputSchema": schema, "annotations": hints });
    let script = ScriptLimits { loops: 1, memory_bytes: 1 << 20, output_bytes: 1 << 20 };
    Tool {
        descriptor: descriptor.to_string(),
        inputs,
        errors: Errors { style: root.error_style.value, expose: false, on: Vec::new() },
        limits: Limits { output_bytes: SHOWN_BYTES, on_exceed: OnExceed::Fit, script, ..Limits::DEFAULT },
        ..Tool::new(name, execute)
    }
}

fn input(name: &str, kind: InputKind) -> Input {
    Input {
        name: name.into(),
        kind,
        optional: false,
        nullable: false,
        default: None,
        allowed: Vec::new(),
        min: None,
        max: None,
        pattern: None,
        format: None,
        items: None,
        fields: Vec::new(),
        header: None,
    }
}

/// The index of every tool that is not one of the two.
fn index(tools: &[Tool]) -> SearchIndex {
    let mut places: Vec<(u32, BTreeMap<String, f64>)> = Vec::new();
    for (place, tool) in (0_u32..).zip(tools) {
        if ![SEARCH, EXECUTE].contains(&tool.name.as_str()) {
            places.push((place, counted(tool)));
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "an app has far fewer than 2^53 tools")]
    let count = places.len() as f64;
    let length = |counted: &BTreeMap<String, f64>| counted.values().sum::<f64>();
    let average = places.iter().map(|(_, counted)| length(counted)).sum::<f64>() / count.max(1.0);
    let mut found: BTreeMap<&str, Vec<(u32, f64)>> = BTreeMap::new();
    for (place, counted) in &places {
        let norm = K1 * (1.0 - B + B * length(counted) / average);
        for (word, frequency) in counted {
            found.entry(word).or_default().push((*place, frequency * (K1 + 1.0) / (frequency + norm)));
        }
    }
    let weighed = found.into_iter().map(|(word, tools)| {
        #[allow(clippy::cast_precision_loss, reason = "an app has far fewer than 2^53 tools")]
        let with = tools.len() as f64;
        let rarity = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a weight is between 0 and some tens")]
        let weight = |frequency: f64| ((1000.0 * rarity * frequency).round() as u32).max(1);
        IndexedWord { word: word.to_owned(), tools: tools.into_iter().map(|(place, frequency)| (place, weight(frequency))).collect() }
    });
    SearchIndex { words: weighed.collect() }
}

/// The words of a tool, and how often each stands in it, weighed by where.
fn counted(tool: &Tool) -> BTreeMap<String, f64> {
    let descriptor: Value = serde_json::from_str(&tool.descriptor).unwrap_or_default();
    let mut counted = BTreeMap::new();
    let mut count = |text: &str, weight: f64| words(text).into_iter().for_each(|word| *counted.entry(word).or_insert(0.0) += weight);
    count(&tool.name, NAME);
    // A title that is made of the name has nothing new.
    for title in [&descriptor["title"], &descriptor["annotations"]["title"]] {
        let title = title.as_str().filter(|title| *title != title_of(&tool.name));
        count(title.unwrap_or_default(), TITLE_AND_TAGS);
    }
    for tag in descriptor["_meta"]["millrace/tags"].as_array().into_iter().flatten() {
        count(tag.as_str().unwrap_or_default(), TITLE_AND_TAGS);
    }
    count(without_tag(descriptor["description"].as_str().unwrap_or_default()), DESCRIPTION);
    for (name, schema) in descriptor["inputSchema"]["properties"].as_object().into_iter().flatten() {
        count(name, INPUTS);
        count(schema["description"].as_str().unwrap_or_default(), INPUTS);
    }
    counted
}
