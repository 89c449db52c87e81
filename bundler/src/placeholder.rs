//! Placeholders: `{{ root.path | filter }}`.
//!
//! A name is a letter or `_`, then letters, digits, `_` and `-`. Two braces that are no placeholder
//! are written as `{{ '{{' }}` (or with double quotes), as in Jinja and Helm; `}}` alone needs
//! nothing.

use std::ops::Range;

use crate::{Problem, Severity};

/// A piece of a text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it stands. Neighbouring texts may come as several pieces.
    Text(&'a str),
    /// A placeholder.
    Placeholder(Placeholder<'a>),
}

/// `{{ inputs.user.id | ident }}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// The names between dots: `["inputs", "user", "id"]`; at least one.
    pub path: Vec<&'a str>,
    /// The word after `|`.
    pub filter: Option<&'a str>,
    /// The bytes it takes in the text, braces included.
    pub range: Range<usize>,
}

/// Cuts a text at its placeholders. Gives a [`Problem`] for each placeholder that is not closed, is
/// empty, or is not a path of names; it is not among the pieces then.
#[must_use]
pub fn scan(text: &str) -> (Vec<Piece<'_>>, Vec<Problem>) {
    let mut pieces = Vec::new();
    let mut problems = Vec::new();
    let mut position = 0;
    while let Some(found) = text[position..].find("{{") {
        let start = position + found;
        if start > position {
            pieces.push(Piece::Text(&text[position..start]));
        }
        if let Some((braces, end)) = literal_braces(text, start) {
            pieces.push(Piece::Text(braces));
            position = end;
            continue;
        }
        let inner = &text[start + 2..];
        let close = inner.find("}}").filter(|&close| !inner[..close].contains("{{"));
        let Some(close) = close else {
            problems.push(problem(
                start..start + 2,
                "the placeholder that `{{` opens is not closed".to_owned(),
                "close it with `}}`; two braces that are meant as text are written `{{ '{{' }}`",
            ));
            position = start + 2;
            continue;
        };
        let end = start + close + 4;
        match parse(&inner[..close]) {
            Ok((path, filter)) => pieces.push(Piece::Placeholder(Placeholder { path, filter, range: start..end })),
            Err((message, help)) => problems.push(problem(start..end, message, help)),
        }
        position = end;
    }
    if position < text.len() {
        pieces.push(Piece::Text(&text[position..]));
    }
    (pieces, problems)
}

