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
//!
//! Some are not told of calls: how full what calls wait for is. Those are read when they are
//! exported ([`MetricKind::is_read`]), so a call pays nothing for them. A native host knows them.

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

#[cfg(not(target_arch = "wasm32"))]
use crate::names::{ISOLATE, POOL, POOL_STATE};
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
    /// How much memory the scripts of calls take.
    ScriptMemory,
    /// The connections of pools, by what they do.
    Connections,
    /// How many connections pools may have.
    MostConnections,
    /// Calls that wait for a connection.
    PendingRequests,
    /// Calls that waited for a connection in vain.
    ConnectionTimeouts,
    /// How long calls wait for a connection.
    ConnectionWait,
    /// Calls that are in the script engine.
    ScriptPlaces,
    /// How many may be.
    MostScriptPlaces,
    /// Calls that wait for the script engine.
    ScriptQueue,
    /// What scripts hold together.
    ScriptMemoryHeld,
    /// What they may hold together.
    MostScriptMemory,
    /// Calls of a tool that hold a place.
    ToolPlaces,
    /// How many may.
    MostToolPlaces,
    /// Calls of a tool that wait for a place.
    ToolQueue,
    /// What an isolate takes of the machine's memory.
    IsolateMemory,
    /// How often isolates were started again.
    IsolateRestarts,
    /// How long the state file is.
    StateSize,
    /// What counters and records take of it.
    StateUsed,
    /// What they may take.
    MostStateUsed,
    /// How many counters and records there are.
    StateEntries,
    /// How long what has expired is still kept.
    StateOverdue,
    /// Steps that the state file refused.
    StateRefusals,
    /// How often a step waited for another process.
    StateWaits,
    /// How long steps waited for other processes.
    StateWaitTime,
    /// How often the file gave space back.
    StateCompactions,
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
    /// Read at each export: a level. Those of isolates are added up.
    Level,
    /// Read at each export: what all isolates of a machine see alike.
    Common,
    /// Read at each export: what came together since the start.
    Total,
}

impl MetricKind {
    /// Whether its numbers are read at each export, and no call tells them.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Level | Self::Common | Self::Total)
    }
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

/// Bytes of memory of a script: from what an empty one takes to the most that a limit allows.
const MEMORY: &[f64] = &[65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0, 16_777_216.0, 67_108_864.0, 268_435_456.0];

/// Everything that is measured. A Worker reads none of what is read, and its upload does without.
#[cfg(not(target_arch = "wasm32"))]
pub const METRICS: [Description; TOLD.len() + READ.len()] = {
    let mut all = [TOLD[0]; TOLD.len() + READ.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = if place < TOLD.len() { TOLD[place] } else { READ[place - TOLD.len()] };
        place += 1;
    }
    all
};
/// Everything that is measured.
#[cfg(target_arch = "wasm32")]
pub const METRICS: [Description; TOLD.len()] = TOLD;

/// What is told when it happens.
const TOLD: [Description; 10] = [
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
    Description {
        metric: Metric::ScriptMemory,
        name: "millrace.script.memory",
        unit: "By",
        text: "How much memory a call has taken by the end of a script, beyond what every call begins with",
        kind: MetricKind::Histogram(MEMORY),
        labels: &[SCRIPT],
    },
];

