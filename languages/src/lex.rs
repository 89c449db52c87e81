//! Cuts a statement into tokens, exactly as far as binding and judging need it: literals, quoted
//! names, comments and words of each language, byte for byte. A test compares it with the real
//! servers on generated texts.
//!
//! What servers, or their versions, read differently outside of quotes and comments is refused:
//! blanks and quotes that are not ASCII, control characters, a number that a quote follows.

use alloc::{borrow::ToOwned as _, format, string::String, vec::Vec};
use core::{marker::PhantomData, ops::Range};

/// How a language cuts its text: what is other than in plain SQL.
pub trait Lexicon {
    /// A backslash escapes in every literal.
    const BACKSLASHES: bool = false;
    /// A backslash escapes in quoted names, too.
    const NAME_BACKSLASHES: bool = false;
    /// The letters that may stand right before the quote of a literal and are part of it, in small
    /// letters.
    const PREFIXES: &'static [u8] = b"";
    /// Literals that only blanks and line comments with the end of a line part are one.
    const CONTINUES: bool = false;
    /// What `"` is the quote of.
    const DOUBLE_QUOTES: Quotes = Quotes::Name;
    /// `` ` `` is a quote of names.
    const BACKTICKS: bool = false;
    /// `[` is a quote of names.
    const BRACKETS: bool = false;
    /// `--` begins a comment only with a blank behind it.
    const DASHES_NEED_BLANK: bool = false;
    /// When `#` begins a comment.
    const HASH: Hash = Hash::Sign;
    /// `//` begins a comment.
    const SLASHES: bool = false;
    /// A carriage return ends the comment of a line, too.
    const CARRIAGE_RETURNS: bool = false;
    /// Comments may be inside each other.
    const NESTED_COMMENTS: bool = false;
    /// The text of `/*! … */` is run.
    const RUNS_COMMENTS: bool = false;
    /// What `$` begins.
    const DOLLAR: Dollar = Dollar::Sign;
    /// What `?` is.
    const QUESTION: Question = Question::Sign;
    /// What `:` is.
    const COLON: Colon = Colon::Sign;
    /// `@name` is a parameter.
    const AT_PARAMETERS: bool = false;
    /// `{name:Type}` is a parameter.
    const BRACES: bool = false;
}

/// What a pair of quotes has between it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// A name.
    Name,
    /// A text.
    Text,
}

/// When `#` begins a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Never.
    Sign,
    /// Always.
    Comment,
    /// With a blank or `!` behind it.
    CommentBeforeBlank,
}

/// What `$` begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dollar {
    /// Nothing.
    Sign,
    /// `$1`, or `$tag$…$tag$`.
    NumberOrText,
    /// `$tag$…$tag$`, or a name.
    TextOrName,
    /// `$1`, or a name. What newer versions read as `$tag$…$tag$` is refused.
    NumberOrName,
    /// `$name`, a parameter.
    Parameter,
}

/// What `?` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A sign.
    Sign,
    /// A parameter.
    Parameter,
    /// A parameter, with a number or without.
    Numbered,
}

/// What `:` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colon {
    /// A sign.
    Sign,
    /// A sign, or two of them that are one, `::`.
    Doubled,
    /// Before a name, a parameter.
    Parameter,
}

/// A token of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its bytes in the masked text.
    pub range: Range<usize>,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Blanks.
    Space,
    /// A comment. MySQL runs the text of an executable one, `/*! … */`.
    Comment {
        /// It is one.
        executable: bool,
    },
    /// A keyword or a name without quotes.
    Word,
    /// A number.
    Number,
    /// A text literal.
    Literal {
        /// What stands right before its quote.
        prefix: Prefix,
        /// What is between its quotes.
        body: Range<usize>,
        /// PostgreSQL makes one literal of it and the one before, which a line break parts.
        continues: bool,
    },
    /// A name in quotes.
    Quoted,
    /// `$tag$…$tag$`
    Dollar,
    /// A placeholder.
    Mark,
    /// A parameter that the author wrote: `?`, `:name`, `$1`.
    Parameter,
    /// Any other character.
    Sign(u8),
}

