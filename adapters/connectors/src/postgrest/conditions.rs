//! Conditions → the parameters of a URL that restrict a request.
//!
//! A condition on its own is a parameter, `name=eq.x`, whose value ends where the parameter does.
//! Within `or=(…)`, and where a column is called as a parameter of PostgREST's is, each value is in
//! quotes: there no character of it has a meaning. Conditions of their own are more than shorter:
//! PostgREST 12 looks at a list of conditions again when a change has been made, at the values that
//! it has written.
//!
//! A value that is null matches nothing, as in SQL, whether the condition is negated or not. So
//! that this holds within `not`, too, negations are carried to the conditions themselves: what is
//! neither true nor false for SQL is false there, and nothing turns it round.

use std::collections::VecDeque;

use millrace_core::{Error, ErrorKind, Json, Result, ports::Node, value::Value};
use millrace_languages::postgrest::{Operand, embedded, is_reserved, operator};

use super::value::{array_of, elements_of, quoted, text_of};
use crate::documents::unfit;

/// A condition, or several of them.
enum Condition<'a> {
    One {
        column: &'a str,
        /// With `not.` before it where it is negated.
        operator: String,
        operand: Written,
    },
    /// All of these, or one of them.
    Group { is_any: bool, conditions: Vec<Self> },
}

/// What stands beside an operator.
enum Written {
    /// A value, which is in quotes within a list.
    Value(String),
    /// What is the same everywhere: `null`, or a list that has quotes.
    Fixed(String),
}

impl Condition<'_> {
    fn listed(&self) -> String {
        match self {
            Self::One { column, operator, operand: Written::Value(text) } => format!("{column}.{operator}.{}", quoted(text)),
            Self::One { column, operator, operand: Written::Fixed(text) } => format!("{column}.{operator}.{text}"),
            Self::Group { is_any, conditions } => format!("{}{}", if *is_any { "or" } else { "and" }, list(conditions)),
        }
    }

    /// The parameter of a condition on its own. `way` is that to related rows, with a dot at its
    /// end.
    fn parameter(&self, way: &str) -> (String, String) {
        match self {
            Self::One { column, operator, operand: Written::Value(text) | Written::Fixed(text) } if !is_reserved(column) => {
                (format!("{way}{column}"), format!("{operator}.{text}"))
            }
            Self::One { .. } => (format!("{way}and"), list(std::slice::from_ref(self))),
            Self::Group { is_any, conditions } => (format!("{way}{}", if *is_any { "or" } else { "and" }), list(conditions)),
        }
    }
}

fn list(conditions: &[Condition<'_>]) -> String {
    format!("({})", conditions.iter().map(Condition::listed).collect::<Vec<_>>().join(","))
}

/// The parameters, each a name and a value without percent codes.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for a value that cannot stand where it does.
pub(super) fn parameters(node: &Node) -> Result<Vec<(String, String)>> {
    let mut parameters = Vec::new();
    for (key, node) in members(node)? {
        let (way, conditions) = match embedded(key) {
            Some((way, column)) => (format!("{way}."), operators(column, node, false)?),
            None => (String::new(), member(key, node, false)?),
        };
        let mut conditions: VecDeque<Condition<'_>> = conditions.into();
        while let Some(condition) = conditions.pop_front() {
            match condition {
                // They hold among others that do.
                Condition::Group { is_any: false, conditions: inner } => inner.into_iter().rev().for_each(|one| conditions.push_front(one)),
                condition => parameters.push(condition.parameter(&way)),
            }
        }
    }
    Ok(parameters)
}

/// The conditions of a map: all of them hold, or, negated, one of them.
fn all(node: &Node, negated: bool) -> Result<Vec<Condition<'_>>> {
    let mut conditions = Vec::new();
    for (key, node) in members(node)? {
        conditions.extend(member(key, node, negated)?);
    }
    Ok(conditions)
}

fn member<'a>(key: &'a str, node: &'a Node, negated: bool) -> Result<Vec<Condition<'a>>> {
    match (key, node) {
        ("and" | "or", Node::List(elements)) => {
            let mut groups = Vec::new();
            for element in elements {
                groups.extend(joined(all(element, negated)?, negated, negated != (key == "or")));
            }
            // Negated, `and` becomes `or`, and that is how the conditions around it are joined.
            Ok(if key == "and" { groups } else { joined(groups, !negated, negated) })
        }
        ("not", node) => Ok(joined(all(node, !negated)?, !negated, negated)),
        (column, node) => operators(column, node, negated),
    }
}

