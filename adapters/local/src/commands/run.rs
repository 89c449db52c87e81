//! `millrace run`: an app for the client that starts this command.

use std::{io::IsTerminal as _, path::absolute, sync::Arc};

use crate::{
    app::{self, BundledApp},
    cli::Run,
    endpoint_and_page::Page,
    output::{CommandError, CommandResult, note},
    serving::{ListenOptions, ServedApp},
    state_key::RunKey,
};

pub(super) fn run(arguments: Run, log: &str) -> CommandResult {
    // A client starts commands in any folder, and nothing relative to that one means anything to
    // the app.
    let folder = absolute(&arguments.app).map_err(CommandError::wrong)?;
    let BundledApp { app, .. } = app::load(&folder)?;
    let variables = RunKey::default().complete(&app, app::variables(&folder)?)?;
    let cache = app::cache(&variables)?;
    let telemetry = app::telemetry(&app, &variables)?;
    app::note_state(&app, &folder, &variables, &cache);
    app::note_missing(&app, &variables, &folder, arguments.require_env)?;
    if std::io::stdin().is_terminal() {
        note("waiting for MCP messages on standard input, one in each line; usually a client starts this command");
    }
    let served = ServedApp {
        app: Arc::new(app),
        base: folder,
        variables,
        cache,
        telemetry,
        page: Page::Off,
        settings: Arc::default(),
        caller: None,
    };
    ListenOptions::of_stdio(&arguments.isolate, log).serve_stdio(served, false, |_, _| Ok(()))
}
