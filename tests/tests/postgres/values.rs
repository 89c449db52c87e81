//! Values in and out.

use millrace_core::{
    ErrorKind::{Data, Syntax},
    Json,
    app::Access,
    ports::{BoundStep, BoundTransaction, CallRecord, Command, Parameter, Query, RecordedWrite},
    value::Value,
};
use millrace_tests::{
    database::{Database, query, text},
    postgres::Postgres,
};
use serde_json::json;

use super::Way;
use crate::contract::values::{
    a_value_means_what_it_would_mean_written_out as a_value_means, decimal, one, same, time,
    values_go_in_and_come_out_whole as values_go_in_and_come_out_whole_of,
};

for_each_way! {
    a_statement_takes_as_many_values_as_the_protocol
    a_value_means_what_it_would_mean_written_out
    arrays_of_types_that_only_the_server_knows_are_lists
    lists_follow_a_place_whose_type_changes
    settings_of_the_server_change_nothing
    text_that_is_not_utf8_is_refused_by_the_server
    texts_that_postgres_cannot_hold_are_refused
    values_go_in_and_come_out_whole
}

/// More values than a list of columns may have, and the most that there can be; one more is
/// refused.
fn a_statement_takes_as_many_values_as_the_protocol(way: Way) {
    let site = way.site();
    let database = site.open();
    for count in [2_048, 65_535] {
        let places: Vec<String> = (1..=count).map(|place| format!("${place}")).collect();
        let statement = format!("SELECT pg_typeof(min(v))::text || ' ' || sum(v) FROM unnest(ARRAY[{}]) v", places.join(", "));
        let values: Vec<Value> = (1..=count).map(Value::I64).collect();
        assert_eq!(one(&database, &statement, &values), text(&format!("integer {}", count * (count + 1) / 2)));
    }
    let error = database.run("SELECT 1", &vec![Value::I64(1); 65_536]).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Syntax, "the statement or its values are larger than PostgreSQL accepts"));
}

