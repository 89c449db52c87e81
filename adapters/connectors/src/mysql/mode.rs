//! The `sql_mode` of every statement.
//!
//! What the statement compiler takes a quote, an operator and a text for is what the server has to
//! take them for, and a value that a column cannot hold is refused: no mode that changes one of
//! these can be set. `ONLY_FULL_GROUP_BY` changes none of them, so it is the server's own affair:
//! MySQL 8 has it by default, and MariaDB, which knows no functional dependence, has not.

use millrace_core::{Error, Result};

use crate::shared::ServerOptions;

/// What MySQL 8 has by default, `ONLY_FULL_GROUP_BY` apart.
const DEFAULT: &str = "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// What may be set.
const ALLOWED: [&str; 21] = [
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "NO_AUTO_CREATE_USER",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_DIR_IN_CREATE",
    "NO_ENGINE_SUBSTITUTION",
    "NO_FIELD_OPTIONS",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE",
    "ONLY_FULL_GROUP_BY",
    "PAD_CHAR_TO_FULL_LENGTH",
    "REAL_AS_FLOAT",
    "SIMULTANEOUS_ASSIGNMENT",
    "STRICT_ALL_TABLES",
    "STRICT_TRANS_TABLES",
    "TIME_ROUND_FRACTIONAL",
    "TIME_TRUNCATE_FRACTIONAL",
    "TRADITIONAL",
];
/// What makes the server refuse a value that a column cannot hold.
const STRICT: [&str; 3] = ["STRICT_ALL_TABLES", "STRICT_TRANS_TABLES", "TRADITIONAL"];
/// What may not, and why.
const REFUSED: [(&[&str], &str); 5] = [
    (
        &["ANSI", "ANSI_QUOTES", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL", "MYSQL323", "MYSQL40"],
        "changes what a text in quotes is, which was decided when the app was built",
    ),
    (&["NO_BACKSLASH_ESCAPES"], "changes where a text in quotes ends, which was decided when the app was built"),
    (&["HIGH_NOT_PRECEDENCE", "PIPES_AS_CONCAT"], "changes what an operator is, by which statements were judged when the app was built"),
    (&["IGNORE_SPACE"], "changes which words are names, by which statements were judged when the app was built"),
    (&["EMPTY_STRING_IS_NULL"], "makes `NULL` of an empty text"),
];

/// The expression that the mode is set to.
///
/// # Errors
/// [`Configuration`](millrace_core::ErrorKind::Configuration) for what is not a list of modes that
/// may be set.
pub(super) fn expression(options: &mut ServerOptions) -> Result<String> {
    let Some(written) = options.take("sql_mode") else {
        return Ok(format!("CONCAT('{DEFAULT}', IF(FIND_IN_SET('ONLY_FULL_GROUP_BY', @@GLOBAL.sql_mode), ',ONLY_FULL_GROUP_BY', ''))"));
    };
    let modes: Vec<String> =
        written.split([',', ' ', '\n']).map(|mode| mode.trim().to_ascii_uppercase()).filter(|mode| !mode.is_empty()).collect();
    for mode in &modes {
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| refused.contains(&mode.as_str())) {
            return Err(wrong(&format!("`sql_mode` of connector `mysql` cannot have `{mode}`, which {why}")));
        }
        if !ALLOWED.contains(&mode.as_str()) {
            return Err(options.wrong("sql_mode", "modes of MySQL or MariaDB, `STRICT_TRANS_TABLES,NO_ZERO_DATE`"));
        }
    }
    if !modes.iter().any(|mode| STRICT.contains(&mode.as_str())) {
        return Err(wrong(
            "`sql_mode` of connector `mysql` must have `STRICT_TRANS_TABLES`, `STRICT_ALL_TABLES` or `TRADITIONAL`: without one of them the server \
             stores something else than a value that a column cannot hold, and the call succeeds",
        ));
    }
    Ok(format!("'{}'", modes.join(",")))
}

fn wrong(message: &str) -> Error {
    Error::new(millrace_core::ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::KnownOptions;

    const KNOWN: KnownOptions = KnownOptions { connector: "mysql", names: "`sql_mode`", harmless: &[] };

    fn set(modes: &str) -> Result<String, String> {
        let pairs = vec![("sql_mode".to_owned(), modes.to_owned())];
        expression(&mut ServerOptions::gather(&KNOWN, pairs, &[]).unwrap()).map_err(|error| error.into_parts().message)
    }

    #[test]
    fn a_mode_that_statements_were_not_built_for_is_refused() {
        assert_eq!(set("strict_trans_tables, NO_ZERO_DATE").unwrap(), "'STRICT_TRANS_TABLES,NO_ZERO_DATE'");
        assert_eq!(set("TRADITIONAL ONLY_FULL_GROUP_BY").unwrap(), "'TRADITIONAL,ONLY_FULL_GROUP_BY'");
        for mode in REFUSED.iter().flat_map(|(modes, _)| *modes) {
            let message = set(&format!("STRICT_TRANS_TABLES,{}", mode.to_ascii_lowercase())).unwrap_err();
            assert!(message.contains(&format!("cannot have `{mode}`, which ")), "{message}");
            assert!(!ALLOWED.contains(mode), "{mode}");
        }
        for modes in ["STRICT_TRANS_TABLES,hunter2", "STRICT_TRANS_TABLES'", "DEFAULT", "@@GLOBAL.sql_mode", "STRICT_TRANS_TABLES','ANSI"] {
            let message = set(modes).unwrap_err();
            assert!(message.contains("must be modes of MySQL or MariaDB") && !message.contains("hunter2"), "{message}");
        }
        for modes in ["NO_ZERO_DATE", ","] {
            assert!(set(modes).unwrap_err().contains("must have `STRICT_TRANS_TABLES`"), "{modes}");
        }
        let by_default = expression(&mut ServerOptions::gather(&KNOWN, Vec::new(), &[]).unwrap()).unwrap();
        assert!(by_default.starts_with("CONCAT('STRICT_TRANS_TABLES,") && by_default.contains("@@GLOBAL.sql_mode"), "{by_default}");
    }
}
