//! What an author is told of an exception: where it was thrown, in the author's own files.

use alloc::{format, string::String};
use core::fmt::Write as _;

use crate::{app::Script, ports::Thrown};

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
    for frame in calls(script, thrown.stack.as_deref().unwrap_or_default()).take(MOST_CALLS) {
        let _ = write!(text, "; at {frame}");
    }
    text
}

/// The calls of a stack that stand in a file of the author, the innermost first: `deep (app/lib.ts:5:22)`.
fn calls<'s>(script: &'s Script, stack: &'s str) -> impl Iterator<Item = String> + 's {
    stack.lines().filter_map(|line| {
        let (function, place) = line.trim().strip_prefix("at ")?.rsplit_once(" (")?;
        let (place, column) = place.strip_suffix(')')?.rsplit_once(':')?;
        let (path, line) = place.rsplit_once(':')?;
        if path != script.path {
            return None;
        }
        let (line, column) = (line.parse().ok()?, column.parse().ok()?);
        let (file, line, column) = match &script.map {
            Some(map) => map.find(line, column)?,
            None => (path, line, column),
        };
        Some(match function.trim() {
            "" | "<main>" => format!("{file}:{line}:{column}"),
            function => format!("{function} ({file}:{line}:{column})"),
        })
    })
}
