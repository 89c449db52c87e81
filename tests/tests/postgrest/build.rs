//! What is said about a request when the app is built, and what is known of it.

use millrace_core::Json;
use millrace_tests::{
    database::runtime,
    docs::{blocks, connector_text},
};
use serde_json::json;

use super::support::shop;
use crate::in_process::{call, endpoint_in, endpoint_of, text};
use millrace_tests::files::write;

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| write(folder.path(), file, text);
    write("millrace.yaml", "name: far\n");
    write("app/adapters/far.yaml", "connector: postgrest\nconnection_string: https://a.supabase.co/rest/v1\noptions: { allow: [x] }\n");
    write("app/adapters/sql.yaml", "connector: sqlite\nconnection_string: \":memory:\"\n");
    let inputs = "inputs: { s: { type: string }, o: { type: object }, list: { type: array, items: { type: string } } }\n";
    let tool = |name: &str, adapter: &str, statement: &str| {
        write(&format!("app/tools/{name}/config.yaml"), &format!("description: x\nuse: {adapter}\n{inputs}statement:{statement}\n"));
    };
    tool("a", "far", " SELECT 1");
    tool("b", "sql", "\n  from: users");
    tool("c", "far", "\n  from: users\n  filter: { a: 1 }\n  where:\n    a: { eq: \"{{ inputs.nosuch }}\" }\n    b: { equals: 1 }");
    tool("d", "far", "\n  from: \"{{ inputs.s }}\"\n  select: [id, authors(name, born]\n  order: \"{{ inputs.s }}\"");
    tool("e", "far", "\n  delete: users\n  returning: id");
    tool("f", "far", "\n  from: users\n  where:\n    \"{{ inputs.s }}\": { eq: 1 }\n    c: { eq: null }");
    tool("n", "far", "\n  from: users\n  where:\n    a: { eq: \"{{ inputs.list }}\" }\n    b: { is: \"{{ inputs.s }}\" }");
    tool("g", "far", "\n  insert: users\n  rows: \"{{ inputs.o }}\"");
    tool("h", "far", "\n  insert: users\n  columns: [a]\n  rows: \"{{ inputs.s }}\"");
    tool("i", "far", "\n  from: users\n  limit: \"{{ inputs.s }}\"\n  where: { a: { in: \"{{ inputs.o }}\" } }");
    tool("j", "far", "\n  from: users\n  where: { a: { eq: .inf } }");
    let key = "idempotency: { key: \"{{ inputs.s }}\" }\n";
    tool("k", "far", &format!("\n  insert: users\n  rows: {{ a: 1 }}\n{key}"));
    let transaction = format!("description: x\nuse: far\n{inputs}transaction:\n  - statement: {{ from: users }}\n");
    write("app/tools/l/config.yaml", &transaction);
    tool("m", "far", "\n  from: users\nsubstitution: textual");
    let settings = "connector: postgrest\nconnection_string: https://a/b\n";
    write("app/adapters/tenants.yaml", &format!("{settings}tenant: {{ claim: org, column: org }}\n"));
    write("app/adapters/session.yaml", &format!("{settings}session: {{ settings: {{ app.tenant: \"{{{{ auth.claims.org }}}}\" }} }}\n"));
    write("app/adapters/caller.yaml", &format!("{settings}options: {{ token: \"{{{{ auth.claims.token }}}}\" }}\n"));
    let connectors = ["postgrest", "sqlite"].map(str::to_owned).to_vec();
    let options = millrace_bundler::Options { connectors, ..Default::default() };
    let diagnostics = millrace_bundler::bundle(folder.path(), &options).diagnostics;
    let told: Vec<String> =
        diagnostics.iter().map(|found| format!("{}:{}:{} {}", found.file.display(), found.line, found.column, found.message)).collect();
    for expected in [
        "app/adapters/far.yaml:3:12 `postgrest` has no option `allow`",
        "app/tools/a/config.yaml:4:12 the adapter `far` takes a request, and this is text",
        "app/tools/b/config.yaml:5:3 the adapter `sql` takes a statement as text, and this is a map",
        "app/tools/c/config.yaml:6:3 `from` has no field `filter`",
        "app/tools/c/config.yaml:8:15 input `nosuch` is not declared",
        "app/tools/c/config.yaml:9:10 `equals` is not an operator",
        "app/tools/d/config.yaml:5:3 the table must be written out as text",
        "app/tools/d/config.yaml:6:3 `id,authors(name,born` has a `(` without a `)`",
        "app/tools/d/config.yaml:7:3 it must be written out, as a text or a list of texts",
        "app/tools/e/config.yaml:5:3 `delete` needs `where`",
        "app/tools/f/config.yaml:7:5 `{{ inputs.s }}` is a key, and a key cannot be a placeholder",
        "app/tools/n/config.yaml:7:10 a list cannot be a value here",
        "app/tools/n/config.yaml:8:10 only true, false or null can be a value here",
        "app/tools/f/config.yaml:8:10 `eq` with null is never true",
        "app/tools/g/config.yaml:6:3 the columns of `rows` would be the caller's",
        "app/tools/h/config.yaml:7:3 only an object, or a list of objects, can be a value here",
        "app/tools/i/config.yaml:6:3 only a whole number can be a value here",
        "app/tools/i/config.yaml:7:17 an object or a list cannot be a value here",
        "app/tools/j/config.yaml:6:21 this is not a finite number",
        "app/tools/k/config.yaml:7:1 the connector `postgrest` of the adapter `far` cannot keep the records that `idempotency` needs",
        "app/tools/m/config.yaml:6:15 `substitution: textual` is for statements of SQL: the values of a request are always values",
        "app/adapters/tenants.yaml:3:1 connector `postgrest` takes no statements of SQL",
        "app/adapters/session.yaml:3:1 connector `postgrest` cannot set anything for a call, which `session` demands",
        "app/adapters/caller.yaml:3:10 the connection depends on `auth.claims.token`, which a caller could choose",
    ] {
        assert!(told.iter().any(|message| message == expected), "{expected}\n{}", told.join("\n"));
    }
    assert!(!told.iter().any(|message| message.contains("is not the name of a column")), "said twice: {}", told.join("\n"));
    assert!(
        told.iter().any(|message| message.starts_with("app/tools/l/config.yaml:") && message.contains("`postgrest`")),
        "{}",
        told.join("\n")
    );
}

