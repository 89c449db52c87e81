//! `millrace build --target lambda`: a folder that is zipped, or that `sam deploy` takes.
//!
//! ```text
//! DIR/bootstrap       the compiled runtime, the same for every app
//! DIR/app.bundle      the app
//! DIR/data/           SQLite's files of the app, where it has any
//! DIR/template.yaml   where the app has none of its own
//! ```

use std::{fs, io, path::Path};

use millrace_bundler::Report;
use millrace_core::app::App;
use millrace_native::{cache::CacheChoice, isolate, wait_until::Tasks};
use serde_json::json;

use super::{
    app_for_deployment::{self, check_state_key, shorten_maps},
    files::Output,
};
use crate::{
    app,
    cli::Build,
    output::{CommandError, CommandResult, note, print, typed},
};

mod database;
mod runtime;
pub(crate) mod template;

#[cfg(feature = "checkout")]
use crate::cli::Architecture;
use runtime::Bootstrap;

pub(super) fn run(arguments: &Build) -> CommandResult {
    let mut report = compile(&arguments.app, &[]);
    let mut app = app_for_deployment::take(&mut report, arguments)?;
    shorten_maps(&mut app);
    let bundle = app.to_bundle().map_err(CommandError::wrong)?;
    let bootstrap = runtime::ready(arguments.arch)?;
    let out = &arguments.out;
    let mut output = Output::new(out, "lambda");
    let has_own = arguments.app.join(template::FILE).is_file();
    let unwritable = |error: io::Error| CommandError::Wrong(format!("`{}` cannot be written: {error}", out.display()));
    match &bootstrap {
        Bootstrap::File(made) => install(made, &output.path(runtime::BINARY)).map_err(unwritable)?,
        Bootstrap::Bytes(bytes) => output.write(runtime::BINARY, bytes)?,
    }
    output.write("app.bundle", &bundle)?;
    pack(arguments, &app, &mut output)?;
    if !has_own {
        output.write(template::FILE, template::generated(&app, arguments.arch).as_bytes())?;
    }
    output.finish()?;
    output.allow_to_read(runtime::BINARY).map_err(unwritable)?;
    warn_of_foreign(out, &output.foreign());
    let bytes = fs::metadata(out.join(runtime::BINARY)).map_or(0, |data| data.len());
    if arguments.json {
        let arch = arguments.arch.of_lambda();
        let built = json!({ "target": "lambda", "out": out, "arch": arch, "bytes": bundle.len(), "bootstrap": bytes });
        return app_for_deployment::print_built(&report.diagnostics, built);
    }
    let next = if has_own {
        let command = template::command(&arguments.app, arguments.arch);
        format!("zip what is in `{}`, or deploy it with {command}", out.display())
    } else {
        format!("deploy it with `cd {} && sam deploy --guided`", typed(out))
    };
    print(format_args!("{} (app {} bytes, bootstrap {bytes} bytes); {next}", out.display(), bundle.len()))?;
    match template::differing(&arguments.app, arguments.arch) {
        // `sam build` shows what is on standard output, and nothing else.
        Some(differs) => print(format_args!("warning: {differs}")),
        None => Ok(()),
    }
}

/// A runtime made from the checkout, by the name of its file.
#[cfg(feature = "checkout")]
pub(super) fn runtime_of(architecture: Architecture) -> CommandResult<(String, Vec<u8>)> {
    let path = runtime::from_checkout(architecture)?;
    let bytes = fs::read(&path).map_err(|error| CommandError::Wrong(format!("`{}` cannot be read: {error}", path.display())))?;
    Ok((format!("bootstrap-{}", architecture.of_lambda()), bytes))
}

/// Says what else is in the folder: `sam` and a zip of the folder take all of it.
fn warn_of_foreign(out: &Path, names: &[String]) {
    let (private, others): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| is_private(name));
    for name in private {
        let path = out.join(name);
        note(format_args!(
            "warning: `{}` would be part of the package: move it out of the folder, or build into another one with `--out`",
            path.display()
        ));
    }
    if !others.is_empty() {
        let names = others.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        note(format_args!("warning: `{}` also has {names}, which no build made and which would be part of the package", out.display()));
    }
}

/// Files with secrets, with data, or of tools, which belong to no package.
fn is_private(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    let starts = [".dev.vars", ".env", ".wrangler", ".aws-sam"].iter().any(|start| name.starts_with(start));
    let is_database = ["db", "sqlite", "sqlite3", "db-wal", "db-shm", "sqlite-wal", "sqlite-shm"];
    starts || Path::new(name).extension().is_some_and(|found| is_database.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

/// Compiles an app folder for Lambda, and says what Lambda lacks.
pub(crate) fn compile(folder: &Path, clients: &[String]) -> Report {
    let mut report = app::compile_checked(folder, clients);
    if let Some(app) = &report.app {
        // A `.env` file that cannot be read is reported where it is needed.
        let variables = app::variables(folder).unwrap_or_default();
        report.diagnostics.extend(database::check(folder, app, &variables));
        report.diagnostics.extend(check_state_key(folder, app));
        report.diagnostics.extend(template::check(folder, app));
    }
    report
}

/// Copies the runtime, unless it is there. Its size and time tell: reading it twice would take
/// longer than all the rest.
fn install(from: &Path, to: &Path) -> io::Result<()> {
    let data = fs::metadata(from)?;
    if fs::metadata(to).is_ok_and(|found| found.len() == data.len() && found.modified().ok() == data.modified().ok()) {
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    let unfinished = to.with_extension("new");
    fs::copy(from, &unfinished)?;
    fs::File::options().write(true).open(&unfinished)?.set_modified(data.modified()?)?;
    fs::rename(&unfinished, to)
}

/// Puts the databases into the package; those that only a seed knows are made by their driver, as a
/// server would.
fn pack(arguments: &Build, app: &App, output: &mut Output<'_>) -> CommandResult {
    let data = &arguments.out.join("data");
    let unwritable = |error: io::Error| CommandError::Wrong(format!("`{}` cannot be written: {error}", data.display()));
    let variables = app::variables(&arguments.app)?;
    let (to_make, packed) = database::pack(&arguments.app, app, &variables, data).map_err(unwritable)?;
    for path in packed {
        output.path(&format!("data/{}", path.display()));
    }
    if to_make.is_empty() {
        return Ok(());
    }
    let (compiled, base) = (app.clone(), data.to_owned());
    let make = move || async move {
        let tasks = Tasks::new();
        let endpoint = app::endpoint(compiled, base, variables, &CacheChoice::default(), &tasks);
        for index in to_make {
            endpoint.pipeline().ping_all(index).await.map_err(|error| {
                let source = error.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
                let adapter = &endpoint.app().adapters[index].name;
                CommandError::Wrong(format!("the database of adapter `{adapter}` cannot be created: {}{source}", error.message))
            })?;
        }
        tasks.drained().await;
        Ok(())
    };
    isolate::run(make).map_err(CommandError::wrong)?
}
