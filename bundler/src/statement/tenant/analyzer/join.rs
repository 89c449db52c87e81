//! `SELECT`, and the joins of `FROM`.

use sqlparser::ast::{
    Expr, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Select, TableAlias, TableFactor, TableFunctionArgs,
    TableWithJoins,
};

use super::{
    Analyzer, Ctes, at,
    block::{Block, Item, Reach, Remedy},
};
use crate::statement::{
    dialect::Dialect,
    tenant::rule::{fold, last},
};

/// The table-valued functions of SQLite that see no table.
const SQLITE_FUNCTIONS: [&str; 3] = ["generate_series", "json_each", "json_tree"];

/// A table that a statement names.
pub(super) struct NamedTable {
    pub(super) name: String,
    pub(super) is_tenant: bool,
}

impl Analyzer<'_> {
    pub(super) fn select(&mut self, select: &Select, ctes: Ctes<'_>) {
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
            self.unknown(None, "`SELECT … INTO` makes a table");
        }
        let is_plain = select_modifiers.is_none()
            && top.is_none()
            && exclude.is_none()
            && lateral_views.is_empty()
            && prewhere.is_none()
            && connect_by.is_empty()
            && cluster_by.is_empty()
            && distribute_by.is_empty()
            && sort_by.is_empty()
            && qualify.is_none()
            && value_table_mode.is_none();
        if !is_plain {
            self.unknown(None, "it has a clause that is not understood");
        }
        let mut block = Block::default();
        for tables in from {
            self.tables(&mut block, tables, ctes);
        }
        block.filter(selection.as_ref());
        self.conclude(block, ctes);
        self.within(distinct, ctes);
        self.within(projection, ctes);
        self.within(group_by, ctes);
        self.within(having, ctes);
        self.within(named_window, ctes);
    }

    /// Adds an element of `FROM` to a query.
    pub(super) fn tables<'e>(&mut self, block: &mut Block<'e>, tables: &'e TableWithJoins, ctes: Ctes<'_>) {
        let start = block.items.len();
        self.factor(block, &tables.relation, ctes);
        for join in &tables.joins {
            let left = start..block.items.len();
            self.factor(block, &join.relation, ctes);
            let right = left.end..block.items.len();
            let inside = Reach::Inside(start..right.end);
            let (constraint, reach) = match &join.join_operator {
                JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) | JoinOperator::CrossJoin(constraint) => {
                    (constraint, inside)
                }
                JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => {
                    (constraint, Reach::Into { into: right.clone(), from: left.clone() })
                }
                JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => {
                    (constraint, Reach::Into { into: left.clone(), from: right.clone() })
                }
                JoinOperator::FullOuter(constraint) => (constraint, Reach::Nothing),
                _ => {
                    self.unknown(None, "it has a join that is not understood");
                    continue;
                }
            };
            if let Reach::Into { into, .. } = &reach {
                block.items[into.clone()].iter_mut().for_each(|item| item.remedy = Remedy::On);
            }
            if join.global {
                self.unknown(None, "it has a join that is not understood");
            }
            match constraint {
                JoinConstraint::On(condition) => block.conditions.push((condition, reach)),
                JoinConstraint::Using(columns) => {
                    let is_tenant = columns.iter().any(|column| last(column).is_some_and(|column| self.is_column(column)));
                    // A right join has the column of the other side, a full join one that is either.
                    let is_left = matches!(join.join_operator, JoinOperator::Left(_) | JoinOperator::LeftOuter(_));
                    let is_inner = matches!(reach, Reach::Inside(_));
                    // SQLite compares with the leftmost column of that name, of whatever comes before.
                    let (before, after) = if self.dialect == Dialect::Sqlite { (0..left.end, right.clone()) } else { (0..0, 0..0) };
                    if let (true, true, Some(one), Some(other)) =
                        (is_tenant, is_left || is_inner, block.only_tenant(left), block.only_tenant(right))
                        && block.is_alone(one, before)
                        && block.is_alone(other, after)
                    {
                        block.items[other].is_merged = true;
                        block.equal.push((one, other));
                        block.equal.extend(is_inner.then_some((other, one)));
                    }
                }
                JoinConstraint::Natural => {
                    self.unknown(None, "which columns a `NATURAL` join compares depends on the database");
                }
                JoinConstraint::None => {}
            }
        }
    }

    /// Adds a table, a query or a function.
    pub(super) fn factor<'e>(&mut self, block: &mut Block<'e>, factor: &'e TableFactor, ctes: Ctes<'_>) {
        let (alias, item) = match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality: _,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                let is_plain =
                    with_hints.is_empty() && version.is_none() && partitions.is_empty() && json_path.is_none() && index_hints.is_empty();
                if !is_plain {
                    self.unknown(last(name).and_then(at), "it says something of a table that is not understood");
                }
                self.within(sample, ctes);
                let table = match args {
                    Some(args) => self.table_function(name, args, ctes),
                    None => self.table(name, ctes),
                };
                let Some(NamedTable { name: folded, is_tenant }) = table else { return };
                let shown = last(name).map(|ident| ident.value.clone()).unwrap_or_default();
                let item = Item {
                    name: folded,
                    shown: shown.clone(),
                    table: shown,
                    at: last(name).and_then(at),
                    is_tenant,
                    is_merged: false,
                    remedy: Remedy::Where,
                };
                (alias, item)
            }
            TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                self.query(subquery, ctes);
                self.within(sample, ctes);
                (alias, other())
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } if self.dialect == Dialect::Postgres => {
                self.call(name);
                self.within(args, ctes);
                (alias, Item { name: last(name).and_then(|name| fold(name, self.dialect)).unwrap_or_default(), ..other() })
            }
            TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_offset_alias: None, with_ordinality: _ } => {
                self.within(array_exprs, ctes);
                (alias, other())
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => return self.tables(block, table_with_joins, ctes),
            TableFactor::NestedJoin { alias: Some(alias), .. } => {
                return self.unknown(at(&alias.name), "a join in parentheses has a name");
            }
            _ => return self.unknown(None, "it has something in `FROM` that is not understood"),
        };
        block.items.extend(self.renamed(item, alias.as_ref()));
    }

    /// An item with its alias.
    fn renamed(&mut self, item: Item, alias: Option<&TableAlias>) -> Option<Item> {
        let Some(TableAlias { explicit: _, name, columns, at: position }) = alias else { return Some(item) };
        let Some(folded) = fold(name, self.dialect) else {
            self.unknown(at(name), "the name of a table is not written out");
            return None;
        };
        if position.is_some() || (item.is_tenant && !columns.is_empty()) {
            self.unknown(at(name), "the columns of a table get other names");
        }
        Some(Item { name: folded, shown: name.value.clone(), ..item })
    }

    /// A table, or what a common table expression calls so. `None` where that cannot be told, which has been noted.
    pub(super) fn table(&mut self, name: &ObjectName, ctes: Ctes<'_>) -> Option<NamedTable> {
        self.counted.tables += 1;
        let Some((ident, folded)) = last(name).and_then(|ident| Some((ident, fold(ident, self.dialect)?))) else {
            self.unknown(last(name).and_then(at), "the name of a table is not written out");
            return None;
        };
        if name.0.len() == 1 && ctes.contains(&folded) {
            return Some(NamedTable { name: folded, is_tenant: false });
        }
        let systems = match self.dialect {
            Dialect::Sqlite => "sqlite_",
            Dialect::Postgres | Dialect::MySql | Dialect::ClickHouse | Dialect::PartiQl => "pg_",
        };
        if folded.starts_with(systems) && self.rule.tables.is_not_named(&folded) {
            self.unknown(at(ident), &format!("`{}` is a table of the system, which can show rows of every tenant", ident.value));
            return None;
        }
        let is_tenant = self.rule.tables.contains(&folded);
        Some(NamedTable { name: folded, is_tenant })
    }

    /// A function in the place of a table. In SQLite, a virtual table can be called like one.
    fn table_function(&mut self, name: &ObjectName, args: &TableFunctionArgs, ctes: Ctes<'_>) -> Option<NamedTable> {
        self.within(args, ctes);
        if self.dialect != Dialect::Sqlite {
            self.counted.tables += 1;
            self.call(name);
            let name = last(name).and_then(|name| fold(name, self.dialect)).unwrap_or_default();
            return Some(NamedTable { name, is_tenant: false });
        }
        let table = self.table(name, &[])?;
        let is_known = SQLITE_FUNCTIONS.contains(&table.name.as_str()) || self.rule.functions.contains(&table.name);
        if is_known {
            return Some(NamedTable { is_tenant: false, ..table });
        }
        if !table.is_tenant && self.rule.tables.is_not_named(&table.name) {
            self.unknown(last(name).and_then(at), &format!("`{}` is a function that can show any table", table.name));
        }
        Some(table)
    }
}

/// What is no table.
const fn other() -> Item {
    Item {
        name: String::new(),
        shown: String::new(),
        table: String::new(),
        at: None,
        is_tenant: false,
        is_merged: false,
        remedy: Remedy::Where,
    }
}

/// Whether a name has a part that is this column, or that is not written out.
pub(super) fn names_column(name: &ObjectName, is_column: impl Fn(&Ident) -> bool, dialect: Dialect) -> bool {
    name.0.iter().any(|part| match part {
        ObjectNamePart::Identifier(ident) => is_column(ident) || fold(ident, dialect).is_none(),
        ObjectNamePart::Function(_) => true,
    })
}

/// Whether an expression is a column of the row that is to be inserted: `excluded.org_id`.
pub(super) fn is_excluded(expression: &Expr, is_column: impl Fn(&Ident) -> bool, dialect: Dialect) -> bool {
    match expression {
        Expr::CompoundIdentifier(parts) => {
            matches!(parts.as_slice(), [row, column] if is_column(column) && fold(row, dialect).as_deref() == Some("excluded"))
        }
        _ => false,
    }
}
