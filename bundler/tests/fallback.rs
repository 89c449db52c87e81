//! What stands in for an adapter's connector on a host that does not have it.

#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use crate::support::{told, write};
use millrace_bundler::{Options, Report, bundle};

const APP: [(&str, &str); 3] = [
    ("millrace.yaml", "name: shop"),
    (
        "app/adapters/a.yaml",
        "connector: sqlite\nconnection_string: x.db\noptions: { max_rows: 5, journal_mode: wal }\nfallback:\n  connector: d1\n  connection_string: \"d1:DB\"\n  options: { timeout: 2s }",
    ),
    ("app/tools/t/config.yaml", "description: x\nuse: a\nstatement: SELECT {{ inputs.i }}\ninputs: { i: { type: int } }"),
];

fn built_for(connectors: &[&str], files: &[(&str, &str)]) -> Report {
    built_with(&[], connectors, files)
}

fn built_with(bindings: &[&str], connectors: &[&str], files: &[(&str, &str)]) -> Report {
    let list = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    bundle(folder.path(), &Options { connectors: list(connectors), d1_bindings: list(bindings), ..Options::default() })
}

#[test]
fn the_host_decides_which_one_holds() {
    let adapter = |connectors: &[&str]| {
        let report = built_for(connectors, &APP);
        assert_eq!(told(&report), "");
        let adapter = report.app.unwrap().adapters.remove(0);
        (adapter.connector, adapter.timeout_ms, adapter.max_rows, adapter.options.len())
    };
    assert_eq!(adapter(&["sqlite", "d1"]), ("sqlite".into(), 30_000, 5, 1));
    assert_eq!(adapter(&["d1"]), ("d1".into(), 2_000, 10_000, 0));
}

#[test]
fn a_connector_without_a_place_here_says_what_to_do() {
    let mut files = APP;
    files[1].1 = "connector: sqlite\nconnection_string: x.db";
    let found = told(&built_for(&["d1", "libsql"], &files));
    assert!(found.contains("app/adapters/a.yaml:1:12+6 error: connector `sqlite` needs files, which this target does not have"), "{found}");
    assert!(found.contains("`libsql` or `d1`") && found.contains("bind a D1 database to it as `A`"), "{found}");
}

#[test]
fn a_bound_database_stands_in_for_a_file_only() {
    let connector = |bindings: &[&str], connectors: &[&str], adapter: &'static str| {
        let mut files = APP;
        files[1].1 = adapter;
        let report = built_with(bindings, connectors, &files);
        report.app.map(|mut app| app.adapters.remove(0)).map(|adapter| (adapter.connector, adapter.max_rows, adapter.options.len()))
    };
    const FILE: &str = "connector: sqlite\nconnection_string: x.db\noptions: { max_rows: 5, journal_mode: wal }";
    let d1 = ("d1".to_owned(), 5, 0);
    assert_eq!(connector(&["A"], &["d1", "libsql"], FILE), Some(d1));
    assert_eq!(connector(&["A"], &["sqlite", "d1"], FILE).unwrap().0, "sqlite", "where there are files, the file");
    assert_eq!(connector(&["B"], &["d1", "libsql"], FILE), None);
    assert_eq!(connector(&["A"], &["libsql"], FILE), None);
    let server = "connector: libsql\nconnection_string: libsql://db.example.com";
    assert_eq!(connector(&["A"], &["d1", "libsql"], server).unwrap().0, "libsql");
    assert_eq!(connector(&["A"], &["d1", "libsql"], APP[1].1), Some(("d1".to_owned(), 10_000, 0)), "a `fallback` says more");
}
