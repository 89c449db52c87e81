//! `millrace build --target worker`: a folder that wrangler serves and deploys.
//!
//! ```text
//! DIR/entry.mjs       the entry module: hands the app and each request to the runtime
//! DIR/app.bin         the app's bundle, a data module
//! DIR/runtime/        the compiled runtime, the same for every app that needs the same parts
//! DIR/wrangler.toml   where the app has none of its own
//! ```

use std::{fs, io, path::Path};

use millrace_bundler::{Report, Severity};
use serde_json::json;

use super::files::write;
use crate::{
    app,
    cli::Build,
    output::{CommandError, CommandResult, print, print_json},
};

mod runtime;
mod worker_parts;
mod wrangler;

/// The entry module, as the Worker's own crate has it.
const ENTRY: &str = include_str!("../../../../worker/entry.mjs");

pub(super) fn run(arguments: &Build) -> CommandResult {
    let mut report = compile(&arguments.app);
    app::show(&arguments.app, &report.diagnostics);
    let is_wrong = report.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let Some(mut app) = report.app.take().filter(|_| !is_wrong) else { return Err(CommandError::Told) };
    super::shorten_maps(&mut app);
    let bundle = app.to_bundle().map_err(CommandError::wrong)?;
    let parts = worker_parts::Parts::of(&app);
    let runtime = runtime::ready(&parts)?;
    let out = &arguments.out;
    let written = [
        write(&out.join("entry.mjs"), ENTRY.as_bytes()),
        write(&out.join("app.bin"), &bundle),
        mirror(&runtime, &out.join("runtime")),
        match wrangler::of_app(&arguments.app) {
            Some(_) => Ok(()),
            None => write(&out.join("wrangler.toml"), wrangler::generated(&app).as_bytes()),
        },
    ];
    for outcome in written {
        outcome.map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", out.display())))?;
    }
    let wasm = fs::metadata(runtime.join(runtime::WASM)).map_or(0, |data| data.len());
    if arguments.json {
        return print_json(&json!({ "target": "worker", "out": out, "bytes": bundle.len(), "wasm": wasm, "runtime": parts.name() }));
    }
    let next = match wrangler::of_app(&arguments.app) {
        Some(file) => format!("deploy it with `wrangler deploy --config {}`", file.display()),
        None => format!("serve it with `cd {} && wrangler dev --local`", out.display()),
    };
    print(format_args!("{} (app {} bytes, runtime `{}` {wasm} bytes); {next}", out.display(), bundle.len(), parts.name()))
}

/// Compiles an app folder for a Worker, and compares it with its own `wrangler.toml`.
pub(crate) fn compile(folder: &Path) -> Report {
    let mut report = app::compile_for_worker(folder, wrangler::d1_bindings(folder));
    if let Some(app) = &report.app {
        report.diagnostics.extend(wrangler::check(folder, app));
        // With a file of its own, the comparison says so.
        if wrangler::of_app(folder).is_none() {
            report.diagnostics.extend(super::check_state_key(folder, app));
        }
    }
    report
}

/// Makes a folder like another.
fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        names.push(entry.file_name());
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => mirror(&entry.path(), &target)?,
            false => write(&target, &fs::read(entry.path())?)?,
        }
    }
    // What an older runtime left.
    for entry in fs::read_dir(to)?.flatten().filter(|entry| !names.contains(&entry.file_name())) {
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}
