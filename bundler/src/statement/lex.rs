//! Cuts a masked statement into tokens, exactly as far as binding needs it: literals, quoted names, comments and words of
//! each dialect, byte for byte. A test compares it with the real servers on generated texts.
//!
//! What servers, or their versions, read differently outside of quotes and comments is refused: blanks and quotes that are not ASCII, control
//! characters, a number that a quote follows.

use std::ops::Range;

use super::dialect::Dialect;

/// A token of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Its bytes in the masked text.
    pub(super) range: Range<usize>,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Space,
    /// A comment. MySQL runs the text of an executable one, `/*! … */`.
    Comment {
        executable: bool,
    },
    /// A keyword or a name without quotes.
    Word,
    Number,
    /// A text literal; `body` is what is between its quotes. `continues`: PostgreSQL makes one literal of it and the one before, which a line
    /// break parts.
    Literal {
        prefix: Prefix,
        body: Range<usize>,
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
pub(super) enum Prefix {
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
pub(super) enum Unread {
    /// A literal, quoted name or comment that has no end.
    Unclosed { what: &'static str, range: Range<usize> },
    /// A character outside of quotes and comments that looks like another one, or like none.
    Stray { character: char, range: Range<usize> },
    /// What versions of a server read differently.
    Ambiguous { range: Range<usize> },
}

impl Unread {
    /// Its bytes in the text.
    pub(super) fn range(&self) -> Range<usize> {
        let (Self::Unclosed { range, .. } | Self::Stray { range, .. } | Self::Ambiguous { range }) = self;
        range.clone()
    }

    /// What is wrong, in a clause.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Unclosed { what, .. } => format!("the {what} that starts here is not closed"),
            Self::Stray { character, .. } => {
                format!("the character U+{:04X} is outside of quotes and comments", u32::from(*character))
            }
            Self::Ambiguous { .. } => "versions of the database read this differently".to_owned(),
        }
    }

    /// The same of a text whose place is said elsewhere.
    pub(super) fn clause(&self) -> String {
        match self {
            Self::Unclosed { what, .. } => format!("the {what} in it is not closed"),
            Self::Stray { .. } => self.message(),
            Self::Ambiguous { .. } => "versions of the database read it differently".to_owned(),
        }
    }

    /// What helps.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Unclosed { .. } => "close it; a quote inside a literal is written twice",
            Self::Stray { character: '\u{2018}'..='\u{201f}', .. } => "write a quote of ASCII, `'` or `\"`; in a literal it can stay",
            Self::Stray { character: '\u{2212}', .. } => "write `-`; in a literal it can stay",
            Self::Stray { .. } => "write a blank of ASCII or nothing: the database takes it for a part of a name, or for an error",
            Self::Ambiguous { .. } => "put a blank between a number and a quote, and write a text in single quotes",
        }
    }
}

/// Cuts `text` into tokens that cover all of it.
pub(super) fn lex(text: &str, dialect: Dialect) -> Result<Vec<Token>, Unread> {
    let mut lexer = Lexer { bytes: text.as_bytes(), text, dialect, at: 0, open: None };
    let mut tokens: Vec<Token> = Vec::new();
    while lexer.at < text.len() {
        let start = lexer.at;
        let kind = lexer.token()?;
        let range = start..lexer.at;
        lexer.look(&kind, &range)?;
        tokens.push(Token { kind, range });
    }
    Ok(tokens)
}

