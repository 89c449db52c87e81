//! The expressions of `when:`, parsed at build time and evaluated here.
//!
//! Evaluation is total: it has no error and no side effect. Numbers are compared exactly, whatever
//! their representation; strings by code point. Values of different types are not equal, and none
//! is less or greater.
//!
//! A path that leads nowhere is *unknown*, and so is what is made of it: a comparison, its `not`, a
//! test of its text. So is an operator whose operands are not of the types that it is for: an order
//! of a number and a text, `in` something that is not a list, `not` of what is neither true nor
//! false. `and` and `or` decide by their other side where that is enough. An expression that is
//! unknown in the end does not hold, so a condition that looks at a value which is not there, or is
//! not what it should be, refuses, also where it is negated. `exists(x)`, `==`, `!=` with a value
//! that is there, and a comparison with the literal `null` are never unknown.
//!
//! What an evaluation does is counted: after [`MOST_STEPS`] it is unknown. Without `exists` and
//! `all` of lists none comes near.

use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use core::{cell::Cell, cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    Json,
    app::{Literal, Pattern},
};

/// The most steps of one evaluation: a part of the expression, an element that is looked at, or
/// `STEP_BYTES` of text.
pub const MOST_STEPS: usize = 4_000_000;
/// How much text is searched or compared in one step.
const STEP_BYTES: usize = 64;

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
    /// `x in y`: y is a list that has x.
    In(Box<Expression>, Box<Expression>),
    /// `len(x)`: characters, elements or members; 0 for null and for what is absent. Of anything
    /// else it is unknown.
    Len(Box<Expression>),
    /// `exists(x)`: present and not null.
    Exists(Box<Expression>),
    /// `x.startsWith(y)` and the like, of two strings.
    Text(TextTest, Box<Expression>, Box<Expression>),
    /// `x.matches('…')`: the string contains a match of the pattern.
    Matches(Box<Expression>, Pattern),
    /// `x.exists(name, condition)` and the like, of a list.
    Each(Quantifier, Box<Expression>, String, Box<Expression>),
}

