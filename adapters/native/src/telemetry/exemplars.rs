//! Which trace a value of a histogram came from, for Prometheus: the newest of each bucket of each
//! series.
//!
//! The SDK keeps none, so they are kept beside it, and only of calls whose trace is exported. What
//! `prometheus-client` has for them can be made by its own histograms alone, which count for
//! themselves; so they are written to the ends of the lines that it wrote, as OpenMetrics has them.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use millrace_telemetry::metrics::{Label, Metric, MetricKind};
use serde::{Deserialize, Serialize};

use super::labels::{Labels, MOST_SERIES, attributes, labels};

/// A value, and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Exemplar {
    value: f64,
    trace_id: String,
    /// When, in milliseconds since the Unix epoch.
    at_ms: u64,
}

/// Those of a series, by the bucket.
pub(super) type OfSeries = BTreeMap<usize, Exemplar>;

/// Those of a process.
#[derive(Default)]
pub(super) struct Exemplars(Mutex<BTreeMap<(usize, Labels), OfSeries>>);

impl Exemplars {
    pub(super) fn keep(&self, metric: Metric, value: f64, of: &[Label<'_>], trace_id: &str) {
        let MetricKind::Histogram(bounds) = metric.description().kind else { return };
        let bucket = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
        let at_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        let key = (metric as usize, labels(attributes(of).iter()));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST_SERIES || all.contains_key(&key) {
            all.entry(key).or_default().insert(bucket, Exemplar { value, trace_id: trace_id.to_owned(), at_ms });
        }
    }

    /// Those of a series.
    pub(super) fn of(&self, metric: usize, labels: &Labels) -> OfSeries {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&(metric, labels.clone())).cloned().unwrap_or_default()
    }
}

/// Takes the newer one of each bucket.
pub(super) fn merge(own: &mut OfSeries, others: &OfSeries) {
    for (bucket, other) in others {
        if own.get(bucket).is_none_or(|known| known.at_ms < other.at_ms) {
            own.insert(*bucket, other.clone());
        }
    }
}

/// The text of OpenMetrics with the exemplars of its lines of buckets, in their order.
pub(super) fn written<'a>(text: &str, exemplars: impl Iterator<Item = Option<&'a Exemplar>>) -> String {
    let mut exemplars = exemplars;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(line);
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        if name.ends_with("_bucket")
            && let Some(Some(Exemplar { value, trace_id, at_ms })) = exemplars.next()
        {
            // Writing to a string does not fail.
            let _ = write!(out, " # {{trace_id=\"{trace_id}\"}} {value} {}.{:03}", at_ms / 1000, at_ms % 1000);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use millrace_telemetry::metrics::LabelValue;

    use super::*;

    #[test]
    fn the_newest_of_each_bucket_is_kept_and_written() {
        let (exemplars, label) = (Exemplars::default(), [("gen_ai.tool.name", LabelValue::Text("a_bucket{"))]);
        for (value, trace) in [(0.0005, "1".repeat(32)), (0.0006, "2".repeat(32)), (1000.0, "3".repeat(32))] {
            exemplars.keep(Metric::Operation, value, &label, &trace);
        }
        // What is no histogram has none.
        exemplars.keep(Metric::Failure, 1.0, &[], &"4".repeat(32));
        let kept = exemplars.of(Metric::Operation as usize, &vec![("gen_ai_tool_name".to_owned(), "a_bucket{".to_owned())]);
        let traces: Vec<(usize, String)> = kept.iter().map(|(bucket, kept)| (*bucket, kept.trace_id.clone())).collect();
        assert_eq!(traces, [(0, "2".repeat(32)), (17, "3".repeat(32))]);
        let mut merged = BTreeMap::from([(0, Exemplar { value: 0.1, trace_id: "5".repeat(32), at_ms: 0 })]);
        merge(&mut merged, &kept);
        assert_eq!(merged, kept);

        let first = Exemplar { value: 0.25, trace_id: "6".repeat(32), at_ms: 1_234_005 };
        let text = "# HELP a_bucket What.\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 3\na_count 3\n# EOF\n";
        let expected = text.replace("} 2\n", "} 2 # {trace_id=\"66666666666666666666666666666666\"} 0.25 1234.005\n");
        assert_eq!(written(text, [Some(&first), None].into_iter()), expected);
    }
}
