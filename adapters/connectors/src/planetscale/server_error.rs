//! What PlanetScale says when a statement fails: a sentence of Vitess, in which MySQL's number
//! stands, and a code of gRPC.
//!
//! `target: shop.-.primary: vttablet: rpc error: code = AlreadyExists desc = Duplicate entry '7' for key 't.PRIMARY' (errno 1062) (sqlstate 23000) (CallerID: me): Sql: "insert …", BindVars: {REDACTED}`
//!
//! MySQL's own words are in the middle of it, and a caller's value may be in them. What Vitess
//! itself wrote stands before and behind them: the code before, the number behind. Only where both
//! agree is a statement sent again.

use millrace_core::{Error, ErrorKind, ErrorParts};

use crate::{
    mysql_text::{NO_TABLE, ServerError, of_statement},
    shared::{Execution, ReadOnly, StatementFailure, timed_out},
};

/// What Vitess begins a sentence with where a tablet said it.
const OF_TABLETS: [&str; 3] = ["target: ", "vttablet: ", "rpc error: "];
const CODE: &str = "rpc error: code = ";
/// What comes behind MySQL's words and number.
const CALLER: &str = "(CallerID: ";

/// A statement that failed. `code` is that of the answer, which may know less than the sentence.
pub(super) fn of(code: &str, message: &str, read_only: ReadOnly) -> StatementFailure {
    let is_of_tablet = OF_TABLETS.iter().any(|start| message.starts_with(start));
    let told = message.split_once(CODE).filter(|_| is_of_tablet).and_then(|(_, rest)| rest.split([' ', ':']).next());
    let code = plain(told.unwrap_or(code));
    let said = message.rsplit_once(CALLER).map_or(message, |(said, _)| said);
    let words = said.split_once(" desc = ").filter(|_| is_of_tablet).map_or(said, |(_, words)| words);
    let mut found: Vec<ServerError> = errors(words);
    let fitting = found.iter().rposition(|error| fits(&code, of_statement(error, read_only).error.kind));
    if let Some(at) = fitting {
        let error = found.swap_remove(at);
        return of_mysql(&code, &error, words, read_only);
    }
    of_vitess(&code, words)
}

