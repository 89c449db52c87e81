//! What MySQL says when it fails, by its
//! [number](https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html), or where
//! that is not known by its SQLSTATE.
//!
//! A message names columns and constraints, never a value. MySQL's own words are the source.

use millrace_core::{Error, ErrorKind};

use crate::shared::{ReadOnly, StatementFailure, excerpt};

/// A statement names no table that there is.
pub(crate) const NO_TABLE: u16 = 1146;
/// A table is there already.
pub(crate) const TABLE_EXISTS: u16 = 1050;
/// Another transaction holds a lock, and did not let go of it.
pub(crate) const LOCK_WAIT: u16 = 1205;
/// A prepared statement is not known.
pub(crate) const UNKNOWN_STATEMENT: u16 = 1243;
/// As many statements are prepared as may be.
pub(crate) const NO_STATEMENT_LEFT: u16 = 1461;
/// A setting is not known.
pub(crate) const UNKNOWN_SETTING: u16 = 1193;

/// The parts of an error.
#[derive(Debug)]
pub(crate) struct ServerError {
    /// Its number.
    pub(crate) number: u16,
    /// Its SQLSTATE; nothing where there is none.
    pub(crate) state: String,
    /// What is said of it.
    pub(crate) words: String,
}

impl ServerError {
    /// An error with all that was said as its source, which begins with the number.
    pub(crate) fn error(&self, kind: ErrorKind, message: impl Into<String>) -> Error {
        Error::new(kind, message).with_source(excerpt(&format!("{} ({}): {}", self.number, self.state, self.words)))
    }

    /// What stands between two texts; the last of it, because values of callers stand before names.
    fn name(&self, before: &str, after: char) -> Option<&str> {
        let (_, rest) = self.words.rsplit_once(before)?;
        rest.split_once(after).map(|(name, _)| name).filter(|name| !name.is_empty() && name.len() <= 200)
    }

    /// What stands after the first of a text, in words that begin with a name.
    fn first_name(&self, before: &str, after: char) -> Option<&str> {
        let (_, rest) = self.words.split_once(before)?;
        rest.split_once(after).map(|(name, _)| name).filter(|name| !name.is_empty() && name.len() <= 200)
    }
}

/// An error's number, from its source.
pub(crate) fn number_of(error: &Error) -> Option<u16> {
    error.source.as_deref()?.split_once(' ')?.0.parse().ok()
}

/// An error during a login. `place` is where, and as whom.
pub(crate) fn of_login(said: &ServerError, place: &str) -> StatementFailure {
    let error = |kind, message: &str| said.error(kind, message).at(place);
    let last = |kind, message: &str| StatementFailure::last(error(kind, message));
    let later = |kind, message: &str| StatementFailure::not_executed(error(kind, message));
    match said.number {
        1045 | 1698 => last(ErrorKind::Credentials, "MySQL does not accept the user or the password"),
        1044 => last(ErrorKind::Denied, "MySQL does not admit the user of the adapter to the database"),
        1049 => last(ErrorKind::Configuration, "MySQL has no database of this name"),
        1040 | 1203 | 1226 => later(ErrorKind::Busy, "MySQL has no connection left"),
        1129 | 1130 => last(ErrorKind::Denied, "MySQL does not admit this host"),
        3159 => last(ErrorKind::Denied, "MySQL demands TLS; set `sslmode=require`, or `verify-full`"),
        1820 | 1862 => last(ErrorKind::Denied, "MySQL demands a new password of the user of the adapter"),
        3118 | 4151 => last(ErrorKind::Denied, "MySQL has locked the user of the adapter"),
        1251 | 1275 | 2059 => {
            last(ErrorKind::Configuration, "MySQL has a method of authentication for the user of the adapter that is not understood")
        }
        1053 | 1077 | 1927 | 3032 => later(ErrorKind::Unavailable, "MySQL is starting or stopping"),
        _ if said.state.starts_with("08") => later(ErrorKind::Unavailable, "MySQL refuses the connection for now"),
        _ => last(ErrorKind::Denied, "MySQL refuses the connection"),
    }
}

