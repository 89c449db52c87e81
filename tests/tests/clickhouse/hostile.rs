//! Hostile values through every form of placeholder into ClickHouse's engine: each comes back to
//! the byte, in one row, and nothing else happens.

use millrace_core::{Json, value::Value};
use millrace_tests::{
    clickhouse::{self, open},
    database::{runtime, text as value_of},
    shown::shown,
};
use serde_json::json;

use crate::in_process::{call, endpoint, hostile_values, in_sample, text};

const INPUTS: &str = "inputs:\n  s: { type: string }\n  o: { type: string, optional: true }\n  list: { type: array, items: { type: string } }\n  \
                      docs: { type: array, items: { type: object } }\n  doc: { type: object }\n  n: { type: int, default: 1 }\n  \
                      by: { type: string, enum: [v, w], default: v }\n  dir: { type: string, enum: [ASC, DESC], default: ASC }\n";

/// The tools of an app, their statements, and what becomes of a value: `<>`.
const FORMS: [(&str, &str, &str); 30] = [
    ("bare", "SELECT {{ inputs.s }} AS v", "<>"),
    ("quoted", "SELECT '{{ inputs.s }}' AS v", "<>"),
    ("optional", "SELECT {{ inputs.o }} AS v", "<>"),
    ("composed-start", "SELECT '{{ inputs.s }}z' AS v", "<>z"),
    ("composed-end", "SELECT 'a{{ inputs.s }}' AS v", "a<>"),
    ("composed-middle", "SELECT 'it''s %{{ inputs.s }}% \"' AS v", "it's %<>% \""),
    ("composed-twice", "SELECT '{{ inputs.s }}|{{ inputs.s }}' AS v", "<>|<>"),
    ("composed-escapes", "SELECT '\\\\{{ inputs.s }}\\n\\d' AS v", "\\<>\n\\d"),
    ("argument", "SELECT coalesce(NULL, {{ inputs.s }}) AS v", "<>"),
    ("concat", "SELECT concat({{ inputs.s }}, '') AS v", "<>"),
    ("operator", "SELECT {{ inputs.s }} || '' AS v", "<>"),
    ("case", "SELECT CASE WHEN {{ inputs.s }} = '{{ inputs.s }}' THEN {{ inputs.s }} ELSE 'different' END AS v", "<>"),
    ("ternary", "SELECT {{ inputs.n }} = 1 ? {{ inputs.s }} : 'different' AS v", "<>"),
    ("cast", "SELECT CAST({{ inputs.s }} AS String) AS v", "<>"),
    ("double-colon", "SELECT {{ inputs.s }}::String AS v", "<>"),
    ("commented", "SELECT /* it's {{ not }} /* a */ value */ {{ inputs.s }} AS v # 'end", "<>"),
    ("compound", "SELECT {{ inputs.s }} AS v UNION DISTINCT SELECT {{ inputs.s }}", "<>"),
    ("subquery", "SELECT v FROM (SELECT number, {{ inputs.s }} AS v FROM numbers(3)) WHERE number = 1", "<>"),
    ("with", "WITH {{ inputs.s }} AS x SELECT x AS v", "<>"),
    ("in-list", "SELECT v FROM (SELECT {{ inputs.s }} AS v) WHERE v IN ({{ inputs.list }})", "<>"),
    ("not-in-list", "SELECT '{{ inputs.s }}!' AS v WHERE v NOT IN ({{ inputs.list }})", "<>!"),
    ("array", "SELECT arrayJoin(arrayDistinct(arrayFilter(x -> x = {{ inputs.s }}, {{ inputs.list }}))) AS v", "<>"),
    ("has", "SELECT {{ inputs.s }} AS v WHERE has({{ inputs.list }}, v)", "<>"),
    ("document", "SELECT JSONExtractString({{ inputs.doc }}, 's') AS v", "<>"),
    ("documents", "SELECT JSONExtractString({{ inputs.docs }}[1], 's') AS v", "<>"),
    ("limited", "SELECT {{ inputs.s }} AS v LIMIT {{ inputs.n }}", "<>"),
    ("sorted", "SELECT {{ inputs.s }} AS v, 1 AS w FROM numbers(1) ORDER BY {{ inputs.by | ident }} {{ inputs.dir | keyword }}", "<>"),
    ("like", "SELECT v FROM (SELECT {{ inputs.s }} AS v) WHERE concat('<', v, '>') LIKE '<%>'", "<>"),
    ("insert", "INSERT INTO kept (s) VALUES ({{ inputs.s }})", ""),
    ("insert-select", "INSERT INTO kept (s) SELECT '{{ inputs.s }}'", ""),
];

/// Of so many pairs of a form and a value one is tried, unless everything is: the engine takes 60
/// ms for each.
const EACH: usize = 15;

#[test]
fn every_value_comes_back_through_every_form() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    database.run("CREATE TABLE kept (s String, at DateTime64(9) DEFAULT now64(9)) ENGINE = MergeTree ORDER BY at", &[]).unwrap();
    database.run("CREATE TABLE canary (id Int64, s String) ENGINE = MergeTree ORDER BY id", &[]).unwrap();
    database.run("INSERT INTO canary VALUES (1, 'alive'), (2, 'and well')", &[]).unwrap();
    let adapter = format!("connector: clickhouse\nconnection_string: {}\n", clickhouse::url(&server));
    let tools: Vec<_> = FORMS.iter().map(|(name, statement, _)| (*name, *statement, INPUTS)).collect();
    let (endpoint, _folder) = endpoint(&adapter, &tools);
    let (values, mut written) = (hostile_values(), Vec::new());
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for (place, (tool, _, form)) in FORMS.into_iter().enumerate() {
            for value in in_sample(&values, place, EACH) {
                let arguments = json!({
                    "s": value, "o": value, "list": ["other", value, "'", "{}", "NULL"], "doc": {"s": value}, "docs": [{"s": value}, {}],
                });
                let result = call(&endpoint, tool, arguments).await;
                let expected = match form {
                    "" => json!({ "affected_rows": 1 }),
                    "<>" if tool == "sorted" => json!([{ "v": value, "w": 1 }]),
                    form => json!([{ "v": form.replace("<>", value) }]),
                };
                let found: Json = serde_json::from_str(text(&result)).unwrap_or_default();
                if form.is_empty() {
                    written.push(vec![value_of(value)]);
                }
                assert_eq!((found, result.is_error), (shown(expected), false), "{tool} with {value:?}: {}", text(&result));
            }
        }
    });
    assert_eq!(
        database.rows("SELECT id, s FROM canary ORDER BY id"),
        [[Value::I64(1), value_of("alive")], [Value::I64(2), value_of("and well")],]
    );
    assert_eq!(database.rows("SELECT count() FROM system.tables WHERE database = currentDatabase()"), [[Value::I64(2)]]);
    let kept = database.rows("SELECT s FROM kept ORDER BY at");
    assert_eq!(kept, written, "each insert kept its value");
}

#[test]
fn bytes_are_exact() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    let every: Vec<u8> = (0..=255).collect();
    for bytes in [every.clone(), vec![0xff], vec![0], b"\xc3\x28".to_vec(), [every.as_slice(), b"--x--\r\n"].concat()] {
        let values = [Value::Bytes(bytes.clone())];
        let rows = database.run("SELECT {p1:String} AS v, hex({p1:String}) AS h", &values).unwrap().rows;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let back = String::from_utf8(bytes.clone()).map_or(Value::Bytes(bytes), Value::Text);
        assert_eq!(rows, [[back, value_of(&hex)]]);
    }
}