/// Every value, bound, stored in a column of its type and read back.
fn values_go_in_and_come_out_whole(way: Way) {
    let site = way.site();
    let database = site.open();
    let every_byte: Vec<u8> = (0..=255).collect();
    let every_character: String = (1..0x250).filter_map(char::from_u32).collect();
    let cases = [
        same("bool", Value::Bool(true)),
        same("bool", Value::Bool(false)),
        same("smallint", Value::I64(-32768)),
        same("int", Value::I64(7)),
        same("bigint", Value::I64((1 << 53) + 1)),
        same("bigint", Value::I64(i64::MIN)),
        ("numeric", Value::U64(u64::MAX), decimal("18446744073709551615")),
        ("numeric", Value::I64(5), decimal("5")),
        ("text", Value::I64(5), text("5")),
        same("numeric", decimal("1.50")),
        same("numeric", decimal("-12345678901234567890.123456789012345678901234567890")),
        ("numeric", Value::F64(0.1), decimal("0.1")),
        ("numeric", Value::F64(f64::NAN), decimal("NaN")),
        same("float8", Value::F64(0.1)),
        same("float8", Value::F64(1e300)),
        same("float8", Value::F64(5e-324)),
        same("float8", Value::F64(f64::INFINITY)),
        ("float4", Value::F64(0.1), Value::F64(0.1)),
        ("float8", Value::I64(3), Value::F64(3.0)),
        same("text", text("")),
        same("text", text("o'neil; -- \\ \t\r\n")),
        same("text", text(&every_character)),
        same("text", text("zażółć 🙂 👩‍👩‍👧 \u{202e}")),
        same("text", text("null")),
        same("varchar(3)", text("abc")),
        same("uuid", text("0a0b0c0d-0000-4000-8000-000000000001")),
        same("inet", text("10.0.0.1/24")),
        same("interval", text("1 day 02:03:04.5")),
        same("int4range", text("[1,5)")),
        same("point", text("(1,2)")),
        same("money", text("$1.50")),
        same("bytea", Value::Bytes(vec![])),
        same("bytea", Value::Bytes(every_byte)),
        same("date", time("2026-01-02")),
        same("date", time("infinity")),
        same("time", time("03:04:05.123456")),
        same("timestamp", time("2026-01-02T03:04:05.123456")),
        same("timestamptz", time("2026-01-02T03:04:05.123456Z")),
        ("timestamptz", time("2026-01-02T05:04:05+02:00"), time("2026-01-02T03:04:05Z")),
        ("timestamptz", text("2026-01-02 03:04:05Z"), time("2026-01-02T03:04:05Z")),
        same("jsonb", Value::Json(json!({"a": [1, 2.5, "x\"y", null]}))),
        ("json", Value::Json(json!({"b": 1, "a": 2})), Value::Json(json!({"b": 1, "a": 2}))),
        same("jsonb", Value::Json(Json::from("a\"b"))),
        same("jsonb", Value::Json(json!(null))),
        ("text", Value::Json(json!([1])), text("[1]")),
        same("int[]", Value::Array(vec![Value::I64(1), Value::Null])),
        same("int[]", Value::Array(vec![])),
        same("bigint[]", Value::Array(vec![Value::I64((1 << 53) + 1)])),
        same("float8[]", Value::Array(vec![Value::F64(1.5), Value::F64(f64::NEG_INFINITY)])),
        same("numeric[]", Value::Array(vec![decimal("1.50")])),
        same("bool[]", Value::Array(vec![Value::Bool(true), Value::Bool(false)])),
        same("text[]", Value::Array(["", "NULL", "o'neil", "a\"b\\c", "{x,y}", " "].map(text).to_vec())),
        same("text[]", Value::Array(vec![Value::Array(vec![text("a")]), Value::Array(vec![text("b")])])),
        same("jsonb[]", Value::Array(vec![Value::Json(json!({"a": "{\"x\"}"})), Value::Null])),
        same("bytea[]", Value::Array(vec![Value::Bytes(vec![0, 255])])),
        same("timestamptz[]", Value::Array(vec![time("2026-01-02T03:04:05Z")])),
    ];
    for case in cases {
        // The RDS Data API returns no lists of lists.
        let has_lists = matches!(&case.1, Value::Array(values) if values.iter().any(|value| matches!(value, Value::Array(_))));
        if way == Way::RdsData && has_lists {
            continue;
        }
        // The RDS Data API is told the types of texts, which are kept for a minute: a value that
        // fits the one of before need not fail.
        let anew = (way == Way::RdsData).then(|| site.open());
        values_go_in_and_come_out_whole_of(anew.as_ref().unwrap_or(&database), [case], "$1", "'$1' <> ''");
    }
    assert!(matches!(one(&database, "SELECT 'NaN'::float8", &[]), Value::F64(nan) if nan.is_nan()));
}

