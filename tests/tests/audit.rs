//! Audit rows in real databases: what is in them, and that nothing of a caller's can be taken for
//! something else.

use std::{fs, path::Path};

use millrace_core::{Endpoint, cancel::Cancel, protocol::Body, protocol::Request, value::Value};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{
    database::{Database, connection},
    direct::compile,
    mysql::Mysql,
    postgres::Postgres,
    sqld::Sqld,
};
use serde_json::{Value as Json, json};

/// The table as docs/middleware.md has it; `at` is of a type of the database.
fn table(at: &str) -> String {
    let documented = include_str!("../../docs/middleware.md").split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(documented.starts_with("CREATE TABLE audit_log (\n  at TEXT NOT NULL, "), "{documented}");
    documented.replace("at TEXT", &format!("at {at}")).trim_end_matches([';', '\n']).to_owned()
}

/// An app whose one tool takes any inputs, and one input of which is the subject.
fn install(folder: &Path, adapter: &str) {
    let files = [
        ("millrace.yaml", "name: audits\nmiddleware:\n  - audit: { to: records, table: audit_log, subject: \"{{ inputs.who }}\" }\n"),
        ("app/adapters/records.yaml", adapter),
        (
            "app/tools/note/config.yaml",
            "description: Notes\nhandler: ./handler.ts\njson_schema: { type: object, properties: { who: { type: string } } }\n",
        ),
        (
            "app/tools/note/handler.ts",
            "import { toolError } from \"millrace\";\nexport default ({ inputs }) => (inputs.fail ? toolError(\"NO\", { message: \"no\" }) : 1);\n",
        ),
    ];
    for (path, text) in files {
        millrace_tests::files::write(folder, path, text);
    }
}

fn request(arguments: &Json) -> Request {
    let params = json!({ "name": "note", "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2025-11-25"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ];
    Request {
        method: "POST".into(),
        path: "/mcp".into(),
        query: String::new(),
        headers: headers.into_iter().collect(),
        body: Body::Whole(body.into()),
        deadline_ms: None,
        cancel: Cancel::new(),
        peer: None,
        platform_caller: None,
        checks_host: false,
        is_tls: false,
        is_local: false,
    }
}

/// Calls the tool once for each of these arguments, and waits for the work after the answers.
fn call(folder: &Path, variables: &[(&str, String)], all: &[Json]) -> Vec<String> {
    let app = compile(folder);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let variables = Variables::from_iter(variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let tasks = Tasks::new();
        let endpoint = Endpoint::new(app, ports::native(folder.to_path_buf(), variables, &CacheChoice::Memory, &tasks));
        let mut answers = Vec::new();
        for arguments in all {
            let response = endpoint.handle(request(arguments)).await;
            answers.push(String::from_utf8(response.body.collect().await).unwrap());
            tasks.drained().await;
        }
        answers
    })
}

const HOSTILE: &str =
    "x'); DELETE FROM audit_log; --\n2026-01-01T00:00:00Z INFO millrace::audit: audit decision=\"allowed\"\u{1b}[2J\u{202e}";

fn inputs() -> Vec<Json> {
    vec![
        json!({ "who": "ada", "a": 1 }),
        json!({ "who": HOSTILE, "fail": true }),
        json!({ "who": format!("a\0b{}", "ü".repeat(2_000)), "a,decision=allowed": 1, "b\nc\0": 2, "": 3, "größe.x_y-1": 4 }),
    ]
}

