//! What names and clauses of a language of statements mean: what the resolution of a statement, and
//! those who read it, have to know.

/// What names and clauses mean. [`PLAIN`](Self::PLAIN) is what no language has of its own.
#[derive(Clone, Copy, Debug)]
pub struct Resolution {
    /// Whether it has the forms that no database but ClickHouse has.
    pub is_clickhouse: bool,

    // Names
    /// Whether a quoted name is told apart from the same one in other capitals.
    pub quotes_keep_case: bool,
    /// Whether the names of tables are kept as they are written. In MySQL, its file system decides
    /// whether capitals are told apart.
    pub tables_keep_case: bool,
    /// Whether long names are cut.
    pub cuts_names: bool,
    /// Whether `ONLY` may stand before a table, which the parser takes for its name.
    pub has_only: bool,
    /// What the names of the system's tables begin with.
    pub system_prefix: &'static str,
    /// Whether a table, with its schema in small letters, is one of the system's that everybody may
    /// read.
    pub is_everybodys: fn(Option<&str>, &str) -> bool,

    // Expressions
    /// Whether the name of a table can be that of a value: one of its rows.
    pub rows_are_values: bool,
    /// Whether the database names a column of a result after the function or the cast that it is.
    pub names_results: bool,
    /// Whether some casts leave a value as it is, or fail.
    pub has_exact_casts: bool,
    /// Whether the names that a query gives are known within the expressions of `GROUP BY`,
    /// `HAVING` and `ORDER BY`.
    pub aliases_in_expressions: bool,

    // Clauses
    /// Whether a `SELECT` may have words such as `STRAIGHT_JOIN` before its columns.
    pub has_select_modifiers: bool,
    /// Whether `USING` compares with the leftmost column of that name, of whatever comes before.
    pub using_takes_the_leftmost: bool,
    /// Whether one statement can write several tables.
    pub writes_several: bool,
    /// Whether the row that is to be inserted is read as one of the table's.
    pub excluded_is_read: bool,
    /// Whether a name that stands alone after `ON CONFLICT … DO UPDATE` is a column of the row that
    /// is in the way.
    pub conflict_knows_the_row: bool,

    // Functions
    /// Whether a virtual table can be called like a function.
    pub calls_tables: bool,
    /// Whether a function that nobody knows can read and write tables.
    pub functions_see_tables: bool,

    // Rights
    /// Whether sequences are used by functions, and need a right.
    pub has_sequences: bool,
    /// Whether what an `INSERT` returns is inserted and read.
    pub returning_inserts: bool,
    /// Whether rows are locked by who may change all of their columns, and not by who may change
    /// one of them.
    pub locks_whole_rows: bool,
    /// The words of `GRANT` for `UPDATE`, `DELETE` and `TRUNCATE`.
    pub words_of_grant: [&'static str; 3],
}

impl Resolution {
    /// What holds unless a language says otherwise.
    pub const PLAIN: Self = Self {
        is_clickhouse: false,
        quotes_keep_case: false,
        tables_keep_case: false,
        cuts_names: false,
        has_only: false,
        system_prefix: "pg_",
        is_everybodys: |schema, _| schema == Some("information_schema"),
        rows_are_values: false,
        names_results: false,
        has_exact_casts: false,
        aliases_in_expressions: false,
        has_select_modifiers: false,
        using_takes_the_leftmost: false,
        writes_several: false,
        excluded_is_read: false,
        conflict_knows_the_row: false,
        calls_tables: false,
        functions_see_tables: true,
        has_sequences: false,
        returning_inserts: false,
        locks_whole_rows: false,
        words_of_grant: ["UPDATE", "DELETE", "TRUNCATE"],
    };
}
