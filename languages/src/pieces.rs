//! The tokens of a statement in the pieces that a driver looks at: names are looked for even where
//! they are part of another token, since a server may cut there in another way.

use core::{marker::PhantomData, ops::Range};

use crate::{
    Lexicon,
    lex::{Kind, Lexer, Token, Unread},
};

/// Cuts a text, one piece after the other: a number is its digits and signs, a parameter with a
/// name a sign and a word, and the letter before a literal a word. After an error there is no more.
///
/// For languages in which no literal continues another.
#[derive(Debug)]
pub struct Pieces<'a, L> {
    text: &'a str,
    at: usize,
    /// Where the number ends whose pieces are cut: it is looked at once.
    number_end: usize,
    language: PhantomData<L>,
}

impl<'a, L: Lexicon> Pieces<'a, L> {
    /// Begins with the first piece of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0, number_end: 0, language: PhantomData }
    }

    /// What has not been cut yet.
    #[must_use]
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

impl<L: Lexicon> Iterator for Pieces<'_, L> {
    type Item = Result<Token, Unread>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest();
        if let Some(number) = self.text.get(self.at..self.number_end).filter(|number| !number.is_empty()) {
            let (kind, length) = first_of(number);
            let range = self.at..self.at + length;
            self.at = range.end;
            return Some(Ok(Token { kind, range }));
        }
        let token = match Lexer::<L>::new(rest).next()? {
            Ok(token) => token,
            Err(unread) => {
                self.at = self.text.len();
                return Some(Err(unread));
            }
        };
        if token.kind == Kind::Number {
            self.number_end = self.at + token.range.end;
        }
        let (kind, length) = piece(rest, token);
        let range: Range<usize> = self.at..self.at + length;
        self.at = range.end;
        Some(Ok(Token { kind, range }))
    }
}

/// The first piece of a token with which a text begins, and its length.
fn piece(text: &str, Token { kind, range }: Token) -> (Kind, usize) {
    let is_whole = match &kind {
        Kind::Literal { body, .. } => body.start == 1,
        Kind::Parameter => text.starts_with(['?', '{']),
        Kind::Number => false,
        _ => true,
    };
    if is_whole {
        return (kind, range.end);
    }
    first_of(text.get(range).unwrap_or_default())
}

/// The word or the sign with which a text begins, and its length.
fn first_of(found: &str) -> (Kind, usize) {
    match found.find(|character| !is_word(character)).unwrap_or(found.len()) {
        0 => (Kind::Sign(found.as_bytes().first().copied().unwrap_or_default()), 1),
        length => (Kind::Word, length),
    }
}

/// Whether a character may be part of a word.
#[must_use]
pub fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$') || !character.is_ascii()
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec::Vec};

    use super::*;
    use crate::{mysql::MySql, sqlite::Sqlite};

    fn pieces<L: Lexicon>(text: &str) -> Vec<String> {
        Pieces::<L>::new(text).map(|piece| String::from(&text[piece.unwrap().range])).filter(|piece| piece != " ").collect()
    }

    #[test]
    fn names_are_found_in_other_tokens() {
        assert_eq!(
            pieces::<Sqlite>("1.5e-3 a.1 :f(x) $a ?12"),
            ["1", ".", "5e", "-", "3", "a", ".", "1", ":", "f", "(", "x", ")", "$a", "?12"]
        );
        assert_eq!(
            pieces::<MySql>("n'a' x'00' :a @b 1.f 'it''s'"),
            ["n", "'a'", "x", "'00'", ":", "a", "@", "b", "1", ".", "f", "'it''s'"]
        );
        assert!(Pieces::<MySql>::new("a 'b").last().is_some_and(|piece| piece.is_err()));
    }
    /// A number can be as long as a statement: it is looked at once, and not again for each piece.
    #[test]
    fn a_long_number_takes_time_in_proportion() {
        let text = "1.".repeat(200_000);
        assert_eq!(Pieces::<MySql>::new(&text).count(), 400_000);
    }
}
