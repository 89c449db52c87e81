//! `ExportTraceServiceRequest` in OTLP's JSON: protobuf's JSON, but for ids, which are hexadecimal, and enums, which are numbers.
//!
//! Protocol: <https://github.com/open-telemetry/opentelemetry-proto>.

use millrace_core::Json;
use serde_json::json;

use crate::span::{Attribute, Span};

const SPAN_KIND_INTERNAL: u8 = 1;
const SPAN_KIND_SERVER: u8 = 2;
const STATUS_CODE_ERROR: u8 = 2;

/// The body of a request with these spans.
pub(crate) fn request(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    let resource: Vec<Json> = resource.iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect();
    let scope = json!({ "name": "millrace", "version": env!("CARGO_PKG_VERSION") });
    let spans: Vec<Json> = spans.iter().map(span).collect();
    let request = json!({
        "resourceSpans": [{ "resource": { "attributes": resource }, "scopeSpans": [{ "scope": scope, "spans": spans }] }],
    });
    request.to_string().into_bytes()
}

fn span(span: &Span) -> Json {
    let attributes: Vec<Json> = span.attributes.iter().map(|(key, value)| json!({ "key": key, "value": attribute(value) })).collect();
    let mut object = json!({
        "traceId": span.trace_id,
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        "kind": if span.is_call { SPAN_KIND_SERVER } else { SPAN_KIND_INTERNAL },
        "startTimeUnixNano": span.start_ns.to_string(),
        "endTimeUnixNano": span.end_ns.to_string(),
        "attributes": attributes,
    });
    if let Some(id) = span.parent_id {
        object["parentSpanId"] = format!("{id:016x}").into();
    }
    if !span.state.is_empty() {
        object["traceState"] = span.state.as_str().into();
    }
    if span.failed {
        object["status"] = json!({ "code": STATUS_CODE_ERROR });
    }
    object
}

fn attribute(value: &Attribute) -> Json {
    match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        Attribute::Truth(truth) => json!({ "boolValue": truth }),
    }
}
