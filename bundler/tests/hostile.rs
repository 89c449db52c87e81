//! Hostile values through compiled statements and a real SQLite: each comes back byte for byte, and
//! nothing else happens.

#![allow(clippy::expect_used, clippy::panic, reason = "what fails here is the test")]

use millrace_bundler::statement::{Compiled, Dialect, Substitution, compile};
use millrace_core::app::{Bind, Input, InputKind, Part, Piece, Source};
use millrace_test_kit::made;
use rusqlite::{Connection, types::Value};
use serde_json::{Value as Json, json};

/// What a statement has to do. The table has three rows of others, and row 4, which has the value.
enum Outcome {
    /// One row with the value.
    Value,
    /// One row with this text, in which `<v>` is the value.
    Text(&'static str),
    /// No row, or an error of the database.
    Nothing,
}

/// Every form that a placeholder may have.
const FORMS: &[(&str, Outcome)] = &[
    // Bare.
    ("SELECT {{ inputs.v }}", Outcome::Value),
    ("SELECT {{inputs.v}} AS \"a?1b\", 'it''s ?2 {{ '{{' }}' -- ?", Outcome::Value),
    ("SELECT name FROM t WHERE name = {{ inputs.v }}", Outcome::Value),
    ("SELECT name FROM t WHERE name IS {{ inputs.v }}", Outcome::Value),
    ("SELECT name FROM t WHERE name IS NOT {{ inputs.v }} AND id = 4", Outcome::Nothing),
    ("SELECT name FROM t WHERE name BETWEEN {{ inputs.v }} AND {{ inputs.v }}", Outcome::Value),
    ("SELECT name FROM t WHERE ({{ inputs.v }} IS NULL OR name = {{ inputs.v }})", Outcome::Value),
    ("SELECT name FROM t WHERE (name, id) = ({{ inputs.v }}, 4)", Outcome::Value),
    ("SELECT name FROM t ORDER BY name = {{ inputs.v }} DESC LIMIT 1", Outcome::Value),
    ("SELECT max(name) FROM t GROUP BY name HAVING name = {{ inputs.v }}", Outcome::Value),
    ("WITH x(v) AS (VALUES ({{ inputs.v }})) SELECT v FROM x", Outcome::Value),
    ("SELECT v FROM (SELECT {{ inputs.v }} AS v UNION SELECT {{ inputs.v }})", Outcome::Value),
    ("SELECT {{ inputs.v }} /* {{ inputs.v }} */ -- {{ inputs.v }}", Outcome::Value),
    ("SELECT /* ' */ {{ inputs.v }} /* ' */", Outcome::Value),
    ("SELECT [name] FROM `t` WHERE \"t\".name = {{ inputs.v }};", Outcome::Value),
    ("SELECT {{ inputs.v }}||''", Outcome::Value),
    // Quoted, as authors had to write where values became text.
    ("SELECT '{{ inputs.v }}'", Outcome::Value),
    ("SELECT name FROM t WHERE name = '{{inputs.v}}' AND id = 4", Outcome::Value),
    ("SELECT (SELECT name FROM t WHERE id = '{{ inputs.row }}')", Outcome::Value),
    ("SELECT name FROM t WHERE name='{{ inputs.v }}'AND id=4", Outcome::Value),
    // Composed.
    ("SELECT '{{ inputs.v }} end'", Outcome::Text("<v> end")),
    ("SELECT 'start {{ inputs.v }}'", Outcome::Text("start <v>")),
    ("SELECT 'a{{ inputs.v }}b'", Outcome::Text("a<v>b")),
    ("SELECT '{{ inputs.v }}{{ inputs.v }}'", Outcome::Text("<v><v>")),
    ("SELECT '''{{ inputs.v }}'' ?1 \" -- \\n'", Outcome::Text("'<v>' ?1 \" -- \\n")),
    ("SELECT name FROM t WHERE 'x' || name || 'y' = 'x{{ inputs.v }}y'", Outcome::Value),
    // LIKE: the wildcards of the value stay wildcards, so that row 4 is asked for by its id.
    ("SELECT name FROM t WHERE id = 4 AND name LIKE '{{ inputs.v }}%'", Outcome::Value),
    ("SELECT name FROM t WHERE id = 4 AND name LIKE '%{{ inputs.v }}'", Outcome::Value),
    ("SELECT name FROM t WHERE id = 4 AND name LIKE '%{{ inputs.v }}%'", Outcome::Value),
    ("SELECT name FROM t WHERE id = 4 AND instr(name, {{ inputs.v }}) = 1", Outcome::Value),
    // Lists.
    ("SELECT name FROM t WHERE name IN ({{ inputs.list }})", Outcome::Value),
    ("SELECT name FROM t WHERE id = 4 AND name NOT IN ({{ inputs.list }})", Outcome::Nothing),
    ("SELECT name FROM t WHERE name IN ({{ inputs.v }}, 'none')", Outcome::Value),
    ("SELECT name FROM t WHERE id = 4 AND name IN ({{ inputs.none }})", Outcome::Nothing),
    ("SELECT name FROM t WHERE id = 4 AND name NOT IN ({{ inputs.none }})", Outcome::Value),
    // Casts, functions, CASE, JSON.
    ("SELECT CAST({{ inputs.v }} AS TEXT)", Outcome::Value),
    ("SELECT CAST('{{ inputs.v }}' AS TEXT)", Outcome::Value),
    ("SELECT coalesce(NULL, {{ inputs.v }})", Outcome::Value),
    ("SELECT iif(1, '{{ inputs.v }}', {{ inputs.v }})", Outcome::Value),
    ("SELECT CAST(unhex(hex({{ inputs.v }})) AS TEXT)", Outcome::Value),
    ("SELECT CASE {{ inputs.v }} WHEN {{ inputs.v }} THEN {{ inputs.v }} ELSE 'no' END", Outcome::Value),
    ("SELECT CASE WHEN name = '{{ inputs.v }}' THEN name END FROM t WHERE id = 4", Outcome::Value),
    ("SELECT json_array({{ inputs.v }}) = json_array((SELECT name FROM t WHERE id = 4))", Outcome::Text("1")),
    ("SELECT count(*) FROM json_each({{ inputs.list }})", Outcome::Text("2")),
    // Limits.
    ("SELECT name FROM t WHERE name = {{ inputs.v }} LIMIT {{ inputs.one }} OFFSET {{ inputs.zero }}", Outcome::Value),
    ("SELECT name FROM t WHERE id = 99 LIMIT {{ inputs.v }}", Outcome::Nothing),
    ("SELECT name FROM t WHERE id = 99 LIMIT '{{ inputs.v }}'", Outcome::Nothing),
    // Writes; row 4 is put back.
    ("INSERT INTO t (id, name) VALUES (5, {{ inputs.v }}) RETURNING name", Outcome::Value),
    ("INSERT INTO t (id, name) VALUES (5, '{{ inputs.v }}') RETURNING name", Outcome::Value),
    ("INSERT INTO t (id, name) SELECT 5, {{ inputs.v }} RETURNING name", Outcome::Value),
    ("REPLACE INTO t (id, name) VALUES (4, '<{{ inputs.v }}>') RETURNING name", Outcome::Text("<<v>>")),
    ("INSERT INTO t (id, name) VALUES (4, '') ON CONFLICT (id) DO UPDATE SET name = {{ inputs.v }} RETURNING name", Outcome::Value),
    ("UPDATE t SET name = {{ inputs.v }} WHERE name = '{{ inputs.v }}' RETURNING name", Outcome::Value),
    ("DELETE FROM t WHERE name = {{ inputs.v }} RETURNING name", Outcome::Value),
];

const OTHERS: [(i64, &str); 3] = [(1, "one other"), (2, "two other"), (3, "three other")];

fn hostile_values() -> Vec<String> {
    let values: Vec<String> = serde_json::from_str(include_str!("../../tests/data/hostile-values.json")).expect("an array of strings");
    assert!(values.len() >= 60);
    values
}

fn input(name: &str, kind: InputKind) -> Input {
    Input { items: (kind == InputKind::Array).then(|| Box::new(made::input("", InputKind::String))), ..made::input(name, kind) }
}

fn inputs() -> [Input; 6] {
    [
        input("v", InputKind::String),
        input("list", InputKind::Array),
        input("none", InputKind::Array),
        input("row", InputKind::Int),
        input("one", InputKind::Int),
        input("zero", InputKind::Int),
    ]
}

fn compiled(text: &str) -> Compiled {
    compile(text, Dialect::Sqlite, Substitution::Bind, &inputs()).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn call(value: &str) -> Json {
    json!({ "v": value, "list": [value, "in no row"], "none": [], "row": 4, "one": 1, "zero": 0 })
}

fn find<'a>(call: &'a Json, source: &Source) -> &'a Json {
    source.path.iter().fold(call, |value, name| &value[name])
}

fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn typed(value: &Json) -> Value {
    match value {
        Json::Number(number) => Value::Integer(number.as_i64().expect("an integer")),
        other => Value::Text(text_of(other)),
    }
}

/// The text and the values of a call. A value can only ever get into the second.
fn render(compiled: &Compiled, call: &Json) -> (String, Vec<Value>) {
    let (mut text, mut values) = (String::new(), Vec::new());
    let push = |text: &mut String, values: &mut Vec<Value>, value| {
        values.push(value);
        text.push_str(&format!("?{}", values.len()));
    };
    for part in &compiled.statement.parts {
        match part {
            Part::Text(own) => text.push_str(own),
            Part::Bind(Bind::Value { source, .. }) => push(&mut text, &mut values, typed(find(call, source))),
            Part::Bind(Bind::Composed(pieces)) => {
                let composed = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => text.clone(),
                    Piece::Source(source) => text_of(find(call, source)),
                    Piece::Env(name) => panic!("variable `{name}`"),
                });
                push(&mut text, &mut values, Value::Text(composed.collect()));
            }
            Part::BindEach { source, empty, .. } => {
                let elements = find(call, source).as_array().expect("a list");
                if elements.is_empty() {
                    text.push_str(empty);
                }
                for (position, element) in elements.iter().enumerate() {
                    text.push_str(if position > 0 { ", " } else { "" });
                    push(&mut text, &mut values, typed(element));
                }
            }
            part => panic!("{part:?}"),
        }
    }
    if let Some(finished) = &compiled.statement.text {
        assert_eq!(*finished, text, "the finished text is that of the parts");
    }
    (text, values)
}

