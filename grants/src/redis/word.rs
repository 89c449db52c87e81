//! The arguments of a command, as far as they are known before it runs.

use millrace_core::app::{Bind, Input, Literal, Part, Piece, Root, Source, Statement};
use millrace_languages::redis::Argument;

use crate::acl::pattern::push_text;

/// The most patterns that the values of an input's `enum` make of one key.
const MAX_PATTERNS: usize = 32;
/// Options that say what is done with a key, or that one follows.
const KEY_OPTIONS: [&str; 3] = ["GET", "STORE", "STOREDIST"];

/// An argument of a command.
pub(super) struct Word<'a> {
    /// What it is or can be.
    pub(super) argument: Argument<'a>,
    /// Were it a key, its patterns.
    pub(super) patterns: Vec<String>,
    /// Whether they match nothing else.
    pub(super) is_exact: bool,
    /// The variables in it.
    pub(super) variables: Vec<String>,
    /// The first of them that is not set.
    pub(super) unset: Option<String>,
}

impl<'a> Word<'a> {
    /// Text of the author.
    pub(super) fn text(text: &'a str) -> Self {
        let mut pattern = String::new();
        let is_exact = push_text(&mut pattern, text);
        Self { is_exact, ..Self::of(Argument::Text(text), vec![pattern]) }
    }

    /// Any value.
    pub(super) fn any() -> Self {
        Self::of(Argument::Any, vec!["*".to_owned()])
    }

    fn of(argument: Argument<'a>, patterns: Vec<String>) -> Self {
        Self { argument, patterns, is_exact: true, variables: Vec::new(), unset: None }
    }

    /// The text, where all of it is known when the app is built.
    pub(super) const fn literal(&self) -> Option<&'a str> {
        if let Argument::Text(text) = self.argument { Some(text) } else { None }
    }

    fn composed(pieces: &[Piece], inputs: &[Input], variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut word = Self::of(Argument::Any, vec![String::new()]);
        for piece in pieces {
            let options = match piece {
                Piece::Text(text) => {
                    word.push(text);
                    continue;
                }
                Piece::Env(name) => {
                    word.variables.push(name.clone());
                    match variable(name) {
                        Some(value) => word.push(&value),
                        None => word.unset = word.unset.or_else(|| Some(name.clone())),
                    }
                    continue;
                }
                Piece::Source(source) => values(source, inputs, false),
            };
            let options = options.filter(|options| options.len().saturating_mul(word.patterns.len()) <= MAX_PATTERNS);
            let options = options.unwrap_or_else(|| vec!["*".to_owned()]);
            let with_each = |pattern: &String| options.iter().map(move |option| format!("{pattern}{option}")).collect::<Vec<_>>();
            word.patterns = word.patterns.iter().flat_map(with_each).collect();
        }
        word
    }

    fn push(&mut self, text: &str) {
        for pattern in &mut self.patterns {
            self.is_exact &= push_text(pattern, text);
        }
    }
}

/// The words of a tool's command.
pub(super) fn words<'s>(statement: &'s Statement, inputs: &[Input], variable: &dyn Fn(&str) -> Option<String>) -> Vec<Word<'s>> {
    let word = |part: &'s Part| match part {
        Part::Text(text) => Word::text(text),
        Part::Bind(Bind::Composed(pieces)) => Word::composed(pieces, inputs, variable),
        Part::Bind(Bind::Value { source, .. }) => values(source, inputs, false).map_or_else(Word::any, |patterns| {
            let is_option = patterns.iter().any(|value| KEY_OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(value)));
            Word::of(if is_option { Argument::Choice } else { Argument::NoWord }, patterns)
        }),
        Part::BindEach { source, .. } => Word::of(Argument::List, values(source, inputs, true).unwrap_or_else(|| vec!["*".to_owned()])),
        // No command has these.
        Part::Env(_) | Part::EnvIdent(_) | Part::Choice { .. } | Part::ChoiceEach { .. } | Part::Textual(_) => Word::any(),
    };
    statement.parts.iter().map(word).collect()
}

/// The patterns of an input's values, where its `enum` lists them all; those of its elements, for a
/// list.
fn values(source: &Source, inputs: &[Input], of_elements: bool) -> Option<Vec<String>> {
    let mut path = source.path.iter();
    let first = path.next().filter(|_| source.root == Root::Inputs)?;
    let mut input = inputs.iter().find(|input| input.name == *first)?;
    for name in path {
        input = input.fields.iter().find(|field| field.name == *name)?;
    }
    if of_elements {
        input = input.items.as_deref()?;
    }
    if input.allowed.is_empty() || input.allowed.len() > MAX_PATTERNS {
        return None;
    }
    let pattern = |Literal(value): &Literal| {
        let text = value.as_str().map(str::to_owned).or_else(|| value.as_i64().map(|number| number.to_string()))?;
        let mut pattern = String::new();
        // What no rule can say as it is would need a note; that is not worth it for a list.
        push_text(&mut pattern, &text).then_some(pattern)
    };
    input.allowed.iter().filter(|value| !value.0.is_null()).map(pattern).collect()
}
