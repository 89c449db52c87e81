//! Forms of each dialect that the parser does not know, in a form that it knows and that says the same of tables, columns and conditions.

use std::borrow::Cow;

use super::{
    dialect::Dialect,
    lex::{self, Kind, Unread},
    masked::MaskedStatement,
    shown,
    tokens::Tokens,
};
use crate::placeholder::Piece;

/// What the parser is shown for a token without placeholders.
pub(super) fn token<'a>(tokens: &Tokens<'a>, at: usize, dialect: Dialect) -> Cow<'a, str> {
    let found = match (&tokens.all[at].kind, dialect) {
        (Kind::Word, Dialect::Sqlite) => sqlite(tokens, at),
        (Kind::Word, Dialect::Postgres) => postgres(tokens, at),
        (Kind::Word, Dialect::MySql) => mysql(tokens, at),
        // All members of a row: `(a).*`.
        (Kind::Sign(b'*'), Dialect::Postgres) => {
            let dot = tokens.before(at).filter(|&dot| tokens.is_sign(Some(dot), b'.'));
            dot.is_some_and(|dot| tokens.is_sign(tokens.before(dot), b')')).then_some("members")
        }
        // `\N` is `NULL`.
        (Kind::Sign(b'\\'), Dialect::MySql) => null_follows(tokens, at).then_some(" "),
        // `!a` binds as tightly as `-a`.
        (Kind::Sign(b'!'), Dialect::MySql) => {
            (!tokens.is_sign(Some(at + 1).filter(|&next| next < tokens.all.len()), b'=')).then_some(" - ")
        }
        _ => None,
    };
    found.map_or_else(|| shown::token(tokens, at, dialect), Cow::Borrowed)
}

/// The text of a statement without placeholders, as the parser is shown it.
///
/// # Errors
/// It cannot be cut.
pub(super) fn whole(text: &str, dialect: Dialect) -> Result<String, Unread> {
    let all = lex::lex(text, dialect)?;
    let masked = MaskedStatement::new(text, vec![Piece::Text(text)]);
    let tokens = Tokens { masked: &masked, all };
    Ok((0..tokens.all.len()).map(|at| token(&tokens, at, dialect)).collect())
}

