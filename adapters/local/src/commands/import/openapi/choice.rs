//! Which operations become tools.

use std::io::{self, BufRead as _, IsTerminal as _};

use super::tool::Tool;
use crate::{
    cli::ImportOpenapi,
    output::{CommandError, CommandResult, note},
};

/// What the command line says.
pub(super) enum Choice {
    Some(Vec<usize>),
    /// It says nothing.
    Open,
}

/// The tools that the options name, by their places.
///
/// # Errors
/// The specification has no operation with a name or a tag that was asked for.
pub(super) fn of(arguments: &ImportOpenapi, tools: &[Tool<'_>], omitted: &[(String, String)]) -> CommandResult<Choice> {
    for name in &arguments.only {
        if tools.iter().any(|tool| is_named(tool, name)) {
            continue;
        }
        let why = omitted.iter().find(|(what, _)| what.contains(&format!("`{name}`")));
        return Err(CommandError::Usage(match why {
            Some((what, why)) => format!("{what} cannot be a tool: {why}"),
            None => format!("the specification has no operation `{name}` of `--only`; the command without `--only` lists all of them"),
        }));
    }
    for tag in &arguments.tags {
        if !tools.iter().any(|tool| tool.operation.tags().any(|own| own.eq_ignore_ascii_case(tag))) {
            return Err(CommandError::Usage(format!("no operation that can be a tool has the tag `{tag}` of `--tag`")));
        }
    }
    if arguments.only.is_empty() && arguments.tags.is_empty() && !arguments.all && !arguments.read_only {
        return Ok(Choice::Open);
    }
    let is_chosen = |tool: &Tool<'_>| {
        let named = arguments.only.iter().any(|name| is_named(tool, name));
        let tagged = tool.operation.tags().any(|own| arguments.tags.iter().any(|tag| own.eq_ignore_ascii_case(tag)));
        let listed = arguments.only.is_empty() && arguments.tags.is_empty();
        named || (tagged || listed) && !tool.operation.is_deprecated()
    };
    let fits = |tool: &Tool<'_>| !arguments.read_only || tool.operation.only_reads();
    let places = tools.iter().enumerate().filter(|(_, tool)| fits(tool) && is_chosen(tool)).map(|(place, _)| place);
    Ok(Choice::Some(places.collect()))
}

/// Asks somebody at the terminal.
///
/// # Errors
/// Nobody is there, or what was typed names no operation.
pub(super) fn ask(tools: &[Tool<'_>]) -> CommandResult<Vec<usize>> {
    if !io::stdin().is_terminal() {
        let how = "choose operations with `--only NAME,NAME`, `--tag TAG`, `--read-only` or `--all`";
        return Err(CommandError::Usage(how.to_owned()));
    }
    note("which of them? Names or tags with commas between, or `all`:");
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).map_err(|error| CommandError::Wrong(format!("standard input cannot be read: {error}")))?;
    let words: Vec<&str> = typed.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let is_it = |tool: &Tool<'_>, word: &str| {
        let tagged = word.eq_ignore_ascii_case("all") || tool.operation.tags().any(|own| own.eq_ignore_ascii_case(word));
        is_named(tool, word) || tagged && !tool.operation.is_deprecated()
    };
    if let Some(unknown) = words.iter().find(|word| !tools.iter().any(|tool| is_it(tool, word))) {
        return Err(CommandError::Usage(format!("`{unknown}` is neither the name of an operation nor a tag; nothing was written")));
    }
    let places = tools.iter().enumerate().filter(|(_, tool)| words.iter().any(|word| is_it(tool, word))).map(|(place, _)| place);
    Ok(places.collect())
}

/// Whether a tool is called so, here or in the specification.
fn is_named(tool: &Tool<'_>, name: &str) -> bool {
    tool.folder == name || tool.operation.node.text("operationId") == Some(name) || tool.operation.shown() == name
}
