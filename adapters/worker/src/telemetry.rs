//! Traces, by the crate `millrace-telemetry`: variables `OTEL_…` and the app's `telemetry` in, requests to a collector out.
//!
//! Whoever sends spans does it in the context of its own request, after the answer, and waits for nobody else's work: what other requests
//! have finished by then is plain memory of the isolate.

use millrace_core::{
    app::App,
    ports::{Clock as _, Ports},
};
use millrace_telemetry::Settings;

use crate::clock::WorkerClock;

/// How long a request to the collector may take whatever the variables say, in milliseconds. The platform ends what goes on 30 seconds
/// after an answer, and two such requests may come one after the other.
const LONGEST_MS: u64 = 10_000;

/// Has this isolate collect, where its variables name a collector. It has to come before the first call: what nobody wants is not asked for
/// again.
///
/// A wrong variable does not keep the app from answering, as it does on a machine, where the operator is there to see it fail: a Worker
/// meets its variables with somebody's call.
pub(crate) fn begin(app: &App, ports: &Ports) {
    match Settings::of_app(app, &*ports.env) {
        Ok(None) => {}
        Ok(Some(settings)) => millrace_telemetry::collect(Some(settings.within(LONGEST_MS)), ports.http.clone(), ports, now_ns),
        Err(error) => tracing::error!(%error, "no traces are sent"),
    }
}

fn now_ns() -> u64 {
    WorkerClock.now_ms().saturating_mul(1_000_000)
}
