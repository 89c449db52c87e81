//! An answer → rows, as connector `postgres` has them for the same cells.
//!
//! A cell is turned back into the text that PostgreSQL writes, and read by what all of its
//! connectors share. The API has lost two things by then: the zone of a `timestamptz`, which is
//! UTC, and the digits of a `real`, which is a double there.
//!
//! Form: <https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ExecuteStatement.html#API_ExecuteStatement_ResponseSyntax>.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Error, ErrorKind, Json,
    ports::Query,
    value::{Rows, Value, unique_names},
};

use crate::{
    postgres_text::{Elements, Kind, Scalar},
    shared::{RowSink, StatementFailure},
};

/// The most columns of a result, `MaxTupleAttributeNumber`.
const MAX_COLUMNS: usize = 1_664;
/// The lists that an array may be, of the deepest last.
const LISTS: [&str; 5] = ["longValues", "stringValues", "doubleValues", "booleanValues", "arrayValues"];
/// The deepest array that PostgreSQL has.
const DEEPEST: usize = 6;

/// A column: its name, what its cells are, and whether its type has less digits or more zone than
/// the API says.
struct Column {
    name: String,
    kind: Kind,
    is_real: bool,
    is_zoned: bool,
}

impl Column {
    fn of(metadata: &Json) -> Option<Self> {
        let text = |name: &str| metadata.get(name).and_then(Json::as_str);
        let name = text("label").filter(|label| !label.is_empty()).or_else(|| text("name"))?.to_owned();
        let type_name = text("typeName").unwrap_or_default().to_ascii_lowercase();
        let element = type_name.trim_start_matches('_');
        Some(Self { name, kind: Kind::of_name(&type_name), is_real: element == "float4", is_zoned: element == "timestamptz" })
    }

    /// The value of a cell, and how many bytes it counts as.
    fn value(&self, field: &Json) -> Option<(Value, usize)> {
        let (name, content) = field.as_object()?.iter().find(|(_, content)| !content.is_null())?;
        Some(match name.as_str() {
            "isNull" if content == true => (Value::Null, 0),
            "blobValue" => {
                let bytes = STANDARD.decode(content.as_str()?).ok()?;
                let length = bytes.len();
                (Value::Bytes(bytes), length)
            }
            "arrayValue" => {
                let scalar = match self.kind {
                    Kind::Array(Elements { scalar, .. }) => scalar,
                    Kind::One(_) => Scalar::Text,
                };
                let array = self.array(content, scalar, 0)?;
                let length = array.size();
                (array, length)
            }
            "stringValue" | "longValue" | "doubleValue" | "booleanValue" => {
                let text = self.text(content)?;
                (self.kind.value(text.as_bytes()), text.len())
            }
            _ => return None,
        })
    }

    /// What PostgreSQL would have written.
    fn text(&self, content: &Json) -> Option<String> {
        Some(match content {
            Json::String(text) if self.is_zoned => zoned(text),
            Json::String(text) => text.clone(),
            Json::Bool(truth) => if *truth { "t" } else { "f" }.to_owned(),
            Json::Number(number) if self.is_real => real(number.as_f64()?),
            Json::Number(number) => number.to_string(),
            _ => return None,
        })
    }

    fn array(&self, content: &Json, scalar: Scalar, depth: usize) -> Option<Value> {
        let list = LISTS.iter().find_map(|name| content.get(name).filter(|list| !list.is_null()));
        // An array without elements has no list of a type.
        let Some(list) = list else { return content.is_object().then(|| Value::Array(Vec::new())) };
        let element = |element: &Json| match element {
            Json::Null => Some(Value::Null),
            Json::Object(_) if depth < DEEPEST => self.array(element, scalar, depth + 1),
            element => Some(Kind::One(scalar).value(self.text(element)?.as_bytes())),
        };
        list.as_array()?.iter().map(element).collect::<Option<_>>().map(Value::Array)
    }
}

/// The rows of a statement's answer, within the query's limits.
///
/// # Errors
/// There are too many of them, or the answer has another form. The statement has been executed.
pub(super) fn rows_of(mut reply: Json, query: &Query<'_>) -> Result<Rows, StatementFailure> {
    let mut member = |name: &str| reply.get_mut(name).map(Json::take).unwrap_or_default();
    let (metadata, records, changed) = (member("columnMetadata"), member("records"), member("numberOfRecordsUpdated"));
    let list = |json: Json| match json {
        Json::Null => Ok(Vec::new()),
        Json::Array(list) => Ok(list),
        _ => Err(broken("a list has another form")),
    };
    let (metadata, records) = (list(metadata)?, list(records)?);
    if metadata.len() > MAX_COLUMNS {
        return Err(broken("a result has more columns than PostgreSQL allows"));
    }
    let columns: Vec<Column> = metadata.iter().map(Column::of).collect::<Option<_>>().ok_or_else(|| broken("a column has no name"))?;
    if columns.is_empty() {
        // A statement that reads and has no columns has rows, of nothing.
        let affected = changed.as_u64().filter(|_| records.is_empty()).unwrap_or(records.len() as u64);
        return if changed.is_u64() || !records.is_empty() {
            Ok(Rows { affected, ..Rows::default() })
        } else {
            Err(broken("an answer says nothing"))
        };
    }
    let mut sink = RowSink::of(query);
    for record in &records {
        let cells =
            record.as_array().filter(|cells| cells.len() == columns.len()).ok_or_else(|| broken("a row has other cells than columns"))?;
        let (mut values, mut bytes) = (Vec::with_capacity(cells.len()), 0);
        for (column, cell) in columns.iter().zip(cells) {
            let (value, length) = column.value(cell).ok_or_else(|| broken("a cell has a form of its own"))?;
            bytes += length;
            values.push(value);
        }
        if sink.admits(bytes) {
            sink.push(values);
        }
    }
    sink.into_rows(unique_names(columns.iter().map(|column| column.name.as_str())).into())
}

