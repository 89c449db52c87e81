//! Runs tests, on as many isolates as the machine has processors.

use std::{
    rc::Rc,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
    time::Instant,
};

use millrace_bundler::AppTest;
use millrace_core::{
    Endpoint,
    app::App,
    ports::{Env, Ports, ScriptEngine},
};
use millrace_native::{clock::SystemClock, http_client::NativeHttpClient, isolate, wait_until::Tasks};
use millrace_script::Engine;

use super::{
    chosen::not_for_server,
    coverage::Parts,
    credentials,
    exchange::{self, Server},
    judge::{self, Watched},
    outcome::{Outcome, Problem},
    seen::{AuditEntries, Seen},
    world::{self, Strayed},
};

pub(crate) use super::world::{Originals, Shared};

/// A server that runs already, and is tested as it is.
#[derive(Clone)]
pub(crate) struct RunningServer {
    pub(crate) url: String,
    /// Whether tools that may write are called.
    pub(crate) writes: bool,
}

/// Runs tests; tells how many are done, after each. The outcomes are in the order of the tests.
pub(crate) fn run(
    app: &App,
    tests: &[AppTest],
    shared: &Shared,
    server: Option<&RunningServer>,
    mut done: impl FnMut(usize),
) -> Vec<Outcome> {
    let isolates = thread::available_parallelism().map_or(1, usize::from).min(tests.len());
    let next = AtomicUsize::new(0);
    let mut outcomes: Vec<Option<Outcome>> = vec![None; tests.len()];
    let mut broken = None;
    thread::scope(|scope| {
        let (sender, ended) = channel();
        let next = &next;
        let threads: Vec<_> = (0..isolates)
            .map(|_| {
                let sender = sender.clone();
                scope.spawn(move || isolate::run(|| on_isolate(app, tests, shared, server, next, sender)))
            })
            .collect();
        drop(sender);
        for (count, (index, outcome)) in ended.iter().enumerate() {
            outcomes[index] = Some(outcome);
            done(count + 1);
        }
        for thread in threads {
            if let Ok(Err(error)) = thread.join() {
                broken = Some(error.to_string());
            }
        }
    });
    let missing = || {
        let why = broken.clone().unwrap_or_else(|| "its isolate ended".to_owned());
        move |test: &AppTest| Outcome::of(vec![Problem::new(&test.place, format!("the test did not end: {why}"))])
    };
    outcomes.into_iter().zip(tests).map(|(outcome, test)| outcome.unwrap_or_else(|| missing()(test))).collect()
}

async fn on_isolate(
    app: &App,
    tests: &[AppTest],
    shared: &Shared,
    server: Option<&RunningServer>,
    next: &AtomicUsize,
    ended: Sender<(usize, Outcome)>,
) {
    let app = Rc::new(app.clone());
    let scripts: Rc<dyn ScriptEngine> = Rc::new(Engine::new());
    let client = NativeHttpClient::new(Rc::new(SystemClock));
    let audit = AuditEntries::default();
    let _kept = audit.keep();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(test) = tests.get(index) else { return };
        let began = Instant::now();
        let outcome = match server {
            Some(server) => at_server(&app, test, shared, server, &client).await,
            None => here(&app, test, shared, &scripts, &audit).await,
        };
        let outcome = Outcome { took: began.elapsed(), ..outcome };
        if ended.send((index, outcome)).is_err() {
            return;
        }
    }
}

/// Runs a test on an endpoint of its own.
pub(crate) async fn here(app: &Rc<App>, test: &AppTest, shared: &Shared, scripts: &Rc<dyn ScriptEngine>, audit: &AuditEntries) -> Outcome {
    let called = match call(app, test, shared, scripts, audit).await {
        Ok(called) => called,
        Err(problem) => return Outcome::of(vec![Problem::new(&test.place, problem)]),
    };
    let Called { answer, watched, strayed, parts } = called;
    let mut outcome = judged(test, answer, Some(&watched)).await;
    strayed.unlisted().into_iter().for_each(|why| outcome.fail(Problem::new(&test.place, why)));
    // Whatever came of it: it is not what a test says anything of.
    match strayed.unreached() {
        Some(why) => Outcome::skipped(why),
        None => Outcome { parts, ..outcome },
    }
}

/// What came of the call of a test.
pub(crate) struct Called {
    pub(crate) answer: Result<exchange::Answer, String>,
    pub(super) watched: Watched,
    pub(crate) strayed: Strayed,
    parts: Parts,
}

/// Makes the call of a test, in a world of its own.
///
/// # Errors
/// Why its caller cannot make it.
pub(crate) async fn call(
    app: &Rc<App>,
    test: &AppTest,
    shared: &Shared,
    scripts: &Rc<dyn ScriptEngine>,
    audit: &AuditEntries,
) -> Result<Called, String> {
    let variables = credentials::with_keys(app, world::variables(shared, test));
    let credentials = credentials::of(app, test, &variables)?;
    let (tasks, strayed) = (Tasks::new(), Strayed::default());
    let seen = Seen::default();
    let ports = world::ports(shared, test, variables, scripts.clone(), &tasks, &strayed);
    let endpoint = Endpoint::sharing(app.clone(), Ports { observer: seen.observer(), ..ports });
    // The end of a chain of another test is none of this one's.
    drop(audit.take());
    let answer = exchange::call(&Server::Here(&endpoint), test, &credentials).await;
    tasks.drained().await;
    let watched = Watched { endpoint, audit: audit.take(), spans: seen.spans() };
    Ok(Called { answer, watched, strayed, parts: seen.ran.take() })
}

/// Runs a test against a server that runs already.
async fn at_server(app: &App, test: &AppTest, shared: &Shared, server: &RunningServer, client: &NativeHttpClient) -> Outcome {
    if let Some(why) = not_for_server(app, test, server.writes) {
        return Outcome::skipped(why);
    }
    let variables: &dyn Env = &shared.variables;
    let credentials = match credentials::of(app, test, variables) {
        Ok(credentials) => credentials,
        Err(problem) => return Outcome::skipped(problem),
    };
    let answer = exchange::call(&Server::At { client, url: &server.url }, test, &credentials).await;
    judged(test, answer, None).await
}

async fn judged(test: &AppTest, answer: Result<exchange::Answer, String>, watched: Option<&Watched>) -> Outcome {
    match answer {
        Ok(answer) => {
            let snapshot = test.snapshot.is_some().then(|| judge::snapshot(&answer));
            Outcome { snapshot, ..Outcome::of(judge::judge(test, &answer, watched).await) }
        }
        Err(problem) => Outcome::of(vec![Problem::new(&test.place, problem)]),
    }
}
