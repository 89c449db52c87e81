//! Queries: what they show, and what their clauses hold.

use std::{collections::BTreeSet, ops::ControlFlow};

use sqlparser::ast::{
    Distinct, Expr, Fetch, GroupByExpr, Ident, LimitClause, LockClause, OrderBy, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, WildcardAdditionalOptions, With, visit_expressions,
};

use super::{
    condition::Operand,
    facts::{Concerns, Fact, Output, Shape, Source, Use},
    from::FromClause,
    names::{at, last},
    resolver::Resolver,
    scope::{Part, Scope},
};
use crate::statement::Dialect;

/// Why a query with a clause of another database is not judged.
const CLAUSE: &str = "it has a clause that is not understood";

/// What stands behind the body of a query, and is about its rows.
#[derive(Clone, Copy, Default)]
struct Tail<'q> {
    order_by: Option<&'q OrderBy>,
    limit: Option<&'q LimitClause>,
    fetch: Option<&'q Fetch>,
    locks: &'q [LockClause],
}

/// Whether a `SELECT` has no clause but those that are walked.
fn is_plain(select: &Select, dialect: Dialect) -> bool {
    let Select {
        select_token: _,
        optimizer_hints: _,
        distinct: _,
        select_modifiers,
        top,
        top_before_distinct: _,
        projection: _,
        exclude,
        into: _,
        from: _,
        lateral_views,
        prewhere,
        selection: _,
        connect_by,
        group_by: _,
        cluster_by,
        distribute_by,
        sort_by,
        having: _,
        named_window: _,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor: _,
    } = select;
    let is_common = top.is_none() && exclude.is_none() && value_table_mode.is_none();
    let has_lists = !lateral_views.is_empty() || !connect_by.is_empty() || !cluster_by.is_empty();
    let of_clickhouse = prewhere.is_none() && qualify.is_none();
    is_common
        && !has_lists
        && distribute_by.is_empty()
        && sort_by.is_empty()
        && (of_clickhouse || dialect.facts().resolution.is_clickhouse)
        && (select_modifiers.is_none() || dialect.facts().resolution.has_select_modifiers)
}

