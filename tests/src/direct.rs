//! A group against the core itself, with the ports of this machine and no host between.

use std::path::Path;

use millrace_catalogue::{Host, on};
use millrace_core::{
    Endpoint,
    app::App,
    cancel::Cancel,
    headers::Headers,
    protocol::{Body, Request},
};
use millrace_native::{cache::CacheChoice, env::Variables, isolate::STACK_BYTES, ports, wait_until::Tasks};

use crate::case::{Case, Exchange, Group, answer};

/// Compiles the app of a group.
///
/// # Panics
/// Where the app has errors.
#[must_use]
pub fn compile(folder: &Path) -> App {
    let connectors = on(Host::Native).map(|connector| connector.name.to_owned()).collect();
    let options = millrace_bundler::Options { connectors, ..millrace_bundler::Options::default() };
    let report = millrace_bundler::bundle(folder, &options);
    let problems = millrace_bundler::render(folder, &report.diagnostics, false);
    report.app.unwrap_or_else(|| panic!("{}\n{problems}", folder.display()))
}

/// The answers of every case of a group, case by case.
///
/// # Panics
/// Where the app has errors or the runtime cannot start.
#[must_use]
pub fn run(group: &Group) -> Vec<Vec<String>> {
    run_while(group, |_, _| true)
}

/// The same up to the case of which `goes_on`, which gets its answers, says no.
///
/// # Panics
/// As [`run`].
pub fn run_while(group: &Group, goes_on: impl FnMut(&Case, &[String]) -> bool + Send) -> Vec<Vec<String>> {
    let variables = Variables::from_iter(group.env.iter().cloned());
    let make = |app, folder: &Path| Endpoint::new(app, ports::native(folder.to_path_buf(), variables, &CacheChoice::Memory, &Tasks::new()));
    // With the stack that an isolate has.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || answers(group, make, goes_on));
        thread.unwrap_or_else(|error| panic!("{error}")).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The same on an endpoint of the caller's making: `make` gets the app and its folder.
///
/// # Panics
/// Where the app has errors or the runtime cannot start.
pub fn run_on(group: &Group, make: impl FnOnce(App, &Path) -> Endpoint) -> Vec<Vec<String>> {
    answers(group, make, |_, _| true)
}

fn answers(
    group: &Group,
    make: impl FnOnce(App, &Path) -> Endpoint,
    mut goes_on: impl FnMut(&Case, &[String]) -> bool,
) -> Vec<Vec<String>> {
    let folder = group.install();
    let app = compile(folder.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap_or_else(|error| panic!("{error}"));
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let endpoint = make(app, folder.path());
        let mut answers = Vec::new();
        for case in &group.cases {
            let mut texts = Vec::new();
            for request in &case.requests {
                let response = endpoint.handle(received(request, endpoint.body_limit())).await;
                let headers = response.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                texts.push(answer(request, response.status, headers, &response.body.collect().await));
                // Work after the response (cache stores) is done before the next request, as it is
                // for a client that waits.
                tokio::task::yield_now().await;
            }
            let is_last = !goes_on(case, &texts);
            answers.push(texts);
            if is_last {
                break;
            }
        }
        answers
    })
}

fn received(request: &Exchange, limit: usize) -> Request {
    let mut headers = Headers::new();
    headers.append("host", "127.0.0.1:8080");
    for (name, value) in &request.headers {
        headers.append(name, value.clone());
    }
    let body = if request.body.len() > limit { Body::TooLarge } else { Body::Whole(request.body.clone().into_bytes()) };
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    Request {
        method: request.method.clone(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body,
        deadline_ms: None,
        cancel: Cancel::new(),
        peer: None,
        platform_caller: None,
        checks_host: true,
        is_tls: false,
        is_local: false,
    }
}
