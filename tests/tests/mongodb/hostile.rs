//! Hostile values through every form of placeholder: each arrives to the byte as a leaf, and
//! nothing else happens.

use millrace_core::{Json, hidden::visible, value::Value};
use millrace_tests::{database::runtime, mongodb};
use serde_json::json;

use crate::in_process::{call, endpoint_of, text};
use crate::redis::hostile::{given, values};

/// Ways to values in a command, and what is found there.
type Places = &'static [(&'static str, &'static str)];

/// The tools of an app, and where in the command the values arrive: whole, or after what stands
/// before them.
const FORMS: [(&str, &str, Places); 9] = [
    ("filter", r#"{"find": "c", "filter": {"a": "{{ inputs.s }}"}}"#, &[("/filter/a", "<>")]),
    ("deep", r#"{"find": "c", "filter": {"$or": [{"a.b": {"$gt": "{{ inputs.s }}"}}]}}"#, &[("/filter/$or/0/a.b/$gt", "<>")]),
    ("composed", r#"{"count": "c", "query": {"a": "x {{ inputs.s }}:{{ inputs.s }} $y"}}"#, &[("/query/a", "x <>:<> $y")]),
    ("list", r#"{"find": "c", "filter": {"a": {"$in": "{{ inputs.list }}"}}}"#, &[("/filter/a/$in/1", "<>"), ("/filter/a/$in/2", "<>")]),
    (
        "insert",
        r#"{"insert": "kept", "documents": [{"a": "{{ inputs.s }}", "b": ["{{ inputs.s }}"]}]}"#,
        &[("/documents/0/a", "<>"), ("/documents/0/b/0", "<>")],
    ),
    (
        "update",
        r#"{"update": "c", "updates": [{"q": {"a": "{{ inputs.s }}"}, "u": {"$set": {"b": "{{ inputs.s }}"}}}]}"#,
        &[("/updates/0/q/a", "<>"), ("/updates/0/u/$set/b", "<>")],
    ),
    ("delete", r#"{"delete": "c", "deletes": [{"q": {"a": "{{ inputs.s }}"}, "limit": 1}]}"#, &[("/deletes/0/q/a", "<>")]),
    ("match", r#"{"aggregate": "c", "pipeline": [{"$match": {"a": "{{ inputs.s }}"}}]}"#, &[("/pipeline/0/$match/a", "<>")]),
    (
        "project",
        r#"{"aggregate": "c", "pipeline": [{"$project": {"x": "{{ inputs.s }}", "y": {"$concat": ["$a", "a {{ inputs.s }}"]}}}]}"#,
        &[("/pipeline/0/$project/x/$literal", "<>"), ("/pipeline/0/$project/y/$concat/1/$literal", "a <>")],
    ),
];

#[test]
fn each_value_is_one_leaf() {
    let server = mongodb::start(&[]);
    let adapter = format!("connector: mongodb\nconnection_string: {}\n", server.url());
    let inputs = "inputs:\n  s: { type: string }\n  list: { type: array, items: { type: string }, optional: true }\n";
    let get = r#"{"find": "kept", "filter": {"a": "{{ inputs.s }}"}, "projection": {"_id": 0, "a": 1}}"#;
    let mut tools: Vec<_> = FORMS.iter().map(|(name, document, _)| (*name, (*document).to_owned(), inputs)).collect();
    tools.push(("get", get.to_owned(), inputs));
    let (endpoint, _folder) = endpoint_of(&adapter, &tools);
    let mut values = values();
    values.extend(["$where", "$secret", "$$ROOT", "{\"$ne\": null}", "a.b"].map(str::to_owned));
    values.sort();
    values.dedup();
    let mut expected = Vec::new();
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for (tool, _, places) in FORMS {
            for value in &values {
                let result = call(&endpoint, tool, given(value)).await;
                assert!(!result.is_error, "{tool} {value:?}: {}", text(&result));
                expected.push((tool, value, places));
            }
        }
    });
    let received = server.commands();
    assert_eq!(received.len(), expected.len());
    let form = |tool: &str| {
        let (_, document, _) = FORMS.iter().find(|(name, ..)| *name == tool).unwrap();
        serde_json::from_str::<Json>(document).unwrap()
    };
    for (received, (tool, value, places)) in received.iter().zip(&expected) {
        for (place, text) in *places {
            let found = received.pointer(place).unwrap_or_else(|| panic!("{tool} {value:?}: {received}"));
            assert_eq!(found, &json!(text.replace("<>", value)), "{tool}");
        }
        same(&form(tool), received, tool);
    }
    println!("{} commands, each with the leaves that its author wrote", received.len());
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for value in &values {
            let found: Json = serde_json::from_str(text(&call(&endpoint, "get", given(value)).await)).unwrap();
            assert_eq!(found, json!([{ "a": visible(value) }]));
        }
    });
}

/// No key came or went, at any depth: what the author wrote is there, and where a placeholder stood
/// there is a text or a list of texts.
fn same(written: &Json, received: &Json, tool: &str) {
    let found = match (written, received) {
        (Json::String(text), Json::Object(members)) if text.contains("{{") && members.len() == 1 => &received["$literal"],
        _ => received,
    };
    match (written, found) {
        (Json::Object(members), Json::Object(found)) => {
            for (key, value) in members {
                same(value, found.get(key).unwrap_or_else(|| panic!("{tool}: no `{key}` in {received}")), tool);
            }
            // What the driver adds: to a command, and to a document without an identifier.
            let own = ["$db", "_id", "batchSize", "cursor", "maxTimeMS"];
            let added = found.keys().find(|key| !members.contains_key(*key) && !own.contains(&key.as_str()));
            assert_eq!(added, None, "{tool}: {received}");
        }
        (Json::Array(elements), Json::Array(found)) => {
            assert_eq!(elements.len(), found.len(), "{tool}: {received}");
            elements.iter().zip(found).for_each(|(written, found)| same(written, found, tool));
        }
        (Json::String(text), Json::Array(found)) if text.contains("inputs.list") => {
            assert!(found.len() == 3 && found.iter().all(Json::is_string), "{tool}: {received}");
        }
        (Json::String(text), found) if text.contains("{{") => assert!(found.is_string(), "{tool}: {received}"),
        (written, found) => assert_eq!(written, found, "{tool}"),
    }
}

/// Commands that the stand-in does not carry out, and where the values arrive.
const RECORDED: [(&str, &str, Places); 7] = [
    (
        "expr",
        r#"{"find": "c", "filter": {"$expr": {"$in": ["$a", ["{{ inputs.s }}", "x {{ inputs.s }}"]]}}}"#,
        &[("/filter/$expr/$in/1/0/$literal", "<>"), ("/filter/$expr/$in/1/1/$literal", "x <>")],
    ),
    (
        "let",
        r#"{"aggregate": "c", "let": {"v": "{{ inputs.s }}"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$a", "$$v"]}}}]}"#,
        &[("/let/v/$literal", "<>")],
    ),
    (
        "stages",
        r#"{"update": "c", "updates": [{"q": {"a": "{{ inputs.s }}"}, "u": [{"$set": {"b": {"$concat": ["$a", "{{ inputs.s }}"]}}}]}]}"#,
        &[("/updates/0/q/a", "<>"), ("/updates/0/u/0/$set/b/$concat/1/$literal", "<>")],
    ),
    (
        "elements",
        r#"{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a.$[e].b": "{{ inputs.s }}"}}, "arrayFilters": [{"e.c": "{{ inputs.s }}"}]}]}"#,
        &[("/updates/0/u/$set/a.$[e].b", "<>"), ("/updates/0/arrayFilters/0/e.c", "<>")],
    ),
    (
        "pull",
        r#"{"update": "c", "updates": [{"q": {}, "u": {"$pull": {"a": "{{ inputs.s }}", "b": {"c": {"$in": "{{ inputs.list }}"}}}}}]}"#,
        &[("/updates/0/u/$pull/a", "<>"), ("/updates/0/u/$pull/b/c/$in/1", "<>")],
    ),
    (
        "search",
        r#"{"aggregate": "c", "pipeline": [{"$search": {"text": {"query": "{{ inputs.s }}", "path": "a"}}}]}"#,
        &[("/pipeline/0/$search/text/query", "<>")],
    ),
    ("bounds", r#"{"find": "c", "min": {"a": "{{ inputs.s }}"}, "hint": {"a": 1}}"#, &[("/min/a", "<>")]),
];

#[test]
fn each_value_is_one_leaf_in_expressions_updates_and_scripts() {
    let server = mongodb::start(&["--record"]);
    let adapter = format!("connector: mongodb\nconnection_string: {}\n", server.url());
    let inputs = "inputs:\n  s: { type: string }\n  list: { type: array, items: { type: string }, optional: true }\n";
    let tools: Vec<_> = RECORDED.iter().map(|(name, document, _)| (*name, (*document).to_owned(), inputs)).collect();
    let (endpoint, _folder) = endpoint_of(&adapter, &tools);
    let mut values = values();
    values.extend(["$where", "$secret", "$$ROOT", "$$v", "$1", "{\"$ne\": null}", "a.b"].map(str::to_owned));
    values.sort();
    values.dedup();
    let check = |received: &Json, (tool, document, places): &(&str, &str, Places), value: &str| {
        for (place, text) in *places {
            assert_eq!(received.pointer(place), Some(&json!(text.replace("<>", value))), "{tool} {value:?}: {received}");
        }
        same(&serde_json::from_str(document).unwrap(), received, tool);
    };
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for (tool, ..) in &RECORDED {
            for value in &values {
                let result = call(&endpoint, tool, given(value)).await;
                assert!(!result.is_error, "{tool} {value:?}: {}", text(&result));
            }
        }
    });
    let received = server.commands();
    let expected = RECORDED.iter().flat_map(|form| values.iter().map(move |value| (form, value)));
    assert_eq!(received.len(), RECORDED.len() * values.len());
    received.iter().zip(expected).for_each(|(received, (form, value))| check(received, form, value));
    println!("{} commands recorded", received.len());

    // A script's text, where `$1` is the value; parts of texts are not placeholders there.
    let database = super::support::open(&server);
    let scripts: Vec<_> = RECORDED.iter().filter(|(tool, ..)| !["expr", "pull"].contains(tool)).collect();
    for (_, document, _) in &scripts {
        for value in &values {
            database.run(&document.replace("{{ inputs.s }}", "$1"), &[Value::Text(value.clone())]).unwrap();
        }
    }
    let all = server.commands();
    let sent = &all[received.len()..];
    assert_eq!(sent.len(), scripts.len() * values.len());
    let expected = scripts.iter().flat_map(|form| values.iter().map(move |value| (*form, value)));
    sent.iter().zip(expected).for_each(|(received, (form, value))| check(received, form, value));
}
