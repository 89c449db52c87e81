//! `millrace build`: an app as what a host takes.

use serde_json::json;

use crate::{
    app,
    cli::{Build, Target},
    output::{CommandError, CommandResult, print, typed},
};

mod adapter_file;
mod app_for_deployment;
#[cfg(feature = "checkout")]
mod checkout;
mod files;
pub(super) mod lambda;
pub(super) mod mcpb;
pub(super) mod needs;
mod package_json;
mod packed_runtimes;
mod registry;
pub(super) mod worker;

use files::Output;

/// Makes runtimes from the checkout: `OUT/worker/PARTS/` and `OUT/bootstrap-ARCH`. Where the
/// Worker's are named and no processor is, only those.
///
/// # Errors
/// A tool is missing or fails, or a file cannot be written.
#[cfg(feature = "checkout")]
pub(super) fn runtimes(arguments: &crate::cli::Runtimes) -> CommandResult {
    use crate::cli::Architecture;

    let mut output = Output::new(&arguments.out, "runtimes");
    for (parts, files) in worker::runtimes(&arguments.worker)? {
        for (name, bytes) in files {
            output.write(&format!("worker/{parts}/{name}"), &bytes)?;
        }
    }
    let architectures: &[Architecture] = match (arguments.arch.as_slice(), arguments.worker.as_slice()) {
        ([], []) => &[Architecture::X86, Architecture::Arm],
        (named, _) => named,
    };
    for architecture in architectures {
        let (name, bytes) = lambda::runtime_of(*architecture)?;
        output.write(&name, &bytes)?;
    }
    output.finish()
}

pub(super) fn run(arguments: &Build) -> CommandResult {
    check_options(arguments)?;
    let target = match arguments.target {
        Target::Local => "local",
        Target::Worker => return worker::run(arguments),
        Target::Lambda => return lambda::run(arguments),
        Target::Mcpb => return mcpb::run(arguments),
        Target::Registry => return registry::run(arguments),
    };
    let mut report = app::compile(&arguments.app);
    let app = app_for_deployment::take(&mut report, arguments)?;
    let bytes = app.to_bundle().map_err(CommandError::wrong)?;
    let name = format!("{}.bundle", app.name);
    let path = arguments.out.join(&name);
    let mut output = Output::new(&arguments.out, target);
    // A server that reads the bundle at this moment sees the old one or the new one, never a part.
    output.write(&name, &bytes)?;
    output.finish()?;
    if arguments.json {
        return app_for_deployment::print_built(&report.diagnostics, json!({ "target": target, "bundle": path, "bytes": bytes.len() }));
    }
    print(format_args!("{} ({} bytes); serve it with `millrace serve {}`", path.display(), bytes.len(), typed(&path)))
}

/// Refuses options that mean nothing for the target.
fn check_options(arguments: &Build) -> CommandResult {
    let (is_mcpb, is_registry) = (arguments.target == Target::Mcpb, arguments.target == Target::Registry);
    let misplaced = [
        ("--binary", arguments.binary.is_some() && !is_mcpb, "mcpb"),
        ("--author", arguments.author.is_some() && !is_mcpb, "mcpb"),
        ("--description", arguments.description.is_some() && !is_mcpb && !is_registry, "mcpb` and `registry"),
        ("--name", arguments.name.is_some() && !is_registry, "registry"),
        ("--url", arguments.url.is_some() && !is_registry, "registry"),
        ("--env", arguments.env.is_some() && arguments.target != Target::Worker, "worker"),
        ("--package", !arguments.packages.is_empty() && !is_registry, "registry"),
    ];
    match misplaced.iter().find(|(_, is_misplaced, _)| *is_misplaced) {
        Some((option, _, targets)) => Err(CommandError::Usage(format!("`{option}` belongs to the target `{targets}`"))),
        None => Ok(()),
    }
}
