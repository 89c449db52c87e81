//! The inside of a text literal: escapes undone, placeholders kept.

use std::ops::Range;

use millrace_languages::{lex::Prefix, postgres::unescape_unicode};

use super::{dialect::Dialect, masked::MaskedStatement};

/// A piece of a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    Text(String),
    /// The index of a placeholder.
    Mark(usize),
}

/// An escape that cannot be undone, and where it stands in the masked text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadEscape(pub(super) Range<usize>);

/// Undoes the escapes of a literal's body.
pub(super) fn decode(
    masked: &MaskedStatement<'_>,
    body: Range<usize>,
    prefix: Prefix,
    dialect: Dialect,
) -> Result<Vec<Decoded>, BadEscape> {
    let quote = masked.text[..body.start].chars().next_back().unwrap_or('\'');
    let backslashes = dialect.facts().has_backslashes || prefix == Prefix::Escape;
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut at = body.start;
    while let Some(c) = masked.text[at..body.end].chars().next() {
        let rest = &masked.text[at..body.end];
        if let Some(mark) = masked.mark_at(at) {
            if !text.is_empty() {
                pieces.push(Decoded::Text(std::mem::take(&mut text)));
            }
            pieces.push(Decoded::Mark(mark));
            at += 1;
        } else if c == quote {
            // The lexer ended the literal at a quote that stands alone: this one is doubled.
            text.push(quote);
            at += 2;
        } else if c == '\\' && prefix == Prefix::Unicode {
            let Some((unescaped, length)) = unescape_unicode(rest) else { return Err(BadEscape(at..at + 1)) };
            text.push(unescaped);
            at += length;
        } else if c == '\\' && backslashes {
            let escape = (dialect.facts().unescape)(rest);
            let Some((unescaped, length)) = escape else { return Err(BadEscape(at..at + 1)) };
            text.push_str(&unescaped);
            at += length;
        } else {
            text.push(c);
            at += c.len_utf8();
        }
    }
    if !text.is_empty() {
        pieces.push(Decoded::Text(text));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests;
