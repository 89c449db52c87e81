//! Blocks that show what is said, and small commands: each as its page shows it.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use millrace_tests::{
    case::root,
    docs::{blocks, shell, shell_with, text},
    files::write,
    groups,
    local::{Host, binary},
    process::tool,
};
use serde_json::{Value as Json, json};

/// The blocks of a kind of a page.
pub(super) fn shown(page: &str, kind: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    blocks(&text).into_iter().filter(|(found, _)| found == kind).map(|(_, body)| body).collect()
}

/// The block of a kind that has a text.
pub(super) fn with(page: &str, kind: &str, part: &str) -> String {
    let found = shown(page, kind).into_iter().find(|body| body.contains(part));
    found.unwrap_or_else(|| panic!("docs/{page} has no block of kind `{kind}` with `{part}`"))
}

/// A new app, in a folder of its own.
fn notes() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let _ = runs(folder.path(), "millrace new notes");
    let notes = folder.path().join("notes");
    (folder, notes)
}

/// What commands say that have to succeed.
fn runs(folder: &Path, script: &str) -> String {
    let output = shell(folder, script);
    assert!(output.status.success(), "{script}\n{}", text(&output));
    text(&output)
}

/// A text on one line, without the marks of a picture of a place.
fn words(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !["×", "│", "⚠"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_cache_block_of_the_caching_page_caches() {
    let (_folder, notes) = notes();
    let block = with("caching.md", "yaml", "enabled: true");
    let file = notes.join("app/tools/find-notes/config.yaml");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &block).unwrap();
    let said = runs(&notes, "millrace check && millrace explain find-notes");
    assert!(said.contains("kept 60 s"), "{said}");
}

#[test]
fn a_line_of_the_log_is_as_the_telemetry_page_has_it() {
    let (_folder, notes) = notes();
    let file = notes.join("app/tools/find-notes/config.yaml");
    fs::write(&file, fs::read_to_string(&file).unwrap() + "cache: { ttl: 60 }\n").unwrap();
    let said = text(&shell_with(&notes, "millrace call find-notes q=tools", &[("MILLRACE_LOG", "info")], &[]));
    let line = said.lines().find(|line| line.contains("call finished")).unwrap_or_else(|| panic!("{said}"));
    // Values differ from call to call, and times as well.
    let names = |line: &str| -> Vec<String> {
        line.split_whitespace().skip(1).map(|word| word.split('=').next().unwrap_or_default().to_owned()).collect()
    };
    let shown = with("telemetry.md", "text", "call finished");
    assert_eq!(names(line), names(shown.trim()), "{line}");
}

#[test]
fn the_sizes_page_does_what_it_says() {
    let (_folder, notes) = notes();
    let [command] = &shown("sizes.md", "sh")[..] else { panic!("another number of commands") };
    let said = runs(&notes, command);
    assert!(said.contains("find-notes") && said.contains("config.yaml"), "{said}");
}

#[test]
fn the_clients_page_connects_a_client() {
    let (folder, _notes) = notes();
    let command = with("clients.md", "sh", "--write");
    let home = folder.path().display().to_string();
    let output = shell_with(folder.path(), &command, &[("HOME", &home)], &[]);
    assert!(output.status.success(), "{}", text(&output));
    let written: Json = serde_json::from_str(&fs::read_to_string(folder.path().join(".cursor/mcp.json")).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["notes"]["args"][0], "run", "{written:#}");
}

/// A database that is none: the tool fails, and `/readyz` says with which code.
#[test]
fn what_is_not_ready_is_told_as_the_operate_page_has_it() {
    let (_folder, notes) = notes();
    write(&notes, "app/adapters/shop.yaml", "connector: sqlite\nconnection_string: shop.db\n");
    write(&notes, "app/tools/list-orders/config.yaml", "description: Orders.\nuse: shop\nstatement: SELECT id FROM orders\n");
    write(&notes, "shop.db", &"This is not a database. ".repeat(100));
    let host = Host::dev(&notes, &[]);
    let asked = runs(&notes, &format!("curl -s 'http://127.0.0.1:{}/readyz?tool=list-orders'", host.port));
    let mut told: Json = serde_json::from_str(&asked).unwrap();
    assert!(told["adapters"].is_array(), "{told}");
    told["adapters"] = json!([]);
    let shown = with("operate.md", "json", "unavailable").replace("[…]", "[]");
    assert_eq!(told, serde_json::from_str::<Json>(&shown).unwrap());
}

#[test]
fn a_statement_that_cannot_be_checked_is_told_as_the_statements_page_has_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: shop\n");
    write(folder.path(), "app/adapters/shop.yaml", "connector: postgres\nconnection_string: postgres://shop@127.0.0.1/shop\n");
    // PostgreSQL takes it.
    let tool = "description: Recent.\nuse: shop\nstatement: SELECT * FROM ROWS FROM (generate_series(1, 2)) AS t\n";
    write(folder.path(), "app/tools/recent/config.yaml", tool);
    let said = words(&runs(folder.path(), "millrace check"));
    let shown = with("statements.md", "text", "could not be checked");
    let (place, message) = shown.trim().split_once(" warning: ").unwrap();
    assert!(said.contains(place) && said.contains(message.trim_end_matches('…').trim()), "{said}");
}

