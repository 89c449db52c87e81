//! A look at a statement: what would outlive its call on the connection is not sent, or the
//! connection is not used again.
//!
//! The statement is cut as the server cuts it with the `sql_mode` of the session: a backslash
//! escapes, and text stands in either quotes. Whether a statement writes is the server's to see, in
//! a transaction that only reads; what ends that is not sent for a read-only adapter.

use millrace_core::{Error, ErrorKind};
use millrace_languages::{
    lex::{self, Kind, Unread},
    mysql::MySql,
    pieces::Pieces,
};

use crate::shared::ReadOnly;

/// Statements that need a connection of their own, leave something on it, or move files between
/// server and client. MariaDB also runs the words that control a procedure.
const REFUSED: [&str; 44] = [
    "BACKUP",
    "BEGIN",
    "BINLOG",
    "CACHE",
    "CHANGE",
    "CLONE",
    "COMMIT",
    "CREATE TEMPORARY",
    "DEALLOCATE",
    "DECLARE",
    "DROP TEMPORARY",
    "EXECUTE",
    "FLUSH",
    "FOR",
    "GET",
    "HANDLER",
    "IF",
    "INSTALL",
    "ITERATE",
    "KILL",
    "LEAVE",
    "LOAD",
    "LOCK",
    "LOOP",
    "PREPARE",
    "RELEASE",
    "REPEAT",
    "RESET",
    "RESIGNAL",
    "ROLLBACK",
    "SAVEPOINT",
    "SET",
    "SHOW COUNT",
    "SHOW ERRORS",
    "SHOW WARNINGS",
    "SHUTDOWN",
    "SIGNAL",
    "START",
    "STOP",
    "UNINSTALL",
    "UNLOCK",
    "USE",
    "WHILE",
    "XA",
];
/// What says something of the statement before, which was another call's.
const OF_ANOTHER_CALL: [&str; 4] = ["FOUND_ROWS", "LASTVAL", INSERTED, "ROW_COUNT"];
/// Which of it a step of a transaction may ask for, because the statement before is the
/// transaction's.
const INSERTED: &str = "LAST_INSERT_ID";
/// Settings that say the same.
const SETTINGS_OF_ANOTHER_CALL: [&str; 4] = ["error_count", "identity", "last_insert_id", "warning_count"];
/// And what MariaDB has for `LASTVAL()`.
const PREVIOUS: [&str; 3] = ["PREVIOUS", "VALUE", "FOR"];
/// What writes a file on the server.
const TO_FILE: [&str; 2] = ["DUMPFILE", "OUTFILE"];
/// What MySQL commits by itself, and all that came before it.
const COMMITS: [&str; 12] =
    ["ALTER", "ANALYZE", "CALL", "CHECK", "CREATE", "DROP", "GRANT", "OPTIMIZE", "RENAME", "REPAIR", "REVOKE", "TRUNCATE"];

/// What a read-only adapter sends. That it writes nothing all the same, a function for example, is
/// the server's to see; but that commits by itself what changes tables or rights, and a procedure
/// may begin a transaction of its own.
const READS: [&str; 9] = ["DESC", "DESCRIBE", "DO", "EXPLAIN", "SELECT", "SHOW", "TABLE", "VALUES", "WITH"];

/// What is known of a statement that may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checked<'a> {
    /// The connector that runs it.
    connector: &'static str,
    /// Its first word.
    first: &'a str,
    /// It may leave something on the connection, which is closed after it.
    pub(crate) leaves_traces: bool,
}

impl Checked<'_> {
    /// Whether it calls a procedure, whose statements may commit one by one.
    pub(crate) const fn calls(&self) -> bool {
        self.first.eq_ignore_ascii_case("CALL")
    }

    /// Refuses what would be committed before its record.
    ///
    /// # Errors
    /// [`Denied`](ErrorKind::Denied).
    pub(crate) fn in_transaction(self, with: &str) -> millrace_core::Result<Self> {
        match COMMITS.into_iter().find(|word| self.first.eq_ignore_ascii_case(word)) {
            Some(word) => {
                Err(denied(format!("connector `{}` does not run `{word}` {with}, because MySQL commits it by itself", self.connector)))
            }
            None => Ok(self),
        }
    }
}

/// Looks at a statement that a connector is to run.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a NUL character, for no statement and for a second one;
/// [`Denied`](ErrorKind::Denied) for what is not sent.
pub(crate) fn check<'a>(connector: &'static str, text: &'a str, read_only: ReadOnly) -> millrace_core::Result<Checked<'a>> {
    examine(connector, text, read_only, false)
}

