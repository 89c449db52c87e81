//! The line of a request: method, path and query.
//!
//! The author's text is read here and nowhere else: what of it is path stays as it is written, and
//! what is the name or the value of a field is decoded, so that the driver encodes it together with
//! the values around it.

use std::ops::Range;

use millrace_core::url::{percent_coded_except, percent_decoded};
use millrace_languages::http;

use crate::{
    Problem,
    placeholder::{self, Piece, Placeholder},
    statement::problem::error,
};

/// A line.
#[derive(Default)]
pub(super) struct Line<'a> {
    /// Empty where it is wrong.
    pub(super) method: &'static str,
    pub(super) path: Vec<PathText<'a>>,
    pub(super) query: Vec<FieldText<'a>>,
}

/// A part of the path.
pub(super) enum PathText<'a> {
    /// As it is sent.
    Text(String),
    /// A value, and whether it is a whole segment.
    Value(Placeholder<'a>, bool),
}

/// A field of the query, decoded.
pub(super) struct FieldText<'a> {
    pub(super) name: String,
    pub(super) value: Vec<Run<'a>>,
}

/// A part of a field's value.
pub(super) enum Run<'a> {
    /// The author's text.
    Text(String),
    /// A placeholder.
    Value(Placeholder<'a>),
}

/// A character of the line, or a placeholder.
enum Sign<'a> {
    Character(char, usize),
    Value(Placeholder<'a>),
}

impl Sign<'_> {
    const fn is(&self, wanted: char) -> bool {
        matches!(self, Self::Character(character, _) if *character == wanted)
    }

    fn range(&self) -> Range<usize> {
        match self {
            Self::Character(character, at) => *at..at + character.len_utf8(),
            Self::Value(value) => value.range.clone(),
        }
    }
}

/// Reads a line, as far as it can be read, and gives everything that is wrong; the ranges are those
/// of the text.
pub(super) fn read(text: &str) -> (Line<'_>, Vec<Problem>) {
    let mut problems = Vec::new();
    let Some((method, start)) = method(text, &mut problems) else { return (Line::default(), problems) };
    let (signs, wrong) = signs(text, start);
    problems.extend(wrong);
    let (path, query) = match signs.iter().position(|sign| sign.is('?')) {
        Some(at) => (&signs[..at], Some(&signs[at + 1..])),
        None => (signs.as_slice(), None),
    };
    check_characters(&signs, &mut problems);
    let range = start..path.last().map_or(start, |last| last.range().end);
    let path = path_of(path, start..text.trim_end().len().max(start), &mut problems);
    // What the driver would refuse in each call.
    let flaw = path.iter().find_map(|part| if let PathText::Text(text) = part { http::path_flaw(text) } else { None });
    if let Some(flaw) = flaw.filter(|_| problems.is_empty()) {
        problems.push(error(range, format!("the path {flaw}"), "write the path that is meant"));
    }
    let query = query.map(|query| query_of(query, &mut problems)).unwrap_or_default();
    (Line { method, path, query }, problems)
}

/// The method, and where the path begins.
fn method(text: &str, problems: &mut Vec<Problem>) -> Option<(&'static str, usize)> {
    const FORM: &str = "write a method and a path: `GET /orders/{{ inputs.id }}`";
    let begin = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    let word = trimmed.split(char::is_whitespace).next().unwrap_or_default();
    let range = begin..begin + word.len();
    let rest = trimmed.get(word.len()..).unwrap_or_default();
    let target = rest.trim_start();
    let start = begin + word.len() + (rest.len() - target.len());
    let has_origin =
        |text: &str| ["http:", "https:"].iter().any(|scheme| text.get(..scheme.len()).is_some_and(|own| own.eq_ignore_ascii_case(scheme)));
    let mut wrong = |range: Range<usize>, message: String, help: &str| {
        problems.push(error(range, message, help));
        None
    };
    if word.is_empty() {
        return wrong(0..text.len(), "the request is empty".to_owned(), FORM);
    }
    if has_origin(word) || has_origin(target) {
        let range = if has_origin(word) { range } else { start..text.trim_end().len() };
        let help = "write the path alone, `GET /orders`: the `connection_string` of the adapter has the origin";
        return wrong(range, "the request begins with an origin".to_owned(), help);
    }
    if word.starts_with("{{") {
        return wrong(range, "the method cannot be a placeholder".to_owned(), "write a tool for each method");
    }
    if word.starts_with('/') {
        return wrong(range, "the request has no method".to_owned(), FORM);
    }
    let Some(method) = http::method(word) else {
        let help = "the methods are `GET`, `HEAD`, `POST`, `PUT`, `PATCH` and `DELETE`";
        return wrong(range, format!("`{word}` is not a method"), help);
    };
    if method != word {
        return wrong(range, format!("the method `{word}` is not in upper case"), &format!("write `{method}`"));
    }
    if target.is_empty() {
        return wrong(range, "the request has no path".to_owned(), FORM);
    }
    Some((method, start))
}

