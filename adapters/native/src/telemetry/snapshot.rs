//! What the instruments of processes came to, added up, as text for Prometheus.
//!
//! Isolates are processes, and Prometheus looks at one place: each process gives a [`Snapshot`],
//! and who watches them adds those up. One that has ended is still part of the sum, so no counter
//! ever goes down.

use std::{collections::BTreeMap, fmt};

use millrace_telemetry::metrics::{Description, METRICS, MetricKind};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, HistogramDataPoint, MetricData, ResourceMetrics};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text},
    metrics::MetricType,
    registry::{Registry, Unit},
};
use serde::{Deserialize, Serialize};

pub use super::labels::Labels;
use super::{
    exemplars::{self, Exemplar, Exemplars, OfSeries},
    labels::{labels, underscored},
};

/// What a series came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Number {
    Sum(i64),
    Histogram { count: u64, sum: f64, buckets: Vec<u64>, exemplars: OfSeries },
}

/// What the instruments of one process came to, or of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// By the place of the metric in the list.
    series: BTreeMap<usize, BTreeMap<Labels, Number>>,
    /// What whoever watches the processes knows: by name what it says, and its series.
    gauges: BTreeMap<&'static str, Watched<f64>>,
    counters: BTreeMap<&'static str, Watched<u64>>,
}

/// What whoever watches the processes knows of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched<T> {
    /// What it says, in a sentence without its period.
    pub text: &'static str,
    /// Its series.
    pub series: Vec<(Labels, T)>,
}

impl Snapshot {
    pub(super) fn of(collected: &ResourceMetrics, exemplars: &Exemplars) -> Self {
        let mut snapshot = Self::default();
        for metric in collected.scope_metrics().flat_map(|scope| scope.metrics()) {
            let Some(place) = METRICS.iter().position(|about| about.name == metric.name()) else { continue };
            let series = snapshot.series.entry(place).or_default();
            match metric.data() {
                AggregatedMetrics::U64(MetricData::Sum(sum)) => series.extend(
                    sum.data_points()
                        .map(|point| (labels(point.attributes()), Number::Sum(i64::try_from(point.value()).unwrap_or(i64::MAX)))),
                ),
                AggregatedMetrics::I64(MetricData::Sum(sum)) => {
                    series.extend(sum.data_points().map(|point| (labels(point.attributes()), Number::Sum(point.value()))));
                }
                AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                    series.extend(histogram.data_points().map(|point| {
                        let labels = labels(point.attributes());
                        let number = number(point, exemplars.of(place, &labels));
                        (labels, number)
                    }));
                }
                _ => {}
            }
        }
        snapshot
    }

    /// Adds what another process came to.
    pub fn add(&mut self, other: &Self) {
        for (place, series) in &other.series {
            let own = self.series.entry(*place).or_default();
            for (labels, number) in series {
                match own.get_mut(labels) {
                    Some(known) => known.add(number),
                    None => {
                        own.insert(labels.clone(), number.clone());
                    }
                }
            }
        }
    }

    /// The same once the process has ended: nothing of it is under way any more.
    #[must_use]
    pub fn of_ended(mut self) -> Self {
        self.series.retain(|place, _| METRICS.get(*place).is_some_and(|about| about.kind != MetricKind::UpDownCounter));
        self
    }

    /// Adds a gauge of whoever watches the processes. Its name is as Prometheus has it.
    pub fn gauge(&mut self, name: &'static str, watched: Watched<f64>) {
        self.gauges.insert(name, watched);
    }

    /// Adds a counter of whoever watches the processes.
    pub fn counter(&mut self, name: &'static str, watched: Watched<u64>) {
        self.counters.insert(name, watched);
    }

    /// As one process gives it to another.
    ///
    /// # Errors
    /// It cannot be written, which does not happen.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        // Keys of maps are texts in JSON; lists of pairs are not bound to that.
        let series: Vec<(usize, Vec<(&Labels, &Number)>)> =
            self.series.iter().map(|(place, series)| (*place, series.iter().collect())).collect();
        serde_json::to_vec(&series)
    }

    /// What [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    /// It is something else.
    pub fn from_bytes(bytes: &[u8]) -> serde_json::Result<Self> {
        let series: Vec<(usize, Vec<(Labels, Number)>)> = serde_json::from_slice(bytes)?;
        let series = series.into_iter().map(|(place, series)| (place, series.into_iter().collect())).collect();
        Ok(Self { series, ..Self::default() })
    }

    /// The text of OpenMetrics.
    #[must_use]
    pub fn open_metrics(self) -> String {
        let kept: Vec<Option<Exemplar>> = self.exemplars().map(Option::<&Exemplar>::cloned).collect();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut out, &registry);
        if kept.iter().any(Option::is_some) { exemplars::written(&out, kept.iter().map(Option::as_ref)) } else { out }
    }

    /// Of each bucket of each histogram, in the order in which they are written.
    fn exemplars(&self) -> impl Iterator<Item = Option<&Exemplar>> {
        self.series.values().flat_map(BTreeMap::values).flat_map(|number| match number {
            Number::Sum(_) => Vec::new(),
            Number::Histogram { buckets, exemplars, .. } => (0..buckets.len()).map(|bucket| exemplars.get(&bucket)).collect(),
        })
    }
}