/// Whether a character has no place outside of quotes and comments: blanks that only some servers know as such, what cannot be seen, and
/// signs that only look like those of ASCII.
fn is_stray(character: char) -> bool {
    match character {
        // A placeholder.
        '\0' | '\t' | '\n' | '\r' => false,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2018}'..='\u{201f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{2212}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control() || !character.is_ascii() && character.is_whitespace(),
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    text: &'a str,
    dialect: Dialect,
    at: usize,
    /// The prefix of the literal before, with nothing but blanks and line comments since, and whether a line ended there.
    open: Option<(Prefix, bool)>,
}

impl Lexer<'_> {
    /// Looks at a token that was cut, refuses what is not read everywhere alike, and remembers what the next one may continue.
    fn look(&mut self, kind: &Kind, range: &Range<usize>) -> Result<(), Unread> {
        let text = &self.text[range.clone()];
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
        self.open = match (kind, self.open) {
            (Kind::Literal { prefix, .. }, _) if self.dialect == Dialect::Postgres => Some((*prefix, false)),
            (Kind::Space, Some((prefix, ended))) => Some((prefix, ended || text.contains(['\n', '\r']))),
            (Kind::Comment { .. }, Some(open)) if text.starts_with("--") => Some(open),
            _ => None,
        };
        Ok(())
    }

    fn token(&mut self) -> Result<Kind, Unread> {
        let first = self.bytes[self.at];
        let next = self.byte(1);
        match (first, self.dialect) {
            (0, _) => {
                self.at += 1;
                Ok(Kind::Mark)
            }
            (byte, _) if is_space(byte) => {
                self.skip_while(is_space);
                Ok(Kind::Space)
            }
            (b'-', _) if next == Some(b'-') && self.starts_dash_comment() => Ok(self.line_comment()),
            (b'#', Dialect::MySql) => Ok(self.line_comment()),
            (b'#', Dialect::ClickHouse) if matches!(next, Some(b' ' | b'!')) => Ok(self.line_comment()),
            (b'/', Dialect::ClickHouse) if next == Some(b'/') => Ok(self.line_comment()),
            (b'/', _) if next == Some(b'*') => self.block_comment(),
            (b'\'', _) => match self.open {
                // The same literal goes on, with the same escapes.
                Some((prefix, true)) => self.literal(prefix, b'\'').map(|kind| match kind {
                    Kind::Literal { prefix, body, .. } => Kind::Literal { prefix, body, continues: true },
                    other => other,
                }),
                _ => self.literal(Prefix::None, b'\''),
            },
            (b'"', Dialect::MySql) => self.literal(Prefix::None, b'"'),
            (b'"', _) => self.quoted(b'"'),
            // In PartiQL, a literal of Ion: nothing in it is a place for a value.
            (b'`', Dialect::MySql | Dialect::Sqlite | Dialect::ClickHouse | Dialect::PartiQl) => self.quoted(b'`'),
            (b'[', Dialect::Sqlite) => self.quoted(b']'),
            (b'$', Dialect::Postgres) => self.dollar(),
            (b'$', Dialect::ClickHouse) => self.heredoc(),
            // What newer versions of MySQL read as a text.
            (b'$', Dialect::MySql) if self.fence().is_some() => Err(Unread::Ambiguous { range: self.at..self.at + 1 }),
            (b'{', Dialect::ClickHouse) => Ok(self.brace()),
            (b'?', Dialect::MySql | Dialect::PartiQl) => {
                self.at += 1;
                Ok(Kind::Parameter)
            }
            (b'?', Dialect::Sqlite) => {
                self.at += 1;
                self.skip_while(|byte| byte.is_ascii_digit());
                Ok(Kind::Parameter)
            }
            (b':', Dialect::Postgres | Dialect::ClickHouse) if next == Some(b':') => {
                self.at += 2;
                Ok(Kind::Sign(b':'))
            }
            (b':' | b'@' | b'$', Dialect::Sqlite) | (b':', Dialect::MySql) if next.is_some_and(is_word) => {
                self.at += 1;
                self.skip_while(is_word);
                Ok(Kind::Parameter)
            }
            (b'$', Dialect::MySql) if next.is_some_and(|byte| byte.is_ascii_digit()) => {
                self.at += 1;
                self.skip_while(|byte| byte.is_ascii_digit());
                Ok(Kind::Parameter)
            }
            (byte, _) if byte.is_ascii_digit() || (byte == b'.' && next.is_some_and(|byte| byte.is_ascii_digit())) => Ok(self.number()),
            (byte, dialect) if is_word_start(byte) || (byte == b'$' && dialect == Dialect::MySql) => self.word(),
            _ => {
                self.at += 1;
                Ok(Kind::Sign(first))
            }
        }
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
        self.dialect != Dialect::MySql || self.byte(2).is_none_or(|byte| byte != 0 && (byte <= b' ' || byte == 0x7f))
    }

    /// To PostgreSQL and to PartiQL, a carriage return ends a line, too.
    fn line_comment(&mut self) -> Kind {
        let ends = |byte| byte == b'\n' || byte == b'\r' && matches!(self.dialect, Dialect::Postgres | Dialect::PartiQl);
        while self.byte(0).is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
        Kind::Comment { executable: false }
    }

    fn block_comment(&mut self) -> Result<Kind, Unread> {
        let start = self.at;
        let opened = &self.text[start + 2..];
        let executable = self.dialect == Dialect::MySql && ["!", "M!", "T!"].iter().any(|mark| opened.starts_with(mark));
        let mut depth = 1;
        self.at += 2;
        while depth > 0 {
            match (self.byte(0), self.byte(1)) {
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                }
                (Some(b'/'), Some(b'*')) if matches!(self.dialect, Dialect::Postgres | Dialect::ClickHouse) => {
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
        let backslashes = self.dialect.has_backslashes() || prefix == Prefix::Escape;
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
            if byte == b'\\' && self.dialect == Dialect::ClickHouse && self.byte(0).is_some_and(|next| next != 0) {
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
        if self.byte(1).is_some_and(|next| next.is_ascii_digit()) {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
            return Ok(Kind::Parameter);
        }
        let Some(fence) = self.fence() else {
            self.at += 1;
            return Ok(Kind::Sign(b'$'));
        };
        self.dollar_quoted(fence)
    }

    /// The length of `$tag$`, which starts here.
    fn fence(&self) -> Option<usize> {
        let rest = self.text.get(self.at + 1..)?;
        let tag = &rest[..rest.find('$')?];
        let is_tag = !tag.starts_with(|first: char| first.is_ascii_digit()) && tag.bytes().all(|byte| is_word(byte) && byte != b'$');
        is_tag.then_some(tag.len() + 2)
    }

    /// What is between two fences of this length, of which the first is at `self.at`.
    fn dollar_quoted(&mut self, length: usize) -> Result<Kind, Unread> {
        let start = self.at;
        let fence = &self.text[start..start + length];
        let body = start + fence.len();
        let Some(end) = self.text[body..].find(fence) else {
            return Err(Unread::Unclosed { what: "dollar-quoted text", range: start..body });
        };
        self.at = body + end + fence.len();
        Ok(Kind::Dollar)
    }

    /// `$tag$…$tag$`, or the beginning of a name.
    fn heredoc(&mut self) -> Result<Kind, Unread> {
        let tag = self.text[self.at + 1..].split('$').next().unwrap_or_default();
        let has_fence = self.bytes.get(self.at + 1 + tag.len()) == Some(&b'$');
        if has_fence && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return self.dollar_quoted(tag.len() + 2);
        }
        self.word()
    }

    /// `{name:Type}`, which an author may not write, or a sign.
    fn brace(&mut self) -> Kind {
        let rest = &self.text[self.at + 1..];
        let inner = rest.find('}').and_then(|end| rest[..end].split_once(':').map(|(name, _)| (name.trim(), end)));
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
                && matches!(self.bytes[self.at - 1], b'e' | b'E')
                && !self.text[start..self.at].starts_with("0x")
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
        let word = &self.text[start..self.at];
        let prefix = match (self.dialect, word) {
            (Dialect::Postgres, "e" | "E") => Prefix::Escape,
            (Dialect::Postgres | Dialect::MySql, "n" | "N") => Prefix::None,
            (Dialect::Postgres, "u" | "U") if self.byte(0) == Some(b'&') => match self.byte(1) {
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
            (Dialect::PartiQl, _) => return Ok(Kind::Word),
            (_, "x" | "X") | (Dialect::Postgres | Dialect::MySql | Dialect::ClickHouse, "b" | "B") => Prefix::Digits,
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

    fn show(text: &str, dialect: Dialect) -> String {
        match lex(text, dialect) {
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
