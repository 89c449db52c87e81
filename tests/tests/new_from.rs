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
        (Some("string"), _) if name == "seen" => json!("2026-02-03T04:05:06"),
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
        let second = match tools.iter().find(|tool| tool["name"] == format!("{table}-get")) {
            Some(get) if inputs.contains_key("after") => {
                let key = get["inputSchema"]["required"][0].as_str().unwrap();
                served.rows(name, &json!({ "limit": 1, "after": first[key] }))
            }
            _ => served.rows(name, &json!({ "limit": 1, "offset": 1 })),
        };
        assert_eq!(second.first(), rows.get(1), "{name}");
        // A page says that there are more, and how to get them.
        let page = served.send("tools/call", &json!({ "name": name, "arguments": { "limit": 1 } }));
        let has_more = rows.len() > 1;
        assert_eq!(page["structuredContent"]["result"].as_array().map_or(0, Vec::len), 1, "{name}: {page}");
        assert_eq!(page["_meta"]["millrace/truncated"]["shown"], if has_more { json!(1) } else { Json::Null }, "{name}: {page}");
        assert_eq!(page.to_string().contains("Rows shown: 1. There are more."), has_more, "{name}: {page}");
        if has_more && inputs.contains_key("after") {
            assert!(first.as_object().unwrap().values().any(|value| *value == page["_meta"]["millrace/cursor"]["after"]), "{name}: {page}");
        }
        for input in inputs.keys().filter(|input| !["after", "offset", "limit"].contains(&input.as_str())) {
            // An input that would have the name of another has a number at its end.
            let field = if first.get(input).is_some() { input } else { input.strip_suffix("_2").unwrap() };
            let filtered = served.rows(name, &json!({ input: first[field] }));
            assert!(!filtered.is_empty() && filtered.iter().all(|row| row[field] == first[field]), "{name} {input}: {filtered:?}");
        }
        called.push(name.to_owned());
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
        let _ = served.rows(name, &json!({ "q": "a" }));
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
            "description: \"List customers, ordered by id. Who buys: \\\"all\\\" of them. { { inputs.x } } # not a comment\"\n"
        ),
        "{list}"
    );
    assert!(
        app.read("app/presenters/customers.yaml")
            .contains("vip:        { type: boolean, description: \"Whether they pay; { { env.HOME } }")
    );
    let create = app.read("app/tools/orders/create/config.yaml");
    assert!(create.contains("status:      { type: string, enum: [open, paid, \"it's\", \"{{ inputs.x }}\"], default: open,"), "{create}");

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
    assert!(create.contains("city:    { type: string, max: 40, default: \"it's Lisbon\",") && !create.contains("created_at:"), "{create}");
    let orders = app.read("app/tools/orders-2/create/config.yaml");
    assert!(orders.contains("status:      { type: string, enum: [open, paid, \"it's\", \"{{ inputs.x }}\"], default: open,"), "{orders}");
    assert!(app.read(".env.example").contains("\nDATABASE_URL=mysql://USER:PASSWORD@HOST:3306/DATABASE\n"));
    assert!(app.follow_agents() >= 6);

    // Who may only read sees the same: keys and foreign keys, too.
    let app = NewApp::make("read", &["--from", &reader, "--tables", "customers,Orders,sizes"]);
    check(&app);
    call_every_tool(&app, &[]);
    let list = app.read("app/tools/orders/list/config.yaml");
    assert!(list.contains("customer_id: { type: int, optional: true,") && list.contains("ORDER BY orderId"), "{list}");
    // An `ENUM` is ordered by the places of its values.
    assert!(app.read("app/tools/sizes/list/config.yaml").contains("OFFSET {{ inputs.offset }}"));
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
    assert_eq!(names.len(), 10, "{names:?}");
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
        said.contains("wrote 40 tools for 20 tables:")
            && said.contains("left out 5 other tables: `t20`, `t21`, `t22`, `t23`, `t24`; choose with `--tables NAME,NAME`"),
        "{said}"
    );
    assert!(said.contains("the tools only read; with `--write`"), "{said}");
    let said = text(&new(folder.path(), &["two", "--from", "sqlite:shop.db", "--tables", "t24, t00", "--write"]));
    assert!(
        said.contains("for 2 tables:\n  t24: list, get\n  t00: list, get\nleft out 23 other tables: ") && said.contains("`t20`, …; choose"),
        "{said}"
    );
    let folder = shop(SQLITE);
    let said = text(&new(folder.path(), &["app", "--from", "sqlite:shop.db", "--write"]));
    for expected in [
        "  vault: list, get, search, update (no create: each row needs a value of `secret`, which no tool takes)\n",
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
    for file in
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).filter(|name| name.contains('.') && !name.contains(':'))
    {
        assert!(folder.path().join("notes").join(file).exists(), "{file}");
    }
    for verb in ["list", "get", "search", "create", "update"] {
        assert!(
            page.contains(&format!("| `TABLE-{verb}` |")) && folder.path().join("shop/app/tools/customers").join(verb).is_dir(),
            "{verb}"
        );
    }
}
