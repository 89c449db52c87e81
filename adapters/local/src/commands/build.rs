//! `millrace build`: an app as what a host takes.

use serde_json::json;

use crate::{
    app,
    cli::{Build, Target},
    output::{CommandError, CommandResult, print, print_json},
};

mod app_for_deployment;
mod checkout;
mod files;
pub(super) mod lambda;
pub(super) mod needs;
pub(super) mod worker;

use files::Output;

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
