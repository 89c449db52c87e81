//! Lines of the log to the SDK's queue, each with the trace of its call.
//!
//! The log is set up before anybody knows where its lines go: the [`layer`] passes them on from when
//! a queue is attached.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use millrace_core::Result;
use millrace_telemetry::settings::LogSettings;
use opentelemetry::{
    InstrumentationScope, SpanId, TraceFlags, TraceId,
    logs::{AnyValue, LogRecord as _},
};
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    logs::{BatchConfigBuilder, BatchLogProcessor, LogProcessor, SdkLogRecord, SdkLogger, SdkLoggerProvider},
};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::{
    Layer,
    layer::{Context, Filter},
    registry::LookupSpan,
};

use super::transport::{Exporters as _, Transport};

/// The field of a line that has the id of its call's trace.
const TRACE: &str = "request_id";
/// What the SDK, its transport and this module say themselves would bring forth more of the same: a
/// line that cannot be sent is followed by one that says so.
const OWN_TARGETS: [&str; 7] = ["millrace_native::telemetry", "opentelemetry", "hyper", "h2", "tonic", "reqwest", "rustls"];

type Bridge = OpenTelemetryTracingBridge<SdkLoggerProvider, SdkLogger>;

static BRIDGE: RwLock<Option<Arc<Bridge>>> = RwLock::new(None);

/// Passes lines on that `which` lets pass.
pub fn layer<S>(which: impl Filter<S> + Send + Sync + 'static) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    Attached.with_filter(which)
}

/// Passes no more lines on.
pub(super) fn detach() {
    *BRIDGE.write().unwrap_or_else(PoisonError::into_inner) = None;
}

struct Attached;

impl<S> Layer<S> for Attached
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let is_own = |metadata: &Metadata<'_>| OWN_TARGETS.iter().any(|target| metadata.target().starts_with(target));
        let bridge = BRIDGE.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(bridge) = bridge.filter(|_| !is_own(event.metadata())) {
            bridge.on_event(event, context);
        }
    }
}

/// The SDK's queue of log lines.
pub(super) struct LogQueue(SdkLoggerProvider);

impl LogQueue {
    /// Starts it, and attaches the log to it.
    pub(super) fn start(settings: &LogSettings, resource: &Resource, transport: &Transport) -> Result<Self> {
        let mut config = BatchConfigBuilder::default();
        if let Some(most) = settings.queue.most {
            config = config.with_max_queue_size(most.max(1));
        }
        if let Some(batch) = settings.queue.batch {
            config = config.with_max_export_batch_size(batch.max(1));
        }
        if let Some(delay_ms) = settings.queue.delay_ms {
            config = config.with_scheduled_delay(Duration::from_millis(delay_ms));
        }
        let processor = BatchLogProcessor::builder(transport.logs(&settings.to)?).with_batch_config(config.build()).build();
        let provider = SdkLoggerProvider::builder().with_resource(resource.clone()).with_log_processor(Traced(processor)).build();
        *BRIDGE.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(Bridge::new(&provider)));
        Ok(Self(provider))
    }

    pub(super) fn flush(&self) {
        // What could not be sent is in the log.
        drop(self.0.force_flush());
    }

    pub(super) fn shut_down(&self, within: Duration) {
        drop(self.0.shutdown_with_timeout(within));
    }
}

/// Says which trace a line belongs to.
#[derive(Debug)]
struct Traced(BatchLogProcessor);

impl LogProcessor for Traced {
    fn emit(&self, record: &mut SdkLogRecord, scope: &InstrumentationScope) {
        let id = |value: &AnyValue| match value {
            AnyValue::String(text) => TraceId::from_hex(text.as_str()).ok(),
            _ => None,
        };
        let trace = record.attributes_iter().find(|(key, _)| key.as_str() == TRACE).and_then(|(_, value)| id(value));
        if let Some(trace) = trace {
            record.set_trace_context(trace, SpanId::INVALID, Some(TraceFlags::SAMPLED));
        }
        self.0.emit(record, scope);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}
