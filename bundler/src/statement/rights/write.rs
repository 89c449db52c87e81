//! Statements that change rows, and those that are no queries.

use std::collections::BTreeSet;

use sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Delete, DoUpdate, Expr, FromTable, Insert, Merge, MergeAction, MergeInsertExpr,
    MergeInsertKind, MergeUpdateExpr, MergeUpdateKind, ObjectName, OnConflict, OnConflictAction, OnInsert, Query, SelectItem, SetExpr,
    Statement as Sql, TableFactor, TableObject, Update, UpdateTableFromKind,
};

use super::{
    Columns, Dialect, Named, Privilege,
    scope::{Cte, Item, Output, Scope, Walk},
};
use crate::statement::last;

/// What a statement that returns no rows has for columns.
fn nothing() -> Output {
    Some(BTreeSet::new())
}

impl Walk<'_> {
    /// A statement, and the names of the columns of its result.
    pub(super) fn statement(&mut self, statement: &Sql, ctes: &[Cte]) -> Output {
        match statement {
            Sql::Query(query) => self.query(query, ctes, None),
            Sql::Insert(insert) => self.insert(insert, ctes),
            Sql::Update(update) => self.update(update, ctes),
            Sql::Delete(delete) => self.delete(delete, ctes),
            Sql::Merge(merge) => self.merge(merge, ctes),
            Sql::Explain { statement, .. } => {
                self.statement(statement, ctes);
                None
            }
            Sql::Truncate(truncate) => {
                for target in &truncate.table_names {
                    if let Some(Item { table: Some(table), .. }) = self.table(&target.name, &[]) {
                        self.whole(&table, Privilege::Truncate);
                    }
                }
                if truncate.cascade.is_some() {
                    self.unclear("which other tables `CASCADE` empties");
                }
                nothing()
            }
            Sql::Call(function) => {
                self.within(&function.args, &Scope::default(), ctes);
                match super::model::named(&function.name, self.dialect) {
                    Some(name) => drop(self.rights.procedures.insert(name)),
                    None => self.unclear("the name of a procedure is not understood"),
                }
                None
            }
            Sql::ShowVariable { .. } | Sql::ShowVariables { .. } | Sql::ShowStatus { .. } | Sql::ShowCollation { .. } => None,
            _ => {
                let text = statement.to_string();
                let word: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
                self.unclear(&format!("what `{} …` needs: grant it by hand", word.to_ascii_uppercase()));
                None
            }
        }
    }

    /// The table that a statement writes. `None` where it cannot be told, which has been noted.
    fn target(&mut self, factor: &TableFactor) -> Option<Item> {
        let TableFactor::Table { args: None, .. } = factor else {
            self.unclear("what it writes is not a table");
            return None;
        };
        let mut scope = Scope::default();
        self.factor(&mut scope, factor, &[]);
        scope.items.pop()
    }

    fn insert(&mut self, insert: &Insert, ctes: &[Cte]) -> Output {
        let Insert {
            insert_token: _,
            optimizer_hints: _,
            or,
            ignore: _,
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
            priority: _,
            insert_alias,
            settings,
            format_clause,
            multi_table_insert_type,
            multi_table_into_clauses,
            multi_table_when_clauses,
            multi_table_else_clause,
        } = insert;
        let is_clickhouse = self.dialect == Dialect::ClickHouse;
        let is_plain = or.is_none()
            && !overwrite
            && partitioned.is_none()
            && after_columns.is_empty()
            && (!has_table_keyword || is_clickhouse)
            && output.is_none()
            && (settings.is_none() || is_clickhouse)
            && format_clause.is_none()
            && multi_table_insert_type.is_none()
            && multi_table_into_clauses.is_empty()
            && multi_table_when_clauses.is_empty()
            && multi_table_else_clause.is_none();
        let (TableObject::TableName(name), true) = (table, is_plain) else {
            self.unclear("it has a form of `INSERT` that is not understood");
            return None;
        };
        let mut item = self.table(name, &[])?;
        let Some(table) = item.table.clone() else {
            self.unclear("it writes a table of the system");
            return None;
        };
        let mut names: BTreeSet<String> = BTreeSet::new();
        for column in columns {
            names.extend(self.named_column(column));
        }
        for assignment in assignments {
            names.extend(targets(&assignment.target).filter_map(|name| self.named_column(name)).collect::<Vec<_>>());
        }
        let is_listed = !columns.is_empty() || !assignments.is_empty();
        match (is_listed, source) {
            (true, _) => self.rights.need(&table, Privilege::Insert).names.extend(names.iter().cloned()),
            // `DEFAULT VALUES`
            (false, None) => drop(self.rights.need(&table, Privilege::Insert)),
            (false, Some(_)) => self.whole(&table, Privilege::Insert),
        }
        let has_defaults = source.as_deref().is_some_and(names_default);
        self.rights.filled.insert((table.clone(), if has_defaults { BTreeSet::new() } else { names }));
        if *replace_into {
            self.whole(&table, Privilege::Delete);
        }
        if let Some(source) = source {
            self.query(source, ctes, None);
        }
        if let Some(alias) = table_alias.as_ref().and_then(|alias| self.folded(&alias.alias)) {
            item.name = alias;
        }
        let scope = Scope { items: vec![item], ..Scope::default() };
        for assignment in assignments {
            self.within(&assignment.value, &scope, ctes);
        }
        if let Some(on) = on {
            let mut conflict = scope.clone();
            // The row that was to be inserted, whose values are the statement's own. PostgreSQL wants the right to read the column all the same.
            let new = insert_alias.as_ref().and_then(|alias| last(&alias.row_alias)).and_then(|ident| self.folded(ident));
            let new = new.unwrap_or_else(|| "excluded".to_owned());
            let of = Some(table.clone()).filter(|_| self.dialect == Dialect::Postgres);
            conflict.items.push(Item { name: new, table: of, columns: nothing() });
            self.on(on, &table, &conflict, ctes);
        }
        match (self.dialect, returning) {
            (Dialect::MySql, Some(_)) => self.returning_of_mariadb(returning.as_deref(), &table, &scope, ctes),
            _ => self.returning(returning.as_deref(), &scope, ctes),
        }
    }

    /// MariaDB wants the rights to insert and to read both the columns that are inserted and those that are returned.
    fn returning_of_mariadb(&mut self, returning: Option<&[SelectItem]>, table: &Named, scope: &Scope<'_>, ctes: &[Cte]) -> Output {
        let before = std::mem::take(&mut self.rights);
        let output = self.returning(returning, scope, ctes);
        let returned = std::mem::replace(&mut self.rights, before);
        let read = returned.tables.get(&(table.clone(), Privilege::Select)).cloned().unwrap_or_default();
        self.rights.extend(returned);
        for privilege in [Privilege::Insert, Privilege::Select] {
            let inserted = self.rights.need(table, Privilege::Insert).clone();
            for Columns { all, names } in [inserted, read.clone()] {
                let columns = self.rights.need(table, privilege);
                columns.all |= all;
                columns.names.extend(names);
            }
        }
        output
    }

    fn on(&mut self, on: &OnInsert, table: &Named, scope: &Scope<'_>, ctes: &[Cte]) {
        match on {
            OnInsert::OnConflict(OnConflict { conflict_target, action }) => {
                match conflict_target {
                    None => {}
                    Some(ConflictTarget::Columns(columns)) => {
                        for column in columns {
                            match self.folded(column) {
                                Some(name) => self.column_of(table, Privilege::Select, &name),
                                None => self.unclear("it names a column by a variable"),
                            }
                        }
                    }
                    Some(ConflictTarget::OnConstraint(name)) => self.constraint(table, name),
                }
                if let OnConflictAction::DoUpdate(DoUpdate { assignments, selection }) = action {
                    self.rights.need(table, Privilege::Select);
                    self.assignments(assignments, Some(table), scope, ctes);
                    if let Some(selection) = selection {
                        self.within(selection, scope, ctes);
                    }
                }
            }
            OnInsert::DuplicateKeyUpdate(assignments) => {
                self.assignments(assignments, Some(table), scope, ctes);
                // MariaDB wants the rights to read what is set, and to change what is inserted, too.
                let set = self.rights.need(table, Privilege::Update).clone();
                let inserted = self.rights.need(table, Privilege::Insert).clone();
                for (privilege, Columns { all, names }) in [(Privilege::Select, set), (Privilege::Update, inserted)] {
                    let columns = self.rights.need(table, privilege);
                    columns.all |= all;
                    columns.names.extend(names);
                }
            }
            _ => self.unclear("it has a form of `INSERT` that is not understood"),
        }
    }

    /// The columns of a constraint are looked at for a conflict.
    fn constraint(&mut self, table: &Named, name: &ObjectName) {
        let folded = last(name).and_then(|ident| self.folded(ident));
        let columns = folded.and_then(|name| self.known.tables.get(table)?.constraints.get(&name).cloned());
        match columns {
            Some(columns) => columns.iter().for_each(|column| self.column_of(table, Privilege::Select, column)),
            None => {
                self.whole(table, Privilege::Select);
                self.rights.widened.insert(format!(
                    "the columns of the constraint `{name}` are not known: write them, `ON CONFLICT (…)`, or ask the database by `--connect`"
                ));
            }
        }
    }

    fn named_column(&mut self, name: &ObjectName) -> Option<String> {
        // A field of a column begins with the column; MySQL has the table before it.
        if self.dialect == Dialect::ClickHouse {
            // A column of a `Nested` has a dot in its name.
            let parts: Option<Vec<String>> = name.0.iter().map(|part| part.as_ident().and_then(|ident| self.folded(ident))).collect();
            if parts.is_none() {
                self.unclear("it names a column by a variable");
            }
            return parts.map(|parts| parts.join("."));
        }
        let ident = match (self.dialect, name.0.as_slice()) {
            (Dialect::MySql, _) => last(name),
            (_, [first, ..]) => first.as_ident(),
            (_, []) => None,
        };
        let folded = ident.and_then(|ident| self.folded(ident));
        if folded.is_none() {
            self.unclear("it names a column by a variable");
        }
        folded
    }

    /// What is set. Without a `table`, it is that of the scope which has the column.
    fn assignments(&mut self, assignments: &[Assignment], table: Option<&Named>, scope: &Scope<'_>, ctes: &[Cte]) {
        for Assignment { target, value } in assignments {
            for name in targets(target) {
                let Some(column) = self.named_column(name) else { continue };
                match (table, name.0.as_slice()) {
                    (Some(table), _) => self.column_of(table, Privilege::Update, &column),
                    (None, [.., item, _]) => {
                        let item = item.as_ident().and_then(|ident| self.folded(ident));
                        let item = item.and_then(|name| scope.items.iter().find(|item| item.name == name).cloned());
                        match item {
                            Some(Item { table: Some(table), .. }) => self.column_of(&table, Privilege::Update, &column),
                            _ => self.unclear(&format!("`{name}` is a column of none of its tables")),
                        }
                    }
                    (None, _) => self.find(&column, &column, scope, Privilege::Update),
                }
            }
            self.within(value, scope, ctes);
        }
    }

    fn update(&mut self, update: &Update, ctes: &[Cte]) -> Output {
        let Update { update_token: _, optimizer_hints: _, table, assignments, from, selection, returning, output, or, order_by, limit } =
            update;
        let from = match from {
            None => [].as_slice(),
            Some(UpdateTableFromKind::AfterSet(from)) => from.as_slice(),
            Some(UpdateTableFromKind::BeforeSet(_)) => {
                self.unclear("it has a form of `UPDATE` that is not understood");
                return None;
            }
        };
        if output.is_some() || or.is_some() {
            self.unclear("it has a form of `UPDATE` that is not understood");
        }
        let mut scope = Scope::default();
        let target = if table.joins.is_empty() {
            let mut target = self.target(&table.relation)?;
            let Some(table) = target.table.clone() else {
                self.unclear("it writes a table of the system");
                return None;
            };
            if self.dialect == Dialect::ClickHouse {
                target.table = None;
                // Only an `ALTER TABLE` is looked at column by column.
                if !self.is_mutation {
                    self.whole(&table, Privilege::Update);
                }
            }
            scope.items.push(target);
            Some(table)
        } else {
            self.tables(&mut scope, table, ctes);
            None
        };
        for tables in from {
            self.tables(&mut scope, tables, ctes);
        }
        self.assignments(assignments, target.as_ref(), &scope, ctes);
        let read: Vec<Named> = scope.items.iter().skip(usize::from(target.is_some())).filter_map(|item| item.table.clone()).collect();
        for table in read {
            self.rights.need(&table, Privilege::Select);
        }
        if let Some(selection) = selection {
            self.within(selection, &scope, ctes);
        }
        self.within(order_by, &scope, ctes);
        self.within(limit, &scope, ctes);
        self.returning(returning.as_deref(), &scope, ctes)
    }

    fn delete(&mut self, delete: &Delete, ctes: &[Cte]) -> Output {
        let Delete { delete_token: _, optimizer_hints: _, tables, from, using, selection, returning, output, order_by, limit } = delete;
        if output.is_some() {
            self.unclear("it has a form of `DELETE` that is not understood");
        }
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = from;
        let mut scope = Scope::default();
        let mut targets: Vec<Named> = Vec::new();
        match (tables.as_slice(), from.as_slice()) {
            ([], [one]) if one.joins.is_empty() && (self.dialect != Dialect::MySql || using.is_none()) => {
                let mut target = self.target(&one.relation)?;
                targets.extend(target.table.clone());
                if self.dialect == Dialect::ClickHouse {
                    target.table = None;
                }
                scope.items.push(target);
            }
            ([], _) if self.dialect != Dialect::MySql => {
                self.unclear("it has a form of `DELETE` that is not understood");
                return None;
            }
            // MySQL: `DELETE a FROM a JOIN b`, `DELETE FROM a USING a JOIN b`.
            (named, from) => {
                let (named, from): (Vec<&ObjectName>, _) = match using {
                    Some(using) => {
                        let of = |factor: &TableFactor| matches!(factor, TableFactor::Table { args: None, .. });
                        if !from.iter().all(|one| one.joins.is_empty() && of(&one.relation)) {
                            self.unclear("what it writes is not a table");
                            return None;
                        }
                        // They are named once more, and counted as tables by the parser.
                        self.seen.tables += from.len();
                        let names = from.iter().filter_map(|one| match &one.relation {
                            TableFactor::Table { name, .. } => Some(name),
                            _ => None,
                        });
                        (names.collect(), using.as_slice())
                    }
                    None => (named.iter().collect(), from),
                };
                for tables in from {
                    self.tables(&mut scope, tables, ctes);
                }
                for name in named {
                    let folded = last(name).and_then(|ident| self.folded(ident));
                    let item = folded.and_then(|name| scope.items.iter().find(|item| item.name == name));
                    match item.and_then(|item| item.table.clone()) {
                        Some(table) => targets.push(table),
                        None => self.unclear("what it writes is not a table"),
                    }
                }
                for table in scope.items.iter().filter_map(|item| item.table.clone()).collect::<Vec<_>>() {
                    self.rights.need(&table, Privilege::Select);
                }
            }
        }
        if self.dialect != Dialect::MySql {
            for tables in using.iter().flatten() {
                self.tables(&mut scope, tables, ctes);
            }
            for table in scope.items.iter().skip(1).filter_map(|item| item.table.clone()).collect::<Vec<_>>() {
                self.rights.need(&table, Privilege::Select);
            }
        }
        if targets.is_empty() {
            self.unclear("it writes a table of the system");
        }
        for table in &targets {
            self.whole(table, Privilege::Delete);
        }
        if let Some(selection) = selection {
            self.within(selection, &scope, ctes);
        }
        self.within(order_by, &scope, ctes);
        self.within(limit, &scope, ctes);
        self.returning(returning.as_deref(), &scope, ctes)
    }

    fn merge(&mut self, merge: &Merge, ctes: &[Cte]) -> Output {
        let Merge { merge_token: _, optimizer_hints: _, into: _, table, source, on, clauses, output } = merge;
        if output.is_some() {
            self.unclear("it has a form of `MERGE` that is not understood");
        }
        let target = self.target(table)?;
        let Some(written) = target.table.clone() else {
            self.unclear("it writes a table of the system");
            return None;
        };
        let mut scope = Scope { items: vec![target], ..Scope::default() };
        self.factor(&mut scope, source, ctes);
        for table in scope.items.iter().filter_map(|item| item.table.clone()).collect::<Vec<_>>() {
            self.rights.need(&table, Privilege::Select);
        }
        self.within(on, &scope, ctes);
        for clause in clauses {
            self.within(&clause.predicate, &scope, ctes);
            match &clause.action {
                MergeAction::Insert(MergeInsertExpr { insert_token: _, columns, kind_token: _, kind, insert_predicate }) => {
                    self.within(insert_predicate, &scope, ctes);
                    let names: BTreeSet<String> = columns.iter().filter_map(|name| self.named_column(name)).collect();
                    if columns.is_empty() {
                        self.whole(&written, Privilege::Insert);
                    }
                    self.rights.need(&written, Privilege::Insert).names.extend(names.iter().cloned());
                    self.rights.filled.insert((written.clone(), names));
                    match kind {
                        MergeInsertKind::Values(values) => self.within(values, &scope, ctes),
                        MergeInsertKind::Row | MergeInsertKind::Wildcard => self.unclear("it inserts whole rows"),
                    }
                }
                MergeAction::Update(MergeUpdateExpr { update_token: _, kind, update_predicate, delete_predicate }) => {
                    self.within(update_predicate, &scope, ctes);
                    self.within(delete_predicate, &scope, ctes);
                    match kind {
                        MergeUpdateKind::Set(assignments) => self.assignments(assignments, Some(&written), &scope, ctes),
                        MergeUpdateKind::Wildcard => self.unclear("it sets whole rows"),
                    }
                }
                MergeAction::Delete { .. } => self.whole(&written, Privilege::Delete),
                MergeAction::DoNothing { .. } => {}
            }
        }
        nothing()
    }

    fn returning(&mut self, returning: Option<&[SelectItem]>, scope: &Scope<'_>, ctes: &[Cte]) -> Output {
        match returning {
            Some(items) => self.projection(items, scope, ctes).0,
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

/// Whether a row of `VALUES` leaves a value to the table.
fn names_default(source: &Query) -> bool {
    let SetExpr::Values(values) = &*source.body else { return false };
    let is_default =
        |expr: &Expr| matches!(expr, Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"));
    values.rows.iter().flat_map(|row| &row.content).any(is_default)
}
