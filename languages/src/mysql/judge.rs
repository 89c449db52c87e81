//! A look at a statement: what would outlive its call on the connection is not sent, or the
//! connection is not used again.
//!
//! Whether a statement writes is the server's to see, in a transaction that only reads; what ends
//! that is not sent for a read-only adapter.

use core::ops::Range;

use alloc::format;

use super::token::{Token, contains_word, tokens};
use crate::refusal::{Refusal, Why, place};

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
pub struct Judged<'a> {
    /// Its first word.
    first: &'a str,
    /// It may leave something on the connection, which is closed after it.
    pub leaves_traces: bool,
}

impl Judged<'_> {
    /// Whether it calls a procedure, whose statements may commit one by one.
    #[must_use]
    pub const fn calls(&self) -> bool {
        self.first.eq_ignore_ascii_case("CALL")
    }

    /// The word by which MySQL commits it by itself, and all that came before it.
    #[must_use]
    pub fn commits(&self) -> Option<&'static str> {
        COMMITS.into_iter().find(|word| self.first.eq_ignore_ascii_case(word))
    }

    /// Whether a read-only adapter sends it.
    #[must_use]
    pub fn may_read(&self) -> bool {
        READS.iter().any(|word| self.first.eq_ignore_ascii_case(word))
    }
}

/// Judges a statement. `may_ask_for_inserted`: it is a step of a transaction, which may ask for the
/// number that a step before it was given.
///
/// # Errors
/// Why it is not sent.
pub fn judge(text: &str, may_ask_for_inserted: bool) -> Result<Judged<'_>, Refusal> {
    // What is explained in this form does not run; `EXPLAIN ANALYZE` would.
    let may_ask_for_inserted = may_ask_for_inserted || text.starts_with("EXPLAIN FORMAT=JSON ");
    let mut examined = Examined { may_ask_for_inserted, ..Examined::default() };
    for token in tokens(text) {
        let (token, range) = token?;
        examined.at = range;
        examined.take(token)?;
    }
    examined.finish(text)
}

/// Why no connector sends a statement.
pub(super) fn refusal(text: &str, is_step: bool) -> Option<Refusal> {
    let judged = match judge(text, is_step) {
        Ok(judged) => judged,
        Err(refusal) => return Some(refusal),
    };
    let word = judged.commits().filter(|_| is_step)?;
    let why = Why::NotRun(format!("`{word}` in a `transaction`, because MySQL commits it by itself"));
    Some(Refusal::new(why, place(text, judged.first)))
}

/// Whether a statement asks which number the last row got.
#[must_use]
pub fn asks_for_inserted(text: &str) -> bool {
    contains_word(text, INSERTED)
}

/// What is known of a statement after some of its tokens.
#[derive(Default)]
struct Examined<'a> {
    /// Where the token at hand is, and the first word.
    at: Range<usize>,
    begins: Range<usize>,
    /// Where the token before it is.
    last_at: Range<usize>,
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
    fn refused(&self, what: &str) -> Refusal {
        Refusal::new(Why::NotRun(what.into()), self.at.clone())
    }

    fn of_another_call(&self, what: &str) -> Refusal {
        self.refused(&format!("`{what}`: the statement before it was another call's"))
    }

    fn take(&mut self, token: Token<'a>) -> Result<(), Refusal> {
        // The body of a procedure has statements of its own; what is no body of one, the server
        // refuses.
        if self.ended && !matches!(token, Token::Sign(';')) && !self.first.eq_ignore_ascii_case("CREATE") {
            return Err(Refusal::new(Why::Second, self.at.clone()));
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
        self.last_at = self.at.clone();
        Ok(())
    }

    /// Looks at a token and the one before it.
    fn look(&mut self, token: Token<'a>, last: Token<'a>) -> Result<(), Refusal> {
        match (token, last) {
            // MariaDB's way to begin a block.
            (Token::Sign(':'), Token::Word(_)) if self.tokens == 1 => return Err(self.refused("labels")),
            // Before a statement may stand parentheses.
            (Token::Word(word), _) if self.first.is_empty() => (self.first, self.begins) = (word, self.at.clone()),
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
                    self.at = self.last_at.clone();
                    return Err(self.of_another_call(&format!("{name}()")));
                }
                self.leaves_traces |= word.eq_ignore_ascii_case("GET_LOCK");
            }
            _ => {}
        }
        Ok(())
    }

    /// Looks at the whole of it.
    fn finish(mut self, text: &str) -> Result<Judged<'a>, Refusal> {
        let (first, second) = (self.first, self.second);
        if self.tokens == 0 {
            return Err(Refusal::new(Why::Nothing, 0..text.len()));
        }
        // What is wrong is its beginning.
        self.at = self.begins.clone();
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
        let judged = Judged { first, leaves_traces: self.leaves_traces };
        Ok(Judged { leaves_traces: self.leaves_traces || judged.calls(), ..judged })
    }
}
