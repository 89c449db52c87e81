//! Problems of a statement.

use std::ops::Range;

use crate::{Problem, Severity};

/// A mistake, and what to do about it.
pub(super) fn error(range: Range<usize>, message: String, help: &str) -> Problem {
    Problem { severity: Severity::Error, range, message, help: Some(help.to_owned()) }
}

/// Something to look at, and what to do about it.
pub(super) fn warning(range: Range<usize>, message: String, help: &str) -> Problem {
    Problem { severity: Severity::Warning, range, message, help: Some(help.to_owned()) }
}
