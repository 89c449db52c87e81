//! What `millrace.lock` says of a tool.

use millrace_core::{
    app::{Bind, Execute, Part, Statement},
    hex,
    ports::Column,
};
use sha2::{Digest as _, Sha256};

use super::reader::ToolReader;
use crate::{
    compiler::Compiler,
    lock::{LOCK_FILE, Lock, ToolStatement},
    portable::{KEY_RULE, is_key},
    yaml::Node,
};

/// The longest file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// How many bytes of a digest are kept.
const DIGEST_BYTES: usize = 16;

/// Reads the file of an app, which need not be there.
pub(super) fn read(compiler: &mut Compiler<'_>) -> Option<Lock> {
    if !compiler.tree.has_file(LOCK_FILE) {
        return None;
    }
    let source = compiler.text(LOCK_FILE, MAX_BYTES)?;
    match Lock::parse(&source.text) {
        Ok(lock) => Some(lock),
        Err(error) => {
            let help = "Delete it, and write it anew with `millrace check --connect --lock`.";
            compiler.findings.error(&source, 0..0, format!("`{LOCK_FILE}` cannot be read: {error}"), help);
            None
        }
    }
}

/// What a tool's statement returns, where the lock file knows it.
pub(super) fn of_tool(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, execute: &Execute) -> Option<Vec<Column>> {
    let (document, tool) = (reading.document, reading.name);
    let Execute::Statement { statement, .. } = execute else { return None };
    let node = document.root.at("statement")?;
    let digest = digest(document.root.at("use").and_then(Node::text), node.text()?, statement);
    let place = document.source.place(node.range.start);
    let locked = compiler.lock.as_ref().and_then(|lock| lock.tools.get(tool));
    let is_stale = locked.is_some_and(|locked| locked.statement != digest);
    let columns = locked.filter(|_| !is_stale).map(|locked| locked.columns.clone());
    if is_stale {
        let message =
            format!("the statement of the tool `{tool}` has changed since `{LOCK_FILE}` was written, so it is not known what it returns");
        compiler.warning(document, node.range.clone(), message, "Write the file anew with `millrace check --connect --lock`.");
    }
    compiler.statements.push(ToolStatement { tool: tool.to_owned(), place, digest, columns: columns.clone() });
    columns
}

/// Notes columns whose names clients do not take: the tool's `outputSchema` does not have them.
pub(super) fn check_names(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, columns: &[Column]) {
    let Some(node) = reading.document.root.at("statement") else { return };
    for column in columns.iter().filter(|column| !is_key(&column.name)) {
        let message = format!("the column `{}` is not in the `outputSchema` of the tool `{}`: {KEY_RULE}", column.name, reading.name);
        compiler.warning(reading.document, node.range.clone(), message, "Give it an alias: `… AS name`.");
    }
}

/// A digest of everything that decides what a statement returns: its text, and what its
/// placeholders are.
fn digest(used: Option<&str>, text: &str, statement: &Statement) -> String {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    add(used.unwrap_or_default());
    add(text.trim());
    for part in &statement.parts {
        match part {
            Part::Bind(Bind::Value { kind, .. }) | Part::BindEach { kind, .. } => add(&format!("{kind:?}")),
            Part::Choice { options, .. } | Part::ChoiceEach { options, .. } => options.iter().for_each(|(_, written)| add(written)),
            Part::Text(_) | Part::Env(_) | Part::EnvIdent(_) | Part::Textual(_) | Part::Bind(Bind::Composed(_)) => {}
        }
    }
    hex::encode(&digest.finalize()[..DIGEST_BYTES])
}
