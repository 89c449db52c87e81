//! Labels of series: as the SDK takes them, and as Prometheus has them.

use millrace_telemetry::metrics::{Label, LabelValue};
use opentelemetry::KeyValue;

/// How many series of a metric are kept; further ones are counted by one that says so. There are at
/// most four outcomes and some codes for each tool.
pub(super) const MOST_SERIES: usize = 20_000;

/// The labels of a series, as Prometheus has them, in order.
pub type Labels = Vec<(String, String)>;

pub(super) fn attributes(labels: &[Label<'_>]) -> Vec<KeyValue> {
    let attribute = |(name, value): &Label<'_>| match value {
        LabelValue::Text(text) => KeyValue::new(*name, (*text).to_owned()),
        LabelValue::Number(number) => KeyValue::new(*name, *number),
        LabelValue::Truth(truth) => KeyValue::new(*name, *truth),
    };
    labels.iter().map(attribute).collect()
}

pub(super) fn labels<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> Labels {
    let mut labels: Labels = attributes.map(|pair| (underscored(pair.key.as_str()), pair.value.as_str().into_owned())).collect();
    labels.sort();
    labels
}

/// A name as Prometheus has it.
pub(super) fn underscored(name: &str) -> String {
    name.replace('.', "_")
}
