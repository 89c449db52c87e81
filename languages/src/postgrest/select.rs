//! What a request returns: columns, and rows of related tables in brackets.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::names::{is_column, is_name};

/// How deep related rows may be within each other.
const MAX_DEPTH: usize = 8;
/// What sums up rows.
const AGGREGATES: [&str; 5] = ["avg", "count", "max", "min", "sum"];

/// What a request returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// As PostgREST takes it.
    pub text: String,
    /// The names of related rows of the first level, as conditions and the answer have them.
    pub embedded: Vec<String>,
}

/// Reads what a request returns, between commas: `id,name,writer:authors(name)`.
///
/// # Errors
/// What is wrong with it.
pub fn select(text: &str) -> Result<Selection, String> {
    let mut written = String::new();
    let embedded = items(text, &mut written, 0)?;
    Ok(Selection { text: written, embedded })
}

/// Writes the items, for the names of those that are related rows.
fn items(text: &str, written: &mut String, depth: usize) -> Result<Vec<String>, String> {
    let (mut names, mut embedded) = (Vec::new(), Vec::new());
    for (place, item) in cut(text)?.into_iter().enumerate() {
        if place > 0 {
            written.push(',');
        }
        let (name, is_embedded) = one(item.trim(), written, depth)?;
        if names.contains(&name) {
            return Err(format!("`{name}` is selected twice: give one of them another name, `other_name:{name}`"));
        }
        if is_embedded {
            embedded.push(name.clone());
        }
        // The columns of `...authors(name)` and of `*` are not seen here.
        if name != "*" && !item.trim().starts_with("...") {
            names.push(name);
        }
    }
    Ok(embedded)
}

/// One item: its name in the answer, and whether it is related rows.
fn one(item: &str, written: &mut String, depth: usize) -> Result<(String, bool), String> {
    let wrong =
        || format!("`{item}` cannot be selected: write a column, `name:column`, `column::type`, or `table(column, …)` for related rows");
    if item == "*" {
        written.push('*');
        return Ok((item.to_owned(), false));
    }
    let (alias, rest) = match item.find(':') {
        Some(at) if !item[at..].starts_with("::") => (Some(item[..at].trim()), item[at + 1..].trim()),
        _ => (None, item),
    };
    if alias.is_some_and(|alias| !is_name(alias)) {
        return Err(wrong());
    }
    if let Some(alias) = alias {
        written.push_str(alias);
        written.push(':');
    }
    let inner = rest.strip_suffix(')').and_then(|rest| rest.split_once('(')).filter(|(_, inner)| !inner.is_empty());
    if let Some((head, inner)) = inner {
        let table = related(head, inner, alias, written, depth)?.ok_or_else(wrong)?;
        return Ok((alias.unwrap_or(table).to_owned(), true));
    }
    let mut parts = rest.split("::").map(str::trim);
    let (column, sum) = match parts.next().unwrap_or_default() {
        "count()" => ("", Some("count")),
        text => match text.strip_suffix("()").and_then(|text| text.rsplit_once('.')) {
            Some((column, sum)) => (column, Some(sum)),
            None => (text, None),
        },
    };
    let is_sum = sum.is_none_or(|sum| AGGREGATES.contains(&sum));
    let is_counted = column.is_empty() && sum == Some("count");
    let casts: Vec<&str> = parts.collect();
    let is_type = |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !word.is_empty();
    if !is_sum || !(is_counted || is_column(column)) || casts.len() > 1 || !casts.iter().all(is_type) {
        return Err(wrong());
    }
    written.push_str(column);
    if let Some(sum) = sum {
        written.push_str(if is_counted { "" } else { "." });
        written.push_str(sum);
        written.push_str("()");
    }
    for cast in casts {
        written.push_str("::");
        written.push_str(cast);
    }
    let last = column.rsplit("->").next().unwrap_or(column);
    let own = last.strip_prefix('>').unwrap_or(last);
    Ok((alias.or(sum).unwrap_or(own).to_owned(), false))
}

/// Related rows, `table!hint(column, …)`: the name of their table; `None` where it is not one.
fn related<'a>(head: &'a str, inner: &str, alias: Option<&str>, written: &mut String, depth: usize) -> Result<Option<&'a str>, String> {
    let spread = head.strip_prefix("...");
    let mut words = spread.unwrap_or(head).split('!').map(str::trim);
    let table = words.next().unwrap_or_default();
    let hints: Vec<&str> = words.collect();
    if !is_name(table) || !hints.iter().all(|hint| is_name(hint)) || spread.is_some() && alias.is_some() {
        return Ok(None);
    }
    if depth >= MAX_DEPTH {
        return Err(format!("related rows are more than {MAX_DEPTH} levels deep"));
    }
    if spread.is_some() {
        written.push_str("...");
    }
    written.push_str(table);
    for hint in hints {
        written.push('!');
        written.push_str(hint);
    }
    written.push('(');
    items(inner, written, depth + 1)?;
    written.push(')');
    Ok(Some(table))
}

/// Cuts at the commas that are not within brackets.
fn cut(text: &str) -> Result<Vec<&str>, String> {
    let (mut items, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Err(format!("`{text}` has a `)` without a `(`")),
            ')' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(format!("`{text}` has a `(` without a `)`"));
    }
    items.push(&text[start..]);
    Ok(items)
}
