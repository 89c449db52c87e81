//! The hints that clients get of a tool: what its statements do, and what its author says.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test whose app is not built fails")]

use millrace_bundler::Options;
use serde_json::Value;

use crate::support::{build_for, told};

/// A tool in an app with an adapter of each kind: its hints, one letter each in the order read
/// only, destructive, idempotent, open world.
fn hints(tool: &str, root: &str, read_only: &str) -> String {
    hints_beside(tool, root, read_only, &[])
}

/// The same with more files.
fn hints_beside(tool: &str, root: &str, read_only: &str, more: &[(&str, &str)]) -> String {
    let adapter = |connector: &str, url: &str| format!("connector: {connector}\nconnection_string: \"{url}\"\n{read_only}");
    let adapters = [
        ("sqlite", ":memory:"),
        ("postgres", "postgres://u@localhost/d"),
        ("mysql", "mysql://u@localhost/d"),
        ("clickhouse", "http://localhost:8123/d"),
        ("redis", "redis://localhost"),
        ("mongodb", "mongodb://localhost/d"),
        ("postgrest", "http://localhost:3000"),
        ("dynamodb", "dynamodb://localhost:8000?region=us-east-1"),
        ("http", "https://api.example.com"),
    ];
    let adapters = adapters.map(|(connector, url)| (format!("app/adapters/{connector}.yaml"), adapter(connector, url)));
    let millrace = format!("name: a\n{root}");
    let tool = format!("description: D\ninputs: {{ a: {{ type: string }}, b: {{ type: int, default: 1 }} }}\n{tool}");
    let mut files = vec![("millrace.yaml", millrace.as_str()), ("app/tools/t/config.yaml", tool.as_str())];
    if !tool.contains("use:") {
        files.push(("app/tools/t/handler.ts", "export default () => 1;"));
    }
    files.extend(adapters.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    files.extend(more);
    let connectors = adapters.iter().filter_map(|(path, _)| Some(path.strip_prefix("app/adapters/")?.strip_suffix(".yaml")?.to_owned()));
    let report = build_for(&files, &Options { connectors: connectors.collect(), ..Options::default() });
    let app = report.app.as_ref().unwrap_or_else(|| panic!("{}", told(&report)));
    assert!(!told(&report).contains("error: "), "{tool}\n{}", told(&report));
    let entry: Value = serde_json::from_str(&app.tools[0].descriptor).unwrap();
    let says = |hint: &str| match entry["annotations"][hint].as_bool() {
        Some(true) => 'y',
        Some(false) => '-',
        None => panic!("no {hint}: {entry}"),
    };
    ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(says).iter().collect()
}

#[test]
fn hints_come_from_statements() {
    let insert = "INSERT INTO t (a) VALUES ({{ inputs.a }})";
    let table = [
        ("sqlite", "SELECT * FROM t WHERE a = {{ inputs.a }}", "y-y-"),
        ("sqlite", insert, "----"),
        ("sqlite", "INSERT INTO t (a, b) SELECT replace(a, 'x', 'y'), 'DELETE' FROM u -- UPDATE", "----"),
        ("sqlite", "INSERT OR REPLACE INTO t (a) VALUES ({{ inputs.a }})", "-y--"),
        ("sqlite", "REPLACE INTO t (a) VALUES ({{ inputs.a }})", "-y--"),
        ("sqlite", "INSERT INTO t (a) VALUES ({{ inputs.a }}) ON CONFLICT DO NOTHING", "----"),
        ("sqlite", "INSERT INTO t (a) VALUES ({{ inputs.a }}) ON CONFLICT (a) DO UPDATE SET b = 1", "-y--"),
        ("sqlite", "UPDATE t SET a = {{ inputs.a }}", "-y--"),
        ("sqlite", "WITH u AS (SELECT 1) DELETE FROM t", "-y--"),
        ("sqlite", "CREATE TABLE u (a)", "-y--"),
        ("postgres", insert, "----"),
        ("postgres", "INSERT INTO t (\"delete\", a) VALUES (now(), {{ inputs.a }}) RETURNING id", "----"),
        ("postgres", "INSERT INTO t (a) SELECT gone(a) FROM u", "-y--"),
        ("postgres", "WITH d AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM d", "-y--"),
        ("postgres", "SELECT * FROM t WHERE a = {{ inputs.a }} FOR UPDATE", "-y--"),
        ("postgres", "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE", "-y--"),
        ("mysql", "INSERT INTO t (a) VALUES ({{ inputs.a }}) ON DUPLICATE KEY UPDATE a = 1", "-y--"),
        ("mysql", "DELETE FROM t WHERE a = {{ inputs.a }}", "-y--"),
        ("clickhouse", insert, "----"),
        ("clickhouse", "ALTER TABLE t DELETE WHERE a = 'x'", "-y--"),
        ("redis", "GET {{ inputs.a }}", "y-y-"),
        ("redis", "SADD s {{ inputs.a }}", "----"),
        ("redis", "SREM s {{ inputs.a }}", "-y--"),
        ("redis", "SET {{ inputs.a }} x", "-y--"),
        ("dynamodb", "DELETE FROM \"Orders\" WHERE \"id\" = {{ inputs.a }}", "-y--"),
        ("dynamodb", "INSERT INTO \"Orders\" VALUE {'id': {{ inputs.a }}}", "----"),
    ];
    for (adapter, statement, expected) in table {
        let quoted = serde_json::to_string(statement).unwrap();
        assert_eq!(hints(&format!("use: {adapter}\nstatement: {quoted}"), "", ""), expected, "{adapter}: {statement}");
    }
    let documents = [
        ("mongodb", "{ find: t, filter: { a: \"{{ inputs.a }}\" } }", "y-y-"),
        ("mongodb", "{ insert: t, documents: [{ a: \"{{ inputs.a }}\" }] }", "----"),
        ("mongodb", "{ delete: t, deletes: [{ q: { a: \"{{ inputs.a }}\" }, limit: 1 }] }", "-y--"),
        ("postgrest", "{ from: t }", "y-y-"),
        ("postgrest", "{ insert: t, rows: [{ a: \"{{ inputs.a }}\" }] }", "----"),
        ("postgrest", "{ delete: t, where: { a: { eq: \"{{ inputs.a }}\" } } }", "-y--"),
    ];
    for (adapter, statement, expected) in documents {
        assert_eq!(hints(&format!("use: {adapter}\nstatement: {statement}"), "", ""), expected, "{adapter}: {statement}");
    }
    // An API is another system.
    for (request, expected) in [
        ("GET /a/{{ inputs.a }}", "y-yy"),
        ("POST /a", "-y-y"),
        ("POST /a\nreads: true", "y-yy"),
        ("PATCH /a", "-y-y"),
        ("DELETE /a/{{ inputs.a }}", "-y-y"),
    ] {
        assert_eq!(hints(&format!("use: http\nrequest: {request}"), "", ""), expected, "{request}");
    }
    for (steps, expected) in [
        ("[{ statement: SELECT 1 }, { statement: SELECT 2 }]", "y-y-"),
        ("[{ statement: SELECT 1 }, { statement: INSERT INTO t VALUES (1) }]", "----"),
        ("[{ statement: INSERT INTO t VALUES (1) }, { statement: DELETE FROM u }]", "-y--"),
    ] {
        let steps = steps.replacen("{ ", "{ name: a, ", 1).replacen(", { s", ", { name: b, s", 1);
        assert_eq!(hints(&format!("use: sqlite\ntransaction: {steps}"), "", ""), expected, "{steps}");
    }
}

#[test]
fn hints_come_from_what_the_author_says() {
    let insert = "use: sqlite\nstatement: INSERT INTO t VALUES ({{ inputs.a }})\n";
    let read_only = "options: { read_only: true }\n";
    let fetch = "fetch: { allow: [example.com] }\n";
    let table = [
        // What the words of a statement do not say, its author can.
        ("use: sqlite\nstatement: SELECT 1\nkind: action", "", "", "-y--"),
        ("use: sqlite\nstatement: SELECT 1\nannotations: { readOnlyHint: false, destructiveHint: false }", "", "", "----"),
        (&format!("{insert}kind: mutation"), "", "", "----"),
        (&format!("{insert}annotations: {{ destructiveHint: true, idempotentHint: true, openWorldHint: true }}"), "", "", "-yyy"),
        (&format!("{insert}idempotency: {{ key: \"{{{{ inputs.a }}}}\" }}"), "", "", "--y-"),
        ("use: postgres\nstatement: SELECT * FROM t FOR NO KEY UPDATE\nannotations: { destructiveHint: false }", "", "", "----"),
        // The effects of a script are not known.
        ("kind: action", "", "", "-y--"),
        ("tags: [x]", "", "", "-y--"),
        ("tags: [x]", fetch, "", "-y-y"),
        ("kind: query", "", "", "y-y-"),
        ("kind: query", fetch, "", "y-yy"),
        ("kind: mutation\nannotations: { destructiveHint: false }", "", "", "----"),
        ("annotations: { readOnlyHint: true }", fetch, "", "y-yy"),
        // Unless there is nothing that it could change.
        ("tags: [x]", "", read_only, "y-y-"),
        ("kind: action", "", read_only, "----"),
        ("tags: [x]", fetch, read_only, "-y-y"),
    ];
    for (tool, root, adapter, expected) in table {
        assert_eq!(hints(tool, root, adapter), expected, "{tool} {root} {adapter}");
    }
}

#[test]
fn hints_do_not_claim_what_scripts_beside_a_statement_can_break() {
    let select = "use: sqlite\nstatement: SELECT * FROM t";
    let (fetch, read_only) = ("fetch: { allow: [example.com] }\n", "options: { read_only: true }\n");
    let pure = "export default (rows) => rows.map((row) => ({ ...row, dbs: 1 }));";
    let sends = "export default async (rows) => { await fetch('https://example.com', { method: 'POST' }); return rows; };";
    let asks = "export default async (rows, ctx) => { await ctx.db('sqlite').query('SELECT a FROM t WHERE b = ?1', [1]); return rows; };";
    let writes = "export default async (rows, ctx) => { await ctx.db('sqlite').query('DELETE FROM t'); return rows; };";
    let hides = "export default async (rows, ctx) => { const { query } = ctx.db('sqlite'); await query('SELECT 1'); return rows; };";
    let written = "export default async (rows, ctx) => { await ctx.db('sqlite').query(rows.text); return rows; };";
    let redis = "export default async (rows, ctx) => { await ctx.db('redis').query('GET a'); return rows; };";
    let api = "export default async (rows, ctx) => { await ctx.api('http').get('/a'); return rows; };";
    for (script, root, adapters, expected) in [
        (api, "", "", "-y-y"),
        (api, "", read_only, "y-yy"),
        (pure, "", "", "y-y-"),
        (pure, fetch, "", "y-yy"),
        (sends, "", "", "y-y-"),
        (sends, fetch, "", "-y-y"),
        (asks, "", "", "y-y-"),
        (writes, "", "", "-y--"),
        (writes, "", read_only, "y-y-"),
        (hides, "", "", "-y--"),
        (written, "", "", "-y--"),
        (redis, "", "", "-y--"),
    ] {
        let output = [("app/tools/t/output.ts", script)];
        assert_eq!(hints_beside(select, root, adapters, &output), expected, "{script} {root} {adapters}");
        // What the author says holds.
        let says = format!("{select}\nannotations: {{ readOnlyHint: true }}");
        assert!(hints_beside(&says, root, adapters, &output).starts_with("y-y"), "{script}");
        let says = format!("{select}\nkind: query");
        assert!(hints_beside(&says, root, adapters, &output).starts_with("y-y"), "{script}");
    }
    // A handler, too, and only where it names an API.
    for (handler, expected) in
        [("(_, ctx) => ctx.api('http').get('/a')", "y-yy"), ("(_, ctx) => ctx.db('sqlite').query('SELECT 1')", "y-y-")]
    {
        let files = [("app/tools/t/main.ts", format!("export default {handler};"))];
        let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
        assert_eq!(hints_beside("handler: app/tools/t/main.ts", "", read_only, &files), expected, "{handler}");
    }
    // Wherever the script stands.
    let insert = "use: sqlite\nstatement: INSERT INTO t (a) VALUES ({{ inputs.a }})";
    let files = [("app/w.ts", "export default async (_call, ctx) => { await ctx.db('sqlite').query('DELETE FROM t'); return {}; };")];
    for (root, expected) in [("middleware: [./app/w.ts]\n", "-y--"), ("context: { factory: app/w.ts }\n", "-y--")] {
        assert_eq!(hints_beside(select, root, "", &files), expected, "{root}");
        assert_eq!(hints_beside(insert, root, "", &files), expected, "{root}");
    }
    assert_eq!(hints_beside(&format!("{select}\nmappers: {{ input: app/w.ts }}"), "", "", &files), "-y--");
}
