//! An app as Hyperterse has it, with the databases that Millrace has drivers of its own for.

use std::{path::Path, process::Command};

use millrace_tests::{
    case::Exchange,
    docs::text,
    local::{Host, binary},
    mongodb,
    mysql::Mysql,
    postgres::LazyDatabase,
    redis,
};
use serde_json::json;

const FILES: [(&str, &str); 10] = [
    (".hyperterse", "name: shop\n"),
    ("app/adapters/sql.terse", "connector: mysql\nconnection_string: \"{{ env.SQL }}\"\n"),
    ("app/adapters/documents.terse", "connector: mongodb\nconnection_string: \"{{ env.DOCUMENTS }}\"\n"),
    ("app/adapters/keys.terse", "connector: redis\nconnection_string: \"{{ env.KEYS }}\"\n"),
    (
        "app/tools/customer/config.terse",
        "description: A customer.\nuse: sql\nstatement: SELECT id, email FROM customers WHERE email = '{{ inputs.email }}'\ninputs: { email: { type: string } }\n",
    ),
    (
        "app/tools/store/config.terse",
        r#"description: Stores a visit.
use: documents
statement: |
  {"database": "reports",
   "command": {"insert": "visits", "documents": [{"_id": {{ inputs.id }}, "who": "{{ inputs.who }}", "code": "{{ inputs.id }}", "note": "by {{ inputs.who }}"}]}}
inputs: { id: { type: int }, who: { type: string } }
"#,
    ),
    (
        "app/tools/visits/config.terse",
        r#"description: Visits.
use: documents
statement: '{"database": "reports", "command": {"find": "visits", "filter": {"who": "{{ inputs.who }}", "_id": {"$gte": {{inputs.from}}}}, "sort": {"_id": 1}, "limit": 10}}'
inputs: { who: { type: string }, from: { type: int } }
"#,
    ),
    (
        "app/tools/tally/config.terse",
        r#"description: Visits of somebody, counted.
use: documents
statement: |
  {"database": "reports",
   "command": {"aggregate": "visits",
     "pipeline": [{ "$match": { "_id": {{ inputs.id }} } }, { "$group": { "_id": "$who", "n": { "$sum": 1 } } }, { "$sort": { "n": -1 } }],
     "cursor": {}}}
inputs: { id: { type: int } }
"#,
    ),
    (
        "app/tools/keep/config.terse",
        "description: Keeps a choice.\nuse: keys\nstatement: SET choice:{{ inputs.user }} {{ inputs.choice }}\ninputs: { user: { type: string }, choice: { type: string } }\n",
    ),
    (
        "app/tools/kept/config.terse",
        "description: A choice.\nuse: keys\nstatement: GET choice:{{ inputs.user }}\ninputs: { user: { type: string } }\n",
    ),
];

fn app(folder: &Path, files: &[(&str, &str)]) {
    for (name, body) in files {
        millrace_tests::files::write(folder, name, body);
    }
}

