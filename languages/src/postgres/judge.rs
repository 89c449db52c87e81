//! A look at a statement's first words: what would outlive its call on the connection is not sent.
//!
//! Whether a statement writes is not looked at: for a read-only adapter the server refuses what
//! does.

use alloc::format;

use super::{
    lexicon::Postgres,
    planned::{FOR_ANY_VALUES, PLANNED},
};
use crate::{
    lex::{Kind, Lexer, Token, Unread},
    refusal::{Refusal, Why, place},
};

/// Statements that need a connection of their own, or leave something on it.
const REFUSED: [&str; 25] = [
    "ABORT",
    "BEGIN",
    "CHECKPOINT",
    "CLOSE",
    "CLUSTER",
    "COMMIT",
    "COPY",
    "DEALLOCATE",
    "DECLARE",
    "DISCARD",
    "END",
    "EXECUTE",
    "FETCH",
    "LISTEN",
    "LOAD",
    "MOVE",
    "PREPARE",
    "RELEASE",
    "RESET",
    "ROLLBACK",
    "SAVEPOINT",
    "SET",
    "START",
    "UNLISTEN",
    "VACUUM",
];

/// A block of code, which may set what it likes.
const BLOCK: &str = "DO";
/// What would change the settings of a session, or do so unseen.
const SETS: &str = "set_config";

/// Whether a statement asks for a plan. What is prepared for that has a name that is made of its
/// text, and nothing runs by that name.
fn asks_for_plan(text: &str) -> bool {
    if text == FOR_ANY_VALUES {
        return true;
    }
    let named = text.strip_prefix("PREPARE ").or_else(|| text.strip_prefix("DEALLOCATE "));
    named.is_some_and(|named| named.starts_with(PLANNED))
}

/// Judges a statement.
///
/// # Errors
/// Why it is not sent.
pub fn judge(text: &str) -> Result<(), Refusal> {
    if asks_for_plan(text) {
        return Ok(());
    }
    let mut rest = text;
    let first = next_word(&mut rest)?;
    let range = place(text, first);
    let second = next_word(&mut rest)?;
    let second = if ["LOCAL", "GLOBAL"].iter().any(|scope| scope.eq_ignore_ascii_case(second)) { next_word(&mut rest)? } else { second };
    let is_temporary = || second.eq_ignore_ascii_case("TEMP") || second.eq_ignore_ascii_case("TEMPORARY");
    let refused = match REFUSED.into_iter().find(|refused| first.eq_ignore_ascii_case(refused)) {
        None if first.eq_ignore_ascii_case("CREATE") && is_temporary() => Some("CREATE TEMP"),
        refused => refused,
    };
    refused.map_or(Ok(()), |refused| Err(Refusal::new(Why::NotRun(format!("`{refused}`")), range)))
}

/// What a statement may change the settings of its session by.
#[must_use]
pub fn changes_session(text: &str) -> Option<&'static str> {
    if asks_for_plan(text) {
        return None;
    }
    let has = |words: &str| text.as_bytes().windows(words.len()).any(|word| word.eq_ignore_ascii_case(words.as_bytes()));
    // A name with escapes can be any name.
    let is_written = has(SETS) || has("U&\"");
    let mut rest = text;
    if is_written { Some(SETS) } else { word(&mut rest).eq_ignore_ascii_case(BLOCK).then_some(BLOCK) }
}

/// Takes the next word; empty where something else comes first, or where that cannot be cut.
/// Blanks, comments and semicolons are passed over.
pub fn word<'a>(rest: &mut &'a str) -> &'a str {
    next_word(rest).unwrap_or_default()
}

/// The same.
///
/// # Errors
/// What comes first cannot be cut.
fn next_word<'a>(rest: &mut &'a str) -> Result<&'a str, Unread> {
    let text = *rest;
    let mut lexer = Lexer::<Postgres>::new(text);
    while let Some(cut) = lexer.next() {
        let Token { kind, range } = cut?;
        match kind {
            Kind::Space | Kind::Comment { .. } | Kind::Sign(b';') => *rest = lexer.rest(),
            Kind::Word => {
                // What a name has after it that no word of the language has, does not make the word
                // another one.
                let found = text.get(range.start..).unwrap_or_default();
                let end = found.find(|character: char| !character.is_ascii_alphanumeric() && character != '_').unwrap_or(found.len());
                let (word, after) = found.split_at(end);
                *rest = after;
                return Ok(word);
            }
            _ => return Ok(""),
        }
    }
    Ok("")
}
