//! `millrace lsp`, driven by the client of pytest-lsp, which compares each message with the protocol.
//! The scenarios are in `tests/lsp`.

use std::process::Command;

use millrace_tests::{case::root, docs::text, local::binary, process::tool};

/// Runs the scenarios of a file; there are at least so many.
fn scenarios(file: &str, least: usize) {
    let folder = root().join("tests/lsp");
    let mut pytest = Command::new(tool("lsp/bin/python"));
    pytest.args(["-B", "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=300", file]);
    let output = pytest.current_dir(folder).env("MILLRACE", binary()).env_remove("MILLRACE_LOG").output().unwrap();
    let said = text(&output);
    let passed = said.lines().last().and_then(|line| line.split(" passed").next()?.rsplit(' ').next()?.parse::<usize>().ok());
    assert!(output.status.success() && passed.is_some_and(|passed| passed >= least), "{said}");
    for line in said.lines().filter(|line| line.contains("8,000 tools")) {
        println!("{line}");
    }
}

#[test]
fn completion() {
    scenarios("test_completion.py", 28);
}

#[test]
fn places() {
    scenarios("test_places.py", 12);
}

#[test]
fn rename() {
    scenarios("test_rename.py", 11);
}

#[test]
fn protocol() {
    scenarios("test_protocol.py", 25);
}

#[test]
fn page() {
    scenarios("test_page.py", 5);
}