/// What the cases of the corpus get, which every host gives.
#[test]
fn failures_are_shown_as_callers_get_them() {
    let answers: Vec<String> = groups()
        .into_iter()
        .flat_map(|group| group.cases)
        .flat_map(|case| fs::read_to_string(&case.expected).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| serde_json::from_str::<Json>(&line).ok()?["result"]["content"][0]["text"].as_str().map(str::to_owned))
        .collect();
    for (page, part) in [("answers.md", "<tool_error"), ("idempotency.md", "<recovery>")] {
        let shown = with(page, "text", part);
        // What is left out there is an ellipsis, for a line or at its end.
        let lines: Vec<&str> =
            shown.lines().filter(|line| *line != "<recovery>…</recovery>").map(|line| line.split('…').next().unwrap().trim_end()).collect();
        let is_like = |answer: &&String| lines.iter().all(|line| answer.contains(line));
        assert!(answers.iter().any(|answer| is_like(&answer)), "docs/{page} shows what no case gets: {lines:?}");
    }
}

#[test]
fn what_is_missing_is_told_as_the_serving_page_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let auth = "auth: { plugin: api_key, policy: { keys: [ { name: a, value: \"{{ env.KEY_A }}\" }, { name: b, value: \"{{ env.KEY_B }}\" } ] } }\n";
    write(folder.path(), "millrace.yaml", &format!("name: shop\n{auth}"));
    let adapter = "connector: postgres\nconnection_string: \"postgres://shop:{{ env.SHOP_PASSWORD }}@127.0.0.1/shop\"\n";
    write(folder.path(), "app/adapters/shop.yaml", adapter);
    write(folder.path(), "app/tools/one/config.yaml", "description: One.\nuse: shop\nstatement: SELECT 1 AS one\n");
    let said = text(&shell_with(folder.path(), "millrace run . < /dev/null", &[("KEY_A", "the-key-of-a")], &[]));
    let shown = with("serving.md", "text", "is not set");
    assert!(shown.lines().all(|line| said.contains(line)) && !said.contains("KEY_A"), "{said}");
}

/// No container engine is here: one that writes down what it is told stands for it.
#[test]
fn the_containers_page_runs_the_image_as_its_file_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "docker", "#!/bin/sh\nprintf '%s\\n' \"$*\"\n");
    fs::set_permissions(folder.path().join("docker"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = shell_with(folder.path(), &with("containers.md", "sh", "docker run"), &[], &[folder.path()]);
    let said = text(&output);
    let [build, run] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
    let image = with("containers.md", "dockerfile", "FROM scratch");
    let after = |text: &str, word: &str| text.split(word).nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert_eq!(after(build, "-t "), run.split_whitespace().next_back().unwrap(), "{said}");
    assert!(run.contains(&format!("-p 8080:{}", after(&image, "EXPOSE "))), "{said}");
    assert!(run.contains(&format!(":{} ", after(&image, "MILLRACE_DATA="))) && run.contains("--tmpfs /tmp "), "{said}");
}

#[test]
fn the_grants_of_clickhouse_are_what_the_command_prints() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: shop\n");
    write(folder.path(), "app/adapters/shop.yaml", "connector: clickhouse\nconnection_string: clickhouse://app@127.0.0.1:8123/shop\n");
    for (name, statement) in [
        ("many", "SELECT id FROM visits WHERE length(tags) > 1"),
        ("remove", "DELETE FROM visits WHERE id = {{ inputs.id }}\ninputs: { id: { type: int } }"),
        ("rate", "SELECT dictGet('rates', 'rate', id) AS rate FROM visits"),
    ] {
        write(folder.path(), &format!("app/tools/{name}/config.yaml"), &format!("description: x\nuse: shop\nstatement: {statement}\n"));
    }
    let said = runs(folder.path(), "millrace grants");
    let printed: Vec<&str> = said.lines().filter(|line| line.starts_with("GRANT ")).collect();
    let shown = with("grants-others.md", "sql", "dictGet");
    assert_eq!(printed, shown.lines().collect::<Vec<_>>());
}

/// AWS's own model of the two services knows the actions.
#[test]
fn the_rights_for_the_data_api_are_those_of_aws() {
    let policy: Json = serde_json::from_str(&with("connectors/rds-data.md", "json", "Statement")).unwrap();
    assert_eq!(policy["Version"], "2012-10-17");
    let actions = policy["Statement"].as_array().unwrap().iter().flat_map(|one| match &one["Action"] {
        Json::Array(several) => several.clone(),
        one => vec![one.clone()],
    });
    let actions: Vec<String> = actions.map(|action| action.as_str().unwrap().to_owned()).collect();
    let script = "import sys, botocore.session\n\
                  session = botocore.session.get_session()\n\
                  for service, action in (one.split(':') for one in sys.argv[1:]):\n\
                  \x20   assert action in session.get_service_model(service).operation_names, (service, action)\n";
    let output = Command::new(tool("servers-venv/bin/python")).args(["-c", script]).args(&actions).output().unwrap();
    assert!(output.status.success() && actions.len() == 5, "{}", text(&output));
}

#[test]
fn a_bundle_of_another_version_is_refused_as_the_upgrading_page_says() {
    let (_folder, notes) = notes();
    let _ = runs(&notes, "millrace build --target local");
    let shown = with("upgrading.md", "text", "the bundle has version");
    let version: u16 = shown.split("version ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    let bundle = notes.join("dist/notes.bundle");
    let mut bytes = fs::read(&bundle).unwrap();
    bytes[8..10].copy_from_slice(&version.to_le_bytes());
    fs::write(&bundle, bytes).unwrap();
    let output = Command::new(binary()).arg("serve").arg(&bundle).args(["--port", "0"]).output().unwrap();
    assert!(!output.status.success() && text(&output).contains(shown.trim()), "{}", text(&output));
}