impl Number {
    fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Sum(sum), Self::Sum(by)) => *sum = sum.saturating_add(*by),
            (
                Self::Histogram { count, sum, buckets, exemplars },
                Self::Histogram { count: more, sum: by, buckets: others, exemplars: traces },
            ) => {
                *count += more;
                *sum += by;
                buckets.iter_mut().zip(others).for_each(|(bucket, other)| *bucket += other);
                exemplars::merge(exemplars, traces);
            }
            // A series has one kind.
            (Self::Sum(_), Self::Histogram { .. }) | (Self::Histogram { .. }, Self::Sum(_)) => {}
        }
    }
}

fn number(point: &HistogramDataPoint<f64>, exemplars: OfSeries) -> Number {
    Number::Histogram { count: point.count(), sum: point.sum(), buckets: point.bucket_counts().collect(), exemplars }
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (place, series) in &self.series {
            let Some(about) = METRICS.get(*place) else { continue };
            let unit = (about.unit == "s").then_some(Unit::Seconds);
            let kind = match about.kind {
                MetricKind::Counter => MetricType::Counter,
                MetricKind::UpDownCounter => MetricType::Gauge,
                MetricKind::Histogram(_) => MetricType::Histogram,
            };
            let name = underscored(about.name);
            let mut family = encoder.encode_descriptor(&name, about.text, unit.as_ref(), kind)?;
            for (labels, number) in series {
                encode(family.encode_family(&labels.as_slice())?, about, number)?;
            }
        }
        for (name, Watched { text, series }) in &self.gauges {
            let mut family = encoder.encode_descriptor(name, text, None, MetricType::Gauge)?;
            for (labels, value) in series {
                family.encode_family(&labels.as_slice())?.encode_gauge(value)?;
            }
        }
        for (name, Watched { text, series }) in &self.counters {
            let mut family = encoder.encode_descriptor(name, text, None, MetricType::Counter)?;
            for (labels, value) in series {
                family.encode_family(&labels.as_slice())?.encode_counter::<NoLabelSet, _, u64>(value, None)?;
            }
        }
        Ok(())
    }
}

fn encode(mut encoder: MetricEncoder<'_>, about: &Description, number: &Number) -> fmt::Result {
    match (number, about.kind) {
        (Number::Sum(sum), MetricKind::Counter) => {
            encoder.encode_counter::<NoLabelSet, _, u64>(&u64::try_from(*sum).unwrap_or_default(), None)
        }
        (Number::Sum(sum), _) => encoder.encode_gauge(sum),
        (Number::Histogram { count, sum, buckets, .. }, MetricKind::Histogram(bounds)) => {
            // Without a last bucket for everything, Prometheus finds no quantile.
            let bounds = bounds.iter().copied().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(buckets.iter().copied()).collect();
            encoder.encode_histogram::<NoLabelSet>(*sum, *count, &buckets, None)
        }
        (Number::Histogram { .. }, _) => Ok(()),
    }
}
