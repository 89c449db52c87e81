//! What an error of DynamoDB means.
//!
//! Errors: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html>.

use millrace_core::{Error, ErrorKind, Json};

use crate::{
    aws_server::{AwsError, AwsServer},
    shared::{Execution, StatementFailure},
};

const NO_SUCH_ITEM: &str = "no item meets the condition of the statement";
const DUPLICATE: &str = "an item with this key already exists";
const COLLECTION: &str = "the items of this partition key take more room than DynamoDB allows";
const CONFLICT: &str = "another transaction changes the same item";
const THROTTLED: &str = "DynamoDB takes no more requests for now";
const NOT_UNDERSTOOD: &str = "DynamoDB does not understand the statement, or a value does not have the type that it requires";

/// Why a step ended a transaction. Nothing was changed.
const STEP_REASONS: [(&str, ErrorKind, &str); 7] = [
    ("ConditionalCheckFailed", ErrorKind::Constraint, NO_SUCH_ITEM),
    ("DuplicateItem", ErrorKind::Constraint, DUPLICATE),
    ("ItemCollectionSizeLimitExceeded", ErrorKind::TooLarge, COLLECTION),
    ("TransactionConflict", ErrorKind::Busy, CONFLICT),
    ("ProvisionedThroughputExceeded", ErrorKind::Busy, THROTTLED),
    ("ThrottlingError", ErrorKind::Busy, THROTTLED),
    ("ValidationError", ErrorKind::Syntax, NOT_UNDERSTOOD),
];

/// What DynamoDB says of a request that it refuses, in lower case, and what it means.
const VALIDATION: [(&str, ErrorKind, &str); 14] = [
    ("item size", ErrorKind::TooLarge, "an item is larger than DynamoDB allows, 400 KB"),
    ("exceeded the maximum allowed size", ErrorKind::TooLarge, "an item is larger than DynamoDB allows, 400 KB"),
    ("number overflow", ErrorKind::Data, NUMBER),
    ("number underflow", ErrorKind::Data, NUMBER),
    ("significant digits", ErrorKind::Data, NUMBER),
    ("nesting levels", ErrorKind::Data, "a value is nested deeper than DynamoDB allows, 32 levels"),
    ("number of parameters", ErrorKind::Syntax, "the statement expects a different number of values"),
    ("mandatory equality", ErrorKind::Syntax, WHOLE_KEY),
    ("all key attributes", ErrorKind::Syntax, WHOLE_KEY),
    ("data type should match", ErrorKind::Data, KEY_TYPE),
    ("type mismatch for key", ErrorKind::Data, KEY_TYPE),
    ("empty string value", ErrorKind::Data, "a text of the key is empty"),
    ("overlapping conditions", ErrorKind::Syntax, "the statement names a key twice"),
    ("multiple operations on one item", ErrorKind::Constraint, "two statements of the transaction are about the same item"),
];
const NUMBER: &str = "a number is larger, smaller or more precise than DynamoDB stores, 38 digits";
const WHOLE_KEY: &str = "the statement must name the whole key of one item with `=`";
const KEY_TYPE: &str = "a value does not have the type that the key of the table has";

pub(super) fn of(server: &AwsServer, error: &AwsError) -> StatementFailure {
    let said = |kind, message: &str| Error::new(kind, message).with_source(error.source());
    let last = |kind, message: &str| StatementFailure::last(said(kind, message));
    let busy = |message: &str| StatementFailure::not_executed(said(ErrorKind::Busy, message));
    match error.kind.as_str() {
        "ConditionalCheckFailedException" => last(ErrorKind::Constraint, NO_SUCH_ITEM),
        "DuplicateItemException" => last(ErrorKind::Constraint, DUPLICATE),
        "ResourceNotFoundException" => {
            last(ErrorKind::Syntax, &format!("a table or an index of the statement does not exist in the region `{}`", server.region()))
        }
        "ItemCollectionSizeLimitExceededException" => last(ErrorKind::TooLarge, COLLECTION),
        "ValidationException" | "SerializationException" => {
            let words = error.words.to_ascii_lowercase();
            let known = VALIDATION.iter().find(|(part, ..)| words.contains(part));
            known.map_or_else(|| last(ErrorKind::Syntax, NOT_UNDERSTOOD), |(_, kind, message)| last(*kind, message))
        }
        "TransactionCanceledException" => cancelled(error),
        "TransactionConflictException" => busy(CONFLICT),
        // The same one was sent before, and is being carried out.
        "TransactionInProgressException" => busy("the transaction has not ended yet"),
        "IdempotentParameterMismatchException" => last(ErrorKind::Protocol, "DynamoDB knows the token of the transaction from another one"),
        _ => server.failure(error),
    }
}

/// A transaction that ended. Where only others were in the way, it may be sent again.
fn cancelled(error: &AwsError) -> StatementFailure {
    let (kind, message) =
        reason(error).map_or((ErrorKind::Protocol, "DynamoDB ended the transaction"), |(_, kind, message)| (kind, message));
    let outcome = if kind == ErrorKind::Busy { Execution::NotExecuted } else { Execution::Final };
    StatementFailure { error: Error::new(kind, message).with_source(error.source()), outcome }
}

/// The step that ended a transaction, and why: a mistake before what another attempt may mend.
fn reason(error: &AwsError) -> Option<(usize, ErrorKind, &'static str)> {
    let reasons = error.body.get("CancellationReasons").and_then(Json::as_array)?;
    let known = reasons.iter().enumerate().filter_map(|(place, reason)| {
        let code = reason.get("Code").and_then(Json::as_str).filter(|code| *code != "None")?;
        let known = STEP_REASONS.iter().find(|(known, ..)| *known == code);
        Some(known.map_or((place, ErrorKind::Protocol, "DynamoDB ended the transaction"), |(_, kind, message)| (place, *kind, *message)))
    });
    known.min_by_key(|(place, kind, _)| (*kind == ErrorKind::Busy, *place))
}

/// The place of the step that ended a transaction.
pub(super) fn step_of(error: &AwsError) -> Option<usize> {
    if error.kind == "TransactionCanceledException" { reason(error).map(|(place, ..)| place) } else { None }
}
