//! A compiled statement → its text and its bound values.
//!
//! A value is bound with its declared type. What is absent or null binds NULL; in a composed string
//! of several pieces it is nothing, and a composed string of one absent value is NULL. No value
//! becomes part of the text, `substitution: textual` apart, where an absent one is the word `NULL`.
//!
//! A command of arguments is a list of texts: the author's words, and the values of the call, each
//! one argument whatever characters it has. No argument can be absent or null.
//!
//! In a document, each value is a leaf.
//!
//! A list is written out with a number of values that is a power of two, its last value again and
//! again: `IN` and `NOT IN` mean the same, and a database sees a dozen texts of a statement instead
//! of thousands. Databases, drivers and poolers keep what they prepared by its text. DynamoDB
//! prepares nothing, and refuses a key that is named twice: there, each value is written once.

use alloc::{borrow::Cow, boxed::Box, format, string::String, vec::Vec};

use super::{
    arguments,
    bound::{bound, typed},
    document,
    rendered::{Rendered, listed, variable},
};
use crate::{
    Json,
    app::{Bind, Execute, Form, InputKind, ParamStyle, Part, Piece, Root, Source, Statement, Transaction, TransactionStep},
    fault::{Fault, FaultResult, Issue, Stage},
    pipeline::{
        call::run::Run,
        call::scope::Scope,
        content::json_text::{push_text, text_of},
    },
    ports::{BoundStep, Parameter, StepValue, TextPiece},
    value::Value,
};

/// A text with its placeholders written in the connector's style, and what is bound to them.
type Written<'a> = (Cow<'a, str>, Vec<Parameter>);

/// Fills in the statements of a tool.
///
/// # Errors
/// `CONFIGURATION` for a variable that is not set or not a name, `INVALID_CHOICE` for a value that
/// is not one of a statement's choices.
pub(super) fn render<'a>(run: &Run<'_>, execute: &'a Execute, inputs: &Json) -> FaultResult<Rendered<'a>> {
    let scope = run.scope(inputs);
    match execute {
        Execute::Statement { statement, .. } => match statement.style.form() {
            Form::Arguments => arguments::render(run, scope, statement),
            Form::Document => document::render(run, scope, statement),
            Form::Text => {
                let (text, parameters) = written(run, scope, statement, &[])?;
                let value = |parameter| match parameter {
                    Parameter::Value(value) => value,
                    // There are no steps, and what names one was refused.
                    Parameter::Earlier(_) | Parameter::Composed(_) => Value::Null,
                };
                Ok(Rendered::Statement { text, values: parameters.into_iter().map(value).collect() })
            }
        },
        Execute::Transaction { transaction: Transaction { steps, result }, .. } => {
            let step = |(place, step): (usize, &'a TransactionStep)| {
                let (text, parameters) = written(run, scope, &step.statement, steps.get(..place).unwrap_or_default())?;
                let (name, access) = (step.name.as_str(), step.statement.access);
                Ok(BoundStep { name, text, parameters, access, expect: step.expect.map(u64::from) })
            };
            let steps = steps.iter().enumerate().map(step).collect::<FaultResult<_>>()?;
            Ok(Rendered::Transaction { steps, result: result.map(|place| place as usize) })
        }
        Execute::Script(_) | Execute::Search(_) | Execute::Forward => Err(damaged()),
    }
}

fn written<'s>(run: &Run<'_>, scope: Scope<'_>, statement: &'s Statement, earlier: &[TransactionStep]) -> FaultResult<Written<'s>> {
    let Some(text) = &statement.text else { return Writer::new(run, scope, statement, earlier).write(&statement.parts) };
    let binds = statement.parts.iter().filter_map(|part| if let Part::Bind(bind) = part { Some(bind) } else { None });
    let parameters = binds.map(|bind| parameter(run, scope, bind, earlier)).collect::<FaultResult<_>>()?;
    Ok((Cow::Borrowed(text), parameters))
}

fn damaged() -> Box<Fault> {
    Fault::new(Stage::Execute, "INTERNAL", "The app's bundle is damaged.").by_operator().into()
}

