//! Measurements as lines of standard output, in the embedded metric format of Amazon CloudWatch,
//! which makes metrics of the lines in a function's log.
//!
//! A line a measurement: what is measured of each stage, how many calls are under way, and how long
//! they wait for a connection, is left out, because lines are billed. What is read and not told is
//! read after a call, once in `OTEL_METRIC_EXPORT_INTERVAL`: a line for all that has the same
//! labels.
//!
//! Specification:
//! <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    io::Write as _,
    rc::Rc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use millrace_core::Json;
use millrace_telemetry::{
    TelemetrySettings,
    metrics::{Label, LabelValue, METRICS, Meter, Metric, MetricKind},
};
use serde_json::{Map, json};

use super::levels;

/// The namespace in CloudWatch.
const NAMESPACE: &str = "Millrace";
/// The attribute of the resource that is a dimension of every metric.
const SERVICE: &str = "service.name";

/// Writes measurements as lines.
pub(super) fn lines(settings: &TelemetrySettings) -> Rc<dyn Meter> {
    let service = settings.resource.iter().find(|(name, _)| name == SERVICE).map(|(_, value)| value.clone());
    let interval = Duration::from_millis(settings.metrics.as_ref().map_or(0, |wanted| wanted.interval_ms));
    Rc::new(Lines { service: service.unwrap_or_default(), interval, read: Cell::new(None), totals: RefCell::default() })
}

struct Lines {
    service: String,
    interval: Duration,
    /// When levels were read last.
    read: Cell<Option<Instant>>,
    /// What the totals were then: a line says what came since.
    totals: RefCell<BTreeMap<(Metric, Labels), f64>>,
}

/// The labels of a series.
type Labels = Vec<(&'static str, String)>;

impl Lines {
    fn write(&self, metric: Metric, value: Json, labels: &[Label<'_>], trace_id: &str) {
        if matches!(metric, Metric::Stage | Metric::Active | Metric::ConnectionWait) {
            return;
        }
        let line = self.line(&[(metric, value)], labels, trace_id);
        // Where nobody reads it, nobody misses it.
        let _ = writeln!(std::io::stdout(), "{line}");
    }

    /// What is read, as lines: of each set of labels one.
    fn levels(&self, read: impl Fn(Metric) -> Vec<levels::Read>) -> Vec<Json> {
        let mut by_labels: BTreeMap<Labels, Vec<(Metric, Json)>> = BTreeMap::new();
        let mut totals = self.totals.borrow_mut();
        for about in METRICS.iter().filter(|about| about.kind.is_read()) {
            for (labels, number) in read(about.metric) {
                let before = match about.kind {
                    MetricKind::Total => totals.insert((about.metric, labels.clone()), number).unwrap_or_default(),
                    _ => 0.0,
                };
                by_labels.entry(labels).or_default().push((about.metric, (number - before).into()));
            }
        }
        let line = |(labels, metrics): (Labels, Vec<(Metric, Json)>)| {
            let labels: Vec<Label<'_>> = labels.iter().map(|(name, value)| (*name, LabelValue::Text(value))).collect();
            self.line(&metrics, &labels, "")
        };
        by_labels.into_iter().map(line).collect()
    }

    fn line(&self, metrics: &[(Metric, Json)], labels: &[Label<'_>], trace_id: &str) -> Json {
        let unit = |metric: &Metric| match metric.description().unit {
            "s" => "Seconds",
            "By" => "Bytes",
            _ => "Count",
        };
        let named: Vec<Json> =
            metrics.iter().map(|(metric, _)| json!({ "Name": metric.description().name, "Unit": unit(metric) })).collect();
        let dimensions: Vec<&str> = [SERVICE].into_iter().chain(labels.iter().map(|(name, _)| *name)).collect();
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let directive = json!({
            "Namespace": NAMESPACE, "Dimensions": [dimensions], "Metrics": named,
        });
        let mut members = Map::new();
        members.insert("_aws".to_owned(), json!({ "Timestamp": now_ms, "CloudWatchMetrics": [directive] }));
        members.insert(SERVICE.to_owned(), self.service.as_str().into());
        // A dimension's value is a text.
        members.extend(labels.iter().map(|(name, value)| ((*name).to_owned(), word(*value).into())));
        if !trace_id.is_empty() {
            members.insert("request_id".to_owned(), trace_id.into());
        }
        members.extend(metrics.iter().map(|(metric, value)| (metric.description().name.to_owned(), value.clone())));
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

    fn settled(&self) {
        if self.read.get().is_some_and(|when| when.elapsed() < self.interval) {
            return;
        }
        self.read.set(Some(Instant::now()));
        for line in self.levels(levels::read) {
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop() -> Lines {
        Lines { service: "shop".to_owned(), interval: Duration::ZERO, read: Cell::new(None), totals: RefCell::default() }
    }

    #[test]
    fn what_is_read_is_a_line_for_each_set_of_labels_and_totals_are_what_came_since() {
        let lines = shop();
        let at = |timeouts: f64| {
            move |metric: Metric| match metric {
                Metric::MostConnections => vec![(vec![("db.client.connection.pool.name", "main".to_owned())], 4.0)],
                Metric::ConnectionTimeouts => vec![(vec![("db.client.connection.pool.name", "main".to_owned())], timeouts)],
                Metric::StateSize => vec![(Vec::new(), 4096.0)],
                _ => Vec::new(),
            }
        };
        for (timeouts, since) in [(3.0, 3.0), (5.0, 2.0)] {
            let found = lines.levels(at(timeouts));
            let [state, pool] = &found[..] else { panic!("{found:#?}") };
            assert_eq!(
                (&state["millrace.state.size"], &state["_aws"]["CloudWatchMetrics"][0]["Metrics"][0]["Unit"]),
                (&json!(4096.0), &json!("Bytes"))
            );
            assert_eq!((&pool["db.client.connection.max"], &pool["db.client.connection.timeouts"]), (&json!(4.0), &json!(since)));
            assert_eq!(pool["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json!([["service.name", "db.client.connection.pool.name"]]));
        }
    }

    #[test]
    fn a_line_is_as_the_specification_says() {
        let labels = [("gen_ai.tool.name", LabelValue::Text("a\n\"b")), ("http.response.status_code", LabelValue::Number(200))];
        let line = shop().line(&[(Metric::Operation, json!(0.25))], &labels, "0af7");
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
