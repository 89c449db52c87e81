//! Parameters as inputs.

use millrace_core::Json;
use serde_json::Map;

use super::config::{scalar, texts};
use crate::commands::new::from::yaml;

/// A parameter of a tool.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) kind: InputType,
    /// Where its value is: `inputs.id`, `auth.claims.email`.
    pub(super) path: String,
    /// The line of the input; `None` where a caller does not send it.
    pub(super) input: Option<String>,
    /// All values that it, or an element of it, can have.
    pub(super) options: Option<Vec<String>>,
    /// The quotes that Toolbox puts around it in a template.
    pub(super) escape: Option<String>,
    /// The authentication services that know its value; empty for one that a caller sends.
    pub(super) services: Vec<String>,
    /// The condition that a value must meet.
    pub(super) condition: Option<String>,
}

/// The type of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputType {
    String,
    Int,
    Float,
    Boolean,
    Array,
    Object,
}

impl InputType {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "integer" => Self::Int,
            "float" => Self::Float,
            "boolean" => Self::Boolean,
            "array" => Self::Array,
            "map" => Self::Object,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// The parameters of a list.
///
/// # Errors
/// What an app cannot have of them.
pub(super) fn read(list: Option<&Json>) -> Result<Vec<Parameter>, String> {
    let list = list.and_then(Json::as_array).into_iter().flatten();
    let mut parameters: Vec<Parameter> = Vec::new();
    for item in list {
        let parameter = item.as_object().ok_or_else(|| "a parameter is not a map".to_owned()).and_then(of)?;
        parameters.push(parameter);
    }
    // The value of another one, of which there is an input already.
    let paths: Vec<(String, String)> = parameters.iter().map(|one| (one.name.clone(), one.path.clone())).collect();
    for parameter in &mut parameters {
        if let Some(other) = parameter.path.strip_prefix('=') {
            let known = paths.iter().find(|(name, _)| name == other);
            parameter.path = known.map(|(_, path)| path.clone()).ok_or_else(|| format!("it has no parameter `{other}`"))?;
        }
    }
    Ok(parameters)
}

fn of(body: &Map<String, Json>) -> Result<Parameter, String> {
    let name = body.get("name").and_then(Json::as_str).unwrap_or_default();
    let wrong = |why: String| format!("its parameter `{name}` {why}");
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if !is_name {
        return Err(wrong("has a name that an input cannot have".to_owned()));
    }
    let written = body.get("type").and_then(Json::as_str).unwrap_or_default();
    let kind = InputType::of(written).ok_or_else(|| wrong(format!("has the type `{written}`, which is not known")))?;
    for (key, why) in [("secure", "is sent beside the arguments, which no other server reads"), ("embeddedBy", "is embedded by a model")] {
        if body.get(key).is_some_and(|value| *value != Json::Bool(false) && !value.is_null()) {
            return Err(wrong(why.to_owned()));
        }
    }
    let element = body.get("items").and_then(Json::as_object).filter(|_| kind == InputType::Array);
    let options = options(element.unwrap_or(body), element.map_or(Some(kind), type_of)).map_err(wrong)?;
    let (path, services) = place(name, body).map_err(wrong)?;
    let is_sent = services.is_empty() && !path.starts_with('=');
    let escape = element.unwrap_or(body).get("escape").and_then(Json::as_str).map(str::to_owned);
    Ok(Parameter {
        name: name.to_owned(),
        kind,
        input: is_sent.then(|| format!("{name}: {}", input(body, kind))),
        condition: if is_sent { condition(name, kind, body).map_err(wrong)? } else { None },
        path,
        options,
        escape,
        services,
    })
}

fn type_of(body: &Map<String, Json>) -> Option<InputType> {
    InputType::of(body.get("type").and_then(Json::as_str).unwrap_or_default())
}

/// Where a value comes from, and the services that know it. `=name` is the value of another
/// parameter.
fn place(name: &str, body: &Map<String, Json>) -> Result<(String, Vec<String>), String> {
    if let Some(other) = body.get("valueFromParam").and_then(Json::as_str) {
        return Ok((format!("={other}"), Vec::new()));
    }
    let listed = ["authServices", "authSources"].iter().find_map(|key| body.get(*key)).and_then(Json::as_array);
    let Some(listed) = listed.filter(|listed| !listed.is_empty()) else { return Ok((format!("inputs.{name}"), Vec::new())) };
    let of = |key: &str| listed.iter().filter_map(|service| service[key].as_str()).collect::<Vec<_>>();
    let (services, fields) = (of("name"), of("field"));
    let [field, others @ ..] = fields.as_slice() else { return Err("names no field of its token".to_owned()) };
    let is_name = field.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if others.iter().any(|other| other != field) || !is_name {
        return Err("has different fields of its tokens, or one whose name is not supported".to_owned());
    }
    let path = if *field == "sub" { "auth.subject".to_owned() } else { format!("auth.claims.{field}") };
    Ok((path, services.into_iter().map(str::to_owned).collect()))
}

/// The only values that are allowed, unless they are patterns.
fn options(body: &Map<String, Json>, kind: Option<InputType>) -> Result<Option<Vec<String>>, String> {
    let Some(Json::Array(allowed)) = body.get("allowedValues") else { return Ok(None) };
    let texts: Vec<String> = allowed.iter().filter_map(scalar).collect();
    if texts.iter().any(|text| is_pattern(text)) {
        // A list of patterns becomes the pattern of a text.
        return if kind == Some(InputType::String) { Ok(None) } else { Err("has patterns for values other than texts".to_owned()) };
    }
    Ok(Some(texts))
}

/// What a caller sends, as the keys of an input.
fn input(body: &Map<String, Json>, kind: InputType) -> String {
    let mut keys = vec![format!("type: {}", kind.name())];
    if let Some(default) = body.get("default").filter(|default| !default.is_null()) {
        keys.push(format!("default: {default}"));
    } else if body.get("required") == Some(&Json::Bool(false)) {
        keys.push("optional: true".to_owned());
    }
    if let Some(allowed @ Json::Array(values)) = body.get("allowedValues") {
        let patterns: Vec<String> = values.iter().filter_map(scalar).collect();
        match patterns.iter().any(|text| is_pattern(text)) {
            true => {
                let alternatives = patterns.iter().map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|");
                keys.push(format!("pattern: {}", yaml::quoted(&alternatives)));
            }
            false => keys.push(format!("enum: {allowed}")),
        }
    }
    for (theirs, own) in [("minValue", "min"), ("maxValue", "max")] {
        if let Some(limit) = body.get(theirs).filter(|limit| limit.is_number()) {
            keys.push(format!("{own}: {limit}"));
        }
    }
    if let (Some(items), InputType::Array) = (body.get("items").and_then(Json::as_object), kind)
        && let Some(of) = type_of(items)
    {
        keys.push(format!("items: {}", input(items, of)));
    }
    if let Some(description) = body.get("description").and_then(Json::as_str).filter(|text| !text.is_empty()) {
        keys.push(format!("description: {}", super::text::described(description)));
    }
    format!("{{ {} }}", keys.join(", "))
}

/// What `excludedValues` asks, as an expression.
fn condition(name: &str, kind: InputType, body: &Map<String, Json>) -> Result<Option<String>, String> {
    let excluded: Vec<&str> = texts(body.get("excludedValues")).collect();
    if excluded.is_empty() {
        return Ok(None);
    }
    if kind != InputType::String || excluded.iter().any(|text| is_pattern(text) || text.contains('\'')) {
        return Err("excludes values by a pattern, or values other than texts".to_owned());
    }
    let quoted: Vec<String> = excluded.iter().map(|text| format!("'{text}'")).collect();
    Ok(Some(format!("not (inputs.{name} in [{}])", quoted.join(", "))))
}

/// Whether a value is more than a text: Toolbox reads each as a regular expression.
fn is_pattern(text: &str) -> bool {
    text.contains(['^', '$', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '\\'])
}