/// Conditions of which all hold, or one, among others that are joined in their way.
fn joined(conditions: Vec<Condition<'_>>, is_any: bool, among_any: bool) -> Vec<Condition<'_>> {
    if conditions.len() == 1 || is_any == among_any { conditions } else { vec![Condition::Group { is_any, conditions }] }
}

fn operators<'a>(column: &'a str, node: &'a Node, negated: bool) -> Result<Vec<Condition<'a>>> {
    let mut conditions = Vec::new();
    for (name, node) in members(node)? {
        match name.as_str() {
            "not" => conditions.extend(joined(operators(column, node, !negated)?, !negated, negated)),
            name => match condition(column, name, node, negated)? {
                Some(condition) => conditions.push(condition),
                None => conditions.extend(joined(never(column), false, negated)),
            },
        }
    }
    Ok(conditions)
}

/// One condition; nothing for one that is true of no row.
fn condition<'a>(column: &'a str, name: &str, node: &Node, negated: bool) -> Result<Option<Condition<'a>>> {
    let operator = operator(name).ok_or_else(damaged)?;
    let written = |name: &str, operand| {
        let operator = if negated { format!("not.{name}") } else { name.to_owned() };
        Some(Condition::One { column, operator, operand })
    };
    let of_text = |text: Option<String>| text.and_then(|text| written(operator.name, Written::Value(text)));
    let fixed = |name: &str, text: &str| written(name, Written::Fixed(text.to_owned()));
    Ok(match operator.operand {
        Operand::Truth => match node {
            Node::Value(Value::Null | Value::Json(Json::Null)) => fixed("is", "null"),
            Node::Value(Value::Bool(truth) | Value::Json(Json::Bool(truth))) => fixed("is", if *truth { "true" } else { "false" }),
            Node::Value(Value::Text(text)) if text == "unknown" => fixed("is", "unknown"),
            _ => return Err(unfit("a value beside `is` is neither true, false nor null")),
        },
        Operand::One => match node {
            Node::Value(value) => of_text(text_of(value)?),
            Node::Members(_) | Node::List(_) => return Err(damaged()),
        },
        Operand::Elements => of_text(array_of(node)?),
        Operand::List => {
            let Some(elements) = elements_of(node)? else { return Ok(None) };
            // What is compared with null is never true, so that nothing is outside of a list with a
            // null.
            if negated && elements.contains(&None) {
                return Ok(None);
            }
            let mut texts: Vec<String> = elements.into_iter().flatten().collect();
            match (texts.len(), texts.pop()) {
                (_, None) if negated => fixed("in", "()"),
                (_, None) => None,
                // PostgREST takes a list of one empty text for an empty list.
                (1, Some(text)) => written("eq", Written::Value(text)),
                (_, Some(last)) => {
                    texts.push(last);
                    fixed("in", &format!("({})", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(",")))
                }
            }
        }
    })
}

/// What together is true of no row, whatever the type of the column.
fn never(column: &str) -> Vec<Condition<'_>> {
    let is = |operator: &str| Condition::One { column, operator: operator.to_owned(), operand: Written::Fixed("null".to_owned()) };
    vec![is("is"), is("not.is")]
}

fn members(node: &Node) -> Result<&[(String, Node)]> {
    if let Node::Members(members) = node { Ok(members) } else { Err(damaged()) }
}

