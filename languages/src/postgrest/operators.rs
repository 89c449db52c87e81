//! The operators of conditions.

use super::names::is_name;

/// An operator, and what a search by words is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator<'a> {
    /// As PostgREST has it, the language included: `eq`, `fts(english)`.
    pub name: &'a str,
    /// What stands beside it.
    pub operand: Operand,
}

/// What stands beside an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// One value.
    One,
    /// A list of values.
    List,
    /// The elements of an array, an object of JSON, or a range as text.
    Elements,
    /// Null, true, false, or `unknown`.
    Truth,
}

const OPERATORS: [(&str, Operand); 25] = [
    ("eq", Operand::One),
    ("neq", Operand::One),
    ("gt", Operand::One),
    ("gte", Operand::One),
    ("lt", Operand::One),
    ("lte", Operand::One),
    ("like", Operand::One),
    ("ilike", Operand::One),
    ("match", Operand::One),
    ("imatch", Operand::One),
    ("is", Operand::Truth),
    ("in", Operand::List),
    ("cs", Operand::Elements),
    ("cd", Operand::Elements),
    ("ov", Operand::Elements),
    ("fts", Operand::One),
    ("plfts", Operand::One),
    ("phfts", Operand::One),
    ("wfts", Operand::One),
    ("sl", Operand::One),
    ("sr", Operand::One),
    ("nxl", Operand::One),
    ("nxr", Operand::One),
    ("adj", Operand::One),
    // Of a condition, not of a column.
    ("not", Operand::One),
];

/// The operator of a key; `None` where there is none of this name.
#[must_use]
pub fn operator(key: &str) -> Option<Operator<'_>> {
    let (name, language) = match key.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')')?)),
        None => (key, None),
    };
    let (_, operand) = OPERATORS.iter().find(|(known, _)| *known == name && name != "not")?;
    let is_fit = language.is_none_or(|language| name.ends_with("fts") && is_name(language) && !language.contains([' ', '-']));
    is_fit.then_some(Operator { name: key, operand: *operand })
}

/// Their names, for messages.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    OPERATORS.iter().map(|(name, _)| *name)
}

/// Whether a text begins like a condition, `eq.` or `not.in.`. As an argument in a URL, PostgREST
/// would take it for one.
#[must_use]
pub fn begins_like_condition(text: &str) -> bool {
    let word = text.split(|letter: char| !letter.is_ascii_lowercase()).next().unwrap_or_default();
    text[word.len()..].starts_with(['.', '(']) && names().chain(["isdistinct"]).any(|name| name == word)
}
