//! Traces of a native host, by the crate `millrace-telemetry`: variables `OTEL_…` and the app's
//! `telemetry` in, requests to a collector out.

use std::{
    rc::Rc,
    time::{SystemTime, UNIX_EPOCH},
};

use millrace_core::ports::{Ports, observers};
pub use millrace_telemetry::TraceSettings;

use crate::http_client::NativeHttpClient;

/// Has the calls of an isolate traced, beside observers that it has already. Without settings
/// nothing changes.
pub fn trace(settings: Option<TraceSettings>, ports: &mut Ports) {
    // A client of its own: what scripts fetch does not take the collector's connection.
    let tracer = millrace_telemetry::tracer(settings, Rc::new(NativeHttpClient::new(ports.clock.clone())), ports, now_ns);
    ports.observer = observers([ports.observer.take(), tracer]);
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or_default()
}