/// Read alone, written and returned in a transaction, and a text that only looks like an array.
fn arrays_of_types_that_only_the_server_knows_are_lists(way: Way) {
    let site = way.site();
    let database = site.open();
    for statement in [
        "CREATE TYPE mood AS ENUM ('sad', 'ok', '{odd,one}')",
        "CREATE DOMAIN positive AS integer CHECK (VALUE > 0)",
        "CREATE TYPE pair AS (a integer, b text)",
        "CREATE TABLE moods (id integer PRIMARY KEY, many mood[], one mood)",
    ] {
        database.run(statement, &[]).unwrap();
    }
    let texts = |list: &[&str]| Value::Array(list.iter().map(|element| text(element)).collect());
    for (expression, expected) in [
        ("ARRAY['ok', 'sad', NULL]::mood[]", Value::Array(vec![text("ok"), text("sad"), Value::Null])),
        ("ARRAY[]::mood[]", texts(&[])),
        ("ARRAY['{odd,one}']::mood[]", texts(&["{odd,one}"])),
        ("'{odd,one}'::mood", text("{odd,one}")),
        ("ARRAY[(1, 'x,y')]::pair[]", texts(&["(1,\"x,y\")"])),
        ("ARRAY[int4range(1, 3)]", texts(&["[1,3)"])),
        ("ARRAY['1.5'::money]", texts(&["$1.50"])),
        ("ARRAY[point(1, 2)]", texts(&["(1,2)"])),
        ("ARRAY['(2,2),(0,0)'::box, '(3,3),(1,1)'::box]", texts(&["(2,2),(0,0)", "(3,3),(1,1)"])),
        ("ARRAY[B'101', B'0']", texts(&["101", "0"])),
        ("ARRAY['<a/>'::xml]", texts(&["<a/>"])),
        ("'{[1,3),[5,7)}'::int4multirange", text("{[1,3),[5,7)}")),
        ("ARRAY['{[1,3)}'::int4multirange]", texts(&["{[1,3)}"])),
        ("'{1,2,3}'::line", text("{1,2,3}")),
    ] {
        // The stand-in for the RDS Data API parts elements at commas.
        if way == Way::RdsData && expression.contains("box") {
            continue;
        }
        assert_eq!(one(&database, &format!("SELECT {expression}"), &[]), expected, "{expression}");
    }
    // Where the API gives no array, the numbers of a domain are numbers.
    if way != Way::RdsData {
        assert_eq!(one(&database, "SELECT ARRAY[1, 2]::positive[]", &[]), Value::Array(vec![Value::I64(1), Value::I64(2)]));
    }
    // On a connection that has not seen the type yet, a write is returned, too, and only once.
    let insert = "INSERT INTO moods VALUES ($1, $2, $3) RETURNING many";
    let values = [Value::I64(1), texts(&["ok", "sad"]), text("ok")];
    assert_eq!(one(&site.open(), insert, &values), texts(&["ok", "sad"]));
    let fresh = site.open();
    let steps = [
        step("first", "UPDATE moods SET one = 'sad' WHERE id = 1", &[]),
        step("second", "UPDATE moods SET many = many || '{ok}' RETURNING many, one", &[]),
    ];
    let transaction = BoundTransaction { steps: &steps, result: Some(1) };
    let written = Query { command: Command::Transaction(transaction), access: Access::Write, ..query("") };
    assert_eq!(fresh.run_with(&written).unwrap().rows, [[texts(&["ok", "sad", "ok"]), text("sad")]]);
}

fn step<'a>(name: &'a str, text: &'a str, values: &[Value]) -> BoundStep<'a> {
    let parameters = values.iter().cloned().map(Parameter::Value).collect();
    BoundStep { name, text: text.into(), parameters, access: Access::Write, expect: None }
}

/// The type of a column is changed under a server that knows what lists are in it: every call gets
/// its row, and no statement is carried out twice.
fn lists_follow_a_place_whose_type_changes(way: Way) {
    const PUT: &str = "INSERT INTO t VALUES ($1)";
    let site = way.site();
    let (database, owner) = (site.open(), site.owner());
    owner.run("CREATE TABLE t (v jsonb)", &[]).unwrap();
    owner.run("CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY, why text)", &[]).unwrap();
    let change = |kind: &str| drop(owner.run(&format!("ALTER TABLE t DROP COLUMN v, ADD COLUMN v {kind}"), &[]).unwrap());
    let count = |statement: &str| owner.rows(statement).remove(0).remove(0);
    let list = Value::Json(json!([1, 2]));
    let values = [list.clone()];
    let by_steps = || {
        let steps = [step("note", "INSERT INTO log (why) VALUES ($1)", &[text("step")]), step("put", PUT, &values)];
        database.run_with(&Query { command: Command::Transaction(BoundTransaction { steps: &steps, result: None }), ..query("") })
    };
    let by_record = |key: &str| {
        let asked = Query { command: Command::Statement { text: PUT, values: &values }, ..query(PUT) };
        database.write_once(&asked, CallRecord { key, now_s: 0, expires_s: 60 }).map(|write| matches!(write, RecordedWrite::Made(_)))
    };
    for (round, kind) in (1_i64..).zip(["jsonb", "int[]", "jsonb", "bigint[]", "json[]"]) {
        change(kind);
        assert_eq!(database.run(PUT, &values).map(|rows| rows.affected), Ok(1), "{kind}");
        change(if kind == "jsonb" { "int[]" } else { "jsonb" });
        assert_eq!(by_steps().map(|rows| rows.rows), Ok(Vec::new()), "{kind}");
        change(kind);
        assert_eq!(by_record(&format!("k{round}")), Ok(true), "{kind}");
        assert_eq!(by_record(&format!("k{round}")), Ok(false), "{kind}");
        assert_eq!((count("SELECT count(*) FROM t"), count("SELECT count(*) FROM log")), (Value::I64(3 * round), Value::I64(round)));
        let found = owner.rows("SELECT v FROM t WHERE v IS NOT NULL").remove(0).remove(0);
        let expected = match kind {
            "int[]" | "bigint[]" => Value::Array(vec![Value::I64(1), Value::I64(2)]),
            "json[]" => Value::Array(vec![Value::Json(json!(1)), Value::Json(json!(2))]),
            _ => list.clone(),
        };
        assert_eq!(found, expected, "{kind}");
    }
    // Within an array, a list is a dimension, of which there are not that many.
    change("int[]");
    let deep = Value::Json(json!([[[[[[[1]]]]]]]));
    assert_eq!(database.run(PUT, std::slice::from_ref(&list)).map(|rows| rows.affected), Ok(1));
    let refused = database.run(PUT, std::slice::from_ref(&deep)).unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("dimensions")), (Data, true), "{refused:?}");
    assert_eq!(database.run(PUT, std::slice::from_ref(&list)).map(|rows| rows.affected), Ok(1));
    change("jsonb");
    assert_eq!(database.run(PUT, std::slice::from_ref(&deep)).map(|rows| rows.affected), Ok(1));
    // What is wrong with a value is told as ever, each time.
    change("uuid[]");
    let ok = Value::Json(json!(["0a0b0c0d-0000-4000-8000-000000000001"]));
    assert_eq!(database.run(PUT, std::slice::from_ref(&ok)).map(|rows| rows.affected), Ok(1));
    for _ in 0..3 {
        let error = database.run(PUT, &values).unwrap_err();
        let expected = "PostgreSQL refused a value or the result of a computation: a text does not have the form that its type requires, such as a number, a UUID, JSON or an array";
        assert_eq!((error.kind, error.message.as_str()), (Data, expected));
    }
}