/// The same for a step of a transaction, which may ask for the number that a step before it was
/// given.
///
/// # Errors
/// As [`check`]; and [`Denied`](ErrorKind::Denied) for what would be committed before the end.
pub(crate) fn check_step<'a>(connector: &'static str, text: &'a str, read_only: ReadOnly) -> millrace_core::Result<Checked<'a>> {
    examine(connector, text, read_only, true)?.in_transaction("in a `transaction`")
}

/// Whether a statement asks which number the last row got.
pub(crate) fn asks_for_inserted(text: &str) -> bool {
    contains_word(text, INSERTED)
}

fn examine<'a>(
    connector: &'static str,
    text: &'a str,
    read_only: ReadOnly,
    may_ask_for_inserted: bool,
) -> millrace_core::Result<Checked<'a>> {
    if text.contains('\0') {
        return Err(Error::new(ErrorKind::Syntax, "the statement contains a NUL character"));
    }
    // What is explained in this form does not run; `EXPLAIN ANALYZE` would.
    let may_ask_for_inserted = may_ask_for_inserted || text.starts_with("EXPLAIN FORMAT=JSON ");
    let mut examined = Examined { connector, may_ask_for_inserted, ..Examined::default() };
    let mut rest = text;
    while let Some(token) = token(&mut rest).map_err(|refusal| match refusal {
        Refusal::RunsComment => examined.refused("the text of a comment, `/*! … */`"),
        Refusal::Unread(unread) => Error::new(ErrorKind::Syntax, unread.of_statement()),
    })? {
        examined.take(token)?;
    }
    examined.finish(text, read_only)
}

/// What is known of a statement after some of its tokens.
#[derive(Default)]
struct Examined<'a> {
    connector: &'static str,
    may_ask_for_inserted: bool,
    first: &'a str,
    second: &'a str,
    /// How many there were, apart from parentheses before the first word.
    tokens: usize,
    ended: bool,
    leaves_traces: bool,
    last: Option<Token<'a>>,
    /// The token belongs to the name of a setting, `@@session.name`.
    in_setting: bool,
    /// How many of the words of `PREVIOUS` came last.
    previous: usize,
}

impl<'a> Examined<'a> {
    fn refused(&self, what: &str) -> Error {
        denied(format!("connector `{}` does not run {what}", self.connector))
    }

    fn of_another_call(&self, what: &str) -> Error {
        self.refused(&format!("`{what}`: the statement before it was another call's"))
    }

    fn take(&mut self, token: Token<'a>) -> millrace_core::Result<()> {
        // The body of a procedure has statements of its own; what is no body of one, the server
        // refuses.
        if self.ended && !matches!(token, Token::Sign(';')) && !self.first.eq_ignore_ascii_case("CREATE") {
            return Err(Error::new(ErrorKind::Syntax, "the query contains more than one statement"));
        }
        if matches!(token, Token::Sign(';')) {
            self.ended = self.tokens > 0;
            return Ok(());
        }
        let last = self.last.unwrap_or(Token::Sign(' '));
        self.look(token, last)?;
        if let Token::Word(word) = token
            && let Some(word) = TO_FILE.into_iter().find(|refused| refused.eq_ignore_ascii_case(word))
        {
            return Err(self.refused(&format!("`INTO {word}`")));
        }
        self.tokens += usize::from(!matches!(token, Token::Sign('(')));
        self.previous = match token {
            Token::Word(word) if PREVIOUS.get(self.previous).is_some_and(|next| next.eq_ignore_ascii_case(word)) => self.previous + 1,
            Token::Word(word) if word.eq_ignore_ascii_case(PREVIOUS[0]) => 1,
            _ => 0,
        };
        if self.previous == PREVIOUS.len() {
            return Err(self.of_another_call("PREVIOUS VALUE FOR"));
        }
        (self.in_setting, self.last) = match (token, last) {
            // `@@name` is a setting of the server.
            (Token::Sign('@'), Token::Sign('@')) => (true, None),
            (Token::Word(_) | Token::Name(_), Token::Sign(_)) | (Token::Sign('.'), _) => (self.in_setting, Some(token)),
            _ => (false, Some(token)),
        };
        Ok(())
    }

