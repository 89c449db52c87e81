//! The most frequent slips in YAML, and what mends them.

/// How many lines above the place where the parser gives up may have the slip.
const LINES_ABOVE: usize = 2;

/// The longest text that is shown in quotes, in characters.
const MAX_SHOWN: usize = 60;

/// Spaces that are letters to YAML: no-break spaces, and the wide space of East Asian scripts.
const OTHER_SPACES: [char; 4] = ['\u{a0}', '\u{2007}', '\u{202f}', '\u{3000}'];

const OTHER_SPACE: &str = "A no-break or wide space is a letter to YAML. Replace it with an ordinary space.";

/// What mends the line at a byte, where the parser gave up, or one of those above; empty where
/// that is not known.
pub(super) fn remedy(text: &str, at: usize) -> String {
    let end = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| at + length);
    let mut lines = text[..end].lines().rev().filter(|line| !line.trim().is_empty());
    let Some(line) = lines.next() else { return String::new() };
    let here = separation(line).or_else(|| value(line));
    // A bracket is no slip by itself.
    here.or_else(|| lines.take(LINES_ABOVE).find_map(separation)).or_else(|| bracket(line)).unwrap_or_default()
}

/// What mends a text that was meant to be a map, or a key that no table has; `None` where neither a
/// space after a colon is missing nor a space is one that YAML does not know.
pub(crate) fn separation(line: &str) -> Option<String> {
    let (indentation, key, rest) = parts(line);
    if indentation.contains('\t') {
        return Some("Indent with spaces.".to_owned());
    }
    let mut separators = key.unwrap_or_default().chars().chain(indentation.chars()).chain(rest.chars().take(1));
    if separators.any(|character| OTHER_SPACES.contains(&character)) {
        return Some(OTHER_SPACE.to_owned());
    }
    let key = key?;
    // `https://` and `a::int` are no keys.
    let follows = rest.chars().next().is_some_and(|first| !first.is_whitespace() && first != ':') && !rest.starts_with("//");
    follows.then(|| match shown(rest.trim_end()) {
        Some(rest) => format!("Put a space after the colon: `{key}: {rest}`."),
        None => "Put a space after the colon.".to_owned(),
    })
}

/// What mends the value of a line.
fn value(line: &str) -> Option<String> {
    let (_, key, rest) = parts(line);
    let value = rest.trim();
    let help = match value.chars().next()? {
        '"' => "Close the quotes, and let nothing follow them. A quote within them is `\\\"`.".to_owned(),
        '\'' => "Close the quotes, and let nothing follow them. An apostrophe within them is `''`.".to_owned(),
        '-' if rest.starts_with('\t') => "Begin the list on a line of its own, indented with spaces.".to_owned(),
        '*' => in_quotes(key, value).replacen("Put", "Define the anchor above, or put", 1),
        '`' | '@' | '%' | '&' | '!' | '|' | '>' | ']' | '}' | ',' | '?' => in_quotes(key, value),
        '[' | '{' => return None,
        _ if value.contains(": ") || value.contains(":\t") || value.ends_with(':') => in_quotes(key, value),
        _ => return None,
    };
    Some(help)
}

/// What mends a line whose value begins with a bracket.
fn bracket(line: &str) -> Option<String> {
    let help = "Put a text that begins with a bracket, or contains a colon, in quotes; a list or a map needs its closing bracket.";
    parts(line).2.trim().starts_with(['[', '{']).then(|| help.to_owned())
}

fn in_quotes(key: Option<&str>, value: &str) -> String {
    match (key, shown(value)) {
        (Some(key), Some(value)) if !value.contains(['"', '\\']) => format!("Put the text in quotes: `{key}: \"{value}\"`."),
        (Some(key), Some(value)) => format!("Put the text in quotes: `{key}: '{}'`.", value.replace('\'', "''")),
        _ => "Put the text in quotes.".to_owned(),
    }
}

/// A text as an example: none where it is long, or would end the example.
fn shown(text: &str) -> Option<&str> {
    (text.chars().count() <= MAX_SHOWN && !text.contains('`')).then_some(text)
}

/// A line's indentation, marks of lists included, its key, and what follows the colon; without a
/// key, what follows the indentation.
fn parts(line: &str) -> (&str, Option<&str>, &str) {
    let is_space = |character: char| character.is_whitespace() || OTHER_SPACES.contains(&character);
    let mut body = line.trim_start_matches(is_space);
    while let Some(item) = body.strip_prefix("- ") {
        body = item.trim_start_matches(is_space);
    }
    let indentation = &line[..line.len() - body.len()];
    let is_part = |character: char| character.is_alphanumeric() || "_-.".contains(character) || OTHER_SPACES.contains(&character);
    match body.split_once(':') {
        Some((key, rest)) if !key.is_empty() && key.chars().all(is_part) => (indentation, Some(key), rest),
        _ => (indentation, None, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_well_written_has_no_remedy() {
        for line in
            ["description: Get a user", "  - id: 1", "url: https://example.com/a:b", "https://example.com", "SELECT a::int", "", "  "]
        {
            assert_eq!((separation(line), value(line)), (None, None), "{line}");
        }
    }

    #[test]
    fn the_line_above_may_have_the_slip() {
        let text = "name: shop\nversion:1.2\ntools: {}\n";
        assert_eq!(remedy(text, text.len()), "Put a space after the colon: `version: 1.2`.");
        assert_eq!(remedy("name: 'it's'\n", 9), "Close the quotes, and let nothing follow them. An apostrophe within them is `''`.");
        assert_eq!(remedy("", 0), "");
        assert_eq!(remedy("é", 1), "");
    }
}
