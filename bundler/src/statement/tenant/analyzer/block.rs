//! The tables of one query, and which of them its conditions bind to the claim.

use std::ops::Range;

use sqlparser::ast::{BinaryOperator, Expr, Ident};

use super::{Analyzer, Ctes};
use crate::statement::{shown::Location, tenant::rule::fold};

/// Something in `FROM`, or the target of a statement that writes.
pub(super) struct Item {
    /// The name that conditions know it by.
    pub(super) name: String,
    /// The same as the author writes it.
    pub(super) shown: String,
    /// The table as the author writes it.
    pub(super) table: String,
    pub(super) at: Option<Location>,
    pub(super) is_tenant: bool,
    /// `USING` has made its column one with that of a table before it.
    pub(super) is_merged: bool,
    pub(super) remedy: Remedy,
}

/// Where the missing condition belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    Where,
    On,
    Source,
}

/// Which items a condition restricts, wherever their rows come out of the query.
#[derive(Clone)]
pub(super) enum Reach {
    /// `WHERE`: all.
    All,
    /// `ON` of an inner join: the items that it joins.
    Inside(Range<usize>),
    /// `ON` of an outer join: the items of the side whose rows need a match. What they are compared with is on either side.
    Into { into: Range<usize>, from: Range<usize> },
    /// `ON` of a full join: none.
    Nothing,
}

impl Reach {
    fn restricts(&self, item: usize) -> bool {
        match self {
            Self::All => true,
            Self::Inside(items) | Self::Into { into: items, .. } => items.contains(&item),
            Self::Nothing => false,
        }
    }

    /// Whether what binds `from` binds `to`, where the condition says that the two are equal.
    fn leads(&self, from: usize, to: usize) -> bool {
        match self {
            Self::All => true,
            Self::Inside(items) => items.contains(&from) && items.contains(&to),
            Self::Into { into, from: other } => into.contains(&to) && (into.contains(&from) || other.contains(&from)),
            Self::Nothing => false,
        }
    }
}

/// The tables of one query and its conditions.
#[derive(Default)]
pub(super) struct Block<'e> {
    pub(super) items: Vec<Item>,
    pub(super) conditions: Vec<(&'e Expr, Reach)>,
    /// Items whose columns `USING` makes equal, from and to.
    pub(super) equal: Vec<(usize, usize)>,
}

impl<'e> Block<'e> {
    /// Adds what stands at `WHERE`.
    pub(super) fn filter(&mut self, selection: Option<&'e Expr>) {
        self.conditions.extend(selection.map(|selection| (selection, Reach::All)));
    }

    /// Whether a column that is merged there can only be this item's.
    pub(super) fn is_alone(&self, item: usize, among: Range<usize>) -> bool {
        self.items.get(among.clone()).is_some_and(|all| among.zip(all).all(|(place, other)| place == item || other.is_merged))
    }

    /// The one item with the tenant's column among some.
    pub(super) fn only_tenant(&self, items: Range<usize>) -> Option<usize> {
        let mut found = items.filter(|&item| self.items[item].is_tenant && !self.items[item].is_merged);
        found.next().filter(|_| found.next().is_none())
    }

    /// Whose tenant's column an expression is.
    fn column_of(&self, expression: &Expr, is_column: &dyn Fn(&Ident) -> bool, fold: &dyn Fn(&Ident) -> Option<String>) -> Option<usize> {
        match expression {
            Expr::Nested(inner) => self.column_of(inner, is_column, fold),
            // Of several the database would not know which.
            Expr::Identifier(column) if is_column(column) => self.only_tenant(0..self.items.len()),
            Expr::CompoundIdentifier(parts) => {
                let [item, column] = parts.as_slice() else { return None };
                let name = fold(item).filter(|_| is_column(column))?;
                let mut named = (0..self.items.len()).filter(|&at| self.items[at].name == name);
                named.next().filter(|&at| named.next().is_none() && self.items[at].is_tenant)
            }
            _ => None,
        }
    }
}

/// The conditions that all have to hold.
pub(super) fn conjuncts<'e>(expression: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expression {
        Expr::Nested(inner) => conjuncts(inner, found),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            conjuncts(left, found);
            conjuncts(right, found);
        }
        other => found.push(other),
    }
}

impl Analyzer<'_> {
    pub(super) fn is_column(&self, ident: &Ident) -> bool {
        fold(ident, self.dialect).is_some_and(|name| name == self.rule.column)
    }

    /// Finds the items of a query that nothing binds, and judges what is within its conditions.
    pub(super) fn conclude(&mut self, block: Block<'_>, ctes: Ctes<'_>) {
        let dialect = self.dialect;
        let (mut bound, mut edges) = (vec![false; block.items.len()], block.equal.clone());
        let column = |expression: &Expr| block.column_of(expression, &|ident| self.is_column(ident), &|ident| fold(ident, dialect));
        for (condition, reach) in &block.conditions {
            let mut all = Vec::new();
            conjuncts(condition, &mut all);
            for conjunct in all {
                let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = conjunct else { continue };
                match (column(left), column(right)) {
                    (Some(item), None) if self.is_claim(right) && reach.restricts(item) => bound[item] = true,
                    (None, Some(item)) if self.is_claim(left) && reach.restricts(item) => bound[item] = true,
                    (Some(one), Some(other)) => {
                        edges.extend(reach.leads(one, other).then_some((one, other)));
                        edges.extend(reach.leads(other, one).then_some((other, one)));
                    }
                    _ => {}
                }
            }
        }
        let mut grows = true;
        while grows {
            grows = false;
            for &(from, to) in &edges {
                if bound[from] && !bound[to] {
                    (bound[to], grows) = (true, true);
                }
            }
        }
        let free = block.items.iter().zip(bound).filter(|(item, bound)| item.is_tenant && !bound);
        for (item, _) in free {
            self.unbound(item);
        }
        for (condition, _) in &block.conditions {
            self.within(*condition, ctes);
        }
    }

    fn unbound(&mut self, item: &Item) {
        let (column, claim) = (self.rule.column.clone(), self.claim());
        let Item { shown, table, .. } = item;
        let message = format!("`{table}` is not kept to the caller's tenant: no condition binds `{shown}.{column}` to `{claim}`");
        let condition = format!("{shown}.{column} = {claim}");
        let help = match item.remedy {
            Remedy::Where => format!("Write `AND {condition}` into the `WHERE` of the same query; under `OR` or `NOT` it does not count."),
            Remedy::On => format!("Write `AND {condition}` into the `ON` of its join; under `OR` or `NOT` it does not count."),
            Remedy::Source => format!("Write the source as a query in parentheses, with `WHERE {column} = {claim}`."),
        };
        self.find(item.at, message, help);
    }
}
