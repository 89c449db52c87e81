//! What a tool's statement returns, as its database describes it before anybody calls the tool.
//!
//! A description must hold for every call, so a statement is described with several sets of values:
//! PostgreSQL finds the type of a column that is made of a value by the type of that value. And
//! with each text that one of its choices can be: where its columns have other names then, nothing
//! is described.

use alloc::{string::String, vec::Vec};

use crate::pipeline::{
    isolate::database,
    isolate::runtime::Pipeline,
    operator::rehearsal::{DatabasePlace, Question, ask, written},
    session,
};
use crate::{
    Error, ErrorKind, Result,
    app::{Access, Bind, Execute, Form, InputKind, Part, Source, Statement, Tool},
    ports::{Column, Command},
    value::Value,
};

/// The most texts of one statement that are described.
const MOST_TEXTS: usize = 32;

/// Which values a description is asked for with.
#[derive(Clone, Copy, Debug)]
enum Sample {
    /// `NULL` for all of them.
    Null,
    /// Ones with their declared types; a number where none is declared.
    Typed,
    /// The same, with large numbers; a truth value where no type is declared.
    Large,
    /// The same, with a fraction where no type is declared.
    Fraction,
    /// The same, with a large number where no type is declared.
    Huge,
}

impl Sample {
    fn value(self, kind: Option<InputKind>) -> Value {
        match (self, kind) {
            (Self::Null, _) => Value::Null,
            (Self::Typed, None) | (Self::Typed | Self::Fraction, Some(InputKind::Int)) => Value::I64(1),
            (Self::Large | Self::Huge, Some(InputKind::Int)) | (Self::Huge, None) => Value::I64(i64::MAX),
            (Self::Fraction, None) => Value::F64(0.5),
            (_, Some(InputKind::Float)) => Value::F64(0.5),
            (_, Some(InputKind::Boolean)) | (Self::Large, None) => Value::Bool(true),
            // The database finds these out, as it does for `NULL`.
            (
                _,
                Some(
                    InputKind::String
                    | InputKind::Uuid
                    | InputKind::Datetime
                    | InputKind::Date
                    | InputKind::Array
                    | InputKind::Object
                    | InputKind::Json,
                ),
            ) => Value::Null,
        }
    }

    fn of(self, part: &Part) -> Value {
        match part {
            Part::Bind(Bind::Value { kind, .. }) | Part::BindEach { kind, .. } => self.value(*kind),
            _ => Value::Null,
        }
    }
}

/// The columns of the result of a tool's statement; none where it returns no rows. `None`: the tool
/// has no statement, or one that its database does not describe, or one whose columns depend on the
/// call.
pub(in crate::pipeline) async fn describe(pipeline: &Pipeline, tool: &Tool) -> Option<Result<Vec<Column>>> {
    let Execute::Statement { adapter, statement } = &tool.execute else { return None };
    let index = *adapter as usize;
    let mut described: Option<Vec<Column>> = None;
    for database in database::all(pipeline.app.adapters.get(index)?) {
        let columns = match of_database(pipeline, DatabasePlace { adapter: index, database }, statement).await? {
            Ok(columns) => columns,
            Err(error) => return Some(Err(database::named(error, database))),
        };
        described = Some(match described {
            None => columns,
            Some(before) => match merged(before, columns) {
                Some(merged) => merged,
                None => {
                    let message = "the statement returns other columns than in the first database";
                    return Some(Err(database::named(Error::new(ErrorKind::Configuration, message), database)));
                }
            },
        });
    }
    described.map(Ok)
}

