//! What an expression of JMESPath finds in a document.

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString as _},
    vec::Vec,
};
use core::cmp::Ordering;

use millrace_core::Json;

use super::syntax::{
    Comparison, Elements, Function,
    Function::{
        Contains, EndsWith, Join, Keys, Length, Map, Max, MaxBy, Merge, Min, MinBy, NotNull, Reverse, Sort, SortBy, StartsWith, Sum,
        ToArray, ToNumber, ToString, Type, Values,
    },
    Node,
};

type Found<'a> = Result<Cow<'a, Json>, String>;

/// What a part of an expression finds.
pub(super) fn node<'a>(expression: &Node, value: &'a Json) -> Found<'a> {
    Ok(match expression {
        Node::Current => Cow::Borrowed(value),
        Node::Field(name) => borrowed(value.as_object().and_then(|members| members.get(name))),
        Node::Index(index) => borrowed(value.as_array().and_then(|elements| elements.get(place(*index, elements.len())?))),
        Node::Slice { start, stop, step } => match value.as_array() {
            Some(elements) => Cow::Owned(slice(elements, *start, *stop, *step)),
            None => null(),
        },
        Node::Then(first, second) => on(node(first, value)?, |value| node(second, value))?,
        Node::Project(left, elements, each) => on(node(left, value)?, |value| projected(value, elements, each))?,
        // What is asked of null is null.
        Node::List(_) | Node::Members(_) if value.is_null() => null(),
        Node::List(nodes) => Cow::Owned(nodes.iter().map(|one| owned(one, value)).collect::<Result<Vec<_>, _>>()?.into()),
        Node::Members(members) => {
            let members = members.iter().map(|(name, one)| Ok((name.clone(), owned(one, value)?)));
            Cow::Owned(members.collect::<Result<Vec<_>, String>>()?.into_iter().collect())
        }
        Node::Or(first, second) => {
            let first = node(first, value)?;
            if is_true(&first) { first } else { node(second, value)? }
        }
        Node::And(first, second) => {
            let first = node(first, value)?;
            if is_true(&first) { node(second, value)? } else { first }
        }
        Node::Not(inner) => Cow::Owned(Json::Bool(!is_true(&*node(inner, value)?))),
        Node::Compare(comparison, left, right) => Cow::Owned(compared(*comparison, &*node(left, value)?, &*node(right, value)?)),
        Node::Literal(json) => Cow::Owned(json.clone()),
        Node::Call(function, arguments) => Cow::Owned(call(*function, arguments, value)?),
        Node::Reference(inner) => node(inner, value)?,
    })
}

fn owned(expression: &Node, value: &Json) -> Result<Json, String> {
    node(expression, value).map(Cow::into_owned)
}

/// Goes on from what was found.
fn on<'a>(found: Cow<'a, Json>, next: impl for<'n> FnOnce(&'n Json) -> Found<'n>) -> Found<'a> {
    match found {
        Cow::Borrowed(value) => next(value),
        Cow::Owned(value) => Ok(Cow::Owned(next(&value)?.into_owned())),
    }
}

fn borrowed(value: Option<&Json>) -> Cow<'_, Json> {
    value.map_or_else(null, Cow::Borrowed)
}

const fn null<'a>() -> Cow<'a, Json> {
    Cow::Owned(Json::Null)
}

