//! `millrace check --connect` on statements that read large tables whole, or do not: what it says is
//! compared with how many rows each database itself says that it read, on five of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use millrace_tests::{
    Exchange,
    case::root,
    d1_api,
    docs::blocks,
    files::write,
    local::{binary, send},
    mysql::{self, Mysql},
    neon,
    postgres::Postgres,
    sqld::Sqld,
    worker,
};
use serde_json::{Value as Json, json};

/// A table with more rows is large; each that is not has far fewer.
const LARGE: u64 = 500;
/// The inputs, their types, and values that no row has.
const INPUTS: [(&str, &str, &str); 4] =
    [(":id", "int", "0"), (":n", "int", "20"), (":t", "string", "'nobody'"), (":day", "string", "'2030-01-01'")];

/// The statements, by name.
fn statements() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("tests/plans/statements.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").map(|(name, text)| (name.to_owned(), text.to_owned())).unwrap()).collect()
}

/// A statement with something in the place of each input.
fn filled(statement: &str, with: impl Fn(&str, &str) -> String) -> String {
    INPUTS.iter().fold(statement.to_owned(), |text, (sign, _, value)| {
        // `:n` is not the beginning of `:name`.
        let mut parts = text.split(sign);
        let mut filled = parts.next().unwrap().to_owned();
        for part in parts {
            let is_other = part.starts_with(|next: char| next.is_ascii_alphanumeric());
            filled += &if is_other { (*sign).to_owned() } else { with(&sign[1..], value) };
            filled += part;
        }
        filled
    })
}

fn with_values(statement: &str) -> String {
    filled(statement, |_, value| value.to_owned())
}

/// The tables and their rows.
fn schema() -> String {
    let mut sql = "CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(40), email VARCHAR(60) UNIQUE);\n\
                   CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, state VARCHAR(10), day VARCHAR(10), total INTEGER, note VARCHAR(40));\n\
                   CREATE TABLE items (order_id INTEGER, pos INTEGER, sku VARCHAR(20), amount INTEGER, PRIMARY KEY (order_id, pos));\n\
                   CREATE TABLE states (code VARCHAR(10) PRIMARY KEY, label VARCHAR(40));\n\
                   INSERT INTO states VALUES ('new', 'New'), ('paid', 'Paid'), ('sent', 'Sent');\n"
        .to_owned();
    let mut rows = |table: &str, count: usize, row: &dyn Fn(usize) -> String| {
        for first in (1..=count).step_by(100) {
            let rows: Vec<String> = (first..first + 100).map(row).collect();
            writeln!(sql, "INSERT INTO {table} VALUES {};", rows.join(", ")).unwrap();
        }
    };
    rows("customers", 1_000, &|id| format!("({id}, 'name {id}', 'city {}', 'c{id}@example.com')", id % 100));
    rows("orders", 4_000, &|id| {
        let (customer, state, day) =
            (id % 1_000 + 1, ["new", "paid", "sent"][id % 3], format!("2026-{:02}-{:02}", id % 12 + 1, id % 28 + 1));
        format!("({id}, {customer}, '{state}', '{day}', {}, 'note {id}')", id % 777)
    });
    rows("items", 8_000, &|number| format!("({}, {}, 'sku {}', 1)", number.div_ceil(2), number % 2 + 1, number % 4_000));
    sql + "CREATE INDEX customers_city ON customers (city);\nCREATE INDEX orders_customer ON orders (customer, day);\n\
           CREATE INDEX orders_day ON orders (day);\n"
}

/// An app with a tool for each statement.
fn app(connector: &str, url: &str, options: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: plans\n");
    write(folder.path(), "app/adapters/main.yaml", &format!("connector: {connector}\nconnection_string: \"{url}\"\noptions: {options}\n"));
    for (name, statement) in statements() {
        let mut inputs = String::new();
        for (sign, kind, _) in INPUTS {
            if filled(&statement, |name, _| format!("\u{1}{name}\u{1}")).contains(&format!("\u{1}{}\u{1}", &sign[1..])) {
                writeln!(inputs, "  {}: {{ type: {kind} }}", &sign[1..]).unwrap();
            }
        }
        let statement = filled(&statement, |name, _| format!("{{{{ inputs.{name} }}}}"));
        let inputs = if inputs.is_empty() { inputs } else { format!("inputs:\n{inputs}") };
        write(
            folder.path(),
            &format!("app/tools/{name}/config.yaml"),
            &format!("description: The statement {name}.\nuse: main\nstatement: >-\n  {statement}\n{inputs}"),
        );
    }
    folder
}