fn database() -> Connection {
    let database = Connection::open_in_memory().expect("a database");
    database.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)").expect("a table");
    for (id, name) in OTHERS {
        database.execute("INSERT INTO t VALUES (?1, ?2)", (id, name)).expect("a row");
    }
    database
}

/// The bytes of the cell, whatever its type.
fn cell(row: &rusqlite::Row<'_>) -> rusqlite::Result<Vec<u8>> {
    Ok(match row.get::<_, Value>(0)? {
        Value::Text(text) => text.into_bytes(),
        Value::Integer(integer) => integer.to_string().into_bytes(),
        other => panic!("{other:?}"),
    })
}

#[test]
fn hostile_values_come_back_and_change_nothing_else() {
    let database = database();
    let compiled: Vec<_> = FORMS.iter().map(|(text, outcome)| (text, compiled(text), outcome)).collect();
    let mut checked = 0;
    for value in hostile_values() {
        for (form, compiled, outcome) in &compiled {
            database.execute_batch("BEGIN").expect("a transaction");
            database.execute("INSERT INTO t VALUES (4, ?1)", [&value]).expect("row 4");
            let (text, values) = render(compiled, &call(&value));
            let mut statement = database.prepare(&text).unwrap_or_else(|error| panic!("{form}: {error}"));
            assert_eq!(statement.parameter_count(), values.len(), "{form}");
            let rows: rusqlite::Result<Vec<Vec<u8>>> =
                statement.query_map(rusqlite::params_from_iter(values), cell).and_then(Iterator::collect);
            drop(statement);
            let expected = match outcome {
                Outcome::Value => vec![value.clone().into_bytes()],
                Outcome::Text(text) => vec![text.replace("<v>", &value).into_bytes()],
                Outcome::Nothing => Vec::new(),
            };
            match rows {
                Ok(rows) => assert_eq!(rows, expected, "{form} with {value:?}"),
                Err(error) => assert!(matches!(outcome, Outcome::Nothing), "{form} with {value:?}: {error}"),
            }
            let others: Vec<(i64, String)> = database
                .prepare("SELECT id, name FROM t WHERE id < 4 ORDER BY id")
                .and_then(|mut others| others.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
                .expect("the others");
            assert_eq!(others, OTHERS.map(|(id, name)| (id, name.to_owned())), "{form} with {value:?}");
            let objects: i64 = database.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).expect("the schema");
            assert_eq!(objects, 1, "{form} with {value:?}");
            database.execute_batch("ROLLBACK").expect("the end of the transaction");
            checked += 1;
        }
    }
    assert!(checked > 60 * 40, "{checked}");
}

#[test]
fn numbers_keep_every_digit() {
    let database = database();
    let compiled = compiled("SELECT {{ inputs.row }}");
    for number in [0, -1, (1 << 53) + 1, -(1 << 53) - 1, i64::MAX, i64::MIN] {
        let mut call = call("");
        call["row"] = json!(number);
        let (text, values) = render(&compiled, &call);
        assert_eq!(database.query_row(&text, rusqlite::params_from_iter(values), |row| row.get::<_, i64>(0)), Ok(number));
    }
}

#[test]
fn the_text_is_the_same_whatever_the_value() {
    for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::MySql, Dialect::ClickHouse] {
        let mut compared = 0;
        for (form, _) in FORMS {
            // Some forms are SQLite's own.
            let Ok(mut compiled) = compile(form, dialect, Substitution::Bind, &inputs()) else { continue };
            compiled.statement.text = None;
            let (harmless, _) = render(&compiled, &call("harmless"));
            for value in hostile_values() {
                assert_eq!(render(&compiled, &call(&value)).0, harmless, "{dialect:?} {form}");
                compared += 1;
            }
        }
        assert!(compared > 60 * 40, "{dialect:?}: {compared}");
    }
}
