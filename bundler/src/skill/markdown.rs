//! What of a text in Markdown can name something: words in code, and the targets of links. Blocks
//! of code are examples, and name nothing.

use std::ops::Range;

/// A word in code, or the target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The word or the target itself.
    pub(super) range: Range<usize>,
    /// With the marks around it.
    pub(super) outer: Range<usize>,
    /// It is the target of a link.
    pub(super) is_link: bool,
    /// It begins an item of a list whose heading is one word, in small letters: `tools`.
    pub(super) heading: Option<&'static str>,
}

/// Finds them all, in order.
pub(super) fn places(text: &str) -> Vec<Place> {
    let mut places = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut heading = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let begin = start;
        start += line.len();
        let content = line.trim();
        let mark = content.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| content.chars().take_while(|other| *other == mark).count());
        match (fence, mark) {
            (Some((open, least)), _) => {
                if mark == Some(open) && length >= least && content.chars().all(|other| other == open) {
                    fence = None;
                }
                continue;
            }
            (None, Some(mark)) if length >= 3 && (mark == '~' || !content[length..].contains('`')) => {
                fence = Some((mark, length));
                continue;
            }
            _ => {}
        }
        let item = item(line);
        if content.starts_with('#') {
            heading = part(content.trim_matches(['#', ' ', '*', '_']));
        } else if item.is_none() && !content.is_empty() && !line.starts_with([' ', '\t']) {
            heading = None;
        }
        let first = places.len();
        in_line(text, begin..start, &mut places);
        if let (Some(at), Some(place)) = (item, places.get_mut(first))
            && text[begin + at..place.outer.start].chars().all(|mark| matches!(mark, ' ' | '*' | '_' | '['))
        {
            place.heading = heading;
        }
    }
    places
}

fn part(word: &str) -> Option<&'static str> {
    ["tools", "prompts", "resources"].into_iter().find(|part| word.eq_ignore_ascii_case(part))
}

/// Where the text of an item of a list begins.
fn item(line: &str) -> Option<usize> {
    let rest = line.trim_start();
    let mark = match rest.strip_prefix(['-', '*', '+']) {
        Some(after) => after,
        None => rest
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .strip_prefix(['.', ')'])
            .filter(|_| rest.starts_with(|c: char| c.is_ascii_digit()))?,
    };
    mark.starts_with([' ', '\t']).then(|| line.len() - mark.len())
}

fn in_line(text: &str, line: Range<usize>, places: &mut Vec<Place>) {
    let bytes = text.as_bytes();
    let mut at = line.start;
    let defined = definition(text, line.clone());
    while at < line.end {
        if let Some(target) = defined.as_ref().filter(|target| target.start == at) {
            places.push(Place { range: target.clone(), outer: target.clone(), is_link: true, heading: None });
            at = target.end;
            continue;
        }
        match bytes[at] {
            b'\\' => at += 2,
            b'`' => {
                let length = run(bytes, at);
                let open = at + length;
                let mut close = open;
                while close < line.end && (bytes[close] != b'`' || run(bytes, close) != length) {
                    close += if bytes[close] == b'`' { run(bytes, close) } else { 1 };
                }
                if close >= line.end {
                    at = open;
                    continue;
                }
                let inner = &text[open..close];
                let begin = open + (inner.len() - inner.trim_start().len());
                let outer = at..close + length;
                places.push(Place { range: begin..begin + inner.trim().len(), outer, is_link: false, heading: None });
                at = close + length;
            }
            b']' if bytes.get(at + 1) == Some(&b'(') => {
                let target = target(text, at + 2..line.end);
                at = target.end.max(at + 2);
                if !target.is_empty() {
                    places.push(Place { outer: target.clone(), range: target, is_link: true, heading: None });
                }
            }
            b'<' => {
                let rest = &text[at + 1..line.end];
                let end = rest.find(['>', ' ', '<']).filter(|end| rest[*end..].starts_with('>') && rest[..*end].contains("://"));
                if let Some(end) = end {
                    let target = at + 1..at + 1 + end;
                    places.push(Place { outer: target.clone(), range: target, is_link: true, heading: None });
                }
                at += 1 + end.unwrap_or(0);
            }
            _ => at += 1,
        }
    }
}

