//! A span on its way from the pipeline to the collector.

/// A finished span, or one that is still open and has no end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Span {
    /// 32 hexadecimal digits.
    pub(crate) trace_id: String,
    pub(crate) id: u64,
    pub(crate) parent_id: Option<u64>,
    /// W3C `tracestate` of the caller, of a call's own span.
    pub(crate) state: String,
    pub(crate) name: String,
    /// Whether it is a call's own span, and not a stage's.
    pub(crate) is_call: bool,
    /// Nanoseconds since the Unix epoch.
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) attributes: Vec<(&'static str, Attribute)>,
    /// Whether it failed in a way that its caller cannot mend.
    pub(crate) failed: bool,
}

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute {
    Text(String),
    Truth(bool),
    Number(i64),
}

/// The caller's span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parent {
    pub(crate) id: u64,
    pub(crate) is_sampled: bool,
}

impl Parent {
    /// Reads a `traceparent` that the core has found to be valid.
    pub(crate) fn parse(traceparent: &str) -> Option<Self> {
        let mut parts = traceparent.split('-').skip(2);
        let (id, flags) = (parts.next()?, parts.next()?);
        Some(Self { id: u64::from_str_radix(id, 16).ok()?, is_sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1 })
    }
}
