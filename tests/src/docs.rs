//! What a page of the documentation shows, run as its reader would.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Mutex,
};

use crate::{case::root, local::binary};

/// The page of a connector.
#[must_use]
pub fn connector_page(name: &str) -> PathBuf {
    root().join(format!("docs/connectors/{name}.md"))
}

/// The text of the page of a connector.
///
/// # Panics
/// Where there is none.
#[must_use]
pub fn connector_text(name: &str) -> String {
    let page = connector_page(name);
    fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// Compares a part of a page, between `<!-- NAME: … -->` and `<!-- end -->`, with what it must be;
/// `UPDATE_EXPECT=1` writes it anew.
///
/// # Panics
/// Where it differs, or the page has no such part.
pub fn check_part(page: &Path, part: &str, expected: &str) {
    // Tests that write several parts of a page run at the same time.
    static PAGES: Mutex<()> = Mutex::new(());
    let _writes = PAGES.lock();
    let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let find = || {
        let start = text.find(&format!("\n<!-- {part}: "))?;
        let start = start + 1 + text[start + 1..].find('\n')? + 1;
        Some(start..start + text[start..].find("<!-- end -->")?)
    };
    let place = find().unwrap_or_else(|| panic!("{} has no part `{part}`", page.display()));
    let expected = format!("\n{}\n\n", expected.trim());
    if text[place.clone()] == expected {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECT").is_some(),
        "the part `{part}` of {} is out of date; UPDATE_EXPECT=1 writes it anew. It must be:\n{expected}",
        page.display()
    );
    let written = [&text[..place.start], &expected, &text[place.end..]].concat();
    fs::write(page, written).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
}

/// The fenced blocks of a page: what stands behind each fence, and the text.
#[must_use]
pub fn blocks(page: &str) -> Vec<(String, String)> {
    numbered_blocks(page).into_iter().map(|(_, kind, body)| (kind, body)).collect()
}

/// The same with the line of each fence, from 1. A fence without a word is of the kind `plain`.
#[must_use]
pub fn numbered_blocks(page: &str) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        // A fence ends with as many marks as it began with: a longer one holds shorter ones.
        let kind = line.trim_start_matches('`');
        let fence = &line[..line.len() - kind.len()];
        if fence.len() >= 3 {
            let body: Vec<&str> = lines.by_ref().map(|(line, _)| line).take_while(|line| *line != fence).collect();
            let kind = if kind.is_empty() { "plain" } else { kind };
            found.push((number, kind.to_owned(), body.join("\n") + "\n"));
        }
    }
    found
}

/// Runs commands in a folder, up to the first that fails, with `millrace` in the path.
///
/// # Panics
/// Where there is no shell.
#[must_use]
pub fn shell(folder: &Path, script: &str) -> Output {
    shell_with(folder, script, &[], &[])
}

/// The same, with variables of its own and folders before those of the path.
///
/// # Panics
/// Where there is no shell.
#[must_use]
pub fn shell_with(folder: &Path, script: &str, env: &[(&str, &str)], path: &[&Path]) -> Output {
    let binary = binary();
    let folders = path.iter().copied().chain(binary.parent()).map(|folder| folder.display().to_string());
    let path: Vec<String> = folders.chain(std::env::var("PATH")).collect();
    let mut command = Command::new("sh");
    command.args(["-euc", script]).current_dir(folder).envs(env.iter().copied()).env("PATH", path.join(":"));
    command.output().unwrap_or_else(|error| panic!("sh: {error}"))
}

/// What a command said, both streams.
#[must_use]
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
