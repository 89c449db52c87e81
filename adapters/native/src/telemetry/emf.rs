//! Measurements as lines of standard output, in the embedded metric format of Amazon CloudWatch,
//! which makes metrics of the lines in a function's log.
//!
//! A line a measurement: what is measured of each stage, and how many calls are under way, is left
//! out, because lines are billed.
//!
//! Specification:
//! <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>.

use std::{
    io::Write as _,
    rc::Rc,
    time::{SystemTime, UNIX_EPOCH},
};

use millrace_core::Json;
use millrace_telemetry::{
    TelemetrySettings,
    metrics::{Label, LabelValue, Meter, Metric},
};
use serde_json::{Map, json};

/// The namespace in CloudWatch.
const NAMESPACE: &str = "Millrace";
/// The attribute of the resource that is a dimension of every metric.
const SERVICE: &str = "service.name";

/// Writes measurements as lines.
pub(super) fn lines(settings: &TelemetrySettings) -> Rc<dyn Meter> {
    let service = settings.resource.iter().find(|(name, _)| name == SERVICE).map(|(_, value)| value.clone());
    Rc::new(Lines { service: service.unwrap_or_default() })
}

struct Lines {
    service: String,
}

impl Lines {
    fn write(&self, metric: Metric, value: Json, labels: &[Label<'_>], trace_id: &str) {
        if matches!(metric, Metric::Stage | Metric::Active) {
            return;
        }
        let line = self.line(metric, value, labels, trace_id);
        // Where nobody reads it, nobody misses it.
        let _ = writeln!(std::io::stdout(), "{line}");
    }

    fn line(&self, metric: Metric, value: Json, labels: &[Label<'_>], trace_id: &str) -> Json {
        let about = metric.description();
        let unit = if about.unit == "s" { "Seconds" } else { "Count" };
        let dimensions: Vec<&str> = [SERVICE].into_iter().chain(labels.iter().map(|(name, _)| *name)).collect();
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let directive = json!({
            "Namespace": NAMESPACE, "Dimensions": [dimensions], "Metrics": [{ "Name": about.name, "Unit": unit }],
        });
        let mut members = Map::new();
        members.insert("_aws".to_owned(), json!({ "Timestamp": now_ms, "CloudWatchMetrics": [directive] }));
        members.insert(SERVICE.to_owned(), self.service.as_str().into());
        // A dimension's value is a text.
        members.extend(labels.iter().map(|(name, value)| ((*name).to_owned(), word(*value).into())));
        if !trace_id.is_empty() {
            members.insert("request_id".to_owned(), trace_id.into());
        }
        members.insert(about.name.to_owned(), value);
        Json::Object(members)
    }
}

fn word(value: LabelValue<'_>) -> String {
    match value {
        LabelValue::Text(text) => text.to_owned(),
        LabelValue::Number(number) => number.to_string(),
        LabelValue::Truth(truth) => truth.to_string(),
    }
}

impl Meter for Lines {
    fn add(&self, metric: Metric, by: i64, labels: &[Label<'_>]) {
        self.write(metric, by.into(), labels, "");
    }

    fn record(&self, metric: Metric, value: f64, labels: &[Label<'_>], trace_id: &str) {
        self.write(metric, value.into(), labels, trace_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_the_specification_says() {
        let labels = [("gen_ai.tool.name", LabelValue::Text("a\n\"b")), ("http.response.status_code", LabelValue::Number(200))];
        let line = Lines { service: "shop".to_owned() }.line(Metric::Operation, json!(0.25), &labels, "0af7");
        let text = line.to_string();
        assert!(!text.contains('\n'), "{text}");
        let directive = &line["_aws"]["CloudWatchMetrics"][0];
        assert_eq!(directive["Dimensions"], json!([["service.name", "gen_ai.tool.name", "http.response.status_code"]]));
        assert_eq!(directive["Metrics"], json!([{ "Name": "mcp.server.operation.duration", "Unit": "Seconds" }]));
        // What a directive names is a member of the line: a number, and texts.
        assert_eq!((&line["mcp.server.operation.duration"], &line["http.response.status_code"]), (&json!(0.25), &json!("200")));
        assert!(line["_aws"]["Timestamp"].as_u64() > Some(1_700_000_000_000));
    }
}