async fn of_database(pipeline: &Pipeline, place: DatabasePlace<'_>, statement: &Statement) -> Option<Result<Vec<Column>>> {
    if statement.style.form() != Form::Text {
        return None;
    }
    // Only there does the type of a value decide about that of a column.
    let samples: &[Sample] = if statement.style.types_columns_by_values() && has_values(statement) {
        &[Sample::Typed, Sample::Large, Sample::Fraction, Sample::Huge, Sample::Null]
    } else {
        &[Sample::Null]
    };
    let texts = choices(statement)?;
    let (mut described, mut failure) = (None, None);
    for choice in &texts {
        let mut of_text: Option<Vec<Column>> = None;
        for sample in samples {
            match once(pipeline, place, statement, *choice, *sample).await? {
                Ok(columns) => {
                    of_text = Some(match of_text {
                        None => columns,
                        Some(before) => merged(before, columns)?,
                    });
                }
                // A value of another type may not fit where one without a declared type stands.
                Err(error) if matches!(error.kind, ErrorKind::Syntax | ErrorKind::Constraint | ErrorKind::Data) => {
                    failure.get_or_insert(error);
                }
                Err(error) => return Some(Err(error)),
            }
        }
        // Nothing that was tried fits: the database does not take the statement.
        let Some(of_text) = of_text else { return Some(Err(failure?)) };
        described = Some(match described {
            None => of_text,
            Some(before) => merged(before, of_text)?,
        });
    }
    described.map(Ok)
}

async fn once(
    pipeline: &Pipeline,
    place: DatabasePlace<'_>,
    statement: &Statement,
    choice: Choice<'_>,
    sample: Sample,
) -> Option<Result<Vec<Column>>> {
    // One input is the same wherever it stands.
    let chosen = |part: usize| match (choice, statement.parts.get(part)) {
        (Some((of, option)), Some(Part::Choice { source, .. } | Part::ChoiceEach { source, .. })) if source == of => option,
        _ => 0,
    };
    let (text, values) = match written(pipeline, statement, "", chosen, |part| sample.of(part)) {
        // What no database explains is not described, either.
        Ok((text, _)) if !statement.style.is_explained(&text) => return None,
        Ok(written) => written,
        Err(error) => return error.map(Err),
    };
    let (session, has_role) = match session::without_caller(&*pipeline.ports.env, pipeline.app.adapters.get(place.adapter)?) {
        Ok(settings) => settings,
        Err(error) => return Some(Err(error)),
    };
    let question = Question { command: Command::Statement { text: &text, values: &values }, session: &session };
    let columns = ask(pipeline, place, question, |connector, query| connector.describe(query)).await.transpose()?;
    // A caller's role may do what the user of the adapter may not.
    if !has_role && columns.as_ref().is_err_and(|error| error.kind == ErrorKind::Denied) {
        return None;
    }
    // What only reads returns something: its columns are known when it runs, and not before.
    let is_known = statement.access == Access::Write || !columns.as_ref().is_ok_and(Vec::is_empty);
    is_known.then_some(columns)
}

/// The input whose choice is not its first, and the number of the option that it is.
pub(super) type Choice<'a> = Option<(&'a Source, usize)>;

/// Each text of the statement. `None` where there are too many.
pub(super) fn choices(statement: &Statement) -> Option<Vec<Choice<'_>>> {
    let mut texts: Vec<Choice<'_>> = Vec::from([None]);
    for part in &statement.parts {
        let (source, count) = match part {
            Part::Choice { source, options } => (source, options.len()),
            // All names, and each alone: where columns are chosen, they are not the same.
            Part::ChoiceEach { source, options } => (source, options.len() + 1),
            _ => continue,
        };
        if !texts.iter().flatten().any(|(known, _)| *known == source) {
            texts.extend((1..count).map(|option| Some((source, option))));
        }
    }
    (texts.len() <= MOST_TEXTS).then_some(texts)
}

fn has_values(statement: &Statement) -> bool {
    statement.parts.iter().any(|part| matches!(part, Part::Bind(_) | Part::BindEach { .. }))
}

/// What two descriptions have in common; `None` where their columns have other names.
fn merged(first: Vec<Column>, second: Vec<Column>) -> Option<Vec<Column>> {
    if first.len() != second.len() {
        return None;
    }
    let both = |(first, second): (Column, Column)| {
        let type_name = if first.type_name == second.type_name { first.type_name } else { String::new() };
        (first.name == second.name).then_some(Column { kind: first.kind.or(second.kind), name: first.name, type_name })
    };
    first.into_iter().zip(second).map(both).collect()
}
