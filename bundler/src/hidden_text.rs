//! Characters that a model reads and a person does not see, in the texts of an app.
//!
//! Descriptions, instructions and prompts are instructions to a model. Tag characters and bidi
//! controls in them serve nothing but to hide one: they are mistakes. Zero-width characters may
//! have come with a copied text, and isolates that are closed belong to texts in Hebrew and Arabic:
//! they are pointed out.

use std::ops::Range;

use crate::{
    Problem, Severity,
    findings::Findings,
    source::Source,
    yaml::{Data, Document, Node},
};

/// The keys whose texts no model reads: statements and patterns may have to name such a character.
const NOT_FOR_MODELS: [&str; 6] = ["statement", "pattern", "when", "connection_string", "session", "options"];

/// What is hidden in a text: its first place, and a message.
pub(crate) fn find(text: &str) -> Option<Problem> {
    let mut found: Option<(Severity, Range<usize>, char, usize)> = None;
    let mut before = None;
    let mut flag_ends = 0;
    let is_balanced = has_balanced_isolates(text);
    for (at, character) in text.char_indices() {
        if character == '\u{1f3f4}' {
            flag_ends = at + flag(&text[at..]);
        }
        let severity = if at < flag_ends { None } else { severity(character, before, is_balanced) };
        if let Some(severity) = severity {
            let range = at..at + character.len_utf8();
            found = Some(match found {
                None => (severity, range, character, 1),
                Some((known, range, first, count)) => (known.min(severity), range, first, count + 1),
            });
        }
        before = Some(character);
    }
    let (severity, range, first, count) = found?;
    let more = match count - 1 {
        0 => String::new(),
        1 => " and 1 more".to_owned(),
        more => format!(" and {more} more"),
    };
    let message = format!("the text contains U+{:04X}{more}, which models read and people do not see", u32::from(first));
    let help = match severity {
        Severity::Error => "Remove it: it can hide instructions from whoever reviews the app.",
        Severity::Warning => "Remove it, unless the script of the text needs it.",
    };
    Some(Problem { severity, range, message, help: Some(help.to_owned()) })
}

/// How many bytes the flag of a region has at the start of a text: a black flag, a few tags, and
/// the tag that ends them. 0 if it is no such flag.
fn flag(text: &str) -> usize {
    let is_tag = |c: char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    let tags = text.chars().skip(1).take_while(|c| is_tag(*c)).count();
    let is_flag = (3..=6).contains(&tags) && text.chars().nth(tags + 1) == Some('\u{e007f}');
    if is_flag { text.chars().take(tags + 2).map(char::len_utf8).sum() } else { 0 }
}

/// Whether each isolate of a text is closed in its line, as [UAX #9](https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates)
/// has it: what follows is then shown in its order.
fn has_balanced_isolates(text: &str) -> bool {
    text.lines().all(|line| {
        let mut open = 0_isize;
        for character in line.chars() {
            match character {
                '\u{2066}'..='\u{2068}' => open += 1,
                '\u{2069}' => open -= 1,
                _ => {}
            }
            if open < 0 {
                return false;
            }
        }
        open == 0
    })
}

/// How bad a character is after another one; `None` where it can be seen, or joins what needs to be
/// joined. `is_balanced`: the isolates of the text are.
fn severity(character: char, before: Option<char>, is_balanced: bool) -> Option<Severity> {
    let is_ideograph = |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    let is_joined = |c: char| matches!(c, '\u{600}'..='\u{1fff}' | '\u{2190}'..='\u{2bff}' | '\u{a800}'..='\u{abff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}');
    match character {
        // Tags; and the selectors of variants of ideographs, where no ideograph stands before them.
        '\u{e0000}'..='\u{e007f}' => Some(Severity::Error),
        '\u{e0100}'..='\u{e01ef}' if !before.is_some_and(is_ideograph) => Some(Severity::Error),
        // Embeddings, overrides and isolates.
        '\u{2066}'..='\u{2069}' if is_balanced => Some(Severity::Warning),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(Severity::Error),
        // Joiners belong to emoji and to the scripts of Iran and India.
        '\u{200c}' | '\u{200d}' if before.is_some_and(is_joined) => None,
        '\u{200b}'..='\u{200f}' | '\u{61c}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{180e}' | '\u{ad}' => {
            Some(Severity::Warning)
        }
        _ => None,
    }
}

