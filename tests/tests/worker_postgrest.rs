//! `connector: postgrest` of a Worker, in real workerd: the answers are those of every host, and
//! what goes wrong is told.

use std::{
    path::{Path, PathBuf},
    thread,
};

use millrace_tests::{
    failures::{self, POSTGREST},
    postgres::{Postgres, psql},
    postgrest::{ROLES, TOKEN, start},
    scripted::{Reply, Scripted},
    shown::shown,
    worker,
    workerd::{Surroundings, Workerd},
};
use serde_json::{Value as Json, json};

use crate::{
    postgrest::life::{READ, WRITE},
    worker_neon::misbehaves,
};
use millrace_tests::files::write;

const SQL: &str = "\
CREATE TABLE kept (s text PRIMARY KEY, a text);
CREATE TABLE counted (id int PRIMARY KEY, n int);
INSERT INTO counted VALUES (1, 0);
CREATE FUNCTION increase() RETURNS int LANGUAGE sql VOLATILE AS 'UPDATE counted SET n = n + 1 WHERE id = 1 RETURNING n';
GRANT USAGE ON SCHEMA public TO web;
GRANT ALL ON ALL TABLES IN SCHEMA public TO web;
";

/// The app has no scripts, so that its runtime has this connector and nothing of scripts.
fn build(folder: &Path) -> PathBuf {
    write(folder, "millrace.yaml", "name: far\n");
    for (adapter, variable, timeout) in [("far", "POSTGREST_URL", "8s"), ("lame", "LAME_URL", "3s")] {
        let text = format!(
            "connector: postgrest\nconnection_string: \"{{{{ env.{variable} }}}}\"\noptions: {{ timeout: {timeout}, token: \"{{{{ env.TOKEN }}}}\" }}\n"
        );
        write(folder, &format!("app/adapters/{adapter}.yaml"), &text);
        let inputs = "inputs: { s: { type: string, optional: true } }\n";
        for (name, request) in [
            (
                "put",
                json!({"upsert": "kept", "rows": {"s": "{{ inputs.s }}", "a": "<{{ inputs.s }}>"}, "on_conflict": "s", "returning": "s"}),
            ),
            ("get", json!({"from": "kept", "where": {"s": {"eq": "{{ inputs.s }}"}}})),
            ("count", json!({"rpc": "increase"})),
            ("read", json!({"from": "counted", "select": "n"})),
        ] {
            let text = format!("description: x\nuse: {adapter}\nstatement: {request}\n{inputs}");
            write(folder, &format!("app/tools/{name}-{adapter}/config.yaml"), &text);
        }
    }
    worker::build(folder)
}

#[test]
fn a_server_that_misbehaves() {
    let adapter = "connector: postgrest\nconnection_string: \"{{ env.API }}\"\noptions: { token: \"{{ env.TOKEN }}\" }\n";
    misbehaves(adapter, [READ, WRITE], &[("TOKEN", "hunter2hunter2")], failures::postgrest());
}

#[test]
fn postgrest_answers_as_on_every_host() {
    let folder = tempfile::tempdir().unwrap();
    let built = build(folder.path());
    let postgres = Postgres::start(&[]);
    psql(&postgres.url("postgres"), &format!("{ROLES}{SQL}"));
    let mut server = start(&postgres.url("postgres"), &[]);
    let good = POSTGREST.to_owned();
    let whole = Reply::Whole(200, "application/json", good.clone());
    let half = Reply::Broken(good.clone(), good.len() / 2);
    let lame = Scripted::with(vec![
        half.clone(),
        half,
        whole,
        Reply::Stalled(good, 10),
        Reply::Raw(b"HTTP/1.1 307 Over there\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
        Reply::Whole(200, "application/json", format!("[{}1]", "1,".repeat(100_000))),
    ]);
    let urls = [server.url(), format!("http://{}", lame.address)];
    let variables = [("MILLRACE_LOG", "debug"), ("POSTGREST_URL", &urls[0]), ("LAME_URL", &urls[1]), ("TOKEN", TOKEN)];
    let surroundings = Surroundings { variables: &variables, ..Surroundings::default() };
    let workerd = Workerd::start_with(&built, &surroundings).unwrap_or_else(|said| panic!("{said}"));

    // Every hostile value that PostgreSQL takes comes back, and nothing else happens.
    let hostile: Vec<String> = serde_json::from_str(include_str!("../data/hostile-values.json")).unwrap();
    let distinct: std::collections::BTreeSet<&String> = hostile.iter().filter(|value| !value.contains('\0')).collect();
    for value in &distinct {
        assert_eq!(workerd.text("put-far", &json!({ "s": value })), shown(json!([{ "s": value }])).to_string());
        assert_eq!(workerd.text("get-far", &json!({ "s": value })), shown(json!([{ "s": value, "a": format!("<{value}>") }])).to_string());
    }
    let kept = postgres.open().rows("SELECT count(*)::int FROM kept");
    assert_eq!(kept, [[millrace_core::value::Value::I64(i64::try_from(distinct.len()).unwrap())]]);

    let before_ms = workerd.cpu_ms();
    thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| workerd.text("count-far", &json!({})));
        }
    });
    println!("a call takes {:.1} ms of CPU", (workerd.cpu_ms() - before_ms) / 24.0);
    assert_eq!(workerd.text("read-far", &json!({})), r#"[{"n":24}]"#);

    // A write is never sent twice, a read once more, and an answer that is none ends the call.
    let (code, message) = workerd.failure("count-lame");
    assert!(code == "DATABASE_ERROR" && message.ends_with("it is not known whether the statement took effect."), "{code} {message}");
    assert_eq!(lame.received().len(), 1);
    assert!(workerd.text("read-lame", &json!({})).starts_with(r#"[{"v":7,"#), "after half an answer");
    assert_eq!(lame.received().len(), 3);
    assert_eq!(workerd.failure("count-lame").0, "TIMEOUT");
    assert_eq!(workerd.failure("read-lame").0, "CONFIGURATION");
    assert_eq!(workerd.failure("read-lame").0, "RESULT_TOO_LARGE");

    // A dead server.
    server.process.kill();
    assert_eq!(workerd.failure("read-far").0, "DATABASE_UNAVAILABLE");
    server.restart();
    millrace_tests::wait::until_else(|| workerd.log(), || workerd.call("read-far", &json!({}))["isError"] == Json::Bool(false));
    let log = workerd.log();
    assert!(!log.contains(TOKEN) && !log.contains("panic"), "{log}");
}
