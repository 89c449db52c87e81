//! What a placeholder of a statement names.

use millrace_core::{
    Json,
    app::{Input, InputKind, Root, Source},
};

use super::{dialect::Dialect, names::Names, problem::error};
use crate::{Problem, placeholder::Placeholder};

/// What a placeholder stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning<'a> {
    /// The value of an environment variable, bound.
    Env(String),
    /// `| ident`: the value of an environment variable, as a quoted name.
    EnvIdent(String),
    /// `| raw`: the value of an environment variable, as text of the statement.
    EnvRaw(String),
    /// A value of the call.
    Value(Value<'a>),
    /// `| ident`, `| keyword`: a text for each value of an `enum`.
    Choice { source: Source, options: Vec<(String, String)> },
    /// `| ident` of a list: a text for each element that it can have.
    ChoiceEach { source: Source, options: Vec<(String, String)> },
}

/// A value of the call.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    pub(super) source: Source,
    /// The declared type.
    pub(super) kind: Option<InputKind>,
    /// For a list: the type of its elements.
    pub(super) elements: Option<Option<InputKind>>,
    /// The declaration, where it is an input's.
    pub(super) input: Option<&'a Input>,
}

/// The placeholder as the author would write it.
pub(super) fn label(placeholder: &Placeholder<'_>) -> String {
    match placeholder.filter {
        Some(filter) => format!("{{{{ {} | {filter} }}}}", placeholder.path.join(".")),
        None => format!("{{{{ {} }}}}", placeholder.path.join(".")),
    }
}

/// Finds out what a placeholder names. `dialect`: that of a statement, in which it can have a
/// filter.
pub(super) fn resolve<'a>(placeholder: &Placeholder<'_>, dialect: Option<Dialect>, names: Names<'a>) -> Result<Meaning<'a>, Problem> {
    let inputs = names.inputs;
    let label = label(placeholder);
    let wrong = |message: String, help: &str| error(placeholder.range.clone(), message, help);
    let filter = match placeholder.filter {
        None => None,
        Some("ident") => Some(Filter::Ident),
        Some("keyword") => Some(Filter::Keyword),
        Some("raw") => Some(Filter::Raw),
        Some(other) => {
            return Err(wrong(
                format!("`{other}` is not a filter of statements"),
                "the filters are `ident`, `keyword` and, for variables, `raw`; a plain value needs none",
            ));
        }
    };
    let (root, path) = match placeholder.path.split_first() {
        // The same variable by its other name: where it is not set, the call is refused as well.
        Some((&"ctx", path @ ["env", _, ..])) => ("env", path.get(1..).unwrap_or_default()),
        Some((root, path)) => (*root, path),
        None => return Err(wrong("the placeholder is empty".to_owned(), "write `{{ inputs.name }}`")),
    };
    let source_root = match root {
        "env" => {
            return match (path, filter) {
                ([name], None) => Ok(Meaning::Env((*name).to_owned())),
                ([name], Some(Filter::Ident)) => Ok(Meaning::EnvIdent((*name).to_owned())),
                ([name], Some(Filter::Raw)) => Ok(Meaning::EnvRaw((*name).to_owned())),
                ([name], Some(Filter::Keyword)) => Err(wrong(format!("`{label}` does not take this filter"), &of_variable(name))),
                _ => Err(wrong(format!("`{label}` names no variable"), "write `{{ env.NAME }}`")),
            };
        }
        "secret" => {
            let help = "secrets stand in adapters and in `auth`, where neither the database's log nor a result can show them";
            return Err(wrong(format!("`{label}` has no value in a statement"), help));
        }
        "inputs" => Root::Inputs,
        "steps" => return step(placeholder, path, filter, names.steps),
        "ctx" => Root::Ctx,
        "auth" => Root::Auth,
        _ => {
            let help = if inputs.iter().any(|input| input.name == root) {
                format!("write `{{{{ inputs.{} }}}}`", placeholder.path.join("."))
            } else {
                "a placeholder of a statement starts with `inputs`, `env`, `ctx` or `auth`".to_owned()
            };
            return Err(wrong(format!("`{label}` names nothing: `{root}` is not known in a statement"), &help));
        }
    };
    if path.is_empty() {
        return Err(wrong(format!("`{label}` names no value"), &format!("write `{{{{ {root}.name }}}}`")));
    }
    let source = Source { root: source_root, path: path.iter().map(|name| (*name).to_owned()).collect() };
    let value = match source_root {
        Root::Inputs => declared(source, path, inputs).map_err(|(message, help)| wrong(message, &help))?,
        // The lists that every principal has.
        Root::Auth if matches!(path, ["roles" | "scopes"]) => {
            Value { source, kind: Some(InputKind::Array), elements: Some(Some(InputKind::String)), input: None }
        }
        _ => Value { source, kind: None, elements: None, input: None },
    };
    match filter {
        None => Ok(Meaning::Value(value)),
        Some(filter) => choice(filter, value, dialect).map_err(|(message, help)| wrong(format!("`{label}` {message}"), &help)),
    }
}

