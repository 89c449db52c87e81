//! The header fields that mirror a modern request's body: `MCP-Protocol-Version`, `Mcp-Method`,
//! `Mcp-Name`, `Mcp-Param-*`.
//!
//! Gateways route by them; the body is the truth. So a field that says something else than the body
//! is refused, and so is one that appears twice with different values; nothing is ever decided by a
//! field alone. The same value twice, in two fields or joined in one, says what it says once.
//!
//! A value that a header field cannot carry is sent as `=?base64?…?=`, in the standard alphabet and
//! with padding.

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
    strict,
};

/// Below it every integer is a double of its own: 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
/// The field with the version.
pub(super) const VERSION_FIELD: &str = "mcp-protocol-version";
/// How a value begins that is encoded.
const ENCODED: &str = "=?base64?";

/// Every version that `MCP-Protocol-Version` names: a proxy may have joined two fields to one.
pub(super) fn versions(headers: &Headers) -> impl Iterator<Item = &str> {
    headers.all(VERSION_FIELD).flat_map(|value| value.split(',')).map(|version| version.trim_matches([' ', '\t']))
}

/// Checks one field against what the body says; `None` where the body says nothing. Says whether
/// the field is there.
pub(super) fn mirror(headers: &Headers, field: &str, body: Option<&str>, encoded: bool) -> Result<bool, RpcError> {
    let (value, body) = match (only(headers, field)?, body) {
        (None, _) => return Ok(false),
        (Some(_), None) => return Err(mismatch(field, "names what the body does not")),
        (Some(value), Some(body)) => (value, body),
    };
    let equal = if encoded { says(field, value, body)? } else { is_repeated(value, body) };
    if equal { Ok(true) } else { Err(mismatch(field, "differs from the body")) }
}

/// Whether a field says a text, once or several times.
fn says(field: &str, value: &str, text: &str) -> Result<bool, RpcError> {
    let first = value.split(',').next().unwrap_or_default().trim_end_matches([' ', '\t']);
    let value = if first.starts_with(ENCODED) && is_repeated(value, first) { first } else { value };
    Ok(decode(field, value)? == text || (!value.starts_with(ENCODED) && is_repeated(value, text)))
}

/// Whether a value is a text, or the text several times with commas between, as a proxy joins
/// fields of one name.
fn is_repeated(value: &str, text: &str) -> bool {
    let mut rest = value;
    while let Some(after) = rest.strip_prefix(text) {
        let after = after.trim_start_matches([' ', '\t']);
        match after.strip_prefix(',') {
            Some(after) if !text.is_empty() => rest = after.trim_start_matches([' ', '\t']),
            _ => return after.is_empty(),
        }
    }
    false
}

/// Checks the `Mcp-Param-*` fields of a tool. Fields that belong to no input are ignored;
/// `may_omit` says which ones may be missing.
pub(super) fn params(
    headers: &Headers,
    inputs: &[Input],
    arguments: Option<&Map<String, Json>>,
    may_omit: &dyn Fn(&str) -> bool,
) -> Result<(), RpcError> {
    for input in inputs {
        let argument = arguments.and_then(|arguments| arguments.get(&input.name)).filter(|value| !value.is_null());
        if let Some(name) = &input.header {
            param(headers, &format!("Mcp-Param-{name}"), argument, may_omit)?;
        }
        if !input.fields.is_empty() {
            // An object may be sent as text, and its members have fields all the same.
            let of_text = argument.and_then(Json::as_str).and_then(|text| strict::parse(text, 0));
            params(headers, &input.fields, of_text.as_ref().or(argument).and_then(Json::as_object), may_omit)?;
        }
    }
    Ok(())
}

fn param(headers: &Headers, field: &str, argument: Option<&Json>, may_omit: &dyn Fn(&str) -> bool) -> Result<(), RpcError> {
    let value = only(headers, field)?;
    let (value, argument) = match (value, argument) {
        (None, None) => return Ok(()),
        // A value of such a type has no form as a field; validation refuses it in a moment.
        (None, Some(Json::Array(_) | Json::Object(_))) => return Ok(()),
        (None, Some(_)) if may_omit(&field.to_ascii_lowercase()) => return Ok(()),
        (None, Some(_)) => return Err(missing(field)),
        (Some(_), None) => return Err(mismatch(field, "names what the body does not")),
        (Some(value), Some(Json::String(text))) => {
            return if says(field, value, text)? { Ok(()) } else { Err(mismatch(field, "differs from the body")) };
        }
        (Some(value), Some(argument)) => {
            let first = value.split(',').next().unwrap_or_default().trim_end_matches([' ', '\t']);
            (decode(field, if is_repeated(value, first) { first } else { value })?, argument)
        }
    };
    let equal = match argument {
        Json::Bool(truth) => value == truth.to_string(),
        Json::Number(number) => same_number(&value, number),
        Json::Null | Json::String(_) | Json::Array(_) | Json::Object(_) => false,
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

/// Of two different values, one at least is not the body's. Some hosts join them before they
/// arrive, so they are told of like one that differs.
fn only<'h>(headers: &'h Headers, field: &str) -> Result<Option<&'h str>, RpcError> {
    headers.same(field).map_err(|Repeated| mismatch(field, "differs from the body"))
}

/// Undoes `=?base64?…?=`.
fn decode<'v>(field: &str, value: &'v str) -> Result<Cow<'v, str>, RpcError> {
    let Some(encoded) = value.strip_prefix(ENCODED).and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| mismatch(field, "is not valid base64"))?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| mismatch(field, "does not decode to UTF-8"))
}

/// The refusal of a request without a field.
pub(super) fn missing(field: &str) -> RpcError {
    mismatch(field, "is missing")
}

fn mismatch(field: &str, problem: &str) -> RpcError {
    RpcError::http(400, HEADER_MISMATCH, format!("Header mismatch: `{field}` {problem}"))
}
