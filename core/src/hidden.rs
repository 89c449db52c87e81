//! Characters that nobody sees and a model reads: what data could whisper.
//!
//! Tag characters are letters that no font draws, runs of variation selectors carry any bytes,
//! zero-width characters split words, and marks of direction show one text and say another. A value
//! that has them says something to a model that the people who look at it cannot see. On its way to
//! a model each becomes a visible escape, `[U+200B]`; it has no quotation mark and no back-slash,
//! so that text which is JSON, a table or Markdown stays that. This is the only table of such
//! characters; [`one_line`](crate::one_line) and the log lines of hosts use it, too.
//!
//! Some are needed where people write, and stay there:
//!
//! | character | stays |
//! |---|---|
//! | tab, line feed, carriage return | everywhere |
//! | U+200C, U+200D (joiners) | between two letters of Arabic, Syriac, Mongolian or an Indic script, and after an Indic virama |
//! | U+200D | between two emoji |
//! | U+FE0E, U+FE0F (text or emoji) | one, after an emoji or in a keycap |
//! | U+180B–U+180D, U+180F | one, after a Mongolian letter |
//!
//! Everything else of the table is escaped wherever it stands, among it U+00AD (soft hyphen),
//! U+200E and U+200F, all of U+E0000–U+E0FFF (so the flags of England, Scotland and Wales, and the
//! variants of ideographs), the C0 and C1 controls and U+FFF9–U+FFFB.

use alloc::{borrow::Cow, rc::Rc, string::String, vec::Vec};
use core::fmt::Write as _;

use serde_json::Map;

use crate::{
    Json,
    app::PathStep,
    value::{Rows, Value, unique_names},
};

/// How many bytes are looked at together.
const CHUNK: usize = 16;

/// What a character is to those who look at a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// It is seen, or is a space.
    Seen,
    /// It is not, or turns what is around it.
    Hidden,
    /// U+200C, U+200D
    Joiner,
    /// U+FE0E, U+FE0F
    Style,
    /// The selectors of Mongolian.
    Mongolian,
}

const fn class(character: char) -> Class {
    match character {
        '\t' | '\n' | '\r' => Class::Seen,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            Class::Hidden
        }
        '\u{180b}'..='\u{180d}' | '\u{180f}' => Class::Mongolian,
        '\u{200c}' | '\u{200d}' => Class::Joiner,
        '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' => Class::Hidden,
        '\u{fe0e}' | '\u{fe0f}' => Class::Style,
        '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' => Class::Hidden,
        '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => Class::Hidden,
        _ => Class::Seen,
    }
}

/// Whether a character is one that a reader of a log or a terminal would not see, or that would
/// move the text around it. Selectors of emoji are not: they say nothing there.
#[must_use]
pub const fn is_hidden(character: char) -> bool {
    matches!(class(character), Class::Hidden | Class::Joiner)
}

/// The text with an escape, `[U+200B]`, for each hidden character that is not needed where it
/// stands.
///
/// ```
/// use millrace_core::hidden::visible;
/// assert_eq!(visible("pay\u{200b}pal ❤\u{fe0f}"), "pay[U+200B]pal ❤\u{fe0f}");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some(mut found) = next(text, 0) else { return Cow::Borrowed(text) };
    let mut visible = String::with_capacity(text.len() + 16);
    let mut rest = 0;
    loop {
        let (at, character) = found;
        visible.push_str(text.get(rest..at).unwrap_or_default());
        // Writing to a string does not fail.
        let _ = write!(visible, "[U+{:04X}]", u32::from(character));
        rest = at + character.len_utf8();
        match next(text, rest) {
            Some(other) => found = other,
            None => break,
        }
    }
    visible.push_str(text.get(rest..).unwrap_or_default());
    Cow::Owned(visible)
}

/// Makes a text visible in place; `false` where it is already.
pub(crate) fn reveal(text: &mut String) -> bool {
    let Cow::Owned(visible) = visible(text) else { return false };
    *text = visible;
    true
}