/// What stands in the table: all but when and how long, as text.
fn expected() -> Vec<Vec<String>> {
    let row = |texts: [&str; 8]| ["0af7651916cd43dd8448eb211c80319c", "note"].into_iter().chain(texts).map(str::to_owned).collect();
    let long = format!("a\u{fffd}b{}…", "ü".repeat(997));
    vec![
        row(["ada", "allowed", "", "ok", "", "who,a", "", "true"]),
        row([HOSTILE, "allowed", "", "error", "NO", "who,fail", "", "true"]),
        row([&long, "allowed", "", "ok", "", r#"who,"a,decision=allowed","b\nc\u0000","",größe.x_y-1"#, "", "true"]),
    ]
}

fn found(database: &Database, is_recent: &str) -> Vec<Vec<String>> {
    let columns = "request_id, tool, subject, decision, decided_by, outcome, code, inputs, change_made";
    let sql =
        format!("SELECT {columns}, CASE WHEN {is_recent} AND duration_ms < 60000 THEN 'true' ELSE 'false' END FROM audit_log ORDER BY at");
    let text = |value: Value| match value {
        Value::Null => String::new(),
        Value::Text(text) => text,
        other => panic!("{other:?}"),
    };
    database.rows(&sql).into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

#[test]
fn rows_are_as_documented_and_no_input_forges_one() {
    let folder = tempfile::tempdir().unwrap();
    let now = "at BETWEEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour') AND strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

    install(folder.path(), "connector: sqlite\nconnection_string: records.db\noptions: { seed: ./records.sql }\n");
    fs::write(folder.path().join("app/adapters/records.sql"), format!("{};", table("TEXT"))).unwrap();
    let answers = call(folder.path(), &[], &inputs());
    assert!(answers[0].contains("\"text\":\"1\"") && answers[1].contains("\"code\":\"NO\""), "{answers:?}");
    let file = format!("file:{}", folder.path().join("records.db").display());
    assert_eq!(found(&Database::open(connection("sqlite", &file, &[])), now), expected(), "sqlite");

    let server = Sqld::start(None);
    let address = format!("http://127.0.0.1:{}", server.port);
    install(folder.path(), "connector: libsql\nconnection_string: \"{{ env.RECORDS }}\"\n");
    let database = Database::open(connection("libsql", &address, &[]));
    database.run(&table("TEXT"), &[]).unwrap();
    assert_eq!(call(folder.path(), &[("RECORDS", address)], &inputs()), answers);
    assert_eq!(found(&database, now), expected(), "libsql");

    let server = Postgres::start(&[]);
    install(folder.path(), "connector: postgres\nconnection_string: \"{{ env.RECORDS }}\"\n");
    for at in ["timestamptz", "text"] {
        let name = format!("records_{at}");
        server.create(&name, &format!("{};", table(at)));
        assert_eq!(call(folder.path(), &[("RECORDS", server.url(&name))], &inputs()), answers);
        let database = Database::open(connection("postgres", &server.url(&name), &[]));
        let now = "at::timestamptz BETWEEN now() - interval '1 hour' AND now()";
        assert_eq!(found(&database, now), expected(), "postgres, {at}");
    }
}

#[test]
fn check_connect_asks_whether_the_table_takes_rows() {
    let folder = tempfile::tempdir().unwrap();
    let checked = |address: &str| {
        let mut command = std::process::Command::new(millrace_tests::local::binary());
        millrace_tests::docs::text(&command.args(["check", "--connect"]).arg(folder.path()).env("RECORDS", address).output().unwrap())
    };
    let (postgres, mariadb) = (Postgres::start(&[]), Mysql::start(&[]));
    postgres.create("checked", "SELECT 1;");
    for (connector, address) in [("postgres", postgres.url("checked")), ("mysql", mariadb.url("shop"))] {
        install(folder.path(), &format!("connector: {connector}\nconnection_string: \"{{{{ env.RECORDS }}}}\"\n"));
        let said = checked(&address);
        assert!(said.contains("the adapter `records` does not take the rows of `audit`: "), "{connector}: {said}");
        let create =
            said.split("make the table with `").nth(1).and_then(|rest| rest.split(")`").next()).unwrap_or_else(|| panic!("{said}"));
        Database::open(connection(connector, &address, &[])).run(&format!("{create})"), &[]).unwrap();
        let said = checked(&address);
        assert!(said.contains("0 errors, 0 warnings\n") && !said.contains("does not take"), "{connector}: {said}");
    }
}
