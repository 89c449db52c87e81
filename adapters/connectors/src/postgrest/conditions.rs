//! Conditions → the parameters of a URL that restrict a request.
//!
//! Each value is in quotes, in a list that begins with `and=(`: there no character of it has a meaning, and no column's name is taken for a parameter.
//!
//! A value that is null matches nothing, as in SQL, whether the condition is negated or not. So that this holds within `not`, too, negations are carried to
//! the conditions themselves: what is neither true nor false for SQL is false there, and nothing turns it round.

use millrace_catalogue::postgrest::{Operand, embedded, operator};
use millrace_core::{Error, ErrorKind, Json, Result, ports::Node, value::Value};

use super::value::{array_of, elements_of, quoted, text_of, unfit};

/// The parameters, each a name and a value without percent codes.
///
/// # Errors
/// [`Constraint`](ErrorKind::Constraint) for a value that cannot stand where it does.
pub(super) fn parameters(node: &Node) -> Result<Vec<(String, String)>> {
    let mut lists: Vec<(String, Vec<String>)> = Vec::new();
    for (key, node) in members(node)? {
        let (way, conditions) = match embedded(key).filter(|_| !is_word(key)) {
            Some((way, column)) => (format!("{way}.and"), operators(column, node, false)?),
            None => ("and".to_owned(), member(key, node, false)?),
        };
        match lists.iter_mut().find(|(known, _)| *known == way) {
            Some((_, list)) => list.extend(conditions),
            None => lists.push((way, conditions)),
        }
    }
    Ok(lists.into_iter().map(|(way, list)| (way, format!("({})", list.join(",")))).collect())
}

fn is_word(key: &str) -> bool {
    matches!(key, "and" | "or" | "not")
}

/// The conditions of a map: all of them hold, or, negated, one of them.
fn all(node: &Node, negated: bool) -> Result<Vec<String>> {
    let mut conditions = Vec::new();
    for (key, node) in members(node)? {
        conditions.extend(member(key, node, negated)?);
    }
    Ok(conditions)
}

fn member(key: &str, node: &Node, negated: bool) -> Result<Vec<String>> {
    match (key, node) {
        ("and" | "or", Node::List(elements)) => {
            let mut groups = Vec::new();
            for element in elements {
                groups.push(joined(all(element, negated)?, negated));
            }
            // Negated, `and` becomes `or`, and that is how the conditions around it are joined.
            Ok(if key == "and" { groups } else { vec![joined(groups, !negated)] })
        }
        ("not", node) => Ok(vec![joined(all(node, !negated)?, !negated)]),
        (column, node) => operators(column, node, negated),
    }
}

/// Conditions as one: all of them hold, or one of them.
fn joined(mut conditions: Vec<String>, is_any: bool) -> String {
    match (conditions.len(), conditions.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            conditions.extend(last);
            format!("{}({})", if is_any { "or" } else { "and" }, conditions.join(","))
        }
    }
}

fn operators(column: &str, node: &Node, negated: bool) -> Result<Vec<String>> {
    let mut conditions = Vec::new();
    for (name, node) in members(node)? {
        conditions.push(match name.as_str() {
            "not" => joined(operators(column, node, !negated)?, !negated),
            name => condition(column, name, node, negated)?,
        });
    }
    Ok(conditions)
}

fn condition(column: &str, name: &str, node: &Node, negated: bool) -> Result<String> {
    let operator = operator(name).ok_or_else(damaged)?;
    let not = if negated { "not." } else { "" };
    let written = |name: &str, value: &str| format!("{column}.{not}{name}.{value}");
    let of_text = |text: Option<String>| text.map_or_else(|| never(column), |text| written(operator.name, &quoted(&text)));
    Ok(match operator.operand {
        Operand::Truth => match node {
            Node::Value(Value::Null | Value::Json(Json::Null)) => written("is", "null"),
            Node::Value(Value::Bool(truth) | Value::Json(Json::Bool(truth))) => written("is", if *truth { "true" } else { "false" }),
            Node::Value(Value::Text(text)) if text == "unknown" => written("is", "unknown"),
            _ => return Err(unfit("a value beside `is` is neither true, false nor null")),
        },
        Operand::One => match node {
            Node::Value(value) => of_text(text_of(value)?),
            Node::Members(_) | Node::List(_) => return Err(damaged()),
        },
        Operand::Elements => of_text(array_of(node)?),
        Operand::List => {
            let Some(elements) = elements_of(node)? else { return Ok(never(column)) };
            // What is compared with null is never true, so that nothing is outside of a list with a null.
            if negated && elements.contains(&None) {
                return Ok(never(column));
            }
            let texts: Vec<String> = elements.into_iter().flatten().map(|text| quoted(&text)).collect();
            match texts.as_slice() {
                [] if negated => format!("or({column}.is.null,{column}.not.is.null)"),
                [] => never(column),
                // PostgREST takes a list of one empty text for an empty list.
                [text] => written("eq", text),
                texts => written("in", &format!("({})", texts.join(","))),
            }
        }
    })
}