/// A `timestamptz` with its zone, which the API leaves out.
fn zoned(text: &str) -> String {
    let has_zone = text.split_once(' ').is_none_or(|(_, time)| time.contains(['+', '-', ' ']));
    if has_zone { text.to_owned() } else { format!("{text}+00") }
}

/// The digits that PostgreSQL writes for a `real` which was made a double.
#[allow(clippy::cast_possible_truncation, reason = "it was a `real` before")]
fn real(number: f64) -> String {
    (number as f32).to_string()
}

/// An answer that is none: the statement may have been executed.
pub(super) fn broken(what: &str) -> StatementFailure {
    let message = "the Data API sent a response that is not understood";
    StatementFailure::unknown(Error::new(ErrorKind::Protocol, message).with_source(what))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::shared::own_query;

    fn cell(type_name: &str, field: Json) -> Option<Value> {
        let reply =
            json!({ "columnMetadata": [{ "label": "v", "typeName": type_name }], "records": [[field]], "numberOfRecordsUpdated": 0 });
        rows_of(reply, &Query { max_bytes: 1000, ..own_query("", 0) }).ok().map(|mut rows| rows.rows.remove(0).remove(0))
    }

    #[test]
    fn cells_are_what_postgresql_has() {
        let time = |text: &str| Value::Timestamp(text.to_owned());
        let text = |text: &str| Value::Text(text.to_owned());
        for (type_name, field, expected) in [
            ("int4", json!({ "longValue": 7 }), Value::I64(7)),
            ("serial", json!({ "longValue": 7 }), Value::I64(7)),
            ("int8", json!({ "stringValue": "-9223372036854775808" }), Value::I64(i64::MIN)),
            ("int8", json!({ "longValue": 9_007_199_254_740_993_i64 }), Value::I64((1 << 53) + 1)),
            ("bool", json!({ "booleanValue": false }), Value::Bool(false)),
            ("float8", json!({ "doubleValue": 0.1 }), Value::F64(0.1)),
            ("float4", json!({ "doubleValue": f64::from(0.1_f32) }), Value::F64(0.1)),
            ("float8", json!({ "doubleValue": "-Infinity" }), Value::F64(f64::NEG_INFINITY)),
            ("numeric", json!({ "stringValue": "1.50" }), Value::Decimal("1.50".into())),
            ("bytea", json!({ "blobValue": "AP8=" }), Value::Bytes(vec![0, 255])),
            ("jsonb", json!({ "stringValue": "{\"a\": 1}" }), Value::Json(json!({ "a": 1 }))),
            ("timestamptz", json!({ "stringValue": "2026-01-02 03:04:05.1" }), time("2026-01-02T03:04:05.1Z")),
            ("timestamptz", json!({ "stringValue": "2026-01-02 03:04:05+05:30" }), time("2026-01-02T03:04:05+05:30")),
            ("timestamptz", json!({ "stringValue": "infinity" }), time("infinity")),
            ("timestamptz", json!({ "stringValue": "0044-03-15 00:00:00 BC" }), time("0044-03-15 00:00:00 BC")),
            ("timestamp", json!({ "stringValue": "2026-01-02 03:04:05" }), time("2026-01-02T03:04:05")),
            ("date", json!({ "stringValue": "2026-01-02" }), time("2026-01-02")),
            ("uuid", json!({ "stringValue": "a" }), text("a")),
            ("mood", json!({ "stringValue": "sad" }), text("sad")),
            ("text", json!({ "isNull": true }), Value::Null),
            (
                "_int8",
                json!({ "arrayValue": { "longValues": [9_007_199_254_740_993_i64, null] } }),
                Value::Array(vec![Value::I64((1 << 53) + 1), Value::Null]),
            ),
            ("_text", json!({ "arrayValue": { "stringValues": ["a", "NULL"] } }), Value::Array(vec![text("a"), text("NULL")])),
            ("_float4", json!({ "arrayValue": { "doubleValues": [f64::from(0.1_f32)] } }), Value::Array(vec![Value::F64(0.1)])),
            ("_bool", json!({ "arrayValue": { "booleanValues": [true] } }), Value::Array(vec![Value::Bool(true)])),
            (
                "_timestamptz",
                json!({ "arrayValue": { "stringValues": ["2026-01-02 03:04:05"] } }),
                Value::Array(vec![time("2026-01-02T03:04:05Z")]),
            ),
            (
                "_int4",
                json!({ "arrayValue": { "arrayValues": [{ "longValues": [1] }] } }),
                Value::Array(vec![Value::Array(vec![Value::I64(1)])]),
            ),
            ("_int4", json!({ "arrayValue": {} }), Value::Array(Vec::new())),
            ("_int4", json!({ "stringValue": "{1,2}" }), Value::Array(vec![Value::I64(1), Value::I64(2)])),
        ] {
            assert_eq!(cell(type_name, field.clone()), Some(expected), "{type_name} {field}");
        }
        for field in [
            json!(7),
            json!({}),
            json!({ "blobValue": "?" }),
            json!({ "stringValue": [] }),
            json!({ "newValue": 1 }),
            json!({ "isNull": false }),
        ] {
            assert_eq!(cell("text", field.clone()), None, "{field}");
        }
    }
}
