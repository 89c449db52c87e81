//! Text of an app or a caller on its way to a terminal.

use std::borrow::Cow;

use millrace_core::hidden::is_hidden;

/// The same text, with a visible sign for each character that a terminal would obey or that would
/// move the text around it: control characters but line breaks and tabs, and marks of direction.
/// One character stays one character.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| sign(character).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut characters = text.chars().peekable();
    let mut printable = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        // The end of a line as Windows writes it.
        let ends_line = character == '\r' && characters.peek() == Some(&'\n');
        printable.push(sign(character).filter(|_| !ends_line).unwrap_or(character));
    }
    Cow::Owned(printable)
}

/// What stands for a character that cannot be shown as it is.
const fn sign(character: char) -> Option<char> {
    match character {
        '\n' | '\t' => None,
        // The pictures of the control characters, in their order.
        '\0'..='\x1f' => char::from_u32(0x2400 + character as u32),
        '\x7f' => Some('\u{2421}'),
        // Joiners belong to the letters and emoji around them.
        '\u{200c}' | '\u{200d}' => None,
        other if is_hidden(other) => Some('\u{fffd}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_for_a_terminal_to_obey() {
        let table = [
            ("plain é 🦀\n\tindented\r\nnext", "plain é 🦀\n\tindented\r\nnext"),
            ("\x1b]0;title\x07", "␛]0;title␇"),
            ("\x1b[31mred\x7f\0", "␛[31mred␡␀"),
            ("over\rwritten\r", "over␍written␍"),
            ("\u{9b}31m\u{85}", "\u{fffd}31m\u{fffd}"),
            ("a\u{202e}b\u{2028}c\u{2066}d\u{e0041}", "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}"),
        ];
        for (text, expected) in table {
            assert_eq!(printable(text), expected, "{text:?}");
            assert_eq!(printable(text).chars().count(), text.chars().count(), "{text:?}");
        }
    }
}