fn check(folder: &Path, arguments: &[&str]) -> Json {
    let mut command = Command::new(binary());
    command.args(["check", "--connect", "--json", "--scan-rows", &LARGE.to_string()]).args(arguments).arg(folder);
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The tools of which `check` says that they read a large table whole.
fn scans(said: &Json) -> BTreeSet<String> {
    let tool = |scan: &Json| {
        let error = scan["error"].as_str().unwrap();
        error.split('`').nth(1).unwrap().to_owned()
    };
    for plan in said["plans"].as_array().unwrap() {
        assert!(plan["error"].is_null(), "{plan}");
    }
    assert_eq!(said["plans"].as_array().unwrap().len(), statements().len(), "{said}");
    assert!(said["statements"].as_array().unwrap().is_empty(), "{}", said["statements"]);
    said["scans"].as_array().unwrap().iter().map(tool).collect()
}

/// Runs SQL with a database's own client, and gives what it prints.
fn client(mut command: Command, input: &str) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Where what is said of a statement begins, in what a client prints.
const MARK: &str = "== ";

/// What was printed of each statement.
fn told(printed: &str) -> BTreeMap<String, String> {
    let parts = printed.split(MARK).skip(1);
    parts.map(|part| part.split_once('\n').map(|(name, rest)| (name.trim().to_owned(), rest.to_owned())).unwrap()).collect()
}

/// Compares: `read` is how many rows the database read for each statement, by its own words.
/// `apart` names the statements where the two differ, each with the reason.
fn agree(said: &Json, read: &BTreeMap<String, u64>, apart: &[(&str, &str)]) {
    let found = scans(said);
    assert_eq!(read.len(), statements().len());
    let mut differences: Vec<String> = Vec::new();
    for (name, rows) in read {
        if (*rows > LARGE) != found.contains(name) && !apart.iter().any(|(known, _)| known == name) {
            let plan = said["plans"].as_array().unwrap().iter().find(|plan| plan["tool"] == json!(name)).unwrap();
            differences.push(format!("{name}: {rows} rows were read; {}", plan["tables"]));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    for (name, reason) in apart {
        assert_ne!(read[*name] > LARGE, found.contains(*name), "{name} agrees now, remove it: {reason}");
    }
    // Some of each, or nothing was compared.
    assert!(found.len() >= 20 && statements().len() - found.len() >= 30, "{found:?}");
}

#[test]
fn sqlite_agrees_and_the_indexes_that_are_advised_help() {
    let folder = app("sqlite", "plans.db", "{}");
    let database = folder.path().join("plans.db");
    let sqlite = || {
        let mut command = Command::new("sqlite3");
        command.arg(&database);
        command
    };
    client(sqlite(), &schema());
    let said = check(folder.path(), &[]);
    let script: String = statements()
        .iter()
        .map(|(name, text)| format!("BEGIN;\n.print {MARK}{name}\n.stats on\n{};\n.stats off\n.print end\nROLLBACK;\n", with_values(text)))
        .collect();
    let steps = |text: String| {
        let line = text.lines().find(|line| line.starts_with("Fullscan Steps:")).unwrap();
        line.split_whitespace().last().unwrap().parse().unwrap()
    };
    let printed = client(sqlite(), &script);
    let read = told(&printed).into_iter().map(|(name, text)| (name, steps(text))).collect();
    agree(&said, &read, &[]);
    // What it advises is done, and then it says no more of those tools.
    let advised: BTreeMap<String, String> = said["scans"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|scan| {
            let error = scan["error"].as_str()?;
            let index = error.split('`').find(|part| part.starts_with("CREATE INDEX "))?;
            Some((error.split('`').nth(1)?.to_owned(), index.to_owned()))
        })
        .collect();
    assert!(advised.len() >= 10, "{advised:?}");
    let indexes: BTreeSet<&String> = advised.values().collect();
    client(sqlite(), &indexes.iter().map(|index| format!("{index};\n")).collect::<String>());
    let after = scans(&check(folder.path(), &[]));
    let still: Vec<&String> = advised.keys().filter(|tool| after.contains(*tool)).collect();
    assert!(still.is_empty(), "{still:?}");
}

#[test]
fn libsql_agrees() {
    let server = Sqld::start(None);
    let pipeline = |requests: Json| {
        let request = Exchange {
            method: "POST".to_owned(),
            path: "/v2/pipeline".to_owned(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: json!({ "requests": requests }).to_string(),
        };
        let answer = send(server.port, &request);
        serde_json::from_str::<Json>(answer.split_once("\n\n").unwrap().1).unwrap_or_else(|_| panic!("{answer}"))
    };
    let execute = |sql: &str| json!({ "type": "execute", "stmt": { "sql": sql } });
    let filled = pipeline(json!([{ "type": "sequence", "sql": schema() }, { "type": "close" }]));
    assert_eq!(filled["results"][0]["type"], "ok", "{filled}");
    let folder = app("libsql", &format!("http://127.0.0.1:{}", server.port), "{}");
    let said = check(folder.path(), &[]);
    let rows_read = |text: &str| {
        let answer = pipeline(json!([execute("BEGIN"), execute(&with_values(text)), execute("ROLLBACK"), { "type": "close" }]));
        answer["results"][1]["response"]["result"]["rows_read"].as_u64().unwrap_or_else(|| panic!("{text}: {answer}"))
    };
    let read = statements().iter().map(|(name, text)| (name.clone(), rows_read(text))).collect();
    agree(&said, &read, &[]);
}

#[test]
fn d1_agrees_and_says_what_it_costs() {
    let api = d1_api::stand_in();
    let folder = app("d1", "d1://0a1b/1111-2222", &format!("{{ api_token: t, base_url: \"http://{}/client/v4\" }}", api.address));
    let fill = |sql: &str| {
        let request = Exchange {
            method: "POST".to_owned(),
            path: d1_api::PATH.to_owned(),
            headers: vec![("authorization".to_owned(), "Bearer t".to_owned())],
            body: json!({ "sql": sql }).to_string(),
        };
        assert!(send(api.address.port(), &request).contains("\"success\":true"), "{sql}");
    };
    schema().split(";\n").filter(|sql| !sql.is_empty()).for_each(fill);
    let said = check(folder.path(), &[]);
    // The real D1 counts the rows.
    let own = tempfile::tempdir().unwrap();
    let files = [
        (
            "wrangler.toml",
            "name = \"plans\"\nmain = \"plans.js\"\ncompatibility_date = \"2026-01-01\"\n\
             [[d1_databases]]\nbinding = \"DB\"\ndatabase_name = \"plans\"\ndatabase_id = \"plans\"\n",
        ),
        (
            "plans.js",
            "export default {\n  async fetch(request, env) {\n    const read = [];\n    for (const sql of await request.json()) {\n\
             \x20     read.push((await env.DB.prepare(sql).all()).meta.rows_read);\n    }\n    return Response.json(read);\n  },\n};\n",
        ),
    ];
    files.iter().for_each(|(path, text)| write(own.path(), path, text));
    let d1 = worker::Worker::dev(own.path(), &[]);
    let run = |statements: Vec<String>| {
        let request =
            Exchange { method: "POST".to_owned(), path: "/".to_owned(), headers: Vec::new(), body: json!(statements).to_string() };
        let answer = d1.send(&request);
        serde_json::from_str::<Vec<u64>>(answer.split_once("\n\n").unwrap().1).unwrap_or_else(|_| panic!("{answer}"))
    };
    let _ = run(schema().split(";\n").filter(|sql| !sql.is_empty()).map(str::to_owned).collect());
    let rows = run(statements().iter().map(|(_, text)| with_values(text)).collect());
    let read = statements().into_iter().map(|(name, _)| name).zip(rows).collect();
    agree(&said, &read, &[]);
    let scan = said["scans"].as_array().unwrap().iter().find(|scan| scan["error"].as_str().unwrap().contains("`no-index`")).unwrap();
    let cost = "; a million calls cost at least $4.00 in rows read, beyond those that the plan includes";
    assert!(scan["error"].as_str().unwrap().ends_with(cost), "{scan}");
}

#[test]
fn postgres_agrees() {
    let server = Postgres::shared();
    server.create("plans", &(schema() + "ANALYZE;\n"));
    let folder = app("postgres", &server.url("plans"), "{ sslmode: disable }");
    let said = check(folder.path(), &[]);
    let script: String = statements()
        .iter()
        .map(|(name, text)| {
            // As `check` asks for it: planned for any values.
            let (numbered, values) = numbered(text);
            let given = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
            format!(
                "\\echo {MARK}{name}\nBEGIN; SET LOCAL plan_cache_mode = force_generic_plan; PREPARE p AS {numbered};\n\
                 EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE p{given};\nDEALLOCATE p; ROLLBACK;\n"
            )
        })
        .collect();
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", &server.url("plans")]);
    let printed = client(psql, &script);
    let rows = |text: String| rows_of(&serde_json::from_str::<Json>(&text).unwrap_or_else(|_| panic!("{text}"))[0]["Plan"]);
    let read = told(&printed).into_iter().map(|(name, text)| (name, rows(text))).collect();
    agree(&said, &read, &[]);
    // The same statements by an API that runs a transaction as one request.
    let api = neon::start(server.port);
    let by_api = app("neon", &server.url("plans"), &format!("{{ base_url: \"http://{}\" }}", api.address));
    assert_eq!(scans(&check(by_api.path(), &[])), scans(&said));
}

/// A statement with `$1`, `$2`, … in the places of the inputs, in the order in which they stand, and
/// their values.
fn numbered(statement: &str) -> (String, Vec<&'static str>) {
    let marked = filled(statement, |name, _| format!("\u{1}{name}\u{1}"));
    let (mut text, mut values) = (String::new(), Vec::new());
    for (place, part) in marked.split('\u{1}').enumerate() {
        if place % 2 == 0 {
            text.push_str(part);
        } else {
            values.push(INPUTS.iter().find(|(sign, ..)| &sign[1..] == part).unwrap().2);
            write!(text, "${}", values.len()).unwrap();
        }
    }
    (text, values)
}

/// How many rows of tables a plan of PostgreSQL that ran has read.
fn rows_of(node: &Json) -> u64 {
    let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
    let own = if node.get("Relation Name").is_some() && node["Node Type"] != "ModifyTable" {
        (number("Actual Rows") + number("Rows Removed by Filter")) * number("Actual Loops")
    } else {
        0.0
    };
    own as u64 + node["Plans"].as_array().into_iter().flatten().map(rows_of).sum::<u64>()
}

#[test]
fn mysql_agrees() {
    let server = Mysql::shared();
    let name = "plans_agree";
    server.run("mysql", &format!("CREATE DATABASE {name}"));
    server.run(name, &(schema() + "ANALYZE TABLE customers, orders, items, states;\n"));
    let folder = app("mysql", &server.url(name), "{}");
    let said = check(folder.path(), &[]);
    let script: String = statements()
        .iter()
        .map(|(name, text)| {
            format!(
                "BEGIN; FLUSH STATUS; {};\nSELECT '{MARK}{name}';\nSHOW SESSION STATUS WHERE Variable_name IN \
                 ('Handler_read_rnd_next', 'Handler_read_next', 'Handler_read_prev', 'Handler_read_key');\nROLLBACK;\n",
                with_values(text)
            )
        })
        .collect();
    let mut client_command = Command::new("mariadb");
    client_command.args(["--no-defaults", "--host=127.0.0.1", "--user=admin", "-N", "-B", &format!("--port={}", server.port), name]);
    client_command.env("MYSQL_PWD", mysql::PASSWORD);
    let printed = client(client_command, &script);
    let rows = |text: String| {
        let numbers = text.lines().filter_map(|line| line.strip_prefix("Handler_read_"));
        numbers.map(|line| line.split('\t').nth(1).unwrap().parse::<u64>().unwrap()).sum()
    };
    let read = told(&printed).into_iter().map(|(name, text)| (name, rows(text))).collect();
    agree(&said, &read, &[]);
}

/// What the command prints, on both streams, and whether it ended well.
fn tell(folder: &Path, arguments: &[&str]) -> (String, bool) {
    let output = Command::new(binary()).arg("check").arg(folder).args(arguments).output().unwrap();
    (String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(), output.status.success())
}

#[test]
fn the_scans_page_does_what_it_says() {
    let page = std::fs::read_to_string(root().join("docs/scans.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tool = |name: &str, statement: &str, rest: &str| {
        let text = format!("description: {name}\nuse: shop\nstatement: {statement}\n{rest}");
        write(folder.path(), &format!("app/tools/{name}/config.yaml"), &text);
    };
    write(folder.path(), "millrace.yaml", "name: shop\n");
    write(folder.path(), "app/adapters/shop.yaml", "connector: sqlite\nconnection_string: shop.db\n");
    let inputs = "inputs: { x: { type: string }, n: { type: int, default: 1 } }\n";
    tool("by-email", "SELECT id FROM orders WHERE email = {{ inputs.x }} AND {{ inputs.n }} = 1", inputs);
    tool("by-key", "SELECT email FROM orders WHERE id = {{ inputs.n }} AND {{ inputs.x }} = email", inputs);
    tool("newest", "SELECT id FROM orders ORDER BY created DESC LIMIT 20", "");
    let mut sqlite = Command::new("sqlite3");
    sqlite.arg(folder.path().join("shop.db"));
    client(
        sqlite,
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, email TEXT, created TEXT, total INTEGER);\n\
         CREATE INDEX orders_created ON orders (created);\n\
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)\n\
         INSERT INTO orders SELECT i, 'u' || i, '2026', 1 FROM n;\n\
         CREATE VIEW paid AS SELECT one.id FROM orders AS one WHERE one.total > 0;\n",
    );
    let blocks = blocks(&page);
    let of_kind = |kind: &str| blocks.iter().filter(|(found, _)| found == kind).map(|(_, body)| body.clone()).collect::<Vec<_>>();
    let (texts, yaml, shell) = (of_kind("text"), of_kind("yaml"), of_kind("sh"));
    assert_eq!((texts.len(), yaml.len(), shell.len(), blocks.len()), (2, 1, 1, 4));
    assert_eq!(shell[0], "millrace check --connect\n");
    let (said, is_well) = tell(folder.path(), &["--connect", "--plans"]);
    assert!(!is_well && said.contains(&texts[0]) && said.contains(&texts[1]), "{said}");
    assert!(said.contains("1 large table read whole"), "{said}");
    // Nothing is large, and then a reason is given.
    let (said, is_well) = tell(folder.path(), &["--connect", "--scan-rows", "120000"]);
    assert!(is_well && !said.contains("reads all"), "{said}");
    let allowed = yaml[0].split_once('\n').map(|(head, text)| (head.trim_start_matches("# ").to_owned(), text.to_owned())).unwrap();
    write(folder.path(), &allowed.0, &allowed.1);
    let (said, is_well) = tell(folder.path(), &["--connect"]);
    assert!(!is_well && !said.contains("`total`"), "{said}");
    tool(
        "by-email",
        "SELECT id FROM orders WHERE email = {{ inputs.x }} AND {{ inputs.n }} = 1",
        &format!("{inputs}scan: {{ allowed: Rare. }}\n"),
    );
    let (said, is_well) = tell(folder.path(), &["--connect"]);
    assert!(is_well && !said.contains("has `scan`"), "{said}");
    // The name that the plan has for a table is one within a view.
    tool("paid", "SELECT id FROM paid", "");
    let (said, is_well) = tell(folder.path(), &["--connect"]);
    let clause = "app/tools/paid/config.yaml:3:12: the tool `paid` reads all rows of `one`, which could not be counted: ";
    assert!(is_well && said.contains(clause) && said.contains("1 plan not known in full"), "{said}");
    // A step is named, and what is allowed for nothing is told.
    tool("newest", "SELECT id FROM orders ORDER BY created DESC LIMIT 20", "scan: { allowed: None. }\n");
    write(
        folder.path(),
        "app/tools/both/config.yaml",
        "description: Both.\nuse: shop\ntransaction:\n  - { name: pay, statement: UPDATE orders SET total = 2 WHERE email = 'u1' }\n\
         \x20 - { name: look, statement: SELECT id FROM orders WHERE id = 1 }\n",
    );
    let (said, is_well) = tell(folder.path(), &["--connect"]);
    let step = "app/tools/both/config.yaml:4:29: the step `pay` of the tool `both` reads all of the 120,000 rows of `orders`";
    assert!(!is_well && said.contains(step), "{said}");
    assert!(said.contains("the tool `newest` has `scan`, and reads no table whole: remove it"), "{said}");
}
