//! `millrace serve`: a bundle as a server.

use std::{fs, path::Path, sync::Arc};

use millrace_core::app::App;
use millrace_native::env::Variables;

use crate::{
    cli::Serve,
    endpoint_and_page::Page,
    output::{CommandError, CommandResult, note, print_line, typed},
    serving::{ListenOptions, ServedApp},
    state_key::RunKey,
};

pub(super) mod data;

pub(super) fn run(arguments: &Serve, log: &str) -> CommandResult {
    let shown = arguments.bundle.display();
    if arguments.bundle.is_dir() {
        let folder = typed(&arguments.bundle);
        return Err(CommandError::Wrong(format!(
            "`{shown}` is a folder, and `serve` takes a bundle: make one with `millrace build {folder} --target local`, or serve the app in the \
             folder with `millrace dev {folder}`"
        )));
    }
    let bytes = fs::read(&arguments.bundle).map_err(|error| CommandError::Wrong(format!("`{shown}` cannot be read: {error}")))?;
    let mut app = App::from_bundle(&bytes).map_err(|error| CommandError::Wrong(format!("`{shown}`: {error}")))?;
    drop(bytes);
    let folder = arguments.bundle.parent().unwrap_or(Path::new("."));
    let base = match (&arguments.user_data, &arguments.data) {
        (Some(data), _) => {
            data::prepare(folder, data)?;
            data
        }
        (None, Some(data)) if !data.is_dir() => {
            let shown = data.display();
            let message = format!("`{shown}` is not a folder; create it, or name another with `--data` or `MILLRACE_DATA`");
            return Err(CommandError::Wrong(message));
        }
        (None, Some(data)) => data.as_path(),
        (None, None) => folder,
    };
    let base = base.to_owned();
    let (name, path, tools) = (app.name.clone(), app.server.path.clone(), app.tools.len());
    let mut variables = Variables::of_process();
    if arguments.host.stdio {
        // One process for one client: a key that it makes for itself is enough.
        variables = RunKey::default().complete(&app, variables)?;
    }
    let cache = crate::app::cache(&variables)?;
    let telemetry = crate::app::telemetry(&app, &variables)?;
    if let Some(missing) = app.missing_state_key(&variables) {
        note(format_args!("warning: {missing}"));
    }
    crate::app::note_missing(&app, &variables, &base)?;
    if let Some(problem) = app.sign_in_problem(&variables) {
        note(format_args!("warning: {problem}"));
    }
    crate::app::note_state(&app, &base, &variables, &cache);
    if arguments.host.stdio {
        let served =
            ServedApp { app: app.into(), base, variables, cache, telemetry, page: Page::Off, settings: Arc::default(), caller: None };
        return ListenOptions::of_stdio(&arguments.host.isolate, log).serve_stdio(served, false, |_, _| Ok(()));
    }
    let place = ListenOptions::of(&arguments.host, &mut app, &variables, log)?;
    // A proxy in front may pass on what others send as if it came from this machine: a server shows
    // nobody what only its operator may see.
    let page = if arguments.page { Page::Public } else { Page::Off };
    let served = ServedApp { app: app.into(), base, variables, cache, telemetry, page, settings: Arc::default(), caller: None };
    let scheme = place.scheme();
    place.serve(served, |address, _| {
        print_line(format_args!("`{name}` with {} at {scheme}://{address}{path}", crate::app::count(tools, "tool")))
    })
}
