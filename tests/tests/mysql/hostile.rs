//! Hostile values through the whole pipeline into a real MariaDB: each comes back to the byte, in one row, or is refused by its type;
//! nothing else changed.

use std::path::Path;

use millrace_core::{
    Endpoint, Json,
    cancel::Cancel,
    headers::Headers,
    hidden::visible,
    pipeline::{Call, ContentBlock},
};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{
    Group,
    case::root,
    database::{Database, connection},
    direct::compile,
    mysql::Mysql,
};
use serde_json::json;

const SETUP: &str = "CREATE TABLE canary (id int PRIMARY KEY, s text);
INSERT INTO canary VALUES (1, 'alive'), (2, 'and well');
CREATE TABLE kept (id int AUTO_INCREMENT PRIMARY KEY, s longtext CHARACTER SET utf8mb4);
CREATE TABLE strict (d date, j json, n int, e enum('alive'));
";

/// What a form of the app makes of a value.
fn expected(tool: &str, value: &str) -> String {
    match tool {
        "composed-end" => format!("a{value}"),
        "composed-start" => format!("{value}z"),
        "composed-middle" | "composed-middle-double" => format!("it's %{value}% \""),
        "composed-twice" => format!("{value}|{value}"),
        "composed-escapes" => format!("\\{value}\n"),
        _ => value.to_owned(),
    }
}

/// The answer of a tool: rows, or the text of an error.
async fn answer(endpoint: &Endpoint, tool: &str, arguments: Json) -> Result<Vec<Json>, String> {
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
    let result = endpoint.pipeline().call(call).await.map_err(|fault| format!("{fault:?}"))?;
    let [ContentBlock::Text(text)] = result.content.as_slice() else { panic!("{tool}: {result:?}") };
    if result.is_error {
        return Err(text.to_string());
    }
    Ok(serde_json::from_str(text).unwrap_or_else(|error| panic!("{tool}: {error}: {text}")))
}

/// The call was refused before the database was asked, for the NUL in its value.
fn refuses_nul(value: &str, said: &str) -> bool {
    value.contains('\0') && said.contains("cannot take a text with a NUL character here")
}

/// The session decides what a quote is, whatever the server's own defaults are.
fn every_value_comes_back(settings: &[&str]) {
    every_value_comes_back_through(settings, |server, _| server.url("shop"));
}

/// Through the adapter that `moved` makes of the app in a folder; it returns the connection string.
pub fn every_value_comes_back_through(settings: &[&str], moved: impl FnOnce(&Mysql, &Path) -> String) {
    let server = Mysql::start(settings);
    server.run("shop", SETUP);
    let group = Group { name: "hostile".into(), app: root().join("tests/hostile/mysql"), ..Group::default() };
    let folder = group.install();
    let url = moved(&server, folder.path());
    let app = compile(folder.path());
    let tools: Vec<String> = app.tools.iter().map(|tool| tool.name.clone()).collect();
    let values: Vec<String> =
        serde_json::from_str(&std::fs::read_to_string(root().join("tests/data/hostile-values.json")).unwrap()).unwrap();
    assert!(values.len() >= 170 && tools.len() >= 33, "{} values, {} forms", values.len(), tools.len());

    let (mut refused, mut wrong) = (0, 0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let variables = Variables::from_iter([("DATABASE_URL".to_owned(), url)]);
        let endpoint = Endpoint::new(app, ports::native(folder.path().to_path_buf(), variables, &CacheChoice::Memory, &Tasks::new()));
        for tool in &tools {
            for value in &values {
                let mut arguments = json!({ "s": value });
                match tool.as_str() {
                    "in-list" => arguments["list"] = json!(["other", value, "'", "{}", "NULL"]),
                    "json" => arguments["doc"] = json!({ "s": value }),
                    "json-table" => arguments["docs"] = json!([{ "s": value }]),
                    _ => {}
                }
                match answer(&endpoint, tool, arguments).await {
                    // The value is one of that type after all: a date, a number, a document.
                    Ok(rows) if tool.starts_with("wrong-") => assert_eq!(rows.len(), 1, "{tool} with {value:?}"),
                    Err(said) if tool.starts_with("wrong-") => {
                        assert!(said.contains("refused") || refuses_nul(value, &said), "{tool} with {value:?}: {said}");
                        wrong += 1;
                    }
                    // A text that is put together takes no NUL anywhere.
                    Err(said) if value.contains('\0') => {
                        assert!(refuses_nul(value, &said), "{tool} with {value:?}: {said}");
                        refused += 1;
                    }
                    found => {
                        assert_eq!(found.as_deref(), Ok(&[json!({ "v": visible(&expected(tool, value)) })][..]), "{tool} with {value:?}")
                    }
                }
            }
        }
    });
    assert!(refused >= 5 && wrong >= 400, "{refused} {wrong}");

    let database = Database::open(connection("mysql", &server.url("shop"), &[]));
    let one = |sql: &str| format!("{:?}", database.rows(sql)[0][0]);
    assert_eq!(one("SELECT COUNT(*) FROM canary WHERE (id, s) IN ((1, 'alive'), (2, 'and well'))"), "I64(2)");
    assert_eq!(one("SELECT COUNT(*) FROM canary"), "I64(2)");
    assert_eq!(one("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop'"), "I64(3)", "no table came or went");
    let kept = database.rows("SELECT s FROM kept ORDER BY id");
    let written: Vec<_> = values.iter().map(|value| vec![millrace_tests::database::text(value)]).collect();
    assert_eq!(kept, [written.clone(), written].concat(), "each insert kept its value");
}

#[test]
fn every_value_comes_back_through_every_form() {
    every_value_comes_back(&[]);
}

#[test]
fn every_value_comes_back_from_a_server_with_other_quotes() {
    every_value_comes_back(&[
        "--sql-mode=ANSI,NO_BACKSLASH_ESCAPES",
        "--character-set-server=latin1",
        "--collation-server=latin1_general_ci",
    ]);
}
