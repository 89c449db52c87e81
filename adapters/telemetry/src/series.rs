//! Which series an app can make: everything that a label can be is known when it is built.

use std::collections::BTreeSet;

use millrace_core::{
    app::{App, Execute},
    ports::{CallOutcome, stage_names},
};

use crate::{
    metrics::{ABANDONED, Description, HTTP_METHODS, METRICS, Metric, OTHER, Part, STATE_REFUSALS},
    names::{ADAPTER, CACHE_HIT, ERROR, HTTP_METHOD, HTTP_ROUTE, ISOLATE, METHOD, OUTCOME, POOL, POOL_STATE, SCRIPT, STAGE, SYSTEM, TOOL},
    tracer::system,
};

/// What a label of a metric can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelValues {
    /// The name of the label.
    pub name: &'static str,
    /// Its values; empty where `of` says it.
    pub values: Vec<String>,
    /// What its values are, where they are a list of the pages or of a standard.
    pub of: Option<&'static str>,
}

/// The labels of each metric of [`METRICS`], in their order.
#[must_use]
pub fn series(app: &App) -> Vec<Vec<LabelValues>> {
    METRICS.iter().map(|about| about.labels.iter().map(|name| label(app, about.metric, name)).collect()).collect()
}

/// The metrics that an app can make, with their labels: where a label has no value, or the app has
/// nothing that is measured, there is none. On a host that is not native, fewer come.
pub fn possible(app: &App) -> impl Iterator<Item = (&'static Description, Vec<LabelValues>)> {
    let has_scripts = !app.scripts.is_empty();
    let has_places = app.tools.iter().any(|tool| tool.limits.concurrency.is_some());
    let has_state = has_places || app.counted_tools().next().is_some();
    let is_measured = move |metric: Metric| match metric.part() {
        Part::Scripts => has_scripts,
        Part::State => has_state,
        Part::Other => true,
    };
    let has_values = |labels: &Vec<LabelValues>| labels.iter().all(|label| label.of.is_some() || !label.values.is_empty());
    METRICS.iter().zip(series(app)).filter(move |(about, labels)| is_measured(about.metric) && has_values(labels))
}

fn label(app: &App, metric: Metric, name: &'static str) -> LabelValues {
    let of_api = metric.is_of_api();
    let adapters = || app.adapters.iter().filter(|adapter| (adapter.connector == "http") == of_api);
    let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let (values, of) = match name {
        METHOD => (owned(&["tools/call", "prompts/get", "resources/read", "completion/complete"]), None),
        TOOL if metric.is_of_places() => {
            let limited = app.tools.iter().filter(|tool| tool.limits.concurrency.is_some());
            (limited.map(|tool| tool.name.clone()).collect(), None)
        }
        POOL => (adapters().filter(|adapter| has_pool(&adapter.connector)).map(|adapter| adapter.name.clone()).collect(), None),
        POOL_STATE => (owned(&["used", "idle"]), None),
        ISOLATE => (Vec::new(), Some("numbers of isolates, from 0")),
        ERROR if metric == Metric::StateRefusals => (owned(&STATE_REFUSALS), None),
        TOOL => (app.tools.iter().map(|tool| tool.name.clone()).chain([OTHER.to_owned()]).collect(), None),
        OUTCOME => {
            let all = [CallOutcome::Succeeded, CallOutcome::Warned, CallOutcome::Failed, CallOutcome::Asked].map(CallOutcome::as_str);
            (owned(&all).into_iter().chain([ABANDONED.to_owned()]).collect(), None)
        }
        STAGE => (stage_names().map(str::to_owned).collect(), None),
        CACHE_HIT => (owned(&["true", "false"]), None),
        ADAPTER => (adapters().map(|adapter| adapter.name.clone()).collect(), None),
        SYSTEM => {
            let systems: BTreeSet<String> = adapters().map(|adapter| system(&adapter.connector).to_owned()).collect();
            (systems.into_iter().collect(), None)
        }
        SCRIPT => (scripts(app), None),
        HTTP_METHOD => (owned(&HTTP_METHODS).into_iter().chain([OTHER.to_owned()]).collect(), None),
        HTTP_ROUTE => (owned(&[&app.server.path, "/heartbeat", "/livez", "/readyz", OTHER]), None),
        ERROR => (Vec::new(), Some("codes of failures, and those that the app's scripts and `errors.on` write")),
        _ => (Vec::new(), Some("statuses of HTTP")),
    };
    LabelValues { name, values, of }
}

/// Whether connections to these databases are kept, and calls wait for them.
fn has_pool(connector: &str) -> bool {
    ["postgres", "mysql", "mongodb", "redis"].contains(&connector)
}

/// The scripts that calls run, by their paths.
fn scripts(app: &App) -> Vec<String> {
    let of_tools = app.tools.iter().flat_map(|tool| {
        let handler = if let Execute::Script(script) = &tool.execute { Some(script) } else { None };
        tool.scripts().chain(handler)
    });
    let places: BTreeSet<usize> = of_tools.map(|script| script.script as usize).collect();
    places.into_iter().filter_map(|place| app.scripts.get(place)).map(|script| script.path.clone()).collect()
}
