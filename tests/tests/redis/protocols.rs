//! RESP2 and RESP3: which is spoken, and that a command has one answer in both, and through
//! Upstash's API.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use millrace_core::{
    ErrorKind::{self, Configuration, Credentials, Protocol, Unavailable},
    app::Access,
    ports::{Command, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query, text},
    redis, upstash as stand_in,
};

use super::{
    replies::FORMS,
    support::{
        Answer::{self, AndEnd, AndSilence, Bytes},
        Hello, Scripted, arguments, json, raw, run,
    },
    upstash,
};

fn database(url: &str, options: &[(&str, &str)]) -> Database {
    Database::open(connection("redis", url, options))
}

/// Which version the connection of an adapter speaks, as the server says.
fn spoken(url: &str, options: &[(&str, &str)]) -> String {
    let options = [options, &[("allow", "CLIENT")]].concat();
    let rows = run(&database(url, &options), "CLIENT INFO").unwrap().rows;
    let [Value::Text(line)] = rows[0].as_slice() else { panic!("{rows:?}") };
    line.split_ascii_whitespace().find(|field| field.starts_with("resp=")).unwrap().to_owned()
}

#[test]
fn the_newest_version_is_spoken_that_both_know() {
    let server = redis::start(&["--user", "reader", "on", ">hunter2", "~*", "+@all"]);
    let url = format!("redis://127.0.0.1:{}", server.port);
    let user = format!("redis://reader:hunter2@127.0.0.1:{}/2", server.port);
    for (url, options, expected) in [
        (url.as_str(), &[][..], "resp=3"),
        (&user, &[], "resp=3"),
        (&url, &[("protocol", "2")], "resp=2"),
        (&url, &[("protocol", "3")], "resp=3"),
        (&format!("{user}?protocol=2"), &[], "resp=2"),
    ] {
        assert_eq!(spoken(url, options), expected, "{url} {options:?}");
    }
    let without = redis::start(&["--rename-command", "HELLO", ""]);
    let url = format!("redis://127.0.0.1:{}", without.port);
    assert_eq!(spoken(&url, &[]), "resp=2", "it does not know `HELLO`");
    let error = run(&database(&url, &[("protocol", "3")]), "PING").unwrap_err();
    let expected = "the Redis server does not speak RESP3; remove `protocol`, which asks for it";
    assert_eq!((error.kind, error.message.as_str()), (Configuration, expected));
}

/// Commands whose replies are of other types in RESP3, or in other lists; after [`FORMS`].
const MORE: [&str; 62] = [
    "ZADD z 1.5 a 2 b inf c -inf d 0.1 e 1e300 f 9007199254740993 g",
    "ZRANGE z 0 -1 WITHSCORES",
    "ZRANGEBYSCORE z -inf +inf WITHSCORES LIMIT 0 3",
    "ZREVRANGE z 0 -1 WITHSCORES",
    "ZRANGE nothing 0 -1 WITHSCORES",
    "ZSCORE z c",
    "ZMSCORE z a c d none",
    "ZINCRBY z 0.3 e",
    "ZADD z INCR inf a",
    "ZADD z NX INCR 1 a",
    "ZRANK z a",
    "ZRANK z none",
    "ZADD other 1 a 1 b",
    "ZUNION 2 z other WITHSCORES",
    "ZINTER 2 z other WITHSCORES",
    "ZDIFF 2 z other WITHSCORES",
    "ZUNION 2 z other",
    "ZRANDMEMBER other 0 WITHSCORES",
    "ZRANDMEMBER nothing",
    "ZPOPMIN z",
    "ZPOPMAX z 2",
    "ZPOPMIN nothing 2",
    "ZMPOP 1 z MIN COUNT 2",
    "ZMPOP 1 nothing MIN",
    "ZSCAN other 0",
    "HSET h name Ada id 7",
    "HGETALL h",
    "HRANDFIELD h 0 WITHVALUES",
    "HSET one f v",
    "HRANDFIELD one 1 WITHVALUES",
    "HRANDFIELD one -2 WITHVALUES",
    "HINCRBYFLOAT h pi 3.25",
    "INCRBYFLOAT f 0.1",
    "SADD set 1 2 3",
    "SMEMBERS set",
    "SINTER set nothing",
    "SMISMEMBER set 1 9",
    "SISMEMBER set 1",
    "SRANDMEMBER nothing 2",
    "SPOP nothing 2",
    "GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania",
    "GEOPOS g Palermo none",
    "GEODIST g Palermo Catania km",
    "GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC WITHCOORD WITHDIST WITHHASH",
    "XADD x 5-0 a 1",
    "XREAD STREAMS x y 0 0",
    "XADD y 1-0 b 2",
    "XREAD COUNT 5 STREAMS x y 0 0",
    "XGROUP CREATE x g 0",
    "XREADGROUP GROUP g c STREAMS x >",
    "XPENDING x g",
    "XLEN x",
    "XAUTOCLAIM x g d 0 0",
    "XINFO GROUPS x",
    "XINFO STREAM x",
    "CONFIG GET databases",
    "MSET s1 ohmytext s2 mynewtext",
    "LCS s1 s2 IDX WITHMATCHLEN",
    "LCS s1 s2",
    "MEMORY USAGE nothing",
    "OBJECT ENCODING z",
    "COMMAND GETKEYS MSET a b c d",
];

