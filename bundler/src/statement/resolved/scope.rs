//! The tables that the columns of a query can be of.

use std::collections::BTreeSet;

use sqlparser::ast::{Ident, ObjectName};

use super::{
    facts::{Output, Source, Use, UsedColumns},
    names::{Named, fold, last},
    resolver::Resolver,
};

/// A common table expression.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) columns: Output,
}

/// The tables of one query, and those of the query around it.
#[derive(Clone, Default)]
pub(super) struct Scope<'s> {
    pub(super) items: Vec<Source>,
    /// Columns that `USING` has made one of two, which have been counted.
    pub(super) merged: BTreeSet<String>,
    /// Names that the query gives to expressions, where they are taken before those of columns.
    pub(super) aliases: BTreeSet<String>,
    /// What `WITH` names.
    pub(super) parts: &'s [Part],
    pub(super) outer: Option<&'s Scope<'s>>,
}

impl<'s> Scope<'s> {
    pub(super) fn new(parts: &'s [Part], outer: Option<&'s Scope<'s>>) -> Self {
        Self { parts, outer, ..Self::default() }
    }

    /// Some items of it alone.
    pub(super) fn of_items(&self, items: std::ops::Range<usize>) -> Self {
        Self { items: self.items[items].to_vec(), parts: self.parts, ..Self::default() }
    }

    /// What columns are qualified by, from the query outwards.
    fn item(&self, name: &str) -> Option<&Source> {
        let own = self.items.iter().find(|item| item.name == name);
        own.or_else(|| self.outer.and_then(|outer| outer.item(name)))
    }
}

impl Resolver<'_> {
    /// A column's name as the database tells names apart.
    pub(super) fn folded(&self, ident: &Ident) -> Option<String> {
        let folded = fold(ident, self.dialect)?;
        Some(if self.dialect.facts().resolution.is_clickhouse { ident.value.clone() } else { folded })
    }

    /// Notes that a column is needed of each table from a place on, whatever is shown.
    pub(super) fn read_any(&mut self, scope: &Scope<'_>, from: usize) {
        for table in scope.items.iter().skip(from).filter_map(|item| item.table.as_ref()) {
            self.columns(table, Use::Read, UsedColumns::Any);
        }
    }

    /// A name that stands alone.
    pub(super) fn unqualified(&mut self, ident: &Ident, scope: &Scope<'_>) {
        let is_quoted = ident.quote_style.is_some();
        if !is_quoted && (ident.value.starts_with('@') || ident.value.eq_ignore_ascii_case("default")) {
            return;
        }
        // Numbers of ClickHouse, which the parser takes for names.
        if self.dialect.facts().resolution.is_clickhouse
            && !is_quoted
            && ["inf", "nan"].iter().any(|number| ident.value.eq_ignore_ascii_case(number))
        {
            return;
        }
        let Some(name) = self.folded(ident) else { return self.unclear("it names a column by a variable") };
        self.find(&name, &ident.value, scope, Use::Read);
    }

    /// Looks for the table of a column, from the query outwards.
    pub(super) fn find(&mut self, name: &str, shown: &str, scope: &Scope<'_>, usage: Use) {
        let mut candidates: Vec<Source> = Vec::new();
        let mut around = Some(scope);
        while let Some(scope) = around {
            if scope.merged.contains(name) || (candidates.is_empty() && scope.aliases.contains(name)) {
                return;
            }
            let has = |item: &&Source| item.columns.as_ref().is_some_and(|columns| columns.contains(name));
            let sure: Vec<&Source> = scope.items.iter().filter(has).collect();
            if !sure.is_empty() {
                candidates.extend(sure.into_iter().cloned());
                break;
            }
            // A row as a whole, which is a value of PostgreSQL.
            if let Some(item) = scope.items.iter().find(|item| self.dialect.facts().resolution.rows_are_values && item.name == name) {
                if let Some(table) = item.table.clone() {
                    self.whole(&table, usage);
                }
                return;
            }
            candidates.extend(scope.items.iter().filter(|item| item.columns.is_none()).cloned());
            around = scope.outer;
        }
        match candidates.as_slice() {
            [] => self.unclear(format!("`{shown}` is a column of none of its tables")),
            [Source { table, .. }] => {
                if let Some(table) = table {
                    self.column_of(table, usage, name);
                }
            }
            several => {
                let tables: BTreeSet<&Named> = several.iter().filter_map(|item| item.table.as_ref()).collect();
                if tables.len() == 1 && several.iter().all(|item| item.table.is_some()) {
                    tables.iter().for_each(|table| self.column_of(table, usage, name));
                    return;
                }
                for table in &tables {
                    self.whole(table, usage);
                }
                if let Some(first) = several.first().filter(|_| !tables.is_empty()) {
                    let all: Vec<String> = several.iter().map(|item| format!("`{}`", item.name)).collect();
                    let example = format!("{}.{shown}", first.name);
                    self.wider(format!(
                        "`{shown}` can be a column of {}: qualify it, such as `{example}`, or ask the database by `--connect`",
                        all.join(" or of ")
                    ));
                }
            }
        }
    }

    /// A name of several parts: of a column and its table.
    pub(super) fn qualified(&mut self, parts: &[Ident], scope: &Scope<'_>) {
        if self.dialect.facts().resolution.is_clickhouse {
            return self.dotted(parts, scope);
        }
        let names: Option<Vec<String>> = parts.iter().map(|part| self.folded(part)).collect();
        let Some(names) = names else { return self.unclear("it names a column by a variable") };
        let (Some(column), Some(item)) = (names.last(), names.len().checked_sub(2).and_then(|at| names.get(at))) else { return };
        match scope.item(item) {
            Some(Source { table: Some(table), .. }) => self.column_of(table, Use::Read, column),
            Some(_) => {}
            None => {
                let shown: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
                self.unclear(format!("`{}` is a column of none of its tables", shown.join(".")));
            }
        }
    }

    /// `t.*`
    pub(super) fn whole_item(&mut self, name: &ObjectName, scope: &Scope<'_>) -> Output {
        let item = last(name).and_then(|ident| self.folded(ident)).and_then(|name| scope.item(&name));
        let Some(item) = item else {
            self.unclear(format!("`{name}.*` is of none of its tables"));
            return None;
        };
        if let Some(table) = &item.table {
            self.whole(table, Use::Read);
        }
        item.columns.clone()
    }
}
