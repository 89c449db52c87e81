//! `millrace import`: the page, and tools that it writes on real databases.

use std::{fs, path::Path, process::Command};

use millrace_tests::{
    case::root,
    docs::{blocks, shell, text},
    files,
    local::binary,
    mysql::Mysql,
    postgres::LazyDatabase,
};
use serde_json::Value as Json;

/// Imports a configuration into `folder/app`.
fn import(folder: &Path, configuration: &str, more: &[&str]) -> String {
    files::write(folder, "tools.yaml", configuration);
    let output = Command::new(binary()).args(["import", "toolbox", "tools.yaml", "app"]).args(more).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

/// The rows that a tool gives.
fn rows(folder: &Path, tool: &str, inputs: &[&str]) -> Json {
    let output = Command::new(binary()).args(["call", "--json", "--app", "app", tool]).args(inputs).current_dir(folder).output().unwrap();
    let said = text(&output);
    assert!(output.status.success(), "{tool}: {said}");
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap_or("null")).unwrap_or_else(|_| panic!("{tool}: {said}"))
}

fn check(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(binary()).args(["check", "app"]).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

#[test]
fn the_page_shows_what_the_command_does() {
    let page = fs::read_to_string(root().join("docs/import.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let found = blocks(&page);
    let body = |kind: &str, at: usize| found.iter().filter(|(other, _)| other == kind).nth(at).map(|(_, body)| body.clone()).unwrap();
    let (_, configuration) = body("yaml", 0).split_once('\n').map(|(first, rest)| (first.to_owned(), rest.to_owned())).unwrap();
    files::write(folder.path(), "tools.yaml", &configuration);
    let output = shell(folder.path(), &body("sh", 0));
    assert_eq!(text(&output), body("text", 0));
    assert_eq!(fs::read_to_string(folder.path().join("shop/app/tools/find_orders/config.yaml")).unwrap(), body("yaml", 1));
    let seed =
        "sqlite3 shop/shop.db \"CREATE TABLE orders (id, total, status); INSERT INTO orders VALUES (1, 9.5, 'open'), (2, 5, 'open')\"";
    assert!(shell(folder.path(), seed).status.success());
    let called =
        text(&shell(folder.path(), "millrace check shop --connect && millrace call --app shop find_orders status=open sort=total"));
    assert!(called.contains("0 errors, 0 warnings") && called.contains(r#"[{"id":2,"total":5},{"id":1,"total":9.5}]"#), "{called}");
    // What is there is not written over.
    assert!(!shell(folder.path(), &body("sh", 0)).status.success());
}

/// A tool of each type of PostgreSQL, as a configuration names them.
fn prebuilt(types: &[(&str, &str)]) -> String {
    types.iter().map(|(kind, name)| format!("---\nkind: tool\nname: {name}\ntype: {kind}\nsource: db\n")).collect()
}

#[test]
fn the_prebuilt_types_of_postgres_give_what_the_catalogue_has() {
    const TYPES: [(&str, &str); 21] = [
        ("postgres-list-tables", "tables"),
        ("postgres-list-views", "views"),
        ("postgres-list-schemas", "schemas"),
        ("postgres-list-triggers", "triggers"),
        ("postgres-list-indexes", "indexes"),
        ("postgres-list-sequences", "sequences"),
        ("postgres-list-stored-procedure", "procedures"),
        ("postgres-list-active-queries", "queries"),
        ("postgres-long-running-transactions", "transactions"),
        ("postgres-list-locks", "locks"),
        ("postgres-replication-stats", "replicas"),
        ("postgres-list-available-extensions", "available"),
        ("postgres-list-installed-extensions", "installed"),
        ("postgres-database-overview", "overview"),
        ("postgres-get-column-cardinality", "cardinality"),
        ("postgres-list-table-stats", "table_stats"),
        ("postgres-list-publication-tables", "publications"),
        ("postgres-list-tablespaces", "tablespaces"),
        ("postgres-list-pg-settings", "settings"),
        ("postgres-list-database-stats", "database_stats"),
        ("postgres-list-roles", "roles"),
    ];
    let database = LazyDatabase::new(
        "CREATE TABLE parents (id int PRIMARY KEY, name text NOT NULL DEFAULT 'x'); COMMENT ON COLUMN parents.name IS 'How it is called'; \
         CREATE TABLE children (id serial PRIMARY KEY, parent int REFERENCES parents (id), kind text CHECK (kind <> '')); \
         CREATE VIEW names AS SELECT name FROM parents; INSERT INTO parents VALUES (1), (2); ANALYZE"
            .to_owned(),
    );
    database.make();
    let url = database.url();
    let folder = tempfile::tempdir().unwrap();
    let source = "kind: source\nname: db\ntype: postgres\nhost: 127.0.0.1\nport: 1\ndatabase: toolbox\nuser: postgres\n";
    import(folder.path(), &(source.to_owned() + &prebuilt(&TYPES)), &[]);
    // The server of the test has an address of its own.
    files::write(folder.path(), "app/app/adapters/db.yaml", &format!("connector: postgres\nconnection_string: \"{url}\"\n"));
    assert!(check(folder.path(), &["--connect"]).contains("0 errors, 0 warnings"));
    for (_, tool) in TYPES {
        let inputs: &[&str] = if tool == "cardinality" { &["table_name=parents"] } else { &[] };
        assert!(rows(folder.path(), tool, inputs).is_array(), "{tool}");
    }
    let found = rows(folder.path(), "tables", &["table_names=children"]);
    let details = &found[0]["object_details"];
    assert_eq!(details["columns"].as_array().map(Vec::len), Some(3), "{details}");
    let foreign = details["constraints"].as_array().unwrap().iter().find(|one| one["constraint_type"] == "FOREIGN KEY").unwrap();
    assert_eq!((&foreign["foreign_key_referenced_table"], &foreign["constraint_columns"][0]), (&"parents".into(), &"parent".into()));
    assert_eq!(rows(folder.path(), "tables", &["output_format=simple"])[1]["object_details"], serde_json::json!({ "name": "parents" }));
    assert_eq!(rows(folder.path(), "views", &["view_name=NAM"])[0]["view_name"], "names");
    assert_eq!(rows(folder.path(), "cardinality", &["table_name=parents", "column_name=id"])[0]["column_name"], "id");
    assert_eq!(rows(folder.path(), "indexes", &["table_name=children"])[0]["is_primary"], true);
}

#[test]
fn the_prebuilt_types_of_mysql_give_what_the_schema_has() {
    const TYPES: [(&str, &str); 4] = [
        ("mysql-list-tables", "tables"),
        ("mysql-list-active-queries", "queries"),
        ("mysql-list-table-fragmentation", "fragmentation"),
        ("mysql-list-tables-missing-unique-indexes", "missing"),
    ];
    let mysql = Mysql::start(&[]);
    mysql.run("shop", "CREATE TABLE parents (id INT PRIMARY KEY, name VARCHAR(9)); CREATE TABLE loose (a INT); CREATE USER shop; GRANT ALL ON shop.* TO shop; GRANT PROCESS ON *.* TO shop");
    let folder = tempfile::tempdir().unwrap();
    let source = format!("kind: source\nname: db\ntype: mysql\nhost: 127.0.0.1\nport: {}\ndatabase: shop\nuser: shop\n", mysql.port);
    import(folder.path(), &(source + &prebuilt(&TYPES)), &[]);
    check(folder.path(), &["--connect"]);
    assert_eq!(rows(folder.path(), "missing", &[]), serde_json::json!([{ "table_schema": "shop", "table_name": "loose" }]));
    let found = rows(folder.path(), "tables", &["table_names=parents"]);
    assert_eq!((found.as_array().map(Vec::len), &found[0]["object_name"]), (Some(1), &"parents".into()), "{found}");
    for tool in ["queries", "fragmentation"] {
        assert!(rows(folder.path(), tool, &[]).is_array(), "{tool}");
    }
}

#[test]
fn what_may_not_be_carried_over_is_named_and_not_written() {
    let configuration = "
sources:
  db: { kind: sqlite, database: ':memory:' }
tools:
  plan:
    kind: sqlite-sql
    source: db
    description: A plan.
    statement: EXPLAIN QUERY PLAN {{.query}}
    templateParameters: [{ name: query, type: string, description: A statement }]
  broken: { kind: sqlite-sql, source: db, description: Broken., statement: 'SELECT ‘1’' }
  fine: { kind: sqlite-sql, source: db, description: Fine., statement: SELECT 1 AS one, maxRows: 5 }
";
    let folder = tempfile::tempdir().unwrap();
    let said = import(folder.path(), configuration, &[]);
    for expected in [
        "with 1 tool\n",
        "the tool `plan`: its template parameter `query` can be any text of the statement; give it `allowedValues`, or import with `--textual`",
        "the tool `broken`: the statement cannot be sent: the character U+2018 is outside of quotes and comments",
        "`maxRows` of the tool `fine`: no key of a tool means the same",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    assert!(check(folder.path(), &[]).contains("0 errors, 0 warnings"));
    let textual = tempfile::tempdir().unwrap();
    import(textual.path(), configuration, &["--textual"]);
    assert!(check(textual.path(), &[]).contains("with `substitution: textual` the caller's values become part of the statement"));
}
