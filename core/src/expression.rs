//! The expressions of `when:`, parsed at build time and evaluated here.
//!
//! Evaluation is total: it has no error and no side effect. Numbers are compared exactly, whatever their representation; strings by code
//! point. Values of different types are not equal, and none is less or greater.
//!
//! A path that leads nowhere is *unknown*, and so is what is made of it: a comparison, its `not`, a test of its text. `and` and `or` decide
//! by their other side where that is enough. An expression that is unknown in the end does not hold, so a condition that looks at a value
//! which is not there refuses, also where it is negated. `exists`, `len` and a comparison with the literal `null` are never unknown.

use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use core::{cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    Json,
    app::{Literal, Pattern},
};

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
    /// `x.startsWith(y)` and the like, of two strings.
    Text(TextTest, Box<Expression>, Box<Expression>),
    /// `x.matches('…')`: the string contains a match of the pattern.
    Matches(Box<Expression>, Pattern),
}

/// A test of one string for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
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

/// The values that the paths of an expression begin at, by their first name.
pub type Roots<'a> = [(&'a str, &'a Json)];

/// Finds matches of patterns; what keeps them ready does so faster.
pub trait Patterns {
    /// Whether the text contains a match; `None` for a pattern that cannot be used.
    fn contains_match(&self, pattern: &Pattern, text: &str) -> Option<bool>;
}

/// Makes a pattern ready each time.
impl Patterns for () {
    fn contains_match(&self, pattern: &Pattern, text: &str) -> Option<bool> {
        Some(pattern.matcher().ok()?.matches(text))
    }
}

impl Expression {
    /// Whether the expression is true. Only `true` is: a number, a string or a list never is by itself.
    ///
    /// ```
    /// use millrace_core::expression::{Comparison, Expression, Step};
    /// let results = serde_json::json!([]);
    /// let empty = Expression::Compare(
    ///     Comparison::Equal,
    ///     Box::new(Expression::Len(Box::new(Expression::Path(vec![Step::Member("results".into())])))),
    ///     Box::new(Expression::Literal(millrace_core::app::Literal(0.into()))),
    /// );
    /// assert!(empty.holds(&[("results", &results)], &()));
    /// ```
    #[must_use]
    pub fn holds(&self, roots: &Roots<'_>, patterns: &dyn Patterns) -> bool {
        self.truth(roots, patterns) == Some(true)
    }

    /// Whether the expression is true; `None` where that is unknown.
    fn truth(&self, roots: &Roots<'_>, patterns: &dyn Patterns) -> Option<bool> {
        Some(*self.value(roots, patterns)? == Json::Bool(true))
    }

    /// Shows every path of the expression, from left to right.
    pub fn paths<'a>(&'a self, visit: &mut dyn FnMut(&'a [Step])) {
        match self {
            Self::Literal(_) => {}
            Self::Path(steps) => visit(steps),
            Self::Not(operand) | Self::Len(operand) | Self::Exists(operand) | Self::Matches(operand, _) => operand.paths(visit),
            Self::And(left, right)
            | Self::Or(left, right)
            | Self::Compare(_, left, right)
            | Self::In(left, right)
            | Self::Text(_, left, right) => {
                left.paths(visit);
                right.paths(visit);
            }
        }
    }

    /// The value of the expression; `None` where it is unknown.
    #[must_use]
    pub fn value<'a>(&'a self, roots: &Roots<'a>, patterns: &dyn Patterns) -> Option<Cow<'a, Json>> {
        let truth = match self {
            Self::Literal(literal) => return Some(Cow::Borrowed(&literal.0)),
            Self::Path(steps) => return follow(steps, roots).map(Cow::Borrowed),
            Self::Len(of) => return Some(Cow::Owned(of.value(roots, patterns).map_or(0, |value| length(&value)).into())),
            Self::Not(operand) => !operand.truth(roots, patterns)?,
            Self::And(left, right) => match (left.truth(roots, patterns), right.truth(roots, patterns)) {
                (Some(false), _) | (_, Some(false)) => false,
                (left, right) => left? && right?,
            },
            Self::Or(left, right) => match (left.truth(roots, patterns), right.truth(roots, patterns)) {
                (Some(true), _) | (_, Some(true)) => true,
                (left, right) => left? || right?,
            },
            Self::Compare(comparison, left, right) => {
                let known = |side: &'a Self, other: &Self| match side.value(roots, patterns) {
                    // What is absent is as null to who asks for null.
                    None if other.is_null() => Some(Cow::Owned(Json::Null)),
                    value => value,
                };
                comparison.holds(&*known(left, right)?, &*known(right, left)?)
            }
            Self::In(needle, haystack) => contains(&*haystack.value(roots, patterns)?, &*needle.value(roots, patterns)?),
            Self::Exists(operand) => operand.value(roots, patterns).is_some_and(|value| !value.is_null()),
            Self::Text(test, text, part) => {
                let (text, part) = (text.value(roots, patterns)?, part.value(roots, patterns)?);
                test.holds(text.as_str()?, part.as_str()?)
            }
            Self::Matches(text, pattern) => patterns.contains_match(pattern, text.value(roots, patterns)?.as_str()?)?,
        };
        Some(Cow::Owned(Json::Bool(truth)))
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Literal(Literal(Json::Null)))
    }
}

