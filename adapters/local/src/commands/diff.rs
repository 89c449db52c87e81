//! `millrace diff`: what callers of an app see of the difference between two of its states.

use std::{fs, path::Path};

use millrace_bundler::{Lock, Surface, SurfacePlaces, changes};
use millrace_core::app::App;
use serde_json::json;

use super::surface::{self, PlacedChange};
use crate::{
    app,
    cli::Diff,
    output::{CommandError, CommandResult, print, print_json},
};

/// The longest file that is read, in bytes.
const LONGEST: u64 = 256 << 20;
/// How a bundle begins.
const BUNDLE: &[u8] = b"MILLRACE";

pub(super) fn run(arguments: &Diff) -> CommandResult {
    let before = surface_of(&arguments.before)?;
    let found = if arguments.after.is_dir() {
        let compiled = app::compile(&arguments.after);
        let Some(after) = &compiled.app else { return Err(wrong_app(&arguments.after, &compiled.diagnostics)) };
        let mut places = SurfacePlaces::new(&arguments.after, &compiled);
        let placed = |change| PlacedChange { place: Some(places.of(&change)), change };
        changes(&before, &Surface::of(after)).into_iter().map(placed).collect()
    } else {
        changes(&before, &surface_of(&arguments.after)?).into_iter().map(PlacedChange::from).collect::<Vec<_>>()
    };
    let breaks = surface::breaks(&found);
    if arguments.json {
        print_json(&json!({ "ok": !breaks, "changes": surface::json(&found) }))?;
    } else {
        surface::tell(&found);
        print(surface::summary(&found))?;
    }
    if breaks { Err(CommandError::Told) } else { Ok(()) }
}

/// The surface of an app in a folder, of a bundle, or of a lock file.
fn surface_of(path: &Path) -> CommandResult<Surface> {
    let shown = path.display();
    if path.is_dir() {
        let compiled = app::compile(path);
        return compiled.app.as_ref().map(Surface::of).ok_or_else(|| wrong_app(path, &compiled.diagnostics));
    }
    let unreadable = |why: String| CommandError::unable(format!("`{shown}` cannot be read: {why}"));
    let length = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > LONGEST {
        return Err(unreadable(format!("it is longer than {LONGEST} bytes")));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    if bytes.starts_with(BUNDLE) {
        let app = App::from_bundle(&bytes).map_err(|error| CommandError::unable(format!("`{shown}`: {error}")))?;
        return Ok(Surface::of(&app));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| unreadable("it is neither a bundle nor a lock file".to_owned()))?;
    let lock = Lock::parse(text).map_err(|error| unreadable(format!("it is neither a bundle nor a lock file: {error}")))?;
    lock.surface.ok_or_else(|| {
        CommandError::unable(format!("`{shown}` does not say what callers rely on: write that with `millrace check --accept`"))
    })
}

fn wrong_app(folder: &Path, diagnostics: &[millrace_bundler::Diagnostic]) -> CommandError {
    app::show(folder, diagnostics);
    CommandError::unable(format!("the app in `{}` has mistakes, so that nothing can be compared", folder.display()))
}
