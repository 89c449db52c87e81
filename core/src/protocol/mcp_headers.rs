//! The header fields that mirror a modern request's body: `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`.
//!
//! Gateways route by them; the body is the truth. So a field that says something else than the body, or stands twice, is
//! refused, and nothing is ever decided by a field alone.
//!
//! A value that a header field cannot carry is sent as `=?base64?…?=`, in the standard alphabet and with padding.

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Number};

use super::rpc_error::{HEADER_MISMATCH, RpcError};
use crate::{
    Json,
    app::Input,
    headers::{Headers, Repeated},
};

/// Below it every integer is a double of its own: 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Checks one field against what the body says; `None` where the body says nothing.
pub(super) fn mirror(headers: &Headers, field: &str, body: Option<&str>, encoded: bool) -> Result<(), RpcError> {
    let value = only(headers, field)?;
    let (value, body) = match (value, body) {
        (None, None) => return Ok(()),
        (None, Some(_)) => return Err(mismatch(field, "is missing")),
        (Some(_), None) => return Err(mismatch(field, "names what the body does not")),
        (Some(value), Some(body)) => (value, body),
    };
    let value = if encoded { decode(field, value)? } else { Cow::Borrowed(value) };
    if value == body { Ok(()) } else { Err(mismatch(field, "differs from the body")) }
}

/// Checks the `Mcp-Param-*` fields of a tool. Fields that belong to no input are ignored.
pub(super) fn params(headers: &Headers, inputs: &[Input], arguments: Option<&Map<String, Json>>) -> Result<(), RpcError> {
    for input in inputs {
        let argument = arguments.and_then(|arguments| arguments.get(&input.name)).filter(|value| !value.is_null());
        if let Some(name) = &input.header {
            param(headers, &format!("Mcp-Param-{name}"), argument)?;
        }
        if !input.fields.is_empty() {
            params(headers, &input.fields, argument.and_then(Json::as_object))?;
        }
    }
    Ok(())
}

fn param(headers: &Headers, field: &str, argument: Option<&Json>) -> Result<(), RpcError> {
    let value = only(headers, field)?;
    let (value, argument) = match (value, argument) {
        (None, None) => return Ok(()),
        // A value of such a type has no form as a field; validation refuses it in a moment.
        (None, Some(Json::Array(_) | Json::Object(_))) => return Ok(()),
        (None, Some(_)) => return Err(mismatch(field, "is missing")),
        (Some(_), None) => return Err(mismatch(field, "names what the body does not")),
        (Some(value), Some(argument)) => (decode(field, value)?, argument),
    };
    let equal = match argument {
        Json::String(text) => value == *text,
        Json::Bool(truth) => value == truth.to_string(),
        Json::Number(number) => same_number(&value, number),
        Json::Null | Json::Array(_) | Json::Object(_) => false,
    };
    if equal { Ok(()) } else { Err(mismatch(field, "differs from the body")) }
}

/// Whether a text says that number. Integers are compared exactly, whatever their size.
fn same_number(text: &str, number: &Number) -> bool {
    if let (Ok(parsed), Some(integer)) = (text.parse::<i64>(), number.as_i64()) {
        return parsed == integer;
    }
    if let (Ok(parsed), Some(integer)) = (text.parse::<u64>(), number.as_u64()) {
        return parsed == integer;
    }
    let Ok(parsed) = serde_json::from_str::<f64>(text) else { return false };
    let exact = number.is_f64() || parsed.abs() < MAX_EXACT;
    exact && number.as_f64() == Some(parsed)
}

fn only<'h>(headers: &'h Headers, field: &str) -> Result<Option<&'h str>, RpcError> {
    headers.only(field).map_err(|Repeated| mismatch(field, "appears more than once"))
}

/// Undoes `=?base64?…?=`.
fn decode<'v>(field: &str, value: &'v str) -> Result<Cow<'v, str>, RpcError> {
    let Some(encoded) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| mismatch(field, "is not valid base64"))?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| mismatch(field, "does not decode to UTF-8"))
}

fn mismatch(field: &str, problem: &str) -> RpcError {
    RpcError::http(400, HEADER_MISMATCH, format!("Header mismatch: `{field}` {problem}"))
}
