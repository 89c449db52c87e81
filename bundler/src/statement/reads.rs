//! How a statement reads its tables: by which conditions, in which order, and whether it may stop
//! before their end. What a plan says of a table is explained by that.

use std::collections::BTreeSet;

use millrace_languages::plan::{RowsRead, TableAccess};

use super::{
    Dialect,
    resolved::{Block, Equality, Fact, Known, Operand, OperandKind, Source, UsedColumns, fold, resolve},
    single,
};

/// How a statement reads one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRead {
    /// What conditions call it: its alias, or its own name.
    pub name: String,
    /// Its name, as the statement has it.
    pub table: String,
    /// Columns that have to equal something.
    pub equal: Vec<String>,
    /// Columns that have to be within a range or among several values.
    pub ranged: Vec<String>,
    /// Columns that its rows are ordered by.
    pub ordered: Vec<String>,
    /// The only column of it that is used, where it is one.
    pub only_column: Option<String>,
    /// The query that it is in has a `WHERE`.
    pub has_where: bool,
    /// That query ends after some rows, and none is left out or needed before the first.
    pub may_stop: bool,
}

impl TableRead {
    /// The columns of an index that could find the rows that the statement wants, or sort them;
    /// none where none could.
    #[must_use]
    pub fn index_columns(&self) -> Vec<String> {
        let mut columns = self.equal.clone();
        // Behind a range, an index sorts nothing.
        match self.ranged.first() {
            Some(ranged) => columns.push(ranged.clone()),
            None => columns.extend(self.ordered.iter().cloned()),
        }
        let mut seen = BTreeSet::new();
        columns.retain(|column| seen.insert(column.clone()));
        columns
    }

    /// Whether all rows of the table are read, as the plan has it. `is_key`: a column is the
    /// table's key.
    #[must_use]
    pub fn reads_all(&self, access: &TableAccess, is_key: impl Fn(&str) -> bool) -> bool {
        match access.rows {
            RowsRead::Some | RowsRead::Unknown => false,
            RowsRead::All => true,
            RowsRead::UntilLimit => !self.may_stop,
            RowsRead::FirstOfKey => !self.only_column.as_deref().is_some_and(is_key),
        }
    }
}

/// How a statement, which has parameters in the place of values, reads its tables; `None` for one
/// that is not understood.
#[must_use]
pub fn table_reads(text: &str, dialect: Dialect) -> Option<Vec<TableRead>> {
    let tokens = single::lexed(text, dialect).ok()?;
    let found = single::parsed(text, tokens.len(), dialect, |statement| {
        let facts = resolve(statement, dialect, &Known::default(), false).facts;
        let blocks = facts.iter().filter_map(|fact| if let Fact::Block(block) = fact { Some(block) } else { None });
        let reads: Vec<TableRead> =
            blocks.flat_map(|block| block.sources.iter().filter_map(|source| read(source, block, &facts, dialect))).collect();
        let reads_others = facts.iter().any(|fact| matches!(fact, Fact::Doubt { .. } | Fact::Unnamed { reads: true, .. }));
        if reads.is_empty() && reads_others { None } else { Some(reads) }
    });
    found.ok().flatten()
}

fn read(source: &Source, block: &Block, facts: &[Fact], dialect: Dialect) -> Option<TableRead> {
    let mention = source.mention.as_ref()?;
    source.table.as_ref()?;
    let column = |operand: &Operand| column_of(operand, source, block, dialect);
    let sides = |equality: &Equality| [column(&equality.left), column(&equality.right)].into_iter().flatten().collect::<Vec<_>>();
    let shape = &block.shape;
    Some(TableRead {
        name: source.name.clone(),
        table: mention.name.to_string(),
        equal: block.conditions.iter().flat_map(|condition| &condition.equalities).flat_map(sides).collect(),
        ranged: block.conditions.iter().flat_map(|condition| &condition.ranges).filter_map(column).collect(),
        // What is ordered by columns of several tables, no index of one sorts.
        ordered: shape.order.iter().map(column).collect::<Option<_>>().unwrap_or_default(),
        only_column: only_column(source, facts),
        has_where: shape.has_where,
        may_stop: shape.has_limit && !shape.has_where && !shape.collects,
    })
}

/// The column of a source that an operand is.
fn column_of(operand: &Operand, source: &Source, block: &Block, dialect: Dialect) -> Option<String> {
    let OperandKind::Column { parts, .. } = &operand.kind else { return None };
    match parts.as_slice() {
        [column] if block.sources.len() == 1 => fold(column, dialect),
        [.., qualifier, column] if fold(qualifier, dialect)? == source.name => fold(column, dialect),
        _ => None,
    }
}

fn only_column(source: &Source, facts: &[Fact]) -> Option<String> {
    let mut names = BTreeSet::new();
    for fact in facts {
        match fact {
            Fact::Columns(used) if Some(&used.table) == source.table.as_ref() => match &used.columns {
                UsedColumns::Named(name) => drop(names.insert(name.clone())),
                UsedColumns::Any => {}
                UsedColumns::All => return None,
            },
            _ => {}
        }
    }
    if names.len() == 1 { names.pop_first() } else { None }
}

#[cfg(test)]
mod tests;
