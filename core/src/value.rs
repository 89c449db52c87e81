//! The values that go into statements and come out of databases, and their JSON.

use alloc::{borrow::Cow, collections::BTreeMap, rc::Rc, string::String, vec::Vec};

use base64::{display::Base64Display, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};

use crate::{Json, app::Literal};

mod kept;

/// The greatest integer up to which every JSON reader tells neighbours apart, 2^53 − 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// One bound value of a statement, or one cell of a result.
///
/// As JSON (see [`Value::json`]): integers beyond ±(2^53−1) and decimals are strings, bytes are
/// base64, a float that is not finite is `null`. Its own `Serialize` is not that JSON: it is the
/// form in which the cache keeps it, and loses nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// SQL `NULL`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed 64-bit integer.
    I64(i64),
    /// An unsigned 64-bit integer.
    U64(u64),
    /// A double.
    F64(f64),
    /// An exact decimal, as its digits.
    Decimal(String),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A JSON document.
    Json(#[serde(with = "document")] Json),
    /// A date, a time or both, in the form the statement's author or the database wrote it.
    Timestamp(String),
    /// A native array of the database.
    Array(Vec<Value>),
}

/// The answer of a statement. Its own `Serialize` is the form in which the cache keeps it; for JSON
/// there is [`Rows::json`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Column names in the statement's order, made unique: the second `id` is `id_2`. Shared: a
    /// connector that keeps prepared statements names their columns once.
    pub columns: Rc<[String]>,
    /// Cells, row by row, in the order of `columns`.
    pub rows: Vec<Vec<Value>>,
    /// For a statement that has no result columns: how many rows it changed.
    pub affected: u64,
    /// Whether there were more rows, which were left out; see [`OnTooMany`](crate::app::OnTooMany).
    pub truncated: bool,
    /// A result that is a JSON document, which takes the place of rows.
    #[serde(with = "document::optional")]
    pub document: Option<Json>,
    /// For how many seconds it may be kept, where whoever gave it said so. Of a result that was
    /// kept, nothing is known any more.
    #[serde(skip)]
    pub keep_s: Option<u32>,
}

impl Value {
    /// How much room it takes, in bytes: about what it is in memory.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) | Self::I64(_) | Self::U64(_) | Self::F64(_) => 8,
            Self::Decimal(text) | Self::Text(text) | Self::Timestamp(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Json(json) => alloc::format!("{json}").len(),
            Self::Array(elements) => elements.iter().map(Self::size).fold(8, usize::saturating_add),
        }
    }

    /// The value as JSON, written without building a [`Json`].
    ///
    /// A float keeps its point on every host: `1.0` is `1.0`. Text, dates and JSON documents are
    /// themselves.
    #[must_use]
    pub fn json(&self) -> impl Serialize + '_ {
        CellJson(self)
    }
}

impl Rows {
    /// The rows as a JSON list of objects, members in the order of the columns;
    /// `{"affected_rows": n}` for a statement that has no result columns; a result that is a
    /// document as it is. Written without building a [`Json`].
    #[must_use]
    pub fn json(&self) -> impl Serialize + '_ {
        RowsJson(self)
    }
}

impl Rows {
    /// How many rows there are; of a document that is a list, how many elements.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.document {
            Some(Json::Array(elements)) => elements.len(),
            Some(_) => 1,
            None => self.rows.len(),
        }
    }

    /// The rows as [`json`](Self::json) has them, but with integers that are numbers, whatever
    /// their size: what enters a script.
    ///
    /// # Errors
    /// Of a value that JSON cannot hold.
    pub(crate) fn exact(&self) -> serde_json::Result<Json> {
        if self.document.is_some() || self.columns.is_empty() {
            return serde_json::to_value(self.json());
        }
        let row = |cells: &Vec<Value>| {
            let members = self.columns.iter().zip(cells).map(|(name, cell)| Ok((name.clone(), cell.exact()?)));
            members.collect::<serde_json::Result<serde_json::Map<_, _>>>().map(Json::Object)
        };
        self.rows.iter().map(row).collect::<serde_json::Result<Vec<_>>>().map(Json::Array)
    }
}

