//! Commands of Redis: the author's text is cut into arguments, and each placeholder is one of them
//! or part of one.
//!
//! What is cut is the text without values, so that no value can ever become another argument. Which
//! command it is stands in the text, and whether it may be run and what it changes is known when
//! the app is built.

use std::ops::Range;

use millrace_core::app::{Access, Bind, Input, InputKind, Part, Piece, Statement};
use millrace_languages::redis::{self, Open, RedisCommand, Word, WordPiece};

use super::{
    compiled::Compiled,
    masked::MaskedStatement,
    problem::{error, warning},
    source::{self, Meaning, Value},
    tables::{TableSet, Tables},
};
use crate::{Problem, placeholder};

/// The most arguments that a server takes in one command.
const MAX_ARGUMENTS: usize = 1 << 20;
/// Commands whose first argument is code, or the name of code.
const TAKES_CODE: [&str; 6] = ["EVAL", "EVAL_RO", "EVALSHA", "EVALSHA_RO", "FCALL", "FCALL_RO"];
/// Commands that keep code, or load it.
const KEEPS_CODE: [&str; 3] = ["FUNCTION", "MODULE", "SCRIPT"];

/// An argument.
struct Argument {
    part: Part,
    /// Where it stands in the author's text.
    place: Range<usize>,
    /// The placeholders of it, as the author would write them.
    label: Option<String>,
    /// Which texts it may be.
    texts: Texts,
}

/// Which texts a value may be.
#[derive(Clone, Copy)]
struct Texts {
    /// It is a number or the like, and none of the words that are options.
    is_no_word: bool,
    /// It is one of those that the author listed.
    is_listed: bool,
    /// It cannot have the characters of a pattern, as far as the author declared.
    is_plain: bool,
}

impl Texts {
    const ANY: Self = Self { is_no_word: false, is_listed: false, is_plain: false };
    const WRITTEN: Self = Self { is_plain: true, ..Self::ANY };

    fn of(value: &Value<'_>) -> Self {
        use InputKind::{Boolean, Date, Datetime, Float, Int, Object, Uuid};
        let is_scalar = matches!(value.kind, Some(Int | Float | Boolean | Date | Datetime | Uuid));
        let is_listed = value.input.is_some_and(|input| !input.allowed.is_empty());
        // What is no input comes from who signed the token, and not from the caller's arguments.
        let is_declared = value.input.is_none_or(|input| input.pattern.is_some());
        Self { is_no_word: is_scalar || value.kind == Some(Object), is_listed, is_plain: is_scalar || is_listed || is_declared }
    }
}

/// Compiles a command. `allow` is the adapter's option of that name.
///
/// # Errors
/// Every [`Problem`] of the command, in order.
pub fn compile_command(text: &str, inputs: &[Input], allow: &str) -> Result<Compiled, Vec<Problem>> {
    if let Some(at) = text.find('\0') {
        return Err(vec![error(at..at + 1, "the statement has a NUL character".to_owned(), "write it as `\\x00`, in double quotes")]);
    }
    let (pieces, problems) = placeholder::scan(text);
    if !problems.is_empty() {
        return Err(problems);
    }
    let masked = MaskedStatement::new(text, pieces);
    let words = redis::words(&masked.text)
        .map_err(|wrong| vec![error(masked.place(wrong.range), format!("{} in the command", wrong.message), wrong.help)])?;
    if words.is_empty() {
        return Err(vec![error(
            0..text.len(),
            "the statement is empty".to_owned(),
            "write one command, such as `GET user:{{ inputs.id }}`",
        )]);
    }
    let (mut arguments, mut problems) = (Vec::new(), Vec::new());
    for word in &words {
        match argument(word, &masked, inputs) {
            Ok(argument) => arguments.push(argument),
            Err(wrong) => problems.extend(wrong),
        }
    }
    // With one missing, the others would stand in other places.
    if !problems.is_empty() {
        return Err(problems);
    }
    let command = judge(&arguments, allow).map_err(|problem| vec![problem])?;
    problems.extend(wrong_number(command, &arguments));
    match option(command, &arguments) {
        Some(problem) => problems.push(problem),
        None => problems.extend(pattern(command, &arguments)),
    }
    problems.extend(code(command, &arguments));
    if !problems.is_empty() {
        problems.sort_by_key(|problem| (problem.range.start, problem.range.end));
        return Err(problems);
    }
    let warnings = second_command(command, &words, &masked).into_iter().collect();
    let access = if command.reads { Access::Read } else { Access::Write };
    let tables = match command.reads {
        true => Tables { reads: TableSet::All, writes: TableSet::default() },
        false => Tables::ALL,
    };
    let literals = arguments.iter().filter(|argument| matches!(argument.part, Part::Text(_))).count();
    let max_values = u32::try_from(MAX_ARGUMENTS - literals.min(MAX_ARGUMENTS)).unwrap_or_default();
    let parts = arguments.into_iter().map(|argument| argument.part).collect();
    let statement = Statement::of_command(parts, access, max_values);
    Ok(Compiled { statement, tables, doubt: None, warnings })
}

