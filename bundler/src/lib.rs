//! The bundler: an app folder in, diagnostics and a compiled [`App`] out.
//!
//! It runs at build time only and never stops at the first problem: every mistake of the folder is a [`Diagnostic`] with
//! its place and its remedy.

use std::path::{Path, PathBuf};

use millrace_core::app::App;

pub mod diagnostic;
pub mod expression;
pub mod placeholder;
pub mod script;
pub mod statement;

pub use diagnostic::{Diagnostic, Problem, Severity};

/// What the app is built for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The connectors that the target has; any other is a mistake of the app.
    pub connectors: Vec<String>,
}

/// What the bundler found.
#[derive(Debug)]
pub struct Report {
    /// The app; `None` where a diagnostic is an error.
    pub app: Option<App>,
    /// Errors and warnings, ordered by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file that was read, and every folder that was listed: what `dev` watches.
    pub files: Vec<PathBuf>,
    /// Where each setting of each tool came from, for `millrace explain`.
    pub origins: Vec<Origin>,
}

/// Where one setting of a tool came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The tool's name.
    pub tool: String,
    /// The setting: `auth.plugin`, `limits.timeout`.
    pub setting: String,
    /// Its value, short; secrets stay placeholders.
    pub value: String,
    /// `app/tools/x/config.yaml:12:3`, `millrace.yaml:4:1`, or `default`.
    pub place: String,
}

/// Compiles an app folder.
#[must_use]
pub fn bundle(folder: &Path, options: &Options) -> Report {
    let _ = (folder, options);
    Report { app: None, diagnostics: Vec::new(), files: Vec::new(), origins: Vec::new() }
}

/// Renders diagnostics for a terminal, with the lines they mean.
#[must_use]
pub fn render(folder: &Path, diagnostics: &[Diagnostic], colour: bool) -> String {
    let _ = (folder, diagnostics, colour);
    String::new()
}
