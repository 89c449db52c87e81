//! What a native host tells a collector: traces, metrics and log lines, by the SDK of
//! OpenTelemetry.
//!
//! What spans and metrics are called, and when they come, is decided in `millrace-telemetry`, for
//! every host; the SDK keeps them, in queues that are bounded, and sends them on threads of its
//! own. In the order of the data:
//!
//! - `spans`: a finished span to the SDK's queue;
//! - `meter`: the SDK's instruments for the list of metrics;
//! - [`levels`]: what is read at each export, and no call tells;
//! - `log_lines`: lines of the log, with the trace that they belong to;
//! - `emf`: measurements as lines for CloudWatch;
//! - `labels`, `exemplars`, `snapshot`, `scrape`: what the instruments came to, for Prometheus;
//! - `transport`: how exporters reach a collector, and what is logged where they do not.
//!
//! One process has one of these, whatever number of isolates, and [`shut_down`] before it ends.

use std::{
    cell::Cell,
    rc::Rc,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use millrace_core::{
    Result,
    ports::{CallEvent, CallObserver, CallStart, HandledRequest, Observer, Ports, Random, WaitUntil, observers},
};
pub use millrace_telemetry::{Abilities, TelemetrySettings};
use millrace_telemetry::{
    metrics::{self, Label, LabelValue, Meter, Metric},
    span::{Parent, SpanIds, is_trace_id},
    tracer::{SpanSink, traced},
};
use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;

mod emf;
mod exemplars;
mod labels;
pub mod levels;
pub mod log_lines;
mod meter;
pub mod scrape;
pub mod snapshot;
mod spans;
mod transport;

use meter::Instruments;
use snapshot::Snapshot;
use spans::SpanQueue;
use transport::Transport;

/// How long the last export may take when a process ends.
const LAST: Duration = Duration::from_millis(1500);

/// What a process collects and sends.
struct Telemetry {
    settings: TelemetrySettings,
    spans: Option<SpanQueue>,
    instruments: Option<Instruments>,
    logs: Option<log_lines::LogQueue>,
    /// Ends after what uses it.
    _transport: Transport,
}

/// The one of this process.
static OF_PROCESS: Mutex<Option<Arc<Telemetry>>> = Mutex::new(None);

/// The telemetry of this process with these settings; `None` without settings. Where it had others
/// before, what those have collected is sent first.
///
/// # Errors
/// [`Configuration`](millrace_core::ErrorKind::Configuration): a certificate cannot be read.
fn of_process(settings: Option<TelemetrySettings>) -> Result<Option<Arc<Telemetry>>> {
    let mut current = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    if current.as_ref().map(|telemetry| &telemetry.settings) == settings.as_ref() {
        return Ok(current.clone());
    }
    end(current.take());
    *current = settings.map(Telemetry::start).transpose()?.map(Arc::new);
    Ok(current.clone())
}

/// Looks at what the settings name before anything is collected.
///
/// # Errors
/// [`Configuration`](millrace_core::ErrorKind::Configuration): a file of a certificate cannot be
/// used.
pub fn check(settings: &TelemetrySettings) -> Result<()> {
    let TelemetrySettings { traces, metrics, logs, .. } = settings;
    let traces = traces.as_ref().map(|traces| &traces.to);
    let metrics = metrics.as_ref().and_then(|metrics| metrics.to.as_ref());
    let logs = logs.as_ref().map(|logs| &logs.to);
    traces.into_iter().chain(metrics).chain(logs).try_for_each(transport::check)
}

/// Has the calls of an isolate observed by the telemetry of this process with these settings,
/// beside observers that it has already.
pub fn observe(settings: Option<TelemetrySettings>, ports: &mut Ports) {
    if let Some(telemetry) = usable(settings) {
        telemetry.observe(ports);
    }
}

/// The same for a platform that freezes the process after an answer: what a call has left is sent
/// before, as work that the answer does not wait for.
pub fn observe_and_flush(settings: Option<TelemetrySettings>, ports: &mut Ports) {
    let Some(telemetry) = usable(settings) else { return };
    telemetry.observe(ports);
    let settings = &telemetry.settings;
    let lines = settings.metrics.as_ref().filter(|wanted| wanted.emf).map(|_| metrics::measured(emf::lines(settings), since_start_ns));
    let flush = Flushing { telemetry, wait_until: ports.wait_until.clone(), waits: Rc::default() };
    ports.observer = observers([ports.observer.take(), lines, Some(Rc::new(flush) as Rc<dyn Observer>)]);
}

/// The start has looked at the settings: what fails here since then fails for no call.
fn usable(settings: Option<TelemetrySettings>) -> Option<Arc<Telemetry>> {
    of_process(settings).unwrap_or_else(|error| {
        tracing::error!(%error, detail = error.source, "nothing is sent to the collector");
        None
    })
}

/// What the instruments of this process came to, where Prometheus may ask.
#[must_use]
pub fn snapshot() -> Option<Snapshot> {
    let telemetry = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
    telemetry.instruments.as_ref()?.snapshot()
}

/// Sends what this process has collected, for the last time. It collects nothing after that.
pub fn shut_down() {
    end(OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).take());
}

fn end(telemetry: Option<Arc<Telemetry>>) {
    if let Some(telemetry) = telemetry {
        log_lines::detach();
        telemetry.shut_down();
    }
}

