//! Whether PostgreSQL can count the rows of a statement in the statement itself: as a part of a
//! `WITH`, from which they are selected. So they are counted where nobody can look at a result
//! before the transaction has ended.

use super::{Dialect, lex::Kind, masked::MaskedStatement, tokens::Tokens, trim};
use crate::placeholder;

/// Statements that change rows.
const CHANGES: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "MERGE"];
/// Statements that return rows.
const SELECTS: [&str; 3] = ["SELECT", "VALUES", "TABLE"];

/// Why the rows cannot be counted, and what helps; `None` where they can. Of what is no statement
/// nothing is said.
pub(crate) fn why_not(text: &str, dialect: Dialect) -> Option<(&'static str, &'static str)> {
    let masked = MaskedStatement::new(text, placeholder::scan(text).0);
    let all = dialect.lex(&masked.text).ok()?;
    let mut tokens = Tokens::new(&masked, all);
    trim(&mut tokens);
    let end = tokens.significant().next_back().filter(|&last| tokens.is_sign(Some(last), b';'));
    if end.is_some_and(|end| end + 1 < tokens.all.len()) {
        return Some(("a comment comes after the `;`", "Remove the `;`."));
    }
    let (mut depth, mut main, mut returns) = (0_usize, None, false);
    let first = tokens.significant().find(|&token| !tokens.is_sign(Some(token), b';'))?;
    let has_parts = tokens.is_word(Some(first), "WITH");
    for token in tokens.significant().skip_while(|&token| token < first) {
        match tokens.all[token].kind {
            Kind::Sign(b'(') => depth += 1,
            Kind::Sign(b')') => depth = depth.saturating_sub(1),
            Kind::Word if depth > 0 => {
                let opens = tokens.is_sign(tokens.before(token), b'(');
                if has_parts && main.is_none() && opens && tokens.is_any_word(Some(token), &CHANGES) {
                    return Some(("a part of its `WITH` changes rows", "Make the part of `WITH` a step of its own."));
                }
            }
            Kind::Word if main.is_none() => {
                let begins = tokens.is_any_word(Some(token), &CHANGES) || tokens.is_any_word(Some(token), &SELECTS);
                if !has_parts || begins {
                    main = Some(token);
                }
            }
            Kind::Word => {
                let before = tokens.before(token);
                // A name may be this word, too.
                let is_name = tokens.is_word(before, "AS") || tokens.is_sign(before, b'.');
                returns |= tokens.is_word(Some(token), "RETURNING") && !is_name;
            }
            _ => {}
        }
    }
    // What begins with a bracket selects.
    let main = main.filter(|_| !tokens.is_sign(Some(first), b'('))?;
    if tokens.is_any_word(Some(main), &CHANGES) {
        return (!returns).then_some((
            "the statement changes rows and returns none",
            "End it with `RETURNING` and a column, so that the rows can be counted.",
        ));
    }
    (!tokens.is_any_word(Some(main), &SELECTS)).then_some((
        "the statement neither selects nor changes rows",
        "Remove `expect`, or use the connector `postgres`, which looks at each result before the next step.",
    ))
}

#[cfg(test)]
mod tests;
