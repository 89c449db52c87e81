//! `millrace types`: the types that an editor checks an app's scripts with.

use std::fs;

use millrace_bundler::types::declarations;

use crate::{
    app::{self, BundledApp},
    cli::Types,
    output::{CommandError, CommandResult, print},
};

pub(super) fn run(arguments: &Types) -> CommandResult {
    let BundledApp { app, report } = app::load(&arguments.app)?;
    let path = arguments.out.clone().unwrap_or_else(|| arguments.app.join("millrace.d.ts"));
    fs::write(&path, declarations(&app, &report.statements))
        .map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display())))?;
    print(format_args!("{} has the types of {}", path.display(), app::count(app.tools.len(), "tool")))
}
