//! The expressions of `when:`, parsed at build time and evaluated here.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::app::Literal;

/// A parsed expression: `item.status == 'overdue' and len(items) > 20`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Expression {
    /// A literal: number, string, `true`, `false`, `null`, or a list of literals.
    Literal(Literal),
    /// A path: `inputs.id`, `results[0].total`. The first step is the root.
    Path(Vec<Step>),
    /// `not x`
    Not(Box<Expression>),
    /// `x and y`
    And(Box<Expression>, Box<Expression>),
    /// `x or y`
    Or(Box<Expression>, Box<Expression>),
    /// `x == y` and the like
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// `x in y`: y is a list that has x, a string that contains x, or an object that has the member x.
    In(Box<Expression>, Box<Expression>),
    /// `len(x)`: characters, elements or members; 0 for null and for what is absent.
    Len(Box<Expression>),
    /// `exists(x)`: present and not null.
    Exists(Box<Expression>),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// A member.
    Member(String),
    /// An element.
    Index(u32),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
