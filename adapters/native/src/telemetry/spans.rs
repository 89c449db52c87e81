//! Finished spans to the SDK's queue.

use std::{
    str::FromStr as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use millrace_core::Result;
use millrace_telemetry::{
    settings::TraceSettings,
    span::{Attribute, Span},
};
use opentelemetry::{
    InstrumentationScope, KeyValue, SpanId, TraceFlags, TraceId,
    trace::{SpanContext, SpanKind, Status, TraceState},
};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor as _},
};

use super::{
    meter::scope,
    transport::{Exporters as _, Transport},
};

/// How many spans wait at the most where no variable says so: those of some 600 calls.
const MOST_SPANS: usize = 8192;
/// How many go with one request.
const BATCH: usize = 2048;

/// The SDK's queue of spans.
pub(super) struct SpanQueue {
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
}

impl SpanQueue {
    pub(super) fn start(settings: &TraceSettings, resource: &Resource, transport: &Transport) -> Result<Self> {
        let most = settings.queue.most.unwrap_or(MOST_SPANS).max(1);
        let mut config = BatchConfigBuilder::default()
            .with_max_queue_size(most)
            .with_max_export_batch_size(settings.queue.batch.unwrap_or(BATCH).clamp(1, most));
        if let Some(delay_ms) = settings.queue.delay_ms {
            config = config.with_scheduled_delay(Duration::from_millis(delay_ms));
        }
        let exporter = transport.spans(&settings.to)?;
        let mut processor = BatchSpanProcessor::builder(exporter).with_batch_config(config.build()).build();
        processor.set_resource(resource);
        Ok(Self { processor, scope: scope() })
    }

    pub(super) fn keep(&self, span: Span) {
        self.processor.on_end(data(span, self.scope.clone()));
    }

    pub(super) fn flush(&self) {
        // What could not be sent is in the log.
        drop(self.processor.force_flush());
    }

    pub(super) fn shut_down(&self, within: Duration) {
        drop(self.processor.shutdown_with_timeout(within));
    }
}

fn data(span: Span, instrumentation_scope: InstrumentationScope) -> SpanData {
    let trace_id = TraceId::from_hex(&span.trace_id).unwrap_or(TraceId::INVALID);
    let state = TraceState::from_str(&span.state).unwrap_or_default();
    SpanData {
        span_context: SpanContext::new(trace_id, id(span.id), TraceFlags::SAMPLED, false, state),
        parent_span_id: span.parent_id.map_or(SpanId::INVALID, id),
        parent_span_is_remote: span.is_call && span.parent_id.is_some(),
        span_kind: if span.is_call { SpanKind::Server } else { SpanKind::Internal },
        name: span.name.into(),
        start_time: time(span.start_ns),
        end_time: time(span.end_ns),
        attributes: span.attributes.into_iter().map(|(name, value)| attribute(name, value)).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: if span.failed { Status::error("") } else { Status::Unset },
        instrumentation_scope,
    }
}

const fn id(id: u64) -> SpanId {
    SpanId::from_bytes(id.to_be_bytes())
}

fn time(ns: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(ns)
}

fn attribute(name: &'static str, value: Attribute) -> KeyValue {
    match value {
        Attribute::Text(text) => KeyValue::new(name, text),
        Attribute::Truth(truth) => KeyValue::new(name, truth),
        Attribute::Number(number) => KeyValue::new(name, number),
    }
}
