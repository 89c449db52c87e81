//! What every build does with an app before it is packed.

use std::path::Path;

use millrace_bundler::{Diagnostic, Report, Severity};
use millrace_core::{
    Json,
    app::{App, STATE_KEY, ScriptMap},
};
use millrace_native::env::Variables;
use serde_json::json;

use crate::{
    app,
    cli::Build,
    output::{CommandError, CommandResult, print_json},
};

/// The app that was compiled. Shows errors and warnings on standard error; with `--json`, errors
/// are the answer.
///
/// # Errors
/// The app is wrong.
pub(super) fn take(report: &mut Report, arguments: &Build) -> CommandResult<App> {
    if !arguments.json {
        app::show(&arguments.app, &report.diagnostics);
    }
    let is_wrong = report.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    if let Some(app) = report.app.take().filter(|_| !is_wrong) {
        return Ok(app);
    }
    if arguments.json {
        print_json(&json!({ "ok": false, "diagnostics": app::diagnostics_json(&report.diagnostics) }))?;
    }
    Err(CommandError::Told)
}

/// Prints what `--json` answers after a build.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn print_built(diagnostics: &[Diagnostic], mut built: Json) -> CommandResult {
    if let Some(members) = built.as_object_mut() {
        members.insert("ok".into(), true.into());
        members.insert("diagnostics".into(), app::diagnostics_json(diagnostics));
    }
    print_json(&built)
}

/// Warns of a key that the app needs there and that nobody set here.
pub(super) fn check_state_key(folder: &Path, app: &App) -> Option<Diagnostic> {
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
pub(super) fn shorten_maps(app: &mut App) {
    for script in &mut app.scripts {
        script.map = script.map.take().map(ScriptMap::of_lines);
    }
}
