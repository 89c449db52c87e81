//! Text that stays on one line of a log, whatever is in it.
//!
//! A line break within a text would make a line of its own, which looks like any other; a control
//! character or a change of the writing direction would make a terminal or an editor show something
//! else than is there. Each becomes an escape: `\\n`, `\\u{202e}`.

use alloc::{borrow::Cow, string::String};
use core::fmt::{self, Write};

use crate::hidden::is_hidden;

/// Passes text on with line breaks, control characters and marks of the writing direction escaped.
pub struct OneLine<W>(pub W);

impl<W: Write> Write for OneLine<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(is_escaped) {
            let (before, from) = rest.split_at(at);
            self.0.write_str(before)?;
            let mut characters = from.chars();
            if let Some(character) = characters.next() {
                write!(self.0, "{}", character.escape_default())?;
            }
            rest = characters.as_str();
        }
        self.0.write_str(rest)
    }
}

/// The same of a whole text.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut line = OneLine(String::with_capacity(text.len() + 8));
    // Writing to a string does not fail.
    let _ = line.write_str(text);
    Cow::Owned(line.0)
}

/// C0 and C1 with all line breaks that are among them, the two of Unicode, and what turns or hides
/// the text around it.
fn is_escaped(character: char) -> bool {
    character.is_control() || is_hidden(character)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn a_text_is_one_line() {
        let table = [
            ("plain, ä, 漢字, 🦀 and \"quotes\" \\", "plain, ä, 漢字, 🦀 and \"quotes\" \\"),
            ("a\nb\r\nc\td", "a\\nb\\r\\nc\\td"),
            ("\u{1b}[31mred\u{7}\u{7f}\0", "\\u{1b}[31mred\\u{7}\\u{7f}\\u{0}"),
            ("a\u{85}b\u{2028}c\u{2029}d\u{9b}e", "a\\u{85}b\\u{2028}c\\u{2029}d\\u{9b}e"),
            ("x\u{202e}txt.exe\u{202c} \u{2066}y\u{2069}\u{200f}", "x\\u{202e}txt.exe\\u{202c} \\u{2066}y\\u{2069}\\u{200f}"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(one_line(text), expected);
            let mut written = OneLine(String::new());
            text.chars().try_for_each(|character| write!(written, "{character}")).unwrap();
            assert_eq!(written.0, expected);
        }
        assert!(matches!(one_line("as it is"), Cow::Borrowed(_)));
        // Whatever a terminal, an editor or a collector of logs takes for the end of a line.
        for character in '\0'..=char::MAX {
            let line = format!("{}", one_line(character.encode_utf8(&mut [0; 4])));
            assert_eq!(line.lines().count(), 1, "{character:?}");
            assert!(!line.contains(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}', '\u{1b}']), "{character:?}");
        }
    }
}
