//! What ClickHouse says when it fails, by its
//! [code](https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp), which is
//! in a header field and in the text; and what a proxy before it says, by its status.
//!
//! Its own words, which may have values, are the source.

use millrace_core::{
    Error, ErrorKind,
    ports::{HttpResponse, Query},
};

use crate::shared::{StatementFailure, excerpt, timed_out};

/// What a message needs to know.
pub(super) struct Told<'a> {
    pub(super) host: &'a str,
    pub(super) query: &'a Query<'a>,
    /// The adapter's.
    pub(super) read_only: bool,
    pub(super) has_values: bool,
    /// The statement only reads.
    pub(super) reads: bool,
    /// The statement may write rows that a query gives, block after block.
    pub(super) selects: bool,
}

/// Looks whether a response is an answer.
///
/// # Errors
/// What the server or what stands before it said, and what that means for another attempt.
pub(super) fn check(response: &HttpResponse, told: &Told<'_>) -> Result<(), StatementFailure> {
    let text = || String::from_utf8_lossy(&response.body);
    let code = response.headers.first("x-clickhouse-exception-code").and_then(|digits| digits.parse().ok());
    match (response.status, code) {
        (_, Some(code)) => Err(of_code(code, &text(), told)),
        (200, None) => Ok(()),
        (status, None) => match code_in(&text()) {
            Some(code) => Err(of_code(code, &text(), told)),
            None => Err(of_status(status, &excerpt(&text()), told)),
        },
    }
}

/// What a line of an answer says of the statement's failure.
pub(super) fn of_text(text: &str, told: &Told<'_>) -> StatementFailure {
    code_in(text).map_or_else(|| broken("a failure without a code"), |code| of_code(code, text, told))
}

/// An answer that is none: the statement may have been executed.
pub(super) fn broken(what: &str) -> StatementFailure {
    StatementFailure::unknown(Error::new(ErrorKind::Protocol, "ClickHouse sent a response that is not understood").with_source(what))
}

/// `Code: 62. DB::Exception: …`
fn code_in(text: &str) -> Option<u32> {
    let rest = text.strip_prefix("Code: ")?;
    let (digits, rest) = rest.split_at(rest.find(|character: char| !character.is_ascii_digit())?);
    digits.parse().ok().filter(|_| rest.contains("DB::Exception") || rest.contains("Poco::Exception"))
}

fn of_code(code: u32, words: &str, told: &Told<'_>) -> StatementFailure {
    let (kind, message) = explain(code, words, told);
    let error = if kind == ErrorKind::TimedOut { timed_out() } else { Error::new(kind, message) };
    let words = if words.starts_with("Code: ") { words.to_owned() } else { format!("Code: {code}. {words}") };
    let error = error.with_source(excerpt(&words));
    let is_passed_on = words.contains("Received from");
    match code {
        // Before anything of it was done, unless another server of a cluster says it of its part.
        202 | 745 if !is_passed_on => StatementFailure::not_executed(error),
        // A part of the servers may have done its part, or will.
        202 | 209 | 210 | 236 | 279 | 319 | 745 | 999 => StatementFailure::unknown(error),
        _ if !told.reads && may_have_written(code, error.kind, &words, told) => StatementFailure::unknown(error),
        _ => StatementFailure::last(error),
    }
}

/// Whether a statement may have written something before it failed so. What is found when it is
/// read, analyzed or admitted comes before that.
fn may_have_written(code: u32, kind: ErrorKind, words: &str, told: &Told<'_>) -> bool {
    match kind {
        // The values of an `INSERT` are one block, which is written as a whole; views come after
        // it.
        ErrorKind::Constraint | ErrorKind::Data => code == 395 || told.selects || words.contains("while pushing to view"),
        ErrorKind::Syntax | ErrorKind::Denied | ErrorKind::Credentials | ErrorKind::Configuration => {
            words.contains("while pushing to view")
        }
        // Says of a write itself that its outcome is unknown.
        ErrorKind::TimedOut => false,
        // A form that is too large is not read.
        ErrorKind::TooLarge => code != 1000,
        _ => true,
    }
}

