//! Cuts a statement into tokens as ClickHouse does.

use core::ops::Range;

/// What a token is. Space and comments are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes.
    Quoted,
    /// A text literal, or a heredoc.
    Literal,
    Number,
    /// `{name:Type}`
    Parameter,
    /// A placeholder of an app, which is a NUL character.
    Mark,
    Sign(u8),
}

/// A token, and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// A literal, a quoted name or a comment without an end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unclosed {
    pub(super) what: &'static str,
    pub(super) at: usize,
}

/// Takes the next token from `at` on; `None` at the end.
pub(super) fn next(text: &str, at: &mut usize) -> Result<Option<Token>, Unclosed> {
    let bytes = text.as_bytes();
    loop {
        let start = *at;
        let Some(&first) = bytes.get(start) else { return Ok(None) };
        let second = bytes.get(start + 1).copied();
        let kind = match first {
            byte if byte.is_ascii_whitespace() || byte == 0x0b => {
                *at += 1;
                continue;
            }
            b'-' if second == Some(b'-') => {
                line(bytes, at);
                continue;
            }
            b'#' if matches!(second, Some(b' ' | b'!')) => {
                line(bytes, at);
                continue;
            }
            b'/' if second == Some(b'/') => {
                line(bytes, at);
                continue;
            }
            b'/' if second == Some(b'*') => {
                comment(bytes, at)?;
                continue;
            }
            0 => {
                *at += 1;
                Kind::Mark
            }
            b'\'' => {
                quoted(bytes, at, "literal")?;
                Kind::Literal
            }
            b'"' | b'`' => {
                quoted(bytes, at, "quoted name")?;
                Kind::Quoted
            }
            b'$' if heredoc(text, at)? => Kind::Literal,
            b'{' if parameter(text, start).is_some() => {
                *at = start + text.get(start..).and_then(|rest| rest.find('}')).unwrap_or_default() + 1;
                Kind::Parameter
            }
            byte if byte.is_ascii_digit() => {
                while bytes.get(*at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')) {
                    *at += 1;
                }
                Kind::Number
            }
            byte if is_word(byte) => {
                while bytes.get(*at).is_some_and(|byte| is_word(*byte)) {
                    *at += 1;
                }
                Kind::Word
            }
            sign => {
                *at += 1;
                Kind::Sign(sign)
            }
        };
        return Ok(Some(Token { kind, range: start..*at }));
    }
}

/// `{name:Type}` at a place: the bytes of its name and of its type.
pub(super) fn parameter(text: &str, start: usize) -> Option<(Range<usize>, Range<usize>)> {
    let inner = text.get(start..)?.strip_prefix('{')?;
    let inner = inner.get(..inner.find('}')?)?;
    let (name, kind) = inner.split_once(':')?;
    let is_name = !name.trim().is_empty() && name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // A map, `{'a': 1}`, has a literal there.
    if !is_name || kind.trim().is_empty() {
        return None;
    }
    let name_at = start + 1 + (name.len() - name.trim_start().len());
    let kind_at = start + 1 + name.len() + 1 + (kind.len() - kind.trim_start().len());
    Some((name_at..name_at + name.trim().len(), kind_at..kind_at + kind.trim().len()))
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn line(bytes: &[u8], at: &mut usize) {
    while bytes.get(*at).is_some_and(|byte| *byte != b'\n') {
        *at += 1;
    }
}

/// Comments may be inside each other.
fn comment(bytes: &[u8], at: &mut usize) -> Result<(), Unclosed> {
    let start = *at;
    let mut depth = 1;
    *at += 2;
    while depth > 0 {
        match (bytes.get(*at), bytes.get(*at + 1)) {
            (Some(b'*'), Some(b'/')) => {
                depth -= 1;
                *at += 2;
            }
            (Some(b'/'), Some(b'*')) => {
                depth += 1;
                *at += 2;
            }
            (Some(_), _) => *at += 1,
            (None, _) => return Err(Unclosed { what: "comment", at: start }),
        }
    }
    Ok(())
}

/// In every quotes a backslash escapes, and a quote is doubled.
fn quoted(bytes: &[u8], at: &mut usize, what: &'static str) -> Result<(), Unclosed> {
    let start = *at;
    let quote = bytes.get(start).copied();
    *at += 1;
    while let Some(&byte) = bytes.get(*at) {
        let next = bytes.get(*at + 1).copied();
        // A placeholder is none of the author's characters.
        if byte == b'\\' && next.is_some_and(|next| next != 0) || Some(byte) == quote && next == quote {
            *at += 2;
            continue;
        }
        *at += 1;
        if Some(byte) == quote {
            return Ok(());
        }
    }
    Err(Unclosed { what, at: start })
}

/// `$tag$…$tag$`. Whether there is one.
fn heredoc(text: &str, at: &mut usize) -> Result<bool, Unclosed> {
    let start = *at;
    let Some(rest) = text.get(start + 1..) else { return Ok(false) };
    let Some(end) = rest.find('$').filter(|end| rest.bytes().take(*end).all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')) else {
        return Ok(false);
    };
    let Some((fence, body)) = text.get(start..).and_then(|text| text.split_at_checked(end + 2)) else { return Ok(false) };
    let Some(close) = body.find(fence) else { return Err(Unclosed { what: "heredoc", at: start }) };
    *at = start + 2 * fence.len() + close;
    Ok(true)
}