/// What has run is not repeated, whatever its lists are by now: a procedure commits as it likes.
#[test]
fn a_procedure_that_failed_behind_its_commit_is_not_called_again() {
    let site = Way::Postgres.site();
    let (database, owner) = (site.open(), site.open());
    owner.run("CREATE TABLE log (v text)", &[]).unwrap();
    let procedure = |kind: &str| {
        format!(
            "CREATE PROCEDURE note(list {kind}, wrong int) LANGUAGE plpgsql AS \
             $$ BEGIN INSERT INTO log VALUES (list::text); COMMIT; PERFORM 1 / wrong; END $$"
        )
    };
    let note =
        |wrong: i64| database.run("CALL note($1, $2)", &[Value::Json(json!([1])), Value::I64(wrong)]).map(drop).map_err(|error| error.kind);
    owner.run(&procedure("int[]"), &[]).unwrap();
    assert_eq!(note(1), Ok(()));
    owner.run("DROP PROCEDURE note", &[]).unwrap();
    owner.run(&procedure("text"), &[]).unwrap();
    assert_eq!(note(0), Err(Data));
    assert_eq!(owner.rows("SELECT count(*) FROM log"), [[Value::I64(2)]], "once for each call");
}

fn a_value_means_what_it_would_mean_written_out(way: Way) {
    let site = way.site();
    let database = site.open();
    let list = |values: &[i64]| Value::Array(values.iter().copied().map(Value::I64).collect());
    let cases = vec![
        ("SELECT $1", vec![text("x")], text("x")),
        ("SELECT $1", vec![Value::I64(7)], Value::I64(7)),
        ("SELECT $1", vec![Value::I64(1 << 40)], Value::I64(1 << 40)),
        ("SELECT $1", vec![Value::Bool(true)], Value::Bool(true)),
        ("SELECT $1", vec![Value::Null], Value::Null),
        ("SELECT pg_typeof($1)::text", vec![Value::I64(7)], text("integer")),
        ("SELECT pg_typeof($1)::text", vec![Value::F64(1.5)], text("numeric")),
        ("SELECT $1 + 1", vec![Value::I64(7)], Value::I64(8)),
        ("SELECT round($1, 1)", vec![Value::F64(1.25)], decimal("1.3")),
        ("SELECT sqrt($1::float8)", vec![Value::I64(9)], Value::F64(3.0)),
        ("SELECT left('abc', $1)", vec![Value::I64(2)], text("ab")),
        ("SELECT make_date($1, $2, $3)", vec![Value::I64(2026), Value::I64(1), Value::I64(2)], time("2026-01-02")),
        ("SELECT date '2026-01-01' + $1", vec![Value::I64(1)], time("2026-01-02")),
        ("SELECT CAST($1 AS interval) + date '2026-01-01'", vec![text("1 day")], time("2026-01-02T00:00:00")),
        ("SELECT 5 = ANY($1)", vec![list(&[1, 5])], Value::Bool(true)),
        ("SELECT 'b' = ANY($1)", vec![Value::Array(vec![text("a"), text("b")])], Value::Bool(true)),
        ("SELECT 5::bigint = ANY($1)", vec![list(&[])], Value::Bool(false)),
        ("SELECT sum(v) FROM unnest(CAST($1 AS bigint[])) v", vec![list(&[1, 5])], decimal("6")),
        ("SELECT '0a0b0c0d-0000-4000-8000-000000000001'::uuid = $1", vec![text("0A0B0C0D-0000-4000-8000-000000000001")], Value::Bool(true)),
        ("SELECT jsonb '{\"a\": 1, \"b\": 2}' @> $1", vec![Value::Json(json!({"a": 1}))], Value::Bool(true)),
        ("SELECT count(*) FROM json_array_elements($1)", vec![Value::Json(json!([1, 2]))], Value::I64(2)),
        ("SELECT count(*) FROM jsonb_array_elements($1)", vec![Value::Json(json!([1, 2]))], Value::I64(2)),
        ("SELECT v FROM (VALUES (1), (2)) a (v) ORDER BY v LIMIT $1 OFFSET $2", vec![Value::I64(1), Value::I64(1)], Value::I64(2)),
        ("SELECT array_to_string($1::text[], '|')", vec![Value::Array(vec![text("a,b"), text("\"")])], text("a,b|\"")),
    ];
    a_value_means(&database, cases);
}