/// An error of a statement.
pub(crate) fn of_statement(said: &ServerError, read_only: ReadOnly) -> StatementFailure {
    let (kind, message) = explain(said, read_only);
    let error = said.error(kind, message);
    match (kind, said.number) {
        // The transaction, which is the statement, was undone.
        (ErrorKind::Busy, _) => StatementFailure::not_executed(error),
        (_, UNKNOWN_STATEMENT) => StatementFailure::not_executed(error),
        (ErrorKind::Unavailable, 1021 | 1041 | 1114 | 1317) => StatementFailure::last(error),
        // The end came with the statement under way, or with its commit done and not told.
        (ErrorKind::Unavailable, _) => StatementFailure::unknown(error),
        _ => StatementFailure::last(error),
    }
}

fn explain(said: &ServerError, read_only: ReadOnly) -> (ErrorKind, String) {
    use ErrorKind::{Busy, Configuration, Constraint, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    let unclear = |why: &str| (Syntax, format!("MySQL does not understand the statement: {why}"));
    match said.number {
        // Of a text for `AGAINST`, which the server reads as a query; of a statement it says more.
        1064 if said.words.starts_with("syntax error, ") => (Data, refused_value(1210)),
        1065 => (Syntax, "the query contains no statement".to_owned()),
        NO_TABLE | 1051 => unclear("a table is missing"),
        1054 => unclear("a column is missing"),
        1305 | 1630 | 1304 => unclear("a function or procedure does not exist"),
        1136 | 1222 => unclear("the number of columns does not match the number of values"),
        1052 => unclear("a column could be that of several tables"),
        1055 | 1056 | 1140 => unclear("a column is neither grouped nor aggregated"),
        1295 => (Syntax, "MySQL does not prepare statements of this kind, and no other is sent".to_owned()),
        1062 | 1022 | 1169 | 1586 => (Constraint, refused("a UNIQUE constraint", said.name("for key '", '\''))),
        1048 | 1364 | 1263 => (Constraint, refused("a NOT NULL constraint", said.first_name("'", '\''))),
        1451 | 1452 | 1216 | 1217 => (Constraint, refused("a FOREIGN KEY constraint", said.name("CONSTRAINT `", '`'))),
        3819 => (Constraint, refused("a CHECK constraint", said.first_name("'", '\''))),
        4025 => (Constraint, refused("a CHECK constraint", said.first_name("`", '`'))),
        1644 => (Constraint, "a trigger or procedure of the database refused the statement".to_owned()),
        1242 | 1264 | 1265 | 1292 | 1365 | 1366 | 1367 | 1406 | 1411 | 1416 | 1425 | 1426 | 1439 | 1441 | 1690 | 3140..=3159 | 4037..=4045
        // Arguments, collations, characters and regular expressions, all of which a value decides.
        | 1139 | 1210 | 1267 | 1270 | 1271 | 1300 | 3685..=3699 | 3988 => {
            (Data, refused_value(said.number))
        }
        1792 => (Denied, read_only.refusal().to_owned()),
        1836 => (Denied, ReadOnly::Database.refusal().to_owned()),
        1290 => (Denied, "MySQL does not run the statement with the options it was started with".to_owned()),
        1044 | 1045 | 1095 | 1131 | 1141..=1143 | 1147 | 1227 | 1370 | 1410 | 1419 | 1449 => {
            (Denied, "the user of the adapter may not do what the statement does".to_owned())
        }
        1046 => (Configuration, "the connection string names no database, and the statement needs one".to_owned()),
        1049 => (Configuration, "MySQL has no database of this name".to_owned()),
        1020 | 1213 | 1614 | 1615 | 8002 | 8022 | 8028 | 9007 => (Busy, "MySQL ended the statement because of others that ran concurrently".to_owned()),
        LOCK_WAIT | 3572 | 1099 | 1100 => (Busy, "what the statement needs is locked by another connection".to_owned()),
        1040 | 1203 | 1226 => (Busy, "MySQL has no connection left".to_owned()),
        NO_STATEMENT_LEFT => (Busy, "MySQL prepares no further statement (`max_prepared_stmt_count`)".to_owned()),
        UNKNOWN_STATEMENT => (Unavailable, "MySQL has forgotten a prepared statement".to_owned()),
        1037 | 1038 | 1041 => (Busy, "MySQL has no memory left for the statement".to_owned()),
        1969 | 3024 => (TimedOut, "the statement ran past its deadline".to_owned()),
        1317 => (Unavailable, "an administrator of MySQL ended the statement".to_owned()),
        1153 | 1162 | 1301 | 1118 | 1104 => (TooLarge, "the statement or its result is larger than MySQL allows".to_owned()),
        1021 | 1114 => (Unavailable, "MySQL has no room left".to_owned()),
        1053 | 1077 | 1080 | 1152 | 1927 | 3032 | 3169 | 4031 => (Unavailable, "MySQL ended the connection".to_owned()),
        1158..=1161 | 2006 | 2013 => (Unavailable, "the connection to MySQL was lost".to_owned()),
        _ => match said.state.get(..2).unwrap_or_default() {
            "23" | "44" | "27" => (Constraint, "a constraint of the database refused the change".to_owned()),
            "21" | "22" => (Data, refused_value(said.number)),
            "45" => (Constraint, "a trigger or procedure of the database refused the statement".to_owned()),
            "42" | "0A" => (Syntax, "MySQL does not understand the statement".to_owned()),
            "28" => (Denied, "MySQL does not permit this user to do that".to_owned()),
            "25" => (Denied, "MySQL does not run the statement inside a transaction".to_owned()),
            "08" => (Unavailable, "the connection to MySQL was lost".to_owned()),
            "40" => (Busy, "MySQL ended the statement because of others that ran concurrently".to_owned()),
            _ => (Protocol, "MySQL failed in an unexpected way".to_owned()),
        },
    }
}

/// What is wrong with a value, or with what is computed from one. MySQL's own words have the value.
fn refused_value(number: u16) -> String {
    let why = match number {
        1242 => "a query that must give one row gave several",
        1264 | 1690 | 1416 => "a number is out of the range of its type",
        1265 | 1366 => "a value does not have the type of its column, or is not one of its values",
        1292 | 1411 => "a text is not a date, a time or a number",
        1365 => "a division by zero",
        1406 => "a text is longer than its column",
        1441 => "a date or a time is out of range",
        1139 | 3685..=3699 => "a regular expression is not valid",
        1210 => "a function does not accept the value of an argument",
        1267 | 1270 | 1271 => "texts of different collations are compared",
        1300 | 3988 => "a text has a character that its column cannot store",
        3140..=3158 | 4037..=4045 => "a JSON document, or a path into one, is not valid",
        _ => return "MySQL refused a value or the result of a computation".to_owned(),
    };
    format!("MySQL refused a value or the result of a computation: {why}")
}

fn refused(what: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{what} refused the change: `{name}`"),
        None => format!("{what} refused the change"),
    }
}

