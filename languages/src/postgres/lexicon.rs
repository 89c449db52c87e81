//! How a text is cut.

use crate::{
    Lexicon,
    lex::{Colon, Dollar},
};

/// How PostgreSQL cuts a text: <https://www.postgresql.org/docs/current/sql-syntax-lexical.html>.
#[derive(Clone, Copy, Debug)]
pub enum Postgres {}

impl Lexicon for Postgres {
    const PREFIXES: &'static [u8] = b"benux";
    const CONTINUES: bool = true;
    const CARRIAGE_RETURNS: bool = true;
    const NESTED_COMMENTS: bool = true;
    const DOLLAR: Dollar = Dollar::NumberOrText;
    const COLON: Colon = Colon::Doubled;
}
