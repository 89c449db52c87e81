//! `ExportTraceServiceRequest` and `ExportMetricsServiceRequest` in OTLP's JSON: protobuf's JSON, but for ids, which are hexadecimal,
//! and enums, which are numbers.
//!
//! It is written as text: a tree of values first would be the larger part of what a Worker has of
//! this crate.
//!
//! Protocol: <https://github.com/open-telemetry/opentelemetry-proto>.

use std::{collections::BTreeMap, fmt::Write as _};

use millrace_core::Json;

use crate::{
    metrics::{Description, Metric, MetricKind},
    point::{Exemplar, Point},
    span::{Attribute, Span},
};

const SPAN_KIND_INTERNAL: u8 = 1;
const SPAN_KIND_SERVER: u8 = 2;
const STATUS_CODE_ERROR: u8 = 2;

/// The body of a request with these spans.
pub(crate) fn request(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    let mut out = opened("Spans", "spans", resource);
    for each in spans {
        span(&mut out, each);
    }
    out += "]}]}]}";
    out.into_bytes()
}

/// The body of a request with what came of these series since a moment. The labels of a series are
/// written already; times are nanoseconds since the Unix epoch.
pub(crate) fn metrics(resource: &[(String, String)], series: &BTreeMap<(Metric, String), Point>, since_ns: u64, now_ns: u64) -> Vec<u8> {
    const DELTA: u8 = 1;
    let mut out = opened("Metrics", "metrics", resource);
    let mut begun = None;
    for ((metric, labels), point) in series {
        let about = metric.description();
        if begun.replace(*metric) != Some(*metric) {
            if out.ends_with('}') {
                out += "]}}";
            }
            comma(&mut out);
            let (kind, more) = match about.kind {
                MetricKind::Counter => ("sum", ",\"isMonotonic\":true"),
                // What is read at each export does not come here.
                MetricKind::UpDownCounter | MetricKind::Level | MetricKind::Common | MetricKind::Total => ("sum", ""),
                MetricKind::Histogram(_) => ("histogram", ""),
            };
            // Writing to a string does not fail. What is said of a metric needs no escapes.
            let _ = write!(
                out,
                "{{\"name\":\"{}\",\"unit\":\"{}\",\"description\":\"{}\",\"{kind}\":{{\"aggregationTemporality\":{DELTA}{more},\"dataPoints\":[",
                about.name, about.unit, about.text
            );
        }
        comma(&mut out);
        let _ = write!(out, "{{\"startTimeUnixNano\":\"{since_ns}\",\"timeUnixNano\":\"{now_ns}\",\"attributes\":[{labels}]");
        data_point(&mut out, about, point);
        out.push('}');
    }
    out += if begun.is_some() { "]}}]}]}]}" } else { "]}]}]}" };
    out.into_bytes()
}

fn data_point(out: &mut String, about: &Description, point: &Point) {
    match (point, about.kind) {
        (Point::Histogram { count, sum, min, max, buckets, exemplar }, MetricKind::Histogram(bounds)) => {
            let _ = write!(out, ",\"count\":\"{count}\"");
            for (name, value) in [("sum", sum), ("min", min), ("max", max)] {
                for part in [",\"", name, "\":", &number(*value)] {
                    *out += part;
                }
            }
            *out += ",\"bucketCounts\":[";
            for bucket in buckets {
                comma(out);
                let _ = write!(out, "\"{bucket}\"");
            }
            *out += "],\"explicitBounds\":[";
            for bound in bounds {
                comma(out);
                *out += &number(*bound);
            }
            out.push(']');
            if let Some(Exemplar { value, trace_id, at_ns }) = exemplar {
                let value = number(*value);
                let _ = write!(out, ",\"exemplars\":[{{\"timeUnixNano\":\"{at_ns}\",\"asDouble\":{value},\"traceId\":\"{trace_id}\"}}]");
            }
        }
        (Point::Sum(sum), _) => {
            let _ = write!(out, ",\"asInt\":\"{sum}\"");
        }
        (Point::Histogram { .. }, _) => {}
    }
}

/// A number as JSON, by the writer that a Worker has anyway.
fn number(value: f64) -> String {
    Json::from(value).to_string()
}

