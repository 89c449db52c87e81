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
    "analysis_limit",
    "application_id",
    "auto_vacuum",
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "cache_spill",
    "cell_size_check",
    "checkpoint_fullfsync",
    "default_cache_size",
    "defer_foreign_keys",
    "encoding",
    "foreign_keys",
    "full_column_names",
    "fullfsync",
    "hard_heap_limit",
    "ignore_check_constraints",
    "journal_mode",
    "journal_size_limit",
    "legacy_alter_table",
    "locking_mode",
    "max_page_count",
    "mmap_size",
    "page_size",
    "query_only",
    "read_uncommitted",
    "recursive_triggers",
    "reverse_unordered_selects",
    "schema_version",
    "secure_delete",
    "soft_heap_limit",
    "synchronous",
    "temp_store",
    "threads",
    "trusted_schema",
    "user_version",
    "wal_autocheckpoint",
    "writable_schema",
];

/// Whether a `PRAGMA` of that name, with a value or without, changes nothing. The connectors of
/// SQLite run no other.
#[must_use]
pub fn is_question(name: &str, has_value: bool) -> bool {
    let is_in = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(name));
    is_in(QUESTIONS) || (!has_value && is_in(SETTINGS))
}
