//! Hostile values through every form of placeholder: each arrives to the byte, and nothing else
//! happens.

use millrace_core::{Endpoint, Json, value::Value};
use millrace_tests::{database::runtime, shown::shown};
use serde_json::json;

use super::support::shop;
use crate::in_process::{call, endpoint_of, in_sample, is_in_sample, text};
use crate::redis::hostile::values;

pub(super) const SQL: &str = "\
CREATE TABLE canary (id int, s text);
INSERT INTO canary VALUES (1, 'alive'), (2, 'and well');
CREATE TABLE vals (id int PRIMARY KEY, s text, framed text, list text[], data jsonb);
CREATE TABLE parts (id int PRIMARY KEY REFERENCES vals, s text);
CREATE TABLE kept (id serial PRIMARY KEY, s text, list text[], data jsonb, is_admin boolean DEFAULT false);
CREATE TABLE gone (s text);
CREATE FUNCTION echo(s text) RETURNS text LANGUAGE sql STABLE AS 'SELECT s';
CREATE FUNCTION echo_json(j json) RETURNS json LANGUAGE sql STABLE AS 'SELECT j';
";

const INPUTS: &str = "inputs:\n  s: { type: string }\n  list: { type: array, items: { type: string }, optional: true }\n  \
                      rows: { type: array, items: { type: object }, optional: true }\n";

/// Of so many pairs of a condition and a value one is tried, unless everything is.
const EACH: usize = 5;

