//! The tables of one query, and which of them its conditions bind to the claim.

use std::ops::Range;

use super::analyzer::{Analyzer, table_of};
use crate::statement::{
    dialect::Dialect,
    resolved::{Block, Clause, Operand, OperandKind, Reach, Source, Using, at, fold},
};

impl Reach {
    fn restricts(&self, source: usize) -> bool {
        match self {
            Self::All => true,
            Self::Inside(sources) | Self::Into { into: sources, .. } => sources.contains(&source),
            Self::Nothing => false,
        }
    }

    /// Whether what binds `from` binds `to`, where the condition says that the two are equal.
    fn leads(&self, from: usize, to: usize) -> bool {
        match self {
            Self::All => true,
            Self::Inside(sources) => sources.contains(&from) && sources.contains(&to),
            Self::Into { into, from: other } => into.contains(&to) && (into.contains(&from) || other.contains(&from)),
            Self::Nothing => false,
        }
    }
}

/// A source of a block.
struct Row<'b> {
    source: &'b Source,
    /// It has the tenant's column.
    is_tenant: bool,
    /// `USING` has made its column one with that of a table before it.
    is_merged: bool,
    /// A condition restricts it to the claim.
    is_bound: bool,
}

/// The sources of a block, and what of them is equal.
struct Rows<'b> {
    all: Vec<Row<'b>>,
    /// Sources whose columns are equal, from and to.
    equal: Vec<(usize, usize)>,
}

impl Rows<'_> {
    /// Whether a column that is merged there can only be this source's.
    fn is_alone(&self, source: usize, among: Range<usize>) -> bool {
        self.all.get(among.clone()).is_some_and(|all| among.zip(all).all(|(place, other)| place == source || other.is_merged))
    }

    /// The one source with the tenant's column among some.
    fn only_tenant(&self, among: Range<usize>) -> Option<usize> {
        let mut found = among.filter(|&place| self.all[place].is_tenant && !self.all[place].is_merged);
        found.next().filter(|_| found.next().is_none())
    }

    /// Makes the columns of two sources one that `USING` compares.
    fn merge(&mut self, using: &Using, dialect: Dialect) {
        let Using { left, right, is_left, is_inner, .. } = using;
        let (before, after) = if dialect.facts().resolution.using_takes_the_leftmost { (0..left.end, right.clone()) } else { (0..0, 0..0) };
        if let (true, Some(one), Some(other)) = (*is_left || *is_inner, self.only_tenant(left.clone()), self.only_tenant(right.clone()))
            && self.is_alone(one, before)
            && self.is_alone(other, after)
        {
            self.all[other].is_merged = true;
            self.equal.push((one, other));
            self.equal.extend(is_inner.then_some((other, one)));
        }
    }

    /// Binds what is equal to what is bound.
    fn spread(&mut self) {
        let mut grows = true;
        while grows {
            grows = false;
            for &(from, to) in &self.equal {
                if self.all[from].is_bound && !self.all[to].is_bound {
                    (self.all[to].is_bound, grows) = (true, true);
                }
            }
        }
    }
}

impl Analyzer<'_> {
    /// Finds the sources of a block that nothing binds.
    pub(super) fn block(&mut self, block: &Block) {
        let row = |source| Row { source, is_tenant: self.is_tenant(source), is_merged: false, is_bound: false };
        let mut rows = Rows { all: block.sources.iter().map(row).collect(), equal: Vec::new() };
        for using in &block.usings {
            if using.columns.iter().any(|column| self.is_column(column)) {
                rows.merge(using, self.dialect);
            }
        }
        for condition in &block.conditions {
            let reach = &condition.reach;
            for equality in &condition.equalities {
                let (left, right) = (&equality.left, &equality.right);
                match (self.column_of(left, &rows), self.column_of(right, &rows)) {
                    (Some(source), None) if self.is_claim(right) && reach.restricts(source) => rows.all[source].is_bound = true,
                    (None, Some(source)) if self.is_claim(left) && reach.restricts(source) => rows.all[source].is_bound = true,
                    (Some(one), Some(other)) => {
                        rows.equal.extend(reach.leads(one, other).then_some((one, other)));
                        rows.equal.extend(reach.leads(other, one).then_some((other, one)));
                    }
                    _ => {}
                }
            }
        }
        rows.spread();
        for Row { source, is_tenant, is_bound, .. } in rows.all {
            if let (true, Some(alias)) = (is_tenant, &source.renamed) {
                self.unknown(at(alias), "the columns of a table get other names");
            }
            if is_tenant && !is_bound {
                self.unbound(source);
            }
        }
    }

    /// Whose tenant's column a value is.
    fn column_of(&self, value: &Operand, rows: &Rows<'_>) -> Option<usize> {
        let OperandKind::Column { parts, .. } = &value.kind else { return None };
        match parts.as_slice() {
            // Of several the database would not know which.
            [column] if self.is_column(column) => rows.only_tenant(0..rows.all.len()),
            [source, column] if self.is_column(column) => {
                let name = fold(source, self.dialect)?;
                let mut named = (0..rows.all.len()).filter(|&place| rows.all[place].source.name == name);
                named.next().filter(|&place| named.next().is_none() && rows.all[place].is_tenant)
            }
            _ => None,
        }
    }

    fn unbound(&mut self, source: &Source) {
        let (column, claim, (table, at)) = (&self.rule.column, self.claim(), table_of(source));
        let shown = &source.shown;
        let message = format!("`{table}` is not kept to the caller's tenant: no condition binds `{shown}.{column}` to `{claim}`");
        let condition = format!("{shown}.{column} = {claim}");
        let help = match source.restricted_in {
            Clause::Where => format!("Write `AND {condition}` into the `WHERE` of the same query; under `OR` or `NOT` it does not count."),
            Clause::On => format!("Write `AND {condition}` into the `ON` of its join; under `OR` or `NOT` it does not count."),
            Clause::Inside => format!("Write the source as a query in parentheses, with `WHERE {column} = {claim}`."),
        };
        self.find(at, message, help);
    }
}