    /// Looks at a token and the one before it.
    fn look(&mut self, token: Token<'a>, last: Token<'a>) -> millrace_core::Result<()> {
        match (token, last) {
            // MariaDB's way to begin a block.
            (Token::Sign(':'), Token::Word(_)) if self.tokens == 1 => return Err(self.refused("labels")),
            // Before a statement may stand parentheses.
            (Token::Word(word), _) if self.first.is_empty() => self.first = word,
            (Token::Word(word), _) if self.second.is_empty() && self.tokens == 1 => self.second = word,
            (Token::Word(_) | Token::Name(_) | Token::Quoted, Token::Sign('@')) => self.leaves_traces = true,
            (Token::Word(name) | Token::Name(name), Token::Sign(_)) if self.in_setting => {
                if let Some(name) = SETTINGS_OF_ANOTHER_CALL.into_iter().find(|setting| setting.eq_ignore_ascii_case(name)) {
                    return Err(self.of_another_call(&format!("@@{name}")));
                }
            }
            // A function's name may stand in backticks.
            (Token::Sign('('), Token::Word(word) | Token::Name(word)) => {
                let is_refused = |name: &&str| name.eq_ignore_ascii_case(word) && !(self.may_ask_for_inserted && *name == INSERTED);
                if let Some(name) = OF_ANOTHER_CALL.into_iter().find(is_refused) {
                    return Err(self.of_another_call(&format!("{name}()")));
                }
                self.leaves_traces |= word.eq_ignore_ascii_case("GET_LOCK");
            }
            _ => {}
        }
        Ok(())
    }

    /// Looks at the whole of it.
    fn finish(self, text: &str, read_only: ReadOnly) -> millrace_core::Result<Checked<'a>> {
        let (first, second) = (self.first, self.second);
        if self.tokens == 0 {
            return Err(Error::new(ErrorKind::Syntax, "the query contains no statement"));
        }
        let is = |words: &&&str| {
            let (one, two) = words.split_once(' ').unwrap_or((words, ""));
            one.eq_ignore_ascii_case(first) && (two.is_empty() || two.eq_ignore_ascii_case(second))
        };
        if let Some(word) = REFUSED.iter().find(is) {
            return Err(self.refused(&format!("`{word}`")));
        }
        if first.eq_ignore_ascii_case("CREATE") && second.eq_ignore_ascii_case("OR") && contains_word(text, "TEMPORARY") {
            return Err(self.refused("`CREATE TEMPORARY`"));
        }
        if read_only.is_demanded() && !READS.iter().any(|word| first.eq_ignore_ascii_case(word)) {
            return Err(read_only.refuse());
        }
        let checked = Checked { connector: self.connector, first, leaves_traces: self.leaves_traces };
        Ok(Checked { leaves_traces: self.leaves_traces || checked.calls(), ..checked })
    }
}

fn contains_word(mut text: &str, word: &str) -> bool {
    while let Ok(Some(token)) = token(&mut text) {
        if matches!(token, Token::Word(found) | Token::Name(found) if found.eq_ignore_ascii_case(word)) {
            return true;
        }
    }
    false
}

/// Why the tokens of a statement are not looked at any further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The text of a comment is run.
    RunsComment,
    /// It cannot be cut.
    Unread(Unread),
}

/// Whether a statement calls a function, whose name may stand in backticks.
pub(crate) fn calls_function(mut text: &str, name: &str) -> bool {
    let mut is_name = false;
    while let Ok(Some(token)) = token(&mut text) {
        match token {
            Token::Sign('(') if is_name => return true,
            Token::Word(found) | Token::Name(found) => is_name = found.eq_ignore_ascii_case(name),
            _ => is_name = false,
        }
    }
    false
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A keyword, or a name without quotes.
    Word(&'a str),
    /// A name in backticks, without them.
    Name(&'a str),
    /// A text in quotes.
    Quoted,
    Sign(char),
}

/// Takes the next token; blanks and comments are passed over.
///
/// # Errors
/// It cannot be cut, or is a comment whose text would be run.
pub(crate) fn token<'a>(rest: &mut &'a str) -> Result<Option<Token<'a>>, Refusal> {
    let text = *rest;
    let mut pieces = Pieces::<MySql>::new(text);
    while let Some(piece) = pieces.next() {
        let lex::Token { kind, range } = piece.map_err(Refusal::Unread)?;
        *rest = pieces.rest();
        let found = text.get(range).unwrap_or_default();
        return Ok(Some(match kind {
            Kind::Space | Kind::Comment { executable: false } => continue,
            Kind::Comment { executable: true } => return Err(Refusal::RunsComment),
            Kind::Word => Token::Word(found),
            Kind::Quoted => Token::Name(found.trim_matches('`')),
            Kind::Literal { .. } => Token::Quoted,
            _ => Token::Sign(found.chars().next().unwrap_or(' ')),
        }));
    }
    *rest = "";
    Ok(None)
}

fn denied(message: String) -> Error {
    Error::new(ErrorKind::Denied, message)
}

#[cfg(test)]
mod tests {
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
            assert!(check("mysql", text, ReadOnly::Database).unwrap().in_transaction("here").is_err(), "{text}");
        }
        assert!(check("mysql", "INSERT INTO t VALUES (1)", ReadOnly::Database).unwrap().in_transaction("here").is_ok());
    }
}
