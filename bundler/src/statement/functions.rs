//! Functions that read no table: those of PostgreSQL and MySQL that are in use. Any other function
//! may be an author's own, and what that reads and writes nobody can tell from a statement.

use std::{collections::HashSet, sync::LazyLock};

use sqlparser::ast::{ObjectName, ObjectNamePart};

/// Whether a function is one of the database's own that reads and writes no table.
pub(super) fn is_known(name: &ObjectName) -> bool {
    let parts: Option<Vec<String>> = name
        .0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(ident) if ident.quote_style.is_some() => Some(ident.value.clone()),
            ObjectNamePart::Identifier(ident) => Some(ident.value.to_ascii_lowercase()),
            ObjectNamePart::Function(_) => None,
        })
        .collect();
    match parts.as_deref() {
        Some([name]) => KNOWN.contains(name.as_str()),
        Some([schema, name]) if schema == "pg_catalog" => KNOWN.contains(name.as_str()),
        _ => false,
    }
}

/// A name in each line.
static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("functions.txt").lines().collect());
