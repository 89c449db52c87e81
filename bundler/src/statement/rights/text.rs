//! A compiled statement as text for the parser, once for every name and keyword that a caller can
//! choose.

use millrace_core::app::{Part, Statement};

use crate::statement::Dialect;

/// The most statements that callers can make of one by choosing names and keywords.
const MAX_CHOICES: usize = 256;

/// Why the text of a statement is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// A variable that is not set here.
    Variable(String),
    /// A value of the caller's as text.
    Textual,
    /// Callers can make too many statements of it.
    Choices,
}

/// The texts, with parameters in the place of values. `variable` has the values of variables; the
/// names of those that became text are added to `used`.
///
/// # Errors
/// The text is not known.
pub fn written(
    statement: &Statement,
    dialect: Dialect,
    variable: &dyn Fn(&str) -> Option<String>,
    used: &mut Vec<String>,
) -> Result<Vec<String>, Unwritten> {
    let mut texts = vec![String::new()];
    let mut number = 0;
    for part in &statement.parts {
        let one = match part {
            Part::Text(text) => text.clone(),
            Part::Bind(_) | Part::BindEach { .. } => {
                number += 1;
                dialect.parameter(number)
            }
            Part::Env(name) | Part::EnvIdent(name) => {
                let value = variable(name).filter(|value| !value.is_empty());
                let is_name = matches!(part, Part::EnvIdent(_));
                let text = value.and_then(|value| if is_name { dialect.identifier(&value) } else { Some(value) });
                used.push(name.clone());
                text.ok_or_else(|| Unwritten::Variable(name.clone()))?
            }
            Part::Choice { options, .. } => {
                if texts.len().saturating_mul(options.len()) > MAX_CHOICES {
                    return Err(Unwritten::Choices);
                }
                texts = texts.iter().flat_map(|text| options.iter().map(move |(_, option)| format!("{text}{option}"))).collect();
                continue;
            }
            // Fewer names need fewer rights.
            Part::ChoiceEach { options, .. } => options.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", "),
            Part::Textual(_) => return Err(Unwritten::Textual),
        };
        texts.iter_mut().for_each(|text| text.push_str(&one));
    }
    Ok(texts)
}
