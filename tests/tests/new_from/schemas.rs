//! Schemas of others, which are not kept here; without any, a small one.
//!
//! `MILLRACE_SCHEMAS` names a folder with their SQL: `NAME.postgres.sql`, `NAME.mysql.sql` and
//! `NAME.sqlite.sql`, as `pg_dump`, `mariadb-dump` and `.dump` write them. Each gets an app with
//! the tools of all its tables, and every tool is called with values of the rows that are there.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::PathBuf,
};

use millrace_core::{Json, value::Value};
use millrace_tests::{
    database::{Database, connection},
    local::Host,
    mysql::Mysql,
    new_app::NewApp,
    postgres::Postgres,
};
use serde_json::{Map, json};

use super::{Served, shop, value};

/// Rows that are got and written back, and rows of a table whose orders are compared.
const TRIED: usize = 10;
const SORTED: usize = 2_000;
/// What the page of a list is named by, beside the columns of its table.
const OF_LISTS: [&str; 4] = ["sort", "order", "offset", "limit"];

/// Two tables and a view, of two pages.
const SMALL: &str = "
CREATE TABLE makers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, founded DATE);
CREATE TABLE items (id INTEGER PRIMARY KEY, maker_id INTEGER NOT NULL REFERENCES makers (id), title TEXT NOT NULL, price REAL NOT NULL, note TEXT);
CREATE VIEW cheap_items AS SELECT id, title, price FROM items WHERE price < 40;
INSERT INTO makers VALUES (1, 'Ada & Sons', '1843-01-02'), (2, 'o''neil', NULL), (3, 'Bäcker', '2020-02-29');
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
INSERT INTO items SELECT i, 1 + i % 3, 'item ' || i % 100, i * 0.5, CASE WHEN i % 2 = 0 THEN 'note ' || i END FROM n;
";

