//! `millrace dev`: serves an app, and again after every change.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    thread,
};

use millrace_bundler::{Diagnostic, Origin, render};
use millrace_core::{
    Json,
    app::{App, Server},
    one_line::one_line,
    platform_caller::PlatformCaller,
};

use super::{caller, types};
use crate::{
    announce::{self, Announcement},
    app::{self, BundledApp, count},
    cli::{Dev, Host},
    endpoint_and_page::Page,
    output::{CommandError, CommandResult, note, tell},
    page::Setting,
    serving::{ListenOptions, Reloader, ServedApp},
    state_key::RunKey,
    stdio::Pump,
    watch::Watch,
};

pub(super) fn run(arguments: Dev, log: &str) -> CommandResult {
    let folder = arguments.app;
    let BundledApp { mut app, report } = app::load(&folder)?;
    let mut key = RunKey::default();
    let variables = key.complete(&app, app::variables(&folder)?)?;
    let cache = app::cache(&variables)?;
    let telemetry = app::telemetry(&app, &variables)?;
    let databases = announce::databases(&app, &folder, &variables)?;
    let outdated = announce::outdated(&app, &folder, &variables, &report.seeds);
    outdated.iter().for_each(note);
    app::note_missing(&app, &variables, &folder, false)?;
    if let Some(problem) = app.sign_in_problem(&variables) {
        note(format_args!("warning: {problem}"));
    }
    app::note_state(&app, &folder, &variables, &cache);
    types::refresh(&folder, &app, &report.statements);
    let announcement = Announcement::of(&app, databases);
    let current = fingerprint(&app);
    let stdio = arguments.host.stdio;
    let place = match stdio {
        true => ListenOptions::of_stdio(&arguments.host.isolate, log),
        false => ListenOptions::of(&arguments.host, &mut app, &variables, log)?,
    };
    let listens_on = (!stdio).then_some(arguments.host.host);
    let page = Page::of_dev(listens_on, &app);
    let reloads = Reloads {
        listens_on,
        folder: folder.clone(),
        current,
        env_file: None,
        allow_hosts: arguments.host.allow_hosts.clone(),
        endpoint: listened_at(&app.server),
        pump: None,
        key,
        caller: None,
        broken: false,
        said: Vec::new(),
        outdated,
    };
    let settings = settings(page, &report.origins);
    let caller = arguments.caller.as_deref().map(|text| developer(text, &arguments.host, &app)).transpose()?;
    let reloads = Reloads { caller: caller.clone(), ..reloads };
    // Whoever reads that the server is ready may change a file at once.
    let mut watch = Watch::start(&reloads.folder, &report.files);
    if let Ok(watch) = &mut watch {
        watch.ignore(&announce::database_files(&app, &folder, &variables));
    }
    let served = ServedApp { app: Arc::new(app), base: folder, variables, cache, telemetry, page, settings, caller };
    if stdio {
        return place.serve_stdio(served, true, |reloader, pump| {
            announcement.note();
            Reloads { pump: Some(pump.clone()), ..reloads }.spawn(watch, reloader)
        });
    }
    let scheme = place.scheme();
    place.serve(served, |address: SocketAddr, reloader| {
        announcement.print(scheme, address)?;
        reloads.spawn(watch, reloader)
    })
}

/// What of a server an edit does not change before the next start: its port, or the variable that
/// has it, and its path.
fn listened_at(server: &Server) -> (u16, Option<String>, String) {
    (server.port, server.port_variable.clone(), server.path.clone())
}

/// The caller of `--as`.
///
/// # Errors
/// The text names nobody, or others could reach the server, who would be this caller.
fn developer(text: &str, host: &Host, app: &App) -> CommandResult<PlatformCaller> {
    let caller = caller::with_claims(text)?;
    if !host.host.is_loopback() || !is_alone(app) {
        return Err(CommandError::Usage(
            "`--as` works on the loopback only, and without `server.hosts`, `server.cors.origins` and `--allow-host`: whoever else reached the server would be this caller".into(),
        ));
    }
    note(format_args!(
        "warning: callers without credentials are `{}`, because of `--as`",
        one_line(caller.claims.get("sub").and_then(Json::as_str).unwrap_or_default())
    ));
    Ok(caller)
}

/// Whether nothing but this machine's own programs and pages reaches the server.
fn is_alone(app: &App) -> bool {
    app.server.hosts.is_empty() && app.server.cors_origins.is_empty()
}

/// Follows the app's files.
struct Reloads {
    folder: PathBuf,
    /// What is served, and the file of variables that is.
    current: Option<Vec<u8>>,
    env_file: Option<Vec<u8>>,
    /// Port and path: they are fixed while the server runs.
    endpoint: (u16, Option<String>, String),
    /// Kept, so that questions of before a change can be answered after it.
    key: RunKey,
    /// `--as`
    caller: Option<PlatformCaller>,
    /// `None` where there is a client on standard input instead.
    listens_on: Option<IpAddr>,
    /// Where there is a client on standard input.
    pump: Option<Arc<Pump>>,
    /// `--allow-host`
    allow_hosts: Vec<String>,
    /// The last change left the app broken.
    broken: bool,
    /// What was said of the last change.
    said: Vec<Diagnostic>,
    /// What was said of databases that do not have a change of their seed.
    outdated: Vec<String>,
}

