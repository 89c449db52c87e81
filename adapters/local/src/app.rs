//! An app folder as the commands take it.

use std::{
    panic,
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use millrace_bundler::{
    Diagnostic, Options, Report, Severity, Texts, bundle_and_load,
    editor::{self, AppIndex},
    render,
};
use millrace_catalogue::Host;
use millrace_core::{
    Endpoint, Json,
    app::{Adapter, App, Tool},
    ports::{Observer, Ports},
};
use millrace_native::{
    cache::CacheChoice,
    env::Variables,
    logging, ports,
    secrets::SecretsChoice,
    state,
    telemetry::{self, Abilities, TelemetrySettings},
    wait_until::Tasks,
};
use millrace_script::Engine;
use serde_json::json;

use crate::output::{CommandError, CommandResult, note, note_styled};

/// The file of variables in an app's folder.
pub(crate) const ENV_FILE: &str = ".env";

/// The stack of what compiles an app, in bytes; only what is used of it takes memory.
const STACK_BYTES: usize = 8 << 20;

/// An app, and what else the bundler found.
pub(crate) struct BundledApp {
    pub(crate) app: App,
    pub(crate) report: Report,
}

/// Compiles an app folder for this machine.
pub(crate) fn compile(folder: &Path) -> Report {
    compile_checked(folder, &[])
}

/// The same, checked for these clients; without any, for those that the app names.
pub(crate) fn compile_checked(folder: &Path, clients: &[String]) -> Report {
    compile_with(folder, &Options { connectors: names(Host::Native), clients: clients.to_vec(), ..Options::default() })
}

/// Compiles an app folder for a Worker with these databases of D1 bound to it.
pub(crate) fn compile_for_worker(folder: &Path, d1_bindings: Vec<String>, clients: &[String]) -> Report {
    let options = Options { connectors: names(Host::Worker), d1_bindings, clients: clients.to_vec(), is_worker: true };
    compile_with(folder, &options)
}

/// Compiles in a thread whose stack is as large everywhere. musl knows no more of the first
/// thread's stack than what is in use, and the parser of SQL would make a stack of its own at each
/// statement: two fifths of the time of 8,000 tools.
fn compile_with(folder: &Path, options: &Options) -> Report {
    in_large_stack(|| bundle_and_load(folder, options, &Engine::new()))
}

fn in_large_stack<T: Send>(compile: impl Fn() -> T + Send + Copy) -> T {
    thread::scope(|scope| match thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, compile) {
        Ok(compiling) => compiling.join().unwrap_or_else(|payload| panic::resume_unwind(payload)),
        Err(_) => compile(),
    })
}

/// Compiles an app folder for this machine with `texts` in place of files, and gives what an editor
/// asks about; `previous` is what was known before, and `stop` ends it early.
pub(crate) fn compile_open(folder: &Path, texts: &Texts, previous: Option<&AppIndex>, stop: &Arc<AtomicBool>) -> (Report, AppIndex) {
    let options = Options { connectors: names(Host::Native), ..Options::default() };
    in_large_stack(|| editor::analyse(folder, &options, Some(&Engine::new()), texts, previous, stop))
}

/// What is wrong with the file of variables in an app's folder.
pub(crate) fn broken_env_file(folder: &Path) -> Option<Diagnostic> {
    let error = Variables::of_process_and(&folder.join(ENV_FILE)).err()?;
    Some(Diagnostic {
        severity: Severity::Error,
        file: ENV_FILE.into(),
        line: error.line().unwrap_or(1),
        column: 1,
        length: 0,
        message: error.to_string(),
        help: None,
    })
}

fn names(host: Host) -> Vec<String> {
    millrace_catalogue::on(host).map(|connector| connector.name.to_owned()).collect()
}

/// Whether an adapter's database is a file of the machine.
pub(crate) fn is_file(adapter: &Adapter) -> bool {
    millrace_catalogue::find(&adapter.connector).is_some_and(|connector| connector.is_file)
}

/// Compiles an app folder; shows errors and warnings on standard error.
///
/// # Errors
/// The app is wrong.
pub(crate) fn load(folder: &Path) -> CommandResult<BundledApp> {
    taken(folder, compile(folder))
}