impl Resolver<'_> {
    /// A query, and the names of its columns.
    pub(super) fn query(&mut self, query: &Query, outer_parts: &[Part], outer: Option<&Scope<'_>>) -> Output {
        self.seen.queries += 1;
        let Query { with, body, order_by, limit_clause, fetch, locks, for_clause, settings, format_clause, pipe_operators } = query;
        let has_settings = settings.is_some() && !self.dialect.facts().resolution.is_clickhouse;
        if for_clause.is_some() || has_settings || format_clause.is_some() || !pipe_operators.is_empty() {
            self.doubt(Concerns::Everyone, None, CLAUSE);
        }
        let parts = self.with(with.as_ref(), outer_parts, outer);
        let tail = Tail { order_by: order_by.as_ref(), limit: limit_clause.as_ref(), fetch: fetch.as_ref(), locks };
        self.body(body, tail, &Scope::new(&parts, outer))
    }

    fn with(&mut self, with: Option<&With>, outer_parts: &[Part], outer: Option<&Scope<'_>>) -> Vec<Part> {
        let mut parts = outer_parts.to_vec();
        for cte in with.iter().flat_map(|with| &with.cte_tables) {
            if cte.from.is_some() {
                self.doubt(Concerns::Everyone, at(&cte.alias.name), CLAUSE);
            }
            let Some(name) = self.folded(&cte.alias.name) else {
                self.doubt(Concerns::Everyone, at(&cte.alias.name), "it names a part of itself by a variable");
                continue;
            };
            self.facts.push(Fact::Part(cte.alias.name.clone()));
            let listed = self.listed(&cte.alias);
            let mut seen = parts.clone();
            // Only a recursive query sees itself; the others take the name for a table's.
            if with.is_some_and(|with| with.recursive) {
                seen.push(Part { name: name.clone(), columns: listed.clone() });
            }
            let output = self.query(&cte.query, &seen, outer);
            parts.push(Part { name, columns: listed.or(output) });
        }
        parts
    }

    /// What is between `WITH` and `ORDER BY`. `around` has what its tables are looked for in.
    fn body(&mut self, body: &SetExpr, tail: Tail<'_>, around: &Scope<'_>) -> Output {
        let output = match body {
            SetExpr::Select(select) => return self.select(select, tail, around),
            SetExpr::Query(query) => self.query(query, around.parts, around.outer),
            SetExpr::SetOperation { left, right, .. } => {
                let output = self.body(left, Tail::default(), around);
                self.body(right, Tail::default(), around);
                output
            }
            SetExpr::Values(values) => {
                self.within(values, around);
                let width = values.rows.first().map_or(0, |row| row.content.len());
                Some((1..=width).map(|number| format!("column{number}")).collect())
            }
            SetExpr::Insert(statement) | SetExpr::Update(statement) | SetExpr::Delete(statement) | SetExpr::Merge(statement) => {
                self.statement(statement, around.parts)
            }
            SetExpr::Table(_) => {
                self.facts.push(Fact::Unnamed { reads: true, writes: false });
                self.doubt(Concerns::Tenant, None, "`TABLE name` has no condition");
                self.unclear("`TABLE name` does not say whether the name is quoted: write `SELECT * FROM name`");
                None
            }
        };
        // Their `ORDER BY` knows the columns of the result only.
        for expr in ordered(tail.order_by) {
            if !matches!(expr, Expr::Identifier(_)) {
                self.within(expr, around);
            }
        }
        self.after(tail, around);
        if !tail.locks.is_empty() {
            self.unclear("which tables of it are locked");
        }
        output
    }

    fn after(&mut self, tail: Tail<'_>, scope: &Scope<'_>) {
        if let Some(OrderBy { kind, interpolate }) = tail.order_by {
            if self.dialect.facts().resolution.is_clickhouse {
                self.within(interpolate, scope);
                if let OrderByKind::Expressions(exprs) = kind {
                    exprs.iter().for_each(|expr| self.within(&expr.with_fill, scope));
                }
            } else if interpolate.is_some() || matches!(kind, OrderByKind::All(_)) {
                self.doubt(Concerns::Everyone, None, CLAUSE);
            }
        }
        if let Some(limit) = tail.limit {
            self.within(limit, scope);
        }
        if let Some(fetch) = tail.fetch {
            self.within(fetch, scope);
        }
    }

    fn select(&mut self, select: &Select, tail: Tail<'_>, around: &Scope<'_>) -> Output {
        if select.into.is_some() {
            self.facts.push(Fact::Unnamed { reads: false, writes: true });
            self.doubt(Concerns::Tenant, None, "`SELECT … INTO` makes a table");
            self.unclear("`SELECT … INTO` makes a table, or writes a file");
        }
        if !is_plain(select, self.dialect) {
            self.doubt(Concerns::Everyone, None, CLAUSE);
        }
        let aliases: Vec<String> = select.projection.iter().filter_map(|item| self.alias(item)).collect();
        let mut from = FromClause::new(Scope::new(around.parts, around.outer));
        if self.dialect.facts().resolution.is_clickhouse {
            from.scope.aliases = aliases.iter().cloned().collect();
        }
        self.from(&mut from, &select.from);
        self.read_any(&from.scope, 0);
        from.shape = Shape {
            has_where: false,
            has_limit: tail.limit.is_some() || tail.fetch.is_some(),
            collects: collects(select),
            order: ordered(tail.order_by).map(|expr| Operand::of(expr, self.dialect)).collect(),
        };
        let scope = self.filtered(from, select.selection.as_ref());
        self.calls_within(&select.into);
        self.within(&select.prewhere, &scope);
        self.within(&select.qualify, &scope);
        if let Some(Distinct::On(exprs)) = &select.distinct {
            self.by(exprs.iter(), &aliases, &scope);
        }
        let output = self.projection(&select.projection, &scope);
        match &select.group_by {
            GroupByExpr::Expressions(exprs, modifiers) => {
                self.by(exprs.iter(), &aliases, &scope);
                self.within(modifiers, &scope);
            }
            GroupByExpr::All(modifiers) => self.within(modifiers, &scope),
        }
        match &select.having {
            Some(having) if self.dialect.facts().resolution.aliases_in_expressions => self.by(std::iter::once(having), &aliases, &scope),
            Some(having) => self.within(having, &scope),
            None => {}
        }
        self.within(&select.named_window, &scope);
        self.by(ordered(tail.order_by), &aliases, &scope);
        self.after(tail, &scope);
        for lock in tail.locks {
            let only = lock.of.as_ref().and_then(last).and_then(|ident| self.folded(ident));
            for item in scope.items.iter().filter(|item| only.as_ref().is_none_or(|only| item.name == *only)) {
                self.facts.push(Fact::Lock(item.clone()));
            }
        }
        output
    }

    /// The name that a query gives to a column.
    fn alias(&self, item: &SelectItem) -> Option<String> {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => self.folded(alias),
            _ => None,
        }
    }

    /// What a query shows: the names of its columns.
    pub(super) fn projection(&mut self, items: &[SelectItem], scope: &Scope<'_>) -> Output {
        let mut output: Output = Some(BTreeSet::new());
        for item in items {
            let names: Output = match item {
                SelectItem::UnnamedExpr(expr) => {
                    self.within(expr, scope);
                    self.name_of(expr).map(|name| std::iter::once(name).collect())
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let name = self.folded(alias);
                    // Within its own expression, the name is a column's.
                    let mut own = scope.clone();
                    own.aliases.retain(|alias| Some(alias) != name.as_ref());
                    self.within(expr, &own);
                    name.map(|name| std::iter::once(name).collect())
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    self.within(options, scope);
                    self.whole_item(name, scope)
                }
                SelectItem::Wildcard(options) if self.dialect.facts().resolution.is_clickhouse && options.opt_except.is_some() => {
                    self.within(options, scope);
                    self.all_except(options, scope)
                }
                SelectItem::Wildcard(options) => {
                    self.within(options, scope);
                    for item in &scope.items {
                        if let Some(table) = &item.table {
                            self.whole(table, Use::Read);
                        }
                    }
                    let columns: Option<Vec<_>> = scope.items.iter().map(|item| item.columns.clone()).collect();
                    columns.map(|columns| columns.into_iter().flatten().collect())
                }
                SelectItem::ExprWithAliases { .. } | SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(_), _) => {
                    self.within(item, scope);
                    None
                }
            };
            output = match (output, names) {
                (Some(mut output), Some(names)) => {
                    output.extend(names);
                    Some(output)
                }
                _ => None,
            };
        }
        output
    }

    /// `* EXCEPT (a, b)`, of tables whose columns are known, or of whole tables.
    fn all_except(&mut self, options: &WildcardAdditionalOptions, scope: &Scope<'_>) -> Output {
        let except = options.opt_except.iter().flat_map(|except| std::iter::once(&except.first_element).chain(&except.additional_elements));
        let except: Vec<String> = except.filter_map(|ident| self.folded(ident)).collect();
        let mut output: Output = Some(BTreeSet::new());
        for Source { table, columns, .. } in &scope.items {
            let left = columns.as_ref().map(|columns| columns.iter().filter(|&name| !except.contains(name)).cloned().collect::<Vec<_>>());
            match (table, &left) {
                (Some(table), Some(left)) => left.iter().for_each(|column| self.column_of(table, Use::Read, column)),
                (Some(table), None) => {
                    self.whole(table, Use::Read);
                    let why =
                        "which columns are left by `EXCEPT` depends on the tables: write the columns, or ask the database by `--connect`";
                    self.wider(why);
                }
                (None, _) => {}
            }
            output = output.zip(left).map(|(mut output, left)| {
                output.extend(left);
                output
            });
        }
        output
    }

    /// The name that an expression gives to its column; `None` where the database makes one up.
    fn name_of(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Identifier(ident) => self.folded(ident),
            Expr::CompoundIdentifier(parts) => parts.last().and_then(|ident| self.folded(ident)),
            Expr::Function(function) if self.dialect.facts().resolution.names_results => {
                last(&function.name).and_then(|ident| self.folded(ident))
            }
            Expr::Cast { expr, .. } if self.dialect.facts().resolution.names_results && !matches!(**expr, Expr::Value(_)) => {
                self.name_of(expr)
            }
            Expr::Value(_) if self.dialect.facts().resolution.names_results => Some("?column?".to_owned()),
            _ => None,
        }
    }

    /// What rows are ordered or grouped by, which can be a name that the query gives.
    fn by<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>, aliases: &[String], scope: &Scope<'_>) {
        let is_alias = |name: Option<String>| name.is_some_and(|name| aliases.contains(&name));
        let mut both = scope.clone();
        if self.dialect.facts().resolution.aliases_in_expressions {
            both.items.push(Source::other(String::new(), Some(aliases.iter().cloned().collect())));
        }
        for expr in exprs {
            match expr {
                Expr::Identifier(ident) if is_alias(self.folded(ident)) => {}
                _ => self.within(expr, &both),
            }
        }
    }
}

