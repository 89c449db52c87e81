//! A tool on ClickHouse, from the app's files to the answer.

use millrace_core::value::Value;
use millrace_tests::{
    clickhouse::{self, open},
    database::{Database, runtime},
    local::binary,
};
use serde_json::json;

use crate::in_process::{call, endpoint, text};
use millrace_tests::files::write;

const TYPED: &str = "inputs:\n  i: { type: int, optional: true }\n  f: { type: float, optional: true }\n  b: { type: boolean, optional: true }\n  \
                     t: { type: datetime, optional: true }\n  d: { type: date, optional: true }\n  u: { type: uuid, optional: true }\n  \
                     s: { type: string, optional: true }\n  o: { type: object, optional: true }\n  \
                     list: { type: array, optional: true, default: [], items: { type: int } }\n  \
                     times: { type: array, default: [], items: { type: datetime } }\n  any: { type: array, default: [] }\n  maybe: { type: array, optional: true, items: { type: int } }\n  j: { type: json, optional: true }\n";

#[test]
fn inputs_have_their_types() {
    let server = clickhouse::start(&[]);
    let columns = "i Nullable(Int64), f Nullable(Float64), b Nullable(Bool), t Nullable(DateTime64(6, 'UTC')), d Nullable(Date32), \
                   u Nullable(UUID), s Nullable(String), o Nullable(String), list Array(Int64), times Array(DateTime64(3, 'UTC'))";
    open(&server).run(&format!("CREATE TABLE things ({columns}) ENGINE = MergeTree ORDER BY tuple()"), &[]).unwrap();
    let adapter = format!("connector: clickhouse\nconnection_string: {}\n", clickhouse::url(&server));
    let names = ["i", "f", "b", "t", "d", "u", "s", "o", "list", "times"];
    let placeholders = names.map(|name| format!("{{{{ inputs.{name} }}}}")).join(", ");
    let types = names.map(|name| format!("toTypeName({{{{ inputs.{name} }}}}) AS {name}")).join(", ");
    let (put, put_select) = (format!("INSERT INTO things VALUES ({placeholders})"), format!("INSERT INTO things SELECT {placeholders}"));
    let of_types = format!("SELECT {types}, toTypeName({{{{ inputs.any }}}}) AS any");
    let tools = [
        ("put", put.as_str(), TYPED),
        ("put-select", &put_select, TYPED),
        ("get", "SELECT * FROM things WHERE s = {{ inputs.s }}", TYPED),
        (
            "by",
            "SELECT count() AS n FROM things WHERE t = {{ inputs.t }} AND d = {{ inputs.d }} AND u = '{{ inputs.u }}' AND i IN ({{ inputs.list }})",
            TYPED,
        ),
        ("types", &of_types, TYPED),
        ("in", "SELECT groupArray(number) AS n FROM numbers(9) WHERE number IN ({{ inputs.maybe }}) OR number IN ({{ inputs.j }})", TYPED),
        ("not-in", "SELECT count() AS n FROM numbers(9) WHERE number NOT IN ({{ inputs.maybe }})", TYPED),
        ("remove", "ALTER TABLE things DELETE WHERE s = {{ inputs.s }} SETTINGS mutations_sync = 2", TYPED),
    ];
    let (endpoint, _folder) = endpoint(&adapter, &tools);
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        let given = |s: &str| {
            json!({
                "s": s, "i": 9_007_199_254_740_991_i64, "f": 7, "b": true, "t": "2026-01-02T05:04:05.123456+02:00", "d": "1950-01-02",
                "u": "00112233-4455-6677-8899-aabbccddeeff", "o": {"a": "it's"}, "list": [1, 9_007_199_254_740_991_i64],
                "times": ["2026-01-02T03:04:05Z"],
            })
        };
        for tool in ["put", "put-select"] {
            assert_eq!(text(&call(&endpoint, tool, given(tool)).await), r#"{"affected_rows":1}"#);
            let row = r#""i":9007199254740991,"f":7.0,"b":true,"t":"2026-01-02T03:04:05.123456Z","d":"1950-01-02","u":"00112233-4455-6677-8899-aabbccddeeff""#;
            let rest = r#""o":"{\"a\":\"it's\"}","list":[1,9007199254740991],"times":["2026-01-02T03:04:05.000Z"]"#;
            let found = call(&endpoint, "get", json!({"s": tool})).await;
            assert_eq!(text(&found), format!(r#"[{{{row},"s":"{tool}",{rest}}}]"#));
        }
        assert_eq!(text(&call(&endpoint, "by", given("x")).await), r#"[{"n":2}]"#);
        assert_eq!(text(&call(&endpoint, "by", json!({"t": "2026-01-02T03:04:05Z", "list": []})).await), r#"[{"n":0}]"#);
        // What is not given is null.
        assert_eq!(text(&call(&endpoint, "put", json!({"s": "empty"})).await), r#"{"affected_rows":1}"#);
        let empty = r#"[{"i":null,"f":null,"b":null,"t":null,"d":null,"u":null,"s":"empty","o":null,"list":[],"times":[]}]"#;
        assert_eq!(text(&call(&endpoint, "get", json!({"s": "empty"})).await), empty);
        assert_eq!(text(&call(&endpoint, "get", json!({})).await), "[]");
        let types = r#"[{"i":"Nullable(Int64)","f":"Nullable(Float64)","b":"Nullable(Bool)","t":"Nullable(DateTime64(6, 'UTC'))","d":"Nullable(Date32)","u":"Nullable(UUID)","s":"Nullable(String)","o":"Nullable(String)","list":"Array(Int64)","times":"Array(DateTime64(6, 'UTC'))","any":"Array(Nullable(String))"}]"#;
        assert_eq!(text(&call(&endpoint, "types", json!({})).await), types);
        assert_eq!(text(&call(&endpoint, "remove", json!({"s": "put"})).await), r#"{"affected_rows":0}"#);
        // A list that is absent is empty; what only the call knows may be a list, or a list of one.
        for (given, expected) in [
            (json!({}), "[]"),
            (json!({"maybe": [], "j": null}), "[]"),
            (json!({"maybe": [1, 2], "j": [3, "4"]}), "[1,2,3,4]"),
            (json!({"j": 5}), "[5]"),
            (json!({"j": "6"}), "[6]"),
            (json!({"j": [7, null]}), "[7]"),
        ] {
            assert_eq!(text(&call(&endpoint, "in", given.clone()).await), format!(r#"[{{"n":{expected}}}]"#), "{given}");
        }
        assert_eq!(text(&call(&endpoint, "not-in", json!({})).await), r#"[{"n":9}]"#);
        // A number that is none of the type never arrives as another one.
        let result = call(&endpoint, "get", json!({"s": "x", "i": 9_223_372_036_854_775_808_u64})).await;
        assert!(!text(&result).contains("-9223372036854775808"), "{}", text(&result));
    });
    assert_eq!(open(&server).rows("SELECT count() FROM things"), [[Value::I64(2)]]);
}

#[test]
fn what_is_wrong_is_said_when_the_app_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| write(folder.path(), file, text);
    write("millrace.yaml", "name: far\n");
    write("app/adapters/far.yaml", "connector: clickhouse\nconnection_string: https://db:8443/shop\n");
    write("app/adapters/reader.yaml", "connector: clickhouse\nconnection_string: https://db:8443/shop\noptions: { read_only: true }\n");
    let inputs = "inputs: { s: { type: string }, list: { type: array, items: { type: int } }, e: { type: string, enum: [a, b] } }\n";
    let tool = |name: &str, adapter: &str, statement: &str, more: &str| {
        let statement = serde_json::to_string(statement).unwrap();
        write(
            &format!("app/tools/{name}/config.yaml"),
            &format!("description: x\nuse: {adapter}\nstatement: |-\n  {}\n{inputs}{more}", statement.trim_matches('"')),
        );
    };
    for (name, statement) in [
        ("a", "SELECT {p1:String}"),
        ("b", "SELECT * FROM {{ inputs.s }}"),
        ("c", "SELECT 1 FORMAT TSV"),
        ("d", "SELECT {{ inputs.s }} INTO OUTFILE 'x'"),
        ("e", "SELECT 1 SETTINGS max_result_rows = 0"),
        ("f", "SELECT 1 SETTINGS max_threads = {{ inputs.s }}"),
        ("g", "SELECT * FROM url('https://{{ inputs.s }}/x', CSV)"),
        ("h", "SELECT * FROM s3({{ inputs.s }})"),
        ("i", "SELECT 1; SELECT 2"),
        ("j", "SET max_threads = 1"),
        ("k", "SELECT a FROM t ORDER BY {{ inputs.s }}"),
        ("l", "SELECT a FROM t WHERE a IN {{ inputs.list }}"),
        ("m", "DROP TABLE {{ inputs.s }}"),
        ("n", "SELECT * FROM t GROUP BY a WITH TOTALS"),
        (
            "ok",
            "SELECT * FROM {{ inputs.e | ident }} WHERE a = {{ inputs.s }} AND has({{ inputs.list }}, b) LIMIT 1 BY a SETTINGS max_threads = 1",
        ),
        ("ok-too", "SELECT * FROM url('https://{{ env.HOST }}/x', CSV) WHERE a = {{ inputs.s }}"),
    ] {
        tool(name, "far", statement, "");
    }
    tool("o", "reader", "INSERT INTO t VALUES ({{ inputs.s }})", "");
    tool("p", "far", "INSERT INTO t VALUES ({{ inputs.s }})", "idempotency: { key: \"{{ inputs.s }}\" }\n");
    write(
        "app/tools/q/config.yaml",
        "description: x\nuse: far\ntransaction:\n  - { name: one, statement: \"INSERT INTO t VALUES (1)\" }\n  - { name: two, statement: \"INSERT INTO t VALUES (2)\" }\n",
    );
    write("app/adapters/tenants.yaml", "connector: clickhouse\nconnection_string: https://a/b\ntenant: { claim: org, column: org }\n");
    let session = "session: { settings: { app.tenant: \"{{ auth.claims.org }}\" } }\n";
    write("app/adapters/session.yaml", &format!("connector: clickhouse\nconnection_string: https://a/b\n{session}"));
    let options = millrace_bundler::Options { connectors: vec!["clickhouse".to_owned()], ..Default::default() };
    let diagnostics = millrace_bundler::bundle(folder.path(), &options).diagnostics;
    let told: Vec<String> =
        diagnostics.iter().map(|found| format!("{}:{}:{} {}", found.file.display(), found.line, found.column, found.message)).collect();
    for expected in [
        "app/tools/a/config.yaml:4:10 `{p1:String}` is a parameter without a value",
        "app/tools/b/config.yaml:4:17 `{{ inputs.s }}` is where a name is required, and a name cannot be bound",
        "app/tools/c/config.yaml:4:12 the statement has a `FORMAT`, and connector `clickhouse` reads answers in its own",
        "app/tools/d/config.yaml:4:30 `INTO OUTFILE` is carried out by ClickHouse's own client, not by its server",
        "app/tools/e/config.yaml:4:21 connector `clickhouse` sends the setting `max_result_rows` itself",
        "app/tools/f/config.yaml:4:35 the setting `max_threads` is a value of the call",
        "app/tools/g/config.yaml:4:21 a value of the call is among the arguments of `url`, which decide what is read, and from where",
        "app/tools/h/config.yaml:4:20 a value of the call is among the arguments of `s3`, which decide what is read, and from where",
        "app/tools/i/config.yaml:4:13 a second statement starts after `;`",
        "app/tools/j/config.yaml:4:3 connector `clickhouse` does not run `SET`: each of its requests is a session of its own",
        "app/tools/k/config.yaml:4:28 `{{ inputs.s }}` is a whole item of a `BY` list: bound, it would be one constant for all rows",
        "app/tools/l/config.yaml:4:30 `{{ inputs.list }}` follows `IN` without parentheses",
        "app/tools/m/config.yaml:4:14 `{{ inputs.s }}` is in `DROP …`, which accepts no bound values",
        "app/tools/n/config.yaml:4:35 `WITH TOTALS` has rows that are not sent in the format of connector `clickhouse`",
        "app/tools/o/config.yaml:2:6 the statement writes, or may write, but the adapter `reader` is read only",
        "app/tools/p/config.yaml:6:1 the connector `clickhouse` of the adapter `far` cannot keep the records that `idempotency` needs",
        "app/tools/q/config.yaml:3:1 the connector `clickhouse` of the adapter `far` does not support transactions",
        "app/adapters/tenants.yaml:3:1 the build does not judge statements of connector `clickhouse` by `tenant`",
        "app/adapters/session.yaml:3:1 connector `clickhouse` cannot set anything for a call, which `session` demands",
    ] {
        assert!(told.iter().any(|message| message == expected), "{expected}\n{}", told.join("\n"));
    }
    assert!(!told.iter().any(|message| message.starts_with("app/tools/ok")), "{}", told.join("\n"));
}

#[test]
fn check_has_the_server_look_at_statements() {
    let server = clickhouse::start(&["--user", "me:pw"]);
    let database = Database::open(clickhouse::settings(&server, &[("user", "me"), ("password", "pw")]));
    database.run("CREATE TABLE t (a Int64, at DateTime, s String) ENGINE = MergeTree ORDER BY a", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| write(folder.path(), file, text);
    write("millrace.yaml", "name: far\n");
    let adapter = format!(
        "connector: clickhouse\nconnection_string: {}\noptions: {{ user: me, password: \"{{{{ env.PW }}}}\" }}\n",
        clickhouse::url(&server)
    );
    write("app/adapters/far.yaml", &adapter);
    let inputs = "inputs: { i: { type: int }, s: { type: string }, t: { type: datetime }, b: { type: boolean }, l: { type: array, items: { type: string } } }\n";
    for (name, statement) in [
        (
            "good",
            "SELECT a FROM t WHERE a = {{ inputs.i }} AND s LIKE '%{{ inputs.s }}%' AND at >= {{ inputs.t }} AND ({{ inputs.b }} OR s IN ({{ inputs.l }})) LIMIT {{ inputs.i }}",
        ),
        ("converts", "SELECT toDate({{ inputs.s }}) AS d, toUUID({{ inputs.s }}) AS u, parseDateTimeBestEffort({{ inputs.s }}) AS t"),
        ("insert", "INSERT INTO t (a, s) VALUES ({{ inputs.i }}, {{ inputs.s }})"),
        ("delete", "ALTER TABLE t DELETE WHERE a = {{ inputs.i }}"),
        ("exists", "EXISTS TABLE nosuch"),
        ("show", "SHOW TABLES"),
        ("missing", "SELECT * FROM nosuch WHERE a = {{ inputs.i }}"),
        ("misspelt", "SELECT b FROM t WHERE a = {{ inputs.i }}"),
        ("wrong", "ALTER TABLE t DELETE WHERE a == == {{ inputs.i }}"),
    ] {
        write(
            &format!("app/tools/{name}/config.yaml"),
            &format!("description: x\nuse: far\nstatement: {}\n{inputs}", serde_json::to_string(statement).unwrap()),
        );
    }
    let check = |password: &str| {
        let checked =
            std::process::Command::new(binary()).arg("check").arg(folder.path()).arg("--connect").env("PW", password).output().unwrap();
        String::from_utf8_lossy(&[checked.stdout, checked.stderr].concat()).into_owned()
    };
    let said = check("pw");
    for (name, what) in [("missing", "a table is missing"), ("misspelt", "a column is missing"), ("wrong", "its syntax is wrong")] {
        let place = format!("app/tools/{name}/config.yaml:");
        assert!(said.lines().any(|line| line.contains(&place) && line.contains(what)), "{name}\n{said}");
    }
    for name in ["good", "converts", "insert", "delete", "exists", "show"] {
        assert!(!said.contains(&format!("app/tools/{name}/")), "{name}\n{said}");
    }
    assert_eq!(database.rows("SELECT count() FROM t"), [[Value::I64(0)]]);
    let said = check("hunter2");
    assert!(said.contains("ClickHouse does not accept the user or the password") && !said.contains("hunter2"), "{said}");
}
