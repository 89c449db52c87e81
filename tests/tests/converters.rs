//! Libraries that hand a server's tools to a model: each takes every tool of every app here, with
//! the arguments that it has.
//!
//! They are what people really connect: each has its own idea of the JSON Schema that it
//! understands, and several drop a whole server for one schema that they do not. The tools come
//! from the apps of the corpus, from what `millrace new` writes, and from generated apps with every
//! kind of input. `scripts/setup` installs the libraries.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, process::Command};

use millrace_tests::{Case, Exchange, Group, case::root, direct, groups, is_everything_run, new_app::NewApp, sample};
use serde_json::{Value as Json, json};

use crate::clients::installed;

/// How many generated apps there are: 300 with `MILLRACE_CONVERTERS=full`, 40 with
/// `scripts/test --all`.
fn generated() -> usize {
    if std::env::var("MILLRACE_CONVERTERS").is_ok_and(|value| value == "full") {
        300
    } else if is_everything_run() {
        40
    } else {
        10
    }
}

/// What a library asks a model for.
#[derive(Clone, Copy)]
enum Asks {
    /// The arguments that the schema requires.
    Required,
    /// Every argument: the library knows no other kind, or says by `null` that one is left out.
    Every,
}

/// The libraries, the environment that has each, and what each asks for. The first of each three,
/// and the last, are those of `scripts/test`; `scripts/test --all` has all.
const LIBRARIES: [(&str, &str, Asks); 10] = [
    ("converters", "langchain", Asks::Required),
    ("converters", "autogen", Asks::Required),
    ("converters", "smolagents", Asks::Every),
    ("converters", "openai_agents", Asks::Every),
    ("converters", "dspy", Asks::Every),
    ("converters", "semantic_kernel", Asks::Required),
    ("converters", "pydantic_ai", Asks::Required),
    ("converters", "llama_index", Asks::Required),
    ("converters", "adk", Asks::Required),
    ("crewai", "crewai", Asks::Required),
];

/// The tools that an app lists; nothing if it lists none to a caller without a token.
fn listed(group: Group) -> Vec<Json> {
    let request = "POST /mcp\ncontent-type: application/json\nmcp-protocol-version: 2025-11-25\n\n{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}";
    let case = Case { name: "list".to_owned(), expected: Path::new("").to_path_buf(), requests: vec![Exchange::parse(request)] };
    let answers = direct::run(&Group { cases: vec![case], ..group });
    let text = &answers[0][0];
    let body = text.split_once("\n\n").map_or("", |(_, body)| body);
    let answer: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut tools = answer["result"]["tools"].as_array().cloned().unwrap_or_default();
    // A `json_schema` with more than that is its author's own, and `check` tells which clients do
    // not take it.
    let known = ["type", "properties", "required", "additionalProperties"];
    tools.retain(|tool| names(&tool["inputSchema"]).iter().all(|keyword| known.contains(keyword)));
    tools
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap_or_default()]
    }
}

/// A declaration of an input, as YAML in one line.
fn input(numbers: &mut Numbers, depth: u64) -> String {
    let kinds = ["string", "int", "float", "boolean", "datetime", "date", "uuid", "json", "array", "object"];
    let kind = numbers.one_of(&kinds[..if depth == 0 { 8 } else { 10 }]);
    let mut text = format!("{{ type: {kind}");
    match kind {
        "string" => match numbers.below(4) {
            0 => text += ", min: 1, max: 40, pattern: \"^[a-z]+$\"",
            1 => text += ", enum: [low, medium, high]",
            2 => {
                _ = write!(
                    text,
                    ", format: {}",
                    numbers.one_of(&["email", "uri", "hostname", "ipv4", "ipv6", "uuid", "date", "time", "date-time"])
                )
            }
            _ => {}
        },
        "int" | "float" if numbers.below(2) == 0 => text += ", min: 0, max: 100",
        "int" if numbers.below(2) == 0 => text += ", enum: [1, 2, 3]",
        "array" => _ = write!(text, ", min: 1, max: 9, items: {}", input(numbers, depth - 1)),
        "object" if numbers.below(4) > 0 => {
            text += ", fields: { ";
            for name in ["first", "second"] {
                _ = write!(text, "{name}: {}, ", input(numbers, depth - 1));
            }
            text += "}";
        }
        _ => {}
    }
    for flag in ["optional", "nullable"] {
        if numbers.below(3) == 0 {
            _ = write!(text, ", {flag}: true");
        }
    }
    if numbers.below(2) == 0 {
        text += ", description: \"What it is\"";
    }
    text + " }"
}

