//! A look at a statement's words, before it leaves: what SQLite's authorizer sees in the embedded engine, nobody sees far away.
//!
//! Text → what it does. Refused are what reaches out of the database or would outlive the call, more than one
//! statement, and every `PRAGMA` that is not a mere question.
//!
//! Tokens: <https://sqlite.org/lang.html>; what ends a trigger: <https://sqlite.org/c3ref/complete.html>.

use millrace_core::{Error, ErrorKind, Result};

use crate::pragma;

/// Statements that no remote driver sends.
const REFUSED: [&str; 9] = ["ATTACH", "BEGIN", "COMMIT", "DETACH", "END", "RELEASE", "ROLLBACK", "SAVEPOINT", "VACUUM"];

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// It changes nothing. What cannot be told counts as a write.
    pub reads: bool,
    /// It has result columns.
    pub returns: bool,
}

/// Looks at a statement.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for no statement, more than one, or a NUL character; [`Denied`](ErrorKind::Denied) for what is not sent.
pub(crate) fn check(text: &str, connector: &str) -> Result<Effect> {
    if text.contains('\0') {
        return Err(syntax("the statement holds a NUL character"));
    }
    let mut tokens = Vec::new();
    let mut ended = false;
    for token in Tokens(text).skip_while(|token| *token == Token::Semicolon) {
        match token {
            Token::Semicolon if is_inside_trigger(&tokens) => tokens.push(token),
            Token::Semicolon => ended = true,
            _ if ended => return Err(syntax("the query holds more than one statement")),
            token => tokens.push(token),
        }
    }
    if tokens.is_empty() {
        return Err(syntax("the query holds no statement"));
    }
    let explained = match tokens.as_slice() {
        [first, second, third, rest @ ..] if first.is("EXPLAIN") && second.is("QUERY") && third.is("PLAN") => Some(rest),
        [first, rest @ ..] if first.is("EXPLAIN") => Some(rest),
        _ => None,
    };
    let statement = explained.unwrap_or(&tokens);
    if let Some(refused) = refused(statement) {
        return Err(Error::new(ErrorKind::Denied, format!("connector `{connector}` does not run `{refused}`")));
    }
    let reads = explained.is_some() || only_reads(statement);
    Ok(Effect { reads, returns: reads || statement.iter().any(|token| token.is("RETURNING")) })
}

/// The text with each parameter, `?n` or `?`, replaced by what `form` makes of its number and its text.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a parameter with a name, which has no number here.
pub(crate) fn with_parameters(text: &str, form: impl Fn(usize, &str) -> Option<String>) -> Result<String> {
    let mut written = String::with_capacity(text.len());
    let mut tokens = Tokens(text);
    let (mut copied, mut largest) = (0, 0);
    while let Some(token) = tokens.next() {
        match token {
            Token::Other("?") => {}
            Token::Other(":" | "@") => return Err(named()),
            Token::Word(word) if word.starts_with('$') => return Err(named()),
            _ => continue,
        }
        let start = text.len() - tokens.0.len() - 1;
        let digits = tokens.0.bytes().take_while(u8::is_ascii_digit).count();
        let end = start + 1 + digits;
        // One without a number follows the largest so far.
        let number = text[start + 1..end].parse().unwrap_or(largest + 1);
        largest = largest.max(number);
        if let Some(replaced) = form(number, &text[start..end]) {
            written.push_str(&text[copied..start]);
            written.push_str(&replaced);
            copied = end;
        }
    }
    written.push_str(&text[copied..]);
    Ok(written)
}

fn named() -> Error {
    syntax("a parameter has a name; write `?1`, `?2`")
}

