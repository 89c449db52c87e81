//! How a text is cut.

use crate::{
    Lexicon,
    lex::{Colon, Dollar, Question},
};

/// How SQLite cuts a text: <https://sqlite.org/lang.html>.
#[derive(Clone, Copy, Debug)]
pub enum Sqlite {}

impl Lexicon for Sqlite {
    const PREFIXES: &'static [u8] = b"x";
    const BACKTICKS: bool = true;
    const BRACKETS: bool = true;
    const DOLLAR: Dollar = Dollar::Parameter;
    const QUESTION: Question = Question::Numbered;
    const COLON: Colon = Colon::Parameter;
    const AT_PARAMETERS: bool = true;
}
