//! Statements that change rows, and those that are no queries.

use std::collections::BTreeSet;

use sqlparser::ast::{
    self, Assignment, AssignmentTarget, ConflictTarget, Delete, DoUpdate, Expr, FromTable, Merge, MergeAction, MergeClause,
    MergeClauseKind, MergeInsertExpr, MergeInsertKind, MergeUpdateExpr, MergeUpdateKind, ObjectName, OnConflictAction, OnInsert, Query,
    SelectItem, SetExpr, SqliteOnConflict, Statement as Sql, TableFactor, TableObject, TableWithJoins, Truncate, Update,
    UpdateTableFromKind, Values,
};

use super::{
    condition::{Condition, Operand, Reach, equalities},
    facts::{
        Assign, Assigned, Clause, Concerns, ConflictUpdate, Fact, Insert, Mention, MentionKind, OnConflict, Output, Role, Row, Source, Use,
        UsedColumns,
    },
    from::FromClause,
    names::{Named, begin, last},
    resolver::Resolver,
    scope::{Part, Scope},
};
use crate::statement::Dialect;

/// What a statement that returns no rows has for columns.
fn nothing() -> Output {
    Some(BTreeSet::new())
}

/// Why an `INSERT` is not judged.
const INSERT_FORM: &str = "it has a form of `INSERT` that is not understood";

/// Whom an `INSERT` cannot be judged for, because of a clause that is not walked.
fn odd_to(insert: &ast::Insert, dialect: Dialect) -> Vec<Concerns> {
    let ast::Insert {
        insert_token: _,
        optimizer_hints: _,
        or,
        ignore,
        into: _,
        table: _,
        table_alias: _,
        columns: _,
        overwrite,
        source: _,
        assignments,
        partitioned,
        after_columns,
        has_table_keyword,
        on: _,
        returning: _,
        output,
        replace_into: _,
        priority,
        insert_alias,
        settings,
        format_clause,
        multi_table_insert_type,
        multi_table_into_clauses,
        multi_table_when_clauses,
        multi_table_else_clause,
    } = insert;
    let of_clickhouse = !has_table_keyword && settings.is_none();
    let is_one = multi_table_insert_type.is_none() && multi_table_into_clauses.is_empty() && multi_table_when_clauses.is_empty();
    let is_plain = !overwrite && partitioned.is_none() && after_columns.is_empty() && format_clause.is_none();
    let is_plain = is_plain && is_one && multi_table_else_clause.is_none() && (of_clickhouse || dialect.facts().resolution.is_clickhouse);
    let is_tenants = !ignore && assignments.is_empty() && priority.is_none() && insert_alias.is_none();
    let all = [(is_plain, Concerns::Everyone), (is_tenants, Concerns::Tenant), (or.is_none() && output.is_none(), Concerns::Rights)];
    all.into_iter().filter(|(is_plain, _)| !is_plain).map(|(_, concerns)| concerns).collect()
}