fn signs(text: &str, start: usize) -> (Vec<Sign<'_>>, Vec<Problem>) {
    let (pieces, problems) = placeholder::scan(text);
    let (mut signs, mut position) = (Vec::new(), 0);
    for piece in pieces {
        match piece {
            Piece::Text(own) => {
                let at = text.get(position..).and_then(|rest| rest.find(own)).map_or(position, |found| position + found);
                signs.extend(own.char_indices().map(|(offset, character)| Sign::Character(character, at + offset)));
                position = at + own.len();
            }
            Piece::Placeholder(value) => {
                position = value.range.end;
                signs.push(Sign::Value(value));
            }
        }
    }
    let end = text.trim_end().len();
    signs.retain(|sign| sign.range().start >= start && sign.range().start < end);
    (signs, problems)
}

/// Says which characters cannot stand in a URL, each once.
fn check_characters(signs: &[Sign<'_>], problems: &mut Vec<Problem>) {
    let mut known = Vec::new();
    let is_hex = |at: usize| matches!(signs.get(at), Some(Sign::Character(character, _)) if character.is_ascii_hexdigit());
    let mut in_query = false;
    for (at, sign) in signs.iter().enumerate() {
        let Sign::Character(character, _) = sign else { continue };
        let is_right = match character {
            '?' => {
                in_query = true;
                true
            }
            '%' => is_hex(at + 1) && is_hex(at + 2),
            '+' => !in_query,
            '[' | ']' => in_query,
            '/' | ':' | '@' | '!' | '$' | '&' | '\'' | '(' | ')' | '*' | ',' | ';' | '=' | '-' | '.' | '_' | '~' => true,
            other => other.is_ascii_alphanumeric(),
        };
        if is_right || known.contains(character) {
            continue;
        }
        known.push(*character);
        let (message, help) = match character {
            '#' => {
                ("the request has a fragment, which is never sent".to_owned(), "remove what follows `#`, or write it as `%23`".to_owned())
            }
            '{' | '}' => (
                "a brace cannot stand in a path or a query".to_owned(),
                "write a value as `{{ inputs.NAME }}`, and a brace as `%7B` or `%7D`".to_owned(),
            ),
            '%' => ("`%` is not followed by two hexadecimal digits".to_owned(), "write a percent sign as `%25`".to_owned()),
            '+' => ("`+` is a space for some servers, and a plus for others".to_owned(), "write `%20`, or `%2B`".to_owned()),
            other => {
                let shown = if other.is_whitespace() { "a space".to_owned() } else { format!("`{other}`") };
                (format!("{shown} cannot stand in a path or a query"), format!("write it as `{}`", encoded(&other.to_string())))
            }
        };
        problems.push(error(sign.range(), message, &help));
    }
}

fn path_of<'a>(signs: &[Sign<'a>], whole: Range<usize>, problems: &mut Vec<Problem>) -> Vec<PathText<'a>> {
    match signs {
        [Sign::Value(value), ..] => {
            let help = "begin the path with `/`, and write its first part out where it is known";
            problems.push(error(value.range.clone(), "the path begins with a placeholder".to_owned(), help));
        }
        [first, second, ..] if first.is('/') && second.is('/') => {
            let help = "write the path alone: the `connection_string` of the adapter has the host";
            problems.push(error(first.range().start..second.range().end, "the path begins with `//`, as a host does".to_owned(), help));
        }
        [first, ..] if first.is('/') => {}
        _ => problems.push(error(whole, "the path does not begin with `/`".to_owned(), "write `GET /orders`")),
    }
    for segment in signs.split(|sign| sign.is('/')) {
        let is_fixed = segment.iter().all(|sign| matches!(sign, Sign::Character(..)));
        let own = decoded(&text_of(segment));
        if is_fixed && let (true, Some(first), Some(last)) = (matches!(own.as_str(), "." | ".."), segment.first(), segment.last()) {
            let help = "write the path that is meant; `.` and `..` are resolved before a request is sent";
            problems.push(error(first.range().start..last.range().end, format!("the path has the segment `{own}`"), help));
        }
    }
    let mut parts = Vec::new();
    for (at, sign) in signs.iter().enumerate() {
        match sign {
            Sign::Character(character, _) => match parts.last_mut() {
                Some(PathText::Text(last)) => last.push(*character),
                _ => parts.push(PathText::Text(character.to_string())),
            },
            Sign::Value(value) => {
                let begins = at.checked_sub(1).and_then(|before| signs.get(before)).is_some_and(|before| before.is('/'));
                let ends = signs.get(at + 1).is_none_or(|after| after.is('/'));
                parts.push(PathText::Value(value.clone(), begins && ends));
            }
        }
    }
    parts
}

