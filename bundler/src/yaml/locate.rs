//! From bytes of a scalar's value back to bytes of its file.

use std::ops::Range;

use saphyr_parser::ScalarStyle;

use super::{Data, Node};
use crate::source::Source;

impl Node {
    /// Where bytes of the text stand in the file. Exact for block literals (`|`), for plain and
    /// quoted text also across folded lines; where text and file cannot be matched, the start of
    /// the scalar.
    pub(crate) fn locate(&self, source: &Source, range: Range<usize>) -> Range<usize> {
        let Data::Text(text) = &self.data else { return self.range.clone() };
        let start = range.start.min(text.len());
        let end = range.end.clamp(start, text.len());
        let map = match self.style {
            ScalarStyle::Literal => self.literal(source, text),
            style => self.flow(source, text, style),
        };
        let Some(&from) = map.get(start) else { return self.range.clone() };
        let to = if end > start { map.get(end - 1).map_or(from, |last| last + width(text, end - 1)) } else { from };
        from..to.max(from)
    }

    /// The file's byte of each byte of a block literal, and of its end: its lines are the file's
    /// lines without the indentation.
    fn literal(&self, source: &Source, text: &str) -> Vec<usize> {
        let header = self.header(source);
        let lines: Vec<&str> = text.split('\n').collect();
        let indentation = lines.iter().enumerate().find(|(_, line)| !line.trim().is_empty()).and_then(|(index, line)| {
            let written = source.slice(source.line(header + 1 + index)?);
            Some(leading(written).saturating_sub(leading(line)))
        });
        let mut map = Vec::with_capacity(text.len() + 1);
        for (index, line) in lines.iter().enumerate() {
            let Some(written) = source.line(header + 1 + index) else { break };
            let start = (written.start + indentation.unwrap_or(0)).min(written.end);
            map.extend((0..=line.len()).map(|at| (start + at).min(written.end)));
        }
        map
    }

    /// The line, from 0, of the `|` or `>` of a block scalar. Its range begins with its content,
    /// perhaps below empty lines.
    fn header(&self, source: &Source) -> usize {
        let mut line = source.line_index(self.range.start).saturating_sub(1);
        while line > 0 && source.line(line).is_none_or(|range| source.slice(range).trim().is_empty()) {
            line -= 1;
        }
        line
    }

    /// The file's byte of each byte of any other scalar: both are read side by side, folded white
    /// space as one.
    fn flow(&self, source: &Source, text: &str, style: ScalarStyle) -> Vec<usize> {
        let mut at = match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => self.range.start + 1,
            ScalarStyle::Folded => {
                let line = source.line(self.header(source) + 1).unwrap_or(self.range.clone());
                line.start + leading(source.slice(line))
            }
            ScalarStyle::Plain | ScalarStyle::Literal => self.range.start,
        };
        let file = source.text.as_str();
        let mut map = Vec::with_capacity(text.len() + 1);
        let mut rest = text.char_indices().peekable();
        while let Some((_, character)) = rest.next() {
            if style == ScalarStyle::DoubleQuoted {
                at = after_joined_lines(file, at);
            }
            let Some(written) = file[at..].chars().next() else { return map };
            let folded = folded_end(file, at);
            if character.is_whitespace() && folded > at {
                map.extend(std::iter::repeat_n(at, character.len_utf8()));
                while let Some((_, next)) = rest.next_if(|(_, next)| next.is_whitespace()) {
                    map.extend(std::iter::repeat_n(at, next.len_utf8()));
                }
                at = folded;
                continue;
            }
            let length = match (style, written) {
                (ScalarStyle::DoubleQuoted, '\\') => escape_length(&file[at..]),
                (ScalarStyle::SingleQuoted, '\'') => 2,
                _ if written == character => written.len_utf8(),
                _ => return map,
            };
            map.extend((0..character.len_utf8()).map(|byte| if length == character.len_utf8() { at + byte } else { at }));
            at = (at + length).min(file.len());
            while !file.is_char_boundary(at) {
                at += 1;
            }
        }
        map.push(at);
        map
    }
}

