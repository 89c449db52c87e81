//! Requests and answers of DynamoDB.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_aws::Operation;
use millrace_core::{Error, ErrorKind, Json, Result, ports::HttpRequest};
use serde_json::json;

use super::DynamoDbSettings;

/// The longest item, its attributes' names included: 400 KB.
pub(super) const LARGEST_ITEM_BYTES: usize = 400 << 10;
/// The longest answer: the largest item, its value in base64, and what stands around it.
const LONGEST_ANSWER_BYTES: usize = LARGEST_ITEM_BYTES / 3 * 4 + (16 << 10);
/// How long a request may take, in milliseconds.
const TIMEOUT_MS: u64 = 1000;

/// Before every key: a table may be shared with something else.
const PREFIX: &str = "millrace:";
/// The version of the API, as `x-amz-target` has it.
const API: &str = "DynamoDB_20120810";
/// What a number takes at the most, in bytes.
const NUMBER_BYTES: usize = 21;

pub(super) fn get_item(table: &str, key: &str) -> Json {
    json!({ "TableName": table, "Key": { "id": { "S": format!("{PREFIX}{key}") } } })
}

/// The items of several keys, consistently.
pub(super) fn batch_get_item(table: &str, keys: &[String]) -> Json {
    let keys: Vec<Json> = keys.iter().map(|key| json!({ "id": { "S": format!("{PREFIX}{key}") } })).collect();
    json!({ "RequestItems": { table: { "Keys": keys, "ConsistentRead": true } } })
}

/// The key of an item, as it was before it was written.
pub(super) fn key_of(item: &Json) -> Option<&str> {
    item.get("id")?.get("S")?.as_str()?.strip_prefix(PREFIX)
}

pub(super) fn put_item(table: &str, key: &str, value: &[u8], expires_s: u64) -> Json {
    json!({
        "TableName": table,
        "Item": {
            "id": { "S": format!("{PREFIX}{key}") },
            "value": { "B": STANDARD.encode(value) },
            "expires_at": { "N": expires_s.to_string() },
        },
    })
}

/// What DynamoDB counts of an item: names and values.
pub(super) fn item_bytes(key: &str, value: &[u8]) -> usize {
    "idvalueexpires_at".len() + PREFIX.len() + key.len() + value.len() + NUMBER_BYTES
}

/// An update under a condition, whose answer has the new values. The names in the expressions are
/// those of the attributes, after a `#`.
pub(super) fn update(table: &str, key: &str, update: &str, condition: &str, values: Json) -> Json {
    json!({
        "TableName": table,
        "Key": { "id": { "S": format!("{PREFIX}{key}") } },
        "UpdateExpression": update,
        "ConditionExpression": condition,
        "ExpressionAttributeNames": { "#id": "id", "#count": "count", "#expires": "expires_at" },
        "ExpressionAttributeValues": values,
        "ReturnValues": "UPDATED_NEW",
    })
}

/// The JSON of an answer.
///
/// # Errors
/// [`Protocol`](ErrorKind::Protocol) where it is none.
pub(super) fn json(table: &str, body: &[u8]) -> Result<Json> {
    serde_json::from_slice(body)
        .map_err(|_| Error::new(ErrorKind::Protocol, format!("the response for the DynamoDB table `{table}` is not valid JSON")))
}

/// The value of the answer to `GetItem`, and when its time is over, in seconds since the Unix
/// epoch. `None` where there is no item.
///
/// # Errors
/// [`Protocol`](ErrorKind::Protocol): the answer is no JSON, or the item is not one of this cache.
pub(super) fn item(table: &str, body: &[u8]) -> Result<Option<(Vec<u8>, u64)>> {
    let answer = json(table, body)?;
    let Some(item) = answer.get("Item") else { return Ok(None) };
    let attribute = |name: &str, kind: &str| item.get(name)?.get(kind)?.as_str();
    let read = || Some((STANDARD.decode(attribute("value", "B")?).ok()?, attribute("expires_at", "N")?.parse().ok()?));
    let foreign = || Error::new(ErrorKind::Protocol, format!("an item of the DynamoDB table `{table}` has no `value` and `expires_at`"));
    read().map(Some).ok_or_else(foreign)
}

/// A signed request.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration): the credentials cannot stand in a header.
pub(super) fn request(settings: &DynamoDbSettings, operation: &str, body: &Json, now_ms: u64) -> Result<HttpRequest> {
    let operation = Operation {
        path: "",
        target: Some(&format!("{API}.{operation}")),
        content_type: "application/x-amz-json-1.0",
        body,
        deadline_ms: now_ms.saturating_add(TIMEOUT_MS),
        max_response_bytes: LONGEST_ANSWER_BYTES,
    };
    settings.service.request(operation, now_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_read_as_it_was_written() {
        let written = put_item("t", "k", b"\0\xff", 17);
        let body = json!({ "Item": written["Item"] }).to_string();
        assert_eq!(item("t", body.as_bytes()).unwrap(), Some((vec![0, 0xff], 17)));
        assert_eq!(item("t", b"{}").unwrap(), None);
        for foreign in [
            r#"{"Item":{}}"#,
            r#"{"Item":{"value":{"S":"x"},"expires_at":{"N":"1"}}}"#,
            r#"{"Item":{"value":{"B":"!"},"expires_at":{"N":"1"}}}"#,
            "<html>",
            "",
        ] {
            assert_eq!(item("t", foreign.as_bytes()).unwrap_err().kind, ErrorKind::Protocol, "{foreign}");
        }
    }
}