/// A column of the only row of an earlier step.
fn step<'a>(placeholder: &Placeholder<'_>, path: &[&str], filter: Option<Filter>, earlier: &[&str]) -> Result<Meaning<'a>, Problem> {
    let label = label(placeholder);
    let wrong = |message: String, help: &str| Err(error(placeholder.range.clone(), message, help));
    let known = earlier.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let [name, column] = path else {
        return wrong(
            format!("`{label}` names no column"),
            "write `{{ steps.NAME.COLUMN }}`, with the name of an earlier step and a column of its result",
        );
    };
    if filter.is_some() {
        return wrong(format!("`{label}` takes no filter"), "a value of an earlier step is bound, as a caller's value is");
    }
    if !earlier.contains(name) {
        let help = if known.is_empty() {
            "only a statement of a `transaction` can name a step, and only one that comes before it".to_owned()
        } else {
            format!("the steps before this one are {known}")
        };
        return wrong(format!("`{label}` names no step that comes before this statement"), &help);
    }
    let source = Source { root: Root::Steps, path: vec![(*name).to_owned(), (*column).to_owned()] };
    Ok(Meaning::Value(Value { source, kind: None, elements: None, input: None }))
}

/// How a variable becomes something else than a value.
pub(super) fn of_variable(name: &str) -> String {
    format!(
        "write `{{{{ env.{name} | ident }}}}` for a name, or `{{{{ env.{name} | raw }}}}` to put the variable's text into the statement as it is"
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Filter {
    Ident,
    Keyword,
    Raw,
}

type Reason = (String, String);

fn declared<'a>(source: Source, path: &[&str], inputs: &'a [Input]) -> Result<Value<'a>, Reason> {
    let mut known = inputs;
    let mut found: Option<&Input> = None;
    for (depth, name) in path.iter().enumerate() {
        let so_far = path[..depth].join(".");
        if let Some(parent) = found {
            match parent.kind {
                InputKind::Json => return Ok(Value { source, kind: None, elements: None, input: None }),
                InputKind::Object if parent.fields.is_empty() => return Ok(Value { source, kind: None, elements: None, input: None }),
                InputKind::Object => known = &parent.fields,
                kind => {
                    let help = format!("write `{{{{ inputs.{so_far} }}}}`, or take it apart in an input mapper");
                    return Err((format!("`inputs.{so_far}` is of type {} and has no `{name}`", kind.as_str()), help));
                }
            }
        }
        let Some(input) = known.iter().find(|input| input.name == *name) else {
            let what =
                if depth == 0 { format!("input `{name}` is not declared") } else { format!("`inputs.{so_far}` has no field `{name}`") };
            let names = known.iter().take(8).map(|input| format!("`{}`", input.name)).collect::<Vec<_>>().join(", ");
            let help = match (known.is_empty(), depth) {
                (true, _) => "declare it under `inputs`".to_owned(),
                (false, 0) => format!("declare it under `inputs`, which has {names}"),
                (false, _) => format!("its fields are {names}"),
            };
            return Err((what, help));
        };
        found = Some(input);
    }
    let kind = found.map(|input| input.kind);
    let elements = found.filter(|input| input.kind == InputKind::Array).map(|input| input.items.as_ref().map(|items| items.kind));
    Ok(Value { source, kind, elements, input: found })
}