fn sqlite(tokens: &Tokens<'_>, at: usize) -> Option<&'static str> {
    let is = |at: Option<usize>, word: &str| tokens.is_word(at, word);
    // SQLite's `IS` compares any two values.
    let compares = |operand: Option<usize>| {
        operand.is_some() && !tokens.is_any_word(operand, &["NOT", "NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"])
    };
    let (this, before, after) = (Some(at), tokens.before(at), tokens.after(at));
    let earlier = before.and_then(|before| tokens.before(before));
    if is(this, "ISNULL") {
        return Some("IS NULL");
    }
    // `INDEXED BY name` and `NOT INDEXED` after a table.
    let hint = (is(this, "INDEXED") && (is(after, "BY") || is(before, "NOT")))
        || (is(this, "NOT") && is(after, "INDEXED"))
        || (is(this, "BY") && is(before, "INDEXED"))
        || (is(before, "BY") && is(earlier, "INDEXED"));
    if hint || (is(this, "NOT") && is(before, "IS") && compares(after)) {
        return Some(" ");
    }
    // `AS NOT MATERIALIZED (`
    let is_cte = is(this, "MATERIALIZED") && (is(before, "AS") || is(before, "NOT") && is(earlier, "AS"));
    if is_cte && tokens.is_sign(after, b'(') || is(this, "NOT") && is(before, "AS") && is(after, "MATERIALIZED") {
        return Some(" ");
    }
    if tokens.is_any_word(this, &["GLOB", "MATCH", "REGEXP"]) && is(before, "NOT") {
        return Some("LIKE");
    }
    if !is(this, "IS") {
        return None;
    }
    if compares(after) {
        return Some("IS NOT DISTINCT FROM");
    }
    let negated = is(after, "NOT") && compares(after.and_then(|not| tokens.after(not)));
    negated.then_some("IS DISTINCT FROM")
}

fn postgres(tokens: &Tokens<'_>, at: usize) -> Option<&'static str> {
    let is = |at: Option<usize>, word: &str| tokens.is_word(at, word);
    let sign = |at: Option<usize>, sign: u8| tokens.is_sign(at, sign);
    let (this, before, after) = (Some(at), tokens.before(at), tokens.after(at));
    let earlier = before.and_then(|before| tokens.before(before));
    let later = after.and_then(|after| tokens.after(after));
    if before.is_none() && is(this, "TABLE") {
        return Some("SELECT * FROM");
    }
    // A name may be any of these words.
    if sign(before, b'.') || is(before, "AS") {
        return of_using(tokens, before).then_some(" ");
    }
    let is_operand = before.is_some_and(|before| !is(Some(before), "SELECT") && !sign(Some(before), b',') && !sign(Some(before), b'('));
    match tokens.text(at).to_ascii_uppercase().as_str() {
        "ISNULL" if is_operand => Some("IS NULL"),
        "NOTNULL" if is_operand => Some("IS NOT NULL"),
        "SYMMETRIC" | "ASYMMETRIC" if is(before, "BETWEEN") => Some(" "),
        "DISTINCT" if is(before, "BY") && is(earlier, "GROUP") => Some(" "),
        "VARIADIC" if sign(before, b'(') || sign(before, b',') => Some(" "),
        // `EXCLUDE TIES` at the end of a window's frame.
        "EXCLUDE" if tokens.is_any_word(after, &["TIES", "GROUP"]) || is(after, "NO") && is(later, "OTHERS") => Some(" "),
        "EXCLUDE" if is(after, "CURRENT") && is(later, "ROW") => Some(" "),
        "TIES" | "GROUP" | "NO" | "CURRENT" if is(before, "EXCLUDE") => Some(" "),
        "OTHERS" if is(before, "NO") && is(earlier, "EXCLUDE") => Some(" "),
        "ROW" if is(before, "CURRENT") && is(earlier, "EXCLUDE") => Some(" "),
        "TRAILING" if is(after, "FROM") => Some("TRAILING ' '"),
        "LEADING" if is(after, "FROM") => Some("LEADING ' '"),
        "BOTH" if is(after, "FROM") => Some("BOTH ' '"),
        "FROM" if sign(before, b'(') && is(earlier, "TRIM") => Some(" "),
        "SIMILAR" if !is(after, "TO") && of_call(tokens, at, "SUBSTRING") => Some(","),
        "ESCAPE" if of_call(tokens, at, "SUBSTRING") => Some(","),
        // `xmlelement(name a, …)`
        "NAME" if sign(before, b'(') && tokens.is_any_word(earlier, &["XMLELEMENT", "XMLPI"]) => Some(" "),
        _ if is(before, "NAME") && sign(earlier, b'(') && (of_call(tokens, at, "XMLELEMENT") || of_call(tokens, at, "XMLPI")) => {
            Some("'x'")
        }
        "AS" if of_using(tokens, this) => Some(" "),
        _ => None,
    }
}

/// Whether an `AS` gives a name to the columns of `JOIN … USING (a, b)`.
fn of_using(tokens: &Tokens<'_>, r#as: Option<usize>) -> bool {
    let Some(close) = r#as.filter(|&at| tokens.is_word(Some(at), "AS")).and_then(|at| tokens.before(at)) else { return false };
    if !tokens.is_sign(Some(close), b')') {
        return false;
    }
    // Names between commas, and neither a table nor a query.
    let mut at = close;
    loop {
        let Some(name) = tokens.before(at).filter(|&name| matches!(tokens.all[name].kind, Kind::Word | Kind::Quoted)) else { return false };
        if tokens.is_any_word(Some(name), &["SELECT", "VALUES", "TABLE", "WITH"]) {
            return false;
        }
        match tokens.before(name) {
            Some(comma) if tokens.is_sign(Some(comma), b',') => at = comma,
            Some(open) if tokens.is_sign(Some(open), b'(') => {
                let using = tokens.before(open).filter(|&using| tokens.is_word(Some(using), "USING"));
                let joined = using.is_some_and(|using| (0..using).any(|word| tokens.is_word(Some(word), "JOIN")));
                return joined && !(0..at).any(|word| tokens.is_any_word(Some(word), &["DELETE", "MERGE"]));
            }
            _ => return false,
        }
    }
}

fn mysql(tokens: &Tokens<'_>, at: usize) -> Option<&'static str> {
    let is = |at: Option<usize>, word: &str| tokens.is_word(at, word);
    let (this, before, after) = (Some(at), tokens.before(at), tokens.after(at));
    let earlier = before.and_then(|before| tokens.before(before));
    if before.is_none() && is(this, "TABLE") {
        return Some("SELECT * FROM");
    }
    if tokens.is_sign(before, b'.') {
        return None;
    }
    if at > 0 && tokens.is_sign(Some(at - 1), b'\\') && null_follows(tokens, at - 1) {
        return Some("NULL");
    }
    let word = tokens.text(at).to_ascii_uppercase();
    const UNITS: [&str; 11] = [
        "SECOND_MICROSECOND",
        "MINUTE_MICROSECOND",
        "MINUTE_SECOND",
        "HOUR_MICROSECOND",
        "HOUR_SECOND",
        "HOUR_MINUTE",
        "DAY_MICROSECOND",
        "DAY_SECOND",
        "DAY_MINUTE",
        "DAY_HOUR",
        "YEAR_MONTH",
    ];
    let is_value = before.is_some_and(|before| {
        matches!(tokens.all[before].kind, Kind::Literal { .. } | Kind::Number | Kind::Mark | Kind::Sign(b')')) || is(earlier, "INTERVAL")
    });
    let is_extracted = tokens.is_sign(before, b'(') && is(earlier, "EXTRACT");
    match word.as_str() {
        unit if UNITS.contains(&unit) && (is_value || is_extracted) => Some("DAY"),
        "EXTENDED" | "PARTITIONS" if before.is_some_and(|before| tokens.before(before).is_none()) && is(before, "EXPLAIN") => Some(" "),
        "MOD" if before.is_some_and(|before| ends_operand(tokens, before)) && !ends_item(tokens, after) => Some("%"),
        "TRAILING" if is(after, "FROM") => Some("TRAILING ' '"),
        "LEADING" if is(after, "FROM") => Some("LEADING ' '"),
        "BOTH" if is(after, "FROM") => Some("BOTH ' '"),
        "SOUNDS" if is(after, "LIKE") => Some(" "),
        "USING" if of_call(tokens, at, "CHAR") => Some(","),
        _ if is(before, "USING") && of_call(tokens, at, "CHAR") => Some("'x'"),
        "CHARACTER" if is(after, "SET") && (of_call(tokens, at, "CAST") || of_call(tokens, at, "CONVERT")) => Some(" "),
        "SET" if is(before, "CHARACTER") => (of_call(tokens, at, "CAST") || of_call(tokens, at, "CONVERT")).then_some(" "),
        _ if is(before, "SET") && is(earlier, "CHARACTER") => {
            (of_call(tokens, at, "CAST") || of_call(tokens, at, "CONVERT")).then_some(" ")
        }
        _ => None,
    }
}

/// Whether MySQL's `\N` begins here.
fn null_follows(tokens: &Tokens<'_>, at: usize) -> bool {
    tokens.all.get(at + 1).is_some_and(|next| next.kind == Kind::Word && tokens.text(at + 1) == "N")
}

/// Whether a value ends with a token: an operator may follow.
fn ends_operand(tokens: &Tokens<'_>, at: usize) -> bool {
    match tokens.all[at].kind {
        Kind::Number | Kind::Literal { .. } | Kind::Quoted | Kind::Mark | Kind::Sign(b')') => true,
        Kind::Word => {
            !tokens.is_any_word(Some(at), &["SELECT", "DISTINCT", "ALL", "WHERE", "AND", "OR", "NOT", "BY", "ON", "WHEN", "THEN", "ELSE"])
        }
        _ => false,
    }
}

/// Whether an item of a list ends before a token, so that the word before it is a name.
fn ends_item(tokens: &Tokens<'_>, after: Option<usize>) -> bool {
    after.is_none() || tokens.is_word(after, "FROM") || [b',', b')', b';'].into_iter().any(|sign| tokens.is_sign(after, sign))
}

/// Whether a token stands between the parentheses of a call of this function, and in no others.
fn of_call(tokens: &Tokens<'_>, at: usize, function: &str) -> bool {
    tokens.opening(at).is_some_and(|open| tokens.is_word(tokens.before(open), function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_that_the_parser_does_not_know_are_shown_in_one_that_it_knows() {
        use Dialect::{MySql, Postgres, Sqlite};
        let understood = [
            (Postgres, "TABLE orders ORDER BY id"),
            (Postgres, "SELECT a BETWEEN SYMMETRIC 3 AND 1 FROM t WHERE b ISNULL OR c NOTNULL"),
            (Postgres, "SELECT TRIM(TRAILING FROM a), TRIM(FROM a), SUBSTRING(a SIMILAR 'x' ESCAPE '#') FROM t"),
            (Postgres, "SELECT concat_ws(',', VARIADIC ARRAY['a','b'])"),
            (Postgres, "SELECT xmlelement(name foo, 'x')"),
            (Postgres, "SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t"),
            (Postgres, "SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM t"),
            (Postgres, "SELECT * FROM a JOIN b USING (id, \"x\") AS j WHERE j.id = 1"),
            (Postgres, "SELECT (c).* FROM t"),
            (Postgres, "SELECT a FROM t GROUP BY DISTINCT ROLLUP (a), ROLLUP (b)"),
            (MySql, "SELECT EXTRACT(YEAR_MONTH FROM a), b + INTERVAL '1:30' HOUR_MINUTE FROM t"),
            (MySql, "SELECT a SOUNDS LIKE 'b', CHAR(77 USING utf8mb4), ! a, CAST(a AS CHAR CHARACTER SET utf8mb4) FROM t"),
            (MySql, "TABLE t LIMIT 3"),
            (Sqlite, "SELECT a NOT GLOB 'x*' FROM t"),
            (Sqlite, "WITH x AS NOT MATERIALIZED (SELECT 1), y AS MATERIALIZED (SELECT 2) SELECT * FROM x, y"),
        ];
        for (dialect, text) in understood {
            let shown = whole(text, dialect).unwrap();
            assert_eq!(shown::parse(&shown, dialect).map(|statements| statements.len()), Ok(1), "{text} was shown as {shown}");
        }
        let untouched = [
            (Postgres, "SELECT symmetric, a.isnull, b AS notnull, name FROM t"),
            (Postgres, "DELETE FROM a USING b AS c WHERE c.id = a.id"),
            (Postgres, "SELECT * FROM a JOIN (b) AS c ON true"),
            (MySql, "SELECT hour_minute, a AS day_hour, t.year_month, a != b, sounds FROM t"),
            (Sqlite, "SELECT a GLOB 'b', materialized FROM t"),
        ];
        for (dialect, text) in untouched {
            assert_eq!(whole(text, dialect).unwrap(), text);
        }
    }

    fn all_shown(text: &str, dialect: Dialect) -> String {
        whole(text, dialect).unwrap_or_else(|unread| format!("{unread:?}"))
    }

    #[test]
    fn each_token_has_one_spelling() {
        use Dialect::{ClickHouse, MySql, Postgres, Sqlite};
        for (dialect, text, expected) in [
            (Postgres, "SELECT 1 -- a\r , 2/* b /* c */ */FROM t", "SELECT 1   , 2 FROM t"),
            (Postgres, r"E'it\'s' U&'d\0061t' N'n' $a$it's$a$", "'it''s' 'dat' 'n' 'it''s'"),
            (Postgres, "E'a'\n'\\'b' , 'c'", "'a''b'  , 'c'"),
            (Postgres, "E'a'\n'b' /**/\n'c'", "'ab'    'c'"),
            (Postgres, r#"U&"\0061b" "c""d""#, r#""ab" "c""d""#),
            (Postgres, r"'a\' X'0f'", r"'a\' X'0f'"),
            (MySql, r#""it's" 'a\'b' 'c\\' "d""e" `f``g`"#, r#"'it''s' 'a''b' 'c\\' 'd"e' `f``g`"#),
            (MySql, "1--1 # a\n", "1- -1   "),
            (MySql, "\"a\"'b'", "'a' 'b'"),
            (Sqlite, "[a][b]", "`a` `b`"),
            (Sqlite, "[a`b] \"c\" `d` 'e\\'", "`a``b` \"c\" `d` 'e\\'"),
            (ClickHouse, r#"'a\'b' "c\"d" $$e'f$$"#, "'a''b'\n\"c\"\"d\"\n'e''f'"),
        ] {
            assert_eq!(all_shown(text, dialect), expected, "{dialect:?} {text}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_it_was_meant() {
        let mut seed = 11_u64;
        let shards = [
            "'", "''", "\"", "`", "[", "]", "--", "-", "/*", "*/", "#", "$", "$$", "$t$", "\\", "\\'", "E'", "N'", "U&'", "U&\"", "x'",
            "\n", "\r", " ", "a", "1", ",", "@", ":", "é", "_utf8", "?", "|", "=", "%", ".", "{", "}", "!",
        ];
        let mut alike = 0;
        for round in 0..20_000 {
            let text: String = (0..2 + round % 14)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    shards[(seed >> 33) as usize % shards.len()]
                })
                .collect();
            for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::MySql, Dialect::ClickHouse] {
                let Ok(all) = lex::lex(&text, dialect) else { continue };
                let shown = all_shown(&text, dialect);
                // The same tokens again, blanks and comments aside; a literal may have taken in what continues it.
                let again = match lex::lex(&shown, dialect) {
                    Ok(again) => again,
                    // The parser knows no backslash in a name, so the text is not judged.
                    Err(_) if dialect == Dialect::ClickHouse && text.contains('\\') => continue,
                    Err(unread) => panic!("{dialect:?} {text:?} became {shown:?}: {unread:?}"),
                };
                let count = |tokens: &[lex::Token]| {
                    let is_counted = |kind: &Kind| {
                        !matches!(kind, Kind::Space | Kind::Comment { .. } | Kind::Sign(_) | Kind::Literal { continues: true, .. })
                    };
                    tokens.iter().filter(|token| is_counted(&token.kind)).count()
                };
                assert_eq!(count(&again), count(&all), "{dialect:?} {text:?} became {shown:?}");
                alike += usize::from(shown::is_read_alike(&shown, dialect));
            }
        }
        assert!(alike > 10_000, "only {alike} are read alike");
    }
}
