//! What lists say of tools: their schemas are in the part of JSON Schema that every client takes,
//! and what a tool sends fits them.

use std::{fs, io::Write as _, process::Stdio};

use millrace_core::{Json, app::App};
use millrace_tests::{
    Group,
    case::{Case, Exchange, root},
    direct, is_everything_selected,
    new_app::NewApp,
    selected_groups,
};
use serde_json::{Map, json};

use crate::clients::installed;

/// The tools as `tools/list` has them for both eras, by name: the legacy one first.
fn listed(app: &Group) -> [Map<String, Json>; 2] {
    let legacy = Exchange::parse(
        "POST /mcp\ncontent-type: application/json\nmcp-protocol-version: 2025-06-18\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
    );
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    let modern = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let modern = Exchange::parse(&format!(
        "POST /mcp\ncontent-type: application/json\nmcp-protocol-version: 2026-07-28\nmcp-method: tools/list\n\n{modern}"
    ));
    let case = Case { name: "lists".into(), expected: "lists.out".into(), requests: vec![legacy, modern] };
    let alone = Group { name: app.name.clone(), app: app.app.clone(), env: app.env.clone(), cases: vec![case], ..Group::default() };
    let answers = direct::run(&alone).remove(0);
    let tools = |answer: &String| {
        let list = messages(answer).find_map(|message| message["result"]["tools"].as_array().cloned()).unwrap_or_default();
        list.into_iter().map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), tool)).collect::<Map<_, _>>()
    };
    [tools(&answers[0]), tools(&answers[1])]
}

/// The messages of an answer, as a body or as a stream.
fn messages(answer: &str) -> impl Iterator<Item = Json> {
    let body = answer.split_once("\n\n").map_or("", |(_, body)| body);
    let lines = body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    lines.filter_map(|line| serde_json::from_str(line).ok())
}

#[test]
fn what_tools_send_fits_what_they_advertise() {
    let (mut pairs, mut missing) = (Vec::new(), Vec::new());
    for group in selected_groups() {
        let lists = listed(&group);
        for case in &group.cases {
            let expected = fs::read_to_string(&case.expected).unwrap_or_default();
            for (request, answer) in case.requests.iter().zip(expected.trim_end().split("\n###\n")) {
                let Ok(sent) = serde_json::from_str::<Json>(&request.body) else { continue };
                let version = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-protocol-version"));
                let version = version.map_or("2025-03-26", |(_, version)| version.as_str());
                let list = &lists[usize::from(sent["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28")];
                let Some(tool) = sent["params"]["name"].as_str().filter(|_| sent["method"] == "tools/call").and_then(|name| list.get(name))
                else {
                    continue;
                };
                let place = format!("{}/{} {}", group.name, case.name, tool["name"]);
                for message in messages(answer).filter(|message| message["result"]["content"].is_array()) {
                    let result = &message["result"];
                    match (tool.get("outputSchema"), result.get("structuredContent")) {
                        (Some(schema), Some(value)) => pairs.push(json!({ "place": place, "schema": schema, "value": value })),
                        // What is advertised has to come, unless the call failed or the revision
                        // has no such member.
                        (Some(_), None) if result["isError"] == false && version >= "2025-06-18" => missing.push(place.clone()),
                        _ => {}
                    }
                }
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "results without structured content");
    assert!(pairs.len() >= 100 || !is_everything_selected(), "only {} results have a schema", pairs.len());
    let mut python = std::process::Command::new(installed("venv/bin/python"))
        .arg(root().join("tests/clients/fits.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = python.stdin.take().unwrap();
    let lines: String = pairs.iter().map(|pair| format!("{pair}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the validator failed");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

/// What some client does not take about a schema.
fn problems(schema: &Json, path: &str, found: &mut Vec<String>) {
    let Some(members) = schema.as_object() else { return found.push(format!("{path}: not an object")) };
    let mut say = |what: &str| found.push(format!("{path}: {what} in {schema}"));
    for keyword in ["$ref", "$defs", "definitions", "allOf", "oneOf", "not", "if", "prefixItems", "exclusiveMinimum", "exclusiveMaximum"] {
        if members.contains_key(keyword) {
            say(keyword);
        }
    }
    let kind = members.get("type");
    if kind.is_some_and(Json::is_array) || (kind.is_none() && !members.contains_key("anyOf")) {
        say("not one type");
    }
    if members.contains_key("anyOf") && (path.is_empty() || kind.is_some()) {
        say("a choice at the top or beside a type");
    }
    if members.get("format").is_some_and(|format| format != "date-time") {
        say("a format");
    }
    if members.get("enum").and_then(Json::as_array).is_some_and(|values| !values.iter().all(Json::is_string)) {
        say("an `enum` that is not of texts");
    }
    if members.get("additionalProperties").is_some_and(|schema| !schema.is_boolean()) {
        say("a schema of further members");
    }
    if kind.is_some_and(|kind| kind == "array") && !members.get("items").is_some_and(Json::is_object) {
        say("a list without `items`");
    }
    if path.is_empty() && kind.is_some_and(|kind| kind == "object") && !members.contains_key("properties") {
        say("no `properties`");
    }
    for (name, inner) in members.get("properties").and_then(Json::as_object).into_iter().flatten() {
        let is_key = (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
        if !is_key {
            found.push(format!("{path}: the name `{name}`"));
        }
        problems(inner, &format!("{path}.{name}"), found);
    }
    // `{}` is an element of any type.
    if let Some(items) = members.get("items").filter(|items| **items != json!({})) {
        problems(items, &format!("{path}[]"), found);
    }
    for inner in members.get("anyOf").and_then(Json::as_array).into_iter().flatten() {
        problems(inner, &format!("{path}|"), found);
    }
}

/// Looks at the entries of an app's tools. Schemas that their authors wrote are their own.
fn check(name: &str, app: &App, found: &mut Vec<String>) {
    for tool in &app.tools {
        let entry: Json = serde_json::from_str(&tool.descriptor).unwrap();
        let place = format!("{name}: {}", tool.name);
        let mut of_tool = Vec::new();
        if tool.input_schema.is_none() {
            problems(&entry["inputSchema"], "", &mut of_tool);
        }
        let own = tool.output.as_deref().and_then(|own| serde_json::from_str::<Json>(own).ok());
        if let Some(schema) = entry.get("outputSchema").filter(|schema| own.as_ref() != Some(*schema)) {
            problems(schema, "", &mut of_tool);
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            if !entry["annotations"][hint].is_boolean() {
                of_tool.push(format!("no {hint}"));
            }
        }
        if entry["annotations"]["readOnlyHint"] == true && entry["annotations"]["destructiveHint"] == true {
            of_tool.push("reads and destroys".into());
        }
        if entry["title"].as_str().is_none_or(str::is_empty) {
            of_tool.push("no title".into());
        }
        found.extend(of_tool.into_iter().map(|problem| format!("{place}: {problem}")));
    }
}

#[test]
fn every_client_takes_every_schema() {
    let mut found = Vec::new();
    for group in selected_groups() {
        check(&group.name, &direct::compile(group.install().path()), &mut found);
    }
    check("conformance", &direct::compile(&root().join("tests/conformance/app")), &mut found);
    check("new", &direct::compile(&NewApp::make("notes", &[]).path()), &mut found);
    assert_eq!(found, Vec::<String>::new());
}
