//! Traces and metrics, by the crate `millrace-telemetry`: variables `OTEL_…` and the app's
//! `telemetry` in, requests to a collector out.
//!
//! Whoever sends spans does it in the context of its own request, after the answer, and waits for
//! nobody else's work: what other requests have finished by then is plain memory of the isolate.

use millrace_core::{
    app::App,
    ports::{Clock as _, Ports, observers},
};
use millrace_telemetry::{Abilities, TelemetrySettings};

use crate::clock::WorkerClock;

/// How long a request to the collector may take whatever the variables say, in milliseconds. The
/// platform ends what goes on 30 seconds after an answer, and two such requests may come one after
/// the other.
const LONGEST_MS: u64 = 10_000;

/// Has the calls of this isolate observed, where its variables name a collector.
///
/// A wrong variable does not keep the app from answering, as it does on a machine, where the
/// operator is there to see it fail: a Worker meets its variables with somebody's call.
pub(crate) fn observe(app: &App, ports: &mut Ports) {
    match TelemetrySettings::of_app(app, &*ports.env, Abilities::Fetch) {
        Ok(settings) => {
            let observer = settings.and_then(|settings| millrace_telemetry::fetching(settings.within(LONGEST_MS), ports, now_ns));
            ports.observer = observers([ports.observer.take(), observer]);
        }
        Err(error) => tracing::error!(%error, "neither traces nor metrics are sent"),
    }
}

fn now_ns() -> u64 {
    WorkerClock.now_ms().saturating_mul(1_000_000)
}
