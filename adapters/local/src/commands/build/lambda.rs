//! `millrace build --target lambda`: a folder that is zipped, or that `sam deploy` takes.
//!
//! ```text
//! DIR/bootstrap       the compiled runtime, the same for every app
//! DIR/app.bundle      the app
//! DIR/data/           SQLite's files of the app, where it has any
//! DIR/template.yaml   where the app has none of its own
//! ```

use std::{fs, io, path::Path};

use millrace_bundler::{Report, Severity};
use millrace_core::app::App;
use millrace_native::{cache::CacheChoice, isolate, wait_until::Tasks};
use serde_json::json;

use super::files::write;
use crate::{
    app,
    cli::Build,
    output::{CommandError, CommandResult, print, print_json},
};

mod database;
mod runtime;
mod template;

pub(super) fn run(arguments: &Build) -> CommandResult {
    let mut report = compile(&arguments.app);
    app::show(&arguments.app, &report.diagnostics);
    let is_wrong = report.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let Some(mut app) = report.app.take().filter(|_| !is_wrong) else { return Err(CommandError::Told) };
    super::shorten_maps(&mut app);
    let bundle = app.to_bundle().map_err(CommandError::wrong)?;
    let made = runtime::ready(arguments.arch)?;
    let out = &arguments.out;
    let template = out.join(template::FILE);
    let has_own = arguments.app.join(template::FILE).is_file();
    let unwritable = |error: io::Error| CommandError::Wrong(format!("`{}` cannot be written: {error}", out.display()));
    install(&made, &out.join(runtime::BINARY)).map_err(unwritable)?;
    write(&out.join("app.bundle"), &bundle).map_err(unwritable)?;
    pack(arguments, &app, &out.join("data"))?;
    if !has_own {
        write(&template, template::generated(&app).as_bytes()).map_err(unwritable)?;
    }
    let bytes = fs::metadata(&made).map_or(0, |data| data.len());
    if arguments.json {
        let arch = arguments.arch.of_lambda();
        return print_json(&json!({ "target": "lambda", "out": out, "arch": arch, "bytes": bundle.len(), "bootstrap": bytes }));
    }
    let next = match has_own {
        true => format!("zip what is in `{}`, or deploy it with `sam build && sam deploy --guided`", out.display()),
        false => format!("deploy it with `cd {} && sam deploy --guided`", out.display()),
    };
    print(format_args!("{} (app {} bytes, bootstrap {bytes} bytes); {next}", out.display(), bundle.len()))
}

/// Compiles an app folder for Lambda, and says what Lambda lacks.
pub(crate) fn compile(folder: &Path) -> Report {
    let mut report = app::compile(folder);
    if let Some(app) = &report.app {
        // A `.env` file that cannot be read is told by whoever needs it.
        let variables = app::variables(folder).unwrap_or_default();
        report.diagnostics.extend(database::check(folder, app, &variables));
        report.diagnostics.extend(super::check_state_key(folder, app));
    }
    report
}

/// Copies the runtime, unless it is there. Its size and time tell: reading it twice would take longer than all the rest.
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

/// Puts the databases into the package; those that only a seed knows are made by their driver, as a server would.
fn pack(arguments: &Build, app: &App, data: &Path) -> CommandResult {
    let unwritable = |error: io::Error| CommandError::Wrong(format!("`{}` cannot be written: {error}", data.display()));
    let variables = app::variables(&arguments.app)?;
    let to_make = database::pack(&arguments.app, app, &variables, data).map_err(unwritable)?;
    if to_make.is_empty() {
        return Ok(());
    }
    let (compiled, base) = (app.clone(), data.to_owned());
    let make = move || async move {
        let tasks = Tasks::new();
        let endpoint = app::endpoint(compiled, base, variables, &CacheChoice::default(), &tasks);
        for index in to_make {
            endpoint.pipeline().ping(index).await.map_err(|error| {
                let source = error.source.map(|source| format!(" ({source})")).unwrap_or_default();
                let adapter = &endpoint.app().adapters[index].name;
                CommandError::Wrong(format!("the database of adapter `{adapter}` cannot be created: {}{source}", error.message))
            })?;
        }
        tasks.drained().await;
        Ok(())
    };
    isolate::run(make).map_err(CommandError::wrong)?
}
