//! What the instruments of processes came to, added up, as text for Prometheus.
//!
//! Isolates are processes, and Prometheus looks at one place: each process gives a [`Snapshot`],
//! and who watches them adds those up. One that has ended is still part of the sum, so no counter
//! ever goes down.

use std::{collections::BTreeMap, fmt};

use millrace_telemetry::metrics::{Description, METRICS, Metric, MetricKind};
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
    /// A sum that need not be whole.
    Total(f64),
    /// What all processes see alike.
    Common(f64),
    Histogram {
        count: u64,
        sum: f64,
        buckets: Vec<u64>,
        exemplars: OfSeries,
    },
}

/// What the instruments of one process came to, or of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// By the place of the metric in the list.
    series: BTreeMap<usize, BTreeMap<Labels, Number>>,
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
                AggregatedMetrics::F64(MetricData::Sum(sum)) => {
                    series.extend(sum.data_points().map(|point| (labels(point.attributes()), Number::Total(point.value()))));
                }
                AggregatedMetrics::F64(MetricData::Gauge(gauge)) => {
                    series.extend(gauge.data_points().map(|point| (labels(point.attributes()), Number::Common(point.value()))));
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
        let lasts = |kind| matches!(kind, MetricKind::Counter | MetricKind::Histogram(_) | MetricKind::Total);
        self.series.retain(|place, _| METRICS.get(*place).is_some_and(|about| lasts(about.kind)));
        self
    }

    /// Puts what whoever watches the processes knows of a metric in place of what they say.
    pub fn put(&mut self, metric: Metric, series: impl IntoIterator<Item = (Labels, f64)>) {
        let is_total = metric.description().kind == MetricKind::Total;
        let number = |value: f64| if is_total { Number::Total(value) } else { Number::Sum(value as i64) };
        let series = series.into_iter().map(|(labels, value)| (labels, number(value))).collect();
        self.series.insert(metric as usize, series);
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
        Ok(Self { series })
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
            Number::Sum(_) | Number::Total(_) | Number::Common(_) => Vec::new(),
            Number::Histogram { buckets, exemplars, .. } => (0..buckets.len()).map(|bucket| exemplars.get(&bucket)).collect(),
        })
    }
}

impl Number {
    fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Sum(sum), Self::Sum(by)) => *sum = sum.saturating_add(*by),
            (Self::Total(sum), Self::Total(by)) => *sum += by,
            // Some were asked a moment later.
            (Self::Common(value), Self::Common(other)) => *value = value.max(*other),
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
            (Self::Sum(_) | Self::Total(_) | Self::Common(_) | Self::Histogram { .. }, _) => {}
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
            let unit = match about.unit {
                "s" => Some(Unit::Seconds),
                "By" => Some(Unit::Bytes),
                _ => None,
            };
            let kind = match about.kind {
                MetricKind::Counter | MetricKind::Total => MetricType::Counter,
                MetricKind::UpDownCounter | MetricKind::Level | MetricKind::Common => MetricType::Gauge,
                MetricKind::Histogram(_) => MetricType::Histogram,
            };
            let name = underscored(about.name);
            let mut family = encoder.encode_descriptor(&name, about.text, unit.as_ref(), kind)?;
            for (labels, number) in series {
                encode(family.encode_family(&labels.as_slice())?, about, number)?;
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
        (Number::Total(sum), _) if sum.fract() == 0.0 => encoder.encode_counter::<NoLabelSet, _, u64>(&(*sum as u64), None),
        (Number::Total(sum), _) => encoder.encode_counter::<NoLabelSet, _, u64>(sum, None),
        (Number::Common(value), _) if value.fract() == 0.0 => encoder.encode_gauge(&(*value as i64)),
        (Number::Common(value), _) => encoder.encode_gauge(value),
        (Number::Histogram { count, sum, buckets, .. }, MetricKind::Histogram(bounds)) => {
            // Without a last bucket for everything, Prometheus finds no quantile.
            let bounds = bounds.iter().copied().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(buckets.iter().copied()).collect();
            encoder.encode_histogram::<NoLabelSet>(*sum, *count, &buckets, None)
        }
        (Number::Histogram { .. }, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process with a connection in use, a wait, and a view of the state file.
    fn process(used: f64, waited: f64, size: f64) -> Snapshot {
        let mut snapshot = Snapshot::default();
        snapshot.put(Metric::PendingRequests, [(vec![("db_client_connection_pool_name".to_owned(), "main".to_owned())], used)]);
        snapshot.put(Metric::StateWaitTime, [(Vec::new(), waited)]);
        snapshot.series.insert(Metric::StateSize as usize, BTreeMap::from([(Vec::new(), Number::Common(size))]));
        Snapshot::from_bytes(&snapshot.to_bytes().unwrap()).unwrap()
    }

    #[test]
    fn levels_and_totals_are_added_up_and_what_is_common_is_not() {
        let mut all = process(2.0, 0.25, 4096.0);
        all.add(&process(3.0, 0.5, 8192.0));
        all.add(&process(9.0, 1.0, 65_536.0).of_ended());
        let text = all.open_metrics();
        for line in [
            "db_client_connection_pending_requests{db_client_connection_pool_name=\"main\"} 5",
            "millrace_state_lock_wait_time_seconds_total 1.75",
            "millrace_state_size_bytes 8192",
            "# TYPE millrace_state_size_bytes gauge",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
