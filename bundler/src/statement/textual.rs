//! `substitution: textual`: values become text, as Hyperterse does it.

use millrace_core::app::{Access, Part, Statement};

use super::{
    compiled::{Compiled, finished, push_text},
    dialect::Dialect,
    names::Names,
    problem::warning,
    source::{self, Meaning},
    tables::Tables,
};
use crate::{Problem, placeholder::Piece};

/// Compiles a statement whose values become part of its text. Nothing of the text is looked at.
pub(super) fn compile(pieces: &[Piece<'_>], dialect: Dialect, names: Names<'_>) -> Result<Compiled, Vec<Problem>> {
    let mut parts = Vec::new();
    let mut problems = Vec::new();
    let mut warnings = Vec::new();
    for piece in pieces {
        let placeholder = match piece {
            Piece::Text(text) => {
                push_text(&mut parts, text);
                continue;
            }
            Piece::Placeholder(placeholder) => placeholder,
        };
        match source::resolve(placeholder, Some(dialect), names) {
            Ok(Meaning::EnvIdent(name)) => parts.push(Part::EnvIdent(name)),
            Ok(Meaning::Env(name) | Meaning::EnvRaw(name)) => parts.push(Part::Env(name)),
            Ok(Meaning::Choice { source, options }) => parts.push(Part::Choice { source, options }),
            Ok(Meaning::ChoiceEach { source, options }) => parts.push(Part::ChoiceEach { source, options }),
            Ok(Meaning::Value(value)) => {
                if warnings.is_empty() {
                    warnings.push(warning(
                        placeholder.range.clone(),
                        "with `substitution: textual` the caller's values become part of the statement: whoever calls the tool can run any SQL"
                            .to_owned(),
                        "remove `substitution: textual`; values are then bound, quoted placeholders too",
                    ));
                }
                parts.push(Part::Textual(value.source));
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let statement = Statement {
        style: dialect.facts().style,
        text: finished(&parts, dialect),
        parts,
        access: Access::Write,
        max_values: dialect.facts().max_values,
        document: Vec::new(),
    };
    Ok(Compiled { statement, tables: Tables::ALL, doubt: None, warnings })
}