#[test]
fn its_statements_run_on_mysql_mongodb_and_redis() {
    let (sql, documents, keys) = (Mysql::start(&[]), mongodb::start(&[]), redis::start(&[]));
    sql.run(
        "shop",
        "CREATE TABLE customers (id INT PRIMARY KEY, email VARCHAR(100)); INSERT INTO customers VALUES (1, 'o''neil@example.com'); \
         CREATE USER shop IDENTIFIED BY 'p@ss(word'; GRANT SELECT ON shop.* TO shop",
    );
    let folder = tempfile::tempdir().unwrap();
    app(folder.path(), &FILES);
    let call = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.arg("call").args(arguments).current_dir(folder.path());
        // The form of Go's driver, with a password that nothing escapes.
        command.env("SQL", format!("shop:p@ss(word@tcp(127.0.0.1:{})/shop?parseTime=true", sql.port));
        // It names no database: the statements do.
        command.env("DOCUMENTS", documents.url().replace("/shop", "")).env("KEYS", format!("redis://127.0.0.1:{}", keys.port));
        text(&command.output().unwrap())
    };
    let hostile = "o'neil\"}; {{ inputs.id }} $where";
    for (arguments, expected) in [
        (vec!["customer", "email=o'neil@example.com"], r#"[{"id":1,"email":"o'neil@example.com"}]"#.to_owned()),
        (vec!["customer", "email=' OR 1=1 -- "], "[]\n".to_owned()),
        (vec!["store", "id=7", &format!("who={hostile}")], r#"[{"_id":7}]"#.to_owned()),
        (
            vec!["visits", "from=7", &format!("who={hostile}")],
            json!([{ "_id": 7, "who": hostile, "code": "7", "note": format!("by {hostile}") }]).to_string(),
        ),
        (vec!["visits", "from=8", &format!("who={hostile}")], "[]\n".to_owned()),
        (vec!["tally", "id=7"], format!(r#"[{{"n":1,"_id":{}}}]"#, json!(hostile))),
        (vec!["keep", "user=ann lee", "choice=a \"b\" c"], r#"[{"value":"OK"}]"#.to_owned()),
        (vec!["kept", "user=ann lee"], r#"[{"value":"a \"b\" c"}]"#.to_owned()),
    ] {
        let said = call(&arguments);
        assert!(said.contains(&expected), "{arguments:?}: {expected}\n{said}");
    }
    // The statement says in which database, whatever the connection string does.
    let databases: Vec<_> = documents.commands().iter().filter_map(|command| command["$db"].as_str().map(str::to_owned)).collect();
    assert!(databases.len() >= 3 && databases.iter().all(|name| name == "reports"), "{databases:?}");
}

#[test]
fn what_is_wrong_with_a_document_has_its_place() {
    for (statement, line, expected) in [
        (r#"{"database": "shop", "command": {"dropDatabase": 1}}"#, "4:36", "`dropDatabase` is not a command that a tool can run"),
        (r#"{"database": "shop", "command": {"find": "u", "filter": {"$where": "{{ inputs.a }}"}}}"#, "4:60", "runs code on the server"),
        (r#"{"database": "shop", "command": {"find": "u", "filter": {"a": {{ inputs.b }}}}}"#, "4:65", "input `b` is not declared"),
        (r#"{"database": "shop", "command": {"find": "{{ inputs.a }}"}}"#, "4:36", "the collection must be written out"),
        (r#"{"database": "{{ inputs.a }}", "command": {"find": "u"}}"#, "4:4", "the database must be written out"),
        (r#"{"database": "a.b", "command": {"find": "u"}}"#, "4:4", "`a.b` is not the name of a database"),
        (r#"{"database": "shop", "command": {"find": "u", "find": "v"}}"#, "4:3", "`find`"),
        (r#"{"database": "shop", "command": {"find": "u", }}"#, "4:49", "the document is not JSON"),
        (r#"{"database": "shop", "command": "find"}"#, "4:35", "`command` must be an object"),
        (r#"{"command": {"find": "u"}}"#, "4:3", "the document has no `database`"),
        (r#"{"database": "shop"}"#, "4:3", "the document has no `command`"),
        ("find users", "4:4", "the document is not JSON"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let tool = format!("description: A.\nuse: documents\nstatement: |\n  {statement}\ninputs: {{ a: {{ type: string }} }}\n");
        app(folder.path(), &[FILES[0], FILES[2], ("app/tools/a/config.terse", &tool)]);
        let output = Command::new(binary()).args(["check", "--json"]).current_dir(folder.path()).output().unwrap();
        let said = text(&output);
        let place = format!("config.terse:{line}");
        let found: serde_json::Value = serde_json::from_str(String::from_utf8_lossy(&output.stdout).trim()).unwrap();
        let first = &found["diagnostics"][0];
        let shown = format!("{}:{}:{}", first["file"].as_str().unwrap_or_default(), first["line"], first["column"]);
        assert!(
            shown.ends_with(&place) && first["message"].as_str().unwrap().contains(expected),
            "{statement}: {place} {expected}\n{said}"
        );
    }
}

/// The shapes of tools that its documentation shows, with names and rows of their own: each with
/// what a call of it gives.
const DOCUMENTED: [(&str, &str, &[&str], &str); 14] = [
    (
        "guests/get",
        "use: hotel\nstatement: |\n  SELECT g.id, g.name, r.floor AS floor FROM guests g LEFT JOIN rooms r ON r.id = g.room WHERE g.id = {{ inputs.id }}\n\
         inputs: { id: { type: int, description: Number } }\nauth: { plugin: api_key, policy: { value: \"{{ env.DESK_KEY }}\" } }",
        &["id=1", "--header", "X-API-Key: open sesame"],
        r#"[{"id":1,"name":"Ida","floor":2}]"#,
    ),
    (
        "guests/list",
        "use: hotel\nstatement: SELECT id FROM guests ORDER BY id DESC LIMIT {{ inputs.limit }} OFFSET {{ inputs.offset }}\n\
         inputs: { limit: { type: int, optional: true, default: 20 }, offset: { type: int, optional: true, default: \"1\" } }",
        &[],
        r#"[{"id":1}]"#,
    ),
    (
        "guests/create",
        "use: hotel\nstatement: |\n  INSERT INTO guests (name, phone, room)\n  VALUES (\n    '{{ inputs.name }}',\n    '{{ inputs.phone }}',\n    {{ inputs.room }}\n  )\n  RETURNING name, phone, room\n\
         inputs: { name: { type: string }, phone: { type: string, optional: true }, room: { type: int, optional: true } }",
        &["name=O'Neil'); DROP TABLE guests; --", "room=1"],
        r#"[{"name":"O'Neil'); DROP TABLE guests; --","phone":null,"room":1}]"#,
    ),
    (
        "guests/search",
        "use: hotel\nstatement: |\n  SELECT name FROM guests\n  WHERE name ILIKE '%{{ inputs.query }}%'\n     OR phone ILIKE '%{{ inputs.query }}%'\n  LIMIT {{ inputs.limit }}\n\
         inputs: { query: { type: string }, limit: { type: int, optional: true, default: 20 } }\nauth: { plugin: allow_all }",
        &["query=DA"],
        r#"[{"name":"Ida"}]"#,
    ),
    (
        "stays/by-day",
        "use: hotel\nstatement: |\n  SELECT DATE(since) AS date, COUNT(*) AS stays, AVG(price) AS price FROM stays\n  WHERE since >= '{{ inputs.from }}' AND since <= '{{ inputs.to }}'\n  GROUP BY DATE(since) ORDER BY date DESC\n\
         inputs: { from: { type: datetime }, to: { type: datetime } }\ncache: { enabled: true, ttl: 120 }",
        &["from=2025-01-01", "to=2025-12-31 10:00:00"],
        r#""date":"2025-06-01","stays":2"#,
    ),
    (
        "stays/recent",
        "use: hotel\nstatement: |\n  SELECT DATE_TRUNC('month', since) AS month, COUNT(DISTINCT guest) AS guests FROM stays\n  WHERE since >= NOW() - INTERVAL '100 years' GROUP BY 1",
        &[],
        r#""guests":2"#,
    ),
    (
        "guests/active",
        "use: hotel\nstatement: SELECT count(*) AS n FROM guests WHERE {{ inputs.all }} OR room IS NOT NULL AND id < 3\n\
         inputs: { all: { type: boolean, optional: true, default: 'false' } }",
        &[],
        r#"[{"n":1}]"#,
    ),
    (
        "guests/shaped",
        "use: hotel\nstatement: SELECT id, name, since FROM guests WHERE id = 1\nmappers: { output: ./shape.ts }\n--- shape.ts\n\
         export default function outputTransform(payload: { results?: any[]; tool?: string }) {\n  const rows = payload?.results ?? [];\n  \
         return rows.map((row) => ({ ...row, since: new Date(row.since).toISOString(), isNew: row.id === 1 }));\n}",
        &[],
        r#"[{"id":1,"name":"Ida","since":"2025-06-01T08:30:00.000Z","isNew":true}]"#,
    ),
    (
        "guests/summed",
        "use: hotel\nstatement: SELECT price FROM stays\nmappers: { output: ./sum.ts#summed }\n--- sum.ts\n\
         export function summed(payload: { results?: any[] }) {\n  const rows = payload.results ?? [];\n  if (rows.length === 0) {\n    return { total: 0, items: [] };\n  }\n  \
         return { total: rows.length, most: Math.max(...rows.map((r) => Number(r.price))) };\n}",
        &[],
        r#"[{"total":2,"most":120}]"#,
    ),
    (
        "guests/checked",
        "use: hotel\nstatement: SELECT '{{ inputs.mail }}' AS mail, {{ inputs.number }} + 0 AS number\nmappers: { input: ./check.ts }\n\
         inputs: { mail: { type: string }, number: { type: int } }\n--- check.ts\n\
         export default function inputTransform(payload: { inputs?: Record<string, any>; tool?: string }) {\n  const inputs = payload?.inputs ?? {};\n  \
         if (!inputs.mail?.match(/^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$/)) {\n    throw new Error(\"Invalid mail\");\n  }\n  \
         return { ...inputs, mail: inputs.mail.toLowerCase().trim(), number: Math.floor(Number(inputs.number)) };\n}",
        &["mail=IDA@example.com", "number=7"],
        r#"[{"mail":"ida@example.com","number":7}]"#,
    ),
    (
        "rates/cost",
        "handler: ./cost.ts\ninputs: { weight: { type: float }, express: { type: boolean, optional: true, default: false } }\nauth: { plugin: allow_all }\n--- cost.ts\n\
         export default function handler(payload: { inputs?: Record<string, any>; tool?: string }) {\n  const { weight = 0, express = false } = payload?.inputs ?? {};\n  \
         console.log(\"cost\", { weight });\n  console.error(\"none\");\n  console.warn(\"none\");\n  return [{ cost: Math.round(weight * (express ? 3 : 2) * 100) / 100 }];\n}",
        &["weight=1.234"],
        r#"[{"cost":2.47}]"#,
    ),
    (
        "rates/day",
        "handler: ../shared.ts#day\n--- ../shared.ts\n\
         export function day(payload: { inputs: Record<string, any> }) {\n  return { rate: 90 };\n}\nexport function night() {\n  return [{ rate: 60.5 }];\n}",
        &[],
        r#"[{"rate":90}]"#,
    ),
    ("rates/night", "handler: ../shared.ts#night", &[], r#"[{"rate":60.5}]"#),
    (
        "rates/found",
        "inputs: { city: { type: string } }\n--- rate-handler.ts\n\
         export default async function handler(payload: { inputs?: Record<string, any> }) {\n  const city = payload?.inputs?.city ?? \"Bergen\";\n  return { city };\n}",
        &["city=Oslo"],
        r#"[{"city":"Oslo"}]"#,
    ),
];

/// Writes the tools that the documentation shows.
fn documented(folder: &Path) {
    for (name, text, ..) in DOCUMENTED {
        for (at, part) in text.split("\n--- ").enumerate() {
            let (file, body) = if at == 0 { ("config.terse", part) } else { part.split_once('\n').unwrap() };
            millrace_tests::files::write(folder, &format!("app/tools/{name}/{file}"), &format!("{body}\n"));
        }
    }
}

#[test]
fn what_its_documentation_shows_of_tools_runs() {
    let database = LazyDatabase::new(
        "CREATE TABLE rooms (id int PRIMARY KEY, floor int);\n\
         CREATE TABLE guests (id serial PRIMARY KEY, name text, phone text, room int, since timestamptz DEFAULT '2025-06-01T08:30:00Z');\n\
         CREATE TABLE stays (guest int, since timestamp, price numeric(9,2));\nINSERT INTO rooms VALUES (1, 2);\n\
         INSERT INTO guests (name, room) VALUES ('Ida', 1), ('Per', NULL);\n\
         INSERT INTO stays VALUES (1, '2025-06-01 10:00', 100), (2, '2025-06-01 12:00', 120);\n"
            .to_owned(),
    );
    database.make();
    let folder = tempfile::tempdir().unwrap();
    let adapter = "connector: postgres\nconnection_string: '{{ env.HOTEL_URL }}'\noptions:\n  sslmode: disable\n  connect_timeout: '10'\n";
    let root = "name: hotel\nserver:\n  port: \"{{ env.DESK_PORT }}\"\n  log_level: 2\ntools:\n  cache: { enabled: false, ttl: 60 }\n";
    app(folder.path(), &[(".hyperterse", root), ("app/adapters/hotel.terse", adapter)]);
    documented(folder.path());
    // Hosted databases say `sslmode` in the URL, too.
    let url = database.url();
    let url = format!("{url}{}sslmode=disable", if url.contains('?') { '&' } else { '?' });
    let env = [("HOTEL_URL", url), ("DESK_KEY", "open sesame".to_owned()), ("DESK_PORT", "0".to_owned())];
    let env: Vec<(String, String)> = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (name, _, arguments, expected) in DOCUMENTED {
        let mut command = Command::new(binary());
        command.arg("call").arg(name.replace('/', "-")).args(arguments).current_dir(folder.path()).envs(env.iter().cloned());
        let said = text(&command.output().unwrap());
        assert!(said.contains(expected), "{name}: {expected}\n{said}");
    }
    // The variable has the port; clients find the tools by `search`, and call them by `execute`.
    let host = Host::dev(folder.path(), &env);
    let found = host.send(&Exchange::call("search", &json!({ "query": "cost of a rate" })));
    assert!(found.contains("rates-cost"), "{found}");
    let executed = host.send(&Exchange::call("execute", &json!({ "tool": "rates-cost", "inputs": { "weight": 1 } })));
    assert!(executed.contains(r#"[{\"cost\":2}]"#), "{executed}");
}

#[test]
fn what_of_its_documentation_does_not_run_is_named() {
    for (files, expected) in [
        // `fetch` is not synchronous, and asks only what is allowed.
        (
            vec![
                ("app/tools/a/config.terse", "description: A.\nhandler: ./h.ts\ninputs: { city: { type: string } }\n"),
                (
                    "app/tools/a/h.ts",
                    "export default async function handler(payload: any) {\n  const response = fetch(\n    `https://api.example.com/v1?city=${payload.inputs.city}`\n  );\n  \
                     if (!response.ok) throw new Error(`status: ${response.status}`);\n  return response.json();\n}\n",
                ),
            ],
            vec![
                "the script asks `api.example.com`, which is not in `fetch.allow`, so the request is refused",
                "[app/tools/a/h.ts:2:20]",
                "List the host in `.hyperterse`: `fetch: { allow: [\"api.example.com\"] }`.",
                "`fetch` returns a promise, and what is used of it belongs to the response",
            ],
        ),
        // Keys of its first version.
        (
            vec![
                ("app/tools/a/config.terse", "description: A.\nscripts:\n  handler: ./h.ts\n"),
                ("app/tools/a/h.ts", "export default () => 1;\n"),
            ],
            vec!["`scripts` is not a key of a tool"],
        ),
        (vec![("app/tools/a/config.terse", "description: A.\nuse: [one, two]\nstatement: SELECT 1\n")], vec!["`use` cannot be a list"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        app(folder.path(), &[FILES[0]]);
        app(folder.path(), &files);
        let said = text(&Command::new(binary()).arg("check").current_dir(folder.path()).output().unwrap());
        for part in expected {
            assert!(said.contains(part), "{part}\n{said}");
        }
    }
}
