//! Values into items and back, and hostile ones through every form of placeholder.

use millrace_core::{Json, value::Value};
use millrace_tests::{
    database::{Database, runtime, text},
    dynoxide::Dynoxide,
    shown::shown,
};
use serde_json::json;

use crate::in_process::{call, endpoint_of, text as text_of};
use crate::redis::hostile::values;

#[test]
fn every_value_comes_back_as_it_went_in() {
    let server = Dynoxide::start();
    server.create("kept");
    let database = Database::open(server.connection());
    let decimal = |digits: &str| Value::Decimal(digits.to_owned());
    for (number, (value, back)) in [
        (Value::Null, None),
        (Value::Bool(true), None),
        (Value::I64(9_007_199_254_740_993), None),
        (Value::I64(i64::MIN), None),
        (Value::U64(u64::MAX), Some(decimal("18446744073709551615"))),
        (Value::F64(0.1), None),
        (Value::F64(1.0), Some(Value::I64(1))),
        (Value::F64(-1.5e-7), None),
        (decimal("12345678901234567890.123456789"), None),
        (decimal("1.50"), Some(Value::F64(1.5))),
        (text(""), None),
        (text("o'neil; --"), None),
        (text("\\ \t \r\n \0 \u{7f} \u{2028} 🙂 ?"), None),
        (Value::Timestamp("2026-01-02T03:04:05.123456Z".into()), Some(text("2026-01-02T03:04:05.123456Z"))),
        (Value::Bytes((0..=255).collect()), None),
        (Value::Array(vec![Value::I64(1), text("'"), Value::Null, Value::Bytes(vec![0])]), None),
        (Value::Json(json!({"a": {"b": [1, "'", null, true, 0.25]}})), None),
    ]
    .into_iter()
    .enumerate()
    {
        let id = text(&number.to_string());
        let made = database.run("INSERT INTO \"kept\" VALUE {'id': ?, 'v': ?}", &[id.clone(), value.clone()]).unwrap();
        assert_eq!((made.affected, made.columns.len()), (1, 0), "{value:?}");
        let found = database.run("SELECT \"v\" FROM \"kept\" WHERE \"id\" = ?", &[id]).unwrap();
        assert_eq!(found.rows, [[back.unwrap_or(value)]]);
    }
    database.ping().unwrap();
}

const FORMS: &str = "inputs:\n  k: { type: string }\n  s: { type: string }\n  list: { type: array, items: { type: string }, optional: true }\n\
     limits: { output: 1mb }\n";

/// What an item has of a value, form by form.
fn forms(value: &str) -> Json {
    json!({
        "whole": value, "quoted": value, "start": format!("{value}z"), "end": format!("a{value}"), "middle": format!("it's %{value}% \""),
        "twice": format!("{value}|{value}"), "later": value, "latest": format!("<{value}>"),
    })
}

#[test]
fn every_hostile_value_arrives_and_nothing_else_happens() {
    let server = Dynoxide::start();
    server.create("kept");
    let _ = server.call("PutItem", &json!({"TableName": "kept", "Item": {"id": {"S": "canary"}, "state": {"S": "alive"}}}));
    let adapter = format!(
        "connector: dynamodb\nconnection_string: dynamodb://eu-central-1\noptions: {{ endpoint: \"{}\", access_key_id: AKID, secret_access_key: hunter2 }}\n",
        server.endpoint()
    );
    let add = "INSERT INTO \"kept\" VALUE {'id': {{ inputs.k }}, 'whole': {{ inputs.s }}, 'quoted': '{{ inputs.s }}', 'start': '{{ inputs.s }}z', \
               'end': 'a{{ inputs.s }}', 'middle': 'it''s %{{ inputs.s }}% \"', 'twice': '{{ inputs.s }}|{{ inputs.s }}'} -- {{ inputs.s }}";
    let tools = [
        ("add", add),
        ("change", "UPDATE \"kept\" SET later = {{ inputs.s }} SET latest = '<{{ inputs.s }}>' WHERE \"id\" = {{ inputs.k }}"),
        (
            "find",
            "SELECT \"id\" FROM \"kept\" WHERE \"id\" = {{ inputs.k }} AND \"whole\" = {{ inputs.s }} AND contains(\"middle\", '%{{ inputs.s }}%')",
        ),
        ("among", "SELECT \"whole\" FROM \"kept\" WHERE \"id\" IN ({{ inputs.list }})"),
        ("get", "SELECT * FROM \"kept\" WHERE \"id\" = {{ inputs.k }}"),
        ("remove", "DELETE FROM \"kept\" WHERE \"id\" = {{ inputs.s }}"),
    ];
    let tools: Vec<_> = tools.into_iter().map(|(name, statement)| (name, Json::from(statement).to_string(), FORMS)).collect();
    let (endpoint, _folder) = endpoint_of(&adapter, &tools);
    let all = values();
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for (number, value) in all.iter().enumerate() {
            let key = format!("k{number}");
            let given = json!({"k": key, "s": value, "list": [key, format!("'{value}"), key]});
            let ask = async |tool: &str| text_of(&call(&endpoint, tool, given.clone()).await).to_owned();
            assert_eq!(ask("add").await, r#"{"affected_rows":1}"#, "{value:?}");
            assert_eq!(ask("change").await, r#"{"affected_rows":1}"#, "{value:?}");
            assert_eq!(ask("find").await, json!([{"id": key}]).to_string(), "{value:?}");
            assert_eq!(ask("among").await, shown(json!([{"whole": value}])).to_string(), "{value:?}");
            let item = &serde_json::from_str::<Json>(&ask("get").await).unwrap()[0];
            for (form, expected) in forms(value).as_object().unwrap() {
                assert_eq!(item[form], shown(expected.clone()), "{form} with {value:?}");
            }
            // No item has such a key; an empty one is refused.
            let removed = ask("remove").await;
            assert!(removed == r#"{"affected_rows":0}"# || value.is_empty() || value.len() > 2048, "{value:?}: {removed}");
        }
    });
    let items = server.items("kept");
    assert_eq!(items.len(), all.len() + 1);
    assert!(items.iter().any(|item| item["id"]["S"] == "canary" && item["state"]["S"] == "alive"));
    assert_eq!(server.call("ListTables", &json!({}))["TableNames"], json!(["kept"]));
}
