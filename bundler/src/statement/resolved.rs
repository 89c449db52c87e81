//! One parsed statement, resolved: what it names and where, which table each column is of, which
//! conditions hold for which rows, what it writes, and what of it was not understood.
//!
//! This is the one place that takes the parser's tree apart. Each form is taken apart by name, so
//! that a new clause of a newer parser does not compile instead of being passed over; and the
//! tables and queries that were seen are counted against those that the tree has. `tables`,
//! `tenant` and `rights` read the facts that come of it, each by its own rules.

use sqlparser::ast::{Statement as Sql, Visit as _};

use super::Dialect;

mod clickhouse;
mod condition;
mod expression;
mod facts;
mod from;
mod known;
mod names;
mod query;
mod resolver;
mod scope;
mod write;

pub(super) use condition::{Equality, Operand, OperandKind, Reach};
pub(super) use facts::{
    Assign, Assigned, Block, Call, Clause, ColumnUse, Concerns, ConflictUpdate, Fact, Insert, Mention, MentionKind, OnConflict,
    ResolvedStatement, Role, Source, Use, UsedColumns, Using,
};
pub use known::{Known, KnownTable};
pub use names::Named;
pub(super) use names::{UNKNOWN_NAME, at, fold, last, named, named_in, parsed};

use resolver::{Count, Resolver};

/// Why a statement is not judged in which a table was passed over.
pub(super) const NOT_WHOLE: &str = "it has a table in a place that is not understood";

/// Resolves a statement. `known` is what is known of the database; `is_mutation` says that it is an
/// `ALTER TABLE … UPDATE` of ClickHouse, written as an `UPDATE`.
pub(super) fn resolve(statement: &Sql, dialect: Dialect, known: &Known, is_mutation: bool) -> ResolvedStatement {
    let mut resolver = Resolver { dialect, known, is_mutation, facts: Vec::new(), seen: Count::default(), is_returning: false };
    resolver.statement(statement, &[]);
    let mut there = Count::default();
    let _ = statement.visit(&mut there);
    ResolvedStatement { is_whole: there == resolver.seen, facts: resolver.facts }
}