/// Makes the texts and the keys of a value visible, apart from what one of the paths leads to;
/// `false` where they are already.
pub(crate) fn reveal_json(value: &mut Json, as_is: &[&[PathStep]]) -> bool {
    if as_is.iter().any(|path| path.is_empty()) {
        return false;
    }
    let below = |step: &dyn Fn(&PathStep) -> bool| -> Vec<&[PathStep]> {
        let rest = as_is.iter().filter_map(|path| path.split_first()).filter(|(first, _)| step(first));
        rest.map(|(_, rest)| rest).collect()
    };
    match value {
        Json::String(text) => reveal(text),
        Json::Array(elements) => {
            let mut changed = false;
            for (index, element) in elements.iter_mut().enumerate() {
                let of_element = |step: &PathStep| match step {
                    PathStep::Elements => true,
                    PathStep::Index(place) => *place as usize == index,
                    _ => false,
                };
                changed |= reveal_json(element, &below(&of_element));
            }
            changed
        }
        Json::Object(members) => {
            let mut changed = false;
            for (name, member) in members.iter_mut() {
                let of_member = |step: &PathStep| match step {
                    PathStep::Any => true,
                    PathStep::Member(known) => known == name,
                    _ => false,
                };
                changed |= reveal_json(member, &below(&of_member));
            }
            changed | reveal_keys(members)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Makes the keys of an object visible, and loses none where two become the same; `false` where
/// they are already.
pub(crate) fn reveal_keys(members: &mut Map<String, Json>) -> bool {
    if members.keys().all(|name| next(name, 0).is_none()) {
        return false;
    }
    let hidden = core::mem::take(members);
    let names: Vec<Cow<'_, str>> = hidden.keys().map(|name| visible(name)).collect();
    let names = unique_names(names.iter().map(|name| &**name));
    members.extend(names.into_iter().zip(hidden).map(|(name, (_, member))| (name, member)));
    true
}

/// Makes the texts and the column names of rows visible; `false` where they are already.
pub(crate) fn reveal_rows(rows: &mut Rows) -> bool {
    let mut changed = rows.columns.iter().any(|name| next(name, 0).is_some());
    if changed {
        let names: Vec<Cow<'_, str>> = rows.columns.iter().map(|name| visible(name)).collect();
        let names: Rc<[String]> = unique_names(names.iter().map(|name| &**name)).into();
        rows.columns = names;
    }
    for cell in rows.rows.iter_mut().flatten() {
        changed |= reveal_cell(cell);
    }
    changed
}

fn reveal_cell(cell: &mut Value) -> bool {
    match cell {
        Value::Text(text) | Value::Decimal(text) | Value::Timestamp(text) => reveal(text),
        Value::Json(document) => reveal_json(document, &[]),
        Value::Array(elements) => elements.iter_mut().fold(false, |changed, element| changed | reveal_cell(element)),
        Value::Null | Value::Bool(_) | Value::I64(_) | Value::U64(_) | Value::F64(_) | Value::Bytes(_) => false,
    }
}

/// Whether JSON text that was written without spaces has nothing to escape in it, as far as a look
/// at its bytes tells: it is printable ASCII and has no escape of JSON.
pub(crate) fn is_plain_json(text: &str) -> bool {
    let is_plain = |byte: &u8| (0x20..0x7f).contains(byte) && *byte != b'\\';
    let (chunks, rest) = text.as_bytes().as_chunks::<CHUNK>();
    // Without a branch for each byte, which is many times as fast.
    chunks.iter().all(|chunk| chunk.iter().fold(true, |all, byte| all & is_plain(byte))) && rest.iter().all(is_plain)
}

/// The next character, from a place on, that is to be escaped.
fn next(text: &str, from: usize) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<CHUNK>)
            && chunk.iter().fold(true, |all, byte| all & (0x20..0x7f).contains(byte))
        {
            at += CHUNK;
        }
        let end = bytes.len().min(at + CHUNK);
        if at >= end {
            return None;
        }
        for place in at..end {
            if bytes.get(place).copied().is_some_and(may_begin)
                && let Some(character) = text.get(place..).and_then(|rest| rest.chars().next())
                && is_whispered(text, place, character)
            {
                return Some((place, character));
            }
        }
        at = end;
    }
}

/// Whether a byte may be the first one of a character of the table.
const fn may_begin(byte: u8) -> bool {
    match byte {
        b'\t' | b'\n' | b'\r' => false,
        0..0x20 | 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3 => true,
        _ => false,
    }
}