fn texts_that_postgres_cannot_hold_are_refused(way: Way) {
    let error = way.site().open().run("SELECT $1", &[text("a\0b")]).unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            millrace_core::ErrorKind::Data,
            "PostgreSQL refused a value or the result of a computation: a text has a NUL character, or another that the database cannot store"
        )
    );
}

fn text_that_is_not_utf8_is_refused_by_the_server(way: Way) {
    let server = Postgres::start(&[]);
    millrace_tests::postgres::psql(
        &server.url("postgres"),
        "CREATE DATABASE raw ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0;\n\\c raw\nCREATE TABLE t (v text);\nSET client_encoding = 'SQL_ASCII';\nINSERT INTO t VALUES (E'a\\xff');\n",
    );
    let raw = Database::open(way.settings_of(&server, &server.url("raw"), &[]));
    assert_eq!(raw.error("SELECT v FROM t").kind, millrace_core::ErrorKind::Data);
    assert_eq!(raw.rows("SELECT v::bytea FROM t"), [[Value::Bytes(vec![b'a', 0xff])]]);
}

fn settings_of_the_server_change_nothing(way: Way) {
    let server =
        Postgres::start(&["bytea_output = 'escape'", "datestyle = 'german'", "timezone = 'Asia/Kolkata'", "client_encoding = 'LATIN1'"]);
    let database = way.open(&server);
    assert_eq!(one(&database, "SELECT $1", &[Value::Bytes(vec![0, b'\\', 0xff, b'a'])]), Value::Bytes(vec![0, b'\\', 0xff, b'a']));
    assert_eq!(one(&database, "SELECT $1::timestamptz", &[text("2026-01-02T03:04:05Z")]), time("2026-01-02T03:04:05Z"));
    assert_eq!(one(&database, "SELECT '🙂'", &[]), text("🙂"));
    // The API has no settings of a connection.
    if way == Way::RdsData {
        return;
    }
    let zoned = Database::open(way.settings(&server, &[("timezone", "Asia/Kolkata"), ("application_name", "shop")]));
    assert_eq!(one(&zoned, "SELECT '2026-01-02T03:04:05Z'::timestamptz", &[]), time("2026-01-02T08:34:05+05:30"));
    assert_eq!(one(&zoned, "SELECT current_setting('application_name')", &[]), text("shop"));
}