impl Value {
    fn exact(&self) -> serde_json::Result<Json> {
        match self {
            Self::I64(value) => Ok(Json::from(*value)),
            Self::U64(value) => Ok(Json::from(*value)),
            Self::Array(elements) => elements.iter().map(Self::exact).collect::<serde_json::Result<Vec<_>>>().map(Json::Array),
            other => serde_json::to_value(other.json()),
        }
    }
}

struct RowsJson<'a>(&'a Rows);

impl Serialize for RowsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Rows { columns, rows, affected, document, .. } = self.0;
        if let Some(document) = document {
            return document.serialize(serializer);
        }
        if columns.is_empty() {
            let mut object = serializer.serialize_map(Some(1))?;
            object.serialize_entry("affected_rows", affected)?;
            return object.end();
        }
        serializer.collect_seq(rows.iter().map(|cells| RowJson { columns, cells }))
    }
}

struct RowJson<'a> {
    columns: &'a [String],
    cells: &'a [Value],
}

impl Serialize for RowJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(self.cells.iter().map(CellJson)))
    }
}

struct CellJson<'a>(&'a Value);

impl Serialize for CellJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::I64(value) if value.unsigned_abs() > MAX_SAFE_INTEGER => serializer.collect_str(value),
            Value::I64(value) => serializer.serialize_i64(*value),
            Value::U64(value) if *value > MAX_SAFE_INTEGER => serializer.collect_str(value),
            Value::U64(value) => serializer.serialize_u64(*value),
            Value::F64(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::F64(_) => serializer.serialize_unit(),
            Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => serializer.collect_str(&Base64Display::new(bytes, &STANDARD)),
            Value::Json(document) => document.serialize(serializer),
            Value::Array(elements) => serializer.collect_seq(elements.iter().map(CellJson)),
        }
    }
}

/// A JSON document in the cache's form.
mod document {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Json, Literal};

    pub(super) fn serialize<S: Serializer>(document: &Json, serializer: S) -> Result<S::Ok, S::Error> {
        Literal(document.clone()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        Literal::deserialize(deserializer).map(|literal| literal.0)
    }

    /// A document that may be absent.
    pub(super) mod optional {
        use super::{Deserialize, Deserializer, Json, Literal, Serialize, Serializer};

        #[expect(clippy::ref_option, reason = "serde calls it so")]
        pub(in super::super) fn serialize<S: Serializer>(document: &Option<Json>, serializer: S) -> Result<S::Ok, S::Error> {
            document.clone().map(Literal).serialize(serializer)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
            Option::<Literal>::deserialize(deserializer).map(|literal| literal.map(|literal| literal.0))
        }
    }
}

