//! One value of a result.

use std::fmt;

use millrace_core::value::Value;
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};

/// A number, a text, null, or bytes as a list of numbers.
pub(super) struct Cell(pub(super) Value);

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
        Ok(Cell(Value::Bool(value)))
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
