//! How a text is cut.

use crate::{
    Lexicon,
    lex::{Colon, Dollar, Hash, Question, Quotes},
};

/// How MySQL cuts a text with the `sql_mode` of the sessions: <https://dev.mysql.com/doc/refman/8.4/en/language-structure.html>.
#[derive(Clone, Copy, Debug)]
pub enum MySql {}

impl Lexicon for MySql {
    const BACKSLASHES: bool = true;
    const PREFIXES: &'static [u8] = b"bnx";
    const DOUBLE_QUOTES: Quotes = Quotes::Text;
    const BACKTICKS: bool = true;
    const DASHES_NEED_BLANK: bool = true;
    const HASH: Hash = Hash::Comment;
    const RUNS_COMMENTS: bool = true;
    const DOLLAR: Dollar = Dollar::NumberOrName;
    const QUESTION: Question = Question::Parameter;
    const COLON: Colon = Colon::Parameter;
}