/// The same for one of its tools: of warnings, only those about the files of its folder and its
/// scripts are shown.
///
/// # Errors
/// The app is wrong.
pub(crate) fn load_for(folder: &Path, tool: &str) -> CommandResult<BundledApp> {
    let mut report = compile(folder);
    if let Some(app) = &report.app {
        let own_folder = report.tool_files.get(tool).and_then(|file| Path::new(file).parent());
        let scripts = app.tools.iter().filter(|found| found.name == tool).flat_map(Tool::scripts);
        let scripts: Vec<&Path> =
            scripts.filter_map(|script| app.scripts.get(script.script as usize)).map(|script| Path::new(&script.path)).collect();
        report.diagnostics.retain(|Diagnostic { file, .. }| {
            own_folder.is_some_and(|own| file.parent() == Some(own)) || scripts.contains(&file.as_path())
        });
    }
    taken(folder, report)
}

fn taken(folder: &Path, mut report: Report) -> CommandResult<BundledApp> {
    show(folder, &report.diagnostics);
    match report.app.take() {
        Some(app) => Ok(BundledApp { app, report }),
        None => Err(CommandError::Told),
    }
}

/// Shows errors and warnings, and how many there are, on standard error.
pub(crate) fn show(folder: &Path, diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        note_styled(render(folder, diagnostics, logging::colours()).trim_end());
    }
}

/// Errors and warnings as `--json` has them.
pub(crate) fn diagnostics_json(diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(diagnostic_json).collect()
}

fn diagnostic_json(diagnostic: &Diagnostic) -> Json {
    json!({
        "severity": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "file": diagnostic.file,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "length": diagnostic.length,
        "message": diagnostic.message,
        "help": diagnostic.help,
    })
}

/// `2 errors, 1 warning`
pub(crate) fn summary(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    format!("{}, {}", count(errors, "error"), count(diagnostics.len() - errors, "warning"))
}

/// `1 tool`, `2 tools`
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The variables that an app in a folder sees: the process's, and those of the folder's `.env`
/// file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn variables(folder: &Path) -> CommandResult<Variables> {
    Variables::of_process_and(&folder.join(ENV_FILE)).map_err(CommandError::wrong)
}

/// Tells what has no value of what the app needs, and what does not work without it.
///
/// # Errors
/// Something has none, and all of it is `required`; the operating system gives no thread.
pub(crate) fn note_missing(app: &App, variables: &Variables, base: &Path, required: bool) -> CommandResult {
    let mut missing: Vec<String> = app.missing_state_key(variables).into_iter().collect();
    missing.extend(millrace_native::secrets::missing(app, variables, base).map_err(CommandError::wrong)?);
    if required && !missing.is_empty() {
        return Err(CommandError::Unset(format!("nothing is served, because of `--require-env`: {}", missing.join("; "))));
    }
    missing.iter().for_each(|line| note(format_args!("warning: {line}")));
    Ok(())
}

/// The cache that the variables ask for. The store of secrets is looked at, too, so that a mistake
/// is told at the start.
///
/// # Errors
/// They ask for one of them in a wrong way.
pub(crate) fn cache(variables: &Variables) -> CommandResult<CacheChoice> {
    SecretsChoice::of(variables).map_err(CommandError::wrong)?;
    CacheChoice::of(variables).map_err(CommandError::wrong)
}

/// Says where the store of counters and records does not hold what the app promises.
pub(crate) fn note_state(app: &App, base: &Path, variables: &Variables, cache: &CacheChoice) {
    if let Some(problem) = state::problem(app, base, variables, cache) {
        note(format_args!("warning: {problem}"));
    }
}

/// What is collected of the app for a collector, and where that is sent.
///
/// # Errors
/// A variable is wrong, or a certificate that one names cannot be used.
pub(crate) fn telemetry(app: &App, variables: &Variables) -> CommandResult<Option<TelemetrySettings>> {
    let settings = TelemetrySettings::of_app(app, variables, Abilities::Machine).map_err(CommandError::wrong)?;
    settings.iter().try_for_each(telemetry::check).map_err(CommandError::wrong)?;
    Ok(settings)
}

/// An endpoint for this isolate. `base` is the folder that relative paths of databases are below.
pub(crate) fn endpoint(app: App, base: PathBuf, variables: Variables, cache: &CacheChoice, tasks: &Tasks) -> Endpoint {
    observed_endpoint(app, base, variables, cache, tasks, None, None)
}

/// The same, whose calls somebody observes, and what is collected of them for a collector.
pub(crate) fn observed_endpoint(
    app: App,
    base: PathBuf,
    variables: Variables,
    cache: &CacheChoice,
    tasks: &Tasks,
    observer: Option<Rc<dyn Observer>>,
    telemetry: Option<TelemetrySettings>,
) -> Endpoint {
    let mut ports = Ports { observer, ..ports::native(base, variables, cache, tasks) };
    telemetry::observe(telemetry, &mut ports);
    Endpoint::new(app, ports)
}
