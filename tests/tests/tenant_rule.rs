//! `tenant` of an adapter, through the whole of a server: two tenants by every way in which an app
//! reaches its database, on SQLite and on PostgreSQL, and callers who have no tenant.

use std::{fs, path::Path, process::Command, thread};

use millrace_tests::files::write;
use millrace_tests::{
    case::Exchange,
    local::{Host, binary},
    neon,
    postgres::{Postgres, psql},
};
use serde_json::{Value, json};

const SCHEMA: &str = "
CREATE TABLE orders (org_id TEXT, id INTEGER NOT NULL, item TEXT NOT NULL, n INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (org_id, id));
CREATE TABLE items (org_id TEXT, order_id INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE countries (code TEXT PRIMARY KEY);
INSERT INTO orders (org_id, id, item) VALUES ('north', 1, 'of-north'), ('north', 2, 'of-north'), ('south', 1, 'of-south'), ('south', 3, 'of-south');
INSERT INTO items VALUES ('north', 1, 'part-of-north'), ('south', 1, 'part-of-south'), ('south', 2, 'part-of-south');
INSERT INTO countries VALUES ('pt');
";

/// `#` is the parameter's sign.
const FILES: [(&str, &str); 17] = [
    ("millrace.yaml", "name: kept\nauth: { plugin: ./app/auth.ts }\n"),
    ("app/auth.ts", "export default ({ headers }: any) => JSON.parse(headers['x-principal']);\n"),
    ("app/tools/_folder.yaml", "use: db\n"),
    (
        "app/tools/rows/config.yaml",
        "description: x\nstatement: SELECT id, item FROM orders WHERE org_id = {{ auth.claims.org }} ORDER BY id\n",
    ),
    (
        "app/tools/kept/config.yaml",
        "description: x\nstatement: SELECT id, item FROM orders WHERE org_id = {{ auth.claims.org }} ORDER BY id\ncache: { ttl: 600, scope: public }\n",
    ),
    (
        "app/tools/joined/config.yaml",
        "description: x\nstatement: |\n  WITH mine AS (SELECT * FROM items WHERE org_id = {{ auth.claims.org }})\n  SELECT o.id, o.item, m.name FROM orders o LEFT JOIN mine m ON m.order_id = o.id\n  \
         WHERE o.org_id = {{ auth.claims.org }}\n  UNION ALL\n  SELECT order_id, name, 'x' FROM items WHERE org_id = {{ auth.claims.org }}\n",
    ),
    (
        "app/tools/add/config.yaml",
        "description: x\nstatement: |\n  INSERT INTO orders (id, item, org_id) VALUES ({{ inputs.id }}, {{ inputs.item }}, {{ auth.claims.org }})\n  \
         ON CONFLICT (org_id, id) DO UPDATE SET item = excluded.item, n = orders.n + 1 RETURNING id, n\n\
         inputs: { id: { type: int }, item: { type: string } }\n",
    ),
    (
        "app/tools/change/config.yaml",
        "description: x\nstatement: UPDATE orders SET n = n + 10 WHERE id = {{ inputs.id }} AND org_id = {{ auth.claims.org }} RETURNING item\n\
         inputs: { id: { type: int } }\n",
    ),
    (
        "app/tools/remove/config.yaml",
        "description: x\nstatement: DELETE FROM orders WHERE id = {{ inputs.id }} AND org_id = {{ auth.claims.org }} RETURNING item\n\
         inputs: { id: { type: int } }\nidempotency: { key: \"{{ inputs.id }}\" }\n",
    ),
    ("app/tools/everyones/config.yaml", "description: x\nstatement: SELECT code FROM countries\n"),
    (
        "app/tools/report/config.yaml",
        "description: x\nstatement: SELECT count(*) AS n FROM orders\ntenant: { none: \"A count, for operators\" }\n",
    ),
    ("app/tools/scripted/config.yaml", "description: x\nhandler: ./handler.ts\ninputs: { org: { type: string, optional: true } }\n"),
    (
        "app/tools/scripted/handler.ts",
        "const ORDERS = 'SELECT item FROM orders WHERE org_id = #1 AND id < #2';\nexport default async ({ inputs }: any, ctx: any) => \
         ctx.db('db').query(ORDERS, [inputs.org ?? ctx.auth.claims.org, 100]);\n",
    ),
    ("app/tools/escapes/config.yaml", "description: x\nhandler: ./handler.ts\n"),
    (
        "app/tools/escapes/handler.ts",
        "export default async (_: any, ctx: any) => {\n  const said = [], db = ctx.db('db');\n  const open = ['SELECT item', 'FROM orders'].join(' ');\n  \
         for (const sql of [open, open + ' WHERE org_id = #1', 'SELECT 1', 'DELETE FROM orders ', `SELECT * FROM ${'orders'}`])\n    \
         try { said.push(await db.query(sql, [ctx.auth.claims.org])); } catch (error: any) { said.push(error.message); }\n  return said;\n};\n",
    ),
    ("app/resources/orders/config.yaml", "uri: kept://orders\ndescription: x\ntool: rows\n"),
    ("app/resources/scripted/config.yaml", "uri: kept://scripted\ndescription: x\ntool: scripted\n"),
];

fn exchange(method: &str, params: &Value, principal: &Value) -> Exchange {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
        ("x-principal", &principal.to_string()),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Exchange { method: "POST".into(), path: "/mcp".into(), headers, body: body.to_string() }
}

fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\n\n").unwrap().1).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

fn call(host: &Host, tool: &str, arguments: &Value, principal: &Value) -> Value {
    body(&host.send(&exchange("tools/call", &json!({"name": tool, "arguments": arguments}), principal)))["result"].clone()
}

fn said(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn install(folder: &Path, adapter: &str, sign: &str) {
    let adapter = format!("{adapter}tenant: {{ claim: org, column: org_id, shared: [countries] }}\n");
    for (path, text) in FILES.into_iter().chain([("app/adapters/db.yaml", adapter.as_str()), ("app/adapters/schema.sql", SCHEMA)]) {
        write(folder, path, &text.replace('#', sign));
    }
}

fn caller(org: &str) -> Value {
    json!({"subject": "u", "claims": {"org": org}})
}

/// Everything that two tenants do at the same time, and that others try.
fn two_tenants(host: &Host) {
    const ROUNDS: usize = 12;
    thread::scope(|scope| {
        for number in 0..6 {
            scope.spawn(move || {
                let (own, other) = if number % 2 == 0 { ("north", "south") } else { ("south", "north") };
                let me = caller(own);
                for round in 0..ROUNDS {
                    let id = 100 + number * ROUNDS + round;
                    let reads = ["rows", "kept", "joined", "scripted"];
                    let calls = reads.into_iter().map(|tool| (tool, json!({}))).chain([
                        ("add", json!({"id": id, "item": format!("of-{own}")})),
                        ("add", json!({"id": 1, "item": format!("of-{own}")})),
                        ("change", json!({"id": 1})),
                        ("remove", json!({"id": id})),
                        ("everyones", json!({})),
                        ("scripted", json!({"org": own})),
                    ]);
                    for (tool, arguments) in calls {
                        let result = call(host, tool, &arguments, &me);
                        assert!(result["isError"] != true, "{tool} {arguments}: {result}");
                        assert!(!said(&result).contains(other), "{tool} of {own}: {result}");
                        let shows = !["everyones", "add"].contains(&tool);
                        assert_eq!(said(&result).contains(&format!("of-{own}")), shows, "{tool} of {own}: {result}");
                    }
                    for uri in ["kept://orders", "kept://scripted"] {
                        let read = host.send(&exchange("resources/read", &json!({"uri": uri}), &me));
                        assert!(read.contains(own) && !read.contains(other), "{read}");
                    }
                    // An order that only the other one has.
                    let theirs = if own == "north" { 3 } else { 2 };
                    for tool in ["change", "remove"] {
                        assert_eq!(said(&call(host, tool, &json!({"id": theirs}), &me)), "[]", "{tool}");
                    }
                    let foreign = call(host, "scripted", &json!({"org": other}), &me);
                    assert!(foreign["isError"] == true && !said(&foreign).contains(&format!("of-{other}")), "{foreign}");
                }
            });
        }
    });
    // Nobody has changed what belongs to the other: each has its first order, and the one that only
    // it has.
    for (own, ids) in [("north", "12"), ("south", "13")] {
        let rows: Vec<Value> = serde_json::from_str(said(&call(host, "rows", &json!({}), &caller(own)))).unwrap();
        let found: String = rows.iter().map(|row| row["id"].to_string()).collect();
        assert_eq!(found, ids, "{rows:?}");
    }
    assert_eq!(said(&call(host, "report", &json!({}), &json!({"subject": "operator"}))), r#"[{"n":4}]"#);
}

fn without_a_tenant(host: &Host) {
    // There is something in the cache.
    assert_eq!(call(host, "kept", &json!({}), &caller("north"))["isError"], false);
    let lacking = [
        (json!({}), "the caller has no such value"),
        (json!({"org": null}), "the caller has no such value"),
        (json!({"org": ""}), "the caller's value is empty"),
        (json!({"org": true}), "the caller's value is neither a text nor a whole number"),
        (json!({"org": ["north"]}), "the caller's value is neither a text nor a whole number"),
    ];
    for (claims, why) in lacking {
        let me = json!({"subject": "u", "claims": claims});
        let message = format!("The adapter `db` keeps each call to the tenant `auth.claims.org`, and {why}.");
        for (tool, arguments) in [
            ("rows", json!({})),
            ("kept", json!({})),
            ("joined", json!({})),
            ("add", json!({"id": 900, "item": "nobodys"})),
            ("change", json!({"id": 1})),
            ("remove", json!({"id": 1})),
        ] {
            let result = call(host, tool, &arguments, &me);
            let error = &result["_meta"]["millrace/error"];
            let found = (error["code"].as_str(), error["message"].as_str());
            assert_eq!(found, (Some("QUERY_REFUSED"), Some(message.as_str())), "{tool}: {result}");
        }
        for arguments in [json!({}), json!({"org": "north"})] {
            let scripted = call(host, "scripted", &arguments, &me);
            assert!(scripted["isError"] == true && !said(&scripted).contains("of-north"), "{scripted}");
        }
        assert_eq!(said(&call(host, "everyones", &json!({}), &me)), r#"[{"code":"pt"}]"#);
    }
    assert!(!said(&call(host, "rows", &json!({}), &caller("north"))).contains("nobodys"));
    // Another spelling is another tenant.
    for org in ["NORTH", "north ", "north' OR '1'='1", "%"] {
        assert_eq!(said(&call(host, "rows", &json!({}), &caller(org))), "[]", "{org}");
    }
    let escapes: Vec<String> = serde_json::from_str(said(&call(host, "escapes", &json!({}), &caller("north")))).unwrap();
    let refused = "the adapter `db` keeps each statement to the tenant `auth.claims.org`, and this one is not written out in a script of the app, where the build could judge it";
    assert_eq!(escapes, [refused; 5]);
}

/// `check --connect` finds what the adapter says otherwise than the database.
fn compared(folder: &Path, adapter: &str, env: &[(String, String)]) {
    for (tables, problem) in [
        ("tables: [orders, items]", None),
        ("shared: [countries]", None),
        ("tables: [orders]", Some("`items` has the column `org_id`, and `tables` does not list it")),
        ("tables: [orders, items, ghosts]", Some("`tables` lists `ghosts`, which has no column `org_id`")),
        ("shared: [countries, items]", Some("`shared` lists `items`, which has the column `org_id`")),
    ] {
        fs::write(folder.join("app/adapters/db.yaml"), format!("{adapter}tenant: {{ claim: org, column: org_id, {tables} }}\n")).unwrap();
        let checked = Command::new(binary()).arg("check").arg(folder).arg("--connect").envs(env.iter().cloned()).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stderr);
        let line = problem.map(|problem| format!("`tenant` does not fit the database: {problem}"));
        assert_eq!(checked.status.success(), line.is_none(), "{tables}: {said}");
        assert!(line.is_none_or(|line| said.contains(&line) && said.contains("app/adapters/db.yaml:")), "{tables}: {said}");
    }
}

#[test]
fn on_sqlite_nobody_crosses() {
    let folder = tempfile::tempdir().unwrap();
    let adapter = "connector: sqlite\nconnection_string: file:shop.db\noptions: { seed: schema.sql }\n";
    install(folder.path(), adapter, "?");
    let host = Host::dev(folder.path(), &[]);
    two_tenants(&host);
    without_a_tenant(&host);
    compared(folder.path(), adapter, &[]);
}

fn on_a_postgresql(adapter: &str, more: impl Fn(&Postgres) -> Vec<(String, String)>) {
    let server = Postgres::start(&[]);
    psql(&server.url("postgres"), SCHEMA);
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), adapter, "$");
    let mut env = vec![("DB".to_owned(), server.url("postgres"))];
    env.extend(more(&server));
    let host = Host::dev(folder.path(), &env);
    two_tenants(&host);
    without_a_tenant(&host);
    compared(folder.path(), adapter, &env);
}

#[test]
fn on_postgresql_nobody_crosses() {
    on_a_postgresql("connector: postgres\nconnection_string: \"{{ env.DB }}\"\n", |_| Vec::new());
}

#[test]
fn on_neon_nobody_crosses() {
    let adapter = "connector: neon\nconnection_string: \"{{ env.DB }}\"\noptions: { base_url: \"{{ env.API }}\" }\n";
    on_a_postgresql(adapter, |server| vec![("API".to_owned(), format!("http://{}", neon::start(server.port).address))]);
}
