//! JSON text of arrays, for SQLite's `json_each(?1)`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Json, value::Value};

/// An array as JSON text. Integers stay exact, because SQLite reads them as 64-bit integers; bytes
/// are base64.
pub(super) fn of_array(elements: &[Value]) -> String {
    Json::Array(elements.iter().map(element).collect()).to_string()
}

fn element(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::I64(value) => Json::from(*value),
        Value::U64(value) => i64::try_from(*value).map_or_else(|_| Json::String(value.to_string()), Json::from),
        Value::F64(value) => Json::from(*value),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => Json::String(STANDARD.encode(bytes)),
        Value::Json(json) => json.clone(),
        Value::Array(elements) => Json::Array(elements.iter().map(element).collect()),
    }
}