/// What is true of no row, whatever the type of the column.
fn never(column: &str) -> String {
    format!("and({column}.is.null,{column}.not.is.null)")
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
    fn conditions_are_lists_of_quoted_values() {
        use serde_json::json;
        for (json, expected) in [
            (json!({"a": {"eq": "x"}}), r#"and=(a.eq."x")"#),
            (json!({"a": {"gte": 1, "lt": 2.5}, "b": {"is": null}}), r#"and=(a.gte."1",a.lt."2.5",b.is.null)"#),
            (json!({"a": {"eq": "\",b.eq.\\"}}), r#"and=(a.eq."\",b.eq.\\")"#),
            (json!({"a": {"in": ["x", "), y", ""]}}), r#"and=(a.in.("x","), y",""))"#),
            (json!({"a": {"in": [""]}}), r#"and=(a.eq."")"#),
            (json!({"a": {"not": {"in": ["x"]}}}), r#"and=(a.not.eq."x")"#),
            (json!({"a": {"cs": ["x", "\""]}}), r#"and=(a.cs."{\"x\",\"\\\"\"}")"#),
            (json!({"a": {"cs": {"k": [1, "}"]}}}), r#"and=(a.cs."{\"k\":[1,\"}\"]}")"#),
            (json!({"a": {"fts(english)": "x"}}), r#"and=(a.fts(english)."x")"#),
            (json!({"or": [{"a": {"eq": 1}}, {"b": {"eq": 2}, "c": {"is": true}}]}), r#"and=(or(a.eq."1",and(b.eq."2",c.is.true)))"#),
            (json!({"and": [{"a": {"eq": 1}}, {"b": {"eq": 2}}]}), r#"and=(a.eq."1",b.eq."2")"#),
            (json!({"t.a": {"eq": 1}, "b": {"eq": 2}, "t.c": {"eq": 3}}), r#"t.and=(a.eq."1",c.eq."3") & and=(b.eq."2")"#),
            // Negations are at the conditions.
            (json!({"not": {"a": {"eq": 1}, "b": {"eq": 2}}}), r#"and=(or(a.not.eq."1",b.not.eq."2"))"#),
            (json!({"not": {"or": [{"a": {"eq": 1}}, {"b": {"not": {"eq": 2}}}]}}), r#"and=(and(a.not.eq."1",b.eq."2"))"#),
            (json!({"not": {"and": [{"a": {"eq": 1}}, {"b": {"eq": 2}}]}}), r#"and=(or(a.not.eq."1",b.not.eq."2"))"#),
            (json!({"a": {"not": {"gt": 1, "lt": 0}}}), r#"and=(or(a.not.gt."1",a.not.lt."0"))"#),
            (json!({"not": {"not": {"a": {"eq": 1}}}}), r#"and=(a.eq."1")"#),
        ] {
            assert_eq!(written(&json), expected, "{json}");
        }
    }

    #[test]
    fn null_matches_nothing_and_no_negation_turns_that_round() {
        use serde_json::json;
        let never = "and(a.is.null,a.not.is.null)";
        for (json, expected) in [
            (json!({"a": {"eq": null}}), format!("and=({never})")),
            (json!({"a": {"not": {"eq": null}}}), format!("and=({never})")),
            (json!({"not": {"a": {"eq": null}}}), format!("and=({never})")),
            (json!({"not": {"a": {"gt": null}, "b": {"eq": 1}}}), format!("and=(or({never},b.not.eq.\"1\"))")),
            (json!({"a": {"in": null}}), format!("and=({never})")),
            (json!({"a": {"not": {"in": null}}}), format!("and=({never})")),
            (json!({"a": {"in": []}}), format!("and=({never})")),
            (json!({"a": {"in": [null, 1]}}), "and=(a.eq.\"1\")".to_owned()),
            (json!({"a": {"not": {"in": [null, 1]}}}), format!("and=({never})")),
            (json!({"a": {"not": {"in": []}}}), "and=(or(a.is.null,a.not.is.null))".to_owned()),
            (json!({"a": {"cs": null}}), format!("and=({never})")),
            (json!({"a": {"not": {"is": null}}}), "and=(a.not.is.null)".to_owned()),
        ] {
            assert_eq!(written(&json), expected, "{json}");
        }
    }
}
