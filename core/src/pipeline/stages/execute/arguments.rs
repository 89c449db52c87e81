//! A command → its arguments. Each is one text, whatever characters it has; only a list that the
//! author spreads is several.

use alloc::{format, string::String, vec::Vec};

use super::rendered::{Rendered, listed, variable};
use crate::{
    Json,
    app::{Bind, Part, Piece, Root, Source, Statement},
    fault::{Fault, FaultResult, Issue, Stage},
    pipeline::{
        call::run::Run,
        call::scope::Scope,
        content::json_text::{push_text, text_of},
    },
    value::Value,
};

/// Writes the arguments out.
///
/// # Errors
/// `CONFIGURATION` for a variable that is not set, `MISSING_VALUE` for a value that is absent.
pub(super) fn render<'a>(run: &Run<'_>, scope: Scope<'_>, statement: &Statement) -> FaultResult<Rendered<'a>> {
    let mut params = Vec::new();
    for part in &statement.parts {
        match part {
            Part::Text(word) => params.push(Value::Text(word.clone())),
            Part::Bind(Bind::Value { source, .. }) => params.push(Value::Text(text_of(found(scope, source)?))),
            Part::Bind(Bind::Composed(pieces)) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(literal) => text.push_str(literal),
                        Piece::Source(source) => push_text(&mut text, found(scope, source)?),
                        Piece::Env(name) => text.push_str(variable(run, name)?.expose()),
                    }
                }
                params.push(Value::Text(text));
            }
            Part::BindEach { source, .. } => {
                let elements = listed(scope.find(source));
                if elements.is_empty() || elements.contains(&Json::Null) {
                    return Err(missing(source).into());
                }
                params.extend(elements.iter().map(|element| Value::Text(text_of(element))));
            }
            Part::Env(_) | Part::EnvIdent(_) | Part::Choice { .. } | Part::ChoiceEach { .. } | Part::Textual(_) => {
                let message = "The bundle has a command with text that is not an argument; build the app again.";
                return Err(Fault::new(Stage::Execute, "CONFIGURATION", message).by_operator().into());
            }
        }
    }
    Ok(Rendered::Arguments(params))
}

/// What of the inputs cannot be an argument: what is absent or null, and a list without elements.
pub(super) fn problems(scope: Scope<'_>, statement: &Statement, issues: &mut Vec<Issue>) {
    let mut add = |source: &Source, message: String| {
        let field = source.path.join(".");
        if source.root == Root::Inputs && issues.iter().all(|issue| issue.field != field) {
            issues.push(Issue { field, message });
        }
    };
    let mut value = |source: &Source| {
        let is_given = scope.find(source).is_some_and(|value| !value.is_null());
        if !is_given {
            add(source, "Missing value. The command needs one here.".into());
        }
    };
    for part in &statement.parts {
        match part {
            Part::Bind(Bind::Value { source, .. }) => value(source),
            Part::Bind(Bind::Composed(pieces)) => {
                pieces.iter().for_each(|piece| {
                    if let Piece::Source(source) = piece {
                        value(source)
                    }
                });
            }
            _ => {}
        }
    }
    for part in &statement.parts {
        let Part::BindEach { source, .. } = part else { continue };
        let elements = listed(scope.find(source));
        if elements.is_empty() {
            add(
                source,
                "Too few elements. You sent: array(0). Minimum number of elements: 1, because each is an argument of the command.".into(),
            );
        } else if elements.contains(&Json::Null) {
            add(source, "Invalid value. No element can be null, because each is an argument of the command.".into());
        }
    }
}

fn found<'a>(scope: Scope<'a>, source: &Source) -> FaultResult<&'a Json> {
    scope.find(source).filter(|value| !value.is_null()).ok_or_else(|| missing(source).into())
}

fn missing(source: &Source) -> Fault {
    Fault::new(Stage::Execute, "MISSING_VALUE", format!("`{source}` has no value, and the command needs one."))
        .suggesting("Calling the tool again with the same inputs does not help.")
}