fn query_of<'a>(signs: &[Sign<'a>], problems: &mut Vec<Problem>) -> Vec<FieldText<'a>> {
    let mut fields: Vec<FieldText<'a>> = Vec::new();
    for field in signs.split(|sign| sign.is('&')) {
        let at = field.iter().position(|sign| sign.is('='));
        let (name, value) = field.split_at(at.unwrap_or(field.len()));
        let range = || match (field.first(), field.last()) {
            (Some(first), Some(last)) => first.range().start..last.range().end,
            _ => signs.first().map_or(0..0, |first| first.range().start.saturating_sub(1)..first.range().start),
        };
        if let Some(Sign::Value(value)) = name.iter().find(|sign| matches!(sign, Sign::Value(_))) {
            let help = "write the name out; only a value can be a placeholder";
            problems.push(error(value.range.clone(), "the name of a field of the query cannot be a placeholder".to_owned(), help));
            continue;
        }
        if percent_decoded(&text_of(field)).is_none() {
            let help = "write the percent codes of UTF-8: `%C3%A4` is an `ä`";
            problems.push(error(range(), "a field of the query is not UTF-8".to_owned(), help));
            continue;
        }
        let name = decoded(&text_of(name));
        if name.is_empty() {
            problems.push(error(range(), "a field of the query has no name".to_owned(), "write `name=value`, with `&` between two fields"));
            continue;
        }
        if fields.iter().any(|known| known.name == name) {
            let help = "write it once: the value of an input of type `array` is sent as a field for each element";
            problems.push(error(range(), format!("the field `{name}` of the query is written twice"), help));
            continue;
        }
        fields.push(FieldText { name, value: runs(value.get(1..).unwrap_or_default()) });
    }
    fields
}

/// The parts of a value, decoded.
fn runs<'a>(signs: &[Sign<'a>]) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for sign in signs {
        match (sign, runs.last_mut()) {
            (Sign::Value(value), _) => runs.push(Run::Value(value.clone())),
            (Sign::Character(character, _), Some(Run::Text(last))) => last.push(*character),
            (Sign::Character(character, _), _) => runs.push(Run::Text(character.to_string())),
        }
    }
    for run in &mut runs {
        if let Run::Text(text) = run {
            *text = decoded(text);
        }
    }
    runs
}

fn text_of(signs: &[Sign<'_>]) -> String {
    signs.iter().filter_map(|sign| if let Sign::Character(character, _) = sign { Some(*character) } else { None }).collect()
}

/// A text with its percent codes undone. What is not UTF-8 then has been said.
fn decoded(text: &str) -> String {
    percent_decoded(text).unwrap_or_else(|| text.to_owned())
}

/// A text as a part of a URL, for messages and for what is shown.
pub(super) fn encoded(text: &str) -> String {
    percent_coded_except(text.as_bytes(), b"-._~[],")
}
