//! Which `PRAGMA`s of SQLite are mere questions.

/// Pragmas that only tell, whatever their argument.
const QUESTIONS: &[&str] = &[
    "collation_list",
    "compile_options",
    "data_version",
    "foreign_key_check",
    "foreign_key_list",
    "freelist_count",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "module_list",
    "page_count",
    "pragma_list",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Pragmas that only tell when they have no argument.
const SETTINGS: &[&str] = &[
    "application_id",
    "auto_vacuum",
    "encoding",
    "foreign_keys",
    "journal_mode",
    "page_size",
    "query_only",
    "schema_version",
    "user_version",
];

/// Whether a `PRAGMA` of that name, with a value or without, changes nothing.
pub(crate) fn is_question(name: &str, has_value: bool) -> bool {
    let is_in = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(name));
    is_in(QUESTIONS) || (!has_value && is_in(SETTINGS))
}