/// The target of a line that [defines a
/// link](https://spec.commonmark.org/0.31.2/#link-reference-definitions): a label, a target, and
/// perhaps a title. Footnotes and sentences look alike.
fn definition(text: &str, line: Range<usize>) -> Option<Range<usize>> {
    let content = text[line.clone()].trim_start();
    let label = content.strip_prefix('[')?;
    let end = label.find(']')?;
    let rest = label[end..].strip_prefix("]:")?;
    if label.starts_with('^') || label[..end].trim().is_empty() || label[..end].contains('[') {
        return None;
    }
    let target = target(text, line.end - rest.trim_start().len()..line.end);
    let after = &text[target.end..line.end];
    let title = after.strip_prefix('>').unwrap_or(after).trim();
    let is_title = |(open, close): (char, char)| {
        let inner = title.strip_prefix(open).and_then(|inner| inner.strip_suffix(close));
        inner.is_some_and(|inner| !inner.contains(close))
    };
    let is_whole = title.is_empty() || [('"', '"'), ('\'', '\''), ('(', ')')].into_iter().any(is_title);
    (is_whole && !target.is_empty()).then_some(target)
}

fn run(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == b'`').count()
}

/// The target of a link, which ends before a blank or the bracket that closes it.
fn target(text: &str, range: Range<usize>) -> Range<usize> {
    let rest = &text[range.clone()];
    if let Some(inner) = rest.strip_prefix('<') {
        return range.start + 1..range.start + 1 + inner.find('>').unwrap_or(0);
    }
    let mut open = 0;
    for (at, character) in rest.char_indices() {
        match character {
            '(' => open += 1,
            ')' if open == 0 => return range.start..range.start + at,
            ')' => open -= 1,
            character if character.is_whitespace() => return range.start..range.start + at,
            _ => {}
        }
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        places(text).into_iter().map(|place| &text[place.range]).collect()
    }

    #[test]
    fn finds_words_in_code_and_targets() {
        assert_eq!(found("Call `a`, then `` b`c `` and \\`d\\`.\n"), ["a", "b`c"]);
        assert_eq!(
            found("See [the `x` page](references/x.md \"title\") and <docs://y>, not a < b.\n"),
            ["x", "references/x.md", "docs://y"]
        );
        assert_eq!(found("[a](b(c).md) [d](<e f.md>) ![g](h.png)\n[i]: j.md\n"), ["b(c).md", "e f.md", "h.png", "j.md"]);
        assert_eq!(found("an `open one\n`x`\n"), ["x"]);
        for odd in ["`", "](", "]:", "<", "[a]:", "\\", "``` `", "é`ü", "[](", "- "] {
            places(odd);
        }
    }

    #[test]
    fn definitions_of_links_are_told_from_footnotes_and_sentences() {
        let table: [(&str, &[&str]); 14] = [
            ("[a]: b.md\n", &["b.md"]),
            ("  [a b]:  <b c.md>  'A title'\n", &["b c.md"]),
            ("[a]: b.md \"A title\"", &["b.md"]),
            ("[a]: b.md (A title)\r\n", &["b.md"]),
            ("[a]: <https://example.com/>\n", &["https://example.com/"]),
            ("[^1]: See the policy.\n", &[]),
            ("[^1]: policy.md\n", &[]),
            ("[^1]: See [the policy](policy.md) and `x`.\n", &["policy.md", "x"]),
            ("[NOTE]: Ask first.\n", &[]),
            ("[NOTE]: Say \"yes\" or \"no\"\n", &[]),
            ("[NOTE]: `x` is first.\n", &["x"]),
            ("[ ]: b.md\n", &[]),
            ("[a](b.md) and [c]: d.md\n", &["b.md"]),
            ("Text [a]: b.md\n", &[]),
        ];
        for (text, targets) in table {
            assert_eq!(found(text), targets, "{text:?}");
        }
        for odd in ["[]: ", "[a]: <", "[a]: <>", "[a]:\u{a0}\n", "[`a]: b`", "[ü]: \""] {
            places(odd);
        }
    }

    #[test]
    fn blocks_of_code_name_nothing() {
        assert_eq!(found("```json\n`a`\n```\n`b`\n~~~\n`c`\n```\n`d`\n~~~\n"), ["b"]);
        assert_eq!(found("````\n```\n`a`\n````\n```x``` `b`\n"), ["x", "b"]);
    }

    #[test]
    fn lists_below_a_heading_of_one_word_are_of_its_kind() {
        let text = "## Tools\n\n- `a`: finds `b`.\n1. **`c`**\n\n## Other tools\n- `d`\n# Prompts\ntext\n- `e`\n";
        let of: Vec<_> = places(text).into_iter().map(|place| (&text[place.range], place.heading)).collect();
        assert_eq!(of, [("a", Some("tools")), ("b", None), ("c", Some("tools")), ("d", None), ("e", None)]);
    }
}
