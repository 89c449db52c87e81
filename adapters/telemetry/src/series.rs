//! Which series an app can make: everything that a label can be is known when it is built.

use std::collections::BTreeSet;

use millrace_core::{
    app::{App, Execute},
    ports::{CallOutcome, stage_names},
};

use crate::{
    metrics::{ABANDONED, HTTP_METHODS, METRICS, OTHER},
    names::{ADAPTER, CACHE_HIT, ERROR, HTTP_METHOD, HTTP_ROUTE, METHOD, OUTCOME, SCRIPT, STAGE, SYSTEM, TOOL},
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
    METRICS.iter().map(|about| about.labels.iter().map(|name| label(app, about.metric.is_of_api(), name)).collect()).collect()
}

fn label(app: &App, of_api: bool, name: &'static str) -> LabelValues {
    let adapters = || app.adapters.iter().filter(|adapter| (adapter.connector == "http") == of_api);
    let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let (values, of) = match name {
        METHOD => (owned(&["tools/call", "prompts/get", "resources/read", "completion/complete"]), None),
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

/// The scripts that calls run, by their paths.
fn scripts(app: &App) -> Vec<String> {
    let of_tools = app.tools.iter().flat_map(|tool| {
        let handler = if let Execute::Script(script) = &tool.execute { Some(script) } else { None };
        tool.scripts().chain(handler)
    });
    let places: BTreeSet<usize> = of_tools.map(|script| script.script as usize).collect();
    places.into_iter().filter_map(|place| app.scripts.get(place)).map(|script| script.path.clone()).collect()
}