/// What is read at each export, and the wait for a connection: what native hosts have alone.
#[cfg(not(target_arch = "wasm32"))]
const READ: [Description; 24] = [
    Description {
        metric: Metric::Connections,
        name: metric::DB_CLIENT_CONNECTION_COUNT,
        unit: "{connection}",
        text: "How many connections the pools of adapters have",
        kind: MetricKind::Level,
        labels: &[POOL, POOL_STATE],
    },
    Description {
        metric: Metric::MostConnections,
        name: metric::DB_CLIENT_CONNECTION_MAX,
        unit: "{connection}",
        text: "How many connections the pools of adapters may have",
        kind: MetricKind::Level,
        labels: &[POOL],
    },
    Description {
        metric: Metric::PendingRequests,
        name: metric::DB_CLIENT_CONNECTION_PENDING_REQUESTS,
        unit: "{request}",
        text: "How many calls wait for a connection",
        kind: MetricKind::Level,
        labels: &[POOL],
    },
    Description {
        metric: Metric::ConnectionTimeouts,
        name: metric::DB_CLIENT_CONNECTION_TIMEOUTS,
        unit: "{timeout}",
        text: "Calls that waited for a connection until their deadline",
        kind: MetricKind::Total,
        labels: &[POOL],
    },
    Description {
        metric: Metric::ConnectionWait,
        name: metric::DB_CLIENT_CONNECTION_WAIT_TIME,
        unit: "s",
        text: "How long calls take to get a connection, with making one where none is idle",
        kind: MetricKind::Histogram(DATABASES),
        labels: &[POOL],
    },
    Description {
        metric: Metric::ScriptPlaces,
        name: "millrace.script.places.used",
        unit: "{call}",
        text: "How many calls are in the script engine",
        kind: MetricKind::Level,
        labels: &[],
    },
    Description {
        metric: Metric::MostScriptPlaces,
        name: "millrace.script.places.max",
        unit: "{call}",
        text: "How many calls may be in the script engine",
        kind: MetricKind::Level,
        labels: &[],
    },
    Description {
        metric: Metric::ScriptQueue,
        name: "millrace.script.places.waiting",
        unit: "{call}",
        text: "How many calls wait for the script engine",
        kind: MetricKind::Level,
        labels: &[],
    },
    Description {
        metric: Metric::ScriptMemoryHeld,
        name: "millrace.script.memory.used",
        unit: "By",
        text: "How much memory all scripts hold beyond what every call begins with",
        kind: MetricKind::Level,
        labels: &[],
    },
    Description {
        metric: Metric::MostScriptMemory,
        name: "millrace.script.memory.max",
        unit: "By",
        text: "How much memory all scripts may hold",
        kind: MetricKind::Level,
        labels: &[],
    },
    Description {
        metric: Metric::ToolPlaces,
        name: "millrace.tool.places.used",
        unit: "{call}",
        text: "How many calls of a tool with a limit of concurrency run",
        kind: MetricKind::Common,
        labels: &[TOOL],
    },
    Description {
        metric: Metric::MostToolPlaces,
        name: "millrace.tool.places.max",
        unit: "{call}",
        text: "How many calls of the tool may run",
        kind: MetricKind::Common,
        labels: &[TOOL],
    },
    Description {
        metric: Metric::ToolQueue,
        name: "millrace.tool.places.waiting",
        unit: "{call}",
        text: "How many calls of the tool wait for a place",
        kind: MetricKind::Common,
        labels: &[TOOL],
    },
    Description {
        metric: Metric::IsolateMemory,
        name: "millrace.isolate.memory",
        unit: "By",
        text: "How much memory an isolate has",
        kind: MetricKind::Level,
        labels: &[ISOLATE],
    },
    Description {
        metric: Metric::IsolateRestarts,
        name: "millrace.isolate.restarts",
        unit: "{restart}",
        text: "How often an isolate was started again",
        kind: MetricKind::Total,
        labels: &[ISOLATE],
    },
    Description {
        metric: Metric::StateSize,
        name: "millrace.state.size",
        unit: "By",
        text: "How long the state file is, with its log",
        kind: MetricKind::Common,
        labels: &[],
    },
    Description {
        metric: Metric::StateUsed,
        name: "millrace.state.used",
        unit: "By",
        text: "How much counters and records take of the state file",
        kind: MetricKind::Common,
        labels: &[],
    },
    Description {
        metric: Metric::MostStateUsed,
        name: "millrace.state.max",
        unit: "By",
        text: "How much counters and records may take",
        kind: MetricKind::Common,
        labels: &[],
    },
    Description {
        metric: Metric::StateEntries,
        name: "millrace.state.entries",
        unit: "{entry}",
        text: "How many counters and records there are",
        kind: MetricKind::Common,
        labels: &[],
    },
    Description {
        metric: Metric::StateOverdue,
        name: "millrace.state.overdue",
        unit: "s",
        text: "How long the oldest entry whose time is over has been kept since",
        kind: MetricKind::Common,
        labels: &[],
    },
    Description {
        metric: Metric::StateRefusals,
        name: "millrace.state.refusals",
        unit: "{step}",
        text: "Steps that the state file refused",
        kind: MetricKind::Total,
        labels: &[ERROR],
    },
    Description {
        metric: Metric::StateWaits,
        name: "millrace.state.lock.waits",
        unit: "{wait}",
        text: "How often a step waited for that of another process",
        kind: MetricKind::Total,
        labels: &[],
    },
    Description {
        metric: Metric::StateWaitTime,
        name: "millrace.state.lock.wait_time",
        unit: "s",
        text: "How long steps waited for those of other processes",
        kind: MetricKind::Total,
        labels: &[],
    },
    Description {
        metric: Metric::StateCompactions,
        name: "millrace.state.compactions",
        unit: "{compaction}",
        text: "How often the state file gave space back to the disk",
        kind: MetricKind::Total,
        labels: &[],
    },
];

/// The outcome of a call that was given up before it had one.
pub const ABANDONED: &str = "abandoned";
/// The methods of HTTP requests that are told by their names.
pub const HTTP_METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];
/// What stands for every name that is not known.
pub const OTHER: &str = "_OTHER";

/// What a metric is of that not every app has, and no label of it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Scripts.
    Scripts,
    /// Counters, records or places that isolates share.
    State,
    /// Anything else.
    Other,
}

/// Why a step of the state file is refused, as it is told.
pub const STATE_REFUSALS: [&str; 5] = ["share_full", "record_too_large", "locked", "disk_full", "file_unusable"];

impl Metric {
    /// What is known of it.
    #[must_use]
    pub const fn description(self) -> &'static Description {
        &METRICS[self as usize]
    }

    /// Whether every host has it. What is read, and what takes a look at memory or at a pool, is a
    /// native host's.
    #[must_use]
    pub const fn is_everywhere(self) -> bool {
        !(self.description().kind.is_read() || matches!(self, Self::ScriptMemory | Self::ConnectionWait))
    }

    /// What an app has to have for it.
    pub(crate) const fn part(self) -> Part {
        match self {
            Self::ScriptPlaces | Self::MostScriptPlaces | Self::ScriptQueue | Self::ScriptMemoryHeld | Self::MostScriptMemory => {
                Part::Scripts
            }
            Self::StateSize
            | Self::StateUsed
            | Self::MostStateUsed
            | Self::StateEntries
            | Self::StateOverdue
            | Self::StateRefusals
            | Self::StateWaits
            | Self::StateWaitTime
            | Self::StateCompactions => Part::State,
            _ => Part::Other,
        }
    }

    /// Whether its tools are those with a limit of concurrency.
    pub(crate) const fn is_of_places(self) -> bool {
        matches!(self, Self::ToolPlaces | Self::MostToolPlaces | Self::ToolQueue)
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
            CallEvent::ScriptEnded { script, took_ns, memory_bytes } => {
                self.record(Metric::Script, took_ns, &[text(SCRIPT, script)]);
                if let Some(bytes) = memory_bytes {
                    self.meter.record(Metric::ScriptMemory, bytes as f64, &[text(SCRIPT, script)], &self.trace_id);
                }
            }
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
