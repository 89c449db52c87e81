//! `millrace build --target worker`: a folder that wrangler serves and deploys.
//!
//! ```text
//! DIR/entry.mjs       the entry module: hands the app and each request to the runtime
//! DIR/state.mjs       the Durable Object of counters and records, which it exports
//! DIR/app.bin         the app's bundle, a data module
//! DIR/runtime/        the compiled runtime, the same for every app that needs the same parts
//! DIR/wrangler.toml   where the app has no configuration of wrangler of its own
//! ```

use std::path::Path;

use millrace_bundler::{Report, Seed};
use millrace_core::app::{App, EnvPart};
use serde_json::json;

#[cfg(feature = "checkout")]
use super::packed_runtimes::RuntimeFile;
use super::{
    app_for_deployment::{self, check_state_key, shorten_maps},
    files::Output,
};
use crate::{
    app,
    cli::Build,
    output::{CommandError, CommandResult, note, print, shell_word, typed},
};

mod runtime;
mod worker_parts;
pub(crate) mod wrangler;

use wrangler::Selection;

/// The entry module, as the Worker's own crate has it.
const ENTRY: &str = include_str!("../../../../worker/entry.mjs");
/// The Durable Object, which it exports.
const STATE: &str = include_str!("../../../../worker/state.mjs");

pub(super) fn run(arguments: &Build) -> CommandResult {
    let selection = Selection::of(arguments.env.as_deref());
    let mut report = compile(&arguments.app, &selection, true, &[]);
    let mut app = app_for_deployment::take(&mut report, arguments)?;
    shorten_maps(&mut app);
    let bundle = app.to_bundle().map_err(CommandError::wrong)?;
    let parts = worker_parts::Parts::of(&app);
    let runtime = runtime::ready(&parts)?;
    let out = &arguments.out;
    let mut output = Output::new(out, "worker");
    output.write("entry.mjs", ENTRY.as_bytes())?;
    output.write("state.mjs", STATE.as_bytes())?;
    output.write("app.bin", &bundle)?;
    for (name, bytes) in &runtime {
        output.write(&format!("runtime/{name}"), bytes)?;
    }
    if wrangler::of_app(&arguments.app).is_none() {
        output.write(wrangler::FILE, wrangler::generated(&app).as_bytes())?;
    }
    output.finish()?;
    let wasm = runtime.iter().find(|(name, _)| name == worker_parts::WASM).map_or(0, |(_, bytes)| bytes.len());
    if arguments.json {
        let built = json!({ "target": "worker", "out": out, "bytes": bundle.len(), "wasm": wasm, "runtime": parts.name() });
        return app_for_deployment::print_built(&report.diagnostics, built);
    }
    let config = wrangler::of_app(&arguments.app);
    let file = typed(config.as_deref().unwrap_or(&out.join(wrangler::FILE)));
    let next = match (&config, &selection) {
        (None, _) => format!("serve it with `wrangler dev --local --config {file}`"),
        (Some(_), Selection::Named(name)) => format!("deploy it with `wrangler deploy --config {file} --env {}`", shell_word(name)),
        (Some(_), Selection::All | Selection::Top) => {
            let environments: Vec<String> = match selection {
                Selection::All => {
                    wrangler::environments(&arguments.app).iter().map(|name| format!("`--env {}`", shell_word(name))).collect()
                }
                _ => Vec::new(),
            };
            let more = if environments.is_empty() { String::new() } else { format!(", or with {} as well", environments.join(" or ")) };
            format!("deploy it with `wrangler deploy --config {file}`{more}")
        }
    };
    for (environment, command) in seeding(arguments, &selection, &file, &app, &report.seeds) {
        note(format_args!(
            "fill the database for `wrangler dev{environment}`: `{command}`; for the deployed one, `--remote` instead of `--local`"
        ));
    }
    print(format_args!("{} (app {} bytes, runtime `{}` {wasm} bytes); {next}", out.display(), bundle.len(), parts.name()))
}

/// The runtimes of these names, or every one, made from the checkout: each with the name of its
/// parts.
#[cfg(feature = "checkout")]
pub(super) fn runtimes(names: &[String]) -> CommandResult<Vec<(String, Vec<RuntimeFile>)>> {
    let all = worker_parts::Parts::all();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|parts| parts.name() != **name)) {
        let known: Vec<String> = all.iter().map(|parts| format!("`{}`", parts.name())).collect();
        return Err(CommandError::Usage(format!("the runtime `{unknown}` does not exist; use {}", known.join(", "))));
    }
    let wanted = all.iter().filter(|parts| names.is_empty() || names.contains(&parts.name()));
    wanted.map(|parts| Ok((parts.name(), runtime::from_checkout(parts)?))).collect()
}

/// The commands, for the folder that the build was started in, that fill D1 databases with the
/// app's seeds: one for each environment that is meant and binds the database, with the option that
/// names it. `config`: wrangler's file, as one types it.
fn seeding(arguments: &Build, selection: &Selection, config: &str, app: &App, seeds: &[Seed]) -> Vec<(String, String)> {
    let mut commands = Vec::new();
    for seed in seeds {
        let Some(adapter) = app.adapters.iter().find(|adapter| adapter.name == seed.adapter) else { continue };
        let Some(connector) = millrace_catalogue::find(&adapter.connector) else { continue };
        for place in adapter.connection_strings() {
            if let [EnvPart::Text(text)] = place.0.as_slice()
                && let Some(Ok(binding)) = connector.binding_in(text)
            {
                let file = typed(&arguments.app.join(&seed.file));
                commands.extend(wrangler::environments_with(&arguments.app, selection, binding).into_iter().map(|environment| {
                    let environment = environment.map(|name| format!(" --env {}", shell_word(&name))).unwrap_or_default();
                    let command = format!("wrangler d1 execute {binding} --local --config {config}{environment} --file {file}");
                    (environment, command)
                }));
            }
        }
    }
    commands
}

/// Compiles an app folder for a Worker, and compares it with its own configuration of wrangler; see
/// [`wrangler::check`].
pub(crate) fn compile(folder: &Path, selection: &Selection, is_build: bool, clients: &[String]) -> Report {
    let mut report = app::compile_for_worker(folder, wrangler::d1_bindings(folder, selection), clients);
    if let Some(app) = &report.app {
        report.diagnostics.extend(wrangler::check(folder, app, selection, is_build));
        // With a file of its own, the comparison says so.
        if wrangler::of_app(folder).is_none() {
            report.diagnostics.extend(check_state_key(folder, app));
        }
    }
    report
}
