//! The linker of scripts: TypeScript or JavaScript modules in, one program out (see [`Script`](millrace_core::app::Script)).

use std::path::{Path, PathBuf};

use crate::Diagnostic;

/// A linked script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The program; see [`Script::program`](millrace_core::app::Script).
    pub program: String,
    /// The names that the entry exports.
    pub exports: Vec<String>,
    /// Every file that went in, relative to the app's folder.
    pub files: Vec<PathBuf>,
}

/// Links the script `entry` (relative to `folder`) with everything it imports.
///
/// # Errors
/// Every [`Diagnostic`] of every module.
pub fn link(folder: &Path, entry: &Path) -> Result<Linked, Vec<Diagnostic>> {
    let _ = (folder, entry);
    Err(Vec::new())
}
