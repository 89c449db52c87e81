//! Descriptions of columns, by their declared types.
//!
//! SQLite holds a column to its declared type in a `STRICT` table alone, and does not say which
//! table a column of a result is from. So a declared type means something where all tables are
//! such, without columns that are computed when they are read, and where no view and no compound
//! statement puts several columns into one.

use millrace_core::ports::{Column, ColumnKind};

/// A statement of one row with one number: how many tables and views the database has that do not
/// hold a column to its declared type.
pub(crate) const LOOSE_TABLES: &str = "SELECT count(*) FROM pragma_table_list AS l WHERE \"schema\" = 'main' AND name <> 'millrace_calls' \
                                       AND substr(name, 1, 7) <> 'sqlite_' \
                                       AND (type IN ('view', 'virtual') OR type = 'table' AND (NOT strict \
                                       OR EXISTS (SELECT 1 FROM pragma_table_xinfo(l.name) WHERE hidden = 2)))";

/// The columns of the result of a statement, by their unique names and declared types.
pub(crate) fn columns(text: &str, is_strict: bool, declared: impl IntoIterator<Item = (String, Option<String>)>) -> Vec<Column> {
    let words = text.to_ascii_uppercase();
    let inserts = ["INSERT", "REPLACE"].iter().any(|word| words.trim_start().starts_with(word));
    let is_compound = ["UNION", "INTERSECT", "EXCEPT"].iter().any(|word| words.contains(word)) || (words.contains("VALUES") && !inserts);
    let column = |(name, declared): (String, Option<String>)| {
        let type_name = declared.unwrap_or_default();
        let kind = if is_strict && !is_compound { kind(&type_name) } else { ColumnKind::Any };
        Column { name, type_name, kind }
    };
    declared.into_iter().map(column).collect()
}

/// What the cells of a column of a `STRICT` table are.
fn kind(declared: &str) -> ColumnKind {
    match declared.to_ascii_uppercase().as_str() {
        "INT" | "INTEGER" => ColumnKind::BigInteger,
        "REAL" => ColumnKind::Float,
        "TEXT" | "BLOB" => ColumnKind::Text,
        _ => ColumnKind::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_count_where_they_are_kept() {
        let declared = || ["INTEGER", "int", "REAL", "Text", "BLOB", "ANY", ""].map(|declared| ("c".to_owned(), Some(declared.to_owned())));
        let kinds = |text: &str, is_strict| columns(text, is_strict, declared()).into_iter().map(|column| column.kind).collect::<Vec<_>>();
        use ColumnKind::{Any, BigInteger, Float, Text};
        assert_eq!(kinds("SELECT * FROM t", true), [BigInteger, BigInteger, Float, Text, Text, Any, Any]);
        for (text, is_strict) in
            [("SELECT * FROM t", false), ("SELECT a FROM t union SELECT b FROM t", true), ("SELECT 1 EXCEPT SELECT 2", true)]
        {
            assert_eq!(kinds(text, is_strict), [Any; 7], "{text}");
        }
        assert!(LOOSE_TABLES.contains(millrace_core::ports::CALL_RECORDS));
        assert_eq!(columns("", true, [("a".to_owned(), None)])[0].type_name, "");
    }
}
