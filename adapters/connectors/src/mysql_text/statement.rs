//! A look at a statement before it is sent. What is refused, and why:
//! [`millrace_languages::mysql::judge`].

use millrace_core::{Error, ErrorKind};
use millrace_languages::mysql::{Judged, judge};

use crate::shared::{ReadOnly, not_sent};

/// Looks at a statement that a connector is to run.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a NUL character, for no statement and for a second one;
/// [`Denied`](ErrorKind::Denied) for what is not sent.
pub(crate) fn check<'a>(connector: &str, text: &'a str, read_only: ReadOnly) -> millrace_core::Result<Judged<'a>> {
    examine(connector, text, read_only, false)
}

/// The same for a step of a transaction, which may ask for the number that a step before it was
/// given.
///
/// # Errors
/// As [`check`]; and [`Denied`](ErrorKind::Denied) for what would be committed before the end.
pub(crate) fn check_step<'a>(connector: &str, text: &'a str, read_only: ReadOnly) -> millrace_core::Result<Judged<'a>> {
    in_transaction(connector, examine(connector, text, read_only, true)?, "in a `transaction`")
}

/// Refuses what would be committed before its record.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied).
pub(crate) fn in_transaction<'a>(connector: &str, judged: Judged<'a>, with: &str) -> millrace_core::Result<Judged<'a>> {
    match judged.commits() {
        Some(word) => {
            let message = format!("connector `{connector}` does not run `{word}` {with}, because MySQL commits it by itself");
            Err(Error::new(ErrorKind::Denied, message))
        }
        None => Ok(judged),
    }
}

fn examine<'a>(connector: &str, text: &'a str, read_only: ReadOnly, may_ask_for_inserted: bool) -> millrace_core::Result<Judged<'a>> {
    if text.contains('\0') {
        return Err(Error::new(ErrorKind::Syntax, "the statement contains a NUL character"));
    }
    let judged = judge(text, may_ask_for_inserted).map_err(|refusal| not_sent(connector, &refusal))?;
    if read_only.is_demanded() && !judged.may_read() { Err(read_only.refuse()) } else { Ok(judged) }
}

#[cfg(test)]
mod tests {
    use millrace_languages::mysql::asks_for_inserted;

    use super::*;

    fn said(text: &str, read_only: ReadOnly) -> String {
        match check("mysql", text, read_only) {
            Ok(checked) if checked.leaves_traces => "traces".to_owned(),
            Ok(_) => String::new(),
            Err(error) => error.into_parts().message,
        }
    }

    #[test]
    fn a_step_asks_for_what_an_earlier_one_inserted() {
        for text in ["SELECT LAST_INSERT_ID()", "insert into t values (last_insert_id())", "SELECT `LAST_INSERT_ID`()"] {
            assert!(check("mysql", text, ReadOnly::Database).is_err(), "{text}");
            assert!(check_step("mysql", text, ReadOnly::Database).is_ok() && asks_for_inserted(text), "{text}");
        }
        for text in ["SELECT ROW_COUNT()", "SELECT @@last_insert_id", "SELECT FOUND_ROWS()", "CREATE TABLE t (a int)", "CALL p()", "COMMIT"]
        {
            assert!(check_step("mysql", text, ReadOnly::Database).is_err(), "{text}");
        }
        assert!(!asks_for_inserted("SELECT 'LAST_INSERT_ID()'"));
    }

