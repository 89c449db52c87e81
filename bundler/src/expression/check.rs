//! Whether the operators of an expression fit their types. What never holds is a mistake.

use millrace_core::{
    Json,
    app::Literal,
    expression::{Expression, Quantifier},
};

use super::{nested::Nested, token::Token};
use crate::{Problem, Severity, names::meant, scope::ValueType};

/// The type of a literal. `null` can be compared with everything.
pub(super) fn literal(value: &Json) -> ValueType {
    match value {
        Json::Null => ValueType::Any,
        Json::Bool(_) => ValueType::Bool,
        Json::Number(_) => ValueType::Number,
        Json::String(_) => ValueType::Text,
        Json::Array(_) => ValueType::List(Box::new(ValueType::Any)),
        Json::Object(_) => ValueType::Object(Vec::new()),
    }
}

/// What must be true or false.
pub(super) fn condition(operand: &Nested) -> Option<Problem> {
    match &operand.value {
        ValueType::Bool | ValueType::Any | ValueType::Never(..) => None,
        other => {
            let noun = other.noun().unwrap_or("a result");
            Some(problem(operand, format!("{noun} is not a condition"), "compare it, or write `exists(…)`"))
        }
    }
}

/// The two sides of an operator.
pub(super) fn comparison(left: &Nested, operator: &Token, right: &Nested) -> Option<Problem> {
    let (a, b) = (left.value.noun(), right.value.noun());
    match operator {
        Token::Equal | Token::NotEqual => {
            if let Some(problem) = never(left, right).or_else(|| never(right, left)) {
                return Some(problem);
            }
            let (a, b) = (a?, b?);
            (a != b).then(|| both(left, right, format!("{a} is never equal to {b}")))
        }
        Token::Less | Token::LessOrEqual | Token::Greater | Token::GreaterOrEqual => {
            let ordered = |noun: Option<&str>| noun.is_none_or(|noun| matches!(noun, "a number" | "a string"));
            let fits = ordered(a) && ordered(b) && (a.is_none() || b.is_none() || a == b);
            (!fits).then(|| {
                let (a, b) = (a.unwrap_or("this value"), b.unwrap_or("this value"));
                both(left, right, format!("{a} and {b} have no order"))
            })
        }
        // `in`, `not in`
        _ => not_a_list(right).or_else(|| never(left, right)).or_else(|| {
            let ValueType::List(element) = &right.value else { return None };
            let (a, b) = (a?, element.noun()?);
            (a != b).then(|| both(left, right, format!("{a} is never in a list whose elements are each {b}")))
        }),
    }
}

/// What is on the right of `in`, and cannot be a list.
fn not_a_list(right: &Nested) -> Option<Problem> {
    let help = match &right.value {
        ValueType::Text | ValueType::Words(_) => {
            "`in` takes a list on its right; to look for a part of a string write `text.contains(part)`"
        }
        ValueType::Object(_) | ValueType::Open(_) => "`in` takes a list on its right; to ask for a member write `has(object.member)`",
        ValueType::Number | ValueType::Bool => "`in` takes a list on its right",
        _ => return None,
    };
    Some(problem(right, format!("nothing is in {}", right.value.noun().unwrap_or_default()), help))
}

/// What `exists` and `all` are called on.
pub(super) fn list(operand: &Nested, quantifier: Quantifier) -> Option<Problem> {
    match &operand.value {
        ValueType::List(_) | ValueType::Each(_) | ValueType::Any | ValueType::Written | ValueType::Never(..) => None,
        other => {
            let (noun, method) = (other.noun().unwrap_or("this value"), quantifier.as_str());
            let help = match quantifier {
                Quantifier::Any => "`exists` takes a list; to ask whether a value is there write `has(path)`",
                Quantifier::All => "`all` takes a list",
            };
            Some(problem(operand, format!("{noun} has no `{method}`"), help))
        }
    }
}

/// A value that the `enum` of the other side does not have.
fn never(side: &Nested, literal: &Nested) -> Option<Problem> {
    let ValueType::Words(words) = &side.value else { return None };
    let Expression::Literal(Literal(literal_value)) = &literal.expression else { return None };
    let wanted = match literal_value {
        Json::Array(elements) => elements.as_slice(),
        single => std::slice::from_ref(single),
    };
    let wrong = wanted.iter().filter_map(Json::as_str).find(|wanted| !words.iter().any(|word| word == wanted))?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Some(problem(literal, format!("the value is never `{wrong}`"), &meant(wrong, &words, "Its `enum` has")))
}

/// What a method of strings is called on, or gets.
pub(super) fn text(operand: &Nested) -> Option<Problem> {
    match &operand.value {
        ValueType::Text | ValueType::Words(_) | ValueType::Any | ValueType::Never(..) => None,
        other => {
            let noun = other.noun().unwrap_or("a result");
            Some(problem(
                operand,
                format!("{noun} is not a string"),
                "`startsWith`, `endsWith`, `contains` and `matches` take strings; for a list write `x in list`",
            ))
        }
    }
}

/// What `len(…)` counts.
pub(super) fn length(operand: &Nested) -> Option<Problem> {
    match operand.value {
        ValueType::Number | ValueType::Bool => {
            let noun = operand.value.noun().unwrap_or_default();
            Some(problem(operand, format!("{noun} has no length"), "`len` takes a list, a string or an object"))
        }
        _ => None,
    }
}

fn both(left: &Nested, right: &Nested, message: String) -> Problem {
    Problem {
        severity: Severity::Error,
        range: left.range.start..right.range.end,
        message,
        help: Some("compare values of one type".into()),
    }
}

fn problem(operand: &Nested, message: String, help: &str) -> Problem {
    Problem { severity: Severity::Error, range: operand.range.clone(), message, help: Some(help.to_owned()) }
}
