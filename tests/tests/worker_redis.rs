//! `connector: redis` and `connector: upstash` of a Worker, in real workerd: the answers are those
//! of every host, and what goes wrong is told.

use std::{
    path::{Path, PathBuf},
    thread,
};

use millrace_core::hidden::visible;
use millrace_tests::{
    database::{Database, connection},
    process::Process,
    redis,
    scripted::Scripted,
    upstash, worker,
    workerd::{Surroundings, Workerd},
};
use serde_json::json;

use crate::redis::{
    replies::FORMS,
    support::{
        Answer::{AndEnd, AndSilence, Bytes},
        Scripted as ScriptedRedis, raw, run,
    },
};
use millrace_tests::files::write;

const PASSWORD: &str = "hunter2";
const TOKEN: &str = "t.o.k-hunter2";

/// The app has no scripts, so that its runtime has sockets and nothing else.
fn build(folder: &Path) -> PathBuf {
    write(folder, "millrace.yaml", "name: far\n");
    let adapters = [
        ("tcp", "connector: redis\nconnection_string: \"{{ env.REDIS_URL }}\"\noptions: { timeout: 8s }\n"),
        ("rest", "connector: upstash\nconnection_string: \"{{ env.REST_URL }}\"\noptions: { token: \"{{ env.TOKEN }}\" }\n"),
        ("lame", "connector: redis\nconnection_string: \"{{ env.LAME_URL }}\"\noptions: { timeout: 3s }\n"),
    ];
    for (adapter, text) in adapters {
        write(folder, &format!("app/adapters/{adapter}.yaml"), text);
        let tool = |name: &str, statement: &str, inputs: &str| {
            let statement = serde_json::to_string(statement).unwrap();
            let file = format!("app/tools/{name}-{adapter}/config.yaml");
            write(folder, &file, &format!("description: x\nuse: {adapter}\nstatement: {statement}\n{inputs}"));
        };
        for (number, (command, _)) in FORMS.iter().enumerate() {
            tool(&format!("form{number}"), command, "");
        }
        tool("put", "SET k:{{ inputs.s }} {{ inputs.s }}", "inputs: { s: { type: string } }\n");
        tool("get", "GET k:{{ inputs.s }}", "inputs: { s: { type: string } }\n");
        tool("count", "INCR counted", "");
        tool("read", "GET counted", "");
    }
    worker::build(folder)
}

struct Kit {
    _rest: Scripted,
    workerd: Workerd,
}

impl Kit {
    fn start(built: &Path, redis: &Process, lame: u16) -> Self {
        let rest = upstash::start(redis.port, TOKEN);
        let urls = [format!("redis://shop:{PASSWORD}@127.0.0.1:{}/0", redis.port), format!("http://{}", rest.address)];
        let lame = format!("redis://127.0.0.1:{lame}");
        let variables = [("MILLRACE_LOG", "debug"), ("REDIS_URL", &urls[0]), ("REST_URL", &urls[1]), ("TOKEN", TOKEN), ("LAME_URL", &lame)];
        let surroundings = Surroundings { variables: &variables, ..Surroundings::default() };
        let workerd = Workerd::start_with(built, &surroundings).unwrap_or_else(|said| panic!("{said}"));
        Self { _rest: rest, workerd }
    }
}

#[test]
fn redis_and_upstash_answer_as_on_every_host() {
    let folder = tempfile::tempdir().unwrap();
    let built = build(folder.path());
    let lame = ScriptedRedis::start(&[
        AndEnd(b""),
        Bytes(b":2\r\n"),
        AndEnd(b"$5\r\nhal"),
        AndSilence(b""),
        Bytes(b"*1000000000\r\n"),
        Bytes(b"%1\r\n+a\r\n+b\r\n"),
    ]);
    let mut redis = redis::start(&["--user", "shop", "on", ">hunter2", "~*", "+@all"]);
    let kit = Kit::start(&built, &redis, lame.port);
    for adapter in ["tcp", "rest"] {
        for (number, (command, expected)) in FORMS.iter().enumerate() {
            assert_eq!(kit.workerd.text(&format!("form{number}-{adapter}"), &json!({})), *expected, "{adapter}: {command}");
        }
        redis.kill();
        redis.restart();
        // It reads what it had before it takes commands.
        millrace_tests::wait::until("the server does not come up", || raw(redis.port, &[b"FLUSHALL"]) == "+OK");
    }

    // Every hostile value comes back, and nothing else happens.
    let hostile: Vec<String> = serde_json::from_str(include_str!("../data/hostile-values.json")).unwrap();
    let distinct: std::collections::BTreeSet<&String> = hostile.iter().collect();
    for value in &distinct {
        for (put, get) in [("tcp", "rest"), ("rest", "tcp")] {
            kit.workerd.text(&format!("put-{put}"), &json!({ "s": value }));
            assert_eq!(kit.workerd.text(&format!("get-{get}"), &json!({ "s": value })), json!([{ "value": visible(value) }]).to_string());
        }
    }
    assert_eq!(raw(redis.port, &[b"DBSIZE"]), format!(":{}", distinct.len()));

    // Each command has a connection of its own, and leaves none.
    let before_ms = kit.workerd.cpu_ms();
    thread::scope(|scope| {
        for number in 0..24 {
            let (kit, adapter) = (&kit, ["tcp", "rest"][number % 2]);
            scope.spawn(move || kit.workerd.text(&format!("count-{adapter}"), &json!({})));
        }
    });
    println!("a call takes {:.1} ms of CPU", (kit.workerd.cpu_ms() - before_ms) / 24.0);
    assert_eq!(kit.workerd.text("read-tcp", &json!({})), r#"[{"value":"24"}]"#);
    let watcher = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", redis.port), &[("allow", "INFO")]));
    millrace_tests::wait::until_else(
        || format!("a connection is left: {:?}", run(&watcher, "INFO clients")),
        || format!("{:?}", run(&watcher, "INFO clients").unwrap().rows).contains("connected_clients:1\\r"),
    );
    drop(watcher);

    // A write is never sent twice, a read once more, and a reply that is none ends the call.
    let unknown = "it is not known whether the statement took effect.";
    let (code, message) = kit.workerd.failure("count-lame");
    assert!(code == "DATABASE_ERROR" && message.ends_with(unknown), "{code} {message}");
    assert_eq!(lame.received().len(), 1);
    assert_eq!(kit.workerd.text("count-lame", &json!({})), r#"[{"value":2}]"#);
    let (code, message) = kit.workerd.failure("count-lame");
    assert!(code == "DATABASE_ERROR" && message.ends_with(unknown), "{code} {message}");
    assert_eq!(kit.workerd.failure("count-lame").0, "TIMEOUT");
    assert_eq!(kit.workerd.failure("count-lame").0, "RESULT_TOO_LARGE");
    assert_eq!(kit.workerd.failure("count-lame").0, "DATABASE_ERROR");
    assert_eq!(lame.received().len(), 6);

    // A paused server ends a call at its deadline, and a dead one at once.
    redis.signal("STOP");
    let (code, _) = kit.workerd.failure("count-tcp");
    redis.signal("CONT");
    assert!(["TIMEOUT", "DATABASE_UNAVAILABLE"].contains(&code.as_str()), "{code}");
    redis.kill();
    assert_eq!(kit.workerd.failure("read-tcp").0, "DATABASE_UNAVAILABLE");
    redis.restart();
    assert!(kit.workerd.text("read-tcp", &json!({})).contains("\"2"));
    let log = kit.workerd.log();
    assert!(!log.contains("hunter2") && !log.contains("panic"), "{log}");
}
