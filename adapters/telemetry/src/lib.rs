//! Traces: the pipeline's spans, as OTLP over HTTP to a collector of OpenTelemetry.
//!
//! In go the spans that the core makes with `tracing`, one a call and below it one a stage; out go requests `POST …/v1/traces` with JSON,
//! after the response. In the order of the data:
//!
//! - [`settings`]: where to, and how much: the standard variables `OTEL_…`.
//! - `layer` (a feature, on by default) or [`handles`]: who hears of spans. The one stands on the registry of `tracing-subscriber`, the
//!   other is what a subscriber without it needs.
//! - `open`: keeps of an open span what may be told of it. Values of inputs, variables, header fields and results are no part of it: only
//!   the fields that it lists are taken.
//! - [`exporter`]: keeps the finished spans of an isolate, within limits, and sends them.
//! - `otlp`: the JSON.
//!
//! One implementation for every host: the SDK of OpenTelemetry exports by threads and by a clock that a Worker does not have. Nothing is
//! kept on a thread that does not [`collect`].
//!
//! Protocol: <https://opentelemetry.io/docs/specs/otlp/#otlphttp>.

pub mod exporter;
pub mod handles;
#[cfg(feature = "layer")]
pub mod layer;
mod open;
mod otlp;
pub mod settings;
mod span;
#[cfg(test)]
mod tests;

pub use exporter::collect;
#[cfg(feature = "layer")]
pub use layer::Spans;
pub use settings::Settings;