/// Of how many elements of a list a condition has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantifier {
    /// `exists`: of one at least.
    Any,
    /// `all`: of every one, hence also where there are none.
    All,
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
    /// Whether the expression is true. Only `true` is: a number, a string or a list never is by
    /// itself.
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
        self.truth(roots, &Evaluation::with(patterns)) == Some(true)
    }

    /// The same, with as many steps as are left of those that several expressions share.
    #[must_use]
    pub fn holds_within(&self, roots: &Roots<'_>, patterns: &dyn Patterns, left: &Cell<usize>) -> bool {
        let evaluation = Evaluation { patterns, left: Cell::new(left.get()) };
        let holds = self.truth(roots, &evaluation) == Some(true);
        left.set(evaluation.left.get());
        holds
    }

    /// The value of the expression; `None` where it is unknown.
    #[must_use]
    pub fn value<'a>(&'a self, roots: &Roots<'a>, patterns: &dyn Patterns) -> Option<Cow<'a, Json>> {
        self.evaluate(roots, &Evaluation::with(patterns))
    }

    /// Whether the expression is true; `None` where that is unknown, and where its value is neither
    /// true nor false.
    fn truth(&self, roots: &Roots<'_>, evaluation: &Evaluation<'_>) -> Option<bool> {
        self.evaluate(roots, evaluation)?.as_bool()
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
            Self::Each(_, list, name, condition) => {
                list.paths(visit);
                // What begins with the element's name is a part of the list.
                condition.paths(&mut |steps| {
                    if !matches!(steps.first(), Some(Step::Member(root)) if root == name) {
                        visit(steps);
                    }
                });
            }
        }
    }

    fn evaluate<'a>(&'a self, roots: &Roots<'a>, evaluation: &Evaluation<'_>) -> Option<Cow<'a, Json>> {
        evaluation.step(1)?;
        let truth = match self {
            Self::Literal(literal) => return Some(Cow::Borrowed(&literal.0)),
            Self::Path(steps) => return follow(steps, roots).map(Cow::Borrowed),
            Self::Len(of) => {
                let length = match of.evaluate(roots, evaluation) {
                    // What was not looked at any more is not empty.
                    None if evaluation.is_over() => return None,
                    None => 0,
                    Some(value) => {
                        evaluation.step(value.as_str().map_or(0, str::len) / STEP_BYTES)?;
                        length(&value)?
                    }
                };
                return Some(Cow::Owned(length.into()));
            }
            Self::Not(operand) => !operand.truth(roots, evaluation)?,
            Self::And(left, right) => match (left.truth(roots, evaluation), right.truth(roots, evaluation)) {
                (Some(false), _) | (_, Some(false)) => false,
                (left, right) => left? && right?,
            },
            Self::Or(left, right) => match (left.truth(roots, evaluation), right.truth(roots, evaluation)) {
                (Some(true), _) | (_, Some(true)) => true,
                (left, right) => left? || right?,
            },
            Self::Compare(comparison, left, right) => {
                let known = |side: &'a Self, other: &Self| match side.evaluate(roots, evaluation) {
                    // What is absent is as null to who asks for null.
                    None if other.is_null() && !evaluation.is_over() => Some(Cow::Owned(Json::Null)),
                    value => value,
                };
                comparison.holds(&*known(left, right)?, &*known(right, left)?, evaluation)?
            }
            Self::In(needle, haystack) => {
                let (haystack, needle) = (haystack.evaluate(roots, evaluation)?, needle.evaluate(roots, evaluation)?);
                for element in haystack.as_array()? {
                    if same(element, &needle, evaluation)? {
                        return Some(Cow::Owned(Json::Bool(true)));
                    }
                }
                false
            }
            Self::Exists(operand) => match operand.evaluate(roots, evaluation) {
                None if evaluation.is_over() => return None,
                value => value.is_some_and(|value| !value.is_null()),
            },
            Self::Text(test, text, part) => {
                let (text, part) = (text.evaluate(roots, evaluation)?, part.evaluate(roots, evaluation)?);
                let (text, part) = (text.as_str()?, part.as_str()?);
                evaluation.step(text.len() / STEP_BYTES)?;
                test.holds(text, part)
            }
            Self::Matches(text, pattern) => {
                let text = text.evaluate(roots, evaluation)?;
                let text = text.as_str()?;
                evaluation.step(text.len() / STEP_BYTES)?;
                evaluation.patterns.contains_match(pattern, text)?
            }
            Self::Each(quantifier, list, name, condition) => {
                let list = list.evaluate(roots, evaluation)?;
                quantifier.holds(list.as_array()?, name, condition, roots, evaluation)?
            }
        };
        Some(Cow::Owned(Json::Bool(truth)))
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Literal(Literal(Json::Null)))
    }
}

/// One evaluation of an expression.
struct Evaluation<'p> {
    patterns: &'p dyn Patterns,
    /// How many steps it may still make.
    left: Cell<usize>,
}

impl<'p> Evaluation<'p> {
    const fn with(patterns: &'p dyn Patterns) -> Self {
        Self { patterns, left: Cell::new(MOST_STEPS) }
    }

