//! Whether a statement that a database has carried out changed something: then a later failure must
//! say so.

use crate::value::Rows;

/// Statements that ask, whatever they do not find.
const QUESTIONS: [&str; 7] = ["select", "values", "explain", "show", "describe", "pragma", "table"];
/// Statements that change the rows that they find, and nothing where they find none.
const CHANGES: [&str; 5] = ["insert", "update", "delete", "replace", "merge"];

/// Whether a statement may have an effect, as far as its words tell.
pub(in crate::pipeline) fn may_change(text: &str) -> bool {
    let first = first_word(text);
    if first.eq_ignore_ascii_case("with") { has_change(text) } else { !is(&QUESTIONS, first) }
}

fn is(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a statement has a word that changes rows.
fn has_change(text: &str) -> bool {
    text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').any(|word| is(&CHANGES, word))
}

/// Whether a statement had an effect. `counts`: whether the result says how many rows it changed.
/// What cannot be told from its words and its result counts as one that had.
pub(in crate::pipeline) fn took_effect(text: &str, rows: &Rows, counts: bool) -> bool {
    let first = first_word(text);
    if rows.affected > 0 || !counts {
        return rows.affected > 0 || may_change(text);
    }
    if first.eq_ignore_ascii_case("with") {
        // `WITH … INSERT … RETURNING` gives rows as `WITH … SELECT` does.
        return has_change(text) && !rows.rows.is_empty();
    }
    if is(&CHANGES, first) {
        return !rows.rows.is_empty();
    }
    !is(&QUESTIONS, first)
}

/// The first word after spaces, brackets and comments; none after a comment that databases end at
/// different places.
fn first_word(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|character: char| character.is_whitespace() || character == '(' || character == ';');
        let after = match rest.get(..2) {
            Some("--") => {
                rest.split_once('\n').filter(|(comment, _)| !comment.trim_end_matches('\r').contains('\r')).map(|(_, after)| after)
            }
            Some("/*") => rest.split_once("*/").filter(|(comment, _)| comment.rfind("/*") == Some(0)).map(|(_, after)| after),
            _ => {
                let end = rest.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(rest.len());
                return rest.get(..end).unwrap_or_default();
            }
        };
        match after {
            Some(after) => rest = after,
            None => return "",
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{rc::Rc, string::String, vec, vec::Vec};

    use super::*;
    use crate::value::Value;

    #[test]
    fn an_effect_is_told_by_words_and_results() {
        let result = |affected, rows: usize| Rows {
            columns: Rc::from(if rows > 0 { vec![String::from("id")] } else { Vec::new() }),
            rows: vec![vec![Value::Null]; rows],
            affected,
            truncated: false,
            ..Rows::default()
        };
        let table = [
            ("UPDATE t SET a = 1", 1, 0, true),
            ("UPDATE t SET a = 1", 0, 0, false),
            (" -- a comment\n/* and another */ (insert INTO t VALUES (1) RETURNING id)", 0, 1, true),
            ("DELETE FROM t RETURNING id", 0, 0, false),
            ("SELECT 1", 0, 1, false),
            ("with a as (select 1) select * from a", 0, 1, false),
            ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a RETURNING id", 0, 1, true),
            ("CREATE TABLE t (id INT)", 0, 0, true),
            ("-- nothing", 0, 0, true),
            ("-- a\r\nSELECT 1", 0, 1, false),
            ("-- a\rUPDATE t SET a = '\nSELECT'", 0, 0, true),
            ("/* a /* b */ SELECT */ UPDATE t SET a = 1 RETURNING a", 0, 0, true),
            ("", 0, 0, true),
        ];
        for (text, affected, rows, expected) in table {
            assert_eq!(took_effect(text, &result(affected, rows), true), expected, "{text}");
            assert_eq!(took_effect(text, &result(0, 0), false), may_change(text), "{text}");
            assert!(may_change(text) || !expected, "{text}");
        }
        for asks in ["SELECT 1", "-- a comment\nVALUES (1)", "with a as (select 1) select * from a", "EXPLAIN DELETE FROM t"] {
            assert!(!may_change(asks), "{asks}");
        }
    }
}
