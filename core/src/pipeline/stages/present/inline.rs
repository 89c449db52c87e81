//! Values in an author's Markdown and Mermaid: none of them ends its line, or begins anything but
//! text.

use alloc::{format, string::String};

use crate::pipeline::content::blocks::one_line;

/// What begins a picture, a link, code, HTML, an escape or a cell of a table, wherever it stands.
const ANYWHERE: [char; 6] = ['\\', '`', '[', ']', '<', '|'];
/// What begins a heading, a list, a quotation, a fence or a rule, or underlines a heading, where a
/// line begins with it; or makes a list of the digits before it.
const AT_START: [char; 10] = ['#', '+', '-', '*', '>', '=', '~', '_', '.', ')'];

/// What Mermaid takes for anything but text. It has codes for characters: `#34;` is a quote.
const IN_MERMAID: [char; 17] = ['"', '#', '%', '&', '(', ')', ';', '<', '>', '[', '\\', ']', '`', '{', '|', '}', ':'];

/// Appends the text of a value to Mermaid.
pub(super) fn push_mermaid(out: &mut String, text: &str) {
    for character in one_line(text).chars() {
        if IN_MERMAID.contains(&character) {
            out.push_str(&format!("#{};", u32::from(character)));
        } else {
            out.push(character);
        }
    }
}

/// Appends the text of a value to Markdown.
pub(super) fn push_inline(out: &mut String, text: &str) {
    let text = one_line(text);
    let mut text = text.as_str();
    if starts_line(out) {
        let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
        let (number, rest) = text.split_at_checked(digits).unwrap_or((text, ""));
        out.push_str(number);
        if rest.starts_with(AT_START) {
            out.push('\\');
            let first = rest.chars().next().map_or(0, char::len_utf8);
            out.push_str(rest.get(..first).unwrap_or_default());
            text = rest.get(first..).unwrap_or_default();
        } else {
            text = rest;
        }
    }
    for character in text.chars() {
        if ANYWHERE.contains(&character) {
            out.push('\\');
        }
        out.push(character);
    }
}

/// Whether nothing but marks stands on the line so far, so that what follows could be one of them.
fn starts_line(text: &str) -> bool {
    let line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    line.chars()
        .all(|character| character.is_whitespace() || character.is_ascii_digit() || character == '|' || AT_START.contains(&character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_text_in_mermaid() {
        for (value, expected) in [
            ("x]\nclick A href \"https://evil.example\"\nB[y", "x#93; click A href #34;https#58;//evil.example#34; B#91;y"),
            ("Ann & Bob (2) ; A-->B %% c", "Ann #38; Bob #40;2#41; #59; A--#62;B #37;#37; c"),
            ("Größe 12.5, a-b", "Größe 12.5, a-b"),
        ] {
            let mut text = String::new();
            push_mermaid(&mut text, value);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn a_value_begins_nothing() {
        for (before, value, expected) in [
            ("Name: ", "x\n# Heading ![i](https://evil.example/?q=1)\n```js", r"x # Heading !\[i\](https://evil.example/?q=1) \`\`\`js"),
            ("Name: ", "a-b #5 1. *x* _y_ 2 > 1", "a-b #5 1. *x* _y_ 2 > 1"),
            ("Name: ", r"\[x](y)", r"\\\[x\](y)"),
            ("Name: ", "<img src=x>", r"\<img src=x>"),
            ("a | b\n", "--- | ---", r"\--- \| ---"),
            ("", "# Heading", r"\# Heading"),
            ("Title\n", "=== ", r"\==="),
            ("Title\n", "\t    code", "code"),
            ("- ", "- x", r"\- x"),
            ("> ", "> x", r"\> x"),
            ("", "12. x", r"12\. x"),
            ("", "12) x", r"12\) x"),
            ("", "12.5", r"12\.5"),
            ("1", ". x", r"\. x"),
            ("", "~~~", r"\~~~"),
            ("", "***", r"\***"),
            ("", "+49 30", r"\+49 30"),
            ("x\n", "a\u{2028}# b\u{b}c\u{85}d\re", "a # b c d e"),
            ("x ", "", ""),
        ] {
            let mut text = String::from(before);
            push_inline(&mut text, value);
            assert_eq!(text.strip_prefix(before), Some(expected), "{before:?} {value:?}");
        }
    }
}