impl Telemetry {
    fn start(settings: TelemetrySettings) -> Result<Self> {
        let transport = Transport::start()?;
        let resource = resource(&settings);
        let spans = settings.traces.as_ref().map(|traces| SpanQueue::start(traces, &resource, &transport)).transpose()?;
        let wanted = settings.metrics.as_ref().filter(|wanted| wanted.to.is_some() || wanted.prometheus.is_some());
        let instruments = wanted.map(|metrics| Instruments::start(metrics, &resource, &transport)).transpose()?;
        if instruments.is_some() {
            millrace_connectors::pools::observe_waits(waited);
        }
        let logs = settings.logs.as_ref().map(|logs| log_lines::LogQueue::start(logs, &resource, &transport)).transpose()?;
        Ok(Self { settings, spans, instruments, logs, _transport: transport })
    }

    fn observe(self: &Arc<Self>, ports: &mut Ports) {
        let sink = || Rc::new(OfIsolate { telemetry: self.clone(), random: ports.random.clone(), ids: SpanIds::default() });
        let traces = self.spans.as_ref().map(|_| traced(sink()));
        let metrics = self.instruments.as_ref().map(|_| metrics::measured(sink(), since_start_ns));
        ports.observer = observers([ports.observer.take(), traces, metrics]);
    }

    /// Sends what is there. Blocks.
    fn flush(&self) {
        self.spans.iter().for_each(SpanQueue::flush);
        self.instruments.iter().for_each(Instruments::flush);
        self.logs.iter().for_each(log_lines::LogQueue::flush);
    }

    fn shut_down(&self) {
        self.spans.iter().for_each(|spans| spans.shut_down(LAST));
        self.instruments.iter().for_each(|instruments| instruments.shut_down(LAST));
        self.logs.iter().for_each(|logs| logs.shut_down(LAST));
    }
}

/// Who is observed. Each process is an instance of its own: what it counts since its start is not
/// what another does.
fn resource(settings: &TelemetrySettings) -> Resource {
    let mut bytes = [0; 16];
    // Without randomness the process's number has to do.
    if getrandom::fill(&mut bytes).is_err() {
        bytes[..4].copy_from_slice(&std::process::id().to_le_bytes());
    }
    let instance = format!("{:032x}", u128::from_le_bytes(bytes));
    let given = settings.resource.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    let own = [KeyValue::new("service.instance.id", instance), KeyValue::new("process.pid", i64::from(std::process::id()))];
    Resource::builder_empty().with_attributes(own.into_iter().chain(given)).build()
}

/// What of the telemetry an isolate uses.
struct OfIsolate {
    telemetry: Arc<Telemetry>,
    random: Rc<dyn Random>,
    ids: SpanIds,
}

impl SpanSink for OfIsolate {
    fn samples(&self, trace_id: &str, parent: Option<&Parent>) -> bool {
        self.telemetry.settings.traces.as_ref().is_some_and(|traces| traces.samples(trace_id, parent))
    }

    fn now_ns(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or_default()
    }

    fn new_id(&self) -> u64 {
        self.ids.next(&*self.random)
    }

    fn keep(&self, span: millrace_telemetry::span::Span) {
        if let Some(spans) = &self.telemetry.spans {
            spans.keep(span);
        }
    }
}

impl Meter for OfIsolate {
    fn add(&self, metric: Metric, by: i64, labels: &[Label<'_>]) {
        if let Some(instruments) = &self.telemetry.instruments {
            instruments.add(metric, by, labels);
        }
    }

    fn record(&self, metric: Metric, value: f64, labels: &[Label<'_>], trace_id: &str) {
        if let Some(instruments) = &self.telemetry.instruments {
            instruments.record(metric, value, labels, trace_id);
        }
    }

    fn names_trace(&self, call: &CallStart<'_>) -> bool {
        let is_asked = self.telemetry.instruments.as_ref().is_some_and(Instruments::has_exemplars);
        is_asked && is_trace_id(call.request_id) && self.samples(call.request_id, call.trace.parent.and_then(Parent::parse).as_ref())
    }
}

/// A call has waited for a connection of a pool. It is none of what an observer hears, because a
/// driver is not told of its call.
fn waited(pool: &str, time: Duration) {
    // Where it is being exchanged, or sends for the last time, the call does not wait for that.
    let Ok(Some(telemetry)) = OF_PROCESS.try_lock().map(|telemetry| telemetry.clone()) else { return };
    if let Some(instruments) = &telemetry.instruments {
        let name = Metric::ConnectionWait.description().labels.first().copied().unwrap_or_default();
        instruments.record(Metric::ConnectionWait, time.as_secs_f64(), &[(name, LabelValue::Text(pool))], "");
    }
}

/// Nanoseconds since the first time that somebody asked; never 0.
fn since_start_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX).saturating_add(1)
}

/// Has what calls leave behind sent, after their answers and before the platform freezes the
/// process.
struct Flushing {
    telemetry: Arc<Telemetry>,
    wait_until: Rc<dyn WaitUntil>,
    /// Whether somebody is about to send.
    waits: Rc<Cell<bool>>,
}

impl Flushing {
    fn settle(&self) {
        if self.waits.replace(true) {
            return;
        }
        let (telemetry, waits) = (self.telemetry.clone(), self.waits.clone());
        self.wait_until.wait_until(Box::pin(async move {
            // What belongs to the same answer goes with it.
            tokio::task::yield_now().await;
            waits.set(false);
            drop(tokio::task::spawn_blocking(move || telemetry.flush()).await);
        }));
    }
}

impl Observer for Flushing {
    fn began(&self, _: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let own = Self { telemetry: self.telemetry.clone(), wait_until: self.wait_until.clone(), waits: self.waits.clone() };
        Some(Box::new(FlushedCall(own)))
    }

    fn handled(&self, _: &HandledRequest<'_>) {
        self.settle();
    }
}

struct FlushedCall(Flushing);

impl CallObserver for FlushedCall {
    fn observe(&self, _: CallEvent<'_>) {}
}

impl Drop for FlushedCall {
    fn drop(&mut self) {
        self.0.settle();
    }
}
