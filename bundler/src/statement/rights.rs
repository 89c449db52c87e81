//! The rights that a statement needs in its database: which columns of which tables it reads and
//! writes, which sequences, functions and procedures it uses.
//!
//! They are read off the resolved statement. A column that can be of several tables is one of each,
//! and that is said: the whole tables are needed then. What is not understood is said, too.

use super::{
    Dialect,
    resolved::{Known, resolve},
    single,
};

pub mod clickhouse;
mod model;
mod reader;
mod text;

pub use model::{Columns, Privilege, Rights};
pub use text::{Unwritten, written};

use clickhouse::Prepared;

/// The rights that a statement of PostgreSQL, MySQL or ClickHouse needs, which has parameters in
/// the place of values. `known` is what is known of the database.
#[must_use]
pub fn rights(text: &str, dialect: Dialect, known: &Known) -> Rights {
    let tokens = match single::lexed(text, dialect) {
        Ok(tokens) => tokens,
        Err(why) => return Rights::unclear(&why),
    };
    let mut prepared = None;
    if dialect.facts().resolution.is_clickhouse {
        match clickhouse::prepare(text, &tokens) {
            Prepared::Rights(rights) => return rights,
            Prepared::Text { text, is_mutation } => prepared = Some((text, is_mutation)),
        }
    }
    let (text, is_mutation) = prepared.as_ref().map_or((text, false), |(text, is_mutation)| (text.as_str(), *is_mutation));
    let found = single::parsed(text, tokens.len(), dialect, |statement| {
        reader::rights_of(resolve(statement, dialect, known, is_mutation), dialect, known)
    });
    found.unwrap_or_else(|why| Rights::unclear(&why))
}

#[cfg(test)]
mod tests;