#[cfg(test)]
mod tests {
    use ErrorKind::{Busy, Configuration, Constraint, Credentials, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};

    use super::*;
    use crate::shared::Execution;

    fn said(number: u16, state: &str, words: &str) -> ServerError {
        ServerError { number, state: state.to_owned(), words: words.to_owned() }
    }

    #[test]
    fn errors_of_statements() {
        let cases = [
            (1064, "42000", Syntax, Execution::Final),
            (1146, "42S02", Syntax, Execution::Final),
            (1142, "42000", Denied, Execution::Final),
            (1792, "25006", Denied, Execution::Final),
            (1062, "23000", Constraint, Execution::Final),
            (1292, "22007", Data, Execution::Final),
            (3140, "22032", Data, Execution::Final),
            (9999, "22999", Data, Execution::Final),
            (1406, "22001", Data, Execution::Final),
            (1644, "45000", Constraint, Execution::Final),
            (1213, "40001", Busy, Execution::NotExecuted),
            (1205, "HY000", Busy, Execution::NotExecuted),
            (9007, "HY000", Busy, Execution::NotExecuted),
            (1020, "HY000", Busy, Execution::NotExecuted),
            (1615, "HY000", Busy, Execution::NotExecuted),
            (1461, "42000", Busy, Execution::NotExecuted),
            (1243, "HY000", Unavailable, Execution::NotExecuted),
            (1210, "HY000", Data, Execution::Final),
            (1139, "42000", Data, Execution::Final),
            (1267, "HY000", Data, Execution::Final),
            (3699, "HY000", Data, Execution::Final),
            (3988, "HY000", Data, Execution::Final),
            (1969, "70100", TimedOut, Execution::Final),
            (3024, "HY000", TimedOut, Execution::Final),
            (1317, "70100", Unavailable, Execution::Final),
            (1053, "08S01", Unavailable, Execution::Unknown),
            (1927, "70100", Unavailable, Execution::Unknown),
            (1153, "08S01", TooLarge, Execution::Final),
            (1046, "3D000", Configuration, Execution::Final),
            (9999, "08004", Unavailable, Execution::Unknown),
            (9999, "HY000", Protocol, Execution::Final),
            (9999, "", Protocol, Execution::Final),
        ];
        for (number, state, kind, outcome) in cases {
            let StatementFailure { error, outcome: found } = of_statement(&said(number, state, "hunter2"), ReadOnly::Database);
            assert_eq!((error.kind, found), (kind, outcome), "{number}");
            assert!(!error.message.contains("hunter2") && error.source.as_ref().unwrap().contains("hunter2"), "{number}");
            assert_eq!(number_of(&error), Some(number));
        }
        assert_eq!(of_statement(&said(0, "", ""), ReadOnly::Database).error.kind, Protocol);
    }