/// The beginning of a request: who it is of, up to the list of what it brings.
fn opened(of: &str, list: &str, resource: &[(String, String)]) -> String {
    let mut out = format!("{{\"resource{of}\":[{{\"resource\":{{\"attributes\":[");
    for (key, value) in resource {
        pair(&mut out, key, "string", &quoted(value));
    }
    let _ =
        write!(out, "]}},\"scope{of}\":[{{\"scope\":{{\"name\":\"millrace\",\"version\":\"{}\"}},\"{list}\":[", env!("CARGO_PKG_VERSION"));
    out
}

fn span(out: &mut String, span: &Span) {
    let kind = if span.is_call { SPAN_KIND_SERVER } else { SPAN_KIND_INTERNAL };
    comma(out);
    // Writing to a string does not fail. A trace's id has only hexadecimal digits.
    let _ = write!(
        out,
        "{{\"traceId\":\"{}\",\"spanId\":\"{:016x}\",\"kind\":{kind},\"startTimeUnixNano\":\"{}\",\"endTimeUnixNano\":\"{}\",\"name\":{}",
        span.trace_id,
        span.id,
        span.start_ns,
        span.end_ns,
        quoted(&span.name)
    );
    if let Some(id) = span.parent_id {
        let _ = write!(out, ",\"parentSpanId\":\"{id:016x}\"");
    }
    if !span.state.is_empty() {
        *out += ",\"traceState\":";
        *out += &quoted(&span.state);
    }
    if span.failed {
        let _ = write!(out, ",\"status\":{{\"code\":{STATUS_CODE_ERROR}}}");
    }
    *out += ",\"attributes\":[";
    for (key, value) in &span.attributes {
        match value {
            Attribute::Text(text) => pair(out, key, "string", &quoted(text)),
            Attribute::Number(number) => pair(out, key, "int", &format!("\"{number}\"")),
            Attribute::Truth(truth) => pair(out, key, "bool", if *truth { "true" } else { "false" }),
        }
    }
    *out += "]}";
}

/// An attribute, whose value is JSON already.
fn pair(out: &mut String, key: &str, kind: &str, value: &str) {
    comma(out);
    for part in ["{\"key\":", &quoted(key), ",\"value\":{\"", kind, "Value\":", value, "}}"] {
        *out += part;
    }
}

/// A comma, unless what follows is the first of its list.
fn comma(out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_escaped_and_what_is_unset_is_left_out() {
        let text = "[\"\\\n\u{1}é[";
        let call = Span {
            trace_id: "0af7651916cd43dd8448eb211c80319c".into(),
            id: 10,
            parent_id: Some(u64::MAX),
            state: format!("a={text}"),
            name: text.into(),
            is_call: true,
            start_ns: 1,
            end_ns: u64::MAX,
            attributes: vec![("a", Attribute::Text(text.into())), ("b", Attribute::Truth(true))],
            failed: true,
        };
        let stage = Span { parent_id: None, state: String::new(), is_call: false, attributes: Vec::new(), failed: false, ..call.clone() };
        let body: Json = serde_json::from_slice(&request(&[(text.into(), text.into()), ("x".into(), "y".into())], &[call, stage])).unwrap();
        let id = "0af7651916cd43dd8448eb211c80319c";
        let expected = json!({"resourceSpans": [{
            "resource": {"attributes": [
                {"key": text, "value": {"stringValue": text}},
                {"key": "x", "value": {"stringValue": "y"}},
            ]},
            "scopeSpans": [{"scope": {"name": "millrace", "version": env!("CARGO_PKG_VERSION")}, "spans": [
                {
                    "traceId": id, "spanId": "000000000000000a", "parentSpanId": "ffffffffffffffff", "name": text,
                    "kind": 2, "traceState": format!("a={text}"),
                    "startTimeUnixNano": "1", "endTimeUnixNano": "18446744073709551615", "status": {"code": 2},
                    "attributes": [{"key": "a", "value": {"stringValue": text}}, {"key": "b", "value": {"boolValue": true}}],
                },
                {
                    "traceId": id, "spanId": "000000000000000a", "name": text, "kind": 1, "startTimeUnixNano": "1",
                    "endTimeUnixNano": "18446744073709551615", "attributes": [],
                },
            ]}],
        }]});
        assert_eq!(body, expected);
        assert!(serde_json::from_slice::<Json>(&request(&[], &[])).is_ok());
    }
}
