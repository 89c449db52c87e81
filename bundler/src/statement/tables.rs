//! Which tables a statement reads and writes.
//!
//! A table is known by the last part of its name, so that `orders`, `public.orders` and `"orders"`
//! are the same one: two tables of that name in two schemas count as one. What cannot be told
//! counts as all tables: a function of the database that nobody knows here, a statement that is
//! neither a query nor a change of rows, a variable as text. What no statement shows stays unseen:
//! views, triggers, foreign keys that delete.

use std::collections::BTreeSet;

use millrace_languages::Judge;
use sqlparser::ast::{ObjectName, ObjectNamePart, Statement as Sql};

use super::{
    dialect::Dialect,
    functions,
    resolved::{Concerns, Fact, Known, Mention, MentionKind, Role, UNKNOWN_NAME, parsed, resolve},
    shown, spelling,
};

/// Longer names are cut, so that keys in a store stay short: tables whose names begin alike may
/// count as one.
const LONGEST_NAME: usize = 100;

/// The tables of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Those that it reads.
    pub reads: TableSet,
    /// Those that it writes.
    pub writes: TableSet,
}

/// Some tables of a database, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSet {
    /// These.
    Named(BTreeSet<String>),
    /// All, as far as is known.
    All,
}

impl Default for TableSet {
    fn default() -> Self {
        Self::Named(BTreeSet::new())
    }
}

impl TableSet {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Named(names) if names.is_empty())
    }

    /// Adds those of another one.
    pub(crate) fn extend(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Named(names), Self::Named(others)) => names.extend(others),
            _ => *self = Self::All,
        }
    }
}

impl Tables {
    /// All of them, for whatever.
    pub(super) const ALL: Self = Self { reads: TableSet::All, writes: TableSet::All };

    /// Adds those of another statement.
    pub(super) fn extend(&mut self, other: Self) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
    }
}

/// The table that an author names by hand: `orders`, `public.orders`, `"Orders"`. `None` where it
/// is not a name.
pub(crate) fn named(text: &str, dialect: Dialect) -> Option<String> {
    if dialect.facts().judge == Judge::Words {
        return named_for_partiql(text);
    }
    table(&parsed(text, dialect)?, dialect)
}

/// A table of DynamoDB, `Orders` or `"Orders"`, with an index behind it or not. `None` where it is
/// not a name.
fn named_for_partiql(text: &str) -> Option<String> {
    let text = text.trim();
    let (name, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => text.split_once('.').map_or((text, ""), |(name, _)| (name, &text[name.len()..])),
    };
    let is_name = (3..=255).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    (is_name && (rest.is_empty() || rest.starts_with('.'))).then(|| name.to_owned())
}

/// The tables of a parsed statement.
pub(super) fn of(statements: &[Sql], dialect: Dialect) -> Tables {
    let [statement] = statements else { return Tables::ALL };
    let resolved = resolve(statement, dialect, &Known::default(), false);
    if !resolved.is_whole {
        return Tables::ALL;
    }
    let mut tables = Tables::default();
    let (mut named, mut writes_named) = (TableSet::default(), false);
    // One that is not known may read and write whatever it likes.
    let is_unknown = |name: &ObjectName| dialect.facts().resolution.functions_see_tables && !functions::is_known(name);
    for fact in &resolved.facts {
        match fact {
            Fact::Doubt { concerns: Concerns::Everyone, .. } | Fact::Procedure(_) => return Tables::ALL,
            Fact::Call(call) if is_unknown(&call.name) => return Tables::ALL,
            Fact::Unnamed { reads, writes } => {
                tables.reads.extend(if *reads { TableSet::All } else { TableSet::default() });
                tables.writes.extend(if *writes { TableSet::All } else { TableSet::default() });
            }
            Fact::WritesNamed => writes_named = true,
            Fact::Mention(Mention { kind: MentionKind::Part, .. }) => {}
            Fact::Mention(Mention { name, kind: MentionKind::Function, .. }) if is_unknown(name) => return Tables::ALL,
            Fact::Mention(Mention { kind: MentionKind::Function, .. }) if !dialect.facts().resolution.calls_tables => {}
            Fact::Mention(Mention { name, role, .. }) => {
                let one = table(name, dialect).map_or(TableSet::All, |table| TableSet::Named([table].into()));
                named.extend(one.clone());
                match (role, &one) {
                    (Role::Read, _) => tables.reads.extend(one),
                    (Role::Written | Role::Joined, TableSet::Named(_)) => tables.writes.extend(one),
                    (Role::Written | Role::Joined, TableSet::All) => return Tables::ALL,
                }
            }
            _ => {}
        }
    }
    if writes_named {
        tables.writes.extend(named);
    }
    tables
}

/// The tables of a statement without placeholders.
pub(crate) fn of_text(text: &str, dialect: Dialect) -> Tables {
    let parsed = spelling::whole(text, dialect).ok().and_then(|shown| shown::parse(&shown, dialect).ok());
    parsed.map_or(Tables::ALL, |statements| of(&statements, dialect))
}

/// The last part of a name, as its database tells tables apart.
fn table(name: &ObjectName, dialect: Dialect) -> Option<String> {
    let ObjectNamePart::Identifier(last) = name.0.last()? else { return None };
    if last.value == UNKNOWN_NAME || last.value.is_empty() {
        return None;
    }
    // `UPDATE ONLY orders`, of which the parser makes the table `ONLY` and the alias `orders`. The
    // word is reserved.
    if dialect.facts().resolution.has_only && last.quote_style.is_none() && last.value.eq_ignore_ascii_case("only") {
        return None;
    }
    let keeps_case = dialect.facts().resolution.quotes_keep_case && last.quote_style.is_some();
    let mut table = if keeps_case { last.value.clone() } else { last.value.to_ascii_lowercase() };
    if let Some(end) = (0..=LONGEST_NAME.min(table.len())).rev().find(|end| table.is_char_boundary(*end)) {
        table.truncate(end);
    }
    Some(table)
}

#[cfg(test)]
mod tests;
