//! `millrace test`: runs the tests of an app.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{self, IsTerminal as _, Write as _},
    sync::Arc,
    time::Instant,
};

use millrace_bundler::{AppTest, Report};
use millrace_core::app::App;

use crate::{
    app::{self, count},
    app_tests::{
        affected::Before,
        calls,
        chosen::{chosen, untested},
        coverage::{Coverage, Parts},
        outcome::{Outcome, Results},
        report,
        runner::{self, Originals, RunningServer, Shared},
        snapshots::{self, Writing},
    },
    cli::{Reporter, Test},
    output::{CommandError, CommandResult, note, print, print_json},
    watch::Watch,
};

/// From how many tests on progress is shown.
const MANY: usize = 50;

pub(super) fn run(arguments: &Test) -> CommandResult {
    let originals = Originals::default();
    if arguments.calls {
        return answer_calls(arguments, originals);
    }
    let mut before = None;
    let mut report = app::compile(&arguments.app);
    if !arguments.watch {
        return once(arguments, &originals, &mut report, &mut before);
    }
    let mut watch = Watch::start(&arguments.app, &report.files).map_err(CommandError::wrong)?;
    loop {
        if let Err(failure) = once(arguments, &originals, &mut report, &mut before) {
            if matches!(failure, CommandError::ReaderGone) {
                return Err(failure);
            }
            crate::output::tell(&failure);
        }
        note("waiting for a change; Ctrl-C ends");
        if !watch.changed() {
            return Err(CommandError::Wrong("the app's folder cannot be watched any more".to_owned()));
        }
        report = app::compile(&arguments.app);
        watch.follow(&report.files);
        originals.forget_files();
    }
}

/// Makes the calls that a program asks for.
fn answer_calls(arguments: &Test, originals: Originals) -> CommandResult {
    let app = app::load(&arguments.app)?.app;
    let shared = Shared {
        folder: arguments.app.clone(),
        variables: app::variables(&arguments.app)?,
        allowed: Arc::new(allowed(arguments, &app)?),
        originals,
    };
    calls::answer(&app, &shared)
}

/// Runs the tests of a compiled app; of an app that was run `before`, those that its change
/// concerns.
fn once(arguments: &Test, originals: &Originals, report: &mut Report, before: &mut Option<Before>) -> CommandResult {
    let began = Instant::now();
    app::show(&arguments.app, &report.diagnostics);
    let Some(app) = report.app.take() else { return Err(CommandError::Told) };
    let all = std::mem::take(&mut report.tests);
    let untested = untested(&app, &all);
    let number = all.len();
    let tests = chosen(all, &arguments.filters);
    // A list may be empty; a run of nothing would look like one that passed.
    if tests.is_empty() && !arguments.list {
        return Err(CommandError::Usage(match number {
            0 => "the app has no tests; write one in `NAME.test.yaml` beside a tool's `config.yaml`".to_owned(),
            _ => format!("`--filter` fits none of the {}", count(number, "test")),
        }));
    }
    if arguments.list {
        return list(arguments.reporter, &tests, &untested);
    }
    let shared = Shared {
        folder: arguments.app.clone(),
        variables: app::variables(&arguments.app)?,
        allowed: Arc::new(allowed(arguments, &app)?),
        originals: originals.clone(),
    };
    let server = arguments.url.clone().map(|url| RunningServer { url, writes: arguments.writes });
    let shows_progress = io::stderr().is_terminal() && tests.len() >= MANY;
    let is_shared = server.is_some() || !arguments.databases.is_empty();
    let known = before.take().filter(|_| !is_shared).map(|before| before.unconcerned(&app, &tests)).unwrap_or_default();
    let outcomes = run_others(&app, &tests, known, &|tests| {
        runner::run(&app, tests, &shared, server.as_ref(), |done| {
            if shows_progress {
                progress(done, tests.len());
            }
        })
    });
    let coverage = server.is_none().then(|| covered(&app, &outcomes));
    let mut pairs: Vec<_> = tests.iter().zip(outcomes).collect();
    let written = snapshots::compare(&arguments.app, &mut pairs, writing(arguments))?;
    *before = Some(Before::of(&app, &pairs));
    let results = Results { tests: pairs, untested, coverage, tells_coverage: arguments.coverage, took: began.elapsed() };
    tell(arguments.reporter, &results)?;
    if written > 0 {
        note(format_args!("{} written: read what changed before you commit it", count(written, "snapshot")));
    }
    if results.counts().failed > 0 { Err(CommandError::Told) } else { Ok(()) }
}