fn explain(code: u32, words: &str, told: &Told<'_>) -> (ErrorKind, String) {
    use ErrorKind::{Busy, Configuration, Constraint, Credentials, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    let query = told.query;
    let unclear = |why: &str| (Syntax, format!("ClickHouse does not understand the statement: {why}"));
    let data = || (Data, refused_value(code));
    match code {
        62 => unclear("its syntax is wrong"),
        60 => unclear("a table is missing"),
        8 | 10 | 16 | 47 => unclear("a column is missing"),
        46 | 63 => unclear("a function does not exist"),
        50 => unclear("a type does not exist"),
        207 | 352 => unclear("a column could be that of several tables"),
        184 | 215 => unclear("a column is neither grouped nor aggregated"),
        20 => unclear("the number of columns does not match the number of values"),
        35 | 42 | 43 => unclear("a function does not take these arguments"),
        456 => unclear("it names a value that was not sent"),
        36 | 44 if told.has_values => data(),
        33 | 36 | 44 | 48 | 80 | 113 | 179 | 182 | 344 | 386 | 403 | 420 | 524 => {
            (Syntax, "ClickHouse does not understand the statement".to_owned())
        }
        349 => (Constraint, "a column that takes no `NULL` refused the change".to_owned()),
        469 => (Constraint, "a CHECK constraint refused the change".to_owned()),
        code if is_of_value(code) => data(),
        164 if words.contains("Cannot modify") => (
            Configuration,
            "the user of the adapter may not set what each statement is sent with; give it a profile with `readonly = 2` instead of 1"
                .to_owned(),
        ),
        164 if told.read_only => (Denied, "the statement writes, and the adapter is read-only".to_owned()),
        164 if told.reads => (Denied, "the statement writes, and was taken for one that only reads".to_owned()),
        164 => (Denied, "the statement writes, and the user of the adapter may only read".to_owned()),
        452 => (Configuration, "a setting that each statement is sent with is not allowed to the user of the adapter".to_owned()),
        115 => (Configuration, "ClickHouse does not know a setting; servers before 24.8 are not supported".to_owned()),
        81 => (Configuration, "ClickHouse has no database of this name".to_owned()),
        192..=194 | 516 => (Credentials, "ClickHouse does not accept the user or the password".to_owned()),
        195 => (Denied, "ClickHouse does not admit this host".to_owned()),
        291 | 392 | 497 => (Denied, "the user of the adapter may not do what the statement does".to_owned()),
        159 | 160 => (TimedOut, String::new()),
        396 if words.contains("max rows") => (TooLarge, format!("the result has more than `max_rows`, {} rows", query.max_rows)),
        396 => (TooLarge, format!("the result has more than {} bytes", query.max_bytes)),
        1000 if words.contains("too long") => (
            TooLarge,
            "the statement or a value is larger than ClickHouse takes (its setting `http_max_field_value_size`, 131072 bytes)".to_owned(),
        ),
        158 | 161 | 191 | 229 | 290 | 307 | 306 | 168 | 167 => {
            (TooLarge, "the statement, or what it reads, is larger than ClickHouse allows".to_owned())
        }
        202 => (Busy, "ClickHouse is already running as many statements as it allows".to_owned()),
        201 => (Busy, "the quota of the adapter's user is used up".to_owned()),
        241 => (Busy, "ClickHouse has no memory left for the statement".to_owned()),
        252 => (Busy, "ClickHouse takes no more inserts for now, because it has too many parts to merge".to_owned()),
        439 | 473 => (Busy, "ClickHouse ended the statement because of others that ran concurrently".to_owned()),
        394 => (Unavailable, "an administrator of ClickHouse ended the statement".to_owned()),
        242 => (Unavailable, "a table is read-only for now, because ClickHouse cannot reach its Keeper".to_owned()),
        243 => (Unavailable, "ClickHouse has no room left".to_owned()),
        209 | 210 | 236 | 279 | 319 | 745 | 999 => (Unavailable, "ClickHouse is not available".to_owned()),
        _ => (Protocol, "ClickHouse failed in an unexpected way".to_owned()),
    }
}

/// Whether an error is that of a value, or of what is computed from one.
const fn is_of_value(code: u32) -> bool {
    matches!(
        code,
        6 | 25
            ..=27
                | 32
                | 38
                | 41
                | 53
                | 59
                | 69
                | 70
                | 72
                | 117
                | 130
                | 131
                | 153
                | 321
                | 376
                | 395
                | 407
                | 427
                | 440
                | 457
                | 467
                | 675
                | 676
                | 691
    )
}

/// What is wrong with a value, or with what is computed from one. ClickHouse's own words have the
/// value.
fn refused_value(code: u32) -> String {
    let why = match code {
        6 | 27 | 72 | 457 => "a text does not have the form that its type requires",
        38 | 41 => "a text is not a date or a time",
        53 | 70 => "a value does not have the type of its place",
        69 | 407 | 440 => "a number is out of the range of its type",
        131 => "a text is longer than its type allows",
        153 => "a division by zero",
        376 => "a text is not a UUID",
        427 => "a regular expression is not valid",
        675 | 676 => "a text is not an address of IPv4 or IPv6",
        691 => "a text is not one of the values of an enumeration",
        395 => "the statement ends itself with `throwIf`",
        _ => return "ClickHouse refused a value or the result of a computation".to_owned(),
    };
    format!("ClickHouse refused a value or the result of a computation: {why}")
}

/// A status without a code: not ClickHouse's own answer to a statement.
fn of_status(status: u16, words: &str, told: &Told<'_>) -> StatementFailure {
    let place = format!("`{}`", told.host);
    let error = |kind, message: &str| Error::new(kind, message).with_source(format!("status {status}: {words}")).at(&place);
    let last = |kind, message| StatementFailure::last(error(kind, message));
    match status {
        401 | 403 => last(ErrorKind::Credentials, "ClickHouse does not accept the user or the password"),
        404 | 405 => last(ErrorKind::Configuration, "the address of the connection string does not have the HTTP interface of ClickHouse"),
        300..=399 => last(ErrorKind::Configuration, "the address of the connection string redirects elsewhere"),
        413 => last(ErrorKind::TooLarge, "the statement and its values are larger than ClickHouse takes"),
        429 => last(ErrorKind::Busy, "ClickHouse takes no more requests for now"),
        // A gateway says this of an answer that it did not get, too.
        500.. => StatementFailure::unknown(error(ErrorKind::Unavailable, "ClickHouse is not available")),
        _ => StatementFailure::unknown(error(ErrorKind::Protocol, "ClickHouse answered in an unexpected way")),
    }
}

#[cfg(test)]
mod tests {
    use ErrorKind::{Busy, Configuration, Constraint, Credentials, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    use millrace_core::headers::Headers;

    use super::*;
    use crate::shared::{Execution, own_query};

    fn failure(status: u16, code: Option<&str>, body: &str, read_only: bool) -> StatementFailure {
        failure_of(status, code, body, read_only, true, false)
    }

    fn failure_of(status: u16, code: Option<&str>, body: &str, read_only: bool, reads: bool, selects: bool) -> StatementFailure {
        let mut headers = Headers::new();
        if let Some(code) = code {
            headers.append("X-ClickHouse-Exception-Code", code);
        }
        let query = own_query("SELECT 1", 0);
        let told = Told { host: "db.internal", query: &query, read_only, has_values: true, reads, selects };
        check(&HttpResponse { status, headers, body: body.into() }, &told).unwrap_err()
    }

    #[test]
    fn codes_say_what_failed_and_values_stay_in_the_source() {
        for (code, words, kind, outcome) in [
            (62, "Syntax error: hunter2", Syntax, Execution::Final),
            (60, "Table default.hunter2 does not exist", Syntax, Execution::Final),
            (457, "Value hunter2 cannot be parsed", Data, Execution::Final),
            (36, "hunter2", Data, Execution::Final),
            (395, "hunter2: while executing", Data, Execution::Final),
            (164, "default: Cannot execute query in readonly mode", Denied, Execution::Final),
            (164, "Cannot modify 'max_execution_time' setting in readonly mode", Configuration, Execution::Final),
            (469, "Constraint `c` is violated", Constraint, Execution::Final),
            (516, "default: Authentication failed", Credentials, Execution::Final),
            (497, "Not enough privileges", Denied, Execution::Final),
            (81, "Database hunter2 does not exist", Configuration, Execution::Final),
            (115, "Unknown setting", Configuration, Execution::Final),
            (159, "Timeout exceeded", TimedOut, Execution::Final),
            (396, "Limit for result exceeded, max rows: 5.00", TooLarge, Execution::Final),
            (396, "Limit for result exceeded, max bytes: 5.00", TooLarge, Execution::Final),
            (241, "Memory limit", Busy, Execution::Final),
            (202, "Too many simultaneous queries", Busy, Execution::NotExecuted),
            (745, "overloaded", Unavailable, Execution::NotExecuted),
            (210, "I/O error", Unavailable, Execution::Unknown),
            (999, "Session expired", Unavailable, Execution::Unknown),
            (49, "Logical error", Protocol, Execution::Final),
        ] {
            let body = format!("Code: {code}. DB::Exception: {words}. (NAME) (version 26.9.2.1)\n");
            // The field says it, or the text alone does.
            for (status, field) in [(500, Some(code.to_string())), (200, Some(code.to_string())), (404, None)] {
                let failure = failure(status, field.as_deref(), &body, false);
                assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{code} {words}");
                assert!(
                    !failure.error.message.contains("hunter2")
                        && failure.error.source.as_deref().unwrap().starts_with(&format!("Code: {code}. "))
                );
            }
        }
        assert_eq!(failure(500, Some("396"), "max rows: 1", false).error.message, "the result has more than `max_rows`, 1 rows");
        assert!(failure(500, Some("164"), "", true).error.message.ends_with("the adapter is read-only"));
    }

    #[test]
    fn a_write_that_may_have_begun_has_an_unknown_outcome() {
        for (code, words, values, select) in [
            (202, "Too many", Execution::NotExecuted, Execution::NotExecuted),
            (202, "Received from b:9000. DB::Exception: Too many", Execution::Unknown, Execution::Unknown),
            (745, "Received from b:9000. DB::Exception: overloaded", Execution::Unknown, Execution::Unknown),
            (62, "Syntax error", Execution::Final, Execution::Final),
            (60, "no table", Execution::Final, Execution::Final),
            (60, "no table: while pushing to view v", Execution::Unknown, Execution::Unknown),
            (497, "Not enough privileges", Execution::Final, Execution::Final),
            (516, "Authentication failed", Execution::Final, Execution::Final),
            (469, "a constraint", Execution::Final, Execution::Unknown),
            (1000, "Field value too long", Execution::Final, Execution::Final),
        ] {
            let body = format!("Code: {code}. DB::Exception: {words}. (NAME)");
            let outcome = |selects| failure_of(500, None, &body, false, false, selects).outcome;
            assert_eq!((outcome(false), outcome(true)), (values, select), "{code} {words}");
        }
        for code in [49, 201, 241, 242, 243, 252, 394, 395, 396, 439, 473] {
            let body = format!("Code: {code}. DB::Exception: x. (NAME)");
            assert_eq!(failure_of(500, None, &body, false, false, false).outcome, Execution::Unknown, "{code}");
        }
        // What is said of another server may stand behind what a message shows.
        let body = format!("Code: 202. DB::Exception: {} Received from b:9000.", "x".repeat(10_000));
        assert_eq!(failure_of(500, None, &body, false, false, false).outcome, Execution::Unknown);
    }

    #[test]
    fn what_stands_before_a_server_speaks_by_status() {
        for (status, kind, outcome) in [
            (302, Configuration, Execution::Final),
            (400, Protocol, Execution::Unknown),
            (401, Credentials, Execution::Final),
            (404, Configuration, Execution::Final),
            (413, TooLarge, Execution::Final),
            (429, Busy, Execution::Final),
            (502, Unavailable, Execution::Unknown),
            (503, Unavailable, Execution::Unknown),
        ] {
            let failure = failure(status, None, "<html>Code: 62. DB::Exception", false);
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{status}");
            assert!(
                !failure.error.message.contains("db.internal") && failure.error.source.as_deref().unwrap().starts_with("`db.internal`: "),
                "{status}"
            );
        }
    }
}
