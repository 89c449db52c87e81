//! Snapshots: what tests gave when somebody last looked, in a file beside each file of tests.

use std::{collections::BTreeMap, fs, io, path::Path};

use millrace_bundler::AppTest;
use millrace_core::Json;
use serde_json::Map;

use super::{
    compare::{Comparison, differences},
    outcome::{Outcome, Problem},
};
use crate::output::CommandError;

/// The longest file of snapshots, in bytes.
const LONGEST: u64 = 64 << 20;

/// What is done with a snapshot that is missing or different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writing {
    /// Both are problems of their tests.
    Nothing,
    /// One that is missing is written.
    Missing,
    /// Both are written, and what no test has any more is removed, unless only some tests ran.
    All { only_some: bool },
}

/// Compares the snapshots of tests with those of their files, and writes them; how many were
/// written.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn compare(folder: &Path, results: &mut [(&AppTest, Outcome)], writing: Writing) -> Result<usize, CommandError> {
    let mut files: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, (test, _)) in results.iter().enumerate() {
        if test.snapshot.is_some() {
            files.entry(file_of(&test.file)).or_default().push(index);
        }
    }
    let mut written = 0;
    for (file, tests) in files {
        written += one_file(folder, &file, &tests, results, writing)?;
    }
    Ok(written)
}

/// `x.test.yaml` → `x.test.snap.json`
fn file_of(tests: &str) -> String {
    format!("{}.snap.json", tests.rsplit_once('.').map_or(tests, |(stem, _)| stem))
}

fn one_file(
    folder: &Path,
    file: &str,
    tests: &[usize],
    results: &mut [(&AppTest, Outcome)],
    writing: Writing,
) -> Result<usize, CommandError> {
    let path = folder.join(file);
    let before = read(&path, file)?;
    let mut after = before.clone();
    let mut written = 0;
    for index in tests {
        let (test, outcome) = &mut results[*index];
        let Some(found) = outcome.snapshot.take() else { continue };
        let Some(place) = &test.snapshot else { continue };
        let changes = match (before.get(&test.name), writing) {
            (Some(kept), _) => differences("snapshot", kept, &found, Comparison::Equals),
            (None, Writing::Nothing) => vec![format!("`{file}` has no snapshot of the test")],
            (None, _) => vec![String::new()],
        };
        if changes.is_empty() {
            continue;
        }
        if matches!(writing, Writing::All { .. }) || !before.contains_key(&test.name) && writing == Writing::Missing {
            after.insert(test.name.clone(), found);
            written += 1;
            continue;
        }
        let last = changes.len() - 1;
        for (number, change) in changes.into_iter().enumerate() {
            let help = if number == last { "; `millrace test --update` writes it" } else { "" };
            outcome.fail(Problem::new(place, format!("{change}{help}")));
        }
    }
    if writing == (Writing::All { only_some: false }) {
        after.retain(|name, _| tests.iter().any(|index| results[*index].0.name == *name));
    }
    if after != before {
        let text = format!("{:#}\n", Json::Object(after));
        fs::write(&path, text).map_err(|error| CommandError::Wrong(format!("`{file}` cannot be written: {error}")))?;
    }
    Ok(written)
}

fn read(path: &Path, file: &str) -> Result<Map<String, Json>, CommandError> {
    let wrong = |why: &dyn std::fmt::Display| CommandError::Wrong(format!("the snapshots `{file}` cannot be read: {why}"));
    match fs::metadata(path) {
        Ok(metadata) if metadata.len() > LONGEST => return Err(wrong(&format!("the file is longer than {} MB", LONGEST >> 20))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        _ => {}
    }
    let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
    serde_json::from_str(&text).map_err(|error| wrong(&error))
}