    /// Makes so many steps; `None` where that is too many, and from then on.
    fn step(&self, steps: usize) -> Option<()> {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// Whether it made all the steps that it may make: what is unknown now is not for want of a
    /// value.
    const fn is_over(&self) -> bool {
        self.left.get() == 0
    }
}

impl Quantifier {
    /// The method's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "exists",
            Self::All => "all",
        }
    }

    /// Whether the condition holds of as many elements; what is unknown of one decides nothing, as
    /// with `or` and `and`.
    fn holds(self, list: &[Json], name: &str, condition: &Expression, roots: &Roots<'_>, evaluation: &Evaluation<'_>) -> Option<bool> {
        let decides = self == Self::Any;
        let mut is_known = true;
        let mut inner: Vec<(&str, &Json)> = Vec::with_capacity(roots.len() + 1);
        for element in list {
            inner.clear();
            inner.push((name, element));
            inner.extend_from_slice(roots);
            match condition.truth(&inner, evaluation) {
                Some(truth) if truth == decides => return Some(decides),
                Some(_) => {}
                None if evaluation.is_over() => return None,
                None => is_known = false,
            }
        }
        is_known.then_some(!decides)
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
            Self::Each(quantifier, list, name, condition) => write!(f, "{}.{}({name}, {condition})", Inner(list), quantifier.as_str()),
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
            | Expression::Matches(..)
            | Expression::Each(..)) => plain.fmt(f),
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

    /// `None` where the values have no order.
    fn holds(self, left: &Json, right: &Json, evaluation: &Evaluation<'_>) -> Option<bool> {
        Some(match self {
            Self::Equal => same(left, right, evaluation)?,
            Self::NotEqual => !same(left, right, evaluation)?,
            Self::Less => order(left, right, evaluation)?.is_lt(),
            Self::LessOrEqual => order(left, right, evaluation)?.is_le(),
            Self::Greater => order(left, right, evaluation)?.is_gt(),
            Self::GreaterOrEqual => order(left, right, evaluation)?.is_ge(),
        })
    }
}

/// Whether two values are equal: numbers by their value (`1` is `1.0`), objects without regard to
/// the order of members.
#[must_use]
pub fn equal(left: &Json, right: &Json) -> bool {
    let evaluation = Evaluation { patterns: &(), left: Cell::new(usize::MAX) };
    same(left, right, &evaluation) == Some(true)
}

