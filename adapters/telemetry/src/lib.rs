//! Traces of calls, as OTLP over HTTP to a collector of OpenTelemetry; and the form of log lines.
//!
//! In goes what the core tells of its calls by the port `Observer`; out go requests
//! `POST …/v1/traces` with JSON, after the response. In the order of the data:
//!
//! - [`settings`]: where to, and how much: the standard variables `OTEL_…`.
//! - `tracer`: makes spans of what it is told, one a call and below it one a stage.
//! - [`exporter`]: keeps the finished spans of an isolate, within limits, and sends them.
//! - `otlp`: the JSON.
//! - [`mod@line`]: log lines as JSON.
//!
//! One implementation for every host: the SDK of OpenTelemetry exports by threads and by a clock
//! that a Worker does not have.
//!
//! Protocol: <https://opentelemetry.io/docs/specs/otlp/#otlphttp>.

pub mod exporter;
pub mod line;
mod names;
mod otlp;
pub mod settings;
mod span;
#[cfg(test)]
mod tests;
mod tracer;

pub use line::Format;
pub use settings::TraceSettings;
pub use tracer::tracer;
