//! A compiled statement, and how its parts are put together.

use millrace_core::app::{Part, Statement};

use super::{dialect::Dialect, doubt::Doubt, tables::Tables};
use crate::Problem;

/// A compiled statement, and what to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The statement.
    pub statement: Statement,
    /// The tables that it reads and writes.
    pub tables: Tables,
    /// Why it is taken for one that writes, although it may only read.
    pub doubt: Option<Doubt>,
    /// Warnings.
    pub warnings: Vec<Problem>,
}

/// Appends the author's text.
pub(super) fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        _ if text.is_empty() => {}
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// The whole text, where it does not depend on the call.
pub(super) fn finished(parts: &[Part], dialect: Dialect) -> Option<String> {
    let mut text = String::new();
    let mut number = 0;
    for part in parts {
        match part {
            Part::Text(own) => text.push_str(own),
            Part::Bind(_) => {
                number += 1;
                text.push_str(&dialect.parameter(number));
            }
            Part::Env(_) | Part::EnvIdent(_) | Part::BindEach { .. } | Part::Choice { .. } | Part::ChoiceEach { .. } | Part::Textual(_) => {
                return None;
            }
        }
    }
    Some(text)
}
