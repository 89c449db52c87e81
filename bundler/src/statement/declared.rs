//! The types that parameters are declared with in the text of a statement, where a dialect does so.

use millrace_core::app::{Input, InputKind};

use super::source::Value;

/// ClickHouse's type for a value, as it is declared in the statement. One that can be missing or
/// null is `Nullable`; what has no declared type is a text, which ClickHouse compares with a column
/// of any type.
pub(super) fn clickhouse_type(value: &Value<'_>) -> String {
    let may_be_missing = match value.input {
        // What is above it may be missing, too.
        Some(input) => input.nullable || (input.optional && input.default.is_none()) || value.source.path.len() > 1,
        None => value.elements.is_none(),
    };
    match (value.elements, value.input) {
        (Some(_), Some(input)) => clickhouse_list(input),
        (Some(elements), None) => format!("Array({})", nullable(clickhouse_scalar(elements), elements.is_none())),
        (None, _) => nullable(clickhouse_scalar(value.kind), may_be_missing),
    }
}

/// A list: of the declared elements, or of texts.
fn clickhouse_list(input: &Input) -> String {
    let elements = match input.items.as_deref() {
        Some(items) if items.kind == InputKind::Array => clickhouse_list(items),
        Some(items) => nullable(clickhouse_scalar(Some(items.kind)), items.nullable),
        None => nullable("String", true),
    };
    format!("Array({elements})")
}

fn nullable(name: &str, is_so: bool) -> String {
    if is_so { format!("Nullable({name})") } else { name.to_owned() }
}

const fn clickhouse_scalar(kind: Option<InputKind>) -> &'static str {
    match kind {
        Some(InputKind::Int) => "Int64",
        Some(InputKind::Float) => "Float64",
        Some(InputKind::Boolean) => "Bool",
        Some(InputKind::Datetime) => "DateTime64(6, 'UTC')",
        Some(InputKind::Date) => "Date32",
        Some(InputKind::Uuid) => "UUID",
        Some(InputKind::String | InputKind::Array | InputKind::Object | InputKind::Json) | None => "String",
    }
}