/// What the judge lets through has another form.
pub(super) fn damaged() -> Error {
    Error::new(ErrorKind::Configuration, "the request has a part that no request has; build the app again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: &Json) -> Node {
        match json {
            Json::Object(members) => Node::Members(members.iter().map(|(key, value)| (key.clone(), node(value))).collect()),
            Json::Array(elements) => Node::List(elements.iter().map(node).collect()),
            other => Node::Value(crate::documents::literal(other.clone())),
        }
    }

    fn written(json: &Json) -> String {
        let parameters = parameters(&node(json)).unwrap();
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" & ")
    }

    #[test]
    fn conditions_are_parameters_and_lists_have_quotes() {
        use serde_json::json;
        for (json, expected) in [
            (json!({"a": {"eq": "x"}}), "a=eq.x"),
            (json!({"a": {"gte": 1, "lt": 2.5}, "b": {"is": null}}), "a=gte.1 & a=lt.2.5 & b=is.null"),
            (json!({"a": {"eq": "\",b.eq.\\"}}), "a=eq.\",b.eq.\\"),
            (json!({"a": {"in": ["x", "), y", ""]}}), r#"a=in.("x","), y","")"#),
            (json!({"a": {"in": [""]}}), "a=eq."),
            (json!({"a": {"not": {"in": ["x"]}}}), "a=not.eq.x"),
            (json!({"a": {"cs": ["x", "\""]}}), r#"a=cs.{"x","\""}"#),
            (json!({"a": {"cs": {"k": [1, "}"]}}}), r#"a=cs.{"k":[1,"}"]}"#),
            (json!({"a": {"fts(english)": "x"}}), "a=fts(english).x"),
            // In a list, each value is in quotes.
            (json!({"order": {"eq": "a,b"}}), r#"and=(order.eq."a,b")"#),
            (json!({"or": [{"a": {"cs": ["\""]}}]}), r#"a=cs.{"\""}"#),
            (
                json!({"or": [{"a": {"eq": "\",b.eq.\\"}}, {"b": {"in": ["x", ")"]}, "c": {"is": true}}]}),
                r#"or=(a.eq."\",b.eq.\\",and(b.in.("x",")"),c.is.true))"#,
            ),
            (json!({"or": [{"a": {"cs": ["\""]}}, {"b": {"eq": ""}}]}), r#"or=(a.cs."{\"\\\"\"}",b.eq."")"#),
            (json!({"and": [{"a": {"eq": 1}}, {"b": {"eq": 2}}]}), "a=eq.1 & b=eq.2"),
            (json!({"t.a": {"eq": 1}, "b": {"eq": 2}, "t.order": {"eq": 3}}), r#"t.a=eq.1 & b=eq.2 & t.and=(order.eq."3")"#),
            // Negations are at the conditions.
            (json!({"not": {"a": {"eq": 1}, "b": {"eq": 2}}}), r#"or=(a.not.eq."1",b.not.eq."2")"#),
            (json!({"not": {"or": [{"a": {"eq": 1}}, {"b": {"not": {"eq": 2}}}]}}), "a=not.eq.1 & b=eq.2"),
            (json!({"not": {"and": [{"a": {"eq": 1}}, {"b": {"eq": 2}}]}}), r#"or=(a.not.eq."1",b.not.eq."2")"#),
            (
                json!({"not": {"or": [{"a": {"eq": 1}, "b": {"eq": 2}}, {"c": {"eq": 3}}]}}),
                r#"or=(a.not.eq."1",b.not.eq."2") & c=not.eq.3"#,
            ),
            (
                json!({"or": [{"not": {"or": [{"a": {"eq": 1}}, {"b": {"eq": 2}}]}}, {"c": {"eq": 3}}]}),
                r#"or=(and(a.not.eq."1",b.not.eq."2"),c.eq."3")"#,
            ),
            (json!({"a": {"not": {"gt": 1, "lt": 0}}}), r#"or=(a.not.gt."1",a.not.lt."0")"#),
            (json!({"not": {"not": {"a": {"eq": 1}}}}), "a=eq.1"),
        ] {
            assert_eq!(written(&json), expected, "{json}");
        }
    }

    #[test]
    fn null_matches_nothing_and_no_negation_turns_that_round() {
        use serde_json::json;
        let never = "a=is.null & a=not.is.null";
        for (json, expected) in [
            (json!({"a": {"eq": null}}), never),
            (json!({"a": {"not": {"eq": null}}}), never),
            (json!({"not": {"a": {"eq": null}}}), never),
            (json!({"not": {"a": {"gt": null}, "b": {"eq": 1}}}), r#"or=(and(a.is.null,a.not.is.null),b.not.eq."1")"#),
            (json!({"or": [{"a": {"gt": null}}, {"b": {"eq": 1}}]}), r#"or=(and(a.is.null,a.not.is.null),b.eq."1")"#),
            (json!({"a": {"not": {"gt": null, "lt": 1}}}), r#"or=(and(a.is.null,a.not.is.null),a.not.lt."1")"#),
            (json!({"a": {"in": null}}), never),
            (json!({"a": {"not": {"in": null}}}), never),
            (json!({"a": {"in": []}}), never),
            (json!({"a": {"in": [null, 1]}}), "a=eq.1"),
            (json!({"a": {"not": {"in": [null, 1]}}}), never),
            (json!({"a": {"not": {"in": []}}}), "a=not.in.()"),
            (json!({"a": {"cs": null}}), never),
            (json!({"a": {"not": {"is": null}}}), "a=not.is.null"),
        ] {
            assert_eq!(written(&json), expected, "{json}");
        }
    }
}
