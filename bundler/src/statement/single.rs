//! A text that is one statement, which has parameters in the place of values: read as far as its
//! lexer and the parser agree, or a clause that says why not.

use millrace_languages::lex::{Kind, Token};
use sqlparser::ast::Statement as Sql;

use super::{Dialect, probe, shown, spelling};

/// The longest statement that is looked at, in bytes.
const MAX_BYTES: usize = 100_000;

/// Its tokens.
///
/// # Errors
/// Why it is not read: `it is too long`.
pub(super) fn lexed(text: &str, dialect: Dialect) -> Result<Vec<Token>, String> {
    if text.len() > MAX_BYTES {
        return Err("it is too long".to_owned());
    }
    let tokens = dialect.lex(text).map_err(|unread| unread.clause())?;
    if text.contains('\0') || tokens.iter().any(|token| token.kind == Kind::Comment { executable: true }) {
        return Err("it has a character or a comment that is not understood".to_owned());
    }
    Ok(tokens)
}

/// What `work` makes of it. `tokens` is how many it has.
///
/// # Errors
/// Why it is not read: `it is not one statement`.
pub(super) fn parsed<T: Send>(text: &str, tokens: usize, dialect: Dialect, work: impl FnOnce(&Sql) -> T + Send) -> Result<T, String> {
    let shown = spelling::whole(text, dialect).map_err(|unread| unread.clause())?;
    let worked = probe::with_stack(tokens, || {
        let statements = shown::parse(&shown, dialect).map_err(|(why, _)| why)?;
        match statements.as_slice() {
            [statement] => Ok(work(statement)),
            _ => Err("it is not one statement".to_owned()),
        }
    });
    worked.unwrap_or_else(|| Err("it is too long".to_owned()))
}
