//! What is counted and measured: [`METRICS`], the one list of it, and who makes it of what the core
//! tells by the port [`Observer`].
//!
//! Names and units are those of OpenTelemetry's conventions for MCP, databases and HTTP, where they
//! have one; the others begin with `millrace.`. The values of labels are known when an app is built
//! (`millrace check --metrics` prints them): names of tools, adapters and scripts, codes, methods. A
//! caller's value is never one.
//!
//! What the numbers become is a [`Meter`]'s: the SDK of OpenTelemetry on native hosts, `deltas` in
//! a Worker.

use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
};

use millrace_core::{
    ErrorKind,
    app::{Adapter, Statement},
    fault::{Fault, Severity},
    ports::{CallEvent, CallObserver, CallOutcome, CallStart, HandledRequest, Observer},
};
use opentelemetry_semantic_conventions::metric;

use crate::{
    names::{
        ADAPTER, CACHE_HIT, ERROR, HTTP_METHOD, HTTP_ROUTE, HTTP_STATUS, METHOD, OPERATION_DURATION, OUTCOME, SCRIPT, STAGE, SYSTEM, TOOL,
    },
    tracer::{NO_TOOL, system},
};

/// What something of an app's operation is measured by, in the order of [`METRICS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// How long calls take, and how many there are.
    Operation,
    /// How many calls are under way.
    Active,
    /// How long the stages of calls take.
    Stage,
    /// Looks into the cache.
    CacheLookup,
    /// How long databases take.
    Database,
    /// How long APIs take.
    Api,
    /// How long scripts take.
    Script,
    /// Calls that failed.
    Failure,
    /// How long HTTP requests take.
    Request,
}

/// How numbers of a metric become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricKind {
    /// They are added up.
    Counter,
    /// They are added up, and some are negative.
    UpDownCounter,
    /// They are counted by size. The upper bounds.
    Histogram(&'static [f64]),
}

/// What is known of a [`Metric`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// Which it is.
    pub metric: Metric,
    /// Its name in OTLP.
    pub name: &'static str,
    /// Its unit, by UCUM.
    pub unit: &'static str,
    /// What it says, in a sentence without its period.
    pub text: &'static str,
    /// How its numbers become one.
    pub kind: MetricKind,
    /// The names of its labels. A series need not have all of them.
    pub labels: &'static [&'static str],
}

/// The bounds of the conventions for MCP, with finer ones below them: a cached call takes less than
/// a millisecond.
const OPERATIONS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// The bounds of the conventions for databases.
const DATABASES: &[f64] = &[0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0];
/// The bounds of the conventions for HTTP.
const REQUESTS: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
/// Steps of a call, most of which take microseconds.
const STEPS: &[f64] = &[0.000_01, 0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0];

/// Everything that is measured.
pub const METRICS: [Description; 9] = [
    Description {
        metric: Metric::Operation,
        name: OPERATION_DURATION,
        unit: "s",
        text: "How long calls take, from their first stage to their answer",
        kind: MetricKind::Histogram(OPERATIONS),
        labels: &[METHOD, TOOL, OUTCOME, ERROR],
    },
    Description {
        metric: Metric::Active,
        name: "millrace.calls.active",
        unit: "{call}",
        text: "How many calls are under way",
        kind: MetricKind::UpDownCounter,
        labels: &[],
    },
    Description {
        metric: Metric::Stage,
        name: "millrace.stage.duration",
        unit: "s",
        text: "How long the stages of calls take",
        kind: MetricKind::Histogram(STEPS),
        labels: &[STAGE],
    },
    Description {
        metric: Metric::CacheLookup,
        name: "millrace.cache.lookups",
        unit: "{lookup}",
        text: "How often the cache was asked in place of an adapter",
        kind: MetricKind::Counter,
        labels: &[ADAPTER, CACHE_HIT],
    },
    Description {
        metric: Metric::Database,
        name: metric::DB_CLIENT_OPERATION_DURATION,
        unit: "s",
        text: "How long databases take to answer",
        kind: MetricKind::Histogram(DATABASES),
        labels: &[SYSTEM, ADAPTER, ERROR],
    },
    Description {
        metric: Metric::Api,
        name: metric::HTTP_CLIENT_REQUEST_DURATION,
        unit: "s",
        text: "How long APIs take to answer, all pages of an answer together",
        kind: MetricKind::Histogram(REQUESTS),
        labels: &[HTTP_METHOD, ADAPTER, HTTP_STATUS, ERROR],
    },
    Description {
        metric: Metric::Script,
        name: "millrace.script.duration",
        unit: "s",
        text: "How long scripts take, with what they wait for",
        kind: MetricKind::Histogram(STEPS),
        labels: &[SCRIPT],
    },
    Description {
        metric: Metric::Failure,
        name: "millrace.failures",
        unit: "{call}",
        text: "Calls that failed, by the stage that ended them: refused credentials, limits that were reached, stores that did not answer",
        kind: MetricKind::Counter,
        labels: &[STAGE, ERROR],
    },
    Description {
        metric: Metric::Request,
        name: metric::HTTP_SERVER_REQUEST_DURATION,
        unit: "s",
        text: "How long HTTP requests take until the header of their answer",
        kind: MetricKind::Histogram(REQUESTS),
        labels: &[HTTP_METHOD, HTTP_ROUTE, HTTP_STATUS],
    },
];