/// Code of `EVAL`, in the types that a script can reply with.
const SCRIPTS: [&str; 17] = [
    "return 1 == 1",
    "return 1 == 2",
    "redis.setresp(3); return true",
    "redis.setresp(3); return false",
    "return {double=3.25}",
    "return {double=math.huge}",
    "return {double=-math.huge}",
    "return {map={key='value'}}",
    "return {set={member=true}}",
    "return {big_number='3492890328409238509324850943850943825024385'}",
    "return {verbatim_string={format='mkd',string='# title\\n'}}",
    "redis.setresp(3); return redis.call('ZSCORE', 'other', 'a')",
    "redis.setresp(3); return redis.call('HGETALL', 'one')",
    "return redis.call('HGETALL', 'one')",
    "return {1, {2, false, 'x'}, redis.status_reply('OK')}",
    "return {}",
    "return 9007199254740993",
];

#[test]
fn one_command_has_one_answer_whatever_is_spoken() {
    let server = redis::start(&[]);
    let api = stand_in::start(server.port, upstash::TOKEN);
    let allow = [("allow", "EVAL,CONFIG GET,COMMAND GETKEYS")];
    let url = |options: &str| format!("redis://127.0.0.1:{}{options}", server.port);
    let all = [
        ("RESP2", database(&url("?protocol=2"), &allow)),
        ("RESP3", database(&url("?protocol=3"), &allow)),
        ("what is negotiated", database(&url(""), &allow)),
        ("REST", upstash::open_with(&api, &allow)),
    ];
    let expected = all.each_ref().map(|(_, database)| {
        assert_eq!(raw(server.port, &[b"FLUSHALL"]), "+OK");
        let mut answers: Vec<(String, String)> = Vec::new();
        for (command, rows) in FORMS {
            let found = json(database, command);
            assert_eq!(found, rows, "{command}");
            answers.push((command.to_owned(), found));
        }
        answers.extend(MORE.map(|command| (command.to_owned(), json(database, command))));
        answers.extend(SCRIPTS.map(|script| {
            let found = arguments(database, &[text("EVAL"), text(script), text("0")], Access::Write);
            (script.to_owned(), found.map(|rows| serde_json::to_string(&rows.json()).unwrap()).unwrap_or_else(|error| format!("{error:?}")))
        }));
        answers
    });
    let [first, others @ ..] = &expected;
    for ((name, _), others) in all[1..].iter().zip(others) {
        for (one, other) in first.iter().zip(others) {
            assert_eq!(one, other, "in {name} instead of RESP2");
        }
    }
    let answer = |wanted: &str| &first.iter().find(|(command, _)| command == wanted).unwrap().1;
    assert_eq!(answer("ZSCORE z c"), r#"[{"value":null}]"#, "an infinite score");
    assert_eq!(answer("redis.setresp(3); return true"), r#"[{"value":1}]"#);
    assert_eq!(answer("return 1 == 2"), r#"[{"value":null}]"#);
    assert_eq!(answer("return {double=3.25}"), r#"[{"value":"3.25"}]"#);
    assert_eq!(answer("return {map={key='value'}}"), r#"[{"value":"key"},{"value":"value"}]"#);
    println!("{} commands have the same answer in {} ways", first.len(), all.len());
}

#[test]
fn what_a_server_sends_beside_a_reply_is_skipped() {
    let server = redis::start(&["--enable-debug-command", "yes"]);
    let database = database(&format!("redis://127.0.0.1:{}", server.port), &[("allow", "DEBUG"), ("protocol", "3")]);
    for (what, expected) in [
        ("push", r#"[{"value":"Some real reply following the push reply"}]"#),
        ("attrib", r#"[{"value":"Some real reply following the attribute"}]"#),
        ("map", r#"[{"value":0},{"value":0},{"value":1},{"value":1},{"value":2},{"value":0}]"#),
        ("set", r#"[{"value":0},{"value":1},{"value":2}]"#),
        ("double", r#"[{"value":"3.141"}]"#),
        ("null", r#"[{"value":null}]"#),
        ("true", r#"[{"value":1}]"#),
        ("false", r#"[{"value":0}]"#),
        ("bignum", r#"[{"value":"1234567999999999999999999999999999999"}]"#),
        ("verbatim", r#"[{"value":"This is a verbatim\nstring"}]"#),
    ] {
        assert_eq!(json(&database, &format!("DEBUG PROTOCOL {what}")), expected, "{what}");
    }
    assert_eq!(json(&database, "ECHO mine"), r#"[{"value":"mine"}]"#);
}

#[test]
fn limits_are_the_same_in_both_and_through_the_api() {
    let server = redis::start(&[]);
    let api = stand_in::start(server.port, upstash::TOKEN);
    let url = |version: &str| format!("redis://127.0.0.1:{}?protocol={version}", server.port);
    let all = [database(&url("2"), &[]), database(&url("3"), &[]), upstash::open_with(&api, &[])];
    for command in
        ["ZADD z 1.5 a 2 b 3 c", "HSET h name Ada id 7", "XADD x 1-0 a 1", "XADD x 2-0 a 1 b 2", "XADD y 1-0 a 1", "RPUSH l a b c"]
    {
        run(&all[0], command).unwrap();
    }
    for command in [
        "ZRANGE z 0 -1 WITHSCORES",
        "HGETALL h",
        "XREAD STREAMS x y 0 0",
        "XREAD STREAMS y 0",
        "XRANGE x - +",
        "LRANGE l 0 -1",
        "ZPOPMIN none 2",
    ] {
        let words: Vec<Value> = command.split(' ').map(text).collect();
        let mut edges = 0;
        for max_bytes in 0..700 {
            let outcomes = all.each_ref().map(|database| {
                let query = Query { command: Command::Arguments(&words), access: Access::Read, max_bytes, ..query("") };
                database.run_with(&query).map(|rows| rows.rows.len()).map_err(|error| error.kind)
            });
            assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{command} within {max_bytes} bytes: {outcomes:?}");
            edges += usize::from(outcomes[0].is_ok());
        }
        assert!(edges > 0, "{command} fits into 700 bytes");
    }
}

const UNKNOWN: Answer = Bytes(b"-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n");
const GREETED: Answer = Bytes(b"%1\r\n$5\r\nproto\r\n:3\r\n");
const ONE: Answer = Bytes(b":1\r\n");

/// The names of the commands that a server got.
fn names(server: &Scripted) -> String {
    server.received().iter().map(|words| String::from_utf8_lossy(&words[0]).into_owned()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_server_without_hello_is_remembered() {
    let end = AndEnd(b"");
    for (what, answers, commands) in [
        ("an old server", vec![UNKNOWN, AndEnd(b":1\r\n"), ONE], "HELLO GET GET GET"),
        (
            "one that has other versions",
            vec![Bytes(b"-NOPROTO unsupported protocol version\r\n"), AndEnd(b":1\r\n"), ONE],
            "HELLO GET GET GET",
        ),
        ("one that stays with RESP2", vec![Bytes(b"*2\r\n$5\r\nproto\r\n:2\r\n"), AndEnd(b":1\r\n"), ONE], "HELLO GET GET GET"),
        ("a proxy that closes the connection", vec![end, ONE], "HELLO GET GET GET"),
        ("a proxy that says something else", vec![AndEnd(b"-ERR x\r\n"), AndEnd(b":1\r\n"), ONE], "HELLO GET GET GET"),
        ("a new server", vec![GREETED, AndEnd(b"#t\r\n"), GREETED, ONE], "HELLO GET HELLO GET GET"),
    ] {
        let server = Scripted::with(Hello::Scripted, &answers);
        let database = database(&format!("redis://127.0.0.1:{}", server.port), &[]);
        for _ in 0..3 {
            assert_eq!(arguments(&database, &[text("GET"), text("k")], Access::Read).unwrap().rows, [[Value::I64(1)]], "{what}");
            // Else the next command could go out on a connection that is about to be closed.
            server.settle();
        }
        assert_eq!(names(&server), commands, "{what}");
    }
    // Nothing is asked where only one version may be spoken, or where the reply of a command could
    // be another.
    for options in [&[("protocol", "2")][..], &[("allow", "FT.SEARCH")]] {
        let server = Scripted::with(Hello::Scripted, &[ONE]);
        run(&database(&format!("redis://127.0.0.1:{}", server.port), options), "GET k").unwrap();
        assert_eq!(names(&server), "GET", "{options:?}");
    }
}

#[test]
fn a_login_that_fails_sends_no_command() {
    let refused = |answers: &[Answer], who: &str, options: &[(&str, &str)]| {
        let server = Scripted::with(Hello::Scripted, answers);
        let database = database(&format!("redis://{who}127.0.0.1:{}", server.port), options);
        let words = [text("INCR"), text("k")];
        let query = Query { command: Command::Arguments(&words), access: Access::Write, deadline_ms: 1_500, ..query("") };
        let error = database.run_with(&query).unwrap_err();
        assert!(!names(&server).contains("INCR") && !format!("{error:?}").contains("hunter2"), "{} {error:?}", names(&server));
        error.kind
    };
    let full: Answer = AndEnd(b"-ERR max number of clients reached\r\n");
    for (answers, who, options, kind) in [
        (&[Bytes(b"-NOAUTH HELLO must be called with the client already authenticated\r\n")][..], "", &[][..], Credentials),
        (&[Bytes(b"-WRONGPASS invalid username-password pair\r\n")], "me:hunter2@", &[], Credentials),
        (&[Bytes(b"+OK\r\n"), full], "me:hunter2@", &[], ErrorKind::Busy),
        (&[full], "", &[], ErrorKind::Busy),
        (&[UNKNOWN], "", &[("protocol", "3")], Configuration),
        (&[Bytes(b"%1\r\n+a\r\n+b\r\n")], "", &[], Protocol),
        (&[Bytes(b"+OK\r\n")], "", &[], Protocol),
        (&[Bytes(b"*?\r\n")], "", &[("protocol", "3")], Protocol),
        (&[Bytes(b"%1000000\r\n")], "", &[("protocol", "3")], ErrorKind::TooLarge),
        (&[AndEnd(b"")], "", &[("protocol", "3")], Unavailable),
        (&[AndSilence(b"%1\r\n$5\r\npro")], "", &[("protocol", "3"), ("connect_timeout", "100ms")], Unavailable),
    ] {
        assert_eq!(refused(answers, who, options), kind, "{who} {options:?}");
    }
}

#[test]
fn a_login_is_one_round_trip() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut received = Vec::new();
        let mut read_until = |end: &[u8]| {
            while !received.ends_with(end) {
                let mut byte = [0];
                socket.read_exact(&mut byte).unwrap();
                received.push(byte[0]);
            }
        };
        // Nothing is answered before all of it is there.
        read_until(b"*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$7\r\nhunter2\r\n*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n5\r\n");
        socket.write_all(b"+OK\r\n%1\r\n$5\r\nproto\r\n:3\r\n+OK\r\n").unwrap();
        let mut rest = [0; 64];
        let count = socket.read(&mut rest).unwrap();
        socket.write_all(b"#t\r\n").unwrap();
        rest[..count].to_vec()
    });
    let database = database(&format!("redis://me:hunter2@127.0.0.1:{port}/5"), &[]);
    assert_eq!(run(&database, "INCR k").unwrap().rows, [[Value::I64(1)]]);
    assert_eq!(served.join().unwrap(), b"*2\r\n$4\r\nINCR\r\n$1\r\nk\r\n");
}

#[test]
fn broken_replies_of_resp3_repeat_no_write() {
    for reply in [
        &b"*?\r\n"[..],
        b"$?\r\n;4\r\nabcd\r\n;0\r\n",
        b"%?\r\n",
        b"#x\r\n",
        b",1,5\r\n",
        b"(x\r\n",
        b"=2\r\nab\r\n",
        b"_\r\n_\r\n",
        b"*1\r\n>1\r\n+x\r\n",
        b"|1\r\n+a\r\n+b\r\n|40000\r\n",
        b":1\r\n:2\r\n",
    ] {
        let reply: Answer = Bytes(reply);
        for (access, name, expected) in [(Access::Read, "GET", (Ok(()), 2)), (Access::Write, "INCR", (Err(Protocol), 1))] {
            let server = Scripted::with(Hello::Resp3, &[reply, ONE]);
            let database = database(&format!("redis://127.0.0.1:{}", server.port), &[]);
            let found = arguments(&database, &[text(name), text("k")], access).map(|_| ()).map_err(|error| error.kind);
            assert_eq!((found, server.received().len()), expected, "{name} {:?}", names(&server));
        }
    }
    let deep: &'static [u8] = Box::leak(b"|1\r\n+x\r\n%1\r\n+x\r\n".repeat(50_000).into_boxed_slice());
    let pushes: &'static [u8] = Box::leak(b">1\r\n+x\r\n".repeat(500_000).into_boxed_slice());
    for (reply, kind) in [(deep, Protocol), (pushes, Protocol), (b"%500000000\r\n", ErrorKind::TooLarge), (b"~-3\r\n", Protocol)] {
        let server = Scripted::with(Hello::Resp3, &[Bytes(reply)]);
        let error = run(&database(&format!("redis://127.0.0.1:{}", server.port), &[]), "GETDEL k").unwrap_err();
        assert_eq!((error.kind, server.received().len()), (kind, 1));
    }
    // An error of several lines, and what it says of a write.
    let server = Scripted::with(Hello::Resp3, &[Bytes(b"!19\r\nWRONGTYPE x\r\nhunter2\r\n")]);
    let error = run(&database(&format!("redis://127.0.0.1:{}", server.port), &[]), "INCR k").unwrap_err();
    assert_eq!(error.kind, Protocol, "its length is wrong: {error:?}");
    let server = Scripted::with(Hello::Resp3, &[Bytes(b"!20\r\nWRONGTYPE x\r\nhunter2\r\n")]);
    let error = run(&database(&format!("redis://127.0.0.1:{}", server.port), &[]), "INCR k").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Constraint, "{error:?}");
    assert!(!error.message.contains("hunter2"), "{error:?}");
}