/// What stands right before the quote of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Nothing, or `N`.
    None,
    /// PostgreSQL's `E`.
    Escape,
    /// PostgreSQL's `U&`.
    Unicode,
    /// `X`, `B`: digits of bytes or bits.
    Digits,
}

/// Why a text cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A literal, quoted name or comment that has no end.
    Unclosed {
        /// Which of them.
        what: &'static str,
        /// What begins it.
        range: Range<usize>,
    },
    /// A character outside of quotes and comments that looks like another one, or like none.
    Stray {
        /// The character.
        character: char,
        /// Its bytes.
        range: Range<usize>,
    },
    /// What versions of a server read differently.
    Ambiguous {
        /// Its bytes.
        range: Range<usize>,
    },
}

impl Unread {
    /// Its bytes in the text.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        let (Self::Unclosed { range, .. } | Self::Stray { range, .. } | Self::Ambiguous { range }) = self;
        range.clone()
    }

    /// What is wrong, in a clause.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Unclosed { what, .. } => format!("the {what} that starts here is not closed"),
            Self::Stray { character, .. } => {
                format!("the character U+{:04X} is outside of quotes and comments", u32::from(*character))
            }
            Self::Ambiguous { .. } => "versions of the database read this differently".to_owned(),
        }
    }

    /// The same of a text whose place is said elsewhere.
    #[must_use]
    pub fn clause(&self) -> String {
        match self {
            Self::Unclosed { what, .. } => format!("the {what} in it is not closed"),
            Self::Stray { .. } => self.message(),
            Self::Ambiguous { .. } => "versions of the database read it differently".to_owned(),
        }
    }

    /// The same of a statement that a driver has.
    #[must_use]
    pub fn of_statement(&self) -> String {
        format!("the statement cannot be sent: {}", self.clause())
    }

    /// What helps.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unclosed { .. } => "close it; a quote inside a literal is written twice",
            Self::Stray { character: '\u{2018}'..='\u{201f}', .. } => "write a quote of ASCII, `'` or `\"`; in a literal it can stay",
            Self::Stray { character: '\u{2212}', .. } => "write `-`; in a literal it can stay",
            Self::Stray { .. } => "write a blank of ASCII or nothing: the database takes it for a part of a name, or for an error",
            Self::Ambiguous { .. } => "put a blank between a number and a quote, and write a text in single quotes",
        }
    }
}

/// Cuts `text` as one language does.
pub(crate) fn cut<L: Lexicon>(text: &str) -> Result<Vec<Token>, Unread> {
    Lexer::<L>::new(text).collect()
}

/// Whether a character has no place outside of quotes and comments: blanks that only some servers
/// know as such, what cannot be seen, and signs that only look like those of ASCII.
fn is_stray(character: char) -> bool {
    match character {
        // A placeholder.
        '\0' | '\t' | '\n' | '\r' => false,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2018}'..='\u{201f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{2212}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control() || !character.is_ascii() && character.is_whitespace(),
    }
}

/// Cuts a text into tokens, one after the other. After an error there is no more.
#[derive(Debug)]
pub struct Lexer<'a, L> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    /// The prefix of the literal before, with nothing but blanks and line comments since, and
    /// whether a line ended there.
    open: Option<(Prefix, bool)>,
    language: PhantomData<L>,
}

impl<L: Lexicon> Iterator for Lexer<'_, L> {
    type Item = Result<Token, Unread>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.text.len() {
            return None;
        }
        let start = self.at;
        let cut = self.token().and_then(|kind| {
            let range = start..self.at;
            self.look(&kind, &range)?;
            Ok(Token { kind, range })
        });
        if cut.is_err() {
            self.at = self.text.len();
        }
        Some(cut)
    }
}