/// The place of an index, which counts from the end where it is below 0.
fn place(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

/// As Python slices a list.
fn slice(elements: &[Json], start: Option<i64>, stop: Option<i64>, step: i64) -> Json {
    let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let (least, most) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let bound = |bound: i64| if bound < 0 { bound.saturating_add(length).max(least) } else { bound.min(most) };
    let mut at = start.map_or(if step > 0 { 0 } else { length - 1 }, bound);
    let stop = stop.map_or(if step > 0 { length } else { -1 }, bound);
    let mut sliced = Vec::new();
    while if step > 0 { at < stop } else { at > stop } {
        sliced.extend(usize::try_from(at).ok().and_then(|at| elements.get(at)).cloned());
        at = at.saturating_add(step);
    }
    sliced.into()
}

/// Null elements of a projection are left out.
fn projected<'a>(value: &'a Json, elements: &Elements, each: &Node) -> Found<'a> {
    let mut found = Vec::new();
    let mut keep = |element: &Json| -> Result<(), String> {
        found.extend(Some(owned(each, element)?).filter(|found| !found.is_null()));
        Ok(())
    };
    match (elements, value) {
        (Elements::OfObject, Json::Object(members)) => members.values().try_for_each(keep)?,
        (Elements::OfList, Json::Array(list)) => list.iter().try_for_each(keep)?,
        (Elements::OfListFlattened, Json::Array(list)) => {
            for element in list {
                match element {
                    Json::Array(inner) => inner.iter().try_for_each(&mut keep)?,
                    other => keep(other)?,
                }
            }
        }
        (Elements::Which(condition), Json::Array(list)) => {
            for element in list {
                if is_true(&*node(condition, element)?) {
                    keep(element)?;
                }
            }
        }
        _ => return Ok(null()),
    }
    Ok(Cow::Owned(found.into()))
}

fn is_true(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(truth) => *truth,
        Json::Number(_) => true,
        Json::String(text) => !text.is_empty(),
        Json::Array(elements) => !elements.is_empty(),
        Json::Object(members) => !members.is_empty(),
    }
}

pub(super) fn is_equal(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len() && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| is_equal(left, right)))
        }
        _ => left == right,
    }
}

/// What is no number is neither less nor greater.
fn compared(comparison: Comparison, left: &Json, right: &Json) -> Json {
    let ordered = |is: fn(Ordering) -> bool| match (left, right) {
        (Json::Number(_), Json::Number(_)) => order(left, right).map_or(Json::Null, |order| Json::Bool(is(order))),
        _ => Json::Null,
    };
    match comparison {
        Comparison::Equal => Json::Bool(is_equal(left, right)),
        Comparison::NotEqual => Json::Bool(!is_equal(left, right)),
        Comparison::Less => ordered(Ordering::is_lt),
        Comparison::LessOrEqual => ordered(Ordering::is_le),
        Comparison::Greater => ordered(Ordering::is_gt),
        Comparison::GreaterOrEqual => ordered(Ordering::is_ge),
    }
}