/// Which command it is.
fn judge(arguments: &[Argument], allow: &str) -> Result<&'static RedisCommand, Problem> {
    let literal = |place: usize| match arguments.get(place).map(|argument| &argument.part) {
        Some(Part::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let first = &arguments[0];
    if let Some(label) = &first.label {
        let help = "make a tool for each command";
        return Err(error(first.place.clone(), format!("`{label}` is the command's name, which must be written out"), help));
    }
    let name = literal(0).unwrap_or_default();
    // What has sub-commands is known by its second word.
    if let (Some(Argument { label: Some(label), place, .. }), true) = (arguments.get(1), redis::has_subcommands(name)) {
        let message = format!("`{label}` is the sub-command of `{}`, which must be written out", name.to_ascii_uppercase());
        return Err(error(place.clone(), message, "make a tool for each sub-command"));
    }
    let literals: Vec<Option<&str>> = (0..arguments.len()).map(literal).collect();
    redis::judge(&literals, allow).map_err(|refusal| error(first.place.clone(), refusal.to_string(), &refusal.help()))
}

/// A command with arguments too many or too few, which no server would take.
fn wrong_number(command: &RedisCommand, arguments: &[Argument]) -> Option<Problem> {
    let spread = arguments.iter().any(|argument| matches!(argument.part, Part::BindEach { .. }));
    let least = usize::from(command.arity.unsigned_abs());
    let is_wrong = match command.arity {
        0.. => arguments.len() > least || (!spread && arguments.len() < least),
        _ => !spread && arguments.len() < least,
    };
    if !is_wrong {
        return None;
    }
    let own = command.name.split(' ').count();
    let count = |count: usize| match count.saturating_sub(own) {
        1 => "1 argument".to_owned(),
        count => format!("{count} arguments"),
    };
    let most = if command.arity < 0 { "at least " } else { "" };
    let message = format!("`{}` takes {most}{}, and has {} here", command.name, count(least), arguments.len() - own.min(arguments.len()));
    let place = arguments[0].place.start..arguments.last().map_or(0, |last| last.place.end);
    let help = "a statement is one command; an argument with spaces is written in quotes";
    Some(error(place, message, help))
}

/// The arguments as the table of commands judges them.
fn judged(arguments: &[Argument]) -> Vec<redis::Argument<'_>> {
    let of = |argument| match argument {
        &Argument { part: Part::Text(ref text), .. } => redis::Argument::Text(text),
        Argument { part: Part::BindEach { .. }, .. } => redis::Argument::List,
        Argument { texts: Texts { is_no_word: true, .. }, .. } => redis::Argument::NoWord,
        Argument { texts: Texts { is_listed: true, .. }, .. } => redis::Argument::Choice,
        _ => redis::Argument::Any,
    };
    arguments.iter().map(of).collect()
}

/// A value where the server looks for an option.
fn option(command: &RedisCommand, arguments: &[Argument]) -> Option<Problem> {
    let (place, is_count, help) = match redis::open_option(command, &judged(arguments))? {
        Open::Value(place) => (
            place,
            false,
            "write the option's name before it, as in `EX {{ inputs.seconds }}`; an option itself is written out; a number is declared as `int` or `float`",
        ),
        Open::List(place) => (
            place,
            false,
            "write each argument out, one placeholder for each: a list is as many arguments as the caller sends, and some could be options",
        ),
        Open::Count(place) => {
            (place, true, "write the number out, and one placeholder for each of the arguments, as in `2 {{ inputs.a }} {{ inputs.b }}`")
        }
    };
    let argument = &arguments[place];
    let (label, name) = (argument.label.clone().unwrap_or_default(), command.name);
    let message = match is_count {
        true => format!("`{label}` says how many arguments of `{name}` follow before its options, and must be written out"),
        false => format!("`{label}` is in a place where `{name}` accepts options, and its value could be read as one"),
    };
    Some(error(argument.place.clone(), message, help))
}

/// A value in a pattern, whose `*` would match what the author did not mean.
fn pattern(command: &RedisCommand, arguments: &[Argument]) -> Option<Problem> {
    let judged = judged(arguments);
    let argument = redis::patterns(command, &judged).filter_map(|place| arguments.get(place)).find(|argument| !argument.texts.is_plain)?;
    let label = argument.label.clone().unwrap_or_default();
    let message = format!("`{label}` is in a pattern of `{}`, and a `*` in its value would match what others keep", command.name);
    let help = "declare which characters the input may have, as in `pattern: \"^[A-Za-z0-9_-]+$\"`, or list its values with `enum`";
    Some(error(argument.place.clone(), message, help))
}