/// Whether a word may be one name of a path.
pub(crate) fn is_name(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn problem(range: Range<usize>, message: String, help: &str) -> Problem {
    Problem { severity: Severity::Error, range, message, help: Some(help.to_owned()) }
}

/// The two braces of `{{ '{{' }}`, and where the text goes on.
fn literal_braces(text: &str, start: usize) -> Option<(&str, usize)> {
    let inner = text[start + 2..].trim_start();
    let quote = inner.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let rest = inner[1..].strip_prefix("{{")?.strip_prefix(quote)?.trim_start().strip_prefix("}}")?;
    Some((&inner[1..3], text.len() - rest.len()))
}

type Parsed<'a> = (Vec<&'a str>, Option<&'a str>);

fn parse(inner: &str) -> Result<Parsed<'_>, (String, &'static str)> {
    const FORM: &str = "write `{{ inputs.name }}`: names between dots, and at most one filter after `|`";
    let mut parts = inner.split('|').map(str::trim);
    let path = parts.next().unwrap_or_default();
    if path.is_empty() {
        return Err(("the placeholder is empty".to_owned(), FORM));
    }
    let names: Vec<_> = path.split('.').map(str::trim).collect();
    if let Some(name) = names.iter().find(|name| !is_name(name)) {
        if name.is_empty() {
            return Err((format!("a name is missing in `{path}`"), FORM));
        }
        let help = if name.contains('[') { "a placeholder has no indices; take the element apart in an input mapper" } else { FORM };
        return Err((format!("`{name}` is not a name"), help));
    }
    let filter = parts.next();
    if let Some(filter) = filter.filter(|filter| !is_name(filter)) {
        let message = if filter.is_empty() { "the filter after `|` is missing".to_owned() } else { format!("`{filter}` is not a filter") };
        return Err((message, FORM));
    }
    if parts.next().is_some() {
        return Err((format!("`{path}` has more than one filter"), FORM));
    }
    Ok((names, filter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match scan(text) {
            (pieces, problems) if problems.is_empty() => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => format!("[{text}]"),
                    Piece::Placeholder(p) => {
                        let filter = p.filter.map(|filter| format!("|{filter}")).unwrap_or_default();
                        format!("<{}{filter}@{}..{}>", p.path.join("."), p.range.start, p.range.end)
                    }
                })
                .collect(),
            (_, problems) => problems.iter().map(|p| format!("!{}..{} {};", p.range.start, p.range.end, p.message)).collect(),
        }
    }

    #[test]
    fn cuts_texts_at_their_placeholders() {
        for (text, expected) in [
            ("", ""),
            ("plain", "[plain]"),
            ("{{a}}", "<a@0..5>"),
            ("x {{ inputs.user.id }} y", "[x ]<inputs.user.id@2..22>[ y]"),
            ("{{inputs.a}}{{ctx.b}}", "<inputs.a@0..12><ctx.b@12..21>"),
            ("{{ inputs.sort | ident }}", "<inputs.sort|ident@0..25>"),
            ("{{inputs.sort|ident}}", "<inputs.sort|ident@0..21>"),
            ("{{ inputs.user-id }}", "<inputs.user-id@0..20>"),
            ("{{\n  inputs . a\n}}", "<inputs.a@0..18>"),
            ("{{ _x.Y_9 }}", "<_x.Y_9@0..12>"),
            ("é{{ a }}é", "[é]<a@2..9>[é]"),
            (r#"{"a":{"b":1}}"#, r#"[{"a":{"b":1}}]"#),
            (r#"{"a":{{ inputs.x }}}"#, r#"[{"a":]<inputs.x@5..19>[}]"#),
            ("{{ '{{' }}x}}", "[{{][x}}]"),
            (r#"A{{"{{"}}B"#, "[A][{{][B]"),
            ("{ { a } }", "[{ { a } }]"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_each() {
        for (text, expected) in [
            ("a {{ b", "!2..4 the placeholder that `{{` opens is not closed;"),
            ("{{ a {{ b }}", "!0..2 the placeholder that `{{` opens is not closed;"),
            ("{{}} {{  }}", "!0..4 the placeholder is empty;!5..11 the placeholder is empty;"),
            ("{{ a..b }}", "!0..10 a name is missing in `a..b`;"),
            ("{{ .a }}", "!0..8 a name is missing in `.a`;"),
            ("{{ 9a }}", "!0..8 `9a` is not a name;"),
            ("{{ inputs.a[0] }}", "!0..17 `a[0]` is not a name;"),
            ("{{ a b }}", "!0..9 `a b` is not a name;"),
            ("{{ é }}", "!0..8 `é` is not a name;"),
            ("{{{ a }}}", "!0..8 `{ a` is not a name;"),
            ("{{ a | }}", "!0..9 the filter after `|` is missing;"),
            ("{{ a | b c }}", "!0..13 `b c` is not a filter;"),
            ("{{ a | b | c }}", "!0..15 `a` has more than one filter;"),
            ("{{ 'a' }}", "!0..9 `'a'` is not a name;"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn loses_and_invents_nothing() {
        let alphabet = ["{{", "}}", "{", "}", " ", "a", ".", "|", "'", "\"", "{{ a }}", "é"];
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            let text: String = (0..8)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    alphabet[(seed >> 33) as usize % alphabet.len()]
                })
                .collect();
            let (pieces, problems) = scan(&text);
            if !problems.is_empty() {
                continue;
            }
            if text.contains('\'') || text.contains('"') {
                continue;
            }
            let whole: String = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => *text,
                    Piece::Placeholder(placeholder) => &text[placeholder.range.clone()],
                })
                .collect();
            assert_eq!(whole, text);
        }
    }
}