impl Resolver<'_> {
    /// A statement, and the names of the columns of its result.
    pub(super) fn statement(&mut self, statement: &Sql, parts: &[Part]) -> Output {
        match statement {
            Sql::Query(query) => self.query(query, parts, None),
            Sql::Insert(insert) => self.insert(insert, parts),
            Sql::Update(update) => self.update(update, parts),
            Sql::Delete(delete) => self.delete(delete, parts),
            Sql::Merge(merge) => self.merge(merge, parts),
            other => {
                self.doubt(Concerns::Tenant, None, "it is not a `SELECT`, `INSERT`, `UPDATE`, `DELETE` or `MERGE`");
                self.other(other, parts)
            }
        }
    }

    fn other(&mut self, statement: &Sql, parts: &[Part]) -> Output {
        match statement {
            Sql::Explain { statement, .. } => {
                self.statement(statement, parts);
                return None;
            }
            Sql::Truncate(truncate) => {
                self.truncate(truncate);
                return nothing();
            }
            Sql::Call(function) => {
                self.within(&function.args, &Scope::new(parts, None));
                self.facts.push(Fact::Procedure(function.name.clone()));
                return None;
            }
            Sql::ShowVariable { .. } | Sql::ShowVariables { .. } | Sql::ShowStatus { .. } | Sql::ShowCollation { .. } => {
                self.calls_within(statement);
                return None;
            }
            Sql::ExplainTable { table_name, .. } => {
                self.seen.tables += 1;
                let name = table_name.clone();
                self.facts.push(Fact::Mention(Mention { name, kind: MentionKind::Table, role: Role::Read }));
            }
            Sql::ShowTables { .. }
            | Sql::ShowColumns { .. }
            | Sql::ShowCreate { .. }
            | Sql::ShowDatabases { .. }
            | Sql::ShowSchemas { .. }
            | Sql::ShowViews { .. }
            | Sql::ShowFunctions { .. } => self.calls_within(statement),
            _ => self.facts.push(Fact::Unnamed { reads: true, writes: true }),
        }
        let text = statement.to_string();
        let word: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
        self.unclear(format!("what `{} …` needs: grant it by hand", word.to_ascii_uppercase()));
        None
    }

    fn truncate(&mut self, truncate: &Truncate) {
        let mut from = FromClause::new(Scope::default());
        for target in &truncate.table_names {
            self.target_named(&mut from, &target.name, None);
        }
        for table in from.scope.items.iter().filter_map(|item| item.table.as_ref()) {
            self.whole(table, Use::Truncate);
        }
        if let Some(cascade) = &truncate.cascade {
            self.unclear("which other tables `CASCADE` empties");
            self.facts.push(Fact::Unnamed { reads: false, writes: matches!(cascade, ast::CascadeOption::Cascade) });
        }
    }

    fn insert(&mut self, insert: &ast::Insert, parts: &[Part]) -> Output {
        let odd_to = odd_to(insert, self.dialect);
        odd_to.iter().for_each(|concerns| self.doubt(*concerns, None, INSERT_FORM));
        let TableObject::TableName(name) = &insert.table else {
            self.doubt(Concerns::Everyone, None, INSERT_FORM);
            return None;
        };
        let mut from = FromClause::new(Scope::new(parts, None));
        let target = self.target_named(&mut from, name, insert.table_alias.as_ref().map(|alias| &alias.alias));
        let table = self.written(&from);
        self.inserted(insert, target);
        if let Some(source) = &insert.source {
            self.query(source, parts, None);
        }
        let own = from.scope;
        for assignment in &insert.assignments {
            self.within(&assignment.value, &own);
        }
        if let Some(on) = &insert.on {
            // The row that was to be inserted, whose values are the statement's own.
            let new = insert.insert_alias.as_ref().and_then(|alias| self.folded(last(&alias.row_alias)?));
            let of = table.clone().filter(|_| self.dialect.facts().resolution.excluded_is_read);
            let mut scope = own.clone();
            scope.items.push(Source { table: of, ..Source::other(new.unwrap_or_else(|| "excluded".to_owned()), nothing()) });
            self.on(on, table.as_ref(), &scope);
        }
        self.within(&insert.output, &own);
        let before = std::mem::replace(&mut self.is_returning, true);
        let output = self.returning(insert.returning.as_deref(), &own);
        self.is_returning = before;
        output
    }

    /// Notes what is inserted.
    fn inserted(&mut self, insert: &ast::Insert, target: Source) {
        let assigned = insert.assignments.iter().flat_map(|assignment| targets(&assignment.target));
        let filled = insert.columns.iter().chain(assigned).filter_map(|name| self.named_column(name)).collect();
        let on_conflict = match &insert.on {
            Some(OnInsert::OnConflict(ast::OnConflict { conflict_target, action: OnConflictAction::DoUpdate(update) })) => {
                OnConflict::Update(ConflictUpdate {
                    columns: match conflict_target {
                        Some(ConflictTarget::Columns(columns)) => columns.clone(),
                        Some(ConflictTarget::OnConstraint(_)) | None => Vec::new(),
                    },
                    assignments: assigned_by(&update.assignments, self.dialect),
                    conditions: update.selection.iter().flat_map(|selection| equalities(selection, self.dialect)).collect(),
                })
            }
            Some(OnInsert::DuplicateKeyUpdate(_)) => OnConflict::DuplicateKey,
            _ => OnConflict::Nothing,
        };
        self.facts.push(Fact::Insert(Insert {
            target,
            columns: insert.columns.clone(),
            filled,
            rows: insert.source.as_ref().map(|source| rows_of(&source.body, self.dialect)),
            has_defaults: insert.source.as_deref().is_some_and(names_default),
            is_replace: insert.replace_into,
            replaces: insert.replace_into || matches!(insert.or, Some(SqliteOnConflict::Replace)),
            on_conflict,
            is_returning: insert.returning.is_some(),
        }));
    }

    /// The table that is written, which is the first.
    fn written(&mut self, from: &FromClause<'_>) -> Option<Named> {
        let Source { table, mention, .. } = from.scope.items.first()?;
        let name = mention.as_ref().and_then(|mention| last(&mention.name));
        if table.is_none() && name.and_then(|name| self.folded(name)).is_some() {
            self.unclear("it writes a table of the system");
        }
        table.clone()
    }

    fn on(&mut self, on: &OnInsert, table: Option<&Named>, scope: &Scope<'_>) {
        match on {
            OnInsert::OnConflict(ast::OnConflict { conflict_target, action }) => {
                match conflict_target {
                    None => {}
                    Some(ConflictTarget::Columns(columns)) => {
                        for column in columns {
                            match (self.folded(column), table) {
                                (Some(name), Some(table)) => self.column_of(table, Use::Read, &name),
                                (Some(_), None) => {}
                                (None, _) => self.unclear("it names a column by a variable"),
                            }
                        }
                    }
                    Some(ConflictTarget::OnConstraint(name)) => table.into_iter().for_each(|table| self.constraint(table, name)),
                }
                if let OnConflictAction::DoUpdate(DoUpdate { assignments, selection }) = action {
                    if let Some(table) = table {
                        self.columns(table, Use::Read, UsedColumns::Any);
                    }
                    self.assignments(assignments, table, scope);
                    self.within(selection, scope);
                }
            }
            OnInsert::DuplicateKeyUpdate(assignments) => self.assignments(assignments, table, scope),
            _ => self.doubt(Concerns::Everyone, None, INSERT_FORM),
        }
    }

    /// The columns of a constraint are looked at for a conflict.
    fn constraint(&mut self, table: &Named, name: &ObjectName) {
        let folded = last(name).and_then(|ident| self.folded(ident));
        let columns = folded.and_then(|name| self.known.tables.get(table)?.constraints.get(&name).cloned());
        match columns {
            Some(columns) => columns.iter().for_each(|column| self.column_of(table, Use::Read, column)),
            None => {
                self.whole(table, Use::Read);
                self.wider(format!(
                    "the columns of the constraint `{name}` are not known: write them, `ON CONFLICT (…)`, or ask the database by `--connect`"
                ));
            }
        }
    }

    fn named_column(&mut self, name: &ObjectName) -> Option<String> {
        let column = if self.dialect.facts().resolution.is_clickhouse {
            // A column of a `Nested` has a dot in its name.
            let parts: Option<Vec<String>> = name.0.iter().map(|part| self.folded(part.as_ident()?)).collect();
            parts.map(|parts| parts.join("."))
        } else {
            // A field of a column begins with the column; MySQL has the table before it.
            let has_table = self.dialect.facts().resolution.writes_several;
            let ident = if has_table { last(name) } else { name.0.first().and_then(|first| first.as_ident()) };
            ident.and_then(|ident| self.folded(ident))
        };
        if column.is_none() {
            self.unclear("it names a column by a variable");
        }
        column
    }

    /// What is set. Without a `table`, it is that of the scope which has the column.
    fn assignments(&mut self, assignments: &[Assignment], table: Option<&Named>, scope: &Scope<'_>) {
        for Assignment { target, value } in assignments {
            for name in targets(target) {
                let Some(column) = self.named_column(name) else { continue };
                match (table, name.0.as_slice()) {
                    (Some(table), _) => self.column_of(table, Use::Update, &column),
                    (None, [.., item, _]) => {
                        let item = item.as_ident().and_then(|ident| self.folded(ident));
                        let item = item.and_then(|name| scope.items.iter().find(|item| item.name == name));
                        match item {
                            Some(Source { table: Some(table), .. }) => self.column_of(table, Use::Update, &column),
                            _ => self.unclear(format!("`{name}` is a column of none of its tables")),
                        }
                    }
                    (None, _) => self.find(&column, &column, scope, Use::Update),
                }
            }
            self.within(value, scope);
        }
    }

    fn update(&mut self, update: &Update, parts: &[Part]) -> Output {
        const FORM: &str = "it has a form of `UPDATE` that is not understood";
        let Update { update_token: _, optimizer_hints: _, table, assignments, from, selection, returning, output, or, order_by, limit } =
            update;
        let others = match from {
            None => [].as_slice(),
            Some(UpdateTableFromKind::AfterSet(from)) => from.as_slice(),
            Some(UpdateTableFromKind::BeforeSet(_)) => {
                self.doubt(Concerns::Everyone, None, FORM);
                return None;
            }
        };
        if output.is_some() || or.is_some() {
            self.unclear(FORM);
        }
        let mut from = FromClause::new(Scope::new(parts, None));
        let mut target = None;
        if table.joins.is_empty() {
            if let Some(source) = self.target(&mut from, &table.relation) {
                target = self.written(&from);
                let replaces = matches!(or, Some(SqliteOnConflict::Replace));
                self.facts.push(Fact::Assign(Assign { target: source, assignments: assigned_by(assignments, self.dialect), replaces }));
            }
        } else {
            self.doubt(Concerns::Tenant, None, FORM);
            self.tables(&mut from, table, Role::Joined);
        }
        if self.dialect.facts().resolution.writes_several || !table.joins.is_empty() {
            self.facts.push(Fact::WritesNamed);
        }
        if let (Some(table), true) = (&target, self.dialect.facts().resolution.is_clickhouse) {
            from.scope.items.iter_mut().for_each(|item| item.table = None);
            // Only an `ALTER TABLE` is looked at column by column.
            if !self.is_mutation {
                self.whole(table, Use::Update);
            }
        }
        self.from(&mut from, others);
        self.read_any(&from.scope, usize::from(target.is_some()));
        let scope = self.filtered(from, selection.as_ref());
        self.assignments(assignments, target.as_ref(), &scope);
        self.within(output, &scope);
        self.within(order_by, &scope);
        self.within(limit, &scope);
        self.returning(returning.as_deref(), &scope)
    }

    /// Ends what a statement writes and reads, with its `WHERE`.
    pub(super) fn filtered<'s>(&mut self, mut from: FromClause<'s>, selection: Option<&Expr>) -> Scope<'s> {
        let condition = selection.map(|selection| Condition::of(selection, Reach::All, self.dialect));
        from.conditions.extend(condition);
        from.shape.has_where = selection.is_some();
        let scope = self.conclude(from);
        if let Some(selection) = selection {
            self.within(selection, &scope);
        }
        scope
    }

    fn delete(&mut self, delete: &Delete, parts: &[Part]) -> Output {
        const FORM: &str = "it has a form of `DELETE` that is not understood";
        let Delete { delete_token: _, optimizer_hints: _, tables, from, using, selection, returning, output, order_by, limit } = delete;
        let (FromTable::WithFromKeyword(all) | FromTable::WithoutKeyword(all)) = from;
        let several = self.dialect.facts().resolution.writes_several;
        let one = match all.as_slice() {
            [one] if tables.is_empty() && one.joins.is_empty() => Some(one),
            _ => None,
        };
        if output.is_some() {
            self.unclear(FORM);
        }
        if one.is_none() || matches!(from, FromTable::WithoutKeyword(_)) {
            self.doubt(Concerns::Tenant, None, FORM);
        }
        if several || !tables.is_empty() {
            self.facts.push(Fact::WritesNamed);
        }
        let mut from = FromClause::new(Scope::new(parts, None));
        let one = one.filter(|_| !several || using.is_none());
        let mut others = using.as_deref().unwrap_or_default();
        let targets = match one {
            Some(one) => {
                self.target(&mut from, &one.relation);
                self.written(&from).into_iter().collect()
            }
            _ if !several && tables.is_empty() => {
                self.doubt(Concerns::Everyone, None, FORM);
                return None;
            }
            // `DELETE FROM a USING a JOIN b`
            _ if several && using.is_some() => {
                let names = self.names_of(all);
                std::mem::take(&mut others).iter().for_each(|tables| self.tables(&mut from, tables, Role::Read));
                self.deleted(&names, &from.scope)
            }
            // `DELETE a FROM a JOIN b`
            _ => {
                all.iter().for_each(|tables| self.tables(&mut from, tables, Role::Joined));
                self.deleted(&tables.iter().collect::<Vec<_>>(), &from.scope)
            }
        };
        if one.is_some() && self.dialect.facts().resolution.is_clickhouse {
            from.scope.items.iter_mut().for_each(|item| item.table = None);
        }
        self.from(&mut from, others);
        self.read_any(&from.scope, usize::from(one.is_some()));
        targets.iter().for_each(|table| self.whole(table, Use::Delete));
        let scope = self.filtered(from, selection.as_ref());
        self.within(output, &scope);
        self.within(order_by, &scope);
        self.within(limit, &scope);
        self.returning(returning.as_deref(), &scope)
    }

    /// The names before `USING`, which name tables behind it once more.
    fn names_of<'q>(&mut self, all: &'q [TableWithJoins]) -> Vec<&'q ObjectName> {
        let mut names = Vec::new();
        for one in all {
            match &one.relation {
                TableFactor::Table { name, args: None, .. } if one.joins.is_empty() => {
                    self.seen.tables += 1;
                    self.facts.push(Fact::Mention(Mention { name: name.clone(), kind: MentionKind::Table, role: Role::Written }));
                    names.push(name);
                }
                _ => self.doubt(Concerns::Everyone, None, "what it writes is not a table"),
            }
        }
        names
    }

    /// The tables whose rows are deleted, by the names that `FROM` gives them.
    fn deleted(&mut self, names: &[&ObjectName], scope: &Scope<'_>) -> Vec<Named> {
        let mut targets = Vec::new();
        for name in names {
            let folded = last(name).and_then(|ident| self.folded(ident));
            let item = folded.and_then(|name| scope.items.iter().find(|item| item.name == name));
            match item.and_then(|item| item.table.clone()) {
                Some(table) => targets.push(table),
                None => self.unclear("what it writes is not a table"),
            }
        }
        if targets.is_empty() {
            self.unclear("it writes a table of the system");
        }
        targets
    }

    fn merge(&mut self, merge: &Merge, parts: &[Part]) -> Output {
        let Merge { merge_token: _, optimizer_hints: _, into: _, table, source, on, clauses, output } = merge;
        if output.is_some() {
            self.unclear("it has a form of `MERGE` that is not understood");
        }
        let mut from = FromClause::new(Scope::new(parts, None));
        let target = self.target(&mut from, table)?;
        let written = self.written(&from);
        self.factor(&mut from, source, Role::Read);
        let count = from.scope.items.len();
        for (place, source) in from.scope.items.iter_mut().enumerate() {
            source.restricted_in = if place == 0 { Clause::On } else { Clause::Inside };
        }
        self.read_any(&from.scope, 0);
        // Rows of the source need no match, those of the target do.
        from.conditions.push(Condition::of(on, Reach::Into { into: 0..1, from: 1..count }, self.dialect));
        let scope = self.conclude(from);
        self.within(&**on, &scope);
        for clause in clauses {
            self.merge_clause(clause, &target, written.as_ref(), &scope);
        }
        self.within(output, &scope);
        nothing()
    }

    fn merge_clause(&mut self, clause: &MergeClause, target: &Source, written: Option<&Named>, scope: &Scope<'_>) {
        let MergeClause { when_token: _, clause_kind, predicate, action } = clause;
        self.within(predicate, scope);
        if *clause_kind == MergeClauseKind::NotMatchedBySource {
            self.facts.push(Fact::NotMatchedBySource(target.clone()));
        }
        let at = target.mention.as_ref().and_then(Mention::at);
        match action {
            MergeAction::Insert(MergeInsertExpr { insert_token: _, columns, kind_token: _, kind, insert_predicate }) => {
                self.within(insert_predicate, scope);
                match kind {
                    MergeInsertKind::Values(values) => {
                        self.merge_insert(columns, values, target);
                        self.within(values, scope);
                    }
                    MergeInsertKind::Row | MergeInsertKind::Wildcard => self.doubt(Concerns::Everyone, at, "it inserts whole rows"),
                }
            }
            MergeAction::Update(MergeUpdateExpr { update_token: _, kind, update_predicate, delete_predicate }) => {
                self.within(update_predicate, scope);
                self.within(delete_predicate, scope);
                match kind {
                    MergeUpdateKind::Set(assignments) => {
                        let (target, assigned) = (target.clone(), assigned_by(assignments, self.dialect));
                        self.facts.push(Fact::Assign(Assign { target, assignments: assigned, replaces: false }));
                        self.assignments(assignments, written, scope);
                    }
                    MergeUpdateKind::Wildcard => self.doubt(Concerns::Everyone, at, "it sets whole rows"),
                }
            }
            MergeAction::Delete { .. } => written.into_iter().for_each(|table| self.whole(table, Use::Delete)),
            MergeAction::DoNothing { .. } => {}
        }
    }

    fn merge_insert(&mut self, columns: &[ObjectName], values: &Values, target: &Source) {
        let filled = columns.iter().filter_map(|name| self.named_column(name)).collect();
        self.facts.push(Fact::Insert(Insert {
            target: target.clone(),
            columns: columns.to_vec(),
            filled,
            rows: Some(written_rows(values, self.dialect)),
            has_defaults: false,
            is_replace: false,
            replaces: false,
            on_conflict: OnConflict::Nothing,
            is_returning: false,
        }));
    }

    fn returning(&mut self, returning: Option<&[SelectItem]>, scope: &Scope<'_>) -> Output {
        match returning {
            Some(items) => self.projection(items, scope),
            None => nothing(),
        }
    }
}

