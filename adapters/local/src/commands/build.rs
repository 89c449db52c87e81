//! `millrace build`: an app as what a host takes.

use std::path::Path;

use millrace_bundler::{Diagnostic, Severity};
use millrace_core::app::{App, STATE_KEY, ScriptMap};
use millrace_native::env::Variables;
use serde_json::json;

use crate::{
    app,
    cli::{Build, Target},
    output::{CommandError, CommandResult, print, print_json},
};

mod checkout;
mod files;
pub(super) mod lambda;
mod needs;
pub(super) mod worker;

use files::Output;

/// Warns of a key that the app needs there and that nobody set here.
fn check_state_key(folder: &Path, app: &App) -> Option<Diagnostic> {
    let has_key =
        |file: &str| Variables::of_process_and(&folder.join(file)).is_ok_and(|variables| app.missing_state_key(&variables).is_none());
    if has_key(".env") || has_key(".dev.vars") {
        return None;
    }
    let tool = app.asking_tool()?;
    Some(Diagnostic {
        severity: Severity::Warning,
        file: "millrace.yaml".into(),
        line: 1,
        column: 1,
        length: 0,
        message: format!("the tool `{}` asks its caller, which needs the variable `{STATE_KEY}`", tool.name),
        help: Some("Set it where the app will run; make one with `echo k1:$(openssl rand -base64 32)`.".into()),
    })
}

/// Leaves of each script's map what a deployment has room for.
fn shorten_maps(app: &mut App) {
    for script in &mut app.scripts {
        script.map = script.map.take().map(ScriptMap::of_lines);
    }
}

pub(super) fn run(arguments: &Build) -> CommandResult {
    let target = match arguments.target {
        Target::Local => "local",
        Target::Worker => return worker::run(arguments),
        Target::Lambda => return lambda::run(arguments),
    };
    let app = app::load(&arguments.app)?.app;
    let bytes = app.to_bundle().map_err(CommandError::wrong)?;
    let name = format!("{}.bundle", app.name);
    let path = arguments.out.join(&name);
    let mut output = Output::new(&arguments.out, target);
    // A server that reads the bundle at this moment sees the old one or the new one, never a part.
    output.write(&name, &bytes)?;
    output.finish()?;
    if arguments.json {
        return print_json(&json!({ "target": target, "bundle": path, "bytes": bytes.len() }));
    }
    print(format_args!("{} ({} bytes); serve it with `millrace serve {}`", path.display(), bytes.len(), path.display()))
}