/// `ALREADY_EXISTS`, `AlreadyExists` and `already_exists` are one.
fn plain(code: &str) -> String {
    code.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Each `(errno 1062) (sqlstate 23000)` with the words before it.
fn errors(words: &str) -> Vec<ServerError> {
    let mut found = Vec::new();
    for (at, mark) in words.match_indices("(errno ") {
        let Some((number, rest)) = words[at + mark.len()..].split_once(')') else { continue };
        let Ok(number) = number.parse() else { continue };
        let state = rest.strip_prefix(" (sqlstate ").and_then(|rest| rest.split_once(')')).map_or("", |(state, _)| state);
        found.push(ServerError { number, state: state.to_owned(), words: words[..at].trim_end().to_owned() });
    }
    found
}

/// Whether what a number means can be what a code says.
fn fits(code: &str, kind: ErrorKind) -> bool {
    use ErrorKind::{Busy, Configuration, Constraint, Denied, Syntax, TimedOut, TooLarge, Unavailable};
    match code {
        "alreadyexists" => matches!(kind, Constraint | Syntax),
        "notfound" => matches!(kind, Configuration | Syntax),
        "permissiondenied" => kind == Denied,
        // Whatever MySQL calls it.
        "unauthenticated" => false,
        "aborted" => kind == Busy,
        "resourceexhausted" => matches!(kind, Busy | TooLarge | Unavailable),
        "deadlineexceeded" | "canceled" | "cancelled" => matches!(kind, Busy | TimedOut | Unavailable),
        "unavailable" => matches!(kind, Busy | Unavailable),
        "invalidargument" | "unimplemented" | "outofrange" | "failedprecondition" => !matches!(kind, Busy | TimedOut | Unavailable),
        _ => true,
    }
}

/// What MySQL said.
fn of_mysql(code: &str, said: &ServerError, words: &str, read_only: ReadOnly) -> StatementFailure {
    let StatementFailure { error, outcome } = of_statement(said, read_only);
    if error.kind == ErrorKind::Unavailable && is_of_deadline(words) {
        return StatementFailure::unknown(out_of_time(error));
    }
    // Those are what Vitess makes of a deadlock, of too many connections, and of a lock that was
    // waited for.
    let is_sure = matches!(code, "aborted" | "resourceexhausted" | "deadlineexceeded");
    match outcome {
        Execution::NotExecuted if !is_sure => StatementFailure::last(error),
        outcome => StatementFailure { error, outcome },
    }
}

/// The same error, as one of the deadline.
fn out_of_time(error: Error) -> Error {
    let ErrorParts { kind, message, .. } = timed_out().into_parts();
    error.with_kind(kind).with_message(message)
}

fn is_of_deadline(words: &str) -> bool {
    words.contains("deadline exceeded")
}

/// What no MySQL said.
fn of_vitess(code: &str, words: &str) -> StatementFailure {
    use ErrorKind::{Busy, Constraint, Credentials, Data, Denied, Protocol, Syntax, TooLarge, Unavailable};
    let error = |kind, message: &str| {
        let number = if code == "notfound" && words.contains("table") { NO_TABLE } else { 0 };
        ServerError { number, state: code.to_owned(), words: words.to_owned() }.error(kind, message)
    };
    let last = |kind, message: &str| StatementFailure::last(error(kind, message));
    match code {
        _ if words.contains("row count exceeded") || words.contains("Row count exceeded") => {
            last(TooLarge, "the statement or its result has more rows than PlanetScale allows")
        }
        "invalidargument" | "unimplemented" => last(Syntax, "PlanetScale does not understand the statement"),
        "notfound" => last(Syntax, "PlanetScale does not understand the statement: a table or a column is missing"),
        "alreadyexists" => last(Constraint, "a constraint of the database refused the change"),
        "outofrange" => last(Data, "MySQL refused a value or the result of a computation"),
        "permissiondenied" => last(Denied, "the user of the adapter may not do what the statement does"),
        "unauthenticated" => last(Credentials, "PlanetScale does not accept the user or the password"),
        "failedprecondition" => last(Denied, "PlanetScale does not run the statement in the state that the database is in"),
        "resourceexhausted" => last(Busy, "PlanetScale has no connection or transaction left"),
        "aborted" => last(Unavailable, "PlanetScale ended the transaction"),
        "deadlineexceeded" | "canceled" | "cancelled" if is_of_deadline(words) => {
            StatementFailure::unknown(out_of_time(error(Unavailable, "")))
        }
        "deadlineexceeded" | "canceled" | "cancelled" => StatementFailure::unknown(error(Unavailable, "PlanetScale ended the statement")),
        "unavailable" | "clusterevent" => StatementFailure::unknown(error(Unavailable, "the database is not available")),
        _ => StatementFailure::unknown(error(Protocol, "PlanetScale failed in an unexpected way")),
    }
}

#[cfg(test)]
mod tests {
    use ErrorKind::{Busy, Constraint, Credentials, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};

    use super::*;
    use crate::mysql_text::number_of;

    fn sentence(code: &str, words: &str) -> String {
        format!(
            "target: shop.-.primary: vttablet: rpc error: code = {code} desc = {words} (CallerID: me): Sql: \"insert\", BindVars: {{REDACTED}}"
        )
    }

    #[test]
    fn mysqls_errors_are_found_in_the_sentence() {
        for (code, words, kind, outcome, number) in [
            ("AlreadyExists", "Duplicate entry 'x' for key 't.mail' (errno 1062) (sqlstate 23000)", Constraint, Execution::Final, 1062),
            ("NotFound", "Table 'shop.x' doesn't exist (errno 1146) (sqlstate 42S02)", Syntax, Execution::Final, 1146),
            ("InvalidArgument", "Incorrect date (errno 1292) (sqlstate 22007)", Data, Execution::Final, 1292),
            ("PermissionDenied", "INSERT command denied (errno 1142) (sqlstate 42000)", Denied, Execution::Final, 1142),
            ("Aborted", "Deadlock found (errno 1213) (sqlstate 40001)", Busy, Execution::NotExecuted, 1213),
            ("DeadlineExceeded", "Lock wait timeout exceeded (errno 1205) (sqlstate HY000)", Busy, Execution::NotExecuted, 1205),
            ("Unknown", "Deadlock found (errno 1213) (sqlstate 40001)", Busy, Execution::Final, 1213),
            ("DeadlineExceeded", "interrupted (errno 3024) (sqlstate HY000)", TimedOut, Execution::Final, 3024),
            (
                "Canceled",
                "(errno 2013) due to context deadline exceeded, elapsed time: 15m0s, killing query ID 7",
                TimedOut,
                Execution::Unknown,
                2013,
            ),
            ("Unavailable", "gone (errno 2006) (sqlstate HY000)", Unavailable, Execution::Unknown, 2006),
            // A value that reads like an error is none.
            (
                "AlreadyExists",
                "Duplicate entry '(errno 1213) (sqlstate 40001) (CallerID: me)' for key 't.mail' (errno 1062) (sqlstate 23000)",
                Constraint,
                Execution::Final,
                1062,
            ),
            (
                "AlreadyExists",
                "Duplicate entry 'rpc error: code = Aborted desc = x (errno 1213)' for key 't.mail' (errno 1062) (sqlstate 23000)",
                Constraint,
                Execution::Final,
                1062,
            ),
            ("AlreadyExists", "Duplicate entry '(errno 1213) (sqlstate 40001)'", Constraint, Execution::Final, 0),
        ] {
            let StatementFailure { error, outcome: found } = of("UNKNOWN", &sentence(code, words), ReadOnly::Database);
            assert_eq!((error.kind, found), (kind, outcome), "{words}");
            assert_eq!(number_of(&error), Some(number), "{words}");
        }
        let error = of(
            "UNKNOWN",
            &sentence("AlreadyExists", "Duplicate entry 'x' for key 't.mail' (errno 1062) (sqlstate 23000)"),
            ReadOnly::Database,
        )
        .error;
        assert_eq!(error.message, "a UNIQUE constraint refused the change: `t.mail`");
    }

    #[test]
    fn vitess_has_errors_of_its_own() {
        for (code, words, kind, outcome) in [
            ("INVALID_ARGUMENT", "syntax error at position 8 near 'FORM'", Syntax, Execution::Final),
            ("UNIMPLEMENTED", "VT12001: unsupported: Assignment expression", Syntax, Execution::Final),
            ("NOT_FOUND", "table 'x' not found", Syntax, Execution::Final),
            ("RESOURCE_EXHAUSTED", "transaction pool connection limit exceeded", Busy, Execution::Final),
            ("UNKNOWN", "Row count exceeded 100000", TooLarge, Execution::Final),
            ("ABORTED", "transaction 7: in use: for tx killer rollback", Unavailable, Execution::Final),
            ("DEADLINE_EXCEEDED", "context deadline exceeded", TimedOut, Execution::Unknown),
            ("unauthenticated", "invalid authorization credentials", Credentials, Execution::Final),
            ("UNAVAILABLE", "no healthy tablet available", Unavailable, Execution::Unknown),
            ("", "", Protocol, Execution::Unknown),
        ] {
            let failure = of(code, words, ReadOnly::Database);
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{code} {words}");
        }
    }
}
