//! A span on its way from the pipeline to the collector.

/// A finished span, or one that is still open and has no end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// 32 hexadecimal digits.
    pub trace_id: String,
    /// Its own id.
    pub id: u64,
    /// The id of the span above it.
    pub parent_id: Option<u64>,
    /// W3C `tracestate` of the caller, of a call's own span.
    pub state: String,
    /// Its name.
    pub name: String,
    /// Whether it is a call's own span, and not a stage's.
    pub is_call: bool,
    /// Nanoseconds since the Unix epoch.
    pub start_ns: u64,
    /// The same.
    pub end_ns: u64,
    /// Its attributes, by their names.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Whether it failed in a way that its caller cannot mend.
    pub failed: bool,
}

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// Yes or no.
    Truth(bool),
    /// A whole number.
    Number(i64),
}

/// The caller's span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Its id.
    pub id: u64,
    /// Whether its trace is exported.
    pub is_sampled: bool,
}

impl Parent {
    /// Reads a `traceparent` that the core has found to be valid.
    pub fn parse(traceparent: &str) -> Option<Self> {
        let mut parts = traceparent.split('-').skip(2);
        let (id, flags) = (parts.next()?, parts.next()?);
        Some(Self { id: u64::from_str_radix(id, 16).ok()?, is_sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1 })
    }
}
