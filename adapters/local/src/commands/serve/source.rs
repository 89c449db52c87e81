//! What `serve` serves: a bundle, its folder of databases, and what variables say of both.

use std::{fs, net::SocketAddr, path::Path, sync::Arc};

use millrace_core::app::App;
use millrace_native::env::Variables;

use super::data;
use crate::{
    cli::Serve,
    endpoint_and_page::Page,
    output::{CommandError, CommandResult, note, typed},
    serving::ServedApp,
    state_key::RunKey,
};

/// What a server says of its app.
pub(super) struct Summary {
    name: String,
    path: String,
    tools: usize,
}

impl Summary {
    pub(super) fn of(app: &App) -> Self {
        Self { name: app.name.clone(), path: app.server.path.clone(), tools: app.tools.len() }
    }

    pub(super) fn at(&self, scheme: &str, address: SocketAddr) -> String {
        format!("`{}` with {} at {scheme}://{address}{}", self.name, crate::app::count(self.tools, "tool"), self.path)
    }
}

/// Reads the bundle and what its deployment is configured by; says what is missing.
///
/// # Errors
/// Something cannot be read or is wrong, or a value is missing that must be there.
pub(super) fn load(arguments: &Serve) -> CommandResult<ServedApp> {
    let shown = arguments.bundle.display();
    if arguments.bundle.is_dir() {
        let folder = typed(&arguments.bundle);
        return Err(CommandError::Wrong(format!(
            "`{shown}` is a folder, and `serve` takes a bundle: make one with `millrace build {folder} --target local`, or serve the app in the \
             folder with `millrace dev {folder}`"
        )));
    }
    let bytes = fs::read(&arguments.bundle).map_err(|error| CommandError::Wrong(format!("`{shown}` cannot be read: {error}")))?;
    let app = App::from_bundle(&bytes).map_err(|error| CommandError::Wrong(format!("`{shown}`: {error}")))?;
    drop(bytes);
    let base = base(arguments)?.to_owned();
    let mut variables = Variables::of_process();
    if arguments.host.stdio {
        // One process for one client: a key that it makes for itself is enough.
        variables = RunKey::default().complete(&app, variables)?;
    }
    let cache = crate::app::cache(&variables)?;
    let telemetry = crate::app::telemetry(&app, &variables)?;
    crate::app::note_missing(&app, &variables, &base, arguments.require_env)?;
    if let Some(problem) = app.sign_in_problem(&variables) {
        note(format_args!("warning: {problem}"));
    }
    crate::app::note_state(&app, &base, &variables, &cache);
    // A proxy in front may pass on what others send as if it came from this machine: a server shows
    // nobody what only its operator may see.
    let page = if arguments.page { Page::Public } else { Page::Off };
    Ok(ServedApp { app: app.into(), base, variables, cache, telemetry, page, settings: Arc::default(), caller: None })
}

/// The folder where relative paths of databases start.
fn base(arguments: &Serve) -> CommandResult<&Path> {
    let folder = arguments.bundle.parent().unwrap_or(Path::new("."));
    match (&arguments.user_data, &arguments.data) {
        (Some(data), _) => {
            data::prepare(folder, data)?;
            Ok(data)
        }
        (None, Some(data)) if !data.is_dir() => {
            let shown = data.display();
            let message = format!("`{shown}` is not a folder; create it, or name another with `--data` or `MILLRACE_DATA`");
            Err(CommandError::Wrong(message))
        }
        (None, Some(data)) => Ok(data),
        (None, None) => Ok(folder),
    }
}
