//! Hostile values through every form of placeholder: each arrives to the byte as a leaf, and nothing else happens.

use millrace_core::Json;
use millrace_tests::{database::runtime, mongodb};
use serde_json::json;

use crate::redis::hostile::{call, endpoint_of, given, text, values};

/// Ways to values in a command, and what is found there.
type Places = &'static [(&'static str, &'static str)];

/// The tools of an app, and where in the command the values arrive: whole, or after what stands before them.
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
        // No key came or went.
        let written = form(tool);
        let keys: Vec<&String> = received.as_object().unwrap().keys().filter(|key| written.get(key.as_str()).is_some()).collect();
        assert_eq!(keys, written.as_object().unwrap().keys().collect::<Vec<_>>());
    }
    println!("{} commands, each with the leaves that its author wrote", received.len());
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for value in &values {
            let found: Json = serde_json::from_str(text(&call(&endpoint, "get", given(value)).await)).unwrap();
            assert_eq!(found, json!([{ "a": value }]));
        }
    });
}
