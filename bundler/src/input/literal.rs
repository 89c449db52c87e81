//! Values that an author writes for an input: defaults, allowed values, examples.

use millrace_core::{
    app::{Input, InputKind},
    formats::{is_date, is_datetime, is_uuid},
};
use serde_json::Value;

use crate::yaml::{Data, Node};

/// The greatest whole number that JSON carries without loss.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// A value of an app of Hyperterse, where every default is text: read as the type where it can be.
pub(super) fn coerced(node: &Node, kind: InputKind) -> Value {
    let Data::Text(text) = &node.data else {
        return match (kind, node.json()) {
            (InputKind::String | InputKind::Datetime, value @ (Value::Number(_) | Value::Bool(_))) => value.to_string().into(),
            (_, value) => value,
        };
    };
    let parsed = match kind {
        InputKind::Int => text.parse::<i64>().ok().map(Value::from),
        InputKind::Float => text.parse::<f64>().ok().map(Value::from),
        InputKind::Boolean => match text.as_str() {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true.into()),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false.into()),
            _ => None,
        },
        _ => None,
    };
    parsed.unwrap_or_else(|| text.as_str().into())
}

/// Whether a value fits an input; else what is wrong, and how to mend it.
pub(super) fn check(value: &Value, input: &Input, path: &str) -> Result<(), (String, String)> {
    if value.is_null() && input.nullable {
        return Ok(());
    }
    if !has_kind(value, input.kind) {
        let message = format!("`{path}` does not have the type `{}`", input.kind.as_str());
        return Err((message, expected(input.kind).to_owned()));
    }
    if !input.allowed.is_empty() && !input.allowed.iter().any(|allowed| allowed.0 == *value) {
        let allowed: Vec<String> = input.allowed.iter().map(|allowed| format!("`{}`", allowed.0)).collect();
        return Err((format!("`{path}` is not one of the values of `enum`"), format!("They are {}.", allowed.join(", "))));
    }
    if let Some(amount) = amount(value) {
        if input.min.is_some_and(|min| amount < min) {
            return Err((format!("`{path}` is below `min`"), String::new()));
        }
        if input.max.is_some_and(|max| amount > max) {
            return Err((format!("`{path}` is above `max`"), String::new()));
        }
    }
    if let (Some(pattern), Some(text)) = (&input.pattern, value.as_str())
        && pattern.matcher().is_ok_and(|matcher| !matcher.matches(text))
    {
        return Err((format!("`{path}` does not match `pattern`"), String::new()));
    }
    if let (Some(item), Some(values)) = (&input.items, value.as_array()) {
        for (index, value) in values.iter().enumerate() {
            check(value, item, &format!("{path}[{index}]"))?;
        }
    }
    if let (false, Some(members)) = (input.fields.is_empty(), value.as_object()) {
        for name in members.keys() {
            if !input.fields.iter().any(|field| field.name == *name) {
                return Err((format!("`{path}.{name}` is not one of its fields"), "Remove it, or declare it under `fields`.".into()));
            }
        }
        for field in &input.fields {
            match members.get(&field.name) {
                Some(value) => check(value, field, &format!("{path}.{}", field.name))?,
                None if field.optional || field.default.is_some() => {}
                None => return Err((format!("`{path}.{}` is missing", field.name), String::new())),
            }
        }
    }
    Ok(())
}

/// The value as the pipeline has it: a whole number of a `float` is a float, also inside of lists
/// and maps.
pub(super) fn normal(value: Value, input: &Input) -> Value {
    match (input.kind, value) {
        (InputKind::Float, Value::Number(number)) => number.as_f64().map_or(Value::Null, Value::from),
        (InputKind::Array, Value::Array(values)) => match &input.items {
            Some(item) => values.into_iter().map(|value| normal(value, item)).collect(),
            None => values.into(),
        },
        (InputKind::Object, Value::Object(members)) => {
            let typed = |(name, value): (String, Value)| match input.fields.iter().find(|field| field.name == name) {
                Some(field) => (name, normal(value, field)),
                None => (name, value),
            };
            Value::Object(members.into_iter().map(typed).collect())
        }
        (_, value) => value,
    }
}

/// What `min` and `max` are about.
#[allow(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
fn amount(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => Some(text.chars().count() as f64),
        Value::Array(items) => Some(items.len() as f64),
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

fn has_kind(value: &Value, kind: InputKind) -> bool {
    let text = |fits: fn(&str) -> bool| value.as_str().is_some_and(fits);
    match kind {
        InputKind::String => value.is_string(),
        InputKind::Int => value.as_i64().is_some_and(|number| (-MAX_SAFE..=MAX_SAFE).contains(&number)),
        InputKind::Float => value.as_f64().is_some(),
        InputKind::Boolean => value.is_boolean(),
        InputKind::Datetime => text(is_datetime),
        InputKind::Date => text(is_date),
        InputKind::Uuid => text(is_uuid),
        InputKind::Array => value.is_array(),
        InputKind::Object => value.is_object(),
        InputKind::Json => true,
    }
}

fn expected(kind: InputKind) -> &'static str {
    match kind {
        InputKind::String => "It takes text; put it between quotes.",
        InputKind::Int => "It takes a whole number of at most 2^53 - 1.",
        InputKind::Float => "It takes a number.",
        InputKind::Boolean => "It takes `true` or `false`.",
        InputKind::Datetime => "It takes a time such as `2025-03-01T12:00:00Z`, `2025-03-01 12:00:00` or `2025-03-01`.",
        InputKind::Date => "It takes a day such as `2025-03-01`.",
        InputKind::Uuid => "It takes a UUID such as `6ba7b810-9dad-11d1-80b4-00c04fd430c8`.",
        InputKind::Array => "It takes a list.",
        InputKind::Object => "It takes a map.",
        InputKind::Json => "",
    }
}