/// Whether a character at a place of a text is hidden, and not needed there.
fn is_whispered(text: &str, at: usize, character: char) -> bool {
    let class = class(character);
    match class {
        Class::Seen => return false,
        Class::Hidden => return true,
        Class::Joiner | Class::Style | Class::Mongolian => {}
    }
    let before = text.get(..at).and_then(|text| text.chars().next_back()).unwrap_or('\0');
    let after = text.get(at + character.len_utf8()..).and_then(|text| text.chars().next()).unwrap_or('\0');
    let is_needed = match class {
        Class::Joiner => {
            let base = || text.get(..at).and_then(|text| text.chars().rev().nth(1)).is_some_and(is_emoji);
            let follows_emoji = is_emoji(before) || before == '\u{fe0f}' && base();
            character == '\u{200d}' && follows_emoji && is_emoji(after)
                || joins(before) && joins(after)
                || is_virama(before) && self::class(after) != Class::Joiner
        }
        // A keycap is a digit, the selector and the key.
        Class::Style => self::class(after) != Class::Style && (is_emoji(before) || after == '\u{20e3}' && is_key(before)),
        _ => matches!(before, '\u{1820}'..='\u{18aa}') && self::class(after) != Class::Mongolian,
    };
    !is_needed
}

/// Whether a character is a letter of a script in which joiners change what is read.
const fn joins(character: char) -> bool {
    let is_of_script = matches!(
        character,
        '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}' | '\u{1820}'..='\u{18aa}'
            | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
    );
    is_of_script && matches!(class(character), Class::Seen)
}

/// What joins two consonants of an Indic script; a joiner after it decides how.
const fn is_virama(character: char) -> bool {
    matches!(
        character,
        '\u{94d}' | '\u{9cd}' | '\u{a4d}' | '\u{acd}' | '\u{b4d}' | '\u{bcd}' | '\u{c4d}' | '\u{ccd}' | '\u{d4d}' | '\u{dca}' | '\u{17d2}'
    )
}

