//! `millrace.lock`: what databases describe of statements is what they return, and what is
//! different afterwards is told.

use std::{
    fs,
    process::{Command, Output},
};

use millrace_tests::files::write;
use millrace_tests::{
    case::{Exchange, root},
    d1_api,
    docs::{blocks, shell, text},
    local::{Host, binary},
    mysql::Mysql,
    postgres::{Postgres, psql},
    sqld::Sqld,
};
use serde_json::{Value, json};

/// An app in a folder, and the variables that it needs.
struct App {
    folder: tempfile::TempDir,
    env: Vec<(String, String)>,
}

impl App {
    /// An app with one adapter, `main`, and tools by their names.
    fn new(adapter: &str, url: &str, tools: &[(&str, &str)]) -> Self {
        let app = Self { folder: tempfile::tempdir().unwrap(), env: vec![("DB".to_owned(), url.to_owned())] };
        app.write("millrace.yaml", "name: locked\n");
        app.write("app/adapters/main.yaml", adapter);
        for (tool, text) in tools {
            app.tool(tool, text);
        }
        app
    }

    fn write(&self, path: &str, text: &str) {
        write(self.folder.path(), path, text);
    }

    fn tool(&self, tool: &str, text: &str) {
        self.write(&format!("app/tools/{tool}/config.yaml"), &format!("description: {tool}\nuse: main\n{text}\n"));
    }

    fn run(&self, command: &str, arguments: &[&str]) -> Output {
        let mut millrace = Command::new(binary());
        millrace.arg(command).arg(self.folder.path()).args(arguments).envs(self.env.iter().cloned()).output().unwrap()
    }

    fn check(&self, arguments: &[&str]) -> (bool, String) {
        let output = self.run("check", arguments);
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    /// Writes the lock file.
    fn lock(&self) {
        let (good, said) = self.check(&["--connect", "--lock"]);
        assert!(good, "{said}");
    }

    fn locked(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.folder.path().join("millrace.lock")).unwrap()).unwrap()
    }

    /// Name and kind of each column of a tool in the lock file.
    fn kinds(&self, tool: &str) -> Vec<(String, String)> {
        let columns = self.locked()["tools"][tool]["columns"].as_array().unwrap_or_else(|| panic!("{tool}")).clone();
        let text = |column: &Value, member: &str| column[member].as_str().unwrap().to_owned();
        columns.iter().map(|column| (text(column, "name"), text(column, "kind"))).collect()
    }
}

fn request(host: &Host, method: &str, params: &Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let headers =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-06-18")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let answer = host.send(&Exchange { method: "POST".into(), path: "/mcp".into(), headers, body: body.to_string() });
    let body: Value = serde_json::from_str(answer.split_once("\n\n").unwrap().1).unwrap_or_else(|error| panic!("{error}: {answer}"));
    body["result"].clone()
}