fn refused(statement: &[Token<'_>]) -> Option<String> {
    let first = statement.first()?;
    if let Some(word) = REFUSED.into_iter().find(|word| first.is(word)) {
        return Some(word.to_owned());
    }
    let second = statement.get(1)?;
    if first.is("CREATE") && (second.is("TEMP") || second.is("TEMPORARY")) {
        return Some("CREATE TEMP".to_owned());
    }
    if !first.is("PRAGMA") {
        return None;
    }
    let (name, rest) = match statement.get(1..)? {
        [_, Token::Other("."), name, rest @ ..] | [name, rest @ ..] => (name, rest),
        [] => return None,
    };
    let name = name.text();
    (!pragma::is_question(name, !rest.is_empty())).then(|| format!("PRAGMA {name}"))
}

fn only_reads(statement: &[Token<'_>]) -> bool {
    let Some(first) = statement.first() else { return false };
    if ["SELECT", "VALUES", "PRAGMA"].into_iter().any(|word| first.is(word)) {
        return true;
    }
    if !first.is("WITH") {
        return false;
    }
    // After the common table expressions, each between parentheses, comes what is done with them.
    let mut depth = 0_usize;
    for token in statement {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            word if word.is("SELECT") || word.is("VALUES") => return true,
            word if ["INSERT", "REPLACE", "UPDATE", "DELETE"].into_iter().any(|verb| word.is(verb)) => return false,
            _ => {}
        }
    }
    false
}

/// Whether a semicolon after these belongs to a trigger, which ends with `; END`.
fn is_inside_trigger(tokens: &[Token<'_>]) -> bool {
    let is_trigger = match tokens {
        [create, rest @ ..] if create.is("CREATE") => rest.iter().take(2).any(|token| token.is("TRIGGER")),
        _ => false,
    };
    let is_over = matches!(tokens, [.., Token::Semicolon, end] if end.is("END"));
    is_trigger && !is_over
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Semicolon,
    Open,
    Close,
    Other(&'a str),
}

impl<'a> Token<'a> {
    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(text) if text.eq_ignore_ascii_case(word))
    }

    /// The token's text without quotes.
    fn text(&self) -> &'a str {
        match self {
            Self::Word(text) | Self::Other(text) => text.trim_matches(['"', '`', '[', ']', '\'']),
            _ => "",
        }
    }
}

/// The tokens of a statement, comments and blanks left out.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let text = self
                .0
                .trim_start_matches(|character: char| character.is_ascii_whitespace() || character == '\u{b}' || character == '\u{feff}');
            self.0 = if let Some(comment) = text.strip_prefix("--") {
                comment.split_once('\n').map_or("", |(_, rest)| rest)
            } else if let Some(comment) = text.strip_prefix("/*") {
                comment.split_once("*/").map_or("", |(_, rest)| rest)
            } else {
                let first = text.chars().next()?;
                let length = match first {
                    '\'' | '"' | '`' => quoted(text, first),
                    '[' => text.find(']').map_or(text.len(), |end| end + 1),
                    _ if is_word(first) => text.find(|character| !is_word(character)).unwrap_or(text.len()),
                    _ => first.len_utf8(),
                };
                let (token, rest) = text.split_at(length);
                self.0 = rest;
                return Some(match first {
                    ';' => Token::Semicolon,
                    '(' => Token::Open,
                    ')' => Token::Close,
                    _ if is_word(first) => Token::Word(token),
                    _ => Token::Other(token),
                });
            };
        }
    }
}

/// The length of what begins with a quote; a doubled quote stands for one.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '$' || !character.is_ascii()
}

