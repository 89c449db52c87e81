//! `millrace types`: the types that an editor checks an app's scripts with.

use std::{fs, path::Path};

use millrace_bundler::{
    ToolStatement,
    types::{HEAD, declarations},
};
use millrace_core::app::App;

use crate::{
    app::{self, BundledApp},
    cli::Types,
    output::{CommandError, CommandResult, note, print},
};

/// The file of an app's types.
pub(super) const FILE: &str = "millrace.d.ts";

pub(super) fn run(arguments: &Types) -> CommandResult {
    let BundledApp { app, report } = app::load(&arguments.app)?;
    let path = arguments.out.clone().unwrap_or_else(|| arguments.app.join(FILE));
    fs::write(&path, declarations(&app, &report.statements))
        .map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display())))?;
    print(format_args!("{} has the types of {}", path.display(), app::count(app.tools.len(), "tool")))
}

/// Writes the types of an app anew where it has the file already, and the file says something else.
pub(super) fn refresh(folder: &Path, app: &App, statements: &[ToolStatement]) {
    let path = folder.join(FILE);
    let Some(known) = fs::read_to_string(&path).ok().filter(|known| known.starts_with(HEAD)) else { return };
    let current = declarations(app, statements);
    if known != current
        && let Err(error) = fs::write(&path, current)
    {
        note(format_args!("warning: `{}` cannot be written: {error}", path.display()));
    }
}