/// Notes what is hidden in the texts of a document.
pub(crate) fn check(document: &Document, findings: &mut Findings) {
    // Most files need no look at their texts: what is hidden there is written out, or escaped in
    // double quotes.
    let text = &document.source.text;
    if !text.is_ascii() || text.contains("\\u") || text.contains("\\U") || text.contains("\\x") {
        below(document, &document.root, findings);
    }
}

/// Notes what is hidden in a text file that is served as it is.
pub(crate) fn check_file(path: &str, text: &str, findings: &mut Findings) {
    if !text.is_ascii() {
        // A byte order mark is not part of the text.
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        check_from(&Source::new(path, text), start, findings);
    }
}

/// Notes what is hidden in a text from a byte on.
pub(crate) fn check_from(source: &Source, start: usize, findings: &mut Findings) {
    if let Some(Problem { severity, range, message, help }) = find(source.text.get(start..).unwrap_or_default()) {
        findings.report(severity, source, start + range.start..start + range.end, message, help.unwrap_or_default());
    }
}

fn below(document: &Document, node: &Node, findings: &mut Findings) {
    match &node.data {
        Data::Text(text) => {
            if let Some(problem) = find(text) {
                findings.problem(document, node, problem);
            }
        }
        Data::List(items) => items.iter().for_each(|item| below(document, item, findings)),
        Data::Map(entries) => {
            for entry in entries {
                if let Some(problem) = find(&entry.key) {
                    findings.report(
                        problem.severity,
                        &document.source,
                        entry.key_range.clone(),
                        problem.message,
                        problem.help.unwrap_or_default(),
                    );
                }
                if !NOT_FOR_MODELS.contains(&entry.key.as_str()) {
                    below(document, &entry.value, findings);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_found_and_visible_ones_are_not() {
        for (text, expected) in [
            ("plain \u{e0041}\u{e0042}", Some((Severity::Error, "U+E0041 and 1 more"))),
            ("a\u{202e}b", Some((Severity::Error, "U+202E,"))),
            ("a\u{2066}b", Some((Severity::Error, "U+2066,"))),
            ("שלום \u{2066}Millrace\u{2069} ו\u{2067}\u{2068}a\u{2069}\u{2069}", Some((Severity::Warning, "U+2066 and 5 more"))),
            ("a\u{2069}b\u{2066}", Some((Severity::Error, "U+2069 and 1 more"))),
            ("a\u{2066}b\n\u{2069}", Some((Severity::Error, "U+2066 and 1 more"))),
            ("a\u{2066}b\u{2069}\u{202e}", Some((Severity::Error, "U+2066 and 2 more"))),
            ("a\u{e0101}", Some((Severity::Error, "U+E0101,"))),
            ("葛\u{e0101}\u{e0102}", Some((Severity::Error, "U+E0102,"))),
            ("می\u{200c}\u{200d}\u{200c}", Some((Severity::Warning, "U+200D and 1 more"))),
            (
                "\u{1f3f4}\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e0061}\u{e007f}",
                Some((Severity::Error, "U+E0069 and 7 more")),
            ),
            ("a\u{200b}b\u{202e}", Some((Severity::Error, "U+200B and 1 more"))),
            ("a\u{200b}b", Some((Severity::Warning, "U+200B,"))),
            ("a\u{200d}b\u{feff}c\u{2060}", Some((Severity::Warning, "U+200D and 2 more"))),
            ("\u{1f3f4}\u{e0067}\u{e0041}", Some((Severity::Error, "U+E0067 and 1 more"))),
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} England", None),
            ("👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} zażółć", None),
            ("می\u{200c}خواهم", None),
            ("葛\u{e0101}", None),
        ] {
            let found = find(text);
            assert_eq!(found.as_ref().map(|found| found.severity), expected.map(|(severity, _)| severity), "{text:?}");
            if let (Some(found), Some((_, part))) = (found, expected) {
                assert!(found.message.contains(part), "{}", found.message);
                assert!(text.is_char_boundary(found.range.start) && text.is_char_boundary(found.range.end));
            }
        }
    }
}
