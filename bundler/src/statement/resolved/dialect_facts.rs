//! What the resolution of a statement, and those who read it, have to know of its dialect.

use crate::statement::Dialect;

/// Whether it is ClickHouse, some of whose forms no other database has.
pub(in crate::statement) fn is_clickhouse(dialect: Dialect) -> bool {
    dialect == Dialect::ClickHouse
}

/// Whether a quoted name is told apart from the same one in other capitals.
pub(in crate::statement) fn quotes_keep_case(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether `ONLY` may stand before a table, which the parser takes for its name.
pub(in crate::statement) fn has_only(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether long names are cut.
pub(in crate::statement) fn cuts_names(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether the names of tables are kept as they are written. In MySQL, its file system decides
/// whether capitals are told apart.
pub(in crate::statement) fn tables_keep_case(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::MySql | Dialect::ClickHouse)
}

/// Whether the name of a table can be that of a value: one of its rows.
pub(in crate::statement) fn rows_are_values(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether the database names a column of a result after the function or the cast that it is.
pub(in crate::statement) fn names_results(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether some casts leave a value as it is, or fail.
pub(in crate::statement) fn has_exact_casts(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether the row that is to be inserted is read as one of the table's.
pub(in crate::statement) fn excluded_is_read(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether the names that a query gives are known within the expressions of `GROUP BY`, `HAVING`
/// and `ORDER BY`.
pub(in crate::statement) fn aliases_in_expressions(dialect: Dialect) -> bool {
    dialect == Dialect::MySql
}

/// Whether a `SELECT` may have words such as `STRAIGHT_JOIN` before its columns.
pub(in crate::statement) fn has_select_modifiers(dialect: Dialect) -> bool {
    dialect == Dialect::MySql
}

/// Whether one statement can write several tables.
pub(in crate::statement) fn writes_several(dialect: Dialect) -> bool {
    dialect == Dialect::MySql
}

/// Whether a virtual table can be called like a function.
pub(in crate::statement) fn calls_tables(dialect: Dialect) -> bool {
    dialect == Dialect::Sqlite
}

/// Whether a table is one of the system's that everybody may read. ClickHouse has a list of them.
pub(in crate::statement) fn is_everybodys(dialect: Dialect, schema: Option<&str>, name: &str) -> bool {
    let schema = schema.map(str::to_ascii_lowercase);
    match (dialect, schema.as_deref()) {
        (Dialect::ClickHouse, _) => false,
        (_, Some("information_schema")) => true,
        (Dialect::Postgres, Some("pg_catalog")) => true,
        (Dialect::Postgres, None) => name.starts_with("pg_"),
        (Dialect::MySql, None) => name.eq_ignore_ascii_case("dual"),
        _ => false,
    }
}

/// Whether a function that nobody knows can read and write tables.
pub(in crate::statement) fn functions_see_tables(dialect: Dialect) -> bool {
    dialect != Dialect::Sqlite
}

/// What the names of the system's tables begin with.
pub(in crate::statement) fn system_prefix(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Sqlite { "sqlite_" } else { "pg_" }
}

/// Whether `USING` compares with the leftmost column of that name, of whatever comes before.
pub(in crate::statement) fn using_takes_the_leftmost(dialect: Dialect) -> bool {
    dialect == Dialect::Sqlite
}

/// Whether a name that stands alone after `ON CONFLICT … DO UPDATE` is a column of the row that is
/// in the way.
pub(in crate::statement) fn conflict_knows_the_row(dialect: Dialect) -> bool {
    dialect == Dialect::Sqlite
}

/// Whether sequences are used by functions, and need a right.
pub(in crate::statement) fn has_sequences(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// Whether what an `INSERT` returns is inserted and read, as rights go.
pub(in crate::statement) fn returning_inserts(dialect: Dialect) -> bool {
    dialect == Dialect::MySql
}

/// Whether rows are locked by who may change all of their columns, and not by who may change one of
/// them.
pub(in crate::statement) fn locks_whole_rows(dialect: Dialect) -> bool {
    dialect == Dialect::MySql
}

/// The words of `GRANT` for `UPDATE`, `DELETE` and `TRUNCATE`.
pub(in crate::statement) const fn words_of_grant(dialect: Dialect) -> [&'static str; 3] {
    match dialect {
        Dialect::ClickHouse => ["ALTER UPDATE", "ALTER DELETE", "TRUNCATE"],
        Dialect::MySql => ["UPDATE", "DELETE", "DROP"],
        // Those of the standard.
        _ => ["UPDATE", "DELETE", "TRUNCATE"],
    }
}
