//! What an expression of [JMESPath](https://jmespath.org/specification.html) is made of.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use millrace_core::Json;

/// Why a text is not a [`Selection`](super::Selection).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSelection {
    /// What is wrong, a clause.
    pub message: String,
    /// Where, in bytes from the beginning.
    pub at: usize,
}

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Current,
    Field(String),
    Index(i64),
    Slice {
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
    },
    /// The second on what the first gives.
    Then(Box<Self>, Box<Self>),
    /// The last on each element of what the first gives.
    Project(Box<Self>, Elements, Box<Self>),
    List(Vec<Self>),
    Members(Vec<(String, Self)>),
    Or(Box<Self>, Box<Self>),
    And(Box<Self>, Box<Self>),
    Not(Box<Self>),
    Compare(Comparison, Box<Self>, Box<Self>),
    Literal(Json),
    Call(Function, Vec<Self>),
    /// `&expression`, for a function.
    Reference(Box<Self>),
}

/// What a projection goes through.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Elements {
    OfList,
    OfListFlattened,
    OfObject,
    Which(Box<Node>),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A function of JMESPath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Contains,
    EndsWith,
    Join,
    Keys,
    Length,
    Map,
    Max,
    MaxBy,
    Merge,
    Min,
    MinBy,
    NotNull,
    Reverse,
    Sort,
    SortBy,
    StartsWith,
    Sum,
    ToArray,
    ToNumber,
    ToString,
    Type,
    Values,
}

use Function::{
    Contains, EndsWith, Join, Keys, Length, Map, Max, MaxBy, Merge, Min, MinBy, NotNull, Reverse, Sort, SortBy, StartsWith, Sum, ToArray,
    ToNumber, ToString, Type, Values,
};

const NAMES: [(&str, Function); 22] = [
    ("contains", Contains),
    ("ends_with", EndsWith),
    ("join", Join),
    ("keys", Keys),
    ("length", Length),
    ("map", Map),
    ("max", Max),
    ("max_by", MaxBy),
    ("merge", Merge),
    ("min", Min),
    ("min_by", MinBy),
    ("not_null", NotNull),
    ("reverse", Reverse),
    ("sort", Sort),
    ("sort_by", SortBy),
    ("starts_with", StartsWith),
    ("sum", Sum),
    ("to_array", ToArray),
    ("to_number", ToNumber),
    ("to_string", ToString),
    ("type", Type),
    ("values", Values),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    /// The place of the argument that is an expression, `&name`.
    pub(super) const fn reference(self) -> Option<usize> {
        match self {
            Map => Some(0),
            MaxBy | MinBy | SortBy => Some(1),
            _ => None,
        }
    }

    /// Whether it takes these arguments, as far as their number and `&` tell.
    pub(super) fn check(self, arguments: &[Node]) -> Result<(), String> {
        let takes = match self {
            Contains | EndsWith | Join | Map | MaxBy | MinBy | SortBy | StartsWith => 2,
            Merge | NotNull => arguments.len().max(1),
            _ => 1,
        };
        if arguments.len() != takes {
            return Err(format!("which takes {takes} argument{}", if takes == 1 { "" } else { "s" }));
        }
        let is_reference = |argument: &Node| matches!(argument, Node::Reference(_));
        if arguments.iter().enumerate().any(|(place, argument)| is_reference(argument) != (self.reference() == Some(place))) {
            return Err("whose arguments have `&` in the wrong place".to_string());
        }
        Ok(())
    }
}
