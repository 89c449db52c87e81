//! The report of the bundler about an app folder, as data.

use std::{ops::Range, path::PathBuf};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The app cannot be built.
    Error,
    /// The app can be built; someone should look.
    Warning,
}

/// One thing to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file, relative to the app's folder, with slashes.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// How many characters are meant; 0 where the place is a point.
    pub length: usize,
    /// One sentence that names the thing in backticks.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
}

/// A problem inside one text (a statement, an expression, a placeholder), before it is known where
/// the text stands in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The bytes of the text that are meant.
    pub range: Range<usize>,
    /// One sentence that names the thing in backticks.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
}
