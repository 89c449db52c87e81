//! `connector: mongodb` of a Worker, in real workerd: the answers are those of every host, and what
//! goes wrong is told.

use std::{
    path::{Path, PathBuf},
    thread,
};

use millrace_tests::{
    mongodb,
    shown::shown,
    worker,
    workerd::{Surroundings, Workerd},
};
use serde_json::{Value as Json, json};

use crate::mongodb::support::{
    Answer::{Bytes, Half, Reply, Silence},
    Scripted,
};
use millrace_tests::files::write;

/// The app has no scripts, so that its runtime has sockets and nothing else.
fn build(folder: &Path) -> PathBuf {
    write(folder, "millrace.yaml", "name: far\n");
    for (adapter, variable, timeout) in [("far", "MONGODB_URL", "8s"), ("lame", "LAME_URL", "3s")] {
        let text = format!("connector: mongodb\nconnection_string: \"{{{{ env.{variable} }}}}\"\noptions: {{ timeout: {timeout} }}\n");
        write(folder, &format!("app/adapters/{adapter}.yaml"), &text);
        let inputs = "inputs: { s: { type: string, optional: true }, o: { type: object, optional: true } }\n";
        for (name, document) in [
            ("put", json!({"insert": "kept", "documents": [{"_id": "{{ inputs.s }}", "a": "<{{ inputs.s }}>"}]})),
            ("get", json!({"find": "kept", "filter": {"_id": "{{ inputs.s }}"}})),
            ("operator", json!({"find": "kept", "filter": {"_id": "{{ inputs.o }}"}})),
            ("count", json!({"update": "counted", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}, "upsert": true}]})),
            ("read", json!({"find": "counted", "filter": {"_id": 1}, "projection": {"_id": 0}})),
            ("many", json!({"find": "many", "sort": {"_id": 1}})),
        ] {
            let text = format!("description: x\nuse: {adapter}\nstatement: {document}\n{inputs}");
            write(folder, &format!("app/tools/{name}-{adapter}/config.yaml"), &text);
        }
    }
    worker::build(folder)
}

#[test]
fn mongodb_answers_as_on_every_host() {
    let folder = tempfile::tempdir().unwrap();
    let built = build(folder.path());
    let good = json!({"ok": 1, "n": 1, "cursor": {"firstBatch": [{"n": 2}], "id": 0, "ns": "shop.c"}});
    let endless = json!({"ok": 1, "cursor": {"firstBatch": vec![json!({"a": 1}); 5_000], "nextBatch": vec![json!({"a": 1}); 5_000], "id": 7, "ns": "shop.c"}});
    let lame = Scripted::start(vec![
        Half(good.clone(), 0),
        Reply(good.clone()),
        Half(good.clone(), 40),
        Reply(good.clone()),
        Half(good, 9),
        Silence,
        Bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
        Reply(endless),
    ]);
    let mut server = mongodb::start(&["--user", "me:hunter2:SCRAM-SHA-256"]);
    let urls = [
        format!("mongodb://me:hunter2@127.0.0.1:{}/shop?authSource=admin", server.process.port),
        format!("mongodb://127.0.0.1:{}/shop", lame.port),
    ];
    let variables = [("MILLRACE_LOG", "debug"), ("MONGODB_URL", &urls[0]), ("LAME_URL", &urls[1])];
    let surroundings = Surroundings { variables: &variables, ..Surroundings::default() };
    let workerd = Workerd::start_with(&built, &surroundings).unwrap_or_else(|said| panic!("{said}"));

    // Every hostile value comes back, and nothing else happens.
    let hostile: Vec<String> = serde_json::from_str(include_str!("../data/hostile-values.json")).unwrap();
    let distinct: std::collections::BTreeSet<&String> = hostile.iter().collect();
    for value in &distinct {
        assert_eq!(workerd.text("put-far", &json!({ "s": value })), shown(json!([{ "_id": value }])).to_string());
        assert_eq!(
            workerd.text("get-far", &json!({ "s": value })),
            shown(json!([{ "_id": value, "a": format!("<{value}>") }])).to_string()
        );
    }
    let kept = server.commands().iter().filter(|command| command.get("insert").is_some()).count();
    assert_eq!(kept, distinct.len());
    let refused = workerd.call("operator-far", &json!({"o": {"$ne": null}}));
    assert!(refused.to_string().contains("no key may begin with `$`"), "{refused}");

    // Each command has a connection and a login of its own.
    let before_ms = workerd.cpu_ms();
    thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| workerd.text("count-far", &json!({})));
        }
    });
    println!("a call takes {:.1} ms of CPU", (workerd.cpu_ms() - before_ms) / 24.0);
    assert_eq!(workerd.text("read-far", &json!({})), r#"[{"n":24}]"#);

    // A write is never sent twice, a read once more, and a reply that is none ends the call.
    let unknown = "it is not known whether the statement took effect.";
    let (code, message) = workerd.failure("count-lame");
    assert!(code == "DATABASE_ERROR" && message.ends_with(unknown), "{code} {message}");
    assert_eq!(lame.received().len(), 1);
    assert_eq!(workerd.text("count-lame", &json!({})), r#"[{"affected_rows":1,"upserted_ids":[]}]"#);
    assert_eq!(workerd.text("read-lame", &json!({})), r#"[{"n":2}]"#, "after half a reply");
    assert_eq!(lame.received().len(), 4);
    let (code, message) = workerd.failure("count-lame");
    assert!(code == "DATABASE_ERROR" && message.ends_with(unknown), "{code} {message}");
    assert_eq!(workerd.failure("count-lame").0, "TIMEOUT");
    assert_eq!(workerd.failure("count-lame").0, "DATABASE_ERROR");
    assert_eq!(workerd.failure("many-lame").0, "RESULT_TOO_LARGE");

    // A paused server ends a call at its deadline, and a dead one at once.
    server.process.signal("STOP");
    let (code, _) = workerd.failure("count-far");
    server.process.signal("CONT");
    assert!(["TIMEOUT", "DATABASE_UNAVAILABLE"].contains(&code.as_str()), "{code}");
    server.process.kill();
    assert_eq!(workerd.failure("read-far").0, "DATABASE_UNAVAILABLE");
    server.process.restart();
    millrace_tests::wait::until_else(|| workerd.log(), || workerd.call("read-far", &json!({}))["isError"] == Json::Bool(false));
    let log = workerd.log();
    assert!(!log.contains("hunter2") && !log.contains("panic"), "{log}");
}
