//! What an answer of DynamoDB that is not a success means.

use millrace_aws::kind_of_error;
use millrace_core::{Error, ErrorKind, Json, ports::HttpResponse};

use super::DynamoDbSettings;

/// The most characters of DynamoDB's words that are kept for the log.
const LONGEST_SOURCE: usize = 500;

/// The error of an answer.
pub(super) fn of(settings: &DynamoDbSettings, response: &HttpResponse) -> Error {
    let body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    let kind = kind_of_error(&response.body);
    let kind = kind.as_str();
    let (table, region) = (&settings.table, settings.service.region());
    let (error, what) = match kind {
        "ResourceNotFoundException" => (ErrorKind::Configuration, format!("does not exist in region `{region}`")),
        "ValidationException" => (ErrorKind::Configuration, "does not accept the request; its only key must be `id`, a string".to_owned()),
        "ExpiredTokenException" => (ErrorKind::Denied, "denies access: the credentials of the `AWS_…` variables have expired".to_owned()),
        "AccessDeniedException" => (
            ErrorKind::Denied,
            "denies access with these credentials; they need `dynamodb:GetItem`, `BatchGetItem`, `PutItem`, `UpdateItem` and `DeleteItem`"
                .to_owned(),
        ),
        "UnrecognizedClientException"
        | "InvalidSignatureException"
        | "IncompleteSignatureException"
        | "MissingAuthenticationTokenException" => {
            (ErrorKind::Denied, "denies access: the credentials of the `AWS_…` variables are wrong".to_owned())
        }
        "ProvisionedThroughputExceededException" | "ThrottlingException" | "RequestLimitExceeded" => {
            (ErrorKind::Busy, "is throttled".to_owned())
        }
        _ if response.status >= 500 => (ErrorKind::Unavailable, format!("cannot answer (status {})", response.status)),
        _ => (ErrorKind::Protocol, format!("sent a response that DynamoDB does not send (status {})", response.status)),
    };
    // The words about a wrong signature quote the request, the session token among it.
    let error = Error::new(error, format!("the DynamoDB table `{table}` {what}"));
    if error.kind == ErrorKind::Denied {
        return error;
    }
    let source = body.get("message").or_else(|| body.get("Message")).and_then(Json::as_str);
    let words = source.map_or_else(|| String::from_utf8_lossy(&response.body).into_owned(), |message| format!("{kind}: {message}"));
    error.with_source(words.trim().chars().take(LONGEST_SOURCE).collect::<String>())
}
