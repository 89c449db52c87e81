//! `tenant` in the files of an app: what an adapter may say, what it demands of tools and scripts,
//! and how a tool is opted out.

#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use millrace_bundler::{Options, bundle};
use millrace_core::app::App;

use crate::support::{told, write};

const TENANT: &str = "tenant: { claim: org, column: org_id, tables: [orders, items] }";
const TOOL: &str = "description: x\nuse: main\nstatement: |\n  SELECT *\n  FROM orders\n  WHERE org_id = {{ auth.claims.org }}\nauth: { plugin: ../../auth.ts }\n";

/// A statement, and the parameters that have to be the claim.
type Noted = (&'static str, &'static [u32]);

fn compiled(adapter: &str, files: &[(&str, &str)]) -> (Option<App>, String) {
    let adapter = format!("connector: sqlite\nconnection_string: file:x.db\n{adapter}\n");
    let mut all = vec![
        ("millrace.yaml", "name: shop"),
        ("app/auth.ts", "export default () => ({ claims: { org: 'a' } });"),
        ("app/adapters/main.yaml", adapter.as_str()),
    ];
    all.extend(files);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &all);
    let connectors = ["postgres", "sqlite", "libsql", "d1"].map(str::to_owned).to_vec();
    let report = bundle(folder.path(), &Options { connectors, ..Options::default() });
    let said = told(&report);
    (report.app, said)
}

fn found(adapter: &str, tool: &str) -> String {
    compiled(adapter, &[("app/tools/t/config.yaml", tool)]).1
}