    #[test]
    fn what_leaves_something_behind_is_refused() {
        let refused = |word: &str| format!("connector `mysql` does not run `{word}`");
        let of_another = |what: &str| format!("connector `mysql` does not run `{what}`: the statement before it was another call's");
        let cases = [
            ("BEGIN", refused("BEGIN")),
            (" ;\n-- x\n# y\n/* z */ begin work", refused("BEGIN")),
            ("SET @a = 1", refused("SET")),
            ("xa start 'x'", refused("XA")),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", refused("LOAD")),
            ("CREATE TEMPORARY TABLE t (v int)", refused("CREATE TEMPORARY")),
            ("create or replace temporary table t (v int)", refused("CREATE TEMPORARY")),
            ("CREATE TABLE t (temporary int)", String::new()),
            ("SELECT 1 INTO OUTFILE '/tmp/x'", refused("INTO OUTFILE")),
            ("SELECT 'INTO OUTFILE', `outfile`, \"DUMPFILE\"", String::new()),
            ("SELECT /*! 1 */", "connector `mysql` does not run the text of a comment, `/*! … */`".to_owned()),
            ("SELECT /*M!100100 1 */", "connector `mysql` does not run the text of a comment, `/*! … */`".to_owned()),
            ("SELECT /*T![auto_rand] 1 */", "connector `mysql` does not run the text of a comment, `/*! … */`".to_owned()),
            ("SELECT '/*! 1 */' -- /*! x */\n + 1 # /*! y */", String::new()),
            ("SELECT 1--1", String::new()),
            ("SELECT 1; SELECT 2", "the query contains more than one statement".to_owned()),
            ("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", String::new()),
            ("SELECT ';', 'it\\'s; x', 'a'';b' ; -- SELECT 2\n;", String::new()),
            ("SELECT 'open", "the statement cannot be sent: the literal in it is not closed".to_owned()),
            ("SELECT\u{a0}1", "the statement cannot be sent: the character U+00A0 is outside of quotes and comments".to_owned()),
            ("SELECT $$ 1 $$", "the statement cannot be sent: versions of the database read it differently".to_owned()),
            ("", "the query contains no statement".to_owned()),
            ("-- nothing\n;", "the query contains no statement".to_owned()),
            ("(SELECT 1)", String::new()),
            ("SELECT 1\0", "the statement contains a NUL character".to_owned()),
            (
                "SELECT last_insert_id ()",
                "connector `mysql` does not run `LAST_INSERT_ID()`: the statement before it was another call's".to_owned(),
            ),
            ("SELECT last_insert_id FROM t", String::new()),
            ("EXPLAIN FORMAT=JSON SELECT * FROM t WHERE id = LAST_INSERT_ID()", String::new()),
            ("EXPLAIN ANALYZE SELECT LAST_INSERT_ID()", of_another("LAST_INSERT_ID()")),
            ("SELECT `LAST_INSERT_ID`(1)", of_another("LAST_INSERT_ID()")),
            ("SELECT lastval(s)", of_another("LASTVAL()")),
            ("SELECT @@identity", of_another("@@identity")),
            ("SELECT 1 + @@ session . `Last_Insert_Id`", of_another("@@last_insert_id")),
            ("SELECT @@local.warning_count", of_another("@@warning_count")),
            ("SELECT @@error_count", of_another("@@error_count")),
            ("SELECT @@sql_mode AS identity, t.identity FROM t", String::new()),
            ("SELECT previous /**/ value for s", of_another("PREVIOUS VALUE FOR")),
            ("SELECT previous previous, value FROM t FOR UPDATE", String::new()),
            ("FLUSH TABLES WITH READ LOCK", refused("FLUSH")),
            ("BACKUP STAGE START", refused("BACKUP")),
            ("show warnings limit 1", refused("SHOW WARNINGS")),
            ("SHOW ERRORS", refused("SHOW ERRORS")),
            ("SHOW COUNT(*) WARNINGS", refused("SHOW COUNT")),
            ("SELECT @a := 1", "traces".to_owned()),
            ("SELECT @`a`", "traces".to_owned()),
            ("SELECT @@version, @@session.sql_mode", String::new()),
            ("SELECT GET_LOCK('x', 1)", "traces".to_owned()),
            ("SELECT `get_lock` ('x', 1)", "traces".to_owned()),
            ("SELECT `get_lock`, 'get_lock' ('x') FROM t", String::new()),
            ("CALL p()", "traces".to_owned()),
            ("a: LOOP SELECT 1; END LOOP", "connector `mysql` does not run labels".to_owned()),
            ("SETTLE", String::new()),
            ("WITH a AS (SELECT 1) SELECT * FROM a", String::new()),
            ("SELECT IF(1, 2, 3)", String::new()),
        ];
        for (text, expected) in cases {
            assert_eq!(said(text, ReadOnly::Database), expected, "{text}");
        }
        for (text, reads) in [("call p()", false), ("/**/ (select 1)", true), ("ANALYZE TABLE t", false), ("SHOW TABLES", true)] {
            for read_only in [ReadOnly::Adapter, ReadOnly::Tool] {
                assert_eq!(said(text, read_only), if reads { "" } else { read_only.refusal() }, "{text}");
            }
        }
    }

    #[test]
    fn a_transaction_takes_what_it_can_undo() {
        for text in ["CREATE TABLE t (v int)", "(drop table t)", "CALL p()"] {
            assert!(in_transaction("mysql", check("mysql", text, ReadOnly::Database).unwrap(), "here").is_err(), "{text}");
        }
        assert!(in_transaction("mysql", check("mysql", "INSERT INTO t VALUES (1)", ReadOnly::Database).unwrap(), "here").is_ok());
    }
}