impl TextTest {
    /// The method's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Contains => "contains",
        }
    }

    fn holds(self, text: &str, part: &str) -> bool {
        match self {
            Self::StartsWith => text.starts_with(part),
            Self::EndsWith => text.ends_with(part),
            Self::Contains => text.contains(part),
        }
    }
}

impl fmt::Display for Expression {
    /// The expression in the words of its grammar, with brackets where one stands within another.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(literal) => write!(f, "{}", literal.0),
            Self::Path(steps) => steps.iter().enumerate().try_for_each(|(place, step)| match step {
                Step::Member(name) if place == 0 => f.write_str(name),
                Step::Member(name) => write!(f, ".{name}"),
                Step::Index(index) => write!(f, "[{index}]"),
            }),
            Self::Not(operand) => write!(f, "not {}", Inner(operand)),
            Self::And(left, right) => write!(f, "{} and {}", Inner(left), Inner(right)),
            Self::Or(left, right) => write!(f, "{} or {}", Inner(left), Inner(right)),
            Self::Compare(comparison, left, right) => write!(f, "{} {} {}", Inner(left), comparison.as_str(), Inner(right)),
            Self::In(needle, haystack) => write!(f, "{} in {}", Inner(needle), Inner(haystack)),
            Self::Len(of) => write!(f, "len({of})"),
            Self::Exists(operand) => write!(f, "exists({operand})"),
            Self::Text(test, text, part) => write!(f, "{}.{}({part})", Inner(text), test.as_str()),
            Self::Matches(text, pattern) => write!(f, "{}.matches({:?})", Inner(text), pattern.text()),
        }
    }
}

/// An expression within another one.
struct Inner<'a>(&'a Expression);

impl fmt::Display for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            plain @ (Expression::Literal(_)
            | Expression::Path(_)
            | Expression::Len(_)
            | Expression::Exists(_)
            | Expression::Text(..)
            | Expression::Matches(..)) => plain.fmt(f),
            other => write!(f, "({other})"),
        }
    }
}

