//! What an error of the Data API means.
//!
//! What PostgreSQL said stands in the message, with its SQLSTATE at the end; the names of what
//! refused a change are in its words alone.
//!
//! Errors: <https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ExecuteStatement.html#API_ExecuteStatement_Errors>.

use millrace_core::{Error, ErrorKind};

use crate::{
    aws_server::{AwsError, AwsServer},
    postgres_text::{ServerError, of_login, of_statement},
    shared::{ReadOnly, StatementFailure},
};

/// What stands before the SQLSTATE.
const CODE: &str = "SQLState: ";
const DETAIL: &str = "; Detail: ";

/// A request that failed.
pub(super) struct Refusal {
    pub(super) failure: StatementFailure,
    /// What PostgreSQL said of the statement.
    pub(super) said: Option<Box<ServerError>>,
}

impl From<StatementFailure> for Refusal {
    fn from(failure: StatementFailure) -> Self {
        Self { failure, said: None }
    }
}

impl From<Refusal> for StatementFailure {
    fn from(refusal: Refusal) -> Self {
        refusal.failure
    }
}

/// Whether the cluster was asleep and wakes up. The request was not carried out.
pub(super) fn is_resuming(error: &AwsError) -> bool {
    error.kind == "DatabaseResumingException" || error.kind == "BadRequestException" && error.words.contains("resuming")
}

/// `cluster` is its name.
pub(super) fn of(server: &AwsServer, error: &AwsError, cluster: &str, read_only: ReadOnly) -> Refusal {
    let said = |kind, message: String| Error::new(kind, message).with_source(error.source());
    let last = |kind, message: &str| StatementFailure::last(said(kind, message.to_owned())).into();
    let of_cluster = |kind, what: &str| StatementFailure::last(said(kind, format!("the cluster `{cluster}` {what}"))).into();
    match error.kind.as_str() {
        "DatabaseResumingException" => {
            StatementFailure::not_executed(said(ErrorKind::Unavailable, format!("the cluster `{cluster}` is starting"))).into()
        }
        "DatabaseErrorException" | "BadRequestException" => of_database(server, error, cluster, read_only),
        "StatementTimeoutException" => last(ErrorKind::TimedOut, "the statement ran longer than the Data API allows, 45 seconds"),
        "UnsupportedResultException" if is_of_size(&error.words) => last(ErrorKind::TooLarge, TOO_LARGE),
        "UnsupportedResultException" => {
            last(ErrorKind::Syntax, "the result has a type that the Data API does not return; write a cast, `::text`")
        }
        "DatabaseUnavailableException" => {
            StatementFailure::unknown(said(ErrorKind::Unavailable, format!("the writer of the cluster `{cluster}` is not available")))
                .into()
        }
        "DatabaseNotFoundException" => of_cluster(ErrorKind::Configuration, "has no instance"),
        "HttpEndpointNotEnabledException" => of_cluster(ErrorKind::Configuration, NOT_ENABLED),
        "InvalidResourceStateException" => of_cluster(ErrorKind::Unavailable, "is in a state in which the Data API does not answer"),
        "InvalidSecretException" => {
            last(ErrorKind::Configuration, "the secret of `secret_arn` has no user name and password of the database")
        }
        "SecretsErrorException" => last(ErrorKind::Configuration, "the Data API cannot read the secret of `secret_arn`"),
        // It ended by itself: it was idle for too long, or its connection was lost.
        "TransactionNotFoundException" => {
            StatementFailure::unknown(said(ErrorKind::Unavailable, "the Data API ended the transaction".to_owned())).into()
        }
        "NotFoundException" => last(ErrorKind::Configuration, "the cluster, the secret or the transaction does not exist"),
        _ => server.failure(error).into(),
    }
}

const TOO_LARGE: &str = "the result is larger than the Data API sends, 1 MB; nothing was changed";
const NOT_ENABLED: &str = "has no Data API: enable it, `aws rds enable-http-endpoint`";

fn is_of_size(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    words.contains("size") || words.contains("too large")
}

fn of_database(server: &AwsServer, error: &AwsError, cluster: &str, read_only: ReadOnly) -> Refusal {
    let last = |kind, message: String| StatementFailure::last(Error::new(kind, message).with_source(error.source())).into();
    if let Some(said) = said_by_postgresql(&error.words) {
        // A login fails before any statement. A function may raise the same codes, but not as the
        // end of the connection.
        let is_login = said.is_fatal && (said.code.starts_with("28") || matches!(said.code.as_str(), "3D000" | "53300" | "57P03"));
        if is_login {
            return of_login(&said, cluster).into();
        }
        return Refusal { failure: of_statement(&said, read_only), said: Some(Box::new(said)) };
    }
    let words = error.words.to_ascii_lowercase();
    if words.contains("multistatement") || words.contains("multiple statements") {
        return last(ErrorKind::Syntax, "the query contains more than one statement".to_owned());
    }
    if is_of_size(&words) {
        return last(ErrorKind::TooLarge, TOO_LARGE.to_owned());
    }
    if words.contains("httpendpoint is not enabled") || words.contains("http endpoint is not enabled") {
        return last(ErrorKind::Configuration, format!("the cluster `{cluster}` {NOT_ENABLED}"));
    }
    // Another error of the request, or a connection that was lost in the middle of the statement.
    server.failure(error).into()
}

/// `ERROR: duplicate key …; Detail: Key (id)=(1) already exists.; SQLState: 23505`
fn said_by_postgresql(words: &str) -> Option<ServerError> {
    let (before, code) = words.rsplit_once(CODE)?;
    let code: String = code.chars().take_while(char::is_ascii_alphanumeric).collect();
    if code.len() != 5 {
        return None;
    }
    let before = before.trim_end().trim_end_matches(';');
    let (text, detail) = before.split_once(DETAIL).unwrap_or((before, ""));
    let (severity, text) = text.split_once(": ").unwrap_or(("", text));
    let named = |mark: &str| Some(text.split_once(mark)?.1.split_once('"')?.0.to_owned());
    Some(ServerError {
        is_fatal: matches!(severity, "FATAL" | "PANIC"),
        table: named("of relation \"").or_else(|| named("relation \"")),
        column: named("column \""),
        constraint: named("constraint \""),
        code,
        words: text.to_owned(),
        detail: detail.to_owned(),
        routine: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_postgresql_said_is_in_the_message() {
        let said = said_by_postgresql(
            "ERROR: duplicate key value violates unique constraint \"t_pkey\"; Detail: Key (id)=(1) already exists.; SQLState: 23505",
        )
        .unwrap();
        assert_eq!(
            (said.code.as_str(), said.constraint.as_deref(), said.detail.as_str(), said.is_fatal),
            ("23505", Some("t_pkey"), "Key (id)=(1) already exists.", false)
        );
        let said = said_by_postgresql("ERROR: null value in column \"b\" of relation \"t\" violates not-null constraint; SQLState: 23502")
            .unwrap();
        assert_eq!((said.table.as_deref(), said.column.as_deref()), (Some("t"), Some("b")));
        let said = said_by_postgresql("FATAL: password authentication failed for user \"x\"; SQLState: 28P01").unwrap();
        assert!(said.is_fatal && said.code == "28P01");
        // A function may write what it likes before the code.
        let said = said_by_postgresql("ERROR: SQLState: 57P01; SQLState: P0001").unwrap();
        assert_eq!((said.code.as_str(), said.is_fatal), ("P0001", false));
        for words in ["", "SQLState: ", "SQLState: 42", "Multistatements aren't supported"] {
            assert!(said_by_postgresql(words).is_none(), "{words}");
        }
    }
}