/// Calls tools of a locked app: each result is structured content that fits what the database
/// described, or it would be an error.
fn results_fit(app: &App, calls: &[(&str, Value)]) {
    let host = Host::dev(app.folder.path(), &app.env);
    let listed = request(&host, "tools/list", &json!({}));
    for (tool, arguments) in calls {
        let entry = listed["tools"].as_array().unwrap().iter().find(|entry| entry["name"] == **tool).unwrap();
        assert!(entry["outputSchema"].is_object(), "{tool}: {entry}");
        let result = request(&host, "tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(result["isError"] == json!(false) && result["structuredContent"].is_object(), "{tool} {arguments}: {result}");
    }
}

fn column(name: &str, kind: &str) -> (String, String) {
    (name.to_owned(), kind.to_owned())
}

const POSTGRES: &str = "connector: postgres\nconnection_string: \"{{ env.DB }}\"";
/// Inputs that can be left out, of every type that has a place in a statement.
const INPUTS: &str = "inputs:\n  n: { type: int, optional: true }\n  f: { type: float, optional: true }\n  b: { type: boolean, optional: true }\n  \
                      t: { type: string, optional: true }\n  at: { type: datetime, optional: true }\n  l: { type: array, optional: true }\n";

#[test]
fn what_postgresql_describes_is_what_it_returns() {
    let server = Postgres::start(&[]);
    let url = server.url("postgres");
    psql(
        &url,
        "CREATE TYPE mood AS ENUM ('happy');
         CREATE DOMAIN small AS int CHECK (VALUE < 10);
         CREATE TABLE every (i2 int2, i4 int4, i8 int8, o oid, f4 float4, f8 float8, n numeric, b bool, t text, by bytea, j jsonb, ts timestamptz,
           d date, u uuid, m mood, s small, ints int[], texts text[], moods mood[], iv interval, bits bit(3));
         INSERT INTO every VALUES (32767, 2147483647, 9223372036854775807, 4294967295, 'NaN', 'Infinity', 'NaN', true, 'x', '\\x00', '[1]', 'infinity',
           '0044-03-15 BC', gen_random_uuid(), 'happy', 9, '[0:1]={1,2}', '{a,NULL}', '{happy}', '1 day', b'101');
         INSERT INTO every (i2) VALUES (1), (NULL)",
    );
    let app = App::new(
        POSTGRES,
        &url,
        &[
            ("every", "statement: SELECT * FROM every"),
            ("twice", "statement: SELECT i4, i8 AS i4 FROM every"),
            (
                "echo",
                &format!(
                    "{INPUTS}statement: |\n  SELECT {{{{ inputs.n }}}} AS n, {{{{ inputs.f }}}} AS f, {{{{ inputs.b }}}} AS b, {{{{ inputs.t }}}} AS t, \
                     {{{{ inputs.at }}}}::timestamptz AS at, {{{{ inputs.l }}}}::text AS l, coalesce({{{{ inputs.n }}}}, 5) AS m, 'x{{{{ inputs.t }}}}' AS c"
                ),
            ),
            ("absolute", &format!("{INPUTS}statement: SELECT abs({{{{ inputs.n }}}}) AS n")),
            ("add", "statement: INSERT INTO every (i4) VALUES (1) RETURNING i4"),
            ("change", "statement: UPDATE every SET i4 = 2"),
            (
                "ordered",
                "inputs: { by: { type: string, enum: [i4, t] } }\nstatement: SELECT i4 FROM every ORDER BY {{ inputs.by | ident }}",
            ),
            ("chosen", "inputs: { by: { type: string, enum: [i4, t] } }\nstatement: SELECT {{ inputs.by | ident }} FROM every"),
            ("same", "inputs: { by: { type: string, enum: [i4, i8] } }\nstatement: SELECT {{ inputs.by | ident }} AS number FROM every"),
            (
                "grouped",
                "inputs: { by: { type: string, enum: [i4, i8] } }\nstatement: SELECT {{ inputs.by | ident }} AS k, count(*) AS n FROM every GROUP BY {{ inputs.by | ident }}",
            ),
            ("mapped", "statement: SELECT i4 FROM every\nmappers: { output: ./output.ts }"),
            ("declared", "statement: SELECT i4 FROM every\noutput: { type: array }"),
        ],
    );
    app.write("app/tools/mapped/output.ts", "export default ({ results }) => results.length;\n");
    app.lock();
    let every = [
        "i2 integer",
        "i4 integer",
        "i8 big_integer",
        "o integer",
        "f4 float",
        "f8 float",
        "n text",
        "b boolean",
        "t text",
        "by text",
        "j any",
        "ts text",
        "d text",
        "u text",
        "m text",
        "s integer",
        "ints list",
        "texts list",
        "moods list",
        "iv text",
        "bits text",
    ];
    let every: Vec<_> = every.iter().map(|column| column.split_once(' ').unwrap()).map(|(name, kind)| column(name, kind)).collect();
    assert_eq!(app.kinds("every"), every);
    assert_eq!(app.kinds("twice"), [column("i4", "integer"), column("i4_2", "big_integer")]);
    assert_eq!(app.kinds("same"), [column("number", "big_integer")]);
    assert_eq!(app.kinds("change"), []);
    assert_eq!(app.kinds("grouped"), [column("k", "big_integer"), column("n", "big_integer")]);
    assert_eq!(app.locked()["tools"]["chosen"], Value::Null, "its columns depend on the call");
    let small = json!({"n": 1, "f": 1.5, "b": true, "t": "x", "at": "2026-01-02T03:04:05Z", "l": ["a"]});
    let large = json!({"n": "9223372036854775807", "f": 1e300, "b": false, "t": "", "at": "0001-01-01T00:00:00Z", "l": []});
    results_fit(
        &app,
        &[
            ("every", json!({})),
            ("twice", json!({})),
            ("echo", json!({})),
            ("echo", small),
            ("echo", large),
            ("absolute", json!({"n": -1})),
            ("absolute", json!({"n": "-9223372036854775807"})),
            ("add", json!({})),
            ("change", json!({})),
            ("ordered", json!({"by": "t"})),
            ("same", json!({"by": "i4"})),
            ("same", json!({"by": "i8"})),
            ("grouped", json!({"by": "i8"})),
            ("declared", json!({})),
        ],
    );
    let host = Host::dev(app.folder.path(), &app.env);
    let listed = request(&host, "tools/list", &json!({}));
    let schema_of =
        |tool: &str| listed["tools"].as_array().unwrap().iter().find(|entry| entry["name"] == tool).unwrap()["outputSchema"].clone();
    assert_eq!((schema_of("mapped"), schema_of("chosen")), (Value::Null, Value::Null), "nobody knows what they return");
    assert_eq!(schema_of("declared")["properties"]["result"], json!({"type": "array"}), "what the author says counts");
    let own = json!({"type": "object", "properties": {"i4": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "required": ["i4"]});
    assert_eq!(schema_of("add")["properties"]["result"], json!({"type": "array", "items": own}));

    // What is the same is not written again, and nothing is different.
    let before = fs::metadata(app.folder.path().join("millrace.lock")).unwrap().modified().unwrap();
    app.lock();
    assert_eq!(fs::metadata(app.folder.path().join("millrace.lock")).unwrap().modified().unwrap(), before);
    let (good, said) = app.check(&["--connect"]);
    assert!(good && !said.contains("millrace.lock"), "{said}");
    let types = app.folder.path().join("millrace.d.ts");
    assert!(app.run("types", &[]).status.success());
    let types = fs::read_to_string(types).unwrap();
    for row in [
        r#""add": { "i4": number | null };"#,
        r#""same": { "number": number | bigint | null };"#,
        r#""change": { affected_rows: number };"#,
        r#""mapped": { "i4": number | null };"#,
    ] {
        assert!(types.contains(row), "{row}");
    }

    // Another input is another statement.
    app.tool(
        "ordered",
        "inputs: { by: { type: string, enum: [i4, b] } }\nstatement: SELECT i4 FROM every ORDER BY {{ inputs.by | ident }}",
    );
    let (_, said) = app.check(&[]);
    assert!(said.contains("the statement of the tool `ordered` has changed"), "{said}");

    // A column that has another name, another type or is new; a statement that is another one; a
    // tool that is gone and one that is new.
    psql(&url, "ALTER TABLE every RENAME COLUMN i2 TO short; ALTER TABLE every ALTER COLUMN i4 TYPE int8");
    app.tool("same", "statement: SELECT 1 AS one");
    app.tool("young", "statement: SELECT 1 AS one");
    fs::remove_dir_all(app.folder.path().join("app/tools/declared")).unwrap();
    let (good, said) = app.check(&["--connect"]);
    assert!(!good, "{said}");
    for problem in [
        "app/tools/every/config.yaml:3:12: the tool `every` does not return the column `i2` any more, which `millrace.lock` has as `smallint`",
        "app/tools/every/config.yaml:3:12: the tool `every` returns the column `short`, `smallint`, which `millrace.lock` does not have",
        "app/tools/every/config.yaml:3:12: the column `i4` of the tool `every` is `bigint`, and `millrace.lock` has `integer`",
        "app/tools/add/config.yaml:3:12: the column `i4` of the tool `add` is `bigint`, and `millrace.lock` has `integer`",
        "app/tools/same/config.yaml:3:12: the statement of the tool `same` has changed since `millrace.lock` was written",
        "app/tools/young/config.yaml:3:12: `millrace.lock` does not have the tool `young`",
        "millrace.lock:1:1: `millrace.lock` has the tool `declared`, which has no statement",
        "If that is as it should be, write `millrace.lock` anew: `millrace check --connect --lock`.",
    ] {
        assert!(said.contains(problem), "{problem}\n{said}");
    }
    let said: Value = serde_json::from_slice(&app.run("check", &["--connect", "--json"]).stdout).unwrap();
    assert_eq!((&said["ok"], said["lock"].as_array().unwrap().len() > 6), (&json!(false), true), "{said}");
    app.lock();
    assert!(app.check(&["--connect"]).0);
}

#[test]
fn what_mariadb_describes_is_what_it_returns() {
    let server = Mysql::start(&[]);
    let database = server.open();
    for statement in [
        "CREATE TABLE every (i1 tinyint, i2 smallint unsigned, i3 mediumint, i4 int unsigned, i8 bigint, u8 bigint unsigned, f float, d double, \
         n decimal(20, 2), t text, v varchar(9), e enum('a'), by8 blob, j json, dt datetime(6), ts timestamp NULL, da date, ti time, bi bit(64), y year)",
        "INSERT INTO every VALUES (-128, 65535, -8388608, 4294967295, 9223372036854775807, 18446744073709551615, 1e38, 1e308, 1.50, 'x', 'y', 'a', \
         x'00ff', '[1]', '2026-01-02 03:04:05.123456', '2026-01-02 03:04:05', '2026-01-02', '-838:59:59', b'1', 2026), \
         (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        "CREATE PROCEDURE listed() SELECT i1 FROM every",
    ] {
        database.run(statement, &[]).unwrap();
    }
    let app = App::new(
        "connector: mysql\nconnection_string: \"{{ env.DB }}\"",
        &server.url("shop"),
        &[
            ("every", "statement: SELECT * FROM every"),
            ("united", "statement: SELECT i1 AS one FROM every UNION SELECT t FROM every"),
            ("counted", "statement: SELECT count(*) AS rows_, sum(i4) AS total, max(t) AS longest FROM every"),
            ("echo", &format!("{INPUTS}statement: SELECT {{{{ inputs.n }}}} AS n, {{{{ inputs.t }}}} AS t, i4 FROM every")),
            ("derived", &format!("{INPUTS}statement: SELECT x FROM (SELECT i4 + {{{{ inputs.f }}}} AS x FROM every) d")),
            ("change", "statement: UPDATE every SET i1 = 1"),
            ("call", "statement: CALL listed()"),
        ],
    );
    app.lock();
    let every = [
        "i1 integer",
        "i2 integer",
        "i3 integer",
        "i4 integer",
        "i8 big_integer",
        "u8 big_integer",
        "f float",
        "d float",
        "n text",
        "t text",
        "v text",
        "e text",
        "by8 text",
        "j any",
        "dt text",
        "ts text",
        "da text",
        "ti text",
        "bi big_integer",
        "y integer",
    ];
    let every: Vec<_> = every.iter().map(|column| column.split_once(' ').unwrap()).map(|(name, kind)| column(name, kind)).collect();
    assert_eq!(app.kinds("every"), every);
    assert_eq!(app.kinds("echo"), [column("n", "any"), column("t", "any"), column("i4", "integer")]);
    assert_eq!(app.locked()["tools"]["call"], Value::Null, "what a procedure returns is not described");
    results_fit(
        &app,
        &[
            ("every", json!({})),
            ("united", json!({})),
            ("counted", json!({})),
            ("echo", json!({"n": 1, "t": "x"})),
            ("echo", json!({})),
            ("derived", json!({"f": 1.5})),
            ("change", json!({})),
        ],
    );
    database.run("ALTER TABLE every RENAME COLUMN t TO words, MODIFY i4 bigint", &[]).unwrap();
    let (good, said) = app.check(&["--connect"]);
    assert!(!good && said.contains("the tool `every` returns the column `words`, `text`, which `millrace.lock` does not have"), "{said}");
    assert!(said.contains("app/tools/echo/config.yaml:10:12: the column `i4` of the tool `echo` is `bigint`, and"), "{said}");
}

const TABLES: &str = "CREATE TABLE every (i INTEGER, r REAL, t TEXT, b BLOB, a ANY) STRICT;
                      INSERT INTO every VALUES (9223372036854775807, 1e999, 'x', x'00', 1), (NULL, NULL, NULL, NULL, NULL), (1, 1, '', x'', 'x')";

/// Tools for [`TABLES`].
const TOOLS: [(&str, &str); 5] = [
    ("every", "statement: SELECT * FROM every"),
    ("united", "statement: SELECT i FROM every UNION SELECT t FROM every"),
    ("computed", "inputs: { n: { type: int } }\nstatement: SELECT count(*) AS rows, i + {{ inputs.n }} AS sum FROM every"),
    ("change", "statement: UPDATE every SET i = 1"),
    ("add", "statement: INSERT INTO every (i) VALUES (2) RETURNING i, t"),
];

/// What is described of [`TOOLS`] where declared types are known and kept, and that it is so.
fn strict_tables_have_types(app: &App) {
    app.lock();
    let every = ["i big_integer", "r float", "t text", "b text", "a any"].map(|column| column.split_once(' ').unwrap());
    assert_eq!(app.kinds("every"), every.map(|(name, kind)| column(name, kind)));
    assert_eq!(app.kinds("united"), [column("i", "any")]);
    assert_eq!(app.kinds("computed"), [column("rows", "any"), column("sum", "any")]);
    assert_eq!((app.kinds("change"), app.kinds("add")), (vec![], vec![column("i", "big_integer"), column("t", "text")]));
    results_fit(
        app,
        &[("every", json!({})), ("united", json!({})), ("computed", json!({"n": 1})), ("add", json!({})), ("change", json!({}))],
    );
}

#[test]
fn what_sqlite_describes_is_what_it_returns() {
    let app = App::new("connector: sqlite\nconnection_string: ./shop.db\noptions: { seed: ./seed.sql }", "", &TOOLS);
    app.write("app/adapters/seed.sql", TABLES);
    strict_tables_have_types(&app);
    // Where one table does not keep to its types, none is promised; what is declared is still
    // looked at.
    let shop = app.folder.path().join("shop.db");
    let change = |statement: &str| rusqlite::Connection::open(&shop).unwrap().execute_batch(statement).unwrap();
    change("CREATE TABLE loose (n INTEGER); INSERT INTO loose VALUES ('text')");
    app.tool("loose", "statement: SELECT n FROM loose");
    app.lock();
    assert_eq!(app.kinds("loose"), [column("n", "any")]);
    results_fit(&app, &[("loose", json!({})), ("every", json!({}))]);
    change("DROP TABLE loose; CREATE TABLE loose (n TEXT)");
    let (good, said) = app.check(&["--connect"]);
    let problem = "app/tools/loose/config.yaml:3:12: the column `n` of the tool `loose` is `TEXT`, and `millrace.lock` has `INTEGER`";
    assert!(!good && said.contains(problem), "{said}");
}

#[test]
fn what_a_libsql_server_describes_is_what_it_returns() {
    let server = Sqld::start(None);
    let url = format!("http://127.0.0.1:{}", server.port);
    let app = App::new("connector: libsql\nconnection_string: \"{{ env.DB }}\"", &url, &TOOLS);
    let database = millrace_tests::database::Database::open(millrace_tests::database::connection("libsql", &url, &[]));
    for statement in TABLES.split(';') {
        database.run(statement, &[]).unwrap();
    }
    strict_tables_have_types(&app);
    database.run("ALTER TABLE every RENAME COLUMN t TO words", &[]).unwrap();
    let (good, said) = app.check(&["--connect"]);
    assert!(!good && said.contains("does not take the statement of the tool `united`"), "{said}");
}

#[test]
fn d1_tells_names_without_types() {
    let server = d1_api::stand_in();
    let adapter = "connector: d1\nconnection_string: d1://0a1b/1111-2222\noptions: { api_token: t.o.k, base_url: \"{{ env.DB }}\" }";
    let tools = [
        ("read", "statement: SELECT k AS name, n FROM t -- a comment"),
        ("twice", "statement: SELECT k, k FROM t"),
        ("write", "statement: DELETE FROM t RETURNING k"),
        ("pragma", "statement: PRAGMA table_info(t)"),
    ];
    let app = App::new(adapter, &format!("http://{}/client/v4", server.address), &tools);
    let database = millrace_tests::database::Database::open(millrace_tests::database::connection(
        "d1",
        "d1://0a1b/1111-2222",
        &[("api_token", "t.o.k"), ("base_url", &format!("http://{}/client/v4", server.address))],
    ));
    database.run("CREATE TABLE t (k TEXT, n INTEGER)", &[]).unwrap();
    database.run("INSERT INTO t VALUES ('a', 1)", &[]).unwrap();
    app.lock();
    assert_eq!(app.kinds("read"), [column("name", "any"), column("n", "any")]);
    let locked = app.locked();
    assert_eq!((&locked["tools"]["twice"], &locked["tools"]["write"]), (&Value::Null, &Value::Null));
    results_fit(&app, &[("read", json!({}))]);
}

#[test]
fn a_lock_file_that_does_not_fit_is_told() {
    let app = App::new("connector: sqlite\nconnection_string: ':memory:'", "", &[("one", "statement: SELECT 1 AS one")]);
    let (good, said) = app.check(&["--lock"]);
    assert!(!good && said.contains("--connect"), "{said}");
    app.lock();
    // A statement that has changed is nobody's promise, and the app is built all the same.
    app.tool("one", "statement: SELECT 2 AS two");
    let (good, said) = app.check(&[]);
    assert!(good && said.contains("the statement of the tool `one` has changed since `millrace.lock` was written"), "{said}");
    let host = Host::dev(app.folder.path(), &app.env);
    assert_eq!(request(&host, "tools/list", &json!({}))["tools"][0]["outputSchema"], Value::Null);
    for (text, problem) in [
        ("{", "`millrace.lock` cannot be read: EOF while parsing an object at line 1 column 1"),
        ("{\"version\": 3, \"tools\": {}}", "`millrace.lock` cannot be read: its version is 3, and this is Millrace for versions 1 and 2"),
        ("{\"version\": 1, \"tools\": {\"one\": {}}}", "`millrace.lock` cannot be read: missing field `statement`"),
        ("{\"version\": 1, \"tools\": {}, \"more\": 1}", "`millrace.lock` cannot be read: unknown field `more`"),
        ("\u{0}", "`millrace.lock` cannot be read: expected value"),
    ] {
        app.write("millrace.lock", text);
        let (good, said) = app.check(&[]);
        assert!(!good && said.replace('\n', " ").contains(problem), "{problem}\n{said}");
    }
    // A file that cannot be read is written anew all the same, once it is gone.
    fs::remove_file(app.folder.path().join("millrace.lock")).unwrap();
    app.lock();
    assert_eq!(app.kinds("one"), [column("two", "any")]);
    // Nothing is written where a database cannot be asked.
    app.write("app/adapters/main.yaml", "connector: sqlite\nconnection_string: ./missing.db\n");
    let before = app.locked();
    let (good, said) = app.check(&["--connect", "--lock"]);
    assert!(!good && said.contains("`millrace.lock` was not written"), "{said}");
    assert_eq!(app.locked(), before);
}

#[test]
fn the_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/lock.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(shell(folder.path(), "millrace new notes").status.success());
    let app = folder.path().join("notes");
    for (_, body) in blocks(&page).into_iter().filter(|(kind, _)| kind == "yaml") {
        let (first, rest) = body.split_once('\n').unwrap();
        write(&app, first.trim_start_matches(['#', ' ']), rest);
    }
    let commands: Vec<_> = blocks(&page).into_iter().filter(|(kind, _)| kind == "sh").map(|(_, command)| command).collect();
    let [command] = commands.as_slice() else { panic!("{commands:?}") };
    let locked = shell(&app, command);
    assert!(locked.status.success() && text(&locked).contains("`millrace.lock` has what the statements of"), "{}", text(&locked));
    let database =
        fs::read_dir(&app).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|end| end == "db"));
    rusqlite::Connection::open(database.unwrap()).unwrap().execute_batch("ALTER TABLE notes RENAME COLUMN text TO body").unwrap();
    let checked = shell(&app, "millrace check --connect");
    let said = text(&checked);
    let differences = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(!checked.status.success() && differences.lines().all(|line| said.contains(line)), "{said}");
}