impl Comparison {
    /// `==` and the like.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    fn holds(self, left: &Json, right: &Json) -> bool {
        match self {
            Self::Equal => equal(left, right),
            Self::NotEqual => !equal(left, right),
            Self::Less => order(left, right) == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order(left, right), Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order(left, right) == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order(left, right), Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// Whether two values are equal: numbers by their value (`1` is `1.0`), objects without regard to the order of members.
#[must_use]
pub fn equal(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => compare_numbers(left, right) == Ordering::Equal,
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len() && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

/// The order of two numbers, exact: no integer is rounded to a float.
#[must_use]
pub fn compare_numbers(left: &serde_json::Number, right: &serde_json::Number) -> Ordering {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => compare_mixed(left, float(right)),
        (None, Some(right)) => compare_mixed(right, float(left)).reverse(),
        (None, None) => float(left).partial_cmp(&float(right)).unwrap_or(Ordering::Equal),
    }
}

fn float(number: &serde_json::Number) -> f64 {
    // Not an integer, hence a float; without `arbitrary_precision` a number is nothing else.
    number.as_f64().unwrap_or(0.0)
}

fn compare_mixed(integer: i128, float: f64) -> Ordering {
    // The cast truncates and saturates far beyond every 64-bit integer, so only the fraction is left to look at.
    let whole = float as i128;
    integer.cmp(&whole).then_with(|| {
        let fraction = float - whole as f64;
        0.0.partial_cmp(&fraction).unwrap_or(Ordering::Equal)
    })
}

fn order(left: &Json, right: &Json) -> Option<Ordering> {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => Some(compare_numbers(left, right)),
        (Json::String(left), Json::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn contains(haystack: &Json, needle: &Json) -> bool {
    match (haystack, needle) {
        (Json::Array(elements), _) => elements.iter().any(|element| equal(element, needle)),
        (Json::String(text), Json::String(part)) => text.contains(part.as_str()),
        (Json::Object(members), Json::String(name)) => members.contains_key(name),
        _ => false,
    }
}

fn length(value: &Json) -> usize {
    match value {
        Json::String(text) => text.chars().count(),
        Json::Array(elements) => elements.len(),
        Json::Object(members) => members.len(),
        _ => 0,
    }
}

fn follow<'a>(steps: &[Step], roots: &Roots<'a>) -> Option<&'a Json> {
    let (Step::Member(root), rest) = steps.split_first()? else { return None };
    let start = roots.iter().find(|(name, _)| name == root).map(|(_, value)| *value)?;
    rest.iter().try_fold(start, |value, step| match step {
        Step::Member(name) => value.as_object()?.get(name),
        Step::Index(index) => value.as_array()?.get(*index as usize),
    })
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString as _, vec};

    use serde_json::json;

    use super::*;

    fn literal(value: Json) -> Box<Expression> {
        Box::new(Expression::Literal(Literal(value)))
    }

    fn path(text: &str) -> Expression {
        let steps = text.split('.').map(|step| step.parse().map_or_else(|_| Step::Member(step.into()), Step::Index)).collect();
        Expression::Path(steps)
    }

    #[test]
    fn comparisons() {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let table = [
            (json!(1), Equal, json!(1.0), true),
            (json!(9_007_199_254_740_993_i64), Equal, json!(9_007_199_254_740_992.0), false),
            (json!(9_007_199_254_740_993_i64), Greater, json!(9_007_199_254_740_992.0), true),
            (json!(u64::MAX), Greater, json!(i64::MAX), true),
            (json!(u64::MAX), Less, json!(1e300), true),
            (json!(-1e300), Less, json!(i64::MIN), true),
            (json!(u64::MAX), Equal, json!(-1), false),
            (json!(2), Less, json!(2.5), true),
            (json!(-2), Greater, json!(-2.5), true),
            (json!(-2.5), LessOrEqual, json!(-3), false),
            (json!(3), GreaterOrEqual, json!(3.0), true),
            (json!("a"), Less, json!("b"), true),
            (json!("Z"), Less, json!("a"), true),
            (json!("ﬀ"), Less, json!("😀"), true),
            (json!("1"), Equal, json!(1), false),
            (json!("1"), NotEqual, json!(1), true),
            (json!("1"), Less, json!(2), false),
            (json!("1"), GreaterOrEqual, json!(2), false),
            (json!(null), Equal, json!(null), true),
            (json!(null), LessOrEqual, json!(null), false),
            (json!(true), Greater, json!(false), false),
            (json!([1, {"a": 2}]), Equal, json!([1.0, {"a": 2}]), true),
            (json!({"a": 1, "b": 2}), Equal, json!({"b": 2, "a": 1}), true),
            (json!({"a": 1}), Equal, json!({"a": 1, "b": null}), false),
        ];
        for (left, comparison, right, expected) in table {
            let expression = Expression::Compare(comparison, literal(left.clone()), literal(right.clone()));
            assert_eq!(expression.holds(&[], &()), expected, "{left} {comparison:?} {right}");
        }
    }

    #[test]
    fn membership() {
        let table = [
            (json!(2), json!([1, 2.0]), true),
            (json!(3), json!([1, 2]), false),
            (json!("ell"), json!("hello"), true),
            (json!("a"), json!({"a": null}), true),
            (json!("b"), json!({"a": null}), false),
            (json!(1), json!("1"), false),
            (json!("a"), json!(null), false),
        ];
        for (needle, haystack, expected) in table {
            let expression = Expression::In(literal(needle.clone()), literal(haystack.clone()));
            assert_eq!(expression.holds(&[], &()), expected, "{needle} in {haystack}");
        }
    }

    #[test]
    fn paths_lengths_and_logic() {
        let results = json!([{"total": 5, "name": "äöü", "none": null}]);
        let roots: &Roots<'_> = &[("results", &results)];
        assert_eq!(path("results.0.total").value(roots, &()).as_deref(), Some(&json!(5)));
        for nowhere in ["results.1.total", "results.total", "results.0.total.x", "results.0.0", "inputs", "results.0.none.x"] {
            assert_eq!(path(nowhere).value(roots, &()), None, "{nowhere}");
        }
        for (of, expected) in [("results", 1), ("results.0", 3), ("results.0.name", 3), ("results.0.total", 0), ("absent", 0)] {
            assert_eq!(Expression::Len(Box::new(path(of))).value(roots, &()).as_deref(), Some(&json!(expected)), "{of}");
        }
        assert!(Expression::Exists(Box::new(path("results.0.total"))).holds(roots, &()));
        assert!(!Expression::Exists(Box::new(path("results.0.none"))).holds(roots, &()));
        assert!(!path("results.0.total").holds(roots, &()), "a number is not true");
        assert!(Expression::Or(literal(json!(false)), literal(json!(true))).holds(roots, &()));
        assert!(!Expression::And(literal(json!(true)), literal(json!("true"))).holds(roots, &()));
        assert_eq!(Expression::Path(vec![Step::Index(0)]).value(roots, &()), None);
    }

    #[test]
    fn what_is_absent_is_unknown() {
        let inputs = json!({"here": "a", "null": null, "yes": true});
        let roots: &Roots<'_> = &[("inputs", &inputs)];
        let (absent, yes) = (|| Box::new(path("inputs.absent")), || Box::new(path("inputs.yes")));
        let compare = |comparison, value: Json| Expression::Compare(comparison, absent(), literal(value));
        let (equal, unequal) = (|| Box::new(compare(Comparison::Equal, json!(1))), || Box::new(compare(Comparison::NotEqual, json!(1))));
        let truth = |expression: Expression| expression.truth(roots, &());
        for unknown in [
            *equal(),
            *unequal(),
            compare(Comparison::Less, json!(1)),
            compare(Comparison::Less, json!(null)),
            Expression::Not(absent()),
            Expression::Not(equal()),
            Expression::In(absent(), literal(json!([1]))),
            Expression::In(literal(json!(1)), absent()),
            Expression::Not(Box::new(Expression::In(literal(json!(1)), absent()))),
            Expression::And(equal(), yes()),
            Expression::Or(equal(), literal(json!(false))),
            Expression::Text(TextTest::Contains, absent(), literal(json!(""))),
            Expression::Text(TextTest::Contains, literal(json!("")), absent()),
            Expression::Text(TextTest::Contains, Box::new(path("inputs.null")), literal(json!(""))),
            Expression::Matches(absent(), Pattern::parse("").unwrap()),
        ] {
            let known = truth(unknown.clone());
            // A comparison with null is the one that knows.
            if unknown == compare(Comparison::Less, json!(null)) {
                assert_eq!(known, Some(false), "{unknown}");
            } else {
                assert_eq!(known, None, "{unknown}");
            }
            assert!(!unknown.holds(roots, &()), "{unknown}");
        }
        for (expression, expected) in [
            (compare(Comparison::Equal, json!(null)), true),
            (compare(Comparison::NotEqual, json!(null)), false),
            (Expression::Compare(Comparison::Equal, literal(json!(null)), absent()), true),
            (Expression::Exists(absent()), false),
            (Expression::Exists(Box::new(path("inputs.null"))), false),
            (Expression::And(equal(), literal(json!(false))), false),
            (Expression::And(literal(json!(false)), equal()), false),
            (Expression::Or(equal(), yes()), true),
            (Expression::Or(yes(), equal()), true),
            (Expression::Compare(Comparison::Equal, Box::new(path("inputs.null")), literal(json!(1))), false),
            (Expression::Compare(Comparison::Equal, Box::new(Expression::Len(absent())), literal(json!(0))), true),
        ] {
            assert_eq!(truth(expression.clone()), Some(expected), "{expression}");
        }
    }

    #[test]
    fn texts() {
        let inputs = json!({"text": "größe-42", "number": 1});
        let roots: &Roots<'_> = &[("inputs", &inputs)];
        let test = |test, part: &str| Expression::Text(test, Box::new(path("inputs.text")), literal(json!(part)));
        let matches = |pattern: &str| Expression::Matches(Box::new(path("inputs.text")), Pattern::parse(pattern).unwrap());
        for (expression, shown, expected) in [
            (test(TextTest::StartsWith, "grö"), "inputs.text.startsWith(\"grö\")", true),
            (test(TextTest::StartsWith, "ö"), "inputs.text.startsWith(\"ö\")", false),
            (test(TextTest::EndsWith, "42"), "inputs.text.endsWith(\"42\")", true),
            (test(TextTest::EndsWith, "4"), "inputs.text.endsWith(\"4\")", false),
            (test(TextTest::Contains, "ße-"), "inputs.text.contains(\"ße-\")", true),
            (test(TextTest::Contains, "SSE"), "inputs.text.contains(\"SSE\")", false),
            (matches(r"^\w+-\d+$"), r#"inputs.text.matches("^\\w+-\\d+$")"#, true),
            (matches("^x"), "inputs.text.matches(\"^x\")", false),
        ] {
            assert_eq!((expression.to_string().as_str(), expression.truth(roots, &())), (shown, Some(expected)));
        }
    }
}
