//! What the resolution of a statement has to know of its dialect.

use super::Named;
use crate::statement::{Dialect, rights::clickhouse};

/// Whether it is ClickHouse, some of whose forms no other database has.
pub(super) fn is_clickhouse(dialect: Dialect) -> bool {
    dialect == Dialect::ClickHouse
}

/// Whether a quoted name is told apart from the same one in other capitals.
pub(super) fn quotes_keep_case(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether long names are cut.
pub(super) fn cuts_names(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether the names of tables are kept as they are written. In MySQL, its file system decides whether capitals are told apart.
pub(super) fn tables_keep_case(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::MySql | Dialect::ClickHouse)
}

/// Whether the name of a table can be that of a value: one of its rows.
pub(super) fn rows_are_values(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether the database names a column of a result after the function or the cast that it is.
pub(super) fn names_results(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether some casts leave a value as it is, or fail.
pub(super) fn has_exact_casts(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether the row that is to be inserted is read as one of the table's.
pub(super) fn excluded_is_read(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether the names that a query gives are known within the expressions of `GROUP BY`, `HAVING` and `ORDER BY`.
pub(super) fn aliases_in_expressions(dialect: Dialect) -> bool {
    dialect == Dialect::MySql
}

/// Whether a `SELECT` may have words such as `STRAIGHT_JOIN` before its columns.
pub(super) fn has_select_modifiers(dialect: Dialect) -> bool {
    dialect == Dialect::MySql
}

/// Whether one statement can write several tables.
pub(super) fn writes_several(dialect: Dialect) -> bool {
    dialect == Dialect::MySql
}

/// Whether a virtual table can be called like a function.
pub(super) fn calls_tables(dialect: Dialect) -> bool {
    dialect == Dialect::Sqlite
}

/// Whether a table is one of the system's that everybody may read.
pub(super) fn is_everybodys(dialect: Dialect, table: &Named) -> bool {
    let schema = table.schema.as_deref().map(str::to_ascii_lowercase);
    match (dialect, schema.as_deref()) {
        (Dialect::ClickHouse, _) => clickhouse::is_everybodys(table),
        (_, Some("information_schema")) => true,
        (Dialect::Postgres, Some("pg_catalog")) => true,
        (Dialect::Postgres, None) => table.name.starts_with("pg_"),
        (Dialect::MySql, None) => table.name.eq_ignore_ascii_case("dual"),
        _ => false,
    }
}