fn syntax(message: &str) -> Error {
    Error::new(ErrorKind::Syntax, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_is_told_from_what_writes() {
        let reads = [
            "SELECT 1",
            "  select 'a;b', \";\", `;`, [;] -- ; and more",
            ";;/* ; */ VALUES (1);",
            "SELECT 'it''s; DELETE' /* unclosed ; DELETE",
            "WITH a AS (DELETE), b(c) AS NOT MATERIALIZED (SELECT ')') SELECT * FROM a",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) VALUES (1)",
            "EXPLAIN DELETE FROM t",
            "explain query plan INSERT INTO t VALUES (1)",
            "PRAGMA table_info(t)",
            "PRAGMA main.table_info = t",
            "pragma user_version",
        ];
        for text in reads {
            assert_eq!(check(text, "libsql"), Ok(Effect { reads: true, returns: true }), "{text}");
        }
        let writes = [
            "INSERT INTO t VALUES ('; SELECT')",
            "WITH a AS (SELECT 1) DELETE FROM t",
            "WITH a AS (SELECT 1), replace AS (SELECT 2) SELECT 1",
            "WITH a AS (SELECT (1)) UPDATE t SET v = 1 RETURNING (SELECT 1)",
            "REPLACE INTO t SELECT 1",
            "CREATE TABLE t (v)",
            "DROP TABLE t;",
            "REINDEX",
            "CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM t; END;",
            "\u{e9}SELECT 1",
        ];
        for text in writes {
            let returns = text.contains("RETURNING");
            assert_eq!(check(text, "libsql"), Ok(Effect { reads: false, returns }), "{text}");
        }
    }

    #[test]
    fn parameters_are_replaced_outside_of_quotes_and_comments() {
        let form = |number: usize, text: &str| (number != 2).then(|| format!("f({text})"));
        let table = [
            ("SELECT ?1, ?2, '?1', \"?1\", ?13 -- ?1", "SELECT f(?1), ?2, '?1', \"?1\", f(?13) -- ?1"),
            ("?1", "f(?1)"),
            ("SELECT ?, ?, ?5, ? /* ?1 */ || ?2||\u{e9}", "SELECT f(?), ?, f(?5), f(?) /* ?1 */ || ?2||\u{e9}"),
            ("SELECT '$', ':a', \"@b\", a$b", "SELECT '$', ':a', \"@b\", a$b"),
            ("SELECT [?1], `?1`, 'it''s ?1'", "SELECT [?1], `?1`, 'it''s ?1'"),
        ];
        for (text, expected) in table {
            assert_eq!(with_parameters(text, form), Ok(expected.to_owned()));
        }
        for text in ["SELECT :a", "SELECT @a", "SELECT $a", "SELECT ?1 + :2"] {
            assert_eq!(with_parameters(text, form), Err(named()), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_ordinary_statement_is_refused() {
        let cases = [
            ("", ErrorKind::Syntax, "the query holds no statement"),
            (" ; -- x", ErrorKind::Syntax, "the query holds no statement"),
            ("SELECT 1; DROP TABLE t", ErrorKind::Syntax, "the query holds more than one statement"),
            ("SELECT '\\'; DROP TABLE t; --'", ErrorKind::Syntax, "the query holds more than one statement"),
            (
                "CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; END; DROP TABLE t",
                ErrorKind::Syntax,
                "the query holds more than one statement",
            ),
            ("SELECT 1\0; DROP TABLE t", ErrorKind::Syntax, "the statement holds a NUL character"),
            ("BEGIN IMMEDIATE", ErrorKind::Denied, "connector `d1` does not run `BEGIN`"),
            ("/**/ commit", ErrorKind::Denied, "connector `d1` does not run `COMMIT`"),
            ("EXPLAIN ATTACH 'x' AS y", ErrorKind::Denied, "connector `d1` does not run `ATTACH`"),
            ("VACUUM INTO 'x'", ErrorKind::Denied, "connector `d1` does not run `VACUUM`"),
            ("CREATE TEMP TABLE t (v)", ErrorKind::Denied, "connector `d1` does not run `CREATE TEMP`"),
            ("PRAGMA user_version = 7", ErrorKind::Denied, "connector `d1` does not run `PRAGMA user_version`"),
            ("PRAGMA main.\"journal_mode\"(off)", ErrorKind::Denied, "connector `d1` does not run `PRAGMA journal_mode`"),
            ("PRAGMA wal_checkpoint", ErrorKind::Denied, "connector `d1` does not run `PRAGMA wal_checkpoint`"),
        ];
        for (text, kind, message) in cases {
            assert_eq!(check(text, "d1"), Err(Error::new(kind, message)), "{text:?}");
        }
    }
}
