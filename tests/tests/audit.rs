//! Audit rows in real databases: what is in them, that nothing of a caller's can be taken for
//! something else, and that log and table hold together.

use std::{fs, path::Path, process::Command};

use millrace_core::{Endpoint, cancel::Cancel, protocol::Body, protocol::Request, value::Value};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{
    Exchange,
    database::{Database, connection},
    direct::compile,
    local::{Host, binary},
    mysql::Mysql,
    postgres::Postgres,
    sqld::Sqld,
    tries, wait,
};
use serde_json::{Value as Json, json};

/// The table as docs/audit.md has it; `at` is of a type of the database.
fn table(at: &str) -> String {
    let documented = include_str!("../../docs/audit.md").split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(documented.starts_with("CREATE TABLE audit_log (\n  at TEXT NOT NULL, "), "{documented}");
    documented.replace("at TEXT", &format!("at {at}")).trim_end_matches([';', '\n']).to_owned()
}

/// An app whose one tool takes any inputs, and one input of which is the subject.
fn install(folder: &Path, adapter: &str) {
    install_with(folder, adapter, "");
}

/// The same, with more in the entry.
fn install_with(folder: &Path, adapter: &str, more: &str) {
    let root =
        format!("name: audits\nmiddleware:\n  - audit: {{ to: records, table: audit_log, subject: \"{{{{ inputs.who }}}}\"{more} }}\n");
    let files = [
        ("millrace.yaml", root.as_str()),
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

/// What `columns: all` adds to the table, as the page has it.
fn more_columns() -> Vec<String> {
    let documented = include_str!("../../docs/audit.md").split("```sql\n").nth(2).unwrap().split("```").next().unwrap();
    documented.lines().map(|line| line.trim_end_matches(';').to_owned()).collect()
}

/// `millrace audit verify`: its exit code, and what it says.
fn verify(arguments: &[&str], variables: &[(String, String)]) -> (Option<i32>, String) {
    let mut command = Command::new(binary());
    let output = command.args(["audit", "verify"]).args(arguments).envs(variables.iter().cloned()).output().unwrap();
    (output.status.code(), millrace_tests::docs::text(&output))
}

#[test]
fn rows_of_every_database_hold_to_their_chain() {
    let folder = tempfile::tempdir().unwrap();
    let (postgres, mariadb, sqld) = (Postgres::start(&[]), Mysql::start(&[]), Sqld::start(None));
    postgres.create("chained_at", &format!("{};", table("timestamptz")));
    postgres.create("chained", &format!("{};", table("TEXT")));
    let addresses = [
        ("postgres", postgres.url("chained_at")),
        ("postgres", postgres.url("chained")),
        ("mysql", mariadb.url("shop")),
        ("libsql", format!("http://127.0.0.1:{}", sqld.port)),
    ];
    for (connector, address) in addresses {
        let adapter = format!("connector: {connector}\nconnection_string: \"{{{{ env.RECORDS }}}}\"\n");
        install_with(folder.path(), &adapter, ", columns: all, required: true");
        let database = Database::open(connection(connector, &address, &[]));
        if connector != "postgres" {
            database.run(&table("TEXT"), &[]).unwrap();
        }
        for column in more_columns() {
            database.run(&column, &[]).unwrap();
        }
        let key = ("MILLRACE_AUDIT_KEY", "the key of this test".to_owned());
        call(folder.path(), &[("RECORDS", address.clone()), key.clone()], &inputs());
        let variables = [("RECORDS".to_owned(), address.clone()), (key.0.to_owned(), key.1)];
        let arguments = ["--adapter", "records", "--app", folder.path().to_str().unwrap()];
        let (code, said) = verify(&arguments, &variables);
        // Each call of a script has two rows.
        assert!(code == Some(0) && said.contains("6 entries, 0 findings, 1 chain without a recorded end"), "{connector}: {said}");
        database.run("UPDATE audit_log SET subject = 'eve' WHERE subject = 'ada' AND outcome = 'ok'", &[]).unwrap();
        let (code, said) = verify(&arguments, &variables);
        assert!(code == Some(1) && said.contains("entry 2 of chain ") && said.contains("1 finding,"), "{connector}: {said}");
    }
}

/// An app whose tools give what they got, fail with it, or have the database refuse it.
fn install_marks(folder: &Path) {
    let seed = format!(
        "{};\n{};\nCREATE TABLE people (email TEXT NOT NULL CHECK (email NOT LIKE '%refused%'), ssn TEXT);\n",
        table("TEXT"),
        more_columns().join(";\n")
    );
    let inputs = "inputs:\n  email: { type: string }\n  ssn: { type: string }\n  n: { type: int, default: 1 }\n";
    let returns = "returns:\n  schema: { email: { type: string }, ssn: { type: string } }\n  redact: [ { paths: [email] }, { paths: [ssn], censor: remove } ]\n";
    let files = [
        (
            "millrace.yaml",
            "name: marks\nmiddleware:\n  - audit: { inputs: hashes, to: records, table: audit_log, columns: all, required: true }\n".to_owned(),
        ),
        ("app/adapters/records.yaml", "connector: sqlite\nconnection_string: records.db\noptions: { seed: ./records.sql }\n".to_owned()),
        ("app/adapters/records.sql", seed),
        ("app/tools/echo/config.yaml", format!("description: Gives it.\n{inputs}{returns}")),
        ("app/tools/echo/handler.ts", "export default ({ inputs }) => ({ email: inputs.email, ssn: inputs.ssn });\n".to_owned()),
        ("app/tools/fail/config.yaml", format!("description: Fails with it.\n{inputs}")),
        (
            "app/tools/fail/handler.ts",
            "import { toolError } from \"millrace\";\nexport default ({ inputs }) => toolError(\"NO\", { message: `not ${inputs.email} ${inputs.ssn}` });\n"
                .to_owned(),
        ),
        (
            "app/tools/put/config.yaml",
            format!("description: Stores it.\nuse: records\nstatement: INSERT INTO people (email, ssn) VALUES ({{{{ inputs.email }}}}, {{{{ inputs.ssn }}}})\n{inputs}"),
        ),
        (
            "app/tools/get/config.yaml",
            format!("description: Finds it.\nuse: records\nstatement: SELECT email, ssn FROM people WHERE email = {{{{ inputs.email }}}} OR ssn = {{{{ inputs.ssn }}}}\n{inputs}{returns}"),
        ),
    ];
    for (path, text) in files {
        millrace_tests::files::write(folder, path, &text);
    }
}

#[test]
fn no_marked_value_is_anywhere_and_log_and_table_hold_together() {
    let folder = tempfile::tempdir().unwrap();
    install_marks(folder.path());
    let log = folder.path().join("server.log");
    let env: Vec<(String, String)> =
        [("MILLRACE_HASH_KEY", "the key of digests"), ("MILLRACE_AUDIT_KEY", "the key of chains"), ("MILLRACE_LOG_FORMAT", "json")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    let host = Host::dev_logging(folder.path(), &env, "info", &log);
    let calls = tries(10_000, 120);
    for call in 0..calls {
        let (email, ssn) = (format!("marked-{call}@example.com"), format!("marked-ssn-{call}"));
        let (tool, arguments) = match call % 6 {
            0 => ("echo", json!({ "email": email, "ssn": ssn })),
            1 => ("fail", json!({ "email": email, "ssn": ssn })),
            2 => ("put", json!({ "email": email, "ssn": ssn })),
            3 => ("put", json!({ "email": format!("refused-{email}"), "ssn": ssn })),
            4 => ("get", json!({ "email": email, "ssn": ssn })),
            _ => ("echo", json!({ "email": email, "ssn": ssn, "n": email })),
        };
        let answer = host.send(&Exchange::call(tool, &arguments));
        assert!(!answer.contains("AUDIT_UNAVAILABLE") && !answer.contains("ANSWER_WITHHELD"), "{answer}");
    }
    assert!(Command::new("kill").arg(host.pid().to_string()).status().unwrap().success());
    let said = || fs::read_to_string(&log).unwrap();
    wait::until("the chain has no end", || said().contains("audit chain ends"));
    drop(host);
    let database = Database::open(connection("sqlite", &format!("file:{}", folder.path().join("records.db").display()), &[]));
    // A result has at most a megabyte.
    let slice = |from: usize| format!("{:?}", database.rows(&format!("SELECT * FROM audit_log LIMIT 500 OFFSET {from}")));
    let rows: String = (0..calls * 2).step_by(500).map(slice).collect();
    for (place, text) in [("log", said()), ("table", rows)] {
        let found = text.find("marked-").map(|at| &text[at.saturating_sub(300)..(at + 60).min(text.len())]);
        assert_eq!(found, None, "{place}");
    }
    // What the presenter of `echo` removes has no digest; that of `email` has the key in it.
    let of_echo = said().lines().filter(|line| line.contains("\"tool\":\"echo\"") && line.contains("\"inputs\":\"email=")).count();
    assert!(of_echo >= calls / 6, "{of_echo}");
    assert!(!said().lines().any(|line| line.contains("\"tool\":\"echo\"") && line.contains("ssn=")));
    assert!(said().lines().any(|line| line.contains("\"tool\":\"put\"") && line.contains("ssn=")));

    let (file, app) = (log.to_str().unwrap(), folder.path().to_str().unwrap());
    let arguments = [file, "--adapter", "records", "--app", app, "--closed"];
    let (code, told) = verify(&arguments, &env);
    assert!(code == Some(0) && told.contains(" 0 findings, 0 chains without a recorded end"), "{told}");
    // Cut at the end, the table knows more than the log.
    let cut = folder.path().join("cut.log");
    let lines: Vec<String> = said().lines().map(str::to_owned).collect();
    fs::write(&cut, lines[..lines.len() - 5].join("\n")).unwrap();
    let (code, told) = verify(&[cut.to_str().unwrap(), "--adapter", "records", "--app", app], &env);
    assert!(code == Some(1) && told.contains("the logs have no line of entry "), "{told}");
    // And the log more than the table.
    database.run("DELETE FROM audit_log WHERE seq = (SELECT max(seq) FROM audit_log)", &[]).unwrap();
    let (code, told) = verify(&arguments, &env);
    assert!(code == Some(1) && told.contains("the table has no row of entry ") && told.contains("1 finding,"), "{told}");
    // A row of a transaction stands beside the chain, and is sealed all the same.
    database.run("UPDATE audit_log SET tool = 'get' WHERE tool = 'put' AND seq IS NULL", &[]).unwrap();
    let (_, told) = verify(&arguments, &env);
    assert!(told.contains("the row was changed or added"), "{told}");
    let (code, told) = verify(&arguments, &[]);
    assert!(code == Some(2) && told.contains("the variable `MILLRACE_AUDIT_KEY` with the key of the chains is not set"), "{told}");
}
