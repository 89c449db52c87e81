//! The tables of values on the pages of the connectors: each value goes through a tool of an app
//! into a server and back, and the page says what came.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Endpoint, Json, hex, hidden::visible, value::MAX_SAFE_INTEGER};
use millrace_tests::{
    clickhouse, d1_api,
    database::runtime,
    docs::{check_part, connector_page},
    dynoxide::Dynoxide,
    mongodb,
    mysql::Mysql,
    neon, planetscale,
    postgres::{Postgres, psql},
    postgrest, rds_data, redis,
    sqld::Sqld,
    upstash,
};
use serde_json::json;

use crate::in_process::{call, endpoint_of, text};
use crate::redis::support::raw;

/// The characters of the long text.
const LONG: usize = 1_000_000;

/// What a caller sends: how the page names it, the type of its input, and the value.
fn sent() -> Vec<(String, &'static str, Json)> {
    let mut values: Vec<(String, &'static str, Json)> = Vec::new();
    for number in [json!(MAX_SAFE_INTEGER), json!(9_007_199_254_740_993_i64)] {
        values.push((number.to_string(), "int", number));
    }
    // Beyond what JSON keeps, as text.
    for digits in ["9007199254740993", "-9223372036854775808", "18446744073709551615"] {
        values.push((format!("`\"{digits}\"`"), "int", json!(digits)));
    }
    for number in [json!(1.5), json!(0.1), json!(1e300), json!(-0.0)] {
        values.push((number.to_string(), "float", number));
    }
    for written in ["", "o'neil; --", "a\\b", "a\0b", "\t\r\n", "zażółć 🙂", "NULL"] {
        values.push((format!("`{}`", json!(written)), "string", json!(written)));
    }
    values.push(("a text of 1,000,000 characters".to_owned(), "string", json!("x".repeat(LONG))));
    values.push(("nothing, for an optional input".to_owned(), "string", Json::Null));
    values.push(("`true`".to_owned(), "boolean", json!(true)));
    let moment = "2026-01-02T03:04:05.123456+02:00";
    values.push((format!("`\"{moment}\"`"), "datetime", json!(moment)));
    // As a database without time zones writes it.
    let moment = "2026-01-02T03:04:05";
    values.push((format!("`\"{moment}\"`"), "datetime", json!(moment)));
    values.push(("`{\"n\": [1.5, null, \"it's\"]}`".to_owned(), "object", json!({"n": [1.5, null, "it's"]})));
    values
}

/// An app's tools for the values of one connector.
struct Tools {
    connector: &'static str,
    adapter: String,
    /// The type of an input, and the statements of which the last one returns it as `v`.
    of_inputs: Vec<(&'static str, Vec<String>)>,
    /// What a database may have and no caller sends: how the page names it, and the statements.
    own: Vec<(&'static str, Vec<String>)>,
}

impl Tools {
    /// Statements of SQL, in which `@` is the placeholder.
    fn sql(connector: &'static str, adapter: String, of_inputs: &[(&'static str, &str)], own: &[(&'static str, &str)]) -> Self {
        let quoted = |statement: &str| vec![json!(statement.replace('@', "{{ inputs.v }}")).to_string()];
        Self {
            connector,
            adapter,
            of_inputs: of_inputs.iter().map(|(kind, statement)| (*kind, quoted(statement))).collect(),
            own: own.iter().map(|(name, statement)| (*name, quoted(statement))).collect(),
        }
    }

    /// The app, and its folder. A tool's name has the number of its value and of its step.
    fn endpoint(&self) -> (Endpoint, tempfile::TempDir) {
        // A long text is among the values.
        let limits = "limits: { output: 4mb }\n";
        let of_inputs = self
            .of_inputs
            .iter()
            .map(|(kind, statements)| (format!("{limits}inputs: {{ v: {{ type: {kind}, optional: true }} }}\n"), statements));
        let own = self.own.iter().map(|(_, statements)| (limits.to_owned(), statements));
        let mut tools = Vec::new();
        for (number, (inputs, statements)) in of_inputs.chain(own).enumerate() {
            tools.extend(statements.iter().enumerate().map(|(step, statement)| (name(number, step), statement.clone(), inputs.clone())));
        }
        let tools: Vec<_> = tools.iter().map(|(name, statement, inputs)| (name.as_str(), statement.clone(), inputs.as_str())).collect();
        endpoint_of(&self.adapter, &tools)
    }

    /// Calls the tools, and compares the page with what came.
    fn check(&self) {
        let (endpoint, _folder) = self.endpoint();
        let mut table = "| a caller sends | to an input of type | and receives |\n|---|---|---|\n".to_owned();
        let mut of_database = "\n| the database has | and a caller receives |\n|---|---|\n".to_owned();
        tokio::task::LocalSet::new().block_on(&runtime(), async {
            for (label, kind, value) in sent() {
                let Some(number) = self.of_inputs.iter().position(|(of, _)| *of == kind) else { panic!("{}: {kind}", self.connector) };
                let arguments = if value.is_null() { json!({}) } else { json!({ "v": value }) };
                let answer = self.answer(&endpoint, number, self.of_inputs[number].1.len(), arguments).await;
                // Text comes back as it was sent, with what nobody would see made visible, or is
                // rejected; nothing else.
                if let (Json::String(text), Ok(cell)) = (&value, &answer)
                    && kind == "string"
                {
                    assert_eq!(cell.as_str(), Some(&*visible(text)), "{}: {label}", self.connector);
                }
                table += &format!("| {label} | `{kind}` | {} |\n", shown(answer));
            }
            for (number, (label, statements)) in self.own.iter().enumerate() {
                let answer = self.answer(&endpoint, self.of_inputs.len() + number, statements.len(), json!({})).await;
                of_database += &format!("| {label} | {} |\n", shown(answer));
            }
        });
        check_part(&connector_page(self.connector), "values", &[table, of_database].concat());
    }

    /// The cell that the last of a value's tools returns; `Err` has the message of the first that
    /// failed.
    async fn answer(&self, endpoint: &Endpoint, number: usize, steps: usize, arguments: Json) -> Result<Json, String> {
        let mut cell = Json::Null;
        for step in 0..steps {
            let result = call(endpoint, &name(number, step), arguments.clone()).await;
            if result.is_error {
                return Err(text(&result).to_owned());
            }
            if step + 1 == steps {
                let rows: Json = serde_json::from_str(text(&result)).unwrap_or_else(|error| panic!("{error}: {}", text(&result)));
                let row = rows.as_array().map_or(&rows, |rows| &rows[0]);
                cell = row.get("v").or_else(|| row.get("value")).unwrap_or_else(|| panic!("{}: {rows}", self.connector)).clone();
            }
        }
        Ok(cell)
    }
}

fn name(number: usize, step: usize) -> String {
    format!("value-{number}-{step}")
}

/// An answer as a cell of a table.
fn shown(answer: Result<Json, String>) -> String {
    match answer {
        Ok(Json::String(text)) if text == "x".repeat(LONG) => "the same text".to_owned(),
        Ok(Json::String(text)) if text == STANDARD.encode(every_byte()) => "the same bytes, as base64".to_owned(),
        Ok(Json::String(text)) if text == format!("\\x{}", hex::encode(&every_byte())) => {
            "the same bytes, as `\\x` and hexadecimal digits".to_owned()
        }
        Ok(cell) => format!("`{cell}`"),
        Err(message) => {
            // Between the tags of the second line.
            let line = message.lines().nth(1).unwrap_or(&message);
            let text = line.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</")).map_or(line, |(text, _)| text);
            format!("rejected: {}", text.replace('|', "\\|"))
        }
    }
}

fn every_byte() -> Vec<u8> {
    (0..=255).collect()
}

const EVERY_BYTE: &str = "every byte from 0 to 255";

/// The statements of SQLite's dialect.
fn sqlite(connector: &'static str, adapter: String) -> Tools {
    let plain = "SELECT @ AS v";
    let bytes = format!("SELECT x'{}' AS v", hex::encode(&every_byte()));
    let own: [(&str, &str); 6] = [
        (EVERY_BYTE, &bytes),
        ("the integer 9007199254740993", "SELECT 9007199254740993 AS v"),
        ("the integer -9223372036854775808", "SELECT -9223372036854775807 - 1 AS v"),
        ("the real 1.5", "SELECT 1.5 AS v"),
        ("an infinity", "SELECT 9e999 AS v"),
        ("text that is not UTF-8", "SELECT CAST(x'61ff' AS TEXT) AS v"),
    ];
    let of_inputs = ["int", "float", "string", "boolean", "datetime", "object"].map(|kind| (kind, plain));
    Tools::sql(connector, adapter, &of_inputs, &own)
}

#[test]
fn sqlite_keeps_its_values() {
    sqlite("sqlite", "connector: sqlite\nconnection_string: \":memory:\"\n".to_owned()).check();
}

#[test]
fn libsql_keeps_its_values() {
    let server = Sqld::start(None);
    sqlite("libsql", format!("connector: libsql\nconnection_string: http://127.0.0.1:{}\n", server.port)).check();
}

#[test]
fn d1_keeps_its_values() {
    let server = d1_api::stand_in();
    let adapter = format!(
        "connector: d1\nconnection_string: d1://0a1b/1111-2222\noptions: {{ api_token: t.o.k, base_url: \"http://{}/client/v4\" }}\n",
        server.address
    );
    sqlite("d1", adapter).check();
}

/// The statements of PostgreSQL's dialect.
fn postgresql(connector: &'static str, adapter: String) -> Tools {
    let bytes = format!("SELECT '\\x{}'::bytea AS v", hex::encode(&every_byte()));
    let of_inputs = [
        ("int", "SELECT @::bigint AS v"),
        ("float", "SELECT @::double precision AS v"),
        ("string", "SELECT @::text AS v"),
        ("boolean", "SELECT @::boolean AS v"),
        ("datetime", "SELECT @::timestamptz AS v"),
        ("object", "SELECT @::jsonb AS v"),
    ];
    let own: [(&str, &str); 10] = [
        (EVERY_BYTE, &bytes),
        ("the `bigint` -9223372036854775808", "SELECT (-9223372036854775808)::bigint AS v"),
        ("the `numeric` 18446744073709551615", "SELECT 18446744073709551615::numeric AS v"),
        ("the `numeric` 1.50", "SELECT 1.50 AS v"),
        ("the `numeric` NaN", "SELECT 'NaN'::numeric AS v"),
        ("the `double precision` NaN", "SELECT 'NaN'::float8 AS v"),
        ("the `double precision` -Infinity", "SELECT '-Infinity'::float8 AS v"),
        ("the `timestamptz` infinity", "SELECT 'infinity'::timestamptz AS v"),
        ("the `bigint[]` {9007199254740993,NULL}", "SELECT ARRAY[9007199254740993, NULL] AS v"),
        (
            "the `jsonb` [1.50, 9007199254740993, 0.12345678901234567890]",
            "SELECT '[1.50, 9007199254740993, 0.12345678901234567890]'::jsonb AS v",
        ),
    ];
    Tools::sql(connector, adapter, &of_inputs, &own)
}

#[test]
fn postgres_keeps_its_values() {
    let server = Postgres::start(&[]);
    postgresql("postgres", format!("connector: postgres\nconnection_string: {}\n", server.url("postgres"))).check();
}

#[test]
fn neon_keeps_its_values() {
    let server = Postgres::start(&[]);
    let api = neon::start(server.port);
    let adapter =
        format!("connector: neon\nconnection_string: {}\noptions: {{ base_url: \"http://{}\" }}\n", server.url("postgres"), api.address);
    postgresql("neon", adapter).check();
}

#[test]
fn rds_data_keeps_its_values() {
    let server = Postgres::start(&[]);
    let api = rds_data::start(server.port);
    let [secret, database] = rds_data::secret_and_database(&server.url("postgres"));
    let adapter = format!(
        "connector: rds-data\nconnection_string: {}\noptions: {{ secret_arn: \"{secret}\", database: {database}, endpoint: \"http://{}\", \
         access_key_id: AKIDEXAMPLE, secret_access_key: hunter2 }}\n",
        rds_data::CLUSTER,
        api.address
    );
    postgresql("rds-data", adapter).check();
}

#[test]
fn mysql_keeps_its_values() {
    let server = server_with_zeros();
    mysql("mysql", format!("connector: mysql\nconnection_string: {}\n", server.url(""))).check();
}

#[test]
fn planetscale_keeps_its_values() {
    let server = server_with_zeros();
    let api = planetscale::start(server.port, "shop");
    mysql("planetscale", format!("connector: planetscale\nconnection_string: {}\n", planetscale::url(&api))).check();
}

/// A server with a date that is none: a strict session stores no such one.
fn server_with_zeros() -> Mysql {
    let server = Mysql::start(&[]);
    server.run("shop", "SET sql_mode = ''; CREATE TABLE zeros (v DATE); INSERT INTO zeros VALUES ('0000-00-00');");
    server
}

/// The statements of MySQL's dialect.
fn mysql(connector: &'static str, adapter: String) -> Tools {
    let bytes = format!("SELECT x'{}' AS v", hex::encode(&every_byte()));
    let of_inputs = [
        ("int", "SELECT @ AS v"),
        ("float", "SELECT @ AS v"),
        ("string", "SELECT @ AS v"),
        ("boolean", "SELECT @ AS v"),
        ("datetime", "SELECT CAST(@ AS DATETIME(6)) AS v"),
        ("object", "SELECT JSON_COMPACT(@) AS v"),
    ];
    let own: [(&str, &str); 7] = [
        (EVERY_BYTE, &bytes),
        ("the `BIGINT` -9223372036854775808", "SELECT -9223372036854775807 - 1 AS v"),
        ("the `BIGINT UNSIGNED` 18446744073709551615", "SELECT 18446744073709551615 AS v"),
        ("the `DECIMAL` 1.50", "SELECT 1.50 AS v"),
        ("the `DOUBLE` 1.5", "SELECT 1.5e0 AS v"),
        ("the `BIT` 1", "SELECT b'1' + 0 AS v"),
        ("the `DATE` 0000-00-00", "SELECT v FROM shop.zeros"),
    ];
    Tools::sql(connector, adapter, &of_inputs, &own)
}

/// The commands of Redis.
fn commands(connector: &'static str, adapter: String, port: u16) -> Tools {
    let quoted = |commands: &[&str]| commands.iter().map(|command| json!(command).to_string()).collect::<Vec<_>>();
    let kept = || quoted(&["SET v {{ inputs.v }}", "GET v"]);
    assert!(raw(port, &[b"SET", b"bytes", &every_byte()]).starts_with("+OK"));
    Tools {
        connector,
        adapter,
        of_inputs: ["int", "float", "string", "boolean", "datetime"]
            .map(|kind| (kind, kept()))
            .into_iter()
            .chain([("object", quoted(&["SET v \"{{ inputs.v }}\"", "GET v"]))])
            .collect(),
        own: vec![
            (EVERY_BYTE, quoted(&["GET bytes"])),
            ("the number 9007199254740993", quoted(&["SET n 9007199254740992", "INCR n"])),
            ("the number -9223372036854775808", quoted(&["SET n -9223372036854775807", "DECR n"])),
            ("nothing under the key", quoted(&["GET none"])),
        ],
    }
}

#[test]
fn redis_keeps_its_values() {
    let server = redis::start(&[]);
    commands("redis", format!("connector: redis\nconnection_string: redis://127.0.0.1:{}\n", server.port), server.port).check();
}

#[test]
fn upstash_keeps_its_values() {
    let server = redis::start(&[]);
    let api = upstash::start(server.port, "t.o.k");
    commands(
        "upstash",
        format!("connector: upstash\nconnection_string: http://{}\noptions: {{ token: t.o.k }}\n", api.address),
        server.port,
    )
    .check();
}

#[test]
fn mongodb_keeps_its_values() {
    let server = mongodb::start(&[]);
    let find = json!({"find": "things", "projection": {"_id": 0, "v": 1}}).to_string();
    let kept = |value: Json| {
        let put = json!({"update": "things", "updates": [{"q": {"_id": 1}, "u": {"$set": {"v": value}}, "upsert": true}]});
        vec![put.to_string(), find.clone()]
    };
    Tools {
        connector: "mongodb",
        adapter: format!("connector: mongodb\nconnection_string: {}\n", server.url()),
        of_inputs: ["int", "float", "string", "boolean", "datetime", "object"].map(|kind| (kind, kept(json!("{{ inputs.v }}")))).to_vec(),
        own: vec![
            ("the integer 9007199254740993", kept(json!({"$numberLong": "9007199254740993"}))),
            ("the integer -9223372036854775808", kept(json!({"$numberLong": "-9223372036854775808"}))),
            ("the double NaN", kept(json!({"$numberDouble": "NaN"}))),
            ("the double -Infinity", kept(json!({"$numberDouble": "-Infinity"}))),
            ("the Decimal128 1.50", kept(json!({"$numberDecimal": "1.50"}))),
            ("the Decimal128 NaN", kept(json!({"$numberDecimal": "NaN"}))),
            ("the binary 00 ff", kept(json!({"$binary": {"base64": "AP8=", "subType": "00"}}))),
            ("an ObjectId", kept(json!({"$oid": "507f1f77bcf86cd799439011"}))),
            ("a UUID", kept(json!({"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}))),
        ],
    }
    .check();
}

#[test]
fn postgrest_keeps_its_values() {
    let types = [
        ("int", "bigint"),
        ("float", "float8"),
        ("string", "text"),
        ("boolean", "boolean"),
        ("datetime", "timestamptz"),
        ("object", "jsonb"),
    ];
    let functions: String = types
        .iter()
        .map(|(kind, of)| format!("CREATE FUNCTION of_{kind}(v {of}) RETURNS TABLE (v {of}) LANGUAGE sql IMMUTABLE AS 'SELECT $1';\n"))
        .collect();
    let own = [
        (EVERY_BYTE, format!("'\\x{}'::bytea", hex::encode(&every_byte()))),
        ("the `bigint` -9223372036854775808", "(-9223372036854775808)::bigint".to_owned()),
        ("the `numeric` 18446744073709551615", "18446744073709551615::numeric".to_owned()),
        ("the `numeric` 1.50", "1.50::numeric".to_owned()),
        ("the `float8` NaN", "'NaN'::float8".to_owned()),
        (
            "the `jsonb` [1.50, 9007199254740993, 0.12345678901234567890]",
            "'[1.50, 9007199254740993, 0.12345678901234567890]'::jsonb".to_owned(),
        ),
    ];
    let columns: Vec<String> = own.iter().enumerate().map(|(number, (_, value))| format!("{value} AS v{number}")).collect();
    let postgres = Postgres::start(&[]);
    let made = format!(
        "{}{functions}CREATE TABLE things AS SELECT {};\nGRANT USAGE ON SCHEMA public TO anon, web;\nGRANT SELECT ON things TO anon, web;\n",
        postgrest::ROLES,
        columns.join(", ")
    );
    psql(&postgres.url("postgres"), &made);
    let server = postgrest::start(&postgres.url("postgres"), &[]);
    Tools {
        connector: "postgrest",
        adapter: format!("connector: postgrest\nconnection_string: {}\noptions: {{ api_key: \"{}\" }}\n", server.url(), postgrest::TOKEN),
        of_inputs: types
            .map(|(kind, _)| (kind, vec![json!({"rpc": format!("of_{kind}"), "arguments": {"v": "{{ inputs.v }}"}}).to_string()]))
            .to_vec(),
        own: own
            .iter()
            .enumerate()
            .map(|(number, (name, _))| (*name, vec![json!({"from": "things", "select": format!("v:v{number}")}).to_string()]))
            .collect(),
    }
    .check();
}

#[test]
fn clickhouse_keeps_its_values() {
    let server = clickhouse::start(&[]);
    let bytes = format!("SELECT unhex('{}') AS v", hex::encode(&every_byte()));
    let of_inputs = ["int", "float", "string", "boolean", "datetime", "object"].map(|kind| (kind, "SELECT @ AS v"));
    let own: [(&str, &str); 8] = [
        (EVERY_BYTE, &bytes),
        ("the `Int64` -9223372036854775808", "SELECT toInt64('-9223372036854775808') AS v"),
        ("the `UInt64` 18446744073709551615", "SELECT toUInt64(18446744073709551615) AS v"),
        ("the `Int256` -1000000000000000000000", "SELECT toInt256('-1000000000000000000000') AS v"),
        ("the `Decimal` 1.50", "SELECT toDecimal64('1.50', 2) AS v"),
        ("the `Float64` NaN", "SELECT nan AS v"),
        ("the `Float64` -inf", "SELECT -inf AS v"),
        (
            "the `DateTime64(6, 'Asia/Kolkata')` 2026-01-02 03:04:05.123456",
            "SELECT toDateTime64('2026-01-02 03:04:05.123456', 6, 'Asia/Kolkata') AS v",
        ),
    ];
    let adapter = format!("connector: clickhouse\nconnection_string: {}\n", clickhouse::url(&server));
    Tools::sql("clickhouse", adapter, &of_inputs, &own).check();
}

#[test]
fn dynamodb_keeps_its_values() {
    let server = Dynoxide::start();
    server.create("things");
    let own = [
        ("the `N` 18446744073709551615", json!({"N": "18446744073709551615"})),
        ("the `N` 1.50", json!({"N": "1.50"})),
        ("the `N` 0.1234567890123456789", json!({"N": "0.1234567890123456789"})),
        ("the `B` 00 ff", json!({"B": "AP8="})),
        ("the `NS` 2, 1", json!({"NS": ["2", "1"]})),
        ("the `SS` b, a", json!({"SS": ["b", "a"]})),
    ];
    let put = |id: &str, value: &Json| {
        let item = json!({"id": {"S": id}, "v": value});
        let made = server.call("PutItem", &json!({"TableName": "things", "Item": item}));
        assert!(made.get("__type").is_none(), "{made}");
    };
    put("kept", &json!({"S": ""}));
    for (number, (_, value)) in own.iter().enumerate() {
        put(&number.to_string(), value);
    }
    let quoted = |statement: String| json!(statement).to_string();
    let find = |id: &str| quoted(format!("SELECT \"v\" FROM \"things\" WHERE \"id\" = '{id}'"));
    let kept = || vec![quoted("UPDATE \"things\" SET \"v\" = {{ inputs.v }} WHERE \"id\" = 'kept'".to_owned()), find("kept")];
    Tools {
        connector: "dynamodb",
        adapter: format!(
            "connector: dynamodb\nconnection_string: dynamodb://eu-central-1\noptions: {{ endpoint: \"{}\", access_key_id: AKID, secret_access_key: hunter2 }}\n",
            server.endpoint()
        ),
        of_inputs: ["int", "float", "string", "boolean", "datetime", "object"].map(|kind| (kind, kept())).to_vec(),
        own: own.iter().enumerate().map(|(number, (name, _))| (*name, vec![find(&number.to_string())])).collect(),
    }
    .check();
}