const SHOP: &str = "\
CREATE TABLE orders (id int PRIMARY KEY, customer_id int, status text, total numeric, placed timestamptz, title text, price numeric, tags text[], deleted_at timestamptz);
CREATE TABLE items (order_id int REFERENCES orders, title text, count int);
INSERT INTO orders VALUES (1, 7, 'open', 1.5, '2026-01-01', 'A first one', 5, '{new}', NULL), (2, 7, 'paid', 2, '2026-01-02', 'x', 500, NULL, NULL), (3, 8, 'open', 3, '2026-01-03', 'x', 7, '{new}', '2026-01-04');
INSERT INTO items VALUES (1, 'Cup', 2);
";

#[test]
fn the_page_does_what_it_says() {
    let shop = shop(SHOP, &[]);
    let blocks: Vec<String> = blocks(&connector_text("postgrest")).into_iter().map(|(_, text)| text).collect();
    let [adapter, find, update, conditions] = blocks.as_slice() else { panic!("{} blocks", blocks.len()) };
    let there = "https://{{ env.SUPABASE_PROJECT }}.supabase.co/rest/v1";
    let adapter = adapter.replace(there, &shop.postgrest.url()).replace("{{ env.SUPABASE_KEY }}", millrace_tests::postgrest::TOKEN);
    assert!(!adapter.contains("env."), "{adapter}");
    let (endpoint, folder) = endpoint_of(&adapter, &[]);
    drop(endpoint);
    let conditions = conditions.lines().map(|line| format!("  {line}\n")).collect::<String>();
    let inputs = "inputs: { least: { type: int }, tag: { type: string }, part: { type: string } }";
    let conditions = format!("description: x\nuse: far\nstatement:\n  from: orders\n  select: id\n{conditions}{inputs}\n");
    for (name, tool) in [("orders", find), ("set", update), ("conditions", &conditions)] {
        write(folder.path(), &format!("app/tools/{name}/config.yaml"), &tool.replace("use: shop", "use: far"));
    }
    let endpoint = endpoint_in(folder.path());
    let answer = |tool: &str, given: Json| {
        let result = tokio::task::LocalSet::new().block_on(&runtime(), call(&endpoint, tool, given));
        text(&result).to_owned()
    };
    assert_eq!(answer("orders", json!({"customer": 7})), r#"[{"id":1,"status":"open","total":1.5,"items":[{"count":2,"title":"Cup"}]}]"#);
    assert_eq!(answer("set", json!({"id": 1, "status": "paid"})), r#"[{"id":1,"status":"paid"}]"#);
    assert!(answer("set", json!({"id": 99, "status": "paid"})).contains("CONSTRAINT"));
    assert_eq!(answer("orders", json!({"customer": 7})), "[]");
    assert_eq!(answer("conditions", json!({"least": 5, "tag": "new", "part": "FIRST"})), r#"[{"id":1}]"#);
    assert_eq!(answer("conditions", json!({"least": 6, "tag": "new", "part": "FIRST"})), "[]");
}
