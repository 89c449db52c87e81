//! What the tools of an app use of an API, and whether its specification still has that.
//!
//! A tool is compared by its `request`, whoever wrote it: what an import would ask now is held
//! against what the tool sends.

use std::{collections::BTreeMap, fs, path::Path};

use millrace_bundler::yaml_documents;
use millrace_core::{Json, url::percent_decoded};

use super::{
    document::Document,
    input::Input,
    operation::{self, Operation},
    request::{Body, Known, Request},
};
use crate::output::CommandResult;

/// What a request sends, by place and name; parameters of the path by their number.
type Sent = BTreeMap<(&'static str, String), Json>;

/// What is gone or narrower in a specification: the tool's file, and a clause. `tools`: the files
/// of the app's tools, below its folder.
///
/// # Errors
/// The specification cannot be read.
pub(in crate::commands) fn differences<'t>(
    app: &Path,
    adapter: &str,
    spec: &str,
    tools: impl Iterator<Item = &'t String>,
) -> CommandResult<Vec<(String, String)>> {
    let document = Document::open(spec)?;
    let (operations, _) = operation::all(&document);
    let mut by_shape: BTreeMap<(String, String), Vec<Operation<'_>>> = BTreeMap::new();
    for operation in operations {
        by_shape.entry((operation.method.to_owned(), shape_of(operation.path, '{', "}"))).or_default().push(operation);
    }
    let mut found = Vec::new();
    for file in tools {
        // What is wrong with the file was said where it was built.
        let Ok(text) = fs::read_to_string(app.join(file)) else { continue };
        let Some(tool) = yaml_documents(file, &text).ok().and_then(|documents| documents.into_iter().next()) else { continue };
        let Some(line) = tool.get("request").and_then(Json::as_str).filter(|_| tool["use"] == adapter) else { continue };
        let (method, target) = line.trim().split_once(' ').unwrap_or_default();
        let (path, query) = target.trim().split_once('?').unwrap_or((target.trim(), ""));
        // Some paths of a specification differ in their query only.
        let fields = |operation: &Operation<'_>| operation.path.split_once('?').map_or("", |(_, query)| query).to_owned();
        let is_meant = |operation: &&Operation<'_>| {
            fields(operation).split('&').all(|field| field.is_empty() || query.split('&').any(|own| own == field))
        };
        let mut problems = Vec::new();
        let candidates = by_shape.get(&(method.to_owned(), shape_of(path, '{', "}}")));
        match candidates.into_iter().flatten().filter(is_meant).max_by_key(|operation| fields(operation).len()) {
            None => problems.push(format!("`{method} {}` is not in the specification", shape_of(path, '{', "}}"))),
            Some(operation) => compare_operation(operation, &tool, &mut problems),
        }
        found.extend(problems.into_iter().map(|problem| (file.clone(), problem)));
    }
    Ok(found)
}

/// A path with its parameters as `{}`.
fn shape_of(path: &str, open: char, close: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let mut shape = String::new();
    let mut rest = path;
    while let Some((before, opened)) = rest.split_once(open) {
        shape.push_str(before);
        shape.push_str("{}");
        rest = opened.split_once(close).map_or("", |(_, after)| after);
    }
    percent_decoded(&(shape + rest)).unwrap_or_default()
}

fn compare_operation(operation: &Operation<'_>, tool: &Json, problems: &mut Vec<String>) {
    let now = match Request::of(operation, Known { credentials: &[], paged: &[], fixed: None }) {
        Ok(now) => now,
        Err(why) => return problems.push(format!("`{}` can no longer be sent: {why}", operation.shown())),
    };
    let (sent, asked) = (sent_by(tool), asked_by(&now));
    let set_by_pages = |name: &str| tool["page"].as_object().is_some_and(|page| page.values().any(|value| value == name));
    for ((place, name), value) in &asked {
        let input = value.as_str().and_then(input_of).and_then(|own| now.inputs.iter().find(|input| input.name == own));
        match (sent.get(&(*place, name.clone())), input) {
            (None, Some(input)) if input.required && !set_by_pages(name) && *place != "header" => {
                problems.push(format!("`{name}` ({place}) is required, and the tool does not send it"));
            }
            (Some(sent), Some(input)) => compare_value(input, sent, tool, &SentPlace { place, name }, problems),
            _ => {}
        }
    }
    let known: Vec<&str> = operation.parameters().iter().map(|parameter| parameter.name).collect();
    let takes_any = matches!(now.body, Some(Body::Whole(_)));
    for ((place, name), value) in &sent {
        let is_asked = asked.contains_key(&(*place, name.clone())) || known.contains(&name.as_str());
        let is_input = value.as_str().and_then(input_of).is_some();
        if is_input && !is_asked && matches!(*place, "query" | "form") || !is_asked && *place == "body" && !takes_any && !name.is_empty() {
            problems.push(format!("`{name}` ({place}) is not in the specification"));
        }
    }
}

/// A place that a tool sends something in.
struct SentPlace<'a> {
    /// `query`, `header`, `path` or `body`.
    place: &'a str,
    name: &'a str,
}