#[test]
fn what_an_adapter_may_say() {
    for good in [
        TENANT,
        "tenant: { claim: org, column: org_id }",
        "tenant: { claim: app.org_id, column: org_id, shared: [countries, orders] }",
        "tenant: { claim: org, column: '\"org_id\"', tables: [public.orders], functions: [own_total] }",
    ] {
        let claim = if good.contains("app.org_id") { "app.org_id" } else { "org" };
        let tool = TOOL.replace("claims.org ", &format!("claims.{claim} "));
        assert_eq!(found(good, &tool), "", "{good}");
    }
    let table = [
        ("tenant: { column: org_id }", "3:1+6 error: `tenant.claim` is missing"),
        ("tenant: { claim: org }", "3:1+6 error: `tenant.column` is missing"),
        ("tenant: { claim: \"a b\", column: org_id }", "3:18+5 error: `a b` is not the name of a claim"),
        ("tenant: { claim: \"org | raw\", column: org_id }", "3:18+11 error: `org | raw` is not the name of a claim"),
        ("tenant: { claim: \"org }} {{ inputs.x\", column: c }", "3:18+20 error: `org }} {{ inputs.x` is not the name of a claim"),
        ("tenant: { claim: org, column: org id }", "3:31+6 error: `org id` is not the name of a column"),
        ("tenant: { claim: org, column: c, tables: [a b] }", "3:43+3 error: `a b` is not the name of a table"),
        ("tenant: { claim: org, column: c, functions: [\"f()\"] }", "3:46+5 error: `f()` is not the name of a function"),
        ("tenant: { claim: org, column: c, tables: [] }", "3:42+2 error: `tables` must have at least 1 element"),
        ("tenant: { claim: org, column: c, tables: [a], shared: [b] }", "3:47+6 error: `tenant` has both `tables` and `shared`"),
        ("tenant: { claim: org, column: c, table: [a] }", "3:34+5 error: `tenant.table` is not a key of `tenant`"),
    ];
    let mut wrong = String::new();
    for (tenant, expected) in table {
        let found = found(tenant, "description: x\nuse: main\nstatement: SELECT 1");
        if !found.starts_with(&format!("app/adapters/main.yaml:{expected}")) {
            wrong.push_str(&format!("{tenant}: {found}"));
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn a_statement_shows_the_line_that_could_cross() {
    assert_eq!(found(TENANT, TOOL), "");
    let open = TOOL.replace("WHERE org_id = {{ auth.claims.org }}", "WHERE id = 1 OR org_id = {{ auth.claims.org }}");
    let expected = "app/tools/t/config.yaml:5:8+6 error: `orders` is not kept to the caller's tenant: no condition binds `orders.org_id` to \
                    `{{ auth.claims.org }}`\n    Write `AND orders.org_id = {{ auth.claims.org }}` into the `WHERE` of the same query; under `OR` or \
                    `NOT` it does not count.\n";
    assert_eq!(found(TENANT, &open), expected);
    // A table that is not listed is everyone's; without a list every table is a tenant's.
    let other = "description: x\nuse: main\nstatement: SELECT * FROM countries\n";
    assert_eq!(found(TENANT, other), "");
    assert!(found("tenant: { claim: org, column: org_id }", other).contains("config.yaml:3:26+9 error: `countries` is not kept"));
    assert_eq!(found("tenant: { claim: org, column: org_id, shared: [countries] }", other), "");
    // Of callers without the claim nothing can be bound.
    let anonymous = found(TENANT, &TOOL.replace("auth: { plugin: ../../auth.ts }\n", ""));
    assert!(anonymous.contains("`auth` never has a value: the tool has no `auth`"), "{anonymous}");
    let textual = found(TENANT, &format!("{TOOL}substitution: textual\n"));
    assert!(
        textual.starts_with("app/tools/t/config.yaml:8:15+7 error: with `substitution: textual` nothing keeps a statement"),
        "{textual}"
    );
    // The folder may name the adapter.
    let files = [("app/tools/_folder.yaml", "use: main"), ("app/tools/t/config.yaml", &open.replace("use: main\n", ""))];
    assert!(compiled(TENANT, &files).1.contains("app/tools/t/config.yaml:4:8+6 error: `orders` is not kept"));
}

#[test]
fn a_tool_is_opted_out_with_a_reason() {
    let open = "description: x\nuse: main\nstatement: SELECT count(*) FROM orders\n";
    let out = format!("{open}tenant: {{ none: \"A report over all tenants\" }}\n");
    let (app, said) = compiled(TENANT, &[("app/tools/t/config.yaml", &out)]);
    assert_eq!(said, "");
    assert!(app.unwrap().tools[0].crosses_tenants);
    for (tenant, expected) in [
        ("tenant: none", "4:9+4 error: `tenant` cannot be text"),
        ("tenant: {}", "4:1+6 error: `tenant.none` is missing"),
        ("tenant: { none: \" \" }", "4:17+3 error: `tenant.none` has no reason"),
        ("tenant: { none: true }", "4:17+4 error: `tenant.none` cannot be a truth value"),
    ] {
        let found = found(TENANT, &format!("{open}{tenant}"));
        assert!(found.contains(&format!("app/tools/t/config.yaml:{expected}")), "{tenant}: {found}");
    }
    let pointless = found("", &out);
    assert!(pointless.starts_with("app/tools/t/config.yaml:4:1+6 error: the adapter `main` has no `tenant`\n"), "{pointless}");
}

#[test]
fn an_audit_of_tenants_is_nobodys() {
    let tool = format!("{TOOL}middleware:\n  - audit: {{ to: main, table: audit_log }}\n");
    assert_eq!(found(TENANT, &tool), "");
    for adapter in ["tenant: { claim: org, column: org_id }", "tenant: { claim: org, column: org_id, tables: [orders, Audit_Log] }"] {
        let found = found(adapter, &tool);
        assert!(found.contains("config.yaml:9:31+9 error: the table belongs to the tenants of the adapter `main`"), "{adapter}: {found}");
    }
    assert_eq!(found("tenant: { claim: org, column: org_id, shared: [audit_log] }", &tool), "");
}

fn scripted(handler: &str, tool: &str) -> (Option<App>, String) {
    let tool = format!("description: x\nhandler: ./handler.ts\nauth: {{ plugin: ../../auth.ts }}\n{tool}");
    compiled(TENANT, &[("app/tools/s/config.yaml", &tool), ("app/tools/s/handler.ts", handler)])
}

fn handler(body: &str) -> String {
    format!("export default async ({{ inputs }}: any, ctx: any) => {{\n{body}\n}};\n")
}

#[test]
fn what_a_script_has_written_out_is_judged() {
    let noted = |body: &str| {
        let (app, said) = scripted(&handler(body), "");
        let app = app.unwrap_or_else(|| panic!("{body}: {said}"));
        let tenant = app.adapters[0].tenant.clone().unwrap();
        tenant.statements.into_iter().map(|statement| (statement.text, statement.claims)).collect::<Vec<_>>()
    };
    let table: [(&str, &[Noted]); 9] = [
        (
            "return ctx.db('main').query('SELECT * FROM orders WHERE org_id = ?1 AND id = ?2', [ctx.auth.claims.org, 1]);",
            &[("SELECT * FROM orders WHERE org_id = ?1 AND id = ?2", &[1])],
        ),
        (
            "const db = ctx.db('main');\nreturn db.query(`SELECT * FROM orders o\n JOIN items i ON i.org_id = ?3 AND i.n > ?1\nWHERE ?2 = o.org_id`, []);",
            &[("SELECT * FROM orders o\n JOIN items i ON i.org_id = ?3 AND i.n > ?1\nWHERE ?2 = o.org_id", &[2, 3])],
        ),
        ("const sql = 'SELECT ?1';\nreturn ctx.db('main').query(sql, [1]);", &[("SELECT ?1", &[])]),
        // One of two is enough.
        (
            "return ctx.db('main').query('SELECT * FROM orders WHERE org_id = ?1 AND org_id = ?2', []);",
            &[("SELECT * FROM orders WHERE org_id = ?1 AND org_id = ?2", &[2])],
        ),
        (
            "return ctx.db('main').query('INSERT INTO orders (org_id, item) VALUES (?1, ?2), (?1, ?3)', []);",
            &[("INSERT INTO orders (org_id, item) VALUES (?1, ?2), (?1, ?3)", &[1])],
        ),
        // What is not written out is not noted, and does not run.
        ("return ctx.db('main').query('SELECT * FROM ' + inputs.table, []);", &[]),
        ("return ctx.db('main').query(`SELECT * FROM ${inputs.table}`, []);", &[]),
        // Where the adapter is not known, what could cross is not noted.
        ("const open = (db: any) => db.query('SELECT * FROM orders', []);\nreturn open(ctx.db('main'));", &[]),
        (
            "const mine = (db: any) => db.query('SELECT * FROM orders WHERE org_id = ?1', []);\nreturn mine(ctx.db('main'));",
            &[("SELECT * FROM orders WHERE org_id = ?1", &[1])],
        ),
    ];
    for (body, expected) in table {
        let expected: Vec<(String, Vec<u32>)> = expected.iter().map(|(text, claims)| ((*text).to_owned(), claims.to_vec())).collect();
        assert_eq!(noted(body), expected, "{body}");
    }
    for (body, expected) in [
        (
            "  return ctx.db('main').query('SELECT * FROM orders', []);",
            "app/tools/s/handler.ts:2:31+22 error: `orders` is not kept to the caller's tenant: no condition binds `orders.org_id` to a parameter with \
             `ctx.auth.claims.org`\n    Write `AND orders.org_id = ?1` into the `WHERE` of the same query; under `OR` or `NOT` it does not count. The \
             parameter must be `ctx.auth.claims.org`.\n",
        ),
        (
            "  const db = ctx.db('main');\n  return db.query(`DELETE FROM orders WHERE id = ?1`, [1]);",
            "app/tools/s/handler.ts:3:19+34 error: `orders` is not kept",
        ),
        (
            "  return ctx.db('main').query('SELECT * FROM orders WHERE org_id = ?', [1]);",
            "app/tools/s/handler.ts:2:31+39 error: the build cannot tell whether the statement keeps to the caller's tenant: its parameters are not \
             numbered, `?1`\n",
        ),
        (
            "  return ctx.db('main').query('SELECT * FROM orders WHERE org_id = :org', [1]);",
            "app/tools/s/handler.ts:2:31+42 error: the build cannot tell",
        ),
        // SQLite takes these for names, each of which gets the next number.
        (
            "  return ctx.db('main').query('SELECT * FROM orders WHERE org_id = $1', [1]);",
            "app/tools/s/handler.ts:2:31+40 error: the build cannot tell",
        ),
        (
            "  return ctx.db('main').query('SELECT * FROM orders WHERE org_id = :1', [1]);",
            "app/tools/s/handler.ts:2:31+40 error: the build cannot tell",
        ),
        (
            "  return ctx.db('main').query('SELECT * FROM orders WHERE ?1 > 0 AND org_id = $1', [1, 2]);",
            "app/tools/s/handler.ts:2:31+51 error: the build cannot tell",
        ),
        ("  return ctx.db('main').query('SELECT 1; SELECT 2', []);", "app/tools/s/handler.ts:2:31+20 error: the build cannot tell"),
        ("  return ctx.db('main').query('PRAGMA user_version', []);", "app/tools/s/handler.ts:2:31+21 error: the build cannot tell"),
        ("  return ctx.db('main').query(\"SELECT 'a\", []);", "app/tools/s/handler.ts:2:31+11 error: the build cannot tell"),
    ] {
        let (app, said) = scripted(&handler(body), "");
        assert!(app.is_none() && said.starts_with(expected), "{body}: {said}");
        assert_eq!(said.matches(" error: ").count(), 1, "{said}");
        // A tool that is opted out runs it all the same.
        let (app, said) = scripted(&handler(body), "tenant: { none: \"For operators\" }");
        assert_eq!(said, "");
        assert_eq!(app.unwrap().adapters[0].tenant.as_ref().unwrap().statements, []);
    }
}
