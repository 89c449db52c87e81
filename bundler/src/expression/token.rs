//! The tokens of an expression.

use std::{fmt, ops::Range};

use crate::{Problem, Severity};

/// One token. It prints as an author would write it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or a word of the language.
    Word(String),
    Number(serde_json::Number),
    Text(String),
    Dot,
    Comma,
    Open,
    Close,
    OpenList,
    CloseList,
    And,
    Or,
    Not,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self {
            Self::Word(word) => word,
            Self::Number(number) => return write!(f, "{number}"),
            Self::Text(text) => return write!(f, "'{text}'"),
            Self::Dot => ".",
            Self::Comma => ",",
            Self::Open => "(",
            Self::Close => ")",
            Self::OpenList => "[",
            Self::CloseList => "]",
            Self::And => "&&",
            Self::Or => "||",
            Self::Not => "!",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        };
        f.write_str(sign)
    }
}

/// A token and the bytes it takes.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) range: Range<usize>,
}

/// Cuts a text into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, Problem> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(first) = text[position..].chars().next() {
        if first.is_whitespace() {
            position += first.len_utf8();
            continue;
        }
        let rest = &text[position..];
        let (token, length) = match first {
            'a'..='z' | 'A'..='Z' | '_' => word(rest),
            '0'..='9' | '-' => number(rest, position)?,
            '\'' | '"' => string(rest, position, first)?,
            _ => sign(rest, position, first)?,
        };
        tokens.push(Spanned { token, range: position..position + length });
        position += length;
    }
    Ok(tokens)
}

fn word(rest: &str) -> (Token, usize) {
    let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
    (Token::Word(rest[..length].to_owned()), length)
}

fn number(rest: &str, position: usize) -> Result<(Token, usize), Problem> {
    let mut previous = '-';
    let length = rest
        .find(|c: char| {
            let belongs = c.is_ascii_alphanumeric() || c == '.' || (matches!(c, '-' | '+') && matches!(previous, '-' | 'e' | 'E'));
            previous = c;
            !belongs
        })
        .unwrap_or(rest.len());
    let digits = &rest[..length];
    let whole = !digits.contains(['.', 'e', 'E']);
    // A whole number that fits no integer would become a float and lose digits.
    let number = serde_json::from_str::<serde_json::Number>(digits).ok().filter(|number| !whole || !number.is_f64());
    number.map(|number| (Token::Number(number), length)).ok_or_else(|| {
        error(
            position..position + length,
            format!("`{digits}` is not a number"),
            "numbers are written `20`, `-1.5` or `1e3`; whole numbers have at most 64 bits",
        )
    })
}

fn string(rest: &str, position: usize, quote: char) -> Result<(Token, usize), Problem> {
    let mut value = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == quote {
            return Ok((Token::Text(value), at + 1));
        }
        if c != '\\' {
            value.push(c);
            continue;
        }
        let Some((_, escape)) = characters.next() else { break };
        let (unescaped, length) = match escape {
            '\\' | '\'' | '"' | '/' => (Some(escape), 2),
            'n' => (Some('\n'), 2),
            't' => (Some('\t'), 2),
            'r' => (Some('\r'), 2),
            'b' => (Some('\u{8}'), 2),
            'f' => (Some('\u{c}'), 2),
            'u' => {
                let digits = rest.get(at + 2..at + 6).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
                (
                    digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32),
                    if digits.is_some() { 6 } else { 2 },
                )
            }
            other => (None, 1 + other.len_utf8()),
        };
        let Some(unescaped) = unescaped else {
            return Err(error(
                position + at..position + at + length,
                format!("`{}` is not an escape", &rest[at..at + length]),
                r#"the escapes are `\\`, `\'`, `\"`, `\n`, `\t`, `\r`, `\b`, `\f`, `\/` and `\u00e9`"#,
            ));
        };
        value.push(unescaped);
        if length == 6 {
            characters.nth(3);
        }
    }
    Err(error(position..position + rest.len(), "the string is not closed".to_owned(), "close it with the quote that opened it"))
}

fn sign(rest: &str, position: usize, first: char) -> Result<(Token, usize), Problem> {
    for (sign, token) in [
        ("==", Token::Equal),
        ("!=", Token::NotEqual),
        ("<=", Token::LessOrEqual),
        (">=", Token::GreaterOrEqual),
        ("&&", Token::And),
        ("||", Token::Or),
        ("!", Token::Not),
        ("<", Token::Less),
        (">", Token::Greater),
        (".", Token::Dot),
        (",", Token::Comma),
        ("(", Token::Open),
        (")", Token::Close),
        ("[", Token::OpenList),
        ("]", Token::CloseList),
    ] {
        if rest.starts_with(sign) {
            return Ok((token, sign.len()));
        }
    }
    for (sign, instead) in [("&", "&&"), ("|", "||"), ("=", "==")] {
        if rest.starts_with(sign) {
            return Err(error(position..position + sign.len(), format!("`{sign}` is not an operator"), &format!("write `{instead}`")));
        }
    }
    Err(error(
        position..position + first.len_utf8(),
        format!("`{first}` does not belong in an expression"),
        "an expression has literals, paths, `== != < <= > >= in and or not`, functions, methods and parentheses",
    ))
}

fn error(range: Range<usize>, message: String, help: &str) -> Problem {
    Problem { severity: Severity::Error, range, message, help: Some(help.to_owned()) }
}
