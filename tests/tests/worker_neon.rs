//! `connector: neon` of a Worker, in real workerd: an API that misbehaves gets no write twice.

use std::time::{Duration, Instant};

use millrace_tests::{
    failures::{self, Case, READ, SAID, WRITE},
    scripted::{Script, Scripted},
    worker,
    workerd::{Surroundings, Workerd},
};
use serde_json::{Value as Json, json};

use crate::worker_ports::kit::code;
use millrace_tests::files::write;

/// How long a request may take that a busy machine sends late.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn an_api_that_misbehaves() {
    let adapter = "connector: neon\nconnection_string: \"{{ env.DATABASE_URL }}\"\noptions: { base_url: \"{{ env.API }}\" }\n";
    far_databases_that_misbehave(adapter, &[("DATABASE_URL", "postgres://me:hunter2@db/x")], failures::neon());
}

/// What becomes of a read and of a write against each answer; `hunter2` is the password, and `API`
/// the variable with the server's address.
pub(crate) fn far_databases_that_misbehave(adapter: &str, variables: &[(&str, &str)], cases: Vec<Case>) {
    misbehaves(adapter, [READ, WRITE], variables, cases);
}

/// The same of these two statements.
pub(crate) fn misbehaves(adapter: &str, statements: [&str; 2], variables: &[(&str, &str)], cases: Vec<Case>) {
    any_misbehaves(adapter, statements.map(|statement| format!("statement: {statement}")), variables, cases);
}

/// The same of these two, as the file of a tool has them. Codes of an API are those of a database.
pub(crate) fn any_misbehaves(adapter: &str, [read, write]: [String; 2], variables: &[(&str, &str)], cases: Vec<Case>) {
    let folder = tempfile::tempdir().unwrap();
    self::write(folder.path(), "millrace.yaml", "name: far\n");
    self::write(folder.path(), "app/adapters/main.yaml", adapter);
    for (tool, statement) in [("read", read), ("write", write)] {
        let text = format!("description: x\nuse: main\n{statement}\n");
        self::write(folder.path(), &format!("app/tools/{tool}/config.yaml"), &text);
    }
    let built = worker::build(folder.path());
    let script = Script::default();
    let server = Scripted::by(&script);
    let api = format!("http://{}", server.address);
    let variables = [&[("MILLRACE_LOG", "debug"), ("API", &api)], variables].concat();
    let surroundings = Surroundings { variables: &variables, ..Surroundings::default() };
    let workerd = Workerd::start_with(&built, &surroundings).unwrap_or_else(|said| panic!("{said}"));
    assert!(!cases.is_empty());
    for Case { what, replies, read, written } in cases {
        for (tool, (outcome, requests)) in [("read", read), ("write", written)] {
            script.set(&replies);
            let before = server.received().len();
            let result = workerd.call(tool, &json!({}));
            let found = match result["isError"].as_bool() {
                Some(false) => {
                    let answer: Json = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
                    Ok(answer.as_array().map_or(0, Vec::len))
                }
                _ => {
                    let code = result["_meta"]["millrace/error"]["code"].as_str().unwrap_or_else(|| panic!("{result}"));
                    Err(code.replace("API_", "DATABASE_").replace("NOT_FOUND", "CONSTRAINT"))
                }
            };
            // What undoes a transaction may be sent after the answer.
            let answered = Instant::now();
            while server.received().len() < before + requests && answered.elapsed() < PATIENCE {
                millrace_tests::wait::moment();
            }
            let expected = (outcome.map_err(|kind| code(kind).to_owned()), requests);
            assert_eq!((found, server.received().len() - before), expected, "{what}: {tool}: {result}");
            assert!(!result.to_string().contains("hunter2") && !result.to_string().contains(SAID), "{what}: {result}");
        }
    }
    assert!(!workerd.log().contains("hunter2"), "{}", workerd.log());
}