/// A value that would be code.
fn code(command: &RedisCommand, arguments: &[Argument]) -> Option<Problem> {
    let name = match &arguments[0].part {
        Part::Text(name) => name.to_ascii_uppercase(),
        _ => String::new(),
    };
    let most = match name.as_str() {
        name if TAKES_CODE.contains(&name) => 2,
        name if KEEPS_CODE.contains(&name) => usize::MAX,
        _ => return None,
    };
    let found = arguments.iter().take(most).find(|argument| argument.label.is_some())?;
    let label = found.label.clone().unwrap_or_default();
    let message = format!(
        "`{label}` is the code of `{}`: whoever calls the tool could run any",
        if command.name.is_empty() { &name } else { command.name }
    );
    Some(error(found.place.clone(), message, "write the code out; it takes values as `ARGV[1]`"))
}

/// A line that begins like another command.
fn second_command(command: &RedisCommand, words: &[Word], masked: &MaskedStatement<'_>) -> Option<Problem> {
    let second = words.iter().skip(1).find(|word| {
        let before = masked.text[..word.range.start].trim_end_matches([' ', '\t']);
        let is_upper = |text: &str| text.bytes().all(|byte| byte.is_ascii_uppercase());
        before.ends_with('\n')
            && !word.is_quoted
            && word.text().is_some_and(|text| is_upper(text) && redis::find(text, None).is_some() && !redis::is_option(text))
    })?;
    let text = second.text().unwrap_or_default();
    let message = format!("`{text}` begins a line and is an argument of `{}`", command.name);
    let help =
        "a statement is one command: make a tool, or a script that calls `ctx.db`, for more; in quotes it is an argument without doubt";
    Some(warning(masked.place(second.range.clone()), message, help))
}

fn argument(word: &Word, masked: &MaskedStatement<'_>, inputs: &[Input]) -> Result<Argument, Vec<Problem>> {
    let place = masked.place(word.range.clone());
    if let Some(text) = word.text() {
        return Ok(Argument { part: Part::Text(text.to_owned()), place, label: None, texts: Texts::WRITTEN });
    }
    let is_whole = word.pieces.len() == 1;
    let (mut pieces, mut problems, mut labels, mut is_plain) = (Vec::new(), Vec::new(), Vec::new(), true);
    for piece in &word.pieces {
        let mark = match piece {
            WordPiece::Text(text) => {
                pieces.push(Piece::Text(text.clone()));
                continue;
            }
            WordPiece::Mark(at) => match masked.mark_at(*at) {
                Some(mark) => &masked.marks[mark],
                None => continue,
            },
        };
        let label = source::label(mark);
        let wrong = |message: String, help: &str| error(mark.range.clone(), message, help);
        if let Some(filter) = mark.filter {
            let help = "remove the filter: a value is an argument as it is";
            problems.push(wrong(format!("`{label}` has the filter `{filter}`, and a command takes none"), help));
            continue;
        }
        match source::resolve(mark, None, inputs.into()) {
            Ok(Meaning::Env(name)) => pieces.push(Piece::Env(name)),
            Ok(Meaning::Value(value)) if is_whole => {
                return Ok(Argument { texts: Texts::of(&value), part: whole(value, word.is_quoted), place, label: Some(label) });
            }
            Ok(Meaning::Value(value)) if value.elements.is_some() => {
                let help = format!("write `{label}` as a whole argument, without quotes: each element is one then");
                problems.push(wrong(format!("`{label}` is a list, and part of an argument"), &help));
            }
            Ok(Meaning::Value(value)) => {
                is_plain &= Texts::of(&value).is_plain;
                pieces.push(Piece::Source(value.source));
            }
            // Each has a filter, which was refused.
            Ok(Meaning::EnvIdent(_) | Meaning::EnvRaw(_) | Meaning::Choice { .. } | Meaning::ChoiceEach { .. }) => {}
            Err(problem) => problems.push(problem),
        }
        labels.push(label);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Argument { part: Part::Bind(Bind::Composed(pieces)), place, label: Some(labels.join("")), texts: Texts { is_plain, ..Texts::ANY } })
}

/// A placeholder that is an argument. A list is spread; in quotes it is one argument, its JSON.
fn whole(value: Value<'_>, is_quoted: bool) -> Part {
    match value.elements {
        Some(kind) if !is_quoted => Part::BindEach { source: value.source, kind, empty: String::new() },
        _ => Part::Bind(Bind::Value { source: value.source, kind: value.kind }),
    }
}
