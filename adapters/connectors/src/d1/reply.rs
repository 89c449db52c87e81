//! What D1 answers, by the API and by the binding: `{"columns": [names], "rows": [[cells]]}`, and
//! how many rows were changed.

use std::fmt;

use millrace_core::{
    Error, ErrorKind, Result,
    value::{MAX_SAFE_INTEGER, Rows, Value, unique_names},
};
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};

use super::statement::Prepared;
use crate::shared::StatementFailure;

/// The answer to one statement.
#[derive(Debug, Default, Deserialize)]
pub struct Reply {
    /// The names of the columns. A result without rows may come without them.
    pub columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
    /// How many rows the statement changed.
    #[serde(default)]
    pub changes: u64,
}

impl Reply {
    /// Reads an answer.
    ///
    /// # Errors
    /// It is not understood; whether the statement was executed is not known.
    pub fn parse(json: &[u8]) -> Result<Self, StatementFailure> {
        serde_json::from_slice(json).map_err(|error| StatementFailure::unknown(not_understood().with_source(place_of(&error))))
    }

    /// Reads the answers to several statements.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), also where they are not so many.
    pub fn parse_batch(json: &[u8], count: usize) -> Result<Vec<Self>, StatementFailure> {
        let replies: Vec<Self> =
            serde_json::from_slice(json).map_err(|error| StatementFailure::unknown(not_understood().with_source(place_of(&error))))?;
        if replies.len() == count { Ok(replies) } else { Err(StatementFailure::unknown(not_understood())) }
    }

    /// The rows for the core.
    ///
    /// # Errors
    /// A row that has more or fewer cells than there are columns, or an integer that D1 has
    /// rounded.
    pub(super) fn into_rows(self, prepared: &Prepared<'_>) -> Result<Rows, StatementFailure> {
        let Self { columns, rows, changes } = self;
        if rows.iter().any(|row| row.len() != columns.len()) {
            return Err(StatementFailure::unknown(not_understood()));
        }
        if columns.is_empty() && !prepared.effect.returns {
            return Ok(Rows { affected: changes, ..Rows::default() });
        }
        // A result without rows is a list all the same.
        let names: Vec<String> =
            if columns.is_empty() { vec![String::new()] } else { columns.iter().map(|name| prepared.original_name(name)).collect() };
        let cells =
            |row: Vec<Cell>| row.into_iter().zip(&names).map(|(Cell(value), name)| exact(value, name, !prepared.effect.reads)).collect();
        let rows = rows.into_iter().map(cells).collect::<Result<_>>().map_err(StatementFailure::last)?;
        Ok(Rows { columns: unique_names(names.iter().map(String::as_str)).into(), rows, ..Rows::default() })
    }
}

/// An answer that makes no sense.
pub(super) fn not_understood() -> Error {
    Error::new(ErrorKind::Protocol, "D1 sent a response that is not understood")
}

/// Where JSON is wrong. Serde's own words may quote a value.
pub(super) fn place_of(error: &serde_json::Error) -> String {
    format!("{:?} error at line {}, column {}", error.classify(), error.line(), error.column())
}

/// A value as it came from D1, unless it is a whole number that D1 has rounded.
fn exact(value: Value, column: &str, wrote: bool) -> Result<Value> {
    let is_exact = match &value {
        Value::I64(value) => value.unsigned_abs() <= MAX_SAFE_INTEGER,
        Value::U64(value) => *value <= MAX_SAFE_INTEGER,
        // Without a fraction or an exponent, JavaScript prints up to 21 digits.
        Value::F64(value) => value.fract() != 0.0 || value.abs() >= 1e21 || value.abs() <= MAX_SAFE_INTEGER as f64,
        _ => true,
    };
    if is_exact {
        return Ok(value);
    }
    let changed = if wrote { "; the statement took effect" } else { "" };
    let message = format!(
        "the column `{column}` contains a number beyond 2^53, which D1 rounds; select it as text: `CAST({column} AS TEXT) AS \
         {column}`{changed}"
    );
    Err(Error::new(ErrorKind::Protocol, message))
}

