//! Traces of a native host, by the crate `millrace-telemetry`: variables `OTEL_…` and the app's `telemetry` in, requests to a collector out.

use std::{
    rc::Rc,
    time::{SystemTime, UNIX_EPOCH},
};

use millrace_core::ports::{Env, Ports};
pub use millrace_telemetry::Settings;
use millrace_telemetry::Spans;
use tracing_subscriber::{Layer, Registry};

use crate::http_client::NativeHttpClient;

/// What [`logging::init`](crate::logging::init) needs beside, where the variables name a collector at all: spans are not free.
#[must_use]
pub fn layer(env: &dyn Env) -> Option<Box<dyn Layer<Registry> + Send + Sync>> {
    let is_set = |name| env.var(name).is_some_and(|value| !value.expose().is_empty());
    let wanted = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"].into_iter().any(is_set);
    wanted.then(|| Box::new(Spans) as Box<dyn Layer<Registry> + Send + Sync>)
}

/// Has this isolate collect. Has to be called on its thread.
pub fn collect(settings: Option<Settings>, ports: &Ports) {
    // A client of its own: what scripts fetch does not take the collector's connection.
    millrace_telemetry::collect(settings, Rc::new(NativeHttpClient::new(ports.clock.clone())), ports, now_ns);
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or_default()
}
