//! Small apps and what the bundler says about them: `tests/cases/*.txt`. `UPDATE_EXPECT=1` rewrites
//! what is expected.

use std::{fs, path::Path};

use crate::support::{build_for, options, split, told};
use millrace_bundler::Report;

#[test]
fn every_case_is_told_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 30, "the cases are gone");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for path in paths {
        let case = fs::read_to_string(&path).unwrap();
        let (files, expected) = split(&case);
        // What is said of statements is said of each language.
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let connectors = match name.split('-').next() {
            Some("statement") => ["sqlite", "postgres", "mysql"].as_slice(),
            Some("http") => &["sqlite", "http"],
            _ => &[],
        };
        let mut options = options();
        if !connectors.is_empty() {
            options.connectors = connectors.iter().map(ToString::to_string).collect();
        }
        let found = outcome(&build_for(&files, &options));
        if found == expected {
            continue;
        }
        if update {
            let start = case.find("\n== expected").map_or(case.trim_end(), |at| &case[..at]);
            fs::write(&path, format!("{start}\n== expected\n{found}")).unwrap();
        } else {
            wrong.push(format!("{}\n--- expected\n{expected}--- found\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The diagnostics, and the app's names where there is one.
fn outcome(report: &Report) -> String {
    let mut text = told(report);
    if let Some(app) = &report.app {
        let names = |names: Vec<&str>| names.join(" ");
        text.push_str(&format!("app {} {}\n", app.name, app.version));
        text.push_str(&format!("tools: {}\n", names(app.tools.iter().map(|tool| tool.name.as_str()).collect())));
        text.push_str(&format!("prompts: {}\n", names(app.prompts.iter().map(|prompt| prompt.name.as_str()).collect())));
        text.push_str(&format!("resources: {}\n", app.resources.len()));
    }
    text
}
