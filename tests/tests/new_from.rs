//! `millrace new --from`: the tools of real databases with awkward schemas, each called against its
//! database.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
};

use millrace_core::{Json, value::Value};
use millrace_tests::files::write;
use millrace_tests::{
    case::{Exchange, root},
    database::{Database, connection},
    docs::{blocks, shell, text},
    local::{Host, binary},
    mysql::Mysql,
    new_app::NewApp,
    postgres::{PASSWORD, Postgres},
    sqld::Sqld,
};
use serde_json::{Map, json};

mod schemas;

/// A value that is a text to whoever is careful.
const HOSTILE: &str = "o'neil\"; DROP TABLE customers; -- {{ inputs.q }}";
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// What the databases have in columns that look like secrets.
const SECRET: &str = "s3cr3t-of-ann";

const SQLITE: &str = r#"
CREATE TABLE customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email VARCHAR(100) NOT NULL UNIQUE, password_hash TEXT, city TEXT DEFAULT 'Lisbon',
  vip BOOLEAN NOT NULL DEFAULT 0, born DATE, photo BLOB, created_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INT NOT NULL REFERENCES customers (id),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'it''s')), total DECIMAL(10, 2), meta JSON,
  twice INT GENERATED ALWAYS AS (customer_id * 2));
CREATE TABLE "Order Items" (
  "order" INT NOT NULL REFERENCES orders, "Product Name" TEXT NOT NULL, "select" TEXT, "o'neil""; drop" TEXT, "{{ inputs.x }}" TEXT,
  "größe" REAL, qty INT NOT NULL DEFAULT 1, PRIMARY KEY ("order", "Product Name")) WITHOUT ROWID;