/// The bytes of the character that byte `at` is in, counted from `at`.
fn width(text: &str, at: usize) -> usize {
    (at + 1..=text.len()).find(|end| text.is_char_boundary(*end)).map_or(1, |end| end - at)
}

fn leading(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The end of the white space at `at`, where it has a line break in it; else `at`.
fn folded_end(file: &str, at: usize) -> usize {
    let rest = &file[at..];
    let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    if rest[..space].contains('\n') { at + space } else { at }
}

/// Skips `\` at the end of a line, with the next line's indentation.
fn after_joined_lines(file: &str, mut at: usize) -> usize {
    loop {
        let rest = &file[at..];
        let Some(after) = rest.strip_prefix("\\\n").or_else(|| rest.strip_prefix("\\\r\n")) else { return at };
        at = file.len() - after.trim_start_matches([' ', '\t']).len();
    }
}

/// The length of an escape of a double-quoted scalar.
fn escape_length(text: &str) -> usize {
    match text.chars().nth(1) {
        Some('x') => 4,
        Some('u') => 6,
        Some('U') => 10,
        Some(other) => 1 + other.len_utf8(),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use crate::{findings::Findings, source::Source, yaml::Document};

    /// Finds `needle` in the value of `s` and says what stands at its place in the file.
    fn located(file: &str, needle: &str) -> (String, (usize, usize)) {
        let document = Document::parse(Source::new("a.yaml", file), &mut Findings::default()).unwrap();
        let node = document.root.at("s").unwrap();
        let at = node.text().unwrap().find(needle).unwrap();
        let range = node.locate(&document.source, at..at + needle.len());
        (document.source.slice(range.clone()).to_owned(), document.source.position(range.start))
    }

    #[test]
    fn every_style_finds_its_place() {
        let cases: &[(&str, &str, &str, (usize, usize))] = &[
            ("s: |\n  one\n  two NEEDLE x\n", "NEEDLE", "NEEDLE", (3, 7)),
            ("a: 1\ns: |-\n\n    one\n      NEEDLE x\n\nb: 2\n", "NEEDLE", "NEEDLE", (5, 7)),
            ("s: |2\n    one\n  NEEDLE\n", "NEEDLE", "NEEDLE", (3, 3)),
            ("s: | # a comment\n  é NEEDLE é\n", "NEEDLE", "NEEDLE", (2, 5)),
            ("s: |\r\n  one\r\n  NEEDLE\r\n", "NEEDLE", "NEEDLE", (3, 3)),
            ("s: >\n  one\n  two\n\n  NEEDLE\n", "NEEDLE", "NEEDLE", (5, 3)),
            ("s: >-\n  one\n    more\n  NEEDLE\n", "NEEDLE", "NEEDLE", (4, 3)),
            ("s: one NEEDLE\n", "NEEDLE", "NEEDLE", (1, 8)),
            ("s: one\n   two\n\n   NEEDLE\n", "NEEDLE", "NEEDLE", (4, 4)),
            ("s: 'it''s NEEDLE'\n", "NEEDLE", "NEEDLE", (1, 11)),
            ("s: 'a\n  b\n  NEEDLE'\n", "NEEDLE", "NEEDLE", (3, 3)),
            ("s: \"a\\n\\u00e9 \\\"NEEDLE\"\n", "NEEDLE", "NEEDLE", (1, 17)),
            ("s: \"a \\\n   NEEDLE\"\n", "NEEDLE", "NEEDLE", (2, 4)),
            ("s: \"a\n   b NEEDLE\"\n", "NEEDLE", "NEEDLE", (2, 6)),
            ("é: ü\ns: 'é NEEDLE'\n", "NEEDLE", "NEEDLE", (2, 7)),
        ];
        for (file, needle, text, place) in cases {
            assert_eq!(located(file, needle), ((*text).to_owned(), *place), "{file:?}");
        }
    }

    #[test]
    fn the_end_of_a_text_has_a_place() {
        let document = Document::parse(Source::new("a.yaml", "s: |\n  ab\n"), &mut Findings::default()).unwrap();
        let node = document.root.at("s").unwrap();
        assert_eq!(node.locate(&document.source, 2..2), 9..9);
        assert_eq!(node.locate(&document.source, 50..60).start, 10);
    }
}