/// Conditions that are true of the one row with the value `s`: `list` is `["one", s, s]`.
const CONDITIONS: [(&str, &str); 16] = [
    ("eq", r#"{"s": {"eq": "{{ inputs.s }}"}}"#),
    ("framed", r#"{"framed": {"eq": "a \"{{ inputs.s }}\", {{ inputs.s }}) z"}}"#),
    ("in", r#"{"s": {"in": "{{ inputs.list }}"}}"#),
    ("in-written", r#"{"s": {"in": ["one", "{{ inputs.s }}"]}}"#),
    ("in-one", r#"{"s": {"in": ["{{ inputs.s }}"]}}"#),
    ("not-neq", r#"{"s": {"not": {"neq": "{{ inputs.s }}"}}}"#),
    ("range", r#"{"s": {"gte": "{{ inputs.s }}", "lte": "{{ inputs.s }}"}}"#),
    ("or", r#"{"or": [{"s": {"eq": "{{ inputs.s }}"}}, {"id": {"lt": 0}}]}"#),
    ("and-in-not", r#"{"not": {"and": [{"s": {"neq": "{{ inputs.s }}"}}, {"id": {"gte": 0}}]}}"#),
    ("cs", r#"{"list": {"cs": ["{{ inputs.s }}"]}}"#),
    ("cs-json", r#"{"data": {"cs": {"k": ["{{ inputs.s }}"]}}}"#),
    ("cd", r#"{"list": {"cd": ["{{ inputs.s }}", "all"]}}"#),
    ("ov", r#"{"list": {"ov": ["{{ inputs.s }}", "nothing"]}}"#),
    ("key", r#"{"data->>s": {"eq": "{{ inputs.s }}"}}"#),
    ("key-in", r#"{"data->>s": {"in": ["{{ inputs.s }}", "nothing else"]}}"#),
    ("related", r#"{"parts.s": {"eq": "{{ inputs.s }}"}}"#),
];

/// Conditions with values that have a meaning of their own, and what they are in SQL.
const PATTERNS: [(&str, &str, &str); 5] = [
    ("like", r#"{"s": {"like": "{{ inputs.s }}"}}"#, "v.s LIKE replace($1, '*', '%')"),
    ("ilike", r#"{"s": {"ilike": "{{ inputs.s }}"}}"#, "v.s ILIKE replace($1, '*', '%')"),
    ("match", r#"{"s": {"match": "{{ inputs.s }}"}}"#, "v.s ~ $1"),
    ("plfts", r#"{"s": {"plfts(simple)": "{{ inputs.s }}"}}"#, "v.s @@ plainto_tsquery('simple', $1)"),
    ("not-like", r#"{"s": {"not": {"like": "{{ inputs.s }}"}}}"#, "NOT v.s LIKE replace($1, '*', '%')"),
];

/// The request of a form of conditions: it finds the identifiers of rows.
fn found(condition: &str) -> String {
    format!(r#"{{"from": "vals", "select": "id,parts!inner(s)", "where": {condition}, "order": "id"}}"#)
}

/// What a form returns for a value; nothing where it is thousands of bytes, too long for a URL, or
/// one that PostgREST would take for a condition.
async fn answer(endpoint: &Endpoint, tool: &str, value: &str) -> Option<Json> {
    let given = json!({ "s": value, "list": ["one", value, value], "rows": [{"s": value, "is_admin": true}, {"s": "other"}] });
    let result = call(endpoint, tool, given).await;
    if result.is_error && text(&result).contains("make a URL of") {
        assert!(value.len() > 5_000, "{tool} {value:?}");
        return None;
    }
    if result.is_error && tool == "echo-get" && text(&result).contains("begins like a condition") {
        assert!(["not.eq.x", "eq.x", "in.(1)", "fts(english).x"].contains(&value), "{value:?}");
        return None;
    }
    assert!(!result.is_error, "{tool} {value:?}: {}", text(&result));
    Some(serde_json::from_str(text(&result)).unwrap())
}

#[test]
fn each_value_arrives_to_the_byte() {
    let shop = shop(SQL, &[]);
    let adapter = format!("connector: postgrest\nconnection_string: {}\n", shop.postgrest.url());
    let mut values: Vec<String> = values();
    values.extend(
        [
            "null",
            "true",
            "a,b",
            "a\"),b.eq.(\"c",
            "{a,b}",
            "(1,2)",
            "a;b&c=d#e",
            "%00%22",
            "*",
            "not.eq.x",
            "eq.x",
            "in.(1)",
            "fts(english).x",
            "\\\"",
            "𝄞 ü",
        ]
        .map(str::to_owned),
    );
    values.sort();
    values.dedup();
    let (nul, values): (Vec<String>, Vec<String>) = values.into_iter().partition(|value| value.contains('\0'));
    assert!(nul.len() >= 3 && values.len() >= 174, "{} {}", nul.len(), values.len());

    let mut tools: Vec<(&str, String, &str)> = vec![
        (
            "put",
            r#"{"insert": "kept", "rows": [{"s": "{{ inputs.s }}", "list": ["{{ inputs.s }}", "x"], "data": {"k": "<{{ inputs.s }}>"}}], "returning": "s,list,data"}"#.into(),
            INPUTS,
        ),
        ("put-rows", r#"{"insert": "kept", "rows": "{{ inputs.rows }}", "columns": ["s"], "returning": ["s", "is_admin"]}"#.into(), INPUTS),
        (
            "upsert",
            r#"{"upsert": "kept", "rows": {"id": 1000000, "s": "{{ inputs.s }}"}, "on_conflict": "id", "returning": "s"}"#.into(),
            INPUTS,
        ),
        ("set", r#"{"update": "kept", "set": {"s": "{{ inputs.s }}"}, "where": {"id": {"eq": 1000000}}, "returning": "s", "single": true}"#.into(), INPUTS),
        // The column of the condition is the one that changes.
        ("replace", r#"{"update": "gone", "set": {"s": "{{ inputs.s }}!"}, "where": {"s": {"eq": "{{ inputs.s }}"}}, "returning": "s"}"#.into(), INPUTS),
        ("remove", r#"{"delete": "gone", "where": {"s": {"in": ["{{ inputs.s }}!", "none"]}}, "returning": "s"}"#.into(), INPUTS),
        ("echo", r#"{"rpc": "echo", "arguments": {"s": "{{ inputs.s }}"}}"#.into(), INPUTS),
        ("echo-framed", r#"{"rpc": "echo", "arguments": {"s": "a {{ inputs.s }}\" z"}}"#.into(), INPUTS),
        ("echo-get", r#"{"rpc": "echo", "get": true, "arguments": {"s": "{{ inputs.s }}"}}"#.into(), INPUTS),
        ("echo-json", r#"{"rpc": "echo_json", "arguments": {"j": {"a": "{{ inputs.list }}", "b": {"c": "{{ inputs.s }}"}}}}"#.into(), INPUTS),
    ];
    let own = tools.len();
    tools.extend(CONDITIONS.map(|(name, condition)| (name, found(condition), INPUTS)));
    tools.extend(PATTERNS.map(|(name, condition, _)| (name, found(condition), INPUTS)));
    let (endpoint, _folder) = endpoint_of(&adapter, &tools);

    // The rows that conditions look for, by PostgreSQL's own protocol.
    let database = shop.postgres.open();
    for (id, value) in values.iter().enumerate() {
        let id = Value::I64(i64::try_from(id).unwrap());
        let framed = format!("a \"{value}\", {value}) z");
        let data = Value::Json(json!({ "k": [value], "s": value }));
        let list = Value::Array(vec![Value::Text(value.clone())]);
        let text = || Value::Text(value.clone());
        database.run("INSERT INTO vals VALUES ($1, $2, $3, $4, $5)", &[id.clone(), text(), Value::Text(framed), list, data]).unwrap();
        database.run("INSERT INTO parts VALUES ($1, $2)", &[id, text()]).unwrap();
        database.run("INSERT INTO gone VALUES ($1)", &[text()]).unwrap();
    }
    let (mut arrived, mut refused) = (0, 0);
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for (place, value) in values.iter().enumerate() {
            let expected = [
                ("put", json!([{ "s": value, "list": [value, "x"], "data": {"k": format!("<{value}>")} }])),
                // What `columns` does not have is ignored.
                ("put-rows", json!([{ "s": value, "is_admin": false }, { "s": "other", "is_admin": false }])),
                ("upsert", json!([{ "s": value }])),
                ("set", json!([{ "s": value }])),
                ("replace", json!([{ "s": format!("{value}!") }])),
                ("remove", json!([{ "s": format!("{value}!") }])),
                ("echo", json!([{ "value": value }])),
                ("echo-framed", json!([{ "value": format!("a {value}\" z") }])),
                ("echo-get", json!([{ "value": value }])),
                ("echo-json", json!([{ "a": ["one", value, value], "b": {"c": value} }])),
            ];
            assert_eq!(expected.len(), own);
            let row = json!([{ "id": place, "parts": {"s": value} }]);
            let conditions = CONDITIONS.map(|(name, _)| (name, row.clone()));
            let conditions = conditions.into_iter().enumerate().filter(|(form, _)| is_in_sample(*form, place, EACH));
            for (tool, expected) in expected.into_iter().chain(conditions.map(|(_, condition)| condition)) {
                match answer(&endpoint, tool, value).await {
                    Some(found) => assert_eq!(found, shown(expected), "{tool} {value:?}"),
                    None => refused += 1,
                }
                arrived += 1;
            }
        }
    });
    println!("{} values without NUL, {arrived} requests, of which {refused} are refused before they are sent", values.len());
    assert!(refused <= 4 + CONDITIONS.len() * values.iter().filter(|value| value.len() > 5_000).count());

    // Patterns find what they find in SQL, and PostgreSQL refuses what it refuses there.
    refused = 0;
    for (form, (tool, _, condition)) in PATTERNS.into_iter().enumerate() {
        for value in in_sample(&values, form, EACH) {
            let query = format!("SELECT v.id FROM vals v JOIN parts USING (id) WHERE {condition} ORDER BY id");
            let expected = database.run(&query, &[Value::Text(value.clone())]);
            let result = tokio::task::LocalSet::new().block_on(&runtime(), call(&endpoint, tool, json!({ "s": value })));
            if text(&result).contains("make a URL of") {
                continue;
            }
            match expected {
                Ok(rows) => {
                    assert!(!result.is_error, "{tool} {value:?}: {}", text(&result));
                    let found: Vec<Json> = serde_json::from_str(text(&result)).unwrap();
                    let found: Vec<Value> = found.iter().map(|row| Value::I64(row["id"].as_i64().unwrap())).collect();
                    assert_eq!(found, rows.rows.into_iter().flatten().collect::<Vec<_>>(), "{tool} {value:?}");
                }
                Err(error) => {
                    assert!(result.is_error, "{tool} {value:?}: {error:?}");
                    refused += 1;
                }
            }
        }
    }
    println!("PostgreSQL refuses {refused} patterns");

    // What PostgreSQL has no place for is refused before anything is sent, with the name of the
    // input.
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for (tool, ..) in tools.iter().filter(|(tool, ..)| *tool != "put-rows") {
            for value in &nul {
                let result = call(&endpoint, tool, json!({ "s": value, "list": ["one", value, value] })).await;
                assert!(result.is_error && text(&result).contains("It has a NUL character"), "{tool} {value:?}: {}", text(&result));
            }
        }
        let result = call(&endpoint, "put-rows", json!({ "s": "", "rows": [{"s": "a\0"}] })).await;
        assert!(result.is_error && text(&result).contains("It has a NUL character"), "{}", text(&result));
    });

    // Nothing else happened.
    let one = |sql: &str| database.rows(sql)[0][0].clone();
    let count = |sql: &str| if let Value::I64(count) = one(sql) { usize::try_from(count).unwrap() } else { panic!("{sql}") };
    assert_eq!(count("SELECT count(*) FROM canary WHERE (id, s) IN ((1, 'alive'), (2, 'and well'))"), 2);
    assert_eq!((count("SELECT count(*) FROM canary"), count("SELECT count(*) FROM vals")), (2, values.len()));
    assert_eq!(count("SELECT count(*) FROM kept WHERE is_admin"), 0);
    assert_eq!(count("SELECT count(*) FROM kept"), 3 * values.len() + 1);
    assert_eq!(count("SELECT count(*) FROM gone"), too_long_to_remove(&values));
    assert_eq!(count("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), 5);
}

/// How many values do not fit into a URL once.
fn too_long_to_remove(values: &[String]) -> usize {
    let coded = |value: &&String| value.bytes().filter(|byte| !byte.is_ascii_alphanumeric()).count() * 2 + value.len() > 47_900;
    values.iter().filter(coded).count()
}
