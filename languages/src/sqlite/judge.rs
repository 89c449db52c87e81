//! A look at a statement's words before it is sent: what SQLite's authorizer sees in the embedded
//! engine, a driver of a remote database sees only here.
//!
//! Refused are statements that reach out of the database or would outlive the call, more than one
//! statement, and every `PRAGMA` that is not a mere question.
//!
//! What ends a trigger: <https://sqlite.org/c3ref/complete.html>.

use core::ops::Range;

use alloc::{borrow::ToOwned as _, format, string::String, vec::Vec};

use super::{
    pragma,
    token::{Token, tokens},
};
use crate::refusal::{Refusal, Why};

/// Statements that no driver runs.
const REFUSED: [&str; 9] = ["ATTACH", "BEGIN", "COMMIT", "DETACH", "END", "RELEASE", "ROLLBACK", "SAVEPOINT", "VACUUM"];
/// The words of a `CREATE` statement that may stand before the name of what it makes.
const BEFORE_A_NAME: [&str; 9] = ["UNIQUE", "VIRTUAL", "TABLE", "VIEW", "INDEX", "TRIGGER", "IF", "NOT", "EXISTS"];
/// What begins the name of a table that asks a `PRAGMA`.
const PRAGMA_TABLE: &str = "pragma_";

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// It only reads.
    pub reads: bool,
    /// It gives rows.
    pub returns: bool,
}

/// Judges a statement.
///
/// # Errors
/// Why it is not sent.
pub fn judge(text: &str) -> Result<Judged, Refusal> {
    let mut found = Vec::new();
    let mut first: Option<Range<usize>> = None;
    let mut ended = false;
    for token in tokens(text) {
        let (token, range) = token?;
        match token {
            Token::Semicolon if found.is_empty() => {}
            Token::Semicolon if is_inside_trigger(&found) => found.push(token),
            Token::Semicolon => ended = true,
            _ if ended => return Err(Refusal::new(Why::Second, range)),
            token => {
                first.get_or_insert(range);
                found.push(token);
            }
        }
    }
    let Some(first) = first else { return Err(Refusal::new(Why::Nothing, 0..text.len())) };
    let explained = match found.as_slice() {
        [first, second, third, rest @ ..] if first.is("EXPLAIN") && second.is("QUERY") && third.is("PLAN") => Some(rest),
        [first, rest @ ..] if first.is("EXPLAIN") => Some(rest),
        _ => None,
    };
    let statement = explained.unwrap_or(&found);
    if let Some(refused) = refused(statement) {
        return Err(Refusal::new(Why::NotRun(format!("`{refused}`")), first));
    }
    let reads = explained.is_some() || only_reads(statement);
    Ok(Judged { reads, returns: reads || statement.iter().any(|token| token.is("RETURNING")) })
}

fn refused(statement: &[Token<'_>]) -> Option<String> {
    let [first, rest @ ..] = statement else { return None };
    if let Some(word) = REFUSED.into_iter().find(|word| first.is(word)) {
        return Some(word.to_owned());
    }
    if first.is("CREATE") && is_temporary(rest) {
        return Some("CREATE TEMP".to_owned());
    }
    if first.is("PRAGMA") {
        let (name, value) = match rest {
            [_, Token::Dot, name, value @ ..] | [name, value @ ..] => (name.name()?, value),
            [] => return None,
        };
        return (!pragma::is_question(name, !value.is_empty())).then(|| format!("PRAGMA {name}"));
    }
    let calls = |pair: &[Token<'_>]| matches!(pair, [name, Token::Open] if name.name().is_some_and(|name| name.eq_ignore_ascii_case("load_extension")));
    if statement.windows(2).any(calls) {
        return Some("load_extension".to_owned());
    }
    // Such a name is SQLite's, whatever stands around it.
    let asked = statement.iter().filter(|token| !matches!(token, Token::Text(_))).filter_map(Token::name).find_map(|name| {
        let (start, name) = name.split_at_checked(PRAGMA_TABLE.len())?;
        (start.eq_ignore_ascii_case(PRAGMA_TABLE) && !pragma::is_question(name, false)).then_some(name)
    });
    asked.map(|name| format!("PRAGMA {name}"))
}

/// Whether what follows `CREATE` makes something that lives as long as the connection.
fn is_temporary(rest: &[Token<'_>]) -> bool {
    if rest.first().is_some_and(|token| token.is("TEMP") || token.is("TEMPORARY")) {
        return true;
    }
    let name = rest.iter().position(|token| !BEFORE_A_NAME.into_iter().any(|word| token.is(word))).unwrap_or(rest.len());
    matches!(&rest[name..], [schema, Token::Dot, ..] if schema.name().is_some_and(|name| name.eq_ignore_ascii_case("temp")))
}

fn only_reads(statement: &[Token<'_>]) -> bool {
    let Some(first) = statement.first() else { return false };
    if ["SELECT", "VALUES", "PRAGMA"].into_iter().any(|word| first.is(word)) {
        return true;
    }
    if !first.is("WITH") {
        return false;
    }
    // After the common table expressions, each between parentheses, comes what is done with them.
    let mut depth = 0_usize;
    for token in statement {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            word if word.is("SELECT") || word.is("VALUES") => return true,
            word if ["INSERT", "REPLACE", "UPDATE", "DELETE"].into_iter().any(|verb| word.is(verb)) => return false,
            _ => {}
        }
    }
    false
}

/// Whether a semicolon after these belongs to a trigger, which ends with `; END`.
fn is_inside_trigger(tokens: &[Token<'_>]) -> bool {
    let is_trigger = match tokens {
        [create, rest @ ..] if create.is("CREATE") => rest.iter().take(2).any(|token| token.is("TRIGGER")),
        _ => false,
    };
    let is_over = matches!(tokens, [.., Token::Semicolon, end] if end.is("END"));
    is_trigger && !is_over
}
