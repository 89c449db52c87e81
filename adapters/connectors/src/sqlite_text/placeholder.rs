//! Where the parameters of a statement stand.

use std::ops::Range;

use millrace_core::{Error, ErrorKind, Result};
use millrace_languages::sqlite::token::{Token, tokens};

/// A parameter in a statement's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placeholder {
    /// The number of its value, from 1.
    pub(crate) number: usize,
    /// Its place in the text.
    pub(crate) range: Range<usize>,
}

/// The parameters `?n` and `?` of a statement, in the order of the text.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a parameter with a name, which has no number here.
pub(crate) fn placeholders(text: &str) -> Result<Vec<Placeholder>> {
    let mut largest = 0;
    let mut found = Vec::new();
    for token in tokens(text) {
        let (token, range) = token.map_err(|unread| Error::new(ErrorKind::Syntax, unread.of_statement()))?;
        match token {
            Token::Placeholder(written) => {
                // One without a number follows the largest so far.
                let number = written[1..].parse().unwrap_or(largest + 1);
                largest = largest.max(number);
                found.push(Placeholder { number, range });
            }
            Token::Named => return Err(Error::new(ErrorKind::Syntax, "a parameter has a name; write `?1`, `?2`")),
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_numbers_outside_of_quotes_and_comments() {
        let table: [(&str, &[(usize, &str)]); 5] = [
            ("SELECT ?1, ?2, '?1', \"?1\", ?13 -- ?1", &[(1, "?1"), (2, "?2"), (13, "?13")]),
            ("?1", &[(1, "?1")]),
            ("SELECT ?, ?, ?5, ? /* ?1 */ || ?2||\u{e9}", &[(1, "?"), (2, "?"), (5, "?5"), (6, "?"), (2, "?2")]),
            ("SELECT '$', ':a', \"@b\", a$b", &[]),
            ("SELECT [?1], `?1`, 'it''s ?1'", &[]),
        ];
        for (text, expected) in table {
            let found = placeholders(text).unwrap();
            let found: Vec<(usize, &str)> = found.into_iter().map(|found| (found.number, &text[found.range])).collect();
            assert_eq!(found, expected, "{text}");
        }
        for text in ["SELECT :a", "SELECT @a", "SELECT $a", "SELECT ?1 + :2"] {
            assert_eq!(placeholders(text).map_err(|error| error.kind), Err(ErrorKind::Syntax), "{text}");
        }
    }
}
