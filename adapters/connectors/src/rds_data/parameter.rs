//! A value → a
//! [`SqlParameter`](https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_SqlParameter.html).
//!
//! | value | sent as |
//! |---|---|
//! | `Null` | `isNull` |
//! | `Bool` | `booleanValue` |
//! | `I64`, `U64` up to 2^63−1 | `longValue` |
//! | `Bytes` | `blobValue` |
//! | every other | `stringValue`: its text |
//!
//! There are no `typeHint`s: they take fewer values than PostgreSQL does (no `infinity`, three
//! digits of a second), and what a place needs is a cast in the statement (module `named`).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Json, value::Value};
use serde_json::json;

use crate::postgres_text::Parameter;

/// The value number `number`, counted from 1.
pub(super) fn written(number: usize, value: &Value, param: &Parameter) -> Json {
    let field = match value {
        Value::Bool(truth) => json!({ "booleanValue": truth }),
        Value::I64(number) => json!({ "longValue": number }),
        Value::U64(number) if i64::try_from(*number).is_ok() => json!({ "longValue": number }),
        Value::Bytes(bytes) => json!({ "blobValue": STANDARD.encode(bytes) }),
        _ => match &param.value {
            Some(text) => json!({ "stringValue": text }),
            None => json!({ "isNull": true }),
        },
    };
    json!({ "name": format!("p{number}"), "value": field })
}
