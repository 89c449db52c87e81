//! Tools on PostgREST, from the app's files to the answer.

use millrace_core::{
    ErrorKind::{self, Configuration, Constraint, Data, Denied, Syntax, TooLarge},
    Json,
    app::Access,
    ports::Query,
    value::Value,
};
use millrace_tests::{
    database::{Database, query, runtime},
    postgrest::{EXPIRED, TOKEN, start},
};
use serde_json::json;

use super::support::{self, run, shop};
use crate::in_process::{call, endpoint_in, endpoint_of, text};
use millrace_tests::files::write;

const SQL: &str = "\
CREATE TABLE authors (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE books (id int8 PRIMARY KEY, title text, author_id int REFERENCES authors, price numeric CHECK (price >= 0), tags text[], data jsonb, \
  flag boolean, \"order\" text, years int4range, at timestamptz, b bytea, f float8);
INSERT INTO authors VALUES (1, 'Ada'), (2, 'Grace');
INSERT INTO books (id, title, author_id, price, tags, data, flag, \"order\", years, at, b, f) VALUES
  (1, 'One', 1, 1.50, '{a,b}', '{\"n\": 9007199254740993, \"d\": 0.10}', true, 'first', '[1990,2000)', '2026-01-02T03:04:05.123456Z', '\\xdeadbeef', 0.1),
  (2, '', 1, 12345678901234567890.10, '{}', '[1, \"x\"]', false, 'last', NULL, NULL, '\\x', 'NaN'),
  (9007199254740993, 'null', 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1e300);
CREATE TABLE counted (id int PRIMARY KEY, n int);
INSERT INTO counted SELECT n, n FROM generate_series(1, 50) n;
CREATE FUNCTION add(a int8, b int8 DEFAULT 1) RETURNS int8 LANGUAGE sql STABLE AS 'SELECT a + b';
CREATE FUNCTION written() RETURNS int LANGUAGE sql VOLATILE AS 'UPDATE counted SET n = n RETURNING n';
CREATE FUNCTION nothing() RETURNS void LANGUAGE sql VOLATILE AS '';
CREATE FUNCTION pairs(n int) RETURNS TABLE (a int, b text) LANGUAGE sql STABLE AS 'SELECT i, i::text FROM generate_series(1, n) i';
CREATE FUNCTION names() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT name FROM authors ORDER BY id';
CREATE FUNCTION typed(j json) RETURNS text LANGUAGE sql STABLE AS 'SELECT j::text';
CREATE FUNCTION refused(s text) RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no %'', s; END';
CREATE FUNCTION paid() RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE SQLSTATE ''PT402'' USING message = ''hunter2''; END';
CREATE TABLE secrets (s text);
CREATE SCHEMA api;
CREATE TABLE api.items (id int);
INSERT INTO api.items VALUES (7);
GRANT USAGE ON SCHEMA api TO anon;
GRANT SELECT ON api.items TO anon;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM public;
";

#[test]
fn requests_have_their_answers() {
    let shop = shop(SQL, &[("PGRST_DB_SCHEMAS", "public,api"), ("PGRST_DB_AGGREGATES_ENABLED", "true")]);
    let database = shop.postgrest.open();
    database.ping().unwrap();
    for (request, expected) in [
        (
            json!({"from": "books", "where": {"id": {"eq": 1}}}),
            r#"[{"id":1,"title":"One","author_id":1,"price":1.5,"tags":["a","b"],"data":{"d":0.1,"n":"9007199254740993"},"flag":true,"order":"first","years":"[1990,2000)","at":"2026-01-02T03:04:05.123456+00:00","b":"\\xdeadbeef","f":0.1}]"#,
        ),
        (
            json!({"from": "books", "select": "id,price,f,data", "where": {"id": {"gt": 1}}, "order": "id"}),
            r#"[{"id":2,"price":"12345678901234567890.10","f":"NaN","data":[1,"x"]},{"id":"9007199254740993","price":null,"f":1e+300,"data":null}]"#,
        ),
        (
            json!({"from": "books", "select": ["title", "writer:authors(name)"], "where": {"writer.name": {"eq": "Ada"}}, "order": ["id.desc"]}),
            r#"[{"title":"null","writer":null},{"title":"","writer":{"name":"Ada"}},{"title":"One","writer":{"name":"Ada"}}]"#,
        ),
        (
            json!({"from": "authors", "select": "name,books(id)", "where": {"id": {"eq": 2}}}),
            r#"[{"name":"Grace","books":[{"id":"9007199254740993"}]}]"#,
        ),
        (json!({"from": "books", "select": "id", "where": {"title": {"eq": "null"}}}), r#"[{"id":"9007199254740993"}]"#),
        (json!({"from": "books", "select": "id", "where": {"title": {"in": [""]}}}), r#"[{"id":2}]"#),
        (json!({"from": "books", "select": "id", "where": {"title": {"not": {"in": ["", "One"]}}}}), r#"[{"id":"9007199254740993"}]"#),
        (json!({"from": "books", "select": "id", "where": {"price": {"is": null}}}), r#"[{"id":"9007199254740993"}]"#),
        (json!({"from": "books", "select": "id", "where": {"flag": {"is": true}}}), r#"[{"id":1}]"#),
        (json!({"from": "books", "select": "id", "where": {"flag": {"is": "unknown"}}}), r#"[{"id":"9007199254740993"}]"#),
        (json!({"from": "books", "select": "id", "where": {"tags": {"cs": ["a"]}}}), r#"[{"id":1}]"#),
        (json!({"from": "books", "select": "id", "where": {"tags": {"cd": ["a", "b", "c"]}}, "order": "id"}), r#"[{"id":1},{"id":2}]"#),
        (json!({"from": "books", "select": "id", "where": {"years": {"ov": "[1995,1996]"}}}), r#"[{"id":1}]"#),
        (json!({"from": "books", "select": "id", "where": {"years": {"sr": "(1980,1985)"}}}), r#"[{"id":1}]"#),
        (json!({"from": "books", "select": "id", "where": {"data": {"cs": [1]}}}), "Data"),
        // The elements of a list are an array of PostgreSQL; an object is JSON.
        (json!({"from": "books", "select": "id", "where": {"data": {"cs": {"d": 0.1}}}}), r#"[{"id":1}]"#),
        (json!({"from": "books", "select": "id", "where": {"data->>n": {"eq": "9007199254740993"}}}), r#"[{"id":1}]"#),
        // A column that is called as a parameter is.
        (json!({"from": "books", "select": "id", "where": {"order": {"eq": "last"}}}), r#"[{"id":2}]"#),
        (json!({"from": "books", "select": "title", "order": ["order.desc.nullslast"], "limit": 1, "offset": 1}), r#"[{"title":"One"}]"#),
        (
            json!({"from": "books", "select": ["author_id", "count()", "sum:price.sum()"], "where": {"id": {"lt": 2}}}),
            r#"[{"author_id":1,"count":1,"sum":1.5}]"#,
        ),
        (json!({"from": "books", "select": "id", "where": {"id": {"eq": 1}}, "single": true}), r#"[{"id":1}]"#),
        (json!({"from": "books", "where": {"id": {"lt": 0}}}), "[]"),
        (json!({"count": "books"}), r#"[{"count":3}]"#),
        (json!({"count": "books", "where": {"author_id": {"eq": 1}}}), r#"[{"count":2}]"#),
        (json!({"rpc": "add", "arguments": {"a": 9_007_199_254_740_992_i64}}), r#"[{"value":"9007199254740993"}]"#),
        (json!({"rpc": "add", "arguments": {"a": 1, "b": 2}, "get": true}), r#"[{"value":3}]"#),
        (json!({"rpc": "nothing"}), r#"[{"value":null}]"#),
        (json!({"rpc": "names"}), r#"[{"value":"Ada"},{"value":"Grace"}]"#),
        (
            json!({"rpc": "pairs", "arguments": {"n": 3}, "select": "a,b", "where": {"a": {"gt": 1}}, "order": "a.desc", "limit": 1}),
            r#"[{"a":3,"b":"3"}]"#,
        ),
        (json!({"rpc": "written"}), r#"[{"value":1}]"#),
    ] {
        match run(&database, &request) {
            Ok(rows) => assert_eq!(serde_json::to_string(&rows.json()).unwrap(), expected, "{request}"),
            Err(error) => assert_eq!(format!("{:?}", error.kind), expected, "{request}: {error:?}"),
        }
    }
    // Numbers arrive as they are.
    let typed = |value: Value| database.run(r#"{"rpc": "typed", "arguments": {"j": ["$1"]}}"#, &[value]).unwrap().rows[0][0].clone();
    for (value, expected) in [
        (Value::I64(i64::MIN), "[-9223372036854775808]"),
        (Value::U64(u64::MAX), "[18446744073709551615]"),
        (Value::Decimal("12345678901234567890.10".into()), "[12345678901234567890.10]"),
        (Value::F64(0.1), "[0.1]"),
        (Value::F64(f64::NAN), r#"["NaN"]"#),
        (Value::Bytes(vec![0, 255]), r#"["\\x00ff"]"#),
        (Value::Timestamp("2026-01-02T03:04:05.123456Z".into()), r#"["2026-01-02T03:04:05.123456Z"]"#),
        (Value::Array(vec![Value::Null, Value::Bool(true)]), "[[null,true]]"),
    ] {
        assert_eq!(typed(value), Value::Text(expected.to_owned()));
    }
    let by_id =
        |value: Value| database.run(r#"{"from": "books", "select": "title", "where": {"id": {"eq": "$1"}}}"#, &[value]).unwrap().rows;
    assert_eq!(by_id(Value::I64(9_007_199_254_740_993)), [[Value::Text("null".into())]]);
    assert_eq!(by_id(Value::I64(9_007_199_254_740_992)), Vec::<Vec<Value>>::new());

    let api = Database::open(shop.postgrest.connection(&[("schema", "api")]));
    assert_eq!(support::json(&api, &json!({"from": "items"})), r#"[{"id":7}]"#);
    let unknown = Database::open(shop.postgrest.connection(&[("schema", "hunter2")]));
    let error = run(&unknown, &json!({"from": "items"})).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Configuration, "PostgREST does not serve the `schema` of the adapter"));
}

#[test]
fn writes_say_what_they_did() {
    let shop = shop(SQL, &[]);
    let database = shop.postgrest.open();
    for (request, expected) in [
        (json!({"insert": "authors", "rows": {"id": 3, "name": "Edith"}}), r#"{"affected_rows":1}"#),
        (
            json!({"insert": "authors", "rows": [{"id": 4, "name": "Four"}, {"id": 5, "name": "Five"}], "returning": "id"}),
            r#"[{"id":4},{"id":5}]"#,
        ),
        (json!({"upsert": "authors", "rows": {"id": 3, "name": "E."}, "returning": "*"}), r#"[{"id":3,"name":"E."}]"#),
        (
            json!({"upsert": "authors", "rows": [{"id": 3, "name": "no"}, {"id": 6, "name": "Six"}], "ignore_duplicates": true}),
            r#"{"affected_rows":1}"#,
        ),
        (json!({"update": "authors", "set": {"name": "x"}, "where": {"id": {"gte": 4}}}), r#"{"affected_rows":3}"#),
        (json!({"update": "authors", "set": {"name": "x"}, "where": {"id": {"gte": 400}}}), r#"{"affected_rows":0}"#),
        (
            json!({"update": "authors", "set": {"name": "y"}, "where": {"id": {"eq": 4}}, "single": true, "returning": "name"}),
            r#"[{"name":"y"}]"#,
        ),
        (json!({"delete": "authors", "where": {"id": {"in": [5, 6]}}}), r#"{"affected_rows":2}"#),
        (json!({"delete": "authors", "where": {"id": {"in": [4]}}, "returning": ["name"]}), r#"[{"name":"y"}]"#),
        (json!({"from": "authors", "order": "id"}), r#"[{"id":1,"name":"Ada"},{"id":2,"name":"Grace"},{"id":3,"name":"E."}]"#),
    ] {
        assert_eq!(support::json(&database, &request), expected, "{request}");
    }
    // What a change is restricted by may be what it changes.
    for (request, expected) in [
        (json!({"update": "counted", "set": {"n": 51}, "where": {"n": {"eq": 50}}, "returning": "id"}), r#"[{"id":50}]"#),
        (
            json!({"update": "counted", "set": {"n": 50}, "where": {"n": {"not": {"in": ["1", "2"]}, "gt": 50}}, "returning": "id,n", "single": true}),
            r#"[{"id":50,"n":50}]"#,
        ),
        (
            json!({"update": "counted", "set": {"n": 51}, "where": {"and": [{"n": {"eq": 50}}, {"id": {"not": {"is": null}}}]}, "returning": "n"}),
            r#"[{"n":51}]"#,
        ),
        (json!({"update": "counted", "set": {"n": 50}, "where": {"or": [{"n": {"eq": 51}}, {"id": {"lt": 0}}]}}), r#"{"affected_rows":1}"#),
        (
            json!({"update": "counted", "set": {"n": 51}, "where": {"or": [{"n": {"eq": 50}}, {"id": {"lt": 0}}]}, "single": true}),
            r#"{"affected_rows":1}"#,
        ),
        (json!({"update": "counted", "set": {"n": 50}, "where": {"n": {"not": {"in": []}, "eq": 51}}, "returning": "n"}), r#"[{"n":50}]"#),
        (json!({"update": "books", "set": {"order": "1st"}, "where": {"order": {"eq": "first"}}}), r#"{"affected_rows":1}"#),
    ] {
        assert_eq!(support::json(&database, &request), expected, "{request}");
    }
    // PostgREST would look at these again, and leave out what it has changed.
    for condition in
        [json!({"or": [{"n": {"eq": 50}}, {"id": {"lt": 0}}]}), json!({"not": {"n": {"eq": 1}}}), json!({"n": {"not": {"gt": 1, "lt": 9}}})]
    {
        let error = run(&database, &json!({"update": "counted", "set": {"n": 1}, "where": condition, "returning": "n"})).unwrap_err();
        assert!(error.kind == Denied && error.message.contains("cannot restrict a request with `returning`"), "{error:?}");
    }
    // What must change one row changes none, or one.
    for request in [
        json!({"update": "authors", "set": {"name": "z"}, "where": {"id": {"gte": 1}}, "single": true}),
        json!({"update": "authors", "set": {"name": "z"}, "where": {"id": {"eq": 99}}, "single": true}),
        json!({"delete": "counted", "where": {"id": {"gte": 1}}, "single": true, "returning": "id"}),
    ] {
        let error = run(&database, &request).unwrap_err();
        assert!(error.kind == Constraint && error.message.ends_with("nothing was changed"), "{request}: {error:?}");
    }
    // A value that is null is nobody's, whatever is negated.
    let delete = |condition: Json| {
        let request = json!({"delete": "counted", "where": condition}).to_string();
        database.run(&request, &[Value::Null]).unwrap().affected
    };
    for condition in [
        json!({"n": {"eq": "$1"}}),
        json!({"n": {"neq": "$1"}}),
        json!({"n": {"not": {"eq": "$1"}}}),
        json!({"not": {"n": {"eq": "$1"}}}),
        json!({"not": {"or": [{"n": {"eq": "$1"}}]}}),
        json!({"not": {"and": [{"n": {"gt": "$1"}}, {"id": {"gt": 0}}]}}),
        json!({"n": {"in": "$1"}}),
        json!({"n": {"not": {"in": "$1"}}}),
        json!({"n": {"not": {"in": [1, "$1"]}}}),
        json!({"n": {"is": "$1"}}),
    ] {
        assert_eq!(delete(condition.clone()), 0, "{condition}");
    }
    assert_eq!(support::json(&database, &json!({"count": "counted"})), r#"[{"count":50}]"#);
    assert_eq!(support::json(&database, &json!({"from": "authors", "select": "name", "order": "id", "limit": 1})), r#"[{"name":"Ada"}]"#);
}

#[test]
fn errors_have_their_kinds_and_show_no_value() {
    let shop = shop(SQL, &[]);
    let postgres = shop.postgres.open();
    postgres.run("REVOKE ALL ON secrets FROM anon", &[]).unwrap();
    let database = shop.postgrest.open();
    let missing = "PostgreSQL does not understand the statement: a ";
    for (request, kind, expected) in [
        (
            json!({"insert": "authors", "rows": {"id": 1, "name": "hunter2"}}),
            Constraint,
            "a UNIQUE constraint refused the change: `authors_pkey`",
        ),
        (
            json!({"insert": "authors", "rows": {"id": 9, "name": null}}),
            Constraint,
            "a NOT NULL constraint refused the change: `authors.name`",
        ),
        (
            json!({"insert": "books", "rows": {"id": 9, "price": -1}}),
            Constraint,
            "a CHECK constraint refused the change: `books_price_check`",
        ),
        (
            json!({"insert": "books", "rows": {"id": 9, "author_id": 77}}),
            Constraint,
            "a FOREIGN KEY constraint refused the change: `books_author_id_fkey`",
        ),
        (json!({"from": "books", "where": {"id": {"eq": "hunter2"}}}), Data, "PostgreSQL refused a value"),
        (json!({"rpc": "refused", "arguments": {"s": "hunter2"}}), Constraint, "a function of the database refused the statement"),
        (json!({"rpc": "paid"}), Constraint, "a function of the database refused the request"),
        (json!({"from": "nosuch"}), Syntax, &format!("{missing}table is missing")),
        (json!({"from": "books", "select": "nosuch"}), Syntax, &format!("{missing}column is missing")),
        (
            json!({"from": "books", "select": "id,nosuch(id)"}),
            Syntax,
            "PostgREST does not understand the request: a table of `select` is not related to the table",
        ),
        (json!({"insert": "books", "rows": {"nosuch": 1}}), Syntax, "PostgREST does not understand the request: a column is missing"),
        (json!({"rpc": "nosuch"}), Syntax, "PostgREST does not understand the request: no function has this name"),
        (json!({"from": "books", "select": "count()"}), Syntax, "PostgREST does not understand the request: the server does not allow"),
        (json!({"from": "secrets"}), Denied, "the user of the adapter may not do what the statement does"),
        (json!({"rpc": "written", "get": true}), Denied, "the function writes, and with `get` it may only read"),
        (json!({"from": "books", "single": true}), Constraint, "the request must find exactly 1 row"),
        (json!({"from": "books", "where": {"tags": {"eq": "hunter2"}}}), Data, "PostgreSQL refused a value"),
        (json!({"drop": "books"}), Denied, "`drop` is not a request that a tool can send"),
    ] {
        let error = run(&database, &request).unwrap_err();
        assert!(error.kind == kind && error.message.starts_with(expected) && !error.message.contains("hunter2"), "{request}: {error:?}");
    }
    let read_only = Database::open(millrace_core::ports::Connection { read_only: true, ..shop.postgrest.connection(&[]) });
    for request in [json!({"delete": "books", "where": {"id": {"eq": 1}}}), json!({"rpc": "add", "arguments": {"a": 1}})] {
        let error = read_only.run_with(&Query { access: Access::Read, ..query(&request.to_string()) }).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Denied, "the request writes, and the adapter is read-only"));
    }
    assert!(read_only.run_with(&Query { access: Access::Read, ..query(r#"{"count": "books"}"#) }).is_ok());
    // Tokens.
    let with = |options: &[(&str, &str)]| Database::open(shop.postgrest.connection(options));
    assert_eq!(support::json(&with(&[("token", TOKEN)]), &json!({"from": "secrets"})), "[]");
    assert_eq!(support::json(&with(&[("api_key", TOKEN)]), &json!({"from": "secrets"})), "[]", "as Supabase's client sends it");
    for token in [EXPIRED, "hunter2", &TOKEN[..TOKEN.len() - 2]] {
        let database = with(&[("api_key", "k"), ("token", token)]);
        let expected = "PostgREST does not accept the `token` of the adapter: it has expired, or is not for this server";
        for error in [run(&database, &json!({"from": "books"})).unwrap_err(), database.ping().unwrap_err()] {
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Credentials, expected));
            assert!(!error.source.as_deref().unwrap_or_default().contains(token), "{token}");
        }
    }
}

#[test]
fn results_are_held_to_the_limits() {
    let shop = shop(SQL, &[]);
    let database = shop.postgrest.open();
    let with = |request: &Json, max_rows, max_bytes| database.run_with(&Query { max_rows, max_bytes, ..query(&request.to_string()) });
    let all = json!({"from": "counted", "order": "id"});
    assert_eq!(with(&all, 50, 1 << 20).unwrap().rows.len(), 50);
    let few = with(&all, 49, 1 << 20).unwrap_err();
    assert_eq!((few.kind, few.message.as_str()), (TooLarge, "the result has more than `max_rows`, 49 rows"));
    assert_eq!(with(&json!({"from": "counted", "limit": 10}), 10, 1 << 20).unwrap().rows.len(), 10);
    assert_eq!(with(&all, 50, 100).unwrap_err().kind, TooLarge);
    let changed =
        with(&json!({"update": "counted", "set": {"n": 1}, "where": {"id": {"gt": 0}}, "returning": "n"}), 49, 1 << 20).unwrap_err();
    assert_eq!(
        (changed.kind, changed.message.as_str()),
        (TooLarge, "the result has more than `max_rows`, 49 rows; the statement took effect")
    );
    assert_eq!(with(&json!({"rpc": "pairs", "arguments": {"n": 51}}), 50, 1 << 20).unwrap_err().kind, TooLarge);

    // A server that sends no more than 20 rows, and does not say so.
    let limited = start(&shop.postgres.url("postgres"), &[("PGRST_DB_MAX_ROWS", "20")]);
    let told = Database::open(limited.connection(&[("server_max_rows", "20")]));
    for request in [all.clone(), json!({"from": "counted", "limit": 21}), json!({"rpc": "pairs", "arguments": {"n": 30}})] {
        let error = run(&told, &request).unwrap_err();
        assert!(
            error.kind == TooLarge && error.message.starts_with("the result has as many rows as the server sends at most, 20"),
            "{error:?}"
        );
    }
    for (request, count) in [
        (json!({"from": "counted", "limit": 20}), 20),
        (json!({"from": "counted", "where": {"id": {"lt": 20}}}), 19),
        (json!({"from": "counted", "limit": 20, "offset": 40}), 10),
    ] {
        assert_eq!(run(&told, &request).unwrap().rows.len(), count, "{request}");
    }
    assert_eq!(support::json(&told, &json!({"count": "counted"})), r#"[{"count":50}]"#);
}

#[test]
fn tools_and_scripts_have_the_same_rules() {
    let shop = shop(SQL, &[]);
    let adapter = format!("connector: postgrest\nconnection_string: {}\noptions: {{ api_key: \"{TOKEN}\" }}\n", shop.postgrest.url());
    let inputs = "inputs:\n  i: { type: int, optional: true }\n  b: { type: boolean, nullable: true, optional: true }\n  d: { type: datetime, optional: true }\n  \
                  list: { type: array, optional: true, items: { type: int } }\n  n: { type: int, min: 0, max: 9, default: 2 }\n  o: { type: object, optional: true }\n";
    let tools = [
        ("books", r#"{ from: books, select: [id, authors(name)], where: { id: { in: "{{ inputs.list }}" } }, order: id, limit: "{{ inputs.n }}" }"#.to_owned(), inputs),
        ("flagged", r#"{ from: books, select: id, where: { flag: { is: "{{ inputs.b }}" } }, order: id }"#.to_owned(), inputs),
        ("since", r#"{ from: books, select: id, where: { at: { gte: "{{ inputs.d }}" } } }"#.to_owned(), inputs),
        ("with", r#"{ from: books, select: id, where: { data: { cs: "{{ inputs.o }}" } } }"#.to_owned(), inputs),
        ("change", r#"{ update: books, set: "{{ inputs.o }}", columns: [title, data], where: { id: { eq: "{{ inputs.i }}" } }, returning: [title, price] }"#.to_owned(), inputs),
    ];
    let (_, folder) = endpoint_of(&adapter, &tools);
    let write = |file: &str, text: &str| write(folder.path(), &format!("app/tools/who/{file}"), text);
    write("config.yaml", "description: x\ninputs: { name: { type: json } }\n");
    write(
        "handler.ts",
        "export default async ({ inputs }, ctx) =>\n  await ctx.db('far').query('{\"from\": \"authors\", \"where\": {\"name\": {\"eq\": \"$1\"}, \"id\": {\"in\": [1, \"$2\"]}}}', [inputs.name, 2]);\n",
    );
    let endpoint = endpoint_in(folder.path());
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        let big = 9_007_199_254_740_991_i64;
        for (tool, given, expected) in [
            ("books", json!({"list": [1, 2, big]}), r#"[{"id":1,"authors":{"name":"Ada"}},{"id":2,"authors":{"name":"Ada"}}]"#),
            ("books", json!({"list": [1, 2], "n": 1}), r#"[{"id":1,"authors":{"name":"Ada"}}]"#),
            ("books", json!({"list": []}), "[]"),
            ("books", json!({}), "[]"),
            ("flagged", json!({"b": false}), r#"[{"id":2}]"#),
            // Null is null where the author writes `is`.
            ("flagged", json!({"b": null}), r#"[{"id":"9007199254740993"}]"#),
            ("since", json!({"d": "2026-01-02T03:04:05Z"}), r#"[{"id":1}]"#),
            ("since", json!({}), "[]"),
            ("with", json!({"o": {"d": 0.1}}), r#"[{"id":1}]"#),
            (
                "change",
                json!({"i": 2, "o": {"title": "Two", "price": 3, "data": {"$x": "y.z"}}}),
                r#"[{"title":"Two","price":"12345678901234567890.10"}]"#,
            ),
            ("change", json!({"o": {"title": "Two"}}), "[]"),
            ("who", json!({"name": "Ada"}), r#"[{"id":1,"name":"Ada"}]"#),
        ] {
            assert_eq!(text(&call(&endpoint, tool, given.clone()).await), expected, "{tool} {given}");
        }
        for (tool, given, expected) in [
            ("who", json!({"name": {"neq": "x"}}), "is an object or a list"),
            ("who", json!({"name": ["Ada"]}), "is an object or a list"),
            ("who", json!({"name": "A\0"}), "a NUL character"),
        ] {
            let refused = call(&endpoint, tool, given).await;
            assert!(refused.is_error && text(&refused).contains(expected), "{}", text(&refused));
        }
    });
}

#[test]
fn a_script_writes_names_out() {
    let shop = shop(SQL, &[]);
    let database = shop.postgrest.open();
    for (request, value) in [
        (r#"{"from": "$1"}"#, "authors"),
        (r#"{"from": "authors", "select": "$1"}"#, "*"),
        (r#"{"from": "authors", "order": ["$1"]}"#, "id"),
        (r#"{"from": "authors", "where": "$1"}"#, "x"),
        (r#"{"from": "authors", "where": {"id": "$1"}}"#, "1"),
        (r#"{"from": "authors", "where": {"or": "$1"}}"#, "x"),
        (r#"{"delete": "authors", "where": {"or": ["$1"]}}"#, "x"),
        (r#"{"insert": "authors", "rows": "$1"}"#, "x"),
        (r#"{"rpc": "add", "arguments": "$1"}"#, "x"),
    ] {
        let error = database.run(request, &[Value::Text(value.to_owned())]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied, "{request}: {error:?}");
    }
    let condition = r#"{"from": "authors", "where": {"id": {"eq": "$1"}}}"#;
    for value in [json!({"gt": 0}), json!([1, 2])] {
        let error = database.run(condition, &[Value::Json(value)]).unwrap_err();
        assert_eq!(error.kind, Data, "{error:?}");
    }
}