/// Makes column names unique, in order: `id, id, id_2` becomes `id, id_2, id_2_2`.
///
/// ```
/// use millrace_core::value::unique_names;
/// assert_eq!(unique_names(["id", "id", "id_2"]), ["id", "id_2", "id_2_2"]);
/// ```
pub fn unique_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    // Every name that is taken, with the greatest number that was tried behind it: up to there, all
    // are taken for good.
    let mut taken: BTreeMap<Cow<'a, str>, usize> = BTreeMap::new();
    let unique = |name: &'a str| {
        let mut free = Cow::Borrowed(name);
        if let Some(tried) = taken.get(name) {
            let mut count = *tried;
            while taken.contains_key(&free) {
                count += 1;
                free = alloc::format!("{name}_{count}").into();
            }
            taken.insert(Cow::Borrowed(name), count);
        }
        taken.insert(free.clone(), 1);
        free.into_owned()
    };
    names.into_iter().map(unique).collect()
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use serde_json::json;

    use super::*;

    fn every_value() -> Vec<(Value, &'static str)> {
        vec![
            (Value::Null, "null"),
            (Value::Bool(true), "true"),
            (Value::I64(9_007_199_254_740_991), "9007199254740991"),
            (Value::I64(9_007_199_254_740_992), "\"9007199254740992\""),
            (Value::I64(-9_007_199_254_740_991), "-9007199254740991"),
            (Value::I64(i64::MIN), "\"-9223372036854775808\""),
            (Value::U64(7), "7"),
            (Value::U64(u64::MAX), "\"18446744073709551615\""),
            (Value::F64(1.0), "1.0"),
            (Value::F64(0.1), "0.1"),
            (Value::F64(-0.0), "-0.0"),
            (Value::F64(f64::NEG_INFINITY), "null"),
            (Value::Decimal("12345678901234567890.10".into()), "\"12345678901234567890.10\""),
            (Value::Text("a\"\u{1}ß".into()), "\"a\\\"\\u0001ß\""),
            (Value::Bytes(vec![0xde, 0xad, 0xbe, 0xef]), "\"3q2+7w==\""),
            (Value::Json(json!({"z": 1, "a": [1.5]})), "{\"z\":1,\"a\":[1.5]}"),
            (Value::Timestamp("2026-01-02 03:04:05".into()), "\"2026-01-02 03:04:05\""),
            (Value::Array(vec![Value::I64(i64::MAX), Value::Bytes(vec![])]), "[\"9223372036854775807\",\"\"]"),
        ]
    }

    #[test]
    fn cells_as_json() {
        for (value, expected) in every_value() {
            assert_eq!(serde_json::to_string(&value.json()).unwrap(), expected, "{value:?}");
        }
    }

    #[test]
    fn rows_as_json() {
        let mut rows = Rows { columns: Rc::from(["id".to_string(), "name".to_string()]), rows: vec![], ..Rows::default() };
        assert_eq!(serde_json::to_string(&rows.json()).unwrap(), "[]");
        rows.rows.push(vec![Value::I64(1), Value::Null]);
        assert_eq!(serde_json::to_string(&rows.json()).unwrap(), r#"[{"id":1,"name":null}]"#);
        assert_eq!(serde_json::to_value(rows.json()).unwrap(), json!([{"id": 1, "name": null}]));
        let changed = Rows { affected: 3, ..Rows::default() };
        assert_eq!(serde_json::to_string(&changed.json()).unwrap(), r#"{"affected_rows":3}"#);
        let document = Rows { document: Some(json!([9_007_199_254_740_993_i64, null])), ..Rows::default() };
        assert_eq!(serde_json::to_string(&document.json()).unwrap(), "[9007199254740993,null]");
        assert_eq!(document.exact().unwrap(), json!([9_007_199_254_740_993_i64, null]));
    }

    /// The definition: each name is compared with all before it.
    fn unique_by_definition(names: &[&str]) -> Vec<String> {
        let mut unique: Vec<String> = Vec::new();
        for name in names {
            let mut candidate = name.to_string();
            let mut count = 1;
            while unique.contains(&candidate) {
                count += 1;
                candidate = alloc::format!("{name}_{count}");
            }
            unique.push(candidate);
        }
        unique
    }

    #[test]
    fn unique_names_are_those_of_the_definition() {
        use proptest::prelude::*;
        proptest!(|(names in proptest::collection::vec("[ab]?(_[1-4]){0,3}", 0..40))| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            prop_assert_eq!(unique_names(names.iter().copied()), unique_by_definition(&names));
        });
    }

    #[test]
    fn many_equal_names_take_no_longer_than_many_different_ones() {
        // Compared with all before it, each of them would be compared with a million million names.
        let names = unique_names(core::iter::repeat_n("id", 100_000));
        assert_eq!((names.len(), &*names[0], &*names[99_999]), (100_000, "id", "id_100000"));
    }

    #[test]
    fn floats_survive_json() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let float = f64::from_bits(bits);
            if float.is_finite() {
                let text = serde_json::to_string(&Value::F64(float).json()).unwrap();
                assert_eq!(serde_json::from_str::<Json>(&text).unwrap().as_f64().map(f64::to_bits), Some(bits), "{text}");
            }
        }
    }

    #[test]
    fn the_cache_form_loses_nothing() {
        let (cells, names): (Vec<Value>, Vec<String>) = every_value().into_iter().map(|(value, text)| (value, text.to_string())).unzip();
        let rows = Rows { columns: names.into(), rows: vec![cells], affected: 9, document: Some(json!({"z": [1]})), ..Rows::default() };
        let bytes = postcard::to_allocvec(&rows).unwrap();
        assert_eq!(postcard::from_bytes::<Rows>(&bytes).unwrap(), rows);
    }
}
