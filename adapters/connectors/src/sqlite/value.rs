//! Values of the core ↔ values of SQLite.

use millrace_core::value::Value;
use rusqlite::{
    ToSql,
    types::{ToSqlOutput, Value as Owned, ValueRef},
};

use crate::json_text;

/// A value as SQLite binds it.
pub(super) struct Bound<'a>(pub(super) &'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Bool(value) => ToSqlOutput::Borrowed(ValueRef::Integer(i64::from(*value))),
            Value::I64(value) => ToSqlOutput::Borrowed(ValueRef::Integer(*value)),
            Value::U64(value) => match i64::try_from(*value) {
                Ok(value) => ToSqlOutput::Borrowed(ValueRef::Integer(value)),
                Err(_) => ToSqlOutput::Owned(Owned::Text(value.to_string())),
            },
            Value::F64(value) => ToSqlOutput::Borrowed(ValueRef::Real(*value)),
            Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Value::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Value::Json(json) => ToSqlOutput::Owned(Owned::Text(json.to_string())),
            Value::Array(elements) => ToSqlOutput::Owned(Owned::Text(json_text::of_array(elements))),
        })
    }
}

/// A cell of a result. Text that is not UTF-8 becomes bytes.
pub(super) fn cell(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::I64(value),
        ValueRef::Real(value) => Value::F64(value),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Bytes(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

/// How much a cell counts towards `max_bytes`.
pub(super) const fn cell_bytes(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null => 0,
        ValueRef::Integer(_) | ValueRef::Real(_) => 8,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
    }
}
