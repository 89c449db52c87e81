//! Names, as a request may have them.

use alloc::{format, string::String, vec::Vec};

/// The longest name of PostgreSQL, in bytes.
const LONGEST: usize = 63;
/// What a URL of PostgREST has for itself.
const RESERVED: [&str; 9] = ["and", "columns", "limit", "not", "offset", "on_conflict", "or", "order", "select"];
/// The words after a column of `order`.
const ORDERS: [&str; 4] = ["asc", "desc", "nullsfirst", "nullslast"];

/// Whether a text names a table, a column or a function: letters, digits, `_` and `$`, with spaces
/// and hyphens within.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphabetic() || letter.is_ascii_digit() || matches!(letter, '_' | '$');
    let is_end = |letter: Option<char>| letter.is_some_and(is_letter);
    text.len() <= LONGEST
        && is_end(text.chars().next())
        && is_end(text.chars().next_back())
        && text.chars().all(|letter| is_letter(letter) || matches!(letter, ' ' | '-'))
}

/// Whether a text names a column, or a part of a column with JSON: `data->address->>city`.
#[must_use]
pub fn is_column(text: &str) -> bool {
    let mut parts = text.split("->");
    let is_key = |key: &str| {
        let digits = key.strip_prefix('-').unwrap_or(key);
        is_name(key) || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    parts.next().is_some_and(is_name) && parts.all(|key| is_key(key.strip_prefix('>').unwrap_or(key)))
}

/// Whether PostgREST takes a parameter of this name for something else than a condition or an
/// argument.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The way to embedded rows, and their column: `authors.name`. `None` for a column of the table
/// itself.
#[must_use]
pub fn embedded(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once('.')
}

/// Names between commas.
///
/// # Errors
/// What is wrong with one of them.
pub fn list(text: &str) -> Result<Vec<&str>, String> {
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    match names.iter().find(|name| !is_name(name)) {
        Some(wrong) => Err(format!("`{wrong}` is not the name of a column")),
        None => Ok(names),
    }
}

/// An order between commas, as PostgREST takes it: `name.desc.nullslast,id`.
///
/// # Errors
/// What is wrong with it.
pub fn order(text: &str) -> Result<String, String> {
    let mut written = String::new();
    for term in text.split(',').map(str::trim) {
        let mut words = term.split('.').map(str::trim);
        let column = words.next().unwrap_or_default();
        if !is_column(column) {
            return Err(format!("`{column}` is not the name of a column"));
        }
        if !written.is_empty() {
            written.push(',');
        }
        written.push_str(column);
        let words: Vec<&str> = words.collect();
        if let Some(wrong) = words.iter().find(|word| !ORDERS.contains(word)) {
            return Err(format!("`{wrong}` is not an order: after the column come `asc` or `desc`, and `nullsfirst` or `nullslast`"));
        }
        let place = |word: &&str| ORDERS.iter().position(|known| known == word).map(|place| place / 2);
        if words.len() > 2 || (words.len() == 2 && (place(&words[0]), place(&words[1])) != (Some(0), Some(1))) {
            return Err(format!("`{term}` has its orders twice, or the other way round: `{column}.desc.nullslast`"));
        }
        for word in words {
            written.push('.');
            written.push_str(word);
        }
    }
    Ok(written)
}
