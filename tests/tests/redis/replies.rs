//! Values in and out, and what rows a real server's replies are.

use millrace_core::{
    ErrorKind,
    app::Access,
    ports::{Command, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query, text},
    redis,
};

use super::support::{arguments, json, open, run};

/// Values that something on the way could change.
fn awkward() -> Vec<Value> {
    let every_byte: Vec<u8> = (0..=255).collect();
    let every_character: String = (0..0x250).filter_map(char::from_u32).collect();
    let texts = [
        "",
        "o'neil; --",
        "\\",
        "\0",
        "\t",
        "\r\n",
        "\r\n$5\r\nDEL k\r\n",
        "*1\r\n$8\r\nFLUSHALL\r\n",
        "🙂",
        "9007199254740993",
        "OK",
        "T0s=",
    ];
    let mut values: Vec<Value> = texts.map(text).to_vec();
    values.extend([Value::Bytes(every_byte), text(&every_character), text(&"x".repeat(1 << 20)), Value::Bytes(vec![0xff, 0xfe])]);
    values
}

#[test]
fn values_go_in_and_come_out_whole() {
    let server = redis::start(&[]);
    let database = open(server.port);
    for value in awkward() {
        arguments(&database, &[text("SET"), value.clone(), value.clone()], Access::Write).unwrap();
        let found = arguments(&database, &[text("GET"), value.clone()], Access::Read);
        let (large, shown) = (format!("{value:?}").len() > 100, format!("{value:?}").chars().take(100).collect::<String>());
        match found {
            Ok(rows) => assert!(rows.rows == [[value]], "{shown}"),
            // Exactly the limit of the test's queries is still let through; its key counts nothing.
            Err(error) => panic!("{shown} {large}: {error:?}"),
        }
    }
    for number in [(1_i64 << 53) + 1, i64::MIN, i64::MAX, -1] {
        arguments(&database, &[text("SET"), text("n"), Value::I64(number)], Access::Write).unwrap();
        assert_eq!(run(&database, "INCRBY n 0").unwrap().rows, [[Value::I64(number)]]);
        assert_eq!(run(&database, "GET n").unwrap().rows, [[text(&number.to_string())]]);
    }
    for (value, written) in [
        (Value::Bool(true), "true"),
        (Value::F64(0.1), "0.1"),
        (Value::U64(u64::MAX), "18446744073709551615"),
        (Value::Json(serde_json::json!({"a": [1, null]})), r#"{"a":[1,null]}"#),
        (Value::Decimal("1.50".into()), "1.50"),
    ] {
        arguments(&database, &[text("SET"), text("v"), value], Access::Write).unwrap();
        assert_eq!(run(&database, "GET v").unwrap().rows, [[text(written)]]);
    }
    for value in [Value::Null, Value::F64(f64::NAN), Value::Array(vec![])] {
        assert_eq!(arguments(&database, &[text("GET"), value], Access::Read).unwrap_err().kind, ErrorKind::Syntax);
    }
}

/// Commands, and the rows of what a server replies: the same for every carrier.
pub(crate) const FORMS: [(&str, &str); 44] = [
    ("SET s text", r#"[{"value":"OK"}]"#),
    ("GET s", r#"[{"value":"text"}]"#),
    ("GET nothing", r#"[{"value":null}]"#),
    ("TYPE s", r#"[{"value":"string"}]"#),
    ("PING", r#"[{"value":"PONG"}]"#),
    ("SET ok OK", r#"[{"value":"OK"}]"#),
    ("GET ok", r#"[{"value":"OK"}]"#),
    ("STRLEN s", r#"[{"value":4}]"#),
    ("SET n 9007199254740992", r#"[{"value":"OK"}]"#),
    ("INCR n", r#"[{"value":"9007199254740993"}]"#),
    ("INCRBYFLOAT f 1.5", r#"[{"value":"1.5"}]"#),
    ("MGET s nothing ok", r#"[{"value":"text"},{"value":null},{"value":"OK"}]"#),
    ("DEL nothing", r#"[{"value":0}]"#),
    ("HSET h name Ada id 7", r#"[{"value":2}]"#),
    ("HGETALL h", r#"[{"name":"Ada","id":"7"}]"#),
    ("HGETALL nothing", "[]"),
    ("HMGET h id none", r#"[{"id":"7","none":null}]"#),
    ("HKEYS h", r#"[{"value":"name"},{"value":"id"}]"#),
    ("HSCAN h 0", r#"[{"cursor":"0","values":[["name","Ada"],["id","7"]]}]"#),
    ("RPUSH l a b c", r#"[{"value":3}]"#),
    ("LRANGE l 0 -1", r#"[{"value":"a"},{"value":"b"},{"value":"c"}]"#),
    ("LRANGE nothing 0 -1", "[]"),
    ("LPOP nothing", r#"[{"value":null}]"#),
    ("ZADD z 1.5 a 2 b", r#"[{"value":2}]"#),
    ("ZADD z INCR 1 a", r#"[{"value":2.5}]"#),
    ("ZSCORE z a", r#"[{"value":2.5}]"#),
    ("ZSCORE z none", r#"[{"value":null}]"#),
    ("ZMSCORE z a none", r#"[{"value":2.5},{"value":null}]"#),
    ("ZRANGE z 0 -1", r#"[{"value":"b"},{"value":"a"}]"#),
    ("ZRANGE z 0 -1 WITHSCORES", r#"[{"value":"b","score":2.0},{"value":"a","score":2.5}]"#),
    ("ZRANGE z 0 -1 REV WITHSCORES", r#"[{"value":"a","score":2.5},{"value":"b","score":2.0}]"#),
    ("ZUNION 1 z WITHSCORES", r#"[{"value":"b","score":2.0},{"value":"a","score":2.5}]"#),
    ("ZSCAN z 0", r#"[{"cursor":"0","values":[["b",2.0],["a",2.5]]}]"#),
    ("ZPOPMAX z", r#"[{"value":"a","score":2.5}]"#),
    ("ZINCRBY z 1e300 b", r#"[{"value":1e+300}]"#),
    ("SADD m one", r#"[{"value":1}]"#),
    ("SMEMBERS m", r#"[{"value":"one"}]"#),
    ("SSCAN m 0", r#"[{"cursor":"0","values":["one"]}]"#),
    ("XADD x 1-0 a 1 a 2", r#"[{"value":"1-0"}]"#),
    ("XRANGE x - +", r#"[{"id":"1-0","fields":{"a":"1","a_2":"2"}}]"#),
    ("XREAD STREAMS x 0", r#"[{"stream":"x","id":"1-0","fields":{"a":"1","a_2":"2"}}]"#),
    ("XREAD STREAMS x 1-0", "[]"),
    ("GEOPOS nothing a", r#"[{"value":null}]"#),
    ("HRANDFIELD nothing 2 WITHVALUES", "[]"),
];

#[test]
fn replies_become_rows() {
    let server = redis::start(&[]);
    let database = open(server.port);
    for (command, expected) in FORMS {
        assert_eq!(json(&database, command), expected, "{command}");
    }
}

#[test]
fn errors_are_of_their_kind_and_show_no_value() {
    use ErrorKind::{Configuration, Constraint, Data, Denied, Syntax};
    let server = redis::start(&["--user", "reader", "on", ">pw", "~*", "+get", "+ping"]);
    let database = open(server.port);
    run(&database, "SET hunter2 hunter2").unwrap();
    for (command, kind, expected) in [
        ("LPUSH hunter2 a", Constraint, "`LPUSH` requires a value of another type than the key has"),
        ("INCR hunter2", Data, "`INCR` requires a 64-bit integer"),
        ("ZADD z hunter2 m", Data, "`ZADD` requires a number"),
        ("SET hunter2 v hunter2", Syntax, "the server does not understand the options of `SET`"),
        ("GET hunter2 hunter2", Syntax, "`GET` has a wrong number of arguments"),
        ("HGETDEL hunter2 FIELDS 1 a", Syntax, "the server does not know the command `HGETDEL`"),
        ("RENAME none hunter2", Constraint, "the key does not exist"),
        ("LSET none 0 hunter2", Constraint, "the key does not exist"),
        ("XGROUP CREATE none g 0", Constraint, "the server rejected `XGROUP CREATE`"),
        ("XREADGROUP GROUP g c STREAMS none >", Constraint, "the stream or the consumer group does not exist"),
        ("EXPIRE hunter2 9223372036854775807", Constraint, "the server rejected `EXPIRE`"),
    ] {
        let error = run(&database, command).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, expected), "{command}");
    }
    assert_eq!(json(&database, "GET hunter2"), r#"[{"value":"hunter2"}]"#, "the connection is still good");
    let address = format!("redis://reader:pw@127.0.0.1:{}", server.port);
    let error = run(&Database::open(connection("redis", &address, &[])), "SET k v").unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Denied, "the user of the adapter may not run `SET`, or not with these keys"));

    let read_only = Database::open(millrace_core::ports::Connection {
        read_only: true,
        ..connection("redis", &format!("redis://127.0.0.1:{}", server.port), &[])
    });
    assert_eq!(run(&read_only, "SET k v").unwrap_err().message, "the command writes, and the adapter is read-only");
    assert_eq!(arguments(&read_only, &[text("GET"), text("hunter2")], Access::Read).unwrap().rows, [[text("hunter2")]]);
    let error = run(&open(server.port), "REPLICAOF NO ONE").unwrap_err();
    assert_eq!(error.kind, Denied);
    let replica = redis::start(&["--replicaof", "127.0.0.1", &server.port.to_string(), "--replica-serve-stale-data", "yes"]);
    let error = run(&open(replica.port), "SET k v").unwrap_err();
    assert!(error.kind == Configuration && error.message.ends_with("is a replica, which takes no writes"), "{error:?}");
}

#[test]
fn results_have_limits() {
    let server = redis::start(&[]);
    let database = open(server.port);
    for start in 0..6 {
        let mut values = vec![text("RPUSH"), text("l")];
        values.extend((0..2_000).map(|number| Value::I64(start * 2_000 + number)));
        arguments(&database, &values, Access::Write).unwrap();
    }
    assert_eq!(run(&database, "LRANGE l 0 9999").unwrap().rows.len(), 10_000);
    let words = ["LRANGE", "l", "0", "9999"].map(text);
    let all = Query { command: Command::Arguments(&words), ..query("") };
    assert_eq!([database.cut(&all, 10_000), database.cut(&all, 9_999)], [Ok((10_000, false)), Ok((9_999, true))]);
    let error = run(&database, "LRANGE l 0 10000").unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::TooLarge, "the result has more than `max_rows`, 10000 rows"));
    arguments(&database, &[text("SET"), text("big"), text(&"x".repeat((1 << 20) + 1))], Access::Write).unwrap();
    let error = arguments(&database, &[text("GET"), text("big")], Access::Read).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::TooLarge, "the reply of the Redis server has more than 1048576 bytes"));
    let error = run(&database, "GETDEL big").unwrap_err();
    assert_eq!(error.message, "the reply of the Redis server has more than 1048576 bytes; the command took effect");
    assert_eq!(json(&database, "EXISTS big"), r#"[{"value":0}]"#);
}

#[test]
fn a_script_writes_commands_as_text() {
    let server = redis::start(&[]);
    let database = open(server.port);
    database.run("SET $1 $2", &[text("a b"), text("c\r\nd")]).unwrap();
    assert_eq!(database.run("GET 'a b'", &[]).unwrap().rows, [[text("c\r\nd")]]);
    assert_eq!(database.run("MGET $1", &[Value::Array(vec![text("a b"), text("x")])]).unwrap().rows.len(), 2);
    let error = database.run("GET user:$1", &[text("x")]).unwrap_err();
    assert!(error.kind == ErrorKind::Syntax && error.message.contains("a parameter is part of an argument"), "{error:?}");
}
