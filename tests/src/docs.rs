//! What a page of the documentation shows, run as its reader would.

use std::{
    path::Path,
    process::{Command, Output},
};

use crate::local::binary;

/// The fenced blocks of a page: what stands behind each fence, and the text.
#[must_use]
pub fn blocks(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((kind.to_owned(), body.join("\n") + "\n"));
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
