//! What an author is told of an exception: where it was thrown, in the author's own files.

use alloc::{format, string::String};
use core::fmt::Write as _;

use crate::{
    app::{Script, ScriptCall},
    ports::Thrown,
};

/// How many calls are named.
const MOST_CALLS: usize = 6;

/// The text for the operator: what was thrown, where, and through which calls.
pub(super) fn told(script: &Script, export: &str, thrown: &Thrown) -> String {
    let mut text = format!("{}#{export} threw", script.path);
    if !thrown.message.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {}", thrown.message);
    }
    if let Some(cause) = &thrown.cause {
        let _ = write!(text, " ({cause})");
    }
    for call in script.calls(thrown.stack.as_deref().unwrap_or_default()).take(MOST_CALLS) {
        let ScriptCall { function, file, line, column } = call;
        let _ = match function {
            Some(function) => write!(text, "; at {function} ({file}:{line}:{column})"),
            None => write!(text, "; at {file}:{line}:{column}"),
        };
    }
    text
}