/// Whether a character is drawn as an emoji, or can be.
const fn is_emoji(character: char) -> bool {
    matches!(
        character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{21aa}' | '\u{231a}'..='\u{23ff}'
            | '\u{24c2}' | '\u{25aa}'..='\u{25fe}' | '\u{2600}'..='\u{27bf}' | '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}'
            | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

const fn is_key(character: char) -> bool {
    matches!(character, '0'..='9' | '#' | '*')
}

/// What is shown of a text that a caller made up, and that a message repeats to it: so many
/// characters at most, control characters replaced, and no mark-up.
pub(crate) fn repeated(text: &str, most: usize) -> Cow<'_, str> {
    let is_mark = |character: char| matches!(character, '<' | '>') || character.is_control();
    if text.len() <= most && !text.contains(is_mark) {
        return visible(text);
    }
    let mut shown = String::with_capacity(text.len().min(most) + 8);
    for character in text.chars().take(most) {
        match character {
            '<' => shown.push_str("\\u003c"),
            '>' => shown.push_str("\\u003e"),
            other if other.is_control() => shown.push('\u{fffd}'),
            other => shown.push(other),
        }
    }
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    reveal(&mut shown);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::ToString, vec, vec::Vec};

    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_become_visible() {
        for (text, expected) in [
            ("", ""),
            ("plain text\twith\r\nlines, ä, 漢字, “quotes” and 🦀", "plain text\twith\r\nlines, ä, 漢字, “quotes” and 🦀"),
            ("pay\u{200b}pal", "pay[U+200B]pal"),
            ("\u{e0049}\u{e0067}\u{e006e}", "[U+E0049][U+E0067][U+E006E]"),
            ("x\u{202e}txt.exe\u{2069}\u{61c}", "x[U+202E]txt.exe[U+2069][U+061C]"),
            ("\u{feff}a\u{2060}b\u{180e}c\u{ad}d", "[U+FEFF]a[U+2060]b[U+180E]c[U+00AD]d"),
            ("\u{1b}[2J\u{0}\u{7f}\u{9b}", "[U+001B][2J[U+0000][U+007F][U+009B]"),
            ("a\u{fff9}b\u{fffb}\u{2028}\u{3164}", "a[U+FFF9]b[U+FFFB][U+2028][U+3164]"),
            // Joiners where a script needs them, and where none does.
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("क\u{94d}\u{200d}ष क\u{94d}\u{200c}", "क\u{94d}\u{200d}ष क\u{94d}\u{200c}"),
            ("ab\u{200c}cd\u{200d}", "ab[U+200C]cd[U+200D]"),
            ("می\u{200c}\u{200d}\u{200c}خ", "می[U+200C][U+200D][U+200C]خ"),
            // Emoji, and bytes behind one.
            (
                "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3} ⚠\u{fe0f}",
                "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3} ⚠\u{fe0f}",
            ),
            ("😀\u{fe01}\u{fe0f}\u{fe0f}\u{e0100}\u{e01ef}", "😀[U+FE01][U+FE0F][U+FE0F][U+E0100][U+E01EF]"),
            ("a\u{fe0f}1\u{fe0f}", "a[U+FE0F]1[U+FE0F]"),
            ("ᠠ\u{180b}ᠡ\u{180b}\u{180c}a\u{180d}", "ᠠ\u{180b}ᠡ[U+180B][U+180C]a[U+180D]"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
            // Wherever it stands among the bytes that are looked at together.
            for before in 1..40 {
                let padded = format!("{}{text}{}", "-".repeat(before), "-".repeat(before));
                assert_eq!(visible(&padded), format!("{0}{expected}{0}", "-".repeat(before)), "{text:?} {before}");
            }
            assert_eq!(visible(expected), expected, "{text:?}: what is visible stays so");
        }
        assert!(matches!(visible("as it is"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_character_of_the_table_is_passed_over() {
        for character in '\0'..=char::MAX {
            let alone = character.to_string();
            let is_escaped = visible(&alone) != alone;
            assert_eq!(is_escaped, class(character) != Class::Seen, "{character:?}");
        }
        // Those of Unicode that have no glyph (`Default_Ignorable_Code_Point`), which a table of
        // ranges could lack.
        let ignorable =
            ["\u{ad}", "\u{34f}", "\u{61c}", "\u{115f}", "\u{1160}", "\u{17b4}", "\u{17b5}", "\u{180b}", "\u{180f}", "\u{3164}"];
        let ranges = [('\u{200b}', '\u{200f}'), ('\u{202a}', '\u{202e}'), ('\u{2060}', '\u{206f}'), ('\u{fe00}', '\u{fe0f}')];
        let more = [('\u{fff0}', '\u{fff8}'), ('\u{1bca0}', '\u{1bca3}'), ('\u{1d173}', '\u{1d17a}'), ('\u{e0000}', '\u{e0fff}')];
        let of_ranges = ranges.into_iter().chain(more).flat_map(|(first, last)| first..=last).map(|character| character.to_string());
        for text in ignorable.map(ToString::to_string).into_iter().chain(of_ranges).chain(["\u{feff}".into(), "\u{ffa0}".into()]) {
            assert_ne!(visible(&text), text);
        }
    }

    #[test]
    fn values_are_visible_down_to_their_keys() {
        let mut value = json!({"a\u{200b}": ["\u{202e}", {"b": "\u{200b}", "c": "\u{200b}"}], "a[U+200B]": 1, "n": 1.5});
        let as_is = [PathStep::Any, PathStep::Index(1), PathStep::Member("c".into())];
        reveal_json(&mut value, &[&as_is]);
        assert_eq!(value, json!({"a[U+200B]": ["[U+202E]", {"b": "[U+200B]", "c": "\u{200b}"}], "a[U+200B]_2": 1, "n": 1.5}));
        let columns = vec!["x\u{200b}".to_string(), "x[U+200B]".to_string()];
        let cells = vec![
            Value::Text("\u{200b}".into()),
            Value::Array(vec![Value::Json(json!({"\u{feff}": "\u{feff}"})), Value::Timestamp("\u{200b}".into())]),
        ];
        let mut rows = Rows { columns: columns.into(), rows: vec![cells], ..Rows::default() };
        reveal_rows(&mut rows);
        let text = serde_json::to_string(&rows.json()).unwrap();
        assert_eq!(text, r#"[{"x[U+200B]":"[U+200B]","x[U+200B]_2":[{"[U+FEFF]":"[U+FEFF]"},"[U+200B]"]}]"#);
        assert!(is_plain_json(&text));
        for text in ["ä", "a\u{7f}", "{\"a\":\"\\u001b\"}", "0123456789abcde\u{200b}", "0123456789abcdef0\\"] {
            assert!(!is_plain_json(text), "{text:?}");
        }
    }

    #[test]
    fn what_a_caller_sent_is_no_mark_up() {
        for (text, expected) in [
            ("it's R&D", "it's R&D"),
            ("<script>alert(1)</script>", "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e"),
            ("a\n\u{7}b", "a\u{fffd}\u{fffd}b"),
            ("a\u{200b}b", "a[U+200B]b"),
        ] {
            assert_eq!(repeated(text, 60), expected);
        }
        let long: Vec<char> = repeated(&"<".repeat(100), 10).chars().collect();
        assert_eq!(long.len(), 61);
        assert_eq!(repeated(&"é".repeat(100), 10), format!("{}…", "é".repeat(10)));
    }
}
