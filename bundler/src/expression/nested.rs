//! A part of an expression, while it is read.

use std::ops::Range;

use millrace_core::expression::Expression;

use crate::scope::ValueType;

/// An expression, how deep it nests, what its value is, and where it stands.
pub(super) struct Nested {
    pub(super) expression: Expression,
    pub(super) depth: usize,
    pub(super) value: ValueType,
    pub(super) range: Range<usize>,
}
