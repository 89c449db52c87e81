//! A command's text, cut into arguments as `redis-cli` cuts them.
//!
//! Between arguments stand spaces, tabs and ends of lines. In `"…"`, `\n`, `\r`, `\t`, `\b`, `\a`
//! and `\xHH` are escapes, and any other character after `\` is itself; in `'…'`, only `\'` is one.
//! What follows a closing quote begins another argument.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its bytes in the text, quotes among them.
    pub range: Range<usize>,
    /// What it is made of. Without any it is empty.
    pub pieces: Vec<WordPiece>,
    /// Whether it has quotes.
    pub is_quoted: bool,
}

/// A piece of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPiece {
    /// Text, escapes undone.
    Text(String),
    /// A NUL character of the text, which stands for a placeholder: its place.
    Mark(usize),
}

/// Why a text is no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordsError {
    /// What is meant.
    pub range: Range<usize>,
    /// A clause about it.
    pub message: &'static str,
    /// What helps.
    pub help: &'static str,
}

impl Word {
    /// The text of an argument without placeholders.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [WordPiece::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// Cuts a text into arguments.
///
/// # Errors
/// The first quote that is not closed or is followed by text, and escapes that give no UTF-8.
pub fn words(text: &str) -> Result<Vec<Word>, WordsError> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        while bytes.get(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            at += 1;
        }
        if at >= bytes.len() {
            return Ok(words);
        }
        let (word, end) = word(bytes, at)?;
        words.push(word);
        at = end;
    }
}

fn word(bytes: &[u8], start: usize) -> Result<(Word, usize), WordsError> {
    let mut made = Made { pieces: Vec::new(), text: Vec::new(), start };
    let (mut at, mut is_quoted) = (start, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => {
                is_quoted = true;
                at = quoted(bytes, at, &mut made)?;
                if bytes.get(at).is_some_and(|byte| !byte.is_ascii_whitespace()) {
                    let help = "put a space between the two, or all of the argument in quotes";
                    return Err(WordsError { range: start..at + 1, message: "a closing quote is followed by more text", help });
                }
                break;
            }
            0 => made.mark(at)?,
            byte if byte.is_ascii_whitespace() => break,
            byte => made.text.push(byte),
        }
        at += 1;
    }
    made.end(at)?;
    Ok((Word { range: start..at, pieces: made.pieces, is_quoted }, at))
}

/// Reads from a quote to behind the closing one.
fn quoted(bytes: &[u8], opening: usize, made: &mut Made) -> Result<usize, WordsError> {
    let quote = bytes[opening];
    let mut at = opening + 1;
    loop {
        let Some(&byte) = bytes.get(at) else {
            let help = "close it; a quote within quotes is written `\\\"` or `\\'`";
            return Err(WordsError { range: opening..opening + 1, message: "the quote that starts here is not closed", help });
        };
        at += 1;
        match byte {
            byte if byte == quote => return Ok(at),
            0 => made.mark(at - 1)?,
            b'\\' if quote == b'\'' => {
                let is_escape = bytes.get(at) == Some(&b'\'');
                made.text.push(if is_escape { b'\'' } else { b'\\' });
                at += usize::from(is_escape);
            }
            b'\\' => {
                // A placeholder is none of the characters that can be escaped.
                let Some(&escaped) = bytes.get(at).filter(|byte| **byte != 0) else {
                    made.text.push(b'\\');
                    continue;
                };
                at += 1;
                let hex = bytes.get(at..at + 2).filter(|_| escaped == b'x').and_then(hex);
                at += if hex.is_some() { 2 } else { 0 };
                made.text.push(hex.unwrap_or(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 0x08,
                    b'a' => 0x07,
                    other => other,
                }));
            }
            byte => made.text.push(byte),
        }
    }
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (high, low) = (digit(digits.first()?)?, digit(digits.get(1)?)?);
    u8::try_from(high * 16 + low).ok()
}

/// What is made of an argument.
struct Made {
    pieces: Vec<WordPiece>,
    text: Vec<u8>,
    start: usize,
}

impl Made {
    fn mark(&mut self, at: usize) -> Result<(), WordsError> {
        self.end(at)?;
        self.pieces.push(WordPiece::Mark(at));
        Ok(())
    }

    fn end(&mut self, at: usize) -> Result<(), WordsError> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = String::from_utf8(core::mem::take(&mut self.text)).map_err(|_| WordsError {
            range: self.start..at,
            message: "the escapes of an argument give bytes that are not UTF-8",
            help: "write text; bytes can be stored by a script",
        })?;
        self.pieces.push(WordPiece::Text(text));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let word = |word: Word| {
            let piece = |piece: &WordPiece| match piece {
                WordPiece::Text(text) => text.clone(),
                WordPiece::Mark(at) => alloc::format!("<{at}>"),
            };
            word.pieces.iter().map(piece).collect()
        };
        words(text).unwrap().into_iter().map(word).collect()
    }

    #[test]
    fn arguments_are_cut_as_redis_cli_cuts_them() {
        for (text, expected) in [
            ("SET a b", vec!["SET", "a", "b"]),
            ("  SET\ta\n  b\r\n", vec!["SET", "a", "b"]),
            (r#"SET "a b" 'c d'"#, vec!["SET", "a b", "c d"]),
            (r#"SET "" ''"#, vec!["SET", "", ""]),
            (r#""\x41\n\r\t\b\a\"\\\q\xzz" '\'\n'"#, vec!["A\n\r\t\u{8}\u{7}\"\\qxzz", "'\\n"]),
            (r#"pre"fix x""#, vec!["prefix x"]),
            ("user:\0 \0", vec!["user:<5>", "<7>"]),
            ("\"\0:\0 x\"", vec!["<1>:<3> x"]),
            ("\"\\\0\"", vec!["\\<2>"]),
            (r#""\xc3\xa9""#, vec!["é"]),
            ("é ü", vec!["é", "ü"]),
            ("", vec![]),
        ] {
            assert_eq!(texts(text), expected, "{text:?}");
        }
        let found = words("a \"b\" \0").unwrap();
        assert_eq!(found[1], Word { range: 2..5, pieces: vec![WordPiece::Text("b".to_string())], is_quoted: true });
        assert_eq!((found[0].text(), found[2].text()), (Some("a"), None));
    }

    #[test]
    fn what_is_no_command_is_named() {
        for (text, range, expected) in [
            ("SET \"a", 4..5, "is not closed"),
            ("SET 'a\\'", 4..5, "is not closed"),
            ("SET \"a\"b", 4..8, "followed by more text"),
            ("SET 'a'\0", 4..8, "followed by more text"),
            ("SET \"\\xff\"", 4..10, "not UTF-8"),
        ] {
            let error = words(text).unwrap_err();
            assert!(error.range == range && error.message.contains(expected), "{text}: {error:?}");
        }
    }
}
