//! `millrace check --metrics`: every series that an app can make.

use millrace_core::{Json, app::App};
use millrace_telemetry::{
    metrics::{Description, MetricKind},
    series::{LabelValues, possible},
};
use serde_json::json;

use crate::output::{CommandResult, print};

const fn kind(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter | MetricKind::Total => "counter",
        MetricKind::UpDownCounter | MetricKind::Level => "up-down counter",
        MetricKind::Common => "gauge",
        MetricKind::Histogram(_) => "histogram",
    }
}

/// Prints them: of each metric what it says, and what each of its labels can be.
pub(super) fn show(app: &App) -> CommandResult {
    for (about, labels) in possible(app) {
        print(format_args!("{} ({}, {}): {}", about.name, kind(about.kind), about.unit, about.text))?;
        for LabelValues { name, values, of } in labels {
            print(format_args!("  {name}: {}", of.map_or_else(|| values.join(", "), str::to_owned)))?;
        }
    }
    Ok(())
}

/// The same as JSON.
pub(super) fn json(app: &App) -> Json {
    let metric = |(about, labels): (&Description, Vec<LabelValues>)| {
        let labels: Vec<Json> =
            labels.into_iter().map(|LabelValues { name, values, of }| json!({ "name": name, "values": values, "of": of })).collect();
        json!({ "name": about.name, "kind": kind(about.kind), "unit": about.unit, "description": about.text, "labels": labels })
    };
    possible(app).map(metric).collect()
}
