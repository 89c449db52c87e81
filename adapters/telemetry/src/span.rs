//! A span on its way from the pipeline to the collector.

use std::cell::Cell;

use millrace_core::ports::Random;

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

/// Whether the id of a request is that of a trace, too.
#[must_use]
pub fn is_trace_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
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

/// Ids of spans: what tells one from the others of its trace. The host is asked for randomness
/// once, because asking costs more than everything else that a span does.
#[derive(Debug, Default)]
pub struct SpanIds(Cell<Option<u64>>);

impl SpanIds {
    /// Another id; never 0.
    pub fn next(&self, random: &dyn Random) -> u64 {
        let state = self.0.get().unwrap_or_else(|| {
            let mut bytes = [0; 8];
            random.fill(&mut bytes);
            u64::from_le_bytes(bytes)
        });
        // SplitMix64: <https://doi.org/10.1145/2660193.2660195>.
        let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(Some(state));
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).max(1)
    }
}
