//! The tests that a new app comes with: they pass at once, and fail where the app changes.

use std::process::Command;

use super::*;

/// A database of customers and their orders.
fn shop(folder: &Path) {
    let database = rusqlite::Connection::open(folder.join("shop.db")).unwrap();
    let schema = "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
          status TEXT NOT NULL CHECK (status IN ('open', 'paid')), total NUMERIC(10, 2) NOT NULL);
        CREATE TABLE lines (order_id INTEGER, line INTEGER, text TEXT, PRIMARY KEY (order_id, line));
        INSERT INTO customers VALUES (41, 'Ann', 'ann@example.com'), (42, 'Bob', 'bob@example.com');
        INSERT INTO orders VALUES (7, 41, 'open', 9.5), (8, 42, 'paid', 5);
        INSERT INTO lines VALUES (7, 3, 'tea');";
    database.execute_batch(schema).unwrap();
}

fn millrace(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(binary()).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

/// Everything that the files of tests below a folder say.
fn tests_of(folder: &Path) -> String {
    let walk = Command::new("find").arg(folder.join("app")).args(["-name", "*.test.*", "-exec", "cat", "{}", "+"]).output().unwrap();
    String::from_utf8(walk.stdout).unwrap()
}

/// The tests pass where nothing may be written, and none of the app's tools that read is left out.
fn all_pass(folder: &Path, number: usize) {
    let found = outcomes(folder, &[], &[("CI", "1")]);
    assert!(found.iter().all(|(_, status, _)| status == "passed") && found.len() == number, "{found:#?}");
}

#[test]
fn an_app_of_a_database_has_a_test_of_each_tool_that_reads() {
    let folder = tempfile::tempdir().unwrap();
    shop(folder.path());
    let said = millrace(folder.path(), &["new", "app", "--from", "sqlite:shop.db", "--write"]);
    let app = folder.path().join("app");
    let report: Json = serde_json::from_slice(&run(&app, &["--reporter", "json"], &[]).stdout).unwrap();
    let untested: Vec<&str> = report["untested"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    assert!(untested.iter().all(|name| name.ends_with("-create") || name.ends_with("-update")), "{untested:?}");
    let number = report["tests"].as_array().unwrap().len();
    assert!(said.contains(&format!("wrote {number} tests: `millrace test` runs them")), "{said}");
    all_pass(&app, number);
    let tests = tests_of(&app);
    // Keys are there, and nothing else of anybody.
    assert!(tests.contains("id: 41") && tests.contains("line: 3") && !tests.contains("example.com") && !tests.contains("Ann"), "{tests}");
    // What changes is seen.
    let file = app.join("app/tools/customers/get/config.yaml");
    let statement = fs::read_to_string(&file).unwrap();
    fs::write(&file, statement.replace("id = {{ inputs.id }}", "id = {{ inputs.id }} + 1")).unwrap();
    let found = outcomes(&app, &["--filter", "customers-get"], &[]);
    assert_eq!(found[0].1, "failed", "{found:?}");
}

#[test]
fn a_new_app_has_no_tool_without_a_test() {
    let folder = tempfile::tempdir().unwrap();
    millrace(folder.path(), &["new", "notes"]);
    let (code, said) = tell(&folder.path().join("notes"), &[]);
    assert_eq!((code, said.contains("without a test: `add-note`")), (Some(0), true), "{said}");
    all_pass(&folder.path().join("notes"), 3);
}

const ORDERS: &str = r##"openapi: 3.0.3
info: { title: Orders API, version: "1" }
servers: [{ url: "https://api.example.com/v1" }]
security: [{ token: [] }]
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses:
        "200": { description: It, content: { application/json: { schema: { $ref: "#/components/schemas/order" } } } }
    delete:
      operationId: removeOrder
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { "204": { description: Gone } }
  /report:
    get:
      operationId: report
      responses: { "200": { description: It, content: { application/json: { example: { total: 7.5 } } } } }
components:
  schemas: { order: { type: object, properties: { id: { type: integer }, item: { type: string, example: tea } } } }
  securitySchemes: { token: { type: http, scheme: bearer } }
"##;

#[test]
fn an_app_of_an_api_has_tests_whose_answers_are_those_of_the_specification() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "orders.yaml", ORDERS);
    let said = millrace(folder.path(), &["import", "openapi", "orders.yaml", "--all"]);
    assert!(said.contains("wrote 2 tests: `millrace test` runs them"), "{said}");
    let app = folder.path().join("orders");
    all_pass(&app, 2);
    let tests = tests_of(&app);
    assert!(tests.contains("item: tea") && tests.contains("total: 7.5"), "{tests}");
    // An import that runs again leaves the tests as they are.
    write(&app, "app/tools/orders/report/report.test.yaml", "tests: [{ name: own, expect: { error: NONE } }]\n");
    millrace(folder.path(), &["import", "openapi", "orders.yaml", "--all", "--out", "orders"]);
    assert!(tests_of(&app).contains("name: own"));
    let file = app.join("app/tools/orders/get-order/config.yaml");
    let tool = fs::read_to_string(&file).unwrap();
    fs::write(&file, tool.replace("GET /orders/", "GET /order/")).unwrap();
    let found = outcomes(&app, &["--filter", "get-order"], &[]);
    assert_eq!(found[0].1, "failed", "{found:?}");
}

#[test]
fn an_imported_app_has_tests_where_its_database_is_there() {
    let folder = tempfile::tempdir().unwrap();
    shop(folder.path());
    let configuration = "sources: { shop: { kind: sqlite, database: ../shop.db } }\ntools:\n  \
                         orders: { kind: sqlite-sql, source: shop, description: Orders., statement: \"SELECT id, status FROM orders ORDER BY id\" }\n  \
                         one: { kind: sqlite-sql, source: shop, description: One., statement: SELECT id FROM orders WHERE id = ?, \
                         parameters: [{ name: id, type: integer, description: Which }] }\n";
    write(folder.path(), "tools.yaml", configuration);
    let said = millrace(folder.path(), &["import", "toolbox", "tools.yaml", "app"]);
    assert!(said.contains("wrote 2 tests"), "{said}");
    all_pass(&folder.path().join("app"), 2);
}