/// What of a call's values the statement has no place for: a list that is too long for its
/// database, and a NUL character within a composed text, at which databases end a text and leave
/// the rest out.
pub(in crate::pipeline) fn problems(run: &Run<'_>, statement: &Statement, inputs: &Json) -> Vec<Issue> {
    let scope = run.scope(inputs);
    let mut issues = Vec::new();
    // Elsewhere, a NUL character is one like any other.
    let has_text = statement.style.ends_texts_at_nul();
    match statement.style.form() {
        Form::Arguments => arguments::problems(scope, statement, &mut issues),
        Form::Document => document::problems(scope, statement, &mut issues),
        Form::Text => {}
    }
    let mut longest: Option<(&Source, usize)> = None;
    for part in &statement.parts {
        match part {
            Part::BindEach { source, .. } => {
                let length = listed(scope.find(source)).len();
                if length == 0 && statement.style.has_lists_of_keys() {
                    let message =
                        "Too few elements. You sent: array(0). Minimum number of elements: 1, because the database accepts no empty list.";
                    issues.push(Issue { field: source.path.join("."), message: message.into() });
                }
                if longest.is_none_or(|(_, most)| length > most) {
                    longest = Some((source, length));
                }
            }
            Part::ChoiceEach { source, .. } if listed(scope.find(source)).is_empty() => {
                let message =
                    "Too few elements. You sent: array(0). Minimum number of elements: 1, because the statement needs a name there.";
                issues.push(Issue { field: source.path.join("."), message: message.into() });
            }
            Part::Bind(Bind::Composed(pieces)) if pieces.len() > 1 && has_text => {
                for piece in pieces {
                    if let Piece::Source(source) = piece
                        && let Some(Json::String(text)) = scope.find(source)
                        && text.contains('\0')
                    {
                        let message = "Invalid value. The statement cannot take a text with a NUL character here.".into();
                        issues.push(Issue { field: source.path.join("."), message });
                    }
                }
            }
            _ => {}
        }
    }
    let (values, most) = (values(scope, &statement.parts), statement.max_values as usize);
    if let Some((source, length)) = longest
        && values > most
    {
        let greatest = most.saturating_sub(values - length);
        let message = format!(
            "Too many elements. You sent: array({length}). Maximum number of elements: {greatest}, because the database accepts at most \
             {most} values in one statement."
        );
        issues.push(Issue { field: source.path.join("."), message });
    }
    issues
}

/// How many values a statement has in this call.
fn values(scope: Scope<'_>, parts: &[Part]) -> usize {
    let count = |part: &Part| match part {
        Part::Bind(_) => 1,
        Part::BindEach { source, .. } => listed(scope.find(source)).len(),
        _ => 0,
    };
    parts.iter().map(count).sum()
}

struct Writer<'a> {
    run: &'a Run<'a>,
    scope: Scope<'a>,
    style: ParamStyle,
    text: String,
    parameters: Vec<Parameter>,
    earlier: &'a [TransactionStep],
    /// How many more values than those of the call the database takes.
    room: usize,
}

impl<'a> Writer<'a> {
    fn new(run: &'a Run<'a>, scope: Scope<'a>, statement: &Statement, earlier: &'a [TransactionStep]) -> Self {
        let room = (statement.max_values as usize).saturating_sub(values(scope, &statement.parts));
        Self { run, scope, style: statement.style, text: String::new(), parameters: Vec::new(), earlier, room }
    }

    fn write<'s>(mut self, parts: &[Part]) -> FaultResult<Written<'s>> {
        for part in parts {
            match part {
                Part::Text(text) => self.text.push_str(text),
                Part::Env(name) => self.text.push_str(variable(self.run, name)?.expose()),
                Part::EnvIdent(name) => match self.style.identifier(variable(self.run, name)?.expose()) {
                    Some(quoted) => self.text.push_str(&quoted),
                    None => {
                        let message = format!("The environment variable `{name}` is not a name, and the statement needs one.");
                        return Err(Fault::new(Stage::Execute, "CONFIGURATION", message).by_operator().into());
                    }
                },
                Part::Bind(bind) => {
                    let parameter = parameter(self.run, self.scope, bind, self.earlier)?;
                    self.push(parameter);
                }
                // A cell is one value.
                Part::BindEach { source, .. } if source.root == Root::Steps => {
                    self.push(Parameter::Earlier(step_value(source, self.earlier)?));
                }
                Part::BindEach { source, kind, empty } => self.push_each(source, *kind, empty),
                Part::Choice { source, options } => self.text.push_str(chosen(source, options, self.scope.find(source))?),
                Part::ChoiceEach { source, options } => self.push_names(source, options)?,
                Part::Textual(source) => match self.scope.find(source) {
                    None | Some(Json::Null) => self.text.push_str("NULL"),
                    Some(value) => push_text(&mut self.text, value),
                },
            }
        }
        Ok((Cow::Owned(self.text), self.parameters))
    }

