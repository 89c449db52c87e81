//! Traces and metrics of calls for a collector of OpenTelemetry, and the form of log lines.
//!
//! In goes what the core tells of its calls by the port `Observer`. In the order of the data:
//!
//! - [`settings`]: what goes where: the standard variables `OTEL_…`.
//! - [`tracer`]: makes spans of what it is told, one a call and below it one a stage.
//! - [`metrics`]: the list of what is measured, and who measures it.
//! - [`series`]: which series an app can make.
//! - [`exporter`], [`deltas`], `otlp`: for a Worker, which has neither threads nor sockets: what an
//!   isolate keeps, within limits, and how it is sent after an answer, as JSON.
//! - [`mod@line`]: log lines as JSON.
//!
//! On native hosts, spans and numbers go to the SDK of OpenTelemetry instead; that is in
//! `millrace-native`. What they are called and when they come is decided here, for every host.
//!
//! Protocol: <https://opentelemetry.io/docs/specs/otlp/#otlphttp>.

use std::rc::Rc;

use millrace_core::ports::{Observer, Ports, observers};

pub mod deltas;
pub mod exporter;
pub mod line;
pub mod metrics;
mod names;
mod otlp;
mod point;
mod post;
pub mod series;
pub mod settings;
pub mod span;
#[cfg(test)]
mod tests;
pub mod tracer;

pub use line::Format;
pub use settings::{Abilities, TelemetrySettings};

/// Observes the calls of an isolate that can do nothing but `fetch`: what comes of it is sent after
/// answers. `now_ns` tells the nanoseconds since the Unix epoch.
#[must_use]
pub fn fetching(settings: TelemetrySettings, ports: &Ports, now_ns: fn() -> u64) -> Option<Rc<dyn Observer>> {
    let TelemetrySettings { traces, metrics, resource, .. } = settings;
    let (http, clock, wait_until) = (&ports.http, &ports.clock, &ports.wait_until);
    let state = |traces| {
        exporter::TracerState::new(traces, &resource, http.clone(), clock.clone(), ports.random.clone(), wait_until.clone(), now_ns)
    };
    let traces = traces.map(|traces| tracer::traced(state(traces)));
    let deltas = |metrics| deltas::Deltas::new(&metrics, &resource, http.clone(), clock.clone(), wait_until.clone(), now_ns);
    let metrics = metrics.and_then(deltas).map(|deltas| metrics::measured(deltas, now_ns));
    observers([traces, metrics])
}
