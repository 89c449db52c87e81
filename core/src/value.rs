//! The values that go into statements and come out of databases.

use alloc::{rc::Rc, string::String, vec::Vec};

use crate::Json;

/// One bound value of a statement, or one cell of a result.
///
/// As JSON (see [`Rows`]): integers beyond ±(2^53−1) and decimals are strings, bytes are base64, a float that is not
/// finite is `null`.
#[derive(Clone, Debug, PartialEq)]
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
    Json(Json),
    /// A date, a time or both, in the form the statement's author or the database wrote it.
    Timestamp(String),
    /// A native array of the database.
    Array(Vec<Value>),
}

/// The answer of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Column names in the statement's order, made unique: the second `id` is `id_2`. Shared: a connector that keeps
    /// prepared statements names their columns once.
    pub columns: Rc<[String]>,
    /// Cells, row by row, in the order of `columns`.
    pub rows: Vec<Vec<Value>>,
    /// For a statement that has no result columns: how many rows it changed.
    pub affected: u64,
}

/// Makes column names unique, in order: `id, id, id_2` becomes `id, id_2, id_2_2`.
///
/// ```
/// use millrace_core::value::unique_names;
/// assert_eq!(unique_names(["id", "id", "id_2"]), ["id", "id_2", "id_2_2"]);
/// ```
pub fn unique_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        let mut candidate = String::from(name);
        let mut count = 1;
        while unique.contains(&candidate) {
            count += 1;
            candidate = alloc::format!("{name}_{count}");
        }
        unique.push(candidate);
    }
    unique
}