    fn push(&mut self, parameter: Parameter) {
        self.parameters.push(parameter);
        let number = self.parameters.len();
        self.style.push_placeholder(&mut self.text, number);
    }

    fn push_each(&mut self, source: &Source, kind: Option<InputKind>, empty: &str) {
        let elements = listed(self.scope.find(source));
        if self.style.has_lists_of_keys() {
            return self.push_distinct(elements, kind);
        }
        let Some(last) = elements.last() else {
            self.text.push_str(empty);
            return;
        };
        let repeated = (elements.len().next_power_of_two() - elements.len()).min(self.room);
        self.room -= repeated;
        for (position, element) in elements.iter().chain(core::iter::repeat_n(last, repeated)).enumerate() {
            if position > 0 {
                self.text.push_str(", ");
            }
            self.push(Parameter::Value(typed(element, kind)));
        }
    }

    /// Each of different values once.
    fn push_distinct(&mut self, elements: &[Json], kind: Option<InputKind>) {
        let mut pushed: Vec<Value> = Vec::new();
        for element in elements {
            let value = typed(element, kind);
            if pushed.contains(&value) {
                continue;
            }
            if !pushed.is_empty() {
                self.text.push_str(", ");
            }
            self.push(Parameter::Value(value.clone()));
            pushed.push(value);
        }
    }

    /// Each of different names once, between commas.
    fn push_names(&mut self, source: &Source, options: &[(String, String)]) -> FaultResult<()> {
        let elements = listed(self.scope.find(source));
        // Where nothing was chosen, this says so.
        let mut names: Vec<&str> = if elements.is_empty() { Vec::from([chosen(source, options, None)?]) } else { Vec::new() };
        for element in elements {
            let name = chosen(source, options, Some(element))?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        self.text.push_str(&names.join(", "));
        Ok(())
    }
}

/// The text that the build wrote for a value.
fn chosen<'o>(source: &Source, options: &'o [(String, String)], value: Option<&Json>) -> FaultResult<&'o str> {
    let value = value.map(text_of);
    let chosen = options.iter().find(|(option, _)| value.as_ref() == Some(option));
    chosen.map(|(_, text)| text.as_str()).ok_or_else(|| {
        let name = source.path.join(".");
        Fault::new(Stage::Execute, "INVALID_CHOICE", format!("`{name}` is not one of the values that the statement provides for."))
            .suggesting("Send one of the values that the tool's schema lists.")
            .into()
    })
}

/// A parameter, which may name a result that is not known yet.
fn parameter(run: &Run<'_>, scope: Scope<'_>, bind: &Bind, earlier: &[TransactionStep]) -> FaultResult<Parameter> {
    let is_earlier = |piece: &Piece| matches!(piece, Piece::Source(source) if source.root == Root::Steps);
    let pieces = match bind {
        Bind::Value { source, .. } if source.root == Root::Steps => return Ok(Parameter::Earlier(step_value(source, earlier)?)),
        Bind::Composed(pieces) if pieces.iter().any(is_earlier) => pieces,
        known => return Ok(Parameter::Value(bound(run, scope, known)?)),
    };
    let (mut written, mut text) = (Vec::new(), String::new());
    for piece in pieces {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Source(source) if source.root == Root::Steps => {
                if !text.is_empty() {
                    written.push(TextPiece::Text(core::mem::take(&mut text)));
                }
                written.push(TextPiece::Earlier(step_value(source, earlier)?));
            }
            Piece::Source(source) => push_text(&mut text, scope.find(source).unwrap_or(&Json::Null)),
            Piece::Env(name) => text.push_str(variable(run, name)?.expose()),
        }
    }
    if !text.is_empty() {
        written.push(TextPiece::Text(text));
    }
    Ok(Parameter::Composed(written))
}

/// What a placeholder of root `steps` names.
fn step_value(source: &Source, earlier: &[TransactionStep]) -> FaultResult<StepValue> {
    let [name, column] = source.path.as_slice() else { return Err(damaged()) };
    let step = earlier.iter().position(|step| step.name == *name).ok_or_else(damaged)?;
    Ok(StepValue { step, column: column.clone() })
}
