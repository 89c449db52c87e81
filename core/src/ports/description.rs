//! What a database says of the result of a statement before it runs.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// A column of a statement's result, as its database describes it.
///
/// As JSON, the form in which `millrace.lock` has it:
/// `{"name": "id", "type": "bigint", "kind": "big_integer"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name in the result; names are unique.
    pub name: String,
    /// Its type, in the words of the database; empty where the database does not say.
    #[serde(rename = "type", default, skip_serializing_if = "String::is_empty")]
    pub type_name: String,
    /// What its cells are as JSON.
    pub kind: ColumnKind,
}

/// What the cells of a column are as JSON. Each can be `null`, too: whether a column of a result
/// can be, no database says for certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// `true` or `false`.
    Boolean,
    /// An integer within ±(2^53−1).
    Integer,
    /// An integer; a text where it is beyond ±(2^53−1).
    BigInteger,
    /// A number.
    Float,
    /// A text: also decimals, dates, times and bytes.
    Text,
    /// A list; a text where the database wrote one in a form of its own.
    List,
    /// Any JSON: a JSON document, or a column whose cells may be anything.
    Any,
}

impl ColumnKind {
    /// What is certain where two descriptions of a column differ.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Boolean, Self::Boolean) => Self::Boolean,
            (Self::Integer, Self::Integer) => Self::Integer,
            (Self::Integer | Self::BigInteger, Self::Integer | Self::BigInteger) => Self::BigInteger,
            (Self::Float, Self::Float) => Self::Float,
            (Self::Text, Self::Text) => Self::Text,
            (Self::List, Self::List) => Self::List,
            _ => Self::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ColumnKind::{self, Any, BigInteger, Boolean, Float, Integer, List, Text};

    #[test]
    fn two_descriptions_promise_what_both_hold() {
        let all = [Boolean, Integer, BigInteger, Float, Text, List, Any];
        for (first, a) in all.into_iter().enumerate() {
            assert_eq!(a.or(a), a);
            for b in all.into_iter().skip(first + 1) {
                let expected = if (a, b) == (Integer, BigInteger) { BigInteger } else { Any };
                assert_eq!((a.or(b), b.or(a)), (expected, expected), "{a:?} {b:?}");
            }
        }
        assert_eq!(serde_json::to_string(&BigInteger).unwrap(), "\"big_integer\"");
        assert_eq!(serde_json::from_str::<ColumnKind>("\"text\"").unwrap(), Text);
    }
}