/// Prints which tests there are.
///
/// # Errors
/// They are asked for in a format that has results only.
fn list(reporter: Reporter, tests: &[AppTest], untested: &[String]) -> CommandResult {
    match reporter {
        Reporter::Pretty => print(tests.iter().map(|test| format!("{}: {}", test.place, test.name)).collect::<Vec<_>>().join("\n")),
        Reporter::Json => print_json(&report::list_json(tests, untested)),
        Reporter::Junit | Reporter::Tap => {
            Err(CommandError::Usage("`--list` prints for people, or with `--reporter json`; the other formats are of results".to_owned()))
        }
    }
}

/// Runs the tests whose outcomes are not known.
fn run_others(app: &App, tests: &[AppTest], known: BTreeMap<usize, Outcome>, run: &dyn Fn(&[AppTest]) -> Vec<Outcome>) -> Vec<Outcome> {
    if known.is_empty() {
        return run(tests);
    }
    let others: Vec<AppTest> =
        tests.iter().enumerate().filter(|(place, _)| !known.contains_key(place)).map(|(_, test)| test.clone()).collect();
    note(format_args!("{} of `{}` ran again; nothing changed for the others", count(others.len(), "test"), app.name));
    let mut ran = run(&others).into_iter();
    let mut known = known;
    (0..tests.len()).filter_map(|place| known.remove(&place).or_else(|| ran.next())).collect()
}

/// What of the app ran in some test.
fn covered(app: &App, outcomes: &[Outcome]) -> Coverage {
    let mut parts = Parts::default();
    outcomes.iter().for_each(|outcome| parts.add(outcome.parts.clone()));
    Coverage::of(app, &parts)
}

fn tell(reporter: Reporter, results: &Results<'_>) -> CommandResult {
    match reporter {
        Reporter::Pretty => return print(report::pretty(results)),
        Reporter::Junit => print(report::junit(results))?,
        Reporter::Tap => print(report::tap(results))?,
        Reporter::Json => print_json(&report::json(results))?,
    }
    note(report::summary(results));
    Ok(())
}

/// The adapters that tests use as they are.
///
/// # Errors
/// The app has no such adapter.
fn allowed(arguments: &Test, app: &App) -> CommandResult<BTreeSet<String>> {
    for name in &arguments.databases {
        if !app.adapters.iter().any(|adapter| adapter.name == *name) {
            let names: Vec<String> = app.adapters.iter().map(|adapter| format!("`{}`", adapter.name)).collect();
            let has = if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
            return Err(CommandError::Usage(format!("the app has no adapter `{name}`; {has}")));
        }
    }
    Ok(arguments.databases.iter().cloned().collect())
}

fn writing(arguments: &Test) -> Writing {
    let is_ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "0" && value != "false");
    match (arguments.update, is_ci) {
        (true, _) => Writing::All { only_some: !arguments.filters.is_empty() },
        (false, true) => Writing::Nothing,
        (false, false) => Writing::Missing,
    }
}

fn progress(done: usize, all: usize) {
    let mut terminal = io::stderr().lock();
    let line = if done < all { format!("\r{done} of {all}") } else { "\r\u{1b}[K".to_owned() };
    // Nobody is harmed where it cannot be shown.
    let _ = write!(terminal, "{line}").and_then(|()| terminal.flush());
}