/// An app of three tools, one of them without inputs.
fn generate(folder: &Path, number: u64) {
    let mut numbers = Numbers(number);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("millrace.yaml"), format!("name: generated-{number}\n")).unwrap();
    for tool in 0..3 {
        let place = folder.join(format!("app/tools/tool-{tool}"));
        fs::create_dir_all(&place).unwrap();
        let mut config = "description: Does something with what it gets.\nkind: query\nhandler: ./handler.ts\n".to_owned();
        if tool > 0 {
            config += "inputs:\n";
            for input_number in 0..=numbers.below(5) {
                _ = writeln!(config, "  input_{input_number}: {}", input(&mut numbers, 2));
            }
        }
        fs::write(place.join("config.yaml"), config).unwrap();
        fs::write(place.join("handler.ts"), "export default () => ({ done: true });\n").unwrap();
    }
}

/// Every tool there is, under a name of its own that says where it comes from.
fn every_tool() -> Vec<Json> {
    let mut tools = Vec::new();
    let mut add = |source: &str, listed: Vec<Json>| {
        let number = tools.len();
        tools.extend(listed.into_iter().enumerate().map(|(offset, mut tool)| {
            let name = tool["name"].as_str().unwrap_or_default().replace(|character: char| !character.is_ascii_alphanumeric(), "_");
            // Short enough for every client, whatever it puts before a name.
            tool["name"] = format!("t{}_{}", number + offset, name[..name.len().min(20)].trim_end_matches('_')).into();
            tool["description"] = format!("{source}: {}", tool["description"].as_str().unwrap_or_default()).into();
            tool
        }));
    };
    for group in groups() {
        let name = group.name.clone();
        add(&name, listed(group));
    }
    let conformance = Group { name: "conformance".to_owned(), app: root().join("tests/conformance/app"), ..Group::default() };
    add("conformance", listed(conformance));
    let starter = NewApp::make("starter", &[]);
    add("starter", listed(Group { name: "starter".to_owned(), app: starter.path(), ..Group::default() }));
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("shop.db");
    let tables = fs::read_to_string(root().join("app/adapters/shop.sql")).unwrap();
    rusqlite::Connection::open(&database).unwrap().execute_batch(tables.split_once("\nWITH").unwrap().0).unwrap();
    let from = NewApp::make("from", &["--from", &format!("sqlite:{}", database.display())]);
    add("from a database", listed(Group { name: "from".to_owned(), app: from.path(), ..Group::default() }));
    for number in 0..generated() {
        let place = folder.path().join(format!("generated-{number}"));
        generate(&place, number as u64);
        add(&format!("generated {number}"), listed(Group { name: format!("generated-{number}"), app: place, ..Group::default() }));
    }
    tools
}

fn names(value: &Json) -> Vec<&str> {
    let mut names: Vec<&str> = match value {
        Json::Object(members) => members.keys().map(String::as_str).collect(),
        value => value.as_array().into_iter().flatten().filter_map(Json::as_str).collect(),
    };
    names.sort_unstable();
    names
}

#[test]
fn libraries_take_every_tool_as_it_is() {
    let tools = every_tool();
    assert!(tools.len() > 250, "only {} tools", tools.len());
    let folder = tempfile::tempdir().unwrap();
    let mut problems = String::new();
    for (environment, library, asks) in sample(LIBRARIES.to_vec(), 3) {
        let list = folder.path().join("list.json");
        fs::write(&list, json!(tools).to_string()).unwrap();
        let mut command = Command::new(installed(&format!("{environment}/bin/python")));
        command.arg(root().join("tests/converters/converters.py")).arg(&list).arg(library);
        let answer = &crate::clients::json(command.output().unwrap())[library];
        match answer["tools"].as_object() {
            Some(made) => check(library, asks, &tools, made, &mut problems),
            None => _ = writeln!(problems, "{library} takes no tool: {}", answer["error"].as_str().unwrap_or_default()),
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

/// Compares what a library made of the tools with what the list says.
fn check(library: &str, asks: Asks, tools: &[Json], made: &serde_json::Map<String, Json>, problems: &mut String) {
    let made: BTreeMap<&str, &Json> = made.iter().map(|(name, value)| (name.as_str(), value)).collect();
    for tool in tools {
        let (name, schema) = (tool["name"].as_str().unwrap_or_default(), &tool["inputSchema"]);
        let Some(found) = made.get(name) else {
            _ = writeln!(problems, "{library} drops {name}: {tool}");
            continue;
        };
        if names(&schema["properties"]) != names(&found["arguments"]) {
            _ = writeln!(problems, "{library} gives {name} other arguments: {found}\n{schema}");
        }
        if matches!(asks, Asks::Required) && names(&schema["required"]) != names(&found["required"]) {
            _ = writeln!(problems, "{library} requires others of {name}: {found}\n{schema}");
        }
    }
}