/// How two numbers or two texts are ordered; `None` of anything else.
fn order(left: &Json, right: &Json) -> Option<Ordering> {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        (Json::String(left), Json::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

const fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

fn call(function: Function, arguments: &[Node], value: &Json) -> Result<Json, String> {
    let mut given = Vec::new();
    for argument in arguments.iter().filter(|argument| !matches!(argument, Node::Reference(_))) {
        given.push(node(argument, value)?);
    }
    let reference = function.reference().and_then(|place| arguments.get(place));
    let unfit = |what: &Json| Err(format!("the function `{}` cannot take a value of type {}", function.name(), kind(what)));
    let (first, second) = match given.as_slice() {
        [first, second, ..] => (&**first, &**second),
        [first] => (&**first, &Json::Null),
        [] => return Ok(Json::Null),
    };
    Ok(match (function, first, second) {
        (Contains, Json::Array(elements), part) => Json::Bool(elements.iter().any(|element| is_equal(element, part))),
        (Contains, Json::String(text), part) => Json::Bool(part.as_str().is_some_and(|part| text.contains(part))),
        (EndsWith, Json::String(text), Json::String(end)) => Json::Bool(text.ends_with(end.as_str())),
        (StartsWith, Json::String(text), Json::String(start)) => Json::Bool(text.starts_with(start.as_str())),
        (Join, Json::String(between), Json::Array(texts)) => {
            let texts: Option<Vec<&str>> = texts.iter().map(Json::as_str).collect();
            match texts {
                Some(texts) => texts.join(between).into(),
                None => return unfit(second),
            }
        }
        (Keys, Json::Object(members), _) => members.keys().cloned().collect::<Vec<_>>().into(),
        (Values, Json::Object(members), _) => members.values().cloned().collect::<Vec<_>>().into(),
        (Length, Json::String(text), _) => text.chars().count().into(),
        (Length, Json::Array(elements), _) => elements.len().into(),
        (Length, Json::Object(members), _) => members.len().into(),
        (Map, Json::Array(elements), _) => each(reference, elements)?.into(),
        (Max | Min | Sort, Json::Array(elements), _) => {
            extreme(function, elements.iter().map(|element| (element, element.clone())).collect())?
        }
        (MaxBy | MinBy | SortBy, Json::Array(elements), _) => extreme(function, elements.iter().zip(each(reference, elements)?).collect())?,
        (Merge, ..) => {
            let mut merged = Vec::new();
            for object in &given {
                let Json::Object(members) = &**object else { return unfit(object) };
                merged.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            merged.into_iter().collect()
        }
        (NotNull, ..) => given.iter().find(|value| !value.is_null()).map_or(Json::Null, |value| value.clone().into_owned()),
        (Reverse, Json::Array(elements), _) => elements.iter().rev().cloned().collect::<Vec<_>>().into(),
        (Reverse, Json::String(text), _) => text.chars().rev().collect::<String>().into(),
        (Sum, Json::Array(elements), _) => sum(elements).ok_or_else(|| "the function `sum` takes numbers".to_string())?,
        (ToArray, Json::Array(_), _) => first.clone(),
        (ToArray, ..) => Json::Array(Vec::from([first.clone()])),
        (ToNumber, Json::Number(_), _) => first.clone(),
        (ToNumber, Json::String(text), _) => text.parse().ok().filter(Json::is_number).unwrap_or(Json::Null),
        (ToNumber, ..) => Json::Null,
        (ToString, Json::String(_), _) => first.clone(),
        (ToString, ..) => first.to_string().into(),
        (Type, ..) => kind(first).into(),
        _ => return unfit(first),
    })
}

/// What an expression finds in each element.
fn each(reference: Option<&Node>, elements: &[Json]) -> Result<Vec<Json>, String> {
    elements.iter().map(|element| owned(reference.unwrap_or(&Node::Current), element)).collect()
}

/// The greatest, the least, or all in order, by their keys: all of them numbers, or all texts.
fn extreme(function: Function, mut keyed: Vec<(&Json, Json)>) -> Result<Json, String> {
    let is_alike = keyed.iter().all(|(_, key)| keyed.first().is_some_and(|(_, first)| order(first, key).is_some()));
    if !is_alike {
        return Err(format!("the function `{}` takes either numbers or texts", function.name()));
    }
    keyed.sort_by(|(_, left), (_, right)| order(left, right).unwrap_or(Ordering::Equal));
    let found = match function {
        Sort | SortBy => return Ok(keyed.into_iter().map(|(element, _)| element.clone()).collect::<Vec<_>>().into()),
        Min | MinBy => keyed.first(),
        // Of several that are equal, the first.
        _ => keyed.last().and_then(|(_, greatest)| keyed.iter().find(|(_, key)| order(key, greatest) == Some(Ordering::Equal))),
    };
    Ok(found.map_or(Json::Null, |(element, _)| (*element).clone()))
}

/// An integer where all of them are.
fn sum(numbers: &[Json]) -> Option<Json> {
    let whole = numbers.iter().try_fold(0_i64, |sum, number| sum.checked_add(number.as_i64()?));
    match whole {
        Some(sum) => Some(sum.into()),
        None => numbers.iter().try_fold(0.0, |sum, number| Some(sum + number.as_f64()?)).map(Json::from),
    }
}