impl Reloads {
    /// # Errors
    /// The system gives no thread.
    fn spawn(self, watch: notify::Result<Watch>, reloader: Reloader) -> CommandResult {
        thread::Builder::new()
            .name("watch".to_owned())
            .stack_size(millrace_native::isolate::STACK_BYTES)
            .spawn(move || self.run(watch, &reloader))
            .map(drop)
            .map_err(CommandError::wrong)
    }

    fn run(mut self, watch: notify::Result<Watch>, reloader: &Reloader) {
        let mut watch = match watch {
            Ok(watch) => watch,
            Err(error) => return note(format_args!("warning: changes are not detected, restart after one: {error}")),
        };
        let env_file = self.folder.join(app::ENV_FILE);
        self.env_file = std::fs::read(&env_file).ok();
        while watch.changed() {
            self.reload(&mut watch, reloader, std::fs::read(&env_file).ok());
        }
    }

    fn reload(&mut self, watch: &mut Watch, reloader: &Reloader, env_file: Option<Vec<u8>>) {
        let report = app::compile(&self.folder);
        watch.follow(&report.files);
        // What was said stays said: output that goes to a file in the app's folder would be a
        // change of its own, for ever.
        if report.app.is_none() && self.broken && report.diagnostics == self.said {
            return;
        }
        app::show(&self.folder, &report.diagnostics);
        self.said = report.diagnostics;
        let Some(mut app) = report.app else {
            return self.keep_serving(reloader, &render(&self.folder, &self.said, false));
        };
        types::refresh(&self.folder, &app, &report.statements);
        let mended = std::mem::take(&mut self.broken);
        let fingerprint = fingerprint(&app);
        if env_file == self.env_file && fingerprint == self.current {
            if mended {
                reloader.show_problems("");
                note("fixed: serving the same version");
            }
            return;
        }
        let deployment = app::variables(&self.folder)
            .and_then(|variables| self.key.complete(&app, variables))
            .and_then(|variables| Ok((app::cache(&variables)?, app::telemetry(&app, &variables)?, variables)));
        let (cache, telemetry, variables) = match deployment {
            Ok(deployment) => deployment,
            Err(failure) => return self.refuse(reloader, &failure),
        };
        if let Some(pump) = &self.pump {
            pump.set_body_limit(app.server.body_limit);
        } else if listened_at(&app.server) != self.endpoint {
            note("`server.port` and `server.path` take effect at the next start");
        }
        let tools = count(app.tools.len(), "tool");
        app.server.hosts.extend(self.allow_hosts.iter().map(|name| name.to_ascii_lowercase()));
        watch.ignore(&announce::database_files(&app, &self.folder, &variables));
        let outdated = announce::outdated(&app, &self.folder, &variables, &report.seeds);
        let page = Page::of_dev(self.listens_on, &app);
        let settings = settings(page, &report.origins);
        let caller = self.caller.clone().filter(|_| is_alone(&app));
        if self.caller.is_some() && caller.is_none() {
            note("warning: `--as` is off: the app lists `server.hosts` or `server.cors.origins`, and others could be this caller");
        }
        let base = self.folder.clone();
        let served = ServedApp { app: Arc::new(app), base, variables, cache, telemetry, page, settings, caller };
        if let Err(failure) = reloader.replace(&served) {
            return self.refuse(reloader, &failure);
        }
        reloader.show_problems("");
        (self.current, self.env_file) = (fingerprint, env_file);
        note(format_args!("reloaded: {tools}"));
        outdated.iter().filter(|line| !self.outdated.contains(line)).for_each(note);
        self.outdated = outdated;
    }

    /// Says why a change is not served.
    fn refuse(&mut self, reloader: &Reloader, failure: &CommandError) {
        tell(failure);
        self.keep_serving(reloader, failure.message().unwrap_or_default());
    }

    fn keep_serving(&mut self, reloader: &Reloader, problems: &str) {
        self.broken = true;
        reloader.show_problems(problems);
        note("still serving the last good version");
    }
}

/// What the page shows of where settings came from.
fn settings(page: Page, origins: &[Origin]) -> Arc<[Setting]> {
    if page == Page::WithDetails { origins.iter().map(Setting::from).collect() } else { Arc::default() }
}

/// Tells one app from another; `None` for one that cannot be encoded, which is like no other.
fn fingerprint(app: &App) -> Option<Vec<u8>> {
    use sha2::{Digest as _, Sha256};
    app.to_bundle().ok().map(|bytes| Sha256::digest(bytes).to_vec())
}
