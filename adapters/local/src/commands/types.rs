//! `millrace types`: the types that an editor checks an app's scripts with.

use std::{fmt::Write as _, fs};

use millrace_core::app::{Input, InputKind, Tool};

use crate::{
    app,
    cli::Types,
    output::{Failure, Outcome, print},
};

/// What every app's scripts see.
const COMMON: &str = include_str!("types.d.ts");

pub(super) fn run(arguments: &Types) -> Outcome {
    let app = app::load(&arguments.app)?.app;
    let path = arguments.out.clone().unwrap_or_else(|| arguments.app.join("millrace.d.ts"));
    fs::write(&path, declarations(&app.tools))
        .map_err(|error| Failure::Wrong(format!("`{}` cannot be written: {error}", path.display())))?;
    print(format_args!("{} has the types of {}", path.display(), app::count(app.tools.len(), "tool")))
}

fn declarations(tools: &[Tool]) -> String {
    let mut text = COMMON.to_owned();
    text.push_str("\n  /** The inputs of every tool, by its name. */\n  export interface Tools {\n");
    for tool in tools {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {}: {};", name(&tool.name), object(&tool.inputs, "    "));
    }
    text.push_str("  }\n}\n");
    text
}

fn object(inputs: &[Input], indent: &str) -> String {
    if inputs.is_empty() {
        return "{}".to_owned();
    }
    let mut text = "{\n".to_owned();
    for input in inputs {
        // A default stands in before the script sees the inputs.
        let absent = if input.optional && input.default.is_none() { "?" } else { "" };
        let inner = format!("{indent}  ");
        let _ = writeln!(text, "{inner}{}{absent}: {};", name(&input.name), value(input, &inner));
    }
    text.push_str(indent);
    text.push('}');
    text
}

fn value(input: &Input, indent: &str) -> String {
    let mut text = if input.allowed.is_empty() {
        kind(input, indent)
    } else {
        input.allowed.iter().map(|literal| literal.0.to_string()).collect::<Vec<_>>().join(" | ")
    };
    if input.nullable {
        text.push_str(" | null");
    }
    text
}

fn kind(input: &Input, indent: &str) -> String {
    match input.kind {
        InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid => "string".to_owned(),
        InputKind::Int | InputKind::Float => "number".to_owned(),
        InputKind::Boolean => "boolean".to_owned(),
        InputKind::Array => format!("Array<{}>", input.items.as_ref().map_or_else(|| "Json".to_owned(), |items| value(items, indent))),
        InputKind::Object if !input.fields.is_empty() => object(&input.fields, indent),
        InputKind::Object => "{ [key: string]: Json }".to_owned(),
        InputKind::Json => "Json".to_owned(),
    }
}

/// A property's name, in quotes where it has to be.
fn name(name: &str) -> String {
    let plain = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain { name.to_owned() } else { format!("{name:?}") }
}
