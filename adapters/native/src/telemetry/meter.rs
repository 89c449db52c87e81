//! The SDK's instruments, one for each metric of the list.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use millrace_core::Result;
use millrace_telemetry::{
    metrics::{Description, Label, METRICS, Metric, MetricKind},
    settings::{MetricSettings, MetricTemporality},
};
use opentelemetry::{
    InstrumentationScope, KeyValue,
    metrics::{AsyncInstrument, Counter, Histogram, Meter, MeterProvider as _, UpDownCounter},
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    metrics::{
        Instrument, InstrumentKind, ManualReader, PeriodicReader, Pipeline, SdkMeterProvider, Stream, Temporality, data::ResourceMetrics,
        reader::MetricReader,
    },
};

use super::{
    exemplars::Exemplars,
    labels::{MOST_SERIES, attributes},
    levels,
    snapshot::Snapshot,
    transport::{Exporters as _, Transport},
};

/// What says who made spans and metrics.
pub(super) fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("millrace").with_version(env!("CARGO_PKG_VERSION")).build()
}

enum SdkInstrument {
    Counter(Counter<u64>),
    UpDownCounter(UpDownCounter<i64>),
    Histogram(Histogram<f64>),
    /// The SDK asks for its numbers.
    Read,
}

/// The instruments of a process.
pub(super) struct Instruments {
    provider: SdkMeterProvider,
    /// For Prometheus, and what it is told besides.
    reader: Option<SharedReader>,
    exemplars: Exemplars,
    /// In the order of [`METRICS`].
    all: Vec<SdkInstrument>,
}

impl Instruments {
    pub(super) fn start(settings: &MetricSettings, resource: &Resource, transport: &Transport) -> Result<Self> {
        let temporality = match settings.temporality {
            MetricTemporality::Cumulative => Temporality::Cumulative,
            MetricTemporality::Delta => Temporality::Delta,
            MetricTemporality::LowMemory => Temporality::LowMemory,
        };
        let mut builder = SdkMeterProvider::builder()
            .with_resource(resource.clone())
            .with_view(|_: &Instrument| Stream::builder().with_cardinality_limit(MOST_SERIES).build().ok());
        if let Some(to) = &settings.to {
            let exporter = transport.metrics(to, temporality)?;
            builder =
                builder.with_reader(PeriodicReader::builder(exporter).with_interval(Duration::from_millis(settings.interval_ms)).build());
        }
        let reader = settings.prometheus.as_ref().map(|_| SharedReader::default());
        if let Some(reader) = &reader {
            builder = builder.with_reader(reader.clone());
        }
        let provider = builder.build();
        let meter = provider.meter_with_scope(scope());
        Ok(Self { all: METRICS.iter().map(|about| instrument(&meter, about)).collect(), provider, reader, exemplars: Exemplars::default() })
    }

    pub(super) fn add(&self, metric: Metric, by: i64, labels: &[Label<'_>]) {
        let labels = attributes(labels);
        match self.all.get(metric as usize) {
            Some(SdkInstrument::Counter(counter)) => counter.add(by.unsigned_abs(), &labels),
            Some(SdkInstrument::UpDownCounter(counter)) => counter.add(by, &labels),
            Some(SdkInstrument::Histogram(_) | SdkInstrument::Read) | None => {}
        }
    }

    /// Whether somebody reads which trace a value came from: Prometheus alone.
    pub(super) fn has_exemplars(&self) -> bool {
        self.reader.is_some()
    }

    /// Takes a value. `trace_id` is empty where it is of no trace that is exported.
    pub(super) fn record(&self, metric: Metric, value: f64, labels: &[Label<'_>], trace_id: &str) {
        if !trace_id.is_empty() && self.has_exemplars() {
            self.exemplars.keep(metric, value, labels, trace_id);
        }
        if let Some(SdkInstrument::Histogram(histogram)) = self.all.get(metric as usize) {
            histogram.record(value, &attributes(labels));
        }
    }

    /// What they came to, where Prometheus may ask.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        let mut collected = ResourceMetrics::default();
        self.reader.as_ref()?.collect(&mut collected).ok()?;
        Some(Snapshot::of(&collected, &self.exemplars))
    }

    pub(super) fn flush(&self) {
        // What could not be sent is in the log.
        drop(self.provider.force_flush());
    }

    pub(super) fn shut_down(&self, within: Duration) {
        drop(self.provider.shutdown_with_timeout(within));
    }
}

/// A reader that is asked by this process itself.
#[derive(Clone, Debug, Default)]
struct SharedReader(Arc<ManualReader>);

impl MetricReader for SharedReader {
    fn register_pipeline(&self, pipeline: Weak<Pipeline>) {
        self.0.register_pipeline(pipeline);
    }

    fn collect(&self, metrics: &mut ResourceMetrics) -> OTelSdkResult {
        self.0.collect(metrics)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn temporality(&self, kind: InstrumentKind) -> Temporality {
        self.0.temporality(kind)
    }
}

fn instrument(meter: &Meter, about: &Description) -> SdkInstrument {
    match about.kind {
        MetricKind::Counter => {
            SdkInstrument::Counter(meter.u64_counter(about.name).with_unit(about.unit).with_description(about.text).build())
        }
        MetricKind::UpDownCounter => {
            SdkInstrument::UpDownCounter(meter.i64_up_down_counter(about.name).with_unit(about.unit).with_description(about.text).build())
        }
        MetricKind::Histogram(bounds) => SdkInstrument::Histogram(
            meter.f64_histogram(about.name).with_unit(about.unit).with_description(about.text).with_boundaries(bounds.to_vec()).build(),
        ),
        MetricKind::Level | MetricKind::Common | MetricKind::Total => {
            observed(meter, about);
            SdkInstrument::Read
        }
    }
}

/// An instrument whose numbers are read at each export.
fn observed(meter: &Meter, about: &Description) {
    let (metric, name, unit, text) = (about.metric, about.name, about.unit, about.text);
    match about.kind {
        MetricKind::Level => {
            let each = move |to: &dyn AsyncInstrument<i64>| read(metric, |labels, number| to.observe(number as i64, labels));
            meter.i64_observable_up_down_counter(name).with_unit(unit).with_description(text).with_callback(each).build();
        }
        MetricKind::Common => {
            let each = move |to: &dyn AsyncInstrument<f64>| read(metric, |labels, number| to.observe(number, labels));
            meter.f64_observable_gauge(name).with_unit(unit).with_description(text).with_callback(each).build();
        }
        _ => {
            let each = move |to: &dyn AsyncInstrument<f64>| read(metric, |labels, number| to.observe(number, labels));
            meter.f64_observable_counter(name).with_unit(unit).with_description(text).with_callback(each).build();
        }
    }
}

/// Gives each series of a metric as it is now.
fn read(metric: Metric, mut each: impl FnMut(&[KeyValue], f64)) {
    for (labels, number) in levels::read(metric) {
        let labels: Vec<KeyValue> = labels.into_iter().map(|(name, value)| KeyValue::new(name, value)).collect();
        each(&labels, number);
    }
}
