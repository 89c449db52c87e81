//! Rows as D1 gives them, as JSON: `{"columns": [names], "rows": [[cells]]}`.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind, Json, Result,
    value::{MAX_SAFE_INTEGER, Rows, Value, unique_names},
};
use serde::Deserialize;

use super::statement::Prepared;

/// The rows of a result, as the binding's `raw({columnNames: true})` and the REST API's `raw` have them.
#[derive(Deserialize)]
pub struct Answer {
    columns: Vec<String>,
    rows: Vec<Vec<Json>>,
}

impl Answer {
    /// Reads an answer.
    ///
    /// # Errors
    /// [`Protocol`](ErrorKind::Protocol) where it is none.
    pub fn parse(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|error| not_understood().with_source(error.to_string()))
    }

    /// The rows for the core.
    ///
    /// # Errors
    /// [`TooLarge`](ErrorKind::TooLarge) past a limit; [`Protocol`](ErrorKind::Protocol) for an integer that D1 has rounded, and for a
    /// cell that is no value of SQLite.
    pub fn into_rows(self, prepared: &Prepared, max_rows: usize, max_bytes: usize) -> Result<Rows> {
        let too_large =
            |limit: String| Error::new(ErrorKind::TooLarge, format!("the result has more than {limit}{}", changed(prepared.writes)));
        if self.rows.len() > max_rows {
            return Err(too_large(format!("`max_rows`, {max_rows} rows")));
        }
        let names: Vec<String> = self.columns.iter().map(|name| prepared.original_name(name)).collect();
        let columns: Rc<[String]> = unique_names(names.iter().map(String::as_str)).into();
        let mut bytes = 0_usize;
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            let mut cells = Vec::with_capacity(row.len());
            for (index, json) in row.into_iter().enumerate() {
                let value = exact(cell(json)?, columns.get(index).map_or("", String::as_str), prepared.writes)?;
                bytes = bytes.saturating_add(size(&value));
                if bytes > max_bytes {
                    return Err(too_large(format!("{max_bytes} bytes")));
                }
                cells.push(value);
            }
            rows.push(cells);
        }
        Ok(Rows { columns, rows, affected: 0 })
    }
}

fn cell(json: Json) -> Result<Value> {
    match json {
        Json::Null => Ok(Value::Null),
        Json::Bool(value) => Ok(Value::I64(i64::from(value))),
        Json::String(text) => Ok(Value::Text(text)),
        Json::Number(number) => {
            let integer = number.as_i64().map(Value::I64).or_else(|| number.as_u64().map(Value::U64));
            integer.or_else(|| number.as_f64().map(Value::F64)).ok_or_else(not_understood)
        }
        Json::Array(bytes) => {
            let byte = |json: &Json| json.as_u64().and_then(|byte| u8::try_from(byte).ok());
            bytes.iter().map(byte).collect::<Option<Vec<u8>>>().map(Value::Bytes).ok_or_else(not_understood)
        }
        Json::Object(_) => Err(not_understood()),
    }
}

/// A value as it came from D1, unless it is a whole number that D1 has rounded.
///
/// # Errors
/// [`Protocol`](ErrorKind::Protocol), naming the column. Where the statement wrote, it says so: the change is made by then.
pub(crate) fn exact(value: Value, column: &str, wrote: bool) -> Result<Value> {
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
    let message = format!(
        "the column `{column}` holds a number beyond 2^53, which D1 rounds; select it as text: `CAST({column} AS TEXT) AS {column}`{}",
        changed(wrote)
    );
    Err(Error::new(ErrorKind::Protocol, message))
}

const fn changed(wrote: bool) -> &'static str {
    if wrote { "; the statement took effect" } else { "" }
}

fn not_understood() -> Error {
    Error::new(ErrorKind::Protocol, "D1 gave an answer that is not understood")
}

const fn size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Null => 0,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(json: &str) -> Result<Rows> {
        let prepared = Prepared::of("SELECT ?1", &[Value::I64(1)])?;
        Answer::parse(json)?.into_rows(&prepared, 2, 100)
    }

    #[test]
    fn cells_have_their_types_and_columns_their_names() {
        let found = rows(r#"{"columns":["(+CAST(?1 AS INTEGER))","a","a","b","c"],"rows":[[1,2.5,null,"x",[222,0]]]}"#).unwrap();
        assert_eq!(*found.columns, ["?1", "a", "a_2", "b", "c"].map(String::from));
        let cells = vec![Value::I64(1), Value::F64(2.5), Value::Null, Value::Text("x".into()), Value::Bytes(vec![222, 0])];
        assert_eq!(found.rows, [cells]);
    }

    #[test]
    fn a_rounded_integer_is_an_error_and_a_great_float_is_not() {
        for number in ["9007199254740992", "-9007199254740992", "100000000000000000000"] {
            let error = rows(&format!(r#"{{"columns":["n"],"rows":[[{number}]]}}"#)).unwrap_err();
            assert!(error.message.contains("CAST(n AS TEXT)"), "{number}: {error}");
        }
        for (number, value) in
            [("9007199254740991", Value::I64(9_007_199_254_740_991)), ("1e+300", Value::F64(1e300)), ("1e+21", Value::F64(1e21))]
        {
            assert_eq!(rows(&format!(r#"{{"columns":["n"],"rows":[[{number}]]}}"#)).unwrap().rows, [[value]], "{number}");
        }
    }

    #[test]
    fn limits_and_nonsense() {
        let kind = |json: &str| rows(json).unwrap_err().kind;
        assert_eq!(kind(r#"{"columns":["n"],"rows":[[1],[2],[3]]}"#), ErrorKind::TooLarge);
        assert_eq!(kind(&format!(r#"{{"columns":["n"],"rows":[["{}"]]}}"#, "x".repeat(101))), ErrorKind::TooLarge);
        let written = Prepared::of("DELETE FROM t RETURNING n", &[]).unwrap();
        for rows in ["[[1],[2],[3]]", "[[9007199254740992]]"] {
            let error = Answer::parse(&format!(r#"{{"columns":["n"],"rows":{rows}}}"#)).unwrap().into_rows(&written, 2, 100).unwrap_err();
            assert!(error.message.ends_with("; the statement took effect"), "{error}");
        }
        for nonsense in ["", "null", "[]", "{\"rows\":1}", r#"{"columns":["n"],"rows":[[{}]]}"#, r#"{"columns":["n"],"rows":[[[256]]]}"#] {
            assert_eq!(kind(nonsense), ErrorKind::Protocol, "{nonsense}");
        }
    }
}