CREATE TABLE order_items (a, b, big BIGINT);
CREATE TABLE keyless (note TEXT, "limit" BOOLEAN, "null" TEXT, "constructor" TEXT);
CREATE TABLE vault (id TEXT PRIMARY KEY, secret TEXT NOT NULL, label TEXT);
CREATE TABLE "{{ env.HOME }}" (id INTEGER PRIMARY KEY, "{{" TEXT, "}}" TEXT, "a: b # c" TEXT);
CREATE TABLE times (id INTEGER PRIMARY KEY, "a
b" TEXT, at TIMESTAMP);
CREATE VIEW spending AS
  SELECT c.id AS customer, c.name, sum(o.total) AS total, count(*) AS n FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id;
CREATE TABLE gone (x INT);
CREATE VIEW broken AS SELECT * FROM gone;
DROP TABLE gone;
CREATE VIRTUAL TABLE docs USING fts5(title, body);
CREATE TABLE "we
ird" (x INT);
INSERT INTO customers (name, email, password_hash, photo) VALUES ('Ann', 'ann@example.com', 's3cr3t-of-ann', x'00ff'), ('Bob', 'bob@example.com', NULL, NULL);
INSERT INTO orders (customer_id, status, total, meta) VALUES (1, 'open', 9.5, '{"a":1}'), (2, 'paid', 10, NULL);
INSERT INTO "Order Items" VALUES (1, 'Pen', 's', 'x', 'y', 1.5, 2);
INSERT INTO order_items VALUES (1, 'x', 9007199254740993), ('two', 2.5, 1), (x'00', NULL, NULL);
INSERT INTO keyless VALUES ('n', 1, 'z', 'c');
INSERT INTO vault VALUES ('k', 's3cr3t-of-ann', 'l');
INSERT INTO "{{ env.HOME }}" VALUES (1, 'a', 'b', 'c');
INSERT INTO docs VALUES ('t', 'b');
INSERT INTO times (at) VALUES (1700000000);
"#;

const POSTGRES: &str = r#"
CREATE TYPE order_status AS ENUM ('open', 'paid', 'it''s', '{{ inputs.x }}');
CREATE DOMAIN email_address AS varchar(60) NOT NULL;
CREATE TABLE customers (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, email email_address, password_hash text, "apiKey" text,
  vip boolean NOT NULL DEFAULT false, born date, photo bytea, created_at timestamptz NOT NULL DEFAULT now(), seen timestamp,
  tags text[] NOT NULL DEFAULT '{}', scores integer[], rates numeric[], settings jsonb DEFAULT '{}', address inet, stay interval, rating real);
COMMENT ON TABLE customers IS E'Who buys: "all" of them.\n{{ inputs.x }} # not a comment';
COMMENT ON COLUMN customers.vip IS 'Whether they pay; {{ env.HOME }} ''quoted'' "twice" \ and: more';
CREATE TABLE "Orders" (
  "orderId" uuid PRIMARY KEY DEFAULT gen_random_uuid(), customer_id integer NOT NULL REFERENCES customers, status order_status NOT NULL DEFAULT 'open',
  total numeric(10, 2) NOT NULL, exact numeric, big bigint, code char(3), twice integer GENERATED ALWAYS AS (customer_id * 2) STORED);
CREATE TABLE order_items (
  "order" uuid NOT NULL REFERENCES "Orders", line smallint NOT NULL, "o'neil""; drop" text, "{{ inputs.x }}" text, "größe" double precision,
  "limit" integer, "user" text DEFAULT 'nobody', PRIMARY KEY ("order", line));
CREATE TABLE "user" (note text, doc json, vector tsvector);
CREATE TABLE snowflakes (id bigint PRIMARY KEY, parent bigint REFERENCES snowflakes, label text);
CREATE TABLE vault (id serial PRIMARY KEY, secret text NOT NULL, label text);
CREATE TABLE events (day date NOT NULL, note text) PARTITION BY RANGE (day);
CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE VIEW spending AS SELECT c.id AS customer, c.name, sum(o.total) AS total, count(*) AS n FROM customers c JOIN "Orders" o ON o.customer_id = c.id GROUP BY c.id;
CREATE MATERIALIZED VIEW names AS SELECT name FROM customers;
CREATE SCHEMA sales;
CREATE TABLE sales.offers (id integer PRIMARY KEY, customer_id integer REFERENCES customers, "{{ env.HOME }}" text);
INSERT INTO customers (name, email, password_hash, "apiKey", photo, tags, scores, rates, rating)
  VALUES ('Ann', 'ann@example.com', 's3cr3t-of-ann', 's3cr3t-of-ann', '\x00ff', '{a,NULL}', '{1,2}', '{1.5,NULL}', 'NaN'), ('Bob', 'bob@example.com', NULL, NULL, NULL, '{}', NULL, NULL, 1.5);
INSERT INTO "Orders" ("orderId", customer_id, total, exact, big, code) VALUES ('00000000-0000-4000-8000-000000000001', 1, 9.50, 12345678901234567890.123, 9007199254740993, 'ab');
INSERT INTO order_items VALUES ('00000000-0000-4000-8000-000000000001', 1, 'x', 'y', 1.5, 3);
INSERT INTO "user" VALUES ('n', '{"a": 1}', 'word');
INSERT INTO snowflakes VALUES (9223372036854775806, NULL, 'one'), (9223372036854775807, 9223372036854775806, 'two');
INSERT INTO vault (secret, label) VALUES ('s3cr3t-of-ann', 'l');
INSERT INTO events VALUES ('2026-05-01', 'spring');
INSERT INTO sales.offers VALUES (1, 1, 'x');
REFRESH MATERIALIZED VIEW names;
"#;

const MYSQL: &str = r#"
CREATE TABLE customers (
  id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(200) NOT NULL, email VARCHAR(100) NOT NULL UNIQUE, password_hash TEXT, city VARCHAR(40) DEFAULT 'it''s Lisbon',
  vip BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'Whether they pay; {{ env.HOME }} "quoted" \\ and: more', level TINYINT(1), active BIT(1), born DATE, photo BLOB,
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, seen DATETIME(6), at TIME, joined YEAR, flags BIT(8), address INET4, rating FLOAT, sum DOUBLE,
  likes SET('a', 'b'), settings JSON DEFAULT '{}', place POINT) COMMENT 'Who buys: "all" of them.\n{{ inputs.x }} # not a comment';
CREATE TABLE Orders (
  orderId INT AUTO_INCREMENT PRIMARY KEY, customer_id INT UNSIGNED NOT NULL, status ENUM('open', 'paid', 'it''s', '{{ inputs.x }}') NOT NULL DEFAULT 'open',
  total DECIMAL(10, 2) NOT NULL, exact DECIMAL(40, 10), meta JSON, code CHAR(3), twice INT UNSIGNED AS (customer_id * 2) STORED,
  FOREIGN KEY (customer_id) REFERENCES customers (id));
CREATE TABLE orders (id INT PRIMARY KEY, note TEXT);
CREATE TABLE `Order Items` (
  `order` INT NOT NULL, `Product Name` VARCHAR(200) NOT NULL, `select` TEXT, `o'neil``; "drop` TEXT, `{{ inputs.x }}` TEXT, `a\\b` TEXT,
  `größe` DOUBLE, qty INT NOT NULL DEFAULT 1, PRIMARY KEY (`order`, `Product Name`), FOREIGN KEY (`order`) REFERENCES Orders (orderId));
CREATE TABLE snowflakes (id BIGINT UNSIGNED PRIMARY KEY, parent BIGINT UNSIGNED, label TEXT, FOREIGN KEY (parent) REFERENCES snowflakes (id));
CREATE TABLE visits (id UUID PRIMARY KEY DEFAULT UUID(), note TEXT NOT NULL);
CREATE TABLE keyless (note TEXT, `limit` BOOLEAN, `null` TEXT, `constructor` TEXT);
CREATE TABLE pages (url TEXT NOT NULL, body TEXT, PRIMARY KEY (url(50)));
CREATE TABLE vault (id INT AUTO_INCREMENT PRIMARY KEY, secret TEXT NOT NULL, label TEXT);
CREATE TABLE history (id INT PRIMARY KEY, note TEXT) WITH SYSTEM VERSIONING;
CREATE TABLE sizes (size ENUM('small', 'large') PRIMARY KEY, label TEXT);
CREATE SEQUENCE numbers;
CREATE VIEW spending AS SELECT c.id AS customer, c.name, sum(o.total) AS total, count(*) AS n FROM customers c JOIN Orders o ON o.customer_id = c.id GROUP BY c.id;
CREATE TABLE gone (x INT);
CREATE VIEW broken AS SELECT * FROM gone;
DROP TABLE gone;
INSERT INTO customers (name, email, password_hash, level, active, photo, rating, likes)
  VALUES ('Ann', 'ann@example.com', 's3cr3t-of-ann', 7, b'1', x'00ff', 1.1, 'a,b'), ('Bob', 'bob@example.com', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO Orders (customer_id, total, exact, meta, code) VALUES (1, 9.50, 12345678901234567890.123, '{"a":1}', 'ab');
INSERT INTO orders VALUES (1, 'another table');
INSERT INTO `Order Items` VALUES (1, 'Pen', 's', 'x', 'y', 'z', 1.5, 2);
INSERT INTO snowflakes VALUES (18446744073709551614, NULL, 'one'), (18446744073709551615, 18446744073709551614, 'two');
INSERT INTO visits (note) VALUES ('n');
INSERT INTO keyless VALUES ('n', 1, 'z', 'c');
INSERT INTO pages VALUES ('u', 'b');
INSERT INTO vault (secret, label) VALUES ('s3cr3t-of-ann', 'l');
INSERT INTO history VALUES (1, 'h');
INSERT INTO sizes VALUES ('small', 's'), ('large', 'l');
"#;

fn shop(sql: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    rusqlite::Connection::open(folder.path().join("shop.db")).unwrap().execute_batch(sql).unwrap();
    folder
}

fn new(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(binary()).arg("new").args(arguments).current_dir(folder).output().unwrap()
}

/// Checks the app on this machine and with its database; there is nothing to report.
fn check(app: &NewApp) {
    for arguments in ["", "--target worker"] {
        let checked = app.runs(&format!("millrace check {arguments} --json"));
        let checked: Json = serde_json::from_str(&checked).unwrap();
        assert_eq!((&checked["ok"], &checked["diagnostics"]), (&json!(true), &json!([])), "{checked}");
    }
    let connected = app.runs("millrace check --connect");
    assert!(connected.trim_end().ends_with(": 0 errors, 0 warnings") && connected.contains(": connected"), "{connected}");
}

/// A served app.
struct Served(Host);

impl Served {
    fn send(&self, method: &str, params: &Json) -> Json {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = [("content-type", "application/json"), ("mcp-protocol-version", "2025-11-25")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let answer = self.0.send(&Exchange { method: "POST".into(), path: "/mcp".into(), headers, body: body.to_string() });
        let body = answer.split_once("\r\n\r\n").or_else(|| answer.split_once("\n\n")).map_or(answer.as_str(), |(_, body)| body);
        serde_json::from_str::<Json>(body.trim()).unwrap_or_else(|error| panic!("{error}: {answer}"))["result"].clone()
    }

    /// The row that a tool has created; `None` where its database only counts them.
    fn made(&self, tool: &str, arguments: &Json) -> Option<Vec<Json>> {
        match self.answer(tool, arguments) {
            Json::Array(rows) => Some(rows),
            other => {
                assert_eq!(other, json!({ "affected_rows": 1 }), "{tool}");
                None
            }
        }
    }

    /// The rows of a tool's answer; it has to succeed.
    fn rows(&self, tool: &str, arguments: &Json) -> Vec<Json> {
        match self.answer(tool, arguments) {
            Json::Array(rows) => rows,
            other => panic!("{tool}: {other}"),
        }
    }

    /// The rows of all pages, one after the other, as the cursor of each says.
    fn paged(&self, tool: &str, arguments: &Json) -> Vec<Json> {
        let (mut rows, mut arguments) = (Vec::new(), arguments.as_object().unwrap().clone());
        loop {
            let page = self.send("tools/call", &json!({ "name": tool, "arguments": arguments }));
            assert_eq!(page["isError"], json!(false), "{tool} {arguments:?}: {page}");
            rows.extend(page["structuredContent"]["result"].as_array().unwrap().clone());
            match page["_meta"]["millrace/cursor"].as_object() {
                Some(cursor) => arguments.extend(cursor.clone()),
                None => return rows,
            }
        }
    }

    fn answer(&self, tool: &str, arguments: &Json) -> Json {
        let result = self.send("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert_eq!(result["isError"], json!(false), "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(!result.to_string().contains(SECRET), "{tool}: {result}");
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

/// A value that an input's schema allows; a text is another one each time.
fn value(name: &str, schema: &Json) -> Json {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let choices = schema["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !choices.is_empty() && !choices.iter().any(|choice| choice["type"] == "object") {
        return value(name, &choices[0]);
    }
    let max = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    // Most formats are a sentence of the description.
    let described = schema["description"].as_str().unwrap_or_default();
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("integer"), _) => json!(1),
        (Some("number"), _) => json!(2.5),
        (Some("boolean"), _) => json!(true),
        (Some("array"), _) => json!([value(name, &schema["items"])]),
        (Some("string"), _) if described.contains("A date,") => json!("2026-02-03"),
        (_, Some("date-time")) => json!("2026-02-03T04:05:06Z"),
        (Some("string"), _) if described.contains("A UUID.") => json!("00000000-0000-4000-8000-00000000000a"),
        (Some("string"), _) if schema["pattern"].is_string() => json!("77"),
        (Some("string"), _) if name == "address" => json!("10.0.0.1"),
        (Some("string"), _) if name == "stay" => json!("1 day"),
        (Some("string"), _) if described.contains(", as in 2026-02-03T04:05:06") => json!("2026-02-03T04:05:06"),
        (Some("string"), _) => json!(
            format!("{}{HOSTILE}", COUNT.fetch_add(1, Ordering::Relaxed))
                .chars()
                .take(usize::try_from(max).unwrap_or(usize::MAX))
                .collect::<String>()
        ),
        _ => json!({ "a": [1, HOSTILE] }),
    }
}

/// Calls every tool of an app: what it creates is found, got and changed. Gives the names of the
/// tools.
fn call_every_tool(app: &NewApp, known: &[(&str, &str, Json)]) -> Vec<String> {
    let served = Served(Host::dev(&app.path(), &[]));
    let tools = served.send("tools/list", &json!({}))["tools"].as_array().unwrap().clone();
    let by_verb =
        |verb: &str| tools.iter().filter(|tool| tool["name"].as_str().unwrap().ends_with(&format!("-{verb}"))).cloned().collect::<Vec<_>>();
    let mut called = Vec::new();
    let arguments = |tool: &Json, row: Option<&Json>| {
        let name = tool["name"].as_str().unwrap();
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        let schemas = tool["inputSchema"]["properties"].as_object().unwrap();
        let inputs = schemas.iter().map(|(input, schema)| {
            let known = known.iter().find(|(of, named, _)| name.starts_with(of) && named == input).map(|(.., value)| value.clone());
            let of_row = row.filter(|_| required.contains(&json!(input))).map(|row| row[input].clone());
            (input.clone(), of_row.or(known).unwrap_or_else(|| value(input, schema)))
        });
        (Json::Object(inputs.collect::<Map<_, _>>()), required)
    };
    for tool in by_verb("create") {
        let name = tool["name"].as_str().unwrap();
        let (inputs, _) = arguments(&tool, None);
        called.push(name.to_owned());
        let Some(made) = served.made(name, &inputs) else { continue };
        assert_eq!(made.len(), 1, "{name}");
        for (input, value) in inputs.as_object().unwrap() {
            // What a database has of a value of another type is another text.
            if value.as_str().is_some_and(|value| value.contains(HOSTILE)) {
                assert_eq!(made[0][input], *value, "{name}: {input}");
            }
        }
    }
    for tool in by_verb("list") {
        let name = tool["name"].as_str().unwrap();
        let rows = served.rows(name, &json!({}));
        let first = rows.first().unwrap_or_else(|| panic!("{name} has no row"));
        // Page by page, one row each, in the same order.
        let inputs = tool["inputSchema"]["properties"].as_object().unwrap();
        let table = name.strip_suffix("-list").unwrap();
        assert_eq!(served.paged(name, &json!({ "limit": 1 })), rows, "{name}");
        // A page says that there are more, and how to get them.
        let page = served.send("tools/call", &json!({ "name": name, "arguments": { "limit": 1 } }));
        let has_more = rows.len() > 1;
        assert_eq!(page["structuredContent"]["result"].as_array().map_or(0, Vec::len), 1, "{name}: {page}");
        assert_eq!(page["_meta"]["millrace/truncated"]["shown"], if has_more { json!(1) } else { Json::Null }, "{name}: {page}");
        assert_eq!(page.to_string().contains("Rows shown: 1. There are more."), has_more, "{name}: {page}");
        for sort in inputs.get("sort").and_then(|sort| sort["enum"].as_array()).into_iter().flatten() {
            let sorted = served.paged(name, &json!({ "limit": 1, "sort": sort, "order": "DESC" }));
            assert!(sorted.len() == rows.len() && rows.iter().all(|row| sorted.contains(row)), "{name} by {sort}: {sorted:?}");
        }
        for input in inputs.keys().filter(|input| !["offset", "limit", "sort", "order"].contains(&input.as_str())) {
            // An input that would have the name of another has a number at its end.
            let named = |name: &str| first.get(name).is_some().then(|| name.to_owned());
            let date = input.strip_suffix("_from").or(input.strip_suffix("_before")).and_then(named);
            if let Some(field) = date {
                let Some(day) = first[&field].as_str().and_then(|moment| moment.get(..10)) else { continue };
                let filtered = served.rows(name, &json!({ input: day }));
                assert_eq!(filtered.contains(first), input.ends_with("_from"), "{name} {input}: {filtered:?}");
                continue;
            }
            let field = named(input).unwrap_or_else(|| input.strip_suffix("_2").unwrap().to_owned());
            let filtered = served.rows(name, &json!({ input: first[&field] }));
            let fits = |row: &Json| first[&field].is_null() || row[&field] == first[&field];
            assert!(!filtered.is_empty() && filtered.iter().all(fits), "{name} {input}: {filtered:?}");
        }
        called.push(name.to_owned());
        let count = format!("{table}-count");
        assert_eq!(served.rows(&count, &json!({})), [json!({ "count": rows.len() })], "{count}");
        called.push(count);
        if let Some(sum) = tools.iter().find(|tool| tool["name"] == format!("{table}-sum")) {
            let choices = |input: &str| sum["inputSchema"]["properties"][input]["enum"].as_array().cloned().unwrap_or_default();
            let sum = sum["name"].as_str().unwrap();
            let calls = choices("by").into_iter().map(|by| json!({ "by": by, "limit": 1 }));
            for call in calls.chain(choices("column").into_iter().map(|column| json!({ "column": column, "limit": 1 }))) {
                let counted: u64 = served.paged(sum, &call).iter().map(|group| group["count"].as_u64().unwrap()).sum();
                assert_eq!(counted, rows.len() as u64, "{sum} {call}");
            }
            called.push(sum.to_owned());
        }
        for verb in ["get", "update"] {
            let Some(tool) = tools.iter().find(|tool| tool["name"] == format!("{table}-{verb}")) else { continue };
            let name = tool["name"].as_str().unwrap();
            let (all, required) = arguments(tool, Some(first));
            let keys: Json = required
                .iter()
                .map(|key| (key.as_str().unwrap().to_owned(), first[key.as_str().unwrap()].clone()))
                .collect::<Map<_, _>>()
                .into();
            // Without anything to change, a row stays what it was.
            assert_eq!(served.rows(name, &keys), std::slice::from_ref(first), "{name} {keys}");
            if verb == "update" {
                let changed = served.rows(name, &all);
                assert_eq!(changed.len(), 1, "{name}");
                assert!(
                    required.iter().all(|key| changed[0][key.as_str().unwrap()] == first[key.as_str().unwrap()]),
                    "{name}: {changed:?}"
                );
                // And nothing that is not there is changed or made.
                let absent: Map<_, _> = keys
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(key, value)| {
                        (key.clone(), if value.is_i64() { json!(99) } else { json!("00000000-0000-4000-8000-0000000000ff") })
                    })
                    .collect();
                let is_big = tool["inputSchema"]["properties"][required[0].as_str().unwrap()]["pattern"].is_string();
                let absent = if is_big { json!({ required[0].as_str().unwrap(): "5" }) } else { Json::Object(absent) };
                let result = served.send("tools/call", &json!({ "name": name, "arguments": absent }));
                assert!(result["isError"] == json!(true) && result.to_string().contains("NOT_FOUND"), "{name}: {result}");
            }
            called.push(name.to_owned());
        }
    }
    for tool in by_verb("search") {
        let name = tool["name"].as_str().unwrap();
        assert_eq!(served.paged(name, &json!({ "q": "a", "limit": 1 })), served.rows(name, &json!({ "q": "a" })), "{name}");
        assert!(served.rows(name, &json!({ "q": "' OR 1=1 --" })).is_empty(), "{name}");
        called.push(name.to_owned());
    }
    let mut names: Vec<String> = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    called.sort_unstable();
    assert_eq!(called, names, "every tool was called");
    names
}

#[test]
fn every_tool_of_a_sqlite_database_works() {
    let app = NewApp::make_in(shop(SQLITE), "app", &["--from", "sqlite:shop.db", "--write"]);
    check(&app);
    let names = call_every_tool(&app, &[("order-items-2", "order", json!(2)), ("order-items-2", "Product_Name", json!("Ink"))]);
    for expected in [
        "customers-create",
        "docs-search",
        "env-home-update",
        "keyless-create",
        "order-items-create",
        "order-items-2-get",
        "spending-list",
        "vault-update",
    ] {
        assert!(names.iter().any(|name| name == expected), "{expected}: {names:?}");
    }
    // No key, no row that can be named; a view, and a secret that each row needs.
    for absent in ["keyless-get", "keyless-update", "order-items-get", "spending-get", "spending-create", "docs-create", "vault-create"] {
        assert!(!names.iter().any(|name| name == absent), "{absent}: {names:?}");
    }
    for (tool, inputs, expected) in [
        ("orders-update", "id=1 'meta:=3'", r#""meta":3"#),
        ("orders-update", "id=1 'meta:=\"a\"'", r#""meta":"\"a\"""#),
        ("order-items-create", r#"'a:="x"' 'b:={"z":1}' big=9007199254740995"#, r#"[{"a":"x","b":"{\"z\":1}","big":"9007199254740995"}]"#),
    ] {
        let said = app.runs(&format!("millrace call {tool} {inputs}"));
        assert!(said.contains(expected), "{tool} {inputs}: {said}");
    }
    let orders = app.read("app/tools/orders/create/config.yaml");
    assert!(
        orders.contains("status:      { type: string, enum: [open, paid, \"it's\"], default: open, description: \"Status\" }"),
        "{orders}"
    );
    assert!(!orders.contains("twice }") && !orders.contains("inputs.id"), "what the database fills in is not an input: {orders}");
    let presenter = app.read("app/presenters/customers.yaml");
    assert!(presenter.contains("that of a secret; if it is not one, add it here and to the statements: `password_hash`\n"), "{presenter}");
    assert!(presenter.contains("binary: `photo`\n") && !presenter.contains("photo:"), "{presenter}");
    // The folder that the app is in has nothing new but the app, and the file is where it was.
    assert!(app.read("app/adapters/shop.yaml").contains("connection_string: \"../shop.db\"\n"));
    assert!(app.follow_agents() >= 6);
}

#[test]
fn every_tool_of_a_postgresql_database_works() {
    let server = Postgres::start(&[]);
    server.create("shop", POSTGRES);
    let url = server.url("shop");
    let tables = "customers,Orders,order_items,user,snowflakes,vault,events,spending,names,sales.offers";
    let app = NewApp::make("app", &["--from", &url, "--write", "--tables", tables]);
    check(&app);
    let order = json!("00000000-0000-4000-8000-000000000001");
    let names = call_every_tool(
        &app,
        &[
            ("customers", "rates", json!(["1.5", null])),
            ("order-items", "order", order),
            ("order-items", "line", json!(7)),
            ("snowflakes", "parent", json!("9223372036854775806")),
            ("sales-offers", "id", json!(7)),
        ],
    );
    for expected in [
        "customers-update",
        "orders-create",
        "order-items-update",
        "user-create",
        "snowflakes-get",
        "events-list",
        "names-search",
        "sales-offers-get",
    ] {
        assert!(names.iter().any(|name| name == expected), "{expected}: {names:?}");
    }
    for absent in ["user-get", "names-create", "spending-update", "vault-create", "events-2026-list"] {
        assert!(!names.iter().any(|name| name == absent), "{absent}: {names:?}");
    }
    let list = app.read("app/tools/customers/list/config.yaml");
    assert!(
        list.starts_with(
            "description: \"List customers, ordered by id unless sort says otherwise. Who buys: \\\"all\\\" of them. { { inputs.x } } # not a comment\"\n"
        ),
        "{list}"
    );
    assert!(
        app.read("app/presenters/customers.yaml")
            .contains("vip:        { type: boolean, description: \"Whether they pay; { { env.HOME } }")
    );
    let create = app.read("app/tools/orders/create/config.yaml");
    assert!(create.contains("status:      { type: string, enum: [open, paid, \"it's\", \"{{ inputs.x }}\"], default: open,"), "{create}");
    let create = app.read("app/tools/customers/create/config.yaml");
    assert!(create.contains("{ type: string, optional: true, description: \"Seen, as in 2026-02-03T04:05:06\" }"), "{create}");

    // The address is in `.env` alone, which nobody else can read, and git ignores.
    let env = app.path().join(".env");
    assert_eq!(fs::metadata(&env).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        app.read(".env.example"),
        "# Copy this to `.env`, which git ignores.\nDATABASE_URL=postgres://USER:PASSWORD@HOST:5432/DATABASE\n"
    );
    let files = text(&app.run("grep -rl --exclude-dir=node_modules -e correct -e 127.0.0.1 . || true"));
    assert_eq!(files.lines().filter(|file| !["./.mcp.json", "./README.md"].contains(file)).collect::<Vec<_>>(), ["./.env"]);
    let ignored = app.runs("git init -q . && git check-ignore .env .dev.vars node_modules/x dist/x dist-lambda/x");
    assert_eq!(ignored.lines().count(), 5, "{ignored}");
    assert!(
        app.read("wrangler.toml").contains("required = [\"DATABASE_URL\"]") && app.read("template.yaml").contains("DATABASE_URL: !Ref")
    );
    assert!(app.follow_agents() >= 6);
}

/// A server with this in its database, and where it is for its administrator and for somebody who
/// may only read.
fn mysql(sql: &str) -> (Mysql, String, String) {
    let server = Mysql::start(&[]);
    server.run("shop", sql);
    server.run("shop", "CREATE USER reader IDENTIFIED BY 'hunter2'; GRANT SELECT ON shop.* TO reader");
    let (admin, reader) = (server.url("shop"), format!("mariadb://reader:hunter2@127.0.0.1:{}/shop", server.port));
    (server, admin, reader)
}

#[test]
fn every_tool_of_a_mariadb_database_works() {
    let (_server, admin, reader) = mysql(MYSQL);
    let tables = "customers,Orders,orders,Order Items,snowflakes,visits,keyless,pages,vault,history,spending";
    let app = NewApp::make("app", &["--from", &admin, "--write", "--tables", tables]);
    check(&app);
    let known = [
        ("customers", "at", json!("01:02:03")),
        ("customers", "likes", json!("b")),
        ("customers", "joined", json!(2026)),
        ("order-items", "order", json!(1)),
        ("order-items", "Product_Name", json!("Ink")),
        ("snowflakes", "parent", json!("18446744073709551614")),
        ("orders-create", "id", json!(7)),
        ("history-create", "id", json!(7)),
    ];
    let names = call_every_tool(&app, &known);
    for expected in
        ["customers-update", "order-items-get", "snowflakes-get", "visits-update", "keyless-create", "pages-create", "history-update"]
    {
        assert!(names.iter().any(|name| name == expected), "{expected}: {names:?}");
    }
    // No key, and one that is the beginning of a text; a view, and a secret that each row needs.
    for absent in ["keyless-get", "pages-get", "spending-get", "spending-create", "vault-create"] {
        assert!(!names.iter().any(|name| name == absent), "{absent}: {names:?}");
    }
    let customers = app.read("app/presenters/customers.yaml");
    for expected in [
        "vip:        { type: boolean, description: \"Whether they pay; { { env.HOME } }",
        "level:      { type: int, nullable: true }",
        "active:     { type: boolean, nullable: true }",
        "settings:   { type: json }",
        "binary: `photo`, `place`\n",
    ] {
        assert!(customers.contains(expected), "{expected}: {customers}");
    }
    let create = app.read("app/tools/customers/create/config.yaml");
    assert!(create.contains("city:     { type: string, max: 40, default: \"it's Lisbon\",") && !create.contains("created_at:"), "{create}");
    let orders = app.read("app/tools/orders-2/create/config.yaml");
    assert!(orders.contains("status:      { type: string, enum: [open, paid, \"it's\", \"{{ inputs.x }}\"], default: open,"), "{orders}");
    assert!(app.read(".env.example").contains("\nDATABASE_URL=mysql://USER:PASSWORD@HOST:3306/DATABASE\n"));
    assert!(app.follow_agents() >= 6);

    // Who may only read sees the same: keys and foreign keys, too.
    let app = NewApp::make("read", &["--from", &reader, "--tables", "customers,Orders,sizes"]);
    check(&app);
    call_every_tool(&app, &[]);
    let list = app.read("app/tools/orders/list/config.yaml");
    assert!(list.contains("customer_id: { type: int, optional: true,") && list.contains("}}, orderId\n"), "{list}");
    let folder = tempfile::tempdir().unwrap();
    let said = text(&new(folder.path(), &["all", "--from", &reader]));
    assert!(said.contains("left out `broken`: ") && !said.contains("numbers") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_statement_has_quotes_around_each_word_that_mariadb_reserves() {
    let (server, admin, _) = mysql("");
    let rows = server
        .open()
        .rows("SELECT DISTINCT LOWER(WORD) FROM information_schema.KEYWORDS WHERE WORD RLIKE '^[A-Za-z]' AND WORD <> 'ID' ORDER BY 1");
    let words: Vec<String> =
        rows.iter().filter_map(|row| if let Value::Text(word) = &row[0] { Some(word.clone()) } else { None }).collect();
    assert!(words.len() > 600, "{words:?}");
    let mut tables = Vec::new();
    // Some of them as names of tables, too.
    for words in words.chunks(45) {
        let columns: Vec<String> = words.iter().map(|word| format!("`{word}` INT")).collect();
        server.run("shop", &format!("CREATE TABLE `{}` (id INT PRIMARY KEY, {})", words[0], columns.join(", ")));
        tables.push(words[0].as_str());
    }
    check(&NewApp::make("app", &["--from", &admin, "--write", "--tables", &tables.join(",")]));
}

#[test]
fn every_tool_of_a_libsql_server_works() {
    let server = Sqld::start(None);
    let url = format!("http://127.0.0.1:{}", server.port);
    let database = Database::open(connection("libsql", &url, &[]));
    let tables = "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, password_hash TEXT, vip BOOLEAN NOT NULL DEFAULT 0, meta JSON);
                  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT NOT NULL REFERENCES customers (id), status TEXT CHECK (status IN ('open', 'paid')), total REAL);
                  CREATE VIEW spending AS SELECT customer_id, sum(total) AS total FROM orders GROUP BY customer_id;
                  INSERT INTO customers (name, password_hash) VALUES ('Ann', 's3cr3t-of-ann');
                  INSERT INTO orders (customer_id, status, total) VALUES (1, 'open', 1.5)";
    for statement in tables.split(';') {
        database.run(statement, &[]).unwrap();
    }
    let app = NewApp::make("app", &["--from", &url, "--write"]);
    check(&app);
    let names = call_every_tool(&app, &[]);
    assert_eq!(names.len(), 14, "{names:?}");
    assert!(app.read("app/adapters/main.yaml").contains("connector: libsql\nconnection_string: \"{{ env.DATABASE_URL }}\"\n"));
}

#[test]
fn no_name_becomes_anything_but_a_name() {
    let pieces = [
        "{{",
        "}}",
        "{{ inputs.q }}",
        "{{ '{{' }}",
        "'",
        "''",
        "\"",
        "`",
        "[",
        "]",
        ": ",
        " #",
        "\\",
        "\\u0022",
        "$1",
        "?1",
        ":a",
        "@b",
        "--",
        "/*",
        "*/",
        "|",
        "%",
        "- ",
        "&a",
        "*b",
        "!",
        ">",
        "é",
        "\u{202e}",
        "\u{a0}",
        "select",
        "x",
        ";",
        "\u{7}",
    ];
    let mut seed = 11_u64;
    let mut name = |known: &mut Vec<String>| loop {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap()
        };
        let name: String = (0..=next() % 4).map(|_| pieces[next() % pieces.len()]).collect();
        if !known.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
            known.push(name.clone());
            return name;
        }
    };
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut tables = Vec::new();
    let mut sql = String::new();
    for _ in 0..20 {
        let table = name(&mut tables);
        let mut columns = Vec::new();
        let columns: Vec<String> = (0..4).map(|_| quoted(&name(&mut columns))).collect();
        sql += &format!(
            "CREATE TABLE {} ({} TEXT PRIMARY KEY, {} TEXT, {} BOOLEAN, {} INT DEFAULT 7);\n",
            quoted(&table),
            columns[0],
            columns[1],
            columns[2],
            columns[3]
        );
        sql += &format!("INSERT INTO {} VALUES ('a', 'b', 1, 2), ('b', 'c', 0, 3);\n", quoted(&table));
    }
    let app = NewApp::make_in(shop(&sql), "app", &["--from", "sqlite:shop.db", "--write"]);
    check(&app);
    let names = call_every_tool(&app, &[]);
    assert!(names.len() > 60, "{names:?}");
}

#[test]
fn what_yaml_takes_for_something_else_is_a_name() {
    let words = [
        "null",
        "true",
        "False",
        "yes",
        "No",
        "on",
        "OFF",
        "y",
        "n",
        "~",
        "12",
        "1e3",
        "0x1f",
        "0o7",
        "1_000",
        "2026-01-01",
        "12:30:00",
        ".inf",
        ".nan",
        "<<",
        "=",
        "-",
        "Infinity",
    ];
    let mut sql = String::new();
    for (place, word) in words.iter().enumerate() {
        let column = words[(place + 1) % words.len()];
        sql += &format!(
            "CREATE TABLE \"{word}\" (id INTEGER PRIMARY KEY, \"{column}\" TEXT CHECK (\"{column}\" IN ('{word}', '{column}')));\n"
        );
        sql += &format!("INSERT INTO \"{word}\" VALUES (1, '{word}'), (2, '{column}');\n");
    }
    let app = NewApp::make_in(shop(&sql), "null", &["--from", "sqlite:shop.db", "--write"]);
    check(&app);
    let names = call_every_tool(&app, &[]);
    assert!(names.len() > 60, "{names:?}");
}

#[test]
fn an_app_only_reads_unless_it_may_write() {
    let app = NewApp::make_in(shop(SQLITE), "app", &["--from", "sqlite:shop.db", "--tables", "customers,ORDERS"]);
    check(&app);
    let tools = app.runs("ls app/tools/* ");
    assert!(tools.contains("search") && !tools.contains("create") && !tools.contains("update") && !tools.contains("vault"), "{tools}");
    assert!(app.read("app/adapters/shop.yaml").contains("options: { read_only: true }\n"));
    // Nor does a statement that an agent adds.
    write(&app.path(), "app/tools/wipe/config.yaml", "description: Wipe.\nkind: mutation\nuse: shop\nstatement: DELETE FROM orders\n");
    assert!(!app.run("millrace call wipe").status.success());
}

#[test]
fn what_is_left_out_is_said() {
    let many: String = (0..25).map(|number| format!("CREATE TABLE t{number:02} (id INTEGER PRIMARY KEY);")).collect();
    let folder = shop(&many);
    let said = text(&new(folder.path(), &["all", "--from", "sqlite:shop.db"]));
    assert!(
        said.contains("wrote 60 tools for 20 tables:")
            && said.contains("left out 5 other tables: `t20`, `t21`, `t22`, `t23`, `t24` (the first 20 were chosen: tables, then tables that inherit from others, then views); choose with `--tables NAME,NAME`"),
        "{said}"
    );
    assert!(said.contains("the tools only read; with `--write`"), "{said}");
    let said = text(&new(folder.path(), &["two", "--from", "sqlite:shop.db", "--tables", "t24, t00", "--write"]));
    assert!(
        said.contains("for 2 tables:\n  t24: list, get, count\n  t00: list, get, count\nleft out 23 other tables: ")
            && said.contains("`t20`, …; choose"),
        "{said}"
    );
    let folder = shop(SQLITE);
    let said = text(&new(folder.path(), &["app", "--from", "sqlite:shop.db", "--write"]));
    for expected in [
        "  vault: list, get, search, count, update (no create: each row needs a value of `secret`, which no tool takes)\n",
        "left out `broken`: ",
        "left out `we\\nird`: a statement cannot have its name\n",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_and_leaves_nothing_behind() {
    let folder = shop("CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE only (b BLOB);");
    fs::write(folder.path().join("text.db"), "not a database, and long enough to be looked at ".repeat(40)).unwrap();
    rusqlite::Connection::open(folder.path().join("empty.db")).unwrap().execute_batch("VACUUM").unwrap();
    for (arguments, code, expected) in [
        (&["--from", "mongodb://me:hunter2@db/x"][..], 2, "cannot read a database of the kind `mongodb`"),
        (&["--from", "mysql://me:hunter2@127.0.0.1:1/x"], 1, "cannot be read"),
        (&["--from", "shop.db"], 2, "which kind of database"),
        (&["--from", "d1://hunter2/x"], 2, "wrangler d1 export"),
        (&["--from", "sqlite:absent.db"], 1, "`absent.db` is not a file"),
        (&["--from", "sqlite:text.db"], 1, "cannot be read"),
        (&["--from", "sqlite:empty.db"], 1, "no table or view"),
        (&["--from", "sqlite:shop.db", "--tables", "only"], 1, "no table or view that tools can be made for"),
        (&["--from", "sqlite:shop.db", "--tables", "T2"], 2, "no table or view `T2`; it has: `only`, `t`"),
        (&["--from", "postgres://me:hunter2@127.0.0.1:1/x"], 1, "cannot be read"),
        (&["--from", "postgres://me:hunter2@127.0.0.1:1/x?nonsense=hunter2"], 1, "nonsense"),
        (&["--write"], 2, "--from"),
        (&["--tables", "t"], 2, "--from"),
    ] {
        let output = new(folder.path(), &[&["app"], arguments].concat());
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(expected) && !said.contains("hunter2"), "{arguments:?}: {said}");
        assert!(!folder.path().join("app").exists(), "{arguments:?}");
    }
    let server = Postgres::start(&[]);
    let wrong = server.url("postgres").replace("correct", "hunter2");
    let said = text(&new(folder.path(), &["app", "--from", &wrong]));
    assert!(!said.contains("hunter2") && !said.contains(PASSWORD) && said.contains("cannot be read"), "{said}");
    // A variable of the shell would be taken instead of the one in `.env`.
    server.create("one", "CREATE TABLE t (id integer PRIMARY KEY)");
    let mut command = Command::new(binary());
    command.args(["new", "app", "--from", &server.url("one")]).env("DATABASE_URL", "hunter2").current_dir(folder.path());
    let said = text(&command.output().unwrap());
    assert!(
        said.contains("note: the variable `DATABASE_URL` is set here") && !said.contains("hunter2") && !said.contains("correct"),
        "{said}"
    );
}

#[test]
fn the_page_about_new_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/new.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut last = String::new();
    for (kind, body) in blocks(&page) {
        match kind.as_str() {
            "sql" => rusqlite::Connection::open(folder.path().join("shop.db")).unwrap().execute_batch(&body).unwrap(),
            "sh" => {
                let output = shell(folder.path(), &body);
                last = text(&output);
                assert!(output.status.success(), "{body}\n{last}");
            }
            "json" => assert!(last.contains(body.trim()), "{last}"),
            "yaml" => assert_eq!(fs::read_to_string(folder.path().join("shop/app/tools/orders/list/config.yaml")).unwrap(), body),
            other => panic!("docs/new.md has a block of kind `{other}`, which nothing tests"),
        }
    }
    // The files of the first table, and the tools of the other.
    for file in page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|name| name.contains('.') && !name.contains(':') && !name.starts_with("--"))
    {
        assert!(folder.path().join("notes").join(file).exists(), "{file}");
    }
    let tables = fs::read_to_string(root().join("docs/new-tables.md")).unwrap();
    for (verb, table) in [
        ("list", "orders"),
        ("get", "orders"),
        ("search", "customers"),
        ("count", "customers"),
        ("sum", "orders"),
        ("create", "customers"),
        ("update", "customers"),
    ] {
        assert!(
            tables.contains(&format!("| `TABLE-{verb}` |")) && folder.path().join("shop/app/tools").join(table).join(verb).is_dir(),
            "{verb}"
        );
    }
}

/// Calls the tools of a table that has two equal rows but for `id`: what they return can be given
/// back to those that write.
fn what_is_read_can_be_written_back(app: &NewApp, table: &str) {
    let served = Served(Host::dev(&app.path(), &[]));
    let tools = served.send("tools/list", &json!({}))["tools"].as_array().unwrap().clone();
    let rows = served.paged(&format!("{table}-list"), &json!({ "limit": 1 }));
    assert_eq!(rows.len(), 2, "{rows:?}");
    for (place, row) in rows.iter().enumerate() {
        let get = format!("{table}-get");
        assert_eq!(served.rows(&get, &json!({ "id": row["id"] })), std::slice::from_ref(row), "{get}");
        for verb in ["update", "create"] {
            let name = format!("{table}-{verb}");
            let tool = tools.iter().find(|tool| tool["name"] == name.as_str()).unwrap();
            let inputs = tool["inputSchema"]["properties"].as_object().unwrap();
            let mut given: Map<String, Json> = row
                .as_object()
                .unwrap()
                .iter()
                .filter(|(field, _)| inputs.contains_key(*field))
                .map(|(field, value)| (field.clone(), value.clone()))
                .collect();
            let mut expected = row.clone();
            if verb == "create" {
                let id = json!(place + 10);
                (given["id"], expected["id"]) = (id.clone(), id);
            }
            let made = served.rows(&name, &Json::Object(given.clone()));
            assert_eq!(made, [expected], "{name} {given:?}");
        }
    }
    for search in tools.iter().filter(|tool| tool["name"] == format!("{table}-search")) {
        let _ = served.paged(search["name"].as_str().unwrap(), &json!({ "q": "a", "limit": 1 }));
    }
    let count = served.rows(&format!("{table}-count"), &json!({}));
    assert_eq!(count, [json!({ "count": 4 })]);
    for sum in tools.iter().filter(|tool| tool["name"] == format!("{table}-sum")) {
        let choices = |input: &str| sum["inputSchema"]["properties"][input]["enum"].as_array().cloned().unwrap_or_default();
        for (by, column) in choices("by").iter().flat_map(|by| choices("column").into_iter().map(move |column| (by.clone(), column))) {
            let groups = served.paged(sum["name"].as_str().unwrap(), &json!({ "by": by, "column": column }));
            assert_eq!(groups.iter().map(|group| group["count"].as_u64().unwrap()).sum::<u64>(), 4, "{by} {column}: {groups:?}");
        }
    }
}

/// A value of each type of PostgreSQL that a column can have and a text can be read as.
const POSTGRES_TYPES: [(&str, &str); 67] = [
    ("bool", "true"),
    ("\"char\"", "'x'"),
    ("name", "'n'"),
    ("int8", "9007199254740993"),
    ("int2", "-7"),
    ("int2vector", "'1 2'"),
    ("int4", "7"),
    ("regproc", "'pg_catalog.now'"),
    ("text", "'{te\"xt}'"),
    ("oid", "4294967295"),
    ("tid", "'(0,1)'"),
    ("xid", "'7'"),
    ("cid", "'7'"),
    ("oidvector", "'1 2'"),
    ("json", "'{\"a\": [1, null]}'"),
    ("xml", "'<a>b</a>'"),
    ("xid8", "'7'"),
    ("point", "'(1,2)'"),
    ("lseg", "'[(1,2),(3,4)]'"),
    ("path", "'((1,2),(3,4))'"),
    ("box", "'(3,4),(1,2)'"),
    ("polygon", "'((1,2),(3,4))'"),
    ("line", "'{1,2,3}'"),
    ("float4", "1.5"),
    ("float8", "0.1"),
    ("circle", "'<(1,2),3>'"),
    ("money", "'1.50'"),
    ("macaddr", "'08:00:2b:01:02:03'"),
    ("inet", "'10.0.0.1/24'"),
    ("cidr", "'10.0.0.0/24'"),
    ("macaddr8", "'08:00:2b:01:02:03:04:05'"),
    ("aclitem", "('=r/' || current_user)::aclitem"),
    ("bpchar", "'ab'"),
    ("varchar(5)", "'v'"),
    ("date", "'2024-02-29'"),
    ("time", "'03:04:05.1'"),
    ("timestamp", "'2024-02-29 03:04:05.1'"),
    ("timestamptz", "'2024-02-29 03:04:05.1+02'"),
    ("interval", "'1 day 02:00:00'"),
    ("timetz", "'03:04:05+02'"),
    ("bit", "B'1'"),
    ("varbit", "B'101'"),
    ("numeric", "12345678901234567890.10"),
    ("numeric(10, 2)", "12.50"),
    ("refcursor", "'c'"),
    ("regprocedure", "'lower(text)'"),
    ("regoper", "'pg_catalog.||/'"),
    ("regoperator", "'+(integer,integer)'"),
    ("regclass", "'pg_class'"),
    ("regcollation", "'\"C\"'"),
    ("regtype", "'integer'"),
    ("regrole", "current_user::regrole"),
    ("regnamespace", "'pg_catalog'"),
    ("uuid", "'00000000-0000-4000-8000-000000000001'"),
    ("pg_lsn", "'16/B374D848'"),
    ("regconfig", "'simple'"),
    ("regdictionary", "'simple'"),
    ("jsonb", "'{\"a\": 1}'"),
    ("jsonpath", "'$.\"a\"'"),
    ("txid_snapshot", "'10:20:'"),
    ("pg_snapshot", "'10:20:'"),
    ("int4range", "'[1,3)'"),
    ("datemultirange", "'{[2024-01-01,2024-02-01)}'"),
    ("mood", "'{odd,one}'"),
    ("positive", "5"),
    ("pair", "'(1,\"x,y\")'"),
    ("textual", "'(a,b)'"),
];
/// Those that no tool shows.
const POSTGRES_LEFT_OUT: [(&str, &str); 3] = [("bytea", "'\\x00ff'"), ("tsvector", "'a:1'"), ("tsquery", "'a'")];

#[test]
fn a_table_of_every_type_of_postgresql_can_be_read_and_written() {
    let server = Postgres::start(&[]);
    let types = POSTGRES_TYPES.iter().chain(&POSTGRES_LEFT_OUT);
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (number, (name, value)) in types.enumerate() {
        columns.push(format!("one{number} {name}, many{number} {name}[]"));
        values.push(format!("{value}, ARRAY[{value}, NULL]::{name}[]"));
    }
    let (columns, values) = (columns.join(", "), values.join(", "));
    server.create(
        "types",
        &format!(
            "CREATE TYPE mood AS ENUM ('sad', '{{odd,one}}'); CREATE DOMAIN positive AS integer CHECK (VALUE > 0); CREATE TYPE pair AS (a integer, b text);
             CREATE TYPE textual AS RANGE (subtype = text); CREATE DOMAIN tags AS text[];
             CREATE TABLE types (id integer PRIMARY KEY, {columns}, grid integer[][], tags tags, odd date, endless numeric);
             INSERT INTO types SELECT n, {}, '{{{{1,2}},{{3,4}}}}', '{{a,b}}', 'infinity', 'NaN' FROM generate_series(1, 2) n;",
            values.replace("'(a,b)'", "textual('a', 'b')")
        ),
    );
    let app = NewApp::make("app", &["--from", &server.url("types"), "--write"]);
    check(&app);
    what_is_read_can_be_written_back(&app, "types");
    let presenter = app.read("app/presenters/types.yaml");
    assert!(presenter.contains("# Left out, because it is binary: `one67`, `many67`, `one68`, `one69`\n"), "{presenter}");
    // The server has no other types that a column can have and that are read from a text.
    let database = Database::open(connection("postgres", &server.url("types"), &[]));
    let known: Vec<&str> =
        POSTGRES_TYPES.iter().chain(&POSTGRES_LEFT_OUT).map(|(name, _)| name.split('(').next().unwrap().trim_matches('"')).collect();
    let all = database.rows(
        "SELECT typname::text FROM pg_type WHERE typtype IN ('b', 'e') AND typelem = 0 AND typnamespace = 'pg_catalog'::regnamespace
         AND typname NOT LIKE 'pg!_brin%' ESCAPE '!' AND typname NOT IN ('pg_node_tree', 'pg_ndistinct', 'pg_dependencies', 'pg_mcv_list', 'gtsvector') ORDER BY 1",
    );
    let unknown: Vec<_> = all.iter().filter(|row| !matches!(&row[0], Value::Text(name) if known.contains(&name.as_str()))).collect();
    assert!(unknown.is_empty() && all.len() > 50, "{unknown:?}");
}

#[test]
fn a_table_of_every_type_of_mariadb_can_be_read_and_written() {
    let types = [
        ("BOOLEAN", "1"),
        ("TINYINT", "-7"),
        ("TINYINT(1)", "7"),
        ("SMALLINT", "-7"),
        ("MEDIUMINT", "7"),
        ("INT UNSIGNED ZEROFILL", "7"),
        ("BIGINT", "-9007199254740993"),
        ("BIGINT UNSIGNED", "18446744073709551615"),
        ("DECIMAL(65, 30)", "12345678901234567890.123456789012345678901234567890"),
        ("FLOAT", "1.5"),
        ("DOUBLE", "0.1"),
        ("BIT", "b'1'"),
        ("BIT(8)", "b'101'"),
        ("BIT(64)", "b'1111111111111111111111111111111111111111111111111111111111111111'"),
        ("CHAR(3)", "'ab'"),
        ("VARCHAR(5)", "'v'"),
        ("TINYTEXT", "'t'"),
        ("TEXT", "'t'"),
        ("MEDIUMTEXT", "'t'"),
        ("LONGTEXT", "'t'"),
        ("ENUM('a', 'it''s')", "'it''s'"),
        ("SET('a', 'b')", "'a,b'"),
        ("DATE", "'2024-02-29'"),
        ("TIME(6)", "'-838:59:59.000001'"),
        ("DATETIME(6)", "'2024-02-29 03:04:05.123456'"),
        ("TIMESTAMP(6) NULL", "'2024-02-29 03:04:05.123456'"),
        ("YEAR", "2024"),
        ("JSON", "'{\"a\": [1, null]}'"),
        ("INET4", "'10.0.0.1'"),
        ("INET6", "'::1'"),
        ("UUID", "'00000000-0000-4000-8000-000000000001'"),
        ("BINARY(2)", "x'00ff'"),
        ("VARBINARY(2)", "x'00ff'"),
        ("TINYBLOB", "x'00ff'"),
        ("BLOB", "x'00ff'"),
        ("MEDIUMBLOB", "x'00ff'"),
        ("LONGBLOB", "x'00ff'"),
        ("POINT", "POINT(1, 2)"),
        ("LINESTRING", "NULL"),
        ("GEOMETRY", "NULL"),
    ];
    let columns: Vec<String> = types.iter().enumerate().map(|(number, (name, _))| format!("c{number} {name}")).collect();
    let values = types.map(|(_, value)| value).join(", ");
    let (_server, admin, _) = mysql(&format!(
        "SET sql_mode = ''; CREATE TABLE types (id INT PRIMARY KEY, {}); INSERT INTO types VALUES (1, {values}), (2, {values});
         CREATE TABLE zeros (id INT PRIMARY KEY, d DATE, t DATETIME, s TIMESTAMP NULL); INSERT INTO zeros VALUES (1, '0000-00-00', '0000-00-00', '0000-00-00')",
        columns.join(", ")
    ));
    let app = NewApp::make("app", &["--from", &admin, "--write"]);
    check(&app);
    let zeros = app.runs("millrace call zeros-get id=1");
    assert!(zeros.contains(r#"[{"id":1,"d":"0000-00-00","t":"0000-00-00 00:00:00","s":"0000-00-00 00:00:00"}]"#), "{zeros}");
    what_is_read_can_be_written_back(&app, "types");
}

#[test]
fn a_table_of_every_type_of_sqlite_can_be_read_and_written() {
    let types = [
        ("", "'any'"),
        ("INTEGER", "9007199254740993"),
        ("INT", "7"),
        ("BOOLEAN", "1"),
        ("REAL", "1.5"),
        ("NUMERIC(10, 2)", "2.5"),
        ("DECIMAL", "7"),
        ("TEXT", "'t'"),
        ("VARCHAR(5)", "'longer than five'"),
        ("CHAR(2)", "'longer'"),
        ("CLOB", "'c'"),
        ("DATE", "'2024-02-29'"),
        ("DATE", "'2024-02-29 00:00:00'"),
        ("DATE", "'29/02/2024'"),
        ("DATE", "1709164800"),
        ("DATETIME", "'2024-02-29 03:04:05'"),
        ("TIMESTAMP", "'2024-02-29T03:04:05Z'"),
        ("TEXT", "'2024-02-29'"),
        ("JSON", "'{\"a\":[1,null]}'"),
        ("UUID", "'not a uuid'"),
        ("INT", "'text'"),
        ("TEXT", "x'00ff'"),
        ("BLOB", "x'00ff'"),
        ("BLOB", "'text'"),
        ("GEOMETRY", "2.5"),
        ("INTEGER GENERATED ALWAYS AS (c2 * 2)", ""),
    ];
    let columns: Vec<String> = types.iter().enumerate().map(|(number, (name, _))| format!("c{number} {name}")).collect();
    let values: Vec<&str> = types.iter().map(|(_, value)| *value).filter(|value| !value.is_empty()).collect();
    let values = values.join(", ");
    let strict = "id INTEGER PRIMARY KEY, a INT, b INTEGER, c REAL, d TEXT, e BLOB, f ANY";
    let sql = format!(
        "CREATE TABLE types (id INT PRIMARY KEY, {}); INSERT INTO types VALUES (1, {values}), (2, {values});
         CREATE TABLE strictly ({strict}) STRICT; INSERT INTO strictly VALUES (1, 1, 2, 1.5, 't', x'00', 'any'), (2, 1, 2, 1.5, 't', x'00', 'any');",
        columns.join(", ")
    );
    let app = NewApp::make_in(shop(&sql), "app", &["--from", "sqlite:shop.db", "--write"]);
    check(&app);
    what_is_read_can_be_written_back(&app, "types");
}

#[test]
fn hidden_columns_are_nowhere_and_personal_ones_are_named() {
    let sql = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, \"E-mail\" TEXT, phone TEXT, born DATE, note TEXT);
               CREATE TABLE visits (id INTEGER PRIMARY KEY, person INT REFERENCES people (id), note TEXT, pay REAL, day DATE NOT NULL DEFAULT '2024-01-01');
               INSERT INTO people VALUES (1, 'Ann', 'ann@example.com', '1234', '2001-02-03', 'n'); INSERT INTO visits VALUES (1, 1, 'n', 1.5, '2026-01-02');";
    let folder = shop(sql);
    let said = text(&new(folder.path(), &["all", "--from", "sqlite:shop.db"]));
    assert!(said.contains("personal, by the names of the columns: `people.E-mail`, `people.phone`, `people.born`; `--hide"), "{said}");
    let presenter = fs::read_to_string(folder.path().join("all/app/presenters/people.yaml")).unwrap();
    assert!(presenter.contains("# Personal, by the names: `E-mail`, `phone`, `born`."), "{presenter}");
    for (hidden, expected) in [
        ("nick", "`--hide` names `nick`, and no table that tools are written for has such a column"),
        ("visits.phone", "`--hide` names `visits.phone`"),
    ] {
        let said = new(folder.path(), &["none", "--from", "sqlite:shop.db", "--hide", hidden]);
        assert!(said.status.code() == Some(2) && text(&said).contains(expected), "{hidden}: {}", text(&said));
    }
    let app = NewApp::make_in(
        folder,
        "app",
        &["--from", "sqlite:shop.db", "--write", "--hide", "e-mail,phone", "--hide", "people.born, visits.pay"],
    );
    check(&app);
    let names = call_every_tool(&app, &[]);
    assert!(names.iter().any(|name| name == "people-update") && !names.iter().any(|name| name == "visits-sum"), "{names:?}");
    let found = text(&app.run("grep -rniE 'mail|phone|born|\\bpay\\b' app | grep -v 'Left out, by' || true"));
    assert_eq!(found, "", "a hidden column is in a file");
    // What was not named stays, and a literal is the default of an input.
    let create = app.read("app/tools/visits/create/config.yaml");
    assert!(create.contains("day:    { type: date, default: \"2024-01-01\", description: \"Day\" }"), "{create}");
    assert!(create.contains("description: \"A row of people: its id, which people-list returns\""), "{create}");
}

#[test]
fn tables_come_before_views_and_what_inherits() {
    let server = Postgres::start(&[]);
    server.create(
        "many",
        "CREATE TABLE payments (id integer PRIMARY KEY, total numeric(8, 2) DEFAULT 0.00, paid date DEFAULT '2024-01-01', tags text[] DEFAULT '{a,b}', doc jsonb DEFAULT '{\"a\": 1}');
         CREATE TABLE payment_2026 () INHERITS (payments);
         CREATE VIEW all_payments AS SELECT id FROM payments;
         CREATE TABLE ruled (id integer PRIMARY KEY, note text);
         CREATE RULE elsewhere AS ON INSERT TO ruled DO INSTEAD INSERT INTO payments VALUES (NEW.id);
         DO $$ BEGIN FOR n IN 10..27 LOOP EXECUTE format('CREATE VIEW a%s AS SELECT %s AS x', n, n); END LOOP; END $$;",
    );
    let url = server.url("many");
    let folder = tempfile::tempdir().unwrap();
    let said = text(&new(folder.path(), &["app", "--from", &url, "--write"]));
    let written: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(": ")).map(|(name, _)| name).collect();
    assert_eq!(&written[..5], ["payments", "ruled", "payment-2026", "a10", "a11"], "{said}");
    assert!(
        said.contains("left out 2 other tables: `a27`, `all_payments` (the first 20 were chosen: tables, then tables that inherit from others, then views); choose"),
        "{said}"
    );
    // What the database would refuse in every call is not there.
    assert!(said.contains("  ruled: list, get, search, count, update (no create: the database does not take the statement: "), "{said}");
    let app = NewApp::make("app", &["--from", &url, "--write", "--tables", "payments,ruled"]);
    check(&app);
    let created = app.runs("millrace call payments-create id=7");
    assert!(created.contains(r#"[{"id":7,"total":0.0,"paid":"2024-01-01","tags":["a","b"],"doc":{"a":1}}]"#), "{created}");
    let created = app.runs(r#"millrace call payments-create id=8 total=1.5 'tags:=["c",null]' 'doc:={"b":2}' paid=2026-01-02"#);
    assert!(created.contains(r#"[{"id":8,"total":1.5,"paid":"2026-01-02","tags":["c",null],"doc":{"b":2}}]"#), "{created}");
}

#[test]
fn names_are_transliterated_and_parted_at_capitals() {
    let sql = "CREATE TABLE \"Größe\" (id INTEGER PRIMARY KEY, \"näme\" TEXT); CREATE TABLE PlaylistTrack (id INTEGER PRIMARY KEY, \"Straße\" TEXT);
               INSERT INTO \"Größe\" VALUES (1, 'a'); INSERT INTO PlaylistTrack VALUES (1, 'b');";
    let app = NewApp::make_in(shop(sql), "app", &["--from", "sqlite:shop.db", "--write"]);
    check(&app);
    let names = call_every_tool(&app, &[]);
    assert!(names.contains(&"grosse-list".to_owned()) && names.contains(&"playlist-track-search".to_owned()), "{names:?}");
    assert!(
        app.read("app/presenters/grosse.yaml").contains("name:") && app.read("app/presenters/playlist-track.yaml").contains("Strasse:")
    );
}
