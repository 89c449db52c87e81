//! A value of the call → a bound value.

use alloc::{format, string::String};

use super::rendered::variable;
use crate::{
    Json,
    app::{Bind, InputKind, Piece},
    fault::FaultResult,
    pipeline::{
        call::run::Run,
        call::scope::Scope,
        content::json_text::{push_text, text_of},
    },
    value::Value,
};

/// The value of a place.
pub(super) fn bound(run: &Run<'_>, scope: Scope<'_>, bind: &Bind) -> FaultResult<Value> {
    let pieces = match bind {
        Bind::Value { source, kind } => return Ok(scope.find(source).map_or(Value::Null, |value| typed(value, *kind))),
        Bind::Composed(pieces) => pieces,
    };
    if let [Piece::Source(source)] = pieces.as_slice() {
        return Ok(match scope.find(source) {
            None | Some(Json::Null) => Value::Null,
            Some(value) => Value::Text(text_of(value)),
        });
    }
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Source(source) => push_text(&mut text, scope.find(source).unwrap_or(&Json::Null)),
            Piece::Env(name) => text.push_str(variable(run, name)?.expose()),
        }
    }
    Ok(Value::Text(text))
}

/// A JSON value with its declared type; with the type it has where none is declared, or where it is
/// not of the declared one.
pub(super) fn typed(value: &Json, kind: Option<InputKind>) -> Value {
    match (value, kind) {
        (Json::Null, _) => Value::Null,
        // Only where the database takes an array of its own does a list have this type; see
        // `Bind::Value`.
        (Json::Array(elements), Some(InputKind::Array)) => Value::Array(elements.iter().map(element).collect()),
        (_, Some(InputKind::Json | InputKind::Object)) | (Json::Array(_) | Json::Object(_), _) => Value::Json(value.clone()),
        (Json::Number(number), Some(InputKind::Float)) => number.as_f64().map_or(Value::Null, Value::F64),
        (Json::Number(number), _) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => Value::I64(integer),
            (None, Some(integer)) => Value::U64(integer),
            (None, None) => number.as_f64().map_or(Value::Null, Value::F64),
        },
        (Json::Bool(truth), _) => Value::Bool(*truth),
        (Json::String(text), Some(InputKind::Datetime | InputKind::Date)) => Value::Timestamp(with_minutes(text)),
        (Json::String(text), _) => Value::Text(text.clone()),
    }
}

/// A moment with the offset `+02` as the one with `+02:00`, which is all that some databases read.
fn with_minutes(text: &str) -> String {
    let has_hours =
        text.contains(':') && text.len().checked_sub(3).and_then(|at| text.get(at..)).is_some_and(|end| end.starts_with(['+', '-']));
    if has_hours { format!("{text}:00") } else { text.into() }
}

/// An element of an array; a list in it is a dimension.
fn element(value: &Json) -> Value {
    typed(value, value.is_array().then_some(InputKind::Array))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_bound_with_their_declared_type() {
        use InputKind::{Array, Boolean, Date, Datetime, Float, Int, Object, String as Text, Uuid};
        let table = [
            (json!(7), Some(Int), Value::I64(7)),
            (json!(i64::MIN), Some(Int), Value::I64(i64::MIN)),
            (json!(7), Some(Float), Value::F64(7.0)),
            (json!(0.1), Some(Float), Value::F64(0.1)),
            (json!(true), Some(Boolean), Value::Bool(true)),
            (json!("x"), Some(Text), Value::Text("x".into())),
            (json!("0a"), Some(Uuid), Value::Text("0a".into())),
            (json!("2026-01-01"), Some(Date), Value::Timestamp("2026-01-01".into())),
            (json!("2026-01-01T00:00:00Z"), Some(Datetime), Value::Timestamp("2026-01-01T00:00:00Z".into())),
            (json!("2026-01-01T00:00:00"), Some(Datetime), Value::Timestamp("2026-01-01T00:00:00".into())),
            (json!("2026-01-01 00:00:00.5+00"), Some(Datetime), Value::Timestamp("2026-01-01 00:00:00.5+00:00".into())),
            (json!("2026-01-01 00:00:00-08"), Some(Datetime), Value::Timestamp("2026-01-01 00:00:00-08:00".into())),
            (json!("2026-01-01 00:00:00-08:00"), Some(Datetime), Value::Timestamp("2026-01-01 00:00:00-08:00".into())),
            (json!([1, "a", null]), Some(Array), Value::Array(vec![Value::I64(1), Value::Text("a".into()), Value::Null])),
            (json!([[true], []]), Some(Array), Value::Array(vec![Value::Array(vec![Value::Bool(true)]), Value::Array(vec![])])),
            (json!([{"a": [1]}]), Some(Array), Value::Array(vec![Value::Json(json!({"a": [1]}))])),
            (json!({"a": 1}), Some(Array), Value::Json(json!({"a": 1}))),
            (json!({"a": 1}), Some(Object), Value::Json(json!({"a": 1}))),
            (json!("x"), Some(InputKind::Json), Value::Json(json!("x"))),
            (json!(null), Some(Int), Value::Null),
            (json!(u64::MAX), None, Value::U64(u64::MAX)),
            (json!(1.5), None, Value::F64(1.5)),
            (json!([1]), None, Value::Json(json!([1]))),
            (json!("2026-01-01"), None, Value::Text("2026-01-01".into())),
        ];
        for (value, kind, expected) in table {
            assert_eq!(typed(&value, kind), expected, "{value} {kind:?}");
        }
    }
}