fn choice<'a>(filter: Filter, value: Value<'_>, dialect: Option<Dialect>) -> Result<Meaning<'a>, Reason> {
    if filter == Filter::Raw {
        let help = "only a variable, `{{ env.NAME | raw }}`, can be text of a statement; a caller's value is bound";
        return Err(("does not take this filter".to_owned(), help.to_owned()));
    }
    let Some(input) = value.input else {
        return Err(("takes no filter".to_owned(), "only an input with an `enum` of texts can stand for a name or a keyword".to_owned()));
    };
    let is_list = input.kind == InputKind::Array;
    let chosen = if is_list { input.items.as_deref().filter(|items| !items.allowed.is_empty()) } else { Some(input) };
    let Some(chosen) = chosen else {
        let help = format!("list every name that an element of `{}` may be under the `enum` of its `items`", input.name);
        return Err(("needs an `enum` of its elements".to_owned(), help));
    };
    if is_list && filter == Filter::Keyword {
        return Err(("does not take a list".to_owned(), "a keyword is one: use an input of type `string` with an `enum`".to_owned()));
    }
    if is_list && chosen.nullable {
        let help = format!("remove `nullable` from the `items` of `{}`", input.name);
        return Err(("can have null for an element, and then there is nothing to write".to_owned(), help));
    }
    if chosen.allowed.is_empty() {
        return Err(("needs an `enum`".to_owned(), format!("list every text that `{}` may stand for under its `enum`", input.name)));
    }
    let is_empty = input.default.as_ref().is_some_and(|default| default.0.as_array().is_some_and(Vec::is_empty));
    if is_empty || input.max.is_some_and(|max| max < 1.0) && is_list {
        let help = format!("let `{}` have at least 1 element", input.name);
        return Err(("can be an empty list, and then there is nothing to write".to_owned(), help));
    }
    if input.nullable || (input.optional && input.default.is_none()) {
        let help = format!("give `{}` a `default`, or make it required and not nullable", input.name);
        return Err(("can be without a value, and then there is nothing to write".to_owned(), help));
    }
    let options = chosen.allowed.iter().map(|allowed| {
        let Json::String(text) = &allowed.0 else {
            return Err((
                format!("has `{}` in its `enum`, which is not a string", allowed.0),
                "a name or a keyword is a string".to_owned(),
            ));
        };
        let written = match filter {
            Filter::Ident => dialect.and_then(|dialect| dialect.identifier(text)),
            Filter::Keyword | Filter::Raw => is_keyword(text).then(|| text.clone()),
        };
        match (written, filter) {
            (Some(written), _) => Ok((text.clone(), written)),
            (None, Filter::Ident) => {
                Err((format!("has `{text}` in its `enum`, which is not a name"), "a name has no empty part between its dots".to_owned()))
            }
            (None, Filter::Keyword | Filter::Raw) => {
                let help = "keywords are letters, `_` and spaces: `ASC`, `DESC NULLS LAST`; for a name use `| ident`";
                Err((format!("has `{text}` in its `enum`, which is not a keyword"), help.to_owned()))
            }
        }
    });
    let (source, options) = (value.source, options.collect::<Result<_, _>>()?);
    Ok(if is_list { Meaning::ChoiceEach { source, options } } else { Meaning::Choice { source, options } })
}

fn is_keyword(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b' ') && !text.trim().is_empty()
}
