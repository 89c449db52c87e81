//! Hostile values through the whole pipeline into a real database: each comes back to the byte, apart from what would be
//! hidden, in one row, and nothing else changed.

use millrace_core::{
    Endpoint, Json,
    app::{Bind, Execute, Part, Tool},
    cancel::Cancel,
    headers::Headers,
    hidden::visible,
    pipeline::{Call, ContentBlock},
};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{Group, case::root, direct::compile};

/// What a form of the app makes of a value.
fn expected(tool: &str, value: &str) -> String {
    match tool {
        "composed-end" => format!("a{value}"),
        "composed-start" => format!("{value}z"),
        "composed-middle" => format!("it's %{value}% \""),
        "composed-twice" => format!("{value}|{value}"),
        _ => value.to_owned(),
    }
}

async fn rows(endpoint: &Endpoint, tool: &str, arguments: Json) -> Vec<Json> {
    let Json::Object(arguments) = arguments else { panic!("arguments are an object") };
    let call = Call {
        method: "tools/call",
        tool,
        arguments,
        request_id: "test",
        trace: Default::default(),
        headers: &Headers::new(),
        platform_caller: None,
        protocol: "2026-07-28",
        deadline_ms: None,
        cancel: &Cancel::new(),
        listener: None,
        rounds: Default::default(),
        operation: Default::default(),
    };
    let result = endpoint.pipeline().call(call).await.unwrap_or_else(|fault| panic!("{tool}: {fault:?}"));
    let [ContentBlock::Text(text)] = result.content.as_slice() else { panic!("{tool}: {result:?}") };
    assert!(!result.is_error, "{tool}: {text}");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{tool}: {error}: {text}"))
}

/// Whether a statement puts a value into a text of its own.
fn composes(tool: &Tool) -> bool {
    let Execute::Statement { statement, .. } = &tool.execute else { return false };
    statement.parts.iter().any(|part| matches!(part, Part::Bind(Bind::Composed(pieces)) if pieces.len() > 1))
}

#[test]
fn every_value_comes_back_through_every_form() {
    let group = Group { name: "hostile".into(), app: root().join("tests/hostile/app"), ..Group::default() };
    let folder = group.install();
    let app = compile(folder.path());
    let tools: Vec<(String, bool)> = app.tools.iter().map(|tool| (tool.name.clone(), composes(tool))).collect();
    assert!(tools.iter().filter(|(_, composes)| *composes).count() >= 2, "{tools:?}");
    let values: Vec<String> =
        serde_json::from_str(&std::fs::read_to_string(root().join("tests/data/hostile-values.json")).unwrap()).unwrap();
    assert!(values.len() >= 60 && tools.len() >= 15, "{} values, {} forms", values.len(), tools.len());

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let endpoint =
            Endpoint::new(app, ports::native(folder.path().to_path_buf(), Variables::default(), &CacheChoice::Memory, &Tasks::new()));
        for (tool, composes) in &tools {
            // A NUL character has no place within a composed text.
            for value in values.iter().filter(|value| !(*composes && value.contains('\0'))) {
                let mut arguments = serde_json::json!({ "s": value });
                if tool == "in-list" {
                    arguments["list"] = serde_json::json!(["other", value, "'"]);
                }
                let found = rows(&endpoint, tool, arguments).await;
                assert_eq!(found, [serde_json::json!({ "v": visible(&expected(tool, value)) })], "{tool} with {value:?}");
            }
        }
    });

    let database = rusqlite::Connection::open(folder.path().join("hostile.db")).unwrap();
    let one = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(one("SELECT COUNT(*) FROM canary WHERE (id, s) IN (VALUES (1, 'alive'), (2, 'and well'))"), 2);
    assert_eq!(one("SELECT COUNT(*) FROM canary"), 2);
    assert_eq!(one("SELECT COUNT(*) FROM sqlite_schema"), 2, "no table came or went");
    let kept: Vec<String> = {
        let mut statement = database.prepare("SELECT s FROM kept ORDER BY id").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(kept, [values.clone(), values].concat(), "each insert kept its value");
}
