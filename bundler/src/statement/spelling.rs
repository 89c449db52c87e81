//! Forms of each dialect that the parser does not know, in a form that it knows and that says the
//! same of tables, columns and conditions.

use std::borrow::Cow;

use millrace_languages::lex::Unread;

use super::{dialect::Dialect, masked::MaskedStatement, shown, tokens::Tokens};
use crate::placeholder::Piece;

/// What the parser is shown for a token without placeholders.
pub(super) fn token<'a>(tokens: &Tokens<'a>, at: usize, dialect: Dialect) -> Cow<'a, str> {
    let found = (dialect.facts().spelling)(tokens, at);
    found.map_or_else(|| shown::token(tokens, at, dialect), Cow::Borrowed)
}

/// The text of a statement without placeholders, as the parser is shown it.
///
/// # Errors
/// It cannot be cut.
pub(super) fn whole(text: &str, dialect: Dialect) -> Result<String, Unread> {
    let all = dialect.lex(text)?;
    let masked = MaskedStatement::new(text, vec![Piece::Text(text)]);
    let tokens = Tokens::new(&masked, all);
    Ok((0..tokens.all.len()).map(|at| token(&tokens, at, dialect)).collect())
}

#[cfg(test)]
mod tests;
