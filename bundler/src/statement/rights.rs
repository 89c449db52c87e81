//! The rights that a statement needs in its database: which columns of which tables it reads and writes, which sequences, functions and
//! procedures it uses.
//!
//! The parsed statement is walked query by query, so that each column is looked for in the tables that it can be of. A column that can be of
//! several tables is one of each as far as the walk knows, and it says so: the whole tables are needed then. What it does not understand is
//! said, too. Afterwards the tables and queries that it has seen are counted against those that are there, so that nothing is passed over.

use sqlparser::ast::{Statement as Sql, Visit as _};

use super::{
    Dialect,
    count::Count,
    lex::{self, Kind},
    probe, shown, spelling,
};

pub(crate) mod clickhouse;
mod known;
mod model;
mod read;
mod scope;
mod text;
mod write;

pub use known::{Known, KnownTable};
pub use model::{Columns, Named, Privilege, Rights};
pub(crate) use text::{Unwritten, written};

use clickhouse::Prepared;
use scope::Walk;

/// The longest statement that is looked at, in bytes.
const MAX_BYTES: usize = 100_000;

/// The rights that a statement of PostgreSQL, MySQL or ClickHouse needs, which has parameters in the place of values. `known` is what is known of the
/// database.
#[must_use]
pub fn rights(text: &str, dialect: Dialect, known: &Known) -> Rights {
    if text.len() > MAX_BYTES {
        return Rights::unclear("it is too long");
    }
    let tokens = match lex::lex(text, dialect) {
        Ok(tokens) => tokens,
        Err(unread) => return Rights::unclear(unread.clause()),
    };
    if text.contains('\0') || tokens.iter().any(|token| token.kind == Kind::Comment { executable: true }) {
        return Rights::unclear("it has a character or a comment that is not understood");
    }
    let mut prepared = None;
    if dialect == Dialect::ClickHouse {
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
            [statement] => of_statement(statement, dialect, known, is_mutation),
            _ => Rights::unclear("it is not one statement"),
        }
    });
    found.unwrap_or_else(|| Rights::unclear("it is too long"))
}

fn of_statement(statement: &Sql, dialect: Dialect, known: &Known, is_mutation: bool) -> Rights {
    let mut walk = Walk { is_mutation, ..Walk::new(dialect, known) };
    walk.statement(statement, &[]);
    let (mut rights, seen) = walk.finish();
    let mut there = Count::default();
    let _ = statement.visit(&mut there);
    if rights.unclear.is_empty() && there != seen {
        rights.unclear.insert("it has a table in a place that is not understood".to_owned());
    }
    rights
}

#[cfg(test)]
mod tests;