/// The outcome of a call that was given up before it had one.
pub const ABANDONED: &str = "abandoned";
/// The methods of HTTP requests that are told by their names.
pub const HTTP_METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];
/// What stands for every name that is not known.
pub const OTHER: &str = "_OTHER";

impl Metric {
    /// What is known of it.
    #[must_use]
    pub const fn description(self) -> &'static Description {
        &METRICS[self as usize]
    }

    /// Whether its adapters are APIs, not databases.
    pub(crate) const fn is_of_api(self) -> bool {
        matches!(self, Self::Api)
    }
}

/// The value of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelValue<'a> {
    /// A name.
    Text(&'a str),
    /// A number.
    Number(i64),
    /// Yes or no.
    Truth(bool),
}

/// A label: its name and its value.
pub type Label<'a> = (&'static str, LabelValue<'a>);

/// Takes what is measured.
pub trait Meter {
    /// Adds to a counter.
    fn add(&self, metric: Metric, by: i64, labels: &[Label<'_>]);

    /// Takes one value of a histogram. `trace_id` is the call's, where the value is one's and may
    /// name its trace.
    fn record(&self, metric: Metric, value: f64, labels: &[Label<'_>], trace_id: &str);

    /// Whether the values of a call name its trace.
    fn names_trace(&self, _: &CallStart<'_>) -> bool {
        true
    }

    /// A call is over: what was measured can be sent.
    fn settled(&self) {}
}

/// Measures the calls of an isolate. `now_ns` tells the nanoseconds since some moment.
pub fn measured(meter: Rc<dyn Meter>, now_ns: fn() -> u64) -> Rc<dyn Observer> {
    Rc::new(Measures { meter, now_ns })
}

struct Measures {
    meter: Rc<dyn Meter>,
    now_ns: fn() -> u64,
}

/// Nanoseconds as seconds.
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn text<'a>(name: &'static str, value: &'a str) -> Label<'a> {
    (name, LabelValue::Text(value))
}

/// A method of HTTP by its name, where it is one that everybody knows.
fn http_method(method: &str) -> &'static str {
    HTTP_METHODS.into_iter().find(|known| *known == method).unwrap_or(OTHER)
}

impl Observer for Measures {
    fn began(&self, call: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let now_ns = (self.now_ns)();
        self.meter.add(Metric::Active, 1, &[]);
        Some(Box::new(MeasuredCall {
            meter: self.meter.clone(),
            clock: self.now_ns,
            method: call.method.to_owned(),
            tool: RefCell::new(call.tool.to_owned()),
            trace_id: if self.meter.names_trace(call) { call.request_id.to_owned() } else { String::new() },
            began_ns: now_ns,
            stage_began_ns: Cell::new(now_ns),
            is_resolved: Cell::new(false),
            failure: OnceCell::new(),
            outcome: Cell::new(None),
        }))
    }

    fn handled(&self, request: &HandledRequest<'_>) {
        let labels = [
            text(HTTP_METHOD, http_method(request.method)),
            text(HTTP_ROUTE, request.route.unwrap_or(OTHER)),
            (HTTP_STATUS, LabelValue::Number(request.status.into())),
        ];
        self.meter.record(Metric::Request, seconds(request.took_ns), &labels, "");
        self.meter.settled();
    }

    fn now_ns(&self) -> u64 {
        (self.now_ns)()
    }
}

/// One call that is measured.
struct MeasuredCall {
    meter: Rc<dyn Meter>,
    clock: fn() -> u64,
    method: String,
    tool: RefCell<String>,
    trace_id: String,
    began_ns: u64,
    stage_began_ns: Cell<u64>,
    /// Whether the tool is one of the app: until then, its name is its caller's.
    is_resolved: Cell<bool>,
    /// The code of a failure.
    failure: OnceCell<String>,
    outcome: Cell<Option<CallOutcome>>,
}

impl MeasuredCall {
    fn record(&self, metric: Metric, took_ns: u64, labels: &[Label<'_>]) {
        self.meter.record(metric, seconds(took_ns), labels, &self.trace_id);
    }

    /// An answer of a database or an API.
    fn answered(&self, adapter: &Adapter, took_ns: u64, error: Option<ErrorKind>, request: Option<&Statement>, status: Option<u16>) {
        let error = error.map(|error| text(ERROR, error.as_str()));
        let of_adapter = text(ADAPTER, &adapter.name);
        if adapter.connector == "http" {
            let method = request.and_then(Statement::http_method).map_or(OTHER, http_method);
            let status = status.map(|status| (HTTP_STATUS, LabelValue::Number(status.into())));
            let labels: Vec<Label<'_>> = [text(HTTP_METHOD, method), of_adapter].into_iter().chain(status).chain(error).collect();
            return self.record(Metric::Api, took_ns, &labels);
        }
        let labels: Vec<Label<'_>> = [text(SYSTEM, system(&adapter.connector)), of_adapter].into_iter().chain(error).collect();
        self.record(Metric::Database, took_ns, &labels);
    }

    fn failed(&self, fault: &Fault) {
        if fault.severity == Severity::Warning {
            // The result is valid.
            return;
        }
        let code = fault.known_code();
        self.meter.add(Metric::Failure, 1, &[text(STAGE, fault.stage.as_str()), text(ERROR, code)]);
        if fault.code == NO_TOOL {
            self.is_resolved.set(false);
        }
        let _ = self.failure.set(code.to_owned());
    }
}

impl CallObserver for MeasuredCall {
    fn observe(&self, event: CallEvent<'_>) {
        match event {
            CallEvent::Forwarded(tool) => {
                self.tool.replace(tool.to_owned());
            }
            CallEvent::StageBegan(stage) => {
                self.is_resolved.set(self.is_resolved.get() || stage.has_tool());
                self.stage_began_ns.set((self.clock)());
            }
            CallEvent::StageEnded(stage) => {
                let took_ns = (self.clock)().saturating_sub(self.stage_began_ns.get());
                self.record(Metric::Stage, took_ns, &[text(STAGE, stage.as_str())]);
            }
            CallEvent::CacheLookedUp { adapter, hit } => {
                self.meter.add(Metric::CacheLookup, 1, &[text(ADAPTER, &adapter.name), (CACHE_HIT, LabelValue::Truth(hit))]);
            }
            CallEvent::ConnectorAnswered { adapter, took_ns, error, request, status } => {
                self.answered(adapter, took_ns, error, request, status);
            }
            CallEvent::ScriptEnded { script, took_ns } => self.record(Metric::Script, took_ns, &[text(SCRIPT, script)]),
            CallEvent::Failed(fault) => self.failed(fault),
            CallEvent::Ended(outcome) => self.outcome.set(Some(outcome)),
            CallEvent::MiddlewareBegan(_) | CallEvent::MiddlewareEnded(_) => {}
        }
    }

    fn now_ns(&self) -> u64 {
        (self.clock)()
    }
}

impl Drop for MeasuredCall {
    /// The call is over, or was given up.
    fn drop(&mut self) {
        let took_ns = (self.clock)().saturating_sub(self.began_ns);
        let outcome = self.outcome.get().map_or(ABANDONED, CallOutcome::as_str);
        let tool = self.tool.borrow();
        let tool = if self.is_resolved.get() { tool.as_str() } else { OTHER };
        let error = self.failure.get().map(|code| text(ERROR, code));
        let labels: Vec<Label<'_>> =
            [text(METHOD, &self.method), text(TOOL, tool), text(OUTCOME, outcome)].into_iter().chain(error).collect();
        self.record(Metric::Operation, took_ns, &labels);
        self.meter.add(Metric::Active, -1, &[]);
        self.meter.settled();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_its_metrics() {
        for (index, description) in METRICS.iter().enumerate() {
            assert_eq!(description.metric as usize, index, "{}", description.name);
            assert!(description.text.chars().next().is_some_and(char::is_uppercase) && !description.text.ends_with('.'));
        }
    }
}
