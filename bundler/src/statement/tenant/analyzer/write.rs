//! Statements that write: what they insert and set, and whose rows they change.

use sqlparser::ast::{
    Assignment, AssignmentTarget, BinaryOperator, ConflictTarget, Delete, DoUpdate, Expr, FromTable, Insert, Merge, MergeAction,
    MergeClauseKind, MergeInsertExpr, MergeInsertKind, MergeUpdateExpr, MergeUpdateKind, ObjectName, OnConflict, OnConflictAction,
    OnInsert, SelectItem, SetExpr, SqliteOnConflict, TableFactor, TableObject, Update, UpdateTableFromKind,
};

use super::{
    Analyzer, Ctes, at, begin,
    block::{Block, Reach, Remedy, conjuncts},
    join::{is_excluded, names_column},
};
use crate::statement::{
    dialect::Dialect,
    shown::Location,
    tenant::rule::{OPT_OUT, fold, last},
};

/// The table that a statement writes.
struct Target {
    /// The name that its conditions know it by.
    name: Option<String>,
    /// The table, and the name above, as the author writes them.
    table: String,
    shown: String,
    at: Option<Location>,
    is_tenant: bool,
}

impl Analyzer<'_> {
    pub(super) fn insert(&mut self, insert: &Insert, ctes: Ctes<'_>) {
        let Insert {
            insert_token: _,
            optimizer_hints: _,
            or,
            ignore,
            into: _,
            table,
            table_alias,
            columns,
            overwrite,
            source,
            assignments,
            partitioned,
            after_columns,
            has_table_keyword,
            on,
            returning,
            output,
            replace_into,
            priority,
            insert_alias,
            settings,
            format_clause,
            multi_table_insert_type,
            multi_table_into_clauses,
            multi_table_when_clauses,
            multi_table_else_clause,
        } = insert;
        let is_plain = !ignore
            && !overwrite
            && assignments.is_empty()
            && partitioned.is_none()
            && after_columns.is_empty()
            && !has_table_keyword
            && priority.is_none()
            && insert_alias.is_none()
            && settings.is_none()
            && format_clause.is_none()
            && multi_table_insert_type.is_none()
            && multi_table_into_clauses.is_empty()
            && multi_table_when_clauses.is_empty()
            && multi_table_else_clause.is_none();
        let (TableObject::TableName(name), true) = (table, is_plain) else {
            return self.unknown(None, "it has a form of `INSERT` that is not understood");
        };
        let Some(named) = self.table(name, &[]) else { return };
        let written = last(name).map(|ident| ident.value.clone()).unwrap_or_default();
        let target = Target {
            name: table_alias.as_ref().map_or(Some(named.name), |alias| fold(&alias.alias, self.dialect)),
            shown: table_alias.as_ref().map_or_else(|| written.clone(), |alias| alias.alias.value.clone()),
            table: written,
            at: last(name).and_then(at),
            is_tenant: named.is_tenant,
        };
        if target.is_tenant {
            if *replace_into || matches!(or, Some(SqliteOnConflict::Replace)) {
                self.replaces(&target);
            }
            if let Some(place) = self.place(&target, columns) {
                match source {
                    Some(source) => self.rows(&target, &source.body, (place, columns.len())),
                    None => self.writes_else(&target, target.at),
                }
            }
            self.conflict(&target, on.as_ref());
        }
        if let Some(source) = source {
            self.query(source, ctes);
        }
        self.within(on, ctes);
        self.within(returning, ctes);
        self.within(output, ctes);
    }

    /// The place of the tenant's column among those that are inserted. `None` where it has none, which has been noted.
    fn place(&mut self, target: &Target, columns: &[ObjectName]) -> Option<usize> {
        let mut places = (0..columns.len()).filter(|&column| names_column(&columns[column], |ident| self.is_column(ident), self.dialect));
        let (place, more) = (places.next(), places.next());
        let found = place.filter(|&place| {
            more.is_none() && columns[place].0.len() == 1 && last(&columns[place]).is_some_and(|column| self.is_column(column))
        });
        if found.is_none() {
            let (column, claim) = (&self.rule.column, self.claim());
            let message =
                format!("a row of `{}` is inserted without the caller's tenant: its columns do not have `{column}`", target.table);
            let help = format!("Name `{column}` once among the columns, and give it `{claim}` in every row.");
            self.find(target.at, message, help);
        }
        found
    }

    /// Looks whether each row that is inserted has the claim at its place.
    fn rows(&mut self, target: &Target, body: &SetExpr, (place, columns): (usize, usize)) {
        match body {
            SetExpr::Values(values) => {
                for row in &values.rows {
                    let wrong = match row.content.get(place) {
                        Some(value) if row.content.len() == columns => (!self.is_claim(value)).then(|| begin(value)),
                        _ => Some(row.content.first().and_then(begin)),
                    };
                    if let Some(wrong) = wrong {
                        self.writes_else(target, wrong.or(target.at));
                    }
                }
            }
            SetExpr::Select(select) => {
                let values: Option<Vec<&Expr>> = select
                    .projection
                    .iter()
                    .map(|item| match item {
                        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
                        _ => None,
                    })
                    .collect();
                let value = values.as_deref().filter(|values| values.len() == columns).and_then(|values| values.get(place));
                match value {
                    Some(value) if self.is_claim(value) => {}
                    Some(value) => self.writes_else(target, begin(value).or(target.at)),
                    None => self.writes_else(target, target.at),
                }
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.rows(target, left, (place, columns));
                self.rows(target, right, (place, columns));
            }
            SetExpr::Query(query) => self.rows(target, &query.body, (place, columns)),
            _ => self.writes_else(target, target.at),
        }
    }

    fn writes_else(&mut self, target: &Target, at: Option<Location>) {
        let (column, claim) = (&self.rule.column, self.claim());
        let message = format!("`{column}` of `{}` gets something else than `{claim}`", target.table);
        self.find(at, message, format!("Write `{claim}` itself in the place of `{column}`, in every row."));
    }

    fn replaces(&mut self, target: &Target) {
        let message = format!("`REPLACE` deletes the row of `{}` that is in the way, whose tenant can be any", target.table);
        let column = &self.rule.column;
        let help = format!("Write `ON CONFLICT ({column}, …) DO UPDATE SET …`, {OPT_OUT}.");
        self.find(target.at, message, help);
    }

    /// Looks whether a row that is in the way of a new one is the tenant's own where it is changed.
    fn conflict(&mut self, target: &Target, on: Option<&OnInsert>) {
        let (conflict_target, DoUpdate { assignments, selection }) = match on {
            None | Some(OnInsert::OnConflict(OnConflict { action: OnConflictAction::DoNothing, .. })) => return,
            Some(OnInsert::OnConflict(OnConflict { conflict_target, action: OnConflictAction::DoUpdate(update) })) => {
                (conflict_target, update)
            }
            Some(_) => return self.unknown(target.at, "it has a form of `INSERT` that is not understood"),
        };
        self.assignments(target, assignments);
        // The new row has the claim: what is in its way by that column has it, too.
        if let Some(ConflictTarget::Columns(columns)) = conflict_target
            && columns.iter().any(|column| self.is_column(column))
        {
            return;
        }
        let mut conditions = Vec::new();
        if let Some(selection) = selection {
            conjuncts(selection, &mut conditions);
        }
        let is_own = |expression: &Expr| match expression {
            Expr::Identifier(column) => self.dialect == Dialect::Sqlite && self.is_column(column),
            Expr::CompoundIdentifier(parts) => {
                matches!(parts.as_slice(), [row, column] if self.is_column(column) && target.name.is_some() && fold(row, self.dialect) == target.name)
            }
            _ => false,
        };
        let is_callers =
            |expression: &Expr| self.is_claim(expression) || is_excluded(expression, |ident| self.is_column(ident), self.dialect);
        let is_bound = conditions.iter().any(|condition| match condition {
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                (is_own(left) && is_callers(right)) || (is_own(right) && is_callers(left))
            }
            _ => false,
        });
        // `excluded` names the new row, unless the table itself is called so.
        if !is_bound || target.name.as_deref() == Some("excluded") {
            let (column, claim, Target { table, shown, .. }) = (&self.rule.column, self.claim(), target);
            let message = format!("`ON CONFLICT … DO UPDATE` can change a row of `{table}` that is another tenant's");
            let help = format!(
                "Put `{column}` among the columns after `ON CONFLICT`, or write `WHERE {shown}.{column} = {claim}` after what is set."
            );
            self.find(target.at, message, help);
        }
    }

    /// Looks whether the tenant's column stays as it is.
    fn assignments(&mut self, target: &Target, assignments: &[Assignment]) {
        for Assignment { target: to, value } in assignments {
            let names = match to {
                AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
                AssignmentTarget::Tuple(names) => names.as_slice(),
            };
            let named = names.iter().find(|name| names_column(name, |ident| self.is_column(ident), self.dialect));
            let Some(named) = named else { continue };
            let is_plain = names.len() == 1 && named.0.len() == 1 && last(named).is_some_and(|column| self.is_column(column));
            if !is_plain || !self.is_claim(value) {
                let (column, claim) = (&self.rule.column, self.claim());
                let message = format!("`{column}` of `{}` is set to something else than `{claim}`", target.table);
                let help = format!("Leave `{column}` as it is: a row stays with its tenant.");
                self.find(last(named).and_then(at).or(target.at), message, help);
            }
        }
    }

    pub(super) fn update(&mut self, update: &Update, ctes: Ctes<'_>) {
        let Update { update_token: _, optimizer_hints: _, table, assignments, from, selection, returning, output, or, order_by, limit } =
            update;
        let from = match from {
            None => [].as_slice(),
            Some(UpdateTableFromKind::AfterSet(from)) => from.as_slice(),
            Some(UpdateTableFromKind::BeforeSet(_)) => return self.unknown(None, "it has a form of `UPDATE` that is not understood"),
        };
        if !table.joins.is_empty() {
            return self.unknown(None, "it has a form of `UPDATE` that is not understood");
        }
        let mut block = Block::default();
        let Some(target) = self.target(&mut block, &table.relation) else { return };
        if target.is_tenant {
            if matches!(or, Some(SqliteOnConflict::Replace)) {
                self.replaces(&target);
            }
            self.assignments(&target, assignments);
        }
        for tables in from {
            self.tables(&mut block, tables, ctes);
        }
        block.filter(selection.as_ref());
        self.conclude(block, ctes);
        self.within(assignments, ctes);
        self.within(returning, ctes);
        self.within(output, ctes);
        self.within(order_by, ctes);
        self.within(limit, ctes);
    }

    pub(super) fn delete(&mut self, delete: &Delete, ctes: Ctes<'_>) {
        let Delete { delete_token: _, optimizer_hints: _, tables, from, using, selection, returning, output, order_by, limit } = delete;
        let one = match from {
            FromTable::WithFromKeyword(from) => match from.as_slice() {
                [one] if one.joins.is_empty() && tables.is_empty() => Some(one),
                _ => None,
            },
            FromTable::WithoutKeyword(_) => None,
        };
        let Some(one) = one else { return self.unknown(None, "it has a form of `DELETE` that is not understood") };
        let mut block = Block::default();
        if self.target(&mut block, &one.relation).is_none() {
            return;
        }
        for tables in using.iter().flatten() {
            self.tables(&mut block, tables, ctes);
        }
        block.filter(selection.as_ref());
        self.conclude(block, ctes);
        self.within(returning, ctes);
        self.within(output, ctes);
        self.within(order_by, ctes);
        self.within(limit, ctes);
    }

    /// Adds the table that is written, which no common table expression hides. `None` where it cannot be told, which has been noted.
    fn target<'e>(&mut self, block: &mut Block<'e>, factor: &'e TableFactor) -> Option<Target> {
        let TableFactor::Table { name, args: None, .. } = factor else {
            self.unknown(None, "what it writes is not a table");
            return None;
        };
        let before = self.found.len();
        self.factor(block, factor, &[]);
        let Some(item) = block.items.last() else {
            if self.found.len() == before {
                self.unknown(last(name).and_then(at), "what it writes is not a table");
            }
            return None;
        };
        let (name, shown) = (Some(item.name.clone()), item.shown.clone());
        Some(Target { name, shown, table: item.table.clone(), at: item.at, is_tenant: item.is_tenant })
    }

    pub(super) fn merge(&mut self, merge: &Merge, ctes: Ctes<'_>) {
        let Merge { merge_token: _, optimizer_hints: _, into: _, table, source, on, clauses, output } = merge;
        let mut block = Block::default();
        let Some(target) = self.target(&mut block, table) else { return };
        self.factor(&mut block, source, ctes);
        let count = block.items.len();
        block.items.iter_mut().for_each(|item| item.remedy = Remedy::On);
        block.items[1..].iter_mut().for_each(|item| item.remedy = Remedy::Source);
        // Rows of the source need no match, those of the target do.
        block.conditions.push((on, Reach::Into { into: 0..1, from: 1..count }));
        self.conclude(block, ctes);
        for clause in clauses {
            self.within(&clause.predicate, ctes);
            if target.is_tenant && clause.clause_kind == MergeClauseKind::NotMatchedBySource {
                let message = format!("`WHEN NOT MATCHED BY SOURCE` concerns rows of `{}` of every tenant", target.table);
                self.find(target.at, message, format!("Write an `UPDATE` or a `DELETE` of its own, {OPT_OUT}."));
            }
            match &clause.action {
                MergeAction::Insert(MergeInsertExpr { insert_token: _, columns, kind_token: _, kind, insert_predicate }) => {
                    self.within(insert_predicate, ctes);
                    match kind {
                        MergeInsertKind::Values(values) => {
                            if target.is_tenant
                                && let Some(place) = self.place(&target, columns)
                            {
                                self.rows(&target, &SetExpr::Values(values.clone()), (place, columns.len()));
                            }
                            self.within(values, ctes);
                        }
                        MergeInsertKind::Row | MergeInsertKind::Wildcard => self.unknown(target.at, "it inserts whole rows"),
                    }
                }
                MergeAction::Update(MergeUpdateExpr { update_token: _, kind, update_predicate, delete_predicate }) => {
                    self.within(update_predicate, ctes);
                    self.within(delete_predicate, ctes);
                    match kind {
                        MergeUpdateKind::Set(assignments) => {
                            if target.is_tenant {
                                self.assignments(&target, assignments);
                            }
                            self.within(assignments, ctes);
                        }
                        MergeUpdateKind::Wildcard => self.unknown(target.at, "it sets whole rows"),
                    }
                }
                MergeAction::Delete { .. } | MergeAction::DoNothing { .. } => {}
            }
        }
        self.within(output, ctes);
    }
}
