//! A look at a statement before it is sent. What is refused, and why:
//! [`millrace_languages::sqlite::judge`].

use millrace_core::{Error, ErrorKind, Result};
use millrace_languages::sqlite::{
    judge,
    token::{Token, known_tokens},
};

use crate::shared::{Effect, not_sent};

/// Looks at a statement.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for no statement, more than one, or a NUL character;
/// [`Denied`](ErrorKind::Denied) for what is not run.
pub(crate) fn check(text: &str, connector: &str) -> Result<Effect> {
    nul(text)?;
    let judged = judge(text).map_err(|refusal| not_sent(connector, &refusal))?;
    Ok(Effect { reads: judged.reads, returns: judged.returns })
}

/// Whether SQLite counts the rows that a statement changes; after any other, its count is still
/// that of the statement before.
pub(crate) fn changes_rows(text: &str) -> bool {
    let first = known_tokens(text).map(|(token, _)| token).find(|token| *token != Token::Semicolon);
    first.is_some_and(|first| ["INSERT", "REPLACE", "UPDATE", "DELETE", "WITH"].into_iter().any(|word| first.is(word)))
}

/// Whether a statement has `MATCH`: what it is compared with is a query of a full-text search.
pub(crate) fn searches(text: &str) -> bool {
    known_tokens(text).any(|(token, _)| token.is("MATCH"))
}

/// A statement without the semicolons that end it, and without what comments follow them: not every
/// server takes those.
pub(crate) fn before_end(text: &str) -> &str {
    let mut end = None;
    for (token, range) in known_tokens(text) {
        end = if token == Token::Semicolon { end.or(Some(range.start)) } else { None };
    }
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Refuses a NUL character, where databases end a text and leave the rest out.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax).
pub(crate) fn nul(text: &str) -> Result<()> {
    if text.contains('\0') { Err(syntax("the statement contains a NUL character")) } else { Ok(()) }
}

fn syntax(message: &str) -> Error {
    Error::new(ErrorKind::Syntax, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_is_told_from_what_writes() {
        let reads = [
            "SELECT 1",
            "  select 'a;b', \";\", `;`, [;] -- ; and more",
            ";;/* ; */ VALUES (1);",
            "SELECT 'it''s; DELETE' /* ; DELETE */",
            "WITH a AS (DELETE), b(c) AS NOT MATERIALIZED (SELECT ')') SELECT * FROM a",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) VALUES (1)",
            "EXPLAIN DELETE FROM t",
            "explain query plan INSERT INTO t VALUES (1)",
            "PRAGMA table_info(t)",
            "PRAGMA main.table_info = t",
            "pragma user_version",
            "SELECT name, 'pragma_database_list' FROM pragma_table_info('t')",
            "SELECT temp.v, load_extension FROM temp",
        ];
        for text in reads {
            assert_eq!(check(text, "libsql"), Ok(Effect { reads: true, returns: true }), "{text}");
        }
        let writes = [
            "INSERT INTO t VALUES ('; SELECT')",
            "WITH a AS (SELECT 1) DELETE FROM t",
            "WITH a AS (SELECT 1), replace AS (SELECT 2) SELECT 1",
            "WITH a AS (SELECT (1)) UPDATE t SET v = 1 RETURNING (SELECT 1)",
            "REPLACE INTO t SELECT 1",
            "CREATE TABLE t (v)",
            "CREATE TABLE temp (v)",
            "DROP TABLE t;",
            "REINDEX",
            "CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM t; END;",
            "\u{e9}SELECT 1",
        ];
        for text in writes {
            let returns = text.contains("RETURNING");
            assert_eq!(check(text, "libsql"), Ok(Effect { reads: false, returns }), "{text}");
        }
    }

    #[test]
    fn a_search_has_match_outside_of_quotes_and_comments() {
        for text in [
            "SELECT * FROM docs WHERE docs match ?1",
            "SELECT 1 WHERE a/**/MATCH'x'",
            "DELETE FROM t WHERE id IN (SELECT id FROM d WHERE d MATCH ?)",
        ] {
            assert!(searches(text), "{text}");
        }
        for text in ["SELECT 'a MATCH b'", "SELECT matched, \"match\" FROM t -- MATCH", "SELECT 1 /* MATCH */", ""] {
            assert!(!searches(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_ordinary_statement_is_refused() {
        let cases = [
            ("", ErrorKind::Syntax, "the query contains no statement"),
            (" ; -- x", ErrorKind::Syntax, "the query contains no statement"),
            ("SELECT 1; DROP TABLE t", ErrorKind::Syntax, "the query contains more than one statement"),
            ("SELECT '\\'; DROP TABLE t; --'", ErrorKind::Syntax, "the query contains more than one statement"),
            (
                "CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; END; DROP TABLE t",
                ErrorKind::Syntax,
                "the query contains more than one statement",
            ),
            ("SELECT 1\0; DROP TABLE t", ErrorKind::Syntax, "the statement contains a NUL character"),
            ("SELECT 1 /* unclosed", ErrorKind::Syntax, "the statement cannot be sent: the comment in it is not closed"),
            ("SELECT\u{a0}1", ErrorKind::Syntax, "the statement cannot be sent: the character U+00A0 is outside of quotes and comments"),
            ("BEGIN IMMEDIATE", ErrorKind::Denied, "connector `d1` does not run `BEGIN`"),
            ("/**/ commit", ErrorKind::Denied, "connector `d1` does not run `COMMIT`"),
            ("EXPLAIN ATTACH 'x' AS y", ErrorKind::Denied, "connector `d1` does not run `ATTACH`"),
            ("VACUUM INTO 'x'", ErrorKind::Denied, "connector `d1` does not run `VACUUM`"),
            ("CREATE TEMP TABLE t (v)", ErrorKind::Denied, "connector `d1` does not run `CREATE TEMP`"),
            ("PRAGMA user_version = 7", ErrorKind::Denied, "connector `d1` does not run `PRAGMA user_version`"),
            ("PRAGMA main.\"journal_mode\"(off)", ErrorKind::Denied, "connector `d1` does not run `PRAGMA journal_mode`"),
            ("PRAGMA wal_checkpoint", ErrorKind::Denied, "connector `d1` does not run `PRAGMA wal_checkpoint`"),
            ("CREATE TABLE IF NOT EXISTS \"temp\".t (v)", ErrorKind::Denied, "connector `d1` does not run `CREATE TEMP`"),
            ("create virtual table Temp.t USING fts5(v)", ErrorKind::Denied, "connector `d1` does not run `CREATE TEMP`"),
            ("SELECT load_extension ('x')", ErrorKind::Denied, "connector `d1` does not run `load_extension`"),
            ("SELECT * FROM main.[pragma_database_list]", ErrorKind::Denied, "connector `d1` does not run `PRAGMA database_list`"),
        ];
        for (text, kind, message) in cases {
            assert_eq!(check(text, "d1"), Err(Error::new(kind, message)), "{text:?}");
        }
    }
}
