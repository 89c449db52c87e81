//! The names of columns that nobody has named.
//!
//! MySQL names such a column with the text of its expression. With `?` for a value that is `? + 1`,
//! whatever the value; with a literal it would be another name in each call. So a name that is the
//! text of an expression with values in it gets its `?` back.

use super::literal::Written;
use crate::mysql_text::{Token, token};

/// What may stand between `SELECT` and its first expression.
const MODIFIERS: [&str; 9] = [
    "ALL",
    "DISTINCT",
    "DISTINCTROW",
    "HIGH_PRIORITY",
    "SQL_BIG_RESULT",
    "SQL_BUFFER_RESULT",
    "SQL_CALC_FOUND_ROWS",
    "SQL_SMALL_RESULT",
    "STRAIGHT_JOIN",
];
/// What ends the list of expressions.
const ENDS: [&str; 13] =
    ["EXCEPT", "FOR", "FROM", "GROUP", "HAVING", "INTERSECT", "INTO", "LIMIT", "LOCK", "ORDER", "UNION", "WHERE", "WINDOW"];
/// From this length on, a server may have cut a name off.
const LONG: usize = 60;

/// An expression with values.
struct Expression {
    /// As a server may write it, made comparable.
    written: String,
    /// As the author wrote it.
    text: String,
}

/// The names that columns have in the statement as its author wrote it.
pub(super) fn of_author<'a>(statement: &str, written: &Written, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let expressions = if written.places.is_empty() { Vec::new() } else { expressions(statement, written) };
    let name = |name: &str| {
        let found = match expressions.is_empty() {
            true => None,
            false => {
                let own = comparable(name);
                let is_it = |one: &&Expression| one.written == own || own.len() >= LONG && one.written.starts_with(&own);
                expressions.iter().find(is_it)
            }
        };
        found.map_or_else(|| name.to_owned(), |expression| expression.text.clone())
    };
    names.map(name).collect()
}

/// A server may write key words, digits, blanks and parentheses in another way than they came.
fn comparable(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace() && !matches!(character, '(' | ')')).flat_map(char::to_lowercase).collect()
}

/// The expressions of all lists of `SELECT` that have values in them.
fn expressions(statement: &str, written: &Written) -> Vec<Expression> {
    let mut found = Vec::new();
    let mut rest = statement;
    // For each level of parentheses, where the expression began.
    let mut begun: Vec<Option<usize>> = vec![None];
    let mut is_first = false;
    while let Ok(Some(token)) = token(&mut rest) {
        let end = statement.len() - rest.len();
        let length = match token {
            Token::Word(word) => word.len(),
            Token::Sign(sign) => sign.len_utf8(),
            Token::Name(_) | Token::Quoted => 0,
        };
        let mut close = |begun: Option<usize>| {
            found.extend(begun.and_then(|start| expression(statement, written, start, end - length)));
        };
        let was_first = std::mem::take(&mut is_first);
        let Some(level) = begun.last_mut() else { break };
        match token {
            Token::Word(word) if word.eq_ignore_ascii_case("SELECT") => {
                *level = Some(end);
                is_first = true;
            }
            Token::Word(word) if was_first && MODIFIERS.iter().any(|known| known.eq_ignore_ascii_case(word)) => {
                *level = Some(end);
                is_first = true;
            }
            Token::Word(word) if ENDS.iter().any(|known| known.eq_ignore_ascii_case(word)) => close(level.take()),
            Token::Sign(',') if level.is_some() => {
                close(level.take());
                *level = Some(end);
            }
            Token::Sign(';') => close(level.take()),
            Token::Sign('(') => begun.push(None),
            Token::Sign(')') => {
                close(begun.pop().flatten());
            }
            _ => {}
        }
    }
    let last = begun.first().copied().flatten();
    found.extend(last.and_then(|start| expression(statement, written, start, statement.len())));
    found
}

/// An expression between two places of the statement; `None` where it has no values.
fn expression(statement: &str, written: &Written, start: usize, end: usize) -> Option<Expression> {
    let text = statement.get(start..end)?.trim();
    let mut whole = String::new();
    let mut copied = start;
    let mut values = written.places.iter().filter(|(at, _)| (start..end).contains(at)).peekable();
    values.peek()?;
    for (at, literal) in values {
        whole.push_str(statement.get(copied..*at)?);
        whole.push_str(written.text.get(literal.clone())?);
        copied = at + 1;
    }
    whole.push_str(statement.get(copied..end)?);
    Some(Expression { written: comparable(&whole), text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use millrace_core::value::Value;

    use super::{super::literal::write, *};

    #[test]
    fn names_are_those_of_the_author() {
        let values = [Value::I64(7), Value::Text("o'n".into())];
        for (statement, name, expected) in [
            ("SELECT ?, ? FROM t", "7", "?"),
            ("SELECT DISTINCT ? + 1, CONCAT(?, x) FROM t", "7 + 1", "? + 1"),
            ("SELECT ? + 1, CONCAT( ?, x ) FROM t", "CONCAT( _utf8mb4 0x6f276e, x )", "CONCAT( ?, x )"),
            ("SELECT ? + 1, CONCAT(?, x) FROM t", "concat(_utf8mb4 0x6F276E, x)", "CONCAT(?, x)"),
            ("SELECT ? AS a, id FROM t WHERE v = ?", "id", "id"),
            ("SELECT ? AS a, `7` FROM t WHERE v = ?", "a", "a"),
            ("SELECT (SELECT ? FROM u LIMIT 1), a FROM t WHERE ?", "(SELECT 7 FROM u LIMIT 1)", "(SELECT ? FROM u LIMIT 1)"),
            ("SELECT a UNION SELECT ? LIMIT 7, ?", "a", "a"),
            ("SELECT 1, ?, ?;", "_utf8mb4 0x6f276e", "?"),
        ] {
            let values = if statement.contains("LIMIT 7") { &[Value::I64(7), Value::I64(8)] } else { &values };
            let written = write(statement, values).unwrap();
            assert_eq!(of_author(statement, &written, [name].into_iter()), [expected], "{statement}");
        }
        let long = [Value::Text("x".repeat(1000))];
        let written = write("SELECT ?", &long).unwrap();
        assert_eq!(of_author("SELECT ?", &written, [&written.text[7..71]].into_iter()), ["?"]);
    }
}