/// A number, a text, null, or bytes as a list of numbers.
#[derive(Debug)]
struct Cell(Value);

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Cell, E> {
        Ok(Cell(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Cell, E> {
        Ok(Cell(Value::I64(i64::from(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Cell, E> {
        Ok(Cell(Value::I64(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Cell, E> {
        // Beyond `i64` is what JavaScript made of an integer near its end.
        Ok(Cell(i64::try_from(value).map_or(Value::U64(value), Value::I64)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Cell, E> {
        Ok(Cell(Value::F64(value)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cell, E> {
        Ok(Cell(Value::Text(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Cell, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(Cell(Value::Bytes(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Execution;

    fn read(statement: &str, json: &str) -> Result<Rows, StatementFailure> {
        let values = [Value::I64(1)];
        Reply::parse(json.as_bytes())?.into_rows(&Prepared::of(statement, &values, true).unwrap())
    }

    fn rows(json: &str) -> Result<Rows, StatementFailure> {
        read("SELECT ?1", json)
    }

    #[test]
    fn cells_have_their_types_and_columns_the_authors_names() {
        let found = rows(r#"{"columns":["json_extract(?1, '$')","a","a","b","c"],"rows":[[1,2.5,null,"x\u0000",[222,0]]]}"#).unwrap();
        assert_eq!(*found.columns, ["?1", "a", "a_2", "b", "c"].map(String::from));
        let cells = vec![Value::I64(1), Value::F64(2.5), Value::Null, Value::Text("x\0".into()), Value::Bytes(vec![222, 0])];
        assert_eq!(found.rows, [cells]);
    }

    #[test]
    fn a_rounded_integer_is_an_error_that_names_the_column_and_a_great_float_is_not() {
        for number in ["9007199254740992", "-9007199254740992", "9223372036854776000", "9223372036854775807", "100000000000000000000"] {
            let body = format!(r#"{{"columns":["v","total"],"rows":[[1,{number}]]}}"#);
            let StatementFailure { error, outcome } = rows(&body).unwrap_err();
            assert_eq!((error.kind, outcome), (ErrorKind::Protocol, Execution::Final), "{number}");
            assert!(error.message.ends_with("`CAST(total AS TEXT) AS total`"), "{}", error.message);
            let written = read("DELETE FROM t RETURNING v, ?1", &body).unwrap_err().error;
            assert!(written.message.ends_with("; the statement took effect"), "{}", written.message);
        }
        for (number, value) in
            [("9007199254740991", Value::I64(9_007_199_254_740_991)), ("1e+300", Value::F64(1e300)), ("1e+21", Value::F64(1e21))]
        {
            assert_eq!(rows(&format!(r#"{{"columns":["n"],"rows":[[{number}]]}}"#)).unwrap().rows, [[value]], "{number}");
        }
    }

    #[test]
    fn a_result_without_columns_is_a_count_or_an_empty_list() {
        let empty = r#"{"columns":[],"rows":[],"changes":3}"#;
        assert_eq!(read("DELETE FROM t WHERE id = ?1", empty).unwrap(), Rows { affected: 3, ..Rows::default() });
        for statement in ["SELECT ?1", "DELETE FROM t WHERE id = ?1 RETURNING id"] {
            assert_eq!(serde_json::to_value(read(statement, empty).unwrap().json()).unwrap(), serde_json::json!([]));
        }
    }

    #[test]
    fn nonsense_is_an_unknown_outcome_and_shows_no_value() {
        let whole = r#"{"columns":["v"],"rows":[["secret"]],"changes":0}"#;
        let halves = (0..whole.len()).map(|length| &whole[..length]);
        let others = [
            "null",
            "<html>",
            "{\"rows\":1}",
            r#"{"columns":["v"],"rows":[[]]}"#,
            r#"{"columns":["v"],"rows":[[{}]]}"#,
            r#"{"columns":["v"],"rows":[[[256]]]}"#,
            r#"{"columns":["v"],"rows":[[["secret"]]]}"#,
        ];
        for nonsense in halves.chain(others) {
            let StatementFailure { error, outcome } = rows(nonsense).unwrap_err();
            assert_eq!((error.kind, outcome), (ErrorKind::Protocol, Execution::Unknown), "{nonsense}");
            assert!(!error.source.as_deref().unwrap_or_default().contains("secret"));
        }
        rows(whole).unwrap();
    }
}
