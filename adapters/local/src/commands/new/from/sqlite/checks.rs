//! `CHECK (status IN ('open', 'paid'))` in the definition of a table: the values that a column may
//! have.

use std::collections::BTreeMap;

/// A word or sign of a definition. Comments are none.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A name or a word, without its quotes.
    Word(String),
    /// A text in single quotes.
    Text(String),
    Sign(char),
}

/// The allowed values by the lower-case name of their column. Only checks of exactly this form are
/// read.
pub(super) fn allowed_values(definition: &str) -> BTreeMap<String, Vec<String>> {
    let tokens = tokens(definition);
    let mut allowed = BTreeMap::new();
    for start in 0..tokens.len() {
        if let Some((column, values)) = tokens.get(start..).and_then(check) {
            allowed.insert(column.to_lowercase(), values);
        }
    }
    allowed
}

/// `CHECK ( column IN ( 'a' , 'b' ) )`
fn check(tokens: &[Token]) -> Option<(String, Vec<String>)> {
    let is = |token: &Token, word: &str| matches!(token, Token::Word(found) if found.eq_ignore_ascii_case(word));
    let [first, Token::Sign('('), Token::Word(column), second, Token::Sign('('), rest @ ..] = tokens else { return None };
    if !is(first, "check") || !is(second, "in") {
        return None;
    }
    let mut values = Vec::new();
    let mut rest = rest.iter();
    loop {
        let Token::Text(value) = rest.next()? else { return None };
        values.push(value.clone());
        match rest.next()? {
            Token::Sign(',') => {}
            Token::Sign(')') => break,
            _ => return None,
        }
    }
    (rest.next()? == &Token::Sign(')')).then(|| (column.clone(), values))
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skip = |count: usize| rest.get(count..).unwrap_or_default();
        rest = match first {
            '-' if rest.starts_with("--") => rest.split_once('\n').map_or("", |(_, after)| after),
            '/' if rest.starts_with("/*") => skip(2).split_once("*/").map_or("", |(_, after)| after),
            '\'' | '"' | '`' | '[' => {
                let end = if first == '[' { ']' } else { first };
                let (name, after) = until(skip(1), end);
                tokens.push(if first == '\'' { Token::Text(name) } else { Token::Word(name) });
                after
            }
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                tokens.push(Token::Word(word.to_owned()));
                after
            }
            c if c.is_whitespace() => skip(c.len_utf8()),
            c => {
                tokens.push(Token::Sign(c));
                skip(c.len_utf8())
            }
        };
    }
    tokens
}

/// What stands up to a closing quote, which is written twice within.
fn until(text: &str, quote: char) -> (String, &str) {
    let mut found = String::new();
    let mut rest = text;
    loop {
        let Some((before, after)) = rest.split_once(quote) else { return (found + rest, "") };
        found += before;
        match after.strip_prefix(quote).filter(|_| quote != ']') {
            Some(after) => {
                found.push(quote);
                rest = after;
            }
            None => return (found, after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_of_texts_are_read() {
        let definition = "CREATE TABLE t (\n  status TEXT CHECK (status IN ('open', 'it''s')), -- CHECK (a IN ('no'))\n\
                          \"Kind\" TEXT CHECK(\"Kind\" in('x')) /* CHECK (b IN ('no')) */,\n  c TEXT CHECK (c IN ('a') OR c IS NULL),\n\
                          d INT CHECK (d IN (1, 2)), e TEXT DEFAULT 'CHECK (e IN (''no''))', CHECK (f NOT IN ('a')), CHECK (lower(g) IN ('a')), CHECK (h IN ('a'";
        let allowed = allowed_values(definition);
        let expected = [("kind", vec!["x"]), ("status", vec!["open", "it's"])];
        let expected = expected.map(|(name, values)| (name.to_owned(), values.into_iter().map(str::to_owned).collect()));
        assert_eq!(allowed, BTreeMap::from(expected));
    }
}