/// Compares what a tool sends with what the API takes there.
fn compare_value(now: &Input, value: &Json, tool: &Json, sent: &SentPlace<'_>, problems: &mut Vec<String>) {
    let SentPlace { place, name } = sent;
    let Some(own) = value.as_str().and_then(input_of) else {
        let is_fixed = !value.as_str().is_some_and(|text| text.contains("{{"));
        let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if is_fixed && !value.is_object() && !now.allowed.is_empty() && !now.allowed.iter().any(|allowed| text(allowed) == text(value)) {
            problems.push(format!("`{name}` ({place}) does not take the value `{}`", text(value)));
        }
        return;
    };
    let input = &tool["inputs"][own];
    let is_optional = input["optional"] == true && input.get("default").is_none();
    if now.required && is_optional {
        problems.push(format!("`{name}` ({place}) is required, and `inputs.{own}` may be left out"));
    }
    narrower(now, input, &format!("inputs.{own}"), *place != "body", problems);
}

/// Says where an input allows what the API does not take.
fn narrower(now: &Input, own: &Json, path: &str, is_text: bool, problems: &mut Vec<String>) {
    let kind = own["type"].as_str().unwrap_or("json");
    let fits = match (kind, now.kind) {
        ("json", _) | (_, "json") => true,
        ("int", "float") | ("datetime" | "date" | "uuid", "string") => true,
        ("string" | "int" | "float" | "boolean", "string") if is_text => true,
        (own, now) => own == now,
    };
    if !fits {
        problems.push(format!("`{path}` has the type `{kind}`, and the specification `{}`", now.kind));
        return;
    }
    if !now.allowed.is_empty() && kind == now.kind {
        match own["enum"].as_array() {
            Some(values) => {
                let lost: Vec<String> = values.iter().filter(|value| !now.allowed.contains(value)).map(Json::to_string).collect();
                if !lost.is_empty() {
                    problems.push(format!("`{path}` allows {}, which the specification does not have", lost.join(", ")));
                }
            }
            None => problems.push(format!("`{path}` allows any value, and the specification lists {}", now.allowed.len())),
        }
    }
    for (key, limit) in [("min", now.min), ("max", now.max)] {
        if let (Some(limit), Some(own)) = (limit, own[key].as_f64())
            && (key == "min" && own < limit || key == "max" && own > limit)
        {
            problems.push(format!("`{path}.{key}` is {own}, and {limit} in the specification"));
        }
    }
    if let (Some(items), Some(own)) = (&now.items, own.get("items")) {
        narrower(items, own, &format!("{path}.items"), is_text, problems);
    }
    let Some(fields) = own["fields"].as_object() else { return };
    for field in &now.fields {
        let below = format!("{path}.fields.{}", field.name);
        match fields.get(&field.name) {
            None if field.required => problems.push(format!("`{below}` is required in the specification, and is missing")),
            Some(own) if field.required && own["optional"] == true => {
                problems.push(format!("`{below}` may be left out, and is required in the specification"));
            }
            Some(own) => narrower(field, own, &below, is_text, problems),
            None => {}
        }
    }
}

/// What the file of a tool sends.
fn sent_by(tool: &Json) -> Sent {
    let mut sent = Sent::new();
    add_line(&mut sent, tool["request"].as_str().unwrap_or_default());
    let (headers, form, body) = (&tool["headers"], &tool["form"], &tool["body"]);
    for (place, members) in [("header", headers), ("form", form), ("body", body)] {
        for (name, value) in members.as_object().into_iter().flatten() {
            sent.insert((place, name.clone()), value.clone());
        }
    }
    if body.is_string() {
        sent.insert(("body", String::new()), body.clone());
    }
    sent
}

/// What an import would write now.
fn asked_by(now: &Request) -> Sent {
    let mut asked = Sent::new();
    add_line(&mut asked, &now.line);
    asked.extend(now.headers.iter().map(|(name, value)| (("header", name.clone()), value.clone())));
    match &now.body {
        Some(Body::Json(members)) => asked.extend(members.iter().map(|(name, value)| (("body", name.clone()), value.clone()))),
        Some(Body::Form(members)) => asked.extend(members.iter().map(|(name, value)| (("form", name.clone()), value.clone()))),
        Some(Body::Whole(value)) => drop(asked.insert(("body", String::new()), value.as_str().into())),
        None => {}
    }
    asked
}

/// Adds what a line sends in its path and its query.
fn add_line(sent: &mut Sent, line: &str) {
    let target = line.trim().split_once(' ').map_or("", |(_, target)| target);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    for (number, part) in path.split("{{").skip(1).enumerate() {
        let inside = part.split("}}").next().unwrap_or_default();
        sent.insert(("path", (number + 1).to_string()), format!("{{{{{inside}}}}}").into());
    }
    for field in query.split('&').filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        let decoded = |text: &str| percent_decoded(text).unwrap_or_else(|| text.to_owned());
        sent.insert(("query", decoded(name)), decoded(value).into());
    }
}

/// The input that a value is, where it is one and nothing else.
fn input_of(value: &str) -> Option<&str> {
    let inside = value.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    let path = inside.split('|').next()?.trim();
    path.strip_prefix("inputs.").filter(|name| !name.contains(['{', '.', ' ']))
}
