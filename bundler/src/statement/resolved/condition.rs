//! Conditions, as far as they compare a column with a value or another column.

use std::ops::Range;

use sqlparser::ast::{BinaryOperator, DataType, Expr, Ident, Value};

use super::names::begin;
use crate::statement::{Dialect, shown::Location};

/// A condition of a query.
pub(in crate::statement) struct Condition {
    /// The equalities that all have to hold. What stands under `OR` or `NOT` is none of them.
    pub(in crate::statement) equalities: Vec<Equality>,
    /// What has to be within a range or among several values, all of them likewise.
    pub(in crate::statement) ranges: Vec<Operand>,
    pub(in crate::statement) reach: Reach,
}

/// Which sources a condition restricts, wherever their rows come out of the query.
#[derive(Clone)]
pub(in crate::statement) enum Reach {
    /// `WHERE`: all.
    All,
    /// `ON` of an inner join: the sources that it joins.
    Inside(Range<usize>),
    /// `ON` of an outer join: the sources of the side whose rows need a match. What they are
    /// compared with is on either side.
    Into { into: Range<usize>, from: Range<usize> },
    /// `ON` of a full join: none.
    Nothing,
}

/// Two operands that have to be equal.
pub(in crate::statement) struct Equality {
    pub(in crate::statement) left: Operand,
    pub(in crate::statement) right: Operand,
}

/// A value that is compared, inserted or set.
pub(in crate::statement) struct Operand {
    pub(in crate::statement) at: Option<Location>,
    pub(in crate::statement) kind: OperandKind,
}

/// What a value is.
pub(in crate::statement) enum OperandKind {
    /// A parameter and nothing else, by its number.
    Parameter(usize),
    /// A column, with what is before it.
    Column {
        parts: Vec<Ident>,
        /// It stands in parentheses.
        is_nested: bool,
    },
    Other,
}

impl Operand {
    pub(super) fn of(expression: &Expr, dialect: Dialect) -> Self {
        let kind = match parameter(expression, dialect) {
            Some(number) => OperandKind::Parameter(number),
            None => column(expression, false).unwrap_or(OperandKind::Other),
        };
        Self { at: begin(expression), kind }
    }
}

impl Condition {
    pub(super) fn of(expression: &Expr, reach: Reach, dialect: Dialect) -> Self {
        Self { equalities: equalities(expression, dialect), ranges: ranges(expression, dialect), reach }
    }
}

/// What all has to be within a range or among several values.
fn ranges(expression: &Expr, dialect: Dialect) -> Vec<Operand> {
    let mut found = Vec::new();
    for one in conjuncts(expression) {
        match one {
            Expr::BinaryOp { left, op: BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq, right } => {
                found.extend([Operand::of(left, dialect), Operand::of(right, dialect)]);
            }
            Expr::Between { expr, negated: false, .. }
            | Expr::InList { expr, negated: false, .. }
            | Expr::InSubquery { expr, negated: false, .. }
            | Expr::AnyOp { left: expr, compare_op: BinaryOperator::Eq, .. } => found.push(Operand::of(expr, dialect)),
            _ => {}
        }
    }
    found
}

/// The parts of a condition that all have to hold.
fn conjuncts(expression: &Expr) -> Vec<&Expr> {
    let (mut found, mut rest) = (Vec::new(), vec![expression]);
    while let Some(one) = rest.pop() {
        match one {
            Expr::Nested(inner) => rest.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => rest.extend([&**left, &**right]),
            one => found.push(one),
        }
    }
    found
}

/// The equalities that all have to hold.
pub(super) fn equalities(expression: &Expr, dialect: Dialect) -> Vec<Equality> {
    let equality = |one: &Expr| match one {
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            Some(Equality { left: Operand::of(left, dialect), right: Operand::of(right, dialect) })
        }
        _ => None,
    };
    conjuncts(expression).into_iter().filter_map(equality).collect()
}

/// The number of the parameter that an expression is.
fn parameter(expression: &Expr, dialect: Dialect) -> Option<usize> {
    match expression {
        Expr::Nested(inner) => parameter(inner, dialect),
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => name.get(1..)?.parse().ok(),
            _ => None,
        },
        Expr::Cast { expr, data_type, format: None, .. } if dialect.facts().resolution.has_exact_casts => {
            let is_exact = matches!(
                data_type,
                DataType::Text
                    | DataType::Uuid
                    | DataType::Varchar(None)
                    | DataType::BigInt(None)
                    | DataType::Int8(None)
                    | DataType::Int(None)
                    | DataType::Integer(None)
                    | DataType::Int4(None)
            );
            parameter(expr, dialect).filter(|_| is_exact)
        }
        _ => None,
    }
}

fn column(expression: &Expr, is_nested: bool) -> Option<OperandKind> {
    match expression {
        Expr::Nested(inner) => column(inner, true),
        Expr::Identifier(ident) => Some(OperandKind::Column { parts: vec![ident.clone()], is_nested }),
        Expr::CompoundIdentifier(parts) => Some(OperandKind::Column { parts: parts.clone(), is_nested }),
        _ => None,
    }
}