/// Functions whose result is of several rows.
const AGGREGATES: [&str; 24] = [
    "any_value",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "group_concat",
    "json_agg",
    "json_arrayagg",
    "json_group_array",
    "json_group_object",
    "json_object_agg",
    "json_objectagg",
    "jsonb_agg",
    "max",
    "min",
    "stddev",
    "string_agg",
    "sum",
    "total",
    "variance",
];

/// Whether the first row of a query needs all rows of its sources.
fn collects(select: &Select) -> bool {
    let groups = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(exprs, modifiers) => !exprs.is_empty() || !modifiers.is_empty(),
    };
    let is_collecting = |expr: &Expr| match expr {
        Expr::Function(function) if function.over.is_some() || last(&function.name).is_some_and(is_aggregate) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    groups || select.distinct.is_some() || select.having.is_some() || visit_expressions(&select.projection, is_collecting).is_break()
}

fn is_aggregate(name: &Ident) -> bool {
    AGGREGATES.iter().any(|aggregate| name.value.eq_ignore_ascii_case(aggregate))
}

fn ordered(order_by: Option<&OrderBy>) -> impl Iterator<Item = &Expr> {
    let exprs = match order_by.map(|order_by| &order_by.kind) {
        Some(OrderByKind::Expressions(exprs)) => exprs.as_slice(),
        _ => &[],
    };
    exprs.iter().map(|expr| &expr.expr)
}
