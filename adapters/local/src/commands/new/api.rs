//! `millrace new NAME --from openapi:SPEC`: tools for the operations of an API.

use super::{
    folder::AppFolder,
    project::{Example, Project},
};
use crate::{
    cli::{ImportOpenapi, New},
    commands::import::openapi,
    output::{CommandError, CommandResult},
};

/// What `--from` begins with for an API.
const SCHEME: &str = "openapi:";

/// The specification that `--from` names, where it names one.
pub(super) fn specification(from: &str) -> Option<&str> {
    from.get(..SCHEME.len()).filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME)).and_then(|_| from.get(SCHEME.len()..))
}

/// Writes the app's own files.
///
/// # Errors
/// The specification cannot be read, or a file cannot be written.
pub(super) fn write(folder: &AppFolder<'_>, specification: &str, arguments: &New) -> CommandResult<Project> {
    if specification.is_empty() {
        return Err(CommandError::Usage("`--from` names no specification; write `openapi:FILE` or `openapi:URL`".to_owned()));
    }
    for (option, is_given) in [("--tables", !arguments.tables.is_empty()), ("--hide", !arguments.hide.is_empty())] {
        if is_given {
            return Err(CommandError::Usage(format!("`{option}` is for databases; choose operations with `--only` and `--tag`")));
        }
    }
    let made = openapi::write_new(folder, &asked(specification, arguments))?;
    let adapter = &made.adapter;
    let names = made.variables.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let set = match made.variables.is_empty() {
        true => String::new(),
        false => format!(
            " It reads the variables {names}: on this machine put them into `.env`,\nwhich git ignores; `.env.example` lists them, and is for those who get the app without it."
        ),
    };
    let rights = if arguments.write { "" } else { " The tools were made of operations that only read." };
    let worker = match made.variables.first() {
        None => "The Worker sends its requests to the API as this machine does.\n".to_owned(),
        Some(first) => format!(
            "The Worker needs what the adapter reads ({names}) as secrets: `npx wrangler secret put {first}`. On this machine, put the lines of `.env` into `.dev.vars`, too.\n"
        ),
    };
    let lambda = match made.variables.is_empty() {
        true => "The function sends its requests to the API as this machine does.".to_owned(),
        false => format!(
            "The function gets {names} as parameters of `template.yaml`, for which `sam deploy --guided` asks, or from where `MILLRACE_SECRETS` says. It must be able to\nreach the API."
        ),
    };
    Ok(Project {
        data: format!("## The API\n\nThe tools send requests to the API that `app/adapters/{adapter}.yaml` names.{rights}{set}\n\n"),
        example: Example { call: made.call, adapter: made.adapter, table: None },
        seed: None,
        worker,
        lambda,
    })
}

/// The import that makes the tools.
fn asked(specification: &str, arguments: &New) -> ImportOpenapi {
    let is_choice = !arguments.only.is_empty() || !arguments.tags.is_empty();
    ImportOpenapi {
        spec: specification.to_owned(),
        out: None,
        only: arguments.only.clone(),
        tags: arguments.tags.clone(),
        read_only: !arguments.write,
        all: arguments.write && !is_choice,
        adapter: None,
        server: None,
        variables: Vec::new(),
    }
}