/// The same within an evaluation; `None` where it is over.
fn same(left: &Json, right: &Json, evaluation: &Evaluation<'_>) -> Option<bool> {
    evaluation.step(1)?;
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => Some(compare_numbers(left, right) == Ordering::Equal),
        (Json::Array(left), Json::Array(right)) if left.len() == right.len() => {
            for (left, right) in left.iter().zip(right) {
                if !same(left, right, evaluation)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        (Json::Object(left), Json::Object(right)) if left.len() == right.len() => {
            for (name, value) in left {
                match right.get(name) {
                    Some(other) if same(value, other, evaluation)? => {}
                    _ => return Some(false),
                }
            }
            Some(true)
        }
        (Json::String(left), Json::String(right)) if left.len() == right.len() => {
            evaluation.step(left.len() / STEP_BYTES)?;
            Some(left == right)
        }
        (Json::Null, Json::Null) => Some(true),
        (Json::Bool(left), Json::Bool(right)) => Some(left == right),
        _ => Some(false),
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
    // The cast truncates and saturates far beyond every 64-bit integer, so only the fraction is
    // left to look at.
    let whole = float as i128;
    integer.cmp(&whole).then_with(|| {
        let fraction = float - whole as f64;
        0.0.partial_cmp(&fraction).unwrap_or(Ordering::Equal)
    })
}

/// `None` for values that have no order.
fn order(left: &Json, right: &Json, evaluation: &Evaluation<'_>) -> Option<Ordering> {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => Some(compare_numbers(left, right)),
        (Json::String(left), Json::String(right)) => {
            evaluation.step(left.len().min(right.len()) / STEP_BYTES)?;
            Some(left.cmp(right))
        }
        _ => None,
    }
}

/// `None` for what has no length.
fn length(value: &Json) -> Option<usize> {
    match value {
        Json::String(text) => Some(text.chars().count()),
        Json::Array(elements) => Some(elements.len()),
        Json::Object(members) => Some(members.len()),
        Json::Null => Some(0),
        Json::Bool(_) | Json::Number(_) => None,
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

    fn truth(expression: &Expression, roots: &Roots<'_>) -> Option<bool> {
        expression.truth(roots, &Evaluation::with(&()))
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
            (json!([1]), Less, json!([2]), false),
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
            (json!(2), json!([1, 2.0]), Some(true)),
            (json!(3), json!([1, 2]), Some(false)),
            (json!("a"), json!([]), Some(false)),
            (json!("ell"), json!("hello"), None),
            (json!("a"), json!({"a": null}), None),
            (json!(1), json!(1), None),
            (json!(true), json!(true), None),
            (json!("a"), json!(null), None),
        ];
        for (needle, haystack, expected) in table {
            let expression = Expression::In(literal(needle.clone()), literal(haystack.clone()));
            assert_eq!(truth(&expression, &[]), expected, "{needle} in {haystack}");
            assert_eq!(truth(&Expression::Not(Box::new(expression)), &[]), expected.map(|truth| !truth), "{needle} not in {haystack}");
        }
    }

    #[test]
    fn operands_of_a_wrong_type_are_unknown_and_so_is_their_not() {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let values = [json!(1), json!("1"), json!(true), json!(null), json!([1]), json!({"a": 1})];
        let is_known = |expression: Expression| {
            let known = truth(&expression, &[]);
            let opposite = truth(&Expression::Not(Box::new(expression.clone())), &[]);
            assert_eq!(opposite, known.map(|known| !known), "{expression}");
            known.is_some()
        };
        for left in &values {
            let a = || literal(left.clone());
            let of_text = left.is_string();
            assert_eq!(is_known(Expression::And(a(), literal(json!(true)))), left.is_boolean(), "{left} and true");
            assert_eq!(is_known(Expression::Or(a(), literal(json!(false)))), left.is_boolean(), "{left} or false");
            assert_eq!(is_known(*a()), left.is_boolean(), "not {left}");
            assert_eq!(is_known(Expression::Matches(a(), Pattern::parse("1").unwrap())), of_text, "{left}.matches");
            let has_length = !left.is_number() && !left.is_boolean();
            let length = Expression::Compare(Equal, Box::new(Expression::Len(a())), literal(json!(1)));
            assert_eq!(is_known(length), has_length, "len({left})");
            for quantifier in [Quantifier::Any, Quantifier::All] {
                let each = Expression::Each(quantifier, a(), "x".into(), literal(json!(true)));
                assert_eq!(is_known(each), left.is_array(), "{left}.{}", quantifier.as_str());
            }
            for right in &values {
                let b = || literal(right.clone());
                let both = |of: fn(&Json) -> bool| of(left) && of(right);
                for comparison in [Equal, NotEqual] {
                    assert!(is_known(Expression::Compare(comparison, a(), b())), "{left} {} {right}", comparison.as_str());
                }
                for comparison in [Less, LessOrEqual, Greater, GreaterOrEqual] {
                    let ordered = both(Json::is_number) || both(Json::is_string);
                    assert_eq!(is_known(Expression::Compare(comparison, a(), b())), ordered, "{left} {} {right}", comparison.as_str());
                }
                assert_eq!(is_known(Expression::In(a(), b())), right.is_array(), "{left} in {right}");
                for test in [TextTest::StartsWith, TextTest::EndsWith, TextTest::Contains] {
                    assert_eq!(is_known(Expression::Text(test, a(), b())), both(Json::is_string), "{left}.{}({right})", test.as_str());
                }
            }
        }
    }

    #[test]
    fn conditions_on_the_elements_of_a_list() {
        let data =
            json!({"roles": ["clerk", "admin"], "mixed": [1, "x"], "none": [], "groups": [{"tags": ["a"]}, {"tags": ["b", "c"]}], "n": 2});
        let roots: &Roots<'_> = &[("d", &data)];
        let each = |quantifier, list: &str, condition| Expression::Each(quantifier, Box::new(path(list)), "x".into(), Box::new(condition));
        let is = |value: Json| Expression::Compare(Comparison::Equal, Box::new(path("x")), literal(value));
        let below = |value: Json| Expression::Compare(Comparison::Less, Box::new(path("x")), literal(value));
        use Quantifier::{All, Any};
        for (expression, shown, expected) in [
            (each(Any, "d.roles", is(json!("admin"))), r#"d.roles.exists(x, x == "admin")"#, Some(true)),
            (each(Any, "d.roles", is(json!("boss"))), r#"d.roles.exists(x, x == "boss")"#, Some(false)),
            (each(All, "d.roles", is(json!("admin"))), r#"d.roles.all(x, x == "admin")"#, Some(false)),
            (each(All, "d.none", is(json!("admin"))), r#"d.none.all(x, x == "admin")"#, Some(true)),
            (each(Any, "d.none", is(json!("admin"))), r#"d.none.exists(x, x == "admin")"#, Some(false)),
            // One that is unknown decides nothing, and the others can.
            (each(Any, "d.mixed", below(json!(2))), "d.mixed.exists(x, x < 2)", Some(true)),
            (each(All, "d.mixed", below(json!(2))), "d.mixed.all(x, x < 2)", None),
            (each(Any, "d.mixed", below(json!(0))), "d.mixed.exists(x, x < 0)", None),
            (each(All, "d.mixed", below(json!(0))), "d.mixed.all(x, x < 0)", Some(false)),
            (each(Any, "d.n", is(json!(2))), "d.n.exists(x, x == 2)", None),
            (each(Any, "d.absent", is(json!(2))), "d.absent.exists(x, x == 2)", None),
            (
                each(
                    Any,
                    "d.groups",
                    Expression::Each(
                        All,
                        Box::new(path("x.tags")),
                        "t".into(),
                        Box::new(Expression::In(Box::new(path("t")), literal(json!(["a"])))),
                    ),
                ),
                r#"d.groups.exists(x, x.tags.all(t, t in ["a"]))"#,
                Some(true),
            ),
        ] {
            assert_eq!((expression.to_string().as_str(), truth(&expression, roots)), (shown, expected));
        }
        let mut named = Vec::new();
        let condition = Expression::And(Box::new(is(json!(1))), Box::new(path("d.n")));
        each(Any, "d.roles", condition).paths(&mut |steps| named.push(steps.len()));
        assert_eq!(named, [2, 2], "paths that begin with the element are not shown");
    }

    #[test]
    fn an_evaluation_ends() {
        let numbers: Json = (0..4_000).collect::<Vec<_>>().into();
        let roots: &Roots<'_> = &[("a", &numbers)];
        let inner = |value: Json| {
            let is = Expression::Compare(Comparison::Equal, Box::new(path("y")), literal(value));
            Expression::Each(Quantifier::Any, Box::new(path("a")), "y".into(), Box::new(is))
        };
        let outer = |condition| Expression::Each(Quantifier::All, Box::new(path("a")), "x".into(), Box::new(condition));
        assert_eq!(truth(&outer(inner(json!(0))), roots), Some(true), "each finds it at once");
        let long = outer(inner(json!(-1)));
        assert_eq!(truth(&long, roots), Some(false), "the first one decides");
        let long = outer(Expression::Not(Box::new(inner(json!(-1)))));
        assert_eq!(truth(&long, roots), None, "16 million steps");
        for around in [Expression::Not(Box::new(long.clone())), Expression::Or(literal(json!(false)), Box::new(long.clone()))] {
            assert_eq!(truth(&around, roots), None, "{around}");
        }
        let is_null = Expression::Compare(Comparison::Equal, Box::new(long), literal(json!(null)));
        assert_eq!(truth(&is_null, roots), None, "it is not absent");
    }

    #[test]
    fn paths_lengths_and_logic() {
        let results = json!([{"total": 5, "name": "äöü", "none": null}]);
        let roots: &Roots<'_> = &[("results", &results)];
        assert_eq!(path("results.0.total").value(roots, &()).as_deref(), Some(&json!(5)));
        for nowhere in ["results.1.total", "results.total", "results.0.total.x", "results.0.0", "inputs", "results.0.none.x"] {
            assert_eq!(path(nowhere).value(roots, &()), None, "{nowhere}");
        }
        for (of, expected) in [("results", 1), ("results.0", 3), ("results.0.name", 3), ("results.0.none", 0), ("absent", 0)] {
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
        let truth = |expression: Expression| truth(&expression, roots);
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
            assert_eq!(truth(unknown.clone()), None, "{unknown}");
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
            assert_eq!((expression.to_string().as_str(), truth(&expression, roots)), (shown, Some(expected)));
        }
    }
}