#[test]
fn every_tool_of_the_schemas_of_a_folder_works() {
    let mut faults = Vec::new();
    for (name, sql) in dumps() {
        let trial = of_dump(&name, &sql);
        assert!(trial.tools.len() >= 10 && trial.calls >= 50, "{name}: {} tools, {} calls", trial.tools.len(), trial.calls);
        println!("{name}: {} tools, {} calls, {} faults", trial.tools.len(), trial.calls, trial.faults.len());
        faults.extend(trial.faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The names of the dumps, and their SQL.
fn dumps() -> Vec<(String, String)> {
    let Some(folder) = env::var_os("MILLRACE_SCHEMAS") else { return vec![("small.sqlite".to_owned(), SMALL.to_owned())] };
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "sql"));
    files.sort();
    let dump = |file: &PathBuf| (file.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(file).unwrap());
    files.iter().map(dump).collect()
}

/// Calls the tools of a database that a dump makes.
fn of_dump(name: &str, sql: &str) -> Trial {
    let (_, kind) = name.rsplit_once('.').unwrap_or_else(|| panic!("{name} does not say of which database it is"));
    match kind {
        "sqlite" => {
            let folder = shop(sql);
            let path = folder.path().join("shop.db");
            let tables = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";
            let tables = names(&Database::open(connection("sqlite", path.to_str().unwrap(), &[])), tables);
            Trial::of(&NewApp::make_in(folder, "app", &["--from", "sqlite:shop.db", "--write", "--tables", &tables]))
        }
        "postgres" => {
            let server = Postgres::start(&[]);
            server.create("schema", sql);
            let url = server.url("schema");
            let tables = "SELECT CASE nspname WHEN 'public' THEN relname ELSE nspname || '.' || relname END FROM pg_class
                JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm') AND NOT relispartition
                AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1";
            let tables = names(&Database::open(connection("postgres", &url, &[])), tables);
            Trial::of(&NewApp::make("app", &["--from", &url, "--write", "--tables", &tables]))
        }
        "mysql" => {
            let server = Mysql::start(&[]);
            server.run("shop", sql);
            let url = server.url("shop");
            let tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' ORDER BY 1";
            let tables = names(&Database::open(connection("mysql", &url, &[])), tables);
            Trial::of(&NewApp::make("app", &["--from", &url, "--write", "--tables", &tables]))
        }
        other => panic!("{name} ends with sqlite, postgres or mysql, not with `{other}`"),
    }
}

/// The texts that a statement returns, as `--tables` takes them.
fn names(database: &Database, statement: &str) -> String {
    let rows = database.rows(statement);
    let names = rows.iter().map(|row| match &row[0] {
        Value::Text(name) => name.clone(),
        other => panic!("{other:?}"),
    });
    names.collect::<Vec<_>>().join(",")
}

/// The calls of the tools of an app.
struct Trial {
    served: Served,
    tools: BTreeMap<String, Json>,
    called: BTreeSet<String>,
    calls: usize,
    faults: Vec<String>,
}

impl Trial {
    fn of(app: &NewApp) -> Self {
        let served = Served(Host::dev(&app.path(), &[]));
        let (mut tools, mut cursor) = (BTreeMap::new(), json!({}));
        loop {
            let page = served.send("tools/list", &cursor);
            tools.extend(page["tools"].as_array().unwrap().iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone())));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = json!({ "cursor": next }),
                None => break,
            }
        }
        let mut trial = Self { served, tools, called: BTreeSet::new(), calls: 0, faults: Vec::new() };
        let lists: Vec<String> = trial.tools.keys().filter_map(|name| name.strip_suffix("-list").map(str::to_owned)).collect();
        assert!(!lists.is_empty());
        for table in lists {
            trial.table(&table);
        }
        let missed: Vec<String> = trial.tools.keys().filter(|name| !trial.called.contains(*name)).cloned().collect();
        trial.faults.extend(missed.into_iter().map(|name| format!("{name} was not called")));
        trial
    }

    /// The result of a call; a failure is a fault, but for what a constraint of the database
    /// refuses.
    fn call(&mut self, tool: &str, inputs: &Json) -> Option<Json> {
        self.calls += 1;
        self.called.insert(tool.to_owned());
        let result = self.served.send("tools/call", &json!({ "name": tool, "arguments": inputs }));
        if result["isError"] == json!(false) {
            return Some(result);
        }
        if result["_meta"]["millrace/error"]["code"] != "CONSTRAINT" {
            self.faults.push(format!("{tool} {inputs}: {result}"));
        }
        None
    }

    /// The rows of all pages.
    fn paged(&mut self, tool: &str, mut inputs: Map<String, Json>) -> Option<Vec<Json>> {
        let mut rows = Vec::new();
        inputs.insert("limit".to_owned(), json!(200));
        loop {
            let page = self.call(tool, &Json::Object(inputs.clone()))?;
            rows.extend(page["structuredContent"]["result"].as_array().into_iter().flatten().cloned());
            match page["_meta"]["millrace/cursor"].as_object() {
                Some(cursor) => inputs.extend(cursor.clone()),
                None => return Some(rows),
            }
        }
    }

    fn expect(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(fault());
        }
    }

    /// What an input of a tool can be.
    fn choices(&self, tool: &str, input: &str) -> Vec<Json> {
        self.tools.get(tool).and_then(|tool| tool["inputSchema"]["properties"][input]["enum"].as_array().cloned()).unwrap_or_default()
    }

    /// Calls the tools of a table: those that write come last.
    fn table(&mut self, table: &str) {
        let (list, count) = (format!("{table}-list"), format!("{table}-count"));
        let Some(rows) = self.paged(&list, Map::new()) else { return };
        let counted = self.call(&count, &json!({})).map_or(Json::Null, |result| result["structuredContent"]["result"][0]["count"].clone());
        self.expect(counted == json!(rows.len()), || format!("{list} has {} rows, and {count} says {counted}", rows.len()));
        let all: BTreeSet<String> = rows.iter().map(Json::to_string).collect();
        if rows.len() < SORTED {
            for sort in self.choices(&list, "sort") {
                let sorted =
                    self.paged(&list, [("sort".to_owned(), sort.clone()), ("order".to_owned(), json!("DESC"))].into_iter().collect());
                let is_whole =
                    sorted.is_none_or(|sorted| sorted.len() == rows.len() && sorted.iter().all(|row| all.contains(&row.to_string())));
                self.expect(is_whole, || format!("{list} sorted by {sort} has other rows"));
            }
        }
        if let Some(first) = rows.first() {
            self.filters(&list, first);
        }
        let search = format!("{table}-search");
        if self.tools.contains_key(&search) {
            let found = self.paged(&search, [("q".to_owned(), json!("a"))].into_iter().collect()).unwrap_or_default();
            self.expect(found.iter().all(|row| all.contains(&row.to_string())), || format!("{search} finds rows that {list} has not"));
        }
        let sum = format!("{table}-sum");
        for by in self.choices(&sum, "by") {
            let groups = self.paged(&sum, [("by".to_owned(), by.clone())].into_iter().collect()).unwrap_or_default();
            let counted: usize =
                groups.iter().filter_map(|group| group["count"].as_u64()).filter_map(|count| usize::try_from(count).ok()).sum();
            self.expect(counted == rows.len(), || format!("{sum} by {by} counts {counted} of {} rows", rows.len()));
        }
        self.written(table, &rows);
    }

    /// Narrows a list by the values of one of its rows.
    fn filters(&mut self, list: &str, row: &Json) {
        let inputs: Vec<String> = self.tools[list]["inputSchema"]["properties"].as_object().unwrap().keys().cloned().collect();
        for input in inputs.iter().filter(|input| !OF_LISTS.contains(&input.as_str())) {
            let is_day = |field: &&str| !row[*field].is_null();
            let (field, is_exact) = match input.strip_suffix("_from").or(input.strip_suffix("_before")).filter(is_day) {
                Some(field) => (field, false),
                None => (input.strip_suffix("_2").filter(|_| row[input].is_null()).unwrap_or(input), true),
            };
            let value = match (&row[field], is_exact) {
                (Json::Null, _) => continue,
                (Json::String(moment), false) => json!(moment.get(..10)),
                (value, _) => value.clone(),
            };
            let Some(page) = self.call(list, &json!({ input: value })) else { continue };
            let rows = page["structuredContent"]["result"].as_array().cloned().unwrap_or_default();
            let fits = !is_exact || !rows.is_empty() && rows.iter().all(|found| found[field] == row[field]);
            self.expect(fits, || format!("{list} of {input} {value} gives {rows:?}"));
        }
    }

    /// Gets rows by their keys, writes back what they are, and makes one like the last.
    fn written(&mut self, table: &str, rows: &[Json]) {
        let get = format!("{table}-get");
        let key: Vec<String> = self.tools.get(&get).map_or_else(Vec::new, |tool| {
            tool["inputSchema"]["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
        });
        for verb in ["get", "update"] {
            let name = format!("{table}-{verb}");
            let Some(inputs) = self.inputs(&name) else { continue };
            for row in rows.iter().take(TRIED).chain(rows.iter().rev().take(TRIED)) {
                let fields = inputs.keys().filter(|input| verb == "update" || key.contains(*input)).filter(|input| !row[*input].is_null());
                let given: Map<String, Json> = fields.map(|input| (input.clone(), row[input].clone())).collect();
                let Some(result) = self.call(&name, &Json::Object(given.clone())) else { continue };
                let result = &result["structuredContent"]["result"];
                let changed = given.iter().filter(|(field, value)| result[0][*field] != **value).count();
                // A trigger may set the time of the last change.
                let is_it =
                    if verb == "get" { result[0] == *row } else { changed <= 1 && key.iter().all(|field| result[0][field] == row[field]) };
                self.expect(is_it, || format!("{name} {given:?} gives {result}, and the list {row}"));
            }
        }
        let create = format!("{table}-create");
        let Some(inputs) = self.inputs(&create) else { return };
        let required = self.tools[&create]["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        let row = rows.last().cloned().unwrap_or(Json::Null);
        let given = inputs.iter().filter(|(input, _)| !row[*input].is_null() || required.contains(&json!(input)));
        let mut given: Map<String, Json> = given
            .map(|(input, schema)| (input.clone(), if row[input].is_null() { value(input, schema) } else { row[input].clone() }))
            .collect();
        if let Some(id) = key.last().and_then(|last| given.get_mut(last)).filter(|id| id.is_i64()) {
            let greatest = rows.iter().filter_map(|row| row[key.last().unwrap()].as_i64()).max().unwrap_or(0);
            *id = json!(greatest + 1);
        }
        self.call(&create, &Json::Object(given));
    }

    fn inputs(&self, tool: &str) -> Option<Map<String, Json>> {
        self.tools.get(tool).map(|tool| tool["inputSchema"]["properties"].as_object().unwrap().clone())
    }
}
