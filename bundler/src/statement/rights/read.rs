//! Queries: their tables, and what they show.

use sqlparser::ast::{
    Distinct, Expr, Fetch, GroupByExpr, Ident, JoinConstraint, JoinOperator, LimitClause, LockClause, ObjectName, OrderBy, OrderByKind,
    Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor, TableWithJoins,
    WildcardAdditionalOptions, With,
};

use super::{
    Dialect, Named, Privilege, clickhouse,
    model::named,
    scope::{Cte, Item, Output, Scope, Walk, expr_of},
};
use crate::statement::last;

const CLAUSE: &str = "it has a clause that is not understood";

/// What stands behind the body of a query, and is about its rows.
#[derive(Clone, Copy, Default)]
struct Tail<'q> {
    order_by: Option<&'q OrderBy>,
    limit: Option<&'q LimitClause>,
    fetch: Option<&'q Fetch>,
    locks: &'q [LockClause],
}

impl Walk<'_> {
    /// A query, and the names of its columns.
    pub(super) fn query(&mut self, query: &Query, outer_ctes: &[Cte], outer: Option<&Scope<'_>>) -> Output {
        self.seen.queries += 1;
        let Query { with, body, order_by, limit_clause, fetch, locks, for_clause, settings, format_clause, pipe_operators } = query;
        let is_clickhouse = self.dialect == Dialect::ClickHouse;
        if for_clause.is_some() || (settings.is_some() && !is_clickhouse) || format_clause.is_some() || !pipe_operators.is_empty() {
            self.unclear(CLAUSE);
        }
        let ctes = self.with(with.as_ref(), outer_ctes, outer);
        let tail = Tail { order_by: order_by.as_ref(), limit: limit_clause.as_ref(), fetch: fetch.as_ref(), locks };
        self.body(body, &ctes, outer, tail)
    }

    fn with(&mut self, with: Option<&With>, outer_ctes: &[Cte], outer: Option<&Scope<'_>>) -> Vec<Cte> {
        let mut ctes = outer_ctes.to_vec();
        for cte in with.iter().flat_map(|with| &with.cte_tables) {
            if cte.from.is_some() {
                self.unclear(CLAUSE);
            }
            let Some(name) = self.folded(&cte.alias.name) else {
                self.unclear("it names a part of itself by a variable");
                continue;
            };
            let listed = self.listed(&cte.alias);
            let mut seen = ctes.clone();
            // Only a recursive query sees itself; the others take the name for a table's.
            if with.is_some_and(|with| with.recursive) {
                seen.push((name.clone(), listed.clone()));
            }
            let output = self.query(&cte.query, &seen, outer);
            ctes.push((name, listed.or(output)));
        }
        ctes
    }

    /// The names that an alias gives to columns, which can be fewer than there are.
    fn listed(&self, alias: &TableAlias) -> Output {
        (!alias.columns.is_empty()).then(|| alias.columns.iter().filter_map(|column| self.folded(&column.name)).collect())
    }

    fn body(&mut self, body: &SetExpr, ctes: &[Cte], outer: Option<&Scope<'_>>, tail: Tail<'_>) -> Output {
        let around = Scope { outer, ..Scope::default() };
        let output = match body {
            SetExpr::Select(select) => return self.select(select, ctes, outer, tail),
            SetExpr::Query(query) => self.query(query, ctes, outer),
            SetExpr::SetOperation { left, right, .. } => {
                let output = self.body(left, ctes, outer, Tail::default());
                self.body(right, ctes, outer, Tail::default());
                output
            }
            SetExpr::Values(values) => {
                self.within(values, &around, ctes);
                let width = values.rows.first().map_or(0, |row| row.content.len());
                Some((1..=width).map(|number| format!("column{number}")).collect())
            }
            SetExpr::Insert(statement) | SetExpr::Update(statement) | SetExpr::Delete(statement) | SetExpr::Merge(statement) => {
                self.statement(statement, ctes)
            }
            SetExpr::Table(_) => {
                self.unclear("`TABLE name` does not say whether the name is quoted: write `SELECT * FROM name`");
                None
            }
        };
        // Their `ORDER BY` knows the columns of the result only.
        for expr in ordered(tail.order_by) {
            if !matches!(expr, Expr::Identifier(_)) {
                self.within(expr, &around, ctes);
            }
        }
        self.after(tail, &around, ctes);
        if !tail.locks.is_empty() {
            self.unclear("which tables of it are locked");
        }
        output
    }

    fn after(&mut self, tail: Tail<'_>, scope: &Scope<'_>, ctes: &[Cte]) {
        if let (Some(OrderBy { kind, interpolate }), Dialect::ClickHouse) = (tail.order_by, self.dialect) {
            self.within(interpolate, scope, ctes);
            if let OrderByKind::Expressions(exprs) = kind {
                exprs.iter().for_each(|expr| self.within(&expr.with_fill, scope, ctes));
            }
        } else if let Some(OrderBy { kind, interpolate }) = tail.order_by
            && (interpolate.is_some() || matches!(kind, OrderByKind::All(_)))
        {
            self.unclear(CLAUSE);
        }
        if let Some(limit) = tail.limit {
            self.within(limit, scope, ctes);
        }
        if let Some(fetch) = tail.fetch {
            self.within(fetch, scope, ctes);
        }
    }

    fn select(&mut self, select: &Select, ctes: &[Cte], outer: Option<&Scope<'_>>, tail: Tail<'_>) -> Output {
        let Select {
            select_token: _,
            optimizer_hints: _,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor: _,
        } = select;
        if into.is_some() {
            self.unclear("`SELECT … INTO` makes a table, or writes a file");
        }
        let is_clickhouse = self.dialect == Dialect::ClickHouse;
        let is_plain = top.is_none()
            && exclude.is_none()
            && lateral_views.is_empty()
            && (prewhere.is_none() || is_clickhouse)
            && connect_by.is_empty()
            && cluster_by.is_empty()
            && distribute_by.is_empty()
            && sort_by.is_empty()
            && (qualify.is_none() || is_clickhouse)
            && value_table_mode.is_none()
            && (select_modifiers.is_none() || self.dialect == Dialect::MySql);
        if !is_plain {
            self.unclear(CLAUSE);
        }
        let mut scope = Scope { outer, ..Scope::default() };
        if is_clickhouse {
            let names = projection.iter().filter_map(|item| match item {
                SelectItem::ExprWithAlias { alias, .. } => self.folded(alias),
                _ => None,
            });
            scope.aliases = names.collect();
            if from.iter().rev().skip(1).any(|tables| tables.joins.iter().any(|join| is_array_join(&join.join_operator))) {
                self.unclear("whether tables or arrays follow its `ARRAY JOIN`: write one array for each");
            }
        }
        for tables in from {
            self.tables(&mut scope, tables, ctes);
        }
        for table in scope.items.iter().filter_map(|item| item.table.as_ref()) {
            // Whatever it shows, it needs a column.
            self.rights.need(table, Privilege::Select);
        }
        let (output, aliases) = self.projection(projection, &scope, ctes);
        for condition in [prewhere, selection, qualify].into_iter().flatten() {
            self.within(condition, &scope, ctes);
        }
        if let Some(Distinct::On(exprs)) = distinct {
            self.by(exprs.iter(), &aliases, &scope, ctes);
        }
        match group_by {
            GroupByExpr::Expressions(exprs, _) => self.by(exprs.iter(), &aliases, &scope, ctes),
            GroupByExpr::All(_) => {}
        }
        if let Some(having) = having {
            match (self.dialect, having) {
                (Dialect::MySql, having) => self.by(std::iter::once(having), &aliases, &scope, ctes),
                (_, having) => self.within(having, &scope, ctes),
            }
        }
        self.within(named_window, &scope, ctes);
        self.by(ordered(tail.order_by), &aliases, &scope, ctes);
        self.after(tail, &scope, ctes);
        for lock in tail.locks {
            self.lock(lock, &scope);
        }
        output
    }

    /// What a query shows: the names of its columns, and those of them that it gives itself.
    pub(super) fn projection(&mut self, items: &[SelectItem], scope: &Scope<'_>, ctes: &[Cte]) -> (Output, Vec<String>) {
        let mut output: Output = Some(std::collections::BTreeSet::new());
        let mut aliases = Vec::new();
        for item in items {
            let names: Output = match item {
                SelectItem::UnnamedExpr(expr) => {
                    self.within(expr, scope, ctes);
                    self.name_of(expr).map(|name| std::iter::once(name).collect())
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let name = self.folded(alias);
                    // Within its own expression, the name is a column's.
                    let mut own = scope.clone();
                    own.aliases.retain(|alias| Some(alias) != name.as_ref());
                    self.within(expr, &own, ctes);
                    aliases.extend(name.clone());
                    name.map(|name| std::iter::once(name).collect())
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => self.whole_item(name, scope),
                SelectItem::Wildcard(options) if self.dialect == Dialect::ClickHouse && options.opt_except.is_some() => {
                    self.within(options, scope, ctes);
                    self.all_except(options, scope)
                }
                SelectItem::Wildcard(options) => {
                    self.within(options, scope, ctes);
                    for item in &scope.items {
                        if let Some(table) = &item.table {
                            self.whole(table, Privilege::Select);
                        }
                    }
                    let columns: Option<Vec<_>> = scope.items.iter().map(|item| item.columns.clone()).collect();
                    columns.map(|columns| columns.into_iter().flatten().collect())
                }
                SelectItem::ExprWithAliases { .. } | SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(_), _) => {
                    self.within(item, scope, ctes);
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
        (output, aliases)
    }

    /// `* EXCEPT (a, b)`, of tables whose columns are known, or of whole tables.
    fn all_except(&mut self, options: &WildcardAdditionalOptions, scope: &Scope<'_>) -> Output {
        let except = options.opt_except.iter().flat_map(|except| std::iter::once(&except.first_element).chain(&except.additional_elements));
        let except: Vec<String> = except.filter_map(|ident| self.folded(ident)).collect();
        let mut output: Output = Some(std::collections::BTreeSet::new());
        for Item { table, columns, .. } in &scope.items {
            let left = columns.as_ref().map(|columns| columns.iter().filter(|&name| !except.contains(name)).cloned().collect::<Vec<_>>());
            match (table, &left) {
                (Some(table), Some(left)) => left.iter().for_each(|column| self.column_of(table, Privilege::Select, column)),
                (Some(table), None) => {
                    self.whole(table, Privilege::Select);
                    let why =
                        "which columns are left by `EXCEPT` depends on the tables: write the columns, or ask the database by `--connect`";
                    self.rights.widened.insert(why.to_owned());
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
            Expr::Function(function) if self.dialect == Dialect::Postgres => last(&function.name).and_then(|ident| self.folded(ident)),
            Expr::Cast { expr, .. } if self.dialect == Dialect::Postgres && !matches!(**expr, Expr::Value(_)) => self.name_of(expr),
            Expr::Value(_) if self.dialect == Dialect::Postgres => Some("?column?".to_owned()),
            _ => None,
        }
    }

    /// What rows are ordered or grouped by, which can be a name that the query gives.
    fn by<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>, aliases: &[String], scope: &Scope<'_>, ctes: &[Cte]) {
        for expr in exprs {
            let is_alias = |ident: &Ident| self.folded(ident).is_some_and(|name| aliases.contains(&name));
            match expr {
                Expr::Identifier(ident) if is_alias(ident) => {}
                // MySQL takes them within expressions, too.
                _ if self.dialect == Dialect::MySql => {
                    let named = Item { name: String::new(), table: None, columns: Some(aliases.iter().cloned().collect()) };
                    let inner = Scope { items: vec![named], outer: None, ..Scope::default() };
                    let mut both = scope.clone();
                    both.items.extend(inner.items);
                    self.within(expr, &both, ctes);
                }
                _ => self.within(expr, scope, ctes),
            }
        }
    }

    /// Rows that are locked: a right to change some column is needed.
    fn lock(&mut self, lock: &LockClause, scope: &Scope<'_>) {
        let only = lock.of.as_ref().and_then(last).and_then(|ident| self.folded(ident));
        for item in scope.items.iter().filter(|item| only.as_ref().is_none_or(|only| item.name == *only)) {
            match (&item.table, self.dialect) {
                // MySQL wants the right to change or delete rows; MariaDB wants none.
                (Some(_), Dialect::MySql) if self.known.is_mariadb => {}
                (Some(table), Dialect::MySql) => self.whole(table, Privilege::Update),
                (Some(table), _) => drop(self.rights.need(table, Privilege::Update)),
                (None, _) => self.unclear(&format!("which tables of `{}` are locked", item.name)),
            }
        }
    }

    /// Adds an element of `FROM`.
    pub(super) fn tables(&mut self, scope: &mut Scope<'_>, tables: &TableWithJoins, ctes: &[Cte]) {
        let start = scope.items.len();
        self.factor(scope, &tables.relation, ctes);
        for join in &tables.joins {
            let middle = scope.items.len();
            if is_array_join(&join.join_operator) {
                self.array(scope, &join.relation, ctes);
                continue;
            }
            self.factor(scope, &join.relation, ctes);
            let constraint = match &join.join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::CrossJoin(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::StraightJoin(constraint)
                | JoinOperator::FullOuter(constraint)
                | JoinOperator::Semi(constraint)
                | JoinOperator::LeftSemi(constraint)
                | JoinOperator::RightSemi(constraint)
                | JoinOperator::Anti(constraint)
                | JoinOperator::LeftAnti(constraint)
                | JoinOperator::RightAnti(constraint) => constraint,
                _ => {
                    self.unclear("it has a join that is not understood");
                    continue;
                }
            };
            match constraint {
                JoinConstraint::On(condition) => self.within(condition, scope, ctes),
                JoinConstraint::Using(columns) => self.using(scope, columns, start, middle),
                JoinConstraint::Natural => {
                    for table in scope.items.iter().skip(start).filter_map(|item| item.table.as_ref()) {
                        self.whole(table, Privilege::Select);
                    }
                    self.rights.widened.insert("which columns a `NATURAL` join compares depends on the tables".to_owned());
                }
                JoinConstraint::None => {}
            }
        }
    }

    /// The array of an `ARRAY JOIN`, which the parser takes for a table, and the name that its elements get.
    fn array(&mut self, scope: &mut Scope<'_>, factor: &TableFactor, ctes: &[Cte]) {
        let TableFactor::Table { name, alias, args, .. } = factor else {
            return self.unclear("the array of its `ARRAY JOIN` is not understood");
        };
        self.seen.tables += 1;
        let idents: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
        match (args, idents.as_slice()) {
            (Some(args), _) => {
                self.within(args, scope, ctes);
                self.call(name, None);
            }
            (None, [column]) => self.unqualified(column, scope),
            (None, _) => self.within(&Expr::CompoundIdentifier(idents), scope, ctes),
        }
        if let Some(name) = alias.as_ref().and_then(|alias| self.folded(&alias.name)) {
            scope.items.push(Item { name: String::new(), table: None, columns: Some([name].into()) });
        }
    }

    fn using(&mut self, scope: &mut Scope<'_>, columns: &[ObjectName], start: usize, middle: usize) {
        for ident in columns.iter().filter_map(last) {
            let Some(name) = self.folded(ident) else { return self.unclear("it names a column by a variable") };
            let side = |items: &[Item]| Scope { items: items.to_vec(), ..Scope::default() };
            let (left, right) = (side(&scope.items[start..middle]), side(&scope.items[middle..]));
            // A join before it may have made the column one already.
            if !scope.merged.contains(&name) {
                self.find(&name, &ident.value, &left, Privilege::Select);
            }
            self.find(&name, &ident.value, &right, Privilege::Select);
            scope.merged.insert(name);
        }
    }

    /// Adds a table, a query or a function.
    pub(super) fn factor(&mut self, scope: &mut Scope<'_>, factor: &TableFactor, ctes: &[Cte]) {
        let seen = |scope: &Scope<'_>, lateral: bool| if lateral { scope.items.clone() } else { Vec::new() };
        let (alias, item) = match factor {
            TableFactor::Table { name, alias, args: None, with_hints, version, json_path, sample, .. } => {
                if !with_hints.is_empty() || version.is_some() || json_path.is_some() {
                    self.unclear("it says something of a table that is not understood");
                }
                self.within(sample, scope, ctes);
                (alias, self.table(name, ctes))
            }
            TableFactor::Table { name, alias, args: Some(args), .. } => {
                self.seen.tables += 1;
                if self.dialect == Dialect::ClickHouse {
                    let exprs: Vec<&Expr> = args.args.iter().filter_map(expr_of).collect();
                    self.table_function(name, &exprs);
                    // A name is no column there.
                    for expr in exprs.iter().filter(|expr| !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))) {
                        self.within(*expr, scope, ctes);
                    }
                } else {
                    self.within(args, scope, ctes);
                    self.call(name, None);
                }
                (alias, Some(self.function(name)))
            }
            TableFactor::Derived { lateral, subquery, alias, sample } => {
                let around = Scope { items: seen(scope, *lateral), merged: scope.merged.clone(), outer: scope.outer, ..Scope::default() };
                let columns = self.query(subquery, ctes, Some(&around));
                self.within(sample, scope, ctes);
                (alias, Some(Item { name: String::new(), table: None, columns }))
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } => {
                self.within(args, scope, ctes);
                self.call(name, None);
                (alias, Some(self.function(name)))
            }
            TableFactor::UNNEST { alias, array_exprs, .. } => {
                self.within(array_exprs, scope, ctes);
                (alias, Some(Item { name: "unnest".to_owned(), table: None, columns: None }))
            }
            TableFactor::JsonTable { json_expr, json_path: _, columns: _, alias } => {
                self.within(json_expr, scope, ctes);
                (alias, Some(Item { name: String::new(), table: None, columns: None }))
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => return self.tables(scope, table_with_joins, ctes),
            _ => return self.unclear("it has something in `FROM` that is not understood"),
        };
        let Some(mut item) = item else { return };
        if let Some(alias) = alias {
            let Some(name) = self.folded(&alias.name) else { return self.unclear("it names a table by a variable") };
            match (self.listed(alias), &item.table) {
                // Columns get other names, which are told apart no more.
                (Some(listed), Some(table)) => {
                    let table = table.clone();
                    self.whole(&table, Privilege::Select);
                    item = Item { name: String::new(), table: None, columns: Some(listed) };
                }
                (Some(listed), None) => item.columns = Some(listed),
                // The column of a function is called as the function is.
                (None, None) if matches!(factor, TableFactor::UNNEST { .. }) => item.columns = Some([name.clone()].into()),
                (None, _) => {}
            }
            item.name = name;
        }
        scope.items.push(item);
    }

    fn function(&self, name: &ObjectName) -> Item {
        Item { name: last(name).and_then(|ident| self.folded(ident)).unwrap_or_default(), table: None, columns: None }
    }

    /// A table, or what a common table expression calls so. `None` where that cannot be told, which has been noted.
    pub(super) fn table(&mut self, name: &ObjectName, ctes: &[Cte]) -> Option<Item> {
        self.seen.tables += 1;
        let (Some(folded), Some(table)) = (last(name).and_then(|ident| self.folded(ident)), named(name, self.dialect)) else {
            self.unclear("the name of a table is not written out, or is not understood");
            return None;
        };
        if table.schema.is_none()
            && let Some((_, columns)) = ctes.iter().rev().find(|(cte, _)| *cte == folded)
        {
            return Some(Item { name: folded, table: None, columns: columns.clone() });
        }
        if self.is_everybodys(&table) {
            return Some(Item { name: folded, table: None, columns: None });
        }
        let columns = self.known.tables.get(&table).map(|known| known.columns.clone());
        Some(Item { name: folded, table: Some(table), columns })
    }

    /// Whether a table is one of the system's that everybody may read.
    fn is_everybodys(&self, table: &Named) -> bool {
        let schema = table.schema.as_deref().map(str::to_ascii_lowercase);
        match (self.dialect, schema.as_deref()) {
            (Dialect::ClickHouse, _) => clickhouse::is_everybodys(table),
            (_, Some("information_schema")) => true,
            (Dialect::Postgres, Some("pg_catalog")) => true,
            (Dialect::Postgres, None) => table.name.starts_with("pg_"),
            (Dialect::MySql, None) => table.name.eq_ignore_ascii_case("dual"),
            _ => false,
        }
    }
}

const fn is_array_join(operator: &JoinOperator) -> bool {
    matches!(operator, JoinOperator::ArrayJoin | JoinOperator::LeftArrayJoin | JoinOperator::InnerArrayJoin)
}

fn ordered(order_by: Option<&OrderBy>) -> impl Iterator<Item = &Expr> {
    let exprs = match order_by.map(|order_by| &order_by.kind) {
        Some(OrderByKind::Expressions(exprs)) => exprs.as_slice(),
        _ => &[],
    };
    exprs.iter().map(|expr| &expr.expr)
}
