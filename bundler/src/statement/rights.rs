//! The rights that a statement needs in its database: which columns of which tables it reads and
//! writes, which sequences, functions and procedures it uses.
//!
//! They are read off the resolved statement. A column that can be of several tables is one of each,
//! and that is said: the whole tables are needed then. What is not understood is said, too.

use millrace_languages::lex::Kind;

use super::{
    Dialect, probe,
    resolved::{Known, resolve},
    shown, spelling,
};

pub mod clickhouse;
mod model;
mod reader;
mod text;

pub use model::{Columns, Privilege, Rights};
pub use text::{Unwritten, written};

use clickhouse::Prepared;

/// The longest statement that is looked at, in bytes.
const MAX_BYTES: usize = 100_000;

/// The rights that a statement of PostgreSQL, MySQL or ClickHouse needs, which has parameters in
/// the place of values. `known` is what is known of the database.
#[must_use]
pub fn rights(text: &str, dialect: Dialect, known: &Known) -> Rights {
    if text.len() > MAX_BYTES {
        return Rights::unclear("it is too long");
    }
    let tokens = match dialect.lex(text) {
        Ok(tokens) => tokens,
        Err(unread) => return Rights::unclear(unread.clause()),
    };
    if text.contains('\0') || tokens.iter().any(|token| token.kind == Kind::Comment { executable: true }) {
        return Rights::unclear("it has a character or a comment that is not understood");
    }
    let mut prepared = None;
    if dialect.facts().resolution.is_clickhouse {
        match clickhouse::prepare(text, &tokens) {
            Prepared::Rights(rights) => return rights,
            Prepared::Text { text, is_mutation } => prepared = Some((text, is_mutation)),
        }
    }
    let (text, is_mutation) = prepared.as_ref().map_or((text, false), |(text, is_mutation)| (text.as_str(), *is_mutation));
    let Ok(shown) = spelling::whole(text, dialect) else { return Rights::unclear("something in it is not closed") };
    let found = probe::with_stack(tokens.len(), || {
        let statements = match shown::parse(&shown, dialect) {
            Ok(statements) => statements,
            Err((why, _)) => return Rights::unclear(&why),
        };
        match statements.as_slice() {
            [statement] => reader::rights_of(resolve(statement, dialect, known, is_mutation), dialect, known),
            _ => Rights::unclear("it is not one statement"),
        }
    });
    found.unwrap_or_else(|| Rights::unclear("it is too long"))
}

#[cfg(test)]
mod tests;