fn targets(target: &AssignmentTarget) -> impl Iterator<Item = &ObjectName> {
    match target {
        AssignmentTarget::ColumnName(name) => std::slice::from_ref(name).iter(),
        AssignmentTarget::Tuple(names) => names.iter(),
    }
}

fn assigned_by(assignments: &[Assignment], dialect: Dialect) -> Vec<Assigned> {
    let assigned = |Assignment { target, value }: &Assignment| Assigned {
        columns: targets(target).cloned().collect(),
        value: Operand::of(value, dialect),
    };
    assignments.iter().map(assigned).collect()
}

/// The rows that the body of a query makes.
fn rows_of(body: &SetExpr, dialect: Dialect) -> Vec<Row> {
    match body {
        SetExpr::Values(values) => written_rows(values, dialect),
        SetExpr::Select(select) => {
            let value = |item: &SelectItem| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(Operand::of(expr, dialect)),
                _ => None,
            };
            vec![Row { values: select.projection.iter().map(value).collect(), at: None }]
        }
        SetExpr::SetOperation { left, right, .. } => [rows_of(left, dialect), rows_of(right, dialect)].into_iter().flatten().collect(),
        SetExpr::Query(query) => rows_of(&query.body, dialect),
        _ => vec![Row { values: None, at: None }],
    }
}

fn written_rows(values: &Values, dialect: Dialect) -> Vec<Row> {
    let row = |row: &Vec<Expr>| Row {
        values: Some(row.iter().map(|value| Operand::of(value, dialect)).collect()),
        at: row.first().and_then(begin),
    };
    values.rows.iter().map(|content| row(&content.content)).collect()
}

/// Whether a row of `VALUES` leaves a value to the table.
fn names_default(source: &Query) -> bool {
    let SetExpr::Values(values) = &*source.body else { return false };
    let is_default =
        |expr: &Expr| matches!(expr, Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"));
    values.rows.iter().flat_map(|row| &row.content).any(is_default)
}