impl<'a, L: Lexicon> Lexer<'a, L> {
    /// Begins with the first token of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), text, at: 0, open: None, language: PhantomData }
    }

    /// What has not been cut yet.
    #[must_use]
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Looks at a token that was cut, refuses what is not read everywhere alike, and remembers what
    /// the next one may continue.
    fn look(&mut self, kind: &Kind, range: &Range<usize>) -> Result<(), Unread> {
        let text = self.text.get(range.clone()).unwrap_or_default();
        if matches!(kind, Kind::Space | Kind::Word | Kind::Number | Kind::Parameter | Kind::Sign(_))
            && let Some((at, character)) = text.char_indices().find(|(_, character)| is_stray(*character))
        {
            let at = range.start + at;
            return Err(Unread::Stray { character, range: at..at + character.len_utf8() });
        }
        // `1E'a\'b'` was `1` and an escaped literal once; `1x'00'` still is two tokens in places.
        if *kind == Kind::Number && text.ends_with(|last: char| last.is_ascii_alphabetic()) && matches!(self.byte(0), Some(b'\'' | b'"')) {
            return Err(Unread::Ambiguous { range: range.start..self.at + 1 });
        }
        // `1$1` was `1` and a parameter once, and is neither now.
        if *kind == Kind::Number && L::DOLLAR == Dollar::NumberOrText && self.byte(0) == Some(b'$') {
            return Err(Unread::Ambiguous { range: range.start..self.at + 1 });
        }
        self.open = match (kind, self.open) {
            (Kind::Literal { prefix, .. }, _) if L::CONTINUES => Some((*prefix, false)),
            (Kind::Space, Some((prefix, ended))) => Some((prefix, ended || text.contains(['\n', '\r']))),
            (Kind::Comment { .. }, Some(open)) if text.starts_with("--") => Some(open),
            _ => None,
        };
        Ok(())
    }

    fn token(&mut self) -> Result<Kind, Unread> {
        let Some(first) = self.byte(0) else { return Ok(Kind::Space) };
        let next = self.byte(1);
        match first {
            0 => {
                self.at += 1;
                Ok(Kind::Mark)
            }
            byte if is_space(byte) => {
                self.skip_while(is_space);
                Ok(Kind::Space)
            }
            b'-' if next == Some(b'-') && self.starts_dash_comment() => Ok(self.line_comment()),
            b'#' if L::HASH == Hash::Comment => Ok(self.line_comment()),
            b'#' if L::HASH == Hash::CommentBeforeBlank && matches!(next, Some(b' ' | b'!')) => Ok(self.line_comment()),
            b'/' if L::SLASHES && next == Some(b'/') => Ok(self.line_comment()),
            b'/' if next == Some(b'*') => self.block_comment(),
            b'\'' => match self.open {
                // The same literal goes on, with the same escapes.
                Some((prefix, true)) => self.literal(prefix, b'\'').map(|kind| match kind {
                    Kind::Literal { prefix, body, .. } => Kind::Literal { prefix, body, continues: true },
                    other => other,
                }),
                _ => self.literal(Prefix::None, b'\''),
            },
            b'"' if L::DOUBLE_QUOTES == Quotes::Text => self.literal(Prefix::None, b'"'),
            b'"' => self.quoted(b'"'),
            b'`' if L::BACKTICKS => self.quoted(b'`'),
            b'[' if L::BRACKETS => self.quoted(b']'),
            b'$' if L::DOLLAR != Dollar::Sign => self.dollar(),
            b'{' if L::BRACES => Ok(self.brace()),
            b'?' if L::QUESTION != Question::Sign => {
                self.at += 1;
                if L::QUESTION == Question::Numbered {
                    self.skip_while(|byte| byte.is_ascii_digit());
                }
                Ok(Kind::Parameter)
            }
            b':' if L::COLON == Colon::Doubled && next == Some(b':') => {
                self.at += 2;
                Ok(Kind::Sign(b':'))
            }
            b':' if L::COLON == Colon::Parameter && next.is_some_and(is_word) => Ok(self.named()),
            b'@' if L::AT_PARAMETERS && next.is_some_and(is_word) => Ok(self.named()),
            byte if byte.is_ascii_digit() || (byte == b'.' && next.is_some_and(|byte| byte.is_ascii_digit())) => Ok(self.number()),
            byte if is_word_start(byte) => self.word(),
            _ => {
                self.at += 1;
                Ok(Kind::Sign(first))
            }
        }
    }

    /// A parameter with a name; `self.at` is at its sign.
    fn named(&mut self) -> Kind {
        self.at += 1;
        self.skip_while(is_word);
        Kind::Parameter
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&belongs) {
            self.at += 1;
        }
    }

    /// In MySQL `--` needs a blank behind it: `1--1` is 2. A placeholder is not a blank.
    fn starts_dash_comment(&self) -> bool {
        !L::DASHES_NEED_BLANK || self.byte(2).is_none_or(|byte| byte != 0 && (byte <= b' ' || byte == 0x7f))
    }

    fn line_comment(&mut self) -> Kind {
        let ends = |byte| byte == b'\n' || byte == b'\r' && L::CARRIAGE_RETURNS;
        while self.byte(0).is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
        Kind::Comment { executable: false }
    }

    fn block_comment(&mut self) -> Result<Kind, Unread> {
        let start = self.at;
        let opened = self.text.get(start + 2..).unwrap_or_default();
        let executable = L::RUNS_COMMENTS && ["!", "M!", "T!"].iter().any(|mark| opened.starts_with(mark));
        let mut depth = 1;
        self.at += 2;
        while depth > 0 {
            match (self.byte(0), self.byte(1)) {
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                }
                (Some(b'/'), Some(b'*')) if L::NESTED_COMMENTS => {
                    depth += 1;
                    self.at += 2;
                }
                (Some(_), _) => self.at += 1,
                (None, _) => return Err(Unread::Unclosed { what: "comment", range: start..start + 2 }),
            }
        }
        Ok(Kind::Comment { executable })
    }

    /// A literal; `self.at` is at its quote.
    fn literal(&mut self, prefix: Prefix, quote: u8) -> Result<Kind, Unread> {
        let open = self.at;
        let backslashes = L::BACKSLASHES || prefix == Prefix::Escape;
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            if byte == quote {
                if self.byte(1) != Some(quote) {
                    let body = open + 1..self.at;
                    self.at += 1;
                    return Ok(Kind::Literal { prefix, body, continues: false });
                }
                self.at += 2;
            } else if byte == b'\\' && backslashes && self.byte(1).is_some_and(|next| next != 0) {
                self.at += 2;
            } else {
                self.at += 1;
            }
        }
        Err(Unread::Unclosed { what: "literal", range: open..open + 1 })
    }

    /// A quoted name; `self.at` is at its quote.
    fn quoted(&mut self, close: u8) -> Result<Kind, Unread> {
        let open = self.at;
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            self.at += 1;
            if byte == b'\\' && L::NAME_BACKSLASHES && self.byte(0).is_some_and(|next| next != 0) {
                self.at += 1;
                continue;
            }
            if byte == close {
                // `[` has no escape for `]`.
                if close != b']' && self.byte(0) == Some(close) {
                    self.at += 1;
                    continue;
                }
                return Ok(Kind::Quoted);
            }
        }
        Err(Unread::Unclosed { what: "quoted name", range: open..open + 1 })
    }

    fn dollar(&mut self) -> Result<Kind, Unread> {
        let next = self.byte(1);
        let has_number = next.is_some_and(|next| next.is_ascii_digit());
        match L::DOLLAR {
            Dollar::TextOrName => return self.heredoc(),
            Dollar::Parameter if next.is_some_and(is_word) => return Ok(self.named()),
            Dollar::Parameter | Dollar::Sign => {}
            Dollar::NumberOrName if self.fence().is_some() => return Err(Unread::Ambiguous { range: self.at..self.at + 1 }),
            Dollar::NumberOrText | Dollar::NumberOrName if has_number => {
                self.at += 1;
                self.skip_while(|byte| byte.is_ascii_digit());
                return Ok(Kind::Parameter);
            }
            Dollar::NumberOrName => return self.word(),
            Dollar::NumberOrText => {
                if let Some(fence) = self.fence() {
                    return self.dollar_quoted(fence);
                }
            }
        }
        self.at += 1;
        Ok(Kind::Sign(b'$'))
    }

    /// The length of `$tag$`, which starts here.
    fn fence(&self) -> Option<usize> {
        let rest = self.text.get(self.at + 1..)?;
        let tag = rest.split_once('$')?.0;
        let is_tag = !tag.starts_with(|first: char| first.is_ascii_digit()) && tag.bytes().all(|byte| is_word(byte) && byte != b'$');
        is_tag.then_some(tag.len() + 2)
    }

    /// What is between two fences of this length, of which the first is at `self.at`.
    fn dollar_quoted(&mut self, length: usize) -> Result<Kind, Unread> {
        let start = self.at;
        let body = start + length;
        let end = self.text.get(start..body).and_then(|fence| self.text.get(body..)?.find(fence));
        let Some(end) = end else { return Err(Unread::Unclosed { what: "dollar-quoted text", range: start..body }) };
        self.at = body + end + length;
        Ok(Kind::Dollar)
    }

    /// `$tag$…$tag$`, or the beginning of a name.
    fn heredoc(&mut self) -> Result<Kind, Unread> {
        let tag = self.rest().get(1..).and_then(|rest| rest.split('$').next()).unwrap_or_default();
        let has_fence = self.bytes.get(self.at + 1 + tag.len()) == Some(&b'$');
        if has_fence && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return self.dollar_quoted(tag.len() + 2);
        }
        self.word()
    }

    /// `{name:Type}`, which an author may not write, or a sign.
    fn brace(&mut self) -> Kind {
        let rest = self.rest().get(1..).unwrap_or_default();
        let inner = rest.split_once('}').and_then(|(inner, _)| inner.split_once(':').map(|(name, _)| (name.trim(), inner.len())));
        self.at += 1;
        match inner {
            Some((name, end)) if !name.is_empty() && name.bytes().all(is_word) => {
                self.at += end + 1;
                Kind::Parameter
            }
            _ => Kind::Sign(b'{'),
        }
    }

    fn number(&mut self) -> Kind {
        let start = self.at;
        while let Some(byte) = self.byte(0) {
            let signed_exponent = matches!(byte, b'+' | b'-')
                && self.at > start
                && matches!(self.bytes.get(self.at - 1), Some(b'e' | b'E'))
                && !self.bytes.get(start..).is_some_and(|number| number.starts_with(b"0x"))
                && self.byte(1).is_some_and(|next| next.is_ascii_digit());
            if !(byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || signed_exponent) {
                break;
            }
            self.at += 1;
        }
        Kind::Number
    }

    fn word(&mut self) -> Result<Kind, Unread> {
        let start = self.at;
        self.skip_while(is_word);
        let Some(&[letter]) = self.bytes.get(start..self.at) else { return Ok(Kind::Word) };
        let letter = letter.to_ascii_lowercase();
        if !L::PREFIXES.contains(&letter) {
            return Ok(Kind::Word);
        }
        let prefix = match letter {
            b'e' => Prefix::Escape,
            b'n' => Prefix::None,
            b'u' if self.byte(0) == Some(b'&') => match self.byte(1) {
                Some(b'\'') => {
                    self.at += 1;
                    Prefix::Unicode
                }
                Some(b'"') => {
                    self.at += 1;
                    return self.quoted(b'"');
                }
                _ => return Ok(Kind::Word),
            },
            b'x' | b'b' => Prefix::Digits,
            _ => return Ok(Kind::Word),
        };
        if self.byte(0) == Some(b'\'') { self.literal(prefix, b'\'') } else { Ok(Kind::Word) }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn show(text: &str, dialect: Dialect) -> String {
        match dialect.lex(text) {
            Ok(tokens) => {
                let mut end = 0;
                for token in &tokens {
                    assert_eq!(token.range.start, end, "{text}");
                    end = token.range.end;
                }
                assert_eq!(end, text.len());
                let shown = tokens.iter().filter(|token| token.kind != Kind::Space).map(|token| {
                    let letter = match &token.kind {
                        Kind::Space => 's',
                        Kind::Comment { executable: true } => '!',
                        Kind::Comment { executable: false } => 'c',
                        Kind::Word => 'w',
                        Kind::Number => 'n',
                        Kind::Literal { prefix: Prefix::None, .. } => 'l',
                        Kind::Literal { prefix: Prefix::Escape, .. } => 'e',
                        Kind::Literal { prefix: Prefix::Unicode, .. } => 'u',
                        Kind::Literal { prefix: Prefix::Digits, .. } => 'x',
                        Kind::Quoted => 'q',
                        Kind::Dollar => 'd',
                        Kind::Mark => 'm',
                        Kind::Parameter => 'p',
                        Kind::Sign(_) => 'o',
                    };
                    format!("{letter}:{}", text[token.range.clone()].replace('\0', "@"))
                });
                shown.collect::<Vec<_>>().join(" ")
            }
            Err(Unread::Unclosed { what, range }) => format!("unclosed {what} at {}", range.start),
            Err(Unread::Stray { character, range }) => format!("stray {:x} at {}", u32::from(character), range.start),
            Err(Unread::Ambiguous { range }) => format!("ambiguous at {}", range.start),
        }
    }

    #[test]
    fn cuts_each_dialect_as_its_database_does() {
        use Dialect::{ClickHouse, MySql, Postgres, Sqlite};
        for (dialect, text, expected) in [
            (Sqlite, "a='x''y'", "w:a o:= l:'x''y'"),
            (Sqlite, r"'a\' b", r"l:'a\' w:b"),
            (MySql, r"'a\' b'", r"l:'a\' b'"),
            (MySql, r#""a\"b""c""#, r#"l:"a\"b""c""#),
            (Postgres, r"'a\' b", r"l:'a\' w:b"),
            (Postgres, r"E'a\' b' e'x'", r"e:E'a\' b' e:e'x'"),
            (Postgres, r"N'x' U&'d\0061' U&", r"l:N'x' u:U&'d\0061' w:U o:&"),
            (Postgres, "U&\"a\"", "q:U&\"a\""),
            (Postgres, "name'x'", "w:name l:'x'"),
            (Sqlite, "x'00' X'ff' b'1'", "x:x'00' x:X'ff' w:b l:'1'"),
            (MySql, "x'00' b'1' n'a' _utf8mb4'a'", "x:x'00' x:b'1' l:n'a' w:_utf8mb4 l:'a'"),
            (Sqlite, "\"a\"\"b\" `c` [d e]", "q:\"a\"\"b\" q:`c` q:[d e]"),
            (Postgres, "a[1:2]::int", "w:a o:[ n:1 o:: n:2 o:] o::: w:int"),
            (Postgres, "$$a;'b$$ $t$ $$ $t$ $1 a$1 $x", "d:$$a;'b$$ d:$t$ $$ $t$ p:$1 w:a$1 o:$ w:x"),
            (Postgres, "d ? 'a' ?| b ?& c @> e", "w:d o:? l:'a' o:? o:| w:b o:? o:& w:c o:@ o:> w:e"),
            (Sqlite, "? ?12 :a @b $c a$b", "p:? p:?12 p::a p:@b p:$c w:a$b"),
            (MySql, "? :a $1 $a @b @@c :=", "p:? p::a p:$1 w:$a o:@ w:b o:@ o:@ w:c o:: o:="),
            (Postgres, "/* a /* b */ c */ d", "c:/* a /* b */ c */ w:d"),
            (Sqlite, "/* a /* b */ c", "c:/* a /* b */ w:c"),
            (MySql, "/*! a */ /*M!1 b */ /*T![x] b */ /*+ c */ # d\ne", "!:/*! a */ !:/*M!1 b */ !:/*T![x] b */ c:/*+ c */ c:# d w:e"),
            (MySql, "1--1 -- x\n--\ty", "n:1 o:- o:- n:1 c:-- x c:--\ty"),
            (MySql, "1--\0", "n:1 o:- o:- m:@"),
            (Postgres, "1--1\n2", "n:1 c:--1 n:2"),
            (Postgres, "a # b", "w:a o:# w:b"),
            (Sqlite, "1.5e-3 .5 0x1F 1e+x 1_000", "n:1.5e-3 n:.5 n:0x1F n:1e o:+ w:x n:1_000"),
            (Sqlite, "\0 '\0' a\0b", "m:@ l:'@' w:a m:@ w:b"),
            (Sqlite, "é ünï", "w:é w:ünï"),
            (MySql, r"'\", "unclosed literal at 0"),
            (ClickHouse, r#"'a\' b' "a\"b" `a\`b`"#, r#"l:'a\' b' q:"a\"b" q:`a\`b`"#),
            (ClickHouse, "a::Int8 a ? b : c N'x' b'1' E'x'", "w:a o::: w:Int8 w:a o:? w:b o:: w:c w:N l:'x' x:b'1' w:E l:'x'"),
            (ClickHouse, "{p1:Int8} { p : A(B) } {'a': 1} {}", "p:{p1:Int8} p:{ p : A(B) } o:{ l:'a' o:: n:1 o:} o:{ o:}"),
            (ClickHouse, "$$a'$$ $t$ $$ $t$ a$b $x # c\n#! d\n#e", "d:$$a'$$ d:$t$ $$ $t$ w:a$b w:$x c:# c c:#! d o:# w:e"),
            (ClickHouse, "/* a /* b */ c */ 1--1\n2", "c:/* a /* b */ c */ n:1 c:--1 n:2"),
            (ClickHouse, "1 / 2 // it's\n3", "n:1 o:/ n:2 c:// it's n:3"),
            (Postgres, "a -- b\rc -- d\r\ne", "w:a c:-- b w:c c:-- d w:e"),
            (MySql, "a -- b\rc\nd # e\rf", "w:a c:-- b\rc w:d c:# e\rf"),
            (Sqlite, "a -- b\rc\nd", "w:a c:-- b\rc w:d"),
            (ClickHouse, "a -- b\rc\nd", "w:a c:-- b\rc w:d"),
            (Postgres, "E'a'\n'\\' b' 'c\\'", "e:E'a' e:'\\' b' l:'c\\'"),
            (Postgres, "E'a' -- x\r  -- y\n '\\''", "e:E'a' c:-- x c:-- y e:'\\''"),
            (Postgres, "E'a' /* \n */ '\\'", "e:E'a' c:/* \n */ l:'\\'"),
            (Postgres, "E'a' '\\' E'a',\n'\\'", "e:E'a' l:'\\' e:E'a' o:, l:'\\'"),
            (Postgres, "$é$ ' $é$ b", "d:$é$ ' $é$ w:b"),
            (MySql, "$$ ' $$", "ambiguous at 0"),
            (MySql, "$a a$b$", "w:$a w:a$b$"),
            (MySql, "$a $b$", "ambiguous at 3"),
            (Postgres, "1E'a\\'b'", "ambiguous at 0"),
            (Postgres, "a + 1$1", "ambiguous at 4"),
            (Postgres, "1$$a$$", "ambiguous at 0"),
            (Sqlite, "1 'a' 12'a'", "n:1 l:'a' n:12 l:'a'"),
            (Postgres, "a\u{a0}b", "stray a0 at 1"),
            (MySql, "a \u{b} b", "stray b at 2"),
            (Sqlite, "\u{feff}a", "stray feff at 0"),
            (ClickHouse, "\u{2018}a\u{2019}", "stray 2018 at 0"),
            (Sqlite, "a = \u{1f}", "stray 1f at 4"),
            (Sqlite, "'\u{a0}\u{1}' \"\u{2028}\" -- \u{a0}\u{7}\n/*\u{b}*/", "l:'\u{a0}\u{1}' q:\"\u{2028}\" c:-- \u{a0}\u{7} c:/*\u{b}*/"),
            (Sqlite, "a 'b", "unclosed literal at 2"),
            (Sqlite, "a \"b", "unclosed quoted name at 2"),
            (Sqlite, "[a", "unclosed quoted name at 0"),
            (Postgres, "/* /* */", "unclosed comment at 0"),
            (Postgres, "$a$ x", "unclosed dollar-quoted text at 0"),
        ] {
            assert_eq!(show(text, dialect), expected, "{dialect:?} {text}");
        }
    }
}