    #[test]
    fn names_are_shown_and_no_values() {
        let cases = [
            (1062, "Duplicate entry 'secret' for key 'email'", "a UNIQUE constraint refused the change: `email`"),
            (1062, "Duplicate entry 'for key 'secret'' for key 't.email'", "a UNIQUE constraint refused the change: `t.email`"),
            (1048, "Column 'name' cannot be null", "a NOT NULL constraint refused the change: `name`"),
            (1364, "Field 'name' doesn't have a default value", "a NOT NULL constraint refused the change: `name`"),
            (
                1452,
                "Cannot add or update a child row: a foreign key constraint fails (`s`.`c`, CONSTRAINT `has_parent` FOREIGN KEY (`p`) REFERENCES `p` (`id`))",
                "a FOREIGN KEY constraint refused the change: `has_parent`",
            ),
            (3819, "Check constraint 'grown_up' is violated.", "a CHECK constraint refused the change: `grown_up`"),
            (4025, "CONSTRAINT `grown_up` failed for `s`.`t`", "a CHECK constraint refused the change: `grown_up`"),
            (1062, "translated", "a UNIQUE constraint refused the change"),
        ];
        for (number, words, message) in cases {
            assert_eq!(of_statement(&said(number, "23000", words), ReadOnly::Database).error.message, message);
        }
    }

    #[test]
    fn errors_of_logins() {
        let cases = [
            (1045, "28000", Credentials, Execution::Final),
            (1044, "42000", Denied, Execution::Final),
            (1049, "42000", Configuration, Execution::Final),
            (1040, "", Busy, Execution::NotExecuted),
            (1130, "", Denied, Execution::Final),
            (1053, "08S01", Unavailable, Execution::NotExecuted),
            (9999, "08S01", Unavailable, Execution::NotExecuted),
            (9999, "", Denied, Execution::Final),
        ];
        for (number, state, kind, outcome) in cases {
            let failure = of_login(&said(number, state, "x"), "`db:3306`, user `me`");
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{number}");
            assert!(!failure.error.message.contains("db") && !failure.error.message.contains("`me`"), "{}", failure.error.message);
            assert!(failure.error.source.as_deref().unwrap().starts_with("`db:3306`, user `me`: "), "{number}");
        }
    }
}
